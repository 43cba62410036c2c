"""The single-agent environment: the checkers, the games of the vector form, MaskablePPO on it."""

from __future__ import annotations

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from learner_games import chosen, chosen_all, learner_games

import dominoes_env
from dominoes_env.engine.variants import VARIANTS, make_rules

PRESETS = [(name, players) for name, variant in VARIANTS.items() for players in variant.hand_sizes]


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_the_checkers_pass_without_a_warning(variant, num_players):
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("dominoes_env:Dominoes-v0", variant=variant, num_players=num_players, seat="rotate")
        check_env(env.unwrapped)  # in every render mode too
        sb3.check_env(env.unwrapped, warn=True, skip_render_check=False)


@pytest.mark.parametrize("seat", ["rotate", 1])
@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize(
    ("variant", "options"),
    [("draw", {}), ("fives_and_threes", {"episode": "match", "history": True}), ("classic_block", {"hand_size": 1})],
)
def test_it_is_one_row(variant, options, skip_forced, seat):
    knobs = {"hand_size": options["hand_size"]} if "hand_size" in options else {}
    options = {name: value for name, value in options.items() if name not in knobs}
    rules = make_rules(variant, **knobs)
    env = dominoes_env.gym_env(rules=rules, seat=seat, skip_forced=skip_forced, opponents=chosen_all, **options)
    games = learner_games(rules, 0, seat, seed=9, skip_forced=skip_forced, are_asked=True, **options)
    observation, info = env.reset(seed=9)
    for _ in range(4):
        decisions, final, learner, totals = next(games)
        total = 0.0
        for number, (seen, mask, reward) in enumerate(decisions, 1):
            assert np.array_equal(observation, seen) and np.array_equal(info["action_mask"], mask)
            assert np.array_equal(env.action_masks(), mask) and info["player"] == learner
            observation, paid, terminated, truncated, info = env.step(chosen(observation, info["action_mask"]))
            assert type(paid) is float and type(terminated) is bool and type(truncated) is bool
            assert paid == pytest.approx(reward, abs=1e-3)
            assert (terminated or truncated) == (number == len(decisions))
            total += paid
        assert total == pytest.approx(totals[learner], abs=1e-3)
        assert np.array_equal(observation, final[0]) and np.array_equal(info["action_mask"], final[1])
        with pytest.raises(ValueError, match="the episode is over"):
            env.step(0)
        observation, info = env.reset()


def test_wrong_calls_are_refused():
    env = dominoes_env.gym_env("draw", illegal="raise")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()
    for arguments, text in (
        ({"seat": "all"}, "seat='all'"),
        ({"seat": 2}, "seat=2"),
        ({"render_mode": "rgb_array_list"}, "render_mode='rgb_array_list'"),
        ({"render_viewer": "learner"}, "render_viewer='learner' is not allowed; allowed: all, player, or a seat"),
        ({"illegal": "ignore"}, "illegal='ignore'"),
        ({"opponents": [chosen_all, chosen_all]}, "opponents="),
    ):
        with pytest.raises(ValueError, match=text):
            dominoes_env.gym_env("draw", **arguments)
    with pytest.raises(ValueError, match="seed='a'"):
        env.reset(seed="a")
    observation, info = env.reset(seed=0)
    before = copy.deepcopy(env)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    for action in (wrong, -1, 58, 2**70, True, "0", 1.0, None, np.zeros(1)):
        with pytest.raises(ValueError, match="action="):
            env.step(action)
    action = chosen(observation, info["action_mask"])
    assert np.array_equal(env.step(action)[0], before.step(np.int8(action))[0])


def test_an_illegal_action_loses():
    env = dominoes_env.gym_env("draw", render_mode="ansi", illegal_reward=-5)
    _, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"] == 0)[0])
    assert (reward, terminated, truncated) == (-5.0, True, False)
    assert info["rewards"].tolist() == [-5, 5] and info["action_mask"].sum() == 1
    assert not dominoes_env.read_piece(env.rules, observation, "turn").any()
    assert "player_0 lost it by an illegal action" in env.render()


def test_rendering_shows_the_learner_his_own():
    env = dominoes_env.gym_env("block", render_mode="ansi", seat=1)
    env.reset(seed=0)
    lines = env.render().splitlines()
    assert any(line.startswith("> player_1") and "hidden" not in line for line in lines)
    assert any("player_0" in line and "hidden" in line for line in lines)
    # of a round that ended before he decided anything he is shown what came before, not the end
    env = dominoes_env.gym_env("classic_block", hand_size=1, render_mode="ansi", seat=1)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert env._rows.records["is_held"][0] and "layout    (empty)" in env.render()
        _, _, terminated, _, _ = env.step(info["action_mask"].argmax())
        assert terminated and "the round is over" in env.render()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(copied):
    env = dominoes_env.gym_env("all_fives", opponents=chosen_all)
    observation, info = env.reset(seed=1)
    twin = copied(env)
    for _ in range(30):
        action = chosen(observation, info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        other = twin.step(action)
        assert np.array_equal(observation, other[0]) and (reward, terminated, truncated) == other[1:4]
        if terminated or truncated:
            observation, info = env.reset()
            assert np.array_equal(observation, twin.reset()[0])


@pytest.mark.unjitted
def test_games_may_be_set_up():
    deal = {"hands": [["6-6", "6-5", "1-1"], ["5-4", "4-4", "0-0"]]}
    for seat in (0, 1):
        env = dominoes_env.gym_env("draw", hand_size=3, seat=seat, skip_forced=False)
        _, info = env.reset(seed=0, options={"deal": deal})
        record = env._rows.table.states[0]
        assert info["player"] == seat == record["turn"] and record["starter"] == 0
        assert env._rows.table.round_history().tolist() == ([] if seat == 0 else [27])
        hand = dominoes_env.read_piece(env.rules, env._rows.table.observations[0], "hand")
        assert hand.sum() == 3
    env.reset(seed=0)
    before = env._rows.table.states.copy()
    with pytest.raises(ValueError, match="options: deal"):
        env.reset(options={"deal": {"hands": []}})
    assert (env._rows.table.states == before).all()


def test_maskable_ppo_learns_on_it():
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    envs = DummyVecEnv([lambda: gymnasium.make("dominoes_env:Dominoes-v0", variant="block", illegal="raise")] * 2)
    model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0)
    model.learn(128)  # illegal actions would raise
    assert model.num_timesteps == 128
