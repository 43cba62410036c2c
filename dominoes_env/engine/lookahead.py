"""What a search may rely on without playing on: who plays for whom, bounds of the points to come, like positions.

A *margin* here is an integer, :func:`margin_unit` times what ``reward="margin"`` counts: own points less the mean of
the opponents', by sides with teams.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import (
    AWARD_ALL,
    AWARD_ONE_POINT,
    DRAW_NONE,
    DRAW_ONE,
    ENDS_NONE,
    PENALTY_EACH,
    ROUNDING_NONE,
    SPINNER_NONE,
)
from dominoes_env.engine.scoring import points_of
from dominoes_env.engine.tiles import NO_TILES, pips_of, tile_bit

__all__ = [
    "leftover_bounds",
    "margin_between",
    "margin_unit",
    "most_booked",
    "position_key",
    "set_margin_weights",
    "twin_of",
]

_ONE = np.uint64(1)


@jit(inline=True)
def margin_unit(rules):
    """How much of a margin one point of a seat's side is."""
    return np.int64(2) if rules["teams"] == 1 else np.int64(rules["num_players"]) - 1


@jit
def set_margin_weights(rules, seat, weights):
    """``weights`` (4,) int64: what a point of each seat counts in the margin of ``seat``: > 0 for his side, else < 0.

    A team's score stands at both of its seats, so that its points count twice.
    """
    num_players = np.int64(rules["num_players"])
    for other in range(4):
        if rules["teams"] == 1:
            weights[other] = 1 if (other ^ seat) & 1 == 0 else -1
        else:
            weights[other] = -1 if other != seat else num_players - 1


@jit(inline=True)
def margin_between(before, after, rules, weights):
    """The margin booked between two states of a round, for the weights of a seat."""
    margin = np.int64(0)
    for seat in range(rules["num_players"]):
        margin += weights[seat] * points_of(np.int64(after["scores"][seat]), np.int64(before["scores"][seat]), rules)
    return margin


@jit(inline=True)
def most_booked(before, after, rules):
    """The most points that one seat's score went up by between two states of a round."""
    most = np.int64(0)
    for seat in range(rules["num_players"]):
        most = max(most, np.int64(after["scores"][seat]) - np.int64(before["scores"][seat]))
    return most


@jit(inline=True)
def leftover_bounds(state, rules, seat):
    """``(least, most)``: bounds of the margin that settling this round will book for ``seat``.

    Hands only shrink, but for what may be drawn: every bound holds for the pips that a hand may yet come to.
    """
    unit = margin_unit(rules)
    if rules["award"] == AWARD_ONE_POINT and rules["settlement"] != PENALTY_EACH:
        return -unit, unit
    num_players = rules["num_players"]
    own = pips_of(state["hands"][seat])
    others = np.int64(0)
    lightest = np.int64(1 << 30)
    for other in range(num_players):
        if other == seat:
            continue
        pips = pips_of(state["hands"][other])
        if rules["teams"] == 1 and (other ^ seat) & 1 == 0:
            own += pips
        else:
            others += pips
            lightest = min(lightest, pips)
    more = np.int64(0)
    if rules["draw_rule"] != DRAW_NONE:
        every = tile_bit(rules["num_tiles"]) - _ONE
        more = pips_of(every & ~state["laid"]) - own - others
    if rules["settlement"] == PENALTY_EACH:
        return -(own + more) * unit, others + more
    if rules["rounding"] != ROUNDING_NONE:
        more += 5 * num_players
    if rules["award"] == AWARD_ALL:
        more += own + others
        own = others = np.int64(0)
    if rules["teams"] == 1 or num_players == 2:
        return -(own + more) * unit, (others + more) * unit
    if rules["award"] == AWARD_ALL:
        lightest = np.int64(0)
    return -(own + others - lightest + more), (others + more) * unit


@jit(inline=True)
def twin_of(state, rules, end):
    """The lowest end that is like this one, so that a tile on either leads to the same game; ``end`` if none is.

    Whether the tip is a double matters only where open ends score.
    """
    for other in range(end):
        if (
            state["ends"][other] == state["ends"][end]
            and (state["begun"] >> other ^ state["begun"] >> end) & 1 == 0
            and (
                rules["end_scoring"] == ENDS_NONE
                or (state["tip_doubles"] >> other ^ state["tip_doubles"] >> end) & 1 == 0
            )
        ):
            return other
    return end


@jit(inline=True)
def _end_code(state, rules, end):
    code = np.uint64(state["ends"][end] + 1)
    if rules["end_scoring"] != ENDS_NONE:
        code |= np.uint64(state["tip_doubles"] >> end & 1) << np.uint64(4)
    if rules["spinner"] != SPINNER_NONE:
        code |= np.uint64(state["begun"] >> end & 1) << np.uint64(5)
    return code


@jit(inline=True)
def position_key(state, rules):
    """Five uint64: two positions of one deal with equal keys have the same rest of the round before them.

    The same up to which of two like ends has which number, and but for what scores may end (``target_check``). Where
    nothing is drawn the hands follow from the tiles laid.
    """
    a, b = _end_code(state, rules, 0), _end_code(state, rules, 1)
    a, b = min(a, b), max(a, b)
    if rules["spinner"] != SPINNER_NONE:
        c, d = _end_code(state, rules, 2), _end_code(state, rules, 3)
        c, d = min(c, d), max(c, d)
        a, c = min(a, c), max(a, c)
        b, d = min(b, d), max(b, d)
        b, c = min(b, c), max(b, c)
        b |= c << np.uint64(6) | d << np.uint64(12) | np.uint64(state["spinner"] + 1) << np.uint64(18)
    word = a | b << np.uint64(6) | np.uint64(state["turn"]) << np.uint64(28)
    if rules["draw_rule"] == DRAW_NONE:
        return state["laid"], word, NO_TILES, NO_TILES, NO_TILES
    word |= np.uint64(state["boneyard"]) << np.uint64(30)
    if rules["draw_rule"] == DRAW_ONE:
        word |= np.uint64(state["has_drawn"]) << np.uint64(36)
    return state["laid"], word, state["hands"][0], state["hands"][1], state["hands"][2]
