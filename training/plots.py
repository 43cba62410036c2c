"""Figures of results, each with its title, units and, where there is chance, intervals of 95 %: for notebooks, papers.

Needs matplotlib; nothing else of the package imports this file. A figure is shown by a notebook in which
``%matplotlib inline`` was said, and saved by ``figure.savefig``. Colours are those of Okabe and Ito, which
colour-blind readers tell apart; no colour stands alone for anything.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from agents.advice import Advice
from agents.beliefs import Belief
from dominoes_env.engine.rules import Rules
from dominoes_env.words import format_action, format_tile
from training.evaluation import fair_share
from training.intervals import Interval
from training.ladder import LADDER_NAME
from training.run_directory import read_run

try:
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error}; plots need the extra `notebooks`: pip install 'dominoes_env[notebooks]'"
    ) from None

__all__ = [
    "advice_figure",
    "belief_figure",
    "convergence_figure",
    "exploitability_figure",
    "intervals_figure",
    "learning_curve_figure",
]

_INK, _MUTED, _FAINT = "#222222", "#666666", "#d9d9d9"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "D", "^", "v", "P")


def _figure(
    width: float, height: float, title: str, xlabel: str, ylabel: str, *, pad: float = 10
) -> tuple[Figure, Any]:
    """A figure of one plot in the house's style, sizes in inches; ``pad``: points between plot and title."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, color=_INK, fontsize=11, loc="left", pad=pad)
    axes.set_xlabel(xlabel, color=_INK)
    axes.set_ylabel(ylabel, color=_INK)
    axes.tick_params(length=0, labelcolor=_INK)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)
    return figure, axes


def _number(value: float, digits: int, *, signed: bool = False) -> str:
    return f"{value:{'+' if signed else ''}.{digits}f}".replace("-", "−")


def intervals_figure(
    rows: Mapping[str, Interval],
    *,
    title: str,
    unit: str,
    of: str,
    even: float | None = None,
    scale: float = 1.0,
    digits: int = 1,
) -> Figure:
    """Means with their intervals, a row each, the first on top, each with its figures beside it.

    Args:
        rows: intervals by name; one without bounds is a point.
        title: above the plot; says on what the means were taken.
        unit: the label of the horizontal axis.
        of: the label of the vertical axis: what the rows are.
        even: where a line is drawn that divides better from worse.
        scale: what values are multiplied by, 100 for percent.
        digits: decimals of the figures.

    Raises:
        ValueError: if there is no row.
    """
    if not rows:
        raise ValueError("rows is empty; allowed: at least one interval")
    pad = 10 if even is None else 22  # room for the label of the line
    figure, axes = _figure(7.6, 1.25 + 0.42 * len(rows), title, f"{unit}, with 95 % interval", of, pad=pad)
    for row, interval in enumerate(rows.values()):
        mean, low, high = (scale * value for value in (interval.mean, interval.low, interval.high))
        if math.isfinite(high - low):
            axes.plot([low, high], [row, row], color=_COLOURS[0], linewidth=5, alpha=0.35, solid_capstyle="butt")
            for end in (low, high):
                axes.plot([end, end], [row - 0.16, row + 0.16], color=_COLOURS[0], linewidth=1.5)
        axes.plot(mean, row, "o", color=_COLOURS[0], markersize=6)
        text = interval.text(digits, scale=scale).replace("-", "−")
        place = {"xycoords": axes.get_yaxis_transform(), "va": "center", "color": _INK, "fontsize": 9.5}
        axes.annotate(text, (1.02, row), annotation_clip=False, **place)
    if even is not None:
        axes.axvline(scale * even, color=_MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        label = f"even: {_number(scale * even, 0)}"
        axes.annotate(
            label,
            (scale * even, 1),
            (0, 3),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            color=_MUTED,
            fontsize=8.5,
        )
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=_FAINT, linewidth=0.6)
    return figure


def learning_curve_figure(run: str | Path) -> Figure:
    """The looks at the ladder of a training run: its win rate against each opponent, by decisions played.

    Args:
        run: the run directory.

    Raises:
        FileNotFoundError: if it holds no run, or no look was taken.
        ValueError: as :func:`training.run_directory.read_run`.
    """
    content = read_run(run)
    path = content.path / LADDER_NAME
    looks = list(csv.DictReader(path.read_text().splitlines())) if path.is_file() else []
    if not looks:
        raise FileNotFoundError(f"{path} has no look yet: the run has not been measured")
    config = content.config
    title = (
        f"Learning {content.variant} by self-play: win rate at each look\n"
        f"{config.ladder_deals:,} mirrored deals an opponent, training seed {config.seed}; bands are 95 % intervals"
    )
    figure, axes = _figure(7.6, 4.4, title, "decisions played, thousands", "win rate, %")
    decisions = [int(look["decisions"]) / 1000 for look in looks]
    ends = []
    for number, name in enumerate(config.ladder):
        colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
        mean, low, high = (
            [100 * float(look[f"{column}_v_{name}"]) for look in looks]
            for column in ("win_rate", "win_rate_low", "win_rate_high")
        )
        axes.fill_between(decisions, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(decisions, mean, color=colour, marker=marker, markersize=4, linewidth=1.6)
        ends.append((mean[-1], f"v {name}", colour))
    even = 100 * fair_share(content.rules)
    axes.axhline(even, color=_MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    ends.append((even, "even", _MUTED))
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.margins(x=0.02)
    _label_ends(axes, ends)
    return figure


def convergence_figure(curves: Mapping[str, Mapping[int, float]], *, title: str) -> Figure:
    """Exact exploitability by iterations of a solver, both axes by powers of ten; no chance is in it.

    Args:
        curves: points a round (> 0) by the number of iterations (> 0), by the name of the algorithm.
        title: above the plot; says which game it is.

    Raises:
        ValueError: if there is nothing to draw, or a number that has no logarithm.
    """
    if not curves or not all(curves.values()):
        raise ValueError("curves has nothing to draw; allowed: at least one curve, each of at least one point")
    if any(number <= 0 for curve in curves.values() for point in curve.items() for number in point):
        raise ValueError("curves has a number that is not above 0; allowed: above 0, both axes being logarithmic")
    figure, axes = _figure(7.6, 4.2, title, "iterations", "exploitability, points a round (exact)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for number, (name, curve) in enumerate(curves.items()):
        style = {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}
        axes.plot(list(curve), list(curve.values()), label=name, markersize=5, linewidth=1.6, **style)
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.legend(frameon=False, labelcolor=_INK)
    return figure


def exploitability_figure(judged: Mapping[str, float], *, title: str) -> Figure:
    """Exact exploitabilities as bars, a row each, the first on top, with its figures beside it.

    Args:
        judged: points a round by the player's name.
        title: above the plot; says which game it is.

    Raises:
        ValueError: if there is no player.
    """
    if not judged:
        raise ValueError("judged is empty; allowed: at least one player")
    unit = "exploitability, points a round (exact; 0 is perfect play)"
    figure, axes = _figure(7.6, 1.25 + 0.42 * len(judged), title, unit, "player")
    bars = axes.barh(range(len(judged)), list(judged.values()), color=_COLOURS[0], height=0.55)
    axes.bar_label(bars, [_number(value, 3) for value in judged.values()], padding=4, color=_INK, fontsize=9.5)
    axes.set_yticks(range(len(judged)), list(judged))
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.grid(axis="x", color=_FAINT, linewidth=0.6)
    return figure


def _label_ends(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names of lines at their right ends, moved apart where they would lie on each other."""
    low, high = axes.get_ylim()
    least = 0.055 * (high - low)
    ordered = sorted(ends)
    places = [value for value, _, _ in ordered]
    for _ in range(100):
        for before, after in pairwise(range(len(places))):
            lacking = least - (places[after] - places[before])
            if lacking > 0:
                places[before] -= lacking / 2
                places[after] += lacking / 2
    for place, (_, name, colour) in zip(places, ordered, strict=True):
        axes.annotate(
            name,
            (1.015, place),
            xycoords=axes.get_yaxis_transform(),
            va="center",
            color=colour,
            fontsize=9.5,
            fontweight="bold",
            annotation_clip=False,
        )


def advice_figure(rules: Rules, advices: Sequence[Advice], *, is_lead: bool = False) -> Figure:
    """What agents think of each legal action of one decision, a row an agent, a column an action.

    Searches tell points expected for the rest of the round, players that draw lots or have a policy probabilities;
    each row is shaded by its own scale, and what the agent plays is framed.

    Args:
        rules: of the game.
        advices: of one decision.
        is_lead: whether the decision is the lead of a round, where actions are tiles alone.

    Raises:
        ValueError: if there is no advice, or they are of different decisions.
    """
    if len({advice.actions for advice in advices}) != 1:
        raise ValueError("advices of different decisions, or none, are not allowed; allowed: those of one decision")
    actions = advices[0].actions
    title = "What each agent thinks of each move\ndarker: better or likelier; framed: what it plays"
    height = 1.5 + 0.5 * len(advices)
    figure, axes = _figure(2.2 + 0.95 * max(5, len(actions)), height, title, "legal action, as tile@end", "agent")
    for row, advice in enumerate(advices):
        for column, (shade, text) in enumerate(_cells(advice)):
            axes.fill_between([column - 0.46, column + 0.46], row - 0.42, row + 0.42, color=_shade(shade), linewidth=0)
            ink = "white" if shade > 0.62 else _INK
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=9.5)
        column = actions.index(advice.best)
        frame_x, frame_y = (-0.46, 0.46, 0.46, -0.46, -0.46), (-0.42, -0.42, 0.42, 0.42, -0.42)
        xs, ys = [column + x for x in frame_x], [row + y for y in frame_y]
        axes.plot(xs, ys, color=_COLOURS[1], linewidth=2.6, solid_joinstyle="miter", clip_on=False)
    names = [f"{advice.agent}\n({'points' if advice.values is not None else 'probability, %'})" for advice in advices]
    axes.set_xticks(range(len(actions)), [format_action(rules, action, is_lead=is_lead) for action in actions])
    axes.set_yticks(range(len(advices)), names, fontsize=9)
    axes.set_xlim(-0.6, len(actions) - 0.4)
    axes.set_ylim(len(advices) - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    return figure


def _cells(advice: Advice) -> list[tuple[float, str]]:
    """A shade, 0 to 1, and a text for each action."""
    if advice.values is not None:
        known = [value for value in advice.values if not math.isnan(value)]
        low, spread = min(known), max(known) - min(known)
        return [
            (0.0, "–")
            if math.isnan(value)
            else ((value - low) / spread if spread else 0.5, _number(value, 1, signed=True))
            for value in advice.values
        ]
    if advice.probabilities is not None:
        return [(chance, _number(100 * chance, 0)) for chance in advice.probabilities]
    return [(float(action == advice.best), "") for action in advice.actions]


def _shade(share: float) -> tuple[float, float, float]:
    """White to blue."""
    red, green, blue = (int(_COLOURS[0][start : start + 2], 16) / 255 for start in (1, 3, 5))
    strength = 0.06 + 0.94 * share
    return 1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue)


def belief_figure(beliefs: Mapping[str, Belief], seat: int, *, held: Collection[int]) -> Figure:
    """What is believed of one seat's hand, tile by tile, against the truth.

    Tiles stand in the order of the last belief; those that the seat holds are on a grey ground. Bars show how far
    chances might move if more worlds were drawn, 95 %.

    Args:
        beliefs: of one decision, by name.
        seat: whose hand.
        held: ids of the tiles that it holds.

    Raises:
        ValueError: if there is no belief.
    """
    if not beliefs:
        raise ValueError("beliefs is empty; allowed: at least one belief")
    last = list(beliefs.values())[-1]
    tiles = sorted(last.hidden, key=lambda tile: (-last.chances[seat, tile], tile))
    title = (
        f"What player_{last.player} believes of player_{seat}'s hand, of the {len(tiles)} tiles hidden from it\n"
        f"grey ground: player_{seat} does hold the tile; bars: 95 %, of drawing worlds"
    )
    figure, axes = _figure(
        max(7.6, 1.6 + 0.34 * len(tiles)), 4.2, title, "tile", f"chance that player_{seat} holds it, %"
    )
    for place, tile in enumerate(tiles):
        if tile in held:
            axes.axvspan(place - 0.5, place + 0.5, color=_FAINT, alpha=0.7, linewidth=0, zorder=0)
    places = np.arange(len(tiles))
    for number, (name, belief) in enumerate(beliefs.items()):
        colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
        shift = 0.24 * (number - (len(beliefs) - 1) / 2)
        chances, half = 100 * belief.chances[seat, tiles], 100 * belief.half_width(seat)[tiles]
        axes.errorbar(
            places + shift, chances, yerr=half, fmt=marker, color=colour, markersize=5, elinewidth=1.4, label=name
        )
    axes.set_xticks(places, [format_tile(tile) for tile in tiles], fontsize=9)
    axes.set_xlim(-0.6, len(tiles) - 0.4)
    axes.set_ylim(-3, 103)
    axes.grid(axis="y", color=_FAINT, linewidth=0.6)
    axes.legend(loc="upper right", frameon=True, facecolor="white", edgecolor=_FAINT, fontsize=9)
    return figure
