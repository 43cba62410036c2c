"""Agents as policies of PettingZoo seats and as opponents of learners: whole games, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dominoes_env
from agents import Agent, as_opponent, as_policy
from agents.keys import decision_keys
from dominoes_env.engine.variants import make_rules
from dominoes_env.observation import observation_size


class Watcher(Agent):
    """The first legal action; keeps the turns that it was given."""

    name = "watcher"

    def __init__(self, *, needs_history: bool = False, sees_all: bool = False) -> None:
        self.needs_history = needs_history
        self.sees_all = sees_all
        self.turns = []

    def act(self, turn):
        self.turns.append(turn)
        return int(turn.legal_actions[0])


def play_turn_based(env, policies, seed):
    """A whole episode; what every agent was given in the end, and the actions."""
    env.reset(seed=seed)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    actions = []
    for name in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        totals[name] += reward
        if terminated or truncated:
            env.step(None)
            continue
        action = policies[name](observation, info["action_mask"], info)
        assert info["action_mask"][action]
        actions.append(action)
        env.step(action)
    return totals, actions


def play_parallel(env, policies, seed):
    observations, infos = env.reset(seed=seed)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    actions = []
    while env.agents:
        on_turn = env.possible_agents[env.knowledge()["player"]]
        chosen = {name: policies[name](observations[name], infos[name]["action_mask"]) for name in env.agents}
        actions.append(chosen[on_turn])
        observations, rewards, _, _, infos = env.step(chosen)
        for name, reward in rewards.items():
            totals[name] += reward
    return totals, actions


CASES = [
    ("classic_block", 2, ["greedy", "flexible"]),
    ("draw", 3, ["doubles", "random", "flexible"]),
    ("all_fives", 2, ["flexible", "doubles"]),
    ("draw", 2, ["inference:worlds=3,pool=2", "pimc:3"]),
    ("partners", 4, ["greedy", "flexible", "random", "doubles"]),
    ("cuban", 4, ["random", "greedy", "random", "flexible"]),
]


@pytest.mark.parametrize(("variant", "num_players", "names"), CASES)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_whole_games_are_the_same_in_either_form(variant, num_players, names, episode):
    arguments = {"num_players": num_players, "episode": episode}
    if episode == "match":
        arguments["target"] = 30
    env = dominoes_env.env(variant, illegal="raise", **arguments)
    parallel = dominoes_env.parallel_env(variant, illegal="raise", **arguments)
    for seed in range(3):
        results = [
            play(form, {a: as_policy(n, form, seed=4) for a, n in zip(form.possible_agents, names, strict=True)}, seed)
            for play, form in ((play_turn_based, env), (play_parallel, parallel), (play_turn_based, env))
        ]
        assert results[0] == results[1] == results[2]
        assert len(results[0][1]) > 4


def test_the_turn_is_what_the_player_may_know():
    env = dominoes_env.raw_env("draw", num_players=3)
    watcher = Watcher()
    policies = dict.fromkeys(env.possible_agents, as_policy(watcher, env))
    _, actions = play_turn_based(env, policies, 3)
    assert watcher.turns
    for turn in watcher.turns:
        assert turn.player == turn.state["turn"][0] and turn.open_state is None
        assert [bool(hand) for hand in turn.state["hands"][0]] == [seat == turn.player for seat in range(4)]
        assert turn.history.tolist() == actions[: len(turn.history)]
        assert len(turn.legal_actions) > 1 and turn.observation.shape == (observation_size(env.rules),)
    assert len({turn.key for turn in watcher.turns}) == len(watcher.turns)
    first = [turn.key for turn in watcher.turns]
    for seed, is_same in ((0, True), (1, False), (None, False)):
        watcher.turns.clear()
        play_turn_based(env, dict.fromkeys(env.possible_agents, as_policy(watcher, env, seed=seed)), 3)
        assert ([turn.key for turn in watcher.turns] == first) == is_same


def test_knowledge_is_of_a_seat_and_fresh():
    env = dominoes_env.env("block")
    with pytest.raises(AssertionError, match="reset"):
        env.knowledge()
    env.reset(seed=1)
    mover = env.knowledge()
    assert mover["player"] == env.possible_agents.index(env.agent_selection)
    other = env.knowledge(env.possible_agents[1 - mover["player"]])
    assert other["player"] == 1 - mover["player"] and other["action_mask"].sum() == 1
    mover["state"]["hands"] = 0
    assert env.knowledge()["state"]["hands"].any()
    with pytest.raises(ValueError, match="agent='nobody'"):
        env.knowledge("nobody")


def test_the_mask_may_come_with_the_observation_or_the_info():
    env = dominoes_env.env("classic_block")
    env.reset(seed=0)
    observation, _, _, _, info = env.last()
    policy = as_policy("greedy", env)
    action = policy(observation, info["action_mask"], info)
    assert policy(observation) == policy(observation["observation"], None, info) == action
    with pytest.raises(ValueError, match="mask=None"):
        policy(observation["observation"])
    shifted = np.roll(info["action_mask"], 1)
    with pytest.raises(ValueError, match="is not that of player_"):
        policy(observation, shifted)


def test_an_agent_with_a_memory_needs_a_history():
    watcher = Watcher(needs_history=True)
    with pytest.raises(ValueError, match="'watcher' needs an environment with history=True"):
        as_policy(watcher, dominoes_env.env("draw"))
    env = dominoes_env.env("draw", history=True)
    play_turn_based(env, dict.fromkeys(env.possible_agents, as_policy(watcher, env)), 0)
    assert watcher.turns[0].observation.shape == (observation_size(env.rules, history=True),)
    rules = make_rules("classic_block", opening="seat_0")
    with pytest.raises(ValueError, match="history=True"):
        dominoes_env.gym_env(rules=rules, seat=1, opponents=as_opponent(watcher, rules)).reset(seed=0)
    watcher.turns.clear()
    learner = dominoes_env.gym_env(rules=rules, history=True, opponents=as_opponent(watcher, rules))
    play_learner(learner, 2)
    assert watcher.turns[0].observation.shape == (observation_size(rules, history=True),)


def test_who_cheats_is_refused():
    cheat = Watcher(sees_all=True)
    for made in (lambda: as_policy(cheat, dominoes_env.env("draw")), lambda: as_opponent(cheat, make_rules("draw"))):
        with pytest.raises(ValueError, match="'watcher' is not allowed: it sees hidden tiles"):
            made()
    with pytest.raises(ValueError, match="env=3"):
        as_policy("greedy", 3)
    with pytest.raises(ValueError, match="seed='x'"):
        as_policy("greedy", dominoes_env.env("draw"), seed="x")


def play_learner(env, seed):
    """One episode in which the learner takes the first legal action; the total reward and his decisions."""
    observation, info = env.reset(seed=seed)
    total, seen = 0.0, []
    while True:
        seen.append(observation.tolist())
        observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
        total += reward
        if terminated or truncated:
            return total, seen


@pytest.mark.parametrize(("variant", "num_players", "names"), CASES)
def test_opponents_of_one_row_and_of_many_play_alike(variant, num_players, names):
    rules = make_rules(variant, num_players=num_players)
    opponents = [as_opponent(name, rules, seed=9) for name in names[1:]]
    env = dominoes_env.gym_env(rules=rules, opponents=opponents)
    rows = dominoes_env.vector_env(8, rules=rules, opponents=opponents)
    single = [play_learner(env, 5) for _ in range(2)]
    assert single[0] == play_learner(env, 5)
    observations, infos = rows.reset(seed=5)
    assert observations[0].tolist() == single[0][1][0]
    seen, total = [], 0.0
    while True:
        seen.append(observations[0].tolist())
        observations, rewards, terminated, _, infos = rows.step(infos["action_mask"].argmax(axis=1))
        total += rewards[0]
        if terminated[0]:
            break
    assert (total, seen) == (pytest.approx(single[0][0]), single[0][1])


def test_an_opponent_sees_its_turn_with_its_own_key():
    rules = make_rules("draw")
    watcher = Watcher()
    keys = []
    asked = as_opponent(watcher, rules, seed=3)

    def spy(observations, masks, infos):
        keys.extend(decision_keys(3, infos["key"]).tolist())
        return asked(observations, masks, infos)

    play_learner(dominoes_env.gym_env(rules=rules, opponents=spy), 1)
    assert [turn.key for turn in watcher.turns] == keys and len(set(keys)) == len(keys) > 0
    assert all(turn.player == turn.state["turn"][0] == 1 for turn in watcher.turns)
    for variant in ("block", "all_fives"):
        greedy = as_opponent("greedy", make_rules(variant))
        for make in (dominoes_env.gym_env, dominoes_env.vector_env):
            with pytest.raises(ValueError, match="plays by other rules"):
                make(variant="classic_block", opponents=greedy)
