"""Mirrored matches: seatings, the same deal in each, figures against a plain loop and against published ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents import Agent, make_agent, play_match
from agents.keys import decision_keys
from agents.match import AgentFailure, IllegalChoice, seatings, turns_of
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table
from training.intervals import Interval, mean_interval

GAMES = [
    ("draw", {}),
    ("draw", {"num_players": 4}),
    ("all_fives", {}),
    ("all_fives", {"num_players": 3}),
    ("partners", {}),
    ("block", {"num_players": 3}),
    ("bergen", {}),
    ("classic_block", {"blocked_tie": "split", "award": "all"}),
]


def test_seatings_put_every_agent_in_every_seat_equally_often():
    two, three, four = make_rules("draw"), make_rules("draw", num_players=3), make_rules("draw", num_players=4)
    teams = make_rules("partners")
    assert seatings(two, 2).tolist() == [[0, 1], [1, 0]]
    assert seatings(three, 2).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert seatings(four, 2).tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert seatings(three, 3).tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    assert seatings(teams, 2).tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    for rules in (four, teams):
        assert all(sorted(column) == [0, 1, 2, 3] for column in seatings(rules, 4).T.tolist())
    for rules, wrong in ((two, 3), (two, 1), (four, 3), (teams, 3)):
        with pytest.raises(ValueError, match=f"num_agents={wrong}"):
            seatings(rules, wrong)


class Recorder(Agent):
    """Plays as ``random`` and notes who led with which hand."""

    def __init__(self) -> None:
        self.leads: set[tuple[int, int]] = set()

    def act(self, turn):
        if not len(turn.history):
            self.leads.add((turn.player, int(turn.state["hands"][0, turn.player])))
        return make_agent("random").act(turn)


def test_a_deal_is_the_same_in_every_seating():
    rules = make_rules("classic_block")
    first, second = Recorder(), Recorder()
    play_match([first, second], rules, 20, seed=4)
    states = Table(rules, 20, seed=4).states
    dealt = {(int(state["turn"]), int(state["hands"][state["turn"]])) for state in states}
    assert len(dealt) == 20
    assert first.leads == second.leads == dealt


@pytest.mark.parametrize(("variant", "knobs"), GAMES)
def test_results_do_not_depend_on_the_batch_and_parts_make_the_whole(variant, knobs):
    rules = make_rules(variant, **knobs)
    agents = [make_agent("doubles"), make_agent("random")]
    whole = play_match(agents, rules, 60, seed=5)
    small = play_match(agents, rules, 60, seed=5, batch=7)
    parts = [play_match(agents, rules, 30, seed=5, first_deal=start) for start in (0, 30)]
    other = play_match(agents, rules, 60, seed=6)
    assert (whole.points == small.points).all() and (whole.wins == small.wins).all()
    assert whole.num_decisions == small.num_decisions == sum(part.num_decisions for part in parts)
    assert (whole.points == np.concatenate([part.points for part in parts], axis=1)).all()
    assert not (whole.points == other.points).all()


def plain_match(names: list[str], rules: Rules, deals: int, seed: int) -> tuple[list, list]:
    """The same match, a game and a step at a time, nothing skipped; points and win share of the first agent."""
    agents = [make_agent(name) for name in names]
    points, wins = [], []
    for deal in range(deals):
        for sits in seatings(rules, len(agents)):
            table = Table(rules, seed=seed, game_ids=[deal], reward="margin")
            total = np.zeros(rules.num_players)
            while not table.terminated[0]:
                place = decision_keys(seed, deal)
                turns = turns_of(table, np.arange(1), decision_keys(place, int(table.history_lengths[0])))
                table.step(np.array([agents[sits[table.players[0]]].act(turns[0])]))
                total += table.rewards[0]
            own = sits == 0
            points.append(total[own].mean())
            won = np.array([int(table.states["round_winners"][0]) >> seat & 1 for seat in range(rules.num_players)])
            wins.append((won / (won.sum() / (2 if rules.teams else 1)))[own].mean())
    return points, wins


@pytest.mark.parametrize(("variant", "knobs"), GAMES)
def test_a_match_is_what_a_plain_loop_plays(variant, knobs):
    rules = make_rules(variant, **knobs)
    result = play_match([make_agent("greedy"), make_agent("random")], rules, 12, seed=8)
    points, wins = plain_match(["greedy", "random"], rules, 12, seed=8)
    np.testing.assert_allclose(result.points[0].ravel(), points, atol=1e-4)
    np.testing.assert_allclose(result.wins[0].ravel(), wins, atol=1e-9)


@pytest.mark.parametrize("variant", ["draw", "partners", "all_fives"])
def test_as_many_agents_as_players_share_one_win(variant):
    rules = make_rules(variant, num_players=4)
    result = play_match([make_agent(name) for name in ("greedy", "random", "doubles", "random")], rules, 50, seed=1)
    assert result.points.shape == result.wins.shape == (4, 50, 4)
    assert result.num_deals == 50
    np.testing.assert_allclose(result.wins.sum(axis=0), 2 if rules.teams else 1)
    np.testing.assert_allclose(result.points.sum(axis=0), 0, atol=1e-9)


# Two independent implementations agree on these under classic_block, seat 0 leading (their own ± is 0.05 to 1).
@pytest.mark.parametrize(
    ("agent", "opponent", "win_rate", "points"),
    [("greedy", "random", 58.8, 3.33), ("doubles", "random", 60.2, 3.46), ("doubles", "greedy", 52.1, 0.45)],
)
def test_published_figures_of_the_rules_of_thumb(agent, opponent, win_rate, points):
    rules = make_rules("classic_block", opening="seat_0")
    result = play_match([make_agent(agent), make_agent(opponent)], rules, 10_000, seed=1)
    win = mean_interval(100 * result.win_rate_a_deal())
    margin = mean_interval(result.points_a_deal())
    assert abs(win.mean - win_rate) < 1.6 * win.half_width + 0.4  # they count going out against a lone [0-0] as a tie
    assert abs(margin.mean - points) < 1.6 * margin.half_width + 0.05


class Fixed(Agent):
    name = "fixed"

    def __init__(self, answer):
        self.answer = answer

    def act(self, turn):
        return self.answer

    def act_batch(self, turns):
        return np.array([self.answer] * len(turns))


@pytest.mark.parametrize("answer", [57, -1, 58, 10**9])
def test_an_illegal_choice_is_an_error_that_says_who_and_where(answer):
    with pytest.raises(
        IllegalChoice, match=rf"'fixed' chose action={answer} in deal \d+, seating \d, seat \d; legal: \d"
    ):
        play_match([Fixed(answer), make_agent("random")], make_rules("draw"), 5)


@pytest.mark.parametrize("answer", [1.0, [1, 2], "draw"])
def test_an_answer_that_is_no_integer_is_an_error(answer):
    with pytest.raises(IllegalChoice, match="one integer a turn"):
        play_match([make_agent("random"), Fixed(answer)], make_rules("draw"), 5)


@pytest.mark.parametrize(
    "wrong", [{"deals": 0}, {"deals": 2.5}, {"deals": 3, "batch": 0}, {"deals": 3, "first_deal": -1}]
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{list(wrong)[-1]}=.* is not allowed"):
        play_match([make_agent("random")] * 2, make_rules("draw"), **wrong)


class Fragile(Agent):
    """Plays the first legal action, but not when it is asked in a given seat to answer a lead."""

    name = "fragile"

    def act(self, turn):
        if turn.player == 1 and len(turn.history) == 1:
            raise KeyError("no plan")
        return int(turn.legal_actions[0])


class FragileInBatches(Fragile):
    def act_batch(self, turns):
        raise KeyError("no plan")

    def act(self, turn):
        return int(turn.legal_actions[0])


def test_an_agent_that_raises_is_named_with_the_place():
    rules = make_rules("classic_block", opening="seat_0")
    with pytest.raises(AgentFailure) as failure:
        play_match(["random", Fragile()], rules, 5)
    assert str(failure.value) == "agent 'fragile' failed in deal 0, seating 0, seat 1: KeyError: 'no plan'"
    assert isinstance(failure.value.__cause__, KeyError)
    with pytest.raises(AgentFailure, match=r"'fragile' failed in a batch of 5 turns that begins with deal 0, seating"):
        play_match(["random", FragileInBatches()], rules, 5)


def test_agents_may_be_given_by_name_and_a_result_is_short_to_read():
    rules = make_rules("draw")
    named = play_match(["greedy", "random"], rules, 20, seed=3)
    made = play_match([make_agent("greedy"), make_agent("random")], rules, 20, seed=3)
    assert (named.points == made.points).all()
    assert repr(named).startswith("<MatchResult 20 deals x 2 seatings, num_players=2, seed=3: mean win and points of ")
    assert len(repr(named)) < 200 and "training.evaluate.evaluate" in type(named).__doc__
    with pytest.raises(ValueError, match="'nobody' is not a run directory, policy file or agent name"):
        play_match(["greedy", "nobody"], rules, 20)


def test_progress_counts_the_deals():
    told = []
    play_match([make_agent("random")] * 2, make_rules("draw"), 25, batch=20, progress=told.append)
    assert told == [10, 10, 5]


def test_an_interval_as_text():
    assert Interval(0.5, 0.45, 0.56).text() == "0.50 ± 0.06"
    assert Interval(0.5, 0.45, 0.56).text(1, scale=100) == "50.0 ± 6.0"
    assert Interval(1.25, 1.0, 1.5).text(1, signed=True) == "+1.2 ± 0.2"
    assert Interval(-1.0, -math.inf, math.inf).text() == "-1.00 ± ?"
