"""The ends of rounds, for all hands of two seats at once: the last tile laid, and the block.

That two hands share no tile is seen to here, and nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.tiles import NO_TILES, PIPS, lowest_tile, pips_of, tile_bit
from training.public_tree import PublicTree

__all__ = ["Workspace", "list_tiles", "make_workspace", "value_blocked", "value_last", "value_out"]


class Workspace(NamedTuple):
    """Scratch of a walk."""

    work: NDArray[np.float64]
    frames: NDArray[np.int64]
    tiles: NDArray[np.int64]
    """Shape (2, 64): the tiles of two masks."""
    bits: NDArray[np.uint64]
    pips: NDArray[np.int64]
    reach: NDArray[np.float64]
    held: NDArray[np.float64]
    """Shape (64,): a number a tile."""


def make_workspace(tree: PublicTree) -> Workspace:
    """Room for one walk at a time."""
    size = tree.size
    return Workspace(
        np.zeros(size.work + size.widest + 64),
        np.zeros((size.depth + 2, 7), np.int64),
        np.zeros((2, 64), np.int64),
        np.zeros(size.widest, np.uint64),
        np.zeros(size.widest, np.int64),
        np.zeros(size.widest),
        np.zeros(64),
    )


@jit
def list_tiles(mask, tiles):  # type: ignore[no-untyped-def]
    """The tiles of a mask, ascending; returns how many."""
    count = 0
    while mask != NO_TILES:
        tiles[count] = lowest_tile(mask)
        mask &= mask - np.uint64(1)
        count += 1
    return count


@jit
def value_last(tree, node, is_counted, pays, seat, space, reach, values):  # type: ignore[no-untyped-def]
    """Nodes where the mover lays his last tile: all his plays at once."""
    work, subsets = space.work, tree.subsets
    mover = np.int64(node["mover"])
    other = 1 - mover
    tiles, others = space.tiles[0], space.tiles[1]
    num_own = list_tiles(node["masks"][mover], tiles)
    num_others = list_tiles(node["masks"][other], others)
    size = np.int64(node["counts"][other])
    hands = subsets.binomials[num_others, size]
    at = subsets.members_at[size]
    margin = node["margin"] * pays.margin
    held = space.held
    if mover == seat:
        total = 0.0
        held[:] = 0.0
        for g in range(hands):
            if work[reach + g] == 0.0:
                continue
            pips = 0
            for k in range(size):
                pips += PIPS[others[subsets.members[at + size * g + k]]]
            worth = work[reach + g] * (pays.out[mover, pips] + margin)
            total += worth
            for k in range(size):
                held[others[subsets.members[at + size * g + k]]] += worth
        for t in range(num_own):
            bit = tile_bit(tiles[t])
            if node["fits"] & bit != NO_TILES:
                ways = 2.0 if is_counted and node["twice"] & bit != NO_TILES else 1.0
                work[values + t] += ways * (total - held[tiles[t]])
        return
    total = 0.0
    held[:] = 0.0
    for t in range(num_own):
        bit = tile_bit(tiles[t])
        if node["fits"] & bit != NO_TILES:
            ways = 2.0 if is_counted and node["twice"] & bit != NO_TILES else 1.0
            held[tiles[t]] = ways * work[reach + t]
            total += held[tiles[t]]
    for g in range(hands):
        pips, rest = 0, total
        for k in range(size):
            tile = others[subsets.members[at + size * g + k]]
            pips += PIPS[tile]
            rest -= held[tile]
        work[values + g] += rest * (pays.out[mover, pips] + margin)


@jit
def value_out(tree, node, edge, pays, seat, space, reach, values, share, gain):  # type: ignore[no-untyped-def]
    """An edge by which the mover goes out, where each play is counted by itself."""
    work, subsets = space.work, tree.subsets
    mover = np.int64(node["mover"])
    other = 1 - mover
    others = space.tiles[1]
    num_others = list_tiles(node["masks"][other], others)
    size = np.int64(node["counts"][other])
    hands = subsets.binomials[num_others, size]
    at = subsets.members_at[size]
    margin = edge["margin"] * pays.margin
    total = 0.0
    for g in range(hands):
        pips, is_apart = 0, True
        for k in range(size):
            tile = others[subsets.members[at + size * g + k]]
            pips += PIPS[tile]
            is_apart &= tile != edge["tile"]
        if not is_apart:
            continue
        worth = pays.out[mover, pips] + margin
        if mover == seat:
            total += work[reach + g] * worth
        else:
            work[values + g] += work[share] * worth
    if mover == seat:
        work[gain] = total


@jit
def value_blocked(tree, node, pays, seat, space, reach, values):  # type: ignore[no-untyped-def]
    """All pairs of hands that a block may leave."""
    work, subsets, bits, pips = space.work, tree.subsets, space.bits, space.pips
    other = 1 - seat
    tiles = space.tiles[0]
    num_others = list_tiles(node["masks"][other], tiles)
    size = np.int64(node["counts"][other])
    count = 0
    for g in range(subsets.binomials[num_others, size]):
        if work[reach + g] == 0.0:
            continue
        at = subsets.members_at[size] + size * g
        hand = NO_TILES
        for k in range(size):
            hand |= tile_bit(tiles[subsets.members[at + k]])
        bits[count] = hand
        pips[count] = pips_of(hand)
        space.reach[count] = work[reach + g]
        count += 1
    num_own = list_tiles(node["masks"][seat], tiles)
    size = np.int64(node["counts"][seat])
    margin = node["margin"] * pays.margin
    for h in range(subsets.binomials[num_own, size]):
        at = subsets.members_at[size] + size * h
        hand = NO_TILES
        for k in range(size):
            hand |= tile_bit(tiles[subsets.members[at + k]])
        row = pays.blocked[pips_of(hand)]
        total = 0.0
        for g in range(count):
            if bits[g] & hand == NO_TILES:
                total += space.reach[g] * (row[pips[g]] + margin)
        work[values + h] += total
