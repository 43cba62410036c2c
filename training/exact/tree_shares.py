"""What a seat does at a node: each hand's shares of its actions, what they come to, and what is learnt from that."""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.tiles import num_tiles_of
from training.exact.tree_records import DRAWN, OUT, PLAY

__all__ = [
    "BEST",
    "CFR",
    "CFR_PLUS",
    "COUNT",
    "GAINS",
    "MIX",
    "PREDICTIVE",
    "SHARES",
    "VALUES",
    "after_drawn",
    "decide",
    "num_hands",
    "share_drawn",
    "share_turn",
]

#: What a seat does at its own nodes: it counts all plays; mixes by its strategy; takes the best; mixes and learns.
COUNT, MIX, BEST, CFR, CFR_PLUS, PREDICTIVE = range(6)

#: Places in a frame of the path: where in the work array the vectors of a node start.
VALUES, SHARES, GAINS = range(3)


@jit
def num_hands(tree, node, seat):  # type: ignore[no-untyped-def]
    return tree.subsets.binomials[num_tiles_of(node["masks"][seat]), node["counts"][seat]]


@jit
def after_drawn(tree, e, stop):  # type: ignore[no-untyped-def]
    """The first edge behind those of a DRAWN node, before ``stop``, that lay the same drawn tile as edge ``e``."""
    after = e + 1
    while after < stop and tree.edges[after]["kind"] == PLAY and tree.edges[after]["tile"] == tree.edges[e]["tile"]:
        after += 1
    return after


@jit
def share_turn(tree, node, mode, weights, work, base, reach, is_own):  # type: ignore[no-untyped-def]
    """Write the mover's share of each entry, at ``base``: of 1 at his own nodes, else of the reach of his hand."""
    subsets = tree.subsets
    mover = np.int64(node["mover"])
    size = np.int64(node["counts"][mover])
    fewer = num_tiles_of(node["masks"][mover]) - 1
    count = subsets.binomials[fewer, size - 1]
    hands = subsets.binomials[fewer + 1, size]
    first, policy = node["first_edge"], node["policy"]
    if policy < 0 or mode == COUNT:
        for e in range(first, first + node["num_edges"]):
            edge = tree.edges[e]
            if edge["kind"] > OUT:
                break
            start = base + edge["start"]
            at = subsets.inserted_at[size, edge["places"][mover]]
            for r in range(count):
                work[start + r] = 1.0 if is_own else work[reach + subsets.inserted[at + r]]
        return
    sums = base + node["length"]
    options = sums + hands
    for h in range(hands):
        work[sums + h] = 0.0
        work[options + h] = 0.0
    for e in range(first, first + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] > OUT:
            break
        start = policy + edge["start"]
        at = subsets.inserted_at[size, edge["places"][mover]]
        for r in range(count):
            h = subsets.inserted[at + r]
            work[sums + h] += max(weights[start + r], 0.0)
            work[options + h] += 1.0
    for h in range(hands):
        factor = 1.0 if is_own else work[reach + h]
        total = work[sums + h]
        work[sums + h] = factor / total if total > 0 else 0.0
        work[options + h] = 0.0 if total > 0 else factor / max(work[options + h], 1.0)
    for e in range(first, first + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] > OUT:
            break
        start = edge["start"]
        at = subsets.inserted_at[size, edge["places"][mover]]
        for r in range(count):
            h = subsets.inserted[at + r]
            work[base + start + r] = max(weights[policy + start + r], 0.0) * work[sums + h] + work[options + h]


@jit
def share_drawn(tree, node, mode, weights, work, base, reach, is_own):  # type: ignore[no-untyped-def]
    """The same for a mover who drew a tile that fits: only the end is his choice."""
    mover = np.int64(node["mover"])
    hands = num_hands(tree, node, mover)
    chance = 1.0 if mode == COUNT or is_own else 1.0 / node["boneyard"]
    policy = node["policy"]
    e, stop = np.int64(node["first_edge"]), np.int64(node["first_edge"]) + node["num_edges"]
    while e < stop and tree.edges[e]["kind"] == PLAY:
        after = after_drawn(tree, e, stop)
        for r in range(hands):
            factor = chance if is_own else chance * work[reach + r]
            total = 0.0
            if mode != COUNT and policy >= 0:
                for k in range(e, after):
                    total += max(weights[policy + tree.edges[k]["start"] + r], 0.0)
            for k in range(e, after):
                at = tree.edges[k]["start"] + r
                if mode == COUNT:
                    work[base + at] = factor
                elif total > 0:
                    work[base + at] = factor * max(weights[policy + at], 0.0) / total
                else:
                    work[base + at] = factor / (after - e)
        e = after


@jit
def decide(tree, node, mode, frame, space, regrets, weights, seat):  # type: ignore[no-untyped-def]
    """The values of the seat's hands at its own node, from those of its actions; and what it learns from them."""
    work, subsets = space.work, tree.subsets
    is_drawn = node["kind"] == DRAWN
    size = np.int64(node["counts"][seat])
    m = num_tiles_of(node["masks"][seat])
    count = subsets.binomials[m, size] if is_drawn else subsets.binomials[m - 1, size - 1]
    values, shares, gains = frame[VALUES], frame[SHARES], frame[GAINS]
    if is_drawn:
        _decide_drawn(tree, node, mode, frame, space, regrets, weights, count)
        return
    first = np.int64(node["first_edge"])
    policy = node["policy"]
    if mode == BEST:
        for e in range(first, first + node["num_edges"]):
            edge = tree.edges[e]
            if edge["kind"] > OUT:
                break
            at = subsets.inserted_at[size, edge["places"][seat]]
            for r in range(count):
                work[values + subsets.inserted[at + r]] = -np.inf
    for e in range(first, first + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] > OUT:
            break
        start = edge["start"]
        at = subsets.inserted_at[size, edge["places"][seat]]
        for r in range(count):
            h = values + subsets.inserted[at + r]
            if mode == BEST:
                work[h] = max(work[h], work[gains + start + r])
            else:
                work[h] += work[shares + start + r] * work[gains + start + r]
    if mode < CFR or policy < 0:
        return
    for e in range(first, first + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] > OUT:
            break
        start = edge["start"]
        at = subsets.inserted_at[size, edge["places"][seat]]
        for r in range(count):
            gain = work[gains + start + r] - work[values + subsets.inserted[at + r]]
            _learn(mode, regrets, weights, policy + start + r, gain)


@jit(inline=True)
def _learn(mode, regrets, weights, entry, gain):  # type: ignore[no-untyped-def]
    """Add to a regret, and set the weight of its action from it: regret matching, plus, or with what comes next
    predicted by what came last (Farina et al. 2021)."""
    regret = regrets[entry] + gain
    if mode != CFR:
        regret = max(regret, 0.0)
    regrets[entry] = regret
    if mode == PREDICTIVE:
        weights[entry] = max(regret + gain, 0.0)


@jit
def _decide_drawn(tree, node, mode, frame, space, regrets, weights, count):  # type: ignore[no-untyped-def]
    work = space.work
    values, shares, gains = frame[VALUES], frame[SHARES], frame[GAINS]
    policy = node["policy"]
    e, stop = np.int64(node["first_edge"]), np.int64(node["first_edge"]) + node["num_edges"]
    while e < stop and tree.edges[e]["kind"] == PLAY:
        after = after_drawn(tree, e, stop)
        for r in range(count):
            value = -np.inf if mode == BEST else 0.0
            for k in range(e, after):
                at = tree.edges[k]["start"] + r
                if mode == BEST:
                    value = max(value, work[gains + at])
                else:
                    value += work[shares + at] * work[gains + at]
            work[values + r] += value
            if mode >= CFR and policy >= 0:
                for k in range(e, after):
                    at = tree.edges[k]["start"] + r
                    _learn(mode, regrets, weights, policy + at, work[gains + at] - value)
        e = after
    if mode != COUNT:
        for r in range(count):
            work[values + r] /= node["boneyard"]
