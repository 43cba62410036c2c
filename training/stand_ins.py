"""Cheap stand-ins for a match: what they do on its deals tells how lucky the deals were (see ``control_variate``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.match import MatchResult
from dominoes_env.arguments import checked_integer
from training.chunks import Chunk, chunks_of

__all__ = ["StandIns", "covariates", "default_stand_ins"]

#: The cheap agents: each pair of them is a stand-in.
_CHEAP = ("flexible", "doubles", "greedy", "random")
#: Reference deals for each deal of the match: the stand-ins' means then add a twentieth of what they explain.
_REFERENCE_RATIO = 20
_LEAST_REFERENCE = 20_000
#: The reference begins at a deal that no match reaches.
_REFERENCE_DEAL = 2**48
_REFERENCE_CHUNK = 5000


def default_stand_ins(agents: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each pair of the rules of thumb but the match's own: that would be to play the match itself, more often."""
    return tuple(pair for pair in combinations(_CHEAP, 2) if set(pair) != set(agents))


@dataclass(frozen=True)
class StandIns:
    """Which matches stand in, and how well their means are to be known.

    Args:
        pairs: two agents each; empty: :func:`default_stand_ins`.
        reference_deals: deals for their means; None: 20 for each deal of the match, at least 20,000.
    """

    pairs: tuple[tuple[Any, Any], ...] = field(default=())
    reference_deals: int | None = None

    def __post_init__(self) -> None:
        if self.reference_deals is not None:
            checked_integer("control_deals", self.reference_deals, 1000)

    def chunks_beside(self, chunk: Chunk) -> list[Chunk]:
        """A chunk of the same deals for each pair."""
        return [
            Chunk(pair, chunk.rules, chunk.seed, chunk.first_deal, chunk.deals, chunk.mirrored, chunk.batch)
            for pair in self.pairs
        ]

    def reference_chunks(self, chunk: Chunk, deals: int) -> list[list[Chunk]]:
        """Chunks of other deals, one a pair in each row, for a match of ``deals`` deals that ``chunk`` is a part of."""
        count = self.reference_deals or max(_REFERENCE_RATIO * deals, _LEAST_REFERENCE)
        columns = [
            chunks_of(
                pair,
                chunk.rules,
                count,
                seed=chunk.seed,
                first_deal=_REFERENCE_DEAL,
                size=_REFERENCE_CHUNK,
                mirrored=chunk.mirrored,
            )
            for pair in self.pairs
        ]
        return [list(row) for row in zip(*columns, strict=True)]


def covariates(results: Sequence[MatchResult], measure: str) -> NDArray[np.float64]:
    """Shape (deals, pairs): the first agent's mean ``wins`` or ``points`` a deal, for a result a pair."""
    return np.stack([getattr(result, measure)[0].mean(axis=1) for result in results], axis=1)
