"""What the end of a round pays, for all hands that two seats may be left with, as the engine settles it.

The engine reads leftover hands by their pips alone, so that a table over pips holds every end; the tests settle real
hands and compare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import margin_between, set_margin_weights
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import settle
from dominoes_env.engine.state import NONE, STATE_DTYPE
from dominoes_env.engine.tiles import NO_TILES, PIPS

__all__ = ["Payoffs", "counting_payoffs", "payoffs_of"]


class Payoffs(NamedTuple):
    """What ends pay the seat that a walk is for."""

    out: NDArray[np.float64]
    """Shape (2, pips + 1): the seat that goes out, the pips that the other one is left with."""
    blocked: NDArray[np.float64]
    """Shape (pips + 1, pips + 1): the pips of the seat's own hand, those of the other's."""
    margin: float
    """What a point of ``margin`` in the tree is worth: 1 for seat 0, -1 for seat 1, 0 where ends are only counted."""


def payoffs_of(rules: Rules) -> tuple[Payoffs, Payoffs]:
    """The payoffs of seat 0 and of seat 1: points by ``reward="margin"``."""
    hands = _hands_of_pips(rules)
    out, blocked = np.zeros((2, len(hands))), np.zeros((len(hands), len(hands)))
    _settle_all(rules.row, hands, out, blocked)
    return Payoffs(out, blocked, 1.0), Payoffs(-out, -blocked.T.copy(), -1.0)


def counting_payoffs(rules: Rules) -> Payoffs:
    """Each end pays 1: a walk then adds up how many, or how likely, they are."""
    size = rules.total_pips + 1
    return Payoffs(np.ones((2, size)), np.ones((size, size)), 0.0)


def _hands_of_pips(rules: Rules) -> NDArray[np.uint64]:
    """For each number of pips some tiles of the set that have so many, as bits."""
    sets: dict[int, int] = {0: 0}
    for tile in range(rules.num_tiles):
        for pips, tiles in list(sets.items()):
            sets.setdefault(pips + int(PIPS[tile]), tiles | 1 << tile)
    return np.array([sets.get(pips, 0) for pips in range(rules.total_pips + 1)], np.uint64)


@jit
def _settle_all(rules_row, hands, out, blocked):  # type: ignore[no-untyped-def]
    rules = rules_row[0]
    states = np.zeros(2, STATE_DTYPE)
    before, after = states[0], states[1]
    weights = np.zeros(4, np.int64)
    set_margin_weights(rules, 0, weights)
    for second in range(len(hands)):
        for seat in range(2):
            states[1] = before
            after["hands"][1 - seat] = hands[second]
            settle(after, rules, seat)
            out[seat, second] = margin_between(before, after, rules, weights)
        for first in range(len(hands)):
            states[1] = before
            after["hands"][0] = hands[first]
            after["hands"][1] = hands[second]
            settle(after, rules, NONE)
            blocked[first, second] = margin_between(before, after, rules, weights)


assert NO_TILES == 0  # a zeroed record is a round without hands
