"""Counts of action sequences from given deals: kept as data, made by the reference engine, met by the engine."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from reference import Deal, ReferenceGame, faults_of_deal, make_set, perft
from reference_play import state_of_reference

from dominoes_env.engine import batch
from dominoes_env.engine.variants import VARIANTS, make_rules

DATA = Path(__file__).parent / "data" / "perft.json"
CASES: list[dict[str, Any]] = json.loads(DATA.read_text()) if DATA.exists() else []
NAMES = [f"{case['variant']}-{case['num_players']}-{number}" for number, case in enumerate(CASES)]


def is_quick(case: dict[str, Any]) -> bool:
    """Whether the reference counts the case in a moment."""
    return sum(case["counts"]) <= 5_000


def game_of(case: dict[str, Any]) -> ReferenceGame:
    """The reference game of a case, before its first action."""
    rules = make_rules(case["variant"], num_players=case["num_players"], **case["overrides"])

    def tiles(words: str) -> list[tuple[int, int]]:
        return [(int(word[2]), int(word[0])) for word in words.split()]

    deal = Deal(
        hands=[tiles(hand) for hand in case["hands"]],
        boneyard=tiles(case["boneyard"]),
        starter=case["starter"],
        is_lead_forced=case["is_lead_forced"],
    )
    assert not faults_of_deal(rules, deal)
    return ReferenceGame(rules, deal)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_engine_counts(case: dict[str, Any]) -> None:
    game = game_of(case)
    state = state_of_reference(game)
    depths = range(1, len(case["counts"]) + 2)
    assert [batch.perft(state, game.rules.row, depth) for depth in depths] == [*case["counts"], 0]


@pytest.mark.parametrize(
    "case",
    [case if is_quick(case) else pytest.param(case, marks=pytest.mark.slow) for case in CASES],
    ids=NAMES,
)
def test_reference_counts(case: dict[str, Any]) -> None:
    assert perft(game_of(case)) == case["counts"]


def test_every_preset_has_counts() -> None:
    assert {(case["variant"], case["num_players"]) for case in CASES} == {
        (name, players) for name, variant in VARIANTS.items() for players in variant.hand_sizes
    }


#: Set, hand and how many sequences there should be, by number of players: a tiny case and a fuller one.
SIZES: dict[int, tuple[tuple[dict[str, int], range], ...]] = {
    2: (({"max_pip": 2, "hand_size": 2}, range(5, 1_000)), ({"max_pip": 5, "hand_size": 6}, range(3_000, 30_000))),
    3: (({"max_pip": 3, "hand_size": 3}, range(50, 2_000)), ({"max_pip": 4, "hand_size": 4}, range(3_000, 30_000))),
    4: (({"max_pip": 3, "hand_size": 2}, range(10, 2_000)), ({"max_pip": 4, "hand_size": 3}, range(1_000, 30_000))),
}


def make_cases() -> list[dict[str, Any]]:
    """Two deals for every preset and number of players, on sets small enough to count to the end."""
    return [
        _draw_case(variant, players, overrides, wanted, random.Random(f"{variant}-{players}-{overrides}"))
        for variant, preset in VARIANTS.items()
        for players in preset.hand_sizes
        for overrides, wanted in SIZES[players]
    ]


def _draw_case(
    variant: str, players: int, overrides: dict[str, int], wanted: range, chooser: random.Random
) -> dict[str, Any]:
    """A deal that the preset allows and that has about as many sequences as wanted, with its counts."""
    rules = make_rules(variant, num_players=players, **overrides)
    tiles = make_set(rules.max_pip)
    size = rules.hand_size
    while True:
        chooser.shuffle(tiles)
        hands = [tiles[seat * size : (seat + 1) * size] for seat in range(players)]
        is_lead_forced = rules.opening in ("highest_double", "set_double")
        deal = Deal(hands, tiles[players * size :], chooser.randrange(players), is_lead_forced)
        if faults_of_deal(rules, deal):
            continue
        try:
            counts = perft(ReferenceGame(rules, deal), limit=wanted.stop)
        except OverflowError:
            continue
        if sum(counts) in wanted:
            break

    def words(some: list[tuple[int, int]]) -> str:
        return " ".join(f"{high}-{low}" for low, high in some)

    return {
        "variant": variant,
        "num_players": players,
        "overrides": overrides,
        "hands": [words(hand) for hand in deal.hands],
        "boneyard": words(deal.boneyard),
        "starter": deal.starter,
        "is_lead_forced": deal.is_lead_forced,
        "counts": counts,
    }


if __name__ == "__main__":  # writes the data anew
    DATA.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(case) for case in make_cases())
    DATA.write_text(f"[\n{lines}\n]\n")
