"""What the environments are given: arguments, illegal actions, calls out of order. Each refusal names what is wrong."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from env_cases import PRESETS, first_illegal

from dominoes_env.engine.variants import make_rules
from dominoes_env.envs.aec import env, raw_env
from dominoes_env.envs.open_state import state_layout
from dominoes_env.envs.parallel import parallel_env
from dominoes_env.observation import read_piece

# Illegal actions


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_an_illegal_action_loses(variant: str, players: int) -> None:
    game = env(variant, num_players=players)
    rules = game.unwrapped.rules
    game.reset(seed=9)
    game.step(int(np.flatnonzero(game.observe(game.agent_selection)["action_mask"])[0]))
    mover = game.agent_selection
    before = game.state()
    game.step(first_illegal(game))
    assert all(game.terminations.values()) and not any(game.truncations.values())
    before[state_layout(rules)["turn"].slice] = 0
    assert np.array_equal(before, game.state())  # nobody's tiles moved
    loss = rules.total_pips
    assert game.rewards[mover] == -loss and sum(game.rewards.values()) == pytest.approx(0)
    seat = game.possible_agents.index(mover)
    for other, agent in enumerate(game.possible_agents):
        if rules.teams:
            assert game.rewards[agent] == (-loss if other % 2 == seat % 2 else loss)
        elif agent != mover:
            assert game.rewards[agent] == pytest.approx(loss / (players - 1))
        seen = game.observe(agent)
        assert seen["action_mask"].sum() == seen["action_mask"][-1] == 1
        assert not read_piece(rules, seen["observation"], "turn").any()
    view = game.unwrapped.view(mover)
    assert "illegal" in view and ">" not in view
    assert not game.state()[state_layout(rules)["turn"].slice].any()
    for _ in game.agent_iter():
        assert game.last()[2]
        game.step(None)


def test_what_an_illegal_action_costs_can_be_set() -> None:
    for settings, loss in (({}, -168), ({"reward": "win"}, -1), ({"illegal_reward": -2.5, "reward": "win"}, -2.5)):
        game = env("draw", num_players=3, **settings)
        game.reset(seed=1)
        mover = game.agent_selection
        game.step(first_illegal(game))
        assert game.rewards[mover] == loss and sum(game.rewards.values()) == pytest.approx(0)
    for wrong in (1, float("nan"), float("-inf"), "-1", True):
        with pytest.raises(ValueError, match=r"illegal_reward=.*allowed"):
            env("draw", illegal_reward=wrong)  # type: ignore[arg-type]
    for make in (raw_env, lambda **settings: env(illegal="raise", **settings)):
        with pytest.raises(ValueError, match=r"illegal_reward=-3 is not allowed; allowed: None with illegal='raise'"):
            make(illegal_reward=-3)
    assert raw_env(illegal="lose", illegal_reward=-3).unwrapped is not None


def test_an_illegal_action_can_raise_and_changes_nothing() -> None:
    for make in (raw_env, lambda *args: env(*args, illegal="raise")):
        game = make("draw")
        game.reset(seed=3)
        before = game.state()
        wrong = first_illegal(game)
        with pytest.raises(ValueError, match=rf"action={wrong} .*illegal for {game.agent_selection}.*allowed: \d+ \("):
            game.step(wrong)
        assert np.array_equal(before, game.state()) and not any(game.terminations.values())


@pytest.mark.parametrize("make", [raw_env, env])
@pytest.mark.parametrize("wrong", [-1, 58, 10**30, 1.0, "3", None, True, np.float32(2), np.array([1, 2]), [1], np.nan])
def test_what_is_no_action_always_raises(make: Any, wrong: Any) -> None:
    game = make("draw")
    game.reset(seed=3)
    before = pickle.dumps(game)
    with pytest.raises(ValueError, match="action="):
        game.step(wrong)
    assert pickle.dumps(game) == before
    game.step(np.array(np.flatnonzero(game.observe(game.agent_selection)["action_mask"])[0]))  # a whole number will do


# Arguments


def test_the_signature() -> None:
    names = ["variant", "num_players", "rules", "episode", "reward", "illegal", "illegal_reward", "skip_forced"]
    names += ["history", "render_mode", "render_viewer", "rule_overrides"]
    for make, illegal in ((raw_env, "raise"), (env, "lose"), (parallel_env, "lose")):
        parameters = inspect.signature(make).parameters
        assert list(parameters) == names and parameters["illegal"].default == illegal
        assert parameters["variant"].default == "draw"
        assert make().possible_agents == ["player_0", "player_1"]
        assert len(make("partners").possible_agents) == len(make("cuban").possible_agents) == 4


@pytest.mark.parametrize("make", [raw_env, env, parallel_env])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variant": "chess"}, "chess"),
        ({"num_players": 5}, "num_players=5 is not allowed; allowed: 2, 3, 4"),
        ({"episode": "game"}, "episode='game' is not allowed; allowed: round, match"),
        ({"reward": "score"}, "reward='score' is not allowed; allowed: margin, points, win"),
        ({"illegal": "ignore"}, "illegal='ignore' is not allowed; allowed: lose, raise"),
        ({"render_mode": "svg"}, "render_mode='svg' is not allowed; allowed: None, human, ansi, rgb_array"),
        ({"render_viewer": "me"}, "render_viewer='me' is not allowed; allowed: all, player, or a seat from 0 to 1"),
        ({"render_viewer": 2}, "render_viewer=2 is not allowed; allowed: all, player, or a seat from 0 to 1"),
        ({"render_viewer": True}, "render_viewer=True is not allowed"),
        ({"history": "yes"}, "history='yes' is not allowed"),
        ({"skip_forced": 2}, "skip_forced=2 is not allowed"),
        ({"targets": 3}, "unknown rule 'targets'"),
        ({"target": 0}, "target=0 is not allowed"),
        ({"rules": make_rules("block"), "target": 50}, "target=50 is not allowed together with rules="),
        ({"rules": make_rules("block"), "num_players": 2}, "num_players=2 is not allowed together with rules="),
        ({"rules": "block"}, "rules='block' is not allowed"),
    ],
)
def test_wrong_arguments_are_refused_by_name(make: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_rules_and_overrides() -> None:
    rules = make_rules("all_fives", num_players=3, target=60)
    assert env(rules=rules).unwrapped.rules == rules
    assert env("all_fives", num_players=3, target=60).unwrapped.rules == rules
    assert env("draw", max_pip=9).unwrapped.rules.max_pip == 9


def test_before_the_first_reset() -> None:
    for game in (env(render_mode="ansi"), raw_env(render_mode="ansi")):
        for call in (game.render, game.state, lambda: game.step(0), lambda: game.observe("player_0")):  # noqa: B023
            with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
                call()
        game.close()
        game.close()
    game = env()
    for name in ("agents", "rewards", "terminations", "truncations", "infos", "agent_selection"):
        with pytest.raises(AttributeError, match="before reset"):
            getattr(game, name)
    with pytest.raises(AssertionError, match="before last"):
        game.last()
    with pytest.raises(AssertionError, match="before agent_iter"):
        game.agent_iter()


def test_a_loop_that_forgets_to_step_is_refused() -> None:
    game = env()
    game.reset()
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in game.agent_iter(5):
            pass


def test_unknown_agents_are_refused() -> None:
    game = env(render_mode="ansi")
    game.reset()
    for look in (game.observe, game.unwrapped.view):
        with pytest.raises(ValueError, match=r"agent='player_2' is not allowed; allowed: player_0, player_1"):
            look("player_2")
