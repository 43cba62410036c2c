"""Points of a play, a round and a match; blocked rounds; who won. Knows no moves.

Bookings happen one by one. Where the target is checked at once, the first booking that reaches it ends round and
match, and nothing more is booked.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import (
    AWARD_ALL,
    AWARD_ONE_POINT,
    AWARD_OPPONENTS_MINUS_OWN,
    BLOCK_SINGLE_LOWEST,
    CHECK_AT_ONCE,
    DRAW_NONE,
    ENDS_EQUAL,
    ENDS_FIVES,
    ENDS_FIVES_AND_THREES,
    ENDS_NONE,
    ENDS_THREES,
    NEXT_AS_FIRST,
    NEXT_ROTATE,
    PENALTY_EACH,
    ROUNDING_EACH_HAND,
    ROUNDING_NEAREST,
    ROUNDING_UP,
    TIE_AS_FIRST,
    TIE_DRAW_AMONG_TIED,
    TIE_SAME_STARTER,
    TIE_SPLIT,
)
from dominoes_env.engine.state import MATCH_OVER, NONE, PLAYING, ROUND_OVER, TRUNCATED
from dominoes_env.engine.tiles import NO_TILES, num_tiles_of, pips_of

__all__ = [
    "book",
    "count_modulus",
    "decide_match",
    "exposed_count",
    "exposed_part",
    "is_blocked",
    "play_points",
    "points_of",
    "round_off",
    "score_play",
    "settle",
]


@jit(inline=True)
def exposed_part(state, part):
    """What one end (0 to 3) or the spinner (4) adds to :func:`exposed_count`."""
    if part == 4:
        if state["spinner"] == NONE or num_tiles_of(np.uint64(state["begun"])) > 1:
            return np.int64(0)
        return 2 * np.int64(state["spinner"])
    if state["begun"] >> part & 1 == 0:
        return np.int64(0)
    number = np.int64(state["ends"][part])
    # A lone double lead is the tip of both ends: each counts one half of it.
    is_whole = state["tip_doubles"] >> part & 1 == 1 and num_tiles_of(state["laid"]) > 1
    return number + number if is_whole else number


@jit
def exposed_count(state):
    """The sum over open ends (text C): doubles at a tip count twice, so does a spinner with under 2 neighbours."""
    total = np.int64(0)
    for part in range(5):
        total += exposed_part(state, part)
    return total


@jit
def count_modulus(rules):
    """The number by which a count has a remainder that decides what it scores; 0: no count scores."""
    kind = rules["end_scoring"]
    if kind == ENDS_FIVES:
        return np.int64(5)
    if kind == ENDS_THREES:
        return np.int64(3)
    return np.int64(15) if kind == ENDS_FIVES_AND_THREES else np.int64(0)


@jit
def play_points(state, rules):
    """Points that the open ends are worth after a play; 0 for most."""
    kind = rules["end_scoring"]
    if kind == ENDS_EQUAL:
        if state["ends"][0] != state["ends"][1]:
            return np.int64(0)
        if state["tip_doubles"] != 0 and num_tiles_of(state["laid"]) > 1:
            return np.int64(3)
        return np.int64(2)
    count = exposed_count(state)
    if kind == ENDS_FIVES:
        return count if count % 5 == 0 else np.int64(0)
    if kind == ENDS_THREES:
        return count if count % 3 == 0 else np.int64(0)
    points = np.int64(0)
    if kind == ENDS_FIVES_AND_THREES:
        if count % 3 == 0:
            points += count // 3
        if count % 5 == 0:
            points += count // 5
    return points


@jit
def round_off(amount, rules):
    """An amount rounded, up or to the nearest unit (by fives 1, 2 down; by threes 1 down), under rules that round."""
    unit = np.int64(3 if rules["end_scoring"] == ENDS_THREES else 5)
    if rules["rounding"] == ROUNDING_UP:
        return (amount + unit - 1) // unit * unit
    return (amount + unit // 2) // unit * unit


@jit
def points_of(score, before, rules):
    """The points between two scores of a seat: penalty scores count against it."""
    return before - score if rules["settlement"] == PENALTY_EACH else score - before


@jit
def _side(player, rules):
    """The seats that share a score with ``player``, as bits."""
    if rules["teams"] == 1:
        return 0b0101 << (player & 1)
    return 1 << player


@jit
def book(state, rules, player, amount):
    """Add to the score of ``player`` (his team); True if that ends the match at once."""
    side = _side(player, rules)
    for seat in range(4):
        if side >> seat & 1 == 1:
            state["scores"][seat] += amount
            state["round_points"][seat] += amount
    if rules["target_check"] == CHECK_AT_ONCE and state["scores"][player] >= rules["target"]:
        state["status"] = MATCH_OVER
        state["match_winners"] = side
        return True
    return False


@jit(inline=True)
def score_play(state, rules, player):
    """Book the points of the play that ``player`` has just made; True if that ends the match."""
    if rules["end_scoring"] == ENDS_NONE:
        return False
    points = play_points(state, rules)
    return points > 0 and book(state, rules, player, points)


@jit(inline=True)
def is_blocked(state, rules, open_now):
    """Whether nobody can move: no hand holds one of the tiles ``open_now`` and nobody may draw.

    With ``early_block`` also when no tile outside the layout is one of them.
    """
    if rules["draw_rule"] != DRAW_NONE:
        if rules["early_block"] == 1:
            top = np.uint64(rules["num_tiles"])
            if (~state["laid"] & open_now) << (np.uint64(64) - top) == NO_TILES:
                return True
        if state["boneyard"] > rules["boneyard_reserve"]:
            return False
    held = NO_TILES
    for seat in range(4):  # seats that do not play hold none; without a way out of the loop there is nothing to guess
        held |= state["hands"][seat]
    return held & open_now == NO_TILES


@jit
def _extreme_seats(values, num_players, sign):
    """The seats with the lowest ``sign * value``, as bits."""
    seats = 0
    best = np.int64(0)
    for seat in range(num_players):
        value = sign * np.int64(values[seat])
        if seats == 0 or value < best:
            seats = 1 << seat
            best = value
        elif value == best:
            seats |= 1 << seat
    return seats


@jit
def _leftover(state, seat, rules):
    """The pips in a hand, rounded where the rules round every hand."""
    pips = pips_of(state["hands"][seat])
    return round_off(pips, rules) if rules["rounding"] == ROUNDING_EACH_HAND else pips


@jit
def _round_pot(pot, rules):
    """The pot rounded, unless nothing is rounded or every hand was."""
    if rules["rounding"] == ROUNDING_NEAREST or rules["rounding"] == ROUNDING_UP:
        return round_off(pot, rules)
    return pot


@jit
def _amount(state, rules, winners, is_out):
    """What the side ``winners`` (bits) scores together for a round: its award of the leftovers, rounded."""
    award = rules["award"]
    if award == AWARD_ONE_POINT:
        return np.int64(1)
    pot = np.int64(0)
    for seat in range(rules["num_players"]):
        pips = _leftover(state, seat, rules)
        if winners >> seat & 1 == 0 or award == AWARD_ALL:
            pot += pips
        elif award == AWARD_OPPONENTS_MINUS_OWN and not is_out:
            pot -= pips
    return _round_pot(pot, rules)


@jit
def _lowest_side(state, rules):
    """The seats that win a blocked round, as bits; more than one side if it is tied."""
    pips0, pips1 = pips_of(state["hands"][0]), pips_of(state["hands"][1])
    pips2, pips3 = pips_of(state["hands"][2]), pips_of(state["hands"][3])
    if rules["teams"] == 0:
        return _extreme_seats((pips0, pips1, pips2, pips3), rules["num_players"], 1)
    if rules["block_winner"] == BLOCK_SINGLE_LOWEST:
        even, odd = min(pips0, pips2), min(pips1, pips3)
    else:
        even, odd = pips0 + pips2, pips1 + pips3
    if even < odd:
        return 0b0101
    return 0b1010 if odd < even else 0b1111


@jit
def _is_tied(seats, rules):
    """Whether ``seats`` belong to more than one side."""
    return num_tiles_of(np.uint64(seats)) > (2 if rules["teams"] == 1 else 1)


@jit
def _set_next_leads(state, rules, winners, out):
    """Who may lead the next round; ``winners`` as bits, ``out`` the seat that went out or -1."""
    num_players = np.int64(rules["num_players"])
    starter = np.int64(state["starter"])
    if rules["next_lead"] == NEXT_AS_FIRST:
        leads = 0
    elif rules["next_lead"] == NEXT_ROTATE:
        leads = 1 << ((starter + 1) % num_players)
    elif out >= 0:
        leads = 1 << out
    elif _is_tied(winners, rules):
        tie_lead = rules["tie_lead"]
        if tie_lead == TIE_DRAW_AMONG_TIED:
            leads = winners
        elif tie_lead == TIE_AS_FIRST:
            leads = 0
        elif tie_lead == TIE_SAME_STARTER:
            leads = 1 << starter
        else:
            leads = 1 << ((starter + 1) % num_players)
    else:
        # The member of the winning side with fewest pips, equal: the first in turn order from the starter.
        leads = 0
        best = np.int64(0)
        for step in range(num_players):
            seat = (starter + step) % num_players
            if winners >> seat & 1 == 1:
                pips = pips_of(state["hands"][seat])
                if leads == 0 or pips < best:
                    leads = 1 << seat
                    best = pips
    state["next_leads"] = leads


@jit
def _book_winner(state, rules, winners, is_out):
    """Book a round that the winner takes; True if that ended the match at once."""
    num_players = np.int64(rules["num_players"])
    if not _is_tied(winners, rules):
        for seat in range(num_players):
            if winners >> seat & 1 == 1:
                return book(state, rules, seat, _amount(state, rules, winners, is_out))
    if rules["blocked_tie"] != TIE_SPLIT:
        return False
    sides = num_tiles_of(np.uint64(winners)) // (2 if rules["teams"] == 1 else 1)
    share = _amount(state, rules, winners, False) // sides
    booked = 0
    for step in range(num_players):
        seat = (np.int64(state["starter"]) + step) % num_players
        if winners >> seat & 1 == 1 and booked >> seat & 1 == 0:
            booked |= _side(seat, rules)
            if book(state, rules, seat, share):
                return True
    return False


@jit
def decide_match(state, rules):
    """After all bookings of a round: is the match won, truncated, or does it go on?"""
    num_players = rules["num_players"]
    most = _extreme_seats(state["scores"], num_players, -1)
    reached = False
    for seat in range(num_players):
        reached |= state["scores"][seat] >= rules["target"]
    if reached and rules["settlement"] == PENALTY_EACH:
        state["match_winners"] = _extreme_seats(state["scores"], num_players, 1)  # equal fewest share the win
        state["status"] = MATCH_OVER
    elif reached and not _is_tied(most, rules):
        state["match_winners"] = most
        state["status"] = MATCH_OVER
    elif rules["max_rounds"] > 0 and state["round"] >= rules["max_rounds"]:
        state["status"] = TRUNCATED
    else:
        state["status"] = ROUND_OVER
    if state["status"] != ROUND_OVER:
        state["next_leads"] = 0


@jit
def settle(state, rules, out):
    """Close a round: ``out`` is the seat that went out, -1 a block. Books, decides who won, and sets the status.

    A round that a booking of its last play has ended (status MATCH_OVER) is closed without further bookings.
    """
    num_players = rules["num_players"]
    state["is_out"] = 1 if out >= 0 else 0
    if state["status"] == PLAYING:
        if rules["settlement"] == PENALTY_EACH:
            # Totals alone are compared: who went out may still tie with [0-0].
            winners = _lowest_side(state, rules)
            for seat in range(num_players):
                penalty = pips_of(state["hands"][seat])
                state["scores"][seat] += penalty
                state["round_points"][seat] += penalty
            is_over = False
        else:
            winners = _side(out, rules) if out >= 0 else _lowest_side(state, rules)
            is_over = _book_winner(state, rules, winners, out >= 0)
        state["round_winners"] = winners
        if not is_over:
            _set_next_leads(state, rules, winners, out)
            decide_match(state, rules)
    if rules["end_scoring"] != ENDS_NONE:
        state["round_winners"] = _extreme_seats(state["round_points"], num_players, -1)
