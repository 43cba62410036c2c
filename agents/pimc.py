"""PIMC, perfect information Monte Carlo (Ginsberg 2001): solve worlds that may be, and play what is best on average.

The worlds are uniform over the deals that fit what the player knows (``determinize``); each is solved double dummy.
Equally good actions are taken equally often, as (tile, end). An only action is answered at once.

Where the engine cannot count the worlds exactly (too many ways to have drawn), or the record was set up without its
past, worlds respect only the numbers that each opponent has shown not to hold.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.double_dummy import add_action_values, make_scratch
from agents.keys import mix, pick
from dominoes_env.arguments import checked_integer, checked_number
from dominoes_env.engine.jit import jit
from dominoes_env.engine.state import STATE_DTYPE
from dominoes_env.engine.worlds import determinize_rows

__all__ = ["TIE", "PimcAgent", "draw_worlds", "pick_best"]

#: Values that differ by less are equal.
TIE = 1e-9


@jit
def draw_worlds(worlds, rules_row, concealed, history, generator):  # type: ignore[no-untyped-def]
    """Fill ``worlds`` for the seat on turn in ``concealed`` (1,); ``generator`` (1,) uint64 is moved on.

    Respects the past if it can be counted, else what has been shown lacking. Returns 0, or 1 if nothing fits.
    """
    player = np.int64(concealed[0]["turn"])
    if determinize_rows(worlds, rules_row, concealed, player, history, True, generator) == 0:
        return 0
    return min(determinize_rows(worlds, rules_row, concealed, player, history[:0], False, generator), 1)


@jit
def pick_best(mask, values, key):  # type: ignore[no-untyped-def]
    """A legal action (``mask`` (A,) is 1) whose value lies within TIE of the highest, each equally often by the key."""
    best = -np.inf
    for action in range(len(mask)):
        if mask[action] == 1:
            best = max(best, values[action])
    count = 0
    for action in range(len(mask)):
        if mask[action] == 1 and values[action] >= best - TIE:
            count += 1
    left = pick(key, count)
    for action in range(len(mask)):
        if mask[action] == 1 and values[action] >= best - TIE:
            if left == 0:
                return action
            left -= 1
    return -1


@jit
def _add_worlds(rules_row, concealed, history, worlds, weights, max_nodes, scratch, generator, totals):  # type: ignore[no-untyped-def]
    """Draw worlds and add up the values in them; returns 0, or 1 if nothing fits."""
    if draw_worlds(worlds, rules_row, concealed, history, generator) != 0:
        return 1
    add_action_values(rules_row, worlds, weights, max_nodes, scratch, totals)
    return 0


@jit
def _choose(rules_row, states, histories, lengths, masks, keys, ties, worlds, weights, max_nodes, scratch, actions):  # type: ignore[no-untyped-def]
    """The actions of all rows; returns -1, or the first row in which nothing fits."""
    totals = np.zeros(masks.shape[1])
    generator = np.zeros(1, np.uint64)
    for row in range(len(states)):
        totals[:] = 0.0
        if masks[row].sum() > 1:
            generator[0] = keys[row]
            concealed = states[row : row + 1]
            history = histories[row, : lengths[row]]
            if _add_worlds(rules_row, concealed, history, worlds, weights, max_nodes, scratch, generator, totals) != 0:
                return row
        actions[row] = pick_best(masks[row], totals, ties[row])
    return -1


class PimcAgent(BatchAgent):
    """Plays by ``worlds`` solved worlds a decision.

    Args:
        worlds: how many worlds a decision is averaged over.
        ms: milliseconds that a decision may take, looked at after each world; ``worlds`` are then the most. 0: no such
            limit. With one the choices depend on the machine and its load.
        nodes: the budget of a world, in positions with a choice; see :mod:`agents.double_dummy`.

    Raises:
        ValueError: for an argument that is not allowed.
    """

    name = "pimc"

    def __init__(self, worlds: int = 50, *, ms: float = 0, nodes: int = 20_000) -> None:
        self.worlds = checked_integer("worlds", worlds, 1)
        self.ms = checked_number("ms", ms, 0)
        self.nodes = checked_integer("nodes", nodes, 1)

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        actions = np.zeros(len(turns), np.int64)
        scratch = make_scratch(turns.rules)
        ties = mix(turns.keys)
        if self.ms:
            for row in range(len(turns)):
                actions[row] = self._act_in_time(turns, row, ties[row], scratch)
            return actions
        worlds = np.zeros(self.worlds, STATE_DTYPE)
        weights = np.ones(self.worlds)
        refused = _choose(
            turns.rules.row,
            turns.states,
            turns.histories,
            turns.history_lengths,
            turns.masks,
            turns.keys,
            ties,
            worlds,
            weights,
            self.nodes,
            scratch,
            actions,
        )
        if refused >= 0:
            raise _refusal(refused)
        return actions

    def _act_in_time(self, turns: Turns, row: int, tie: np.uint64, scratch: tuple[NDArray[Any], ...]) -> int:
        """Worlds one by one until there are enough or the time is up."""
        deadline = perf_counter() + self.ms / 1000
        totals = np.zeros(turns.masks.shape[1])
        generator = turns.keys[row : row + 1].copy()
        history = turns.histories[row, : turns.history_lengths[row]]
        world, weight = np.zeros(1, STATE_DTYPE), np.ones(1)
        state = turns.states[row : row + 1]
        for _ in range(self.worlds if turns.masks[row].sum() > 1 else 0):
            if _add_worlds(turns.rules.row, state, history, world, weight, self.nodes, scratch, generator, totals) != 0:
                raise _refusal(row)
            if perf_counter() >= deadline:
                break
        return int(pick_best(turns.masks[row], totals, tie))


def _refusal(row: int) -> ValueError:
    return ValueError(f"turn {row}: no deal fits what the player knows; allowed: a position of a game")
