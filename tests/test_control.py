"""Less luck: what mirroring saves, the control variate against ordinary regression, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents import play_match
from dominoes_env.engine.variants import make_rules
from training.control_variate import Reference, controlled_mean, least_groups
from training.intervals import mean_interval, mirroring_saving
from training.stand_ins import covariates


def luck(generator: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups of mean 0.3, half of whose variance two covariates of means 1 and -2 explain."""
    deals = generator.standard_normal((count, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    groups = 0.3 + deals[:, 0] + 0.2 * (deals[:, 1] ** 2 - 1.25) + deals[:, 2]
    return groups, deals[:, :2] + [1.0, -2.0]


def test_a_reference_in_parts_is_the_whole():
    values = np.random.default_rng(1).standard_normal((1000, 3)) @ np.diag([1.0, 2.0, 3.0]) + 1e6
    whole = Reference.of(np.array_split(values, 7))
    np.testing.assert_allclose(whole.means, values.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(whole.covariance, np.cov(values.T) / 1000, rtol=1e-9)
    assert whole.num_groups == 1000
    joined = Reference.of([values[:1]]).joined(Reference.of([values[1:]]))
    np.testing.assert_allclose(joined.covariance, whole.covariance, rtol=1e-9)


def test_a_controlled_share_near_its_bound_has_a_width():
    reference = Reference(10**6, np.zeros(1), np.zeros((1, 1)))
    found = controlled_mean(np.ones(200), np.random.default_rng(1).standard_normal((200, 1)), reference, bounds=(0, 1))
    assert found.interval.low < 0.99 < found.interval.mean == found.interval.high == 1


def test_what_is_known_exactly_is_taken_off_exactly():
    generator = np.random.default_rng(2)
    covariate = generator.standard_normal((500, 1))
    groups = 0.4 + 3 * covariate[:, 0]
    found = controlled_mean(groups, covariate, Reference(10**9, np.zeros(1), np.zeros((1, 1))))
    assert found.interval.mean == pytest.approx(0.4) and found.interval.half_width < 1e-9
    assert found.saving > 1e9


def test_it_is_a_regression_estimate():
    generator = np.random.default_rng(3)
    covariate = generator.standard_normal((5000, 2))
    groups = 1 + covariate @ [0.7, -0.2] + generator.standard_normal(5000)
    reference = Reference(10**9, np.array([0.1, 0.0]), np.zeros((2, 2)))
    found = controlled_mean(groups, covariate, reference)
    design = np.column_stack([np.ones(5000), covariate - reference.means])
    constant = np.linalg.lstsq(design, groups)[0][0]
    assert found.interval.mean == pytest.approx(constant, abs=2e-3)
    assert found.saving == pytest.approx(
        groups.var() / (groups - design @ np.linalg.lstsq(design, groups)[0]).var(), rel=0.02
    )


def test_a_covariate_that_is_constant_or_given_twice_does_no_harm():
    generator = np.random.default_rng(4)
    covariate = generator.standard_normal(300)
    groups = covariate + generator.standard_normal(300)
    one, many = (
        controlled_mean(
            groups, columns, Reference(10**6, np.zeros(columns.shape[1]), np.zeros((columns.shape[1],) * 2))
        )
        for columns in (covariate[:, None], np.column_stack([covariate, covariate, np.zeros(300)]))
    )
    assert one.interval.mean == pytest.approx(many.interval.mean) and one.saving == pytest.approx(many.saving, rel=0.02)


def test_a_badly_known_mean_widens_the_interval():
    groups, columns = luck(np.random.default_rng(5), 400)
    means = np.array([1.0, -2.0])
    exact, vague = (controlled_mean(groups, columns, Reference(9, means, np.eye(2) * v)).interval for v in (0, 1))
    assert vague.half_width > 5 * exact.half_width


@pytest.mark.parametrize(("count", "reference_groups"), [(100, 300), (250, 1000)])
def test_coverage_on_synthetic_luck(count, reference_groups):
    """Its error is 0.4 %, so that 95 ± 1 % can be told."""
    generator = np.random.default_rng(6)
    runs, covered, means = 3000, 0, []
    for _ in range(runs):
        reference = Reference.of([luck(generator, reference_groups)[1]])
        found = controlled_mean(*luck(generator, count), reference).interval
        covered += found.low <= 0.3 <= found.high
        means.append(found.mean)
    assert abs(covered / runs - 0.95) < 0.01
    assert mean_interval(np.array(means), confidence=0.999).low < 0.3 < mean_interval(np.array(means), 0.999).high


@pytest.fixture(scope="module")
def population():
    """Some ten thousand mirrored deals of greedy v random, and of two stand-in pairs."""
    rules = make_rules("classic_block")
    return [
        play_match(pair, rules, 8000, seed=5)
        for pair in (("greedy", "random"), ("doubles", "random"), ("greedy", "doubles"))
    ]


@pytest.mark.parametrize("measure", ["wins", "points"])
def test_coverage_on_real_games(population, measure):
    """Deals drawn from many, whose mean is the truth; plain and controlled intervals; the error is 0.4 %."""
    groups = getattr(population[0], measure)[0].mean(axis=1)
    columns = covariates(population[1:], measure)
    bounds = (0.0, 1.0) if measure == "wins" else (-math.inf, math.inf)
    generator = np.random.default_rng(9)
    runs, plain, controlled, savings = 3000, 0, 0, []
    for _ in range(runs):
        rows, others = generator.integers(len(groups), size=(2, 150)), generator.integers(len(groups), size=1500)
        rows = rows[0]
        interval = mean_interval(groups[rows], bounds=bounds)
        plain += interval.low <= groups.mean() <= interval.high
        found = controlled_mean(groups[rows], columns[rows], Reference.of([columns[others]]), bounds=bounds)
        controlled += found.interval.low <= groups.mean() <= found.interval.high
        savings.append(found.saving)
    assert abs(plain / runs - 0.95) < 0.01 and abs(controlled / runs - 0.95) < 0.01
    assert np.median(savings) > 1.15


def test_mirroring_saves_what_plain_games_would_take(population):
    games = population[0].points[0]  # (deals, seatings)
    saving = mirroring_saving(games)
    generator = np.random.default_rng(10)
    plain = [games[generator.integers(len(games), size=100), seating].mean() for _ in range(3000) for seating in (0, 1)]
    mirrored = [games[generator.integers(len(games), size=100)].mean() for _ in range(3000)]
    fresh = np.array(plain).reshape(-1, 2).mean(axis=1)  # as many games, each with a deal of its own
    assert saving == pytest.approx(fresh.var() / np.var(mirrored), rel=0.1)
    assert 1.1 < saving < 1.5
    assert mirroring_saving(np.array([[1.0, 0.0], [0.0, 1.0]])) == math.inf
    assert mirroring_saving(np.zeros((5, 2))) == 1


def test_too_few_groups_are_refused():
    with pytest.raises(ValueError, match="groups=29 is not allowed with 2 covariates; allowed: 30 or more"):
        controlled_mean(np.zeros(29), np.zeros((29, 2)), Reference(9, np.zeros(2), np.zeros((2, 2))))
    assert least_groups(2) == 30
    with pytest.raises(ValueError, match="groups=1 is not allowed; allowed: at least 2"):
        mirroring_saving(np.zeros((1, 2)))
