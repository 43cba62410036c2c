"""Sessions: exact undo, exact resumption, what they say and what they never say."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from linear_policy import policy_of

from agents.match import IllegalChoice
from agents.policy_file import save_policy
from agents.session import Session
from dominoes_env.engine.variants import make_rules
from dominoes_env.words import STATUS_WORDS

GAMES = [("block", 2), ("draw", 2), ("all_fives", 2), ("draw", 3), ("all_fives", 4), ("partners", 4), ("bergen", 2)]


def session_of(variant, num_players=2, opponents="flexible", **arguments):
    arguments.setdefault("seed", 5)
    return Session(make_rules(variant, num_players=num_players), opponents, **arguments)


def answer(session, seed=0):
    """A person's move that depends on where he stands alone."""
    generator = random.Random(f"{seed} {session.game.round} {session.game.history}")
    return generator.choice(session.game.legal_actions)


def finish(session, seed=0):
    session.advance()
    while not session.is_over:
        session.play(answer(session, seed))
        session.advance()
    return session


def snapshot(session):
    """All that a session is, but for what was asked of it."""
    return {
        name: value for name, value in session.to_dict().items() if name not in ("num_undone", "num_hints", "digest")
    }


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
@pytest.mark.parametrize("episode", ["match", "round"])
def test_events_tell_a_whole_game(variant, num_players, episode):
    session = finish(session_of(variant, num_players, episode=episode, seat=num_players - 1))
    events = session.events
    moves = [event for event in events if event.kind in ("play", "draw", "pass")]
    rounds = [event for event in events if event.kind == "round"]
    assert [event.action for event in moves] == [a for past in session.record.rounds for a in past.actions]
    assert [event.word for event in moves if event.round == rounds[-1].round] == list(session.game.moves)
    assert len(rounds) == len(session.record.rounds) == sum(event.kind == "deal" for event in events)
    sign = -1 if session.rules.settlement == "penalty_each" else 1
    for event, past in zip(rounds, session.record.rounds, strict=True):
        assert (event.winners, event.round_points, event.scores, event.status) == (
            past.outcome.winners,
            past.outcome.round_points,
            past.outcome.scores,
            past.outcome.status,
        )
        booked = np.array(event.points) * sign
        for move in moves:
            if move.round == event.round and move.count:
                booked += move.count.booked
        assert tuple(booked) == event.round_points
        assert (event.seat is None) or not event.hands[event.seat]
        words = [tile.split("-") for hand in event.hands for tile in hand]
        assert sum(event.pips) == sum(int(a) + int(b) for a, b in words)
    if episode == "match":
        assert (events[-1].kind, events[-1].winners) == ("match", session.game.winners)
    else:
        assert len(rounds) == 1 and events[-1].status in STATUS_WORDS[1:]
    assert json.loads(json.dumps([event.to_dict() for event in events]))


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
def test_after_undo_all_is_as_it_was_and_redo_brings_it_back(variant, num_players):
    session, undone = session_of(variant, num_players), 0
    session.advance()
    while not session.is_over:
        has_choice, number = len(session.game.legal_actions) > 1, session.game.round
        before, events = snapshot(session), session.events
        session.play(answer(session))
        session.advance(skip_forced=True)
        if has_choice and not session.is_over and session.game.round == number:
            after, told = snapshot(session), session.events
            assert session.undo()
            assert snapshot(session) == before and session.events == events
            assert session.redo() == list(told[len(events) :])
            assert snapshot(session) == after and session.events == told and session.redo() == []
            assert session.undo()
            session.play(answer(session))
            session.advance(skip_forced=True)
            assert snapshot(session) == after and session.events == told
            undone += 2
    assert undone > 2 and session.num_undone == undone and not session.undo()


def test_undo_goes_back_choice_by_choice_to_the_start_of_the_round_and_no_further():
    session = session_of("draw")
    session.advance()
    choices = []
    while session.game.round == 1:
        if len(session.game.legal_actions) > 1:
            choices.append(session.game.history)
        session.play(answer(session))
        session.advance()
    assert len(choices) > 1 and not session.undo()  # the hands of round 1 lie open now
    while not session._choices:
        session.play(answer(session))
        session.advance()
    again = session_of("draw")
    again.advance()
    while again.game.history != choices[-1]:
        again.play(answer(again))
        again.advance()
    for history in choices[-2::-1]:
        assert again.undo() and again.game.history == history
    assert not again.undo()
    pieces = [again.redo() for _ in choices[1:]]
    assert all(pieces) and again.game.history == choices[-1] and again.redo() == []
    assert again.undo()
    again.play(answer(again, seed=1))
    assert again.redo() == []  # a new move is a new line of play


@pytest.mark.parametrize("variant", ["block", "draw", "all_fives", "partners"])
def test_a_resumed_game_goes_on_as_the_uninterrupted_one(variant, tmp_path):
    rules = make_rules(variant)
    opponents = {seat: ["pimc:2:nodes=100", "random", "ismcts:60"][seat - 1] for seat in range(1, rules.num_players)}
    whole = finish(Session(rules, opponents, seed=11))
    session = Session(rules, opponents, seed=11)
    session.advance()
    moves, file = 0, tmp_path / "game.json"
    while not session.is_over:
        session.play(answer(session))
        moves += 1
        session.save(file)
        session = Session.load(file)  # also where an agent is to move
        session.advance()
    assert moves > 5 and snapshot(session) == snapshot(whole) and session.events == whole.events
    assert session.names == whole.names and session.persons == (0,)


def test_trained_players_sit_in_sessions_and_in_files(tmp_path):
    policy = str(save_policy(policy_of("all_fives", 1.0), tmp_path))
    session = finish_until_asked(session_of("all_fives", opponents=policy))
    assert session.hint(policy).probabilities is not None
    assert snapshot(Session.from_dict(session.to_dict())) == snapshot(session)
    with pytest.raises(ValueError, match="was trained for other rules"):
        session_of("draw", opponents=policy)
    with pytest.raises(ValueError, match="was trained for other rules"):
        finish_until_asked(session_of("draw")).hint(policy)


def finish_until_asked(session):
    session.advance()
    assert session.is_to_decide
    return session


def test_damaged_files_and_other_versions_are_refused_by_name(tmp_path):
    session = finish_until_asked(session_of("draw"))
    file = tmp_path / "game.json"
    session.save(file)
    text = file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]
    for number in range(0, len(text), 97):  # cut off anywhere
        file.write_text(text[:number])
        with pytest.raises(ValueError, match=r"game\.json: no JSON, or it is cut off"):
            Session.load(file)
    for old, new in (('"seat": 0', '"seat": 1'), ('"num_hints": 0', '"num_hints": 3'), ("flexible", "greedy")):
        assert old in text
        file.write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=r"game\.json: the saved dominoes game is damaged: its digest"):
            Session.load(file)
    for old, name in (('"version": 1', "version"), ('"engine": 1', "engine")):
        file.write_text(text.replace(old, f'"{name}": 7', 1))
        with pytest.raises(ValueError, match=f"{name} 7 cannot be read; this is {name} 1"):
            Session.load(file)
    for content in ("[]", "{}", '"x"', "null", '{"format": "dominoes record"}', "[" * 100_000, "\x00", "{"):
        file.write_text(content)
        with pytest.raises(ValueError, match=r"game\.json: no (JSON|saved dominoes game)"):
            Session.load(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="no JSON"):
        Session.load(file)
    with pytest.raises(FileNotFoundError):
        Session.load(tmp_path / "none.json")


def test_a_forged_file_with_a_right_digest_is_refused_too():
    from agents.sealed_file import _digest

    data = finish_until_asked(session_of("draw")).to_dict()
    for change in (
        {"record": {**data["record"], "seed": 6}},
        {"record": {**data["record"], "seed": None}},
        {"record": 3},
        {"agents": {"1": "nobody"}},
        {"agents": {"9": "greedy"}},
        {"agents": []},
        {"seat": 7},
        {"seat": None},
        {"num_hints": None},
    ):
        forged = {**data, **change}
        forged["digest"] = _digest({name: value for name, value in forged.items() if name != "digest"})
        with pytest.raises(ValueError):
            Session.from_dict(forged)
    with pytest.raises(ValueError, match="digest"):
        Session.from_dict({name: value for name, value in data.items() if name != "digest"})


def test_moves_are_ids_and_words_and_all_else_is_refused_without_a_trace():
    session = finish_until_asked(session_of("draw"))
    while len(session.game.legal_actions) < 2:
        session.play(session.game.legal_actions[0])
        session.advance()
    before = session.to_dict()
    for wrong in ("", "6", "9-9", "6-6@7", "undo", "pass", -1, 10_000, True, None, 1.0, b"6-4", [1]):
        with pytest.raises(ValueError, match=r"legal|allowed"):
            session.play(wrong)
        assert session.to_dict() == before
    word, action = session.game.legal_words[-1], session.game.legal_actions[-1]
    session.play(f" {word.upper()} ")
    assert session.game.history[-1] == action or session.events[-1].kind != "play"
    if not session.is_to_decide:
        with pytest.raises(ValueError, match="no move is asked for: seat 1 is on turn"):
            session.play(0)
        with pytest.raises(ValueError, match="no hint is asked for"):
            session.hint("greedy")
    over = finish(session)
    with pytest.raises(ValueError, match="no move is asked for: the game is over"):
        over.play(0)
    assert over.advance() == [] and not over.undo() and over.redo() == []


def test_wrong_seats_and_opponents_are_refused():
    rules = make_rules("partners")
    for seat in (-1, 4, "0", True, None, 1.0):
        with pytest.raises(ValueError, match=r"seat=.* is not allowed; allowed: 0 to 3"):
            Session(rules, "greedy", seat)
    for opponents, message in (
        ({0: "greedy"}, "seat 0 is not allowed; allowed: 1, 2, 3"),
        ({4: "greedy"}, "seat 4 is not allowed"),
        ({1: "human"}, "'human' is not allowed"),
        ("human", "'human' is not allowed"),
        ("nobody", "nobody"),
    ):
        with pytest.raises(ValueError, match=message):
            Session(rules, opponents)
    with pytest.raises(ValueError, match="episode"):
        Session(rules, "greedy", episode="evening")


def test_several_persons_and_an_agent_of_ones_own(tmp_path):
    class Last:
        name = "last"

        def act(self, turn):
            return int(turn.legal_actions[-1])

    session = Session(make_rules("partners"), {1: Last(), 3: "cheater"}, seat=2, seed=1)
    assert session.persons == (0, 2) and session.names == ("person", "last", "person", "cheater")
    asked = set()
    session.advance()
    while not session.is_over:
        assert session.seat == session.game.turn
        asked.add(session.seat)
        session.play(answer(session))
        session.advance()
    assert asked == {0, 2} and session.seat == 2
    with pytest.raises(ValueError, match="'last' in seat 1 cannot be saved"):
        session.save(tmp_path / "game.json")
    assert not list(tmp_path.iterdir())

    class Wrong:
        def act(self, turn):
            return -1

    with pytest.raises(IllegalChoice, match="agent 'Wrong' in seat"):
        finish(session_of("draw", opponents=Wrong()))


def test_drawn_tiles_are_for_the_one_who_drew():
    session = finish(session_of("draw"))
    draws = [event for event in session.events if event.kind == "draw"]
    assert {event.seat for event in draws} == {0, 1}
    for event in draws:
        assert (event.drawn is None) == (event.seat == 1)
        assert event.seen_by(event.seat) is event and event.seen_by(None).drawn is None
    own = next(event for event in draws if event.seat == 0)
    assert own.seen_by(1).drawn is None and "drawn" not in own.seen_by(1).to_dict() and "drawn" in own.to_dict()


def test_agents_move_one_by_one_on_request():
    session = session_of("draw", 4, seat=3)
    moved = []
    while not session.is_to_decide:
        moved += session.advance(max_moves=1)
        assert len(moved) == len(session.game.history)
    other = session_of("draw", 4, seat=3)
    assert other.advance() == moved and other.advance(max_moves=0) == []


def test_the_same_question_has_the_same_answer_and_the_game_is_not_changed_by_it():
    session = finish_until_asked(session_of("all_fives"))
    before = snapshot(session)
    first = session.hint("pimc:6")
    assert session.hint("pimc:6") == first and snapshot(session) == before and session.num_hints == 2
    assert first.agent == "pimc:6" and first.actions == tuple(session.game.legal_actions)
    for cheat in ("cheater", "human"):
        with pytest.raises(ValueError, match="is not allowed to advise"):
            session.hint(cheat)
