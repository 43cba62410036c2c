"""Growing a public tree: every node in turn, its edges, and what they lead to, as the engine plays.

Nodes wait on a stack, the first child of a node on top, and the records of the path down to a node are at hand, so that
counting a tree takes no memory and the order is that of a walk.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import margin_between, set_margin_weights, twin_of
from dominoes_env.engine.moves import draw_or_pass, play_turn, playable_tiles, split_play
from dominoes_env.engine.rounds import round_is_blocked, step
from dominoes_env.engine.rules import CHECK_AT_ONCE, DRAW_NONE, END_OUT_OR_BLOCKED, ENDS_NONE, SPINNER_NONE, Rules
from dominoes_env.engine.scoring import score_play
from dominoes_env.engine.state import PLAYING, STATE_DTYPE, new_states
from dominoes_env.engine.tiles import NO_TILES, lowest_tile, num_tiles_of, pips_of, tile_bit
from training.tree_records import BLOCKED, DRAWN, EDGE_DTYPE, KEEP, LAST, NODE_DTYPE, OUT, PLAY, TURN, UNFIT

__all__ = ["FIRST_SIZE", "REFUSED", "Growth", "grow", "make_growth", "state_at"]

#: Sizes that growing adds up, and the slots in front of the largest mask of each hand size.
NODES, EDGES, ENTRIES, HANDS, WORK, DEPTH, WIDEST, LONGEST, REFUSED, FIRST_SIZE = range(10)
#: Bounds of the path: actions of a round, and nodes that wait.
_MOST_DEPTH = 256
_MOST_WAITING = 1 << 15
#: By how much leftovers may be rounded up.
_ROUNDED_UP = 5


class Growth(NamedTuple):
    """A tree while it grows, and scratch."""

    nodes: NDArray[Any]
    """``NODE_DTYPE``; empty: they are only counted. So are ``edges``."""
    edges: NDArray[Any]
    sizes: NDArray[np.int64]
    """See ``NODES`` and those after it."""
    binomials: NDArray[np.int64]
    """Hands of n out of m tiles, [m, n], bounded by 2**62."""
    path: NDArray[Any]
    """The record at each depth."""
    waiting: NDArray[Any]
    work: NDArray[np.int64]
    """What a walk needs down to each depth."""
    current: NDArray[Any]
    edge: NDArray[Any]
    spare: NDArray[Any]
    per_end: NDArray[np.uint64]
    weights: NDArray[np.int64]


def make_growth(rules: Rules, nodes: int, edges: int) -> Growth:
    """Nothing yet, with room for so many nodes and edges; none: they are only counted."""
    drawn = 0 if rules.draw_rule == "none" else rules.boneyard_size
    largest = min(rules.num_tiles, rules.hand_size + drawn) + 2
    sizes = np.zeros(FIRST_SIZE + largest, np.int64)
    sizes[FIRST_SIZE:] = -1
    binomials = [[min(comb(m, n), 1 << 62) for n in range(largest)] for m in range(rules.num_tiles + 1)]
    return Growth(
        np.zeros(nodes, NODE_DTYPE),
        np.zeros(edges, EDGE_DTYPE),
        sizes,
        np.array(binomials, np.int64),
        new_states(_MOST_DEPTH + 2),
        np.zeros(_MOST_WAITING, NODE_DTYPE),
        np.zeros(_MOST_DEPTH, np.int64),
        np.zeros(1, NODE_DTYPE),
        np.zeros(1, EDGE_DTYPE),
        np.zeros(1, STATE_DTYPE),
        np.zeros(4, np.uint64),
        np.zeros(4, np.int64),
    )


@jit
def _take(state, rules, action):  # type: ignore[no-untyped-def]
    """Carry out an action for all hands at once: everybody holds every tile that is not laid, so that a round ends
    only where it ends whatever the hands are."""
    unseen = (tile_bit(rules["num_tiles"]) - np.uint64(1)) & ~state["laid"]
    state["hands"][0] = unseen
    state["hands"][1] = unseen
    if rules["draw_rule"] != DRAW_NONE and state["boneyard"] > 0:
        state["pile"][state["boneyard"] - 1] = lowest_tile(unseen)
    step(state, rules, action)


@jit
def _may_block(state, rules):  # type: ignore[no-untyped-def]
    """Whether the round is blocked if nobody holds a tile that fits."""
    state["hands"][0] = NO_TILES
    state["hands"][1] = NO_TILES
    return round_is_blocked(state, rules)


@jit
def _place(mask, tile):  # type: ignore[no-untyped-def]
    """The place of a tile in the sorted list of a mask; -1: it is not there."""
    if mask & tile_bit(tile) == NO_TILES:
        return -1
    return num_tiles_of(mask & (tile_bit(tile) - np.uint64(1)))


@jit
def _has_deals(masks, counts):  # type: ignore[no-untyped-def]
    """Whether two hands of these counts can be taken from these masks."""
    if num_tiles_of(masks[0]) < counts[0] or num_tiles_of(masks[1]) < counts[1]:
        return False
    return num_tiles_of(masks[0] | masks[1]) >= np.int64(counts[0]) + counts[1]


@jit
def _find_fits(node, state, rules, is_folded, per_end):  # type: ignore[no-untyped-def]
    """What the mover can lay on each end, ``per_end`` (4,), on one of several like ends if folded."""
    mover = np.int64(node["mover"])
    if node["kind"] == DRAWN:  # what he held before does not fit; what he drew may be any tile
        state["hands"][mover] = (tile_bit(rules["num_tiles"]) - np.uint64(1)) & ~state["laid"]
    else:
        state["hands"][mover] = node["masks"][mover] if node["counts"][mover] > 0 else NO_TILES
    node["fits"] = NO_TILES
    node["twice"] = NO_TILES
    for end in range(4):
        per_end[end] = NO_TILES
        if state["status"] == PLAYING and not (is_folded and twin_of(state, rules, end) != end):
            per_end[end] = playable_tiles(state, rules, end)
        node["twice"] |= node["fits"] & per_end[end]
        node["fits"] |= per_end[end]


@jit
def _lay(node, state, rules, action, spare, edge, child, weights, start):  # type: ignore[no-untyped-def]
    """Fill ``edge`` and ``child`` for laying a tile; returns whether any deal is left."""
    mover = np.int64(node["mover"])
    tile, _ = split_play(action, np.int64(rules["num_tiles"]))
    spare[0] = state
    after = spare[0]
    _take(after, rules, action)
    child["masks"][0] = node["masks"][0] & ~tile_bit(tile)
    child["masks"][1] = node["masks"][1] & ~tile_bit(tile)
    child["counts"][0] = node["counts"][0]
    child["counts"][1] = node["counts"][1]
    if node["kind"] != DRAWN:
        child["counts"][mover] -= 1
    child["mover"] = 1 - mover
    child["action"] = action
    child["kind"] = TURN
    child["blocks"] = 0
    edge["kind"] = PLAY
    edge["tile"] = tile
    edge["action"] = action
    for seat in range(2):
        edge["places"][seat] = _place(node["masks"][seat], tile)
    if after["status"] != PLAYING:
        edge["kind"] = OUT if after["is_out"] == 1 else PLAY
        child["kind"] = BLOCKED
        spare[0] = state  # the points of the play alone
        after["hands"][mover] = tile_bit(tile)
        play_turn(after, rules, action)
        score_play(after, rules, mover)
    edge["margin"] = margin_between(start, after, rules, weights)
    child["margin"] = edge["margin"]
    return _has_deals(child["masks"], child["counts"])


@jit
def _go_on(node, state, rules, child):  # type: ignore[no-untyped-def]
    """Fill ``child`` for a mover whom nothing fits, or who keeps what he drew: block, draw or pass."""
    mover = np.int64(node["mover"])
    unseen = (tile_bit(rules["num_tiles"]) - np.uint64(1)) & ~state["laid"]
    child["masks"][0] = node["masks"][0]
    child["masks"][1] = node["masks"][1]
    child["counts"][0] = node["counts"][0]
    child["counts"][1] = node["counts"][1]
    child["mover"] = mover
    child["blocks"] = 0
    child["action"] = -1
    child["margin"] = node["margin"]
    child["boneyard"] = state["boneyard"]
    if node["kind"] == DRAWN:
        child["masks"][mover] |= unseen & ~node["fits"]
        child["counts"][mover] += 1
    else:
        child["masks"][mover] &= ~node["fits"]
    if node["blocks"] == 1 or state["status"] != PLAYING:
        child["kind"] = BLOCKED
        return
    child["action"] = draw_or_pass(state, rules)
    if child["action"] == np.int64(rules["num_tiles"]) * rules["num_ends"]:
        child["kind"] = DRAWN
        return
    child["kind"] = TURN
    child["mover"] = 1 - mover
    child["blocks"] = 1 if _may_block(state, rules) else 0


@jit
def _hands_of(node, seat, binomials):  # type: ignore[no-untyped-def]
    return binomials[num_tiles_of(node["masks"][seat]), node["counts"][seat]]


@jit
def _add(grown, node, number, top, is_node):  # type: ignore[no-untyped-def]
    """Keep the new edge of ``node``, and what it leads to where that is a node; returns the new top of what waits."""
    edge, child, sizes = grown.edge[0], grown.waiting[top], grown.sizes
    edge["child"] = -1
    edge["start"] = node["length"]
    child["parent"] = number
    child["depth"] = node["depth"] + 1
    child["edge"] = sizes[EDGES]
    child["length"] = 0
    child["num_edges"] = 0
    if len(grown.edges) > 0:
        grown.edges[sizes[EDGES]] = edge
    sizes[EDGES] += 1
    node["num_edges"] += 1
    return top + 1 if is_node else top


@jit
def _branch(node, number, state, start, rules, is_folded, top, grown):  # type: ignore[no-untyped-def]
    """All edges of a node at which a seat moves; returns the new top of what waits."""
    mover = np.int64(node["mover"])
    is_drawn = node["kind"] == DRAWN
    _find_fits(node, state, rules, is_folded, grown.per_end)
    if is_drawn:
        node["boneyard"] = state["boneyard"] + 1
    is_plain = rules["end_scoring"] == ENDS_NONE and rules["spinner"] == SPINNER_NONE
    if node["counts"][mover] == 1 and not is_drawn and is_plain and rules["round_end"] == END_OUT_OR_BLOCKED:
        node["kind"] = LAST
    rest = node["fits"] if node["kind"] != LAST else NO_TILES
    edge = grown.edge[0]
    while rest != NO_TILES:
        tile = lowest_tile(rest)
        rest &= ~tile_bit(tile)
        for end in range(4):
            if grown.per_end[end] & tile_bit(tile) == NO_TILES:
                continue
            child = grown.waiting[top]
            action = end * np.int64(rules["num_tiles"]) + tile
            if _lay(node, state, rules, action, grown.spare, edge, child, grown.weights, start):
                top = _add(grown, node, number, top, edge["kind"] != OUT)
                node["length"] += _hands_of(child, mover, grown.binomials)
    if node["blocks"] >= 0:
        child = grown.waiting[top]
        _go_on(node, state, rules, child)
        if _has_deals(child["masks"], child["counts"]):
            edge["kind"] = KEEP if is_drawn else UNFIT
            edge["action"] = child["action"]
            top = _add(grown, node, number, top, True)
    return top


@jit
def grow(rules_row, is_folded, starts, root_states, most_nodes, grown):  # type: ignore[no-untyped-def]
    """Count the tree from the nodes ``starts``, and write it where ``grown`` has room.

    Returns:
        whether it came to its end: it stops at ``most_nodes``, and where a round could end the match at once
        (``sizes[REFUSED]``).
    """
    rules, sizes, waiting, path = rules_row[0], grown.sizes, grown.waiting, grown.path
    is_written = len(grown.nodes) > 0
    set_margin_weights(rules, 0, grown.weights)
    every = tile_bit(rules["num_tiles"]) - np.uint64(1)
    top = len(starts)
    for index in range(top):
        waiting[index] = starts[top - 1 - index]
    while top > 0:
        if sizes[NODES] >= most_nodes:
            return False
        top -= 1
        grown.current[0] = waiting[top]
        node = grown.current[0]
        number, depth = sizes[NODES], np.int64(node["depth"])
        state = path[depth]
        if node["parent"] < 0:
            path[depth] = root_states[node["edge"]]
        elif node["kind"] != BLOCKED:
            path[depth] = path[depth - 1]
            _take(state, rules, node["action"])
        if is_written and node["parent"] >= 0:
            grown.edges[node["edge"]]["child"] = number
        node["first_edge"] = sizes[EDGES]
        node["hands"] = sizes[HANDS]
        bottom = top
        if node["kind"] != BLOCKED:
            most = max(state["scores"][0], state["scores"][1]) + pips_of(every & ~state["laid"])
            if rules["target_check"] == CHECK_AT_ONCE and most + _ROUNDED_UP >= rules["target"]:
                sizes[REFUSED] = 1
                return False
            top = _branch(node, number, state, root_states[0], rules, is_folded, top, grown)
        _turn_round(waiting, bottom, top)
        _close(node, grown.binomials, grown.work, sizes)
        if is_written:
            grown.nodes[number] = node
        sizes[NODES] += 1
    return True


@jit
def _turn_round(waiting, bottom, top):  # type: ignore[no-untyped-def]
    """Have the first of the new nodes come next."""
    spare = np.zeros(1, NODE_DTYPE)
    for index in range((top - bottom) // 2):
        spare[0] = waiting[bottom + index]
        waiting[bottom + index] = waiting[top - 1 - index]
        waiting[top - 1 - index] = spare[0]


@jit
def _close(node, binomials, work, sizes):  # type: ignore[no-untyped-def]
    """Give a node its places in the arrays over entries and hands, and count what a walk needs down to it."""
    mover = np.int64(node["mover"])
    both = _hands_of(node, 0, binomials) + _hands_of(node, 1, binomials)
    own = _hands_of(node, mover, binomials)
    is_choice = node["twice"] != NO_TILES or (node["counts"][mover] > 1 and num_tiles_of(node["fits"]) > 1)
    node["policy"] = -1
    if node["length"] > 0 and (is_choice if node["kind"] == TURN else node["twice"] != NO_TILES):
        node["policy"] = sizes[ENTRIES]
        sizes[ENTRIES] += node["length"]
    if node["kind"] != BLOCKED:
        sizes[HANDS] += node["length"] if node["kind"] == DRAWN else own
    depth = np.int64(node["depth"])
    before = work[depth - 1] if depth > 0 else np.int64(0)
    work[depth] = before + 3 * both + 2 * own + 2 * node["length"]
    sizes[WORK] = max(sizes[WORK], work[depth])
    sizes[DEPTH] = max(sizes[DEPTH], depth + 1)
    sizes[WIDEST] = max(sizes[WIDEST], max(_hands_of(node, 0, binomials), _hands_of(node, 1, binomials)))
    sizes[LONGEST] = max(sizes[LONGEST], np.int64(node["length"]))
    for seat in range(2):
        slot = FIRST_SIZE + np.int64(node["counts"][seat])
        sizes[slot] = max(sizes[slot], num_tiles_of(node["masks"][seat]))


@jit
def state_at(nodes, root_states, rules, number, actions, state):  # type: ignore[no-untyped-def]
    """Write the record of a node, whose hands mean nothing, to ``state``; its history to ``actions``, returning how
    many they are."""
    length = 0
    node = number
    while nodes[node]["parent"] >= 0:
        actions[length] = nodes[node]["action"]
        length += 1
        node = np.int64(nodes[node]["parent"])
    for index in range(length // 2):
        other = actions[length - 1 - index]
        actions[length - 1 - index] = actions[index]
        actions[index] = other
    state[0] = root_states[nodes[node]["edge"]]
    for index in range(length):
        _take(state[0], rules, actions[index])
    return length
