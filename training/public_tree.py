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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import open_round
from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import margin_between, set_margin_weights, twin_of
from dominoes_env.engine.moves import draw_or_pass, play_turn, playable_tiles, split_play
from dominoes_env.engine.opening import first_lead, opening_forces_lead, tiles_above
from dominoes_env.engine.rounds import round_is_blocked, step
from dominoes_env.engine.rules import (
    CHECK_AT_ONCE,
    DRAW_NONE,
    END_OUT_OR_BLOCKED,
    ENDS_NONE,
    SPINNER_NONE,
    Rules,
)
from dominoes_env.engine.scoring import score_play
from dominoes_env.engine.state import PLAYING, STATE_DTYPE, new_states
from dominoes_env.engine.tiles import NO_TILES, lowest_tile, num_tiles_of, pips_of, tile_bit
from training.subsets import Subsets, make_subsets, table_bytes

__all__ = [
    "BLOCKED",
    "DRAWN",
    "EDGE_DTYPE",
    "KEEP",
    "LAST",
    "NODE_DTYPE",
    "OUT",
    "PLAY",
    "TREE_VERSION",
    "TURN",
    "UNFIT",
    "PublicTree",
    "TreeArrays",
    "TreeSize",
    "build_tree",
    "measure_tree",
    "state_at",
]

#: Raised by one whenever the same rules no longer give the same nodes and entries in the same order.
TREE_VERSION = 1
#: Kinds of nodes: a seat moves; it moves and each play is its last, worth the same on either end; it has just drawn,
#: and its hands are those before that; the round is blocked.
TURN, LAST, DRAWN, BLOCKED = range(4)
#: Kinds of edges: a tile laid; one that goes out; nothing fits (pass, draw, or the block); what was drawn does not fit.
PLAY, OUT, UNFIT, KEEP = range(4)

NODE_DTYPE = np.dtype(
    [
        ("masks", np.uint64, (2,)),  # tiles that each seat's hands are made of, as bits
        ("fits", np.uint64),  # tiles that the mover can lay, as bits
        ("twice", np.uint64),  # those of them that he can lay in more than one way
        ("policy", np.int64),  # where the entries of this node start in arrays over decisions; -1: there is no choice
        ("hands", np.int64),  # where this node starts in arrays over hands of the mover
        ("parent", np.int32),  # -1: the round starts here
        ("edge", np.int32),  # the edge that leads here
        ("first_edge", np.int32),
        ("length", np.int32),  # entries: the hands of each edge that lays a tile
        ("margin", np.int32),  # points of seat 0 less those of seat 1 so far
        ("num_edges", np.int16),
        ("depth", np.int16),
        ("action", np.int16),  # the engine's action that leads here; -1: none
        ("counts", np.int8, (2,)),  # tiles in the hands of each seat
        ("mover", np.int8),
        ("kind", np.int8),
        ("blocks", np.int8),  # 1: where nothing fits the mover the round is blocked; -1: it cannot be that nothing fits
        ("boneyard", np.int8),  # of a drawn tile: how many it may have been
    ],
    align=True,
)
EDGE_DTYPE = np.dtype(
    [
        ("child", np.int32),  # a node; -1 at OUT
        ("start", np.int32),  # the first entry of this edge within its node
        ("margin", np.int32),  # points of seat 0 less those of seat 1, this play's included
        ("action", np.int16),  # the engine's action
        ("kind", np.int8),
        ("tile", np.int8),
        ("places", np.int8, (2,)),  # of the tile in each seat's mask; -1: it is not there
    ],
    align=True,
)

#: Bounds of the path: actions of a round, and nodes that wait.
_MOST_DEPTH = 256
_MOST_WAITING = 1 << 15
_MOST_TILES = 56
#: Sizes that counting adds up, and the slots in front of the largest mask of each hand size.
NODES, EDGES, ENTRIES, HANDS, WORK, DEPTH, WIDEST, LONGEST, REFUSED = range(9)
_FIRST_SIZE = 9


class TreeArrays(NamedTuple):
    """A tree as kernels take it."""

    nodes: NDArray[Any]
    """``NODE_DTYPE``, in the order of a walk down the first edges first."""
    edges: NDArray[Any]
    """``EDGE_DTYPE``."""
    subsets: Subsets


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
    return _grow(rules, is_folded, nodes, states, np.zeros(0, NODE_DTYPE), np.zeros(0, EDGE_DTYPE), most_nodes)


def build_tree(rules: Rules, *, is_folded: bool = True, size: TreeSize | None = None) -> PublicTree:
    """The tree; ``size`` is what :func:`measure_tree` found, if that was asked.

    Raises:
        ValueError: for rules that no tree is made of.
        MemoryError: if it does not fit.
    """
    size = size or measure_tree(rules, is_folded=is_folded)
    starts, states, weight = _roots(rules)
    nodes, edges = np.zeros(size.nodes, NODE_DTYPE), np.zeros(size.edges, EDGE_DTYPE)
    _grow(rules, is_folded, starts, states, nodes, edges, 1 << 30)
    arrays = TreeArrays(nodes, edges, make_subsets(size.most))
    return PublicTree(rules, is_folded, arrays, size, np.flatnonzero(nodes["parent"] < 0), states, weight)


def _grow(
    rules: Rules,
    is_folded: bool,
    starts: NDArray[Any],
    states: NDArray[Any],
    nodes: NDArray[Any],
    edges: NDArray[Any],
    most_nodes: int,
) -> TreeSize:
    largest = min(rules.num_tiles, rules.hand_size + (0 if rules.draw_rule == "none" else rules.boneyard_size)) + 2
    sizes = np.zeros(_FIRST_SIZE + largest, np.int64)
    sizes[_FIRST_SIZE:] = -1
    binomials = _binomials(rules.num_tiles, largest)
    path, waiting = new_states(_MOST_DEPTH + 2), np.zeros(_MOST_WAITING, NODE_DTYPE)
    work = np.zeros(_MOST_DEPTH, np.int64)
    is_complete = _expand(
        rules.row, is_folded, starts, states, nodes, edges, path, waiting, work, sizes, binomials, most_nodes
    )
    if sizes[REFUSED]:
        raise ValueError(
            f"target={rules.target} is not allowed for exact play with target_check='at_once': a round could reach it; "
            "allowed: a larger one"
        )
    counts = sizes[:REFUSED].tolist()
    return TreeSize(*counts, most=sizes[_FIRST_SIZE:], is_complete=bool(is_complete))


def _binomials(tiles: int, sizes: int) -> NDArray[np.int64]:
    """Shape (tiles + 1, sizes), bounded by 2**62."""
    from math import comb

    return np.array([[min(comb(m, n), 1 << 62) for n in range(sizes)] for m in range(tiles + 1)], np.int64)


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
def _expand(rules_row, is_folded, starts, root_states, nodes, edges, path, waiting, work, sizes, binomials, most_nodes):  # type: ignore[no-untyped-def]
    """Count the tree from ``starts``, and write it where ``nodes`` has room; False if the count was stopped."""
    rules = rules_row[0]
    is_written = len(nodes) > 0
    current, new_edge = np.zeros(1, NODE_DTYPE), np.zeros(1, EDGE_DTYPE)
    spare, per_end = np.zeros(1, STATE_DTYPE), np.zeros(4, np.uint64)
    weights = np.zeros(4, np.int64)
    set_margin_weights(rules, 0, weights)
    at_once = rules["target_check"] == CHECK_AT_ONCE
    every = tile_bit(rules["num_tiles"]) - np.uint64(1)
    top = len(starts)
    for index in range(top):
        waiting[index] = starts[top - 1 - index]
    while top > 0:
        if sizes[NODES] >= most_nodes:
            return False
        top -= 1
        current[0] = waiting[top]
        node = current[0]
        number, depth = sizes[NODES], np.int64(node["depth"])
        state = path[depth]
        if node["parent"] < 0:
            path[depth] = root_states[node["edge"]]
        elif node["kind"] != BLOCKED:
            path[depth] = path[depth - 1]
            _take(state, rules, node["action"])
        if is_written and node["parent"] >= 0:
            edges[node["edge"]]["child"] = number
        node["first_edge"] = sizes[EDGES]
        node["hands"] = sizes[HANDS]
        bottom = top
        if node["kind"] != BLOCKED:
            _find_fits(node, state, rules, is_folded, per_end)
            mover = np.int64(node["mover"])
            is_drawn = node["kind"] == DRAWN
            if is_drawn:
                node["boneyard"] = state["boneyard"] + 1
            most = max(state["scores"][0], state["scores"][1]) + pips_of(every & ~state["laid"])
            if at_once and most + 5 >= rules["target"]:
                sizes[REFUSED] = 1
                return False
            if (
                node["counts"][mover] == 1
                and not is_drawn
                and rules["round_end"] == END_OUT_OR_BLOCKED
                and rules["end_scoring"] == ENDS_NONE
                and rules["spinner"] == SPINNER_NONE
            ):
                node["kind"] = LAST
            else:
                rest = node["fits"]
                while rest != NO_TILES:
                    tile = lowest_tile(rest)
                    rest &= ~tile_bit(tile)
                    for end in range(4):
                        if per_end[end] & tile_bit(tile) == NO_TILES:
                            continue
                        edge, child = new_edge[0], waiting[top]
                        action = end * np.int64(rules["num_tiles"]) + tile
                        if not _lay(node, state, rules, action, spare, edge, child, weights, root_states[0]):
                            continue
                        edge["start"] = node["length"]
                        edge["child"] = -1
                        node["length"] += _hands_of(child, mover, binomials)
                        child["parent"] = number
                        child["depth"] = depth + 1
                        child["edge"] = sizes[EDGES]
                        child["length"] = 0
                        child["num_edges"] = 0
                        top += edge["kind"] != OUT
                        if is_written:
                            edges[sizes[EDGES]] = edge
                        sizes[EDGES] += 1
                        node["num_edges"] += 1
            if node["blocks"] >= 0:
                child = waiting[top]
                _go_on(node, state, rules, child)
                if _has_deals(child["masks"], child["counts"]):
                    edge = new_edge[0]
                    edge["kind"] = KEEP if is_drawn else UNFIT
                    edge["child"] = -1
                    edge["start"] = node["length"]
                    edge["action"] = child["action"]
                    child["parent"] = number
                    child["depth"] = depth + 1
                    child["edge"] = sizes[EDGES]
                    child["length"] = 0
                    child["num_edges"] = 0
                    top += 1
                    if is_written:
                        edges[sizes[EDGES]] = edge
                    sizes[EDGES] += 1
                    node["num_edges"] += 1
        _turn_round(waiting, bottom, top)
        _close(node, binomials, work, sizes)
        if is_written:
            nodes[number] = node
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
        slot = _FIRST_SIZE + np.int64(node["counts"][seat])
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
