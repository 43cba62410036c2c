"""A short run over the whole engine that also passes, and is measured for coverage, with NUMBA_DISABLE_JIT=1.

Every rule set here is played against the reference engine; the rest of the engine is called once or twice.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from reference_play import compare_games

from dominoes_env.engine import batch
from dominoes_env.engine.actions import decode_action, encode_play
from dominoes_env.engine.batch import IS_REWARDED, IS_TERMINATED, IS_TRUNCATED
from dominoes_env.engine.jit import IS_JIT_ENABLED
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import KNOB_VALUES, Rules
from dominoes_env.engine.state import PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import HIGH, LOW, tile_id, tiles_in
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.table import Table, random_keys

pytestmark = pytest.mark.unjitted

SMALL = {"max_pip": 3, "hand_size": 3, "target": 8}
#: Blocks with equal leftovers are common.
TIES = {"num_players": 3, "max_pip": 5, "hand_size": 7, "target": 60}
RULES = {
    **{name: make_rules(name, **(SMALL if 2 in VARIANTS[name].hand_sizes else {})) for name in VARIANTS},
    "3 players": make_rules("block", num_players=3, **SMALL),
    "kept lots": make_rules("block", opening="lots_keep", max_pip=3, hand_size=3, next_lead="as_first"),
    "kept lots by pips, drawing": make_rules("draw", opening="lots_keep", lots_key="pips", max_pip=2, hand_size=2),
    "long draws": make_rules("draw", num_players=3, max_pip=5, hand_size=2),
    "draw one": make_rules("draw", draw_rule="one", **SMALL),
    "early block, no double": make_rules("draw", early_block=True, no_double="heaviest", max_pip=3, hand_size=2),
    "heaviest, rotating": make_rules("draw", opening="heaviest", next_lead="rotate", **SMALL),
    "set double": make_rules("muggins", opening="set_double", no_double="heaviest", **SMALL),
    "set double, redeal": make_rules("muggins", opening="set_double", **SMALL),
    "seat 0, split": make_rules("classic_block", opening="seat_0", blocked_tie="split", **TIES),
    "split at once": make_rules(
        "classic_block", blocked_tie="split", award="all", target_check="at_once", **{**TIES, "target": 3}
    ),
    "next seat": make_rules("classic_block", tie_lead="next_seat", **TIES),
    "as first": make_rules("classic_block", tie_lead="as_first", **TIES),
    "same starter": make_rules("classic_block", tie_lead="same_starter", **TIES),
    "rounding up": make_rules("all_fives", rounding="up", spinner="opening_double", **SMALL),
    "each hand": make_rules("all_fives", rounding="each_hand", award="opponents_minus_own", **SMALL),
    "one round": make_rules("classic_block", max_pip=3, hand_size=3, max_rounds=1),
    "heaviest of few doubles": make_rules("draw", no_double="heaviest", max_pip=4, hand_size=1),
    "single lowest": make_rules("partners", block_winner="single_lowest", max_pip=4, hand_size=2, max_rounds=3),
    "teams of tied": make_rules("partners", no_double="heaviest", blocked_tie="split", max_pip=2, hand_size=1),
}


@pytest.mark.parametrize("name", RULES)
def test_games_against_the_reference(name: str) -> None:
    num_games = 3 if RULES[name].max_pip > 5 else 10
    for number, reward in enumerate(("margin", "points", "win")):
        compare_games(RULES[name], num_games, rounds=num_games, seed=number, reward=reward, history=number == 0)
        compare_games(RULES[name], 2, rounds=num_games, seed=number, reward=reward, episode="match", autoreset=True)


@pytest.mark.parametrize("name", RULES)
def test_worlds_fit(name: str) -> None:
    """From every seat, with a past and without one: concealed again a world is what was seen; its deal leads to it."""
    rules = RULES[name]
    rng = np.random.default_rng(2)
    table = Table(rules, 2, seed=1, history=True)
    for _ in range(300 if name == "long draws" else 30):
        for row in range(2):
            player = int(rng.integers(rules.num_players))
            seen = table.concealed(row, player)
            for past in (table.round_history(row), None):
                worlds = determinize(rules, seen, player, past, rng, num_worlds=2)
                batch.conceal_rows(worlds, player)
                assert (worlds == seen).all()
            past = table.round_history(row)
            worlds, deals = determinize(rules, seen, player, past, rng, num_worlds=2, with_deal=True)
            for action in past:
                for deal in range(2):
                    assert batch.is_legal_row(deals, rules.row, deal, int(action))
                    step(deals[deal], rules.row[0], int(action))
            assert deals.tobytes() == worlds.tobytes()
        table.step([rng.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)


def test_forced_moves_are_skipped() -> None:
    rules = make_rules("classic_block", max_pip=1, hand_size=1)
    table = Table(rules, 4, seed=1, skip_forced=True)
    for _ in range(4):
        table.step([mask.argmax() for mask in table.masks], autoreset=True)
        assert table.terminated.all()
        assert (table.states["status"] == PLAYING).all()


def test_table_entry_points() -> None:
    rules = make_rules("draw", max_pip=3, hand_size=3)
    table = Table(rules, 2, seed=5)
    assert table.is_legal(0, int(table.masks[0].argmax()))
    assert not table.is_legal(0, -1) and not table.is_legal(0, rules.pass_action)
    assert (table.observe(1, int(table.players[1])) == table.observations[1]).all()
    assert (table.mask(1, int(table.players[1])) == table.masks[1]).all()
    assert (table.hidden()[0] > 0).sum() == table.states["hand_counts"][0, 1] + table.states["boneyard"][0]
    for action, message in ((rules.pass_action, "illegal"), (-1, "outside"), (rules.num_actions, "outside")):
        with pytest.raises(ValueError, match=message):
            table.step([action] * 2)
    assert [batch.perft(table.states, rules.row, depth) for depth in (0, 1)] == [1, table.masks[0].sum()]
    assert batch.perft(table.states, rules.row, 40) == 0
    blocked = Table(make_rules("classic_block", num_players=4, max_pip=3, hand_size=2), 1, seed=2)
    assert batch.perft(blocked.states, blocked.rules.row, 6) > 0


@pytest.mark.skipif(IS_JIT_ENABLED, reason="machine code has the bound built in")
def test_too_many_ways_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dominoes_env.engine.assignment._MAX_COUNTS", 1)
    monkeypatch.setattr("dominoes_env.engine.places.MAX_PLACES", 5)
    table = Table(make_rules("draw", num_players=3, max_pip=9), 1, seed=1)
    rng = np.random.default_rng(0)
    refused = set()
    for _ in range(200):
        for player in range(3):
            try:
                determinize(table.rules, table.concealed(0, player), player, table.round_history(), rng)
            except ValueError as refusal:
                refused.add(str(refusal)[:8])
        table.step([rng.choice(np.flatnonzero(table.masks[0]))], autoreset=True)
    assert refused == {"history:"}


def test_tiles() -> None:
    """S1: 28 and 55 distinct tiles, 168 and 495 pips, each number on seven tiles of double-six."""
    for max_pip, num_tiles, pips in ((6, 28, 168), (9, 55, 495)):
        pairs = {(int(LOW[tile]), int(HIGH[tile])) for tile in range(num_tiles)}
        assert len(pairs) == num_tiles == Rules(max_pip=max_pip).num_tiles
        assert sum(map(sum, pairs)) == pips == Rules(max_pip=max_pip).total_pips
        assert {tile_id(b, a) for a, b in pairs} == set(range(num_tiles))
        assert tiles_in((1 << num_tiles) - 1) == list(range(num_tiles))
    assert all(sum(n in (LOW[t], HIGH[t]) for t in range(28)) == 7 for n in range(7))


@pytest.mark.parametrize("variant", ["draw", "all_fives"])
def test_sampling_and_playing_are_the_same_steps(variant: str) -> None:
    rules = make_rules(variant, max_pip=3, hand_size=3)
    one, other = Table(rules, 3, seed=1), Table(rules, 3, seed=1, num_threads=2)
    keys, same = random_keys(4, 3), random_keys(4, 3)
    for _ in range(40):
        actions = one.sample(keys)
        assert one.masks[np.arange(3), actions].all()
        one.step(actions, autoreset=True)
        other.play(same, 1)
        assert (one.states == other.states).all() and (keys == same).all()
    with pytest.raises(ValueError, match="illegal"):
        other.step([rules.pass_action] * 3)


def test_a_single_game_steps_alike_in_either_way() -> None:
    rules = make_rules("all_fives", max_pip=3, hand_size=3, target=10, max_rounds=2)
    one, other = Table(rules, seed=3, episode="match"), Table(rules, seed=3, episode="match")
    keys = random_keys(1, 1)
    seen = set()
    for _ in range(300):
        action = int(one.sample(keys)[0])
        told = one.step_one(action)
        other.step([action])
        flags = (IS_TERMINATED, other.terminated[0]), (IS_TRUNCATED, other.truncated[0])
        assert told & 3 == other.players[0]
        assert all(bool(told & bit) == is_set for bit, is_set in flags)
        assert bool(told & IS_REWARDED) == other.rewards.any()
        assert (one.states == other.states).all() and (one.masks == other.masks).all()
        seen.add(told & ~3)
        if other.terminated[0] or other.truncated[0]:
            assert one.step_one(action) == -1
            one.reset()
            other.reset()
        if len(seen) == 2:
            one = copy.deepcopy(one) if told & 1 else pickle.loads(pickle.dumps(one))
    assert {0, IS_REWARDED, IS_TRUNCATED, IS_TERMINATED | IS_REWARDED} <= seen
    assert one.step_one(rules.num_actions + 5) == one.step_one(-1) == -1


def test_refusals_of_determinize() -> None:
    rules = make_rules("draw")
    rng = np.random.default_rng(0)
    table = Table(rules, seed=1)
    seen = table.concealed(0, 0)
    table.step([table.masks[0].argmax()])
    for player, past, message in (
        (0, [5], "does not lead"),
        (0, [5, 5], "does not lead"),
        (0, [0.5], "allowed: action ids"),
        (0, [58], "allowed: action ids"),
        (0, [[1]], "allowed: action ids"),
        (0.5, [], "player=0.5"),
        (2, [], "player=2 is not allowed"),
        (0, [rules.pass_action] * 3, "does not lead"),
        (0, [rules.draw_action] * 30, "does not lead"),
    ):
        with pytest.raises(ValueError, match=message):
            determinize(rules, seen, player, past, rng)
    laid = table.concealed(0, 0)
    history = table.round_history()
    moved = laid.copy()
    moved["ends"][0][:2] = [0, 1]
    fewer = laid.copy()
    fewer["hand_counts"][0][1] -= 2
    shown = laid.copy()
    shown["lacking"][0][1] = 0b1111111
    for state, past in ((moved, history), (fewer, history), (shown, None)):
        with pytest.raises(ValueError, match="does not lead"):
            determinize(rules, state, 0, past, rng)
    with pytest.raises(ValueError, match="rng=0"):
        determinize(rules, laid, 0, history, 0)  # type: ignore[arg-type]
    for num_worlds in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match=f"num_worlds={num_worlds}"):
            determinize(rules, laid, 0, history, rng, num_worlds=num_worlds)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="concealed of shape"):
        determinize(rules, np.concatenate([laid, laid]), 0, history, rng)
    while not table.terminated[0]:
        table.step([table.masks[0].argmax()])
    with pytest.raises(ValueError, match="round is over"):
        determinize(rules, table.concealed(0, 0), 0, table.round_history(), rng)


def test_actions_are_named_and_numbered() -> None:
    rules = make_rules("all_fives")
    for action in range(rules.num_actions - 2):
        tile, end = decode_action(rules, action)
        assert encode_play(rules, tile, end) == action == end * 28 + tile
    assert [decode_action(rules, action) for action in (112, 113)] == ["draw", "pass"]
    for call, message in (
        (lambda: encode_play(rules, 28, 0), "tile=28"),
        (lambda: encode_play(rules, 0, 4), "end=4"),
        (lambda: decode_action(rules, 114), "action=114"),
        (lambda: decode_action(rules, -1), "action=-1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_record_has_no_padding() -> None:
    assert sum(STATE_DTYPE[name].itemsize for name in STATE_DTYPE.names or ()) == STATE_DTYPE.itemsize


def test_rules_speak_up() -> None:
    assert set(KNOB_VALUES) <= set(Rules().to_dict())
    assert Rules().replace(max_pip=9).total_pips == 495
