"""Pictures and texts of games: sound, complete, the same whatever is hidden, and without a trace in the game."""

from __future__ import annotations

import dataclasses
import io
import random
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from invariants import PRESETS
from random_games import played

from dominoes_env.engine.tiles import PIPS as PIPS_OF
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.engine.variants import make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.game import Game
from dominoes_env.render.frames import record_views
from dominoes_env.render.layout import lay_out
from dominoes_env.render.scene import Back, Ghost, Label, Panel, Scene, Tile, compose
from dominoes_env.render.strokes import PIPS, THEMES
from dominoes_env.render.svg import view_svg
from dominoes_env.render.text import draw_layout, has_colour, view_text
from dominoes_env.render.view import View, make_view
from dominoes_env.words import format_tile, parse_action

SVG = "{http://www.w3.org/2000/svg}"
LOTS = ("block", 4, {"opening": "lots_keep"})


def view_of(game: Game, viewer: int | None = None, **options: object) -> View:
    return make_view(game.rules, game.state, game.history, viewer, **options)  # type: ignore[arg-type]


def texts_of(game: Game, viewer: int | None) -> tuple[str, ...]:
    """All that is drawn for a seat."""
    view = view_of(game, viewer)
    return view_svg(view), view_text(game.rules, game.state, game.history, viewer=viewer, colour=True), repr(view)


# What is hidden


@pytest.mark.parametrize(("variant", "num_players", "knobs"), [*((*preset, {}) for preset in PRESETS), LOTS])
def test_dealing_anew_what_is_hidden_changes_no_view(variant, num_players, knobs):
    rules = make_rules(variant, num_players=num_players, **knobs)
    generator = np.random.default_rng(4)
    differing = 0
    for seed in range(6):
        game = played(rules, seed, 3 * seed, episode="round")
        if game.is_over:
            continue
        seat = game.turn  # whose worlds can be drawn; the others are told apart by the swaps below
        seen = texts_of(game, seat)
        for world in determinize(rules, game.concealed(seat), seat, np.array(game.history), generator, num_worlds=3):
            other = game.clone()
            other.table.set_state(0, world, game.history)
            differing += other.hands != game.hands
            assert texts_of(other, seat) == seen
    assert differing


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_a_view_holds_no_hidden_tile(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(5):
        game = played(rules, seed, 4 * seed + 3)
        for viewer in range(num_players):
            view = view_of(game, viewer)
            concealed = make_view(rules, game.concealed(viewer), game.history, viewer)
            assert view == concealed and view_svg(view) == view_svg(concealed)
            assert view.pile == ()
            hidden = {
                *game.boneyard,
                *(tile for seat, hand in enumerate(game.hands) if seat != viewer for tile in hand),
            }
            laid = {format_tile(box.tile) for box in view.layout.boxes}
            shown = set(re.findall(r"\b\d-\d\b", view_svg(view)))
            assert shown == laid | set(game.hands[viewer]) and not shown & hidden


def test_kept_lots_are_shown_to_all_until_they_are_laid():
    game = Game("block", num_players=4, opening="lots_keep", seed=3)
    lots = game.state["lots"][0]
    for viewer in range(4):
        view = view_of(game, viewer)
        for seat in view.seats:
            assert lots[seat.seat] in seat.hand
            assert seat.count == len(game.hands[seat.seat])


def test_everybody_sees_everything_without_a_viewer():
    game = played(make_rules("draw"), 4, 7)
    view = view_of(game)
    assert tuple(tuple(map(format_tile, seat.hand)) for seat in view.seats) == game.hands
    assert tuple(map(format_tile, view.pile)) == game.boneyard and view.viewer is None
    assert make_view(game.rules, game.concealed(0), game.history).pile == ()


# Without a trace


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_drawing_changes_no_game(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(3):
        games = [Game(rules=rules, seed=seed, episode="round") for _ in range(2)]
        generator = random.Random(seed)
        while not games[0].is_over:
            viewer = generator.choice([None, *range(num_players)])
            before = games[1].state
            first = texts_of(games[1], viewer)
            assert texts_of(games[1], viewer) == first
            assert games[1]._repr_svg_() == games[1].svg() and str(games[1])
            assert np.array_equal(games[1].state, before)
            assert games[0].legal_actions == games[1].legal_actions
            action = generator.choice(games[0].legal_actions)
            for game in games:
                game.step(action)
            assert games[0].position == games[1].position
            assert np.array_equal(games[0].state, games[1].state)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_ten_thousand_games_go_on_as_if_they_had_not_been_drawn(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(10_000):
        plain, drawn = (Game(rules=rules, seed=seed, episode="round") for _ in range(2))
        generator = random.Random(seed)
        while not plain.is_over:
            if generator.random() < 0.05:
                texts_of(drawn, generator.choice([None, *range(num_players)]))
            assert plain.legal_actions == drawn.legal_actions
            action = generator.choice(plain.legal_actions)
            assert plain.step(action) == drawn.step(action)
        texts_of(drawn, None)
        assert np.array_equal(plain.state, drawn.state)


# The view


def test_what_a_view_tells():
    game = Game.from_position(
        "all_fives num_players=3 | hands 6-5,1-1 / 5-0,2-2 / 5-1,3-3 | boneyard rest | layout 5-5 | turn 1"
        " | scores 5 0 10 | round_points 5 0 0 | lacking - / - / 4"
    )
    view = view_of(game, 1)
    assert view.mover == 1 and [seat.is_mover for seat in view.seats] == [False, True, False]
    assert [seat.score for seat in view.seats] == [5, 0, 10] and view.seats[0].round_points == 5
    assert [seat.lacking for seat in view.seats] == [(), (), (4,)]
    assert view.ends == {0: 5} and view.exposed_count == 10 and not view.is_over
    assert view.last_move is not None and view.last_move.word == "5-5" and view.last_move.box == 0
    assert (view.last_move_text, view.status_text) == ("player_0 led 5-5", "player_1 is to move")
    game.step("5-0@0")
    assert view_of(game).last_move_text == "player_1 laid 5-0 on end 0"
    assert view_of(game, names=["Ann", "Bo", "Cy"]).status_text == "Cy is to move"
    lost = view_of(game, 2, is_lost=True)
    assert lost.mover is None and lost.status_text == "the game was ended by an illegal action"


def test_draws_and_passes_are_last_moves_without_a_box():
    seen = set()
    for seed in range(20):
        record = played(make_rules("draw", num_players=3), seed, 200, episode="round").record
        for view in record_views(record):
            if view.last_move is not None and view.last_move.box is None:
                seen.add(view.last_move.word)
                if view.last_move.word == "draw" and not view.is_over:
                    assert view.last_move.seat == view.mover
    assert seen == {"draw", "pass"}


@pytest.mark.parametrize("preset", [("draw", 3), ("all_fives", 2), ("block", 4)])
def test_frames_are_all_positions_of_a_record(preset):
    game = played(make_rules(preset[0], num_players=preset[1]), 7, 90)
    record = dataclasses.replace(game.record, players=("Ann", "Bo", "Cy", "Di")[: preset[1]])
    views = list(record_views(record, 1, columns=16))
    assert len(views) == sum(len(past.actions) + 1 for past in record.rounds)
    assert views[-1] == view_of(game, 1, columns=16, names=record.players)
    assert views[0].layout.boxes == () and views[0].seats[1].name == "Bo"
    ended = [view for view in views if view.is_over]
    assert len(ended) >= len(record.rounds) - 1
    assert all(view.winners == past.outcome.winners for view, past in zip(ended, record.rounds, strict=False))


# The picture


def reach(label: Label) -> tuple[float, float]:
    """About from where to where a text goes."""
    left = label.x - {"start": 0, "middle": label.width / 2, "end": label.width}[label.anchor]
    return left, left + label.width


def check_scene(scene: Scene, view: View) -> None:
    """Everything lies on the card, tiles and panels do not overlap, and no text runs out of the picture."""
    for shape in scene.shapes:
        if isinstance(shape, Label):
            left, right = reach(shape)
            assert left >= 0 and right <= scene.width, shape
            assert 0 < shape.y < scene.height
        elif not hasattr(shape, "radius") or isinstance(shape, Panel):
            assert shape.x >= 0 and shape.x + shape.width <= scene.width
            assert shape.y >= 0 and shape.y + shape.height <= scene.height + 1e-9
    labels = [shape for shape in scene.shapes if isinstance(shape, Label)]
    for one, other in combinations(labels, 2):
        if abs(one.y - other.y) < max(one.size, other.size):
            assert min(reach(one)[1], reach(other)[1]) <= max(reach(one)[0], reach(other)[0]), (one, other)
    card, *panels = [shape for shape in scene.shapes if isinstance(shape, Panel)]
    assert (card.x, card.y, card.width, card.height) == (0, 0, scene.width, scene.height)
    for shapes in (panels, [shape for shape in scene.shapes if isinstance(shape, Tile | Back | Ghost)]):
        low = np.array([(shape.x, shape.y) for shape in shapes])
        high = low + np.array([(shape.width, shape.height) for shape in shapes])
        apart = np.maximum(low[:, None] - high[None], low[None] - high[:, None]).max(-1)
        assert (apart[~np.eye(len(shapes), dtype=bool)] > -1e-9).all()
    tiles = [shape for shape in scene.shapes if isinstance(shape, Tile)]
    assert len(tiles) == len(view.layout.boxes) + sum(len(seat.hand) for seat in view.seats) + len(view.pile)
    assert sum(isinstance(s, Back) for s in scene.shapes) == 1 + sum(seat.num_hidden for seat in view.seats)
    assert [tile.is_last for tile in tiles].count(True) == (
        view.last_move is not None and view.last_move.box is not None
    )


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_pictures_of_random_games(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(4):
        for columns in (14, 16, 30):
            game = played(rules, seed, 9 * seed)
            for viewer in (None, seed % num_players):
                view = view_of(
                    game, viewer, columns=columns, names=("A", "Bartholomew", "player_2", "x" * 40)[:num_players]
                )
                scene = compose(view)
                check_scene(scene, view)
                check_scene(compose(view, height=60), view)
                assert compose(view, height=60).height == max(60, scene.height)


def test_21_tiles_in_a_hand_on_a_phone():
    game = Game.from_position(
        "draw num_players=2 | hands rest / 6-5,6-4,6-3,6-2,6-1,6-0 | boneyard - | layout 6-6"
        + 14 * " draw"
        + " | turn 0 | starter 1 | lacking 6 / -"
    )
    for viewer in (0, 1, None):
        for columns in (14, 30):
            view = view_of(game, viewer, columns=columns)
            assert view.seats[0].count == 21
            check_scene(compose(view), view)


def test_the_picture_is_sound_and_tells_itself():
    game = played(make_rules("all_fives"), 5, 12)
    view = view_of(game, 0)
    for theme in ("auto", "light", "dark"):
        root = ElementTree.fromstring(view_svg(view, theme=theme))
        assert root.tag == SVG + "svg" and root.get("role") == "img"
        title, description = root[0], root[1]
        assert title.tag == SVG + "title" and "All Fives" in title.text
        assert description.tag == SVG + "desc" and view.status_text in description.text
        titles = [element.text for element in root.iter(SVG + "title")]
        for box in view.layout.boxes:
            (said,) = [text for text in titles if text.startswith(format_tile(box.tile) + ", laid")]
            assert ("the spinner" in said) == box.is_spinner
        assert sum(" hidden tile of player_1" in text for text in titles) == len(game.hands[1])
        pips = [circle for circle in root.iter(SVG + "circle") if circle.get("class") == "pip"]
        shown = [*(box.tile for box in view.layout.boxes), *view.seats[0].hand]
        assert len(pips) == sum(PIPS_OF[tile] for tile in shown)
        assert not any(element.get("id") for element in root.iter())
        assert ("prefers-color-scheme" in view_svg(view, theme=theme)) == (theme == "auto")
    with pytest.raises(ValueError, match="theme='blue'"):
        view_svg(view, theme="blue")  # type: ignore[arg-type]


def test_names_are_text_and_no_markup():
    game = Game("draw", seed=1)
    names = ("<script>alert(1)</script>", 'A & "B"')
    root = ElementTree.fromstring(view_svg(view_of(game, 0, names=names)))
    assert not [element for element in root.iter() if "script" in element.tag]
    assert "<script>" in root[1].text


def test_pips_are_as_many_as_the_number_and_the_same_upside_down():
    assert [len(places) for places in PIPS] == list(range(10))
    for places in PIPS:
        assert len(set(places)) == len(places)
        assert {(-x, -y) for x, y in places} == set(places)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", list(THEMES))
def test_text_can_be_read(theme):
    """Contrasts of at least 4.5 to 1 for text (WCAG 2, AA), 3 to 1 for what else has a meaning."""
    colours = THEMES[theme]
    for over, under, least in [
        *((role, ground, 4.5) for role in ("ink", "muted") for ground in ("card", "seat")),
        ("accent", "seat", 4.5),
        ("felt_ink", "felt", 4.5),
        ("felt_muted", "felt", 4),
        ("pip", "ivory", 7),
        ("ivory", "felt", 3),
        ("mover_edge", "seat", 3),
        ("last", "felt", 3),
    ]:
        light, dark = sorted((luminance(colours[over]), luminance(colours[under])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= least, (over, under)


def test_a_game_draws_itself():
    game = Game("draw", seed=2)
    assert game._repr_svg_() == game.svg() == game.svg(None, theme="auto", columns=30)
    assert game.svg(0) != game.svg(1) and "hidden tile" in game.svg(0) and "hidden tile" not in game.svg()
    assert game.svg(1, theme="dark", columns=14) == view_svg(view_of(game, 1, columns=14), theme="dark")
    with pytest.raises(ValueError, match="viewer=2"):
        game.svg(2)


# The text

DRAWN = """\
                                    @2
                                  ┌───┐
                          ┌───────┤ 5 ├───────┬───────┐
                       @0 │ 0 ┊ 5 │═══│ 5 ┊ 6 │ 6 ┊ 1 │ @1
                          └───────┤ 5 ├───────┴───────┘
                                  └───┘"""


def test_the_line_of_play_is_drawn():
    rules = make_rules("all_fives")
    history = [parse_action(rules, word) for word in ("5-5", "5-0@0", "6-5@1", "6-1@1")]
    layout = lay_out(rules, history, columns=18)
    assert draw_layout(layout) == DRAWN


def test_a_drawing_has_colour_only_where_it_is_asked_for():
    game = played(make_rules("all_fives"), 5, 12)
    arguments = game.rules, game.state, game.history
    plain, coloured = view_text(*arguments, viewer=0), view_text(*arguments, viewer=0, colour=True)
    assert "\x1b" not in plain and "\x1b" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert not has_colour(io.StringIO())


def test_a_terminal_has_colour_unless_it_is_told_not_to(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert has_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())


@pytest.mark.parametrize("width", [41, 60, 80, 200])
def test_drawings_are_as_wide_as_the_screen(width):
    for seed in range(30):
        game = played(make_rules("all_fives", max_pip=9), seed, 200, episode="round")
        text = view_text(game.rules, game.state, game.history, width=width)
        drawn = [line for line in text.splitlines() if re.search("[─│┊]", line)]
        assert drawn and max(map(len, drawn)) <= width
        assert len(re.findall(r"\d", "".join(drawn))) == 2 * len(tiles_in(game.state["laid"][0]))
    assert not re.search("[─│┊]", view_text(game.rules, game.state, game.history, width=0))


def test_an_empty_table_has_no_drawing():
    assert draw_layout(view_of(Game("draw", seed=1)).layout) == ""
