"""The player ``flexible``: heavy tiles that leave him much to play and the others little."""

from __future__ import annotations

from agents.ranking import FLEXIBLE, RankingAgent

__all__ = ["FlexibleAgent"]


class FlexibleAgent(RankingAgent):
    """Pips of the tile + 3 x own tiles that fit an open end afterwards - 1.5 x unseen ones that do.

    Unseen is what is neither in his hand nor laid. Where the ends score, the play that scores most comes first.
    """

    name = "flexible"
    ranking = FLEXIBLE
