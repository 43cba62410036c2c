"""The worked cases: every exact input with its right answer. Those that are data stand in data/cases.toml."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from invariants import DATA, PRESETS, check_invariants, halves, numbers, start_of

from dominoes_env.engine.actions import decode_action, encode_play
from dominoes_env.engine.deal import lots_winners
from dominoes_env.engine.scoring import round_off
from dominoes_env.engine.tiles import HIGH, LOW, num_tiles_in_set
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.game import Game
from dominoes_env.notation import parse_position
from dominoes_env.table import Table
from dominoes_env.words import format_tile, parse_action, parse_tile

FREE_LEAD = "hands 6-6,6-4,5-4,6-3,4-3,2-0,1-0 / 6-5,6-2,5-2,6-1,5-1,4-1,6-0"


# Cases that are data


@pytest.mark.parametrize("case", DATA["case"], ids=[case["id"] for case in DATA["case"]])
def test_case(case: dict[str, Any]) -> None:
    game = Game.from_position(case["start"].format_map(DATA["layouts"]), episode="round")
    check_invariants(game)
    mover = game.turn
    counts, booked = [], []
    for word in case.get("plays", "").split():
        mover = game.turn
        booked.append(game.step(word)[mover])
        counts.append(game.exposed_count)
        check_invariants(game)
    found = describe(game, mover)
    found.update(counts=counts, booked=booked)
    for name, answer in case.items():
        if name == "legal":
            assert sorted(game.legal_words) == sorted(answer.split()), name
        elif name not in ("id", "start", "plays", "illegal"):
            assert found[name] == answer, name
    for word in case.get("illegal", "").split():
        before = game.position
        with pytest.raises(ValueError, match="legal"):
            game.step(word)
        assert game.position == before


def describe(game: Game, mover: int) -> dict[str, Any]:
    """What the data may ask for."""
    state = game.state[0]

    def seats(name: str) -> list[int]:
        return [seat for seat in range(4) if int(state[name]) >> seat & 1]

    return {
        "ends": " ".join(f"{end}:{number}" for end, number in game.ends.items()),
        "hands": [" ".join(hand) for hand in game.hands],
        "hand": " ".join(game.hands[mover]),
        "num_tiles": [len(hand) for hand in game.hands],
        "boneyard": " ".join(game.boneyard),
        "num_boneyard": len(game.boneyard),
        "turn": game.turn,
        "count": game.exposed_count,
        "status": game.status,
        "scores": list(game.scores),
        "winners": seats("round_winners"),
        "match_winners": seats("match_winners"),
        "next": seats("next_leads"),
        "lacking": [" ".join(map(str, shown)) for shown in game.lacking],
        "num_plays": len(game.moves),
    }


@pytest.mark.parametrize("lots", DATA["lots"], ids=[lots["id"] for lots in DATA["lots"]])
def test_lots(lots: dict[str, Any]) -> None:
    tiles = np.array([parse_tile(word) for word in lots["tiles"].split()] + [-1, -1], np.int8)
    num_players = len(lots["tiles"].split())
    for key in ("double_first", "pips"):
        rules = make_rules("block", num_players=num_players, opening="lots_keep", lots_key=key)
        winners = int(lots_winners(tiles, (1 << num_players) - 1, rules.row[0]))
        assert [seat for seat in range(4) if winners >> seat & 1] == lots[key], key


def test_R13_rounding() -> None:
    row = make_rules("all_fives").row[0]
    assert [int(round_off(pips, row)) for pips in DATA["rounding"]["leftovers"]] == DATA["rounding"]["rounded"]


# S: sets and starter


@pytest.mark.parametrize(("max_pip", "num_tiles", "total"), [(6, 28, 168), (9, 55, 495)])
def test_S1_D01_sets(max_pip: int, num_tiles: int, total: int) -> None:
    rules = make_rules("classic_block", max_pip=max_pip)
    assert num_tiles_in_set(max_pip) == rules.num_tiles == num_tiles
    tiles = [(int(LOW[tile]), int(HIGH[tile])) for tile in range(num_tiles)]
    assert len({frozenset(tile) for tile in tiles}) == num_tiles  # unordered
    assert tiles.count((0, 0)) == 1
    assert sum(map(sum, tiles)) == total == rules.total_pips
    for number in range(max_pip + 1):
        assert sum(number in tile for tile in tiles) == max_pip + 1
        assert sum(tile.count(number) for tile in tiles) == max_pip + 2
    assert parse_tile("1-2") == parse_tile("2-1")
    game = Game(rules=rules, seed=1)
    assert sorted([*game.boneyard, *game.hands[0], *game.hands[1]]) == sorted(map(format_tile, range(num_tiles)))


@pytest.mark.parametrize(("num_players", "hand", "unused"), [(2, 7, 14), (3, 5, 13), (4, 5, 8)])
def test_S7_deal_of_text_A(num_players: int, hand: int, unused: int) -> None:
    starters = set()
    for seed in range(40):
        game = Game("block", num_players=num_players, seed=seed)
        assert [len(tiles) for tiles in game.hands] == [hand] * num_players
        assert len(game.boneyard) == unused
        assert (game.state["lots"] == -1).all()  # the lot tiles are back in the mix
        starters.add(game.starter)
        check_invariants(game)
    assert starters == set(range(num_players))


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("key", ["double_first", "pips"])
def test_S8_kept_lots_in_real_deals(num_players: int, key: str) -> None:
    for seed in range(40):
        game = Game("block", num_players=num_players, seed=seed, episode="round", opening="lots_keep", lots_key=key)
        lots = [format_tile(lot) for lot in game.state["lots"][0, :num_players]]
        assert all(lot in hand for lot, hand in zip(lots, game.hands, strict=True))
        assert game.legal_words == [lots[game.turn]]
        check_invariants(game)
        leader, size = game.turn, game.rules.hand_size
        game.step(lots[leader])
        assert [len(hand) for hand in game.hands] == [size - (seat == leader) for seat in range(num_players)]
        assert game.turn == (leader + 1) % num_players


def test_S12_no_double_is_a_redeal() -> None:
    line = "draw | hands 6-4,5-4,6-3,4-3,2-0,1-0,3-1 / 6-5,6-2,5-2,6-1,5-1,4-1,6-0 | forced"
    with pytest.raises(ValueError, match="redeal"):
        parse_position(line)


def test_S13_players() -> None:
    game = Game("draw", num_players=4, seed=1)
    assert [len(hand) for hand in game.hands] == [7] * 4
    assert game.boneyard == ()
    for variant in VARIANTS:
        with pytest.raises(ValueError, match=r"num_players=5 .* allowed: "):
            make_rules(variant, num_players=5)


def test_S14_the_winner_leads_freely() -> None:
    """B goes out in round 1; among the deals that follow some give A the 6-6 and B no double."""
    seen = 0
    for seed in range(600):
        game = Game.from_position("all_fives | hands 6-5,4-0 / 5-3 | layout 5-2 | turn 1", seed=seed)
        game.step("5-3@1")
        assert (game.round, game.turn, game.starter) == (2, 1, 1)
        assert game.legal_words == list(game.hands[1])
        assert len(game.hands[1]) == 7
        seen += "6-6" in game.hands[0] and not any(numbers(tile)[0] == numbers(tile)[1] for tile in game.hands[1])
    assert seen > 0


# L: legal moves


@pytest.mark.parametrize("variant", [name for name, variant in VARIANTS.items() if 2 in variant.hand_sizes])
def test_L1_free_lead(variant: str) -> None:
    game = Game.from_position(f"{variant} | {FREE_LEAD} | turn 0 | round 2")
    assert len(game.legal_actions) == 7
    assert set(game.legal_words) == set(game.hands[0])


@pytest.mark.parametrize("variant", ["partners", "cuban"])
def test_L1_free_lead_with_teams(variant: str) -> None:
    hands = "5-0,4-0,3-0 / 2-2,2-1 / 1-1,0-0"
    game = Game.from_position(f"{variant} | {FREE_LEAD.rsplit('/', 1)[0]} / {hands} | turn 0 | round 2")
    assert set(game.legal_words) == set(game.hands[0])


# R: ends of rounds and matches


def test_R15_both_moments() -> None:
    start = " | hands 4-4,1-0 / 6-1 | layout 4-2 | turn 0 | scores 140 0 | round 7"
    at_once = Game.from_position("all_fives" + start)
    assert at_once.step("4-4@1") == (10, 0)
    assert (at_once.is_over, at_once.winners) == (True, (0,))
    later = Game.from_position("all_fives target_check=after_round" + start)
    assert later.step("4-4@1") == (10, 0)
    assert (later.is_over, later.round, later.turn) == (False, 7, 1)


def test_R18b_margin_reward() -> None:
    start = start_of("R2")
    rules, state, history = parse_position(start)
    for reward, expected in (("margin", [4, 4, -8]), ("points", [-7, -7, -15]), ("win", [0.5, 0.5, -1])):
        table = Table(rules, reward=reward)
        table.set_state(0, state, history)
        table.step([parse_action(rules, "3-1@0")])
        assert table.rewards[0].tolist() == expected
        assert table.points[0].tolist() == [-7, -7, -15]


# V: what a player has shown not to hold


def test_V3_a_new_round_knows_nothing() -> None:
    start = start_of("R5") + " | lacking 2,4 / 3"
    game = Game.from_position(start, seed=3)
    game.step("3-1@0")
    assert game.round == 10
    assert game.lacking == ((), ())


# A: action numbers


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_A1_action_numbers(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    ids = []
    for end in range(rules.num_ends):
        for high in range(rules.max_pip + 1):
            for low in range(high + 1):
                tile = high * (high + 1) // 2 + low
                assert parse_tile(f"{low}-{high}") == tile
                assert encode_play(rules, tile, end) == end * rules.num_tiles + tile
                assert decode_action(rules, end * rules.num_tiles + tile) == (tile, end)
                ids.append(end * rules.num_tiles + tile)
    assert [*ids, rules.draw_action, rules.pass_action] == list(range(rules.num_actions))
    assert (decode_action(rules, ids[-1] + 1), decode_action(rules, ids[-1] + 2)) == ("draw", "pass")


def test_A2_lead_uses_end_0() -> None:
    game = Game.from_position("draw | hands 4-2,1-1 / rest | turn 0 | round 2")
    assert game.legal_actions == [parse_tile("1-1"), parse_tile("4-2")]
    game.step(parse_tile("4-2"))
    assert game.ends == {0: 2, 1: 4}


def test_A4_arms_on_a_lead_begin_in_order() -> None:
    game = Game.from_position("all_fives | hands 6-6,6-2,6-4,0-0 / 6-1,6-3,1-1 | turn 0")
    game.step("6-6")
    for end in range(4):
        assert [word.split("@")[1] for word in game.legal_words if "6" in word] == [str(end)] * (2 - end // 2)
        game.step(next(word for word in game.legal_words if word.startswith("6-")))


# T: one deal played through


def through(rules: str) -> tuple[Game, list[int], list[int]]:
    game = Game.from_position(f"{rules} | hands {DATA['deal']['hands']} | turn 0 | generator 1", episode="round")
    counts, booked = [], []
    for word in DATA["deal"]["plays"].split():
        assert word in game.legal_words  # T1: nobody has to draw or pass
        booked.append(game.step(word)[(len(booked)) % 2])
        counts.append(game.exposed_count)
        check_invariants(game)
    return game, counts, booked


@pytest.mark.parametrize("rules", ["block", "block_121", "draw", "all_fives"])
def test_T1_every_step(rules: str) -> None:
    game, _, _ = through(rules)
    assert game.layout == DATA["deal"]["line"]
    assert len(game.moves) == 10
    pips = [sum(sum(numbers(tile)) for tile in tiles) for tiles in (*game.hands, game.boneyard)]
    laid = sum(a + b for a, b in halves(game)[0])
    if game.rules.draw_rule == "none":
        assert (pips, laid) == ([12, 10, 68], 78)


def test_T2_text_A() -> None:
    game, _, _ = through("block")
    assert (game.status, game.scores, game.winners) == ("round_over", (12, 10), (1,))
    match = Game.from_position(f"block | hands {DATA['deal']['hands']} | turn 0 | generator 1")
    for word in DATA["deal"]["plays"].split():
        match.step(word)
    assert (match.round, match.starter, match.scores) == (2, 1, (12, 10))


@pytest.mark.parametrize(("award", "points"), [("all", 22), ("opponents", 12), ("opponents_minus_own", 2)])
def test_T3_121(award: str, points: int) -> None:
    game, _, _ = through(f"block_121 award={award}")
    assert (game.status, game.scores) == ("round_over", (0, points))


def test_T4_text_C_counts() -> None:
    game, counts, booked = through("all_fives")
    assert counts == DATA["deal"]["counts"]
    assert booked == [count if count % 5 == 0 else 0 for count in counts]
    assert game.scores == (10, 10)
    assert game.ends == {0: 6, 1: 6, 2: 6}  # the spinner's free sides are dead too


@pytest.mark.parametrize(
    ("rules", "scores"),
    [
        ("draw", (0, 70)),
        ("draw award=opponents", (0, 80)),
        ("all_fives", (10, 90)),
        ("all_fives award=opponents_minus_own", (10, 80)),
    ],
)
def test_T5_literal_draw(rules: str, scores: tuple[int, ...]) -> None:
    game, _, _ = through(rules)
    for left in range(14, 0, -1):
        assert (game.turn, len(game.boneyard), game.legal_words) == (0, left, ["draw"])
        game.step("draw")
        check_invariants(game)
    assert game.status == "round_over"
    assert sum(sum(numbers(tile)) for tile in game.hands[0]) == 80
    assert (game.scores, game.moves[-1]) == (scores, "draw")


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_T7_invariants_in_random_games(variant: str, num_players: int) -> None:
    generator = random.Random(5)
    for seed in range(4):
        game = Game(variant, num_players=num_players, seed=seed, episode="round")
        check_invariants(game)
        while not game.is_over:
            game.step(generator.choice(game.legal_words))
            check_invariants(game)
