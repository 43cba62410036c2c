"""Pictures of a view as plain shapes, in the unit of the layout: what the painters (SVG, pixels) put on.

The whole one has from top to bottom: what is played, the other seats, the table, the own hand. All text is placed here
and only measured roughly; a painter may use any font. For pages that have the rest as text there are the table and
single tiles alone. (The file is long because every place in a picture is here, so that nothing meets.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.tiles import HIGH, LOW
from dominoes_env.engine.variants import describe_rules
from dominoes_env.render.layout import Box
from dominoes_env.render.view import SeatView, View
from dominoes_env.words import format_tile

__all__ = [
    "Back",
    "Dot",
    "Ghost",
    "Label",
    "Panel",
    "Run",
    "Scene",
    "Shape",
    "Tile",
    "compose",
    "compose_table",
    "compose_tile",
    "scene_width",
    "variant_title",
]

_LETTER, _BOLD = 0.56, 0.66  # a letter's usual width, as a share of the size of type
#: Colours by what they mean; a painter gives each theme its own.
Role = Literal["ink", "muted", "accent", "felt_ink", "felt_muted"]


@dataclass(frozen=True)
class Panel:
    """A rectangle with round corners: the card under all, the felt, a seat, the seat that is to move."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    kind: Literal["card", "felt", "seat", "mover"]


@dataclass(frozen=True)
class Tile:
    """A tile face up; half of it is a square with the short side as its edge."""

    x: float
    y: float
    width: float
    height: float
    first: int
    """The number in the left or top half."""
    second: int
    title: str
    """What to say of it."""
    is_last: bool = False
    """Whether it is the last one laid."""
    is_spinner: bool = False


@dataclass(frozen=True)
class Back:
    """A tile face down."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Ghost:
    """The place of the next tile on an open end."""

    x: float
    y: float
    width: float
    height: float
    number: int
    """What the tile must show."""
    number_x: float
    number_y: float
    """The middle of the half that would touch."""
    end: int
    title: str


@dataclass(frozen=True)
class Dot:
    """A round mark beside the seat that is to move."""

    x: float
    y: float
    radius: float
    role: Role


class Run(NamedTuple):
    """A piece of a text in one style."""

    text: str
    role: Role
    is_bold: bool = False


@dataclass(frozen=True)
class Label:
    """A line of text; (x, y) is its start, middle or end, halfway up its capitals."""

    x: float
    y: float
    runs: tuple[Run, ...]
    size: float
    anchor: Literal["start", "middle", "end"] = "start"

    @property
    def width(self) -> float:
        """About how wide it is, in a font that is not narrow."""
        return sum(_span(run.text, self.size, run.is_bold) for run in self.runs)


def _span(text: str, size: float, is_bold: bool = False) -> float:
    """About how wide a text is."""
    return len(text) * size * (_BOLD if is_bold else _LETTER)


Shape = Panel | Tile | Back | Ghost | Dot | Label


@dataclass(frozen=True)
class Scene:
    """A picture: its size, a title, a description that says all that it shows, and the shapes from back to front."""

    width: float
    height: float
    title: str
    description: str
    shapes: tuple[Shape, ...]


_MARGIN = 0.5  # around the whole
_GAP = 0.4  # between panels
_INSET = 0.5  # from the edge of the felt to where tiles may lie
_PAD = 0.6  # inside panels
_NAME, _TEXT = 0.62, 0.54  # sizes of type
_HAND, _FACES, _BACKS = 1.0, 0.62, 0.44  # short sides of tiles: in the own hand, in others, face down
_MIN_PANEL = 8.5  # the narrowest panel of another seat
_STRIP = 1.5  # the line of text at the top and the bottom of the felt
_MIN_TABLE = 6.0  # the least height of what lies between them


def compose(view: View, *, height: float = 0, is_fixed: bool = False) -> Scene:
    """The picture of a view; its width is the layout's and a margin.

    Args:
        view: what is to be seen.
        height: the least height; the table takes what the rest leaves.
        is_fixed: a line of play that needs more is drawn smaller, down to a table of ``_MIN_TABLE``.
    """
    width = scene_width(view)
    own = view.seats[view.viewer or 0]
    others = [*view.seats[own.seat + 1 :], *view.seats[: own.seat]]
    shapes: list[Shape] = _header(view, width)
    y = _seats(shapes, others, _MARGIN + 1.2, width)
    bottom: list[Shape] = []  # placed from 0, then moved down
    depth = _own(bottom, own, width)
    if view.pile:
        depth = _pile(bottom, view, depth + _GAP, width)
    needed = _MIN_TABLE if is_fixed else max(view.layout.height + 1, _MIN_TABLE)
    table = max(needed, height - y - depth - 2 * _STRIP - _GAP - _MARGIN)
    _table(shapes, view, y, width, table)
    y += table + 2 * _STRIP + _GAP
    shapes.extend(replace(shape, y=shape.y + y) for shape in bottom)
    total = y + depth + _MARGIN
    card = Panel(0, 0, width, total, 0.8, "card")
    title = f"Dominoes, {variant_title(view.rules)}, round {view.round}"
    return Scene(width, total, title, _description(view), (card, *shapes))


def scene_width(view: View) -> float:
    """How wide the picture of a view is."""
    return view.layout.width + 2 * (_MARGIN + _INSET)


def compose_table(view: View, *, height: float = 0) -> Scene:
    """The felt with the line of play alone; its width is the layout's and a margin.

    Args:
        view: what is to be seen.
        height: the least height.
    """
    width, table = view.layout.width + 2 * _INSET, max(view.layout.height + 1.2, height)
    shapes: list[Shape] = [Panel(0, 0, width, table, 0.6, "felt")]
    _line_of_play(shapes, view, 0, width, table)
    return Scene(width, table, "The table", _joined(_table_sentences(view)), tuple(shapes))


def compose_tile(tile: int | None) -> Scene:
    """One upright tile, face down if it is None, and room for its shadow."""
    title = "a hidden tile" if tile is None else format_tile(tile)
    place = (0.04, 0.02, 1, 2)
    shape = Back(*place, "") if tile is None else Tile(*place, int(HIGH[tile]), int(LOW[tile]), "")
    return Scene(1.08, 2.08, title, "", (shape,))


@lru_cache(maxsize=64)
def variant_title(rules: Rules) -> str:
    """The preset nearest to the rules, for people: ``All Fives``."""
    return describe_rules(rules)[0].replace("_", " ").title()


def _header(view: View, width: float) -> list[Shape]:
    """What is played, and who looks where there is room to say it."""
    rules, y = view.rules, _MARGIN + 0.45
    about = f"  round {view.round} · to {rules.target}"
    if rules.settlement == "penalty_each":
        about += " penalty points"
    played = Label(_MARGIN + 0.2, y, (Run(variant_title(rules), "ink", True), Run(about, "muted")), _TEXT)
    seen = "all hands shown" if view.viewer is None else f"as {view.seats[view.viewer].name} sees it"
    looker = Label(width - _MARGIN - 0.2, y, (Run(seen, "muted"),), _TEXT, "end")
    return [played, looker] if played.x + played.width + 0.3 < looker.x - looker.width else [played]


def _clipped(text: str, size: float, width: float, is_bold: bool = False) -> str:
    """The text, cut to what finds room."""
    room = max(3, int(width / _span("x", size, is_bold)))
    return text if len(text) <= room else text[: room - 1] + "…"


# Seats


def _seats(shapes: list[Shape], seats: Sequence[SeatView], y: float, width: float) -> float:
    """The panels of the other seats, all beside or all below one another; returns where the next thing begins."""
    room = width - 2 * _MARGIN
    columns = len(seats) if (room + _GAP) / len(seats) - _GAP >= _MIN_PANEL else 1
    panel = (room + _GAP) / columns - _GAP
    for start in range(0, len(seats), columns):
        row = list(enumerate(seats[start : start + columns]))
        insides: list[Shape] = []
        low = y
        for place, seat in row:
            x = _MARGIN + place * (panel + _GAP)
            head = _head(insides, seat, x, y, panel)
            hand = _hand(insides, seat, x + _PAD, y + head, panel - 2 * _PAD, _FACES if seat.hand else _BACKS)
            low = max(low, hand)
        for place, seat in row:
            shapes.append(Panel(_MARGIN + place * (panel + _GAP), y, panel, low + 0.45 - y, _GAP, _kind(seat)))
        shapes.extend(insides)
        y = low + 0.45 + _GAP
    return y


def _kind(seat: SeatView) -> Literal["seat", "mover"]:
    return "mover" if seat.is_mover else "seat"


def _own(shapes: list[Shape], seat: SeatView, width: float) -> float:
    """The panel of the seat at the bottom, with large tiles; returns its height."""
    inside: list[Shape] = []
    panel = width - 2 * _MARGIN
    head = _head(inside, seat, _MARGIN, 0, panel)
    size = _HAND if seat.hand or not seat.count else _BACKS
    low = _hand(inside, seat, _MARGIN + _PAD, head, panel - 2 * _PAD, size)
    shapes.append(Panel(_MARGIN, 0, panel, low + 0.55, 0.4, _kind(seat)))
    shapes.extend(inside)
    return low + 0.55


def _head(shapes: list[Shape], seat: SeatView, x: float, y: float, width: float) -> float:
    """Name, what is known, score; returns the height that this takes."""
    middle = y + 0.8
    left, right = x + _PAD, x + width - _PAD
    if seat.is_mover:
        shapes.append(Dot(left + 0.16, middle, 0.16, "accent"))
        left += 0.5
    score = [Run(str(seat.score), "ink", True)]
    if seat.round_points and seat.round_points != seat.score:
        score.insert(0, Run(f"{seat.round_points:+d} ", "muted"))
    points = Label(right, middle, tuple(score), _NAME + 0.14, "end")
    room = right - left - points.width - 0.3
    state = "won" if seat.is_winner else "to move" if seat.is_mover else ""
    count = f"{seat.count} {'tile' if seat.count == 1 else 'tiles'}"
    runs = []
    for run in (Run("  " + state, "accent", True), Run("  " + count, "muted")):
        needed = _span(run.text, _NAME, run.is_bold)
        if run.text.strip() and room - needed > _span(seat.name[:8], _NAME, True):
            runs.append(run)
            room -= needed
    name = Run(_clipped(seat.name, _NAME, room, True), "ink", True)
    shapes += [Label(left, middle, (name, *runs), _NAME), points]
    return 1.45


def _hand(shapes: list[Shape], seat: SeatView, x: float, y: float, width: float, size: float) -> float:
    """The tiles of a hand in rows, then what it is known to lack; returns where they end."""
    gap = size * 0.2
    columns = max(1, int((width + gap) / (size + gap)))
    for place in range(seat.count):
        left = x + place % columns * (size + gap)
        top = y + place // columns * (2 * size + gap)
        if place < len(seat.hand):
            shapes.append(_face(seat.hand[place], left, top, size, f"held by {seat.name}"))
        else:
            shapes.append(Back(left, top, size, 2 * size, f"a hidden tile of {seat.name}"))
    rows = max(1, math.ceil(seat.count / columns))
    low = y + rows * (2 * size + gap) - gap
    if seat.lacking:
        lacking = f"has no {', '.join(map(str, seat.lacking))}"
        in_last_row = seat.count - (rows - 1) * columns
        is_beside = in_last_row * (size + gap) + 0.3 + _span(lacking, _TEXT) <= width
        middle = low - size if is_beside else low + 1.1 * _TEXT
        shapes.append(Label(x + width, middle, (Run(lacking, "accent"),), _TEXT, "end"))
        low += 0 if is_beside else 1.6 * _TEXT
    return low


def _face(tile: int, x: float, y: float, size: float, where: str) -> Tile:
    return Tile(x, y, size, 2 * size, int(HIGH[tile]), int(LOW[tile]), f"{format_tile(tile)}, {where}")


def _pile(shapes: list[Shape], view: View, y: float, width: float) -> float:
    """The boneyard for who sees all, in drawing order; returns where it ends."""
    x, room = _MARGIN + _PAD, width - 2 * (_MARGIN + _PAD)
    size, gap = 0.5, 0.1
    columns = int((room + gap) / (size + gap))
    low = y + 1.1 + math.ceil(len(view.pile) / columns) * (2 * size + gap) - gap
    shapes.append(Panel(_MARGIN, y, width - 2 * _MARGIN, low + 0.45 - y, 0.4, "seat"))
    shapes.append(Label(x, y + 0.6, (Run("Boneyard, in drawing order", "muted"),), _TEXT))
    for place, tile in enumerate(view.pile):
        left, top = x + place % columns * (size + gap), y + 1.1 + place // columns * (2 * size + gap)
        shapes.append(_face(tile, left, top, size, f"number {place + 1} in the boneyard"))
    return low + 0.45


# The table


def _table(shapes: list[Shape], view: View, y: float, width: float, height: float) -> None:
    """The felt with the line of play in its middle."""
    shapes.append(Panel(_MARGIN, y, width - 2 * _MARGIN, height + 2 * _STRIP, 0.6, "felt"))
    _table_head(shapes, view, y + _STRIP / 2 + 0.1, width)
    _line_of_play(shapes, view, y + _STRIP, width, height)
    bottom = y + height + 1.5 * _STRIP - 0.1
    told = " · ".join(text for text in (view.last_move_text, view.status_text) if text)
    if _span(told, _TEXT) > width - 2 * _MARGIN - _PAD:
        told = view.status_text
    runs = (Run(_clipped(told, _TEXT, width - 2 * _MARGIN - _PAD), "felt_ink"),)
    shapes.append(Label(width / 2, bottom, runs, _TEXT, "middle"))


def _line_of_play(shapes: list[Shape], view: View, y: float, width: float, height: float) -> None:
    """The tiles that have been laid and the places of the next ones, in the middle of a rectangle that begins at
    (0, y), smaller where it has not room enough."""
    layout = view.layout
    scale = min(1, (height - 1) / layout.height) if layout.height else 1
    left, top = (width - layout.width * scale) / 2, y + (height - layout.height * scale) / 2
    if not layout.boxes:
        text = (Run("No tile has been laid", "felt_muted"),)
        shapes.append(Label(width / 2, y + height / 2, text, _TEXT, "middle"))
    last = view.last_move.box if view.last_move else None

    def place(box: Box) -> tuple[float, float, float, float]:
        return left + box.x * scale, top + box.y * scale, box.width * scale, box.height * scale

    if not view.is_over and not view.is_lost:
        shapes.extend(_ghost(end, box, *place(box)) for end, box in layout.tips.items())
    for index, box in sorted(enumerate(layout.boxes), key=lambda entry: entry[0] == last):  # the last one on top
        laid = f"laid by {view.seats[view.mover_of(box.move)].name}"
        title = f"{format_tile(box.tile)}, {laid}" + (", the spinner" if box.is_spinner else "")
        shapes.append(Tile(*place(box), box.first, box.second, title, index == last, box.is_spinner))


def _table_head(shapes: list[Shape], view: View, middle: float, width: float) -> None:
    """The boneyard's count on the left; the open ends and their count on the right."""
    left, right = _MARGIN + _PAD, width - _MARGIN - _PAD
    shapes.append(Back(left, middle - 0.42, 0.42, 0.84, "the boneyard"))
    runs = []
    if view.ends:
        runs = [Run("ends ", "felt_muted"), Run(" · ".join(map(str, view.ends.values())), "felt_ink", True)]
    if view.exposed_count is not None:
        runs += [Run("   count ", "felt_muted"), Run(str(view.exposed_count), "felt_ink", True)]
    ends = Label(right, middle, tuple(runs), _TEXT, "end")
    count = Run(str(view.boneyard), "felt_ink", True)
    boneyard = Label(left + 0.65, middle, (count, Run(" in the boneyard", "felt_muted")), _TEXT)
    if boneyard.x + boneyard.width > right - ends.width - 0.3:
        boneyard = replace(boneyard, runs=(count,))  # the tile beside it says what it is
    shapes += [boneyard, ends] if runs else [boneyard]


def _ghost(end: int, box: Box, x: float, y: float, width: float, height: float) -> Ghost:
    is_far = box.first < 0  # the half that would touch is the second one
    number = box.second if is_far else box.first
    half = min(width, height) / 2
    number_x, number_y = (x + width - half, y + height - half) if is_far else (x + half, y + half)
    title = f"end {end}: open for a tile with {number}"
    return Ghost(x, y, width, height, number, number_x, number_y, end, title)


def _description(view: View) -> str:
    """All that the picture shows, in sentences."""
    sentences = [view.last_move_text, view.status_text, *_table_sentences(view)]
    sentences.append(f"The boneyard holds {view.boneyard}")
    for seat in view.seats:
        held = ", ".join(map(format_tile, seat.hand))
        hidden = f"{seat.num_hidden} hidden" if seat.num_hidden else ""
        text = f"{seat.name} has {seat.score} points and holds " + (
            " and ".join(filter(None, (held, hidden))) or "none"
        )
        if seat.lacking:
            text += f", shown not to hold {', '.join(map(str, seat.lacking))}"
        sentences.append(text)
    return _joined(sentences)


def _table_sentences(view: View) -> list[str]:
    """What lies on the table, without full stops."""
    line = " ".join(format_tile(box.tile) for box in view.layout.boxes)
    sentences = [f"Laid in order of play: {line}" if line else "No tile has been laid"]
    if view.ends:
        sentences.append("Open ends: " + ", ".join(f"{number} at end {end}" for end, number in view.ends.items()))
    if view.exposed_count is not None:
        sentences.append(f"The open ends count {view.exposed_count}")
    return sentences


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(f"{text}." for text in sentences if text)
