"""Words, rules and positions: parse and print are inverse, and what cannot be is refused by name."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import PRESETS
from random_games import PAYING, played, rule_sets

from dominoes_env.archive import format_record, parse_record, record_from_json, record_to_json
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.notation import format_position, parse_position
from dominoes_env.words import (
    format_action,
    format_tile,
    layout_line,
    parse_action,
    parse_rules,
    parse_tile,
    rules_text,
)

# Words


def test_tiles() -> None:
    for tile in range(55):
        assert parse_tile(format_tile(tile)) == parse_tile(f"[{format_tile(tile)}]") == tile
        assert parse_tile(format_tile(tile)[::-1]) == tile
    assert (format_tile(0), format_tile(parse_tile("4-6"))) == ("0-0", "6-4")
    for text in ("", "6", "6-", "7-1", "66", "[6-4", "6-4]", "a-b", "6-4 ", "10-1", "-1-2"):
        with pytest.raises(ValueError, match="tile"):
            parse_tile(text, 6)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_every_action_has_a_word(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    words = [format_action(rules, action) for action in range(rules.num_actions)]
    assert len(set(words)) == rules.num_actions
    assert [parse_action(rules, word) for word in words] == list(range(rules.num_actions))
    leads = [format_action(rules, action, is_lead=True) for action in range(rules.num_tiles)]
    assert [parse_action(rules, word) for word in leads] == list(range(rules.num_tiles))
    assert words[-2:] == ["draw", "pass"]
    with pytest.raises(ValueError, match="lead"):
        format_action(rules, rules.num_tiles, is_lead=True)
    with pytest.raises(ValueError, match="allowed"):
        format_action(rules, rules.num_actions)


@pytest.mark.parametrize("word", ["", "Draw", "6-4@", "6-4@2", "6-4@x", "7-1@0", "@0", "6-4@0@1", "6-4@-1", "knock"])
def test_words_that_are_no_action(word: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        parse_action(make_rules("draw"), word)


@settings(deadline=None, max_examples=200)
@given(rule_sets())
def test_rules_are_a_line(rules: Rules) -> None:
    assert parse_rules(rules_text(rules)) == rules


def test_rules_by_hand() -> None:
    assert rules_text(make_rules("draw", target=50)) == "draw num_players=2 target=50"
    assert parse_rules(" block  num_players=3   early_block=False") == make_rules("block", num_players=3)
    for text, name in [
        ("", "missing"),
        ("whist", "whist"),
        ("matador", "another game"),
        ("draw target", "KNOB=VALUE"),
        ("draw target=x", "target"),
        ("draw colour=red", "colour"),
        ("draw target=50 target=50", "twice"),
        ("draw num_players=5", "num_players"),
        ("draw early_block=1", "early_block"),
    ]:
        with pytest.raises(ValueError, match=name):
            parse_rules(text)


# Positions


@settings(deadline=None, max_examples=150)
@given(rule_sets(), st.integers(0, 2**64 - 1), st.integers(0, 120), st.sampled_from(["round", "match"]))
def test_positions_are_a_line(rules: Rules, seed: int, num_steps: int, episode: str) -> None:
    game = played(rules, seed, num_steps, episode)
    line = game.position
    parsed, state, history = parse_position(line)
    assert parsed == rules
    assert state == game.state
    assert history == game.history
    assert format_position(parsed, state, history) == line
    without = format_position(rules, state, history, with_rules=False)
    assert parse_position(without, rules)[1] == state
    assert line == f"{rules_text(rules)} | {without}"


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_every_position_of_a_match_is_a_line(variant: str, num_players: int) -> None:
    generator = random.Random(1)
    game = Game(variant, num_players=num_players, seed=1, target=30)
    while not game.is_over:
        parsed, state, history = parse_position(game.position)
        assert (parsed, history) == (game.rules, game.history)
        assert state == game.state
        game.step(generator.choice(game.legal_actions))
    assert parse_position(game.position)[1] == game.state


def test_a_short_position() -> None:
    rules, state, history = parse_position("draw | hands 6-1,5-0 / 3-2 | layout 5-3 5-5@1 5-2@1")
    assert rules == make_rules("draw")
    assert (state["turn"][0], state["starter"][0], state["boneyard"][0]) == (1, 0, 22)
    words = [format_action(rules, action, is_lead=n == 0) for n, action in enumerate(history)]
    assert words == ["5-3", "5-5@1", "5-2@1"]
    assert state["ends"][0].tolist() == [3, 2, -1, -1]
    whole = format_position(rules, state, history)
    for line in (
        "draw | hands [6-1] [0-5] / 2-3 | boneyard rest | layout 3-5 5-5@1 2-5@1 | starter 0",
        "draw|turn 1|layout 5-3 5-5@1 5-2@1|hands 5-0 6-1/3-2",
        "draw | hands 6-1,5-0 / 3-2 | layout 5-3 5-5@1 5-2@1 | scores 0 0 | status playing | drawn no",
        "draw | hands 6-1,5-0 / 3-2 | layout 5-3 5-5@1 5-2@1 | round_points 0 0 | round 1 | generator 0",
    ):
        assert format_position(*parse_position(line)) == whole
    rest = parse_position("draw | hands 6-1,5-0 / rest | boneyard 4-4,1-1 | layout 5-3 | turn 0")[1]
    assert rest["hand_counts"][0, :2].tolist() == [2, 23]
    assert rest["pile"][0, :3].tolist() == [parse_tile("1-1"), parse_tile("4-4"), -1]


def test_what_a_layout_tells() -> None:
    line = "draw | hands 0-0,6-1,4-3 / 3-3 | layout 5-2 5-5@1 draw draw | turn 0"
    _, state, history = parse_position(line)
    assert (state["starter"][0], state["has_drawn"][0], len(history)) == (0, 1, 4)
    assert format_position(*parse_position(line + " | drawn yes")) == format_position(*parse_position(line))
    with pytest.raises(ValueError, match="drawn: 'no' is not allowed with this layout; allowed: yes"):
        parse_position(line + " | drawn no")
    assert state["lacking"][0].tolist() == [1 << 2 | 1 << 5, 0, 0, 0]


def test_what_passes_show_is_told_by_the_layout() -> None:
    line = "classic_block | hands 1-1,4-2 / 3-2,3-3 | boneyard rest | layout 0-0 1-0@0 pass 5-0@1 5-3@1 | turn 0"
    rules, state, history = parse_position(line)
    assert state["lacking"][0].tolist() == [0, 0b11, 0, 0]
    assert "lacking" not in format_position(rules, state, history)
    nothing = parse_position(line + " | lacking - / -")[1]
    assert not nothing["lacking"].any()
    printed = format_position(rules, nothing, history)
    assert "lacking - / -" in printed and parse_position(printed)[1] == nothing


SEVENS = "hands 6-6,1-0 / 5-5,2-0"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("draw", "hands: they are missing"),
        ("draw | hands 6-6 / 5-5\nturn 0", "one line"),
        ("draw | hands 6-6 / 5-5 | colour red", "field 'colour' is unknown"),
        ("draw | hands 6-6 / 5-5 | turn 0 | turn 0", "'turn' is given twice"),
        ("draw | hands 6-6 / 5-5 | turn", "turn: its value is missing"),
        ("draw | hands 6-6 / 5-5 | forced 1", "forced: it takes no value"),
        ("draw | hands 6-6 / 5-5 / 4-4", "hands: 3 parts"),
        ("draw | hands 6-6,6-6 / 5-5", "hands: seat 0: 6-6 is there twice"),
        ("draw | hands 6-6 / 5-5,6-6", "hands: seat 1: 6-6 is there twice"),
        ("draw | hands 6-6 / 5-5 | boneyard 5-5,rest", "boneyard: 5-5 is there twice"),
        ("draw | hands 6-6 / 5-5 | layout 6-6 | turn 0", "hands: seat 0: 6-6 is there twice; it is also in 'layout'"),
        ("draw | hands 7-6 / 5-5", "hands: seat 0: tile '7-6' is not allowed; allowed: 0-0 to 6-6"),
        ("draw max_pip=4 | hands 1-1 / 5-4", "tile '5-4' is not allowed; allowed: 0-0 to 4-4"),
        ("draw | hands 6-6 / 5-5 | boneyard 4-4", "boneyard: 0-0,.* nowhere"),
        ("draw | hands rest / 5-5 | boneyard rest", "'rest' may stand once"),
        (
            "draw | hands 6-6 / 5-5 | boneyard rest,4-4",
            "'rest' may stand once in a position, in the boneyard at its end",
        ),
        ("draw | hands - / 5-5 | turn 1 | layout 4-4", "seat 0 holds no tile, so the round is over"),
        ("block | hands - / 5-5 | turn 0", "seat 0 is to lead and holds no tile"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 6-5@1", "layout: 6-5@1 does not fit: end 1 shows 4"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 4-3@1", "layout: 4-3@1 lays a tile that is laid already"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 4-2@2", "layout: .*end=2 is not allowed"),
        ("all_fives | hands 6-6 / 5-5 | layout 4-4 4-2@1", "layout: 4-2@1 does not fit: end 1 is not open"),
        ("all_fives | hands 6-6 / 5-5 | layout 4-3@1", "layout: 4-3@1 does not fit"),
        ("draw | hands 6-6 / 5-5 | layout pass 4-3", "layout: pass before the lead"),
        ("block | hands 6-6 / 5-5 | layout 4-3 draw", "layout: draw is not allowed"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 knock", "layout: .*'knock'"),
        (f"draw max_pip=1 hand_size=1 | hands 1-1 / 0-0 | layout 1-0 {'draw ' * 12}", "13 actions are more than .* 12"),
        (f"draw | {SEVENS} | turn 2", "turn: '2' is not allowed; allowed: an integer from 0 to 1"),
        (f"draw | {SEVENS} | turn x", "turn: 'x' is not allowed"),
        (f"draw | {SEVENS} | turn 0 | starter 1", "turn: seat 0 is not to move when seat 1 led"),
        (f"draw | {SEVENS} | turn 1 | forced", "forced: by opening='highest_double' seat 0 leads"),
        (f"block | {SEVENS} | forced", "forced: opening='lots' names no lead"),
        (f"draw | {SEVENS} | lots 6-6 / 5-5", "lots: they go with"),
        (f"block opening=lots_keep | {SEVENS} | forced", "lots: they go with"),
        (f"block opening=lots_keep | {SEVENS} | forced | lots 6-6 / 4-4", "lots: seat 1 does not hold 4-4"),
        (f"block | {SEVENS} | drawn yes", "drawn: 'yes' is not allowed"),
        (f"draw | {SEVENS} | drawn perhaps", "drawn: 'perhaps' is not allowed"),
        (f"draw | {SEVENS} | lacking 6 / -", "lacking: seat 0 holds a tile with 6"),
        (f"draw | {SEVENS} | lacking 7 / -", "lacking: '7' is not allowed; allowed: an integer from 0 to 6"),
        (f"draw | {SEVENS} | scores 1", "scores: '1' is not allowed; allowed: 2 numbers"),
        (f"draw | {SEVENS} | scores 1 -1", "scores: '-1' is not allowed"),
        (f"draw | {SEVENS} | scores 100 0", "scores: the match was over before round 1"),
        (f"block | {SEVENS} | scores 100 100", "scores: the match was over"),
        (f"all_fives | {SEVENS} | scores 150 0 | round_points 20 0", "scores: 150 points are reached"),
        (f"draw | {SEVENS} | round_points 5 0", "round_points: they are part of the scores"),
        (f"draw max_rounds=3 | {SEVENS} | round 4", "round: the match was over before round 4"),
        (f"draw | {SEVENS} | round 0", "round: '0' is not allowed"),
        (f"draw | {SEVENS} | generator 0x10000000000000000", "generator: .*not allowed"),
        (f"draw | {SEVENS} | status won", "status: 'won' is not allowed; allowed: playing"),
        (f"draw | {SEVENS} | won 0", "status: .*this one is being played"),
        (f"draw | {SEVENS} | status match_over | next 0", "next: no round follows"),
        (f"draw | {SEVENS} | status round_over | match_won 0", "match_won: the match is not won"),
        (f"draw | {SEVENS} | status round_over | won 2", "won: '2' is not allowed"),
        ("partners | hands 6-6 / 5-5 / 4-4 / 3-3 | scores 1 2 3 2", "scores: .*the same for both seats of a team"),
        ("block | hands 6-6,1-1 / 5-5 | layout 0-0 | turn 0", "hands: nobody can move, so the round is over"),
    ],
)
def test_positions_that_cannot_be(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_position(line)


SHUT = "3-0 4-0@0 4-3@0 3-3@0 5-3@0 5-2@0 3-2@0 6-3@0 6-4@0 4-1@0 3-1@0"
THREE = "hands 6-6,1-0 / 5-5,2-0 / 3-3,3-1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        # passes and draws, as all see them
        ("block | hands 6-6 / 5-5 | layout 4-3 pass pass", "layout: 2 passes in a row"),
        (f"block num_players=3 | {THREE} | layout 4-2 pass pass pass 4-4@1", "layout: 3 passes in a row"),
        ("draw | hands 6-6,1-0 / rest | boneyard - | layout 4-3 draw pass pass", "layout: 2 passes in a row"),
        ("draw draw_rule=one | hands 6-6 / 5-5 | layout 4-3 draw draw", "layout: a second draw in a turn"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 draw pass 4-4@1 draw", "layout: draw is not allowed after a pass"),
        ("draw draw_rule=one | hands 6-6 / 5-5 | layout 4-3 pass draw", "layout: draw is not allowed after a pass"),
        (f"block | hands 6-6 / 5-5 | layout {SHUT} pass", "layout: pass after the end of the round: no tile that fits"),
        # against the boneyard
        (f"draw | {SEVENS} | layout 4-3 pass", "layout: pass of seat 1 with 23 tiles in the boneyard; allowed: draw"),
        (f"draw | {SEVENS} | layout 4-3 draw pass", "layout: pass of seat 1 with 23 tiles in the boneyard"),
        (f"draw draw_rule=one | {SEVENS} | layout 4-3 pass", "layout: pass of seat 1 with 23 tiles"),
        (
            "bergen | hands 6-6,1-0 / rest | boneyard 2-2 | layout 4-3 draw",
            "draw of seat 1 takes .* reserve",
        ),
        # against the hands
        ("draw | hands 6-6 / 5-5 | layout 4-3 draw", "layout: draw of seat 1, who had no tile left then"),
        ("draw | hands 6-6 / 5-5,2-2 | layout 4-3 draw draw draw", "layout: draw of seat 1, who had no tile left"),
        (
            "draw | hands 6-6 / 5-5,4-1,4-2 | layout 4-3 draw",
            "layout: draw of seat 1, who holds or laid .* that fitted",
        ),
        (
            "block | hands 6-6 / 5-5,4-1 | layout 4-3 pass",
            "layout: pass of seat 1, who holds or laid a tile",
        ),
        ("block | hands 6-6 / 5-5,0-0 | layout 4-3 pass 3-2@0 4-4@1", "layout: pass of seat 1, who holds or laid"),
        # has drawn
        (f"draw | {SEVENS} | drawn yes", "drawn: 'yes' is not allowed with this layout; allowed: no"),
        ("draw | hands 6-6 / 5-5 | layout 4-3 | drawn yes", "drawn: 'yes' is not allowed"),
        # the lead that the opening names
        (f"draw | {SEVENS} | layout 2-1 | forced | turn 1", "forced: by opening='highest_double' no hand leads 2-1"),
        (f"draw | {SEVENS} | layout 4-4 | forced", "forced: .* a tile dealt to seat 0 leads before 4-4"),
        ("draw | hands 6-6,5-4 / 5-5,2-0 | layout 4-4 draw | forced", "a tile dealt to seat 0 leads before 4-4"),
        (f"partners num_players=4 | {THREE} / 4-4 | layout 4-3 | forced", "no hand leads 4-3"),
        ("block opening=lots_keep | hands 6-6,1-0 / 5-5 | layout 4-3 | forced | lots 6-6 / 5-5", "led 4-3; allowed"),
        (
            "block opening=lots_keep | hands 5-5,1-0 / 4-4 | layout 6-6 | forced | lots 6-6 / 6-6",
            "seat 1 does not hold",
        ),
    ],
)
def test_rounds_that_cannot_have_gone_so(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_position(line)


@pytest.mark.parametrize(
    "line",
    [
        "block | hands 6-6,4-1 / 5-5,2-0 | layout 4-3 pass",
        "draw | hands 6-6,4-1 / rest | boneyard - | layout 4-3 5-4@1 | turn 0",
        "draw draw_rule=one | hands 6-6,4-1 / 5-5,2-0 | layout 4-3 draw pass draw",
        "draw draw_rule=one | hands 6-6,1-0,1-1 / 5-5,2-0 | layout 4-3 draw pass draw pass",
        "bergen | hands rest / 5-5,2-1 | boneyard 2-2,1-1 | layout 6-6 draw | forced | turn 1",
        "draw | hands 1-1,4-1 / 5-5,2-0 | layout 4-4 draw | forced",
    ],
)
def test_rounds_that_can_have_gone_so(line: str) -> None:
    rules, state, history = parse_position(line)
    assert parse_position(format_position(rules, state, history))[1] == state


WON = "out | won 0 | scores 13 0 | round_points 13 0"
OUT = "draw | hands - / 6-6,1-0 | layout 5-3 5-5@1 | turn 1 | starter 1"
BLOCK = "block | hands 6-6,1-1 / 5-5 | layout 0-0 | turn 1"
TEAMS = (
    "partners | hands - / 6-6 / 5-5 / 1-0,2-2 | layout 4-3 | turn 1 | status match_over | out"
    " | scores 107 0 107 0 | round_points 17 0 17 0"
)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            f"draw | {SEVENS} | status round_over | scores 500 0",
            "status: .* not over, so it is not round_over",
        ),
        (f"draw | {SEVENS} | status match_over", "status: the round is not over, so it is not match_over"),
        (f"draw | {SEVENS} | layout 4-3 4-4@1 | status round_over", "status: the round is not over"),
        ("block | hands 1-1,6-6 / 5-5,0-0 | layout 4-3 pass | status round_over", "status: the round is not over"),
        (f"{OUT} | status round_over", "out: seat 0 has laid its last tile"),
        (f"{OUT} | status round_over | out | won 0", "round_points: plays cannot have booked -13 0"),
        (f"{OUT} | status round_over | out | won 1 | scores 13 0 | round_points 13 0", "won: 1 is not allowed .*: 0"),
        (f"{OUT} | status round_over | out | won 0 | next 1 | scores 13 0 | round_points 13 0", "next: 1 .* nobody"),
        (
            f"{OUT} | status match_over | out | won 0 | match_won 0 | scores 13 0 | round_points 13 0",
            "status: match_over",
        ),
        (
            f"{OUT} | status truncated | {WON}",
            "status: truncated is not allowed",
        ),
        (f"{OUT} | status round_over | out | won 0 | scores 113 0 | round_points 13 0", "scores: the match was over"),
        (
            f"{OUT} | status round_over | out | won 0 | scores 103 0 | round_points 13 0",
            "allowed: match_over",
        ),
        (f"{OUT} | status match_over | out | won 0 | match_won 1 | scores 103 0 | round_points 13 0", "match_won: 1"),
        (f"draw | {SEVENS} | layout 4-3 | status match_over | out | won 0", "out: the last action laid no last tile"),
        ("draw | hands 6-6 / - | layout 5-3 | turn 1 | status round_over", "hands: seat 1 held no tile before"),
        (f"{BLOCK} | status round_over | won 0", "round_points: plays cannot have booked -14 -10"),
        (f"{TEAMS} | won 0,2 | match_won 0", "match_won: 0 is not allowed"),
        (f"{TEAMS} | won 0 | match_won 0,2", "won: 0 is not allowed"),
    ],
)
def test_ends_that_the_rules_do_not_give(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_position(line)


def test_ends_that_the_rules_give() -> None:
    for line in (
        f"{OUT} | status round_over | out | won 0 | scores 13 0 | round_points 13 0",
        f"{OUT} | status match_over | out | won 0 | match_won 0 | scores 103 0 | round_points 13 0",
        f"{OUT.replace('draw', 'draw max_rounds=1')} | status truncated | {WON}",
    ):
        state = parse_position(line)[1]
        assert parse_position(format_position(*parse_position(line)))[1] == state


def test_scores_below_zero() -> None:
    """Partners whose hands are rounded one by one may pay for a block that they win: such scores are a line too."""
    rules = make_rules("partners", **PAYING)
    threes = "3-0 4-0@0 4-3@0 3-3@0 5-3@0 5-2@0 3-2@0 6-3@0 6-4@0 4-1@0"
    line = f"{rules_text(rules)} | hands 3-1,2-1 / 6-1 / 6-2 / 5-0 | layout {threes} | turn 0"
    for episode in ("round", "match"):
        game = Game.from_position(line, episode=episode)  # type: ignore[arg-type]
        assert game.step("3-1@0") == (-5, 0, -5, 0)  # 11 pips round to 5 + 10, the others' 12 to 5 + 5
        generator = random.Random(4)
        while True:
            assert parse_position(game.position)[1] == game.state
            assert (
                parse_record(format_record(game.record)) == game.record == record_from_json(record_to_json(game.record))
            )
            assert Game.from_record(game.record).position == game.position
            if game.is_over or game.round > 3:
                break
            game.step(generator.choice(game.legal_actions))
    field = "hands 6-6,5-5 / 4-4 / 3-3 / 2-2 | turn 0 | scores -5 10 -5 10"
    assert parse_position(field, rules)[1]["scores"][0].tolist() == [-5, 10, -5, 10]
    with pytest.raises(ValueError, match="scores: '-5' is not allowed"):
        parse_position(field, make_rules("partners"))


def test_digits_are_ascii() -> None:
    for word in ("٦-٤", "[٦-٤]", "6-٤"):
        with pytest.raises(ValueError, match="tile"):
            parse_tile(word)
    with pytest.raises(ValueError, match="end"):
        parse_action(make_rules("draw"), "6-4@١")
    for field in ("round ٣", "round 1_0", "scores ٣ 0", "round 007", f"round {'9' * 5000}"):
        with pytest.raises(ValueError, match="not allowed"):
            parse_position(f"draw | {SEVENS} | {field}")


def test_only_text_is_a_position() -> None:
    for wrong in (5, None, b"draw"):
        with pytest.raises(ValueError, match=r"position=.* is not allowed; allowed: a line of text"):
            parse_position(wrong)  # type: ignore[arg-type]


def test_a_history_of_another_state_is_not_printed() -> None:
    rules, state, history = parse_position("draw | hands 6-1,5-0 / 3-2 | layout 5-3 5-5@1 5-2@1")
    with pytest.raises(ValueError, match="history"):
        format_position(rules, state, history[:-1])
    state["has_drawn"] = 1
    with pytest.raises(ValueError, match="history: it does not end as has_drawn=1"):
        format_position(rules, state, history)
    state["turn"] = 0
    with pytest.raises(ValueError, match="history"):
        format_position(rules, state, history)


def test_what_one_player_knows_is_no_position() -> None:
    game = played(make_rules("draw"), 1, 3)
    with pytest.raises(ValueError, match="state: it does not hold every tile once"):
        format_position(game.rules, game.concealed(0), game.history)


def test_layout_lines() -> None:
    rules = make_rules("all_fives")
    actions = [parse_action(rules, word) for word in ["4-2", "4-4@1", "6-4@1", "4-1@2", "2-0@0", "1-1@2", "4-3@3"]]
    assert layout_line(rules, actions) == "[0-2][2-4][4-4][4-6] + [4-1][1-1] + [4-3]"
    assert layout_line(rules, actions[:1]) == "[2-4]"
    assert layout_line(rules, ()) == "(empty)"
