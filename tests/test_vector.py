"""The vector environment: the games of a plain table, every reward paid, the autoreset modes of Gymnasium."""

from __future__ import annotations

import copy
import itertools
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from learner_games import chosen_all, learner_games

import dominoes_env
from dominoes_env.engine import solo
from dominoes_env.engine.jit import IS_JIT_ENABLED
from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table

CASES = [
    ("draw", {}, {}),
    ("all_fives", {"num_players": 3}, {"history": True}),
    ("partners", {}, {"reward": "win"}),
    ("draw", {"max_pip": 3, "hand_size": 3, "target": 20, "max_rounds": 2}, {"episode": "match", "reward": "points"}),
    ("classic_block", {"hand_size": 1}, {}),  # who leads is out: the other never has a turn
    ("all_fives", {"num_players": 4, "max_pip": 4, "hand_size": 2, "target": 10}, {"history": True}),
]


def all_fields(a, b) -> bool:
    return all(np.array_equal(a[name], b[name]) for name in a.dtype.names)


def same(a, b) -> bool:
    """Whether two answers of an environment agree to the last entry."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and a.dtype == object:
        return all((x is None and y is None) or np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("are_asked", [False, True])
@pytest.mark.parametrize(("variant", "knobs", "options"), CASES)
def test_a_learner_gets_what_a_loop_over_single_games_books(variant, knobs, options, are_asked, skip_forced, mode):
    rules = make_rules(variant, **knobs)
    for seat in ("rotate", 1):
        env = dominoes_env.vector_env(
            3, rules=rules, seat=seat, opponents=chosen_all if are_asked else None, skip_forced=skip_forced,
            autoreset_mode=mode, **options,
        )  # fmt: skip
        games = [
            learner_games(rules, row, seat, seed=5, skip_forced=skip_forced, are_asked=are_asked, **options)
            for row in range(3)
        ]
        follow_games(env, games, mode, 70)


@pytest.mark.unjitted
@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_learner_in_small_games(mode):
    rules = make_rules("all_fives", num_players=3, max_pip=3, hand_size=2)
    for are_asked in (False, True):
        opponents = [chosen_all, chosen_all] if are_asked else None
        env = dominoes_env.vector_env(3, rules=rules, opponents=opponents, autoreset_mode=mode)
        games = [learner_games(rules, row, "rotate", seed=5, skip_forced=True, are_asked=are_asked) for row in range(3)]
        follow_games(env, games, mode, 25)


def follow_games(env, games, mode, steps):
    observations, info = env.reset(seed=5)
    expected = [next(game) for game in games]
    places = [0] * len(games)  # decision of each row's episode; its number of decisions: the end is shown
    num_ended = 0
    for _ in range(steps):
        is_end = np.zeros(len(games), np.bool_)
        for row, (decisions, final, learner, _) in enumerate(expected):
            seen = final if places[row] == len(decisions) else decisions[places[row]]
            assert np.array_equal(observations[row], seen[0]) and np.array_equal(info["action_mask"][row], seen[1])
            assert info["player"][row] == learner
            assert env.single_observation_space.contains(observations[row])
        actions = chosen_all(observations, info["action_mask"])
        was_over = [places[row] == len(expected[row][0]) for row in range(len(games))]
        if mode is AutoresetMode.DISABLED and any(was_over):
            mask = np.array(was_over)
            with pytest.raises(ValueError, match="the episode is over"):
                env.step(actions)
            observations, info = env.reset(options={"reset_mask": mask})
            for row in np.flatnonzero(mask):
                expected[row], places[row] = next(games[row]), 0
            continue
        observations, rewards, terminated, truncated, info = env.step(actions)
        for row, game in enumerate(games):
            decisions, final, learner, _ = expected[row]
            if was_over[row]:
                expected[row], places[row] = next(game), 0
                assert rewards[row] == 0 and not terminated[row] and not truncated[row]
                continue
            assert rewards[row] == pytest.approx(decisions[places[row]][2], abs=1e-3)
            assert rewards[row] == info["rewards"][row, learner]
            places[row] += 1
            is_end[row] = places[row] == len(decisions)
            assert (terminated[row] or truncated[row]) == is_end[row]
            if is_end[row] and mode is AutoresetMode.SAME_STEP:
                assert np.array_equal(info["final_obs"][row], final[0])
                assert np.array_equal(info["final_info"]["action_mask"][row], final[1])
                expected[row], places[row] = next(game), 0
        if mode is AutoresetMode.SAME_STEP:
            assert ("final_obs" in info) == is_end.any()
            if is_end.any():
                assert (info["_final_obs"] == is_end).all() and (info["_final_info"] == is_end).all()
        num_ended += is_end.sum()
    assert num_ended > 3


@pytest.mark.unjitted
def test_a_match_without_an_end_is_shown_now_and_then(monkeypatch):
    if not IS_JIT_ENABLED:
        monkeypatch.setattr(solo, "_MOST_FORCED", 50)
    # with one tile each who leads is out, and he who went out leads again: the others never come to move
    env = dominoes_env.vector_env(
        6, "classic_block", hand_size=1, max_pip=2, target=10**6, episode="match", reward="points"
    )
    _, info = env.reset(seed=1)
    for _ in range(2):
        is_on_turn = env._rows.table.players == info["player"]  # he leads for ever, or never
        assert is_on_turn.any() and not is_on_turn.all()
        masks = info["action_mask"]
        assert (masks.sum(axis=1) == 1).all() and masks[~is_on_turn, -1].all()
        _, _, terminated, truncated, info = env.step(masks.argmax(axis=1))
        assert not terminated.any() and not truncated.any()
        gained = info["rewards"] > 0
        assert (gained.sum(axis=1) == 1).all()  # the leader's, of all the rounds since


@pytest.mark.unjitted
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    ("variant", "episode", "knobs"),
    [("block", "round", {}), ("all_fives", "match", {"target": 30}), ("classic_block", "round", {"hand_size": 1})],
)
def test_all_seats_are_the_table(variant, episode, knobs, mode):
    rules = make_rules(variant, **knobs)
    env = dominoes_env.vector_env(8, rules=rules, seat="all", autoreset_mode=mode, episode=episode)
    tables = [Table(rules, seed=2, game_ids=[row], episode=episode, skip_forced=True) for row in range(8)]
    owed, over = np.zeros((8, 2)), np.zeros(8, np.bool_)
    observations, info = env.reset(seed=2)
    num_ended = 0
    for _ in range(80):
        for row, table in enumerate(tables):
            assert (observations[row] == table.observations[0]).all() and info["player"][row] == table.players[0]
            assert (info["action_mask"][row] == table.masks[0]).all()
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(ValueError, match="the episode is over"):
                env.step(info["action_mask"].argmax(axis=1))
            observations, info = env.reset(options={"reset_mask": over})
            for row in np.flatnonzero(over):
                tables[row].reset()
            over[:] = False
            continue
        observations, rewards, terminated, truncated, info = env.step(chosen_all(observations, info["action_mask"]))
        for row, table in enumerate(tables):
            if over[row]:  # NEXT_STEP
                table.reset()
                assert info["acted"][row] == -1 and not info["rewards"][row].any() and rewards[row] == 0
                assert not terminated[row] and not truncated[row]
                continue
            mover = table.players[0]
            table.step(chosen_all(table.observations, table.masks))
            owed[row] += table.rewards[0]
            assert info["acted"][row] == mover and rewards[row] == pytest.approx(owed[row, mover], abs=1e-4)
            owed[row, mover] = 0
            assert np.array_equal(info["rewards"][row], table.rewards[0])
            assert (terminated[row], truncated[row]) == (table.terminated[0], table.truncated[0])
            if terminated[row] or truncated[row]:
                num_ended += 1
                owed[row] = 0
                if mode is AutoresetMode.SAME_STEP:
                    assert np.array_equal(info["final_obs"][row], table.observations[0])
                    table.reset()
        over = (terminated | truncated) & (mode is not AutoresetMode.SAME_STEP)
    assert num_ended > 4


@pytest.mark.parametrize("seat", ["rotate", "all", 0])
@pytest.mark.parametrize("opponents", [None, chosen_all])
def test_rows_do_not_depend_on_their_number(seat, opponents):
    if seat == "all" and opponents:
        pytest.skip("nobody to answer")
    few, many = (dominoes_env.vector_env(n, "all_fives", num_players=3, seat=seat, opponents=opponents) for n in (2, 9))
    a, b = few.reset(seed=7), many.reset(seed=7)
    for _ in range(60):
        assert np.array_equal(a[0], b[0][:2]) and np.array_equal(a[-1]["action_mask"], b[-1]["action_mask"][:2])
        a = few.step(chosen_all(a[0], a[-1]["action_mask"]))
        b = many.step(chosen_all(b[0], b[-1]["action_mask"]))
        assert all(np.array_equal(x, y[:2]) for x, y in zip(a[1:4], b[1:4], strict=True))


@pytest.mark.unjitted
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("seat", "opponents"), [("rotate", None), ("rotate", chosen_all), ("all", None)])
def test_rows_do_not_depend_on_the_threads(seat, opponents, mode):
    one, two = (
        dominoes_env.vector_env(
            7, "draw", max_pip=3, hand_size=3, seat=seat, opponents=opponents, autoreset_mode=mode, num_threads=threads
        )
        for threads in (1, 3)
    )
    a, b = one.reset(seed=7), two.reset(seed=7)
    num_ended = 0
    for _ in range(30):
        assert same(a, b)
        wrong = chosen_all(a[0], a[-1]["action_mask"])
        wrong[[2, 5]] = -1
        refusals = []
        for env in (one, two):
            with pytest.raises(ValueError, match="in row 2 is outside") as refusal:
                env.step(wrong)
            refusals.append(str(refusal.value))
        assert refusals[0] == refusals[1]
        a, b = (env.step(chosen_all(x[0], x[-1]["action_mask"])) for env, x in ((one, a), (two, b)))
        ended = a[2] | a[3]
        num_ended += ended.sum()
        if mode is AutoresetMode.NEXT_STEP and ended.any():  # the step that only resets takes any action
            assert same(a, b)
            a, b = (env.step(chosen_all(x[0], x[-1]["action_mask"])) for env, x in ((one, a), (two, b)))
            if (a[2] | a[3]).any():
                break
        if mode is AutoresetMode.DISABLED and ended.any():
            a, b = (env.reset(options={"reset_mask": ended}) for env in (one, two))
    assert num_ended


def test_seats_are_balanced_and_seeds_start_over():
    env = dominoes_env.vector_env(8, "block", num_players=4)
    observations, info = env.reset(seed=0)
    assert info["player"].tolist() == [0, 1, 2, 3] * 2
    counts = np.zeros(4)
    for _ in range(300):
        observations, _, terminated, _, info = env.step(chosen_all(observations, info["action_mask"]))
        counts += np.bincount(info["player"][terminated], minlength=4)
    assert counts.min() > 0.8 * counts.max()
    first = env.reset(seed=0)
    assert first[1]["player"].tolist() == [0, 1, 2, 3] * 2
    assert env.reset()[1]["player"].tolist() == [1, 2, 3, 0] * 2
    assert same(first, env.reset(seed=0))
    with pytest.raises(ValueError, match="seed=-1"):
        env.reset(seed=-1)


@pytest.mark.unjitted
@pytest.mark.parametrize("seat", ["rotate", "all"])
@pytest.mark.parametrize(("variant", "reward", "price"), [("draw", "margin", 168), ("partners", "win", 1)])
def test_illegal_actions_lose(seat, variant, reward, price):
    env = dominoes_env.vector_env(6, variant, seat=seat, reward=reward, illegal="lose", history=True)
    observations, info = env.reset(seed=1)
    actions = chosen_all(observations, info["action_mask"])
    players = info["player"].copy()
    actions[2] = np.flatnonzero(info["action_mask"][2] == 0)[0]
    observations, rewards, terminated, truncated, info = env.step(actions)
    assert terminated[2] and not truncated[2]
    assert rewards[2] == -price == info["rewards"][2, players[2]]
    assert info["rewards"][2].sum() == pytest.approx(0)
    assert info["action_mask"][2].sum() == info["action_mask"][2, -1] == 1
    turn = dominoes_env.read_piece(env.rules, observations[2], "turn", history=True)
    assert not turn.any()
    _, rewards, terminated, _, info = env.step(chosen_all(observations, info["action_mask"]))
    assert rewards[2] == 0 and not terminated[2] and info["action_mask"][2].sum() >= 1


@pytest.mark.unjitted
@pytest.mark.parametrize("seat", ["rotate", "all"])
def test_illegal_actions_raise(seat):
    env = dominoes_env.vector_env(6, "draw", seat=seat, illegal="raise")
    observations, info = env.reset(seed=1)
    twin = copy.deepcopy(env)
    actions = chosen_all(observations, info["action_mask"])
    wrong = actions.copy()
    wrong[4] = np.flatnonzero(info["action_mask"][4] == 0)[0]
    with pytest.raises(ValueError, match=rf"action={wrong[4]} in row 4 is illegal; legal: "):
        env.step(wrong)
    for loses in (env, dominoes_env.vector_env(6, seat=seat, illegal="lose")):
        loses.reset(seed=1)
        for outside in (-1, loses.single_action_space.n):
            wrong[4] = outside
            with pytest.raises(ValueError, match="outside the action space"):
                loses.step(wrong)
    for bad, text in ((actions.astype(float), "dtype float64"), (actions[:3], r"shape \(3,\)")):
        with pytest.raises(ValueError, match=text):
            env.step(bad)
    assert same(env.step(actions), twin.step(actions))


@pytest.mark.unjitted
def test_an_illegal_action_loses_a_held_episode_as_it_stands():
    env = dominoes_env.vector_env(40, "classic_block", hand_size=2, seat=1)
    _, info = env.reset(seed=0)
    held = env._rows.records["is_held"].copy()
    assert held.any() and (info["action_mask"][held].sum(axis=1) == 1).all()
    _, rewards, terminated, _, _ = env.step(np.where(held, 3, info["action_mask"].argmax(axis=1)))
    missed = held & (info["action_mask"][:, 3] == 0)
    assert missed.any() and terminated[missed].all() and (rewards[missed] == -168).all()


@pytest.mark.parametrize("opponents", [None, chosen_all])
def test_copies_go_on_alike(opponents):
    env = dominoes_env.vector_env(5, "muggins", opponents=opponents, history=True)
    observations, info = env.reset(seed=4)
    for _ in range(7):
        observations, _, _, _, info = env.step(chosen_all(observations, info["action_mask"]))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(20):
        actions = chosen_all(observations, info["action_mask"])
        answer = env.step(actions)
        assert all(same(answer, twin.step(actions)) for twin in twins)
        observations, info = answer[0], answer[-1]


def test_outputs_are_fresh_unless_asked_otherwise():
    safe, quick = dominoes_env.vector_env(4, "block"), dominoes_env.vector_env(4, "block", copy=False)
    a, b = safe.reset(seed=0), quick.reset(seed=0)
    for _ in range(20):
        assert same(a, b)
        kept, kept_info = a[0].copy(), copy.deepcopy(a[-1])
        actions = chosen_all(a[0], a[-1]["action_mask"])
        before = a
        a, again = safe.step(actions), quick.step(actions)
        assert np.array_equal(before[0], kept) and same(before[-1], kept_info)
        assert np.shares_memory(b[0], again[0]) and np.shares_memory(b[-1]["action_mask"], again[-1]["action_mask"])
        b = again


@pytest.mark.unjitted
def test_opponents_see_what_their_seat_may_know():
    asked = []

    def policy(observations, masks, infos):
        table = env._rows.table
        for place, (row, player) in enumerate(zip(infos["row"], infos["player"], strict=True)):
            assert player == table.players[row] != env._rows.records["seat"][row]
            assert np.array_equal(observations[place], table.observe(row, player))
            assert np.array_equal(masks[place], table.mask(row, player))
            assert all_fields(infos["state"][place : place + 1], table.concealed(row, player))
            length = infos["history_length"][place]
            assert np.array_equal(infos["history"][place, :length], table.round_history(row))
        asked.append(len(infos["row"]))
        asked.append(infos["key"].tolist())
        actions = chosen_all(observations, masks)
        for array in (observations, masks, *infos.values()):
            array[...] = np.zeros((), array.dtype)  # they are the policy's own
        return actions

    env = dominoes_env.vector_env(
        6, "all_fives", num_players=3, history=True, opponents=policy, opening="lots_keep"
    )  # fmt: skip
    observations, info = env.reset(seed=0)
    for _ in range(40):
        observations, _, _, _, info = env.step(chosen_all(observations, info["action_mask"]))
    keys = list(itertools.chain(*asked[1::2]))
    assert max(asked[::2]) > 1 and len(set(keys)) == len(keys)


@pytest.mark.unjitted
def test_opponents_by_seat():
    players = {"a": set(), "b": set()}

    def listen(name):
        def policy(observations, masks, infos):
            players[name].update(infos["player"].tolist())
            return chosen_all(observations, masks)

        return policy

    env = dominoes_env.vector_env(4, "block", num_players=4, seat=1, opponents=[listen("a"), None, listen("b")])
    observations, info = env.reset(seed=0)
    for _ in range(20):
        observations, _, _, _, info = env.step(chosen_all(observations, info["action_mask"]))
    assert players == {"a": {2}, "b": {0}}

    env = dominoes_env.vector_env(4, "block", opponents=lambda observations, masks, infos: np.full(len(masks), 57))
    with pytest.raises(ValueError, match="of the opponent in seat"):
        env.reset(seed=0)
    env = dominoes_env.vector_env(4, "block", opponents=lambda observations, masks, infos: masks)
    with pytest.raises(ValueError, match="an opponent answered with"):
        env.reset(seed=0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_envs": 0},
        {"num_envs": True},
        {"seat": 2},
        {"seat": "both"},
        {"seat": True},
        {"seat": "all", "opponents": chosen_all},
        {"opponents": [chosen_all, None]},
        {"opponents": "random"},
        {"autoreset_mode": "later"},
        {"illegal": "ignore"},
        {"illegal": "raise", "illegal_reward": -1.0},
        {"illegal_reward": 1.0},
        {"skip_forced": 2},
        {"history": "yes"},
        {"reward": "pips"},
        {"episode": "game"},
        {"rules": make_rules("block"), "variant": "block"},
        {"tiles": 3},
    ],
)
def test_wrong_arguments_are_named(arguments):
    with pytest.raises(ValueError, match="|".join(arguments)):
        dominoes_env.vector_env(**{"num_envs": 2} | arguments)


@pytest.mark.unjitted
def test_a_reset_mask_is_checked_and_comes_after_a_reset():
    env = dominoes_env.vector_env(3, "block", autoreset_mode="Disabled")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(3, int))
    mask = np.array([True, False, False])
    with pytest.raises(ValueError, match="first reset"):
        env.reset(options={"reset_mask": mask})
    first, _ = env.reset(seed=1)
    for bad in (mask[:2], ~mask & mask, mask.astype(int), [True, False, False]):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": bad})
    again, _ = env.reset(options={"reset_mask": mask})
    assert (again[0] != first[0]).any() and (again[1:] == first[1:]).all()
    again, _ = env.reset(seed=1, options={"reset_mask": mask, "anything": 1})
    assert (again == first).all()


def test_gymnasium_makes_it_and_wraps_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec("dominoes_env:Dominoes-v0", num_envs=4, variant="block", num_players=3)
        assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP and env.rules.num_players == 3
        assert env.observation_space.shape == (4, env.single_observation_space.shape[0])
        env = DictInfoToList(RecordEpisodeStatistics(env))
        observations, infos = env.reset(seed=0)
        lengths = []
        for _ in range(40):
            actions = chosen_all(observations, [info["action_mask"] for info in infos])
            observations, _, _, _, infos = env.step(actions)
            lengths += [info["episode"]["l"] for info in infos if "episode" in info]
        assert len(lengths) > 4
        same_step = gymnasium.make_vec(
            "dominoes_env:Dominoes-v0", num_envs=4, variant="block", autoreset_mode=AutoresetMode.SAME_STEP
        )
        env = DictInfoToList(same_step)
        observations, infos = env.reset(seed=0)
        finals = 0
        for _ in range(30):
            actions = chosen_all(observations, [info["action_mask"] for info in infos])
            observations, _, _, _, infos = env.step(actions)
            finals += sum("final_obs" in info and "action_mask" in info["final_info"] for info in infos)
        assert finals
    env.close()
