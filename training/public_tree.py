"""The public tree of a round: what everybody sees of it, a node a history, and which hands each seat may then hold.

In a round for two all moves are public, so that a seat's information set is a node and a hand. At a node a seat's
hands are all sets of so many tiles out of a mask; a tile that is laid leaves both masks, a player whom nothing fits
keeps only tiles that do not fit. Where tiles are drawn a mask may allow hands that cannot be: no play leads to them,
so that they weigh nothing. That the two hands share no tile matters at the ends of rounds alone.

Everything that a rule decides is asked of the engine, on a record for each node of the path: what fits, what a play
leads to and scores, who draws or passes, which rounds are over, and (:mod:`training.payoffs`) what an end pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import open_round
from dominoes_env.engine.opening import first_lead, opening_forces_lead, tiles_above
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import new_states
from training.subsets import make_subsets, table_bytes
from training.tree_growth import FIRST_SIZE, REFUSED, grow, make_growth
from training.tree_records import EDGE_DTYPE, NODE_DTYPE, TreeArrays

__all__ = ["PublicTree", "TreeSize", "build_tree", "measure_tree"]


@dataclass(frozen=True)
class TreeSize:
    """How large a tree is."""

    nodes: int
    edges: int
    entries: int
    """Numbers that a strategy is made of: pairs of an information set with a choice and an action."""
    hands: int
    work: int
    """Numbers that a walk holds at a time."""
    depth: int
    widest: int
    """Hands of a seat at one node at most."""
    longest: int
    most: NDArray[np.int64]
    """The most tiles that a mask for hands of each size has; -1: there are none."""
    is_complete: bool
    """Whether the count came to its end; else it is a lower bound."""

    def num_bytes(self, arrays: int = 3) -> int:
        """Memory for the tree and ``arrays`` float64 arrays over its entries."""
        tables = table_bytes(self.most)
        tree = self.nodes * NODE_DTYPE.itemsize + self.edges * EDGE_DTYPE.itemsize + self.hands
        return tree + 8 * (arrays * self.entries + self.work) + tables


@dataclass(frozen=True, eq=False)
class PublicTree:
    """The public tree of one round of ``rules``."""

    rules: Rules
    is_folded: bool
    """Whether like ends are one action."""
    arrays: TreeArrays
    size: TreeSize
    roots: NDArray[np.int64]
    """The nodes that a round may start from, shape (k,)."""
    root_states: NDArray[Any]
    """Their records, shape (k,)."""
    weight: float
    """How likely each of them is for the deals that allow it: 1, or less where the starter is drawn by lot."""


def _roots(rules: Rules) -> tuple[NDArray[Any], NDArray[Any], float]:
    """The nodes that a round may start from, their records, and the weight of each."""
    if rules.num_players != 2:
        raise ValueError(f"num_players={rules.num_players} is not allowed for exact play; allowed: 2")
    if rules.opening == "lots_keep":
        raise ValueError(
            "opening='lots_keep' is not allowed for exact play: kept lots tie the hands together; allowed: seat_0, "
            "uniform, lots, highest_double, heaviest, set_double"
        )
    row = rules.row[0]
    every = np.uint64((1 << rules.num_tiles) - 1)
    leads = []
    if opening_forces_lead(row):
        for tile in range(rules.num_tiles):
            mask = every & ~np.uint64(tiles_above(tile, row))
            if first_lead(mask, row) == tile:
                leads += [(0, mask), (1, mask)]
    else:
        leads = [(0, every)] if rules.opening == "seat_0" else [(0, every), (1, every)]
    nodes, states = np.zeros(len(leads), NODE_DTYPE), new_states(len(leads))
    for index, (seat, mask) in enumerate(leads):
        node, state = nodes[index], states[index]
        node["masks"], node["counts"], node["mover"] = mask, rules.hand_size, seat
        node["parent"], node["edge"], node["action"] = -1, index, -1
        node["blocks"] = -1
        state["round"] = 1
        state["lots"], state["pile"] = -1, -1
        state["hand_counts"][:2], state["boneyard"] = rules.hand_size, rules.boneyard_size
        open_round(state, row, seat, int(opening_forces_lead(row)))
    return nodes, states, 1.0 if opening_forces_lead(row) else 1.0 / len(leads)


def measure_tree(rules: Rules, *, is_folded: bool = True, most_nodes: int = 1 << 30) -> TreeSize:
    """Count the tree without holding it; at ``most_nodes`` the count stops.

    Raises:
        ValueError: for rules that no tree is made of.
    """
    nodes, states, _ = _roots(rules)
    grown = make_growth(rules, 0, 0)
    is_complete = grow(rules.row, is_folded, nodes, states, most_nodes, grown)
    if grown.sizes[REFUSED]:
        raise ValueError(
            f"target={rules.target} is not allowed for exact play with target_check='at_once': a round could reach it; "
            "allowed: a larger one"
        )
    counts = grown.sizes[:REFUSED].tolist()
    return TreeSize(*counts, most=grown.sizes[FIRST_SIZE:], is_complete=bool(is_complete))


def build_tree(rules: Rules, *, is_folded: bool = True, size: TreeSize | None = None) -> PublicTree:
    """The tree; ``size`` is what :func:`measure_tree` found, if that was asked.

    Raises:
        ValueError: for rules that no tree is made of.
        MemoryError: if it does not fit.
    """
    size = size or measure_tree(rules, is_folded=is_folded)
    starts, states, weight = _roots(rules)
    grown = make_growth(rules, size.nodes, size.edges)
    grow(rules.row, is_folded, starts, states, size.nodes + 1, grown)
    arrays = TreeArrays(grown.nodes, grown.edges, make_subsets(size.most))
    return PublicTree(rules, is_folded, arrays, size, np.flatnonzero(grown.nodes["parent"] < 0), states, weight)
