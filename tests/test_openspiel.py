"""Against an outside judge: OpenSpiel's block dominoes, the same deals and moves in both.

Its game is ``classic_block`` for two with seat 0 leading, and one round of it. Three of its ways differ and are bridged
here: it passes silently, it has one action where both ends show the same number, and it names the number that a tile
is laid against, not the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (open-spiel, extra dev) is not installed")
block_dominoes = pytest.importorskip(
    "open_spiel.python.games.block_dominoes", reason="this OpenSpiel has no Python block dominoes"
)

RULES = make_rules("classic_block", opening="seat_0")
#: Tile ids in the order of the engine, as (low, high).
TILES = [(low, high) for high in range(7) for low in range(high + 1)]
#: OpenSpiel's action by player, tile and the number laid against; None for a lead.
THEIR_ACTIONS = {
    (action.player, TILES.index(action.tile), action.edge): number
    for number, action in enumerate(block_dominoes._ACTIONS)
}
CHANCE_OUTCOMES = {TILES.index(tile): number for number, tile in enumerate(block_dominoes._DECK)}


NUM_GAMES = 10_000


def open_game(state: np.void) -> Any:
    """OpenSpiel's game with the hands of ``state``, dealt tile by tile as its chance player would."""
    theirs = pyspiel.load_game("python_block_dominoes").new_initial_state()
    for seat in range(2):
        for tile in range(len(TILES)):
            if int(state["hands"][seat]) >> tile & 1:
                assert theirs.is_chance_node()
                theirs.apply_action(CHANCE_OUTCOMES[tile])
    return theirs


def test_same_legal_plays_and_returns() -> None:
    table = Table(RULES, seed=5)
    chooser = np.random.default_rng(5)
    num_plays = num_passes = num_equal_ends = 0
    for _ in range(NUM_GAMES):
        table.reset()
        theirs = open_game(table.states[0])
        while not table.terminated[0]:
            state = table.states[0]
            seat = int(state["turn"])
            legal = np.flatnonzero(table.masks[0]).tolist()
            if legal == [RULES.pass_action]:
                assert theirs.current_player() == 1 - seat  # OpenSpiel has passed on without a word
                table.step(legal)
                num_passes += 1
                continue
            is_lead = int(state["laid"]) == 0
            translated = {}
            for action in legal:
                end, tile = divmod(action, len(TILES))
                translated[action] = THEIR_ACTIONS[seat, tile, None if is_lead else float(state["ends"][end])]
            assert theirs.current_player() == seat
            assert theirs.legal_actions() == sorted(set(translated.values()))
            num_equal_ends += len(set(translated.values())) < len(legal)
            action = int(chooser.choice(legal))
            theirs.apply_action(translated[action])
            table.step([action])
            num_plays += 1
        assert theirs.is_terminal()
        assert theirs.returns() == table.rewards[0].tolist()
    assert num_plays > 10 * NUM_GAMES
    assert min(num_passes, num_equal_ends) > NUM_GAMES / 2
