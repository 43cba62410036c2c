"""A round for two as exact play sees it: its public tree, what ends pay, and what strategies are worth in it.

A strategy of both seats is one float64 array over the tree's entries: the share of an action is its part of the
positive weights of its information set; where there are none all actions are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from training.exact.payoffs import payoffs_of
from training.exact.public_tree import TreeSize, build_tree, measure_tree
from training.exact.tree_counts import TreeCounts, count_tree
from training.exact.tree_ends import make_workspace
from training.exact.tree_shares import BEST, MIX
from training.exact.tree_walk import walk

__all__ = ["Bounds", "ExactGame", "free_memory", "measured"]

_NOTHING = np.zeros(0)
_NO_MARKS = np.zeros(0, np.uint8)
#: Nodes up to which a tree is counted whatever the memory, so that a refusal can name what it would take.
_MOST_COUNTED = 20_000_000


@dataclass(frozen=True)
class Bounds:
    """What strategies of both seats are worth, in points of the round, seat 0's less seat 1's."""

    value: float
    """To seat 0, the strategies playing each other."""
    low: float
    """To seat 0 where seat 1 plays its best response: no play of seat 1 gets seat 0's strategy below it."""
    high: float
    """To seat 0 where seat 0 plays its best response: the value of the game lies between ``low`` and ``high``."""

    @property
    def nash_conv(self) -> float:
        """What both seats together could gain by a best response."""
        return self.high - self.low

    @property
    def exploitability(self) -> float:
        """NashConv / 2: what a seat loses against a best response, on average of both seats, to perfect play."""
        return self.nash_conv / 2


def free_memory() -> int:
    """Bytes of memory that can be had, as the system says; 4 GiB where it does not."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 4 << 30
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")]
    return found[0] if found else 4 << 30


def measured(rules: Rules, memory: int, *, arrays: int, is_folded: bool = True) -> TreeSize:
    """The size of the tree of ``rules`` with ``arrays`` float64 arrays over its entries, if that fits.

    Raises:
        MemoryError: if it takes more than ``memory`` bytes; the figure is named.
        ValueError: for rules that no tree is made of.
    """
    size = measure_tree(rules, is_folded=is_folded, most_nodes=max(_MOST_COUNTED, memory // 100))
    if not size.is_complete or size.num_bytes(arrays) > memory:
        least = "" if size.is_complete else "more than "
        raise MemoryError(
            f"this game takes {least}{size.num_bytes(arrays) / 2**30:,.3g} GiB ({least}{size.nodes:,} public nodes); "
            f"allowed: {memory / 2**30:,.3g} GiB (--memory); smaller: --rule max_pip=..., --rule hand_size=..."
        )
    return size


class ExactGame:
    """The round that ``rules`` open, solved or judged hand by hand.

    Args:
        rules: two players, and few tiles.
        is_folded: whether like ends are one action, which loses nothing for players who do not tell them apart.
        size: what :func:`measured` found; else it is measured here.

    Raises:
        ValueError: for rules that no tree is made of.
    """

    def __init__(self, rules: Rules, *, is_folded: bool = True, size: TreeSize | None = None) -> None:
        self.rules = rules
        self.tree = build_tree(rules, is_folded=is_folded, size=size)
        self.space = make_workspace(self.tree)
        self.payoffs = payoffs_of(rules)

    @cached_property
    def counts(self) -> TreeCounts:
        """Deals, histories and information sets."""
        return count_tree(self.tree, self.space)

    @property
    def num_entries(self) -> int:
        """The length of a strategy."""
        return self.tree.size.entries

    def uniform(self) -> NDArray[np.float64]:
        """The strategy that takes every action alike."""
        return np.zeros(self.num_entries)

    def walk(
        self,
        seat: int,
        mode: int,
        weights: NDArray[np.float64],
        regrets: NDArray[np.float64] = _NOTHING,
        averages: NDArray[np.float64] = _NOTHING,
        average_weight: float = 0.0,
    ) -> float:
        """:func:`training.exact.tree_walk.walk`; returns points a round."""
        tree = self.tree
        total = walk(
            tree.arrays, self.payoffs[seat], tree.roots, tree.weight, seat, mode, weights, regrets, averages,
            average_weight, _NO_MARKS, self.space,
        )  # fmt: skip
        return float(total) / self.counts.deals

    def value(self, weights: NDArray[np.float64]) -> float:
        """Points of seat 0 less those of seat 1, both playing by ``weights``."""
        return self.walk(0, MIX, weights)

    def best_response(self, seat: int, weights: NDArray[np.float64]) -> float:
        """The most points that ``seat`` can be ahead of the other one, who plays by ``weights``."""
        return self.walk(seat, BEST, weights)

    def bounds(self, weights: NDArray[np.float64]) -> Bounds:
        """What ``weights`` are worth and how far they are from the best, exactly."""
        return Bounds(self.value(weights), -self.best_response(1, weights), self.best_response(0, weights))
