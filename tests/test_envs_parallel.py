"""``parallel_env``: PettingZoo's own tests, whole games, whose action counts, illegal actions, copies, conversions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from env_cases import (
    ODD_RULES,
    PRESETS,
    chooser,
    only_unavoidable_warnings,
    play_aec,
    play_parallel,
    same_state,
    state_of,
)
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import parallel_api_test, parallel_seed_test, state_test
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel

from dominoes_env.envs.aec import env, raw_env
from dominoes_env.envs.parallel import parallel_env
from dominoes_env.observation import read_piece


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_pettingzoo_accepts_every_preset(variant: str, players: int) -> None:
    with only_unavoidable_warnings():
        parallel_api_test(parallel_env(variant, num_players=players), num_cycles=1000)
        parallel_seed_test(lambda: parallel_env(variant, num_players=players), num_cycles=500)
        state_test(env(variant, num_players=players), parallel_env(variant, num_players=players))


@pytest.mark.parametrize("number", range(len(ODD_RULES)))
@pytest.mark.parametrize("episode", ["round", "match"])
def test_pettingzoo_accepts_other_rules_and_options(number: int, episode: Any) -> None:
    variant, knobs = ODD_RULES[number]
    with only_unavoidable_warnings():
        for skip_forced in (False, True):
            settings = {"episode": episode, "history": not skip_forced, "skip_forced": skip_forced}
            parallel_api_test(parallel_env(variant, **settings, **knobs))
            parallel_seed_test(lambda settings=settings: parallel_env(variant, **settings, **knobs))


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_whole_games_are_determined_by_the_seed(variant: str, players: int) -> None:
    """Not only the first step, at which PettingZoo's own test stops: every step of a match, and of the one after it."""
    settings: dict[str, Any] = {"num_players": players, "episode": "match", "target": 40, "history": True}
    games = [parallel_env(variant, **settings) for _ in range(2)]
    seen = []
    for game in games:
        choose = chooser(6)
        np.random.seed(len(seen))  # what others do with NumPy's generator has no part in it
        seen.append([play_parallel(game, choose, seed=31), play_parallel(game, choose)])
    assert len(seen[0][0]) > 10 and data_equivalence(seen[0], seen[1], exact=True)
    assert not data_equivalence(seen[0][0], seen[0][1])
    assert not data_equivalence(seen[0][0], play_parallel(games[0], chooser(6), seed=32))


@pytest.mark.parametrize(("variant", "players"), PRESETS)
@pytest.mark.parametrize("reward", ["margin", "points", "win"])
def test_both_forms_play_the_same_game(variant: str, players: int, reward: Any) -> None:
    """The same seed and actions: observations, infos and states agree, and each agent's rewards have the same sum."""
    settings: dict[str, Any] = {"num_players": players, "episode": "match", "target": 30, "reward": reward}
    aec, parallel = env(variant, **settings), parallel_env(variant, **settings)
    turns = play_aec(aec, chooser(2), seed=12)
    observations, infos = parallel.reset(seed=12)
    got = dict.fromkeys(parallel.possible_agents, 0.0)
    for agent, observation, _, terminated, _, info, action in turns:
        assert data_equivalence(observations[agent], observation, exact=True)
        assert data_equivalence(infos[agent], info, exact=True)
        if action is not None:
            observations, rewards, terminations, truncations, infos = parallel.step({agent: action})
            for name, reward_now in rewards.items():
                assert isinstance(reward_now, float)
                got[name] += reward_now
            assert all(type(flag) is bool for flag in (*terminations.values(), *truncations.values()))
        else:
            assert terminated and not parallel.agents
    sums = {name: sum(turn[2] for turn in turns if turn[0] == name) for name in parallel.possible_agents}
    assert got == pytest.approx(sums, abs=1e-3)
    assert same_state(state_of(aec), state_of(parallel)) and np.array_equal(aec.state(), parallel.state())


def test_only_the_agent_on_turn_is_asked() -> None:
    """Others may send PASS, anything else, or nothing: the game is the same."""
    states = []
    for others in ("nothing", "pass", "nonsense"):
        game = parallel_env("draw", num_players=3)
        observations, _ = game.reset(seed=1)
        choose = chooser(9)
        while game.agents:
            turns = [
                agent
                for agent in game.agents
                if read_piece(game.rules, observations[agent]["observation"], "turn")[0] == 1
            ]
            assert len(turns) == 1
            mover = turns[0]
            actions: dict[str, Any] = {mover: choose(observations[mover]["action_mask"])}
            for agent in game.agents:
                if agent != mover:
                    assert observations[agent]["action_mask"].nonzero()[0].tolist() == [game.rules.pass_action]
                    if others != "nothing":
                        actions[agent] = game.rules.pass_action if others == "pass" else "whatever"
            observations, *_ = game.step(actions)
        states.append(game.state().tobytes())
    assert len(set(states)) == 1


def test_the_agent_on_turn_must_act() -> None:
    game = parallel_env("draw")
    game.reset(seed=1)
    mover = game.possible_agents[game._seats.turn]
    other = game.possible_agents[1 - game._seats.turn]
    before = pickle.dumps(game)
    for actions in (
        None,
        5,
        [mover],
        mover,
        {},
        {other: 3},
        {mover: None},
        {mover: 58},
        {mover: 1.0},
        {mover: True},
        {mover: -1},
    ):
        with pytest.raises(ValueError, match="action"):
            game.step(actions)  # type: ignore[arg-type]
        assert pickle.dumps(game) == before


def test_an_illegal_action_loses_or_raises() -> None:
    for variant, players in PRESETS:
        game = parallel_env(variant, num_players=players)
        observations, _ = game.reset(seed=4)
        mover = game.possible_agents[game._seats.turn]
        wrong = int(np.flatnonzero(observations[mover]["action_mask"] == 0)[0])
        observations, rewards, terminations, truncations, infos = game.step({mover: wrong})
        assert rewards[mover] == -game.rules.total_pips and sum(rewards.values()) == pytest.approx(0)
        assert all(terminations.values()) and not any(truncations.values()) and game.agents == []
        for agent in game.possible_agents:
            assert observations[agent]["action_mask"].nonzero()[0].tolist() == [game.rules.pass_action]
            assert np.array_equal(infos[agent]["action_mask"], observations[agent]["action_mask"])
        strict = parallel_env(variant, num_players=players, illegal="raise")
        strict.reset(seed=4)
        before = pickle.dumps(strict)
        with pytest.raises(ValueError, match=f"action={wrong} .*illegal for {mover}"):
            strict.step({mover: wrong})
        assert pickle.dumps(strict) == before


def test_before_reset_and_after_the_end() -> None:
    game = parallel_env(render_mode="ansi")
    for call in (game.render, game.state, lambda: game.step({}), lambda: game.observe("player_0")):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
            call()
    game.close()
    game.close()
    play_parallel(game, chooser(0))
    assert game.agents == [] and isinstance(game.render(), str)
    with pytest.raises(ValueError, match="the episode is over"):
        game.step({"player_0": 0})
    game.reset()
    assert game.agents == game.possible_agents


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copies_are_whole_and_apart(twin_of: Any) -> None:
    game = parallel_env("all_fives", episode="match", history=True)
    observations, _ = game.reset(seed=6)
    choose = chooser(5)
    for number in range(400):
        if number % 25 == 0:
            twin = twin_of(game)
        actions = {agent: choose(observations[agent]["action_mask"]) for agent in game.agents}
        mine, his = game.step(actions), twin.step(actions)
        assert data_equivalence(mine, his, exact=True)
        observations = mine[0]
        if not game.agents:
            break
    game.reset()
    twin.reset()
    assert same_state(state_of(game), state_of(twin))


def test_render() -> None:
    game = parallel_env("bergen", num_players=3, render_mode="ansi", render_viewer="player")
    game.reset(seed=2)
    text = game.render()
    assert isinstance(text, str) and text.count("hidden") == 2
    play_parallel(game, chooser(1))
    assert "the round is over" in game.render()


def test_set_ups_are_those_of_the_turn_based_form() -> None:
    hands = [line.split() for line in ("6-6 6-3 3-4 4-6 5-0 3-1 4-4", "6-2 2-1 1-6 6-5 0-6 5-5 0-0")]
    aec, parallel = raw_env("block"), parallel_env("block")
    for options in (
        {"deal": hands, "lead": 1},
        {"deal": hands},
        {"position": f"hands {' / '.join(map(','.join, hands))}"},
    ):
        aec.reset(seed=2, options=options)
        parallel.reset(seed=2, options=options)
        assert same_state(state_of(aec), state_of(parallel))
    before = pickle.dumps(parallel)
    with pytest.raises(ValueError, match="options"):
        parallel.reset(options={"deal": hands[:1]})
    assert pickle.dumps(parallel) == before


# Conversions


def test_the_turn_based_form_is_not_taken_for_a_parallel_one() -> None:
    for game in (env(), raw_env()):
        with pytest.raises(AssertionError, match="not generally safe"):
            aec_to_parallel(game)


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_pettingzoos_own_conversions_run_whole_games(variant: str, players: int) -> None:
    converted = turn_based_aec_to_parallel(env(variant, num_players=players))
    native = parallel_env(variant, num_players=players)
    observations, _ = converted.reset(seed=3)
    native.reset(seed=3)
    choose = chooser(7)
    with only_unavoidable_warnings():
        while converted.agents:
            actions = {agent: choose(observations[agent]["action_mask"]) for agent in converted.agents}
            observations, rewards, terminations, truncations, _ = converted.step(actions)
            expected = native.step(actions)
            assert data_equivalence(observations, expected[0], exact=True)
            assert (rewards, terminations, truncations) == expected[1:4]
        assert not native.agents
    play_aec(parallel_to_aec(parallel_env(variant, num_players=players)), chooser(1))
