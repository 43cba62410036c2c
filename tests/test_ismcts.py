"""ismcts: it plays by the rules, knows nothing hidden, and finds what brute force finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agents import ismcts
from agents.base import Turn, Turns
from agents.ismcts import IsmctsAgent
from agents.keys import decision_keys
from agents.match import play_match, turns_of
from dominoes_env.engine.moves import nth_legal_action, num_legal_actions
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import PLAYING
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.engine.worlds import determinize, determinize_rows
from dominoes_env.table import Table

PRESETS = [(variant, players) for variant in VARIANTS for players in VARIANTS[variant].hand_sizes]
#: Small sets for brute force: one of which everything is known, one with a hidden boneyard.
ALL_DEALT = make_rules("classic_block", opening="seat_0", max_pip=3, hand_size=5)
SMALL_BLOCK = make_rules("classic_block", opening="seat_0", max_pip=4, hand_size=4)


def decisions(rules: Rules, seed: int = 0) -> Iterator[tuple[Table, Turn]]:
    """Turns with a choice in games of random players, and the table at which each arises."""
    rng = np.random.default_rng(seed)
    table = Table(rules, seed=seed, skip_forced=True)
    while True:
        for number in range(10_000):
            if table.masks[0].sum() > 1:
                yield table, turns_of(table, np.arange(1), decision_keys(seed, number))[0]
            table.step([rng.choice(np.flatnonzero(table.masks[0]))], autoreset=True)


def some_turns(rules: Rules, count: int, seed: int = 0) -> list[Turn]:
    source = decisions(rules, seed)
    return [next(source)[1] for _ in range(count)]


def after(state: NDArray[Any], rules: Rules, action: int) -> NDArray[Any]:
    state = state.copy()
    step(state[0], rules.row[0], action)
    return state


def legal_in(state: NDArray[Any], rules: Rules) -> list[int]:
    row = rules.row[0]
    return [int(nth_legal_action(state[0], row, n)) for n in range(num_legal_actions(state[0], row))]


def margin(state: NDArray[Any], player: int) -> int:
    """Points of ``player`` less the other's, two players, round 1."""
    return int(state["scores"][0][player] - state["scores"][0][1 - player])


# --- what every agent owes


@pytest.mark.parametrize("observer", ["single", "multiple"])
@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_it_plays_every_preset(variant: str, players: int, observer: str) -> None:
    rules = make_rules(variant, num_players=players)
    result = play_match([IsmctsAgent(12, observer), "random"], rules, 2)
    assert result.num_decisions > 0


@pytest.mark.parametrize("variant", ["classic_block", "draw"])
def test_the_answer_is_a_function_of_the_turn(variant: str) -> None:
    turns = some_turns(make_rules(variant), 40)
    agent = IsmctsAgent(40)
    answers = agent.act_batch(Turns.of(turns)).tolist()
    assert answers == [agent.act(turn) for turn in turns] == [IsmctsAgent(40).act(turn) for turn in turns[::-1]][::-1]
    other_keys = [replace(turn, key=turn.key ^ 0xABCDEF) for turn in turns]
    assert answers != [agent.act(turn) for turn in other_keys]


@pytest.mark.parametrize(("variant", "players"), [("classic_block", 2), ("draw", 2), ("all_fives", 3), ("partners", 4)])
def test_hidden_tiles_make_no_difference(variant: str, players: int) -> None:
    """Whatever the other hands and the pile are among the worlds that fit, the search is the same."""
    rules = make_rules(variant, num_players=players)
    rng = np.random.default_rng(1)
    agent = IsmctsAgent(60)
    source = decisions(rules, 3)
    for _ in range(12):
        _, turn = next(source)
        found = agent.search(turn)
        for world in determinize(rules, turn.state, turn.player, turn.history, rng, num_worlds=3):
            other = Table(rules, skip_forced=True)
            other.set_state(0, np.array([world]), turn.history)
            again = agent.search(turns_of(other, np.arange(1), np.array([turn.key], np.uint64))[0])
            assert again.action == found.action
            assert (again.visits == found.visits).all() and (again.means == found.means).all()


@pytest.mark.unjitted
def test_it_runs_with_and_without_the_jit() -> None:
    rules = make_rules("all_fives")
    turn = some_turns(rules, 3)[2]
    found = IsmctsAgent(50, "multiple").search(turn)
    assert found.visits.sum() == 50 and found.action in turn.legal_actions


# --- the statistics


@given(seed=st.integers(0, 2**20), iterations=st.integers(1, 400), observer=st.sampled_from(["single", "multiple"]))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("variant", ["classic_block", "draw", "all_fives", "partners"])
def test_root_statistics_add_up(variant: str, seed: int, iterations: int, observer: str) -> None:
    turn = some_turns(make_rules(variant), 1, seed)[0]
    found = IsmctsAgent(iterations, observer).search(turn)
    assert (found.actions == turn.legal_actions).all()
    assert found.visits.sum() == found.iterations == iterations
    assert (found.visits <= found.availability).all() and (found.availability <= iterations).all()
    assert found.visits[found.actions == found.action] == found.visits.max()
    assert (np.isnan(found.means) == (found.visits == 0)).all()
    assert found.is_past_respected


def test_without_a_choice_nothing_is_searched() -> None:
    rules = make_rules("draw")  # the highest double must lead
    found = IsmctsAgent().search(turns_of(Table(rules), np.arange(1), decision_keys(0))[0])
    assert found.iterations == 0 and found.visits.tolist() == [0] and found.action == found.actions[0]


def test_observers_differ_only_where_players_draw() -> None:
    for variant, differ in (("classic_block", False), ("partners", False), ("draw", True), ("all_fives", True)):
        rules = make_rules(variant)
        turns = some_turns(rules, 12)
        visits = {
            observer: [IsmctsAgent(400, observer).search(turn).visits.tolist() for turn in turns]
            for observer in ismcts.OBSERVERS
        }
        assert (visits["single"] != visits["multiple"]) is differ
        assert visits["auto"] == visits["multiple" if differ else "single"]


# --- what it finds


def minimax(state: NDArray[Any], rules: Rules, player: int) -> int:
    """The margin of ``player`` when both see everything."""
    if state["status"][0] != PLAYING:
        return margin(state, player)
    values = [minimax(after(state, rules, action), rules, player) for action in legal_in(state, rules)]
    return max(values) if state["turn"][0] == player else min(values)


def test_with_everything_known_it_finds_the_minimax_move() -> None:
    """All tiles are dealt to two players, so there is one world; the means converge to the exact values, too."""
    source = decisions(ALL_DEALT, 5)
    telling = 0
    while telling < 12:
        table, turn = next(source)
        state = table.states.copy()
        exact = {
            action: minimax(after(state, ALL_DEALT, action), ALL_DEALT, turn.player) for action in turn.legal_actions
        }
        if len(set(exact.values())) == 1:
            continue
        telling += 1
        found = IsmctsAgent(20_000).search(turn)
        assert exact[found.action] == max(exact.values())
        assert abs(found.means[found.actions == found.action][0] - exact[found.action]) < 1.0


def best_sum(worlds: list[NDArray[Any]], rules: Rules, player: int) -> float:
    """The margins in ``worlds`` together if ``player`` plays best, who tells them apart by public events alone.

    The other takes his first legal action: he holds one tile, and on whichever end it goes, he is out.
    """
    playing = [world for world in worlds if world["status"][0] == PLAYING]
    total = float(sum(margin(world, player) for world in worlds if world["status"][0] != PLAYING))
    if playing and playing[0]["turn"][0] == player:
        return total + max(sum_after(playing, rules, player, action) for action in legal_in(playing[0], rules))
    by_action: dict[int, list[NDArray[Any]]] = {}
    for world in playing:
        by_action.setdefault(legal_in(world, rules)[0], []).append(world)
    return total + sum(sum_after(group, rules, player, action) for action, group in by_action.items())


def sum_after(worlds: list[NDArray[Any]], rules: Rules, player: int, action: int) -> float:
    return best_sum([after(world, rules, action) for world in worlds], rules, player)


def test_it_finds_the_best_play_over_all_worlds() -> None:
    """The other holds one of several tiles: exact values by going through them, without knowing which it is."""
    rng = np.random.default_rng(2)
    source = decisions(SMALL_BLOCK, 7)
    telling = 0
    while telling < 12:
        _, turn = next(source)
        if turn.state["hand_counts"][0][1 - turn.player] != 1:
            continue
        drawn = determinize(SMALL_BLOCK, turn.state, turn.player, turn.history, rng, num_worlds=200)
        worlds = list({int(world["hands"][1 - turn.player]): np.array([world]) for world in drawn}.values())
        exact = {
            int(action): sum_after(worlds, SMALL_BLOCK, turn.player, int(action)) / len(worlds)
            for action in turn.legal_actions
        }
        best, second = sorted(exact.values())[-1:-3:-1]
        if len(worlds) < 3 or best - second < 0.2:
            continue
        telling += 1
        found = IsmctsAgent(20_000).search(turn)
        assert exact[found.action] == best
        assert abs(found.means[found.actions == found.action][0] - best) < 0.5


def test_more_iterations_play_better() -> None:
    rules = make_rules("classic_block", opening="seat_0")
    weak, strong = (play_match([IsmctsAgent(n), "random"], rules, 300, seed=4).points_a_deal() for n in (2, 300))
    assert strong.mean() > 4.0
    assert (strong - weak).mean() > 1.96 * (strong - weak).std() / len(strong) ** 0.5


# --- bounds and refusals


def test_a_time_budget_ends_the_search() -> None:
    turn = some_turns(make_rules("classic_block"), 1)[0]
    found = IsmctsAgent(10_000_000, ms=3).search(turn)
    assert 0 < found.iterations < 10_000_000 and found.iterations % 128 == 0
    assert found.visits.sum() == found.iterations
    assert IsmctsAgent(200, ms=10_000).search(turn).visits.tolist() == IsmctsAgent(200).search(turn).visits.tolist()


def test_a_full_tree_grows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ismcts, "_MOST_EDGES", 30)
    turn = some_turns(make_rules("classic_block"), 1)[0]
    found = IsmctsAgent(500).search(turn)
    assert found.visits.sum() == 500


def test_where_the_past_is_too_much_the_position_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(worlds: Any, rules: Any, state: Any, player: Any, past: Any, has_past: bool, generator: Any) -> int:
        return 2 if has_past else int(determinize_rows(worlds, rules, state, player, past, has_past, generator))

    monkeypatch.setattr(ismcts, "determinize_rows", refuse)
    for turn in some_turns(make_rules("draw", num_players=4), 10):
        found = IsmctsAgent(50).search(turn)
        assert not found.is_past_respected and found.visits.sum() == 50


def test_a_history_of_another_state_is_refused() -> None:
    turn = some_turns(make_rules("classic_block"), 3)[2]
    with pytest.raises(ValueError, match="does not lead to the state of player"):
        IsmctsAgent(10).act(replace(turn, history=turn.history[:-1]))


@pytest.mark.parametrize(
    "arguments",
    [
        {"iterations": 0},
        {"iterations": 1.5},
        {"iterations": True},
        {"observer": "both"},
        {"observer": None},
        {"exploration": -0.1},
        {"exploration": float("nan")},
        {"exploration": "1"},
        {"ms": -1},
        {"ms": float("inf")},
        {"ms": True},
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any]) -> None:
    [(name, value)] = arguments.items()
    with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed; allowed: "):
        IsmctsAgent(**arguments)
