"""Ratings against known and directly maximized likelihoods; bootstrap coverage; cycles."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from training.ratings import bootstrap_ratings, find_cycle, strengths

PAIRS = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])


def test_two_agents_have_the_odds_of_their_wins():
    found = strengths(np.array([[76.0, 24.0]]), np.array([[1, 1]]))
    assert found[0] / found[1] == pytest.approx(76 / 24) and found.prod() == pytest.approx(1)


def test_one_among_three_of_another_kind_wins_by_strength_and_seats():
    found = strengths(np.array([[40.0, 60.0]]), np.array([[1, 3]]))
    assert found[0] / found[1] == pytest.approx(40 / (60 / 3))


def test_three_agents_with_consistent_odds_get_exactly_these():
    true = np.array([4.0, 2.0, 1.0])
    wins = np.array([100 * PAIRS[m] * true / (PAIRS[m] @ true) for m in range(3)])
    found = strengths(wins, PAIRS)
    np.testing.assert_allclose(found / found[2], true, rtol=1e-8)


@given(st.lists(st.floats(1, 60), min_size=24, max_size=24))
def test_the_likelihood_is_greatest_there(numbers):
    seats = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 3], [3, 1, 0, 0], [1, 1, 1, 1]])
    wins = np.array(numbers).reshape(6, 4) * (seats > 0)

    def loss(logs: np.ndarray) -> float:
        chances = seats * np.exp(logs) / (seats @ np.exp(logs))[:, None]
        return -float(np.sum(wins[seats > 0] * np.log(chances[seats > 0])))

    found = np.log(strengths(wins, seats))
    best = optimize.minimize(loss, np.zeros(4), method="BFGS").x
    np.testing.assert_allclose(found, best - best.mean(), atol=2e-3)
    assert loss(found) <= loss(best) + 1e-7


def test_many_problems_at_once_are_each_alone():
    wins = np.random.default_rng(1).integers(1, 50, (5, 3, 3)) * (PAIRS > 0)
    together = strengths(wins, PAIRS)
    for number in range(5):
        np.testing.assert_allclose(together[number], strengths(wins[number], PAIRS), rtol=1e-7)


def test_an_agent_that_won_everything_has_no_rating_without_drawn_games():
    wins = np.array([[10.0, 0.0]])
    with pytest.raises(ValueError, match="some agents have won nothing off the others; add drawn games"):
        strengths(wins, np.array([[1, 1]]))
    ratings = bootstrap_ratings(np.repeat(wins[None] / 10, 10, axis=0), np.array([[1, 1]]))
    assert ratings.elo[0].mean == pytest.approx(200 * math.log10(10.5 / 0.5))


def deals_of(generator: np.random.Generator, count: int, elo: np.ndarray) -> np.ndarray:
    """Win shares (deals, pairs, agents) of which luck of the deal, shared by all pairs, is a part."""
    deal = generator.standard_normal(count)
    wins = np.zeros((count, 3, 3))
    for number, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        chance = 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400))
        luck = 0.6 * deal + 0.8 * generator.standard_normal(count)
        wins[:, number, a] = luck < NormalDist().inv_cdf(chance)
        wins[:, number, b] = 1 - wins[:, number, a]
    return wins


def test_bootstrap_intervals_cover_where_deals_are_shared():
    generator = np.random.default_rng(2)
    true = np.array([40.0, 0.0, -40.0])
    covered, runs = np.zeros(3), 300
    for run in range(runs):
        ratings = bootstrap_ratings(deals_of(generator, 200, true), PAIRS, samples=120, seed=run)
        covered += [one.low <= elo <= one.high for one, elo in zip(ratings.elo, true, strict=True)]
    assert (abs(covered / runs - 0.95) < 0.01 + 2.5 * math.sqrt(0.95 * 0.05 / runs)).all()


def test_ratings_are_anchored_and_repeatable():
    wins = deals_of(np.random.default_rng(3), 300, np.array([40.0, 0.0, -40.0]))
    free, again, tied = (bootstrap_ratings(wins, PAIRS, anchor=anchor) for anchor in (None, None, 1))
    assert free == again and sum(one.mean for one in free.elo) == pytest.approx(0)
    assert tied.elo[1].mean == tied.elo[1].low == tied.elo[1].high == 0
    for one, other in zip(free.elo, tied.elo, strict=True):
        assert other.mean == pytest.approx(one.mean - free.elo[1].mean)


def test_a_shortest_cycle_is_found_and_none_in_an_order():
    assert find_cycle(np.triu(np.ones((6, 6), bool), 1)) is None
    beats = np.zeros((6, 6), bool)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (3, 1), (4, 0), (5, 4)):
        beats[a, b] = True
    assert find_cycle(beats) == [1, 2, 3]
    assert find_cycle(np.zeros((1, 1), bool)) is None
