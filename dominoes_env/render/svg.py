"""A view as SVG: one self-contained picture without scripts, ids or fonts of its own.

For pages that allow no style but their stylesheets' there are pictures without colours, and :func:`svg_style` for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from xml.sax.saxutils import escape

from dominoes_env.render.scene import Dot, Ghost, Label, Panel, Scene, Shape, compose, compose_table, compose_tile
from dominoes_env.render.strokes import DASH, STYLES, THEMES, Disc, Line, Rect, Stroke, Style, strokes
from dominoes_env.render.view import View

__all__ = [
    "Theme",
    "hundredths",
    "shape_svg",
    "stroke_svg",
    "svg_style",
    "table_svg",
    "tile_svg",
    "titled_svg",
    "view_svg",
]

Theme = Literal["auto", "light", "dark"]

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
    size = f"{hundredths(scene.width)} {hundredths(scene.height)}"
    body = "".join(map(shape_svg, scene.shapes))
    return f'<svg class="dominoes-auto" aria-hidden="true" viewBox="0 0 {size}">{body}</svg>'


def _svg(scene: Scene, theme: Theme, has_style: bool) -> Iterator[str]:
    width, height = hundredths(scene.width), hundredths(scene.height)
    pixels = round(scene.width * _PIXELS), round(scene.height * _PIXELS)
    scope = f".dominoes-{theme} "
    fitted, style = "", ""
    if has_style:
        fitted, style = ' style="max-width:100%;height:auto"', f"<style>{svg_style(theme, scope)}</style>"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dominoes-{theme}" role="img" viewBox="0 0 {width} {height}"'
        f' width="{pixels[0]}" height="{pixels[1]}"{fitted}>'
        f"<title>{escape(scene.title)}</title><desc>{escape(scene.description)}</desc>{style}"
    )
    yield from map(shape_svg, scene.shapes)
    yield "</svg>"


def hundredths(length: float) -> str:
    """A length or place in units as a number of the picture, without digits that nobody sees."""
    return f"{length * 100:.1f}".rstrip("0").rstrip(".") or "0"


def svg_style(theme: Theme = "auto", scope: str = ".dominoes-auto ") -> str:
    """The colours of pictures as text of a stylesheet, light or dark as the reader's system asks or as ``theme`` says.

    ``scope`` is what its selectors begin with: by default it is for the pictures without a style of their own.
    """
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
        yield f"stroke:{colours[style.edge]};stroke-width:{hundredths(style.width)}"
    if style.is_round:
        yield "stroke-linecap:round"
    if style.is_dashed:
        yield f"stroke-dasharray:{hundredths(DASH[0])} {hundredths(DASH[1])}"


# Shapes. A unit is 100.


def shape_svg(shape: Shape) -> str:
    """A shape as elements, with a text that hovers if it has something to say."""
    return titled_svg(shape, "".join(map(stroke_svg, strokes(shape))))


def titled_svg(shape: Shape, drawn: str) -> str:
    """The elements of a shape, in a group with its text if it is a thing, an open end's with its number."""
    if isinstance(shape, Panel | Label | Dot):
        return drawn
    end = f' data-end="{shape.end}"' if isinstance(shape, Ghost) else ""
    title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
    return f"<g{end}>{title}{drawn}</g>"


def stroke_svg(stroke: Stroke) -> str:
    """A stroke as an element."""
    if isinstance(stroke, Rect):
        return (
            f'<rect class="{stroke.style}" x="{hundredths(stroke.x)}" y="{hundredths(stroke.y)}"'
            f' width="{hundredths(stroke.width)}" height="{hundredths(stroke.height)}"'
            f' rx="{hundredths(stroke.radius)}"/>'
        )
    if isinstance(stroke, Disc):
        place = f'cx="{hundredths(stroke.x)}" cy="{hundredths(stroke.y)}" r="{hundredths(stroke.radius)}"'
        return f'<circle class="{stroke.style}" {place}/>'
    if isinstance(stroke, Line):
        start, end = (f"{hundredths(x)} {hundredths(y)}" for x, y in ((stroke.x, stroke.y), (stroke.to_x, stroke.to_y)))
        return f'<path class="{stroke.style}" d="M{start}L{end}"/>'
    spans = "".join(
        f'<tspan class="{run.role}{" bold" if run.is_bold else ""}">{escape(run.text)}</tspan>' for run in stroke.runs
    )
    return (
        f'<text x="{hundredths(stroke.x)}" y="{hundredths(stroke.y + 0.36 * stroke.size)}"'
        f' font-size="{hundredths(stroke.size)}" text-anchor="{stroke.anchor}" xml:space="preserve">{spans}</text>'
    )
