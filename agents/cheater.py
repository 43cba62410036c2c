"""The cheater: plays double dummy with everybody's hand and the boneyard in view. A ceiling, not an opponent.

Against players who see less it is not quite the best possible: it expects them to answer as well as it plays itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.double_dummy import add_action_values, make_scratch
from agents.pimc import pick_best
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.jit import jit

__all__ = ["CheaterAgent"]


@jit
def _choose(rules_row, states, masks, keys, max_nodes, scratch, actions):  # type: ignore[no-untyped-def]
    totals = np.zeros(masks.shape[1])
    weight = np.ones(1)
    for row in range(len(states)):
        totals[:] = 0.0
        if masks[row].sum() > 1:
            add_action_values(rules_row, states[row : row + 1], weight, max_nodes, scratch, totals)
        actions[row] = pick_best(masks[row], totals, keys[row])


class CheaterAgent(BatchAgent):
    """Plays the open record's best action; of equally good ones each equally often.

    Args:
        nodes: the budget of a decision, in positions with a choice; see :mod:`agents.double_dummy`.

    Raises:
        ValueError: for an argument that is not allowed; when asked without the open record.
    """

    name = "cheater"
    sees_all = True

    def __init__(self, *, nodes: int = 1_000_000) -> None:
        self.nodes = checked_integer("nodes", nodes, 1)

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        if turns.open_states is None:
            raise ValueError("open_states=None is not allowed for the cheater; allowed: the open records, shape (m,)")
        actions = np.zeros(len(turns), np.int64)
        scratch = make_scratch(turns.rules)
        _choose(turns.rules.row, turns.open_states, turns.masks, turns.keys, self.nodes, scratch, actions)
        return actions
