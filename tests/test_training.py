"""Intervals, per-seat advantages, self-play that every seat learns from, runs that are stopped, resumed or damaged."""

from __future__ import annotations

import json
import math
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from gymnasium.spaces import Box, Discrete
from sb3_contrib import MaskablePPO
from seat_games import SeatRows, chain_advantages
from stable_baselines3.common.vec_env import VecEnv

from agents import make_agent
from agents.learned import action_logits
from agents.policy_file import load_policy
from dominoes_env.engine.variants import make_rules
from training.advantages import seat_advantages
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import ALGORITHMS, TrainConfig
from training.demo import results_table, yardsticks
from training.evaluate import evaluate, write_json
from training.intervals import mean_interval, student_quantile
from training.rollout import SeatRolloutBuffer
from training.run_directory import create_run, open_run, read_run
from training.threads import Threads
from training.trainer import Trainer, measure_reward_scale, train

# Intervals


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (100, 1.9840), (10_000, 1.9602)],
)
def test_quantiles_of_student_are_those_of_the_tables(degrees, quantile):
    assert student_quantile(0.975, degrees) == pytest.approx(quantile, rel=4e-3 if degrees < 15 else 1e-4)


@pytest.mark.parametrize("size", [5, 40])
def test_intervals_cover_the_mean_as_often_as_they_say(size):
    samples = np.random.default_rng(1).normal(3, 2, (4000, size))
    covered = [interval.low <= 3 <= interval.high for interval in map(mean_interval, samples)]
    assert 0.938 < np.mean(covered) < 0.962


def test_an_interval_is_cut_off_at_its_bounds_and_its_reach_is_not():
    groups = np.array([1.0, 1.0, 0.5])
    free, cut = mean_interval(groups), mean_interval(groups, bounds=(0, 1))
    assert free.high > 1 == cut.high and 0 < cut.low < cut.mean == free.mean
    assert cut.half_width == cut.mean - cut.low


def test_an_interval_of_one_group_has_no_bounds():
    interval = mean_interval(np.array([2.0]))
    assert (interval.mean, interval.low, interval.high) == (2.0, -math.inf, math.inf)
    assert interval.to_dict() == {"mean": 2.0, "low": None, "high": None}
    assert mean_interval(np.array([0.75]), bounds=(0, 1)).to_dict() == {"mean": 0.75, "low": 0, "high": 1}
    with pytest.raises(ValueError, match="groups is empty"):
        mean_interval(np.array([]))


# Advantages


@pytest.mark.parametrize("seats", [1, 2, 3, 4])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 1.0), (0.97, 0.0)])
def test_advantages_follow_each_seats_own_decisions(seats, gamma, gae_lambda):
    generator = np.random.default_rng(seats)
    steps, rows = 23, 40
    values = generator.normal(size=(steps, rows)).astype(np.float32)
    acted = generator.integers(0, seats, (steps, rows)).astype(np.int8)
    rewards = generator.normal(size=(steps, rows, seats)).astype(np.float32)
    dones = generator.random((steps, rows)) < 0.15
    last_values = generator.normal(size=rows).astype(np.float32)
    last_players = generator.integers(0, seats, rows).astype(np.int8)
    advantages, known = seat_advantages(values, acted, rewards, dones, last_values, last_players, gamma, gae_lambda)
    for row in range(rows):
        expected, is_known = chain_advantages(
            values[:, row], acted[:, row], rewards[:, row], dones[:, row],
            float(last_values[row]), int(last_players[row]), gamma, gae_lambda,
        )  # fmt: skip
        assert (known[:, row] == is_known).all()
        np.testing.assert_allclose(advantages[:, row], expected, atol=2e-5)
    assert (~known).sum() <= rows * (seats - 1)


class SeatGame(VecEnv):
    """:class:`SeatRows` for the stock learner."""

    def __init__(self, seats: int, rows: int) -> None:
        self.games = SeatRows(seats, rows)
        self.num_players = seats
        self.acted = self.games.players
        self.render_mode = None
        super().__init__(rows, Box(0, 1, (seats,), np.int8), Discrete(seats))

    @property
    def players(self):
        return self.games.players

    def reset(self):
        self.games.moves[:] = 0
        return self.games.observations

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        games, rows = self.games, np.arange(self.num_envs)
        self.acted = games.players
        games.step(self.actions, autoreset=True)
        self.seat_rewards, self.dones = games.rewards.copy(), games.terminated.copy()
        return games.observations, self.seat_rewards[rows, self.acted], self.dones, [{}] * self.num_envs

    def env_method(self, name, *args, **kwargs):
        return [self.games.masks]

    def get_attr(self, name, indices=None):
        if name == "action_masks":
            return [None]
        return [getattr(self, name)]

    def close(self):
        pass

    def set_attr(self, *args):
        raise NotImplementedError

    def env_is_wrapped(self, *args, **kwargs):
        return [False]


@pytest.mark.parametrize("seats", [2, 4])
def test_every_seat_learns_what_only_its_seat_tells(seats):
    torch.set_num_threads(1)
    env = SeatGame(seats, 16)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=4, learning_rate=3e-3, gamma=1.0, seed=1, device="cpu",
        rollout_buffer_class=SeatRolloutBuffer, rollout_buffer_kwargs={"env": env}, policy_kwargs={"net_arch": [16]},
    )  # fmt: skip
    model.learn(16 * 16 * 30)
    seen = torch.eye(seats)
    probabilities = model.policy.get_distribution(seen).distribution.probs.detach().numpy()
    assert np.diag(probabilities).min() > 0.9


# Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"minutes": 0}, {"minutes": math.inf}, {"minutes": 10**400}, {"steps": -1}, {"rows": 0}, {"rows": 2.0},
        {"rows": 2**31}, {"rollout": 4}, {"learning_rate": 2}, {"gamma": 0}, {"gae_lambda": 1.1}, {"entropy": -1},
        {"hidden": ()}, {"hidden": (0,)}, {"hidden": 5}, {"hidden": "8"}, {"clip": True}, {"reward": "fun"},
        {"algorithm": "dqn"}, {"magnet": -1}, {"magnet_speed": 1.5}, {"seed": 2**31}, {"batch": 10**6},
        {"threads": True}, {"ladder": ("greedy", "greedy")}, {"ladder": ()}, {"ladder": ("",)},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name}=.*is not allowed; allowed: ") as refusal:
        TrainConfig(**wrong)
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize(
    ("algorithm", "unread", "reader"),
    [
        ("maskable_ppo", {"magnet": 0.3}, "magnetic_ppo"),
        ("maskable_ppo", {"magnet_speed": 0.2}, "magnetic_ppo"),
        ("magnetic_ppo", {"value_weight": 0.1}, "maskable_ppo"),
    ],
)
def test_settings_that_the_algorithm_does_not_read_are_refused(algorithm, unread, reader):
    ((name, value),) = unread.items()
    message = f"{name}={value} is not allowed with algorithm='{algorithm}', .* or algorithm='{reader}'"
    with pytest.raises(ValueError, match=message):
        TrainConfig(algorithm=algorithm, **unread)
    assert getattr(TrainConfig(algorithm=reader, **unread), name) == value


@pytest.mark.parametrize(
    "unread",
    [
        {"league_size": 3}, {"league_thumbs": 0.5}, {"league_hardness": 1.0}, {"gate_updates": 5}, {"gate_elo": 20.0},
        {"gate_deals": 100},
    ],
)  # fmt: skip
def test_settings_of_the_league_are_refused_without_one(unread):
    ((name, value),) = unread.items()
    with pytest.raises(ValueError, match=f"{name}={value} is not allowed with league=0, which does not read it"):
        TrainConfig(league=0.0, **unread)
    assert getattr(TrainConfig(league=0.5, **unread), name) == value


def test_a_default_may_depend_on_the_algorithm():
    own, stock = (TrainConfig(algorithm=algorithm) for algorithm in ALGORITHMS)
    assert (own.gae_lambda, stock.gae_lambda) == (0.5, 0.95)
    assert TrainConfig(algorithm="maskable_ppo", epochs=2).epochs == 2
    assert TrainConfig.from_dict({"epochs": 3}) == TrainConfig(epochs=3)
    assert TrainConfig() == own


def test_settings_survive_json():
    config = TrainConfig(hidden=(8, 4), minutes=2)
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    with pytest.raises(ValueError, match="unknown setting 'colour'"):
        TrainConfig.from_dict({"colour": 1})


def test_threads_are_given_up_when_steps_become_slow():
    before = torch.get_num_threads()
    for fixed, expected in ((0, 1), (2, 2)):
        threads = Threads(fixed)
        torch.set_num_threads(2)
        threads.begin_steps()
        for pause in (0.002, 0.002, 0.1):
            assert torch.get_num_threads() == 2
            time.sleep(pause)
            threads.after_step()
        assert torch.get_num_threads() == expected
        threads.reconsider()
        assert torch.get_num_threads() >= 1
    torch.set_num_threads(before)


# Runs

TINY = {"rows": 16, "rollout": 8, "batch": 64, "epochs": 2, "hidden": (16,), "threads": 1, "ladder_deals": 20}


def tiny_run(path: Path, variant: str = "draw", **settings):
    return create_run(path, variant, make_rules(variant), TrainConfig(**{**TINY, "steps": 6 * 128, **settings}))


def test_the_exported_policy_is_the_trained_one(tmp_path):
    run = tiny_run(tmp_path / "run", "all_fives", algorithm="maskable_ppo")
    trainer = Trainer(run)
    trainer.update()
    trainer.save()
    observations = trainer.learner.env.observations()
    with torch.no_grad():
        policy = trainer.learner.model.policy
        theirs = policy.action_net(
            policy.mlp_extractor.forward_actor(policy.extract_features(torch.from_numpy(observations)))
        ).numpy()
    np.testing.assert_allclose(action_logits(load_policy(run.path), observations), theirs, atol=1e-5)


def test_an_existing_run_is_not_overwritten(tmp_path):
    tiny_run(tmp_path / "run")
    with pytest.raises(FileExistsError, match="--resume"):
        tiny_run(tmp_path / "run")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="file"):
        tiny_run(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    tiny_run(tmp_path / "empty")


def test_a_resumed_run_keeps_its_game_and_settings(tmp_path):
    run = tiny_run(tmp_path / "run")
    assert open_run(run.path, rules=run.rules, changes={"rows": 16, "hidden": (16,)}) == run
    longer = open_run(run.path, changes={"steps": 896}, origin={"command": "again"})
    assert longer.config.steps == 896 and read_run(run.path).config.steps == 768  # until it has gone on
    train(longer)
    assert read_run(run.path).config.steps == 896
    assert [resumed["command"] for resumed in read_run(run.path).origin["resumed"]] == ["again"]
    with pytest.raises(ValueError, match=r"rows=32 is not allowed with --resume; allowed: 16"):
        open_run(run.path, changes={"rows": 32})
    with pytest.raises(ValueError, match="other rules: target=100, not 50"):
        open_run(run.path, rules=make_rules("draw", target=50))
    with pytest.raises(FileNotFoundError, match="holds no run"):
        open_run(tmp_path / "nowhere")


def test_a_damaged_run_is_refused_and_the_file_named(tmp_path):
    run = tiny_run(tmp_path / "run", steps=128)
    train(run)
    checkpoint, config = run.path / "checkpoint.pt", run.path / "config.json"
    whole = checkpoint.read_bytes()
    middle = len(whole) // 2
    for damaged in (
        whole[:-100],
        b"",
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        b"PK" + whole,
    ):
        checkpoint.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint\.pt"):
            train(run)
    text = config.read_text()
    content = load_checkpoint_of(whole, tmp_path)
    made_for = content["made_for"]
    for wrong, said in (
        ({"learner": {}}, ""),
        ({"learner": None}, ""),
        ({"league": []}, ""),
        ({"made_for": {**made_for, "rules_version": 77}}, "for rules_version 77, this version has rules_version "),
        ({"made_for": {**made_for, "observation_version": 77}}, "for observation_version 77, this version has "),
    ):
        save_checkpoint(checkpoint, {**content, **wrong})
        with pytest.raises(ValueError, match=rf"checkpoint\.pt does not fit this run: .*{said}"):
            train(open_run(run.path, changes={"steps": 1280}, origin={"command": "again"}))
        assert config.read_text() == text
    for damaged, match in (
        (text[:40], r"is no JSON \(cut off or edited\)"),
        (text.replace('"rules_version": 1', '"rules_version": 77'), "rules_version 77, this version has"),
        (text.replace('"rows": 16', '"rows": 0'), "rows=0"),
        ("{}", "format"),
    ):
        config.write_text(damaged)
        with pytest.raises(ValueError, match=match) as refusal:
            open_run(run.path)
        assert "config.json" in str(refusal.value)
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        load_checkpoint(tmp_path / "none.pt")


def load_checkpoint_of(whole: bytes, folder: Path):
    (folder / "whole.pt").write_bytes(whole)
    return load_checkpoint(folder / "whole.pt")


def test_the_checkpoint_of_another_game_is_refused(tmp_path):
    """Put back into the wrong run it would fit but for the rules."""
    one, other = tiny_run(tmp_path / "one", steps=128), tiny_run(tmp_path / "other", steps=128, seed=2)
    other = replace(other, rules=make_rules("draw", target=50))
    train(one), train(other)
    (other.path / "checkpoint.pt").write_bytes((one.path / "checkpoint.pt").read_bytes())
    with pytest.raises(ValueError, match=r"checkpoint\.pt does not fit this run: it was made for other rules: target="):
        train(other)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("part", ["actor", "critic"])
def test_a_run_that_diverges_stays_as_last_saved(algorithm, part, tmp_path):
    run = tiny_run(tmp_path / "run", algorithm=algorithm)
    trainer = Trainer(run)
    trainer.update()
    trainer.save()
    kept = {file.name: file.read_bytes() for file in run.path.glob("*.*")}
    if algorithm == "magnetic_ppo":
        network = getattr(trainer.learner, part)
    else:
        network = {"actor": "action_net", "critic": "value_net"}[part]
        network = getattr(trainer.learner.model.policy, network)
    learns = trainer.learner.update

    def diverges(fraction):
        figures = learns(fraction)
        with torch.no_grad():
            next(network.parameters())[0, 0] = math.nan
        return figures

    trainer.learner.update = diverges
    with pytest.raises(ValueError, match=r"run has diverged .* less than learning_rate="):
        for _ in range(3):
            trainer.update()
    with pytest.raises(ValueError, match="not finite"):
        trainer.save()
    assert {file.name: file.read_bytes() for file in run.path.glob("*.*")} == kept
    assert train(open_run(run.path)) == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("num_players", "rows", "batch"), [(4, 1, 2), (2, 1, 2), (4, 3, 15), (2, 1, 3)])
def test_the_smallest_runs_learn_something(algorithm, num_players, rows, batch, tmp_path):
    """Minibatches of a single decision have no spread to be normalised by."""
    rules = make_rules("draw", num_players=num_players)
    settings = {**TINY, "rows": rows, "rollout": 5, "batch": batch, "steps": 60, "ladder_deals": 2}
    for league in (0.0, 0.5):
        run = create_run(
            tmp_path / f"run{league}", "draw", rules, TrainConfig(algorithm=algorithm, league=league, **settings)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert train(run) == 0


def test_minibatches_have_at_least_two_decisions():
    buffer = SeatRolloutBuffer.__new__(SeatRolloutBuffer)
    buffer.full = buffer.generator_ready = True
    buffer._get_samples = len
    for count in range(2, 40):
        for batch_size in (2, 3, 7, None):
            buffer.generator, buffer.known = np.random.default_rng(1), np.arange(50) < count
            sizes = list(buffer.get(batch_size))
            assert sum(sizes) == count and min(sizes) >= 2


def test_rewards_are_brought_to_size_one():
    scale = measure_reward_scale(make_rules("draw"))
    assert 15 < scale < 30
    assert measure_reward_scale(make_rules("draw"), "win") == 1
    assert measure_reward_scale(make_rules("bergen")) < 8


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_self_play_learns(algorithm, tmp_path):
    """A minute's worth of what `dominoes train` does, cut short: far above random all the same."""
    settings = {
        "algorithm": algorithm,
        "rows": 128,
        "rollout": 32,
        "batch": 1024,
        "hidden": (64,),
        "learning_rate": 3e-3,
        "steps": 160_000,
        "ladder_minutes": 1e3,
    }
    run = create_run(tmp_path / "run", "draw", make_rules("draw"), TrainConfig(**settings, threads=1))
    train(run)
    results = yardsticks(run.path, run.rules, variant="draw", deals=1000, seed=1)
    assert results[0].agents[1] == "random"
    assert results[0].win_rate.low > 0.5
    assert results[0].points.low > 0
    table = results_table(run.path, results)
    assert "It beats `random` with the whole interval of its win rate above 50 %." in table
    assert "163,840 decisions" in table


# Evaluation


def test_an_evaluation_is_repeatable_and_says_what_it_did(tmp_path):
    rules = make_rules("classic_block", opening="seat_0")
    result = evaluate(["greedy", make_agent("random")], rules, 400, seed=2, variant="classic_block")
    assert result == evaluate(["greedy", "random"], rules, 400, seed=2, variant="classic_block", batch=10)
    assert result.win_rate.low < result.win_rate.mean < result.win_rate.high
    assert not result.warnings
    write_json(result.to_dict(), tmp_path / "result.json")
    content = json.loads((tmp_path / "result.json").read_text())
    assert content["win_rate"] == result.win_rate.to_dict()
    assert set(content["points"]) == {"mean", "low", "high"}
    assert content["agents"] == ["greedy", "random"]
    assert (content["variant"], content["deals"], content["seed"]) == ("classic_block", 400, 2)
    assert content["rules"]["opening"] == "seat_0"
    assert "greedy v random" in str(result) and "400 deals" in str(result)


def test_few_deals_are_warned_of(tmp_path):
    result = evaluate(["greedy", "random"], make_rules("draw"), 1)
    assert "only 1 deal:" in result.warnings[0]
    write_json(result.to_dict(), tmp_path / "one.json")
    content = json.loads((tmp_path / "one.json").read_text())
    assert (content["win_rate"]["low"], content["win_rate"]["high"]) == (0, 1)
    assert content["points"] == {"mean": result.points.mean, "low": None, "high": None}
    assert "± unknown" in str(result) and "inf" not in str(result)
    two = evaluate(["greedy", "random"], make_rules("draw"), 2, seed=3)
    assert 0 <= two.win_rate.low <= two.win_rate.high <= 1
    with pytest.raises(ValueError, match="JSON"):
        write_json(math.inf, tmp_path / "one.json")


def test_the_fair_share_is_that_of_a_side():
    assert evaluate(["random"] * 2, make_rules("partners"), 20).fair_share == 0.5
    assert evaluate(["random"] * 2, make_rules("draw", num_players=4), 20).fair_share == 0.25
