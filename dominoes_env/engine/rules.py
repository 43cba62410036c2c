"""``Rules``: every knob of the games with its values, default and meaning; validation; the row that kernels read.

A rule variant is a value. People hold a frozen :class:`Rules` with words; kernels get ``Rules.row``, one record of
small integers, in which the value of a knob is the position of the word in that knob's list of allowed values.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.tiles import MAX_PIP, num_tiles_in_set

__all__ = ["KNOB_MEANINGS", "KNOB_VALUES", "RULES_DTYPE", "RULES_VERSION", "Rules", "allowed_values", "parse_knob"]

#: Raised by one whenever the same rules and seed no longer give the same game.
RULES_VERSION = 1

#: The words that each worded knob takes; a kernel sees a word's position. The constants below name those positions.
KNOB_VALUES: dict[str, tuple[str, ...]] = {
    "draw_rule": ("none", "until_playable", "one"),
    "opening": ("lots", "lots_keep", "highest_double", "heaviest", "set_double", "uniform", "seat_0"),
    "lots_key": ("double_first", "pips"),
    "no_double": ("redeal", "heaviest"),
    "next_lead": ("winner", "as_first", "rotate"),
    "tie_lead": ("draw_among_tied", "as_first", "same_starter", "next_seat"),
    "spinner": ("none", "first_double", "opening_double"),
    "end_scoring": ("none", "fives", "threes", "fives_and_threes", "equal_ends"),
    "round_end": ("blocked_only", "out_or_blocked"),
    "settlement": ("penalty_each", "winner_takes"),
    "award": ("all", "opponents", "opponents_minus_own", "one_point"),
    "rounding": ("none", "nearest", "each_hand", "up"),
    "blocked_tie": ("nobody", "split"),
    "block_winner": ("team_sum", "single_lowest"),
    "target_check": ("at_once", "after_round"),
}

DRAW_NONE, DRAW_UNTIL_PLAYABLE, DRAW_ONE = range(3)
LOTS, LOTS_KEEP, HIGHEST_DOUBLE, HEAVIEST, SET_DOUBLE, UNIFORM, SEAT_0 = range(7)
KEY_DOUBLE_FIRST, KEY_PIPS = range(2)
NO_DOUBLE_REDEAL, NO_DOUBLE_HEAVIEST = range(2)
NEXT_WINNER, NEXT_AS_FIRST, NEXT_ROTATE = range(3)
TIE_DRAW_AMONG_TIED, TIE_AS_FIRST, TIE_SAME_STARTER, TIE_NEXT_SEAT = range(4)
SPINNER_NONE, SPINNER_FIRST_DOUBLE, SPINNER_OPENING_DOUBLE = range(3)
ENDS_NONE, ENDS_FIVES, ENDS_THREES, ENDS_FIVES_AND_THREES, ENDS_EQUAL = range(5)
END_BLOCKED_ONLY, END_OUT_OR_BLOCKED = range(2)
PENALTY_EACH, WINNER_TAKES = range(2)
AWARD_ALL, AWARD_OPPONENTS, AWARD_OPPONENTS_MINUS_OWN, AWARD_ONE_POINT = range(4)
ROUNDING_NONE, ROUNDING_NEAREST, ROUNDING_EACH_HAND, ROUNDING_UP = range(4)
TIE_NOBODY, TIE_SPLIT = range(2)
BLOCK_TEAM_SUM, BLOCK_SINGLE_LOWEST = range(2)
CHECK_AT_ONCE, CHECK_AFTER_ROUND = range(2)

_WIDE = {"target": np.int32, "max_rounds": np.int32}
_KNOBS = [
    "num_players",
    "teams",
    "max_pip",
    "hand_size",
    "draw_rule",
    "boneyard_reserve",
    "opening",
    "lots_key",
    "no_double",
    "next_lead",
    "tie_lead",
    "spinner",
    "end_scoring",
    "round_end",
    "settlement",
    "award",
    "rounding",
    "blocked_tie",
    "block_winner",
    "early_block",
    "target",
    "target_check",
    "max_rounds",
]
#: One record of rules as kernels read it: each knob, then sizes that follow from them.
RULES_DTYPE = np.dtype(
    [(knob, _WIDE.get(knob, np.int16)) for knob in _KNOBS]
    + [(size, np.int16) for size in ("num_tiles", "num_ends", "num_actions", "boneyard_size")],
    align=True,
)

_MAX_TARGET = 1_000_000
#: The bounds of each counted knob, both inclusive; None: other knobs bound it.
_BOUNDS: dict[str, tuple[int, int | None]] = {
    "num_players": (2, 4),
    "max_pip": (1, MAX_PIP),
    "hand_size": (1, None),
    "boneyard_reserve": (0, 2),
    "target": (1, _MAX_TARGET),
    "max_rounds": (0, _MAX_TARGET),
}


def _knob(default: Any, meaning: str) -> Any:
    """A field of :class:`Rules` that carries its meaning; the class's docstring and the command line list them."""
    return dataclasses.field(default=default, metadata={"meaning": meaning})


def allowed_values(knob: str) -> str:
    """What a knob may be, as words: ``none, until_playable, one`` or ``1 to 9``; other knobs may narrow it."""
    if knob in KNOB_VALUES:
        return ", ".join(KNOB_VALUES[knob])
    if knob in _BOUNDS:
        low, high = _BOUNDS[knob]
        return f"at least {low}" if high is None else f"{low} to {high}"
    return "True or False"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set as plain values. Presets with their sources: :mod:`dominoes_env.engine.variants`.

    Raises:
        ValueError: for a value, or a combination of values, that the rules exclude; the message names the knob, the
            value and what is allowed.
    """

    num_players: int = _knob(2, "how many play")
    teams: bool = _knob(False, "whether seats 0 and 2 play seats 1 and 3; needs 4 players")
    max_pip: int = _knob(6, "N of the double-N set")
    hand_size: int = _knob(7, "tiles dealt to each player")
    draw_rule: str = _knob(
        "none", "what a player whom nothing fits may draw: nothing (he passes), until a tile fits, or one tile"
    )
    boneyard_reserve: int = _knob(0, "tiles at the end of the boneyard that are never drawn; needs a draw rule")
    opening: str = _knob("lots", "who leads when no round before decides it, and whether the lead is forced")
    lots_key: str = _knob("double_first", "how kept lots compare: doubles before all others, or by pips")
    no_double: str = _knob("redeal", "what is done when the opening asks for a double that nobody holds")
    next_lead: str = _knob("winner", "who leads the next round")
    tie_lead: str = _knob("draw_among_tied", "who leads after a tied block; read with next_lead=winner")
    spinner: str = _knob("none", "which double may be played on four ways")
    end_scoring: str = _knob("none", "what the open ends score after a play")
    round_end: str = _knob("out_or_blocked", "whether only a block ends a round, or going out does too")
    settlement: str = _knob(
        "winner_takes", "who books the leftovers of a round: each his own as penalty, or the winner"
    )
    award: str = _knob("opponents", "what the winner of a blocked round scores")
    rounding: str = _knob("none", "rounding of leftovers to the unit of the end scoring (5 or 3)")
    blocked_tie: str = _knob(
        "nobody", "a tie for lowest in a block: nobody scores, or the tied share in whole points (of one point, none)"
    )
    block_winner: str = _knob(
        "team_sum", "with teams, whether a block goes to the lower team sum or to the lowest single hand"
    )
    early_block: bool = _knob(
        False, "whether a round also ends as soon as no tile outside the layout fits an open end; needs a draw rule"
    )
    target: int = _knob(100, "points that end a match")
    target_check: str = _knob("after_round", "when the target is looked at: at each booking, or after a round")
    max_rounds: int = _knob(0, "rounds after which an undecided match is truncated; 0 is no bound")

    def __post_init__(self) -> None:
        for name in ("teams", "early_block"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise _refusal(name, getattr(self, name), "True or False")
            object.__setattr__(self, name, bool(getattr(self, name)))
        for name, words in KNOB_VALUES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in words:
                raise _refusal(name, value, "one of " + ", ".join(words))
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            allowed = f"an integer from {low} to {high}" if high is not None else f"an integer of at least {low}"
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
                raise _refusal(name, value, allowed)
            if value < low or (high is not None and value > high):
                raise _refusal(name, value, "2, 3 or 4" if name == "num_players" else allowed)
            object.__setattr__(self, name, int(value))
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        draws = self.draw_rule != "none"
        largest = self.num_tiles // self.num_players
        if self.teams and self.num_players != 4:
            raise _refusal("teams", True, f"False with num_players={self.num_players}: teams need 4 players")
        if self.hand_size > largest:
            raise _refusal(
                "hand_size",
                self.hand_size,
                f"1 to {largest} with num_players={self.num_players} and max_pip={self.max_pip}",
            )
        if self.opening == "lots_keep" and self.hand_size == 1:
            raise _refusal("hand_size", 1, "at least 2 with opening='lots_keep'")
        if self.round_end == "blocked_only" and draws:
            raise _refusal("round_end", self.round_end, f"'out_or_blocked' with draw_rule={self.draw_rule!r}")
        if self.round_end == "blocked_only" and self.teams:
            raise _refusal("round_end", self.round_end, "'out_or_blocked' with teams=True")
        if self.boneyard_reserve > 0 and not draws:
            raise _refusal("boneyard_reserve", self.boneyard_reserve, "0 with draw_rule='none'")
        if self.early_block and not draws:
            raise _refusal("early_block", True, "False with draw_rule='none'")
        if self.end_scoring == "equal_ends" and self.spinner != "none":
            raise _refusal("end_scoring", self.end_scoring, f"any other with spinner={self.spinner!r}")
        if self.settlement == "penalty_each":
            for name, only in (
                ("end_scoring", "none"),
                ("rounding", "none"),
                ("teams", False),
                ("blocked_tie", "nobody"),
            ):
                if getattr(self, name) != only:
                    raise _refusal(name, getattr(self, name), f"{only!r} with settlement='penalty_each'")
        if self.award == "opponents_minus_own":
            if self.blocked_tie == "split":
                raise _refusal("blocked_tie", "split", "'nobody' with award='opponents_minus_own'")
            if self.block_winner == "single_lowest":
                raise _refusal("block_winner", "single_lowest", "'team_sum' with award='opponents_minus_own'")
        if self.block_winner == "single_lowest" and not self.teams:
            raise _refusal("block_winner", "single_lowest", "'team_sum' with teams=False")
        if self.rounding != "none" and self.end_scoring not in ("fives", "threes"):
            raise _refusal(
                "rounding", self.rounding, f"'none' with end_scoring={self.end_scoring!r} (fives or threes round)"
            )

    def replace(self, **overrides: Any) -> Rules:
        """These rules with some knobs changed; refuses like :class:`Rules` itself."""
        _refuse_unknown(overrides)
        return dataclasses.replace(self, **overrides)

    def to_dict(self) -> dict[str, Any]:
        """Every knob and its value, in the order of the definition."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, knobs: dict[str, Any]) -> Rules:
        """The inverse of :meth:`to_dict`; knobs left out take their default."""
        _refuse_unknown(knobs)
        return cls(**knobs)

    @property
    def num_tiles(self) -> int:
        """Tiles in the set."""
        return num_tiles_in_set(self.max_pip)

    @property
    def num_ends(self) -> int:
        """Ends that an action can name: 4 with a spinner, else 2."""
        return 2 if self.spinner == "none" else 4

    @property
    def draw_action(self) -> int:
        """The action id of DRAW."""
        return self.num_tiles * self.num_ends

    @property
    def pass_action(self) -> int:
        """The action id of PASS."""
        return self.num_tiles * self.num_ends + 1

    @property
    def num_actions(self) -> int:
        """Size of the action space: tiles x ends, DRAW and PASS."""
        return self.num_tiles * self.num_ends + 2

    @property
    def boneyard_size(self) -> int:
        """Tiles left in the boneyard by the deal."""
        return self.num_tiles - self.num_players * self.hand_size

    @property
    def total_pips(self) -> int:
        """Pips of the whole set: 168 for double-six."""
        return self.max_pip * (self.max_pip + 1) * (self.max_pip + 2) // 2

    @property
    def max_history(self) -> int:
        """A bound on the actions of one round from any position: tiles laid, passes between, draws, their passes."""
        return self.num_tiles * (self.num_players + (0 if self.draw_rule == "none" else 2))

    @cached_property
    def row(self) -> NDArray[Any]:
        """The rules as kernels read them: an array of shape (1,) and dtype ``RULES_DTYPE``; not to be written to."""
        row = np.zeros(1, RULES_DTYPE)
        for name, value in self.to_dict().items():
            row[name] = KNOB_VALUES[name].index(value) if name in KNOB_VALUES else value
        for name in ("num_tiles", "num_ends", "num_actions", "boneyard_size"):
            row[name] = getattr(self, name)
        return row


#: What each knob means, in the order of the definition.
KNOB_MEANINGS: dict[str, str] = {field.name: field.metadata["meaning"] for field in dataclasses.fields(Rules)}

if Rules.__doc__:  # python -OO keeps none
    Rules.__doc__ = inspect.cleandoc(Rules.__doc__) + "\n\nKnobs, each with its default and what is allowed:\n"
    for knob in dataclasses.fields(Rules):
        Rules.__doc__ += (
            f"    {knob.name} = {knob.default!r}: {KNOB_MEANINGS[knob.name]} [{allowed_values(knob.name)}]\n"
        )


def parse_knob(name: str, text: str) -> Any:
    """The value of the knob ``name`` written as ``text``, as on a command line.

    Raises:
        ValueError: for an unknown knob, or a text that is no value of its kind.
    """
    _refuse_unknown({name: text})
    if name in KNOB_VALUES:
        return text
    if name in ("teams", "early_block"):
        if text.lower() not in ("true", "false"):
            raise _refusal(name, text, "true or false")
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        raise _refusal(name, text, "an integer") from None


def _refuse_unknown(knobs: dict[str, Any]) -> None:
    for name, value in knobs.items():
        if name not in _KNOBS:
            raise ValueError(f"unknown rule {name!r} (value {value!r}); the rules are: {', '.join(_KNOBS)}")


def _refusal(name: str, value: Any, allowed: str) -> ValueError:
    return ValueError(f"{name}={value!r} is not allowed; allowed: {allowed}")
