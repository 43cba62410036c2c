"""Rules of thumb: each gives every play a worth in pips and takes the play that is worth most.

Where the open ends score (All Fives and kin), the play that scores most comes first. What a play makes of the layout,
and what it scores, is asked of the engine, on a copy of what everybody sees. Among equally good actions (tile and end)
each is taken equally often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.keys import pick
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import lay_tile, open_tiles, split_play
from dominoes_env.engine.rules import ENDS_NONE
from dominoes_env.engine.scoring import play_points
from dominoes_env.engine.tiles import PIPS, is_double, num_tiles_of, tile_bit

__all__ = ["DOUBLES_FIRST", "FLEXIBLE", "HEAVIEST", "POINTS_FIRST", "RankingAgent", "action_worth"]

#: The rankings: by the tile's pips; doubles before all others; pips and what the play leaves open to whom.
HEAVIEST, DOUBLES_FIRST, FLEXIBLE = range(3)

#: What a point of a play is worth to these players: above all else, which stays below 250.
POINTS_FIRST = 1000.0

_DOUBLE = 100.0  # above any weight of a tile (18)
_OWN_FIT = 3.0
_UNSEEN_FIT = -1.5


@jit
def _openness(after, rules, hand):  # type: ignore[no-untyped-def]
    """What a layout leaves open: each tile of ``hand`` that fits is worth 3, each unseen one costs 1.5."""
    fits = open_tiles(after)
    of_set = (np.uint64(1) << np.uint64(rules["num_tiles"])) - np.uint64(1)
    unseen = of_set & ~after["laid"] & ~hand
    return _OWN_FIT * num_tiles_of(hand & fits) + _UNSEEN_FIT * num_tiles_of(unseen & fits)


@jit
def action_worth(state, rules, ranking, point, action, after):  # type: ignore[no-untyped-def]
    """The worth (float64, pips) of a legal action to the seat on turn; of DRAW and PASS, which stand alone, 0.

    ``state`` may be concealed. ``point``: what each point of a play adds, in pips (float64). ``after`` (1,) is
    scratch: the position after the play where that is looked at.
    """
    num_tiles = np.int64(rules["num_tiles"])
    if action >= num_tiles * rules["num_ends"]:
        return 0.0
    tile, end = split_play(action, num_tiles)
    worth = np.float64(PIPS[tile])
    if ranking == DOUBLES_FIRST and is_double(tile):
        worth += _DOUBLE
    if ranking == FLEXIBLE or rules["end_scoring"] != ENDS_NONE:
        after[0] = state
        lay_tile(after[0], rules, tile, end)
        if ranking == FLEXIBLE:
            worth += _openness(after[0], rules, state["hands"][state["turn"]] & ~tile_bit(tile))
        if rules["end_scoring"] != ENDS_NONE:
            worth += point * play_points(after[0], rules)
    return worth


@jit
def _rank(state, rules, ranking, masks, row, after, worths):  # type: ignore[no-untyped-def]
    """Fill ``worths`` (A,) for the legal actions; returns the best worth and how many actions have it."""
    best = -np.inf
    count = 0
    for action in range(masks.shape[1]):
        if masks[row, action] == 1:
            worth = action_worth(state, rules, ranking, POINTS_FIRST, action, after)
            worths[action] = worth
            if worth > best:
                best = worth
                count = 1
            elif worth == best:
                count += 1
    return best, count


@jit
def _choose(rules_row, states, masks, keys, ranking, actions):  # type: ignore[no-untyped-def]
    after = states[:1].copy()
    worths = np.empty(masks.shape[1])
    for row in range(masks.shape[0]):
        best, count = _rank(states[row], rules_row[0], ranking, masks, row, after, worths)
        left = pick(keys[row], count)
        for action in range(masks.shape[1]):
            if masks[row, action] == 1 and worths[action] == best:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1


@jit
def _share(rules_row, states, masks, ranking, probabilities):  # type: ignore[no-untyped-def]
    after = states[:1].copy()
    worths = np.empty(masks.shape[1])
    for row in range(masks.shape[0]):
        best, count = _rank(states[row], rules_row[0], ranking, masks, row, after, worths)
        for action in range(masks.shape[1]):
            if masks[row, action] == 1 and worths[action] == best:
                probabilities[row, action] = 1.0 / count


class RankingAgent(BatchAgent):
    """The best play in its ``ranking``: ``HEAVIEST``, ``DOUBLES_FIRST`` or ``FLEXIBLE``."""

    gives_probabilities = True
    ranking: int

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        actions = np.zeros(len(turns), np.int64)
        if len(actions):
            _choose(turns.rules.row, turns.states, turns.masks, turns.keys, self.ranking, actions)
        return actions

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        """Uniform over the best actions."""
        probabilities = np.zeros(turns.masks.shape)
        if len(turns):
            _share(turns.rules.row, turns.states, turns.masks, self.ranking, probabilities)
        return probabilities
