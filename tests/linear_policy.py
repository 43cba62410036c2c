"""Policies for tests that need one at once: no training, known play."""

from __future__ import annotations

import numpy as np

from agents.policy_file import Policy
from dominoes_env.engine.variants import make_rules
from dominoes_env.observation import observation_size


def policy_of(variant: str, sign: float, seed: int = 0) -> Policy:
    """Heavy tiles first (sign 1), or light ones first: one linear layer, with some noise so that no two are equal."""
    rules = make_rules(variant)
    noise = np.random.default_rng(seed).normal(0, 1e-3, rules.num_actions).astype(np.float32)
    tiles = [(high, low) for high in range(rules.max_pip + 1) for low in range(high + 1)]
    pips = np.array([high + low for high, low in tiles], np.float32)
    bias = np.zeros(rules.num_actions, np.float32)
    ends = (rules.num_actions - 2) // len(pips)
    bias[: ends * len(pips)] = sign * np.tile(pips, ends)
    weights = np.zeros((observation_size(rules), rules.num_actions), np.float32)
    return Policy(rules, (weights,), (bias + noise,))
