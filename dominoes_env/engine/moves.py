"""Moves: what the player on turn may do, and what a play, a draw or a pass does to hands, layout and turn.

Nothing here knows scores. A play on an empty layout is the lead and uses end 0.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.opening import forced_lead
from dominoes_env.engine.rules import (
    DRAW_NONE,
    DRAW_ONE,
    SPINNER_FIRST_DOUBLE,
    SPINNER_NONE,
)
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import (
    HIGH,
    LOW,
    NO_TILES,
    is_double,
    nth_tile,
    num_tiles_of,
    tile_bit,
    tiles_with,
)

__all__ = [
    "draw_or_pass",
    "is_legal",
    "lay_tile",
    "nth_legal_action",
    "num_legal_actions",
    "open_numbers",
    "open_tiles",
    "play_turn",
    "playable_tiles",
    "show_lacking",
    "split_play",
]

_ONE = np.uint64(1)


@jit(inline=True)
def playable_tiles(state, rules, end):
    """The tiles that the player on turn may lay on ``end``, as bits."""
    hand = state["hands"][state["turn"]]
    if state["laid"] == NO_TILES:
        if end != 0:
            return NO_TILES
        if state["is_lead_forced"] == 1:
            return tile_bit(forced_lead(hand, state["lots"][state["turn"]], rules))
        return hand
    return hand & tiles_with(state["ends"][end])


@jit(inline=True)
def open_tiles(state):
    """All tiles of any set that show a number which is open on the layout, laid ones included, as bits."""
    tiles = NO_TILES
    for end in range(4):
        tiles |= tiles_with(state["ends"][end])
    return tiles


@jit
def open_numbers(state):
    """The numbers that are open on the layout, as bits."""
    numbers = 0
    for end in range(4):
        if state["ends"][end] >= 0:
            numbers |= 1 << np.int64(state["ends"][end])
    return numbers


@jit(inline=True)
def num_plays(state, rules):
    total = 0
    for end in range(4):  # ends that the rules lack are empty
        total += num_tiles_of(playable_tiles(state, rules, end))
    return total


@jit(inline=True)
def draw_or_pass(state, rules):
    """The one action of a player whom nothing fits: DRAW (B5; "one": once a turn; never the reserve), else PASS."""
    draw = np.int64(rules["num_tiles"]) * rules["num_ends"]
    if rules["draw_rule"] == DRAW_NONE or state["boneyard"] <= rules["boneyard_reserve"]:
        return draw + 1
    if rules["draw_rule"] == DRAW_ONE and state["has_drawn"] == 1:
        return draw + 1
    return draw


@jit
def num_legal_actions(state, rules):
    """How many actions the player on turn has; at least one."""
    return max(num_plays(state, rules), 1)


@jit
def nth_legal_action(state, rules, n):
    """The ``n``-th legal action (from 0, by action id) of the player on turn."""
    first = np.int64(0)
    for end in range(4):
        tiles = playable_tiles(state, rules, end)
        count = num_tiles_of(tiles)
        if n < count:
            return first + nth_tile(tiles, n)
        n -= count
        first += rules["num_tiles"]
    return draw_or_pass(state, rules)


@jit(inline=True)
def split_play(action, num_tiles):
    """``(tile, end)`` of a play (by subtraction: there are few ends, and a division is dear)."""
    end = np.int64(0)
    while action >= num_tiles:
        action -= num_tiles
        end += 1
    return action, end


@jit
def is_legal(state, rules, action):
    """Whether the player on turn may take ``action``, any integer."""
    num_tiles = np.int64(rules["num_tiles"])
    plays = num_tiles * rules["num_ends"]
    if action < 0 or action > plays + 1:
        return False
    if action < plays:
        tile, end = split_play(action, num_tiles)
        return playable_tiles(state, rules, end) & tile_bit(tile) != NO_TILES
    return num_plays(state, rules) == 0 and action == draw_or_pass(state, rules)


@jit(inline=True)
def lay_tile(state, rules, tile, end):
    """Put a tile on the layout: what everybody sees of a play. The tile must fit."""
    low, high = LOW[tile], HIGH[tile]
    is_lead = state["laid"] == NO_TILES
    state["laid"] |= tile_bit(tile)
    if is_lead:
        if is_double(tile) and rules["spinner"] != SPINNER_NONE:
            state["spinner"] = low
            state["ends"][0] = low
        else:
            state["ends"][0] = low
            state["ends"][1] = high
            state["begun"] = 0b11
            if is_double(tile):
                state["tip_doubles"] = 0b11
        return
    bit = 1 << end
    if is_double(tile) and state["spinner"] == NONE and rules["spinner"] == SPINNER_FIRST_DOUBLE:
        # The arm that it was laid on ends in the spinner now and has not begun beyond it.
        state["spinner"] = low
        state["begun"] &= 0b1111 ^ bit
        state["tip_doubles"] &= 0b1111 ^ bit
        return
    state["ends"][end] = low + high - state["ends"][end]
    if is_double(tile):
        state["tip_doubles"] |= bit
    else:
        state["tip_doubles"] &= 0b1111 ^ bit
    if state["begun"] & bit == 0:
        # First tile of an arm: the spinner's number moves on to the lowest arm not begun.
        state["begun"] |= bit
        for arm in range(4):
            if state["begun"] >> arm & 1 == 0:
                state["ends"][arm] = state["spinner"]
                break


@jit(inline=True)
def _pass_turn(state, rules):
    turn = state["turn"] + 1
    state["turn"] = 0 if turn == rules["num_players"] else turn
    state["has_drawn"] = 0


@jit
def show_lacking(state, player, is_kept):
    """Nothing fits ``player``: he lacks the open numbers; a tile kept after a draw may hold any other."""
    numbers = open_numbers(state)
    if is_kept:
        state["lacking"][player] = numbers
    else:
        state["lacking"][player] |= numbers


@jit(inline=True)
def play_turn(state, rules, action):
    """Carry out a legal action of the player on turn; the turn passes on unless he drew."""
    player = np.int64(state["turn"])
    num_tiles = np.int64(rules["num_tiles"])
    plays = num_tiles * rules["num_ends"]
    if action < plays:
        tile, end = split_play(action, num_tiles)
        state["hands"][player] &= ~tile_bit(tile)
        state["hand_counts"][player] -= 1
        lay_tile(state, rules, tile, end)
        _pass_turn(state, rules)
        return
    show_lacking(state, player, state["has_drawn"] == 1)
    if action == plays:
        top = state["boneyard"] - 1
        state["hands"][player] |= tile_bit(state["pile"][top])
        state["hand_counts"][player] += 1
        state["pile"][top] = NONE
        state["boneyard"] = top
        state["has_drawn"] = 1
    else:
        _pass_turn(state, rules)
