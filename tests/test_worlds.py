"""determinize against enumeration: every deal and pile of a small set is replayed, and the fitting ones are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from dominoes_env.engine import batch
from dominoes_env.engine.deal import opening_seat
from dominoes_env.engine.rounds import round_is_blocked, step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.table import Table

DRAW3 = {"max_pip": 3, "hand_size": 2}
CASES = {
    "draw": make_rules("draw", **DRAW3),
    "draw, heaviest leads": make_rules("draw", no_double="heaviest", **DRAW3),
    "draw one": make_rules("draw", draw_rule="one", **DRAW3),
    "draw, reserve": make_rules("draw", boneyard_reserve=2, early_block=True, **DRAW3),
    "draw, 3 players": make_rules("draw", num_players=3, **DRAW3),
    "all fives": make_rules("all_fives", max_pip=3, hand_size=3),
    "heaviest": make_rules("muggins", opening="heaviest", **DRAW3),
    "set double": make_rules("muggins", opening="set_double", no_double="heaviest", max_pip=3, hand_size=3),
    "block": make_rules("block", max_pip=3, hand_size=3),
    "block, 4 players": make_rules("block", num_players=4, max_pip=3, hand_size=2),
    "classic block, 3 players": make_rules("classic_block", num_players=3, max_pip=3, hand_size=3),
    "kept lots": make_rules("block", num_players=3, opening="lots_keep", max_pip=3, hand_size=3),
    "kept lots and drawing": make_rules("draw", opening="lots_keep", **DRAW3),
    "partners": make_rules("partners", max_pip=3, hand_size=2, no_double="heaviest"),
}


def _as_key(state: Any, rules: Rules) -> tuple[Any, ...]:
    """What a world is compared by: all hands, and the pile's order where tiles are drawn."""
    hands = tuple(int(h) for h in state["hands"][: rules.num_players])
    if rules.draw_rule == "none":
        return hands
    return hands, tuple(int(t) for t in state["pile"][: state["boneyard"]])


def _replays(start: Any, rules: Rules, history: list[int]) -> Any:
    """The state after the actions, or None where they could not have come about."""
    state = start.copy()
    record, row = state[0], rules.row[0]
    if record["is_lead_forced"] and rules.opening != "lots_keep" and opening_seat(record, row) != record["starter"]:
        return None
    for action in history:
        if not batch.is_legal_row(state, rules.row, 0, action):
            return None
        step(record, row, action)
        if record["status"] != PLAYING:
            return None
    return state


def _fitting_deals(
    start: Any, rules: Rules, history: list[int], player: int, mine: dict[int, int]
) -> Iterator[tuple[Any, Any]]:
    """Each deal that fits and the world that it leads to; ``mine``: the player's draws, by pile place from the front.

    Of ``start`` only the player's own hand, and what everybody saw, counts.
    """
    opponents = [seat for seat in range(rules.num_players) if seat != player]
    seen = _replays(start, rules, history)
    assert seen is not None
    batch.conceal_rows(seen, player)
    known = {seat: [int(start["lots"][0][seat])] if start["lots"][0][seat] != NONE else [] for seat in opponents}
    fixed = set(tiles_in(start["hands"][0][player])) | set(mine.values()) | {t for lots in known.values() for t in lots}
    hidden = [tile for tile in range(rules.num_tiles) if tile not in fixed]
    boneyard = int(start["boneyard"][0])

    def piles(rest: list[int]) -> Any:
        orders = permutations(rest) if rules.draw_rule != "none" else [tuple(rest)]
        for order in orders:
            front = list(order)
            for place in sorted(mine):
                front.insert(place, mine[place])
            yield front

    def hands(rest: list[int], seats: list[int]) -> Any:
        if not seats:
            for front in piles(rest):
                yield {}, front
            return
        for hand in combinations(rest, rules.hand_size - len(known[seats[0]])):
            for others, front in hands([t for t in rest if t not in hand], seats[1:]):
                yield {seats[0]: list(hand) + known[seats[0]], **others}, front

    deal = start.copy()
    for dealt, front in hands(hidden, opponents):
        for seat, tiles in dealt.items():
            deal["hands"][0][seat] = sum(1 << tile for tile in tiles)
        deal["pile"][0][:boneyard] = front[::-1]
        world = _replays(deal, rules, history)
        if world is not None:
            view = world.copy()
            batch.conceal_rows(view, player)
            if view == seen:
                yield deal[0], world[0]


def _fitting_worlds(start: Any, rules: Rules, history: list[int], player: int, mine: dict[int, int]) -> Counter[Any]:
    """How many of the deals that fit lead to each world, by its key."""
    return Counter(_as_key(world, rules) for _, world in _fitting_deals(start, rules, history, player, mine))


def _own_pasts(
    start: Any, rules: Rules, history: list[int], player: int, mine: dict[int, int]
) -> Iterator[tuple[Any, dict[int, int]]]:
    """The player's dealt hand and draws as they were, and every other way in which his tiles could have come to him."""
    seen = _replays(start, rules, history)
    batch.conceal_rows(seen, player)
    tiles = sorted({*tiles_in(start["hands"][0][player]), *mine.values()})
    last = int(start["boneyard"][0]) - 1
    for drawn in permutations(tiles, len(mine)):
        deal = start.copy()
        deal["hands"][0][player] = sum(1 << tile for tile in tiles if tile not in drawn)
        draws = dict(zip(sorted(mine), drawn, strict=True))
        for place, tile in draws.items():
            deal["pile"][0][last - place] = tile
        view = _replays(deal, rules, history)
        if start["lots"][0][player] not in drawn and view is not None:
            batch.conceal_rows(view, player)
            if view == seen:
                yield deal, draws


def _is_likely(got: Counter[Any], expected: Counter[Any]) -> bool:
    """Whether draws are spread as the counts say, as far as a chi-square test can tell."""
    assert set(got) <= set(expected)
    ratio = sum(got.values()) / sum(expected.values())
    statistic = sum((got[key] - count * ratio) ** 2 / (count * ratio) for key, count in expected.items())
    return len(expected) == 1 or bool(chi2.sf(statistic, len(expected) - 1) > 1e-6)


def _small_games(
    rules: Rules, rng: np.random.Generator, most_hidden: int
) -> Iterator[tuple[Any, Table, list[int], int, dict[int, int]]]:
    """Some random rounds, broken off: the deal, the table, the actions, a player, and his draws by pile place."""
    for game in range(300):
        table = Table(rules, seed=game)
        start = table.states.copy()
        actions: list[int] = []
        drawn: list[tuple[int, int]] = []
        length = int(rng.integers(0, 9))
        while len(actions) < length and not table.terminated[0]:
            action = int(rng.choice(np.flatnonzero(table.masks[0])))
            if action == rules.draw_action:
                state = table.states[0]
                drawn.append((int(state["turn"]), int(state["pile"][state["boneyard"] - 1])))
            table.step([action])
            actions.append(action)
        player = int(rng.integers(rules.num_players))
        mine = {place: tile for place, (seat, tile) in enumerate(drawn) if seat == player}
        hidden = rules.num_tiles - rules.hand_size - len(mine)
        if not table.terminated[0] and (rules.draw_rule == "none" or hidden <= most_hidden):
            yield start, table, actions, player, mine


@pytest.mark.parametrize("name", CASES)
def test_determinize_is_uniform_over_what_fits(name: str) -> None:
    """Same support, and frequencies that a chi-square test does not tell from the counts."""
    rules = CASES[name]
    rng = np.random.default_rng(5)
    for tried, (start, table, actions, player, mine) in enumerate(_small_games(rules, rng, 8)):
        if tried == 6:
            break
        expected = _fitting_worlds(start, rules, actions, player, mine)
        num_worlds = max(4000, 12 * len(expected))
        worlds = determinize(rules, table.concealed(0, player), player, actions, rng, num_worlds=num_worlds)
        got = Counter(_as_key(world, rules) for world in worlds)
        assert _is_likely(got, expected), (name, actions)
    assert tried >= 4


@pytest.mark.parametrize("name", CASES)
def test_deals_are_uniform_over_what_fits_too(name: str) -> None:
    """Each deal that fits, the player's own past included, comes as often as any other, with the world it leads to."""
    rules = CASES[name]
    rng = np.random.default_rng(6)
    checked = 0
    for start, table, actions, player, mine in _small_games(rules, rng, 7):
        if checked == 6:
            break
        if len(actions) < 3 and checked < 5:
            continue
        expected: Counter[Any] = Counter()
        for own, draws in _own_pasts(start, rules, actions, player, mine):
            for deal, world in _fitting_deals(own, rules, actions, player, draws):
                expected[_as_key(deal, rules), _as_key(world, rules)] += 1
        assert set(expected.values()) == {1}
        num_worlds = max(2000, 12 * len(expected))
        seen = table.concealed(0, player)
        worlds, deals = determinize(rules, seen, player, actions, rng, num_worlds=num_worlds, with_deal=True)
        got = Counter((_as_key(d, rules), _as_key(w, rules)) for d, w in zip(deals, worlds, strict=True))
        assert _is_likely(got, expected), (name, actions)
        checked += 1
    assert checked >= 4


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_deal_leads_to_its_world(variant: str) -> None:
    """Full sets, later rounds of a match too: replayed from its deal a world is itself, to the byte."""
    rng = np.random.default_rng(1)
    for num_players in VARIANTS[variant].hand_sizes:
        rules = make_rules(variant, num_players=num_players)
        table = Table(rules, 2, seed=2, episode="match")
        for turn in range(60):
            for row in range(2 if turn % 3 == 0 else 0):
                player = int(rng.integers(num_players))
                seen, history = table.concealed(row, player), table.round_history(row)
                same = np.random.default_rng(turn)
                worlds = determinize(rules, seen, player, history, np.random.default_rng(turn), num_worlds=2)
                again, deals = determinize(rules, seen, player, history, same, num_worlds=2, with_deal=True)
                assert worlds.tobytes() == again.tobytes()
                for world, deal in zip(worlds, deals, strict=True):
                    start = np.array([deal], STATE_DTYPE)
                    assert start["hand_counts"][0, :num_players].tolist() == [rules.hand_size] * num_players
                    replayed = _replays(start, rules, history.tolist())
                    assert replayed is not None and replayed.tobytes() == world.tobytes()
            table.step([rng.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)


@pytest.mark.unjitted
def test_a_deal_needs_a_history() -> None:
    table = Table(make_rules("draw"), seed=1)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="history=None is not allowed with with_deal=True"):
        determinize(table.rules, table.concealed(0, 0), 0, None, rng, with_deal=True)
    with pytest.raises(ValueError, match="with_deal=1 is not allowed"):
        determinize(table.rules, table.concealed(0, 0), 0, [], rng, with_deal=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_world_fits_what_is_known(variant: str) -> None:
    """Full sets: concealed again a world is what was seen, each tile is somewhere once, the round is not blocked."""
    rng = np.random.default_rng(1)
    for num_players in VARIANTS[variant].hand_sizes:
        rules = make_rules(variant, num_players=num_players)
        table = Table(rules, 8, seed=2)
        for _ in range(40):
            for row in range(8):
                player = int(rng.integers(num_players))
                seen = table.concealed(row, player)
                for world in determinize(rules, seen, player, table.round_history(row), rng, num_worlds=2):
                    tiles = tiles_in(world["laid"]) + [int(t) for t in world["pile"][: world["boneyard"]]]
                    for seat in range(num_players):
                        held = tiles_in(world["hands"][seat])
                        assert len(held) == world["hand_counts"][seat]
                        tiles += held
                    assert sorted(tiles) == list(range(rules.num_tiles))
                    assert not round_is_blocked(world, rules.row[0])
                    again = np.array([world], STATE_DTYPE)
                    batch.conceal_rows(again, player)
                    assert again == seen
            table.step([rng.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)


def test_a_history_of_another_state_is_refused() -> None:
    rules = make_rules("draw")
    table = Table(rules, seed=1)
    rng = np.random.default_rng(0)
    seen = table.concealed(0, 0)
    table.step([np.flatnonzero(table.masks[0])[0]])
    with pytest.raises(ValueError, match="history of 1 actions does not lead to the state"):
        determinize(rules, seen, 0, table.round_history(0), rng)


def test_a_finished_round_is_refused() -> None:
    rules = make_rules("classic_block", max_pip=1, hand_size=1)
    table = Table(rules, seed=1)
    while not table.terminated[0]:
        table.step([np.flatnonzero(table.masks[0])[0]])
    with pytest.raises(ValueError, match="round is over"):
        determinize(rules, table.concealed(0, 0), 0, table.round_history(0), np.random.default_rng(0))


def test_without_a_past_what_was_shown_is_respected() -> None:
    rules = make_rules("block", max_pip=3, hand_size=3)
    table = Table(rules, seed=4)
    rng = np.random.default_rng(0)
    for game in range(500):
        table.reset(game)
        while not table.terminated[0]:
            table.step([rng.choice(np.flatnonzero(table.masks[0]))])
            state = table.states[0]
            shown = int(state["lacking"][1])
            if state["status"] == PLAYING and shown:
                for world in determinize(rules, table.concealed(0, 0), 0, None, rng, num_worlds=20):
                    for tile in tiles_in(world["hands"][1]):
                        high = int((np.sqrt(8 * tile + 1) - 1) // 2)
                        low = tile - high * (high + 1) // 2
                        assert not (shown >> high & 1 or shown >> low & 1)
                return
    pytest.fail("no pass was met")


def test_a_lone_record_of_a_table_is_left_alone():
    table = Table(make_rules("draw"), 2, seed=3)
    before = table.states.tobytes()
    seat = int(table.players[0])
    determinize(table.rules, table.states[0], seat, table.round_history(0), np.random.default_rng(0))
    assert table.states.tobytes() == before
