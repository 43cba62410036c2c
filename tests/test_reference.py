"""The engine against the reference engine: every field, mask, view, reward and deal of random games, step by step."""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import (
    ROUND_OVER,
    Deal,
    Layout,
    ReferenceGame,
    can_win_lots,
    faults_of_deal,
    lot_value,
    make_set,
)
from reference_play import compare_games, deal_of_state
from reference_rules import (
    ALL_VALUES,
    COMBINED_VALUES,
    NEEDED,
    PRESETS,
    REWARDS,
    fitted,
    reconciled,
    seed_of,
    small_target,
)

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table

# ------------------------------------------------------------------------------ the engine against the reference


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_rounds_of_presets(variant: str, players: int, reward: str) -> None:
    rules = make_rules(variant, num_players=players)
    compare_games(rules, 10, rounds=20, seed=seed_of(variant, players, reward), reward=reward)


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_matches_of_presets(variant: str, players: int) -> None:
    rules = make_rules(variant, num_players=players)
    rules = rules.replace(target=small_target(rules))
    for autoreset, reward in ((False, "win"), (True, "margin")):
        seed = seed_of(variant, players, reward)
        compare_games(rules, 6, rounds=20, seed=seed, episode="match", reward=reward, autoreset=autoreset)


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_late_rounds_of_presets(variant: str, players: int) -> None:
    rules = make_rules(variant, num_players=players, max_rounds=3)
    seed = seed_of(variant, players)
    compare_games(rules, 10, rounds=25, seed=seed, reward="win", is_rearranged=True, history=True)


@pytest.mark.parametrize("knob", ALL_VALUES)
def test_each_value_of_each_knob(knob: str) -> None:
    """Each value on presets and on small sets, where ties, blocks and deals without a double are common.

    The number of players goes round from preset to preset and value to value; the small sets turn the other way.
    """
    num_tried = 0
    for number, value in enumerate(ALL_VALUES[knob]):
        bases = set()
        for place, (variant, players) in enumerate(PRESETS):
            base = make_rules(variant, num_players=players)
            small = base.replace(max_pip=4, hand_size=min(3, base.hand_size), **NEEDED.get(knob, {}))
            turn = place + place // 3 + number
            for start, is_tried in ((base, turn % 3 == 0), (small, turn % 3 != 0)):
                rules = fitted(start, knob, value)
                if rules is None or not is_tried:
                    continue
                if knob not in ("target", "target_check"):
                    rules = rules.replace(target=small_target(rules))
                bases.add(variant)
                num_tried += 1
                options = {"seed": seed_of(knob, value, variant, players), "reward": REWARDS[num_tried % 3]}
                compare_games(rules, 2, rounds=2, is_rearranged=num_tried % 2 == 0, **options)
                compare_games(rules, 2, rounds=3, episode="match", autoreset=num_tried % 2 == 0, **options)
        assert len(bases) >= 2, f"{knob}={value!r} was tried on {bases} alone"


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(
    knobs=st.fixed_dictionaries({knob: st.sampled_from(values) for knob, values in COMBINED_VALUES.items()}),
    seed=st.integers(0, 2**32 - 1),
    choice=st.integers(0, 11),
)
def test_any_combination_of_knobs(knobs: dict[str, object], seed: int, choice: int) -> None:
    try:
        rules = Rules(**reconciled(knobs))  # type: ignore[arg-type]
    except ValueError:
        assume(False)
    reward = REWARDS[choice % 3]
    compare_games(rules, 2, rounds=2, seed=seed, reward=reward, is_rearranged=choice % 2 == 0, history=choice < 6)
    compare_games(rules, 2, rounds=5, seed=seed, reward=reward, episode="match", autoreset=choice < 6)


BY_FIVES = {"end_scoring": "fives", "rounding": "nearest", "spinner": "first_double"}


@pytest.mark.parametrize(
    ("variant", "knobs"),
    [
        ("classic_block", {"num_players": 2, "award": "all"}),
        ("classic_block", {"num_players": 3, "award": "all"}),
        ("classic_block", {"num_players": 4}),
        ("partners", {"award": "all"}),
        ("partners", {"award": "all", "block_winner": "single_lowest"}),
        ("all_fives", {"num_players": 2, "award": "all", "rounding": "each_hand"}),
        ("threes", {"num_players": 3, "rounding": "up"}),
        ("block_121", {"num_players": 3}),
        ("block", {"num_players": 3, "blocked_tie": "nobody", "round_end": "out_or_blocked"}),
        ("partners", {"blocked_tie": "nobody", "award": "opponents_minus_own", **BY_FIVES, "rounding": "each_hand"}),
        ("partners", {"blocked_tie": "nobody", "award": "opponents_minus_own", **BY_FIVES, "rounding": "up"}),
        ("partners", {"block_winner": "single_lowest", "tie_lead": "draw_among_tied", **BY_FIVES}),
    ],
)
@pytest.mark.parametrize("target_check", ["at_once", "after_round"])
def test_settling_near_the_target(variant: str, knobs: dict[str, object], target_check: str) -> None:
    """Small sets, where blocks and equal hands are common, in rounds that open a few points short of the target."""
    small = {"max_pip": 4, "hand_size": 3, "blocked_tie": "split", "target": 12, "target_check": target_check}
    rules = make_rules(variant, **{**small, **knobs})
    compare_games(rules, 50, rounds=250, seed=seed_of(variant, knobs, target_check), reward="win", is_rearranged=True)


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize(
    ("variant", "knobs"),
    [
        ("block", {"hand_size": 2, "num_players": 3}),
        ("draw", {"hand_size": 1}),
        ("draw", {"hand_size": 4, "max_pip": 4, "num_players": 3}),
        ("all_fives", {"hand_size": 3, "num_players": 4}),
        ("muggins", {"hand_size": 2, "max_pip": 5}),
        ("partners", {"hand_size": 3}),
    ],
)
def test_skipping_forced_moves(variant: str, knobs: dict[str, object], episode: str) -> None:
    """A table that skips forced moves shows the decisions of one that does not, and gives what lies between at once."""
    rules = make_rules(variant, **{"target": 30, "max_rounds": 6, **knobs})
    chooser = random.Random(seed_of(variant, knobs, episode))
    for seed in range(60):
        options: dict[str, Any] = {"seed": seed, "episode": episode, "reward": REWARDS[seed % 3]}
        slow, fast = Table(rules, **options), Table(rules, skip_forced=True, **options)
        rewards, points, is_over = play_forced(slow, is_last_one_left=True)
        while not is_over:
            assert slow.states.tobytes() == fast.states.tobytes()
            assert slow.masks.tolist() == fast.masks.tolist()
            assert slow.observations.tolist() == fast.observations.tolist()
            assert slow.round_history().tolist() == fast.round_history().tolist()
            action = chooser.choice(np.flatnonzero(fast.masks[0]).tolist())
            fast.step([action])
            slow.step([action])
            rewards, points = rewards + slow.rewards[0], points + slow.points[0]
            is_over = bool(slow.terminated[0] or slow.truncated[0])
            if not is_over:
                more_rewards, more_points, is_over = play_forced(slow)
                rewards, points = rewards + more_rewards, points + more_points
            assert fast.rewards[0] == pytest.approx(rewards)
            assert fast.points[0].tolist() == points.tolist()
            rewards, points = np.zeros_like(rewards), np.zeros_like(points)
        for flags in ("terminated", "truncated", "final_winners"):
            assert getattr(slow, flags).tolist() == getattr(fast, flags).tolist()
        assert slow.states.tobytes() == fast.states.tobytes()


def play_forced(table: Table, *, is_last_one_left: bool = False) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Plays on while there is a single action; what that gave, and whether the episode is over.

    ``is_last_one_left``: the move that would end the episode is not made.
    """
    rewards, points = np.zeros_like(table.rewards[0]), np.zeros_like(table.points[0])
    while table.masks[0].sum() == 1:
        action = np.flatnonzero(table.masks[0])
        if is_last_one_left:
            ahead = copy.deepcopy(table)
            ahead.step(action)
            if ahead.terminated[0] or ahead.truncated[0]:
                break
        table.step(action)
        rewards, points = rewards + table.rewards[0], points + table.points[0]
        if table.terminated[0] or table.truncated[0]:
            return rewards, points, True
    return rewards, points, False


# --------------------------------------------------------------------------------- the reference against the sheet


@pytest.mark.parametrize(
    ("spinner", "plays", "counts"),
    [
        ("first_double", "5-5", [10]),
        ("first_double", "6-6", [12]),
        ("first_double", "0-0", [0]),
        ("first_double", "6-6 6-3@0 6-4@1", [12, 15, 7]),
        ("first_double", "6-6 6-1@0 6-2@1 6-4@2", [12, 13, 3, 7]),
        ("first_double", "5-5 5-0@0 0-0@0 5-6@1 0-4@0", [10, 10, 10, 6, 10]),
        ("first_double", "2-4 4-3@1", [6, 5]),
        ("first_double", "2-4 4-4@1 4-6@1 4-0@2 4-1@3", [6, 10, 8, 8, 9]),
        ("first_double", "2-2 2-6@0 2-5@1 2-4@2 2-1@3", [4, 10, 11, 15, 16]),
        ("none", "6-6 6-3@0 6-4@1", [12, 15, 7]),
        ("opening_double", "2-4 4-4@1 4-6@1", [6, 10, 8]),
    ],
)
def test_reference_counts(spinner: str, plays: str, counts: list[int]) -> None:
    layout = Layout(spinner)
    seen = []
    for play in plays.split():
        tile, _, arm = play.partition("@")
        low, high = sorted(int(number) for number in tile.split("-"))
        layout.lay((low, high), int(arm or 0))
        assert layout.do_halves_touch()
        seen.append(layout.count())
    assert seen == counts


@pytest.mark.parametrize(
    ("variant", "scores", "counts"),
    [
        ("block", [12, 10], None),
        ("block_121", [0, 22], None),
        ("draw", [0, 70], None),
        ("all_fives", [10, 90], [12, 14, 5, 4, 5, 10, 12, 11, 6, 12]),
    ],
)
def test_reference_plays_the_deal_through(variant: str, scores: list[int], counts: list[int] | None) -> None:
    rules = make_rules(variant, target=1000)
    hands = [
        [(6, 6), (3, 6), (3, 4), (4, 6), (0, 5), (1, 3), (4, 4)],
        [(2, 6), (1, 2), (1, 6), (5, 6), (0, 6), (5, 5), (0, 0)],
    ]
    boneyard = [tile for tile in make_set(6) if tile not in hands[0] and tile not in hands[1]]
    deal = Deal(hands, boneyard, 0, variant in ("draw", "all_fives"))
    assert not faults_of_deal(rules, deal)
    game = ReferenceGame(rules, deal)
    plays = [(6, 6), (2, 6), (3, 6), (1, 2), (3, 4), (1, 6), (4, 6), (5, 6), (0, 5), (0, 6)]
    seen = []
    for tile, arm in zip(plays, [0, 0, 1, 0, 1, 0, 1, 1, 1, 1], strict=True):
        game.step(arm * 28 + game.ids[tile])
        game.check()
        seen.append(game.layout.count())
    if variant in ("draw", "all_fives"):
        for _ in range(14):
            assert game.legal_actions() == [game.draw_action]
            game.step(game.draw_action)
    assert game.status == ROUND_OVER
    assert game.scores == scores
    assert game.round_winners == {1}
    assert counts is None or seen == counts


@pytest.mark.parametrize(
    ("rounding", "end_scoring", "pips", "rounded"),
    [
        ("nearest", "fives", [0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 27, 28], [0, 0, 0, 5, 5, 5, 5, 10, 10, 15, 25, 30]),
        ("up", "fives", [0, 1, 5, 6], [0, 5, 5, 10]),
        ("nearest", "threes", [0, 1, 2, 3, 4, 5], [0, 0, 3, 3, 3, 6]),
    ],
)
def test_reference_rounds(rounding: str, end_scoring: str, pips: list[int], rounded: list[int]) -> None:
    rules = make_rules("all_fives", rounding=rounding, end_scoring=end_scoring)
    tiles = make_set(6)
    game = ReferenceGame(rules, Deal([tiles[:7], tiles[7:14]], tiles[14:], 0, False))
    assert [game._rounded(number) for number in pips] == rounded


@pytest.mark.parametrize(
    ("lots_key", "lots", "starters"),
    [
        ("double_first", [(3, 3), (5, 6)], {0}),
        ("pips", [(3, 3), (5, 6)], {1}),
        ("double_first", [(4, 6), (5, 5), (2, 2)], {1}),
        ("double_first", [(0, 0), (5, 6)], {0}),
        ("double_first", [(1, 6), (3, 5), (2, 4)], {0, 1}),
        ("double_first", [(0, 1), (0, 2), (5, 5)], {2}),  # nobody can have lost to a tie with a double
        ("double_first", [(0, 1), (0, 2), (4, 6)], {2}),  # no two tiles make more than 10 pips without a double
        ("double_first", [(0, 1), (0, 2), (4, 5)], {2}),  # 10 pips: [4-6] and the double [5-5], no tie
        ("double_first", [(0, 1), (0, 2), (3, 5)], {1, 2}),  # 9 pips: [3-6] and [4-5] can have tied
        ("pips", [(0, 1), (0, 2), (4, 5)], {1, 2}),
    ],
)
def test_judge_of_lots(lots_key: str, lots: list[tuple[int, int]], starters: set[int]) -> None:
    rules = make_rules("block", num_players=len(lots), opening="lots_keep", lots_key=lots_key)
    assert {seat for seat in range(len(lots)) if can_win_lots(rules, lots, seat)} == starters


# ------------------------------------------------------------------------------------------- how the engine deals


def is_far_from(observed: Counter[Any], chances: dict[Any, float]) -> bool:
    """Whether counts lie further from their chances than six standard deviations of chi-square."""
    assert set(observed) <= set(chances), "something that cannot be"
    total = observed.total()
    chi_square = sum((observed[case] - total * chance) ** 2 / (total * chance) for case, chance in chances.items())
    freedom = len(chances) - 1
    return chi_square > freedom + 6 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("draw_rule", ["none", "until_playable"])
@pytest.mark.parametrize(
    "knobs",
    [
        {"opening": "uniform"},
        {"opening": "lots"},
        {"opening": "seat_0"},
        {"opening": "heaviest"},
        {"opening": "highest_double"},
        {"opening": "highest_double", "no_double": "heaviest"},
        {"opening": "set_double"},
        {"opening": "set_double", "no_double": "heaviest"},
    ],
)
def test_deals_are_uniform(knobs: dict[str, object], draw_rule: str) -> None:
    """Every deal that the opening allows is as likely as another; the boneyard's order counts where tiles are drawn."""
    rules = make_rules("classic_block", max_pip=2, hand_size=2, draw_rule=draw_rule, **knobs)
    tiles = make_set(2)

    def key(deal: Deal) -> tuple[Any, ...]:
        boneyard = deal.boneyard if draw_rule != "none" else sorted(deal.boneyard)
        return (*sorted(deal.hands[0]), *sorted(deal.hands[1]), *boneyard, deal.starter)

    allowed = set()
    for order in itertools.permutations(tiles):
        hands = [sorted(order[:2]), sorted(order[2:4])]
        for starter in range(2):
            deal = Deal(hands, list(order[4:]), starter, rules.opening in ("heaviest", "highest_double", "set_double"))
            if not faults_of_deal(rules, deal):
                allowed.add(key(deal))
    observed: Counter[Any] = Counter()
    table = Table(rules, 60_000, seed=11)
    for state in table.states:
        observed[key(deal_of_state(rules, state))] += 1
    assert not is_far_from(observed, dict.fromkeys(allowed, 1 / len(allowed)))


@pytest.mark.parametrize("lots_key", ["double_first", "pips"])
def test_kept_lots_come_from_drawing_and_redrawing(lots_key: str) -> None:
    """The chance of each outcome of the lots of three players, worked out drawing by drawing."""
    rules = make_rules("block", num_players=3, max_pip=3, hand_size=2, opening="lots_keep", lots_key=lots_key)
    tiles = make_set(3)

    def outcomes(contenders: tuple[int, ...], fast: dict[int, Any]) -> Counter[Any]:
        mix = [tile for tile in tiles if tile not in fast.values()]
        drawings = list(itertools.permutations(mix, len(contenders)))
        chances: Counter[Any] = Counter()
        again = 0.0
        for drawing in drawings:
            lots = fast | dict(zip(contenders, drawing, strict=True))
            best = max(lot_value(rules, lots[seat]) for seat in contenders)
            tied = tuple(seat for seat in contenders if lot_value(rules, lots[seat]) == best)
            if len(tied) == 1:
                chances[lots[0], lots[1], lots[2], tied[0]] += 1 / len(drawings)
            elif tied == contenders:
                again += 1 / len(drawings)
            else:
                rest = {seat: lot for seat, lot in lots.items() if seat not in tied}
                for outcome, chance in outcomes(tied, rest).items():
                    chances[outcome] += chance / len(drawings)
        return Counter({outcome: chance / (1 - again) for outcome, chance in chances.items()})

    observed: Counter[Any] = Counter()
    completed: Counter[Any] = Counter()
    for state in Table(rules, 100_000, seed=12).states:
        deal = deal_of_state(rules, state)
        observed[(*deal.lots, deal.starter)] += 1
        rest = [tile for tile in tiles if tile not in deal.lots]
        drawn = [tile for hand, lot in zip(deal.hands, deal.lots, strict=True) for tile in hand if tile != lot]
        completed[tuple(map(rest.index, drawn))] += 1
    assert not is_far_from(observed, dict(outcomes((0, 1, 2), {})))
    assert not is_far_from(completed, dict.fromkeys(itertools.permutations(range(7), 3), 1 / 210))
