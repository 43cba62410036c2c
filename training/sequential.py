"""When to stop: at a wanted width, or when a sequential test knows. Pure mathematics: knows no game.

The test is the generalized SPRT on mirrored groups that chess engine testing uses: the log-likelihood ratio of two
hypotheses on the mean of a group, where all else of its distribution takes its most likely form under each (Van den
Bergh, "A practical introduction to the GSPRT"; with two players and groups of two games this is fishtest's pentanomial
model).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sprt", "elo_of_win_rate", "log_likelihood_ratio", "win_rate_of_elo"]

#: Groups added at a lost and at a won one, so that either hypothesis is possible from the start (fishtest's value).
_PRIOR_GROUPS = 1e-3
_BISECTIONS = 50
#: Beyond such differences win rates are 0 or 1 to five digits.
_MOST_ELO = 2000


def win_rate_of_elo(elo: float, fair_share: float = 0.5) -> float:
    """The win rate of a side so much stronger: its odds are 10**(elo / 400) times those of an equal side."""
    return fair_share / (fair_share + (1 - fair_share) * 10 ** (-elo / 400))


def elo_of_win_rate(win_rate: float, fair_share: float = 0.5) -> float:
    """The inverse of :func:`win_rate_of_elo`; infinite for a win rate of 0 or 1."""
    if not 0 < win_rate < 1:
        return math.copysign(math.inf, win_rate - 0.5)
    return 400 * math.log10(win_rate / (1 - win_rate) * (1 - fair_share) / fair_share)


def log_likelihood_ratio(groups: NDArray[Any], mean0: float, mean1: float) -> float:
    """Log of how much likelier ``groups`` are if their mean is ``mean1`` than if it is ``mean0``.

    Args:
        groups: shape (n,), the win share of a group, within 0 to 1.
        mean0: the one hypothesis, strictly within 0 to 1.
        mean1: the other.
    """
    values, counts = np.unique(np.concatenate([[0.0, 1.0], groups]), return_counts=True)
    weights = counts.astype(np.float64)
    weights[[0, -1]] += _PRIOR_GROUPS - 1
    log0, log1 = (_log_likelihoods(values, weights / weights.sum(), mean) for mean in (mean0, mean1))
    return float(weights @ (log1 - log0))


def _log_likelihoods(values: NDArray[Any], shares: NDArray[Any], mean: float) -> NDArray[np.float64]:
    """Logs of the most likely probabilities of ``values`` with that mean, as they were seen with ``shares``.

    They are shares / (1 + t (values - mean)) for the one t that gives the mean (Owen, "Empirical Likelihood", 2001).
    """
    distances = values - mean
    low, high = -1 / distances[-1], -1 / distances[0]
    for _ in range(_BISECTIONS):
        t = (low + high) / 2
        if shares @ (distances / (1 + t * distances)) > 0:
            low = t
        else:
            high = t
    return np.log(shares / (1 + (low + high) / 2 * distances))


@dataclass(frozen=True)
class Sprt:
    """A sequential test of "``elo1`` stronger" against "``elo0`` stronger", in Elo of win rates (0: equal).

    The test accepts ``elo1`` with a probability of at most ``alpha`` where ``elo0`` is true, and ``elo0`` with one of
    at most ``beta`` where ``elo1`` is true; nearly so, since it looks after whole chunks and groups are few at first.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            if not -_MOST_ELO <= getattr(self, name) <= _MOST_ELO:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not allowed; allowed: a number from -{_MOST_ELO} to {_MOST_ELO}"
                )
        if self.elo1 <= self.elo0:
            raise ValueError(f"elo1={self.elo1!r} is not allowed; allowed: more than elo0={self.elo0!r}")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed; allowed: more than 0, less than 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which ``elo0`` and ``elo1`` are accepted (Wald 1945)."""
        return math.log(self.beta) - math.log1p(-self.alpha), math.log1p(-self.beta) - math.log(self.alpha)

    def ratio(self, groups: NDArray[Any], fair_share: float = 0.5) -> float:
        """The log-likelihood ratio so far; groups are win shares, ``fair_share`` that of equal sides."""
        mean0, mean1 = (win_rate_of_elo(elo, fair_share) for elo in (self.elo0, self.elo1))
        return log_likelihood_ratio(groups, mean0, mean1)

    def verdict(self, ratio: float) -> Literal["elo0", "elo1"] | None:
        """Which hypothesis a ratio accepts; None: more games are needed."""
        low, high = self.bounds
        return "elo1" if ratio >= high else "elo0" if ratio <= low else None
