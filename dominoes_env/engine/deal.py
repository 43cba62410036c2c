"""All chance of the game: lots, the shuffle, hands, the boneyard's order, redeals.

Every random number comes from the generator in the state, so that a game is a function of its seed. The boneyard's
order is fixed here; in games without drawing that order has no meaning and is not shuffled further.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.opening import first_lead, opening_forces_lead
from dominoes_env.engine.rules import (
    DRAW_NONE,
    KEY_DOUBLE_FIRST,
    LOTS_KEEP,
    SEAT_0,
)
from dominoes_env.engine.state import MAX_BONEYARD, NONE, PLAYING
from dominoes_env.engine.tiles import (
    MAX_TILES,
    NO_TILES,
    PIPS,
    is_double,
    nth_tile,
    num_tiles_of,
    tile_bit,
)

__all__ = [
    "deal_round",
    "key_bits",
    "lots_winners",
    "open_round",
    "opening_seat",
    "random_below",
    "row_generator",
    "start_match",
]

_ONE = np.uint64(1)
_GAMMA = np.uint64(0x9E3779B97F4A7C15)


@jit(inline=True, borrows=True)
def key_bits(keys, row):
    """64 random bits from a row's key, which is moved on: a xorshift* state (Vigna 2016), uint64 and never 0.

    For choices that are no part of the game: who plays at random, or samples, is given keys from outside.
    """
    key = keys[row]
    key ^= key >> np.uint64(12)
    key ^= key << np.uint64(25)
    key ^= key >> np.uint64(27)
    keys[row] = key
    return key * np.uint64(0x2545F4914F6CDD1D)


@jit
def _mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def row_generator(seed, game_id):
    """The generator with which game ``game_id`` of a seed starts (both uint64): a 64-bit state, well mixed."""
    return _mix(_mix(seed + _GAMMA) ^ _mix(game_id * _GAMMA + np.uint64(0xD1B54A32D192ED03)))


@jit
def random_below(state, bound):
    """A uniform integer in [0, bound) from the state's generator (SplitMix64, Steele et al. 2014).

    The high 32 bits are scaled; the bias of at most bound / 2**32 is far below what any count of games could show.
    """
    state["generator"] += _GAMMA
    bits = _mix(state["generator"]) >> np.uint64(32)
    return np.int64((bits * np.uint64(bound)) >> np.uint64(32))


@jit
def lots_winners(lots, seats, rules):
    """Which of ``seats`` (bits) drew the best lot, as bits; ``lots`` holds a tile id for each seat.

    Any double beats any other tile, the higher double wins, without a double the highest pips (A1); by the key
    "pips" the highest pips alone. More than one seat: they are tied.
    """
    best = 0
    winners = 0
    for seat in range(rules["num_players"]):
        if seats >> seat & 1 == 1:
            key = PIPS[lots[seat]]
            if rules["lots_key"] == KEY_DOUBLE_FIRST and is_double(lots[seat]):
                key += 100
            if winners == 0 or key > best:
                best = key
                winners = 1 << seat
            elif key == best:
                winners |= 1 << seat
    return winners


@jit
def _lowest_seat(seats):
    return num_tiles_of(np.uint64((seats & -seats) - 1))


@jit
def _draw_lots(state, rules):
    """Kept lots (A4): each seat draws a tile, the tied put theirs back and draw again; returns the winner's seat."""
    remaining = (_ONE << np.uint64(rules["num_tiles"])) - _ONE
    drawing = (1 << rules["num_players"]) - 1
    while True:
        for seat in range(rules["num_players"]):
            if drawing >> seat & 1 == 1:
                tile = nth_tile(remaining, random_below(state, num_tiles_of(remaining)))
                state["lots"][seat] = tile
                remaining &= ~tile_bit(tile)
        winners = lots_winners(state["lots"], drawing, rules)
        if winners & (winners - 1) == 0:
            return _lowest_seat(winners)
        drawing = winners
        for seat in range(rules["num_players"]):
            if drawing >> seat & 1 == 1:
                remaining |= tile_bit(state["lots"][seat])


@jit
def _deal_hands(state, rules):
    """Shuffle and deal; a seat that kept a lot gets it among his tiles. What is left is the boneyard."""
    pile = state["pile"]
    left = 0
    kept = NO_TILES
    for seat in range(4):
        state["hands"][seat] = NO_TILES
        state["hand_counts"][seat] = 0
        if state["lots"][seat] != NONE:
            kept |= tile_bit(state["lots"][seat])
    for tile in range(rules["num_tiles"]):
        if kept & tile_bit(tile) == NO_TILES:
            # A set of 55 and a hand of 1 each may exceed the pile for a moment, never its 56 places.
            pile[left] = tile
            left += 1
    for seat in range(rules["num_players"]):
        hand = NO_TILES
        missing = np.int64(rules["hand_size"])
        if state["lots"][seat] != NONE:
            hand = tile_bit(state["lots"][seat])
            missing -= 1
        for _ in range(missing):
            pick = random_below(state, left)
            left -= 1
            tile = pile[pick]
            pile[pick] = pile[left]
            hand |= tile_bit(tile)
        state["hands"][seat] = hand
        state["hand_counts"][seat] = rules["hand_size"]
    if rules["draw_rule"] != DRAW_NONE:
        for place in range(left - 1, 0, -1):
            pick = random_below(state, place + 1)
            tile = pile[pick]
            pile[pick] = pile[place]
            pile[place] = tile
    for place in range(left, MAX_BONEYARD):
        pile[place] = NONE
    state["boneyard"] = left


@jit
def opening_seat(state, rules):
    """The seat that an opening which looks at the hands makes the starter; NONE if it asks for a redeal.

    For the openings highest_double (B3), heaviest and set_double; the lead is then forced.
    """
    dealt = NO_TILES
    for seat in range(rules["num_players"]):
        dealt |= state["hands"][seat]
    tile = first_lead(dealt, rules)
    if tile == NONE:
        return np.int64(NONE)
    seat = np.int64(0)
    while state["hands"][seat] & tile_bit(tile) == NO_TILES:
        seat += 1
    return seat


@jit
def open_round(state, rules, starter, is_lead_forced):
    """Begin a round with the hands and the boneyard as they lie: an empty layout, nothing known of anybody."""
    state["laid"] = NO_TILES
    state["tip_doubles"] = 0
    state["begun"] = 0
    state["spinner"] = NONE
    state["turn"] = starter
    state["starter"] = starter
    state["is_lead_forced"] = is_lead_forced
    state["has_drawn"] = 0
    state["status"] = PLAYING
    state["next_leads"] = 0
    state["round_winners"] = 0
    state["match_winners"] = 0
    state["is_out"] = 0
    for seat in range(4):
        state["ends"][seat] = NONE
        state["lacking"][seat] = 0
        state["round_points"][seat] = 0


@jit
def _lot_among(state, seats):
    """One of ``seats`` (bits, not 0), drawn by lot; without a draw where there is but one."""
    count = num_tiles_of(np.uint64(seats))
    if count > 1:
        for _ in range(random_below(state, count)):
            seats &= seats - 1
    return _lowest_seat(seats)


@jit
def deal_round(state, rules):
    """Deal the next round of the match and open it: its leader is drawn from ``next_leads`` or found by the opening."""
    leads = np.int64(state["next_leads"])
    opening = rules["opening"]
    for seat in range(4):
        state["lots"][seat] = NONE
    if leads == 0 and opening == LOTS_KEEP:
        starter = _draw_lots(state, rules)
        forced = 1
        _deal_hands(state, rules)
    else:
        forced = 1 if leads == 0 and opening_forces_lead(rules) else 0
        _deal_hands(state, rules)
        if forced == 1:
            starter = opening_seat(state, rules)
            while starter == NONE:
                _deal_hands(state, rules)  # a redeal is a whole new deal and counts as no round
                starter = opening_seat(state, rules)
        elif leads != 0:
            starter = _lot_among(state, leads)
        elif opening == SEAT_0:
            starter = 0
        else:  # lots go back into the mix, so they are exactly a uniform seat
            starter = _lot_among(state, (1 << rules["num_players"]) - 1)
    state["round"] += 1
    open_round(state, rules, starter, forced)


@jit
def start_match(state, rules):
    """A fresh match at 0-0 with its first round dealt; the generator goes on from where it is."""
    for seat in range(4):
        state["scores"][seat] = 0
    state["round"] = 0
    state["next_leads"] = 0
    deal_round(state, rules)


assert MAX_TILES <= MAX_BONEYARD  # the pile is the scratch space of the shuffle
