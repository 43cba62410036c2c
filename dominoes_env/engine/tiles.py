"""Tiles: a tile id to its two numbers and back, pips, and verbs on 64-bit tile sets.

The tile ``[low-high]`` has the id ``high * (high + 1) / 2 + low``, so that a tile keeps its id in every set. A set of
tiles (a hand, the layout) is a ``uint64`` with bit ``id`` set; double-nine, the largest set, needs 55 bits.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit

__all__ = [
    "DOUBLES",
    "HIGH",
    "LOW",
    "MAX_PIP",
    "MAX_TILES",
    "NO_TILES",
    "PIPS",
    "TOUCHING",
    "is_double",
    "lowest_tile",
    "nth_tile",
    "num_tiles_in_set",
    "num_tiles_of",
    "pips_of",
    "tile_bit",
    "tile_id",
    "tiles_in",
    "tiles_with",
]

MAX_PIP = 9
MAX_TILES = 55

#: int8 (55,): the lower and the higher number of each tile, and uint8-sized pip sums as int64.
LOW = np.array([low for high in range(MAX_PIP + 1) for low in range(high + 1)], np.int8)
HIGH = np.array([high for high in range(MAX_PIP + 1) for low in range(high + 1)], np.int8)
PIPS = LOW.astype(np.int64) + HIGH

#: uint64 (10,): the tiles that show each number. Sets smaller than double-nine never hold the others.
TOUCHING = np.array(
    [sum(1 << t for t in range(MAX_TILES) if number in (LOW[t], HIGH[t])) for number in range(MAX_PIP + 1)], np.uint64
)
#: uint64: all doubles.
DOUBLES = np.uint64(sum(1 << t for t in range(MAX_TILES) if LOW[t] == HIGH[t]))
NO_TILES = np.uint64(0)

_ONE = np.uint64(1)
#: uint64 (5,): the tiles in whose pips, at most 18, each binary digit is 1.
_PIP_DIGITS = np.array([sum(1 << t for t in range(MAX_TILES) if PIPS[t] >> digit & 1) for digit in range(5)], np.uint64)
#: uint64 (11,): no tiles, then TOUCHING. Looked up unsigned, which spares a test for -1 and one for negative indices.
_WITH = np.concatenate([np.zeros(1, np.uint64), TOUCHING])


def tile_id(a: int, b: int) -> int:
    """The id of the tile that shows ``a`` and ``b``, in either order."""
    low, high = min(a, b), max(a, b)
    return high * (high + 1) // 2 + low


def num_tiles_in_set(max_pip: int) -> int:
    """Tiles in a double-``max_pip`` set: 28 for double-six."""
    return (max_pip + 1) * (max_pip + 2) // 2


def tiles_in(tiles: int) -> list[int]:
    """The tile ids of a set, ascending."""
    tiles = int(tiles)
    return [t for t in range(MAX_TILES) if tiles >> t & 1]


@jit(inline=True)
def tile_bit(tile):
    return _ONE << np.uint64(tile)


@jit(inline=True)
def tiles_with(number):
    """The tiles that show ``number``, as bits; none for -1, the number of an end at which nothing can be laid."""
    return _WITH[np.uint64(np.int64(number) + 1)]


@jit(inline=True)
def is_double(tile):
    return LOW[tile] == HIGH[tile]


@jit(inline=True)
def num_tiles_of(tiles):
    """How many tiles a set holds (a population count: the compiler turns the sum into one instruction)."""
    x = tiles - ((tiles >> _ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit(inline=True)
def lowest_tile(tiles):
    """The lowest tile id of a set that is not empty."""
    return num_tiles_of((tiles & (~tiles + _ONE)) - _ONE)


@jit(inline=True)
def nth_tile(tiles, n):
    """The ``n``-th tile id (from 0, ascending) of a set that holds more than ``n``."""
    # Few are asked for more than the fourth, and below that nothing is left to guess for the processor.
    while n >= 4:
        n -= 4
        for _ in range(4):
            tiles &= tiles - _ONE
    twice, once = np.uint64(n >> 1), np.uint64(n & 1)
    tiles &= tiles - twice
    tiles &= tiles - twice
    tiles &= tiles - once
    return lowest_tile(tiles)


@jit(inline=True)
def pips_of(tiles):
    """The pips of a set of tiles: for each binary digit of a tile's pips the tiles that have it, counted."""
    total = num_tiles_of(tiles & _PIP_DIGITS[0])
    for digit in range(1, 5):
        total += num_tiles_of(tiles & _PIP_DIGITS[digit]) << digit
    return total
