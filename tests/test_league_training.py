"""Runs with a league and a ladder: they are fed, told and kept, and a resumed run is the uninterrupted one."""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from agents.policy_file import load_policy
from dominoes_env.engine.variants import make_rules
from training.checkpoint import load_checkpoint
from training.config import ALGORITHMS, TrainConfig
from training.curve import Curve
from training.ladder import Ladder
from training.league import League
from training.magnetic_ppo import make_magnetic_ppo
from training.partner import Partner
from training.run_directory import create_run, open_run
from training.trainer import Trainer, train

TINY = {"rows": 16, "rollout": 8, "batch": 64, "epochs": 2, "hidden": (16,), "threads": 1, "ladder_deals": 20}
LEAGUE = {"league": 0.5, "league_size": 2, "gate_updates": 1}
FILES = ["best.json", "best.npz", "checkpoint.pt", "config.json", "ladder.csv", "league", "policy.json", "policy.npz"]


def tiny_run(path, variant="draw", **settings):
    return create_run(path, variant, make_rules(variant), TrainConfig(**{**TINY, "steps": 6 * 128, **settings}))


@pytest.fixture
def no_gate(monkeypatch):
    """Every candidate is let in."""
    monkeypatch.setattr(League, "consider", lambda self, policy: self.admit(policy))


def last_policy(run):
    return load_policy(run.path / "policy.json")


def assert_same(one, other, name="policy.json"):
    first, second = load_policy(one.path / name), load_policy(other.path / name)
    assert first.about["decisions"] == second.about["decisions"]
    for mine, theirs in zip(first.weights + first.biases, second.weights + second.biases, strict=True):
        assert (mine == theirs).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("variant", ["draw", "all_fives", "partners", "block"])
def test_a_stopped_and_resumed_run_ends_with_the_same_weights(variant, algorithm, tmp_path, no_gate):
    settings = {"algorithm": algorithm, **LEAGUE}
    whole = tiny_run(tmp_path / "whole", variant, **settings)
    assert train(whole) == 0
    parts = tiny_run(tmp_path / "parts", variant, **settings)

    def interrupt(progress):
        if progress.decisions >= 3 * 128:
            os.kill(os.getpid(), signal.SIGTERM)

    assert train(parts, report=interrupt) == signal.SIGTERM
    assert load_checkpoint(parts.path / "checkpoint.pt")["decisions"] == 3 * 128
    assert train(open_run(parts.path)) == 0
    assert last_policy(parts).about["decisions"] == 6 * 128
    assert_same(whole, parts)
    leagues = [load_checkpoint(run.path / "checkpoint.pt")["league"] for run in (whole, parts)]
    assert leagues[0] == leagues[1] and leagues[0]["next_number"] == 4 + 6
    assert sorted(path.name for path in parts.path.iterdir()) == [*FILES, "tensorboard"]
    assert any((parts.path / "tensorboard").iterdir())
    kept = {member["name"] for member in leagues[0]["members"] if not member["is_thumb"]}
    assert {path.stem for path in (parts.path / "league").iterdir()} == kept


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_a_league_nobody_else_plays(algorithm, tmp_path):
    run = tiny_run(tmp_path / "run", algorithm=algorithm, league=0.0, steps=256)
    assert train(run) == 0
    assert not (run.path / "league").exists() and (run.path / "best.json").is_file()
    assert train(open_run(run.path, changes={"steps": 384})) == 0
    assert last_policy(run).about["decisions"] == 384
    whole, parts = (tiny_run(tmp_path / name, algorithm=algorithm, league=0.0) for name in ("whole", "parts"))

    def interrupt(progress):
        if progress.decisions == 3 * 128:
            os.kill(os.getpid(), signal.SIGTERM)

    assert train(whole) == 0 and train(parts, report=interrupt) == signal.SIGTERM
    assert train(open_run(parts.path)) == 0
    assert_same(whole, parts)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("share", "rows"), [(0.01, 1), (0.25, 4), (1.0, 16)])
def test_the_league_is_told_of_its_rows(algorithm, share, rows, tmp_path):
    trainer = Trainer(tiny_run(tmp_path / "run", algorithm=algorithm, league=share))
    assert trainer.league.num_rows == rows
    for _ in range(4):
        trainer.update()
    assert sum(one.games for one in trainer.league.standings()) > rows


def test_the_partner_plays_as_the_learner_does(tmp_path):
    followed = []
    trainer = Trainer(tiny_run(tmp_path / "run", "partners", **LEAGUE))
    trainer.partner.follow = followed.append
    trainer.update()
    assert (followed[-1].biases[0] == trainer.policy().biases[0]).all()
    trainer = Trainer(tiny_run(tmp_path / "two", "draw", **LEAGUE))
    trainer.partner.follow = followed.append
    trainer.update()
    assert len(followed) == 1


def test_candidates_are_tried_when_their_time_has_come(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tiny_run(tmp_path / "run", league=0.25, gate_updates=2, gate_deals=20)
    train(run)
    assert load_checkpoint(run.path / "checkpoint.pt")["league"]["attempts"] == 3
    log = events.EventAccumulator(str(run.path / "tensorboard")).Reload()
    assert [event.step for event in log.Tensors("league/gate/text_summary")] == [256, 512, 768]
    assert len(log.Scalars("league/win_rate_v_greedy")) == 6


@pytest.mark.parametrize("variant", ["draw", "classic_block", "all_fives", "partners"])
def test_rows_of_the_league_are_seen_and_paid_from_the_learners_seat(variant, tmp_path):
    """In the rows of the league of our own algorithm; what is hidden is laid out for the seat that decides."""
    rules = make_rules(variant)
    config = TrainConfig(**{**TINY, "algorithm": "magnetic_ppo", "league": 1.0, "steps": 1})
    league = League(rules, 16, tmp_path)
    playing = make_magnetic_ppo(rules, config, 1.0, league, Partner(rules))
    rows = playing.games[0]._rows
    assert len(playing.games) == 1
    for _ in range(10):
        playing.update(0.0)
        is_shown = ~rows.records["is_held"]
        assert (rows.table.states["turn"][is_shown] == playing.games[0].players[is_shown]).all()
        assert (playing.games[0].hidden()[is_shown] == rows.table.hidden()[is_shown]).all()
        changes = playing.rollout.acted[1:] != playing.rollout.acted[:-1]
        assert (playing.rollout.dones == changes).all()  # another seat in the next episode, and only then
        np.testing.assert_allclose(playing.rollout.rewards.sum(axis=2), 0, atol=1e-3)


@pytest.mark.parametrize("is_saved", [True, False])
def test_what_a_killed_run_logged_beyond_its_checkpoint_is_void(is_saved, tmp_path):
    """Also where there was no checkpoint yet, and the run starts over."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tiny_run(tmp_path / "run", steps=5 * 128, ladder_minutes=1e3)
    killed = Trainer(run)
    killed.update()
    if is_saved:
        killed.save()
    for _ in range(3):
        killed.update()
    time.sleep(1.1)  # logs are read in the order of their names, which hold seconds
    assert train(open_run(run.path)) == 0
    log = events.EventAccumulator(str(run.path / "tensorboard")).Reload()
    assert [event.step for event in log.Scalars("train/value_loss")] == [128, 256, 384, 512, 640]


def test_a_finished_run_without_its_last_look_takes_it(tmp_path, monkeypatch):
    """Killed in the look, or stopped by the clock when the budget turned out to be spent."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    told = []
    run = tiny_run(tmp_path / "run", steps=2 * 128, ladder_minutes=1e3)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Ladder, "measure", interrupted)
        train(run)
    assert not (run.path / "best.json").exists()
    assert train(open_run(run.path), report=told.append) == 0
    assert [line["decisions"] for line in curve_of(run)] == ["256"]
    assert len(told) == 1 and told[0].look is not None and told[0].look.is_best and told[0].fraction == 1
    assert_same(run, run, "best.json")
    assert train(open_run(run.path), report=told.append) == 0
    assert len(told) == 1 and len(curve_of(run)) == 1

    def stop(progress):
        if progress.decisions == 4 * 128:
            os.kill(os.getpid(), signal.SIGTERM)

    assert train(open_run(run.path, changes={"steps": 1280}), report=stop) == signal.SIGTERM
    assert len(curve_of(run)) == 1
    assert train(open_run(run.path, changes={"steps": 512})) == 0
    assert [line["decisions"] for line in curve_of(run)] == ["256", "512"]


def test_looks_at_the_ladder_are_logged_where_they_were_taken(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    told = []
    run = tiny_run(tmp_path / "run", steps=3 * 128, ladder_minutes=1e-6, ladder=("greedy", "random"))
    train(run, report=told.append)
    log = events.EventAccumulator(str(run.path / "tensorboard")).Reload()
    wins, points = (log.Scalars(f"ladder/{name}_v_greedy") for name in ("win_rate", "points"))
    assert [event.step for event in wins] == [event.step for event in points] == [128, 256, 384]
    means = [progress.look.win_rates["greedy"].mean for progress in told]
    assert [event.value for event in wins] == pytest.approx(means)
    assert all(-60 < event.value < 60 for event in points)
    with open(run.path / "ladder.csv", newline="") as file:
        assert [line["decisions"] for line in csv.DictReader(file)] == ["128", "256", "384"]
    assert load_policy(run.path).about["ladder"]["deals"] == 20


def test_an_unknown_opponent_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(ValueError, match="nobody"):
        Trainer(tiny_run(tmp_path / "run", ladder=("nobody",)))


class Killed(BaseException):
    """What no code catches, as it would not SIGKILL."""


def curve_of(run):
    """The learning curve but for the time that it took."""
    with open(run.path / "ladder.csv", newline="") as file:
        return [{**line, "minutes": None} for line in csv.DictReader(file)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_killed_before_any_of_its_writes_ends_as_the_uninterrupted_one(algorithm, tmp_path, no_gate, monkeypatch):
    """Weights, league, best policy, the whole learning curve: one run for each file that comes to be."""
    settings = {"algorithm": algorithm, "steps": 2 * 128, "checkpoint_minutes": 1e-9, "ladder_minutes": 1e-9}
    settings |= {**LEAGUE, "ladder": ("greedy",), "ladder_deals": 10}
    whole = tiny_run(tmp_path / "whole", **settings)
    assert train(whole) == 0
    expected = curve_of(whole), load_checkpoint(whole.path / "checkpoint.pt")["league"]
    left = math.inf

    def dying(write):
        def dies(*arguments):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return write(*arguments)

        return dies

    monkeypatch.setattr(os, "replace", dying(os.replace))
    monkeypatch.setattr(Curve, "append", dying(Curve.append))
    is_whole, moment = False, 1
    while not is_whole:
        run = tiny_run(tmp_path / str(moment), **settings)
        left, moment = moment, moment + 1
        try:
            assert train(open_run(run.path)) == 0
            is_whole = True
        except Killed:
            left = math.inf
            assert train(open_run(run.path)) == 0
        left = math.inf
        assert (curve_of(run), load_checkpoint(run.path / "checkpoint.pt")["league"]) == expected
        assert_same(whole, run)
        assert_same(whole, run, "best.json")
    assert moment > 15


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_killed_run_goes_on_from_its_checkpoint(algorithm, tmp_path):
    """By SIGKILL at any time: resumed, it ends with the weights of an uninterrupted one."""
    settings = {
        "algorithm": algorithm,
        "steps": 40 * 128,
        "checkpoint_minutes": 1e-6,
        "ladder_minutes": 1e-6,
        "ladder": ("greedy",),
    }
    settings |= {"league": 0.25, "gate_updates": 2, "gate_deals": 100}
    whole, killed = tiny_run(tmp_path / "whole", **settings), tiny_run(tmp_path / "killed", **settings)
    train(whole)
    words = "import sys; from training.run_directory import open_run; from training.trainer import train; "
    process = subprocess.Popen([sys.executable, "-c", words + "train(open_run(sys.argv[1]))", str(killed.path)])
    try:
        deadline = time.monotonic() + 120
        while not (killed.path / "best.json").is_file():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.2)
    finally:
        process.kill()
        process.wait()
    assert train(open_run(killed.path)) == 0
    assert_same(whole, killed)
    assert (whole.path / "ladder.csv").read_text().count("\n") == 41
