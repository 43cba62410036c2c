"""The worked cases, second part: faults that other implementations had, as probes. Their data is in data/cases.toml."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from invariants import DATA, PRESETS, check_invariants, expected_legal, numbers

from dominoes_env.engine.actions import encode_play
from dominoes_env.engine.deal import row_generator
from dominoes_env.engine.tiles import HIGH, LOW
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.game import Game
from dominoes_env.observation import read_piece
from dominoes_env.table import Table
from dominoes_env.words import format_action, format_tile, parse_action

# D: faults seen elsewhere


@pytest.mark.parametrize("variant", ["classic_block", "draw", "all_fives", "muggins", "bergen"])
def test_D03_winning_tile(variant: str) -> None:
    game = Game.from_position(f"{variant} | hands 5-3 / 6-5,0-0 | layout 5-2 | turn 0", episode="round")
    game.step("5-3@1")
    assert (game.is_over, game.hands[0], game.winners) == (True, (), (0,))
    for player in range(2):
        observation = game.observation(player)
        hand = read_piece(game.rules, observation, "hand")
        assert hand.sum() == len(game.hands[player])
        assert game.mask(player).nonzero()[0].tolist() == [game.rules.pass_action]
        assert "0 tiles" in game.view(player)
    assert "round is over" in str(game)


def test_D05_both_rounds_start_alike() -> None:
    game = Game("block", seed=11)
    generator = random.Random(1)
    while game.round < 4 and not game.is_over:
        if not game.moves:
            assert len(game.hands[game.turn]) == 7
            assert game.legal_words == list(game.hands[game.turn])
        game.step(generator.choice(game.legal_words))
    assert game.round == 4


def test_D09_an_id_means_one_move() -> None:
    first = Game.from_position("draw | hands 6-2,1-0 / rest | boneyard 4-4 | layout 5-2 | turn 0")
    second = Game.from_position("draw | hands 6-2,5-5,3-3,4-0 / rest | boneyard 4-4 | layout 2-1 5-1@0 5-2@0 | turn 0")
    action = parse_action(first.rules, "6-2@0")
    assert action in first.legal_actions
    assert action in second.legal_actions
    for game in (first, second):
        assert format_action(game.rules, action) == "6-2@0"
        before = set(game.hands[0])
        game.step(action)
        assert before - set(game.hands[0]) == {"6-2"}
        assert game.ends[0] == 6


@pytest.mark.parametrize("episode", ["round", "match"])
def test_D11_rewards_come_when_they_are_booked(episode: str) -> None:
    for seed in range(20):
        table = Table(make_rules("draw"), seed=seed, episode=episode, reward="points")
        total = np.zeros(2)
        scores = np.zeros(2)
        generator = np.random.default_rng(seed)
        while not table.terminated[0]:
            table.step([generator.choice(np.flatnonzero(table.masks[0]))])
            after = table.states["scores"][0, :2].copy()
            assert table.rewards[0].tolist() == (after - scores).tolist()
            total += table.rewards[0]
            scores = after
        assert total.tolist() == scores.tolist()


def test_D14_the_far_end_is_seen() -> None:
    near = Game.from_position("classic_block | hands 6-2,1-0 / rest | layout 5-2 5-3@1 | turn 0")
    far = Game.from_position("classic_block | hands 6-2,1-0 / rest | layout 5-2 5-4@1 | turn 0")
    assert near.legal_words == far.legal_words == ["6-2@0"]
    assert not np.array_equal(near.observation(), far.observation())


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_D14_mask_from_observation(variant: str, num_players: int) -> None:
    generator = random.Random(2)
    rules = make_rules(variant, num_players=num_players)
    game = Game(rules=rules, seed=4)
    for _ in range(150):
        if game.is_over:
            break
        seen = game.observation()
        hand = read_piece(rules, seen, "hand")
        ends = read_piece(rules, seen, "ends")
        plays = [
            encode_play(rules, tile, end)
            for end in range(rules.num_ends)
            for tile in np.flatnonzero(hand)
            if ends[end, LOW[tile]] or ends[end, HIGH[tile]]
        ]
        if not read_piece(rules, seen, "laid").any():
            plays = np.flatnonzero(hand).tolist()
            if read_piece(rules, seen, "is_lead_forced")[0]:
                doubles = [tile for tile in plays if LOW[tile] == HIGH[tile]]
                plays = [max(doubles)] if doubles else plays
        elif not plays:
            can_draw = rules.draw_rule != "none" and read_piece(rules, seen, "boneyard")[0] > rules.boneyard_reserve
            plays = [rules.draw_action if can_draw else rules.pass_action]
        assert game.legal_actions == plays
        game.step(generator.choice(plays))


def test_D17_forced_opening() -> None:
    for seed in range(50):
        game = Game("draw", seed=seed)
        doubles = [tile for hand in game.hands for tile in hand if numbers(tile)[0] == numbers(tile)[1]]
        top = max(doubles, key=numbers)
        assert game.legal_words == [top]
        assert top in game.hands[game.turn]
        before = game.position
        for action in range(game.rules.num_actions):
            if action != game.legal_actions[0]:
                with pytest.raises(ValueError, match="illegal"):
                    game.step(action)
        assert game.position == before


@pytest.mark.parametrize("variant", ["block", "draw", "all_fives"])
def test_D21_saved_in_mid_match(variant: str) -> None:
    generator = random.Random(3)
    game = Game(variant, seed=5)
    while game.round < 3 or len(game.moves) < 3:
        game.step(generator.choice(game.legal_words))
    twins = [copy.deepcopy(game), pickle.loads(pickle.dumps(game)), game.clone(), Game.from_record(game.record)]
    for _ in range(120):
        for twin in twins:
            assert twin.position == game.position
            assert (twin.scores, twin.turn, twin.starter) == (game.scores, game.turn, game.starter)
            for player in range(2):
                assert np.array_equal(twin.observation(player), game.observation(player))
                assert np.array_equal(twin.mask(player), game.mask(player))
        if game.is_over:
            break
        action = generator.choice(game.legal_actions)
        points = game.step(action)
        assert all(twin.step(action) == points for twin in twins)
    assert all(twin.record == game.record for twin in twins)


def test_D25_hand_sizes_by_players_and_preset() -> None:
    for variant, sizes in DATA["hand_sizes"].items():
        assert {str(n) for n in VARIANTS[variant].hand_sizes} == set(sizes)
        for num_players, size in sizes.items():
            game = Game(variant, num_players=int(num_players), seed=0)
            assert [len(hand) for hand in game.hands] == [size] * int(num_players)


@pytest.mark.parametrize(
    "rules", ["draw", "draw hand_size=2", "all_fives hand_size=1", "bergen num_players=3 hand_size=1"]
)
def test_D27_redeals_keep_the_set_whole(rules: str) -> None:
    """The generator tells how many random numbers a deal took; a redeal takes about twice as many."""
    gamma = 0x9E3779B97F4A7C15
    variant, *knobs = rules.split()
    chosen = make_rules(variant, **{knob.split("=")[0]: int(knob.split("=")[1]) for knob in knobs})
    taken = []
    for seed in range(1500 if rules == "draw" else 60):
        game = Game(rules=chosen, seed=seed)
        start = int(row_generator(np.uint64(seed), np.uint64(0)))
        taken.append((int(game.state["generator"][0]) - start) * pow(gamma, -1, 2**64) % 2**64)
        if taken[-1] > min(taken):
            check_invariants(game)
            assert numbers(game.legal_words[0])[0] == numbers(game.legal_words[0])[1]
            assert Game(rules=chosen, seed=seed).position == game.position
    assert max(taken) >= 2 * min(taken)


def test_D29_index_0_is_a_tile() -> None:
    game = Game.from_position("draw | hands 0-0,1-1 / rest | boneyard 4-3 | layout 5-0 | turn 0")
    assert game.legal_actions == [0]
    game.step(0)
    assert game.ends == {0: 0, 1: 5}
    assert "0-0" not in game.hands[0]
    lead = Game.from_position("all_fives | hands 0-0,1-1 / 1-0 | turn 0")
    lead.step(0)
    assert (lead.ends, lead.legal_words) == ({0: 0}, ["1-0@0"])


def test_D31_long_arm() -> None:
    """Twenty-four tiles on one arm, looked at after every play and not: the same legal actions."""
    trail = DATA["trail"]["plays"].split()
    tiles = [word.split("@")[0] for word in trail]
    line = f"classic_block | hands {','.join(tiles[::2])},5-0 / {','.join(tiles[1::2])},5-2 | turn 0"
    plain, drawn = (Game.from_position(line, episode="round") for _ in range(2))
    for word in trail:
        assert plain.legal_words == drawn.legal_words == expected_legal(drawn)
        plain.step(word)
        drawn.step(word)
        for look in (str, repr, lambda game: game.view(0), lambda game: game.view(1)):
            assert look(drawn)
    assert len(drawn.moves) == 25
    assert drawn.position == plain.position


# Z, as far as a single game or a table is concerned


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_Z01_first_masks(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    table = Table(rules, 500, seed=9)
    for row in range(500):
        state = table.states[row]
        hand = [tile for tile in range(rules.num_tiles) if int(state["hands"][state["turn"]]) >> tile & 1]
        if state["is_lead_forced"]:
            hand = [max(tile for tile in hand if LOW[tile] == HIGH[tile])]
        assert np.flatnonzero(table.masks[row]).tolist() == hand


def test_Z03_looking_changes_nothing() -> None:
    for variant in ("block", "draw", "all_fives"):
        game = Game(variant, num_players=3, seed=2)
        generator = random.Random(4)
        for _ in range(40):
            if game.is_over:
                break
            before = game.position
            for player in range(3):
                seen = read_piece(game.rules, game.observation(player), "hand")
                assert tuple(format_tile(tile) for tile in np.flatnonzero(seen)) == game.hands[player]
                assert game.mask(player).any()
                assert game.view(player)
            assert str(game)
            assert game.position == before
            game.step(generator.choice(game.legal_actions))


def test_Z05_seeds() -> None:
    def play(seed: int) -> str:
        game = Game("block", seed=seed, opening="lots_keep")
        while not game.is_over:
            random.random()
            game.step(game.legal_actions[-1])
        return "\n".join([game.position, *(past.deal for past in game.record.rounds)])

    random.seed(1)
    np.random.seed(1)
    first = play(7)
    random.seed(2)
    np.random.seed(2)
    assert play(7) == first
    assert play(8) != first
    script = (
        "import random; random.seed(5)\nfrom dominoes_env.game import Game\n"
        "game = Game('block', seed=7, opening='lots_keep')\n"
        "while not game.is_over: game.step(game.legal_actions[-1])\n"
        "print('\\n'.join([game.position, *(past.deal for past in game.record.rounds)]))"
    )
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert other.strip() == first
    assert Game("draw").position != Game("draw").position
    one, two = Game("draw", seed=1), Game("draw", seed=1)
    one.step(one.legal_actions[0])
    assert two.position == Game("draw", seed=1).position


def test_Z07_a_bound_truncates() -> None:
    table = Table(make_rules("draw", max_rounds=2), seed=3, episode="match")
    while not (table.truncated[0] or table.terminated[0]):
        table.step([np.flatnonzero(table.masks[0])[0]])
    assert (table.truncated[0], table.terminated[0]) == (True, False)
    assert table.states["round"][0] == 2
    game = Game("draw", seed=3, max_rounds=2)
    while not game.is_over:
        game.step(game.legal_actions[0])
    assert (game.status, game.winners, game.round) == ("truncated", (), 2)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_Z11_a_view_hides(variant: str, num_players: int) -> None:
    generator = random.Random(6)
    game = Game(variant, num_players=num_players, seed=8)
    for _ in range(60):
        if game.is_over:
            break
        for player in range(num_players):
            hidden = [tile for seat, hand in enumerate(game.hands) if seat != player for tile in hand]
            text = game.view(player)
            for tile in (*hidden, *game.boneyard):
                assert tile not in text
                assert tile[::-1] not in text or tile[0] == tile[2]
        game.step(generator.choice(game.legal_words))


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_Z13_masks_are_never_empty(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    only_pass = [rules.pass_action]
    table = Table(rules, 8, seed=1)
    generator = np.random.default_rng(1)
    for _ in range(40):
        assert (table.masks.sum(axis=1) > 0).all()
        for row in range(8):
            for player in range(num_players):
                mask = np.flatnonzero(table.mask(row, player)).tolist()
                if player != table.players[row]:
                    assert mask == only_pass
                else:
                    assert mask == np.flatnonzero(table.masks[row]).tolist()
        table.step([generator.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)
