"""Records as arrays: what they hold is what the environments show, decision by decision."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env_cases import ODD_RULES, PRESETS
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import PARTNERS_WHO_PAY, played, rule_sets

import dominoes_env
from dominoes_env.archive import read_records, record_from_json, record_to_json, write_records
from dominoes_env.dataset import Transitions, numpy_chunks, to_numpy
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.record_file import RecordFile
from dominoes_env.records import Record, make_record
from dominoes_env.table import Table


def shown_by_env(rules: Rules, seed: int, actions: list[int], options: Any = None, **how: Any) -> dict[str, Any]:
    """What ``env`` shows when these actions are taken in it, in the form of :class:`Transitions`."""
    env = dominoes_env.env(rules=rules, **how)
    env.reset(seed=seed, options=options)
    seen: dict[str, list[Any]] = {name: [] for name in Transitions.__annotations__ if name not in ("rules", "episodes")}
    for action in actions:
        agent = env.agent_selection
        observation = env.observe(agent)
        env.step(action)
        seen["observations"].append(observation["observation"])
        seen["masks"].append(observation["action_mask"])
        seen["actions"].append(action)
        seen["players"].append(int(agent.removeprefix("player_")))
        seen["rewards"].append([env.rewards[name] for name in env.possible_agents])
        seen["terminated"].append(any(env.terminations.values()))
        seen["truncated"].append(any(env.truncations.values()))
    return {name: np.array(values) for name, values in seen.items()}


def assert_same(data: Transitions, shown: dict[str, Any]) -> None:
    assert len(data) == len(shown["actions"])
    for name, values in shown.items():
        told = getattr(data, name)
        assert told.flags.c_contiguous and told.flags.owndata and told.flags.writeable
        np.testing.assert_array_equal(told, values.astype(told.dtype).reshape(told.shape), err_msg=name)


def env_record(rules: Rules, seed: int, num_steps: int, episode: str, skip_forced: bool) -> tuple[Record, list[int]]:
    """A random game, broken off after ``num_steps`` choices, and these choices."""
    rng = np.random.default_rng(seed)
    table = Table(rules, seed=seed, episode=episode, skip_forced=skip_forced)  # type: ignore[arg-type]
    game = Game(rules=rules, seed=seed, episode=episode)  # type: ignore[arg-type]
    chosen: list[int] = []

    def follow() -> None:
        """Take the forced actions that the table has taken by itself."""
        while not game.is_over and (
            table.terminated[0]
            or table.truncated[0]
            or (game.round, len(game.history)) != (table.states["round"][0], table.history_lengths[0])
        ):
            (action,) = game.legal_actions
            game.step(action)

    follow()
    while len(chosen) < num_steps and not game.is_over:
        chosen.append(int(rng.choice(np.flatnonzero(table.masks[0]))))
        table.step([chosen[-1]])
        game.step(chosen[-1])
        follow()
    return game.record, chosen


#: Nobody ever has a choice.
FORCED = ("classic_block", {"max_pip": 1, "hand_size": 1})
SMALL = [
    ("draw", {"max_pip": 3, "hand_size": 3, "target": 20, "max_rounds": 2}),
    ("all_fives", {"max_pip": 3, "hand_size": 3, "target": 20}),
    FORCED,
]
SOME = [(name, {"num_players": players}) for name, players in PRESETS] + ODD_RULES
SOME += [("partners", PARTNERS_WHO_PAY[1]), FORCED]


def check_games(rules: Rules, skip_forced: bool, num_seeds: int = 3) -> None:
    for seed in range(num_seeds):
        reward = ("margin", "points", "win")[seed % 3]
        for episode, num_steps in (("round", 1000), ("match", (1000, 120)[seed % 2])):
            record, chosen = env_record(rules, seed, num_steps, episode, skip_forced)
            how: Any = {"reward": reward, "history": seed % 2 == 0, "skip_forced": skip_forced}
            data = to_numpy([record_from_json(record_to_json(record))], **how)
            assert_same(data, shown_by_env(rules, seed, chosen, episode=episode, **how))
            assert (data.episodes == 0).all()


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize(("variant", "knobs"), SOME)
def test_it_is_what_the_environment_shows(variant: str, knobs: dict[str, Any], skip_forced: bool) -> None:
    check_games(make_rules(variant, **knobs), skip_forced)


@pytest.mark.unjitted
@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize(("variant", "knobs"), SMALL)
def test_small_games(variant: str, knobs: dict[str, Any], skip_forced: bool) -> None:
    check_games(make_rules(variant, **knobs), skip_forced, 6)


@settings(deadline=None, max_examples=30)
@given(rule_sets(), st.booleans(), st.integers(1, 1000))
def test_whatever_the_rules(rules: Rules, skip_forced: bool, num_steps: int) -> None:
    for episode, reward in (("round", "points"), ("match", "margin")):
        record, chosen = env_record(rules, num_steps, num_steps, episode, skip_forced)
        how: Any = {"reward": reward, "history": True, "skip_forced": skip_forced}
        assert_same(to_numpy([record], **how), shown_by_env(rules, num_steps, chosen, episode=episode, **how))


@pytest.mark.unjitted
def test_a_game_of_forced_moves_that_breaks_off_has_no_decision() -> None:
    rules = make_rules("block", max_pip=1, hand_size=1)  # the second player may still have to lay his tile
    games = [played(rules, seed, 99, "round") for seed in range(20)]
    whole = next(game.record for game in games if len(game.history) > 1)
    (past,) = whole.rounds
    broken = make_record(rules, [(past.deal, past.actions[:-1])], episode="round")
    data = to_numpy([broken, whole, broken, whole], skip_forced=True)
    assert data.episodes.tolist() == [1, 3] and data.dones.all() and (data.actions == past.actions[-1]).all()
    assert len(to_numpy([broken, whole])) == 2 * len(past.actions) - 1
    with pytest.raises(ValueError, match="records=\\[\\] is not allowed"):
        to_numpy([])
    assert len(to_numpy([broken], skip_forced=True)) == 0
    with pytest.raises(ValueError, match=f"move {len(past.actions) + 1}: pass after the end of the round"):
        make_record(rules, [(past.deal, [*past.actions, rules.pass_action])])


@pytest.mark.parametrize("variant", ["draw", "all_fives"])
def test_games_that_begin_in_mid_round(variant: str) -> None:
    rules = make_rules(variant, target=150)
    for seed in range(5):
        begun = played(rules, seed, 5 + seed)
        game = Game.from_position(begun.position)
        while not game.is_over:
            game.step(game.legal_actions[seed % len(game.legal_actions)])
        record = game.record
        assert record.seed is None and len(record.rounds) > 1
        actions = [action for past in record.rounds for action in past.actions]
        how: Any = {"episode": "match", "history": True}
        shown = shown_by_env(rules, 1, actions, {"position": begun.position.partition(" | ")[2]}, **how)
        data = to_numpy([record], history=True)
        assert_same(data, shown)
        assert data.dones.sum() == 1 and data.terminated[-1]


def test_rounds_that_no_generator_deals() -> None:
    """Each deal then stands in the record alone."""
    rules = make_rules("draw", target=60)
    game = played(rules, 3, 10_000)
    told = to_numpy([game.record])
    rounds = [(re.sub(r" \| generator 0x[0-9a-f]+", "", past.deal), past.actions) for past in game.record.rounds]
    bare = make_record(rules, rounds)
    assert "generator" not in record_to_json(bare)
    for name, values in to_numpy([record_from_json(record_to_json(bare))]).arrays().items():
        np.testing.assert_array_equal(values, told.arrays()[name])


def test_parts_are_whole_games_and_add_up(tmp_path: Path) -> None:
    rules = make_rules("classic_block", num_players=3, target=30)
    path = tmp_path / "games.jsonl"
    write_records(path, (played(rules, seed, 10_000, ("round", "match")[seed % 2]).record for seed in range(30)))
    whole = to_numpy(RecordFile(path), history=True)
    parts = list(numpy_chunks(read_records(path), size=100, history=True))
    assert len(parts) > 5 and all(part.dones[-1] and len(part) >= 100 for part in parts[:-1])
    for name, values in whole.arrays().items():
        np.testing.assert_array_equal(np.concatenate([part.arrays()[name] for part in parts]), values)
    assert set(whole.episodes.tolist()) == set(range(30)) and (np.diff(whole.episodes) >= 0).all()
    assert whole.dones.sum() == 30
    assert repr(whole).startswith(f"<Transitions m={len(whole)}, D=")
    assert whole.rewards[whole.rows, whole.players].shape == (len(whole),)
    expected = {"observations": np.int8, "masks": np.int8, "actions": np.int16, "players": np.int8}
    expected |= {"rewards": np.float32, "terminated": np.bool_, "truncated": np.bool_, "episodes": np.int64}
    assert {name: values.dtype.type for name, values in whole.arrays().items()} == expected


def test_records_are_taken_as_they_are_needed() -> None:
    rules = make_rules("draw")
    taken = []

    def endless() -> Iterator[Record]:
        while True:
            taken.append(played(rules, len(taken), 10_000, "round").record)
            yield taken[-1]

    for part in islice(numpy_chunks(endless(), size=200), 3):
        assert len(part) < 300
    assert len(taken) < 60


def test_what_is_refused() -> None:
    record = played(make_rules("draw"), 1, 20).record
    other = played(make_rules("draw", target=50), 1, 20).record
    with pytest.raises(ValueError, match="record 1 has other rules than the first"):
        to_numpy([record, other])
    for how, reason in (
        ({"reward": "money"}, "reward='money' is not allowed; allowed: margin, points, win"),
        ({"history": 1}, "history=1 is not allowed"),
        ({"skip_forced": None}, "skip_forced=None is not allowed"),
    ):
        with pytest.raises(ValueError, match=reason):
            to_numpy([record], **how)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size=0 is not allowed"):
        numpy_chunks([record], size=0)
