"""The player ``doubles``: doubles first."""

from __future__ import annotations

from agents.ranking import DOUBLES_FIRST, RankingAgent

__all__ = ["DoublesAgent"]


class DoublesAgent(RankingAgent):
    """Doubles first, the heaviest of them, then the heaviest tile; where the ends score, most points before all."""

    name = "doubles"
    ranking = DOUBLES_FIRST
