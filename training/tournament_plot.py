"""A tournament as a picture: ratings with their intervals, and who wins how often against whom.

Needs matplotlib, which is imported when a picture is asked for.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from agents.atomic import write_atomically
from training.evaluation import counted_deals
from training.tournament import Tournament

__all__ = ["check_plot", "save_plot", "tournament_figure"]

_ENDINGS = (".png", ".svg", ".pdf")
_INK, _FAINT, _DOT = "#222222", "#d9d9d9", "#1f5a94"
#: Win rates this far from an even share, and farther, have the full colour.
_FULL_COLOUR = 0.45
_LONGEST_NAME = 28


def check_plot(path: str | Path) -> None:
    """Find out before hours of play, not after, that a picture cannot be drawn.

    Raises:
        ValueError: for a file of another kind.
        ModuleNotFoundError: without matplotlib; the message says what to install.
    """
    if Path(path).suffix.lower() not in _ENDINGS:
        raise ValueError(f"plot={str(path)!r} is not allowed; allowed: a file that ends in {', '.join(_ENDINGS)}")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; plots need the extra `plot`: pip install 'dominoes_env[plot]'") from None


def save_plot(result: Tournament, path: str | Path) -> None:
    """Draw a tournament into a PNG, SVG or PDF file.

    Raises:
        ValueError, ModuleNotFoundError: as :func:`check_plot`.
    """
    check_plot(path)
    content = io.BytesIO()
    tournament_figure(result).savefig(content, format=Path(path).suffix[1:].lower(), dpi=160, facecolor="white")
    write_atomically(Path(path), content.getvalue())


def tournament_figure(result: Tournament) -> Any:
    """A matplotlib figure: ratings on the left, win rates of row against column on the right, the best on top."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    count = len(result.standings)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.02)
    figure = Figure(figsize=(7.2 + 0.75 * count, 2.2 + 0.52 * count), layout=layout)
    ratings, rates = figure.subplots(1, 2, width_ratios=[1, 0.45 + 0.16 * count])
    figure.suptitle(
        f"{result.variant}, {result.rules.num_players} players: each pair {counted_deals(result.deals)} "
        f"x {result.num_seatings} seatings, seed {result.seed}",
        color=_INK,
        fontsize=12,
        fontweight="bold",
    )
    _draw_ratings(ratings, result)
    _draw_rates(rates, result)
    if result.cycle is not None:
        figure.supxlabel(
            f"a cycle: {' beats '.join([*result.cycle, result.cycle[0]])}; ratings cannot show it",
            color="#a02020",
            fontsize=9,
        )
    return figure


def _short(name: str) -> str:
    """The end of a long name: paths differ there."""
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]


def _draw_ratings(axes: Any, result: Tournament) -> None:
    names = [f"{_short(standing.agent)}  {place}" for place, standing in enumerate(result.standings, 1)]
    for row, standing in enumerate(result.standings):
        elo = standing.elo
        axes.plot([elo.low, elo.high], [row, row], color=_DOT, linewidth=3, alpha=0.35, solid_capstyle="round")
        axes.plot(elo.mean, row, "o", color=_DOT, markersize=7)
        axes.annotate(
            f"{elo.mean:+.0f}".replace("-", "−"),
            (elo.mean, row),
            (0, 8),
            textcoords="offset points",
            ha="center",
            color=_INK,
            fontsize=9,
        )
    axes.axvline(0, color=_FAINT, zorder=0)
    axes.set_yticks(range(len(names)), names, color=_INK)
    axes.set_ylim(len(names) - 0.5, -0.5)  # in line with the rows beside
    axes.margins(x=0.12)
    axes.locator_params(axis="x", nbins=6)
    zero = "mean of all = 0" if result.anchor is None else f"{_short(result.anchor)} = 0"
    axes.set_xlabel(f"rating in Elo ({zero})", color=_INK)
    axes.set_ylabel("agent and place", color=_INK)
    axes.set_title("Bradley-Terry rating\nwith 95 % interval", color=_INK, fontsize=10)
    axes.grid(axis="x", color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_rates(axes: Any, result: Tournament) -> None:
    agents = [standing.agent for standing in result.standings]
    count, even = len(agents), result.fair_share
    grid = [[even if a == b else result.meeting(a, b).win_rate.mean for b in agents] for a in agents]
    axes.imshow(grid, cmap="RdBu", vmin=even - _FULL_COLOUR, vmax=even + _FULL_COLOUR, aspect="auto")
    for row, agent in enumerate(agents):
        for column, opponent in enumerate(agents):
            if agent == opponent:
                axes.text(column, row, "–", ha="center", va="center", color=_INK)
                continue
            rate = result.meeting(agent, opponent).win_rate
            ink = "white" if abs(rate.mean - even) > 0.62 * _FULL_COLOUR else _INK
            spread = "" if result.deals == 1 else f"\n± {100 * rate.half_width:.1f}"
            axes.text(
                column,
                row,
                f"{100 * rate.mean:.1f}{spread}",
                ha="center",
                va="center",
                color=ink,
                fontsize=8.5,
                linespacing=1.05,
            )
    axes.set_xticks(range(count), range(1, count + 1), color=_INK)
    axes.set_yticks(range(count), [])  # the names stand on the left
    axes.set_xticks([line - 0.5 for line in range(1, count)], minor=True)
    axes.set_yticks([line - 0.5 for line in range(1, count)], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("opponent, by place", color=_INK)
    axes.set_ylabel("agent, in line with the names", color=_INK)
    axes.set_title(f"win rate of the row against the column\n% ± 95 %, even: {100 * even:.0f}", color=_INK, fontsize=10)
