"""One step of the game: the turn, then its score, then the end of the round or the match. Where the siblings meet."""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.deal import deal_round
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import open_tiles, play_turn
from dominoes_env.engine.rules import END_OUT_OR_BLOCKED
from dominoes_env.engine.scoring import is_blocked, score_play, settle
from dominoes_env.engine.state import NONE, ROUND_OVER
from dominoes_env.engine.tiles import NO_TILES

__all__ = ["advance", "round_is_blocked", "step"]


@jit
def round_is_blocked(state, rules):
    """Whether the round in ``state``, of which something is laid, is blocked."""
    return state["laid"] != NO_TILES and is_blocked(state, rules, open_tiles(state))


@jit(inline=True)
def step(state, rules, action):
    """Carry out a legal action and find the round's end right after it; the next round is not dealt.

    An action in a state whose status is not PLAYING has no meaning; callers ask first.
    """
    player = np.int64(state["turn"])
    pass_action = np.int64(rules["num_actions"]) - 1
    play_turn(state, rules, action)
    out = np.int64(NONE)
    if action < pass_action - 1:
        if rules["round_end"] == END_OUT_OR_BLOCKED and state["hand_counts"][player] == 0:
            out = player
        if score_play(state, rules, player) or out >= 0:
            settle(state, rules, out)
            return
    if action != pass_action and is_blocked(state, rules, open_tiles(state)):
        settle(state, rules, NONE)


@jit
def advance(state, rules, action):
    """:func:`step`, and after a round that leaves the match open the next deal at once."""
    step(state, rules, action)
    if state["status"] == ROUND_OVER:
        deal_round(state, rules)
