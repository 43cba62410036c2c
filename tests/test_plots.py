"""Figures: each says what it shows, in which units, and draws the intervals that it was given."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from agents.advice import Advice, advise, turn_of
from agents.beliefs import count_belief, world_belief
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from training.config import TrainConfig
from training.curve import Curve
from training.evaluate import evaluate
from training.intervals import Interval
from training.ladder import LADDER_NAME
from training.plots import (
    advice_figure,
    belief_figure,
    convergence_figure,
    exploitability_figure,
    intervals_figure,
    learning_curve_figure,
)
from training.run_directory import create_run
from training.tournament import tournament
from training.tournament_plot import tournament_figure

ROWS = {"a": Interval(0.6, 0.55, 0.65), "b": Interval(0.45, 0.4, 0.5)}


def one_plot(figure):
    """The only plot of a figure, which draws, and is labelled."""
    (axes,) = figure.axes
    figure.savefig(io.BytesIO(), format="svg")
    assert axes.get_title(loc="left") and axes.get_xlabel() and axes.get_ylabel()
    return axes


def texts(axes):
    return [text.get_text() for text in axes.texts]


def intervals(**changes):
    return intervals_figure(ROWS, **{"title": "t\nn = 10", "unit": "win rate, %", "of": "opponent"} | changes)


def test_intervals_are_drawn_as_given():
    axes = one_plot(intervals(even=0.5, scale=100))
    assert axes.get_title(loc="left") == "t\nn = 10" and axes.get_ylabel() == "opponent"
    assert axes.get_xlabel() == "win rate, %, with 95 % interval"
    assert [label.get_text() for label in axes.get_yticklabels()] == list(ROWS)
    for row, interval in enumerate(ROWS.values()):
        spans = [line.get_xdata() for line in axes.lines if list(line.get_ydata()) == [row, row]]
        assert [pytest.approx([100 * interval.low, 100 * interval.high])] == spans
    assert {"60.0 ± 5.0", "45.0 ± 5.0", "even: 50"} <= set(texts(axes))
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top


def test_intervals_without_an_even_line_and_of_real_evaluations():
    assert not any(text.startswith("even") for text in texts(one_plot(intervals())))
    result = evaluate(["greedy", "random"], make_rules("block"), 20, seed=1)
    axes = one_plot(intervals_figure({"random": result.points}, title="t", unit="points", of="v", even=0, digits=2))
    assert result.points.text(2).replace("-", "−") in texts(axes)
    single = evaluate(["greedy", "random"], make_rules("block"), 1, seed=1)
    axes = one_plot(intervals_figure({"random": single.points}, title="t", unit="points", of="v"))
    assert len(axes.lines) == 1 and texts(axes)[0].endswith("± ?")
    with pytest.raises(ValueError, match="rows is empty"):
        intervals_figure({}, title="t", unit="u", of="o")


def run_with_looks(path, num_looks=3):
    """A run directory with looks that were never taken."""
    config = TrainConfig(ladder=("random", "greedy"), ladder_deals=50)
    run = create_run(path / "run", "draw", make_rules("draw"), config)
    columns = ["decisions", *(f"win_rate{end}_v_{name}" for name in config.ladder for end in ("", "_low", "_high"))]
    curve = Curve(run.path / LADDER_NAME, columns)
    for look in range(1, num_looks + 1):
        means = {f"win_rate_v_{name}": 0.5 + look / 10 for name in config.ladder}
        ends = {
            f"win_rate_{end}_v_{name}": 0.5 + look / 10 + by
            for name in config.ladder
            for end, by in (("low", -0.05), ("high", 0.05))
        }
        curve.append({"decisions": 1000 * look, **means, **ends})
    return run


@pytest.mark.parametrize("num_looks", [1, 3])
def test_a_learning_curve_shows_every_look(tmp_path, num_looks):
    run = run_with_looks(tmp_path, num_looks)
    axes = one_plot(learning_curve_figure(run.path))
    assert "50 mirrored deals" in axes.get_title(loc="left") and "95 %" in axes.get_title(loc="left")
    curves = [line for line in axes.lines if len(line.get_xdata()) == num_looks and line.get_marker() != "None"]
    assert len(curves) == 2
    for curve in curves:
        assert list(curve.get_xdata()) == list(range(1, num_looks + 1))
        assert list(curve.get_ydata()) == pytest.approx([50 + 10 * look for look in range(1, num_looks + 1)])
    labels = {text.get_text(): text.xy[1] for text in axes.texts}
    assert set(labels) == {"v random", "v greedy", "even"}
    low, high = axes.get_ylim()
    assert abs(labels["v random"] - labels["v greedy"]) > 0.05 * (high - low)  # equal curves, labels apart


def test_a_run_without_looks_is_refused(tmp_path):
    run = create_run(tmp_path / "run", "draw", make_rules("draw"), TrainConfig())
    with pytest.raises(FileNotFoundError, match="not been measured"):
        learning_curve_figure(run.path)
    with pytest.raises(FileNotFoundError, match="holds no run"):
        learning_curve_figure(tmp_path)


@pytest.fixture(scope="module")
def game():
    game = Game("classic_block", seed=278, episode="round")
    for word in ("0-0", "1-0@0", "pass", "5-0@1", "5-3@1", "6-3@1", "6-2@1"):
        game.step(word)
    return game


def test_advice_shows_each_agents_choice_and_scale(game):
    turn = turn_of(game)
    advices = [advise(name, turn) for name in ("flexible", "pimc:20", "learned:classic_block-2p")]
    axes = one_plot(advice_figure(game.rules, advices))
    assert [label.get_text() for label in axes.get_xticklabels()] == game.legal_words
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "flexible\n(probability, %)" and names[1] == "pimc:20\n(points)"
    assert len(axes.texts) == 3 * len(game.legal_words) and "100" in texts(axes)
    frames = [round(float(np.mean(line.get_xdata()[:4]))) for line in axes.lines]
    assert frames == [advice.actions.index(advice.best) for advice in advices]


def test_advice_of_any_shape_is_drawn(game):
    actions = turn_of(game).legal_actions.tolist()
    some = Advice("some", tuple(actions), actions[1], values=(math.nan, 2.0, 2.0))
    none = Advice("none", tuple(actions), actions[0])
    assert "–" in texts(one_plot(advice_figure(game.rules, [some, none])))
    lead = Game("classic_block", seed=1)
    axes = one_plot(advice_figure(lead.rules, [advise("greedy", turn_of(lead))], is_lead=True))
    assert [label.get_text() for label in axes.get_xticklabels()] == lead.legal_words
    for wrong in ([], [none, Advice("other", tuple(actions[:2]), actions[0])]):
        with pytest.raises(ValueError, match="one decision"):
            advice_figure(game.rules, wrong)


def test_beliefs_stand_beside_the_truth(game):
    turn = turn_of(game, key=1)
    beliefs = {"counting": count_belief(turn), "what fits": world_belief(turn, worlds=200)}
    held = tiles_in(game.state["hands"][0, 1])
    axes = one_plot(belief_figure(beliefs, 1, held=held))
    tiles = [label.get_text() for label in axes.get_xticklabels()]
    assert len(tiles) == 18 and set(game.hands[1]) <= set(tiles) and not set(game.hands[0]) & set(tiles)
    grounds = [patch for patch in axes.patches if patch.get_width() == 1]
    assert {tiles[round(patch.get_x() + 0.5)] for patch in grounds} == set(game.hands[1])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(beliefs)
    with pytest.raises(ValueError, match="beliefs is empty"):
        belief_figure({}, 1, held=held)


def test_a_tournaments_plots_are_labelled():
    figure = tournament_figure(tournament(["greedy", "random"], make_rules("block"), 20, seed=1))
    figure.savefig(io.BytesIO(), format="svg")
    assert figure.get_suptitle()
    for axes in figure.axes:
        assert axes.get_title() and axes.get_xlabel() and axes.get_ylabel()


def test_convergence_is_drawn_on_powers_of_ten():
    curves = {"cfr": {1: 1.0, 10: 0.1}, "cfr+": {1: 1.0, 10: 0.01}}
    axes = one_plot(convergence_figure(curves, title="t"))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn = {line.get_label(): dict(zip(*line.get_data(), strict=True)) for line in axes.lines}
    assert drawn == curves
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(curves)
    for nothing in ({}, {"cfr": {}}, {"cfr": {0: 1.0}}, {"cfr": {1: 0.0}}):
        with pytest.raises(ValueError, match="allowed"):
            convergence_figure(nothing, title="t")


def test_exploitabilities_are_bars_with_figures():
    judged = {"random": 2.9651, "greedy": 2.2768}
    axes = one_plot(exploitability_figure(judged, title="t"))
    assert [bar.get_width() for bar in axes.patches] == list(judged.values())
    assert [label.get_text() for label in axes.get_yticklabels()] == list(judged)
    assert {"2.965", "2.277"} <= set(texts(axes)) and axes.yaxis_inverted()
    with pytest.raises(ValueError, match="at least one player"):
        exploitability_figure({}, title="t")
