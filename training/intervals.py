"""Means with intervals from independent groups. Pure mathematics: knows no game."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Interval", "interval_around", "mean_interval", "mirroring_saving", "student_quantile"]


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its interval; an end that nothing bounds is infinite."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The figure after ±: the way to the farther end (the nearer one may have been cut off at a bound)."""
        return max(self.high - self.mean, self.mean - self.low)

    def text(self, digits: int = 2, *, scale: float = 1.0, signed: bool = False) -> str:
        """``12.3 ± 0.4``, in so many decimals and times ``scale``; ``?`` for a half width that nothing bounds."""
        half = f"{scale * self.half_width:.{digits}f}" if math.isfinite(self.half_width) else "?"
        return f"{scale * self.mean:{'+' if signed else ''}.{digits}f} ± {half}"

    def to_dict(self) -> dict[str, float | None]:
        """``mean``, ``low`` and ``high`` as JSON values: what is infinite is None."""
        figures = {"mean": self.mean, "low": self.low, "high": self.high}
        return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t with ``degrees`` of freedom, at least 1.

    Exact for 1 and 2 degrees; above, the expansion around the normal quantile (Abramowitz and Stegun 26.7.5), good to
    0.3 % from 3 degrees and to five digits from 15.
    """
    if degrees == 1:
        return math.tan(math.pi * (probability - 0.5))
    if degrees == 2:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees ** (power + 1) for power, term in enumerate(terms))


def interval_around(
    mean: float,
    values: NDArray[Any],
    confidence: float,
    bounds: tuple[float, float],
    *,
    fitted: int = 0,
    variance: float = 0.0,
) -> Interval:
    """The interval of ``mean`` by Student's t from how ``values`` differ.

    Where values are bounded, the interval is that of the values and one more at each bound (as Agresti and Coull, "The
    American Statistician" 52, 1998, do for shares): it covers near a bound too, and has a width where all values are
    the same. In the middle, with many values, it is the usual one.

    Args:
        mean: the estimate; it lies within the interval.
        values: shape (n,), at least two.
        confidence: how often the interval covers the true mean.
        bounds: the least and the greatest value; the interval is cut off there.
        fitted: coefficients that were fitted to the values.
        variance: what the mean's variance has from elsewhere.
    """
    widened = np.append(values, bounds) if np.isfinite(bounds).all() else values
    degrees = len(widened) - 1 - fitted
    reach = student_quantile(0.5 + confidence / 2, degrees) * math.sqrt(float(widened.var()) / degrees + variance)
    centre = float(widened.mean())
    low, high = min(mean, centre - reach), max(mean, centre + reach)
    return Interval(mean, max(low, bounds[0]), min(high, bounds[1]))


def mean_interval(
    groups: NDArray[Any], confidence: float = 0.95, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """The mean of independent groups and its interval (see :func:`interval_around`).

    Args:
        groups: shape (n,), one value a group (a deal over all its seatings); the interval of one group is ``bounds``.
        confidence: how often the interval covers the true mean.
        bounds: the least and the greatest value that a group can have; the interval is cut off there.

    Raises:
        ValueError: if there is no group.
    """
    values = np.asarray(groups, np.float64).ravel()
    if not len(values):
        raise ValueError("groups is empty; allowed: at least one value")
    mean = float(values.mean())
    if len(values) == 1:
        return Interval(mean, *bounds)
    return interval_around(mean, values, confidence, bounds)


def mirroring_saving(games: NDArray[Any]) -> float:
    """How many times as many games would be needed without mirrored groups, for an interval as narrow.

    Args:
        games: shape (groups, n): the n games of each group, one a seating. If every game had a deal of its own, the
            variance of a mean over as many games of each seating would be the mean of the seatings' variances.

    Raises:
        ValueError: if there are fewer than two groups.
    """
    if len(games) < 2:
        raise ValueError(f"groups={len(games)} is not allowed; allowed: at least 2")
    plain = float(games.var(axis=0, ddof=1).mean())
    mirrored = games.shape[1] * float(games.mean(axis=1).var(ddof=1))
    return plain / mirrored if mirrored > 0 else 1.0 if plain == 0 else math.inf
