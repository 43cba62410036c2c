"""A walk over the public tree: reach goes down, values come up, for all hands of a seat at once.

Down goes how likely the *other* seat comes to each node with each of its hands, by its strategy; up comes what each
hand of the seat is worth against that, times how likely the other one, and chance, come there (its counterfactual
value). What the seat does at its own nodes is the walk's ``mode``. Chance is uniform over deals, so that it is one
factor for all, but for what is drawn. The order of hands is that of :mod:`training.subsets`.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.tiles import NO_TILES, lowest_tile, num_tiles_of, tile_bit
from training.tree_ends import list_tiles, value_blocked, value_last, value_out
from training.tree_records import BLOCKED, DRAWN, KEEP, LAST, OUT, PLAY, UNFIT
from training.tree_shares import COUNT, GAINS, SHARES, VALUES, decide, num_hands, share_drawn, share_turn

__all__ = ["walk"]

#: More places in a frame of the path: the node, its next edge, the reach of the other seat, and where room is left.
NODE, EDGE, REACH, TOP = range(3, 7)


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
def _descend(tree, node, edge, frame, mode, space, is_own, seat):  # type: ignore[no-untyped-def]
    """The start of the reach at the child of ``edge``, from ``frame`` of its node; -1 if nobody comes there."""
    work, subsets, top = space.work, tree.subsets, frame[TOP]
    mover = np.int64(node["mover"])
    other = 1 - seat
    size = np.int64(node["counts"][other])
    if is_own:
        if edge["kind"] != PLAY or edge["places"][other] < 0:
            return frame[REACH]
        count = subsets.binomials[num_tiles_of(node["masks"][other]) - 1, size]
        at = subsets.skipped_at[size, edge["places"][other]]
        total = 0.0
        for r in range(count):
            value = work[frame[REACH] + subsets.skipped[at + r]]
            work[top + r] = value
            total += value
        frame[TOP] += count
        return top if total > 0 else np.int64(-1)
    child = tree.nodes[edge["child"]]
    count = num_hands(tree, child, mover)
    total = 0.0
    if edge["kind"] == PLAY:
        top = frame[SHARES] + edge["start"]
        for r in range(count):
            total += work[top + r]
        return top if total > 0 else np.int64(-1)
    places = space.tiles[0]
    mask = node["masks"][mover]
    frame[TOP] += count
    if edge["kind"] == UNFIT:
        _list_places(mask, child["masks"][mover], places)
        for r in range(count):
            value = work[frame[REACH] + _rank_within(subsets, places, size, r)]
            work[top + r] = value
            total += value
        return top if total > 0 else np.int64(-1)
    chance = 1.0 if mode == COUNT else 1.0 / node["boneyard"]
    list_tiles(child["masks"][mover], places)
    for r in range(count):
        value = 0.0
        for k in range(size + 1):
            before = _without(subsets, places, mask, size + 1, r, k)
            if before >= 0:
                value += work[frame[REACH] + before]
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
def _ascend(tree, node, edge, frame, child_values, space, is_own, seat):  # type: ignore[no-untyped-def]
    """Take the values of the child of ``edge`` into those of its node."""
    work, subsets = space.work, tree.subsets
    values = frame[VALUES]
    size = np.int64(node["counts"][seat])
    child = tree.nodes[edge["child"]]
    count = num_hands(tree, child, seat)
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
        list_tiles(child["masks"][seat], places)
        for r in range(count):
            for k in range(size + 1):
                before = _without(subsets, places, mask, size + 1, r, k)
                if before >= 0:
                    work[values + before] += work[child_values + r]


@jit
def _mark(tree, node, frame, space, marks, seat, is_own):  # type: ignore[no-untyped-def]
    """While all plays are counted: note which hands of the mover can be, by his own plays (2) and the other's (1)."""
    work, mover = space.work, np.int64(node["mover"])
    hands = num_hands(tree, node, mover)
    if node["kind"] != DRAWN:
        for h in range(hands):
            if work[(frame[VALUES] if is_own else frame[REACH]) + h] > 0:
                marks[node["hands"] + h] |= 1 if is_own else 2
        return
    for e in range(node["first_edge"], np.int64(node["first_edge"]) + node["num_edges"]):
        edge = tree.edges[e]
        if edge["kind"] != PLAY:
            break
        for r in range(hands):
            if work[frame[GAINS] + edge["start"] + r if is_own else frame[REACH] + r] > 0:
                marks[node["hands"] + edge["start"] + r] |= 1 if is_own else 2


@jit
def _enter(tree, number, frame, mode, pays, seat, space, weights, averages, average_weight, marks):  # type: ignore[no-untyped-def]
    """What is done at a node before its children: its own ends, and the shares of its actions."""
    node, work = tree.nodes[number], space.work
    frame[NODE] = number
    frame[EDGE] = 0
    reach, values = frame[REACH], frame[VALUES]
    if node["kind"] == BLOCKED:
        value_blocked(tree, node, pays, seat, space, reach, values)
        return
    is_own = node["mover"] == seat
    if len(marks) > 0 and not is_own:
        _mark(tree, node, frame, space, marks, seat, False)
    if node["kind"] == LAST:
        value_last(tree, node, mode == COUNT, pays, seat, space, reach, values)
        return
    length = np.int64(node["length"])
    if length == 0:
        return
    shares = frame[TOP]
    frame[SHARES] = shares
    frame[TOP] += length
    if node["kind"] == DRAWN:
        share_drawn(tree, node, mode, weights, work, shares, reach, is_own)
    else:
        share_turn(tree, node, mode, weights, work, shares, reach, is_own)
    if is_own:
        frame[GAINS] = frame[TOP]
        work[frame[TOP] : frame[TOP] + length] = 0.0
        frame[TOP] += length
    elif average_weight > 0 and node["policy"] >= 0:
        for entry in range(length):
            averages[node["policy"] + entry] += average_weight * work[shares + entry]


@jit
def _go_down(tree, node, edge, frame, below, mode, space, is_own, seat):  # type: ignore[no-untyped-def]
    """Set up the frame ``below`` for the child of ``edge``; False if the other seat does not come there."""
    kept = frame[TOP]
    reach = _descend(tree, node, edge, frame, mode, space, is_own, seat)
    below[TOP] = frame[TOP]
    frame[TOP] = kept
    if reach < 0:
        return False
    below[REACH] = reach
    if is_own and edge["kind"] == PLAY:  # the child's values are what the action gains
        below[VALUES] = frame[GAINS] + edge["start"]
    else:
        own = num_hands(tree, tree.nodes[edge["child"]], seat)
        below[VALUES] = below[TOP]
        space.work[below[TOP] : below[TOP] + own] = 0.0
        below[TOP] += own
    return True


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
    total = 0.0
    for root in roots:
        total += _walk_from(
            tree, pays, root, reach, seat, mode, weights, regrets, averages, average_weight, marks, space
        )
    return total


@jit
def _walk_from(tree, pays, root, reach, seat, mode, weights, regrets, averages, average_weight, marks, space):  # type: ignore[no-untyped-def]
    nodes, edges, frames, work = tree.nodes, tree.edges, space.frames, space.work
    frame = frames[0]
    count, own = num_hands(tree, nodes[root], 1 - seat), num_hands(tree, nodes[root], seat)
    frame[REACH] = 0
    frame[VALUES] = count
    frame[TOP] = count + own
    work[:count] = reach
    work[count : count + own] = 0.0
    _enter(tree, root, frame, mode, pays, seat, space, weights, averages, average_weight, marks)
    depth = 0
    while depth >= 0:
        frame = frames[depth]
        node = nodes[frame[NODE]]
        is_own = node["mover"] == seat
        if frame[EDGE] == node["num_edges"]:
            if is_own and node["kind"] != BLOCKED:
                decide(tree, node, mode, frame, space, regrets, weights, seat)
                if len(marks) > 0:
                    _mark(tree, node, frame, space, marks, seat, True)
            depth -= 1
            if depth >= 0:
                above = frames[depth]
                parent = nodes[above[NODE]]
                edge = edges[parent["first_edge"] + above[EDGE] - 1]
                _ascend(tree, parent, edge, above, frame[VALUES], space, parent["mover"] == seat, seat)
            continue
        edge = edges[np.int64(node["first_edge"]) + frame[EDGE]]
        frame[EDGE] += 1
        if edge["kind"] == OUT:
            share, gain = frame[SHARES] + edge["start"], frame[GAINS] + edge["start"]
            value_out(tree, node, edge, pays, seat, space, frame[REACH], frame[VALUES], share, gain)
        elif _go_down(tree, node, edge, frame, frames[depth + 1], mode, space, is_own, seat):
            depth += 1
            child = np.int64(edge["child"])
            _enter(tree, child, frames[depth], mode, pays, seat, space, weights, averages, average_weight, marks)
    total = 0.0
    for h in range(own):
        total += work[count + h]
    return total
