"""Beliefs: they add up, use what was shown and nothing hidden, and are scored against the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_no_leak import GAMES, decisions, worlds_of

from agents import make_agent
from agents.advice import turn_of
from agents.beliefs import Belief, brier_score, count_belief, score_beliefs, world_belief
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from training.intervals import mean_interval

#: ``player_1`` has passed on 0 and 1 and holds 4 of the other 10 hidden tiles.
LINE = (
    "classic_block num_players=2 | hands 1-1,4-2,5-1,6-6 / 3-2,3-3,4-3,5-4 | boneyard rest"
    " | layout 0-0 1-0@0 pass 5-0@1 5-3@1 6-3@1 6-2@1 | turn 0 | lacking - / 0,1"
)


@pytest.fixture(scope="module")
def game():
    return Game.from_position(LINE, episode="round")


@pytest.mark.parametrize(("variant", "num_players", "knobs"), GAMES)
def test_chances_add_up_and_ignore_what_is_hidden(variant, num_players, knobs):
    rules = make_rules(variant, num_players=num_players, **knobs)
    generator = np.random.default_rng(2)
    for table in decisions(rules, 3, seed=5):
        _, turns = worlds_of(table, generator)
        for believe in (count_belief, lambda turn: world_belief(turn, worlds=60), weighted):
            first, *others = [believe(turns[row]) for row in range(len(turns))]
            counts = table.states["hand_counts"][0, :num_players]
            assert first.chances.sum(axis=1) == pytest.approx(counts)
            assert (first.chances >= 0).all() and (first.chances.sum(axis=0) <= 1 + 1e-9).all()
            own = np.flatnonzero(first.chances[first.player] > 0).tolist()
            assert own == list(tiles_in(table.states["hands"][0, first.player]))
            assert not first.chances[:, list(tiles_in(table.states["laid"][0]))].any()
            for other in others:
                assert other.chances.tobytes() == first.chances.tobytes() and other.hidden == first.hidden


def weighted(turn):
    return world_belief(turn, worlds=60, agent="inference")


def test_each_belief_uses_more_than_the_one_before(game):
    turn = turn_of(game, key=3)
    assert len(count_belief(turn).hidden) == 18
    assert count_belief(turn).chances[1, list(count_belief(turn).hidden)] == pytest.approx(np.full(18, 4 / 18))
    fits = world_belief(turn, worlds=4000)
    for tile in fits.hidden:
        is_possible = not {int(tile_half) for tile_half in halves(tile)} & {0, 1}
        near = pytest.approx(0.4, abs=4 * np.sqrt(0.24 / 4000))
        assert fits.chances[1, tile] == (near if is_possible else 0)
    assert fits.effective_worlds == pytest.approx(4000)
    assert fits.half_width(1).max() == pytest.approx(1.96 * np.sqrt(0.24 / 4000), rel=0.05)
    assert not count_belief(turn).half_width(1).any()
    read = world_belief(turn, worlds=4000, agent=make_agent("inference"))
    assert 100 < read.effective_worlds < 3900
    assert brier_score(read, game.state) < brier_score(fits, game.state) < brier_score(count_belief(turn), game.state)


def halves(tile):
    return next((low, high) for high in range(7) for low in range(high + 1) if high * (high + 1) // 2 + low == tile)


def test_weights_are_those_of_the_agent(game):
    class Sure:
        """Weighs by whether player_1 holds 3-3 (id 9)."""

        name = "sure"

        def act(self, turn):
            return int(turn.legal_actions[0])

        def log_likelihoods(self, turn, deals):
            laid = sum(1 << tile for tile in (0, 1, 15, 18, 24, 23))
            return np.where((deals["hands"][:, 1] & ~np.uint64(laid)) >> np.uint64(9) & np.uint64(1) == 1, 0.0, -900.0)

    from agents.base import as_agent

    sure = as_agent(Sure())
    with pytest.raises(ValueError, match="weighs deals"):
        world_belief(turn_of(game), agent=sure)  # a wrapper shows an agent's methods alone
    sure.log_likelihoods = sure.player.log_likelihoods
    belief = world_belief(turn_of(game), worlds=500, agent=sure)
    assert belief.chances[1, 9] == pytest.approx(1) and 100 < belief.effective_worlds < 300


def test_the_score_of_knowing_and_of_guessing(game):
    turn = turn_of(game)
    truth = np.zeros((2, 28))
    for seat in range(2):
        truth[seat, list(tiles_in(game.state["hands"][0, seat]))] = 1
    hidden = count_belief(turn).hidden
    assert brier_score(Belief(game.rules, 0, hidden, truth), game.state) == 0
    assert brier_score(Belief(game.rules, 0, hidden, 1 - truth), game.state) == 1
    assert brier_score(count_belief(turn), game.state) == pytest.approx(4 / 18 * 14 / 18)
    with pytest.raises(ValueError, match="no tile is hidden"):
        brier_score(Belief(game.rules, 0, (), truth), game.state)


@pytest.mark.parametrize("agent", ["pimc:5", "greedy"])
def test_agents_that_do_not_weigh_are_refused(game, agent):
    with pytest.raises(ValueError, match=f"agent='{agent}' is not allowed"):
        world_belief(turn_of(game), agent=agent)


def test_reading_moves_pays_where_the_model_is_right():
    rules, seen = make_rules("classic_block"), []

    def fits(turn):
        seen.append(turn)
        return world_belief(turn, worlds=200)

    ways = {
        "counting": count_belief,
        "fits": fits,
        "read": lambda turn: world_belief(turn, worlds=200, agent="inference"),
    }
    scores = score_beliefs(ways, "flexible", rules, 200, decision=6, seed=3)
    count = len(scores["fits"])
    assert 150 < count <= 200 and {len(values) for values in scores.values()} == {count}
    assert len(seen) == count and all(turn.open_state is None and turn.mask.sum() > 1 for turn in seen)
    assert mean_interval(scores["counting"] - scores["fits"]).low > 0
    assert mean_interval(scores["fits"] - scores["read"]).low > 0
    again = score_beliefs(ways, "flexible", rules, 200, decision=6, seed=3)
    assert all(np.array_equal(again[name], scores[name]) for name in ways)


def test_scores_of_the_first_decision_and_of_none_left():
    rules = make_rules("partners")
    first = score_beliefs({"counting": count_belief}, "random", rules, 20, decision=1)
    assert len(first["counting"]) <= 20 and len(first["counting"]) > 10
    assert score_beliefs({"counting": count_belief}, "random", rules, 5, decision=60)["counting"].shape == (0,)
    with pytest.raises(ValueError, match="player='cheater' is not allowed"):
        score_beliefs({}, "cheater", rules, 5)
    with pytest.raises(ValueError, match="decision=0"):
        score_beliefs({}, "random", rules, 5, decision=0)


def test_a_turn_of_a_game_is_what_the_mover_may_know(game):
    turn = turn_of(game, key=5)
    assert turn.player == game.turn and turn.key == 5 and turn.open_state is None
    assert not turn.state["hands"][0, 1] and turn.history.tolist() == list(game.history)
    assert turn.observation.tolist() == game.observation().tolist() and turn.mask.tolist() == game.mask().tolist()
    assert len(turn_of(game, history=True).observation) > len(turn.observation)
    assert replace(turn, key=6).key == 6
    over = Game("block", seed=1, episode="round")
    while not over.is_over:
        over.step(over.legal_actions[0])
    with pytest.raises(ValueError, match="it is over"):
        turn_of(over)
    with pytest.raises(ValueError, match="key=-1"):
        turn_of(game, key=-1)
