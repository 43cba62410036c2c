"""The Stable-Baselines3 environment: the same games as the table, every seat's rewards, what MaskablePPO asks of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from dominoes_env.engine.variants import make_rules
from dominoes_env.envs.rows import Rows
from dominoes_env.envs.sb3 import SelfPlayVecEnv
from dominoes_env.table import Table


def play(env: SelfPlayVecEnv, steps: int, seed: int = 0):
    """Uniform actions that depend on a row's number and the step alone; yields what each step gave."""
    rows = np.arange(env.num_envs)[:, None]
    for step in range(steps):
        noise = (np.sin(rows * 12.9898 + np.arange(env.action_space.n) * 78.233 + step * 3.7 + seed) * 43758.5) % 1
        actions = (env.action_masks() * (noise + 1)).argmax(axis=1)
        before = env.players
        yield before, actions, env.step(actions)


@pytest.mark.parametrize(("variant", "episode"), [("draw", "round"), ("all_fives", "match"), ("partners", "round")])
def test_it_steps_the_table(variant, episode):
    rules = make_rules(variant)
    env = SelfPlayVecEnv(rules, 16, seed=3, episode=episode, reward_scale=4.0)
    table = Table(rules, 16, seed=3, episode=episode, skip_forced=True)
    assert (env.reset() != table.observations).any()  # without a seed the generators have gone on
    env.seed(3)
    first = env.reset()
    assert first.dtype == np.int8 and env.observation_space.contains(first[0])
    assert (first == table.observations).all()
    num_done = 0
    for before, actions, (observations, rewards, dones, infos) in play(env, 60):
        assert (before == table.players).all()
        table.step(actions, autoreset=True)
        assert (observations == table.observations).all()
        assert (env.action_masks() == table.masks).all()
        assert (dones == (table.terminated | table.truncated)).all()
        np.testing.assert_allclose(env.seat_rewards, table.rewards / 4.0)
        assert (rewards == env.seat_rewards[np.arange(16), before]).all()
        assert (env.acted == before).all()
        assert all((len(info) == 1) == done for info, done in zip(infos, dones, strict=True))
        assert len({id(info) for info, done in zip(infos, dones, strict=True) if not done}) <= 1
        num_done += dones.sum()
        np.testing.assert_allclose(env.seat_rewards.sum(axis=1), 0, atol=1e-5)
    assert num_done


def test_observations_are_fresh_and_rows_independent_of_their_number():
    rules = make_rules("draw")
    few, many = SelfPlayVecEnv(rules, 3, seed=1), SelfPlayVecEnv(rules, 8, seed=1)
    kept = few.reset()
    copy = kept.copy()
    many.reset()
    for (_, _, one), (_, _, other) in zip(play(few, 30), play(many, 30), strict=True):
        assert (one[0] == other[0][:3]).all()
        assert (one[1] == other[1][:3]).all()
        assert (kept == copy).all()


def test_masks_reach_sb3_without_a_loop():
    env = SelfPlayVecEnv(make_rules("draw"), 5)
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (1, 5, 58)
    assert (masks[0] == env.action_masks()).all()
    assert env.env_method("action_masks", indices=[1, 2])[0].shape == (2, 58)
    assert not env.has_attr("no_such_thing")
    assert env.get_attr("num_players", indices=0) == [2]
    assert env.env_is_wrapped(object) == [False] * 5
    with pytest.raises(AttributeError, match="no_such"):
        env.env_method("no_such")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("num_players", 3)
    with pytest.raises(ValueError, match="reward_scale=0"):
        SelfPlayVecEnv(make_rules("draw"), 5, reward_scale=0)
    env.close()


def test_an_illegal_action_is_an_error():
    env = SelfPlayVecEnv(make_rules("draw"), 2)
    with pytest.raises(ValueError, match="illegal"):
        env.step(np.array([57, 57]))


def test_stock_maskable_ppo_runs_on_it():
    env = SelfPlayVecEnv(make_rules("draw"), 8)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, device="cpu", seed=1)
    model.learn(128)
    actions, _ = model.predict(env.reset(), action_masks=env.action_masks())
    assert env.action_masks()[np.arange(8), actions].all()


class Recorder:
    """A batched opponent that plays the highest legal action and notes what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[np.ndarray, np.ndarray]] = []

    def __call__(self, observations, masks, infos):
        self.calls.append((infos["row"], infos["player"]))
        assert all(infos[name].shape[0] == len(masks) for name in ("row", "episode", "player", "key"))
        assert observations.shape[0] == masks.shape[0] == len(infos["row"])
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("variant", ["draw", "partners", "all_fives"])
def test_the_league_is_answered_within_the_step(variant):
    """Rows of the league are those of the vector environment; self-play rows are as they are without a league."""
    rules = make_rules(variant)
    alone, recorder = SelfPlayVecEnv(rules, 5, seed=3), Recorder()
    mixed = SelfPlayVecEnv(rules, 12, seed=3, num_league=7, opponents=recorder, reward_scale=2.0)
    league = Rows(
        rules,
        7,
        seat="rotate",
        opponents=Recorder(),
        autoreset="same_step",
        episode="round",
        reward="margin",
        illegal="raise",
        illegal_reward=None,
        skip_forced=True,
        history=False,
        first_game=5,
    )
    league.reset(3)
    seats, num_done = set(), 0
    for before, actions, (observations, rewards, dones, infos) in play(mixed, 80):
        assert (before[5:] == league.players).all()
        seats |= set(before[5:].tolist())
        one = alone.step(actions[:5])
        assert (one[0] == observations[:5]).all() and (one[2] == dones[:5]).all()
        np.testing.assert_allclose(one[1], rewards[:5] * 2.0)
        league.step(actions[5:])
        assert (observations[5:] == league.table.observations).all()
        assert (mixed.league_episodes == league.records["episode"]).all() and not alone.league_episodes.size
        assert (mixed.action_masks()[5:] == league.table.masks).all()
        assert (dones[5:] == (league.flags[0] | league.flags[1])).all()
        np.testing.assert_allclose(mixed.seat_rewards[5:] * 2.0, league.rewards)
        assert (rewards == mixed.seat_rewards[np.arange(12), before]).all()
        assert all((len(info) == 1) == done for info, done in zip(infos, dones, strict=True))
        num_done += dones[5:].sum()
    assert seats == set(range(rules.num_players)) and num_done
    assert max(len(rows) for rows, _ in recorder.calls) > 1  # in batches
    assert all(len(set(rows.tolist())) == len(rows) and max(rows) < 7 for rows, _ in recorder.calls)


def test_a_league_alone_and_its_arrays():
    rules = make_rules("draw")
    env = SelfPlayVecEnv(rules, 6, seed=1, num_league=6)
    kept = {name: array.copy() for name, array in env.arrays().items()}
    first = [given[0] for _, _, given in play(env, 25)]
    for name, array in env.arrays().items():
        array[...] = kept[name]
    for (_, _, given), observations in zip(play(env, 25), first, strict=True):
        assert (given[0] == observations).all()


def test_wrong_leagues_are_named():
    rules = make_rules("draw")
    for arguments, text in (
        ({"num_league": 9}, "num_league=9"),
        ({"num_league": -1}, "num_league=-1"),
        ({"opponents": Recorder()}, "opponents= is not allowed with num_league=0"),
        ({"num_league": 2, "opponents": [None, None]}, "opponents="),
        ({"num_envs": 0}, "num_envs=0"),
    ):
        with pytest.raises(ValueError, match=text):
            SelfPlayVecEnv(rules, **{"num_envs": 8, **arguments})
    env = SelfPlayVecEnv(rules, 4, num_league=2)
    before = {name: array.copy() for name, array in env.arrays().items()}
    actions = env.action_masks().argmax(axis=1)
    actions[3] = rules.pass_action
    if not env.action_masks()[3, rules.pass_action]:
        with pytest.raises(ValueError, match="in row 3 is illegal"):
            env.step(actions)
        assert all((array == before[name]).all() for name, array in env.arrays().items() if name.endswith("_states"))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        env.step(actions[:3])
