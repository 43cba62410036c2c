"""Table: independence of rows, seeds, rewards, episodes, forced moves, refusals, copies."""

from __future__ import annotations

import copy
import os
import pickle
import signal
from typing import Any

import numpy as np
import pytest

from dominoes_env.engine.state import MATCH_OVER, PLAYING, ROUND_OVER, TRUNCATED
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.table import Table, random_keys

ONE_EACH = {"draw_rule": "one", "num_players": 4, "hand_size": 1}


def _random_actions(table: Table, keys: Any) -> list[int]:
    """A legal action a row, picked by a number that belongs to the row."""
    legal = [np.flatnonzero(mask) for mask in table.masks]
    return [int(actions[key % len(actions)]) for actions, key in zip(legal, keys, strict=True)]


def _is_same(one: Table, other: Table) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in (
            "states",
            "masks",
            "observations",
            "rewards",
            "points",
            "terminated",
            "truncated",
            "history_lengths",
        )
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_does_not_depend_on_the_others(variant: str) -> None:
    """Row i of a batch is the single game i, and the row of any other batch that has its game id."""
    rules = make_rules(variant)
    batch = Table(rules, 16, seed=7, episode="match")
    single = Table(rules, 1, seed=7, game_ids=[5], episode="match")
    pair = Table(rules, 2, seed=7, game_ids=[11, 5], episode="match")
    rng = np.random.default_rng(0)
    for _ in range(150):
        keys = rng.integers(0, 1000, 16)
        batch.step(_random_actions(batch, keys), autoreset=True)
        single.step(_random_actions(single, keys[[5]]), autoreset=True)
        pair.step(_random_actions(pair, keys[[11, 5]]), autoreset=True)
        assert single.states[0] == batch.states[5] == pair.states[1]
        assert pair.states[0] == batch.states[11]
        assert np.array_equal(single.rewards[0], batch.rewards[5])
        assert np.array_equal(single.observations[0], pair.observations[1])


@pytest.mark.parametrize("num_threads", [2, 3, 7])
def test_threads_change_nothing(num_threads: int) -> None:
    rules = make_rules("all_fives", target=40)
    options: dict[str, Any] = {"seed": 5, "episode": "match", "reward": "win", "history": True}
    one, many = Table(rules, 5, **options), Table(rules, 5, num_threads=num_threads, **options)
    keys, same = random_keys(1, 5), random_keys(1, 5)
    for _ in range(60):
        actions = one.sample(keys)
        one.step(actions, autoreset=True)
        many.step(actions, autoreset=True)
        assert _is_same(one, many)
    one.play(keys, 50)
    for _ in range(60):
        many.sample(same)
    many.play(same, 50)
    assert _is_same(one, many)
    before = copy.deepcopy(many)
    wrong = many.sample(same)
    wrong[[1, 4]] = rules.num_actions + 1, -1
    with pytest.raises(ValueError, match="in row 1 is outside"):
        many.step(wrong)
    assert _is_same(many, before)
    assert pickle.loads(pickle.dumps(many)).num_threads == num_threads


def test_sampled_actions_are_legal_and_uniform() -> None:
    table = Table(make_rules("draw", opening="seat_0"), 1, seed=1)
    keys = random_keys(2, 1)
    actions = [int(table.sample(keys)[0]) for _ in range(7000)]
    legal = np.flatnonzero(table.masks[0])
    counts = np.bincount(actions, minlength=table.rules.num_actions)
    assert set(actions) == set(legal) and len(legal) == 7
    assert (abs(counts[legal] - 1000) < 150).all()  # five standard deviations


def test_seeds() -> None:
    rules = make_rules("draw")
    one, same, other = Table(rules, 4, seed=1), Table(rules, 4, seed=1), Table(rules, 4, seed=2)
    assert _is_same(one, same)
    assert not np.array_equal(one.states["hands"], other.states["hands"])
    assert len({int(h) for h in one.states["hands"][:, 0]}) == 4
    other.reset(1)
    assert _is_same(one, other)
    one.reset()
    assert not np.array_equal(one.states["hands"], same.states["hands"])
    big = Table(rules, 1, seed=2**64 - 1)
    assert big.states["status"][0] == PLAYING


@pytest.mark.parametrize("variant", ["block", "draw", "all_fives", "partners", "bergen"])
@pytest.mark.parametrize("reward", ["margin", "points", "win"])
def test_rewards_follow_from_the_points(variant: str, reward: Any) -> None:
    rules = make_rules(variant)
    n = rules.num_players
    table = Table(rules, 32, seed=3, reward=reward)
    rng = np.random.default_rng(1)
    episodes = 0
    for _ in range(120):
        table.step(_random_actions(table, rng.integers(0, 1000, 32)), autoreset=True)
        for row in range(32):
            points, rewards = table.points[row].astype(float), table.rewards[row]
            if reward == "points":
                expected = points
            elif reward == "margin" and rules.teams:
                expected = points - np.roll(points, 1)
            elif reward == "margin":
                expected = points - (points.sum() - points) / (n - 1)
            else:
                won = np.array([table.final_winners[row] >> seat & 1 for seat in range(n)], float)
                is_decided = table.terminated[row] and 0 < won.sum() < n
                expected = won / won.sum() - (1 - won) / (n - won.sum()) if is_decided else np.zeros(n)
            assert np.allclose(rewards, expected)
            if reward != "points":
                assert abs(rewards.sum()) < 1e-5
            episodes += table.terminated[row]
    assert episodes > 50


def test_a_round_is_one_round_of_a_fresh_match() -> None:
    table = Table(make_rules("block"), 8, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(60):
        table.step(_random_actions(table, rng.integers(0, 100, 8)), autoreset=True)
        assert (table.states["round"] == 1).all()
        assert not table.truncated.any()
        fresh = table.history_lengths == 0
        assert (table.states["scores"][fresh] == 0).all()


def test_a_match_goes_on_to_its_target() -> None:
    table = Table(make_rules("draw", target=200), 1, seed=5, episode="match")
    rng = np.random.default_rng(0)
    total = np.zeros(2)
    rounds = 1
    while not table.terminated[0]:
        before = table.states["round"][0]
        table.step(_random_actions(table, rng.integers(0, 100, 1)))
        total += table.points[0]
        if table.states["round"][0] != before:
            rounds += 1
            assert table.history_lengths[0] == 0
            assert table.states["status"][0] == PLAYING
    assert rounds == table.states["round"][0] > 1
    assert table.states["status"][0] == MATCH_OVER
    assert list(table.states["scores"][0][:2]) == list(total)
    assert total.max() >= 200
    assert table.final_winners[0] == 1 << int(total.argmax())


def test_max_rounds_truncates() -> None:
    table = Table(make_rules("draw", max_rounds=2), 1, seed=5, episode="match", reward="win")
    while not (table.terminated[0] or table.truncated[0]):
        table.step(_random_actions(table, [0]))
    assert table.truncated[0] and not table.terminated[0]
    assert table.states["status"][0] == TRUNCATED
    assert table.states["round"][0] == 2
    assert table.final_winners[0] == 0
    assert not table.rewards.any()


@pytest.mark.parametrize("variant", ["draw", "block", "partners", "all_fives"])
@pytest.mark.parametrize("episode", ["round", "match"])
def test_skipping_forced_moves_skips_nothing_else(variant: str, episode: Any) -> None:
    """The same choices give the same games; rewards add up over what is skipped, and every row offers a choice."""
    rules = make_rules(variant, target=30)
    whole = Table(rules, 1, seed=9, episode=episode)
    short = Table(rules, 1, seed=9, episode=episode, skip_forced=True)
    rng = np.random.default_rng(4)
    for _ in range(40):
        booked = np.zeros(rules.num_players)
        for _ in range(10_000):
            if short.states[0] == whole.states[0]:
                break
            assert whole.masks[0].sum() == 1
            whole.step([int(whole.masks[0].argmax())])
            booked += whole.rewards[0]
        assert short.states[0] == whole.states[0]
        assert np.array_equal(short.round_history(), whole.round_history())
        assert short.masks[0].sum() > 1
        action = int(rng.choice(np.flatnonzero(short.masks[0])))
        short.step([action])
        whole.step([action])
        booked += whole.rewards[0]
        while short.states[0] != whole.states[0]:
            assert whole.masks[0].sum() == 1
            whole.step([int(whole.masks[0].argmax())])
            booked += whole.rewards[0]
        assert np.allclose(booked, short.rewards[0])
        assert short.terminated[0] == whole.terminated[0]
        if short.terminated[0]:
            short.reset()
            whole.reset()


def test_an_episode_without_a_choice_is_offered_at_its_last_move() -> None:
    rules = make_rules("classic_block", max_pip=1, hand_size=1, opening="seat_0")
    table = Table(rules, 64, seed=1, skip_forced=True)
    assert (table.states["status"] == PLAYING).all()
    table.step([int(mask.argmax()) for mask in table.masks])
    assert table.terminated.all()
    assert (table.states["round"] == 1).all()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0.0, 1.0], "actions of dtype float64 are not allowed; allowed: integers"),
        ([True, False], "actions of dtype bool are not allowed"),
        ([0], r"actions of shape \(1,\) are not allowed; allowed: \(2,\)"),
        ([[0, 0]], r"actions of shape \(1, 2\)"),
        ([-1, 0], "action=-1 in row 0 is outside the action space; allowed: 0 to 57"),
        ([58, 0], "action=58 in row 0 is outside the action space"),
    ],
)
def test_bad_actions_change_nothing(actions: Any, message: str) -> None:
    table = Table(make_rules("draw"), 2, seed=1)
    before = copy.deepcopy(table)
    with pytest.raises(ValueError, match=message):
        table.step(actions)
    assert _is_same(table, before)


def test_an_illegal_action_changes_no_row() -> None:
    table = Table(make_rules("draw"), 3, seed=1)
    before = copy.deepcopy(table)
    actions = [int(mask.argmax()) for mask in table.masks]
    actions[2] = table.rules.pass_action
    with pytest.raises(ValueError, match="action=57 in row 2 is illegal; legal: "):
        table.step(actions)
    assert _is_same(table, before)
    assert not table.is_legal(2, 57) and not table.is_legal(2, 10_000) and table.is_legal(0, actions[0])


def test_a_finished_row_wants_a_reset() -> None:
    table = Table(make_rules("draw"), 1, seed=1)
    while not table.terminated[0]:
        table.step([int(table.masks[0].argmax())])
    assert table.states["status"][0] == ROUND_OVER
    assert list(np.flatnonzero(table.masks[0])) == [table.rules.pass_action]
    for seat in range(2):  # everybody can still look, the one with an empty hand too
        assert list(np.flatnonzero(table.mask(0, seat))) == [table.rules.pass_action]
        assert table.observe(0, seat).shape == table.observations[0].shape
    with pytest.raises(ValueError, match="the episode is over"):
        table.step([table.rules.pass_action])
    table.reset()
    table.step([int(table.masks[0].argmax())])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_games": 1.5}, "num_games=1.5"),
        ({"episode": "day"}, "episode='day'"),
        ({"reward": "cash"}, "reward='cash'"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "seed=18446744073709551616"),
        ({"seed": "x"}, "seed='x'"),
        ({"game_ids": [1, 2]}, "game_ids of shape"),
        ({"rules": "draw"}, "rules='draw'"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named) as refusal:
        Table(**{"rules": make_rules("draw"), **arguments})
    assert "allowed: " in str(refusal.value)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_copies_keep_everything_and_share_nothing(clone: Any) -> None:
    table = Table(make_rules("all_fives", target=60), 4, seed=2, episode="match", history=True)
    rng = np.random.default_rng(0)
    for _ in range(100):
        table.step(_random_actions(table, rng.integers(0, 100, 4)), autoreset=True)
    twin = clone(table)
    assert _is_same(table, twin)
    for _ in range(100):
        keys = rng.integers(0, 100, 4)
        table.step(_random_actions(table, keys), autoreset=True)
        assert not _is_same(table, twin)
        twin.step(_random_actions(twin, keys), autoreset=True)
        assert _is_same(table, twin)


def test_a_table_from_read_only_memory_plays_on() -> None:
    """Buffers that are handed over apart from a pickle may be read-only."""
    table = Table(make_rules("draw"), 3, seed=1)
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    twin = pickle.loads(content, buffers=[bytes(buffer.raw()) for buffer in buffers])
    for _ in range(5):
        actions = table.masks.argmax(axis=1)
        table.step(actions, autoreset=True)
        twin.step(actions, autoreset=True)
        assert (table.states == twin.states).all() and (table.observations == twin.observations).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    table = Table(make_rules("draw"), 8, seed=1, num_threads=2)
    table.step(table.masks.argmax(axis=1))
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        signal.alarm(20)
        table.step(table.masks.argmax(axis=1))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_there_are_no_more_threads_than_rows() -> None:
    table = Table(make_rules("draw"), 2, seed=1, num_threads=2**40)
    assert table.in_parts(lambda part: part.stop - part.start) == [1, 1]


def test_a_record_of_other_rules_is_refused() -> None:
    two, three = (Table(make_rules("all_fives", num_players=n), seed=1) for n in (2, 3))
    with pytest.raises(ValueError, match="seats that do not play hold tiles"):
        two.set_state(0, three.states[0])
    block = Table(make_rules("block"), seed=1)
    state = block.states[:1].copy()
    state["laid"], state["ends"] = 1, 3
    with pytest.raises(ValueError, match="more than 2 ends"):
        block.set_state(0, state)


def test_rows_can_be_reset_alone() -> None:
    table = Table(make_rules("draw"), 3, seed=1)
    table.step([int(mask.argmax()) for mask in table.masks])
    before = table.states.copy()
    table.reset(rows=[1])
    assert table.states[0] == before[0] and table.states[2] == before[2]
    assert list(table.history_lengths) == [1, 0, 1]


def test_redeals_keep_the_set_whole() -> None:
    """Deals without a double are dealt anew: still every tile once, and the same for the same seed (D27)."""
    rules = make_rules("draw", max_pip=6, hand_size=1)
    table = Table(rules, 2000, seed=3)  # two tiles out of 28: most deals hold no double
    again = Table(rules, 2000, seed=3)
    assert np.array_equal(table.states, again.states)
    for state in table.states:
        tiles = [t for seat in range(2) for t in range(28) if int(state["hands"][seat]) >> t & 1]
        assert sorted(tiles + [int(t) for t in state["pile"][: state["boneyard"]]]) == list(range(28))
        assert state["is_lead_forced"] == 1 and state["round"] == 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda t: t.reset(rows=[10**7]), "row=10000000"),
        (lambda t: t.reset(rows=[-1]), "row=-1"),
        (lambda t: t.reset(rows=[0.7]), r"rows=\[0.7\]"),
        (lambda t: t.reset(rows=np.array([True])), "rows="),
        (lambda t: t.observe(5, 0), "row=5"),
        (lambda t: t.observe(0, 7), "player=7"),
        (lambda t: t.mask(0, -1), "player=-1"),
        (lambda t: t.mask(0, True), "player=True"),
        (lambda t: t.concealed(9, 0), "row=9"),
        (lambda t: t.concealed(0, 2), "player=2"),
        (lambda t: t.is_legal(2, 0), "row=2"),
        (lambda t: t.round_history(2), "row=2"),
        (lambda t: t.set_state(2, t.states[0]), "row=2"),
        (lambda t: t.set_state(0, np.zeros(1)), "dtype float64"),
        (lambda t: t.set_state(0, t.states), "allowed: one record"),
        (lambda t: t.set_state(0, t.states[0], [1.5]), r"history=\[1.5\]"),
        (lambda t: t.set_state(0, t.states[0], [-7]), r"history=\[-7\]"),
        (lambda t: t.set_state(0, t.states[0], [40_000]), r"history=\[40000\]"),
        (lambda t: t.set_state(0, t.states[0], [57] * 29), "history of 29 actions is not allowed; allowed: at most 28"),
    ],
)
def test_what_is_not_there_is_refused(call: Any, named: str) -> None:
    table = Table(make_rules("draw"), 2, seed=1)
    before = copy.deepcopy(table)
    with pytest.raises(ValueError, match=named):
        call(table)
    assert _is_same(table, before)


@pytest.mark.parametrize("game_ids", [[1.5], [True], ["1"], [-1], [2**64]])
def test_game_ids_are_integers(game_ids: Any) -> None:
    with pytest.raises(ValueError, match="game_ids="):
        Table(make_rules("draw"), 1, game_ids=game_ids)


def test_rows_can_be_chosen_by_a_mask() -> None:
    table = Table(make_rules("draw"), 4, seed=1)
    before = table.states.copy()
    table.reset(rows=np.array([False, False, True, False]))
    assert [bool(a == b) for a, b in zip(table.states, before, strict=True)] == [True, True, False, True]


def test_a_match_without_a_choice_or_a_point_is_offered_in_its_middle() -> None:
    rules = make_rules("all_fives", max_pip=1, hand_size=1, opening="uniform")
    table = Table(rules, 1, seed=1, episode="match", skip_forced=True)
    assert table.states["status"][0] == PLAYING
    table.step([int(table.masks[0].argmax())])
    assert not table.terminated[0] and table.states["round"][0] > 1000


def test_histories_fit_from_any_state_of_a_game() -> None:
    """What a game has recorded can be set up again at every step, and there is room for the rest of the round."""
    rng = np.random.default_rng(0)
    for variant, knobs in (
        ("draw", {"draw_rule": "one", "num_players": 4, "hand_size": 1}),
        ("block", {}),
        ("cuban", {}),
    ):
        rules = make_rules(variant, **knobs)
        table, twin = Table(rules, 8, seed=2), Table(rules, 1)
        for _ in range(150):
            for row in range(8):
                twin.set_state(0, table.states[row], table.round_history(row))
            table.step([rng.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)
