"""Alpha-beta over the rest of a round with open hands: the search under :mod:`agents.double_dummy`.

Minimax by alpha-beta (Knuth & Moore 1975) with windows of nothing (MTD(f), Plaat et al. 1996) and a transposition
table that holds whole keys. The engine plays: records are copied and stepped. Forced moves take no node, and of two
ends that are alike one is searched. Values are integers, the margin of one seat as dominoes_env/engine/lookahead.py
defines it, from the position at hand to the end of the round; his side wants it high, all others low.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import leftover_bounds, margin_between, most_booked, position_key, twin_of
from dominoes_env.engine.moves import draw_or_pass, lay_tile, open_tiles, playable_tiles, split_play
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import CHECK_AT_ONCE, ENDS_NONE, Rules
from dominoes_env.engine.state import NONE, PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import NO_TILES, PIPS, is_double, lowest_tile, num_tiles_of

__all__ = ["HUGE", "NO_LIMIT", "action_margin", "is_given_up", "list_moves", "make_scratch", "order_moves"]

_ONE = np.uint64(1)
#: Above any margin.
HUGE = 1 << 28
#: A budget that is never used up.
NO_LIMIT = 1 << 62
#: Above any action id.
_ACTIONS = 1024
#: What counts in the order of moves, in pips: a tile that fits afterwards, and a double.
_FIT, _DOUBLE = 8, 4

#: What one search is about, and what it has done; one record.
_TASK_DTYPE = np.dtype(
    [
        ("seat", np.int64),  # whose margin
        ("weights", np.int64, (4,)),  # what a point of each seat counts in it; > 0: his side
        ("generation", np.int64),  # marks the entries of the table that belong to this search
        ("horizon", np.int64),  # ply at which positions are estimated; 0: none is
        ("nodes", np.int64),  # positions with a choice that were looked at
        ("limit", np.int64),  # ... at which the search is given up
        ("estimates", np.int64),  # positions that were estimated
    ],
    align=True,
)
#: A position on the way from the root to where the search is.
_FRAME_DTYPE = np.dtype(
    [
        ("key", np.uint64, (5,)),
        ("slot", np.int64),
        ("gain", np.int64),  # margin booked between the position above and this one
        ("booked", np.int64),  # the most that one seat has booked there
        ("low", np.int64),  # the window as it was opened
        ("high", np.int64),
        ("alpha", np.int64),  # ... and as it is
        ("beta", np.int64),
        ("best", np.int64),
        ("best_move", np.int64),
        ("reach", np.int64),  # the most that one seat books on any line looked at from here; kept where it matters
        ("is_max", np.int64),  # 1: the margin's own side is on turn
        ("count", np.int64),  # moves, and how many have been tried
        ("tried", np.int64),
    ],
    align=True,
)
#: One transposition, a cache line.
_ENTRY_DTYPE = np.dtype(
    [
        ("key", np.uint64, (5,)),
        ("generation", np.int32),
        ("lower", np.int32),
        ("upper", np.int32),
        ("reach", np.int32),
        ("move", np.int64),
    ],
    align=True,
)


def make_scratch(rules: Rules) -> tuple[NDArray[Any], ...]:
    """The arrays that searches under ``rules`` work in, up to 16 MiB; for one thread at a time."""
    plies = rules.num_tiles + 2
    in_play = rules.num_players * rules.hand_size
    if rules.draw_rule != "none":
        in_play = rules.num_tiles
    bits = min(max(3 * in_play // 7 + 6, 8), 18)
    return (
        np.zeros(plies, STATE_DTYPE),
        np.zeros(plies, _FRAME_DTYPE),
        np.zeros((plies, rules.num_actions), np.int64),
        np.zeros(1 << bits, _ENTRY_DTYPE),
        np.zeros((2, rules.num_actions), np.int64),
        np.zeros(1, _TASK_DTYPE),
    )


@jit(inline=True)
def list_moves(state, rules, moves, ply):  # type: ignore[no-untyped-def]
    """The plays of the seat on turn, those on twin ends once; returns how many."""
    count = 0
    first = np.int64(0)
    for end in range(rules["num_ends"]):
        tiles = playable_tiles(state, rules, end)
        if tiles != NO_TILES and twin_of(state, rules, end) == end:
            while tiles != NO_TILES:
                moves[ply, count] = first + lowest_tile(tiles)
                tiles &= tiles - _ONE
                count += 1
        first += rules["num_tiles"]
    return count


@jit(inline=True)
def _play(state, rules, action, moves, ply):  # type: ignore[no-untyped-def]
    """Take an action, and play on while there is no choice; returns how many moves are listed then, 0: it is over."""
    while True:
        step(state, rules, action)
        if state["status"] != PLAYING:
            return 0
        count = list_moves(state, rules, moves, ply)
        if count > 1:
            return count
        action = moves[ply, 0] if count == 1 else draw_or_pass(state, rules)


@jit(inline=True)
def order_moves(state, rules, weights, moves, ply, count, first, laid):  # type: ignore[no-untyped-def]
    """Put promising moves before others and ``first`` before all.

    They leave open what fits the mover's hand and not that of an opponent who comes next, and are heavy. Each play is
    tried out in ``laid[0]``.
    """
    num_tiles = np.int64(rules["num_tiles"])
    turn = np.int64(state["turn"])
    after = turn + 1 if turn + 1 < rules["num_players"] else np.int64(0)
    own, other = state["hands"][turn], NO_TILES
    if (weights[turn] > 0) != (weights[after] > 0):
        other = state["hands"][after]
    for i in range(count):
        move = moves[ply, i]
        tile, end = split_play(move, num_tiles)
        laid[0] = state
        lay_tile(laid[0], rules, tile, end)
        fits = open_tiles(laid[0])
        worth = PIPS[tile] + _FIT * (num_tiles_of(own & fits) - num_tiles_of(other & fits))
        if is_double(tile):
            worth += _DOUBLE
        if move == first:
            worth += _ACTIONS
        worth = worth * _ACTIONS + move
        j = i
        while j > 0 and moves[ply, j - 1] < worth:
            moves[ply, j] = moves[ply, j - 1]
            j -= 1
        moves[ply, j] = worth
    for i in range(count):
        moves[ply, i] &= _ACTIONS - 1


@jit(inline=True)
def _slot_of(key, size):  # type: ignore[no-untyped-def]
    word = key[0] * np.uint64(0x9E3779B97F4A7C15) ^ key[1] * np.uint64(0xC2B2AE3D27D4EB4F)
    word ^= key[2] * np.uint64(0x165667B19E3779F9) ^ key[3] * np.uint64(0xD6E8FEB86659FD93)
    word ^= key[4] * np.uint64(0xA0761D6478BD642F)
    word ^= word >> np.uint64(32)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((word >> np.uint64(24)) & np.uint64(size - 1))


@jit(inline=True)
def _find(entry, frame, task):  # type: ignore[no-untyped-def]
    """Whether an entry is about the position of a frame, in this search."""
    return (
        entry["generation"] == task["generation"]
        and entry["key"][0] == frame["key"][0]
        and entry["key"][1] == frame["key"][1]
        and entry["key"][2] == frame["key"][2]
        and entry["key"][3] == frame["key"][3]
        and entry["key"][4] == frame["key"][4]
    )


@jit(inline=True)
def _may_end_at_once(state, rules, reach):  # type: ignore[no-untyped-def]
    """Whether bookings of ``reach`` bring some seat to a target that ends the round."""
    if rules["target_check"] != CHECK_AT_ONCE:
        return False
    most = np.int64(0)
    for seat in range(rules["num_players"]):
        most = max(most, np.int64(state["scores"][seat]))
    return most + reach >= rules["target"]


@jit(inline=True)
def _open(state, rules, frame, table, task, ply):  # type: ignore[no-untyped-def]
    """Look a position up before searching it: ``(is_known, margin, move to try first)``; narrows the frame's window.

    A known margin is exact, or a bound outside the window.
    """
    frame["reach"] = 0
    least, most = leftover_bounds(state, rules, task["seat"])
    if ply == task["horizon"]:
        task["estimates"] += 1
        return True, (least + most) // 2, NONE
    if rules["end_scoring"] == ENDS_NONE:
        if least >= frame["beta"] or least == most:
            return True, least, NONE
        if most <= frame["alpha"]:
            return True, most, NONE
        frame["alpha"] = max(frame["alpha"], least)
        frame["beta"] = min(frame["beta"], most)
    key = position_key(state, rules)
    for word in range(5):
        frame["key"][word] = key[word]
    if task["horizon"] > 0:
        frame["key"][1] |= np.uint64(task["horizon"] - ply) << np.uint64(40)
    frame["slot"] = _slot_of(frame["key"], len(table))
    entry = table[frame["slot"]]
    first = np.int64(NONE)
    if _find(entry, frame, task):
        first = entry["move"]
        if not _may_end_at_once(state, rules, entry["reach"]):
            lower, upper = np.int64(entry["lower"]), np.int64(entry["upper"])
            frame["reach"] = entry["reach"]
            if lower >= frame["beta"] or lower == upper:
                return True, lower, first
            if upper <= frame["alpha"]:
                return True, upper, first
            frame["alpha"] = max(frame["alpha"], lower)
            frame["beta"] = min(frame["beta"], upper)
    return False, np.int64(0), first


@jit(inline=True)
def _fold(frame, move, margin, reach):  # type: ignore[no-untyped-def]
    """A move of this position is worth ``margin``."""
    frame["reach"] = max(frame["reach"], reach)
    if frame["is_max"] == 1:
        if margin > frame["best"]:
            frame["best"] = margin
            frame["best_move"] = move
            frame["alpha"] = max(frame["alpha"], margin)
    elif margin < frame["best"]:
        frame["best"] = margin
        frame["best_move"] = move
        frame["beta"] = min(frame["beta"], margin)


@jit(inline=True)
def _store(state, rules, frame, table, task):  # type: ignore[no-untyped-def]
    if _may_end_at_once(state, rules, frame["reach"]):
        return
    entry = table[frame["slot"]]
    for word in range(5):
        entry["key"][word] = frame["key"][word]
    entry["generation"] = task["generation"]
    entry["lower"] = frame["best"] if frame["best"] > frame["low"] else -HUGE
    entry["upper"] = frame["best"] if frame["best"] < frame["high"] else HUGE
    entry["reach"] = frame["reach"]
    entry["move"] = frame["best_move"]


@jit(borrows=True)
def _search(rules, action, low, high, scratch):  # type: ignore[no-untyped-def]
    """The margin from ``stack[0]`` on if ``action`` is taken there; exact inside the window, else a bound of it.

    Given up once ``nodes`` reaches ``limit``; what comes back then has no meaning.
    """
    stack, frames, moves, table, _, tasks = scratch
    task = tasks[0]
    ply = 0
    alpha, beta = low, high
    while True:
        stack[ply + 1] = stack[ply]
        above, state, frame = stack[ply], stack[ply + 1], frames[ply + 1]
        count = _play(state, rules, action, moves, ply + 1)
        margin = np.int64(0)
        reach = np.int64(0)
        if count == 0 or rules["end_scoring"] != ENDS_NONE:
            margin = margin_between(above, state, rules, task["weights"])
            if rules["target_check"] == CHECK_AT_ONCE:
                reach = most_booked(above, state, rules)
        is_known = count == 0
        if not is_known:
            task["nodes"] += 1
            if task["nodes"] >= task["limit"]:
                return margin
            frame["gain"] = margin
            frame["booked"] = reach
            frame["alpha"] = alpha - margin
            frame["beta"] = beta - margin
            is_known, rest, first = _open(state, rules, frame, table, task, ply + 1)
            margin += rest
            reach += frame["reach"]
        if not is_known:
            ply += 1
            frame["low"] = frame["alpha"]
            frame["high"] = frame["beta"]
            frame["is_max"] = 1 if task["weights"][state["turn"]] > 0 else 0
            frame["best"] = -HUGE if frame["is_max"] == 1 else HUGE
            frame["count"] = count
            frame["tried"] = 0
            order_moves(state, rules, task["weights"], moves, ply, count, first, stack[ply + 1 :])
        elif ply == 0:
            return margin
        else:
            _fold(frames[ply], action, margin, reach)
        while frames[ply]["tried"] == frames[ply]["count"] or frames[ply]["alpha"] >= frames[ply]["beta"]:
            frame = frames[ply]
            _store(stack[ply], rules, frame, table, task)
            ply -= 1
            if ply == 0:
                return frame["best"] + frame["gain"]
            _fold(frames[ply], moves[ply, frames[ply]["tried"] - 1], frame["best"] + frame["gain"],
                  frame["reach"] + frame["booked"])  # fmt: skip
        action = moves[ply, frames[ply]["tried"]]
        frames[ply]["tried"] += 1
        alpha, beta = frames[ply]["alpha"], frames[ply]["beta"]


@jit(borrows=True)
def is_given_up(scratch):  # type: ignore[no-untyped-def]
    """Whether the budget of the search is used up."""
    return scratch[-1][0]["nodes"] >= scratch[-1][0]["limit"]


@jit(borrows=True)
def action_margin(rules, action, guess, scratch):  # type: ignore[no-untyped-def]
    """The exact margin of ``action`` in ``stack[0]``, from a guess of it; without meaning if it was given up.

    By searches with a window of nothing, each of which says on which side of it the margin lies (MTD(f)).
    """
    low, high = np.int64(-HUGE), np.int64(HUGE)
    while low < high and not is_given_up(scratch):
        beta = max(guess, low + 1)
        guess = _search(rules, action, beta - 1, beta, scratch)
        if guess < beta:
            high = guess
        else:
            low = guess
    return guess
