"""The player inference: likelihoods against a count by hand, and what it makes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents import Agent, make_agent
from agents.base import Turns
from agents.double_dummy import solve
from agents.inference import InferenceAgent, _resample
from agents.keys import decision_keys
from agents.learned import LearnedAgent
from agents.match import play_match, turns_of
from agents.policy_file import Policy
from dominoes_env.engine.actions import decode_action
from dominoes_env.engine.state import PLAYING
from dominoes_env.engine.tiles import HIGH, LOW, tiles_in
from dominoes_env.engine.variants import make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.observation import observation_size
from dominoes_env.table import Table

SMALL = {"max_pip": 4, "hand_size": 4}
GAMES = {
    "block": make_rules("classic_block", opening="seat_0", **SMALL),
    "draw": make_rules("draw", **SMALL),
    "draw one": make_rules("draw", draw_rule="one", num_players=3, max_pip=4, hand_size=3),
    "all fives": make_rules("all_fives", max_pip=5, hand_size=5),
    "partners": make_rules("partners", max_pip=4, hand_size=3, no_double="heaviest"),
}


def late_turns(rules, count, seed=0, model="flexible"):
    """Decisions in the midst of rounds between players who play by the model."""
    table = Table(rules, seed=seed, skip_forced=True)
    agent = make_agent(model)
    found = 0
    for game in range(200):
        table.reset(game)
        for move in range(30):
            turn = turns_of(table, np.arange(1), decision_keys(game, move))[0]
            if move > 2 and table.masks[0].sum() > 1:
                yield turn
                found += 1
                break
            table.step([agent.act(turn)])
            if table.terminated[0]:
                break
        if found == count:
            return


class ByHand:
    """One round replayed by the table, with what the others had to choose from written down."""

    def __init__(self, rules, deal, history, player):
        table = Table(rules)
        table.set_state(0, deal)
        self.choices = []
        for action in history:
            legal = [int(a) for a in np.flatnonzero(table.masks[0])]
            if table.players[0] != player and len(legal) > 1:
                self.choices.append((table.states[0].copy(), legal, int(action)))
            table.step([int(action)])
        self.state = table.states[0]


def flexible_worth(rules, state, action, point):
    """The rule restated: pips, three a tile of one's own that fits then, less 1.5 an unseen one; points of the play."""
    tile, _ = decode_action(rules, action)
    alone = Table(rules)
    alone.set_state(0, state)
    mover = int(state["turn"])
    hand = set(tiles_in(state["hands"][mover])) - {tile}
    alone.step([action])
    after = alone.states[0]
    unseen = set(range(rules.num_tiles)) - hand - set(tiles_in(after["laid"]))
    ends = {int(end) for end in after["ends"] if end >= 0}
    fits = {t for t in range(rules.num_tiles) if {int(LOW[t]), int(HIGH[t])} & ends}
    worth = int(LOW[tile]) + int(HIGH[tile]) + 3 * len(hand & fits) - 1.5 * len(unseen & fits)
    if rules.end_scoring != "none":
        if after["status"] != PLAYING:
            return None  # what the play booked and what the round's end booked are not told apart here
        worth += point * int(after["round_points"][mover] - state["round_points"][mover])
    return worth


@pytest.mark.parametrize("name", GAMES)
def test_likelihoods_are_those_counted_by_hand(name):
    rules = GAMES[name]
    temperature, noise = 3.0, 0.1
    agent = InferenceAgent(model="flexible", temperature=temperature, noise=noise)
    rng = np.random.default_rng(3)
    differing = 0
    for turn in late_turns(rules, 8):
        worlds, deals = determinize(rules, turn.state, turn.player, turn.history, rng, num_worlds=6, with_deal=True)
        logs = agent.log_likelihoods(turn, deals)
        for world, deal, log in zip(worlds, deals, logs, strict=True):
            replayed = ByHand(rules, deal, turn.history, turn.player)
            assert (replayed.state["hands"] == world["hands"]).all()
            expected = 0.0
            for state, legal, taken in replayed.choices:
                worths = [flexible_worth(rules, state, action, 3) for action in legal]
                assert None not in worths
                shares = [math.exp(worth / temperature) for worth in worths]
                chosen = shares[legal.index(taken)] / sum(shares)
                expected += math.log((1 - noise) * chosen + noise / len(legal))
            assert log == pytest.approx(expected, abs=1e-9)
        differing += len(set(np.round(logs, 9))) > 1
    assert differing >= 3


class Likes(Agent):
    """Says of every action how much it likes it: the lower its id the more."""

    name = "likes"
    gives_probabilities = True

    def act(self, turn):
        return int(turn.legal_actions[0])

    def probabilities(self, turns: Turns):
        for row in range(len(turns)):  # a model sees what its seat may know, and no more
            hands = turns.states["hands"][row]
            assert [bool(hand) for hand in hands] == [seat == turns.players[row] for seat in range(4)]
        shares = turns.masks / np.arange(1, turns.masks.shape[1] + 1)
        return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", GAMES)
def test_a_model_may_be_anybody_with_probabilities(name):
    rules = GAMES[name]
    rng = np.random.default_rng(3)
    agent, uniform = InferenceAgent(model=Likes(), noise=0.2), InferenceAgent(model="random")
    same = InferenceAgent(model="greedy", noise=1)
    for turn in late_turns(rules, 5):
        _, deals = determinize(rules, turn.state, turn.player, turn.history, rng, num_worlds=5, with_deal=True)
        for deal, log, flat, other in zip(
            deals, *(a.log_likelihoods(turn, deals) for a in (agent, uniform, same)), strict=True
        ):
            expected = equal = 0.0
            for _, legal, taken in ByHand(rules, deal, turn.history, turn.player).choices:
                share = 1 / (taken + 1) / sum(1 / (action + 1) for action in legal)
                expected += math.log(0.8 * share + 0.2 / len(legal))
                equal -= math.log(len(legal))
            assert (log, flat, other) == (pytest.approx(expected), pytest.approx(equal), pytest.approx(equal))


def test_a_trained_player_with_a_memory_may_be_the_model():
    rules = GAMES["draw"]
    generator = np.random.default_rng(0)
    shape = observation_size(rules, history=True), rules.num_actions
    policy = Policy(
        rules, (generator.normal(0, 1, shape).astype(np.float32),), (np.zeros(shape[1], np.float32),), history=True
    )
    agent = InferenceAgent(8, LearnedAgent(policy, mode="sample"))
    for turn in late_turns(rules, 3):
        assert turn.mask[agent.act(turn)] == 1
    with pytest.raises(ValueError, match="trained for other rules"):
        agent.check_rules(GAMES["block"])


@pytest.mark.parametrize("name", GAMES)
def test_it_answers_by_its_key_in_any_batch(name):
    rules = GAMES[name]
    turns = list(late_turns(rules, 6))
    agent = InferenceAgent(10, pool=3)
    alone = [agent.act(turn) for turn in turns]
    assert alone == [agent.act(turn) for turn in turns]
    assert agent.act_batch(Turns.of(turns)).tolist() == alone == [InferenceAgent(10, pool=3).act(t) for t in turns]
    assert all(turn.mask[action] == 1 for turn, action in zip(turns, alone, strict=True))


@pytest.mark.parametrize("name", ["block", "draw"])
def test_worlds_come_by_their_likelihood(name):
    """Late in a round few deals fit: each world comes as often as the deals that lead to it weigh together."""
    rules = GAMES[name]
    agent = InferenceAgent(3000, pool=2, noise=0.2)
    checked = 0
    for turn in late_turns(rules, 40):
        rng = np.random.default_rng(0)
        worlds, deals = determinize(rules, turn.state, turn.player, turn.history, rng, num_worlds=3000, with_deal=True)
        weights = np.exp(agent.log_likelihoods(turn, deals))
        if len(np.unique(worlds["hands"], axis=0)) > 20 or weights.max() < 1.5 * weights.min():
            continue
        drawn, counts, _ = agent._draw(turn, np.array([turn.key], np.uint64), agent.worlds, 0)
        assert counts.sum() == 3000
        for hands in np.unique(worlds["hands"], axis=0):
            share = weights[(worlds["hands"] == hands).all(axis=1)].sum() / weights.sum()
            got = counts[(drawn["hands"] == hands).all(axis=1)].sum() / 3000
            assert got == pytest.approx(share, abs=6 * (share / 3000) ** 0.5 + 1e-3)
        checked += 1
    assert checked >= 3


@pytest.mark.parametrize("name", GAMES)
def test_values_are_means_over_the_worlds_drawn(name):
    agent = InferenceAgent(12, pool=2)
    for turn in late_turns(GAMES[name], 4):
        worlds, counts, _ = agent._draw(turn, np.array([turn.key], np.uint64), agent.worlds, 0)
        solved = np.array([solve(turn.rules, np.array([world])).values for world in worlds])
        expected = counts @ solved[:, turn.legal_actions] / counts.sum()
        assert agent.values(turn)[turn.legal_actions] == pytest.approx(expected)


def test_resampling_draws_by_weight():
    generator = np.random.default_rng(0)
    weights = generator.random(50)
    counts = np.array([_resample(weights, 20, generator.random()) for _ in range(4000)])
    expected = 20 * weights / weights.sum()
    assert (counts.sum(axis=1) == 20).all() and (counts >= 0).all()
    assert (np.abs(counts - expected) < 1 + 1e-9).all()
    assert np.abs(counts.mean(axis=0) - expected).max() < 5 * 0.5 / 4000**0.5


def test_a_record_without_its_past_is_played_too():
    rules = make_rules("draw")
    table = Table(rules, seed=2)
    for _ in range(6):
        table.step([table.masks[0].argmax()])
    table.set_state(0, table.states[0])
    turn = turns_of(table, np.arange(1), decision_keys(0))[0]
    assert len(turn.history) == 0
    assert turn.mask[InferenceAgent(5).act(turn)] == 1
    assert turn.mask[InferenceAgent(5, ms=0.1).act(turn)] == 1


def test_whole_games_in_which_reading_the_table_does_no_harm():
    result = play_match(["inference:worlds=30,pool=3", "random"], make_rules("classic_block"), 20)
    assert result.win_rate_a_deal().mean() > 0.5
    play_match(["inference:worlds=3,ms=1", "greedy"], make_rules("partners"), 1)


def test_what_is_not_allowed_is_refused():
    for arguments, match in (
        ({"worlds": 0}, "worlds=0"),
        ({"pool": 0}, "pool=0"),
        ({"nodes": 0}, "nodes=0"),
        ({"noise": 0}, "noise=0 is not allowed; allowed: a number above 0"),
        ({"noise": 1.5}, r"noise=1\.5"),
        ({"temperature": 0}, "temperature=0"),
        ({"ms": -1}, "ms=-1"),
        ({"ms": "x"}, "ms='x'"),
        ({"model": "pimc"}, "model='pimc' is not allowed; allowed: an agent that gives probabilities"),
        ({"model": "nobody"}, "agent='nobody'"),
    ):
        with pytest.raises(ValueError, match=match):
            InferenceAgent(**arguments)


def test_parts_drawn_within_a_time_limit_add_up_to_the_same_estimate():
    """With time enough every world is solved, in parts that count by how likely their pools are."""
    table = Table(make_rules("classic_block", opening="seat_0"), seed=4)
    for _ in range(5):
        table.step([table.masks[0].argmax()])
    turn = turns_of(table, np.arange(1), decision_keys(3))[0]
    whole = InferenceAgent(2000).values(turn)
    parts = InferenceAgent(2000, ms=1e6).values(turn)
    legal = turn.legal_actions
    assert len(legal) > 1
    np.testing.assert_allclose(parts[legal], whole[legal], atol=0.6)
    with pytest.raises(ValueError, match="ms=inf"):
        InferenceAgent(ms=float("inf"))
