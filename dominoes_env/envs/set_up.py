"""Games set up by hand: what ``reset(options=...)`` may ask for, read in full before anything changes.

``{"deal": deal, "lead": seat}`` begins the first round with given tiles. ``deal`` is ``{"hands": [...]}`` with a
sequence or set of tiles for each seat, or just those hands in sequence; a tile is a word (``"6-4"``), a pair
(``(6, 4)``) or a tile id. ``"boneyard"``, if given, is a sequence in drawing order, and all tiles that are named
nowhere follow, ascending. ``"lots"`` has the kept lot of each seat where the rules keep lots. ``lead`` is a seat or an
agent's name. If it is not given, the best of the kept lots leads, else whom the opening rule names by the hands (a lead
that differs is refused), else a lot decides. (A kept lot redrawn after a tie may lead without being the best: then
``lead`` says so.)

``{"position": line}`` begins in a position, see :mod:`dominoes_env.notation`; its rules may be left out.

What is set up is shown as it is: with ``skip_forced`` too the first step is taken in it, even if it is forced.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import lots_winners, start_match
from dominoes_env.engine.opening import opening_forces_lead
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING
from dominoes_env.engine.tiles import tile_id
from dominoes_env.engine.variants import VARIANTS
from dominoes_env.notation import parse_position
from dominoes_env.words import format_tile, parse_tile, rules_text, tile_list

__all__ = ["SetUp", "read_set_up"]

_DEAL_KEYS = ("hands", "boneyard", "lots")


class SetUp:
    """A state to begin in, of which a fresh deal of the same rules fills in what chance decides."""

    def __init__(
        self, rules: Rules, state: NDArray[Any], history: tuple[int, ...] = (), *, is_starter_open: bool = False
    ) -> None:
        self._rules = rules
        self._state = state
        self._history = history
        self._is_starter_open = is_starter_open

    def placed(self, states: NDArray[Any]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """The state (1,) and its history; the lot, and the deals to come, are drawn by the generator in ``states``."""
        dealt = states.copy()
        start_match(dealt[0], self._rules.row[0])
        state = self._state.copy()
        if state["generator"][0] == 0:
            state["generator"] = dealt["generator"]
        if self._is_starter_open:
            state["starter"] = state["turn"] = dealt["starter"]
        return state, self._history


def read_set_up(rules: Rules, options: Mapping[str, Any] | None) -> SetUp | None:
    """What ``options`` set up, or None; options that are none of deal, lead and position are ignored.

    Raises:
        ValueError: for a deal, lead or position that cannot be; the message names it.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r} is not allowed; allowed: None or a dict")
    known = {name: options[name] for name in ("deal", "lead", "position") if options and options.get(name) is not None}
    if "position" in known:
        if len(known) > 1:
            raise ValueError("options: 'position' is not allowed together with 'deal' or 'lead'")
        return _from_position(rules, known["position"])
    if "deal" in known:
        return _from_deal(rules, known["deal"], known.get("lead"))
    if "lead" in known:
        raise ValueError(f"options: lead={known['lead']!r} is not allowed without 'deal'")
    return None


def _from_position(rules: Rules, line: Any) -> SetUp:
    if not isinstance(line, str):
        raise ValueError(f"options: position={line!r} is not allowed; allowed: a line as format_position writes it")
    has_rules = line.split("|")[0].split()[:1] != [] and line.split()[0] in VARIANTS
    try:
        found, state, history = parse_position(line, None if has_rules else rules)
    except ValueError as error:
        raise ValueError(f"options: position: {error}") from None
    if found != rules:
        raise ValueError(f"options: position: its rules are {rules_text(found)!r}; allowed: {rules_text(rules)!r}")
    if state["status"][0] != PLAYING:
        raise ValueError("options: position: its round is over; allowed: a round that is being played")
    return SetUp(rules, state, history)


def _from_deal(rules: Rules, deal: Any, lead: Any) -> SetUp:
    if not isinstance(deal, Mapping):
        deal = {"hands": deal}
    for key in deal:
        if key not in _DEAL_KEYS:
            raise ValueError(f"options: deal: {key!r} is unknown; allowed: {', '.join(_DEAL_KEYS)}")
    hands = _by_seat(rules, "hands", deal.get("hands"))
    tiles = [_tiles(rules, f"hand of seat {seat}", hand, is_ordered=False) for seat, hand in enumerate(hands)]
    for seat, hand in enumerate(tiles):
        if len(hand) != rules.hand_size:
            raise ValueError(f"options: deal: seat {seat} has {len(hand)} tiles; allowed: {rules.hand_size}")
    boneyard = _tiles(rules, "boneyard", deal.get("boneyard", ()))
    fields = [
        "hands " + " / ".join(map(tile_list, tiles)),
        "boneyard " + ",".join([*map(format_tile, boneyard), "rest"]),
    ]
    is_forced = bool(opening_forces_lead(rules.row[0]))
    seat = NONE if lead is None else _seat(rules, lead)
    starter = NONE if is_forced else seat
    if is_forced:
        fields.append("forced")
    if rules.opening == "lots_keep":
        lots = _tiles(rules, "lots", _by_seat(rules, "lots", deal.get("lots")))
        for holder, lot in enumerate(lots):
            if lot not in tiles[holder]:
                raise ValueError(f"options: deal: the lot {format_tile(lot)} is not in the hand of seat {holder}")
        fields.append("lots " + " / ".join(map(format_tile, lots)))
        starter = seat if seat != NONE else _lots_winner(rules, lots)
    elif "lots" in deal:
        raise ValueError(f"options: deal: lots={deal['lots']!r} is not allowed; none are kept with these rules")
    if starter != NONE:
        fields.append(f"turn {starter}")
    try:
        _, state, history = parse_position(" | ".join(fields), rules)
    except ValueError as error:
        raise ValueError(f"options: deal: {error}") from None
    if rules.opening != "lots_keep" and is_forced and seat not in (NONE, int(state["starter"][0])):
        raise ValueError(
            f"options: lead={lead!r} is not allowed; allowed: {state['starter'][0]}, whom the opening names"
        )
    return SetUp(rules, state, history, is_starter_open=starter == NONE and not is_forced)


def _by_seat(rules: Rules, name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)) or len(values) != rules.num_players:
        raise ValueError(f"options: deal: {name}={values!r} is not allowed; allowed: {rules.num_players}, one a seat")
    return list(values)


def _tiles(rules: Rules, name: str, values: Any, *, is_ordered: bool = True) -> list[int]:
    kinds = (Sequence, np.ndarray) if is_ordered else (Sequence, np.ndarray, set, frozenset)
    if isinstance(values, str) or not isinstance(values, kinds):
        raise ValueError(f"options: deal: {name}={values!r} is not allowed; allowed: a sequence of tiles")
    return [_tile(rules, name, value) for value in values]


def _tile(rules: Rules, name: str, value: Any) -> int:
    """The id of a tile given as a word, a pair or an id."""
    try:
        if isinstance(value, str):
            return parse_tile(value, rules.max_pip)
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, (tuple, list)):
            a, b = map(operator.index, value)
            tile = tile_id(a, b) if min(a, b) >= 0 else -1
        else:
            tile = operator.index(value)
    except (TypeError, ValueError):
        tile = -1
    if not 0 <= tile < rules.num_tiles:
        raise ValueError(
            f"options: deal: tile {value!r} in {name} is not allowed; allowed: a word such as '6-4', a pair, or an id "
            f"from 0 to {rules.num_tiles - 1}, of the double-{rules.max_pip} set"
        )
    return tile


def _seat(rules: Rules, lead: Any) -> int:
    names = {f"player_{seat}": seat for seat in range(rules.num_players)}
    try:
        seat = names[lead] if isinstance(lead, str) else -1 if isinstance(lead, bool) else operator.index(lead)
    except (KeyError, TypeError):
        seat = -1
    if not 0 <= seat < rules.num_players:
        raise ValueError(f"options: lead={lead!r} is not allowed; allowed: 0 to {rules.num_players - 1}")
    return seat


def _lots_winner(rules: Rules, lots: Sequence[int]) -> int:
    best = int(lots_winners(np.array(lots, np.int8), (1 << rules.num_players) - 1, rules.row[0]))
    if best.bit_count() != 1:
        raise ValueError(f"options: deal: lots={list(map(format_tile, lots))} are tied; allowed: one best, or a lead")
    return best.bit_length() - 1
