"""The learner's partner in the league's team games: the learner's own policy as it stands, run without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.adapters import as_opponent
from agents.learned import LearnedAgent
from agents.policy_file import Policy
from dominoes_env.engine.rules import Rules

__all__ = ["Partner"]


class Partner:
    """An opponent of ``dominoes_env.envs.rows`` that samples from the policy given last; uniform before the first.

    It keeps nothing else: who restores a run gives it the restored policy.
    """

    def __init__(self, rules: Rules, *, seed: int = 0) -> None:
        self.rules, self.seed = rules, seed
        self._answer = as_opponent("random", rules, seed=seed)

    def follow(self, policy: Policy) -> None:
        """Play by ``policy`` from now on; to be called after every update of the learner."""
        self._answer = as_opponent(LearnedAgent(policy, "sample"), self.rules, seed=self.seed)

    def __call__(self, observations: NDArray[np.int8], masks: NDArray[np.int8], infos: dict[str, Any]) -> ArrayLike:
        return self._answer(observations, masks, infos)
