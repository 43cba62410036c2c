"""Hands as numbers: the ``n``-subsets of ``m`` places in colexicographic order, and tables between such numberings.

In that order the rank of a subset does not depend on ``m``, so that one table serves every hand of ``n`` tiles out of
any number of tiles: a hand is a set of places in the sorted list of the tiles that it may hold.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit

__all__ = ["Subsets", "make_subsets", "table_bytes"]


class Subsets(NamedTuple):
    """Tables over the hands of each size; ``_at`` arrays say where a table starts."""

    binomials: NDArray[np.int64]
    """Shape (tiles + 1, sizes): ``binomials[m, n]`` hands of ``n`` out of ``m`` tiles."""
    members: NDArray[np.uint8]
    """``members[members_at[n] + n * rank + k]``: the ``k``-th place of a hand, ascending."""
    members_at: NDArray[np.int64]
    """Shape (sizes,)."""
    inserted: NDArray[np.int32]
    """``inserted[inserted_at[n, place] + rank]``: the rank of a hand of ``n - 1`` without
    ``place`` once that is in it."""
    inserted_at: NDArray[np.int64]
    """Shape (sizes, tiles)."""
    skipped: NDArray[np.int32]
    """``skipped[skipped_at[n, place] + rank]``: the rank of a hand of ``n`` out of all places but
    ``place``, among all."""
    skipped_at: NDArray[np.int64]
    """Shape (sizes, tiles)."""


def table_bytes(most: NDArray[np.int64]) -> int:
    """Bytes of :func:`make_subsets` for these sizes."""
    total = 0
    for n, m in enumerate(most.tolist()):
        if m >= n:
            total += n * comb(m, n) + 4 * m * comb(max(m, 1), n)
    return total


def make_subsets(most: NDArray[np.int64]) -> Subsets:
    """The tables for hands of ``n`` tiles out of at most ``most[n]``; -1: there are no such hands."""
    sizes, tiles = len(most), max(1, int(most.max()))
    binomials = np.array([[min(comb(m, n), 1 << 62) for n in range(sizes)] for m in range(tiles + 1)], np.int64)
    members: list[NDArray[np.uint8]] = []
    inserted: list[NDArray[np.int32]] = []
    skipped: list[NDArray[np.int32]] = []
    ats = np.zeros(sizes, np.int64), np.zeros((sizes, tiles), np.int64), np.zeros((sizes, tiles), np.int64)
    for n, m in enumerate(most.tolist()):
        ats[0][n] = sum(map(len, members))
        members.append(_members(comb(m, n) if m >= n else 0, n))
        for place in range(m):
            ats[1][n, place], ats[2][n, place] = sum(map(len, inserted)), sum(map(len, skipped))
            fewer = members[n - 1] if n and most[n - 1] >= m - 1 else _members(comb(m - 1, n - 1) if n else 0, n - 1)
            inserted.append(_moved(binomials, fewer, comb(m - 1, n - 1) if n else 0, n - 1, place, True))
            skipped.append(_moved(binomials, members[n], comb(m - 1, n), n, place, False))
    lists = members, inserted, skipped
    flat = [np.concatenate([*parts, np.zeros(1, kind)]) for parts, kind in zip(lists, _KINDS, strict=True)]
    return Subsets(binomials, flat[0], ats[0], flat[1], ats[1], flat[2], ats[2])


_KINDS = (np.uint8, np.int32, np.int32)


@jit
def _members(count, n):  # type: ignore[no-untyped-def]
    """The places of the first ``count`` hands of ``n``, flat."""
    out = np.zeros(max(count * n, 0), np.uint8)
    hand = np.arange(max(n, 0))
    for rank in range(count):
        for k in range(n):
            out[rank * n + k] = hand[k]
        k = 0
        while k < n - 1 and hand[k] + 1 == hand[k + 1]:
            hand[k] = k
            k += 1
        if n > 0:
            hand[k] += 1
    return out


@jit
def _moved(binomials, members, count, n, place, is_inserted):  # type: ignore[no-untyped-def]
    """Ranks of the first ``count`` hands of ``n`` places from ``place`` on being moved up, and it added if asked."""
    out = np.zeros(count, np.int32)
    for rank in range(count):
        moved, size, is_waiting = 0, 0, is_inserted
        for k in range(n):
            at = np.int64(members[rank * n + k])
            if at >= place:
                if is_waiting:
                    size += 1
                    moved += binomials[place, size]
                    is_waiting = False
                at += 1
            size += 1
            moved += binomials[at, size]
        if is_waiting:
            moved += binomials[place, size + 1]
        out[rank] = moved
    return out
