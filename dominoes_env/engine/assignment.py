"""Tiles to places, every way equally likely: the counting and drawing behind worlds.py.

The first tiles of a list are restricted: each may go to some of the places. The others may go anywhere. Completions
are counted by dynamic programming over the places' free slots, tile by tile; what may be anywhere comes last, where
the count is a multinomial. A way is drawn by walking the counts.

Counts are float64: probabilities are exact to about 1e-15.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.deal import random_below
from dominoes_env.engine.jit import jit
from dominoes_env.engine.places import MAX_PLACES

__all__ = ["assign", "count_ways"]

_ONE = np.uint64(1)
#: Counts kept at a time: 256 MiB.
_MAX_COUNTS = 1 << 25


@jit
def _set_strides(places, num_places, strides):
    """The mixed radix of the places' used slots; returns how many numbers it has, or some number over the bound."""
    num_used = np.int64(1)
    for place in range(1, num_places):
        strides[place] = num_used
        num_used = min(num_used * (places[place]["size"] + 1), 1 << 40)
    return num_used


@jit
def count_ways(places, num_places, allowed, restricted, num_free):
    """``(strides, ways)``. ``ways[i, used]``: completions once the first i restricted tiles lie and places 1.. have
    ``used`` slots taken, a mixed-radix number with the weights ``strides``; no rows if they are too many to count.

    Place 0 may be the pile; its use follows from the others'. A count at ``restricted`` is the multinomial of the
    free tiles, less a constant factor.
    """
    strides = np.zeros(MAX_PLACES, np.int64)
    num_used = _set_strides(places, num_places, strides)
    if num_used * (restricted + 1) > _MAX_COUNTS:
        return strides, np.zeros((0, 0))
    ways = np.zeros((restricted + 1, num_used))
    for used in range(num_used):
        left = num_free - np.int64(0)
        weight = 1.0
        for place in range(1, num_places):
            size = places[place]["size"]
            rest = size - (used // strides[place]) % (size + 1)
            left -= rest
            for k in range(2, rest + 1):
                weight /= k
        if left < 0 or left > places[0]["size"]:
            weight = 0.0
        for k in range(2, left + 1):
            weight /= k
        ways[restricted, used] = weight
    for i in range(restricted - 1, -1, -1):
        for used in range(num_used):
            total = ways[i + 1, used] if allowed[i] & _ONE != 0 else 0.0
            for place in range(1, num_places):
                if (allowed[i] >> np.uint64(place)) & _ONE != 0:
                    size = places[place]["size"]
                    if (used // strides[place]) % (size + 1) < size:
                        total += ways[i + 1, used + strides[place]]
            ways[i, used] = total
    return strides, ways


@jit
def _uniform(source):
    """A uniform float in [0, 1) with 53 bits from a record's generator."""
    high = random_below(source, np.int64(1) << 26)
    return (high * 134217728.0 + random_below(source, np.int64(1) << 27)) / 9007199254740992.0


@jit
def assign(source, dealing, slots, chosen):
    """Draw one way: ``chosen[i]`` is the place of the i-th tile; ``slots`` is scratch.

    ``dealing``: places, their number, the places allowed for each tile as bits, how many tiles, how many of them
    restricted, and strides and ways as :func:`count_ways` gives them.
    """
    places, num_places, allowed, count, restricted, strides, ways = dealing
    used = np.int64(0)
    for i in range(restricted):
        mark = _uniform(source) * ways[i, used]
        chosen[i] = -1
        for place in range(num_places):
            if (allowed[i] >> np.uint64(place)) & _ONE == 0:
                continue
            after = used
            if place > 0:
                size = places[place]["size"]
                if (used // strides[place]) % (size + 1) == size:
                    continue
                after += strides[place]
            weight = ways[i + 1, after]
            if weight > 0.0:
                chosen[i] = place
                if mark < weight:
                    break
                mark -= weight
        if chosen[i] > 0:
            used += strides[chosen[i]]
    left = 0
    for place in range(1, num_places):
        size = places[place]["size"]
        for _ in range(size - (used // strides[place]) % (size + 1)):
            slots[left] = place
            left += 1
    while left < count - restricted:
        slots[left] = 0
        left += 1
    for i in range(restricted, count):
        pick = random_below(source, left)
        left -= 1
        chosen[i] = slots[pick]
        slots[pick] = slots[left]
