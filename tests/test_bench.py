"""``dominoes bench``: every figure is there, a missing peer is named, wrong input costs one line."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
import pytest

from dominoes_env.engine.variants import make_rules
from dominoes_env.table import random_keys
from training.bench import BenchConfig, bench
from training.bench_tables import bench_tables
from training.cli import main
from training.contenders import Contender, aec, measure, sample_masks

OWN_NAMES = {"engine", "engine_step", "vector_env", "aec_raw", "aec", "aec_leanest", "parallel"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first run's note that the engine is being compiled is no part of what is tested here."""
    monkeypatch.setenv("DOMINOES_QUIET", "1")


def test_quick_run_prints_and_writes_everything(capsys, tmp_path):
    file = tmp_path / "bench.json"
    words = ["bench", "--quick", "--variant", "block", "--num-envs", "64", "--seconds", "0.02"]
    assert main([*words, "--against", "openspiel", "--json", str(file)]) == 0
    text = capsys.readouterr().out
    assert "block, 2 players" in text and "ratios" in text and "bytes a game" in text
    content = json.loads(file.read_text())
    results = content["results"]
    assert {row["name"] for row in results} >= OWN_NAMES
    for row in results:
        assert list(row) == ["name", "variant", "num_players", "num_envs", "threads", "steps_per_second"]
        assert row["steps_per_second"] > 0
    assert results[0] | {"steps_per_second": 0} == {
        "name": "engine",
        "variant": "block",
        "num_players": 2,
        "num_envs": 64,
        "threads": 1,
        "steps_per_second": 0,
    }
    assert {row["num_players"] for row in results if row["name"] == "engine"} == {2, 3, 4}
    assert set(content["machine"]) >= {"cpu", "cores", "python", "numpy", "numba"}
    assert content["seconds"] == 0.02
    assert content["compile"]["cold"] is None and content["compile"]["warm"]["first_step"] > 0
    assert content["bytes_a_game"]["all"] > content["bytes_a_game"]["state"] > 0
    assert 0 < content["ratios"]["aec_raw / aec_leanest"] < 2
    if "openspiel" in content["not_installed"]:
        assert "openspiel: not installed (pip install open-spiel)" in text
    else:
        assert content["ratios"]["engine / openspiel:python_block_dominoes"] > 1
    if "training" not in content["not_installed"]:
        assert 0 < content["training"]["share"] < 1


def test_what_is_not_installed_is_named(monkeypatch):
    absent = ("pyspiel", "pgx", "pettingzoo.classic", "stable_baselines3", "sb3_contrib")
    loaded = [name for name in sys.modules if name.startswith(absent)]
    for module in {*absent, *loaded}:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("dominoes_env.envs.sb3", "training.environment_share"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    config = BenchConfig(
        variant="block",
        rules=make_rules("block"),
        num_envs=8,
        threads=min(2, len(os.sched_getaffinity(0))),
        against=("openspiel", "pettingzoo", "pgx"),
        seconds=0.005,
        quick=True,
    )
    result = bench(config)
    assert set(result.missing) == {"openspiel", "pettingzoo", "pgx", "sb3_vec_env", "training"}
    text = bench_tables(result)
    assert "openspiel: not installed (pip install open-spiel)" in text
    assert "pgx: not installed (pip install pgx)" in text
    assert "dominoes_env[train]" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "chess"], "against='chess' is not allowed; allowed: openspiel, pettingzoo, pgx"),
        (["--num-envs", "0"], "num_envs=0 is not allowed"),
        (["--threads", "0"], "threads=0 is not allowed"),
        (["--seconds", "0"], "seconds=0.0 is not allowed"),
        (["--seconds", "nan"], "seconds=nan is not allowed"),
        (["--variant", "nosuch"], "nosuch"),
        (["--rule", "target"], "--rule 'target' is not allowed"),
        (["--quick", "--json", "no/such/place.json"], "does not exist"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(capsys, words, said):
    assert main(["bench", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1 and not told.out


def test_sampled_masks_are_legal_and_uniform():
    masks = np.zeros((3000, 6), np.int8)
    masks[:, [1, 4, 5]] = 1
    keys, actions = random_keys(1, 3000), np.zeros(3000, np.int64)
    sample_masks(masks, keys, actions)
    counts = np.bincount(actions, minlength=6)
    assert counts[[0, 2, 3]].sum() == 0 and counts[[1, 4, 5]].min() > 850


def test_the_best_slice_is_kept():
    rates = iter([9.0, 2.0, 5.0, 3.0])  # the first one is the warm-up
    asked: list[float] = []

    def play(seconds: float) -> tuple[int, float]:
        asked.append(seconds)
        return int(next(rates) * 100), 100.0

    contender = Contender("any", "any", 2, 1, 2, play)
    measure([contender], 3.0, 3)
    assert contender.steps_per_second == 5.0 and asked == [1.0] * 4


def test_steps_of_an_aec_env_are_actions_and_nothing_else(monkeypatch):
    from dominoes_env.envs.aec import raw_env

    taken: list[Any] = []
    step = raw_env.step

    def counted(env: Any, action: int | None) -> None:
        taken.append(action)
        step(env, action)

    monkeypatch.setattr(raw_env, "step", counted)
    steps, took = aec("block", make_rules("block"), is_raw=True).play(0.05)
    assert steps == sum(action is not None for action in taken) < len(taken)
    assert took >= 0.05
