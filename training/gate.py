"""The gate of the league: whether a candidate is stronger than a champion, by a sequential test on mirrored deals."""

from __future__ import annotations

from dataclasses import dataclass

from agents.base import Agent
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
from training.evaluate import evaluate
from training.evaluation import Evaluation
from training.sequential import Sprt

__all__ = ["Admission", "Gate"]


@dataclass(frozen=True)
class Gate:
    """The test that a candidate has to pass: ``elo`` stronger, rather than equal, by the generalized SPRT.

    It errs either way in at most 1 of 20. Where ``deals`` do not decide it the candidate stays out.
    """

    elo: float = 10.0
    deals: int = 4000

    def __post_init__(self) -> None:
        Sprt(0.0, self.elo)
        checked_integer("deals", self.deals, 1)

    def try_out(self, candidate: Agent, champion: Agent, rules: Rules, seed: int) -> Evaluation:
        """The match of the two; it stops as soon as the test knows."""
        return evaluate([candidate, champion], rules, self.deals, seed=seed, sprt=Sprt(0.0, self.elo))


@dataclass(frozen=True)
class Admission:
    """What the gate said of a candidate."""

    attempt: int
    """Counted from 0."""
    champion: str
    """Whom it played."""
    match: Evaluation
    is_admitted: bool

    def __str__(self) -> str:
        win = self.match.win_rate
        said = "admitted" if self.is_admitted else "not admitted"
        return (
            f"candidate {self.attempt} {said}: {100 * win.mean:.1f} % ± {100 * win.half_width:.1f} v {self.champion}, "
            f"{self.match.deals:,} deals"
        )
