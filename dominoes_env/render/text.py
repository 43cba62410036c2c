"""A game as text, for all to see or as one seat may see it; the line of play also drawn, in box characters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any, TextIO

from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import PLAYING
from dominoes_env.render.layout import MIN_COLUMNS, Box, Layout
from dominoes_env.render.view import SeatView, make_view
from dominoes_env.words import format_tile, layout_line, rules_text, seats_in

__all__ = ["draw_layout", "has_colour", "view_text"]

#: Characters of a unit of the layout: across and down.
_ACROSS, _DOWN = 4, 2
_UP, _LOW, _LEFT, _RIGHT = 1, 2, 4, 8
#: The box character by the sides to which lines go.
_LINES = {
    _UP | _LOW: "│",
    _LEFT | _RIGHT: "─",
    _LOW | _RIGHT: "┌",
    _LOW | _LEFT: "┐",
    _UP | _RIGHT: "└",
    _UP | _LEFT: "┘",
    _UP | _LOW | _RIGHT: "├",
    _UP | _LOW | _LEFT: "┤",
    _LOW | _LEFT | _RIGHT: "┬",
    _UP | _LEFT | _RIGHT: "┴",
    _UP | _LOW | _LEFT | _RIGHT: "┼",
}
_PLAIN, _STRONG, _LAST, _FAINT = "", "1", "1;33", "2"


def has_colour(stream: TextIO) -> bool:
    """Whether to write in colour there: it is a terminal, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def view_text(
    rules: Rules,
    state: NDArray[Any],
    history: Sequence[int],
    *,
    viewer: int | None = None,
    is_lost: bool = False,
    colour: bool = False,
    width: int = 80,
) -> str:
    """The table as a few lines of text, without a line break at the end.

    Args:
        rules: the rules of the game.
        state: its record, shape (1,), dtype ``STATE_DTYPE``.
        history: the actions of the round, in order.
        viewer: the seat that looks; nothing that is hidden from it is in the text. None shows every hand.
        is_lost: the episode ended in mid-round by an illegal action, so that nobody is marked as the mover.
        colour: whether to add the escape sequences of a terminal.
        width: the characters in a line of the drawing; where that is too few for one (under 41), as in 0, it is
            left out.
    """
    columns = (width - 1) // _ACROSS
    is_drawn = columns >= MIN_COLUMNS
    view = make_view(rules, state, history, viewer, is_lost=is_lost, columns=columns if is_drawn else 30)
    lines = [
        f"{rules_text(rules)} | round {view.round}",
        f"layout    {layout_line(rules, history)}",
    ]
    if is_drawn and view.layout.boxes:
        lines.append(draw_layout(view.layout, is_open=not view.is_over and not is_lost, colour=colour))
    ends = ", ".join(f"{end}: {number}" for end, number in view.ends.items()) or "none"
    lines.append(f"ends      {ends}" + (f"; they count {view.exposed_count}" if view.exposed_count is not None else ""))
    lines.append(f"boneyard  {view.boneyard}")
    if view.last_move_text:
        lines.append(f"last      {view.last_move_text}")
    for seat in view.seats:
        line = _seat_line(seat)
        lines.append(_styled(line, _STRONG) if colour and seat.is_mover else line)
    if state["status"][0] != PLAYING:
        winners = [f"player_{seat}" for seat in seats_in(state["round_winners"][0])]
        lines.append(f"the round is over; won by {' and '.join(winners) if winners else 'nobody'}")
    return "\n".join(lines)


def _seat_line(seat: SeatView) -> str:
    hand = " ".join(map(format_tile, seat.hand))
    if seat.num_hidden:
        hand = f"{hand} and {seat.num_hidden} hidden" if hand else "hidden"
    line = f"{'>' if seat.is_mover else ' '} {seat.name}  score {seat.score}  "
    line += f"{seat.count} {'tile' if seat.count == 1 else 'tiles'}{': ' + hand if hand else ''}"
    return line + (f"; has no {', '.join(map(str, seat.lacking))}" if seat.lacking else "")


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style else text


# The drawing


def draw_layout(layout: Layout, *, is_open: bool = True, colour: bool = False) -> str:
    """The line of play in box characters, 4 to a unit across and 2 down; lines have no blanks at their ends.

    Args:
        layout: what lies on the table; its width must be a whole number.
        is_open: whether the ends are marked by their numbers: ``@0``.
        colour: whether the last tile and the ends get a colour.
    """
    rows, across = round(layout.height * _DOWN) + 1, round(layout.width * _ACROSS) + 1
    lines = [[0] * across for _ in range(rows)]
    letters: dict[tuple[int, int], str] = {}
    styles: dict[tuple[int, int], str] = {}
    for box in layout.boxes:
        _outline(lines, box)
        letters.update(_inside(box))
    if layout.boxes:
        styles.update(dict.fromkeys(_cells(layout.boxes[-1]), _LAST))
    if is_open:
        for end, tip in layout.tips.items():
            is_far = tip.first < 0  # the half that would touch is the second one
            column, row = _corner(tip, int(is_far))
            column += 1 if is_far and not tip.is_upright else 2
            for place, letter in enumerate(f"@{end}"):
                letters[column + place, row + 1], styles[column + place, row + 1] = letter, _FAINT
    text = []
    for row in range(rows):
        cells = []
        for column in range(across):
            letter = letters.get((column, row)) or _LINES.get(lines[row][column], " ")
            cells.append((styles.get((column, row), _PLAIN) if colour else _PLAIN, letter))
        while cells and cells[-1][1] == " ":
            cells.pop()
        runs = groupby(cells, key=lambda cell: cell[0])
        text.append("".join(_styled("".join(letter for _, letter in run), style) for style, run in runs))
    while text and not text[-1]:
        text.pop()
    while text and not text[0]:
        text.pop(0)
    return "\n".join(text)


def _corner(box: Box, half: int = 0) -> tuple[int, int]:
    """The character at the top left of a box or its second half."""
    x, y = box.x, box.y
    if half:
        x, y = (x, y + 1) if box.is_upright else (x + 1, y)
    return round(x * _ACROSS), round(y * _DOWN)


def _cells(box: Box) -> list[tuple[int, int]]:
    left, top = _corner(box)
    right, low = left + round(box.width * _ACROSS), top + round(box.height * _DOWN)
    return [(column, row) for column in range(left, right + 1) for row in range(top, low + 1)]


def _outline(lines: list[list[int]], box: Box) -> None:
    left, top = _corner(box)
    right, low = left + round(box.width * _ACROSS), top + round(box.height * _DOWN)
    for column in range(left, right):
        for row in (top, low):
            lines[row][column] |= _RIGHT
            lines[row][column + 1] |= _LEFT
    for row in range(top, low):
        for column in (left, right):
            lines[row][column] |= _LOW
            lines[row + 1][column] |= _UP


def _inside(box: Box) -> dict[tuple[int, int], str]:
    """The numbers, and the line between them, double in the spinner."""
    letters = {}
    for half, number in enumerate((box.first, box.second)):
        column, row = _corner(box, half)
        letters[column + 2, row + 1] = str(number)
    column, row = _corner(box, 1)
    if box.is_upright:
        letters.update({(column + place, row): "═" if box.is_spinner else "╌" for place in (1, 2, 3)})
    else:
        letters[column, row + 1] = "┊"
    return letters
