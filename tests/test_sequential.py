"""Stopping early: Elo, the likelihood ratio against a direct maximization, error rates and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from training.intervals import mean_interval
from training.sequential import Sprt, elo_of_win_rate, log_likelihood_ratio, win_rate_of_elo

SHARES = np.array([0, 0.25, 0.5, 0.75, 1])


def shares_of(mean: float) -> np.ndarray:
    """Probabilities of SHARES with that mean: most groups near the middle."""
    tilt = optimize.brentq(lambda t: _tilted(t) @ SHARES - mean, -9, 9)
    return _tilted(tilt)


def _tilted(t: float) -> np.ndarray:
    weights = np.array([0.14, 0.16, 0.4, 0.16, 0.14]) * np.exp(t * SHARES)
    return weights / weights.sum()


def test_elo_is_log_odds_over_an_even_share():
    assert win_rate_of_elo(0) == 0.5 and win_rate_of_elo(0, 1 / 3) == pytest.approx(1 / 3)
    assert win_rate_of_elo(400) == pytest.approx(10 / 11)
    for elo in (-120.0, 3.0, 80.0):
        for fair in (0.5, 0.25):
            assert elo_of_win_rate(win_rate_of_elo(elo, fair), fair) == pytest.approx(elo)
    assert elo_of_win_rate(1) == math.inf and elo_of_win_rate(0) == -math.inf


@pytest.mark.parametrize(("mean0", "mean1"), [(0.5, 0.52), (0.5, 0.514), (0.45, 0.6)])
def test_the_ratio_is_that_of_the_likeliest_distributions(mean0, mean1):
    counts = np.array([30.0, 55.0, 200.0, 61.0, 41.0])
    groups = np.repeat(SHARES, counts.astype(int))

    def best(mean: float) -> float:
        """The greatest log-likelihood of the counts among all distributions of that mean."""
        found = optimize.minimize(
            lambda p: -counts @ np.log(p),
            shares_of(mean),
            jac=lambda p: -counts / p,
            bounds=[(1e-6, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(5)},
                {"type": "eq", "fun": lambda p: p @ SHARES - mean, "jac": lambda p: SHARES},
            ],
            options={"maxiter": 500, "ftol": 1e-14},
        )
        return -found.fun

    ratio = log_likelihood_ratio(groups, mean0, mean1)
    assert ratio == pytest.approx(best(mean1) - best(mean0), abs=1e-2)
    normal = len(groups) * (mean1 - mean0) * (2 * groups.mean() - mean0 - mean1) / (2 * groups.var())
    assert ratio == pytest.approx(normal, rel=0.2)  # the usual approximation


def test_one_sided_groups_do_not_break_the_ratio():
    assert log_likelihood_ratio(np.ones(50), 0.5, 0.55) > 0 > log_likelihood_ratio(np.zeros(50), 0.5, 0.55)
    assert math.isfinite(log_likelihood_ratio(np.full(50, 0.5), 0.5, 0.55))
    assert log_likelihood_ratio(np.full(500, 0.5), 0.5, 0.55) < -5


def rate_of_elo1(truth: float, sprt: Sprt, runs: int) -> tuple[float, float]:
    """How often elo1 is accepted where the Elo is ``truth``, looked at after chunks of 50; and mean groups."""
    generator = np.random.default_rng(7)
    chances = shares_of(win_rate_of_elo(truth))
    accepted, played = 0, 0
    for _ in range(runs):
        groups = generator.choice(SHARES, 5000, p=chances)
        for count in range(50, 5001, 50):
            verdict = sprt.verdict(sprt.ratio(groups[:count]))
            if verdict is not None:
                break
        assert verdict is not None
        accepted += verdict == "elo1"
        played += count
    return accepted / runs, played / runs


def test_error_rates_of_the_sequential_test():
    sprt = Sprt(0, 30)
    false_alarms, groups0 = rate_of_elo1(0, sprt, 400)
    found, groups1 = rate_of_elo1(30, sprt, 400)
    assert false_alarms <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
    assert found >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / 400)
    fixed = (2 * 1.645) ** 2 * 0.09 / (win_rate_of_elo(30) - 0.5) ** 2  # groups of a test of fixed length as sure
    assert max(groups0, groups1) < 0.75 * fixed
    between, _ = rate_of_elo1(15, sprt, 60)
    assert 0.3 < between < 0.7


def test_intervals_that_stop_at_a_width_still_cover():
    generator = np.random.default_rng(8)
    truth, covered, runs = 0.53, 0, 1500
    chances = shares_of(truth)
    for _ in range(runs):
        groups = generator.choice(SHARES, 1500, p=chances)
        for count in range(100, 1501, 100):
            interval = mean_interval(groups[:count], bounds=(0, 1))
            if interval.half_width <= 0.03:
                break
        assert interval.half_width <= 0.03
        covered += interval.low <= truth <= interval.high
    assert abs(covered / runs - 0.95) < 0.01 + 2 * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize(("truth", "least"), [(0.5, 0.94), (0.9, 0.94), (0.97, 0.95), (0.99, 0.95), (0.999, 0.95)])
def test_intervals_cover_near_the_bounds(truth, least):
    """A hundred groups of two games; the error is 0.4 %."""
    groups = np.random.default_rng(9).binomial(2, truth, (3000, 100)) / 2
    intervals = [mean_interval(row, bounds=(0, 1)) for row in groups]
    mirror = [mean_interval(1 - row, bounds=(0, 1)) for row in groups]
    for found, mean in ((intervals, truth), (mirror, 1 - truth)):
        assert np.mean([one.low <= mean <= one.high for one in found]) >= least
        assert all(0 <= one.low <= one.mean <= one.high <= 1 and one.half_width > 0 for one in found)
    assert [one.mean for one in intervals] == groups.mean(axis=1).tolist()


def test_an_interval_in_the_middle_is_the_usual_one():
    groups = np.random.default_rng(10).choice(SHARES, 2000)
    bounded, free = mean_interval(groups, bounds=(0, 1)), mean_interval(groups)
    assert bounded.low == pytest.approx(free.low, abs=5e-5) and bounded.high == pytest.approx(free.high, abs=5e-5)


def test_bounds_are_walds():
    assert np.isfinite(Sprt(0, 10, alpha=5e-324, beta=5e-324).bounds).all()
    low, high = Sprt(0, 10).bounds
    assert (low, high) == pytest.approx((-2.944, 2.944), abs=1e-3)
    low, high = Sprt(0, 10, alpha=0.01, beta=0.1).bounds
    assert (low, high) == pytest.approx((math.log(0.1 / 0.99), math.log(0.9 / 0.01)))
    assert Sprt(0, 10).verdict(0) is None
