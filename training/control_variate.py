"""A control variate: how much luckier the deals were than most, by what cheap stand-ins did on them, is taken off.

The mean of ``groups`` is estimated by the mean of ``group - coefficients @ (covariates - their true means)``. The
coefficients of a fold of groups come from the other folds alone (cross-fitting), so the estimate is unbiased whatever
they are; the true means come from many more groups, and what is uncertain in them is part of the interval. (Lavenberg
and Welch, "A Perspective on the Use of Control Variables", 1981; cross-fitting as in Chernozhukov et al. 2018.)
Pure mathematics: knows no game.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.intervals import Interval, interval_around

__all__ = ["Controlled", "Reference", "controlled_mean", "least_groups"]

_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Reference:
    """What is known of the covariates from groups of their own."""

    num_groups: int
    means: NDArray[np.float64]
    """Shape (covariates,)."""
    covariance: NDArray[np.float64]
    """Shape (covariates, covariates): of ``means``, not of a group."""

    @classmethod
    def of(cls, parts: Iterable[NDArray[Any]]) -> Reference:
        """From covariates of shape (groups, covariates), given in parts so that they need not be held together.

        Raises:
            TypeError: if there is no part.
        """
        return reduce(cls.joined, map(cls._of_one, parts))

    @classmethod
    def _of_one(cls, part: NDArray[Any]) -> Reference:
        count, means = len(part), part.mean(axis=0)
        return cls(count, means, (part - means).T @ (part - means) / max(count * (count - 1), 1))

    def joined(self, other: Reference) -> Reference:
        """What the groups of both tell (Chan, Golub and LeVeque, "Updating Formulae ...", 1979)."""
        count, away = self.num_groups + other.num_groups, other.means - self.means
        squares = np.outer(away, away) * (self.num_groups * other.num_groups / count)
        for one in (self, other):
            squares += one.covariance * (one.num_groups * (one.num_groups - 1))
        return Reference(count, self.means + away * (other.num_groups / count), squares / (count * (count - 1)))


@dataclass(frozen=True)
class Controlled:
    """A mean with its interval, and what the covariates saved."""

    interval: Interval
    saving: float
    """How many times as many groups the plain mean would need for the same standard error."""


def least_groups(num_covariates: int) -> int:
    """So many groups :func:`controlled_mean` needs: coefficients from fewer cost more than they save."""
    return 10 * (num_covariates + 1)


def controlled_mean(
    groups: NDArray[Any],
    covariates: NDArray[Any],
    reference: Reference,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Controlled:
    """The mean of independent groups, less what their covariates tell of luck.

    Args:
        groups: shape (n,).
        covariates: shape (n, covariates), of the same groups.
        reference: of other groups than these.
        confidence: how often the interval covers the true mean.
        bounds: the interval is cut off there.

    Raises:
        ValueError: for fewer than :func:`least_groups` groups.
    """
    n, num_covariates = covariates.shape
    least = least_groups(num_covariates)
    if n < least:
        raise ValueError(f"groups={n} is not allowed with {num_covariates} covariates; allowed: {least} or more")
    values = np.asarray(groups, np.float64)
    distances = covariates - reference.means
    ends = np.arange(_FOLDS + 1) * n // _FOLDS
    fitted = _coefficients(values, distances, ends)
    sizes = np.diff(ends)
    left = values - np.einsum("np,np->n", distances, np.repeat(fitted, sizes, axis=0))
    coefficients = sizes / n @ fitted
    unknown = float(coefficients @ reference.covariance @ coefficients)
    mean = float(np.clip(left.mean(), *bounds))
    interval = interval_around(mean, left, confidence, bounds, fitted=num_covariates, variance=unknown)
    variance = float(left.var()) / (n - 1 - num_covariates) + unknown
    plain = float(values.var(ddof=1)) / n
    return Controlled(interval, plain / variance if variance > 0 else 1.0 if plain == 0 else math.inf)


def _coefficients(values: NDArray[Any], covariates: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of linear regressions with a constant, each on all but one fold; covariates that say the same share.

    Args:
        values: shape (n,).
        covariates: shape (n, covariates).
        ends: shape (folds + 1,): fold k begins at ends[k].

    Returns:
        Shape (folds, covariates).
    """
    scale = covariates.std(axis=0)
    scale[scale == 0] = 1
    columns = np.column_stack([np.ones(len(values)), covariates / scale, values - values.mean()])
    folds = np.array([columns[start:end].T @ columns[start:end] for start, end in pairwise(ends)])
    others = folds.sum(axis=0) - folds  # sums of products over all but a fold
    sums = others[:, 0, 1:]
    products = others[:, 1:, 1:] - sums[:, :, None] * sums[:, None, :] / others[:, :1, :1]
    inverses = np.linalg.pinv(products[:, :-1, :-1], rcond=1e-10, hermitian=True)
    fitted: NDArray[np.float64] = np.einsum("fpq,fq->fp", inverses, products[:, :-1, -1]) / scale
    return fitted
