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

from agents.base import BatchAgent, Turn, Turns
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
    gives_values = True

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
                actions[row] = self._evaluate(turns, row, ties[row], scratch)[0]
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

    def evaluate(self, turn: Turn) -> tuple[int, NDArray[np.float64]]:
        """Means over the worlds."""
        return self._evaluate(Turns.of([turn]), 0, mix(np.array([turn.key], np.uint64))[0], make_scratch(turn.rules))

    def _evaluate(
        self, turns: Turns, row: int, tie: np.uint64, scratch: tuple[NDArray[Any], ...]
    ) -> tuple[int, NDArray[np.float64]]:
        """With a limited time worlds one by one until it is up, else all at once."""
        deadline = perf_counter() + self.ms / 1000
        mask = turns.masks[row]
        totals = np.zeros(len(mask))
        if mask.sum() == 1:
            return int(mask.argmax()), np.full(len(mask), np.nan)
        generator = turns.keys[row : row + 1].copy()
        history = turns.histories[row, : turns.history_lengths[row]]
        size = 1 if self.ms else self.worlds
        worlds, weights = np.zeros(size, STATE_DTYPE), np.ones(size)
        state, rules, nodes = turns.states[row : row + 1], turns.rules.row, self.nodes
        done = 0
        while done < self.worlds and not (self.ms and done and perf_counter() >= deadline):
            if _add_worlds(rules, state, history, worlds, weights, nodes, scratch, generator, totals) != 0:
                raise _refusal(row)
            done += size
        return int(pick_best(mask, totals, tie)), np.where(mask == 1, totals / done, np.nan)


def _refusal(row: int) -> ValueError:
    return ValueError(f"turn {row}: no deal fits what the player knows; allowed: a position of a game")
