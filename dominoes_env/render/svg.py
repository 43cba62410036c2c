"""A view as SVG: one self-contained picture without scripts, ids or fonts of its own.

For pages that allow no style but their stylesheets' there are pictures without colours, and :func:`svg_style` for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from xml.sax.saxutils import escape

from dominoes_env.render.scene import (
    Back,
    Dot,
    Ghost,
    Label,
    Panel,
    Scene,
    Shape,
    Tile,
    compose,
    compose_table,
    compose_tile,
)
from dominoes_env.render.view import View

__all__ = ["PIPS", "THEMES", "Theme", "svg_style", "table_svg", "tile_svg", "view_svg"]

Theme = Literal["auto", "light", "dark"]

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

_PIXELS = 30  # the nominal size of a unit on a page that has room
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"


def view_svg(view: View, *, theme: Theme = "auto", height: float = 0, has_style: bool = True) -> str:
    """The view as an ``<svg>`` element.

    Args:
        view: what is to be seen.
        theme: ``"light"``, ``"dark"``, or ``"auto"``: as the reader's system asks.
        height: the least height of the picture, in units (half tiles), to give all pictures of a game one size.
        has_style: False leaves the colours to the page's :func:`svg_style`.

    Raises:
        ValueError: for an unknown theme.
    """
    if theme not in ("auto", *THEMES):
        raise ValueError(f"theme={theme!r} is not allowed; allowed: auto, light, dark")
    return "".join(_svg(compose(view, height=height), theme, has_style))


def table_svg(view: View, *, height: float = 0) -> str:
    """The table of a view alone, for a page with :func:`svg_style`.

    The place of the next tile at an open end is a ``<g data-end="1">`` with an area to hit that is larger than it.
    ``height`` is the least height in units.
    """
    return "".join(_svg(compose_table(view, height=height), "auto", False))


def tile_svg(tile: int | None) -> str:
    """One upright tile by its id, None: face down, for a page with :func:`svg_style`; the page says what it is."""
    scene = compose_tile(tile)
    body = "".join(part for shape in scene.shapes for part in _paint(shape))
    size = f"{_n(scene.width * 100)} {_n(scene.height * 100)}"
    return f'<svg class="dominoes-auto" aria-hidden="true" viewBox="0 0 {size}">{body}</svg>'


def svg_style() -> str:
    """The colours of all pictures without style, as text of a stylesheet; light or dark as the reader's system asks."""
    return _style("auto")


def _svg(scene: Scene, theme: Theme, has_style: bool) -> Iterator[str]:
    width, height = _n(scene.width * 100), _n(scene.height * 100)
    pixels = _n(round(scene.width * _PIXELS)), _n(round(scene.height * _PIXELS))
    fitted, style = "", ""
    if has_style:
        fitted, style = ' style="max-width:100%;height:auto"', f"<style>{_style(theme)}</style>"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dominoes-{theme}" role="img" viewBox="0 0 {width} {height}"'
        f' width="{pixels[0]}" height="{pixels[1]}"{fitted}>'
        f"<title>{escape(scene.title)}</title><desc>{escape(scene.description)}</desc>{style}"
    )
    for shape in scene.shapes:
        yield from _paint(shape)
    yield "</svg>"


def _n(number: float) -> str:
    """A number without digits that nobody sees."""
    return f"{number:.1f}".rstrip("0").rstrip(".") or "0"


def _style(theme: Theme) -> str:
    """The colours as classes, said once more for the other theme where the reader's system chooses."""
    scope = f".dominoes-{theme} "
    light = _rules(scope, THEMES["dark" if theme == "dark" else "light"])
    text = f"{scope}text{{font-family:{_FONT}}}{scope}.bold{{font-weight:650}}" + light
    if theme == "auto":
        text += f"@media (prefers-color-scheme:dark){{{_rules(scope, THEMES['dark'])}}}"
    return text


def _rules(scope: str, colours: dict[str, str]) -> str:
    rules = {
        "card": "fill:{card};stroke:{card_edge};stroke-width:2",
        "seat": "fill:{seat};stroke:{seat_edge};stroke-width:2",
        "mover": "fill:{seat};stroke:{mover_edge};stroke-width:5",
        "felt": "fill:{felt};stroke:{felt_edge};stroke-width:4",
        **{role: f"fill:{{{role}}}" for role in ("ink", "muted", "accent", "felt_ink", "felt_muted")},
        "shadow": "fill:{shadow};fill-opacity:.22",
        "ivory": "fill:{ivory};stroke:{ivory_edge};stroke-width:2.5",
        "divider": "stroke:{divider};stroke-width:3.5;stroke-linecap:round",
        "pip": "fill:{pip}",
        "pin": "fill:{pin}",
        "back": "fill:{back};stroke:{back_edge};stroke-width:2.5",
        "mark": "fill:none;stroke:{back_mark};stroke-width:3",
        "last": "fill:{last}",
        "hit": "fill:transparent",
        "ghost": "fill:{felt_ink};fill-opacity:.05;stroke:{felt_muted};stroke-width:3;stroke-dasharray:10 9",
    }
    return "".join(f"{scope}.{name}{{{rule.format(**colours)}}}" for name, rule in rules.items())


# Shapes. A unit is 100.


def _paint(shape: Shape) -> Iterator[str]:
    if isinstance(shape, Panel):
        inset = 0.01 if shape.kind == "card" else 0
        yield _rect(
            shape.kind,
            shape.x + inset,
            shape.y + inset,
            shape.width - 2 * inset,
            shape.height - 2 * inset,
            shape.radius,
        )
    elif isinstance(shape, Label):
        yield _label(shape)
    elif isinstance(shape, Dot):
        yield _circle(shape.role, shape.x, shape.y, shape.radius)
    else:
        yield f'<g data-end="{shape.end}">' if isinstance(shape, Ghost) else "<g>"
        if shape.title:
            yield f"<title>{escape(shape.title)}</title>"
        if isinstance(shape, Tile):
            yield from _tile(shape)
        elif isinstance(shape, Back):
            yield from _back(shape)
        else:
            yield from _ghost(shape)
        yield "</g>"


def _rect(kind: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    return (
        f'<rect class="{kind}" x="{_n(x * 100)}" y="{_n(y * 100)}" width="{_n(width * 100)}"'
        f' height="{_n(height * 100)}" rx="{_n(radius * 100)}"/>'
    )


def _circle(kind: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{kind}" cx="{_n(x * 100)}" cy="{_n(y * 100)}" r="{_n(radius * 100)}"/>'


def _label(label: Label) -> str:
    spans = "".join(
        f'<tspan class="{run.role}{" bold" if run.is_bold else ""}">{escape(run.text)}</tspan>' for run in label.runs
    )
    return _text(label.x, label.y, label.size, label.anchor, spans)


def _text(x: float, y: float, size: float, anchor: str, spans: str) -> str:
    return (
        f'<text x="{_n(x * 100)}" y="{_n(y * 100 + size * 36)}" font-size="{_n(size * 100)}" text-anchor="{anchor}"'
        f' xml:space="preserve">{spans}</text>'
    )


def _body(kind: str, tile: Tile | Back, unit: float) -> Iterator[str]:
    """Shadow and body, a hair's breadth smaller than the place, so that neighbours can be told apart."""
    inset = 0.025 * unit
    width, height = tile.width - 2 * inset, tile.height - 2 * inset
    yield _rect("shadow", tile.x + inset + 0.02 * unit, tile.y + inset + 0.06 * unit, width, height, 0.17 * unit)
    yield _rect(kind, tile.x + inset, tile.y + inset, width, height, 0.17 * unit)


def _tile(tile: Tile) -> Iterator[str]:
    unit = min(tile.width, tile.height)
    is_upright = tile.height > tile.width
    if tile.is_last:
        yield _rect("last", tile.x - 0.09, tile.y - 0.09, tile.width + 0.18, tile.height + 0.18, 0.26)
    yield from _body("ivory", tile, unit)
    x, y = tile.x + tile.width / 2, tile.y + tile.height / 2
    across, down = (0.34 * unit, 0) if is_upright else (0, 0.34 * unit)
    yield (
        f'<path class="divider" d="M{_n((x - across) * 100)} {_n((y - down) * 100)}'
        f'L{_n((x + across) * 100)} {_n((y + down) * 100)}"/>'
    )
    if tile.is_spinner:
        yield _circle("pin", x, y, 0.09 * unit)
    for sign, number in ((-1, tile.first), (1, tile.second)):
        half_x, half_y = (x, y + sign * unit / 2) if is_upright else (x + sign * unit / 2, y)
        radius = 0.088 if number > 6 else 0.098
        for right, low in PIPS[number]:
            dx, dy = (right, low) if is_upright else (-low, right)
            yield _circle("pip", half_x + dx * 0.27 * unit, half_y + dy * 0.27 * unit, radius * unit)


def _ghost(ghost: Ghost) -> Iterator[str]:
    """The place of the next tile, and around it an area that can be hit with a finger."""
    yield _rect("hit", ghost.x - 0.3, ghost.y - 0.3, ghost.width + 0.6, ghost.height + 0.6, 0.3)
    yield _rect("ghost", ghost.x + 0.08, ghost.y + 0.08, ghost.width - 0.16, ghost.height - 0.16, 0.16)
    yield _text(ghost.number_x, ghost.number_y, 0.56, "middle", f'<tspan class="felt_ink">{ghost.number}</tspan>')


def _back(back: Back) -> Iterator[str]:
    unit = min(back.width, back.height)
    yield from _body("back", back, unit)
    inset = 0.2 * unit
    yield _rect("mark", back.x + inset, back.y + inset, back.width - 2 * inset, back.height - 2 * inset, 0.08 * unit)
