"""Advice: it is what the agent would do, it says by how much, and it never knows what is hidden."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from linear_policy import policy_of
from random_games import played
from test_no_leak import GAMES, decisions, worlds_of

from agents import Agent, make_agent
from agents.advice import BEST_ADVISER, Advice, advise, check_adviser
from agents.counts import count_plays
from agents.learned import LearnedAgent
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.game import Game

ADVISERS = ["pimc:6", "inference:6", "ismcts:40", "random", "greedy", "doubles", "flexible"]


@pytest.mark.parametrize(("variant", "num_players", "knobs"), GAMES)
@pytest.mark.parametrize("name", ADVISERS)
def test_advice_is_what_the_agent_does_and_dealing_anew_what_is_hidden_does_not_change_it(
    name, variant, num_players, knobs
):
    rules = make_rules(variant, num_players=num_players, **knobs)
    agent, generator, differing = make_agent(name), np.random.default_rng(1), 0
    for table in decisions(rules, 3, seed=4):
        others, turns = worlds_of(table, generator)
        differing += len(np.unique(others.states["hands"], axis=0)) > 1
        advices = [advise(agent, turns[row]) for row in range(len(turns))]
        first = advices[0]
        assert all(repr(advice) == repr(first) for advice in advices)
        assert first.best == agent.act(turns[0])
        assert first.actions == tuple(turns[0].legal_actions.tolist())
        assert (first.values is None) == (not agent.gives_values)
        assert (first.probabilities is None) == (not agent.gives_probabilities)
        if first.values is not None:
            assert len(first.values) == len(first.actions) and first.lead is not None
            if not name.startswith("ismcts"):
                assert first.lead >= -1e-9 and first.value_of(first.best) == max(first.values)
        else:
            assert first.lead is None and sum(first.probabilities) == pytest.approx(1)
            assert first.probabilities[first.actions.index(first.best)] == max(first.probabilities)
        assert json.loads(json.dumps(first.to_dict()))["best"] == first.best
    assert differing


def turn_of(variant="draw", num_moves=4):
    table = next(iter(decisions(make_rules(variant), 1, seed=num_moves)))
    return worlds_of(table, np.random.default_rng(0))[1][0]


def test_a_trained_player_tells_its_policy_even_where_it_takes_the_best_alone():
    turn = turn_of("draw")
    policy = policy_of("draw", 0.1)
    best, sampled = (advise(LearnedAgent(policy, mode), turn) for mode in ("best", "sample"))
    assert best.probabilities == sampled.probabilities and max(best.probabilities) < 1
    assert best.best == best.actions[int(np.argmax(best.probabilities))] and best.values is None


def test_a_limited_time_a_forced_move_and_an_agent_of_ones_own():
    turn = turn_of("draw")
    for name in ("pimc:1000:ms=1", "inference:1000:ms=1", "ismcts:100000:ms=1"):
        advice = advise(name, turn)
        assert advice.best in advice.actions and not all(map(math.isnan, advice.values))
    game = Game("draw", seed=1)
    while len(game.legal_actions) > 1:
        game.step(game.legal_actions[0])

    class Own:
        name = "own"

        def act(self, turn):
            assert turn.open_state is None
            return int(turn.legal_actions[-1])

    class Judge(Own):
        def evaluate(self, turn):
            return int(turn.legal_actions[0]), np.where(turn.mask == 1, 1.5, np.nan)

    assert advise(Own(), turn) == Advice("own", tuple(turn.legal_actions.tolist()), int(turn.legal_actions[-1]))
    advice = advise(Judge(), turn)
    assert advice.best == turn.legal_actions[0] and set(advice.values) == {1.5} and advice.lead == 0


def test_cheaters_persons_and_unknown_names_do_not_advise():
    turn = turn_of()
    for name in ("cheater", "human"):
        with pytest.raises(ValueError, match=f"agent='{name}' is not allowed to advise"):
            advise(name, turn)
    with pytest.raises(ValueError, match="nobody"):
        advise("nobody", turn)
    with pytest.raises(NotImplementedError, match="gives no values"):
        make_agent("greedy").evaluate(turn)
    assert isinstance(check_adviser(BEST_ADVISER), Agent)
    wrong = type("Wrong", (), {"act": lambda self, turn: -1})()
    with pytest.raises(ValueError, match="advises action=-1"):
        advise(wrong, turn)


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_are_what_the_engine_books(variant):
    rules = make_rules(variant, target=100_000)  # so that no round ends by reaching it
    is_scored = rules.end_scoring != "none"
    checked = 0
    for seed in range(120 if is_scored else 2):
        game = played(rules, seed, seed % 12, "round")
        if game.is_over:
            continue
        counts = count_plays(rules, game.concealed(), game.legal_actions)
        assert counts == count_plays(rules, game.state, game.legal_actions)
        assert set(counts) == {a for a in game.legal_actions if is_scored and a < rules.draw_action}
        for action, count in counts.items():
            twin = game.clone()
            booked = twin.step(action)
            if rules.end_scoring != "equal_ends":
                assert sum(count.parts) == count.total == twin.exposed_count
            if not twin.is_over:
                assert count.booked == booked and count.points == booked[game.turn]
                checked += 1
    assert (checked > 50) == is_scored


def test_counts_are_spelled_out():
    def texts(position, *words):
        game = Game.from_position(position)
        counts = count_plays(game.rules, game.concealed(), game.legal_actions)
        words_of = dict(zip(game.legal_words, game.legal_actions, strict=True))
        return [str(counts[words_of[word]]) for word in words]

    two = "all_fives num_players=2 | hands"
    assert texts(f"{two} 5-5,0-0,3-2 / rest", "5-5", "0-0", "3-2") == [
        "10: 10 points",
        "0: nothing",
        "2+3 = 5: 5 points",
    ]
    assert texts(f"{two} 6-3,6-0 / rest | layout 6-6 | turn 0 | starter 1", "6-3@0", "6-0@0") == [
        "3+12 = 15: 15 points",
        "0+12 = 12: nothing",
    ]
    assert texts(f"{two} 6-5,4-4 / rest | layout 6-6 6-4@0 | turn 0", "6-5@1", "4-4@0") == [
        "4+5 = 9: nothing",
        "8+12 = 20: 20 points",
    ]
    both = "fives_and_threes num_players=2 | hands 6-5,4-0 / rest | layout 6-4 | turn 0 | starter 1"
    assert texts(both, "6-5@1", "4-0@0") == ["4+5 = 9: 3 points", "0+6 = 6: 2 points"]
    equal = "bergen num_players=2 | hands 5-4,6-5 / rest | layout 4-4 6-4@0 | turn 0"
    assert texts(equal, "6-5@0", "5-4@1") == ["5 and 4: nothing", "6 and 5: nothing"]
    assert texts("bergen num_players=2 | hands 6-6,5-5 / rest | layout 6-5 | turn 0 | starter 1", "6-6@1") == [
        "5 and 6: nothing"
    ]
    assert texts("bergen num_players=2 | hands rest / 5-1 | layout 1-1 6-1@0 6-5@0 | turn 1 | starter 0", "5-1@1") == [
        "5 and 5: 2 points"
    ]
    assert count_plays(make_rules("draw"), Game("draw", seed=1).state, [0]) == {}
