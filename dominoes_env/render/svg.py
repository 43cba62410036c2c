"""A view as SVG: one self-contained picture without scripts, ids or fonts of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from xml.sax.saxutils import escape

from dominoes_env.render.scene import Dot, Label, Panel, Scene, Shape, compose
from dominoes_env.render.strokes import DASH, STYLES, THEMES, Disc, Line, Rect, Stroke, Style, strokes
from dominoes_env.render.view import View

__all__ = ["Theme", "shape_svg", "style_sheet", "view_svg"]

Theme = Literal["auto", "light", "dark"]

_PIXELS = 30  # the nominal size of a unit on a page that has room
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"


def view_svg(view: View, *, theme: Theme = "auto", height: float = 0) -> str:
    """The view as an ``<svg>`` element.

    Args:
        view: what is to be seen.
        theme: ``"light"``, ``"dark"``, or ``"auto"``: as the reader's system asks.
        height: the least height of the picture, in units (half tiles), to give all pictures of a game one size.

    Raises:
        ValueError: for an unknown theme.
    """
    if theme not in ("auto", *THEMES):
        raise ValueError(f"theme={theme!r} is not allowed; allowed: auto, light, dark")
    return "".join(_svg(compose(view, height=height), theme))


def _svg(scene: Scene, theme: Theme) -> Iterator[str]:
    width, height = _n(scene.width * 100), _n(scene.height * 100)
    pixels = _n(round(scene.width * _PIXELS)), _n(round(scene.height * _PIXELS))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dominoes-{theme}" role="img" viewBox="0 0 {width} {height}"'
        f' width="{pixels[0]}" height="{pixels[1]}" style="max-width:100%;height:auto">'
        f"<title>{escape(scene.title)}</title><desc>{escape(scene.description)}</desc><style>{style_sheet(theme)}</style>"
    )
    yield from map(shape_svg, scene.shapes)
    yield "</svg>"


def _n(number: float) -> str:
    """A number without digits that nobody sees."""
    return f"{number:.1f}".rstrip("0").rstrip(".") or "0"


def style_sheet(theme: Theme) -> str:
    """The styles as classes below ``.dominoes-<theme>``, told anew for the dark where the reader's system chooses."""
    scope = f".dominoes-{theme} "
    colours = THEMES["dark" if theme == "dark" else "light"]
    text = f"{scope}text{{font-family:{_FONT}}}{scope}.bold{{font-weight:650}}" + _classes(scope, colours)
    if theme == "auto":
        text += f"@media (prefers-color-scheme:dark){{{_classes(scope, THEMES['dark'])}}}"
    return text


def _classes(scope: str, colours: dict[str, str]) -> str:
    return "".join(f"{scope}.{name}{{{';'.join(_look(style, colours))}}}" for name, style in STYLES.items())


def _look(style: Style, colours: dict[str, str]) -> Iterator[str]:
    yield f"fill:{colours[style.fill] if style.fill else 'none'}"
    if style.opacity != 1:
        yield f"fill-opacity:{style.opacity:g}".replace("0.", ".")
    if style.edge:
        yield f"stroke:{colours[style.edge]};stroke-width:{_n(style.width * 100)}"
    if style.is_round:
        yield "stroke-linecap:round"
    if style.is_dashed:
        yield f"stroke-dasharray:{_n(DASH[0] * 100)} {_n(DASH[1] * 100)}"


# Shapes. A unit is 100.


def shape_svg(shape: Shape) -> str:
    """A shape as elements: with a text that hovers if it has something to say."""
    drawn = "".join(map(_element, strokes(shape)))
    return drawn if isinstance(shape, Panel | Label | Dot) else f"<g><title>{escape(shape.title)}</title>{drawn}</g>"


def _element(stroke: Stroke) -> str:
    if isinstance(stroke, Rect):
        return (
            f'<rect class="{stroke.style}" x="{_n(stroke.x * 100)}" y="{_n(stroke.y * 100)}"'
            f' width="{_n(stroke.width * 100)}" height="{_n(stroke.height * 100)}" rx="{_n(stroke.radius * 100)}"/>'
        )
    if isinstance(stroke, Disc):
        place = f'cx="{_n(stroke.x * 100)}" cy="{_n(stroke.y * 100)}" r="{_n(stroke.radius * 100)}"'
        return f'<circle class="{stroke.style}" {place}/>'
    if isinstance(stroke, Line):
        start, end = (f"{_n(x * 100)} {_n(y * 100)}" for x, y in ((stroke.x, stroke.y), (stroke.to_x, stroke.to_y)))
        return f'<path class="{stroke.style}" d="M{start}L{end}"/>'
    spans = "".join(
        f'<tspan class="{run.role}{" bold" if run.is_bold else ""}">{escape(run.text)}</tspan>' for run in stroke.runs
    )
    return (
        f'<text x="{_n(stroke.x * 100)}" y="{_n(stroke.y * 100 + stroke.size * 36)}"'
        f' font-size="{_n(stroke.size * 100)}" text-anchor="{stroke.anchor}" xml:space="preserve">{spans}</text>'
    )
