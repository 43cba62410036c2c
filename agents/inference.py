"""The player ``inference``: exact play in worlds, each counting for as much as it explains what the others have done.

Worlds are drawn with the deal that each came from, uniformly over all that fit the public events. A model says how the
others play: each deal is played through again, and at every choice that somebody else had it is weighed by how likely
the model was to choose as he did. By these weights worlds are drawn once more from the many (importance resampling),
and the values of the actions in them, with open hands from then on, are averaged as in ``pimc``.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turn, Turns
from agents.catalog import make_agent
from agents.double_dummy import add_action_values, make_scratch
from agents.keys import decision_keys, fraction
from agents.match import turns_of
from agents.pimc import draw_worlds, pick_best
from agents.ranking import RankingAgent, action_worth
from dominoes_env.arguments import checked_integer, checked_number
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import nth_legal_action, num_legal_actions
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import STATE_DTYPE
from dominoes_env.engine.worlds import determinize_with_deals
from dominoes_env.table import Table

__all__ = ["InferenceAgent"]

#: What a point of a play is worth to a softened rule of thumb, in pips; fitted to how searching players play.
_POINT = 3.0
#: What else a decision's key is used for than worlds: each use has a key of its own.
_TIES, _RESAMPLING = range(2)
#: Worlds drawn at a time where the time is limited.
_PART = 16


@jit
def _soft_choice(state, rules, ranking, temperature, action, count, after):  # type: ignore[no-untyped-def]
    """The probability of ``action``, one of ``count``, where each is taken with probability ~ exp(worth / T)."""
    best = -np.inf
    for n in range(count):
        worth = action_worth(state, rules, ranking, _POINT, nth_legal_action(state, rules, n), after)
        best = max(best, worth)
    total = 0.0
    for n in range(count):
        worth = action_worth(state, rules, ranking, _POINT, nth_legal_action(state, rules, n), after)
        total += math.exp((worth - best) / temperature)
    return math.exp((action_worth(state, rules, ranking, _POINT, action, after) - best) / temperature) / total


@jit
def _weigh(rules_row, deals, player, history, ranking, temperature, noise, logs):  # type: ignore[no-untyped-def]
    """Fill ``logs`` with the log-likelihood of what all but ``player`` have chosen, for each of ``deals``."""
    rules = rules_row[0]
    state, after = deals[:1].copy(), deals[:1].copy()
    for row in range(len(deals)):
        state[0] = deals[row]
        logs[row] = 0.0
        for action in history:
            if state[0]["turn"] != player:
                count = num_legal_actions(state[0], rules)
                if count > 1:
                    chosen = _soft_choice(state[0], rules, ranking, temperature, np.int64(action), count, after)
                    logs[row] += math.log((1.0 - noise) * chosen + noise / count)
            step(state[0], rules, np.int64(action))


class InferenceAgent(BatchAgent):
    """The best action on the average over worlds weighted by the likelihood of the others' past plays.

    Where the ways in which tiles may have been drawn are too many to count, or the record was set up without its past,
    it draws worlds as ``pimc`` does and weighs them all alike.

    Args:
        worlds: worlds solved a decision.
        model: how everybody else plays, partners too: a name of the catalog, or an agent that gives probabilities. A
            rule of thumb takes each action with a probability ~ exp(worth / temperature) instead of the best alone.
        temperature: in pips, above 0; of rules of thumb alone. At 3.5 to 5 ``flexible`` tells most about the hands of
            ``pimc`` and ``ismcts``; less is sharper and misled by others, more is vaguer.
        noise: the share of choices that the model makes at random, above 0 and at most 1.
        pool: worlds drawn and weighted for each one solved.
        ms: milliseconds that a decision may take, looked at after each world; ``worlds`` are then the most, and are
            drawn in parts. 0: no such limit. With one the choices depend on the machine and its load.
        nodes: the budget of a world, in positions with a choice; see :mod:`agents.double_dummy`.

    Raises:
        ValueError: for an argument that is not allowed, as a model that gives no probabilities.
    """

    name = "inference"
    gives_values = True

    def __init__(
        self,
        worlds: int = 200,
        model: Any = "flexible",
        *,
        temperature: float = 3.5,
        noise: float = 0.15,
        pool: int = 4,
        ms: float = 0,
        nodes: int = 20_000,
    ) -> None:
        self.worlds = checked_integer("worlds", worlds, 1)
        self.pool = checked_integer("pool", pool, 1)
        self.nodes = checked_integer("nodes", nodes, 1)
        self.model = make_agent(model)
        if not self.model.gives_probabilities:
            raise ValueError(f"model={self.model.name!r} is not allowed; allowed: an agent that gives probabilities")
        self.temperature = checked_number("temperature", temperature, 0, above=True)
        self.noise = checked_number("noise", noise, 0, 1, above=True)
        self.ms = checked_number("ms", ms, 0)

    def check_rules(self, rules: Rules) -> None:
        """It plays what its model plays."""
        self.model.check_rules(rules)

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        actions = np.zeros(len(turns), np.int64)
        scratch = make_scratch(turns.rules)
        for row in range(len(turns)):
            actions[row] = self._evaluate(turns[row], scratch)[0]
        return actions

    def evaluate(self, turn: Turn) -> tuple[int, NDArray[np.float64]]:
        """Weighted means over the worlds."""
        return self._evaluate(turn, make_scratch(turn.rules))

    def _evaluate(self, turn: Turn, scratch: tuple[NDArray[Any], ...]) -> tuple[int, NDArray[np.float64]]:
        if turn.mask.sum() == 1:
            return int(turn.mask.argmax()), np.full(len(turn.mask), np.nan)
        values = self.values(turn, scratch)
        action = int(pick_best(turn.mask, values, decision_keys(turn.key, _TIES)[0]))
        return action, np.where(turn.mask == 1, values, np.nan)

    def values(self, turn: Turn, scratch: tuple[NDArray[Any], ...] | None = None) -> NDArray[np.float64]:
        """The average value of each action, shape (A,), in points of the rest of the round; 0 where it is illegal.

        ``scratch``: of :func:`agents.double_dummy.make_scratch`, for those who ask often.
        """
        deadline = time.perf_counter() + self.ms / 1000
        scratch = scratch or make_scratch(turn.rules)
        generator = np.array([turn.key], np.uint64)
        totals = np.zeros(turn.rules.num_actions)
        total_weight, reference = 0.0, None
        size, at_once = (_PART, 1) if self.ms else (self.worlds, self.worlds)
        for start in range(0, self.worlds, size):
            worlds, weights, level = self._draw(turn, generator, min(size, self.worlds - start), start)
            reference = level if reference is None else reference
            weights *= math.exp(min(level - reference, 700.0))  # parts count by how likely their pools are
            for first in range(0, len(worlds), at_once):
                part = slice(first, first + at_once)
                add_action_values(turn.rules.row, worlds[part], weights[part], self.nodes, scratch, totals)
                total_weight += weights[part].sum()
                if self.ms and time.perf_counter() >= deadline:
                    return totals / total_weight
        return totals / total_weight

    def log_likelihoods(self, turn: Turn, deals: NDArray[Any]) -> NDArray[np.float64]:
        """How likely the model made the choices of all others in this round, from each of ``deals``: its logarithm.

        ``deals``: rounds as dealt, (n,), that the turn's history fits, as ``determinize(with_deal=True)`` gives them.
        """
        logs = np.zeros(len(deals))
        if isinstance(self.model, RankingAgent):
            ranking, history = self.model.ranking, turn.history
            _weigh(turn.rules.row, deals, turn.player, history, ranking, self.temperature, self.noise, logs)
            return logs
        table = Table(turn.rules, len(deals), history=self.model.needs_history)
        table.buffers.states[:] = deals
        table.refresh()
        for action in turn.history:
            counts = table.masks.sum(axis=1, dtype=np.int64)
            rows = np.flatnonzero(counts > 1)
            if table.players[0] != turn.player and len(rows):
                turns = turns_of(table, rows, np.zeros(len(rows), np.uint64))
                chosen = self.model.probabilities(turns)[:, action]
                logs[rows] += np.log((1 - self.noise) * chosen + self.noise / counts[rows])
            table.step(np.full(len(deals), action))
        return logs

    def _draw(
        self, turn: Turn, generator: NDArray[np.uint64], count: int, start: int
    ) -> tuple[NDArray[Any], NDArray[np.float64], float]:
        """``count`` worlds to be solved, each once, how often each counts, and the logarithm of the pool's likelihood.

        ``start``: how many have been drawn before.
        """
        rules = turn.rules.row
        worlds = np.empty(count * self.pool, STATE_DTYPE)
        deals = np.empty_like(worlds)
        if determinize_with_deals(worlds, deals, rules, turn.state, turn.player, turn.history, generator) == 0:
            logs = self.log_likelihoods(turn, deals)
            likely = np.exp(logs - logs.max())
            counts = _resample(likely, count, fraction(decision_keys(turn.key, _RESAMPLING + start)[0]))
            chosen = np.flatnonzero(counts)
            return worlds[chosen], counts[chosen], float(logs.max() + np.log(likely.mean()))
        if draw_worlds(worlds[:count], rules, turn.state, turn.history, generator) != 0:
            raise ValueError(f"state: no deal fits what player {turn.player} knows; allowed: a position of a game")
        return worlds[:count], np.ones(count), 0.0


def _resample(weights: NDArray[np.float64], count: int, start: float) -> NDArray[np.float64]:
    """How often each row comes when ``count`` are drawn by weight, as evenly as can be: systematic resampling.

    ``start``: uniform in [0, 1).
    """
    marks = np.cumsum(weights) * (count / weights.sum())
    marks[-1] = count
    return np.diff(np.ceil(marks - start), prepend=0.0)
