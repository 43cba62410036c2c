"""Records: parse and print are inverse, and a record that cannot be is refused with the line and the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import played, rule_sets

from dominoes_env.archive import (
    format_record,
    parse_record,
    read_records,
    record_from_json,
    record_to_json,
    write_records,
)
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.notation import format_position, parse_position
from dominoes_env.records import Record, make_record, replay, seeded_start
from dominoes_env.words import (
    parse_action,
)


@settings(deadline=None, max_examples=60)
@given(rule_sets(), st.integers(0, 2**32), st.integers(0, 200), st.sampled_from(["round", "match"]))
def test_records_are_texts(rules: Rules, seed: int, num_steps: int, episode: str) -> None:
    game = played(rules, seed, num_steps, episode)
    record = game.record
    text = format_record(record)
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text
    line = record_to_json(record)
    assert "\n" not in line
    assert record_from_json(line) == record
    assert record_to_json(record_from_json(line)) == line
    state, history = replay(record)
    assert state == game.state
    assert history == game.history


def match_record(variant: str = "draw", num_players: int = 2) -> Record:
    game = played(make_rules(variant, num_players=num_players, target=7 if variant == "bergen" else 40), 3, 10_000)
    assert game.is_over
    return game.record


def test_what_a_record_says() -> None:
    record = match_record()
    named = make_record(
        record.rules,
        [(past.deal, past.actions) for past in record.rounds],
        seed=3,
        players=["Ann/2", "Bob Lee"],
        tags=[("event", "club night"), ("note", "")],
    )
    text = format_record(named)
    assert "\nplayers Ann/2 / Bob Lee\n" in text
    assert "\ntag event club night\n" in text
    assert text.endswith(f"\nresult match_over | won {record.winners[0]}\n")
    assert parse_record(text) == named == record_from_json(record_to_json(named))
    assert json.loads(record_to_json(named))["rounds"][0]["scores"] == list(named.rounds[0].outcome.scores)


@pytest.mark.parametrize("variant", ["draw", "block", "all_fives", "bergen"])
def test_a_record_that_breaks_off(variant: str) -> None:
    text = format_record(match_record(variant))
    lines = text.splitlines()
    for cut in range(len(lines)):
        with pytest.raises(ValueError, match=r"line \d+: "):
            parse_record("\n".join(lines[:cut]))
    for place, line in enumerate(lines):
        if line:
            with pytest.raises(ValueError, match=r"line \d+: "):
                parse_record("\n".join(lines[:place] + [line[: len(line) // 2]] + lines[place + 1 :]))
            if not line.startswith(("episode", "seed", "game")):
                with pytest.raises(ValueError, match=r"line \d+: "):
                    parse_record("\n".join(lines[:place] + lines[place + 1 :]))


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_records_that_cannot_be() -> None:
    record = match_record()
    text = format_record(record)
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("1. "))
    outcome = record.rounds[0].outcome
    lead = lines[first].split()[1]
    for old, new, reason in [
        ("dominoes record 1", "chess record 1", "line 1: no record"),
        ("dominoes record 1", "dominoes record 2", "line 1: version: '2' cannot be read; this is version 1"),
        ("\nengine 1", "\nengine 99", "line 3: engine: '99' cannot be read"),
        ("\nengine 1", "", "line 7: deal: the tags 'rules' and 'engine' must come first"),
        ("\nrules draw", "\nrules whist", "line 2: variant='whist'"),
        ("\nepisode match", "\nepisode day", "line .: episode: 'day'"),
        ("\nepisode match", "\nepisode round", "deal: a second round"),
        ("\nseed 3", "\nseed 4", "line 8: deal: it is not that of seed 4, game 0"),
        ("\nseed 3", "\nseed x", "line 5: seed: 'x'"),
        ("\nseed 3", "\nseed 3\nseed 3", "line 6: 'seed' is given twice"),
        ("\nseed 3", "\nplayers Ann / Bob / Cid", "players: 3 names"),
        ("\nseed 3", "\nhello", "line 5: 'hello' cannot stand here"),
        (f"\n1. {lead}", "\n1. draw", f"line {first + 1}: draw is illegal for seat .; legal: {lead}"),
        (f"\n1. {lead}", f"\n1. {lead} {lead}", f"line {first + 1}: .* is no turn"),
        (f"\n1. {lead}", "\n1. knock", f"line {first + 1}: .*knock"),
        ("\n2. ", "\n3. ", f"line {first + 2}: moves 3. stand where 2. should"),
        (f"\n1. {lead}", "\nbegin", f"line {first + 1}: 'begin' cannot stand here"),
        (f"\nend {outcome}", f"\nend {outcome}1", "end: the moves lead to"),
        (f"\nend {outcome}", "", "deal: the round before has no 'end'"),
        ("\nresult match_over", "\nresult truncated", "result: the rounds lead to"),
        ("\nresult", "\nresult match_over\nresult", "result"),
    ]:
        with pytest.raises(ValueError, match=reason):
            parse_record(edited(text, old, new))
    with pytest.raises(ValueError, match="after the result"):
        parse_record(text + "deal\n")
    for junk in ("", "hello", "{}", record_to_json(record)):
        with pytest.raises(ValueError, match="line 1: no record"):
            parse_record(junk)


def test_moves_after_the_end() -> None:
    record = played(make_rules("draw"), 3, 10_000, "round").record
    text = format_record(record)
    with pytest.raises(ValueError, match="after the end of the round"):
        parse_record(edited(text, "\nend ", "\n99. pass\nend ").replace("\n99.", f"\n{text.count('. ') + 1}."))


def test_the_next_deal_follows() -> None:
    """Without a generator in the record a deal must still be one that can follow: scores, leader, sizes."""
    hands = "hands 6-6,5-0 / 6-5,4-0"
    start = "classic_block hand_size=2 | hands 5-3 / 6-5,0-0 | layout 5-2 | turn 0"
    rules, state, history = parse_position(start)
    first = format_position(rules, state, history, with_rules=False)
    win = [parse_action(rules, "5-3@1")]
    follow = f"{hands} | turn 0 | round 2 | scores 11 0"
    assert make_record(rules, [(first, win), (follow, [parse_action(rules, "6-6")])]).status == "playing"
    for deal, reason in [
        (f"{hands} | turn 1 | round 2 | scores 11 0", "seat 1 does not lead after the round before"),
        (f"{hands} | turn 0 | round 3 | scores 11 0", "round 2 starts with the scores"),
        (f"{hands} | turn 0 | round 2 | scores 12 0", "round 2 starts with the scores"),
        (f"{hands} | turn 0 | round 2 | scores 11 0 | lacking 3 / -", "nothing booked and nothing shown"),
        (f"{hands},3-3 | turn 0 | round 2 | scores 11 0", "2 tiles each"),
        (f"{hands} | layout 4-4 4-3@0 | turn 0 | round 2 | scores 11 0", "empty layout"),
    ]:
        with pytest.raises(ValueError, match=f"round 2: deal: .*{reason}"):
            make_record(rules, [(first, win), (deal, [])])
    with pytest.raises(ValueError, match="round 2: deal: no round can follow"):
        make_record(rules, [(first, []), (follow, [])])
    with pytest.raises(ValueError, match="round 1, move 1: 6-6@0 is illegal for seat 0; legal: 5-3@1"):
        make_record(rules, [(first, [parse_action(rules, "6-6@0")])])
    for impossible in (2**70, -(2**70), -1, rules.num_actions):
        with pytest.raises(ValueError, match=f"round 1, move 1: action={impossible} is not allowed"):
            make_record(rules, [(first, [impossible])])
    with pytest.raises(ValueError, match="at least one round"):
        make_record(rules, [])


def test_the_next_deal_opens_by_the_rules() -> None:
    rules, state, history = parse_position("draw hand_size=2 | hands 5-3 / 6-5,0-0 | layout 5-2 | turn 0")
    rounds = [(format_position(rules, state, history, with_rules=False), [parse_action(rules, "5-3@1")])]
    after = "round 2 | scores 11 0"
    assert make_record(rules, [*rounds, (f"hands 6-6,5-0 / 5-5,4-0 | forced | {after}", [])]).status == "playing"
    with pytest.raises(ValueError, match="the lead is forced"):
        make_record(rules, [*rounds, (f"hands 6-6,5-0 / 5-5,4-0 | turn 0 | {after}", [])])
    with pytest.raises(ValueError, match="redeal"):
        make_record(rules, [*rounds, (f"hands 6-4,5-0 / 5-4,4-0 | forced | {after}", [])])


def test_a_generator_says_the_next_deal_exactly() -> None:
    record = match_record()
    rounds = [(past.deal, past.actions) for past in record.rounds]
    swapped = rounds[1][0][:-1] + ("0" if rounds[1][0][-1] != "0" else "1")
    with pytest.raises(ValueError, match="round 2: deal: it is not the deal that the generator gives"):
        make_record(record.rules, [rounds[0], (swapped, rounds[1][1])])


def test_seeded_start_is_the_game() -> None:
    for game_id in (0, 5):
        game = Game("all_fives", num_players=3, seed=2**64 - 1, game_id=game_id)
        assert seeded_start(game.rules, 2**64 - 1, game_id) == game.state
        assert game.record.game_id == game_id


# JSON lines


def test_many_records(tmp_path: Path) -> None:
    records = [
        played(make_rules(variant), seed, 40).record for seed, variant in enumerate(["draw", "block", "muggins"])
    ]
    path = tmp_path / "games.jsonl"
    assert write_records(path, records) == 3
    assert list(read_records(path)) == records
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_reading_is_lazy(tmp_path: Path) -> None:
    record = played(make_rules("draw"), 1, 40).record
    path = tmp_path / "games.jsonl"
    path.write_text(record_to_json(record) + "\nnonsense\n", encoding="utf-8")
    reader = read_records(path)
    assert next(reader) == record
    with pytest.raises(ValueError, match=r"games\.jsonl, line 2: no record"):
        next(reader)


def test_lines_that_are_no_text(tmp_path: Path) -> None:
    record = played(make_rules("draw"), 1, 40).record
    path = tmp_path / "games.jsonl"
    for junk, reason in ((b"\xff\xfe", "codec can't decode"), (b"[" * 200_000, "no record, or one that breaks off")):
        path.write_bytes(record_to_json(record).encode() + b"\n" + junk + b"\n")
        reader = read_records(path)
        assert next(reader) == record
        with pytest.raises(ValueError, match=rf"games\.jsonl, line 2: .*{reason}"):
            next(reader)


def test_blank_lines_are_skipped(tmp_path: Path) -> None:
    record = played(make_rules("draw"), 1, 40).record
    path = tmp_path / "games.jsonl"
    for text in ("{}\n\n", "{}\r\n \r\n", "{}", "\n{}\n"):
        path.write_bytes(text.replace("{}", record_to_json(record)).encode())
        assert list(read_records(path)) == [record]


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    record = played(make_rules("draw"), 1, 40).record
    path = tmp_path / "games.jsonl"
    write_records(path, [record])
    before = path.read_bytes()

    def breaking() -> object:
        yield record
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_records(path, breaking())  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_json_that_cannot_be() -> None:
    record = match_record()
    line = record_to_json(record)
    with pytest.raises(ValueError, match="breaks off"):
        record_from_json(line[:-10])
    for junk in ("[]", "1", "{}", '{"format": "chess"}'):
        with pytest.raises(ValueError, match="no record"):
            record_from_json(junk)
    for change, reason in [
        ({"version": 2}, "version: 2 cannot be read"),
        ({"engine": None}, "engine: None cannot be read"),
        ({"rules": 5}, "wrong kind"),
        ({"rules": "whist"}, "whist"),
        ({"rounds": None}, "wrong kind"),
        ({"rounds": []}, "at least one round"),
        ({"seed": True}, "seed: True"),
        ({"seed": 4}, "round 1: deal: it is not that of seed 4"),
        ({"seed": None, "game": 1}, "game_id: 1 is not allowed without a seed"),
        ({"players": ["Ann"]}, "players: 1 names"),
        ({"players": ["a / b", "c"]}, "players: 'a / b'"),
        ({"players": ["\x1b[2J", "c"]}, r"players: '\\x1b\[2J'"),
        ({"players": ["\ud800", "c"]}, r"players: '\\ud800'"),
        ({"tags": [["two words", ""]]}, "tag 'two words'"),
        ({"tags": 3}, "wrong kind"),
        ({"status": "playing"}, "status: the moves lead to 'match_over'"),
        ({"winners": [0, 1]}, "winners: the moves lead to"),
    ]:
        with pytest.raises(ValueError, match=reason):
            record_from_json(json.dumps({**json.loads(line), **change}))
    for name in ("rules", "episode", "seed", "game", "players", "tags", "rounds", "status", "winners"):
        with pytest.raises(ValueError, match=name):
            record_from_json(json.dumps({key: value for key, value in json.loads(line).items() if key != name}))
    data = json.loads(line)
    data["rounds"][1]["scores"] = [0, 0]
    with pytest.raises(ValueError, match="round 2: scores: the moves lead to"):
        record_from_json(json.dumps(data))
