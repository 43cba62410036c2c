"""``raw_env`` and ``env``: PettingZoo's own tests, rewards, illegal actions, set-ups, copies, render, registry."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pettingzoo
import pytest
from env_cases import (
    ODD_RULES,
    PRESETS,
    chooser,
    first_illegal,
    only_unavoidable_warnings,
    play_aec,
    same_state,
    state_of,
)
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, render_test, seed_test, state_test
from pettingzoo.utils import wrappers

from dominoes_env import dominoes_v0, registration
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.envs.aec import env, raw_env
from dominoes_env.envs.open_state import state_layout
from dominoes_env.envs.parallel import parallel_env
from dominoes_env.game import Game
from dominoes_env.observation import observation_layout
from dominoes_env.table import Table

# PettingZoo's own tests


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_pettingzoo_accepts_every_preset(variant: str, players: int) -> None:
    with only_unavoidable_warnings():
        api_test(raw_env(variant, num_players=players), num_cycles=1000)
        api_test(env(variant, num_players=players), num_cycles=1000)
        seed_test(lambda: env(variant, num_players=players), num_cycles=500)
        seed_test(lambda: raw_env(variant, num_players=players), num_cycles=500)
        render_test(lambda **kwargs: env(variant, num_players=players, **kwargs))
        state_test(env(variant, num_players=players), parallel_env(variant, num_players=players))


@pytest.mark.parametrize("number", range(len(ODD_RULES)))
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("history", [False, True])
def test_pettingzoo_accepts_other_rules_and_options(number: int, episode: Any, history: bool) -> None:
    variant, knobs = ODD_RULES[number]
    with only_unavoidable_warnings():
        for skip_forced in (False, True):
            settings = {"episode": episode, "history": history, "skip_forced": skip_forced}
            api_test(env(variant, **settings, **knobs))
            seed_test(lambda settings=settings: env(variant, **settings, **knobs))
            state_test(env(variant, **settings, **knobs), parallel_env(variant, **settings, **knobs))


@pytest.mark.parametrize("variant", ["block", "partners"])
def test_pettingzoos_own_wrappers_fit_around_raw_env(variant: str) -> None:
    stock = wrappers.TerminateIllegalWrapper(raw_env(variant), illegal_reward=-1)
    stock = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(stock))
    with only_unavoidable_warnings():
        api_test(stock)
        seed_test(lambda: wrappers.OrderEnforcingWrapper(raw_env(variant)))


# Shape of what is handed out


def test_spaces_names_and_metadata() -> None:
    for variant, players in PRESETS:
        game = env(variant, num_players=players)
        rules = make_rules(variant, num_players=players)
        assert game.possible_agents == [f"player_{seat}" for seat in range(players)]
        assert game.metadata["name"] == "dominoes_v0" and game.metadata["is_parallelizable"] is False
        assert game.metadata["render_modes"] == ["human", "ansi", "rgb_array"] and game.metadata["render_fps"] > 0
        for agent in game.possible_agents:
            space = game.observation_space(agent)
            assert space is game.observation_space(agent) and game.action_space(agent) is game.action_space(agent)
            assert list(space) == ["action_mask", "observation"]  # Dict spaces sort their keys
            assert space["action_mask"].shape == (rules.num_actions,) and space["action_mask"].dtype == np.int8
            assert space["observation"].dtype == np.int8
            assert game.action_space(agent).n == rules.num_actions
        assert game.action_space("player_0") is not game.action_space("player_1")  # each can be seeded
        assert str(game) == "dominoes_v0" and game.unwrapped.rules == rules


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_masks_observations_and_infos(variant: str, players: int) -> None:
    """At every step: the mask is the legal set, others show exactly PASS, infos repeat it, memory is never shared."""
    game = env(variant, num_players=players, episode="match", target=40)
    table = Table(game.unwrapped.rules, seed=11, episode="match")
    only_pass = np.zeros(game.unwrapped.rules.num_actions, np.int8)
    only_pass[-1] = 1
    choose = chooser(3)
    game.reset(seed=11)
    for agent in game.agent_iter():
        observation, _, terminated, truncated, info = game.last()
        assert isinstance(terminated, bool) and isinstance(truncated, bool)
        assert list(info) == ["action_mask"] and list(observation) == ["observation", "action_mask"]
        is_over = terminated or truncated
        for other in game.agents:
            seen, again = game.observe(other), game.observe(other)
            assert not any(np.shares_memory(seen[key], again[key]) for key in seen)
            assert not np.shares_memory(seen["action_mask"], game.infos[other]["action_mask"])
            assert np.array_equal(seen["action_mask"], game.infos[other]["action_mask"])
            assert game.observation_space(other).contains(seen)
            if is_over or other != agent:
                assert np.array_equal(seen["action_mask"], only_pass)
            else:
                assert np.array_equal(seen["action_mask"], table.masks[0]) and seen["action_mask"].any()
                assert np.array_equal(seen["observation"], table.observations[0])
        action = None if is_over else choose(observation["action_mask"])
        game.step(action)
        if action is not None:
            table.step(np.array([action]))


def test_observing_changes_nothing() -> None:
    game = raw_env("all_fives", num_players=3, render_mode="ansi", history=True)
    game.reset(seed=4)
    choose = chooser(0)
    while not any(game.terminations.values()):
        before = pickle.dumps(game)
        for agent in game.possible_agents:
            seen = game.observe(agent)
            seen["observation"][:] = 77
            seen["action_mask"][:] = 77
            game.view(agent)
        game.render(), game.state(), game.last()
        assert pickle.dumps(game) == before
        game.step(choose(game.observe(game.agent_selection)["action_mask"]))


def test_what_was_handed_out_stays_as_it_was() -> None:
    """A later step changes no dict and no array of an earlier one, and no two agents or steps share an info."""
    game = raw_env("all_fives", num_players=3, episode="match", target=40)
    game.reset(seed=9)
    choose = chooser(4)
    handed_out = []
    while not any(game.terminations.values()):
        now = (game.last(), game.rewards, game.infos, game.terminations, game.truncations)
        handed_out.append((now, copy.deepcopy(now)))
        game.step(choose(now[0][0]["action_mask"]))
    assert all(data_equivalence(kept, copied, exact=True) for kept, copied in handed_out)
    infos = [info for now, _ in handed_out for info in now[2].values()]
    assert len({id(info) for info in infos}) == len(infos)
    assert len({id(now[1]) for now, _ in handed_out}) == len(handed_out)
    assert sum(any(now[1].values()) for now, _ in handed_out) > 3


# Rewards and ends


@pytest.mark.parametrize(("variant", "players"), PRESETS)
@pytest.mark.parametrize("reward", ["margin", "points", "win"])
def test_each_agent_gets_its_own_rewards_once(variant: str, players: int, reward: Any) -> None:
    """What ``last`` gives an agent sums to what the table booked for its seat, and nothing truncates."""
    game = env(variant, num_players=players, reward=reward, episode="match", target=20)
    table = Table(game.unwrapped.rules, seed=5, episode="match", reward=reward)
    seen = play_aec(game, chooser(8), seed=5)
    got = dict.fromkeys(game.possible_agents, 0.0)
    booked = np.zeros(players)
    for agent, _, last_reward, _, _, _, action in seen:
        assert isinstance(last_reward, float)
        got[agent] += last_reward
        if action is not None:
            table.step(np.array([action]))
            booked += table.rewards[0]
    assert np.allclose(list(got.values()), booked)
    if reward == "points":
        sign = -1 if game.unwrapped.rules.settlement == "penalty_each" else 1
        assert booked.tolist() == (sign * table.states["scores"][0, :players]).tolist()
    else:
        assert abs(booked.sum()) < 1e-3
    assert not any(step[4] for step in seen)


def test_the_dead_leave_one_by_one() -> None:
    game = env("block", num_players=4)
    seen = play_aec(game, chooser(1), seed=2)
    dead = [agent for agent, _, _, terminated, _, _, _ in seen if terminated]
    assert dead == game.possible_agents and game.agents == []
    for agent in game.possible_agents:
        assert game.observe(agent)["action_mask"].sum() == 1
    with pytest.raises(ValueError, match="the episode is over"):
        game.step(0)
    with pytest.raises(ValueError, match="the episode is over"):
        game.step(None)
    game.reset()
    assert game.agents == game.possible_agents


def test_a_dead_agent_may_only_send_none() -> None:
    game = env("block", illegal="lose")
    game.reset(seed=1)
    game.step(first_illegal(game))
    with pytest.raises(ValueError, match="None"):
        game.step(3)
    assert len(game.agents) == 2


# Seeds


def test_the_same_seed_gives_the_same_game_everywhere() -> None:
    """AEC, parallel, Table and Game deal the same from a seed, through a whole match."""
    for variant, players in PRESETS:
        rules = make_rules(variant, num_players=players, target=30)
        aec, parallel = env(rules=rules, episode="match"), parallel_env(rules=rules, episode="match")
        game, table = Game(rules=rules, seed=17), Table(rules, seed=17, episode="match")
        choose = chooser(4)
        aec.reset(seed=17)
        parallel.reset(seed=17)
        while not any(aec.terminations.values()):
            state = aec.state()
            assert np.array_equal(state, parallel.state())
            assert same_state(state_of(aec), game.state) and same_state(state_of(parallel), table.states)
            assert same_state(game.state, table.states)
            action = choose(aec.observe(aec.agent_selection)["action_mask"])
            _, rewards, _, _, _ = parallel.step({aec.agent_selection: action})
            aec.step(action)
            game.step(action)
            table.step(np.array([action]))
            assert aec.rewards == rewards
            assert list(rewards.values()) == table.rewards[0].tolist()
        assert not parallel.agents and game.is_over


@pytest.mark.parametrize("make", [raw_env, env, parallel_env])
def test_a_wrong_seed_is_refused_and_changes_nothing(make: Any) -> None:
    game = make()
    game.reset(seed=3)
    before = pickle.dumps(game)
    for wrong in (-1, 2**64, 1.5, "7", True):
        with pytest.raises(ValueError, match="seed="):
            game.reset(seed=wrong)
    assert pickle.dumps(game) == before


# Copies


@pytest.mark.parametrize("make", [raw_env, env])
@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copies_are_whole_and_apart(make: Any, twin_of: Any) -> None:
    game = make("all_fives", episode="match", history=True, num_players=3)
    twin_of(game)  # also before the first reset
    game.reset(seed=6)
    choose = chooser(5)
    for _ in range(30):
        game.step(choose(game.observe(game.agent_selection)["action_mask"]))
    twin, kept = twin_of(game), twin_of(game)
    while not any(game.terminations.values()):
        action = choose(game.observe(game.agent_selection)["action_mask"])
        game.step(action)
        twin.step(action)
        assert data_equivalence(game.last(), twin.last()) and game.rewards == twin.rewards
        assert same_state(state_of(game), state_of(twin))
    assert not any(kept.terminations.values())
    game.reset()
    twin = twin_of(game)
    game.reset()
    twin.reset()
    assert np.array_equal(game.state(), twin.state())  # the generator came along


# state


@pytest.mark.parametrize("variant", ["block", "draw", "all_fives", "partners", "cuban", "bergen"])
def test_state_tells_everything(variant: str) -> None:
    """The pieces of ``state`` are those of the record, and they tile the vector."""
    game = env(variant, history=True)
    rules = game.unwrapped.rules
    layout = state_layout(rules, history=True)
    game.reset(seed=8)
    choose = chooser(1)
    while not any(game.terminations.values()):
        state, record = game.state(), state_of(game)[0]
        assert game.state_space.contains(state) and state.shape == (sum(piece.size for piece in layout.values()),)
        pieces = {name: state[piece.slice].reshape(piece.shape) for name, piece in layout.items()}
        bits = [sum(1 << tile for tile in np.flatnonzero(hand)) for hand in pieces["hands"].tolist()]
        assert bits == record["hands"][: rules.num_players].tolist()
        if "pile" in pieces:
            left = record["boneyard"]
            assert (pieces["pile"][:left] - 1).tolist() == record["pile"][:left][::-1].tolist()
            assert not pieces["pile"][left:].any()
        lacking = [sum(1 << number for number in np.flatnonzero(row)) for row in pieces["lacking"].tolist()]
        assert lacking == record["lacking"][: rules.num_players].tolist()
        seen = game.observe("player_0")["observation"]
        for name, piece in observation_layout(rules, history=True).items():
            if name not in ("hand", "lacking"):
                assert np.array_equal(pieces[name].ravel(), seen[piece.slice])
        game.step(choose(game.observe(game.agent_selection)["action_mask"]))


# Nothing leaks


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_hidden_tiles_change_nothing_that_others_see(variant: str, players: int) -> None:
    """The tiles that a seat cannot see are dealt out anew: its observation, mask, info and view stay as they are."""
    game = raw_env(variant, num_players=players, history=True, render_mode="ansi", render_viewer="player")
    generator, choose = np.random.default_rng(7), chooser(2)
    game.reset(seed=13)
    shuffles = 0
    while not any(game.terminations.values()):
        table = game._seats.table
        for seat, agent in enumerate(game.possible_agents):
            twin = copy.deepcopy(game)
            state = table.states.copy()
            _shuffle_hidden(state, players, seat, generator)
            twin._seats.table.set_state(0, state, table.round_history())
            twin._seats._take_in()
            twin._show()
            assert data_equivalence(game.observe(agent), twin.observe(agent), exact=True)
            assert data_equivalence(game.infos[agent], twin.infos[agent], exact=True)
            assert game.view(agent) == twin.view(agent)
            if seat == game._seats.turn:
                assert game.render() == twin.render()
            shuffles += not np.array_equal(game.state(), twin.state())
        game.step(choose(game.observe(game.agent_selection)["action_mask"]))
    assert shuffles > 5


def _shuffle_hidden(state: Any, players: int, seat: int, generator: np.random.Generator) -> None:
    """Deal the pile and the hands of all but ``seat`` anew, counts kept, kept lots aside; change the generator."""
    others = [other for other in range(players) if other != seat]
    boneyard = int(state["boneyard"][0])
    hidden = state["pile"][0, :boneyard].tolist()
    for other in others:
        hidden += [tile for tile in range(55) if int(state["hands"][0, other]) >> tile & 1]
    hidden = generator.permutation(hidden).tolist()
    state["pile"][0, :boneyard] = [hidden.pop() for _ in range(boneyard)]
    for other in others:
        tiles = [hidden.pop() for _ in range(int(state["hand_counts"][0, other]))]
        state["hands"][0, other] = np.uint64(sum(1 << tile for tile in tiles))
    state["generator"] = np.uint64(generator.integers(2**63))


# render


def test_render_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    game = env("draw", render_mode="ansi", render_viewer="player")
    game.reset(seed=2)
    text = game.render()
    hand = Game("draw", seed=2).hands[game.possible_agents.index(game.agent_selection)]
    assert isinstance(text, str) and " ".join(hand) in text and text.count("hidden") == 1
    play_aec(game, chooser(0), seed=2)
    assert isinstance(game.render(), str) and "the round is over" in game.render()
    assert capsys.readouterr().out == ""
    silent = env("draw")
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


# Registry


def test_every_preset_is_registered() -> None:
    assert tuple(VARIANTS) == registration.PRESETS
    registration.register_presets()  # again: no warning that an id is overridden
    for variant, players in PRESETS:
        game = pettingzoo.make("aec", f"dominoes/{variant}-v0", num_players=players)
        assert game.unwrapped.rules == make_rules(variant, num_players=players)
        together = pettingzoo.make("parallel", f"dominoes/{variant}-v0", num_players=players, reward="win")
        assert isinstance(together, parallel_env) and len(together.possible_agents) == players
    assert dominoes_v0.env is env and dominoes_v0.raw_env is raw_env and dominoes_v0.parallel_env is parallel_env
