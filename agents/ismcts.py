"""The player ``ismcts``: Information Set Monte Carlo Tree Search (Cowling, Powley & Whitehouse 2012).

Each iteration plays the rest of the round in one world that fits what the player knows. On the way it descends a tree
of *information sets*: positions that look alike to an observer are one node, whatever is hidden. At a node the seat
on turn takes an action of which it has not been tried yet, else the one with the best upper confidence bound; as an
action may be illegal in another world, the bound counts how often the action was *available*, not how often the node
was visited. An iteration adds one action to the tree; from there on all play at random. Then the margin of every seat
in the rest of the round is added to the actions that it took. The most visited action is the answer.

How it is laid out: a node is a slot of a hash table, found by what its observer has seen since the root (a hash of the
actions, forced ones included); its tried actions are a linked list of edges. Moves without a choice are played and
observed, but are no nodes and no iterations are spent on them.

- ``single`` observer: one tree, nodes told apart by the actions alone, which all see.
- ``multiple`` observer: a tree for each seat; to the seat that draws a tile, the tile makes a difference. Without
  draws the trees are the same, and so are the answers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, Turn
from agents.keys import pick
from dominoes_env.arguments import checked_integer, checked_number, checked_word
from dominoes_env.engine.information import conceal
from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import margin_between, margin_unit, set_margin_weights
from dominoes_env.engine.moves import draw_or_pass, playable_tiles
from dominoes_env.engine.rounds import step
from dominoes_env.engine.state import PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import NO_TILES, nth_tile, num_tiles_of, tile_bit
from dominoes_env.engine.worlds import determinize_rows

__all__ = ["OBSERVERS", "IsmctsAgent", "SearchResult"]

#: What ``observer`` may be.
OBSERVERS = ("auto", "single", "multiple")

#: One action that was tried at a node.
EDGE_DTYPE = np.dtype(
    [
        ("tile", np.uint64),  # the tile that it lays, as a bit
        ("total", np.float64),  # margins of the seat that took it, in points, summed over visits
        ("end", np.int32),  # the end that it lays it on
        ("visits", np.int32),  # iterations that took it
        ("availability", np.int32),  # iterations that came to the node with it being legal
        ("next", np.int32),  # the next edge of the node; 0: none
    ],
    align=True,
)
#: One place of the hash table of nodes.
NODE_DTYPE = np.dtype([("seen", np.uint64), ("first", np.int64)], align=True)  # first edge; 0: the place is free
#: What goes on from one chunk of iterations to the next; one record.
PROGRESS_DTYPE = np.dtype(
    [
        ("random", np.uint64),  # the state of xorshift* (Vigna 2016), never 0
        ("num_edges", np.int64),  # edges in use, from 1 on
        ("lowest", np.float64),  # the lowest and the highest margin of any seat so far, in points
        ("highest", np.float64),
    ],
    align=True,
)

#: Worlds drawn at a time, in all and with a time budget (which is looked at in between).
_CHUNK, _TIMED_CHUNK = 1024, 128
#: Edges kept at most (64 MiB with their nodes); a tree that is full grows no more.
_MOST_EDGES = 1 << 20
_ROOT = np.uint64(0x243F6A8885A308D3)
_SALT = 0x13198A2E03707344
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@jit(inline=True)
def _random_below(progress, bound):  # type: ignore[no-untyped-def]
    bits = progress["random"]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    progress["random"] = bits
    return np.int64((((bits * np.uint64(0x2545F4914F6CDD1D)) >> _HALF) * np.uint64(bound)) >> _HALF)


@jit(inline=True)
def _num_plays(plays):  # type: ignore[no-untyped-def]
    return num_tiles_of(plays[0]) + num_tiles_of(plays[1]) + num_tiles_of(plays[2]) + num_tiles_of(plays[3])


@jit(inline=True)
def _nth_play(plays, n):  # type: ignore[no-untyped-def]
    """``(tile, end)`` of the ``n``-th play, from tiles as bits for each end."""
    end = np.int64(0)
    count = num_tiles_of(plays[0])
    while n >= count:
        n -= count
        end += 1
        count = num_tiles_of(plays[end])
    return nth_tile(plays[end], n), end


@jit(inline=True)
def _observe(observed, num_trees, mover, action, drawn):  # type: ignore[no-untyped-def]
    """Add an action to what each observer has seen; with a tree a seat the mover sees the tile that he draws."""
    for tree in range(num_trees):
        event = np.uint64(action + 1)
        if drawn >= 0 and num_trees > 1 and tree == mover:
            event += np.uint64(1024 * (drawn + 1))
        mixed = (observed[tree] ^ event) * _GAMMA
        observed[tree] = mixed ^ (mixed >> _HALF)


@jit(inline=True)
def _find(nodes, seen):  # type: ignore[no-untyped-def]
    """The place of a node in the table, or the free one where it belongs."""
    last = len(nodes) - 1
    place = np.int64(seen & np.uint64(last))
    while nodes[place]["first"] != 0 and nodes[place]["seen"] != seen:
        place = (place + 1) & last
    return place


@jit(inline=True)
def _best_edge(edges, first, untried, weight):  # type: ignore[no-untyped-def]
    """The edge with the highest bound among those legal now, 0 if there is none; takes tried plays off ``untried``.

    ``weight`` times the square root of ln(availability) / visits is added to the mean: UCB1 (Auer et al. 2002) with
    availability in place of the parent's visits.
    """
    best = np.int64(0)
    best_bound = 0.0
    edge = first
    while edge != 0:
        tried = edges[edge]
        if untried[tried["end"]] & tried["tile"] != NO_TILES:
            untried[tried["end"]] &= ~tried["tile"]
            tried["availability"] += 1
            share = 1.0 / tried["visits"]
            bound = tried["total"] * share + weight * np.sqrt(np.log(np.float64(tried["availability"])) * share)
            if best == 0 or bound > best_bound:
                best = edge
                best_bound = bound
        edge = np.int64(tried["next"])
    return best


@jit(inline=True)
def _add_edge(edges, nodes, place, seen, progress, tile, end):  # type: ignore[no-untyped-def]
    edge = progress["num_edges"]
    progress["num_edges"] += 1
    edges[edge]["tile"] = tile_bit(tile)
    edges[edge]["end"] = end
    edges[edge]["total"] = 0.0
    edges[edge]["visits"] = 0
    edges[edge]["availability"] = 1
    edges[edge]["next"] = nodes[place]["first"]
    nodes[place]["seen"] = seen
    nodes[place]["first"] = edge
    return edge


@jit(inline=True)
def _back_up(edges, path, movers, depth, margins, progress):  # type: ignore[no-untyped-def]
    for i in range(depth):
        edges[path[i]]["visits"] += 1
        edges[path[i]]["total"] += margins[movers[i]]
    for seat in range(4):  # seats that do not play have margin 0
        progress["lowest"] = min(progress["lowest"], margins[seat])
        progress["highest"] = max(progress["highest"], margins[seat])


@jit
def _iterate(rules_row, concealed, worlds, num_trees, exploration, edges, nodes, progress_row):  # type: ignore[no-untyped-def]
    """One iteration in each of ``worlds``, which are played to the end of the round in place.

    ``edges`` (n,): the first is for actions that find no room; ``nodes`` (m,): m a power of 2 and more than n.
    """
    rules = rules_row[0]
    progress = progress_row[0]
    num_tiles = np.int64(rules["num_tiles"])
    draw_action = num_tiles * rules["num_ends"]
    plays = np.zeros(4, np.uint64)
    margins = np.zeros(4)
    weights = np.zeros((4, 4), np.int64)
    for seat in range(rules["num_players"]):
        set_margin_weights(rules, seat, weights[seat])
    observed = np.zeros(4, np.uint64)
    path = np.zeros(rules["num_tiles"], np.int64)  # edges taken, each a tile laid, and by whom
    movers = np.zeros(rules["num_tiles"], np.int64)
    for row in range(len(worlds)):
        state = worlds[row]
        weight = exploration * (progress["highest"] - progress["lowest"])
        observed[:] = _ROOT
        depth = 0
        is_inside = True
        while state["status"] == PLAYING:
            mover = np.int64(state["turn"])
            for open_end in range(rules["num_ends"]):
                plays[open_end] = playable_tiles(state, rules, open_end)
            count = _num_plays(plays)
            drawn = np.int64(-1)
            if count == 0:
                action = np.int64(draw_or_pass(state, rules))
                if action == draw_action:
                    drawn = np.int64(state["pile"][state["boneyard"] - 1])
            elif count > 1 and is_inside:
                seen = observed[mover if num_trees > 1 else 0]
                place = _find(nodes, seen)
                edge = _best_edge(edges, nodes[place]["first"], plays, weight)
                untried = _num_plays(plays)
                if untried > 0 and (edge == 0 or progress["num_edges"] < len(edges)):
                    is_inside = False
                    tile, end = _nth_play(plays, _random_below(progress, untried))
                    edge = np.int64(0)
                    if progress["num_edges"] < len(edges):
                        edge = _add_edge(edges, nodes, place, seen, progress, tile, end)
                else:
                    end = np.int64(edges[edge]["end"])
                    tile = nth_tile(edges[edge]["tile"], 0)
                path[depth] = edge
                movers[depth] = mover
                depth += 1
                action = end * num_tiles + tile
            else:
                tile, end = _nth_play(plays, _random_below(progress, count) if count > 1 else 0)
                action = end * num_tiles + tile
            if is_inside:
                _observe(observed, num_trees, mover, action, drawn)
            step(state, rules, action)
        for seat in range(rules["num_players"]):
            margins[seat] = margin_between(concealed[0], state, rules, weights[seat]) / margin_unit(rules)
        _back_up(edges, path, movers, depth, margins, progress)


@jit
def _read_root(rules_row, edges, nodes, visits, availability, totals):  # type: ignore[no-untyped-def]
    """The root's statistics by action id."""
    edge = np.int64(nodes[_find(nodes, _ROOT)]["first"])
    while edge != 0:
        action = np.int64(edges[edge]["end"]) * rules_row[0]["num_tiles"] + nth_tile(edges[edge]["tile"], 0)
        visits[action] = edges[edge]["visits"]
        availability[action] = edges[edge]["availability"]
        totals[action] = edges[edge]["total"]
        edge = np.int64(edges[edge]["next"])


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found at its root. Arrays have shape (k,): a line a legal action, ascending."""

    action: int
    """The answer: the most visited action, of equal ones one by the key."""
    actions: NDArray[np.int64]
    """The legal action ids."""
    visits: NDArray[np.int64]
    """Iterations that took each action; together ``iterations``."""
    availability: NDArray[np.int64]
    """Iterations in which each action was legal and tried before or then; at the root an action is always legal."""
    means: NDArray[np.float64]
    """The mean margin of the player, in points, over the rest of the round after each action; NaN: never visited."""
    iterations: int
    """How many there were; 0 where there is no choice."""
    is_past_respected: bool
    """False: the past had too many ways to count, and the worlds respect the numbers shown to be lacking alone."""


class IsmctsAgent(Agent):
    """The most visited action of an Information Set Monte Carlo tree search.

    Worlds are drawn by ``determinize``, one an iteration. Where it counts too many ways in which the tiles may have
    been drawn, worlds are drawn from the position without its past: of it only ``lacking`` is respected.

    Args:
        iterations: iterations a decision; with ``ms`` the most.
        observer: ``single``, ``multiple``, or ``auto``: ``multiple`` where the rules let players draw, else ``single``.
        exploration: the constant of the confidence bound, in units of the range of all margins found so far.
        ms: milliseconds a decision, looked at every 128 iterations; 0: no bound. With it the answer may depend on
            the machine.

    Raises:
        ValueError: for a value that is not allowed.
    """

    name = "ismcts"
    gives_values = True

    def __init__(self, iterations: int = 1000, observer: str = "auto", exploration: float = 0.7, ms: float = 0) -> None:
        self.iterations = checked_integer("iterations", iterations, 1)
        self.observer = checked_word("observer", observer, OBSERVERS)
        self.exploration = checked_number("exploration", exploration, 0)
        self.ms = checked_number("ms", ms, 0)

    def act(self, turn: Turn) -> int:
        return self.search(turn).action

    def evaluate(self, turn: Turn) -> tuple[int, NDArray[np.float64]]:
        """Mean margins at the root. The answer is the most visited action, seldom not the one with the highest mean."""
        result = self.search(turn)
        values = np.full(len(turn.mask), np.nan)
        values[result.actions] = result.means
        return result.action, values

    def search(self, turn: Turn) -> SearchResult:
        """The search of :meth:`act` with the statistics of its root.

        Raises:
            ValueError: if the turn's history does not lead to its state.
        """
        legal = turn.legal_actions
        visits = np.zeros(len(turn.mask), np.int64)
        availability = np.zeros(len(turn.mask), np.int64)
        totals = np.zeros(len(turn.mask))
        done, is_past_respected = 0, True
        if len(legal) > 1:
            edges, nodes, done, is_past_respected = self._grow(turn)
            _read_root(turn.rules.row, edges, nodes, visits, availability, totals)
        visits, availability, totals = visits[legal], availability[legal], totals[legal]
        best = legal[visits == visits.max()]
        with np.errstate(invalid="ignore"):
            means = totals / visits
        action = int(best[pick(np.uint64(turn.key), len(best))])
        return SearchResult(action, legal, visits, availability, means, done, is_past_respected)

    def _grow(self, turn: Turn) -> tuple[NDArray[Any], NDArray[Any], int, bool]:
        """The tree's edges and nodes, how many iterations made them, and whether the past could be respected."""
        rules = turn.rules
        deadline = time.perf_counter() + self.ms / 1000
        is_multiple = self.observer == "multiple" or (self.observer == "auto" and rules.draw_rule != "none")
        num_edges = min(self.iterations, _MOST_EDGES)
        edges = np.zeros(num_edges + 1, EDGE_DTYPE)
        nodes = np.zeros(1 << (2 * num_edges).bit_length(), NODE_DTYPE)
        worlds = np.empty(min(_TIMED_CHUNK if self.ms else _CHUNK, self.iterations), STATE_DTYPE)
        progress = np.zeros(1, PROGRESS_DTYPE)
        generator = np.array([turn.key], np.uint64)
        progress["random"] = turn.key ^ _SALT or 1
        progress["num_edges"] = 1
        state = turn.state.copy()
        conceal(state[0], turn.player)
        past, has_past = turn.history, True
        done = 0
        while done < self.iterations and not (self.ms and done and time.perf_counter() >= deadline):
            chunk = worlds[: self.iterations - done]
            refused = determinize_rows(chunk, rules.row, state, turn.player, past, has_past, generator)
            if refused == 2 and has_past:
                past, has_past = turn.history[:0], False
                continue
            if refused:
                raise ValueError(f"history of {len(past)} actions does not lead to the state of player {turn.player}")
            _iterate(
                rules.row,
                state,
                chunk,
                rules.num_players if is_multiple else 1,
                self.exploration,
                edges,
                nodes,
                progress,
            )
            done += len(chunk)
        return edges, nodes, done, has_past
