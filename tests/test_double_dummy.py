"""The solver against plain minimax in Python, on small sets, under every preset and many mixtures of knobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.double_dummy import NO_LIMIT, add_action_values, make_scratch, solve
from dominoes_env.engine.information import conceal
from dominoes_env.engine.jit import IS_JIT_ENABLED
from dominoes_env.engine.moves import nth_legal_action, num_legal_actions
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import PLAYING
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.table import Table

#: Hand sizes that plain minimax can cope with, by number of players, for a double-three set.
HAND_SIZES = {2: 4, 3: 3, 4: 2}
#: Knobs that are mixed in, where the rules allow the mixture.
MIXTURES: dict[str, tuple[Any, ...]] = {
    "draw_rule": ("none", "until_playable", "one"),
    "boneyard_reserve": (0, 1),
    "opening": ("uniform", "heaviest", "lots_keep"),
    "spinner": ("none", "first_double", "opening_double"),
    "end_scoring": ("none", "fives", "threes", "fives_and_threes", "equal_ends"),
    "round_end": ("blocked_only", "out_or_blocked"),
    "settlement": ("penalty_each", "winner_takes"),
    "award": ("all", "opponents", "opponents_minus_own", "one_point"),
    "rounding": ("none", "nearest", "each_hand", "up"),
    "blocked_tie": ("nobody", "split"),
    "block_winner": ("team_sum", "single_lowest"),
    "early_block": (False, True),
    "target_check": ("at_once", "after_round"),
}


def _legal(rules: Rules, state: Any) -> list[int]:
    record, row = state[0], rules.row[0]
    return [int(nth_legal_action(record, row, n)) for n in range(num_legal_actions(record, row))]


def _after(rules: Rules, state: Any, action: int) -> Any:
    child = state.copy()
    step(child[0], rules.row[0], action)
    return child


def _margin(rules: Rules, before: Any, after: Any, seat: int) -> float:
    points = (after["scores"][0] - before["scores"][0]).astype(float)[: rules.num_players]
    if rules.settlement == "penalty_each":
        points = -points
    if rules.teams:
        return float(points[seat] - points[(seat + 1) % 4])
    return float(points[seat] - np.delete(points, seat).mean())


def _minimax(rules: Rules, start: Any, state: Any, seat: int, left: list[int]) -> float:
    """The margin of ``seat`` since ``start``: he and his partner want it high, all others low."""
    left[0] -= 1
    if left[0] < 0:
        raise OverflowError
    if state["status"][0] != PLAYING:
        return _margin(rules, start, state, seat)
    values = [_minimax(rules, start, _after(rules, state, a), seat, left) for a in _legal(rules, state)]
    turn = int(state["turn"][0])
    is_own = turn == seat or (rules.teams and (turn - seat) % 2 == 0)
    return max(values) if is_own else min(values)


def _positions(rules: Rules, count: int, rng: np.random.Generator) -> list[Any]:
    """Open positions some random actions into a round, scores anywhere up to the target."""
    found: list[Any] = []
    while len(found) < count:
        table = Table(rules, seed=int(rng.integers(1 << 40)))
        state = table.states.copy()
        scores = rng.integers(0, rules.target, 4)
        if rng.random() < 0.5:
            scores = np.maximum(rules.target - rng.integers(1, 12, 4), 0)
        scores = scores[[0, 1, 0, 1]] if rules.teams else scores
        state["scores"][0][: rules.num_players] = scores[: rules.num_players]
        for _ in range(int(rng.integers(0, 5))):
            if state["status"][0] == PLAYING:
                state = _after(rules, state, int(rng.choice(_legal(rules, state))))
        if state["status"][0] == PLAYING:
            found.append(state)
    return found


def _agrees(rules: Rules, state: Any) -> bool:
    """Compare values and line with minimax; False if that would take too long."""
    seat = int(state["turn"][0])
    left = [1500]
    try:
        expected = {a: _minimax(rules, state, _after(rules, state, a), seat, left) for a in _legal(rules, state)}
    except OverflowError:
        return False
    solution = solve(rules, state)
    assert solution.is_exact
    assert np.flatnonzero(~np.isnan(solution.values)).tolist() == list(expected)
    for action, value in expected.items():
        assert solution.values[action] == pytest.approx(value), (rules, action)
    assert solution.value == pytest.approx(max(expected.values()))
    end = state
    for action in solution.line:
        assert action in _legal(rules, end)
        end = _after(rules, end, action)
    assert end["status"][0] != PLAYING
    assert _margin(rules, state, end, seat) == pytest.approx(solution.value)
    return True


def _small(variant: str, num_players: int, **knobs: Any) -> Rules:
    return make_rules(variant, num_players=num_players, max_pip=3, hand_size=HAND_SIZES[num_players], **knobs)


def _mixture(rng: np.random.Generator) -> Rules:
    """Some rules with knobs from MIXTURES; a knob that the others exclude is drawn anew."""

    def drawn(knob: str) -> Any:
        return MIXTURES[knob][int(rng.integers(len(MIXTURES[knob])))]

    num_players = int(rng.integers(2, 5))
    knobs = {knob: drawn(knob) for knob in MIXTURES}
    knobs.update(num_players=num_players, teams=bool(num_players == 4 and rng.random() < 0.5))
    knobs.update(max_pip=3, hand_size=HAND_SIZES[num_players], target=int(rng.integers(5, 60)), no_double="heaviest")
    while True:
        try:
            return Rules(**knobs)
        except ValueError as error:
            refused = str(error).split("=")[0]
            knob = refused if refused in MIXTURES else str(rng.choice(list(MIXTURES)))
            knobs[knob] = drawn(knob)


@pytest.mark.unjitted
@pytest.mark.parametrize(
    ("variant", "num_players"), [(name, n) for name, preset in VARIANTS.items() for n in preset.hand_sizes]
)
def test_presets_agree_with_minimax(variant: str, num_players: int) -> None:
    rules = _small(variant, num_players, no_double="heaviest")
    rng = np.random.default_rng(num_players)
    count = 10 if IS_JIT_ENABLED else 1
    assert sum(_agrees(rules, state) for state in _positions(rules, count, rng)) >= count // 2


@pytest.mark.unjitted
def test_mixtures_of_knobs_agree_with_minimax() -> None:
    rng = np.random.default_rng(7)
    count = 80 if IS_JIT_ENABLED else 25
    compared = 0
    for _ in range(count):
        rules = _mixture(rng)
        compared += sum(_agrees(rules, state) for state in _positions(rules, 2, rng))
    assert compared >= count


def test_points_at_once_are_told_apart_by_the_scores() -> None:
    """A round that a play's points may end: the same position with other scores has another value somewhere."""
    rules = _small("all_fives", 2, no_double="heaviest", target=150)
    rng = np.random.default_rng(3)
    differs = 0
    for state in _positions(rules, 40, rng):
        values = []
        for score in (0, 145):
            state["scores"][0][:2] = score
            assert _agrees(rules, state)
            values.append(solve(rules, state).value)
        differs += values[0] != values[1]
    assert differs > 0


def test_full_rounds_are_consistent() -> None:
    """On full sets: each position of the line has the value that its line yields; an illegal action has none."""
    for variant in ("classic_block", "all_fives", "partners"):
        rules = make_rules(variant)
        state = Table(rules, seed=11).states.copy()
        seat = int(state["turn"][0])
        solution = solve(rules, state)
        end = state
        for action in solution.line:
            end = _after(rules, end, action)
        assert end["status"][0] != PLAYING
        assert _margin(rules, state, end, seat) == solution.value == np.nanmax(solution.values)
        assert solution.nodes > 0


def test_worlds_are_weighted() -> None:
    rules = make_rules("classic_block", opening="seat_0")
    state = Table(rules, seed=4).states.copy()
    other = state.copy()
    spare = ((1 << rules.num_tiles) - 1) & ~int(state["hands"][0][0]) & ~int(state["hands"][0][1])
    tiles = [tile for tile in range(rules.num_tiles) if spare >> tile & 1]
    other["hands"][0][1] = sum(1 << tile for tile in tiles[:7])
    totals = np.zeros(rules.num_actions)
    worlds = np.concatenate([state, other, other])
    exact = add_action_values(rules.row, worlds, np.array([2.0, 0.5, 0.0]), NO_LIMIT, make_scratch(rules), totals)
    expected = 2 * np.nan_to_num(solve(rules, state).values) + 0.5 * np.nan_to_num(solve(rules, other).values)
    assert exact == 2
    assert totals == pytest.approx(expected)


@pytest.mark.parametrize("variant", ["cuban", "all_fives", "draw", "classic_block", "fives_and_threes"])
def test_a_budget_gives_an_estimate_for_every_action(variant: str) -> None:
    rules = make_rules(variant, num_players=4)
    state = Table(rules, seed=2, skip_forced=True).states.copy()
    small = solve(rules, state, max_nodes=300)
    assert not small.is_exact
    assert small.line == ()
    assert np.flatnonzero(~np.isnan(small.values)).tolist() == sorted(_legal(rules, state))
    assert np.abs(small.values[_legal(rules, state)]).max() <= rules.total_pips
    assert small.values == pytest.approx(solve(rules, state, max_nodes=300).values, nan_ok=True)


def test_a_large_budget_changes_nothing() -> None:
    rules = make_rules("classic_block", opening="seat_0")
    state = Table(rules, seed=8).states.copy()
    bounded = solve(rules, state, max_nodes=1_000_000)
    assert bounded.is_exact
    assert bounded.values == pytest.approx(solve(rules, state).values, nan_ok=True)


def test_what_cannot_be_solved_is_refused() -> None:
    rules = make_rules("draw")
    table = Table(rules, seed=1)
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        solve(rules, np.concatenate([table.states, table.states]))
    with pytest.raises(ValueError, match="STATE_DTYPE"):
        solve(rules, np.zeros(1))
    hidden = table.states.copy()
    conceal(hidden[0], 0)
    with pytest.raises(ValueError, match="hides tiles"):
        solve(rules, hidden)
    over = table.states.copy()
    over["status"] = PLAYING + 1
    with pytest.raises(ValueError, match="round is over"):
        solve(rules, over)
    with pytest.raises(ValueError, match="max_nodes=0"):
        solve(rules, table.states, max_nodes=0)


def test_a_lone_record_of_a_table_is_left_alone() -> None:
    table = Table(make_rules("classic_block"), 2, seed=3)
    before = table.states.tobytes()
    solution = solve(table.rules, table.states[0])
    assert table.states.tobytes() == before
    assert solution.value == solve(table.rules, table.states[:1]).value
