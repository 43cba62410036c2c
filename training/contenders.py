"""What ``dominoes bench`` measures of this package: each interface under random legal play, as a :class:`Contender`.

All of them play whole games with mask and full observation at every step, finished games being dealt anew. Where an
interface is asked step by step, the sampler is the same cheap one for all: a uniform choice among the ones of the mask.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv

from dominoes_env.engine.deal import key_bits
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules
from dominoes_env.table import Table, random_keys

__all__ = [
    "Contender",
    "aec",
    "engine",
    "engine_step",
    "leanest_aec",
    "measure",
    "on_one_core",
    "parallel",
    "play_aec",
    "sb3_vec_env",
    "vector_env",
]

#: Plays for about so many seconds; returns the steps made and the seconds that they took.
Play = Callable[[float], tuple[int, float]]

#: Steps between two looks at the clock where one step takes microseconds.
_CHUNK = 64
#: A call of the engine's own loop lasts at least so long, so that what a call from Python costs does not show.
_CALL_SECONDS = 0.004


@dataclass
class Contender:
    """Something that plays, and how fast it was."""

    name: str
    variant: str
    num_players: int
    num_envs: int
    threads: int
    play: Play
    #: Steps a second of all threads together, the best of all slices; 0.0 before :func:`measure`.
    steps_per_second: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "name": self.name,
            "variant": self.variant,
            "num_players": self.num_players,
            "num_envs": self.num_envs,
            "threads": self.threads,
            "steps_per_second": round(self.steps_per_second, 1),
        }


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keep this thread, and those that it starts meanwhile, on one core, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def measure(
    contenders: list[Contender], seconds: float, rounds: int, report: Callable[[str], None] = lambda text: None
) -> None:
    """Time all contenders in turn, ``rounds`` times over; each gets ``seconds`` in all after a warm-up.

    Other programs only ever slow a slice down, so the best one is kept; taking turns gives all the same weather. What
    runs on one thread is kept on one core.
    """
    for turn in range(rounds + 1):
        for contender in contenders:
            report(f"{contender.name}, {contender.num_envs:,} games" + (f", slice {turn}" if turn else ", warming up"))
            if contender.threads == 1:
                with on_one_core():
                    steps, took = contender.play(seconds / rounds)
            else:
                steps, took = contender.play(seconds / rounds)
            if turn:
                contender.steps_per_second = max(contender.steps_per_second, steps / took)


@jit
def sample_masks(masks, keys, actions):  # type: ignore[no-untyped-def]
    """A uniformly chosen 1 of each row of ``masks`` (rows, actions); ``keys`` as in ``Table.sample``."""
    for row in range(len(masks)):
        count = np.uint64(0)
        for action in range(masks.shape[1]):
            count += np.uint64(masks[row, action] != 0)
        left = np.int64((key_bits(keys, row) >> np.uint64(32)) * count >> np.uint64(32))
        for action in range(masks.shape[1]):
            if masks[row, action] != 0:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1


def _table(rules: Rules, num_envs: int, threads: int) -> Table:
    return Table(rules, num_envs, seed=1, num_threads=threads)


def engine(variant: str, rules: Rules, num_envs: int, threads: int, *, name: str = "engine") -> Contender:
    """The engine's own loop: ``Table.play``, many steps a call."""
    table = _table(rules, num_envs, threads)
    keys = random_keys(2, num_envs)
    num_steps = 1

    def play(seconds: float) -> tuple[int, float]:
        nonlocal num_steps
        steps = 0
        began = now = time.perf_counter()
        while True:
            called = now
            table.play(keys, num_steps)
            steps += num_steps * num_envs
            now = time.perf_counter()
            if now - began >= seconds:
                return steps, now - began
            if now - called < _CALL_SECONDS:
                num_steps *= 2

    return Contender(name, variant, rules.num_players, num_envs, threads, play)


def _stepped(step: Callable[[Any], Any], sample: Callable[[], Any], count: Callable[[], int]) -> Play:
    """One call of ``step`` a step; ``sample``, which makes its actions, and ``count`` of the moves are not timed."""

    def play(seconds: float) -> tuple[int, float]:
        steps, took = 0, 0.0
        while took < seconds:
            actions = sample()
            began = time.perf_counter()
            step(actions)
            took += time.perf_counter() - began
            steps += count()
        return steps, took

    return play


def engine_step(variant: str, rules: Rules, num_envs: int, threads: int) -> Contender:
    """``Table.step``: one call a step, actions checked."""
    table = _table(rules, num_envs, threads)
    keys = random_keys(2, num_envs)
    play = _stepped(lambda actions: table.step(actions, autoreset=True), lambda: table.sample(keys), lambda: num_envs)
    return Contender("engine_step", variant, rules.num_players, num_envs, threads, play)


def vector_env(variant: str, rules: Rules, num_envs: int, threads: int) -> Contender:
    """The Gymnasium vector environment: all seats, buffers written in place. Rows only reset make no step."""
    from dominoes_env.envs.vector import vector_env as make

    env = make(num_envs, rules=rules, seat="all", skip_forced=False, copy=False, num_threads=threads)
    _, info = env.reset(seed=1)
    keys, actions = random_keys(2, num_envs), np.zeros(num_envs, np.int64)

    def step(chosen: NDArray[np.int64]) -> None:
        nonlocal info
        _, _, _, _, info = env.step(chosen)

    def sample() -> NDArray[np.int64]:
        sample_masks(info["action_mask"], keys, actions)
        return actions

    def count() -> int:
        return int(np.count_nonzero(info["acted"] >= 0))

    return Contender("vector_env", variant, rules.num_players, num_envs, threads, _stepped(step, sample, count))


def sb3_vec_env(variant: str, rules: Rules, num_envs: int) -> Contender:
    """The VecEnv of Stable-Baselines3; ModuleNotFoundError without it."""
    from dominoes_env.envs.sb3 import SelfPlayVecEnv

    env = SelfPlayVecEnv(rules, num_envs, seed=1, skip_forced=False)
    env.reset()
    keys, actions = random_keys(2, num_envs), np.zeros(num_envs, np.int64)

    def sample() -> NDArray[np.int64]:
        sample_masks(env.action_masks(), keys, actions)
        return actions

    return Contender(
        "sb3_vec_env", variant, rules.num_players, num_envs, 1, _stepped(env.step, sample, lambda: num_envs)
    )


def _chooser() -> Callable[[NDArray[np.int8]], int]:
    """A uniform choice among the ones of a mask, for interfaces of one game."""
    draw = random.Random(3).random

    def choose(mask: NDArray[np.int8]) -> int:
        legal = mask.nonzero()[0]
        return int(legal[int(draw() * len(legal))])

    return choose


def play_aec(env: Any) -> Play:
    """The usual loop over an AEC environment with masks in its observations; dead steps are not counted."""
    choose = _chooser()
    env.reset(seed=1)

    def play(seconds: float) -> tuple[int, float]:
        steps = 0
        began = time.perf_counter()
        while True:
            for _ in range(_CHUNK):
                observation, _, is_terminated, is_truncated, _ = env.last()
                if is_terminated or is_truncated:
                    env.step(None)
                    if not env.agents:
                        env.reset()
                else:
                    env.step(choose(observation["action_mask"]))
                    steps += 1
            took = time.perf_counter() - began
            if took >= seconds:
                return steps, took

    return play


def aec(variant: str, rules: Rules, *, is_raw: bool) -> Contender:
    """``raw_env`` or ``env``."""
    from dominoes_env.envs.aec import env, raw_env

    made = raw_env(rules=rules) if is_raw else env(rules=rules)
    return Contender("aec_raw" if is_raw else "aec", variant, rules.num_players, 1, 1, play_aec(made))


class _LeanestEnv(AECEnv):  # type: ignore[misc]
    """The least that PettingZoo's AEC interface can cost: agents in turn, always the same observation, no end."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.metadata = {"name": "leanest"}
        self.possible_agents = list(model.possible_agents)
        self.observation_spaces, self.action_spaces = model.observation_spaces, model.action_spaces
        model.reset(seed=1)
        self._seen = model.observe(model.agent_selection)
        agents = self.possible_agents
        self._next = dict(zip(agents, agents[1:] + agents[:1], strict=True))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        return self._seen

    def step(self, action: int | None) -> None:
        self.agent_selection = self._next[self.agent_selection]


def leanest_aec(rules: Rules) -> Contender:
    """The yardstick for ``aec_raw``: the same spaces and loop without a game."""
    from dominoes_env.envs.aec import raw_env

    return Contender("aec_leanest", "none", rules.num_players, 1, 1, play_aec(_LeanestEnv(raw_env(rules=rules))))


def parallel(variant: str, rules: Rules) -> Contender:
    """``parallel_env``; every agent sends an action, of which one counts."""
    from dominoes_env.envs.parallel import parallel_env

    env = parallel_env(rules=rules)
    choose = _chooser()
    observations, _ = env.reset(seed=1)

    def play(seconds: float) -> tuple[int, float]:
        nonlocal observations
        steps = 0
        began = time.perf_counter()
        while True:
            for _ in range(_CHUNK):
                actions = {agent: choose(seen["action_mask"]) for agent, seen in observations.items()}
                observations, _, _, _, _ = env.step(actions)
                if not env.agents:
                    observations, _ = env.reset()
            steps += _CHUNK
            took = time.perf_counter() - began
            if took >= seconds:
                return steps, took

    return Contender("parallel", variant, rules.num_players, 1, 1, play)
