"""Evaluation that can be believed: mirrored deals, intervals from the mirrored groups, a warning where it is thin."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.atomic import write_atomically
from agents.catalog import make_agent
from agents.match import play_match
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import describe_rules
from training.intervals import Interval, mean_interval

__all__ = ["FEW_DEALS", "Evaluation", "evaluate", "write_json"]

#: Below so many deals a result is called thin.
FEW_DEALS = 100


@dataclass(frozen=True)
class Evaluation:
    """How the first agent does against the others."""

    variant: str
    rules: Rules
    agents: tuple[str, ...]
    deals: int
    seed: int
    num_seatings: int
    win_rate: Interval
    """Share of rounds won, a tie shared; 95 %, within 0 to 1 (just these for a single deal)."""
    points: Interval
    """Points booked in a round less the mean of the opponents', a deal over all its seatings; 95 %
    (infinite for a single deal)."""
    warnings: tuple[str, ...] = field(default=())

    @property
    def fair_share(self) -> float:
        """The win rate of an agent as good as its opponents."""
        return 0.5 if self.rules.teams else 1 / self.rules.num_players

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values. Of a single deal the win rate is known to lie in 0 to 1 and the points not at all:
        their ``low`` and ``high`` are None.
        """
        return {
            "variant": self.variant,
            "num_players": self.rules.num_players,
            "rules": self.rules.to_dict(),
            "agents": list(self.agents),
            "deals": self.deals,
            "seatings": self.num_seatings,
            "seed": self.seed,
            "confidence": 0.95,
            "fair_share": self.fair_share,
            "win_rate": self.win_rate.to_dict(),
            "points": self.points.to_dict(),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        win, points = self.win_rate, self.points
        win_spread = f"± {100 * win.half_width:.2f}   (95 %: {100 * win.low:.2f} to {100 * win.high:.2f}; "
        points_spread = f"± {points.half_width:.2f}   (95 %: {points.low:+.2f} to {points.high:+.2f}; "
        if self.deals == 1:  # one deal says nothing of how much deals differ
            win_spread = points_spread = "± unknown   ("
        return (
            f"{self.agents[0]} v {' v '.join(self.agents[1:])} · {self.variant}, {self.rules.num_players} players, "
            f"{_deals(self.deals)} x {self.num_seatings} seatings, seed {self.seed}\n"
            f"  win rate       {100 * win.mean:6.2f} % {win_spread}even: {100 * self.fair_share:.0f})\n"
            f"  points a deal  {points.mean:+6.2f}   {points_spread}even: 0)"
        )


def _deals(count: int) -> str:
    return "1 deal" if count == 1 else f"{count:,} deals"


def evaluate(
    agents: Sequence[Any],
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    variant: str | None = None,
    batch: int = 2048,
    progress: Callable[[int], object] | None = None,
) -> Evaluation:
    """Play mirrored deals and sum up for the first agent.

    Args:
        agents: names as in the catalog, or objects with the Agent protocol.
        rules: the rules.
        deals: mirrored groups.
        seed: the same seed gives the same figures.
        variant: the name to print; None: the preset nearest to the rules.
        batch: games side by side; changes no figure.
        progress: called with the number of deals just finished.

    Raises:
        ValueError: as :func:`agents.catalog.make_agent` and :func:`agents.match.play_match`.
    """
    players = [make_agent(agent) for agent in agents]
    result = play_match(players, rules, deals, seed=seed, batch=batch, progress=progress)
    warnings = []
    if deals < FEW_DEALS:
        warnings.append(f"only {_deals(deals)}: intervals of fewer than {FEW_DEALS} are rough, and wide")
    return Evaluation(
        describe_rules(rules)[0] if variant is None else variant,
        rules,
        tuple(player.name for player in players),
        deals,
        seed,
        len(result.seatings),
        mean_interval(result.win_rate_a_deal(), bounds=(0, 1)),
        mean_interval(result.points_a_deal()),
        tuple(warnings),
    )


def write_json(content: Any, path: str | Path) -> None:
    """Write JSON atomically.

    Raises:
        ValueError: for a number that JSON does not have, such as infinity.
    """
    write_atomically(Path(path), (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())
