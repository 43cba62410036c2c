"""``Game``: one game with a human face."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from invariants import PRESETS

from dominoes_env.archive import format_record
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.observation import observation_size
from dominoes_env.records import make_record
from dominoes_env.table import Table


def finish(game: Game, seed: int = 0) -> Game:
    generator = random.Random(seed)
    while not game.is_over:
        game.step(generator.choice(game.legal_words))
    return game


def test_a_game_of_words() -> None:
    game = Game("draw", seed=7)
    assert len(game.hands[0]) == len(game.hands[1]) == 7
    assert len(game.boneyard) == 14
    assert (game.layout, game.ends, game.exposed_count, game.moves) == ("(empty)", {}, 0, ())
    assert len(game.legal_words) == 1
    leader, lead = game.turn, game.legal_words[0]
    assert lead in game.hands[leader]
    assert game.step(lead) == (0, 0)
    number = int(lead[0])
    assert game.ends == {0: number, 1: number}
    assert (game.turn, game.starter, game.moves, game.layout) == (1 - leader, leader, (lead,), f"[{lead}]")
    assert game.exposed_count == 2 * number
    assert (game.scores, game.round, game.status, game.winners) == ((0, 0), 1, "playing", ())
    assert len(game.legal_words) == len(game.legal_actions)


def test_arguments() -> None:
    rules = make_rules("block", num_players=3, target=50)
    assert Game("block", num_players=3, target=50, seed=1).position == Game(rules=rules, seed=1).position
    assert Game("partners").rules.num_players == 4
    for arguments, reason in [
        ({"variant": "whist"}, "variant='whist'"),
        ({"num_players": 5}, "num_players=5"),
        ({"colour": 1}, "colour"),
        ({"rules": rules, "target": 3}, "target=3 is not allowed together with rules="),
        ({"rules": rules, "num_players": 3}, "num_players=3 is not allowed together with rules="),
        ({"rules": rules, "variant": "block"}, "variant='block' is not allowed together with rules="),
        ({"rules": "draw"}, "rules='draw'"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": 2**64}, "seed="),
        ({"seed": True}, "seed=True"),
        ({"seed": "7"}, "seed='7'"),
        ({"game_id": -1}, "game_id=-1"),
        ({"game_id": 1.5}, "game_id=1.5"),
        ({"game_id": "1"}, "game_id='1'"),
        ({"game_id": np.True_}, r"game_id=np\.True_"),
        ({"game_id": 2**64}, "game_id="),
        ({"episode": "day"}, "episode='day'"),
    ]:
        with pytest.raises(ValueError, match=reason):
            Game(**arguments)  # type: ignore[arg-type]


def test_seeds_of_numpy_are_seeds() -> None:
    game = Game("draw", seed=np.int64(7), game_id=np.uint8(3))
    assert (type(game.seed), type(game.game_id), game.record.seed, game.record.game_id) == (int, int, 7, 3)
    assert game.position == Game("draw", seed=7, game_id=3).position
    largest = Game("draw", seed=np.uint64(2**64 - 1), game_id=np.uint64(2**64 - 1))
    assert Game.from_record(format_record(largest.record)).record == largest.record
    line = "draw | hands 5-3 / 6-5,0-0 | layout 5-2 | turn 0"
    assert Game.from_position(line, seed=np.int32(1)).position == Game.from_position(line, seed=1).position


def test_what_is_no_position_or_record() -> None:
    with pytest.raises(ValueError, match="position=5 is not allowed; allowed: a line of text"):
        Game.from_position(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="record=5 is not allowed; allowed: a Record, or its text"):
        Game.from_record(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_a_game_is_a_row_of_a_table(variant: str, num_players: int) -> None:
    rules = make_rules(variant, num_players=num_players)
    table = Table(rules, 3, seed=5, game_ids=[0, 7, 2], episode="match")
    games = [Game(rules=rules, seed=5, game_id=game_id) for game_id in (0, 7, 2)]
    generator = np.random.default_rng(1)
    for _ in range(120):
        for row, game in enumerate(games):
            assert table.states[row] == game.state[0]
            assert np.array_equal(table.observations[row], game.observation())
            assert np.array_equal(table.masks[row], game.mask())
        if any(game.is_over for game in games):
            break
        actions = [int(generator.choice(game.legal_actions)) for game in games]
        table.step(actions)
        for row, (game, action) in enumerate(zip(games, actions, strict=True)):
            assert game.step(action) == tuple(table.points[row])


def test_illegal_actions_change_nothing() -> None:
    game = Game.from_position("draw | hands 6-2,1-0 / rest | boneyard 4-3 | layout 5-2 | turn 0")
    before = game.position, game.record
    for action, reason in [
        ("draw", "action 'draw' is illegal for seat 0; legal: 6-2@0"),
        ("pass", "illegal"),
        ("6-2@1", "action '6-2@1' is illegal for seat 0"),
        ("1-0@0", "illegal"),
        ("5-5@1", "illegal"),
        ("6-2", "action '6-2' does not say on which end"),
        ("6-2@7", "end=7"),
        ("knock", "action 'knock'"),
        ("", "action ''"),
        (0, "action 0 is illegal"),
        (-1, "action -1 is illegal"),
        (10_000, "action 10000 is illegal"),
        (1.0, "action 1.0 is neither a word nor an integer"),
        (np.float32(3), "neither a word nor an integer"),
        (True, "action True is neither"),
        (None, "action None is neither"),
        ([0], "neither"),
    ]:
        with pytest.raises(ValueError, match=reason):
            game.step(action)  # type: ignore[arg-type]
        assert (game.position, game.record) == before
    copies = [game.clone() for _ in range(4)]
    for twin, action in zip(
        copies, ["6-2@0", "[2-6]@0", game.legal_actions[0], np.int16(game.legal_actions[0])], strict=True
    ):
        twin.step(action)  # type: ignore[arg-type]
        assert twin.ends == {0: 6, 1: 5}


def test_after_the_end() -> None:
    game = finish(Game("draw", seed=2))
    assert game.status == "match_over"
    assert (game.legal_actions, game.legal_words) == ([], [])
    assert len(game.winners) == 1
    assert game.scores[game.winners[0]] >= 100
    assert f"the match is over; won by player_{game.winners[0]}" in str(game)
    before = game.position
    for action in (0, "draw", "pass", game.rules.pass_action):
        with pytest.raises(ValueError, match="the game is over"):
            game.step(action)
    assert game.position == before


def test_seats_are_checked() -> None:
    game = Game("draw", seed=1)
    for player in (-1, 2, 1.0, True, "0"):
        for look in (game.observation, game.mask, game.concealed, game.view):
            with pytest.raises(ValueError, match="player="):
                look(player)  # type: ignore[operator]


def test_what_a_seat_sees() -> None:
    game = Game("draw", seed=3)
    game.step(game.legal_words[0])
    mover = game.turn
    assert game.observation().shape == (observation_size(game.rules),)
    assert np.array_equal(game.observation(), game.observation(mover))
    assert np.flatnonzero(game.mask()).tolist() == game.legal_actions
    assert np.flatnonzero(game.mask(1 - mover)).tolist() == [game.rules.pass_action]
    hidden = game.concealed(mover)[0]
    assert (hidden["hands"][1 - mover], hidden["generator"]) == (0, 0)
    assert hidden["hands"][mover] == game.state["hands"][0, mover]
    assert "legal: " in game.view(mover)
    assert "legal: " not in game.view(1 - mover)
    for tile in (*game.hands[0], *game.hands[1], *game.boneyard):
        assert tile in str(game)


@pytest.mark.parametrize("variant", ["block", "draw", "all_fives", "bergen"])
@pytest.mark.parametrize("episode", ["round", "match"])
def test_from_position(variant: str, episode: str) -> None:
    game = Game(variant, seed=4, episode=episode)  # type: ignore[arg-type]
    for _ in range(5):
        game.step(game.legal_actions[0])
    twin = Game.from_position(game.position, episode=episode)  # type: ignore[arg-type]
    assert twin.position == game.position
    assert twin.seed is None
    assert finish(twin).position == finish(game).position
    evaluated = eval(repr(game), {"Game": Game})
    assert evaluated.position == game.position


def test_a_position_with_a_seed() -> None:
    line = "draw | hands 5-3 / 6-5,0-0 | layout 5-2 | turn 0"
    deals = []
    for seed in (None, 1, 1, 2):
        game = Game.from_position(line, seed=seed)
        game.step("5-3@1")
        deals.append(game.hands)
    assert deals[1] == deals[2]
    assert len(set(deals)) == 3
    assert Game.from_position(line).position == Game.from_position(Game.from_position(line).position).position
    with pytest.raises(ValueError, match=r"seed=1 .* the position has a generator"):
        Game.from_position(line + " | generator 5", seed=1)
    with pytest.raises(ValueError, match="seed=-1"):
        Game.from_position(line, seed=-1)
    with pytest.raises(ValueError, match="hands"):
        Game.from_position("draw | turn 0")


def test_a_match_goes_on_after_a_round() -> None:
    game = Game("all_fives", seed=6, episode="round")
    over = finish(game).position
    assert Game.from_position(over, episode="round").is_over
    match = Game.from_position(over)
    assert (match.round, match.scores, match.is_over) == (2, game.scores, False)
    assert match.starter == game.winners[0] or len(game.winners) > 1 or not game.state["next_leads"][0]
    whole = Game("all_fives", seed=6)
    generator = random.Random(0)
    while whole.round == 1:
        whole.step(generator.choice(whole.legal_words))
    assert whole.position == match.position


def test_a_record_that_starts_after_a_round() -> None:
    over = finish(Game("draw", seed=3, episode="round")).position
    match = Game.from_position(over)
    assert [len(past.actions) for past in match.record.rounds] == [0, 0]
    first = make_record(match.rules, [(match.record.rounds[0].deal, ())])
    twin = Game.from_record(first)
    assert (twin.round, twin.position, twin.record) == (2, match.position, match.record)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_from_record(variant: str, num_players: int) -> None:
    game = Game(variant, num_players=num_players, seed=9, game_id=3)
    generator = random.Random(2)
    for _ in range(90):
        if game.is_over:
            break
        game.step(generator.choice(game.legal_actions))
    for source in (game.record, format_record(game.record)):
        twin = Game.from_record(source)
        assert twin.position == game.position
        assert twin.record == game.record
        assert (twin.seed, twin.game_id, twin.episode) == (9, 3, "match")
        assert finish(twin).position == finish(game.clone()).position
        assert twin.record.rounds[0] == game.record.rounds[0]


def test_a_record_from_a_position() -> None:
    game = Game.from_position("all_fives | hands 4-4,1-0 / 6-4,6-1 | layout 4-2 3-2@0 | turn 0")
    game.step("4-4@1")
    game.step("6-4@1")
    record = game.record
    assert record.seed is None
    assert [len(past.actions) for past in record.rounds] == [2]
    assert Game.from_record(format_record(record)).position == game.position
    finish(game)
    assert len(game.record.rounds) > 1
    assert Game.from_record(format_record(game.record)).position == game.position


def test_records_keep_past_rounds() -> None:
    game = finish(Game("block", seed=1, num_players=3))
    record = game.record
    assert len(record.rounds) == game.round
    assert record.rounds[-1].outcome.scores == game.scores
    assert (record.status, record.winners) == ("match_over", game.winners)
    total = [sum(past.outcome.round_points[seat] for past in record.rounds) for seat in range(3)]
    assert tuple(total) == game.scores


@pytest.mark.parametrize("variant", ["draw", "all_fives"])
def test_copies_share_nothing(variant: str) -> None:
    game = Game(variant, seed=8)
    for _ in range(60):
        game.step(game.legal_actions[0])
    before = game.position, format_record(game.record)
    twins = [game.clone(), copy.deepcopy(game), copy.copy(game.clone()), pickle.loads(pickle.dumps(game))]
    assert all(twin.position == game.position for twin in twins)
    ends = {finish(twin).position for twin in twins}
    assert len(ends) == 1
    assert (game.position, format_record(game.record)) == before
    assert finish(game).position in ends


def test_seeds_drawn_for_the_player() -> None:
    game = Game("draw")
    assert game.seed is not None
    assert Game("draw", seed=game.seed).position == game.position


def test_a_view_tells_kept_lots() -> None:
    line = "block opening=lots_keep | hands 5-5,1-0 / 4-4,6-5 | forced | lots 5-5 / 4-4 | turn 0"
    game = Game.from_position(line)
    assert "player_1  score 0  2 tiles: 4-4 and 1 hidden" in game.view(0)
    assert "player_0  score 0  2 tiles: 5-5 and 1 hidden" in game.view(1)
    assert "hidden" not in str(game)
    bare = Game.from_position(line.replace(",6-5", "").replace("hands 5-5,1-0", "hands 5-5,1-0,6-5"))
    assert "player_1  score 0  1 tile: 4-4\n" in bare.view(0)
    bare.step("5-5")
    assert "player_0  score 0  2 tiles: hidden" in bare.view(1)
