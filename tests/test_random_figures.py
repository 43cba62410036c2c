"""Figures of uniform random play with the double-six set, as the rule sheet gives them, against rounds on a table."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import pytest

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table

NUM_ROWS = 1_000


@dataclass
class Figures:
    """Means over rounds; of decisions after the lead that have a legal play, the mean number and the share of one."""

    plays: float
    draws: float
    blocked: float
    starter_wins: float
    legal: float
    forced: float


def play_rounds(rules: Rules, num_rounds: int, seed: int) -> Figures:
    """``num_rounds`` rounds, each the first of its match, every legal action as likely as another.

    The rounds are the first ``num_rounds // NUM_ROWS`` of each row, whatever their length, so that long rounds count
    as often as short ones.
    """
    table = Table(rules, NUM_ROWS, seed=seed)
    chooser = np.random.default_rng(seed)
    rounds_left = np.full(NUM_ROWS, num_rounds // NUM_ROWS)
    num_ends_of_rounds = plays = draws = blocked = decisions = choices = forced = 0
    won = 0.0
    while np.any(rounds_left > 0):
        counted = rounds_left > 0
        is_lead = table.states["laid"] == 0
        num_plays = table.masks[:, : rules.draw_action].sum(axis=1)
        decided = counted & ~is_lead & (num_plays > 0)
        decisions += int(decided.sum())
        choices += int(num_plays[decided].sum())
        forced += int((num_plays[decided] == 1).sum())
        actions = np.argmax(np.where(table.masks == 1, chooser.random(table.masks.shape, np.float32), -1), axis=1)
        plays += int((counted & (actions < rules.draw_action)).sum())
        draws += int((counted & (actions == rules.draw_action)).sum())
        starters = table.states["starter"].copy()
        table.step(actions)
        ended = np.flatnonzero(table.terminated)
        for row in ended[counted[ended]]:
            state = table.states[row]
            num_ends_of_rounds += 1
            blocked += 1 - int(state["is_out"])
            winners = int(state["round_winners"])
            if winners >> int(starters[row]) & 1:
                won += 1 / winners.bit_count()
        rounds_left[ended] -= 1
        table.reset(rows=ended)
    assert num_ends_of_rounds == NUM_ROWS * (num_rounds // NUM_ROWS)
    return Figures(
        plays=plays / num_ends_of_rounds,
        draws=draws / num_ends_of_rounds,
        blocked=blocked / num_ends_of_rounds,
        starter_wins=won / num_ends_of_rounds,
        legal=choices / decisions,
        forced=forced / decisions,
    )


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (
            make_rules("classic_block"),
            {"plays": (10.4, 0.1), "blocked": (0.705, 0.02), "legal": (2.26, 0.03), "forced": (0.315, 0.01)}
            | {"starter_wins": (0.57, 0.02), "draws": (0, 0)},
        ),
        (make_rules("classic_block", num_players=3), {"plays": (16.5, 0.15), "blocked": (0.50, 0.02)}),
        (make_rules("classic_block", num_players=4), {"plays": (22.4, 0.15), "blocked": (0.27, 0.02)}),
        (make_rules("draw"), {"plays": (18.4, 0.15), "draws": (7.9, 0.2), "blocked": (0.176, 0.015)}),
        (
            make_rules("draw", opening="uniform"),
            {"plays": (18.7, 0.15), "draws": (8.3, 0.2), "blocked": (0.20, 0.02)},
        ),
        (make_rules("all_fives"), {"plays": (15.9, 0.15), "draws": (4.0, 0.15), "blocked": (0.030, 0.008)}),
        (make_rules("all_fives", opening="uniform"), {"plays": (16.8, 0.15), "blocked": (0.067, 0.01)}),
    ],
    ids=["block-2", "block-3", "block-4", "draw", "draw-free-lead", "all_fives", "all_fives-free-lead"],
)
def test_random_play(rules: Rules, expected: dict[str, tuple[float, float]]) -> None:
    """Each figure within what rounding in the sheet and 50,000 rounds (over five standard errors) leave open."""
    figures = play_rounds(rules, 50_000, seed=1)
    for name, (value, margin) in expected.items():
        assert getattr(figures, name) == pytest.approx(value, abs=margin), f"{name} of {figures}"


@pytest.mark.parametrize(
    ("num_players", "hand_size", "percent"), [(2, 7, 0.290), (3, 5, 0.145), (4, 5, 0.00068), (3, 7, 0.000084)]
)
def test_chance_that_no_double_is_dealt(num_players: int, hand_size: int, percent: float) -> None:
    """The sheet's figure is what counting gives; where it is not too small, 200,000 deals show it."""
    dealt = num_players * hand_size
    exact = comb(21, dealt) / comb(28, dealt)
    assert 100 * exact == pytest.approx(percent, rel=0.02)
    if exact < 0.001:
        return
    rules = make_rules("draw", num_players=num_players, hand_size=hand_size, opening="uniform")
    table = Table(rules, 50_000, seed=3)
    doubles = np.uint64(sum(1 << number * (number + 3) // 2 for number in range(7)))
    without = deals = 0
    for _ in range(4):
        held = np.bitwise_or.reduce(table.states["hands"], axis=1)
        without += int(np.sum(held & doubles == 0))
        deals += len(held)
        table.reset()
    error = (exact * (1 - exact) / deals) ** 0.5
    assert without / deals == pytest.approx(exact, abs=5 * error)


def test_a_deal_without_a_double_is_dealt_anew() -> None:
    table = Table(make_rules("draw"), 100_000, seed=4)
    doubles = np.uint64(sum(1 << number * (number + 3) // 2 for number in range(7)))
    starters = table.states["hands"][np.arange(100_000), table.states["starter"]]
    assert np.all(starters & doubles != 0)
