"""The presets as named rules, each with its rule sheet. Values, no code: the engine never asks for a preset's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dominoes_env.engine.rules import Rules

__all__ = ["REFUSED_GAMES", "VARIANTS", "Variant", "choose_rules", "describe_rules", "get_variant", "make_rules"]


@dataclass(frozen=True)
class Variant:
    """A preset: its knobs where they differ from the defaults of :class:`Rules`, and a sheet for people."""

    name: str
    title: str
    hand_sizes: dict[int, int]
    """Tiles dealt to each, by number of players; the keys are the numbers that the preset is made for."""
    knobs: dict[str, Any]
    sheet: str

    @property
    def num_players(self) -> int:
        """The preset's own number of players: 2 where it takes two, else 4."""
        return min(self.hand_sizes)


_BLOCK_HANDS = {2: 7, 3: 5, 4: 5}
_SEVEN_EACH = {2: 7, 3: 7, 4: 7}
_DRAW = {"draw_rule": "until_playable", "opening": "highest_double"}
_FIVES = {
    **_DRAW,
    "tie_lead": "as_first",
    "end_scoring": "fives",
    "rounding": "nearest",
    "target": 150,
    "target_check": "at_once",
}

_PRESETS = (
    Variant(
        "block",
        "Block dominoes with penalty points",
        _BLOCK_HANDS,
        {"round_end": "blocked_only", "settlement": "penalty_each"},
        "Lots decide who leads. Nobody draws; who cannot lay a tile passes, and who has laid his last one goes on "
        "passing. The round ends when no hand holds a tile that fits. Each books the pips he still holds as penalty; "
        "the lowest of the round has won it and leads next, a tie is settled by lot. Once somebody has 100 penalty "
        "points the match goes to whoever has fewest; equal fewest share it.",
    ),
    Variant(
        "block_121",
        "Block dominoes to 121",
        _BLOCK_HANDS,
        {"round_end": "blocked_only", "award": "all", "target": 121},
        "Played as block, but the lowest hand scores the pips of all hands, its own included; a tie for lowest scores "
        "nothing. The first to 121 points wins.",
    ),
    Variant(
        "draw",
        "The draw game",
        _SEVEN_EACH,
        {**_DRAW, "next_lead": "as_first", "award": "opponents_minus_own"},
        "In every round the highest double in any hand leads and is the only legal lead; a deal without a double is "
        "dealt anew. Who cannot lay a tile draws until one fits and lays it; with the boneyard empty he passes. Going "
        "out scores the opponents' pips. If the round is blocked the lowest hand scores the opponents' pips less its "
        "own; a tie scores nothing. To 100 points.",
    ),
    Variant(
        "all_fives",
        "All Fives with one spinner",
        _BLOCK_HANDS,
        {**_FIVES, "spinner": "first_double"},
        "The first double laid is the spinner and may be played on four ways. After each play the open ends are added "
        "up, and a multiple of five scores that many points. The highest double leads the first round, the winner of "
        "a round the next. Who cannot lay a tile draws until one fits. Going out scores the others' leftovers, added "
        "up and rounded to the nearest five; in a block the lowest hand does. The first to 150 wins, in mid-round too.",
    ),
    Variant(
        "classic_block",
        "Block dominoes as most people play it",
        _SEVEN_EACH,
        {"opening": "uniform"},
        "Seven tiles each, a seat drawn by lot leads any tile, nobody draws. The round ends when somebody goes out or "
        "nobody can move; who went out, or holds fewest pips, scores the opponents' pips. To 100 points.",
    ),
    Variant(
        "partners",
        "Partnership block, two against two",
        {4: 7},
        {"teams": True, "opening": "set_double", "tie_lead": "same_starter"},
        "All 28 tiles are dealt, seats 0 and 2 play seats 1 and 3. [6-6] leads the first round, later the winner of "
        "the round before. The team that goes out, or holds fewer pips in a block, scores the other team's pips. To "
        "100 points.",
    ),
    Variant(
        "cuban",
        "Cuban dominoes: double-nine, two against two",
        {4: 10},
        {"teams": True, "max_pip": 9, "opening": "uniform", "tie_lead": "same_starter"},
        "Ten tiles each from a double-nine set, 15 stay out of play; otherwise as partners, but that a seat drawn by "
        "lot leads the first round.",
    ),
    Variant(
        "muggins",
        "Muggins: All Fives without a spinner",
        _BLOCK_HANDS,
        _FIVES,
        "Played as all_fives, but no double is a spinner: the layout has two ends.",
    ),
    Variant(
        "threes",
        "All Threes with one spinner",
        _BLOCK_HANDS,
        {**_FIVES, "spinner": "first_double", "end_scoring": "threes"},
        "Played as all_fives by threes: a multiple of three scores the count, leftovers are rounded to the nearest "
        "three.",
    ),
    Variant(
        "fives_and_threes",
        "Fives and Threes",
        _BLOCK_HANDS,
        {**_FIVES, "end_scoring": "fives_and_threes", "award": "one_point", "rounding": "none", "target": 61},
        "Played as all_fives without a spinner, but a count scores a third of itself if three divides it and a fifth "
        "if five does, both if both do; the winner of the round gets 1 point, not the leftovers. The first to 61 wins.",
    ),
    Variant(
        "bergen",
        "Bergen",
        {2: 6, 3: 6, 4: 5},
        {
            **_DRAW,
            "boneyard_reserve": 2,
            "next_lead": "as_first",
            "end_scoring": "equal_ends",
            "award": "one_point",
            "target": 15,
        },
        "The highest double leads every round. Who cannot lay a tile draws until one fits; the last two tiles of the "
        "boneyard are never drawn. A play that leaves both ends equal scores 2 points, or 3 if the tip of an end is a "
        "double; leading a double scores 2. The winner of the round gets 1 point. To 15.",
    ),
)

#: The presets by name, in the order of the rule sheet.
VARIANTS: dict[str, Variant] = {variant.name: variant for variant in _PRESETS}

#: Games that other packages call dominoes and this engine does not play.
REFUSED_GAMES = ("matador", "chicken_foot", "mexican_train", "forty_two")


def make_rules(variant: str = "draw", *, num_players: int | None = None, **overrides: Any) -> Rules:
    """The rules of a preset, some knobs changed.

    Args:
        variant: a name in :data:`VARIANTS`.
        num_players: 2, 3 or 4; None takes the preset's own number (4 for ``partners`` and ``cuban``, else 2). The
            preset's hand size depends on it.
        **overrides: knobs of :class:`Rules`.

    Raises:
        ValueError: for an unknown variant or knob, or a value that is not allowed, all named in the message.
    """
    preset = get_variant(variant)
    if num_players is None:
        num_players = preset.num_players
    if num_players not in tuple(preset.hand_sizes):
        allowed = ", ".join(map(str, preset.hand_sizes))
        raise ValueError(f"num_players={num_players!r} is not allowed; allowed: {allowed} for variant {variant!r}")
    knobs = {"hand_size": preset.hand_sizes[num_players], **preset.knobs}
    return Rules.from_dict({"num_players": num_players, **knobs, **overrides})


def choose_rules(variant: str, num_players: int | None, rules: Rules | None, overrides: dict[str, Any]) -> Rules:
    """The rules that a constructor's arguments ask for: a preset with overrides, or ``rules`` as they are.

    Raises:
        ValueError: for an unknown variant or knob, a value that is not allowed, or ``rules`` together with any of
            the others.
    """
    if rules is None:
        return make_rules(variant, num_players=num_players, **overrides)
    if not isinstance(rules, Rules):
        raise ValueError(f"rules={rules!r} is not allowed; allowed: Rules, as make_rules gives them, or None")
    others = dict(overrides)
    if variant != "draw":
        others["variant"] = variant
    if num_players is not None:
        others["num_players"] = num_players
    for name, value in others.items():
        raise ValueError(f"{name}={value!r} is not allowed together with rules=; allowed: rules.replace({name}=...)")
    return rules


def get_variant(variant: str) -> Variant:
    """The preset called ``variant``.

    Raises:
        ValueError: if there is none.
    """
    if isinstance(variant, str) and variant in VARIANTS:
        return VARIANTS[variant]
    known = ", ".join(VARIANTS)
    if isinstance(variant, str) and variant in REFUSED_GAMES:
        raise ValueError(f"variant={variant!r} is another game, not played by this engine; variants: {known}")
    raise ValueError(f"variant={variant!r} is unknown; variants: {known}")


def describe_rules(rules: Rules) -> tuple[str, dict[str, Any]]:
    """The preset nearest to ``rules`` and the knobs in which they differ: ``make_rules`` of both gives them back.

    The number of players is always among the knobs.
    """
    best: tuple[str, dict[str, Any]] | None = None
    for name, preset in VARIANTS.items():
        if rules.num_players in preset.hand_sizes:
            base = make_rules(name, num_players=rules.num_players).to_dict()
            differing = {knob: value for knob, value in rules.to_dict().items() if value != base[knob]}
            if best is None or len(differing) < len(best[1]):
                best = name, differing
    assert best is not None  # every number of players has presets
    return best[0], {"num_players": rules.num_players, **best[1]}
