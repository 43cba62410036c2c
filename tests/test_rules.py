# ruff: noqa: E501 -- the table of presets reads across
"""Rules and presets: what they hold, what is refused, and that they are found again from their description."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dominoes_env.engine.rules import KNOB_VALUES, RULES_DTYPE, Rules, parse_knob
from dominoes_env.engine.variants import REFUSED_GAMES, VARIANTS, choose_rules, describe_rules, make_rules

pytestmark = pytest.mark.unjitted

PRESETS = [(variant, n) for variant, preset in VARIANTS.items() for n in preset.hand_sizes]


@pytest.mark.parametrize(
    ("variant", "hands", "target"),
    [
        ("block", {2: 7, 3: 5, 4: 5}, 100),
        ("block_121", {2: 7, 3: 5, 4: 5}, 121),
        ("draw", {2: 7, 3: 7, 4: 7}, 100),
        ("all_fives", {2: 7, 3: 5, 4: 5}, 150),
        ("classic_block", {2: 7, 3: 7, 4: 7}, 100),
        ("partners", {4: 7}, 100),
        ("cuban", {4: 10}, 100),
        ("muggins", {2: 7, 3: 5, 4: 5}, 150),
        ("threes", {2: 7, 3: 5, 4: 5}, 150),
        ("fives_and_threes", {2: 7, 3: 5, 4: 5}, 61),
        ("bergen", {2: 6, 3: 6, 4: 5}, 15),
    ],
)
def test_hand_sizes_and_targets(variant: str, hands: dict[int, int], target: int) -> None:
    for num_players, hand_size in hands.items():
        rules = make_rules(variant, num_players=num_players)
        assert (rules.hand_size, rules.target) == (hand_size, target)
    assert VARIANTS[variant].hand_sizes == hands


def test_the_preset_table() -> None:
    """The knobs in which presets differ, read across as in the rule sheet; '-' stands for a knob not read."""
    columns = [
        "block",
        "block_121",
        "draw",
        "all_fives",
        "classic_block",
        "partners",
        "cuban",
        "muggins",
        "threes",
        "fives_and_threes",
        "bergen",
    ]
    table = {
        "draw_rule": "none none until_playable until_playable none none none until_playable until_playable "
        "until_playable until_playable",
        "boneyard_reserve": "0 0 0 0 0 0 0 0 0 0 2",
        "opening": "lots lots highest_double highest_double uniform set_double uniform highest_double highest_double "
        "highest_double highest_double",
        "lots_key": " ".join(["double_first"] * 11),
        "no_double": " ".join(["redeal"] * 11),
        "next_lead": "winner winner as_first winner winner winner winner winner winner winner as_first",
        "tie_lead": "draw_among_tied draw_among_tied draw_among_tied as_first draw_among_tied same_starter same_starter "
        "as_first as_first as_first draw_among_tied",
        "spinner": "none none none first_double none none none none first_double none none",
        "end_scoring": "none none none fives none none none fives threes fives_and_threes equal_ends",
        "round_end": "blocked_only blocked_only " + " ".join(["out_or_blocked"] * 9),
        "settlement": "penalty_each " + " ".join(["winner_takes"] * 10),
        "award": "- all opponents_minus_own opponents opponents opponents opponents opponents opponents one_point one_point",
        "rounding": "none none none nearest none none none nearest nearest none none",
        "blocked_tie": " ".join(["nobody"] * 11),
        "block_winner": "- - - - - team_sum team_sum - - - -",
        "early_block": " ".join(["False"] * 11),
        "target_check": "after_round after_round after_round at_once after_round after_round after_round at_once at_once "
        "at_once after_round",
        "max_rounds": " ".join(["0"] * 11),
        "max_pip": "6 6 6 6 6 6 9 6 6 6 6",
        "teams": "False False False False False True True False False False False",
    }
    for knob, row in table.items():
        for variant, value in zip(columns, row.split(), strict=True):
            assert value in ("-", str(getattr(make_rules(variant), knob))), (variant, knob)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_description_gives_the_rules_back(variant: str, num_players: int) -> None:
    for rules in (make_rules(variant, num_players=num_players), make_rules(variant, num_players=num_players, target=7)):
        name, knobs = describe_rules(rules)
        assert make_rules(name, **knobs) == rules
        assert Rules.from_dict(rules.to_dict()) == rules
        assert pickle.loads(pickle.dumps(rules)) == copy.deepcopy(rules) == rules
    assert describe_rules(make_rules(variant, num_players=num_players)) == (variant, {"num_players": num_players})


def test_the_presets_own_numbers_of_players() -> None:
    for variant in VARIANTS:
        assert make_rules(variant).num_players == (4 if variant in ("partners", "cuban") else 2)


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"num_players": 5}, "num_players=5"),
        ({"num_players": 1}, "num_players=1"),
        ({"num_players": 2.0}, "num_players=2.0"),
        ({"num_players": True}, "num_players=True"),
        ({"teams": True}, "teams=True"),
        ({"teams": "yes"}, "teams='yes'"),
        ({"max_pip": 0}, "max_pip=0"),
        ({"max_pip": 10}, "max_pip=10"),
        ({"hand_size": 0}, "hand_size=0"),
        ({"hand_size": 15}, "hand_size=15"),
        ({"opening": "lots_keep", "hand_size": 1}, "hand_size=1"),
        ({"round_end": "blocked_only", "draw_rule": "one"}, "round_end='blocked_only'"),
        ({"round_end": "blocked_only", "num_players": 4, "teams": True}, "round_end='blocked_only'"),
        ({"boneyard_reserve": 3, "draw_rule": "one"}, "boneyard_reserve=3"),
        ({"boneyard_reserve": -1, "draw_rule": "one"}, "boneyard_reserve=-1"),
        ({"boneyard_reserve": 1}, "boneyard_reserve=1"),
        ({"early_block": True}, "early_block=True"),
        ({"end_scoring": "equal_ends", "spinner": "first_double"}, "end_scoring='equal_ends'"),
        ({"settlement": "penalty_each", "end_scoring": "fives"}, "end_scoring='fives'"),
        ({"settlement": "penalty_each", "rounding": "nearest"}, "rounding='nearest'"),
        ({"settlement": "penalty_each", "num_players": 4, "teams": True}, "teams=True"),
        ({"settlement": "penalty_each", "blocked_tie": "split"}, "blocked_tie='split'"),
        ({"blocked_tie": "split", "award": "opponents_minus_own"}, "blocked_tie='split'"),
        (
            {"block_winner": "single_lowest", "award": "opponents_minus_own", "num_players": 4, "teams": True},
            "block_winner='single_lowest'",
        ),
        ({"block_winner": "single_lowest"}, "block_winner='single_lowest'"),
        ({"rounding": "nearest"}, "rounding='nearest'"),
        ({"rounding": "up", "end_scoring": "fives_and_threes"}, "rounding='up'"),
        ({"target": 0}, "target=0"),
        ({"target": 10.5}, "target=10.5"),
        ({"max_rounds": -1}, "max_rounds=-1"),
        ({"award": "everything"}, "award='everything'"),
        ({"opening": None}, "opening=None"),
        ({"colour": "red"}, "'colour'"),
    ],
)
def test_what_is_refused(knobs: dict[str, object], named: str) -> None:
    """The message names the knob, the value, and what is allowed."""
    with pytest.raises(ValueError) as refusal:
        Rules.from_dict(knobs)
    assert named in str(refusal.value)
    assert "allowed: " in str(refusal.value) or "the rules are: " in str(refusal.value)
    with pytest.raises(ValueError, match=r"allowed|the rules are"):
        Rules().replace(**knobs)


@pytest.mark.parametrize("game", [*REFUSED_GAMES, "chess"])
def test_other_games_are_refused_by_name(game: str) -> None:
    with pytest.raises(ValueError, match=f"variant='{game}'.*block_121"):
        make_rules(game)


def test_a_preset_is_refused_for_players_it_is_not_made_for() -> None:
    with pytest.raises(ValueError, match="num_players=2 is not allowed; allowed: 4 for variant 'partners'"):
        make_rules("partners", num_players=2)
    with pytest.raises(ValueError, match="num_players=5 is not allowed; allowed: 2, 3, 4"):
        make_rules("draw", num_players=5)


@given(st.sampled_from([(knob, value) for knob, values in KNOB_VALUES.items() for value in values]))
def test_words_are_parsed_as_they_are_written(pair: tuple[str, str]) -> None:
    assert parse_knob(*pair) == pair[1]


def test_numbers_and_switches_are_parsed() -> None:
    assert parse_knob("target", "50") == 50
    assert parse_knob("early_block", "true") is True
    assert parse_knob("teams", "False") is False
    for knob, text in (("target", "many"), ("teams", "1"), ("colour", "red")):
        with pytest.raises(ValueError, match=knob):
            parse_knob(knob, text)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_the_row_holds_every_knob(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    for knob, value in rules.to_dict().items():
        in_row = int(rules.row[0][knob])
        assert in_row == (KNOB_VALUES[knob].index(value) if knob in KNOB_VALUES else value)
    assert set(RULES_DTYPE.names or ()) - set(rules.to_dict()) == {
        "num_tiles",
        "num_ends",
        "num_actions",
        "boneyard_size",
    }
    assert rules.num_actions == rules.num_tiles * rules.num_ends + 2


def test_rules_as_they_are_exclude_the_other_arguments() -> None:
    rules = make_rules("block", num_players=3)
    assert choose_rules("draw", None, rules, {}) is rules
    assert choose_rules("block", 3, None, {"target": 7}) == rules.replace(target=7)
    for arguments, named in (
        (("block", None, rules, {}), "variant='block' is not allowed together with rules="),
        (("draw", 3, rules, {}), "num_players=3 is not allowed together with rules="),
        (("draw", None, rules, {"target": 7}), "target=7 is not allowed together with rules="),
        (("draw", None, "block", {}), "rules='block' is not allowed"),
    ):
        with pytest.raises(ValueError, match=named):
            choose_rules(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [["draw"], 3, None])
def test_a_variant_is_a_word(wrong: object) -> None:
    with pytest.raises(ValueError, match="variant="):
        make_rules(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_players="):
        make_rules("draw", num_players=[2])  # type: ignore[arg-type]
