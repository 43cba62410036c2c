"""The hot functions under pytest-benchmark: ``pytest tests/benchmarks``; no part of the normal run.

Each case is one call; ``extra_info`` holds the steps or states that a call makes, to divide by.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from agents.base import Turns
from agents.learned import LearnedAgent
from agents.policy_file import ACTIVATIONS, Policy
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.envs.aec import raw_env
from dominoes_env.observation import observation_size
from dominoes_env.table import Table, random_keys

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark (extra dev) is not installed")

ROWS = 1024
GAMES = {
    "block": make_rules("block"),
    "draw": make_rules("draw"),
    "all_fives": make_rules("all_fives"),
    "partners": make_rules("partners"),
}


@pytest.fixture(params=GAMES)
def rules(request: pytest.FixtureRequest) -> Rules:
    return GAMES[request.param]


def advanced_table(rules: Rules, rows: int = ROWS) -> tuple[Table, Any]:
    """A table in the middle of its games, and keys."""
    table, keys = Table(rules, rows, seed=1), random_keys(2, rows)
    table.play(keys, 100)
    return table, keys


@pytest.mark.parametrize("rows", [1, 64, ROWS])
def test_play(benchmark: Any, rules: Rules, rows: int) -> None:
    table, keys = advanced_table(rules, rows)
    num_steps = 64 * ROWS // rows
    benchmark.extra_info["steps"] = num_steps * rows
    benchmark(table.play, keys, num_steps)


@pytest.mark.parametrize("rows", [1, ROWS])
def test_step(benchmark: Any, rules: Rules, rows: int) -> None:
    table, keys = advanced_table(rules, rows)
    benchmark.extra_info["steps"] = rows

    def sampled() -> tuple[tuple[Any], dict[str, bool]]:
        return (table.sample(keys),), {"autoreset": True}

    benchmark.pedantic(table.step, setup=sampled, rounds=2000, warmup_rounds=20)


def test_sample(benchmark: Any, rules: Rules) -> None:
    table, keys = advanced_table(rules)
    benchmark.extra_info["steps"] = ROWS
    benchmark(table.sample, keys)


def test_refresh(benchmark: Any, rules: Rules) -> None:
    table, _ = advanced_table(rules)
    benchmark.extra_info["steps"] = ROWS
    benchmark(table.refresh)


def test_reset(benchmark: Any, rules: Rules) -> None:
    table, _ = advanced_table(rules)
    benchmark.extra_info["games"] = ROWS
    benchmark(table.reset)


def test_observe(benchmark: Any, rules: Rules) -> None:
    table, _ = advanced_table(rules, 1)
    other = (int(table.players[0]) + 1) % rules.num_players
    benchmark(table.observe, 0, other)


def test_raw_env_step(benchmark: Any, rules: Rules) -> None:
    """Steps of ``raw_env`` with ``last()``, the action chosen outside the time."""
    env = raw_env(rules=rules)
    env.reset(seed=1)
    draw = random.Random(3).random

    def choose() -> tuple[tuple[int], dict[str, Any]]:
        if env.terminations[env.agent_selection]:
            env.reset()
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        return (int(legal[int(draw() * len(legal))]),), {}

    def step(action: int) -> Any:
        env.step(action)
        return env.last()

    benchmark.pedantic(step, setup=choose, rounds=5000, warmup_rounds=50)


@pytest.mark.parametrize("moves", [4, 12])
def test_determinize(benchmark: Any, rules: Rules, moves: int) -> None:
    """A hundred worlds of one moment, early and late in a round."""
    table, keys = Table(rules, seed=5), random_keys(2, 1)
    for _ in range(moves):
        actions = table.sample(keys)
        table.step(actions)
        if table.terminated[0]:
            table.reset()
    seat = int(table.players[0])
    concealed, history = table.concealed(0, seat), table.round_history()
    benchmark.extra_info["states"] = 100
    benchmark(determinize, rules, concealed, seat, history, np.random.default_rng(1), num_worlds=100)


@pytest.fixture(params=ACTIVATIONS)
def decisions(request: pytest.FixtureRequest) -> tuple[LearnedAgent, Turns]:
    """A player of the draw game with two hidden layers of 128 units, and as many turns as there are rows."""
    rules, rng = GAMES["draw"], np.random.default_rng(1)
    sizes = (observation_size(rules), 128, 128, rules.num_actions)
    weights = tuple((rng.normal(size=pair) * np.sqrt(2 / pair[0])).astype(np.float32) for pair in pairwise(sizes))
    biases = tuple(np.zeros(width, np.float32) for width in sizes[1:])
    table = Table(rules, ROWS, seed=1, skip_forced=True)
    table.play(random_keys(2, ROWS), 100)
    states = np.concatenate([table.concealed(row, int(seat)) for row, seat in enumerate(table.players)])
    turns = Turns(
        rules, table.players.copy(), states, table.history_actions.copy(), table.history_lengths.copy(),
        table.observations.copy(), table.masks.copy(), random_keys(3, ROWS),
    )  # fmt: skip
    return LearnedAgent(Policy(rules, weights, biases, request.param)), turns


def test_learned_act(benchmark: Any, decisions: tuple[LearnedAgent, Turns]) -> None:
    """One decision of a trained player; 50 µs are allowed, 10 hoped for."""
    agent, turns = decisions
    benchmark.extra_info["decisions"] = 1
    benchmark(agent.act, turns[0])


def test_learned_act_batch(benchmark: Any, decisions: tuple[LearnedAgent, Turns]) -> None:
    """As many decisions as rows; 5 ms are allowed, 1 hoped for."""
    agent, turns = decisions
    benchmark.extra_info["decisions"] = ROWS
    benchmark(agent.act_batch, turns)
