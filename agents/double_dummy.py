"""Double dummy: the exact value of the rest of a round when all hands and the order of the boneyard are known.

Two sides (two players, or two teams): minimax. Three or four players each for himself: the *paranoid* value
(Sturtevant & Korf 2000), for which all others play against the seat on turn: what he can make sure of, not what would
happen. How it is searched: alpha_beta.py. For other agents: :func:`make_scratch` once, then the kernel
:func:`add_action_values` over arrays of worlds.

A work budget counts nodes (positions with a choice). A world that exceeds it is not solved to the end of the round but
searched again to a fixed number of choices after the action, for every action the same, as deep as another such
budget allows; at that horizon the settlement is estimated by the middle of its bounds, which for most rules is half
the difference of the sides' pips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.alpha_beta import HUGE, NO_LIMIT, action_margin, is_given_up, list_moves, make_scratch, order_moves
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.jit import jit
from dominoes_env.engine.lookahead import margin_unit, set_margin_weights, twin_of
from dominoes_env.engine.moves import draw_or_pass, is_legal, playable_tiles
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import NO_TILES, lowest_tile

__all__ = ["NO_LIMIT", "Solution", "add_action_values", "make_scratch", "solve"]

_ONE = np.uint64(1)


@jit
def _search_all(rules, into, scratch):  # type: ignore[no-untyped-def]
    """The margin of every legal action in ``stack[0]`` into ``margins[into]``, -HUGE for others; False: given up."""
    stack, _, moves, _, margins, tasks = scratch
    for action in range(rules["num_actions"]):
        margins[into, action] = -HUGE
    state = stack[0]
    count = list_moves(state, rules, moves, 0)
    if count == 0:
        moves[0, 0] = draw_or_pass(state, rules)
        count = 1
    else:
        order_moves(state, rules, tasks[0]["weights"], moves, 0, count, NONE, stack[1:])
    guess = np.int64(0)
    for i in range(count):
        guess = action_margin(rules, moves[0, i], guess, scratch)
        margins[into, moves[0, i]] = guess
        if is_given_up(scratch):
            return False
    num_tiles = np.int64(rules["num_tiles"])
    for end in range(1, rules["num_ends"]):
        twin = twin_of(state, rules, end)
        tiles = playable_tiles(state, rules, end) if twin != end else NO_TILES
        while tiles != NO_TILES:
            tile = lowest_tile(tiles)
            tiles &= tiles - _ONE
            margins[into, end * num_tiles + tile] = margins[into, twin * num_tiles + tile]
    return True


@jit
def _solve_world(rules, seat, max_nodes, scratch):  # type: ignore[no-untyped-def]
    """:func:`_search_all` for ``seat`` into ``margins[0]``; returns whether it is exact (see the module's text)."""
    _, _, _, _, margins, tasks = scratch
    task = tasks[0]
    set_margin_weights(rules, seat, task["weights"])
    task["seat"] = seat
    task["generation"] += 1
    task["horizon"] = 0
    task["nodes"] = 0
    task["limit"] = max_nodes
    if _search_all(rules, 0, scratch):
        return True
    task["nodes"] = 0
    task["limit"] = NO_LIMIT  # the shallowest search is always finished
    while True:
        task["generation"] += 1
        task["horizon"] += 1
        task["estimates"] = 0
        if not _search_all(rules, 1, scratch):
            return False
        for action in range(rules["num_actions"]):
            margins[0, action] = margins[1, action]
        if task["estimates"] == 0:
            return True
        task["limit"] = max_nodes


@jit
def add_action_values(rules_row, worlds, weights, max_nodes, scratch, totals):  # type: ignore[no-untyped-def]
    """Add to ``totals`` (num_actions,) float64 the value of every legal action in each world, times its weight.

    ``worlds`` (n,) ``STATE_DTYPE``: full states of one decision, the same seat on turn and the same legal actions;
    ``weights`` (n,) float64: worlds of weight 0 are not searched; ``max_nodes``: the budget of a world, NO_LIMIT or
    an int; ``scratch`` as :func:`make_scratch` gives it. A value is in points for the seat on turn, from this
    decision to the end of the round. Illegal actions are left as they are. Returns how many worlds were solved
    exactly.
    """
    rules = rules_row[0]
    stack, _, _, _, margins, _ = scratch
    unit = np.float64(margin_unit(rules))
    exact = 0
    for world in range(len(worlds)):
        if weights[world] == 0.0:
            continue
        stack[0] = worlds[world]
        seat = np.int64(worlds[world]["turn"])
        if _solve_world(rules, seat, max_nodes, scratch):
            exact += 1
        for action in range(len(totals)):
            if margins[0, action] > -HUGE:
                totals[action] += weights[world] * margins[0, action] / unit
    return exact


@dataclass(frozen=True, eq=False)
class Solution:
    """What :func:`solve` found out about a position."""

    value: float
    """Points to come for the seat on turn, as ``reward="margin"`` counts them, if all play by the solver's model."""
    values: NDArray[np.float64]
    """Shape (num_actions,): the same for each action of the seat on turn; nan where an action is illegal."""
    line: tuple[int, ...]
    """Best actions, forced ones included, from the position to the end of the round; empty if a budget ran out."""
    is_exact: bool
    """False: the budget ran out, values are estimates."""
    nodes: int
    """Positions with a choice that were looked at to find the values."""


@jit
def _best_line(rules_row, world, scratch, line):  # type: ignore[no-untyped-def]
    """Write the best actions for the seat on turn from ``world`` (1,) on into ``line``; returns how many."""
    rules = rules_row[0]
    _, _, _, _, margins, tasks = scratch
    stack = scratch[0]
    state = world[0]
    seat = np.int64(state["turn"])
    length = 0
    while state["status"] == PLAYING:
        stack[0] = state
        _solve_world(rules, seat, NO_LIMIT, scratch)
        sign = 1 if tasks[0]["weights"][state["turn"]] > 0 else -1
        best = NONE
        for action in range(rules["num_actions"]):
            if margins[0, action] > -HUGE and (best == NONE or sign * margins[0, action] > sign * margins[0, best]):
                best = action
        step(state, rules, best)
        line[length] = best
        length += 1
    return length


def solve(rules: Rules, state: NDArray[Any], *, max_nodes: int | None = None) -> Solution:
    """Solve the rest of the round from an open position.

    Args:
        rules: the rules of the game.
        state: the whole record, shape (1,), dtype ``STATE_DTYPE``, as ``Table.states`` and ``Game.state`` give it.
        max_nodes: a work budget (see the module's text), at least 1; None: none. Without one a full round of four
            players with a double-nine set can take minutes.

    Raises:
        ValueError: for a record of another form, one whose round is over, or one that hides tiles.
    """
    record = np.asarray(state).reshape(-1).copy()  # of a lone record np.array makes a view
    _check(rules, record)
    limit = NO_LIMIT if max_nodes is None else checked_integer("max_nodes", max_nodes, 1)
    scratch = make_scratch(rules)
    totals = np.full(rules.num_actions, np.nan)
    totals[[action for action in range(rules.num_actions) if is_legal(record[0], rules.row[0], action)]] = 0.0
    is_exact = add_action_values(rules.row, record, np.ones(1), limit, scratch, totals) == 1
    nodes = int(scratch[-1]["nodes"][0])
    line = np.zeros(rules.max_history, np.int64)
    length = _best_line(rules.row, record, scratch, line) if is_exact else 0
    return Solution(float(np.nanmax(totals)), totals, tuple(line[:length].tolist()), is_exact, nodes)


def _check(rules: Rules, record: NDArray[Any]) -> None:
    if record.shape != (1,) or record.dtype != STATE_DTYPE:
        raise ValueError(
            f"state of shape {record.shape}, dtype {record.dtype} is not allowed; allowed: (1,), STATE_DTYPE"
        )
    if record["status"][0] != PLAYING:
        raise ValueError("state: the round is over; allowed: a state in which somebody is to move")
    n = rules.num_players
    hands, counts = record["hands"][0], record["hand_counts"][0]
    is_whole = all(int(hands[seat]).bit_count() == counts[seat] for seat in range(n))
    if rules.draw_rule != "none":
        pile = record["pile"][0][: record["boneyard"][0]]
        is_whole &= bool((pile != NONE).all())
    if not is_whole:
        raise ValueError("state: it hides tiles; allowed: an open record, as Table.states gives it")
