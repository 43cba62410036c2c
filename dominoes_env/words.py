"""Tiles, actions, rules and layouts as words: parse and print are inverse.

A tile is ``6-4``, the higher half first. An action is one word: ``6-4`` the lead, ``6-4@1`` the tile on end 1,
``draw``, ``pass``. Rules are a preset and the knobs that differ from it: ``draw num_players=2 target=50``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.actions import decode_action, encode_play
from dominoes_env.engine.deal import open_round
from dominoes_env.engine.moves import lay_tile, open_tiles
from dominoes_env.engine.rules import Rules, parse_knob
from dominoes_env.engine.state import NONE, STATE_DTYPE, new_states
from dominoes_env.engine.tiles import HIGH, LOW, MAX_PIP, tile_id
from dominoes_env.engine.variants import describe_rules, make_rules

__all__ = [
    "STATUS_WORDS",
    "LaidTile",
    "empty_round",
    "format_action",
    "format_actions",
    "format_tile",
    "laid_tiles",
    "layout_line",
    "parse_action",
    "parse_actions",
    "parse_rules",
    "parse_tile",
    "replay_layout",
    "rules_text",
    "seats_in",
    "tile_list",
]

#: The word of each value of ``status``.
STATUS_WORDS = ("playing", "round_over", "match_over", "truncated")
_TILE = re.compile(r"([0-9])-([0-9])|\[([0-9])-([0-9])\]")
_TILE_WORDS = tuple(f"{high}-{low}" for high, low in zip(HIGH.tolist(), LOW.tolist(), strict=True))


def format_tile(tile: int) -> str:
    """The word of a tile id, the higher half first: ``6-4``."""
    return _TILE_WORDS[tile]


def parse_tile(text: str, max_pip: int = MAX_PIP) -> int:
    """The tile id of ``6-4``, ``4-6`` or ``[6-4]``.

    Raises:
        ValueError: if ``text`` is no tile of the double-``max_pip`` set.
    """
    match = _TILE.fullmatch(text)
    numbers = [int(number) for number in match.groups() if number is not None] if match else []
    if not numbers or max(numbers) > max_pip:
        raise ValueError(f"tile {text!r} is not allowed; allowed: 0-0 to {max_pip}-{max_pip}")
    return tile_id(*numbers)


def tile_list(tiles: Sequence[int]) -> str:
    """Tile ids as words with commas between: ``6-4,1-0``; ``-`` if there are none."""
    return ",".join([_TILE_WORDS[tile] for tile in tiles]) or "-"


def seats_in(bits: int) -> tuple[int, ...]:
    """The seats in a set of seats given as bits, ascending."""
    return tuple(seat for seat in range(4) if int(bits) >> seat & 1)


def format_action(rules: Rules, action: int, *, is_lead: bool = False) -> str:
    """The word of an action id; with ``is_lead`` a tile is written without its end, which is end 0.

    Raises:
        ValueError: if ``action`` lies outside the action space, or is to be a lead on another end.
    """
    decoded = decode_action(rules, action)
    if isinstance(decoded, str):
        return decoded
    tile, end = decoded
    if not is_lead:
        return f"{format_tile(tile)}@{end}"
    if end != 0:
        raise ValueError(f"action={action} is no lead: a lead uses end 0, not {end}")
    return format_tile(tile)


def parse_action(rules: Rules, text: str) -> int:
    """The action id of a word; a tile without an end is a lead, which uses end 0.

    Raises:
        ValueError: if ``text`` is no action of these rules.
    """
    if text == "draw":
        return rules.draw_action
    if text == "pass":
        return rules.pass_action
    tile, at, end = text.partition("@")
    if at and not re.fullmatch(r"[0-9]", end):
        raise ValueError(f"action {text!r}: the end {end!r} is not allowed; allowed: 0 to {rules.num_ends - 1}")
    try:
        return encode_play(rules, parse_tile(tile, rules.max_pip), int(end or 0))
    except ValueError as error:
        raise ValueError(f"action {text!r}: {error}; an action is 'draw', 'pass', a tile, or a tile@end") from None


@lru_cache(maxsize=64)
def _action_words(rules: Rules) -> tuple[str, ...]:
    """The word of each action id, tiles with their end."""
    return tuple(format_action(rules, action) for action in range(rules.num_actions))


@lru_cache(maxsize=64)
def _action_ids(rules: Rules) -> dict[str, int]:
    return {word: action for action, word in enumerate(_action_words(rules))}


def format_actions(rules: Rules, actions: Sequence[int], *, has_lead: bool = False) -> list[str]:
    """The words of action ids; with ``has_lead`` the first is a lead, and written without its end.

    Raises:
        ValueError: as :func:`format_action`.
    """
    words = _action_words(rules)
    for action in actions:
        if not 0 <= action < len(words):
            format_action(rules, action)  # refuses it
    told = [words[action] for action in actions]
    if has_lead and told:
        told[0] = format_action(rules, actions[0], is_lead=True)
    return told


def parse_actions(rules: Rules, text: str) -> list[int]:
    """The action ids of words with spaces between, each as :func:`parse_action` reads it.

    Raises:
        ValueError: if a word is no action of these rules.
    """
    ids = _action_ids(rules)
    return [ids[word] if word in ids else parse_action(rules, word) for word in text.split()]


@lru_cache(maxsize=64)
def rules_text(rules: Rules) -> str:
    """The rules as a preset and the knobs that differ from it: ``draw num_players=2 target=50``."""
    variant, knobs = describe_rules(rules)
    return " ".join([variant, *(f"{knob}={_knob_text(value)}" for knob, value in knobs.items())])


def _knob_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=64)
def parse_rules(text: str) -> Rules:
    """The inverse of :func:`rules_text`; any preset with any knobs is read.

    Raises:
        ValueError: for an unknown preset or knob, a knob given twice, or a value that is not allowed.
    """
    words = text.split()
    if not words:
        raise ValueError("the rules are missing; they are a preset and KNOB=VALUE, such as 'draw num_players=2'")
    knobs: dict[str, Any] = {}
    for word in words[1:]:
        knob, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r} among the rules is no KNOB=VALUE")
        if knob in knobs:
            raise ValueError(f"the rule {knob!r} is given twice")
        knobs[knob] = parse_knob(knob, value)
    return make_rules(words[0], **knobs)


def _lay(rules: Rules, state: NDArray[Any], action: int) -> tuple[int, int]:
    """Lay the tile of ``action`` and return its numbers, the joined one first; refuse one that does not fit."""
    decoded = decode_action(rules, action)
    assert not isinstance(decoded, str)
    tile, end = decoded
    low, high = int(LOW[tile]), int(HIGH[tile])
    is_lead = state["laid"][0] == 0
    word = format_action(rules, action, is_lead=is_lead and end == 0)
    if int(state["laid"][0]) >> tile & 1:
        raise ValueError(f"layout: {word} lays a tile that is laid already")
    joined = int(state["ends"][0, end])
    if is_lead and end != 0:
        raise ValueError(f"layout: {word} does not fit: the lead uses end 0")
    if not is_lead and joined not in (low, high):
        shown = f"shows {joined}" if joined != NONE else "is not open"
        raise ValueError(f"layout: {word} does not fit: end {end} {shown}")
    lay_tile(state[0], rules.row[0], tile, end)
    return (low, high) if is_lead else (joined, low + high - joined)


def replay_layout(rules: Rules, state: NDArray[Any], history: Sequence[int]) -> int:
    """Bring the public layout of an opened round to the end of ``history``; returns the turns that it took.

    Raises:
        ValueError: for a play that does not fit, and for draws and passes that no hands allow.
    """
    num_turns = num_passes = num_drawn = 0  # passes since a tile was laid or drawn; draws of this turn
    is_exhausted = False
    for place, action in enumerate(history):
        word = format_action(rules, action, is_lead=place == 0 and action < rules.num_tiles)
        if action >= rules.draw_action and state["laid"][0] == 0:
            raise ValueError(f"layout: {word} before the lead; the lead is a play")
        if place and _is_shut(rules, state):
            raise ValueError(f"layout: {word} after the end of the round: no tile that fits is left")
        if action < rules.draw_action:
            _lay(rules, state, action)
            num_passes = num_drawn = 0
        elif action == rules.draw_action:
            _refuse_draw(rules, num_drawn, is_exhausted)
            num_drawn += 1
            num_passes = 0
        else:
            num_passes += 1
            if num_passes >= rules.num_players:
                raise ValueError(f"layout: {num_passes} passes in a row; nobody could move, so the round was over")
            is_exhausted |= rules.draw_rule != "one" or num_drawn == 0
            num_drawn = 0
        num_turns += action != rules.draw_action
    if len(history) > rules.max_history:
        raise ValueError(f"layout: {len(history)} actions are more than a round can have, {rules.max_history}")
    return num_turns


def _refuse_draw(rules: Rules, num_drawn: int, is_exhausted: bool) -> None:
    """Refuse a draw after ``num_drawn`` others in the turn, or once a pass has shown that none is allowed."""
    if rules.draw_rule == "none":
        raise ValueError("layout: draw is not allowed; nobody draws with draw_rule='none'")
    if rules.draw_rule == "one" and num_drawn:
        raise ValueError("layout: a second draw in a turn is not allowed with draw_rule='one'")
    if is_exhausted:
        raise ValueError("layout: draw is not allowed after a pass that shows the boneyard exhausted")


def _is_shut(rules: Rules, state: NDArray[Any]) -> bool:
    """Whether all see that the round is over: every tile that fits an open end is laid, and nobody draws on."""
    if rules.draw_rule != "none" and not rules.early_block:
        return False
    outside = (1 << rules.num_tiles) - 1 & ~int(state["laid"][0])
    return not outside & int(open_tiles(state[0]))


def layout_line(rules: Rules, history: Sequence[int]) -> str:
    """The layout for people: the line of play from end 0 to end 1, then what else hangs on the spinner.

    ``[6-1][1-6][6-6][6-3] + [6-2][2-0]``: touching halves are equal, arms 2 and 3 are written outward.

    Raises:
        ValueError: if a play in ``history`` does not fit.
    """
    arms: list[list[tuple[int, int]]] = [[], [], [], []]
    line: list[tuple[int, int]] = []
    for laid in laid_tiles(rules, empty_round(rules), history):
        (arms[laid.end] if line else line).append((laid.joined, laid.free))
    if not line:
        return "(empty)"
    line = [(outer, inner) for inner, outer in reversed(arms[0])] + line + arms[1]
    return " + ".join("".join(f"[{a}-{b}]" for a, b in tiles) for tiles in (line, arms[2], arms[3]) if tiles)


class LaidTile(NamedTuple):
    """A tile on the layout: ``joined`` is the number by which it hangs on the one before, of a lead the low one."""

    move: int
    """The place of the play in the round's history."""
    tile: int
    end: int
    """Where it was laid; 0 for a lead."""
    joined: int
    free: int
    is_spinner: bool


def laid_tiles(rules: Rules, state: NDArray[Any], history: Sequence[int]) -> list[LaidTile]:
    """Lay the tiles of ``history`` in an opened round and tell them, in order of play.

    Raises:
        ValueError: if a play in ``history`` does not fit.
    """
    tiles = []
    for move, action in enumerate(map(int, history)):
        if action < rules.draw_action:
            had_spinner = state["spinner"][0] != NONE
            joined, free = _lay(rules, state, action)
            end, tile = divmod(action, rules.num_tiles)
            is_spinner = bool(not had_spinner and state["spinner"][0] != NONE)
            tiles.append(LaidTile(move, tile, end, joined, free, is_spinner))
    return tiles


def empty_round(rules: Rules) -> NDArray[Any]:
    """A record (1,) with no tile anywhere, in round 1, seat 0 to lead."""
    del rules  # it looks the same in all games
    return np.frombuffer(bytearray(_empty_round()), STATE_DTYPE)  # NumPy copies such records field by field


@cache
def _empty_round() -> bytes:
    state = new_states(1)
    state["pile"] = NONE
    state["lots"] = NONE
    state["round"] = 1
    open_round(state[0], Rules().row[0], 0, 0)
    return state.tobytes()
