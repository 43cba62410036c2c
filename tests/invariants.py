"""What must hold in every position, and the legal actions by the letter of the rules; the data of the worked cases."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path

from dominoes_env.engine.variants import VARIANTS
from dominoes_env.game import Game
from dominoes_env.words import format_tile, parse_tile

DATA = tomllib.loads((Path(__file__).parent / "data" / "cases.toml").read_text(encoding="utf-8"))
#: Every preset with every number of players.
PRESETS = [(name, players) for name, variant in VARIANTS.items() for players in variant.hand_sizes]


def start_of(case_id: str) -> str:
    """Where the first case of that number starts."""
    start: str = next(case["start"] for case in DATA["case"] if case["id"] == case_id)
    return start.format_map(DATA["layouts"])


def numbers(tile: str) -> tuple[int, int]:
    high, low = tile.split("-")
    return int(high), int(low)


def check_invariants(game: Game) -> None:
    """T7: every tile once, halves touch, counts are right, and the mask is the independent legal set."""
    laid = [f"{max(a, b)}-{min(a, b)}" for arm in halves(game) for a, b in arm]
    tiles = [*laid, *game.boneyard, *(tile for hand in game.hands for tile in hand)]
    every = [f"{high}-{low}" for high in range(game.rules.max_pip + 1) for low in range(high + 1)]
    assert sorted(tiles) == sorted(every)
    state = game.state[0]
    assert [len(hand) for hand in game.hands] == state["hand_counts"][: game.rules.num_players].tolist()
    assert len(game.boneyard) == state["boneyard"]
    line, *others = halves(game)
    for arm in (line, *others):
        assert all(left[1] == right[0] for left, right in pairwise(arm)), game.layout
    if not game.is_over:
        assert game.legal_words == expected_legal(game)
        assert game.mask().any()


def halves(game: Game) -> list[list[tuple[int, int]]]:
    """The layout as it is drawn: the line of play, then the arms that hang on the spinner."""
    if game.layout == "(empty)":
        return [[]]
    return [[(int(word[0]), int(word[2])) for word in arm.strip("[]").split("][")] for arm in game.layout.split(" + ")]


def expected_legal(game: Game) -> list[str]:
    """The legal actions by the letter of the rules, from hands, ends and boneyard alone."""
    rules, hand = game.rules, game.hands[game.turn]
    if not game.moves:
        if not game.state["is_lead_forced"][0]:
            return sorted(hand, key=parse_tile)
        doubles = [tile for tile in hand if numbers(tile)[0] == numbers(tile)[1]]
        heaviest = max(hand, key=lambda tile: (sum(numbers(tile)), numbers(tile)))
        if rules.opening == "lots_keep":
            return [format_tile(game.state["lots"][0, game.turn])]
        if rules.opening == "heaviest":
            return [heaviest]
        if rules.opening == "set_double":
            top = f"{rules.max_pip}-{rules.max_pip}"
            return [top if top in hand else heaviest]
        return [max(doubles, key=numbers) if doubles else heaviest]
    plays = [
        f"{tile}@{end}"
        for end, number in game.ends.items()
        for tile in sorted(hand, key=parse_tile)
        if number in numbers(tile)
    ]
    if plays:
        return plays
    draws = rules.draw_rule == "until_playable" or (rules.draw_rule == "one" and not game.state["has_drawn"][0])
    return ["draw"] if draws and len(game.boneyard) > rules.boneyard_reserve else ["pass"]
