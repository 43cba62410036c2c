"""A view as pixels, without a display: arrays, PNG and GIF. Painted by Pillow, which the extra ``render`` installs.

All is painted some times larger than asked for and averaged, so that edges are smooth. Texts are set in the font that
Pillow brings, which is the same on every machine.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dominoes_env.arguments import checked_integer
from dominoes_env.records import Record
from dominoes_env.render.frames import record_views
from dominoes_env.render.scene import Scene, compose, scene_width
from dominoes_env.render.strokes import DASH, STYLES, THEMES, Disc, Line, Rect, Text, strokes
from dominoes_env.render.view import View

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["HEIGHT", "WIDTH", "PixelTheme", "require_pillow", "save_gif", "save_png", "view_pixels"]

PixelTheme: TypeAlias = Literal["light", "dark"]

#: The size of a picture if no other is asked for, in pixels: 30 to a unit for a table 30 units wide.
WIDTH, HEIGHT = 960, 800

_FINE = 3  # painted pixels to a pixel of the result, along each axis
_SECONDS, _DEAL_SECONDS, _LAST_SECONDS = 0.9, 1.6, 5.0
_CAPITALS = 0.35  # half the height of capitals, as a share of the size of type
_OTHER_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "arial.ttf", "Arial Unicode.ttf")


def require_pillow() -> None:
    """Nothing if Pillow is installed.

    Raises:
        ModuleNotFoundError: naming the extra that brings it.
    """
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        message = "pictures in pixels need Pillow, the extra `render`: pip install 'dominoes_env[render]'"
        raise ModuleNotFoundError(message) from error


def view_pixels(
    view: View, *, width: int = WIDTH, height: int | None = HEIGHT, theme: PixelTheme = "light"
) -> NDArray[np.uint8]:
    """The view as an array, uint8 (height, width, 3), red, green, blue.

    Args:
        view: what is to be seen.
        width: of the picture, in pixels.
        height: of the picture, in pixels. The table takes what the rest leaves, and the line of play is drawn smaller
            where that is too little. None: as high as the view needs.
        theme: ``"light"`` or ``"dark"``.

    Raises:
        ModuleNotFoundError: without Pillow.
        ValueError: for an unknown theme, or a size that is no integer of at least 1.
    """
    return np.asarray(_painted(view, width, height, theme))


def save_png(path: str | Path, view: View, *, width: int = 2 * WIDTH, theme: PixelTheme = "light") -> None:
    """Write the view as PNG, ``width`` pixels wide and as high as it needs; raises as :func:`view_pixels`."""
    _painted(view, width, None, theme).save(path, format="PNG", optimize=True)


def save_gif(
    path: str | Path,
    record: Record,
    *,
    viewer: int | None = None,
    width: int = WIDTH,
    theme: PixelTheme = "light",
) -> None:
    """Write a game as a film, over and over, a position a frame, as ``viewer`` may see it (None: all hands).

    A frame stays for 0.9 seconds, a deal for longer, the last one for 5. All have the height that the highest needs.
    Raises as :func:`view_pixels`.
    """
    require_pillow()
    from PIL.Image import Dither

    seconds: list[float] = []
    units, last = 0.0, None
    for view in record_views(record, viewer):
        seconds.append(_SECONDS if view.history else _DEAL_SECONDS)
        units, last = max(units, compose(view).height), view
    if last is None:
        raise ValueError("a record without a round cannot be shown")
    seconds[-1] = _LAST_SECONDS
    height = math.ceil(units * width / scene_width(last))
    palette = _painted(last, width, height, theme).quantize(256)
    views = record_views(record, viewer)
    images = (_painted(view, width, height, theme).quantize(palette=palette, dither=Dither.NONE) for view in views)
    durations = [round(1000 * duration) for duration in seconds]
    next(images).save(path, format="GIF", save_all=True, append_images=images, duration=durations, loop=0)


# The picture


def _painted(view: View, width: int, height: int | None, theme: str) -> Image.Image:
    if theme not in THEMES:
        raise ValueError(f"theme={theme!r} is not allowed; allowed: {', '.join(THEMES)}")
    for name, size in (("width", width), ("height", height)):
        if size is not None:
            checked_integer(name, size, 1)
    require_pillow()
    from PIL import Image

    scale = width / scene_width(view)
    scene = compose(view, height=0 if height is None else height / scale, is_fixed=height is not None)
    if height is None:
        height = math.ceil(scene.height * scale)
    scale = min(scale, height / scene.height)
    image = Image.new("RGB", (width * _FINE, height * _FINE), THEMES[theme]["card"])
    _Brush(image, THEMES[theme], scale * _FINE, (width - scene.width * scale) / 2 * _FINE).paint(scene)
    return image.reduce(_FINE)


class _Brush:
    """Paints strokes on an image, ``scale`` pixels to a unit, ``left`` pixels from its left edge."""

    def __init__(self, image: Image.Image, colours: dict[str, str], scale: float, left: float) -> None:
        from PIL import ImageDraw

        self._solid = ImageDraw.Draw(image)
        self._blending = ImageDraw.Draw(image, "RGBA")
        self._colours = colours
        self._scale = scale
        self._left = left

    def paint(self, scene: Scene) -> None:
        """All but the card, which fills the picture."""
        for stroke in chain.from_iterable(map(strokes, scene.shapes[1:])):
            if isinstance(stroke, Rect):
                self._rect(stroke)
            elif isinstance(stroke, Disc):
                self._disc(stroke.x, stroke.y, stroke.radius, self._colours[STYLES[stroke.style].fill])
            elif isinstance(stroke, Line):
                self._line(stroke)
            else:
                self._text(stroke)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return self._left + x * self._scale, y * self._scale

    def _box(self, rect: Rect, outset: float) -> tuple[tuple[int, int, int, int], float]:
        """Its corners as Pillow has them, the last pixel inside, and its radius, all ``outset`` units larger."""
        left, top = self._point(rect.x - outset, rect.y - outset)
        right, low = self._point(rect.x + rect.width + outset, rect.y + rect.height + outset)
        corners = round(left), round(top), max(round(left), round(right) - 1), max(round(top), round(low) - 1)
        return corners, max(0, rect.radius + outset) * self._scale

    def _rect(self, rect: Rect) -> None:
        style = STYLES[rect.style]
        colours = self._colours
        if not style.opacity:
            return
        if style.opacity != 1:
            red, green, blue = (int(colours[style.fill][place : place + 2], 16) for place in (1, 3, 5))
            fill = (red, green, blue, round(255 * style.opacity))
            self._blending.rounded_rectangle(*self._box(rect, 0), fill=fill)
        elif style.fill:
            if style.edge:
                self._solid.rounded_rectangle(*self._box(rect, style.width / 2), fill=colours[style.edge])
            self._solid.rounded_rectangle(*self._box(rect, -style.width / 2), fill=colours[style.fill])
        width = max(1, round(style.width * self._scale))
        if style.is_dashed:
            for start, end in _dashes(rect):
                self._solid.line((self._point(*start), self._point(*end)), fill=colours[style.edge], width=width)
        elif style.edge and not style.fill:
            self._solid.rounded_rectangle(*self._box(rect, style.width / 2), outline=colours[style.edge], width=width)

    def _disc(self, x: float, y: float, radius: float, colour: str) -> None:
        left, top = self._point(x - radius, y - radius)
        size = round(2 * radius * self._scale)
        left, top = round(left), round(top)
        self._solid.ellipse((left, top, left + max(0, size - 1), top + max(0, size - 1)), fill=colour)

    def _line(self, line: Line) -> None:
        style = STYLES[line.style]
        colour = self._colours[style.edge]
        ends = self._point(line.x, line.y), self._point(line.to_x, line.to_y)
        self._solid.line(ends, fill=colour, width=max(1, round(style.width * self._scale)))
        if style.is_round:
            self._disc(line.x, line.y, style.width / 2, colour)
            self._disc(line.to_x, line.to_y, style.width / 2, colour)

    def _text(self, text: Text) -> None:
        size = max(1, round(text.size * self._scale))
        pieces = [(run, *_typeset(run.text, size)) for run in text.runs]
        width = sum(font.getlength(letters) for _, letters, font in pieces)
        x, y = self._point(text.x, text.y + _CAPITALS * text.size)
        x -= {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
        for run, letters, font in pieces:
            stroke = round(0.025 * size) if run.is_bold else 0  # the font has no bold face
            self._solid.text(
                (x, y), letters, fill=self._colours[STYLES[run.role].fill], font=font, anchor="ls", stroke_width=stroke
            )
            x += font.getlength(letters)


def _dashes(rect: Rect) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Short lines around a rectangle, from end to end, in units; so many that they come out even."""
    radius = rect.radius
    sides = rect.width - 2 * radius, rect.height - 2 * radius
    around = 2 * sum(sides) + 2 * math.pi * radius
    count = round(around / sum(DASH))
    for number in range(count):
        start = number * around / count
        yield _point_around(rect, sides, start), _point_around(rect, sides, start + DASH[0])


def _point_around(rect: Rect, sides: tuple[float, float], way: float) -> tuple[float, float]:
    """The point of the edge ``way`` units on from the start of the upper side, clockwise."""
    arc = math.pi / 2 * rect.radius
    x, y = rect.x + rect.width / 2, rect.y + rect.height / 2
    dx, dy = 1, 0  # the heading; the side is half the extent of the rectangle to the left of it
    for turn in range(5):
        along, across = (sides[0], rect.height) if turn % 2 == 0 else (sides[1], rect.width)
        if way <= along + arc or turn == 4:
            break
        way -= along + arc
        dx, dy = -dy, dx
    ahead, outward = min(way, along) - along / 2, across / 2
    if way > along:
        angle = (way - along) / rect.radius
        ahead += rect.radius * math.sin(angle)
        outward -= rect.radius * (1 - math.cos(angle))
    return x + dx * ahead + dy * outward, y + dy * ahead - dx * outward


# Type


@lru_cache(maxsize=64)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


@lru_cache(maxsize=64)
def _other_font(size: int) -> Any:
    """A font of the system that knows more letters, or None."""
    from PIL import ImageFont

    for name in _OTHER_FONTS:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return None


@lru_cache(maxsize=1024)
def _typeset(text: str, size: int) -> tuple[str, Any]:
    """The letters to draw and their font: the one that Pillow brings, which knows ASCII and some signs; for names
    in other letters one of the system's, or else what remains of them."""
    if all(map(_is_known, text)):
        return text, _font(size)
    other = _other_font(size)
    if other is not None:
        return text, other
    return "".join(letter if _is_known(letter) else _plain(letter) for letter in text), _font(size)


def _is_known(letter: str) -> bool:
    return letter.isascii() or letter in "·…"


def _plain(letter: str) -> str:
    """A letter without its accents; a question mark if that is not enough."""
    base = "".join(sign for sign in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(sign))
    return base if base.isascii() else "?"
