"""What a public tree holds: deals, plays of a round, and the information sets that can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.tiles import NO_TILES, num_tiles_of
from training.exact.payoffs import counting_payoffs
from training.exact.public_tree import PublicTree
from training.exact.tree_ends import Workspace
from training.exact.tree_records import BLOCKED, DRAWN, LAST, OUT, PLAY
from training.exact.tree_shares import COUNT, MIX, after_drawn, num_hands
from training.exact.tree_walk import walk

__all__ = ["TreeCounts", "count_options", "count_tree"]

_NOTHING = np.zeros(0)


@dataclass(frozen=True, eq=False)
class TreeCounts:
    """What a public tree holds."""

    deals: float
    """Deals that allow the opening: pairs of hands, each weighted by how likely it starts at the tree's roots."""
    histories: int
    """Plays of a round: a deal, all actions from the lead to the end, and the tiles drawn."""
    information_sets: tuple[int, int]
    """Of each seat: those in which it lays a tile."""
    with_choice: int
    """Those of both seats in which there are two actions or more."""
    marks: NDArray[np.uint8]
    """Shape (hands,): 3 where the mover's hand can be."""


def count_tree(tree: PublicTree, space: Workspace) -> TreeCounts:
    """Count by walking the tree."""
    nothing, uniform = _NOTHING, np.zeros(tree.size.entries)
    marks = np.zeros(tree.size.hands, np.uint8)
    ones = counting_payoffs(tree.rules)
    histories = [
        walk(tree.arrays, ones, tree.roots, 1.0, seat, COUNT, nothing, nothing, nothing, 0.0, marks, space)
        for seat in range(2)
    ]
    deals = walk(tree.arrays, ones, tree.roots, tree.weight, 0, MIX, uniform, nothing, nothing, 0.0, marks[:0], space)
    found = np.zeros((2, 2), np.int64)
    _count_sets(tree.arrays, marks, np.zeros(tree.size.widest, np.int64), found)
    sets = tuple(found[:, 0].tolist())
    return TreeCounts(deals, round(histories[0]), (sets[0], sets[1]), int(found[:, 1].sum()), marks)


@jit
def _count_sets(tree, marks, options, found):  # type: ignore[no-untyped-def]
    """Add the information sets of each seat to ``found`` (2, 2): in all, and those with a choice."""
    subsets = tree.subsets
    for number in range(len(tree.nodes)):
        node = tree.nodes[number]
        kind, seat = node["kind"], np.int64(node["mover"])
        if kind == BLOCKED:
            continue
        m, size = num_tiles_of(node["masks"][seat]), np.int64(node["counts"][seat])
        if kind == DRAWN:
            _count_drawn(tree, node, marks, found)
            continue
        hands = subsets.binomials[m, size]
        count_options(tree, node, options)
        for h in range(hands):
            if marks[node["hands"] + h] == 3 and options[h] > 0:
                found[seat, 0] += 1
                found[seat, 1] += options[h] > 1


@jit
def count_options(tree, node, options):  # type: ignore[no-untyped-def]
    """How many plays each hand of the mover has at a TURN or LAST node, into ``options``, int64."""
    subsets, seat = tree.subsets, np.int64(node["mover"])
    tiles, size = node["masks"][seat], np.int64(node["counts"][seat])
    m = num_tiles_of(tiles)
    hands = subsets.binomials[m, size]
    options[:hands] = 0
    if node["kind"] == LAST:
        for h in range(hands):
            bit = tiles & (~tiles + np.uint64(1))
            tiles &= ~bit
            options[h] += node["fits"] & bit != NO_TILES
            options[h] += node["twice"] & bit != NO_TILES
        return
    for e in range(node["first_edge"], np.int64(node["first_edge"]) + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] > OUT:
            break
        at = subsets.inserted_at[size, edge["places"][seat]]
        for r in range(subsets.binomials[m - 1, size - 1]):
            options[subsets.inserted[at + r]] += 1


@jit
def _count_drawn(tree, node, marks, found):  # type: ignore[no-untyped-def]
    seat = np.int64(node["mover"])
    hands = num_hands(tree, node, seat)
    e, stop = np.int64(node["first_edge"]), np.int64(node["first_edge"]) + node["num_edges"]
    while e < stop and tree.edges[e]["kind"] == PLAY:
        after = after_drawn(tree, e, stop)
        for r in range(hands):
            if marks[node["hands"] + tree.edges[e]["start"] + r] == 3:
                found[seat, 0] += 1
                found[seat, 1] += after - e > 1
        e = after
