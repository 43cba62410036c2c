"""The rule sets over which engine and reference are compared: presets, one knob changed, any combination."""

from __future__ import annotations

import zlib

from dominoes_env.engine.rules import KNOB_VALUES, Rules
from dominoes_env.engine.variants import VARIANTS

REWARDS = ("margin", "points", "win")
PRESETS = [(variant, players) for variant in VARIANTS for players in VARIANTS[variant].hand_sizes]
#: Values of the knobs that are numbers or flags; the worded knobs bring their own.
PLAIN_VALUES = {
    "num_players": (2, 3, 4),
    "teams": (False, True),
    "max_pip": tuple(range(1, 10)),
    "hand_size": (1, 2, 4, 8, 12),
    "boneyard_reserve": (0, 1, 2),
    "early_block": (False, True),
    "target": (1, 7, 30, 1000),
    "max_rounds": (0, 1, 2, 3),
}
ALL_VALUES = {**PLAIN_VALUES, **KNOB_VALUES}
#: What may have to change in a preset so that a value of another knob is accepted; the first that does is taken.
FITTINGS: tuple[dict[str, object], ...] = (
    {},
    {"hand_size": 5},
    {"hand_size": 3},
    {"hand_size": 2},
    {"hand_size": 1},
    {"max_pip": 9},
    {"spinner": "none"},
    {"award": "opponents"},
    {"draw_rule": "none", "boneyard_reserve": 0},
    {"draw_rule": "until_playable", "round_end": "out_or_blocked"},
    {"settlement": "winner_takes"},
    {"settlement": "winner_takes", "end_scoring": "fives"},
    {"end_scoring": "fives", "spinner": "first_double"},
    {"end_scoring": "none", "rounding": "none", "teams": False},
    {"teams": True},
    {"teams": True, "award": "opponents"},
    {"teams": True, "round_end": "out_or_blocked", "settlement": "winner_takes"},
)
#: Knobs that are read only beside a value of another.
NEEDED: dict[str, dict[str, object]] = {"lots_key": {"opening": "lots_keep"}, "no_double": {"opening": "set_double"}}

#: What any combination is drawn from: sizes kept small so that most can be dealt, targets that are reached.
COMBINED_VALUES: dict[str, tuple[object, ...]] = {
    **ALL_VALUES,
    "hand_size": (1, 2, 3, 4, 5, 7),
    "max_pip": (1, 2, 3, 4, 5, 6, 7, 9),
    "target": (1, 3, 10, 30, 100),
}


def seed_of(*words: object) -> int:
    """A seed that belongs to a case by name, the same in every process."""
    return zlib.crc32(repr(words).encode())


def small_target(rules: Rules) -> int:
    """A target that a match reaches within a few rounds."""
    return {"one_point": 4}.get(rules.award, 25) if rules.end_scoring in ("none", "equal_ends") else 35


def fitted(base: Rules, knob: str, value: object) -> Rules | None:
    """``base`` with ``knob`` at ``value``, changed no more than the value asks for; None if all is refused."""
    for companions in FITTINGS:
        try:
            return base.replace(**{**companions, knob: value})
        except ValueError:
            continue
    return None


def reconciled(knobs: dict[str, object]) -> dict[str, object]:
    """The knobs, those that mostly contradict the others taken back to what goes with them."""
    knobs = dict(knobs)
    if knobs["num_players"] != 4:
        knobs["teams"] = False
    if knobs["draw_rule"] == "none":
        knobs.update(boneyard_reserve=0, early_block=False)
    if knobs["draw_rule"] != "none" or knobs["teams"]:
        knobs["round_end"] = "out_or_blocked"
    if knobs["end_scoring"] not in ("fives", "threes"):
        knobs["rounding"] = "none"
    if knobs["end_scoring"] == "equal_ends":
        knobs["spinner"] = "none"
    if not knobs["teams"] or knobs["award"] == "opponents_minus_own":
        knobs["block_winner"] = "team_sum"
    if knobs["award"] == "opponents_minus_own" or knobs["settlement"] == "penalty_each":
        knobs["blocked_tie"] = "nobody"
    if knobs["settlement"] == "penalty_each":
        knobs.update(end_scoring="none", rounding="none", teams=False, block_winner="team_sum")
    return knobs
