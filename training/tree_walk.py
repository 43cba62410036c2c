"""A walk over the public tree: reach goes down, values come up, for all hands of a seat at once.

Down goes how likely the *other* seat comes to each node with each of its hands, by its strategy; up comes what each
hand of the seat is worth against that, times how likely the other one, and chance, come there (its counterfactual
value). What the seat does at its own nodes is the walk's ``mode``. Chance is uniform over deals, so that it is one
factor for all, but for what is drawn. Numbers of a node are those of ``docs`` in :mod:`training.public_tree`; the
order of hands that of :mod:`training.subsets`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.tiles import NO_TILES, PIPS, lowest_tile, num_tiles_of, pips_of, tile_bit
from training.public_tree import BLOCKED, DRAWN, KEEP, LAST, OUT, PLAY, UNFIT, PublicTree

__all__ = ["BEST", "CFR", "CFR_PLUS", "COUNT", "MIX", "PREDICTIVE", "Workspace", "make_workspace", "walk"]

#: What a seat does at its own nodes: it counts all plays; mixes by its strategy; takes the best; mixes and learns.
COUNT, MIX, BEST, CFR, CFR_PLUS, PREDICTIVE = range(6)

#: A frame of the path: the node, its next edge, and where in the work array its vectors start.
_NODE, _EDGE, _REACH, _VALUES, _SHARES, _GAINS, _TOP = range(7)


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
def _list_tiles(mask, tiles):  # type: ignore[no-untyped-def]
    """The tiles of a mask, ascending; returns how many."""
    count = 0
    while mask != NO_TILES:
        tiles[count] = lowest_tile(mask)
        mask &= mask - np.uint64(1)
        count += 1
    return count


@jit
def _num_hands(tree, node, seat):  # type: ignore[no-untyped-def]
    return tree.subsets.binomials[num_tiles_of(node["masks"][seat]), node["counts"][seat]]


@jit
def _rank_within(subsets, places, size, rank):  # type: ignore[no-untyped-def]
    """The rank of the hand whose tiles have the places ``places[k]`` in a larger mask, for the k of hand ``rank``."""
    at = subsets.members_at[size] + size * rank
    total = 0
    for k in range(size):
        total += subsets.binomials[places[subsets.members[at + k]], k + 1]
    return total


@jit
def _list_places(mask, part, places):  # type: ignore[no-untyped-def]
    """Where the tiles of ``part`` stand in the list of ``mask``."""
    count = 0
    while part != NO_TILES:
        tile = lowest_tile(part)
        places[count] = num_tiles_of(mask & (tile_bit(tile) - np.uint64(1)))
        part &= part - np.uint64(1)
        count += 1


@jit
def _share_turn(tree, node, mode, weights, work, base, reach, is_own):  # type: ignore[no-untyped-def]
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
def _share_drawn(tree, node, mode, weights, work, base, reach, is_own):  # type: ignore[no-untyped-def]
    """The same for a mover who drew a tile that fits: only the end is his choice."""
    mover = np.int64(node["mover"])
    hands = _num_hands(tree, node, mover)
    chance = 1.0 if mode == COUNT or is_own else 1.0 / node["boneyard"]
    policy = node["policy"]
    e, stop = np.int64(node["first_edge"]), np.int64(node["first_edge"]) + node["num_edges"]
    while e < stop and tree.edges[e]["kind"] == PLAY:
        after = e + 1
        while after < stop and tree.edges[after]["kind"] == PLAY and tree.edges[after]["tile"] == tree.edges[e]["tile"]:
            after += 1
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
def _value_last(tree, node, number, mode, pays, seat, space, reach, values):  # type: ignore[no-untyped-def]
    """Nodes where the mover lays his last tile: all his plays at once."""
    work, subsets = space.work, tree.subsets
    mover = np.int64(node["mover"])
    other = 1 - mover
    tiles, others = space.tiles[0], space.tiles[1]
    num_own = _list_tiles(node["masks"][mover], tiles)
    num_others = _list_tiles(node["masks"][other], others)
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
                ways = 2.0 if mode == COUNT and node["twice"] & bit != NO_TILES else 1.0
                work[values + t] += ways * (total - held[tiles[t]])
        return
    total = 0.0
    held[:] = 0.0
    for t in range(num_own):
        bit = tile_bit(tiles[t])
        if node["fits"] & bit != NO_TILES:
            ways = 2.0 if mode == COUNT and node["twice"] & bit != NO_TILES else 1.0
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
def _value_out(tree, node, edge, pays, seat, space, reach, values, share, gain):  # type: ignore[no-untyped-def]
    """An edge by which the mover goes out, where each play is counted by itself."""
    work, subsets = space.work, tree.subsets
    mover = np.int64(node["mover"])
    other = 1 - mover
    others = space.tiles[1]
    num_others = _list_tiles(node["masks"][other], others)
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
def _value_blocked(tree, node, pays, seat, space, reach, values):  # type: ignore[no-untyped-def]
    """All pairs of hands that a block may leave."""
    work, subsets, bits, pips = space.work, tree.subsets, space.bits, space.pips
    other = 1 - seat
    tiles = space.tiles[0]
    num_others = _list_tiles(node["masks"][other], tiles)
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
    num_own = _list_tiles(node["masks"][seat], tiles)
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


@jit
def _descend(tree, node, edge, frame, mode, space, is_own, seat):  # type: ignore[no-untyped-def]
    """The start of the reach at the child of ``edge``, from ``frame`` of its node; -1 if nobody comes there."""
    work, subsets, top = space.work, tree.subsets, frame[_TOP]
    mover = np.int64(node["mover"])
    other = 1 - seat
    size = np.int64(node["counts"][other])
    if is_own:
        if edge["kind"] != PLAY or edge["places"][other] < 0:
            return frame[_REACH]
        count = subsets.binomials[num_tiles_of(node["masks"][other]) - 1, size]
        at = subsets.skipped_at[size, edge["places"][other]]
        total = 0.0
        for r in range(count):
            value = work[frame[_REACH] + subsets.skipped[at + r]]
            work[top + r] = value
            total += value
        frame[_TOP] += count
        return top if total > 0 else np.int64(-1)
    child = tree.nodes[edge["child"]]
    count = _num_hands(tree, child, mover)
    total = 0.0
    if edge["kind"] == PLAY:
        top = frame[_SHARES] + edge["start"]
        for r in range(count):
            total += work[top + r]
        return top if total > 0 else np.int64(-1)
    places = space.tiles[0]
    mask = node["masks"][mover]
    frame[_TOP] += count
    if edge["kind"] == UNFIT:
        _list_places(mask, child["masks"][mover], places)
        for r in range(count):
            value = work[frame[_REACH] + _rank_within(subsets, places, size, r)]
            work[top + r] = value
            total += value
        return top if total > 0 else np.int64(-1)
    chance = 1.0 if mode == COUNT else 1.0 / node["boneyard"]
    _list_tiles(child["masks"][mover], places)
    for r in range(count):
        value = 0.0
        for k in range(size + 1):
            before = _without(subsets, places, mask, size + 1, r, k)
            if before >= 0:
                value += work[frame[_REACH] + before]
        work[top + r] = chance * value
        total += value
    return top if total > 0 else np.int64(-1)


@jit
def _without(subsets, tiles, mask, size, rank, k):  # type: ignore[no-untyped-def]
    """The rank in ``mask`` of hand ``rank`` of ``tiles`` less its ``k``-th tile; -1 if it is not made of that mask."""
    at = subsets.members_at[size] + size * rank
    total, place = 0, 0
    for j in range(size):
        if j == k:
            continue
        tile = tiles[subsets.members[at + j]]
        if mask & tile_bit(tile) == NO_TILES:
            return -1
        place += 1
        total += subsets.binomials[num_tiles_of(mask & (tile_bit(tile) - np.uint64(1))), place]
    return total


@jit
def _ascend(tree, node, edge, frame, child_values, mode, space, is_own, seat):  # type: ignore[no-untyped-def]
    """Take the values of the child of ``edge`` into those of its node."""
    work, subsets = space.work, tree.subsets
    values = frame[_VALUES]
    size = np.int64(node["counts"][seat])
    child = tree.nodes[edge["child"]]
    count = _num_hands(tree, child, seat)
    if not is_own:
        place = edge["places"][seat]
        if edge["kind"] != PLAY or place < 0:
            for r in range(count):
                work[values + r] += work[child_values + r]
        else:
            at = subsets.skipped_at[size, place]
            for r in range(count):
                work[values + subsets.skipped[at + r]] += work[child_values + r]
        return
    places = space.tiles[0]
    mask = node["masks"][seat]
    if edge["kind"] == UNFIT:
        _list_places(mask, child["masks"][seat], places)
        for r in range(count):
            work[values + _rank_within(subsets, places, size, r)] += work[child_values + r]
    elif edge["kind"] == KEEP:
        _list_tiles(child["masks"][seat], places)
        for r in range(count):
            for k in range(size + 1):
                before = _without(subsets, places, mask, size + 1, r, k)
                if before >= 0:
                    work[values + before] += work[child_values + r]


@jit
def _decide(tree, node, mode, frame, space, regrets, weights, seat):  # type: ignore[no-untyped-def]
    """The values of the seat's hands at its own node, from those of its actions; and what it learns from them."""
    work, subsets = space.work, tree.subsets
    is_drawn = node["kind"] == DRAWN
    size = np.int64(node["counts"][seat])
    m = num_tiles_of(node["masks"][seat])
    count = subsets.binomials[m, size] if is_drawn else subsets.binomials[m - 1, size - 1]
    values, shares, gains = frame[_VALUES], frame[_SHARES], frame[_GAINS]
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
    values, shares, gains = frame[_VALUES], frame[_SHARES], frame[_GAINS]
    policy = node["policy"]
    e, stop = np.int64(node["first_edge"]), np.int64(node["first_edge"]) + node["num_edges"]
    while e < stop and tree.edges[e]["kind"] == PLAY:
        after = e + 1
        while after < stop and tree.edges[after]["kind"] == PLAY and tree.edges[after]["tile"] == tree.edges[e]["tile"]:
            after += 1
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


@jit
def _mark(tree, node, frame, space, marks, seat, is_own):  # type: ignore[no-untyped-def]
    """While all plays are counted: note which hands of the mover can be, by his own plays (2) and the other's (1)."""
    work, mover = space.work, np.int64(node["mover"])
    hands = _num_hands(tree, node, mover)
    if node["kind"] != DRAWN:
        for h in range(hands):
            if work[(frame[_VALUES] if is_own else frame[_REACH]) + h] > 0:
                marks[node["hands"] + h] |= 1 if is_own else 2
        return
    for e in range(node["first_edge"], np.int64(node["first_edge"]) + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] != PLAY:
            break
        for r in range(hands):
            if work[frame[_GAINS] + edge["start"] + r if is_own else frame[_REACH] + r] > 0:
                marks[node["hands"] + edge["start"] + r] |= 1 if is_own else 2


@jit
def _enter(tree, number, frame, mode, pays, seat, space, weights, averages, average_weight, marks):  # type: ignore[no-untyped-def]
    """What is done at a node before its children: its own ends, and the shares of its actions."""
    node, work = tree.nodes[number], space.work
    frame[_NODE] = number
    frame[_EDGE] = 0
    reach, values = frame[_REACH], frame[_VALUES]
    if node["kind"] == BLOCKED:
        _value_blocked(tree, node, pays, seat, space, reach, values)
        return
    is_own = node["mover"] == seat
    if len(marks) > 0 and not is_own:
        _mark(tree, node, frame, space, marks, seat, False)
    if node["kind"] == LAST:
        _value_last(tree, node, number, mode, pays, seat, space, reach, values)
        return
    length = np.int64(node["length"])
    if length == 0:
        return
    shares = frame[_TOP]
    frame[_SHARES] = shares
    frame[_TOP] += length
    if node["kind"] == DRAWN:
        _share_drawn(tree, node, mode, weights, work, shares, reach, is_own)
    else:
        _share_turn(tree, node, mode, weights, work, shares, reach, is_own)
    if is_own:
        frame[_GAINS] = frame[_TOP]
        work[frame[_TOP] : frame[_TOP] + length] = 0.0
        frame[_TOP] += length
    elif average_weight > 0 and node["policy"] >= 0:
        for entry in range(length):
            averages[node["policy"] + entry] += average_weight * work[shares + entry]


@jit
def walk(tree, pays, roots, reach, seat, mode, weights, regrets, averages, average_weight, marks, space):  # type: ignore[no-untyped-def]
    """Walk the tree from each of ``roots`` for ``seat``; returns what the round is worth to it, times the deals.

    Args:
        tree: :class:`TreeArrays`.
        pays: :class:`training.payoffs.Payoffs` of the seat.
        roots: the nodes that a round may start from.
        reach: how likely each of them is for the deals that allow it.
        seat: whose hands get values.
        mode: what it does at its own nodes; COUNT has the other one, too, take every play, with weight 1.
        weights: float64 (entries,): an action's share is its part of the positive weights of the hand; of none: equal.
        regrets: float64 (entries,): of the modes that learn; PREDICTIVE sets ``weights`` too, the others read them, so
            that they are given one array for both.
        averages: float64 (entries,): the other seat's shares times its reach are added, times ``average_weight``.
        average_weight: 0: nothing is added.
        marks: uint8 (hands,) for COUNT, or empty: which hands of the movers can be (3: they can).
        space: a :class:`Workspace`.
    """
    nodes, edges, frames, work = tree.nodes, tree.edges, space.frames, space.work
    total = 0.0
    for root in roots:
        depth = 0
        frame = frames[0]
        count = _num_hands(tree, nodes[root], 1 - seat)
        own = _num_hands(tree, nodes[root], seat)
        frame[_REACH] = 0
        frame[_VALUES] = count
        frame[_TOP] = count + own
        work[:count] = reach
        work[count : count + own] = 0.0
        _enter(tree, root, frame, mode, pays, seat, space, weights, averages, average_weight, marks)
        while depth >= 0:
            frame = frames[depth]
            node = nodes[frame[_NODE]]
            is_own = node["mover"] == seat
            if frame[_EDGE] == node["num_edges"]:
                if is_own and node["kind"] != BLOCKED:
                    _decide(tree, node, mode, frame, space, regrets, weights, seat)
                    if len(marks) > 0:
                        _mark(tree, node, frame, space, marks, seat, True)
                depth -= 1
                if depth >= 0:
                    above = frames[depth]
                    parent = nodes[above[_NODE]]
                    edge = edges[parent["first_edge"] + above[_EDGE] - 1]
                    _ascend(tree, parent, edge, above, frame[_VALUES], mode, space, parent["mover"] == seat, seat)
                continue
            edge = edges[np.int64(node["first_edge"]) + frame[_EDGE]]
            frame[_EDGE] += 1
            below = frames[depth + 1]
            start = edge["start"]
            if edge["kind"] == OUT:
                _value_out(
                    tree, node, edge, pays, seat, space, frame[_REACH], frame[_VALUES],
                    frame[_SHARES] + start, frame[_GAINS] + start,
                )  # fmt: skip
                continue
            kept = frame[_TOP]
            at = _descend(tree, node, edge, frame, mode, space, is_own, seat)
            below[_TOP] = frame[_TOP]
            frame[_TOP] = kept
            if at < 0:
                continue
            below[_REACH] = at
            if is_own and edge["kind"] == PLAY:
                below[_VALUES] = frame[_GAINS] + start
            else:
                own = _num_hands(tree, nodes[edge["child"]], seat)
                below[_VALUES] = below[_TOP]
                work[below[_TOP] : below[_TOP] + own] = 0.0
                below[_TOP] += own
            depth += 1
            _enter(
                tree, np.int64(edge["child"]), below, mode, pays, seat, space, weights, averages, average_weight, marks
            )
        for h in range(_num_hands(tree, nodes[root], seat)):
            total += work[frames[0][_VALUES] + h]
    return total
