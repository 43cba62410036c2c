"""Prioritised fictitious self-play: how often whom to meet. Pure mathematics: knows no game."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["priority"]

#: Part of the draws that goes to all alike: estimates must be kept up.
_LEAST_SHARE = 0.1


def priority(win_rates: NDArray[np.float64], hardness: float) -> NDArray[np.float64]:
    """How likely each member is to be met, adding up to 1: ``(1 - p) ** hardness`` of the learner's win rate p.

    ``hardness`` 0 is uniform, 2 that of AlphaStar. Luck keeps win rates of dominoes near 1/2, so more tells apart more.
    """
    weights = (1 - win_rates) ** hardness + 1e-12
    shares: NDArray[np.float64] = weights / weights.sum()
    return (1 - _LEAST_SHARE) * shares + _LEAST_SHARE / len(shares)
