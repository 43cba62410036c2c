"""A tournament as aligned tables for people, and as CSV for programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable

from training.evaluation import counted_deals
from training.intervals import Interval
from training.text_tables import aligned
from training.tournament import Meeting, Tournament

__all__ = ["tournament_csv", "tournament_tables"]


def tournament_tables(result: Tournament) -> str:
    """Ratings, then win rates and points of each agent against each, then warnings."""
    zero = "the mean is 0" if result.anchor is None else f"{result.anchor} is 0"
    rows = [["", "Elo", "95 %", "ms a move"]]
    for place, one in enumerate(result.standings, 1):
        ends = "by definition" if one.agent == result.anchor else _ends(one.elo)
        ms = "-" if one.ms_a_move is None else f"{one.ms_a_move:.2g}" if one.ms_a_move < 10 else f"{one.ms_a_move:,.0f}"
        rows.append([f"{place} {one.agent}", f"{one.elo.mean:+.0f}", ends, ms])
    even = f"{100 * result.fair_share:.0f}"
    others = "" if result.fair_share == 0.5 else f" (one against {result.rules.num_players - 1})"
    return "\n".join(
        [
            f"{len(result.standings)} agents · {result.variant}, {result.rules.num_players} players, each pair "
            f"{counted_deals(result.deals)} x {result.num_seatings} seatings, seed {result.seed}",
            "",
            f"Bradley-Terry ratings ({zero}; bootstrap over deals)",
            *aligned(rows),
            "",
            f"win rate of the row against the column{others}, % ± 95 % (even: {even})",
            *_matrix(result, lambda one: _cell(one.win_rate, 100, ".1f", result.deals)),
            "",
            f"points a deal of the row against the column{others} ± 95 % (even: 0)",
            *_matrix(result, lambda one: _cell(one.points, 1, "+.2f", result.deals)),
            *(f"warning: {warning}" for warning in result.warnings),
        ]
    )


def _ends(elo: Interval) -> str:
    return f"{elo.low:+.0f} to {elo.high:+.0f}" if math.isfinite(elo.half_width) else "?"


def _cell(interval: Interval, scale: int, form: str, deals: int) -> str:
    spread = "?" if deals == 1 else format(scale * interval.half_width, form.lstrip("+"))
    return f"{scale * interval.mean:{form}} ± {spread}"


def _matrix(result: Tournament, cell: Callable[[Meeting], str]) -> list[str]:
    names = [standing.agent for standing in result.standings]
    rows = [["", *(str(place) for place in range(1, len(names) + 1))]]
    for place, name in enumerate(names, 1):
        cells = ["-" if name == other else cell(result.meeting(name, other)) for other in names]
        rows.append([f"{place} {name}", *cells])
    return aligned(rows)


def tournament_csv(result: Tournament) -> str:
    """A row for each direction of each pair: shares (0 to 1) and points with the ends of their intervals, and Elo."""
    elo = {standing.agent: standing.elo.mean for standing in result.standings}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    intervals = [f"{name}{end}" for name in ("win_rate", "points") for end in ("", "_low", "_high")]
    writer.writerow(["agent", "opponent", "deals", "seatings", *intervals, "elo_agent", "elo_opponent"])
    for one in result.meetings:
        figures = [*one.win_rate.to_dict().values(), *one.points.to_dict().values()]
        figures += [elo[one.agent], elo[one.opponent]]
        shown = ["" if figure is None else f"{figure:.6g}" for figure in figures]
        writer.writerow([one.agent, one.opponent, result.deals, result.num_seatings, *shown])
    return file.getvalue()
