"""Pictures in pixels: as large as asked for, every pip there to be counted, nothing cut, films a position a frame."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
from invariants import PRESETS
from random_games import played
from scipy import ndimage

from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.render import pixels
from dominoes_env.render.frames import record_views
from dominoes_env.render.scene import Back, Ghost, Label, Tile, compose
from dominoes_env.render.strokes import THEMES
from dominoes_env.render.view import View, make_view

Image = pytest.importorskip("PIL.Image")


def view_of(game: Game, viewer: int | None = None, **options: object) -> View:
    return make_view(game.rules, game.state, game.history, viewer, **options)  # type: ignore[arg-type]


def colour(theme: str, name: str) -> list[int]:
    return [int(THEMES[theme][name][place : place + 2], 16) for place in (1, 3, 5)]


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_all_pictures_of_a_game_have_one_size_and_lose_nothing(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    game = Game(rules=rules, seed=1, episode="round")
    generator = random.Random(1)
    while not game.is_over:
        game.step(generator.choice(game.legal_actions))
        if generator.random() < 0.05 or game.is_over:
            view = view_of(game, generator.choice([None, *range(num_players)]))
            theme = generator.choice(["light", "dark"])
            painted = pixels.view_pixels(view, theme=theme)
            assert painted.shape == (pixels.HEIGHT, pixels.WIDTH, 3) and painted.dtype == np.uint8
            assert (painted[:5] == colour(theme, "card")).all()
            scene = compose(view, height=pixels.HEIGHT / pixels.WIDTH * 32, is_fixed=True)
            assert scene.height <= pixels.HEIGHT / pixels.WIDTH * 32 + 1e-9
            assert pips_counted(view, painted, scene.shapes, theme) == [pips_of(scene.shapes)] * 2


def pips_of(shapes: tuple[object, ...]) -> int:
    return sum(shape.first + shape.second for shape in shapes if isinstance(shape, Tile))


def pips_counted(view: View, painted: np.ndarray, shapes: tuple[object, ...], theme: str) -> list[int]:
    """The dark spots in all tiles, in the picture, and in one of twice the size and as high as it needs."""
    counts = []
    for width, height in ((pixels.WIDTH, pixels.HEIGHT), (2 * pixels.WIDTH, None)):
        if height is None:
            painted, shapes = pixels.view_pixels(view, width=width, height=None, theme=theme), compose(view).shapes
        scale, count = width / 32, 0
        for tile in shapes:
            if isinstance(tile, Tile):
                inset = 0.12 * min(tile.width, tile.height)  # past the round corners
                left, top = round((tile.x + inset) * scale), round((tile.y + inset) * scale)
                right, low = round((tile.x + tile.width - inset) * scale), round((tile.y + tile.height - inset) * scale)
                is_dark = painted[top:low, left:right].sum(axis=2) < 330
                count += ndimage.label(is_dark)[1]
        counts.append(count)
    return counts


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_texts_take_no_more_room_than_they_were_given(variant, num_players):
    """The scene measures texts roughly, and sees that none meets another; the type is narrower than that."""
    for seed in range(3):
        game = played(make_rules(variant, num_players=num_players), seed, 11 * seed)
        for viewer in (None, 0):
            for label in compose(view_of(game, viewer)).shapes:
                if isinstance(label, Label):
                    pieces = [pixels._typeset(run.text, round(30 * label.size)) for run in label.runs]
                    width = sum(font.getlength(letters) for letters, font in pieces)
                    assert width / 30 <= label.width + 0.05, label


def test_a_line_of_play_that_needs_more_room_is_drawn_smaller():
    game = played(make_rules("all_fives"), 9, 1000, "round")
    for viewer in (None, 0):
        view = view_of(game, viewer)
        natural, squeezed = compose(view), compose(view, height=15, is_fixed=True)
        assert natural.height > squeezed.height + 2
        assert compose(view, height=60, is_fixed=True) == compose(view, height=60)
        for before, after in zip(natural.shapes, squeezed.shapes, strict=True):
            if isinstance(before, (Tile, Ghost)) and "laid by" in before.title:
                assert after.width < before.width and after.width / after.height == before.width / before.height
            elif isinstance(before, (Tile, Back, Label)):
                assert (getattr(after, "width", 0), after.x) == (getattr(before, "width", 0), before.x)


def test_what_is_hidden_is_not_painted():
    game = played(make_rules("draw"), 3, 9, "round")
    concealed = make_view(game.rules, game.concealed(0), game.history, 0)
    assert np.array_equal(pixels.view_pixels(view_of(game, 0)), pixels.view_pixels(concealed))
    assert not np.array_equal(pixels.view_pixels(view_of(game, 0)), pixels.view_pixels(view_of(game)))


def test_names_in_other_letters_are_set_in_what_there_is(monkeypatch):
    game = Game("draw", seed=1)
    view = view_of(game, 0, names=("Zoë", "Дарья"))
    assert pixels.view_pixels(view).shape == (pixels.HEIGHT, pixels.WIDTH, 3)
    monkeypatch.setattr(pixels, "_other_font", lambda size: None)
    pixels._typeset.cache_clear()
    assert pixels._typeset("Zoë · Дарья…", 12)[0] == "Zoe · ?????…"
    assert pixels.view_pixels(view).shape == (pixels.HEIGHT, pixels.WIDTH, 3)
    pixels._typeset.cache_clear()


@pytest.mark.parametrize("size", [(1, 1), (64, 48), (301, 977), (400, None)])
def test_other_sizes(size):
    painted = pixels.view_pixels(view_of(played(make_rules("all_fives"), 9, 20)), width=size[0], height=size[1])
    assert painted.shape[1] == size[0] and painted.shape[0] == (size[1] or painted.shape[0])


def test_wrong_arguments_are_refused():
    view = view_of(Game("draw", seed=1))
    for options, said in (
        ({"theme": "auto"}, "theme='auto' is not allowed; allowed: light, dark"),
        ({"width": 0}, "width=0 is not allowed"),
        ({"height": -1}, "height=-1 is not allowed"),
        ({"width": 960.5}, "width=960.5 is not allowed; allowed: an integer of at least 1"),
        ({"height": "800"}, "height='800' is not allowed"),
    ):
        with pytest.raises(ValueError, match=said):
            pixels.view_pixels(view, **options)


def test_without_pillow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'dominoes_env\[render\]'"):
        pixels.view_pixels(view_of(Game("draw", seed=1)))


def test_nothing_is_loaded_before_it_is_needed():
    code = (
        "import sys, dominoes_env; dominoes_env.Game, dominoes_env.env, dominoes_env.gym_env;"
        "import dominoes_env.render.pixels; print(*({'PIL', 'pygame'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_a_png_is_the_view(tmp_path):
    view = view_of(played(make_rules("all_fives"), 9, 20), 1)
    pixels.save_png(tmp_path / "a.png", view, width=640, theme="dark")
    with Image.open(tmp_path / "a.png") as image:
        assert image.format == "PNG"
        assert np.array_equal(np.asarray(image), pixels.view_pixels(view, width=640, height=None, theme="dark"))


def test_a_game_paints_itself():
    game = played(make_rules("draw"), 2, 6)
    assert np.array_equal(game.pixels(), pixels.view_pixels(view_of(game)))
    options = {"width": 400, "height": None, "theme": "dark"}
    assert np.array_equal(game.pixels(1, **options), pixels.view_pixels(view_of(game, 1), **options))
    with pytest.raises(ValueError, match="viewer=2"):
        game.pixels(2)


@pytest.mark.parametrize("viewer", [None, 1])
def test_a_gif_is_a_position_a_frame(tmp_path, viewer):
    record = played(make_rules("all_fives", target=60), 9, 1000).record
    pixels.save_gif(tmp_path / "a.gif", record, viewer=viewer, width=320)
    views = list(record_views(record, viewer))
    assert len(record.rounds) > 1
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == len(views) and film.info["loop"] == 0
        durations = []
        for number, view in enumerate(views):
            film.seek(number)
            durations.append(film.info["duration"])
            if number % 7 == 0:
                wanted = pixels.view_pixels(view, width=320, height=film.size[1])
                shown = np.asarray(film.convert("RGB"))
                assert np.abs(shown.astype(int) - wanted).mean() < 2
        assert durations[-1] == max(durations) >= 3000 and durations[0] > durations[1] > 300
