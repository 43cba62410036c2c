"""Bradley-Terry ratings in Elo, with bootstrap intervals, and cycles that no rating can show. Pure mathematics.

A line-up is a set of seats: how many each agent has. An agent wins with a probability proportional to its strength
times its seats (Luce 1959; with one seat for each of two this is Bradley and Terry 1952). The strengths of greatest
likelihood are found by the minorization-maximization steps of Hunter, "MM Algorithms for Generalized Bradley-Terry
Models" (2004); a tie counts as a share of a win for each who tied.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.intervals import Interval

__all__ = ["Ratings", "bootstrap_ratings", "find_cycle", "strengths"]

ELO_SCALE = 400.0
_MOST_STEPS = 100_000
_PRECISION = 1e-10


def strengths(wins: NDArray[np.float64], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """Strengths of greatest likelihood, their geometric mean 1.

    Args:
        wins: shape (..., lineups, agents), wins of each agent in each line-up; leading axes are separate problems.
        seats: shape (lineups, agents), seats of each agent in each line-up; 0: it does not play there.

    Returns:
        Shape (..., agents).

    Raises:
        ValueError: if some agents have not won anything off the others: the likelihood has no maximum then.
    """
    games = wins.sum(axis=-1)
    total = wins.sum(axis=-2)
    beaten = np.einsum("...la,lb->...ab", wins, (seats > 0).astype(np.float64)) > 0
    if not np.all(_reachable(beaten)):
        raise ValueError("wins leave no maximum: some agents have won nothing off the others; add drawn games")
    found = np.ones(total.shape)
    for _ in range(_MOST_STEPS):
        rate = games / np.einsum("...a,la->...l", found, seats)
        better = total / np.einsum("...l,la->...a", rate, seats)
        better /= np.exp(np.log(better).mean(axis=-1, keepdims=True))
        change = np.abs(np.log(better / found)).max()
        found = better
        if change < _PRECISION:
            break
    return found


def _reachable(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Shape (..., n, n): which can be reached from which along ``edges``, oneself included."""
    n = edges.shape[-1]
    reached = edges | np.eye(n, dtype=np.bool_)
    for _ in range(n.bit_length()):
        reached = np.matmul(reached.astype(np.float32), reached.astype(np.float32)) > 0
    return reached


@dataclass(frozen=True)
class Ratings:
    """Elo of each agent, in the order of the agents."""

    elo: tuple[Interval, ...]
    anchor: int | None
    """The agent whose rating is 0 by definition; None: their mean is 0."""


def bootstrap_ratings(
    wins: NDArray[np.float64],
    seats: NDArray[np.int64],
    *,
    anchor: int | None = None,
    prior_games: float = 1.0,
    samples: int = 500,
    seed: int = 0,
    confidence: float = 0.95,
) -> Ratings:
    """Ratings of agents that met on the same deals, with percentile intervals (Efron 1979).

    Deals are resampled, each with all that was played on it: what agents share by the luck of deals is not taken for
    independent. Each sample has some further deals, two a line-up on average, that one seat wins outright: so an
    interval has a width where an agent won everything too.

    Args:
        wins: shape (deals, lineups, agents), win shares in a game, the mean over a deal's seatings.
        seats: shape (lineups, agents).
        anchor: the agent with rating 0; None: the mean of all is 0.
        prior_games: so many games of each line-up are added in which every seat won its share, which keeps ratings
            finite where an agent won everything.
        samples: how often deals are resampled.
        seed: of the resampling.
        confidence: of the intervals; a single deal tells of none, and their ends are infinite.
    """
    deals, lineups, agents = wins.shape
    generator = np.random.default_rng(seed)
    flat = wins.reshape(deals, lineups * agents)
    drawn = np.empty((samples, lineups * agents))
    for sample in range(samples):
        drawn[sample] = np.bincount(generator.integers(deals, size=deals), minlength=deals) @ flat
    totals = np.concatenate([flat.sum(axis=0)[None], drawn]).reshape(samples + 1, lineups, agents)
    shares = seats / seats.sum(axis=1, keepdims=True)
    totals += prior_games * shares
    totals[1:] += generator.poisson(2 * shares, (samples, lineups, agents))
    elo = ELO_SCALE * np.log10(strengths(totals, seats))
    if anchor is not None:
        elo -= elo[:, anchor : anchor + 1]
    ends = np.quantile(elo[1:], [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    low, high = np.minimum(ends[0], elo[0]), np.maximum(ends[1], elo[0])
    if deals == 1:
        is_free = np.arange(agents) != anchor
        low[is_free], high[is_free] = -np.inf, np.inf
    return Ratings(
        tuple(Interval(float(m), float(a), float(b)) for m, a, b in zip(elo[0], low, high, strict=True)), anchor
    )


def find_cycle(beats: NDArray[np.bool_]) -> list[int] | None:
    """A shortest cycle of agents each of which beats the next, and the last the first; None if there is none.

    Args:
        beats: shape (n, n), whether the first beats the second.
    """
    cycles = [cycle for start in range(len(beats)) if (cycle := _cycle_through(beats, start)) is not None]
    return min(cycles, key=len, default=None)


def _cycle_through(beats: NDArray[np.bool_], start: int) -> list[int] | None:
    paths, seen = deque([[start]]), set()
    while paths:
        path = paths.popleft()
        for after in map(int, np.flatnonzero(beats[path[-1]])):
            if after == start:
                return path
            if after not in seen:
                seen.add(after)
                paths.append([*path, after])
    return None
