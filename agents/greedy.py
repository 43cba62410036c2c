"""The player ``greedy``: the heaviest tile."""

from __future__ import annotations

from agents.ranking import HEAVIEST, RankingAgent

__all__ = ["GreedyAgent"]


class GreedyAgent(RankingAgent):
    """The heaviest tile; where the ends score, the play that scores most, among equals the heaviest tile."""

    name = "greedy"
    ranking = HEAVIEST
