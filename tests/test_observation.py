"""Observations: enough to know the public position and the mask, nothing of what is hidden."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dominoes_env.engine import batch
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING
from dominoes_env.engine.tiles import HIGH, LOW, PIPS
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.observation import (
    hidden_layout,
    hidden_size,
    mask_space,
    observation_layout,
    observation_size,
    observation_space,
    read_piece,
)
from dominoes_env.table import Table

RULES = {
    **{f"{v}-{n}": make_rules(v, num_players=n) for v, preset in VARIANTS.items() for n in preset.hand_sizes},
    "kept lots": make_rules("block", num_players=3, opening="lots_keep"),
    "draw one, reserve": make_rules("draw", draw_rule="one", boneyard_reserve=1),
    "double-nine with a spinner": make_rules("all_fives", num_players=4, max_pip=9),
    "double-one": make_rules("classic_block", max_pip=1, hand_size=1),
}


def _random_games(rules: Rules, num_steps: int = 60, **options: Any) -> Any:
    """A table of eight games, given after each of some random steps."""
    rng = np.random.default_rng(3)
    table = Table(rules, 8, seed=11, **options)
    yield table
    for _ in range(num_steps):
        table.step([rng.choice(np.flatnonzero(mask)) for mask in table.masks], autoreset=True)
        yield table


def _mask_from(rules: Rules, seen: NDArray[np.int8]) -> NDArray[np.int8]:
    """The mask by the rules, from the pieces of an observation alone."""

    def piece(name: str) -> NDArray[np.int8]:
        return read_piece(rules, seen, name)

    mask = np.zeros(rules.num_actions, np.int8)
    hand = np.flatnonzero(piece("hand"))
    if not piece("turn")[0]:
        mask[rules.pass_action] = 1
    elif not piece("laid").any():
        lead = hand
        if piece("is_lead_forced")[0]:
            doubles = [t for t in hand if LOW[t] == HIGH[t]]
            heaviest = max(hand, key=lambda t: (PIPS[t], HIGH[t]))
            if rules.opening == "lots_keep":
                lead = np.flatnonzero(piece("kept_lots")[0])
            elif rules.opening == "heaviest" or not doubles:
                lead = np.array([heaviest])
            else:
                lead = np.array([max(doubles)])
        mask[lead] = 1
    else:
        for end, row in enumerate(piece("ends")):
            for number in np.flatnonzero(row):
                fits = [t for t in hand if number in (LOW[t], HIGH[t])]
                mask[[end * rules.num_tiles + t for t in fits]] = 1
        if not mask.any():
            may_draw = rules.draw_rule != "none" and piece("boneyard")[0] > rules.boneyard_reserve
            if may_draw and rules.draw_rule == "one":
                may_draw = not piece("has_drawn")[0]
            mask[rules.draw_action if may_draw else rules.pass_action] = 1
    return mask


@pytest.mark.parametrize("name", RULES)
def test_the_position_and_the_mask_are_computable(name: str) -> None:
    rules = RULES[name]
    for table in _random_games(rules):
        for row in range(table.num_games):
            state = table.states[row]
            for player in range(rules.num_players):
                seen = table.observe(row, player)
                order = [(player + away) % rules.num_players for away in range(rules.num_players)]
                assert list(read_piece(rules, seen, "hand_counts")) == [state["hand_counts"][seat] for seat in order]
                assert read_piece(rules, seen, "boneyard")[0] == state["boneyard"]
                assert order[int(np.argmax(read_piece(rules, seen, "turn")))] == state["turn"]
                for end, one_hot in enumerate(read_piece(rules, seen, "ends")):
                    assert list(np.flatnonzero(one_hot)) == [n for n in [state["ends"][end]] if n != NONE]
                for away, shown in enumerate(read_piece(rules, seen, "lacking"), start=1):
                    assert sum(1 << n for n in np.flatnonzero(shown)) == state["lacking"][order[away]]
                assert np.array_equal(_mask_from(rules, seen), table.mask(row, player))
            mover = int(table.players[row])
            assert np.array_equal(table.observe(row, mover), table.observations[row])
            assert np.array_equal(table.mask(row, mover), table.masks[row])


@pytest.mark.parametrize("name", RULES)
def test_nothing_hidden_leaks(name: str) -> None:
    """Another world that fits what a player knows shows him the same observation and mask, bit for bit."""
    rules = RULES[name]
    rng = np.random.default_rng(8)
    twin = Table(rules, 1, history=True)
    for table in _random_games(rules, 25, history=True):
        for row in range(0, table.num_games, 3):
            past = table.round_history(row)
            for player in range(rules.num_players):
                seen = table.concealed(row, player)
                for world in (seen[0], determinize(rules, seen, player, past, rng)[0]):
                    twin.set_state(0, world, past)
                    assert np.array_equal(twin.observe(0, player), table.observe(row, player))
                    assert np.array_equal(twin.mask(0, player), table.mask(row, player))


def test_conceal_leaves_no_hidden_bit() -> None:
    for table in _random_games(RULES["kept lots"], 20):
        for row in range(8):
            state = table.states[row]
            seen = table.concealed(row, 1)[0]
            assert seen["generator"] == 0
            assert (seen["pile"] == NONE).all()
            for seat in (0, 2):
                lot = 1 << int(state["lots"][seat])
                assert int(seen["hands"][seat]) == (lot & ~int(state["laid"]) if state["lots"][seat] != NONE else 0)
            assert seen["hands"][1] == state["hands"][1]


@pytest.mark.parametrize("name", RULES)
def test_layout_spaces_and_bounds(name: str) -> None:
    rules = RULES[name]
    for history in (False, True):
        layout = observation_layout(rules, history=history)
        stops = [0] + [piece.stop for piece in layout.values()]
        assert [piece.start for piece in layout.values()] == stops[:-1]
        assert stops[-1] == observation_size(rules, history=history)
        assert ("spinner" in layout) == (rules.spinner != "none")
        assert ("has_drawn" in layout) == (rules.draw_rule != "none")
        assert ("kept_lots" in layout) == (rules.opening == "lots_keep")
        counts = rules.end_scoring in ("fives", "threes", "fives_and_threes")
        assert ("exposed_count" in layout) == ("remainder" in layout) == counts
        space = observation_space(rules, history=history)
        for table in _random_games(rules, 30, history=history, episode="match"):
            assert table.observations.dtype == np.int8 == table.masks.dtype
            for seen, mask in zip(table.observations, table.masks, strict=True):
                assert space.contains(seen)
                assert mask_space(rules).contains(mask)
                assert mask.any()


def test_history_is_the_round_in_order() -> None:
    rules = make_rules("draw", num_players=3)
    for table in _random_games(rules, 60, history=True):
        for row in range(8):
            past = table.round_history(row)
            for player in range(3):
                entries = read_piece(rules, table.observe(row, player), "history", history=True)
                assert not entries[len(past) :].any()
                seat = int(table.states[row]["starter"])
                for action, (who, tile, end) in zip(past, entries[: len(past)], strict=True):
                    assert who == (seat - player) % 3 + 1
                    if action == rules.draw_action:
                        assert (tile, end) == (-1, 0)
                        continue
                    seat = (seat + 1) % 3
                    if action == rules.pass_action:
                        assert (tile, end) == (-2, 0)
                    else:
                        assert end * rules.num_tiles + tile - 1 == action


def test_scores_are_shares_of_the_target() -> None:
    rules = make_rules("draw", num_players=3, target=30)
    table = Table(rules, 1, episode="match")
    state = table.states.copy()
    state["scores"][0] = [10, 29, 100, 0]
    table.set_state(0, state)
    assert list(read_piece(rules, table.observe(0, 1), "scores")) == [96, 127, 33]


def test_an_unknown_piece_is_refused() -> None:
    rules = make_rules("block")
    with pytest.raises(
        ValueError, match=re.escape("name='spinner' is no piece of this observation; pieces: hand, laid")
    ):
        read_piece(rules, np.zeros(observation_size(rules), np.int8), "spinner")


def test_an_observation_of_other_rules_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("observation of shape (5,) is not allowed; allowed: (..., 87)")):
        read_piece(make_rules("block"), np.zeros(5, np.int8), "hand")


def test_a_far_end_shows() -> None:
    """Two layouts with the same last tile and another far end are told apart (D14)."""
    rules = make_rules("classic_block", opening="seat_0")
    table = Table(rules, 2, seed=0)
    states = table.states.copy()
    states[1] = states[0]
    for row, number in ((0, 2), (1, 5)):
        states[row]["ends"][:2] = [4, number]
        table.set_state(row, states[row])
    assert states[0]["status"] == PLAYING
    assert not np.array_equal(table.observe(0, 0), table.observe(1, 0))


def test_perft_of_nothing_is_one() -> None:
    table = Table(make_rules("draw"))
    assert batch.perft(table.states, table.rules.row, 0) == 1


@pytest.mark.parametrize("name", RULES)
def test_what_is_hidden_is_the_rest(name):
    """With the observation it makes the whole position: hands seat by seat from the mover's, and the order of draws."""
    rules = RULES[name]
    layout = hidden_layout(rules)
    assert list(layout) == ["hands"] + ["draws"] * (rules.draw_rule != "none")
    for table in _random_games(rules):
        hidden = table.hidden()
        assert hidden.shape == (8, hidden_size(rules)) and hidden.dtype == np.int8
        for row, (state, vector) in enumerate(zip(table.states, hidden, strict=True)):
            hands = vector[layout["hands"].slice].reshape(layout["hands"].shape)
            for away, hand in enumerate(hands, 1):
                bits = int(state["hands"][(state["turn"] + away) % rules.num_players])
                assert set(np.flatnonzero(hand)) == {tile for tile in range(rules.num_tiles) if bits >> tile & 1}
            if "draws" in layout:
                draws = vector[layout["draws"].slice]
                pile = state["pile"][: state["boneyard"]][::-1][:7]
                assert [draws[tile] for tile in pile] == [64, 32, 16, 8, 4, 2, 1][: len(pile)]
                assert (draws > 0).sum() == len(pile)
            assert (table.hidden()[row] == vector).all()
