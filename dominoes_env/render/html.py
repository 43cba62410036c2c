"""A record as a page to step through: one file, which asks for nothing from anywhere.

The page holds each drawn thing once. A tile's face is a symbol, its place and text a line, and a position a list of the
numbers of such lines, all of it compressed; a script puts them together. Everything is there twice, for a wide page
and for one as wide as a phone.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

from dominoes_env.records import Record
from dominoes_env.render.frames import record_views
from dominoes_env.render.scene import Back, Scene, Tile, compose, variant_title
from dominoes_env.render.strokes import THEMES, strokes
from dominoes_env.render.svg import hundredths, shape_svg, stroke_svg, svg_style, titled_svg
from dominoes_env.render.view import View

__all__ = ["record_html"]

_COLUMNS = {"wide": 30, "narrow": 14}
_NARROW_HEIGHT = 24.0  # the least, in units
#: Where something is put into the page: a comment in capitals.
_PLACE = re.compile(r"<!--([A-Z_]+)-->|/\*([A-Z_]+)\*/")


def record_html(record: Record, *, viewer: int | None = None) -> str:
    """A page with all positions of a game, as ``viewer`` may see it (None: all hands): a slider, buttons, keys (arrows,
    Home, End, the space bar) and a list of the moves. It follows the reader's system in light and dark, and says each
    position to a screen reader.

    About 50 kB for a round, 200 kB for a match of eight, 550 kB for one of eighty. Nothing that is hidden from
    ``viewer`` is in it.
    """
    views = list(record_views(record, viewer, columns=_COLUMNS["wide"]))
    scenes = {"wide": [compose(view) for view in views]}
    height = max(scene.height for scene in scenes["wide"])
    scenes["wide"] = [compose(view, height=height) for view in views]
    narrow = record_views(record, viewer, columns=_COLUMNS["narrow"])
    scenes["narrow"] = [compose(view, height=_NARROW_HEIGHT) for view in narrow]
    symbols = _Pool()
    told = _Pool()
    data: dict[str, Any] = {name: _drawn(name_scenes, symbols) for name, name_scenes in scenes.items()}
    data["told"] = [told.numbers(scene.description.split(". ")) for scene in scenes["wide"]]
    data["sentences"] = told.pieces
    data["names"] = [seat.name for seat in views[0].seats]
    data["rounds"] = _rounds(record, views)
    data["now"] = [_sentence(view) for view in views]
    title = f"Dominoes: {variant_title(record.rules)}, {_players(views[0])}"
    text = files("dominoes_env.render").joinpath("replay.html").read_text(encoding="utf-8")
    values = {
        "TITLE": escape(title),
        "HEADING": escape(variant_title(record.rules)),
        "ABOUT": escape(_about(record, views)),
        "COLOURS": _colours("light"),
        "DARK_COLOURS": _colours("dark"),
        "STYLE": svg_style("auto", ""),
        "SYMBOLS": "".join(f'<g id="s{number}">{drawn}</g>' for number, drawn in enumerate(symbols.pieces)),
        "DATA": b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode(),
    }
    return _PLACE.sub(lambda place: values[place[1] or place[2]], text)  # in one go: names may look like places


class _Pool:
    """Texts, each once, by their numbers."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, piece: str) -> int:
        if piece not in self._numbers:
            self._numbers[piece] = len(self.pieces)
            self.pieces.append(piece)
        return self._numbers[piece]

    def numbers(self, pieces: Iterable[str]) -> list[int]:
        return list(map(self.number, pieces))


def _drawn(scenes: list[Scene], symbols: _Pool) -> dict[str, Any]:
    """The scenes as the page has them: sizes in hundredths of a unit, and each scene as numbers of ``shapes``."""
    pool = _Pool()
    frames = []
    for scene in scenes:
        pieces = []
        for shape in scene.shapes:
            if isinstance(shape, Tile | Back):
                face = "".join(map(stroke_svg, strokes(replace(shape, x=0, y=0))))
                place = f'x="{hundredths(shape.x)}" y="{hundredths(shape.y)}"'
                pieces.append(titled_svg(shape, f'<use href="#s{symbols.number(face)}" {place}/>'))
            else:
                pieces.append(shape_svg(shape))
        frames.append(pool.numbers(pieces))
    heights = [round(scene.height * 100) for scene in scenes]
    return {"width": round(scenes[0].width * 100), "heights": heights, "shapes": pool.pieces, "frames": frames}


def _rounds(record: Record, views: list[View]) -> list[dict[str, Any]]:
    """By round: its number, at which position it begins, its moves as seat and word, and what everybody booked."""
    rounds, start = [], 0
    for past in record.rounds:
        end = start + len(past.actions)
        moves = [[move.seat, move.word] for view in views[start + 1 : end + 1] if (move := view.last_move)]
        points = [seat.round_points for seat in views[end].seats] if views[end].is_over else None
        rounds.append({"number": views[start].round, "start": start, "moves": moves, "points": points})
        start = end + 1
    return rounds


def _sentence(view: View) -> str:
    return "; ".join(text for text in (view.last_move_text, view.status_text) if text)


def _players(view: View) -> str:
    return ", ".join(seat.name for seat in view.seats)


def _about(record: Record, views: list[View]) -> str:
    count = len(record.rounds)
    who = "all hands shown" if views[0].viewer is None else f"as {views[0].seats[views[0].viewer].name} sees it"
    return f"{_players(views[0])} · {count} {'round' if count == 1 else 'rounds'} · {who}"


def _colours(theme: str) -> str:
    return "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in THEMES[theme].items())
