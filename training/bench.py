"""``dominoes bench``: how fast the engine and every interface on it are, beside peers, in one run.

Machines are noisy and shared. So whatever is compared is measured in turn, slice by slice, each keeps its best slice,
and the ratios are what to quote.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import STATE_DTYPE
from dominoes_env.table import Table
from training import contenders as ours
from training.contenders import Contender, measure, on_one_core
from training.machine import cpu_model, num_cores
from training.peers import PEERS

__all__ = ["BenchConfig", "BenchResult", "bench"]

_TRAIN_EXTRA = "dominoes_env[train]"
_ROUNDS, _QUICK_ROUNDS = 5, 2
_BATCHES, _QUICK_BATCHES = (1, 16, 256, 1024, 8192, 65_536), (1, 1024)
_SECONDS, _QUICK_SECONDS = 1.0, 0.04
#: Rows at which one thread is compared with two.
_THREADED_ROWS = 8192


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    """What is measured.

    Attributes:
        variant: the name that the results carry.
        rules: what is played.
        rules_by_players: the same for other numbers of players, for the growth table.
        num_envs: games side by side.
        threads: of the engine and the vector environment.
        against: names of :data:`training.peers.PEERS`.
        seconds: a measurement; None: as ``quick`` has it.
        quick: a look of a few seconds: short slices, small tables, no cold compile.

    Raises:
        ValueError: for a value outside what is allowed, naming it and what is allowed.
    """

    variant: str
    rules: Rules
    rules_by_players: Mapping[int, Rules] = field(default_factory=dict)
    num_envs: int = 1024
    threads: int = 1
    against: tuple[str, ...] = ()
    seconds: float | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        cores = num_cores()
        for name, most in (("num_envs", 2**20), ("threads", cores)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ValueError(f"{name}={value!r} is not allowed; allowed: an integer from 1 to {most}")
        for peer in self.against:
            if peer not in PEERS:
                raise ValueError(f"against={peer!r} is not allowed; allowed: {', '.join(PEERS)}, separated by commas")
        seconds = self.seconds
        if seconds is not None and not (math.isfinite(seconds) and 0 < seconds <= 600):
            raise ValueError(f"seconds={seconds!r} is not allowed; allowed: a number above 0, at most 600")

    @property
    def seconds_each(self) -> float:
        """Seconds a measurement."""
        return self.seconds or (_QUICK_SECONDS if self.quick else _SECONDS)

    @property
    def rounds(self) -> int:
        """Slices a measurement."""
        return _QUICK_ROUNDS if self.quick else _ROUNDS


@dataclass
class BenchResult:
    """What was measured; see ``training.bench_tables`` for people and :meth:`to_dict` for programs."""

    config: BenchConfig
    contenders: list[Contender]
    growth: list[Contender]
    ratios: dict[str, float]
    compile: dict[str, dict[str, float] | None]
    bytes_a_game: dict[str, int]
    training: dict[str, Any] | None
    missing: dict[str, str]
    took: float
    machine: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values; ``results`` are steps a second of all threads together."""
        config = self.config
        return {
            "machine": self.machine,
            "variant": config.variant,
            "num_players": config.rules.num_players,
            "rules": config.rules.to_dict(),
            "seconds": config.seconds_each,
            "slices": config.rounds,
            "took_seconds": round(self.took, 1),
            "quick": config.quick,
            "results": [contender.to_dict() for contender in [*self.contenders, *self.growth]],
            "ratios": {name: round(ratio, 4) for name, ratio in self.ratios.items()},
            "compile": self.compile,
            "bytes_a_game": self.bytes_a_game,
            "training": self.training,
            "not_installed": self.missing,
        }


def bench(config: BenchConfig, report: Callable[[str], None] = lambda text: None) -> BenchResult:
    """Measure everything; ``report`` is told what is being done."""
    began = time.perf_counter()
    machine = _machine()  # before the load of this run
    missing: dict[str, str] = {}
    report("setting up")
    group = _contenders(config, missing)
    measure(group, config.seconds_each, config.rounds, report)
    ratios = _ratios(config, group)
    training = _training(config, report, missing)
    growth = _growth_contenders(config)
    measure(growth, config.seconds_each, config.rounds, report)
    ratios |= _growth_ratios(config, growth)
    compiling: dict[str, dict[str, float] | None] = {"cold": None, "warm": None}
    report("compile time")
    if not config.quick:
        with tempfile.TemporaryDirectory() as folder:
            compiling = {name: _compile_seconds(config.rules, folder) for name in compiling}
    else:
        compiling["warm"] = _compile_seconds(config.rules, None)
    return BenchResult(
        config=config,
        contenders=group,
        growth=growth,
        ratios=ratios,
        compile=compiling,
        bytes_a_game=_bytes_a_game(config.rules),
        training=training,
        missing=missing,
        took=time.perf_counter() - began,
        machine=machine,
    )


# The interfaces and the peers


def _contenders(config: BenchConfig, missing: dict[str, str]) -> list[Contender]:
    variant, rules, num_envs, threads = config.variant, config.rules, config.num_envs, config.threads
    group = [
        ours.engine(variant, rules, num_envs, threads),
        ours.engine_step(variant, rules, num_envs, threads),
        ours.vector_env(variant, rules, num_envs, threads),
    ]
    try:
        group.append(ours.sb3_vec_env(variant, rules, num_envs))
    except ModuleNotFoundError:
        missing["sb3_vec_env"] = _TRAIN_EXTRA
    group += [
        ours.aec(variant, rules, is_raw=True),
        ours.leanest_aec(rules),
        ours.aec(variant, rules, is_raw=False),
        ours.parallel(variant, rules),
    ]
    for name in dict.fromkeys(config.against):
        peer = PEERS[name]
        try:
            group += peer.contenders()
        except ModuleNotFoundError:
            missing[name] = peer.pip
            continue
        if peer.rival == "engine":  # one thread each, and as many games where the peer is a batch too
            rival_envs = peer.rival_envs or num_envs
            if not any(_is_engine(contender, rival_envs, 1) for contender in group):
                group.append(ours.engine(variant, rules, rival_envs, 1))
    return group


def _is_engine(contender: Contender, num_envs: int, threads: int) -> bool:
    return contender.name == "engine" and contender.num_envs == num_envs and contender.threads == threads


def _ratios(config: BenchConfig, group: list[Contender]) -> dict[str, float]:
    """Ours divided by what it is compared with."""
    rates = {contender.name: contender.steps_per_second for contender in reversed(group)}
    pairs = [
        ("engine_step", "engine"),
        ("vector_env", "engine"),
        ("sb3_vec_env", "engine"),
        ("aec_raw", "aec_leanest"),
        ("aec", "aec_raw"),
    ]
    ratios = {f"{one} / {other}": rates[one] / rates[other] for one, other in pairs if one in rates and other in rates}
    for name in dict.fromkeys(config.against):
        peer = PEERS[name]
        if peer.rival == "engine":
            rival_envs = peer.rival_envs or config.num_envs
            rival = next((one for one in group if _is_engine(one, rival_envs, 1)), None)
        else:
            rival = next(one for one in group if one.name == peer.rival)
        for game in peer.games:
            if rival is not None and f"{name}:{game}" in rates:
                ratios[f"{rival.name} / {name}:{game}"] = rival.steps_per_second / rates[f"{name}:{game}"]
    return ratios


# Growth


def _growth_contenders(config: BenchConfig) -> list[Contender]:
    """The engine alone over batch sizes: each number of players on one thread, the own number on two as well."""
    batches = _QUICK_BATCHES if config.quick else _BATCHES
    by_players = {**config.rules_by_players, config.rules.num_players: config.rules}
    columns = [(rules, 1) for _, rules in sorted(by_players.items())]
    if num_cores() > 1:
        columns.append((config.rules, 2))
    return [ours.engine(config.variant, rules, batch, threads) for batch in batches for rules, threads in columns]


def _growth_ratios(config: BenchConfig, growth: list[Contender]) -> dict[str, float]:
    rates = {
        (one.num_envs, one.threads): one.steps_per_second
        for one in growth
        if one.num_players == config.rules.num_players
    }
    ratios = {}
    most, rows = max(_BATCHES), 1024
    if (most, 1) in rates:
        ratios[f"engine, {most:,} games / {rows:,}"] = rates[most, 1] / rates[rows, 1]
    rows = _THREADED_ROWS if (_THREADED_ROWS, 2) in rates else rows
    if (rows, 2) in rates:
        ratios[f"engine, {rows:,} games, 2 threads / 1"] = rates[rows, 2] / rates[rows, 1]
    return ratios


# Training, compiling, memory, machine


def _training(config: BenchConfig, report: Callable[[str], None], missing: dict[str, str]) -> dict[str, Any] | None:
    report("share of the environment in training")
    try:
        from training.environment_share import environment_share
    except ModuleNotFoundError:
        missing["training"] = _TRAIN_EXTRA
        return None
    with on_one_core():
        if config.quick:
            return environment_share(config.rules, rollout=8, updates=1)
        return environment_share(config.rules)


_FIRST_USE = """
import json, sys, time
began = time.perf_counter()
from dominoes_env.engine.rules import Rules
from dominoes_env.table import Table, random_keys
imported = time.perf_counter()
table = Table(Rules.from_dict(json.loads(sys.argv[1])), 8)
keys = random_keys(1, 8)
table.step(table.sample(keys), autoreset=True)
stepped = time.perf_counter()
table.play(keys, 8)
played = time.perf_counter()
print(json.dumps({"import": imported - began, "first_step": stepped - began, "first_play": played - began}))
"""


def _compile_seconds(rules: Rules, cache: str | None) -> dict[str, float]:
    """Seconds from the start of a fresh process to the import, the first step and the first ``play``."""
    environment = {**os.environ, "DOMINOES_QUIET": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    root = str(Path(ours.__file__).resolve().parents[1])  # the engine that runs here, whatever else is installed
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    words = [sys.executable, "-c", _FIRST_USE, json.dumps(rules.to_dict())]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"a fresh process to time compiling in failed: {done.stderr.strip()[-500:]}")
    seconds: dict[str, float] = json.loads(done.stdout)
    return {name: round(value, 3) for name, value in seconds.items()}


def _bytes_a_game(rules: Rules) -> dict[str, int]:
    """Of a table of 64: the record of a game, what its buffers take, and all together."""
    table = Table(rules, 64)
    total = sum(array.nbytes for array in table.arrays().values() if len(array) == table.num_games) // table.num_games
    return {
        "state": STATE_DTYPE.itemsize,
        "mask": table.masks.strides[0],
        "observation": table.observations.strides[0],
        "history": table.history_actions.strides[0],
        "all": total,
    }


def _machine() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": num_cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": metadata.version("numba"),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }
