"""The line of play as boxes: the one place that says where a tile lies. Every drawing is made from it.

The unit is the edge of half a tile, so that a tile is 2 x 1; x goes right and y down. The line grows to both sides
from the first tile, or in four arms from the spinner, which stands in the middle of the table. Doubles lie crosswise.
Where the table ends an arm turns, hops a row on and comes back.

Arms never meet, however long they get, since each has a region of its own (c is the middle of the table)::

            spinner                      no spinner
      arm 0     |     arm 2             arm 0, all above
    x <= c-1.5  |  x >= c-1       -------- first row --------
    ---- arm 0, spinner, arm 1 ---      arm 1, all below
      arm 3     |     arm 1
    x <= c+1    |  x >= c+1.5

Within an arm the rows are at least 3 apart, and no tile reaches further than 1 from the middle of its row. So tiles
that are not neighbours in the line of play stay half a unit apart or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dominoes_env.engine.rules import Rules
from dominoes_env.words import LaidTile, empty_round, laid_tiles

__all__ = ["MIN_COLUMNS", "Box", "Layout", "lay_out"]

#: The narrowest table on which four arms find room.
MIN_COLUMNS = 10
#: How far arms 2 and 3 go straight on from the spinner before they turn: two tiles.
_RUN = 4.0


@dataclass(frozen=True)
class Box:
    """A tile on the table. ``first`` is the number in its left or top half, ``second`` in the right or bottom one."""

    tile: int
    """The tile id."""
    x: float
    """Of the left edge."""
    y: float
    """Of the top edge."""
    width: float
    height: float
    first: int
    second: int
    is_double: bool
    is_upright: bool
    """Whether the long side is vertical."""
    arm: int
    """The end on which it was laid; 0 for the lead."""
    move: int
    """The place of the play in the round's history."""
    is_spinner: bool

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle, ``(x, y)``."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """The table from (0, 0) to (width, height). The width is what was asked for, whatever lies on it."""

    boxes: tuple[Box, ...]
    """In order of play."""
    tips: dict[int, Box]
    """By open end: the place of the next tile there, were it no double. The half that would touch has the number
    that the tile must show; the other one, ``tile`` and ``move`` are -1."""
    width: float
    height: float
    """Down to the last tile or tip; 0 if nothing has been laid."""


class _Place(NamedTuple):
    """A box before it is known which tile comes there; the near half is the left or top one if ``is_forward``."""

    x: float
    y: float
    is_upright: bool
    is_forward: bool


@dataclass(frozen=True)
class _Way:
    """How an arm goes on: from (x, y), the middle of the edge at which the next tile is to touch."""

    x: float
    y: float
    dx: int
    """The heading; one of dx and dy is 0."""
    dy: int
    reach: float
    """How far the last tile reaches across the heading: 1 if it is a double laid crosswise, else 0.5."""
    left: float
    """Where rows end."""
    right: float
    limit: float
    """The y beyond which a vertical run does not go."""
    row_dx: int
    """The heading of the row after a vertical run."""
    row_dy: int
    """To which side rows follow one another."""

    def advance(self, is_double: bool) -> tuple[_Place, _Way]:
        """Where the next tile comes, and how the arm goes on from there."""
        length = 1 if is_double else 2
        if self.dx:
            edge = self.right if self.dx > 0 else self.left
            if (self.x + self.dx * length - edge) * self.dx <= 0:
                return self._go_straight(is_double)
            hop = self._turn(0, self.row_dy)
            hop = replace(hop, row_dx=-self.dx, limit=hop.y)
            return hop._go_straight(False)
        if (self.y + self.dy * length - self.limit) * self.dy <= 0:
            return self._go_straight(is_double)
        if self.reach == 1:
            return self._turn(self.row_dx, 0)._go_straight(is_double)
        return self._lay_across(is_double)

    def _go_straight(self, is_crosswise: bool) -> tuple[_Place, _Way]:
        length, reach = (1, 1.0) if is_crosswise else (2, 0.5)
        x, y = self.x + self.dx * length / 2, self.y + self.dy * length / 2
        way = replace(self, x=self.x + self.dx * length, y=self.y + self.dy * length, reach=reach)
        return _Place(x, y, (self.dx == 0) != is_crosswise, self.dx + self.dy > 0), way

    def _turn(self, dx: int, dy: int) -> _Way:
        """To the side, at the last half of the last tile or the end of a crosswise double."""
        x, y = self.x - self.dx / 2, self.y - self.dy / 2
        return replace(self, x=x + dx * self.reach, y=y + dy * self.reach, dx=dx, dy=dy, reach=0.5)

    def _lay_across(self, is_double: bool) -> tuple[_Place, _Way]:
        """The first tile of a row, before the end of a vertical run: its near half there, or a double's middle."""
        is_centred = is_double and self.x - 1 >= self.left and self.x + 1 <= self.right
        x, y = self.x + (0 if is_centred else self.row_dx / 2), self.y + self.dy / 2
        way = replace(self, x=x + self.row_dx, y=y, dx=self.row_dx, dy=0, reach=0.5)
        return _Place(x, y, False, self.row_dx > 0), way


def lay_out(rules: Rules, history: Sequence[int], *, columns: float = 30) -> Layout:
    """Where the tiles of a round lie on a table ``columns`` wide.

    A tile laid later leaves those before it where they are, but for a shift of them all. The one exception is the
    spinner of a round that was led with another tile: it takes the middle of the table, and lines that had turned
    before are laid anew around it.

    Args:
        rules: of the game.
        history: the actions of the round, in order.
        columns: the width of the table, at least ``MIN_COLUMNS``.

    Raises:
        ValueError: if ``columns`` is too few, or a play in ``history`` does not fit.
    """
    if not columns >= MIN_COLUMNS:
        raise ValueError(f"columns={columns!r} is not allowed; allowed: {MIN_COLUMNS} or more")
    state = empty_round(rules)
    laid = laid_tiles(rules, state, history)
    if not laid:
        return Layout((), {}, columns, 0)
    root = next((index for index, tile in enumerate(laid) if tile.is_spinner), 0)
    boxes = {root: _root_box(laid[root], columns / 2)}
    tips = {}
    for arm, way in enumerate(_ways(laid[root], columns)):
        for index, near, far in _arm(laid, root, arm):
            place, way = way.advance(near == far)
            boxes[index] = _box(place, near, far, laid[index])
        if state["ends"][0, arm] >= 0:
            number = int(state["ends"][0, arm])
            tips[arm] = _box(way.advance(False)[0], number, -1, LaidTile(-1, -1, arm, number, -1, False))
    top = min(box.y for box in (*boxes.values(), *tips.values()))
    bottom = max(box.y + box.height for box in (*boxes.values(), *tips.values()))
    return Layout(
        tuple(replace(boxes[index], y=boxes[index].y - top) for index in range(len(laid))),
        {arm: replace(box, y=box.y - top) for arm, box in tips.items()},
        columns,
        bottom - top,
    )


def _root_box(root: LaidTile, middle: float) -> Box:
    """The tile that stands in the middle: upright if it is a double, else its low half to the left, to end 0."""
    is_double = root.joined == root.free
    return _box(_Place(middle, 0, is_double, True), root.joined, root.free, root)


def _box(place: _Place, near: int, far: int, laid: LaidTile) -> Box:
    width, height = (1, 2) if place.is_upright else (2, 1)
    return Box(
        tile=laid.tile,
        x=place.x - width / 2,
        y=place.y - height / 2,
        width=width,
        height=height,
        first=near if place.is_forward else far,
        second=far if place.is_forward else near,
        is_double=near == far,
        is_upright=place.is_upright,
        arm=laid.end,
        move=laid.move,
        is_spinner=laid.is_spinner,
    )


def _ways(root: LaidTile, columns: float) -> list[_Way]:
    """How the arms leave the first tile or the spinner; their regions are in the picture above."""
    middle = columns / 2
    width, height = (0.5, 1) if root.joined == root.free else (1, 0.5)
    rows = _Way(middle - width, 0, -1, 0, height, left=0, right=columns, limit=0, row_dx=0, row_dy=-1)
    ways = [rows, replace(rows, x=middle + width, dx=1, row_dy=1)]
    if not root.is_spinner:
        return ways
    ways = [replace(ways[0], right=middle - 1.5), replace(ways[1], left=middle + 1.5)]
    up = _Way(middle, -1, 0, -1, 0.5, left=middle - 1, right=columns, limit=-1 - _RUN, row_dx=1, row_dy=-1)
    down = _Way(middle, 1, 0, 1, 0.5, left=0, right=middle + 1, limit=1 + _RUN, row_dx=-1, row_dy=1)
    return [*ways, up, down]


def _arm(laid: Sequence[LaidTile], root: int, arm: int) -> Iterator[tuple[int, int, int]]:
    """The tiles of an arm from the root outward: index, near and far number."""
    own = [index for index, tile in enumerate(laid) if index and tile.end == arm]
    if root == 0:
        outward = own
    elif laid[root].end == arm:
        outward = own[own.index(root) + 1 :]
    else:
        outward = own
        if arm < 2:  # back past the lead, from the end by which the spinner hangs on it
            end = laid[root].end
            for index in range(root - 1, 0, -1):
                if laid[index].end == end:
                    yield index, laid[index].free, laid[index].joined
            yield (0, laid[0].free, laid[0].joined) if end == 1 else (0, laid[0].joined, laid[0].free)
    for index in outward:
        yield index, laid[index].joined, laid[index].free
