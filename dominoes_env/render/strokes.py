"""How the shapes of a scene are drawn: in round rectangles, discs, lines and text, each in a style. What the painters
(SVG, pixels) have left to do is to put these on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from dominoes_env.render.scene import Back, Dot, Ghost, Label, Panel, Run, Shape, Tile

__all__ = ["DASH", "PIPS", "STYLES", "THEMES", "Disc", "Line", "Rect", "Stroke", "Style", "Text", "strokes"]

#: Where the pips of a number lie in an upright half, in thirds from its middle: (to the right, downwards).
PIPS: tuple[tuple[tuple[int, int], ...], ...] = (
    (),
    ((0, 0),),
    ((1, -1), (-1, 1)),
    ((1, -1), (0, 0), (-1, 1)),
    ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
    ((-1, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (1, 1)),
    ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)),
    ((-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)),
)

#: The colours of each theme by what they paint.
THEMES: dict[str, dict[str, str]] = {
    "light": {
        "card": "#f3f0e9",
        "card_edge": "#e2dccf",
        "seat": "#fdfcf9",
        "seat_edge": "#e2dccf",
        "mover_edge": "#c77a1c",
        "felt": "#3a6956",
        "felt_edge": "#2f5647",
        "ink": "#2b2926",
        "muted": "#736d63",
        "accent": "#a35a06",
        "felt_ink": "#f2f6ee",
        "felt_muted": "#c6d8cc",
        "ivory": "#fbf7ea",
        "ivory_edge": "#cbbf9f",
        "divider": "#b3a684",
        "pip": "#2a2723",
        "pin": "#c09a45",
        "back": "#7d4a3c",
        "back_edge": "#5f372c",
        "back_mark": "#a97460",
        "last": "#ffb83d",
        "shadow": "#000000",
    },
    "dark": {
        "card": "#181a19",
        "card_edge": "#2c302e",
        "seat": "#212423",
        "seat_edge": "#323735",
        "mover_edge": "#d9923a",
        "felt": "#21443a",
        "felt_edge": "#1a372f",
        "ink": "#ece8de",
        "muted": "#a09a8e",
        "accent": "#eda84c",
        "felt_ink": "#e6ede6",
        "felt_muted": "#96b3a5",
        "ivory": "#ebe3cd",
        "ivory_edge": "#a89c7c",
        "divider": "#a39672",
        "pip": "#23211d",
        "pin": "#a8843a",
        "back": "#6f4236",
        "back_edge": "#8f5c4d",
        "back_mark": "#956453",
        "last": "#f0a53a",
        "shadow": "#000000",
    },
}


class Style(NamedTuple):
    """What a stroke looks like; colours by their names in ``THEMES``, lengths in units."""

    fill: str = ""
    """Empty: not filled."""
    opacity: float = 1
    """Of the fill; 0: not to be seen, but to be hit."""
    edge: str = ""
    """The colour of the outline, or of the line; empty: none."""
    width: float = 0
    """Of the outline, which has its middle on the edge."""
    is_round: bool = False
    """Whether the line ends in half discs."""
    is_dashed: bool = False


#: Dash and gap of a dashed outline, in units.
DASH = (0.1, 0.09)

STYLES: dict[str, Style] = {
    "card": Style("card", edge="card_edge", width=0.02),
    "seat": Style("seat", edge="seat_edge", width=0.02),
    "mover": Style("seat", edge="mover_edge", width=0.05),
    "felt": Style("felt", edge="felt_edge", width=0.04),
    **{role: Style(role) for role in ("ink", "muted", "accent", "felt_ink", "felt_muted")},
    "shadow": Style("shadow", 0.22),
    "ivory": Style("ivory", edge="ivory_edge", width=0.025),
    "divider": Style(edge="divider", width=0.035, is_round=True),
    "pip": Style("pip"),
    "pin": Style("pin"),
    "back": Style("back", edge="back_edge", width=0.025),
    "mark": Style(edge="back_mark", width=0.03),
    "last": Style("last"),
    "hit": Style("felt", 0),
    "ghost": Style("felt_ink", 0.05, "felt_muted", 0.03, is_dashed=True),
}


class Rect(NamedTuple):
    """A rectangle with round corners."""

    style: str
    x: float
    y: float
    width: float
    height: float
    radius: float


class Disc(NamedTuple):
    """A filled circle."""

    style: str
    x: float
    y: float
    radius: float


class Line(NamedTuple):
    """A straight line."""

    style: str
    x: float
    y: float
    to_x: float
    to_y: float


class Text(NamedTuple):
    """A line of text; (x, y) is its start, middle or end, halfway up its capitals."""

    x: float
    y: float
    size: float
    anchor: Literal["start", "middle", "end"]
    runs: tuple[Run, ...]


Stroke: TypeAlias = Rect | Disc | Line | Text


def strokes(shape: Shape) -> Iterator[Stroke]:
    """What a shape is drawn with, from back to front."""
    if isinstance(shape, Panel):
        inset = 0.01 if shape.kind == "card" else 0
        width, height = shape.width - 2 * inset, shape.height - 2 * inset
        yield Rect(shape.kind, shape.x + inset, shape.y + inset, width, height, shape.radius)
    elif isinstance(shape, Label):
        yield Text(shape.x, shape.y, shape.size, shape.anchor, shape.runs)
    elif isinstance(shape, Dot):
        yield Disc(shape.role, shape.x, shape.y, shape.radius)
    elif isinstance(shape, Ghost):
        # an area around it that can be hit with a finger
        yield Rect("hit", shape.x - 0.3, shape.y - 0.3, shape.width + 0.6, shape.height + 0.6, 0.3)
        yield Rect("ghost", shape.x + 0.08, shape.y + 0.08, shape.width - 0.16, shape.height - 0.16, 0.16)
        size = 0.56 * min(shape.width, shape.height)
        yield Text(shape.number_x, shape.number_y, size, "middle", (Run(str(shape.number), "felt_ink"),))
    elif isinstance(shape, Tile):
        yield from _tile(shape)
    else:
        yield from _back(shape)


def _body(style: str, tile: Tile | Back, unit: float) -> Iterator[Stroke]:
    """Shadow and body, a hair's breadth smaller than the place, so that neighbours can be told apart."""
    inset = 0.025 * unit
    width, height = tile.width - 2 * inset, tile.height - 2 * inset
    yield Rect("shadow", tile.x + inset + 0.02 * unit, tile.y + inset + 0.06 * unit, width, height, 0.17 * unit)
    yield Rect(style, tile.x + inset, tile.y + inset, width, height, 0.17 * unit)


def _tile(tile: Tile) -> Iterator[Stroke]:
    unit = min(tile.width, tile.height)
    is_upright = tile.height > tile.width
    if tile.is_last:
        yield Rect("last", tile.x - 0.09, tile.y - 0.09, tile.width + 0.18, tile.height + 0.18, 0.26)
    yield from _body("ivory", tile, unit)
    x, y = tile.x + tile.width / 2, tile.y + tile.height / 2
    across, down = (0.34 * unit, 0.0) if is_upright else (0.0, 0.34 * unit)
    yield Line("divider", x - across, y - down, x + across, y + down)
    if tile.is_spinner:
        yield Disc("pin", x, y, 0.09 * unit)
    for sign, number in ((-1, tile.first), (1, tile.second)):
        half_x, half_y = (x, y + sign * unit / 2) if is_upright else (x + sign * unit / 2, y)
        radius = 0.088 if number > 6 else 0.098
        for right, low in PIPS[number]:
            dx, dy = (right, low) if is_upright else (-low, right)
            yield Disc("pip", half_x + dx * 0.27 * unit, half_y + dy * 0.27 * unit, radius * unit)


def _back(back: Back) -> Iterator[Stroke]:
    unit = min(back.width, back.height)
    yield from _body("back", back, unit)
    inset = 0.2 * unit
    yield Rect("mark", back.x + inset, back.y + inset, back.width - 2 * inset, back.height - 2 * inset, 0.08 * unit)
