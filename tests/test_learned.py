"""A trained policy without torch: the network as it is written, and the same bits alone and in any batch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from agents.base import Turns
from agents.learned import LearnedAgent, action_logits
from agents.policy_file import ACTIVATIONS, Policy
from dominoes_env.engine.variants import make_rules
from dominoes_env.observation import observation_size
from dominoes_env.table import Table, random_keys

RULES = make_rules("draw")
NUMBER = 37


def network(hidden: tuple[int, ...], activation: str) -> Policy:
    rng = np.random.default_rng(len(hidden))
    sizes = (observation_size(RULES), *hidden, RULES.num_actions)
    weights = tuple((rng.normal(size=pair) / np.sqrt(pair[0])).astype(np.float32) for pair in pairwise(sizes))
    return Policy(RULES, weights, tuple(rng.normal(size=n).astype(np.float32) for n in sizes[1:]), activation)


@pytest.fixture(scope="module")
def turns() -> Turns:
    table = Table(RULES, NUMBER, seed=1, skip_forced=True)
    table.play(random_keys(2, NUMBER), 20)
    return Turns(
        RULES, table.players.copy(), table.states.copy(), table.history_actions.copy(), table.history_lengths.copy(),
        table.observations.copy(), table.masks.copy(), random_keys(3, NUMBER),
    )  # fmt: skip


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(), (1,), (2, 3), (7, 64, 5), (128, 128), (200, 9)])
def test_logits_are_those_of_the_network(hidden, activation, turns):
    policy = network(hidden, activation)
    values = turns.observations.astype(np.float64)
    for layer, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        values = values @ weight.astype(np.float64) + bias
        if layer < len(hidden):
            values = np.tanh(values) if activation == "tanh" else np.maximum(values, 0)
    np.testing.assert_allclose(action_logits(policy, turns.observations), values, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(), (7, 64, 5), (128, 128)])
def test_no_bit_depends_on_the_batch(hidden, activation, turns):
    policy = network(hidden, activation)
    together = action_logits(policy, turns.observations)
    for size in (1, 2, 7, 8, 9, 16, 36):
        parts = [action_logits(policy, turns.observations[k : k + size]) for k in range(0, NUMBER, size)]
        assert (np.concatenate(parts) == together).all()
    for mode in ("best", "sample"):
        agent = LearnedAgent(policy, mode)
        chosen = agent.act_batch(turns)
        assert turns.masks[np.arange(NUMBER), chosen].all()
        assert [agent.act(turns[row]) for row in range(NUMBER)] == chosen.tolist()
        assert (agent.probabilities(turns)[np.arange(NUMBER), chosen] > 0).all()


def test_a_sample_is_drawn_by_the_probabilities_and_the_best_is_their_largest(turns):
    policy, number = network((16,), "tanh"), 20_000
    row = int(turns.masks.sum(axis=1).argmax())
    many = Turns(
        RULES, *(np.repeat(values[row : row + 1], number, axis=0) for values in (
            turns.players, turns.states, turns.histories, turns.history_lengths, turns.observations, turns.masks
        )), random_keys(4, number),
    )  # fmt: skip
    sampler = LearnedAgent(policy, "sample")
    probabilities = sampler.probabilities(many)[0]
    logits = np.where(turns.masks[row] == 1, action_logits(policy, turns.observations[row : row + 1])[0], -np.inf)
    np.testing.assert_allclose(probabilities, np.exp(logits) / np.exp(logits).sum(), atol=1e-6)
    shares = np.bincount(sampler.act_batch(many), minlength=RULES.num_actions) / number
    np.testing.assert_allclose(shares, probabilities, atol=0.015)
    assert (shares[turns.masks[row] == 0] == 0).all()
    assert (LearnedAgent(policy).act_batch(many) == logits.argmax()).all()
