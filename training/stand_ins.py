"""Cheap stand-ins for a match: what they do on its deals tells how lucky the deals were (see ``control_variate``)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.catalog import make_agent
from agents.match import MatchResult
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
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
        reference_deals: deals for their means; None: 20 for each deal that the match has played, at least 20,000.
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

    def num_reference_deals(self, deals: int) -> int:
        """How many a match of so many deals asks for, in whole chunks where the number is not given."""
        if self.reference_deals is not None:
            return self.reference_deals
        return _REFERENCE_CHUNK * math.ceil(max(_REFERENCE_RATIO * deals, _LEAST_REFERENCE) / _REFERENCE_CHUNK)

    def reference_chunks(self, chunk: Chunk, known: int, wanted: int) -> Iterator[Chunk]:
        """The reference's deals ``known`` to ``wanted`` for the match that ``chunk`` is a part of: other deals than
        the match's, in rows of a chunk a pair.
        """
        columns = [
            chunks_of(
                pair,
                chunk.rules,
                wanted - known,
                seed=chunk.seed,
                first_deal=_REFERENCE_DEAL + known,
                size=_REFERENCE_CHUNK,
                mirrored=chunk.mirrored,
            )
            for pair in self.pairs
        ]
        return (one for row in zip(*columns, strict=True) for one in row)

    def check(self, rules: Rules) -> None:
        """Called before a match.

        Raises:
            ValueError: for a pair that cannot play by ``rules``, or a person.
        """
        for agent in (make_agent(agent) for pair in self.pairs for agent in pair):
            if agent.is_person:
                raise ValueError(f"control={agent.name!r} is not allowed; allowed: agents that are no persons")
            agent.check_rules(rules)


def covariates(results: Sequence[MatchResult], measure: str) -> NDArray[np.float64]:
    """Shape (deals, pairs): the first agent's mean ``wins`` or ``points`` a deal, for a result a pair."""
    return np.stack([getattr(result, measure)[0].mean(axis=1) for result in results], axis=1)
