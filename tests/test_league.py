"""The league: who is met and how often, what results do to it, the gate, and that it comes back as it was."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from linear_policy import policy_of

from agents.catalog import make_agent
from agents.learned import LearnedAgent
from agents.uniform import UniformAgent
from dominoes_env.engine.variants import make_rules
from dominoes_env.envs.rows import Rows
from training.config import TrainConfig
from training.gate import Gate
from training.league import League
from training.partner import Partner
from training.priority import priority
from training.run_directory import create_run


def make_rows(rules, league, num_rows: int, opponents=None) -> Rows:
    rows = Rows(
        rules, num_rows, seat="rotate", opponents=league if opponents is None else opponents, autoreset="same_step",
        episode="round", reward="margin", illegal="raise", illegal_reward=None, skip_forced=True, history=False,
    )  # fmt: skip
    rows.reset(5)
    return rows


def play(rows: Rows, league: League, steps: int):
    """The learner takes the first legal action; yields what the league was told after each step."""
    for _ in range(steps):
        seats = rows.players.copy()
        rows.step(rows.table.masks.argmax(axis=1))
        told = rows.records["episode"].copy(), seats, rows.rewards.copy(), rows.flags[0] | rows.flags[1]
        league.record(*told)
        yield told


def test_who_does_better_is_met_more_often():
    shares = priority(np.array([0.3, 0.5, 0.7]), 4)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > shares[1] > shares[2] > 0.03
    assert priority(np.array([0.3, 0.5, 0.7]), 0) == pytest.approx([1 / 3] * 3)
    assert priority(np.array([1.0, 1.0]), 2) == pytest.approx([0.5, 0.5])


def test_members_are_drawn_by_their_shares_and_kept_until_every_seat_was_had(tmp_path):
    rules = make_rules("draw")
    league = League(rules, 4000, tmp_path, seed=3, thumbs=("random", "greedy"), thumb_share=0.3)
    for number in range(2):
        league.admit(policy_of("draw", 1, number))
    assert [(one.name, one.share) for one in league.standings()] == [
        ("random", pytest.approx(0.15)), ("greedy", pytest.approx(0.15)),
        ("past_0000", pytest.approx(0.35)), ("past_0001", pytest.approx(0.35)),
    ]  # fmt: skip
    rows = np.arange(4000)
    drawn = [league.members_of(rows, np.full(4000, episode)) for episode in range(4)]
    assert (drawn[0] == drawn[1]).all() and (drawn[2] == drawn[3]).all()
    assert (drawn[0] != drawn[2]).mean() > 0.5
    assert np.bincount(drawn[0]) / 4000 == pytest.approx([0.15, 0.15, 0.35, 0.35], abs=0.03)
    assert (league.members_of(rows, np.full(4000, 3)) == drawn[3]).all()
    again = League(rules, 4000, tmp_path, seed=3, thumbs=("random", "greedy"), thumb_share=0.3)
    for number in range(2):
        again.admit(policy_of("draw", 1, number))
    assert (again.members_of(rows, np.zeros(4000, np.int64)) == drawn[0]).all()


@pytest.mark.parametrize("variant", ["draw", "all_fives", "partners"])
def test_results_are_credited_to_whom_was_played(variant, tmp_path):
    """Against an account kept here: each row's member in each episode, and the sum of its rewards."""
    rules = make_rules(variant)
    league = League(rules, 24, tmp_path, seed=1, half_life=1e12)
    calls = []

    def spy(observations, masks, infos):
        answers = league(observations, masks, infos)
        assert masks[np.arange(len(answers)), answers].all()
        for row, episode in zip(infos["row"], infos["episode"], strict=True):
            calls.append((int(row), int(episode)))
        return answers

    partner_asked = []

    def partner(observations, masks, infos):
        partner_asked.append(infos["player"])
        return masks.argmax(axis=1)

    opponents = league.opponents(partner)
    opponents = spy if opponents is league else [spy, opponents[1], spy]
    rows = make_rows(rules, league, 24, opponents)
    margins, expected = np.zeros(24), {}
    for episodes, seats, rewards, dones in play(rows, league, 120):
        margins += rewards[np.arange(24), seats]
        for row in np.flatnonzero(dones):
            episode = int(episodes[row]) - 1
            if (row, episode) in calls:
                number = int(league.members_of(np.array([row]), np.array([episode]))[0])
                wins, games = expected.get(number, (0.0, 0))
                share = 0.5 if abs(margins[row]) < 1e-6 else float(margins[row] > 0)
                expected[number] = wins + share, games + 1
            margins[row] = 0
    state = {member["number"]: (member["wins"], member["games"]) for member in league.state()["members"]}
    assert {number: state[number] for number in expected} == {
        number: (pytest.approx(wins), pytest.approx(games)) for number, (wins, games) in expected.items()
    }
    assert sum(games for _, games in expected.values()) > 100
    assert bool(partner_asked) == rules.teams


def test_results_move_the_shares_and_are_forgotten_in_time(tmp_path):
    league = League(make_rules("draw"), 2, tmp_path, thumbs=("random", "greedy"), half_life=100)
    rewards = np.array([[1, -1], [-1, 1]], np.float32)
    for episode in range(400):
        now = np.full(2, episode)
        numbers = league.members_of(np.arange(2), now)
        won = numbers == 0  # the learner beats random and loses to greedy
        league.record(now + 1, np.where(won, [0, 1], [1, 0]).astype(np.int8), rewards, np.ones(2, np.bool_))
    random, greedy = league.standings()
    assert random.win_rate > 0.6 and greedy.win_rate < 0.25
    assert greedy.share > 0.9 and random.share >= 0.05
    assert random.games < 150 and greedy.games < 150
    assert league.scalars()["league/win_rate_v_greedy"] == greedy.win_rate


def test_a_drawn_game_counts_half(tmp_path):
    league = League(make_rules("block"), 1, tmp_path, thumbs=("random",))
    league.members_of(np.array([0]), np.array([0]))
    seats, nothing = np.zeros(1, np.int8), np.zeros(1, np.bool_)
    league.record(np.array([0]), seats, np.array([[0.1, -0.1]], np.float32), nothing)
    league.record(np.array([1]), seats, np.array([[-0.1, 0.1]], np.float32), ~nothing)
    assert league.state()["members"][0]["wins"] == 0.5


def test_the_gate_lets_in_who_is_stronger_only(tmp_path):
    rules = make_rules("classic_block")
    league = League(rules, 4, tmp_path, gate=Gate(elo=20, deals=3000), mode="best")
    light, heavy = policy_of("classic_block", -1), policy_of("classic_block", 1)
    refused = league.consider(light)
    assert not refused.is_admitted and refused.champion == "random" and refused.match.stop.verdict != "elo1"
    assert not list(tmp_path.glob("past_*"))
    league.admit(light)
    admitted = league.consider(heavy)
    assert admitted.is_admitted and admitted.champion == "past_0000" and admitted.match.deals < 3000
    assert "candidate 1 admitted" in str(admitted)
    same = league.consider(heavy)
    assert not same.is_admitted and same.champion == "past_0001" and same.match.win_rate.mean == 0.5
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "past_0000.json", "past_0000.npz", "past_0001.json", "past_0001.npz",
    ]  # fmt: skip


def test_a_full_league_loses_its_weakest_and_its_files_last(tmp_path):
    rules = make_rules("draw")
    league = League(rules, 16, tmp_path, thumbs=("random",), thumb_share=0, size=2)
    for number in range(2):
        league.admit(policy_of("draw", 1, number))
    numbers = league.members_of(np.arange(16), np.zeros(16, np.int64))
    assert set(numbers) == {1, 2}
    beaten = np.where(numbers == 1, 0, 1).astype(np.int8)  # the learner has beaten past_0000
    league.record(np.ones(16, np.int64), beaten, np.tile(np.array([1, -1], np.float32), (16, 1)), np.ones(16, np.bool_))
    league.admit(policy_of("draw", 1, 2))
    assert [one.name for one in league.standings()] == ["random", "past_0001", "past_0002"]
    assert (league.members_of(np.arange(16), np.ones(16, np.int64)) == numbers).all()  # the rows play to the end
    league.sweep()
    assert (tmp_path / "past_0000.npz").exists()
    for episode in (2, 3):
        assert set(league.members_of(np.arange(16), np.full(16, episode))) <= {2, 3}
    league.state()
    league.sweep()
    assert not (tmp_path / "past_0000.npz").exists() and (tmp_path / "past_0002.json").exists()


def test_it_comes_back_as_it_was(tmp_path):
    rules = make_rules("draw")

    def made() -> League:
        return League(rules, 12, tmp_path, seed=4, gate=Gate(deals=500), size=2)

    league = made()
    rows = make_rows(rules, league, 12)
    for number in range(3):
        league.admit(policy_of("draw", 1, number))
        list(play(rows, league, 25))
    league.num_attempts = 5
    kept = json.loads(json.dumps(league.state()))
    arrays = {name: array.copy() for name, array in rows.arrays().items()}
    first = [[values.tolist() for values in told] for told in play(rows, league, 60)]
    verdict = league.consider(policy_of("draw", 1, 9))

    other = made()
    again = make_rows(rules, other, 12)
    other.restore(kept)
    for name, array in again.arrays().items():
        array[...] = arrays[name]
    assert other.state() == kept
    assert [[values.tolist() for values in told] for told in play(again, other, 60)] == first
    assert other.consider(policy_of("draw", 1, 9)).match == verdict.match
    assert other.state() == league.state()


def test_what_does_not_fit_is_refused(tmp_path):
    rules = make_rules("draw")
    league = League(rules, 4, tmp_path)
    with pytest.raises(ValueError, match=r"it has .* and 4 rows, not"):
        League(rules, 4, tmp_path, thumbs=("greedy",)).restore(league.state())
    with pytest.raises(ValueError, match="damaged"):
        league.restore({"format": 1})
    league.admit(policy_of("draw", 1))
    state = league.state()
    (tmp_path / "past_0000.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"past_0000\.npz"):
        League(rules, 4, tmp_path).restore(state)
    with pytest.raises(ValueError, match="other rules"):
        league.admit(policy_of("block", 1))
    with pytest.raises(ValueError, match="'cheater' is not allowed: it sees hidden tiles"):
        League(rules, 4, tmp_path, thumbs=("cheater",))
    for wrong in ({"thumbs": ()}, {"thumb_share": 1.5}, {"size": 0}, {"hardness": -1}, {"half_life": 0}, {"mode": "x"}):
        (name, _), *_ = wrong.items()
        with pytest.raises(ValueError, match=f"{name}=.*is not allowed"):
            League(rules, 4, tmp_path, **wrong).admit(policy_of("draw", 1))


def test_past_selves_answer_as_the_agent_does(tmp_path):
    """All rows of a member in one call give what the agent alone would play."""
    rules = make_rules("draw")
    policy = policy_of("draw", -1)
    league = League(rules, 8, tmp_path, thumb_share=0, mode="best")
    league.admit(policy)
    agent, seen = LearnedAgent(policy), []

    def spy(observations, masks, infos):
        answers = league(observations, masks, infos)
        logits = np.where(masks == 1, policy.biases[0], -np.inf)
        assert (answers == logits.argmax(axis=1)).all()
        seen.append(len(answers))
        return answers

    list(play(make_rows(rules, league, 8, spy), league, 20))
    assert max(seen) > 1 and agent.name == "learned"


def test_a_partner_plays_as_the_learner_does(tmp_path):
    """In the environment of Stable-Baselines3, with teams: opponents by the league, the seat opposite by the policy."""
    pytest.importorskip("stable_baselines3")
    from dominoes_env.envs.sb3 import SelfPlayVecEnv

    rules = make_rules("partners")
    run = create_run(tmp_path / "run", "partners", rules, TrainConfig(rows=16, batch=64, league=0.5, league_size=3))
    league, partner, asked = League.of(run), Partner(rules), []

    def spy(observations, masks, infos):
        answers = partner(observations, masks, infos)
        asked.append((infos["player"], answers, masks))
        return answers

    env = SelfPlayVecEnv(rules, 16, num_league=league.num_rows, opponents=league.opponents(spy))
    policy = policy_of("partners", 50.0)  # so sure of itself that sampling takes its best
    league.admit(policy)
    partner.follow(policy)
    asked.clear()
    for _ in range(40):
        learners = env.players[8:]
        env.step(env.action_masks().argmax(axis=1))
        league.record(env.league_episodes, env.acted[8:], env.seat_rewards[8:], env.dones[8:])
        assert (env.acted[8:] == learners).all()
    assert league.num_rows == 8 and league.size == 3 and league.directory == run.path / "league"
    assert sum(one.games for one in league.standings()) > 20
    for _, answers, masks in asked:
        logits = np.where(masks == 1, policy.biases[0], -np.inf)
        assert (logits[np.arange(len(answers)), answers] > logits.max(axis=1) - 1).all()
    assert len(asked) > 20
    assert League(rules, 0, tmp_path).opponents(partner) is None


class OtherLuck(UniformAgent):
    """As strong as ``random``, with other choices: mirrored games of the two are not all even."""

    def act_batch(self, turns):
        return super().act_batch(replace(turns, keys=turns.keys * np.uint64(3)))


def test_the_gate_seldom_lets_in_an_equal():
    """At most 1 in 20 should pass, here of 60: 9 or more would come once in 350 times."""
    rules = make_rules("classic_block")
    gate = Gate(elo=40, deals=1000)
    matches = [gate.try_out(OtherLuck(), make_agent("random"), rules, seed) for seed in range(60)]
    assert [match.stop.verdict for match in matches].count("elo1") < 9
    assert len({match.win_rate.mean for match in matches}) > 10
    assert gate.try_out(make_agent("greedy"), OtherLuck(), rules, 0).stop.verdict == "elo1"
    for wrong in ({"elo": 0}, {"deals": 0}):
        with pytest.raises(ValueError, match="is not allowed"):
            Gate(**wrong)
