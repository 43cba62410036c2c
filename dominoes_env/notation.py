"""Tiles, actions, rules and positions as text: parse and print are inverse.

A tile is ``6-4``, the higher half first. An action is one word: ``6-4`` the lead, ``6-4@1`` the tile on end 1,
``draw``, ``pass``. A position is one line: the rules, then named fields, each after a ``|``, in any order:

    draw num_players=2 | hands 6-1,4-4 / rest | boneyard 0-1,2-2 | layout 3-5 5-5@1 5-2@1 | turn 0

==============  ====================================================================================================
``hands``       each seat's tiles; seats are divided by ``/``, ``-`` is an empty hand. The only field that must be there
``boneyard``    in drawing order, the reserve last; ``-`` is empty. Left out: all tiles that are nowhere else
``layout``      the actions of the round in order; draws and passes may be among them, and count for whose turn it is
``turn``        the seat that moves, once the round is over the seat that would. Left out: it follows from ``starter``,
                after ``forced`` on an empty layout from the opening rule, else from seat 0 leading
``starter``     who led; need not be given, since the layout and the turn tell it
``forced``      the opening rule names the lead (no value)
``drawn``       ``yes`` or ``no``: the mover has drawn this turn; need not be given, since the layout tells it
``lots``        the kept lot of each seat
``lacking``     numbers that each seat has shown not to hold. Left out: what its passes and draws in the layout show
``scores``      of the match, and ``round_points`` the part of them booked in this round; left out: 0. Below 0 only
                where a round can cost its winner points
``round``       its number, from 1
``generator``   of the deals to come, 64 bits; left out: 0
``status``      ``playing`` (left out), ``round_over``, ``match_over`` or ``truncated``, and with it ``out`` (no value:
                a player went out), ``won`` and ``match_won`` (the winners' seats), ``next`` (who may lead next)
==============  ====================================================================================================

Every tile of the set must be somewhere, once. The word ``rest``, once, in a hand or at the end of the boneyard, stands
for all tiles that are not named, ascending. Hands may be of any size; passes, draws and the end of a round must be
what the rules say, as far as the tiles that are told show it (:mod:`dominoes_env.possible`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import opening_seat
from dominoes_env.engine.opening import opening_forces_lead
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import MAX_PIP, TOUCHING, tiles_in
from dominoes_env.possible import (
    may_score_below_zero,
    refuse_finished,
    refuse_impossible_actions,
    refuse_unfinished,
    refuse_wrong_lead,
    shown_lacking,
)
from dominoes_env.words import (
    STATUS_WORDS,
    empty_round,
    format_action,
    format_actions,
    format_tile,
    layout_line,
    parse_action,
    parse_actions,
    parse_rules,
    parse_tile,
    replay_layout,
    rules_text,
    seats_in,
    tile_list,
)

__all__ = [
    "STATUS_WORDS",
    "format_action",
    "format_position",
    "format_tile",
    "layout_line",
    "parse_action",
    "parse_position",
    "parse_rules",
    "parse_tile",
    "rules_text",
    "seats_in",
]

_FIELDS = [
    "hands",
    "boneyard",
    "layout",
    "turn",
    "starter",
    "forced",
    "drawn",
    "lots",
    "lacking",
    "scores",
    "round_points",
    "round",
    "generator",
    "status",
    "out",
    "won",
    "match_won",
    "next",
]
_FLAGS = ("forced", "out")
_ENDING = ("out", "won", "match_won", "next")
_LAYOUT_FIELDS = ("laid", "ends", "tip_doubles", "begun", "spinner")
_MAX_POINTS = 1_000_000_000
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]+|[0-9]+)")


def format_position(rules: Rules, state: NDArray[Any], history: Sequence[int] = (), *, with_rules: bool = True) -> str:
    """The line of a position.

    Args:
        rules: of the game.
        state: (1,) ``STATE_DTYPE``, nothing in it concealed.
        history: the actions of the round so far, in order.
        with_rules: False leaves the rules out, for a reader who knows them.

    Raises:
        ValueError: if ``history`` does not lead to the layout and the turn in ``state``, or tiles are concealed.
    """
    history = [int(action) for action in history]
    record = {name: state[name][0].tolist() for name in STATE_DTYPE.names or ()}
    n = rules.num_players
    _refuse_other_history(rules, record, history)
    pile = record["pile"][: record["boneyard"]]
    held = sum(record["hands"][:n]) + sum([1 << tile for tile in pile if tile != NONE])
    if record["laid"] + held != (1 << rules.num_tiles) - 1:
        raise ValueError("state: it does not hold every tile once; what one player may know is no position")
    fields = [f"hands {' / '.join([tile_list(tiles_in(hand)) for hand in record['hands'][:n]])}"]
    fields.append(f"boneyard {tile_list(pile[::-1])}")
    if history:
        fields.append("layout " + " ".join(format_actions(rules, history, has_lead=True)))
    fields.append(f"turn {record['turn']}")
    if record["is_lead_forced"]:
        fields.append("forced")
    if any(lot != NONE for lot in record["lots"]):
        fields.append("lots " + " / ".join(map(format_tile, record["lots"][:n])))
    if any(record["lacking"] != shown_lacking(rules, int(record["starter"]), history)):
        fields.append("lacking " + " / ".join(map(_number_list, record["lacking"][:n])))
    for name in ("scores", "round_points"):
        if any(record[name]):
            fields.append(f"{name} " + " ".join(map(str, record[name][:n])))
    if record["round"] != 1:
        fields.append(f"round {record['round']}")
    if record["generator"]:
        fields.append(f"generator {record['generator']:#x}")
    if record["status"] != PLAYING:
        fields.append(f"status {STATUS_WORDS[record['status']]}")
    if record["is_out"]:
        fields.append("out")
    for name, bits in (("won", "round_winners"), ("match_won", "match_winners"), ("next", "next_leads")):
        if record[bits]:
            fields.append(f"{name} " + ",".join(map(str, seats_in(record[bits]))))
    return " | ".join([rules_text(rules), *fields] if with_rules else fields)


def _refuse_other_history(rules: Rules, record: dict[str, Any], history: Sequence[int]) -> None:
    """Refuse a ``history`` that does not lead to a state, whose fields are given as numbers of Python."""
    opened = empty_round(rules)
    turns = replay_layout(rules, opened, history)
    if any(opened[name][0].tolist() != record[name] for name in _LAYOUT_FIELDS):
        raise ValueError("history: it does not lead to the layout of this state")
    if record["turn"] != (record["starter"] + turns) % rules.num_players:
        raise ValueError(f"history: after it, seat {record['turn']} would not be to move if {record['starter']} led")
    if bool(record["has_drawn"]) != _ends_in_draw(rules, history):
        raise ValueError(f"history: it does not end as has_drawn={record['has_drawn']} of this state says")


def _number_list(bits: int) -> str:
    return ",".join(str(number) for number in range(MAX_PIP + 1) if int(bits) >> number & 1) or "-"


def _ends_in_draw(rules: Rules, history: Sequence[int]) -> bool:
    return bool(history) and history[-1] == rules.draw_action


# Positions: parse


def parse_position(text: str, rules: Rules | None = None) -> tuple[Rules, NDArray[Any], tuple[int, ...]]:
    """The rules, the state ((1,) ``STATE_DTYPE``) and the actions of the round that a line describes.

    With ``rules`` given the line has none. The inverse of :func:`format_position`; the fields are above.

    Raises:
        ValueError: naming the field, if it is unknown or missing, or what it says cannot be.
    """
    if not isinstance(text, str):
        raise ValueError(f"position={text!r} is not allowed; allowed: a line of text")
    if "\n" in text.strip():
        raise ValueError("a position is one line")
    parts = text.split("|")
    if rules is None:
        rules = parse_rules(parts.pop(0))
    fields = _split_fields(parts)
    state = empty_round(rules)
    history = tuple(_read(fields, "layout", lambda value: parse_actions(rules, value), []))
    turns = replay_layout(rules, state, history)
    _read_tiles(rules, state, fields)
    _read_turn(rules, state, fields, history, turns)
    _read_shown(rules, state, fields, history)
    _read_match(rules, state, fields)
    _read_ending(rules, state, fields)
    refuse_impossible_actions(rules, state, history)
    refuse_wrong_lead(rules, state, history)
    if state["status"][0] == PLAYING:
        refuse_finished(rules, state)
    else:
        refuse_unfinished(rules, state, history)
    return rules, state, history


def _split_fields(parts: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in parts:
        name, _, value = part.strip().partition(" ")
        value = value.strip()
        if name not in _FIELDS:
            raise ValueError(f"field {name!r} is unknown; the fields are: {', '.join(_FIELDS)}")
        if name in fields:
            raise ValueError(f"field {name!r} is given twice")
        if (name in _FLAGS) == bool(value):
            raise ValueError(f"{name}: " + (f"it takes no value, not {value!r}" if value else "its value is missing"))
        fields[name] = value
    return fields


def _read(fields: dict[str, str], name: str, parse: Callable[[str], Any], default: Any = None) -> Any:
    """The value of a field; an error names the field."""
    if name not in fields:
        return default
    try:
        return parse(fields[name])
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(name + ":") else f"{name}: {error}") from None


def _integer(text: str, low: int, high: int) -> int:
    try:
        number = int(text, 0) if _INTEGER.fullmatch(text) else low - 1
    except ValueError:  # zeros in front, or more digits than Python reads
        number = low - 1
    if not low <= number <= high:
        raise ValueError(f"{text!r} is not allowed; allowed: an integer from {low} to {high}")
    return number


def _words(text: str) -> list[str]:
    words = re.split(r"[,\s]+", text.strip())
    return [] if words == ["-"] else words


def _by_seat(rules: Rules, text: str) -> list[str]:
    parts = text.split("/")
    if len(parts) != rules.num_players:
        raise ValueError(
            f"{len(parts)} parts, divided by '/', are not allowed; allowed: {rules.num_players}, one a seat"
        )
    return parts


def _seat_bits(rules: Rules, text: str) -> int:
    bits = 0
    for word in _words(text):
        bits |= 1 << _integer(word, 0, rules.num_players - 1)
    return bits


def _read_tiles(rules: Rules, state: NDArray[Any], fields: dict[str, str]) -> None:
    """Hands and boneyard; with the layout they must be the set."""
    if "hands" not in fields:
        raise ValueError("hands: they are missing")
    places = [_words(part) for part in _read(fields, "hands", lambda value: _by_seat(rules, value))]
    has_rest = any("rest" in place for place in places)
    places.append(_read(fields, "boneyard", _words, [] if has_rest else ["rest"]))
    names = [f"hands: seat {seat}" for seat in range(rules.num_players)] + ["boneyard"]
    seen = {tile: "layout" for tile in tiles_in(state["laid"][0])}
    tiles: list[list[int]] = []
    rest: list[int] | None = None
    for name, place in zip(names, places, strict=True):
        tiles.append([])
        for position, word in enumerate(place):
            if word == "rest":
                if rest is not None or (name == "boneyard" and position < len(place) - 1):
                    raise ValueError(f"{name}: 'rest' may stand once in a position, in the boneyard at its end")
                rest = tiles[-1]
                continue
            try:
                tile = parse_tile(word, rules.max_pip)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            if tile in seen:
                raise ValueError(f"{name}: {format_tile(tile)} is there twice; it is also in {seen[tile]!r}")
            seen[tile] = name
            tiles[-1].append(tile)
    missing = [tile for tile in range(rules.num_tiles) if tile not in seen]
    if rest is not None:
        rest.extend(missing)
    elif missing:
        raise ValueError(f"boneyard: {tile_list(missing)} nowhere; 'rest' puts all that is not named in its place")
    pile = tiles.pop()
    state["boneyard"] = len(pile)
    state["pile"][0, : len(pile)] = pile[::-1]
    for seat, hand in enumerate(tiles):
        state["hands"][0, seat] = np.uint64(sum(1 << tile for tile in hand))
        state["hand_counts"][0, seat] = len(hand)


def _read_turn(rules: Rules, state: NDArray[Any], fields: dict[str, str], history: Sequence[int], turns: int) -> None:
    """Whose turn it is, who led, what the opening demands, and whether the mover has drawn."""
    num_players = rules.num_players
    starter = _read(fields, "starter", lambda value: _integer(value, 0, num_players - 1))
    turn = _read(fields, "turn", lambda value: _integer(value, 0, num_players - 1))
    lots = _read(
        fields, "lots", lambda value: [parse_tile(part.strip(), rules.max_pip) for part in _by_seat(rules, value)]
    )
    is_forced = "forced" in fields
    if (lots is not None) != (is_forced and rules.opening == "lots_keep"):
        raise ValueError(f"lots: they go with 'forced' and opening='lots_keep'; here opening={rules.opening!r}")
    if is_forced and not opening_forces_lead(rules.row[0]):
        raise ValueError(f"forced: opening={rules.opening!r} names no lead")
    if lots is not None:
        state["lots"][0, :num_players] = lots
    elif is_forced and not history:
        named = int(opening_seat(state[0], rules.row[0]))
        if named == NONE:
            raise ValueError("forced: these hands ask for a redeal")
        if any(seat not in (None, named) for seat in (starter, turn)):
            raise ValueError(f"forced: by opening={rules.opening!r} seat {named} leads")
        starter = named
    state["is_lead_forced"] = is_forced
    if turn is None:
        turn = ((starter or 0) + turns) % num_players
    if starter is None:
        starter = (turn - turns) % num_players
    if (starter + turns) % num_players != turn:
        raise ValueError(f"turn: seat {turn} is not to move when seat {starter} led and the layout has {turns} turns")
    state["turn"], state["starter"] = turn, starter
    drawn = "yes" if _ends_in_draw(rules, history) else "no"
    if fields.get("drawn", drawn) != drawn:
        raise ValueError(f"drawn: {fields['drawn']!r} is not allowed with this layout; allowed: {drawn}")
    state["has_drawn"] = drawn == "yes"


def _read_shown(rules: Rules, state: NDArray[Any], fields: dict[str, str], history: Sequence[int]) -> None:
    """The numbers that players have shown not to hold. Who has drawn in this turn may hold any in the new tile."""
    if "lacking" not in fields:
        state["lacking"] = shown_lacking(rules, int(state["starter"][0]), history)
        return
    drawing = state["turn"][0] if state["has_drawn"][0] else NONE
    for seat, part in enumerate(_read(fields, "lacking", lambda value: _by_seat(rules, value), [])):
        for word in _words(part):
            number = _read({"lacking": word}, "lacking", lambda value: _integer(value, 0, rules.max_pip))
            if seat != drawing and state["hands"][0, seat] & TOUCHING[number]:
                raise ValueError(f"lacking: seat {seat} holds a tile with {number}")
            state["lacking"][0, seat] |= np.uint16(1 << number)


def _read_match(rules: Rules, state: NDArray[Any], fields: dict[str, str]) -> None:
    """Scores, the round's number and the generator."""
    least = -_MAX_POINTS if may_score_below_zero(rules) else 0

    def points(text: str) -> list[int]:
        words = re.split(r"[,/\s]+", text)
        if len(words) != rules.num_players:
            raise ValueError(f"{text!r} is not allowed; allowed: {rules.num_players} numbers")
        numbers = [_integer(word, least, _MAX_POINTS) for word in words]
        if rules.teams and numbers[:2] != numbers[2:]:
            raise ValueError(f"{text!r} is not allowed; allowed: the same for both seats of a team")
        return numbers

    for name in ("scores", "round_points"):
        state[name][0, : rules.num_players] = _read(fields, name, points, 0)
    if least == 0 and np.any(state["round_points"] > state["scores"]):
        raise ValueError("round_points: they are part of the scores and cannot be more")
    state["round"] = _read(fields, "round", lambda value: _integer(value, 1, _MAX_POINTS), 1)
    state["generator"] = np.uint64(_read(fields, "generator", lambda value: _integer(value, 0, 2**64 - 1), 0))


def _read_ending(rules: Rules, state: NDArray[Any], fields: dict[str, str]) -> None:
    """How the round ended, if it has."""
    status = fields.get("status", "playing")
    if status not in STATUS_WORDS:
        raise ValueError(f"status: {status!r} is not allowed; allowed: {', '.join(STATUS_WORDS)}")
    if status == "playing" and any(name in fields for name in _ENDING):
        raise ValueError(f"status: {', '.join(_ENDING)} say how a round ended, and this one is being played")
    if "next" in fields and status != "round_over":
        raise ValueError(f"next: no round follows with status {status}; allowed: status round_over")
    if "match_won" in fields and status != "match_over":
        raise ValueError(f"match_won: the match is not won with status {status}; allowed: status match_over")
    state["status"] = STATUS_WORDS.index(status)
    state["is_out"] = "out" in fields
    for name, bits in (("won", "round_winners"), ("match_won", "match_winners"), ("next", "next_leads")):
        state[bits] = _read(fields, name, lambda value: _seat_bits(rules, value), 0)
