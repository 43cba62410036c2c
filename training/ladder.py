"""The ladder: matches against the same opponents on the same deals, again and again while a run goes on.

Every look plays the same deals, so that looks differ by the policies and little else. The best look so far is the one
whose score has the highest lower bound; its policy is kept as ``best`` beside the run's last one. The best of many
looks is flattered by those deals: what it is worth is measured on others (``dominoes ship`` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.catalog import make_agent
from agents.learned import LearnedAgent
from agents.match import play_match
from agents.policy_file import BEST_NAME, Policy, load_policy, save_policy
from dominoes_env.engine.rules import Rules
from training.curve import Curve
from training.intervals import Interval, mean_interval
from training.league import RULES_OF_THUMB
from training.run_directory import Run

__all__ = ["LADDER_NAME", "LADDER_SEED", "Ladder", "Look", "check_opponents"]

#: The file of all looks in a run directory.
LADDER_NAME = "ladder.csv"
#: Seeds the ladder's deals; no other measurement uses it.
LADDER_SEED = 20_000


@dataclass(frozen=True)
class Look:
    """How a policy did on the ladder; intervals are of 95 % over mirrored deals."""

    decisions: int
    minutes: float
    score: Interval
    """Mean win rate over all opponents; over deals too, since the opponents share them."""
    win_rates: dict[str, Interval]
    """By opponent."""
    points: dict[str, Interval]
    """A deal, by opponent."""
    is_best: bool = False
    """Whether the lower bound of its score was higher than that of all looks before."""

    def scalars(self) -> dict[str, float]:
        """Figures for a learning curve, by TensorBoard's tags."""
        figures = {"ladder/score": self.score.mean, "ladder/score_low": self.score.low}
        for name in self.win_rates:
            figures[f"ladder/win_rate_v_{name}"] = self.win_rates[name].mean
            figures[f"ladder/points_v_{name}"] = self.points[name].mean
        return figures

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "decisions": self.decisions,
            "minutes": self.minutes,
            "score": self.score.to_dict(),
            "win_rates": {name: interval.to_dict() for name, interval in self.win_rates.items()},
            "points": {name: interval.to_dict() for name, interval in self.points.items()},
        }

    def __str__(self) -> str:
        parts = [f"v {name} {100 * win.mean:.1f} ± {100 * win.half_width:.1f}" for name, win in self.win_rates.items()]
        return ", ".join(parts) + " %"


def check_opponents(opponents: Sequence[str], rules: Rules) -> None:
    """Raises ValueError if these cannot be the opponents of a ladder under ``rules``."""
    if isinstance(opponents, str) or not opponents:
        raise ValueError(f"opponents={opponents!r} is not allowed; allowed: names of agents, at least one")
    for name in opponents:
        agent = make_agent(name)
        if agent.is_person:
            raise ValueError(f"opponents: agent={name!r} is not allowed; allowed: agents that are no persons")
        agent.check_rules(rules)


class Ladder:
    """The ladder of a run.

    Args:
        directory: the run's; holds ``ladder.csv`` and the best policy's files.
        rules: the run's.
        opponents: agents by name.
        deals: mirrored deals against each, at least 2.
        upto: decisions of the checkpoint that the run goes on from: looks beyond it are taken out of the file, to be
            taken again. A best policy that was found beyond it stays the best.

    Raises:
        ValueError: for an unknown opponent, or files of another ladder.
    """

    def __init__(
        self,
        directory: Path,
        rules: Rules,
        *,
        opponents: Sequence[str] = RULES_OF_THUMB,
        deals: int = 1000,
        upto: int | None = None,
    ) -> None:
        check_opponents(opponents, rules)
        if deals < 2:
            raise ValueError(f"deals={deals!r} is not allowed; allowed: an integer of at least 2")
        self.directory, self.rules, self.opponents, self.deals = directory, rules, tuple(opponents), deals
        self._curve = Curve(directory / LADDER_NAME, _columns(self.opponents), upto=upto)
        lines = self._curve.lines()
        #: Of the last look; None before the first.
        self.last_decisions: int | None = int(lines[-1]["decisions"]) if lines else None
        self._best = _best(directory)

    @classmethod
    def of(cls, run: Run, *, upto: int | None = None) -> Ladder:
        """The ladder that a run's settings ask for."""
        config = run.config
        return cls(run.path, run.rules, opponents=config.ladder, deals=config.ladder_deals, upto=upto)

    def measure(self, policy: Policy, *, decisions: int, minutes: float) -> Look:
        """Play the ladder, note the look, and keep the policy if it is the best so far.

        To be called when a checkpoint has been written, so that whoever finds a best policy finds that too.
        """
        look = self.look(policy, decisions=decisions, minutes=minutes)
        is_again = self._best == (look.score.low, decisions)  # the run was killed before the look was noted
        if self._best is None or look.score.low > self._best[0] or is_again:
            look = replace(look, is_best=True)
            about = {**policy.about, "ladder": {**look.to_dict(), "deals": self.deals, "seed": LADDER_SEED}}
            save_policy(replace(policy, about=about), self.directory, BEST_NAME)
            self._best = look.score.low, decisions
        self._curve.append(_values(look))
        self.last_decisions = decisions
        return look

    def look(self, policy: Policy, *, decisions: int = 0, minutes: float = 0.0) -> Look:
        """Play the ladder and keep nothing."""
        wins, points = {}, {}
        for name in self.opponents:
            result = play_match([LearnedAgent(policy), name], self.rules, self.deals, seed=LADDER_SEED)
            wins[name], points[name] = result.win_rate_a_deal(), result.points_a_deal()
        return Look(
            decisions,
            minutes,
            mean_interval(np.mean(list(wins.values()), axis=0), bounds=(0, 1)),
            {name: mean_interval(groups, bounds=(0, 1)) for name, groups in wins.items()},
            {name: mean_interval(groups) for name, groups in points.items()},
        )


def _best(directory: Path) -> tuple[float, int] | None:
    """The lower bound to be beaten, and after how many decisions it was reached.

    None where there is no best policy, or a kill came between its two files: the look was due then, and is taken again.
    """
    file = directory / f"{BEST_NAME}.json"
    try:
        ladder = load_policy(file).about["ladder"]
        return float(ladder["score"]["low"]), int(ladder["decisions"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _columns(opponents: Sequence[str]) -> list[str]:
    columns = ["decisions", "minutes", "is_best", "score", "score_low", "score_high"]
    for name in opponents:
        columns += [f"win_rate_v_{name}", f"win_rate_low_v_{name}", f"win_rate_high_v_{name}", f"points_v_{name}"]
    return columns


def _values(look: Look) -> dict[str, Any]:
    score = look.score
    values: dict[str, Any] = {"decisions": look.decisions, "minutes": round(look.minutes, 3)}
    values |= {"is_best": int(look.is_best), "score": score.mean, "score_low": score.low, "score_high": score.high}
    for name, win in look.win_rates.items():
        values |= {f"win_rate_v_{name}": win.mean, f"win_rate_low_v_{name}": win.low}
        values |= {f"win_rate_high_v_{name}": win.high, f"points_v_{name}": look.points[name].mean}
    figures = ("score", "win_rate", "points")
    return {name: round(value, 5) if name.startswith(figures) else value for name, value in values.items()}
