"""The player ``random``: every legal action equally often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.keys import pick
from dominoes_env.engine.jit import jit

__all__ = ["UniformAgent"]


@jit
def _choose(masks, keys, actions):  # type: ignore[no-untyped-def]
    for row in range(masks.shape[0]):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[row, action]
        left = pick(keys[row], count)
        for action in range(masks.shape[1]):
            if masks[row, action] == 1:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1


class UniformAgent(BatchAgent):
    """Uniform over the legal actions."""

    name = "random"
    gives_probabilities = True

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        actions = np.zeros(len(turns), np.int64)
        _choose(turns.masks, turns.keys, actions)
        return actions

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        """Equal shares of the legal actions."""
        probabilities: NDArray[np.float64] = turns.masks / turns.masks.sum(axis=1, keepdims=True, dtype=np.float64)
        return probabilities
