"""Rules of thumb that rank plays: by points at once, then by doubles, then by weight.

Where the open ends score (All Fives and kin), the play that scores most comes first; what a play scores is asked of the
engine, on a copy of what everybody sees. Among equally good actions (tile and end) each is taken equally often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.keys import pick
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import lay_tile
from dominoes_env.engine.rules import ENDS_NONE
from dominoes_env.engine.scoring import play_points
from dominoes_env.engine.tiles import PIPS, is_double

__all__ = ["RankingAgent"]

# Above any weight of a tile (18) and above any points of a play (35 in double-six, below 100 in double-nine).
_DOUBLE = 100
_POINT = 1000


@jit
def _choose(rules_row, states, masks, keys, doubles_first, actions):  # type: ignore[no-untyped-def]
    rules = rules_row[0]
    num_tiles = np.int64(rules["num_tiles"])
    num_plays = num_tiles * rules["num_ends"]
    after = states[:1].copy()
    worths = np.empty(masks.shape[1], np.int64)
    for row in range(masks.shape[0]):
        best = np.int64(-2)
        count = 0
        for action in range(masks.shape[1]):
            if masks[row, action] == 0:
                continue
            worth = np.int64(-1)  # DRAW and PASS, which are never one of several
            if action < num_plays:
                end = action // num_tiles
                tile = action - end * num_tiles
                worth = PIPS[tile]
                if doubles_first and is_double(tile):
                    worth += _DOUBLE
                if rules["end_scoring"] != ENDS_NONE:
                    after[0] = states[row]
                    lay_tile(after[0], rules, tile, end)
                    worth += _POINT * play_points(after[0], rules)
            worths[action] = worth
            if worth > best:
                best = worth
                count = 1
            elif worth == best:
                count += 1
        left = pick(keys[row], count)
        for action in range(masks.shape[1]):
            if masks[row, action] == 1 and worths[action] == best:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1


class RankingAgent(BatchAgent):
    """The best play in this ranking; a subclass says whether doubles come before heavier tiles."""

    doubles_first: bool

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        actions = np.zeros(len(turns), np.int64)
        if len(actions):
            _choose(turns.rules.row, turns.states, turns.masks, turns.keys, self.doubles_first, actions)
        return actions
