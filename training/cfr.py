"""Counterfactual regret minimization over the public tree: CFR, CFR+ and predictive CFR+.

Seats take turns: an iteration updates seat 0 against seat 1's strategy, then seat 1 against the new one of seat 0.
CFR (Zinkevich et al. 2007, "Regret minimization in games with incomplete information") averages all strategies alike,
CFR+ (Tammelin 2014, "Solving large imperfect information games using CFR+") forgets negative regrets and weighs
strategy t by t, predictive CFR+ (Farina et al. 2021, "Faster game solving via predictive Blackwell approachability")
counts the last gain twice and weighs by t squared. What is an optimum is the average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from training.exact_game import Bounds, ExactGame
from training.tree_shares import CFR, CFR_PLUS, MIX, PREDICTIVE

__all__ = ["ALGORITHMS", "Solver", "num_arrays"]

#: By name: the walk's mode, and the power of t by which strategy t counts in the average.
ALGORITHMS = {"pcfr+": (PREDICTIVE, 2), "cfr+": (CFR_PLUS, 1), "cfr": (CFR, 0)}


def num_arrays(algorithm: str) -> int:
    """How many float64 arrays over the tree's entries a solver holds."""
    return 3 if algorithm == "pcfr+" else 2


class Solver:
    """Regrets and average strategy of both seats.

    Args:
        game: what is solved.
        algorithm: one of ``ALGORITHMS``.

    Raises:
        ValueError: for an unknown algorithm.
    """

    def __init__(self, game: ExactGame, algorithm: str = "pcfr+") -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm={algorithm!r} is not allowed; allowed: {', '.join(ALGORITHMS)}")
        self.game, self.algorithm = game, algorithm
        self.iterations = 0
        self._mode, self._power = ALGORITHMS[algorithm]
        self.regrets = game.uniform()
        self.weights = game.uniform() if num_arrays(algorithm) == 3 else self.regrets
        """What the next strategy is made of."""
        self.average = game.uniform()
        """The sum of all strategies, by own reach; as a strategy: their average."""

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """All that it takes to go on, live."""
        arrays = {"average": self.average, "regrets": self.regrets}
        return arrays if self.weights is self.regrets else {**arrays, "weights": self.weights}

    def run(self, iterations: int) -> None:
        """So many iterations more.

        The strategy of the other seat is averaged on the way, so that what seat 0 plays in iteration t is added while
        seat 1 learns from iteration t - 1, and before the first by a walk of its own.
        """
        game, average = self.game, self.average
        game.walk(1, MIX, self.weights, self.regrets, average, self._weight(self.iterations + 1))
        for left in range(iterations - 1, -1, -1):
            self.iterations += 1
            now, after = self._weight(self.iterations), self._weight(self.iterations + 1)
            game.walk(0, self._mode, self.weights, self.regrets, average, now)
            game.walk(1, self._mode, self.weights, self.regrets, average, after if left else 0.0)

    def _weight(self, iteration: int) -> float:
        return float(iteration**self._power)

    def bounds(self) -> Bounds:
        """What the average strategies are worth, and between what the value of the game lies."""
        return self.game.bounds(self.average)
