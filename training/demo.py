"""The demonstration behind ``make demo``: train on the draw game for some minutes, then play the yardsticks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.policy_file import load_policy
from dominoes_env.engine.rules import Rules
from training.evaluate import evaluate
from training.evaluation import Evaluation

__all__ = ["OPPONENTS", "results_table", "yardsticks"]

#: Whom a trained player is measured against.
OPPONENTS = ("random", "greedy", "doubles")


def yardsticks(path: str | Path, rules: Rules, *, variant: str, deals: int, seed: int) -> list[Evaluation]:
    """The policy at ``path`` against each of :data:`OPPONENTS`, over the same mirrored deals."""
    return [evaluate([str(path), name], rules, deals, seed=seed, variant=variant) for name in OPPONENTS]


def results_table(path: str | Path, results: Sequence[Evaluation]) -> str:
    """A Markdown table of evaluations of one policy, with what was trained and how it was measured."""
    about = load_policy(path).about
    first = results[0]
    lines = [
        f"{first.variant}, {first.rules.num_players} players: {about.get('decisions', 0):,} decisions of self-play in "
        f"{about.get('minutes', 0):.1f} minutes, training seed {about.get('config', {}).get('seed')}; "
        f"{first.deals:,} mirrored deal{'' if first.deals == 1 else 's'}, evaluation seed {first.seed}; "
        f"± is the 95 % interval",
        "",
        "| opponent | win rate | points a deal |",
        "|---|---|---|",
    ]
    for result in results:
        win, points = result.win_rate, result.points
        is_known = result.deals > 1
        win_spread = f"{100 * win.half_width:.1f}" if is_known else "unknown"
        points_spread = f"{points.half_width:.2f}" if is_known else "unknown"
        lines.append(
            f"| {result.agents[1]} | {100 * win.mean:.1f} % ± {win_spread} | {points.mean:+.2f} ± {points_spread} |"
        )
    verdict = "It beats" if first.win_rate.low > first.fair_share else "It does NOT beat"
    even = 100 * first.fair_share
    lines += ["", f"{verdict} `{first.agents[1]}` with the whole interval of its win rate above {even:.0f} %."]
    return "\n".join(lines)
