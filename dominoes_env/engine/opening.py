"""The opening: which tiles an opening that looks at the hands would lead first, and whether it forces the lead.

One order serves all: the deal finds the starter by it, the starter his forced lead, and a player who thinks about
hidden tiles what no dealt hand can hold.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import (
    HEAVIEST,
    HIGHEST_DOUBLE,
    LOTS_KEEP,
    NO_DOUBLE_HEAVIEST,
    SET_DOUBLE,
)
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import MAX_TILES, NO_TILES, PIPS, is_double, lowest_tile, tile_bit

__all__ = ["first_lead", "forced_lead", "lead_rank", "opening_forces_lead", "tiles_above"]

#: Added to the rank of the doubles that an opening asks for; above any pip sum in the order below.
_ASKED_FOR = 1_000_000


@jit
def opening_forces_lead(rules):
    """Whether the opening names the lead, not only the starter."""
    opening = rules["opening"]
    return opening == LOTS_KEEP or opening == HIGHEST_DOUBLE or opening == HEAVIEST or opening == SET_DOUBLE


@jit
def lead_rank(tile, rules):
    """The higher of two tiles leads before the other: doubles asked for (B3), then by sum, then by higher half."""
    rank = PIPS[tile] * MAX_TILES + tile  # of equal sums the higher half has the higher id
    if rules["opening"] == HIGHEST_DOUBLE and is_double(tile):
        rank += _ASKED_FOR
    if rules["opening"] == SET_DOUBLE and tile == rules["num_tiles"] - 1:  # [N-N] has the highest id of its set
        rank += _ASKED_FOR
    return rank


@jit
def first_lead(tiles, rules):
    """The tile of a set that leads before all others; NONE if the opening would have the set dealt anew."""
    best = np.int64(NONE)
    highest = np.int64(-1)
    rest = tiles
    while rest != NO_TILES:
        tile = lowest_tile(rest)
        rest &= ~tile_bit(tile)
        rank = lead_rank(tile, rules)
        if rank > highest:
            best, highest = tile, rank
    may_lead = rules["opening"] == HEAVIEST or rules["no_double"] == NO_DOUBLE_HEAVIEST
    return best if may_lead or highest >= _ASKED_FOR else np.int64(NONE)


@jit
def forced_lead(hand, lot, rules):
    """The tile that the starter must lead, found from his own hand: his kept lot (A4), or his first by the order."""
    if rules["opening"] == LOTS_KEEP:
        return np.int64(lot)
    return first_lead(hand, rules)


@jit
def tiles_above(tile, rules):
    """The tiles that would have led before ``tile``, as bits: no dealt hand held them. None with kept lots."""
    above = NO_TILES
    if rules["opening"] != LOTS_KEEP:
        for other in range(rules["num_tiles"]):
            if lead_rank(other, rules) > lead_rank(tile, rules):
                above |= tile_bit(other)
    return above
