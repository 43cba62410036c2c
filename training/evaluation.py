"""The result of an evaluation: figures with intervals, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from dominoes_env.engine.rules import Rules
from training.control_variate import Controlled
from training.intervals import Interval
from training.sequential import Sprt, elo_of_win_rate

__all__ = ["AgentResult", "Control", "Evaluation", "Mirroring", "Stop", "counted_deals", "fair_share"]


@dataclass(frozen=True)
class AgentResult:
    """How one agent did; intervals are of 95 %, plain means over the deals."""

    name: str
    win_rate: Interval
    points: Interval
    decisions: int
    """Decisions with a choice that it was asked for."""
    ms_a_move: float | None = field(compare=False)
    """Milliseconds by the clock for each of them (in batches); None if there was none. Not reproducible."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "agent": self.name,
            "win_rate": self.win_rate.to_dict(),
            "points": self.points.to_dict(),
            "decisions": self.decisions,
            "ms_a_move": self.ms_a_move,
        }


@dataclass(frozen=True)
class Mirroring:
    """How many times as many games plain play would need for the same width.

    Estimated from the mirrored groups themselves: a game of one seating is a game of plain play, so the variance of
    plain play that gives each seating its own deals is the mean of the seatings' variances.
    """

    win_rate: float
    points: float


@dataclass(frozen=True)
class Control:
    """Means and intervals without the luck that stand-ins show, and how many times as many deals that saves."""

    stand_ins: tuple[tuple[str, ...], ...]
    reference_deals: int
    """Deals from which the stand-ins' own means are known."""
    win_rate: Controlled
    points: Controlled


@dataclass(frozen=True)
class Stop:
    """How a sequential evaluation ended."""

    until: float | None
    """Wanted half width of the win rate."""
    sprt: Sprt | None
    ratio: float | None
    """Log-likelihood ratio of the test."""
    verdict: str | None
    """Why it stopped: ``until``, ``elo0`` or ``elo1`` (that one was accepted); None: the deals were used up."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        content: dict[str, Any] = {"until": self.until, "verdict": self.verdict}
        if self.sprt is not None:
            low, high = self.sprt.bounds
            content["sprt"] = {**vars(self.sprt), "log_likelihood_ratio": self.ratio, "low": low, "high": high}
        return content

    def __str__(self) -> str:
        if self.sprt is None or self.verdict == "until":
            reached = "reached" if self.verdict else "NOT reached"
            return f"stopped at     ± {100 * (self.until or 0):g} % of the win rate: {reached}"
        low, high = self.sprt.bounds
        said = f"Elo {self.sprt.elo0:+g} against {self.sprt.elo1:+g}"
        verdict = {"elo0": f"{self.sprt.elo0:+g} accepted", "elo1": f"{self.sprt.elo1:+g} accepted"}
        return (
            f"SPRT           {said}: {verdict.get(self.verdict or '', 'NOT decided')} "
            f"(log-likelihood ratio {self.ratio:.2f}, bounds {low:.2f} and {high:.2f})"
        )


@dataclass(frozen=True)
class Evaluation:
    """How the first agent does against the others."""

    variant: str
    rules: Rules
    deals: int
    seed: int
    num_seatings: int
    results: tuple[AgentResult, ...]
    """Of each agent, in the order given."""
    mirroring: Mirroring | None = None
    """None: a single deal, or one seat only."""
    control: Control | None = None
    stop: Stop | None = None
    warnings: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        """Names."""
        return tuple(result.name for result in self.results)

    @property
    def win_rate(self) -> Interval:
        """Of the first agent: share of rounds won, a tie shared; 95 %, within 0 to 1 (just these for a single deal).

        With a control this is the controlled mean.
        """
        return self.results[0].win_rate if self.control is None else self.control.win_rate.interval

    @property
    def points(self) -> Interval:
        """Of the first agent: points booked in a round less the mean of the opponents', a deal over all its seatings;
        95 % (infinite for a single deal). With a control this is the controlled mean.
        """
        return self.results[0].points if self.control is None else self.control.points.interval

    @property
    def elo(self) -> Interval:
        """The win rate in Elo: 400 log10 of the odds over those of an equal side; an end may be infinite."""
        return Interval(
            *(elo_of_win_rate(p, self.fair_share) for p in (self.win_rate.mean, self.win_rate.low, self.win_rate.high))
        )

    @property
    def fair_share(self) -> float:
        """The win rate of an agent as good as its opponents."""
        return fair_share(self.rules)

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """Names of those who win together: in teams, four agents are two fixed partnerships; else each for himself."""
        if self.rules.teams and len(self.agents) == 4:
            return self.agents[::2], self.agents[1::2]
        return tuple((name,) for name in self.agents)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values. Of a single deal the win rate is known to lie in 0 to 1 and the points not at all:
        their ``low`` and ``high`` are None, as is every infinite figure.
        """
        content: dict[str, Any] = {
            "variant": self.variant,
            "num_players": self.rules.num_players,
            "rules": self.rules.to_dict(),
            "agents": list(self.agents),
            "sides": [list(side) for side in self.sides],
            "deals": self.deals,
            "seatings": self.num_seatings,
            "seed": self.seed,
            "confidence": 0.95,
            "fair_share": self.fair_share,
            "win_rate": self.win_rate.to_dict(),
            "points": self.points.to_dict(),
            "elo": self.elo.to_dict(),
            "results": [result.to_dict() for result in self.results],
            "mirroring_saves": None if self.mirroring is None else _finite(vars(self.mirroring)),
            "control": None,
            "stop": None if self.stop is None else self.stop.to_dict(),
            "warnings": list(self.warnings),
        }
        if self.control is not None:
            savings = {"win_rate": self.control.win_rate.saving, "points": self.control.points.saving}
            content["control"] = {
                "stand_ins": [list(names) for names in self.control.stand_ins],
                "reference_deals": self.control.reference_deals,
                "saves": _finite(savings),
            }
        return content

    def __str__(self) -> str:
        first, *others = self.results
        sides = " v ".join(" + ".join(side) for side in self.sides)
        lines = [
            f"{sides} · {self.variant}, {self.rules.num_players} players, "
            f"{counted_deals(self.deals)} x {self.num_seatings} seating{'' if self.num_seatings == 1 else 's'}, "
            f"seed {self.seed}",
            f"  win rate       {_percent(self.win_rate, self.deals)}; even: {100 * self.fair_share:.0f})",
            f"  points a deal  {_signed(self.points, self.deals)}; even: 0)",
        ]
        if all(map(math.isfinite, (self.elo.low, self.elo.high))) and self.deals > 1:
            lines.append(
                f"  Elo            {self.elo.mean:+6.1f}   (95 %: {self.elo.low:+.1f} to {self.elo.high:+.1f}; even: 0)"
            )
        if len(others) > 1:
            for other in others:
                win, points = _percent(other.win_rate, self.deals), _signed(other.points, self.deals)
                lines.append(f"  {other.name}: win rate {win}), points {points})")
        lines.append(f"  ms a move      {', '.join(f'{one.name} {_ms(one.ms_a_move)}' for one in self.results)}")
        if self.mirroring is not None:
            lines.append(
                f"  mirroring      saves {_times(self.mirroring.win_rate)} the games on the win rate, "
                f"{_times(self.mirroring.points)} on points (against a fresh deal for each game)"
            )
        if self.control is not None:
            plain = first.win_rate
            lines += [
                f"  control        saves {_times(self.control.win_rate.saving)} the games on the win rate, "
                f"{_times(self.control.points.saving)} on points, on top of that",
                f"                 (without: {100 * plain.mean:.2f} % ± {100 * plain.half_width:.2f}, "
                f"{first.points.mean:+.2f} ± {first.points.half_width:.2f}; by "
                f"{', '.join(' v '.join(names) for names in self.control.stand_ins)}, "
                f"their means from {self.control.reference_deals:,} deals)",
            ]
        if self.stop is not None:
            lines.append(f"  {self.stop}")
            if self.stop.verdict in ("elo0", "elo1"):
                lines.append(
                    "                 (means and intervals lean to the verdict: they take stopping for chance)"
                )
        return "\n".join([*lines, *(f"  warning: {warning}" for warning in self.warnings)])


def fair_share(rules: Rules) -> float:
    """The win rate of a side as good as the others."""
    return 0.5 if rules.teams else 1 / rules.num_players


def counted_deals(count: int) -> str:
    """ "1 deal", "2,000 deals"."""
    return "1 deal" if count == 1 else f"{count:,} deals"


def _percent(win: Interval, deals: int) -> str:
    if deals == 1:  # one deal says nothing of how much deals differ
        return f"{100 * win.mean:6.2f} % ± unknown   (one deal"
    return f"{100 * win.mean:6.2f} % ± {100 * win.half_width:.2f}   (95 %: {100 * win.low:.2f} to {100 * win.high:.2f}"


def _signed(points: Interval, deals: int) -> str:
    if deals == 1:
        return f"{points.mean:+6.2f}   ± unknown   (one deal"
    return f"{points.mean:+6.2f}   ± {points.half_width:.2f}   (95 %: {points.low:+.2f} to {points.high:+.2f}"


def _ms(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.2g}" if ms < 10 else f"{ms:,.0f}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} x" if math.isfinite(ratio) else "all"


def _finite(figures: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}
