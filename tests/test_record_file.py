"""Files of records: any record by its number, and what is refused, with file, line and reason, or recovered."""

from __future__ import annotations

import gzip
import itertools
import os
import pickle
import random
import re
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import played, rule_sets

from dominoes_env.archive import (
    format_record,
    parse_record,
    read_records,
    record_to_json,
    recover_record,
    write_records,
)
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.record_file import RecordFile, open_records
from dominoes_env.records import Record, positions, replay, round_starts
from dominoes_env.words import rules_text


def some_records(count: int = 12, num_steps: int = 40) -> list[Record]:
    variants = ["draw", "block", "muggins", "partners"]
    return [played(make_rules(variants[seed % 4]), seed, num_steps).record for seed in range(count)]


def match_record(variant: str = "draw") -> Record:
    return played(make_rules(variant, target=40), 3, 10_000).record


# Any record by its number


def test_a_file_is_a_sequence(tmp_path: Path) -> None:
    records = some_records()
    path = tmp_path / "games.jsonl"
    write_records(path, records)
    file = RecordFile(path)
    assert file and len(file) == 12 and list(file) == records and list(reversed(file)) == records[::-1]
    for index in range(-12, 12):
        assert RecordFile(path)[index] == file[index] == records[index]
    for index in (12, -13, 10**9):
        with pytest.raises(IndexError, match=r"games\.jsonl: record -?\d+ is not there; it has 12"):
            RecordFile(path)[index]
    for part in (slice(2, 5), slice(None, None, -1), slice(-3, None), slice(1, 99, 4), slice(5, 5)):
        assert list(file[part]) == records[part]
        assert list(file[part][::2]) == records[part][::2]
    assert records[3] in file and file.index(records[3]) == 3
    assert repr(file) == f"RecordFile({str(path)!r})" and repr(file[2:5]) == f"<3 records of {path}>"
    assert pickle.loads(pickle.dumps(file))[4] == pickle.loads(pickle.dumps(file[3:]))[1] == records[4]


@pytest.mark.parametrize("block", [1, 7, 100, 1000, 1 << 20])
def test_lines_are_found_wherever_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("dominoes_env.record_file._BLOCK", block)
    records = some_records(3, 6)
    a, b, c = (record_to_json(record) for record in records)
    path = tmp_path / "games.jsonl"
    for text in (f"{a}\n{b}\n{c}\n", f"\n\n{a}\r\n \r\n{b}\n\n\n{c}", f"{a}\n{b}\n{c}\n\n \n", f"{a}\n{b}\n  {c}"):
        path.write_bytes(text.encode())
        assert list(RecordFile(path)) == [RecordFile(path)[n] for n in range(3)] == records
        assert len(RecordFile(path)) == len(RecordFile(path, recover=True)) == 3
        assert [RecordFile(path, recover=True)[n] for n in range(3)] == records
    for text in ("", "\n", " \r\n\n"):
        path.write_bytes(text.encode())
        assert not RecordFile(path) and len(RecordFile(path)) == 0 and list(RecordFile(path)) == []


def test_only_what_is_asked_for_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dominoes_env.record_file._BLOCK", 4096)
    record = some_records(1)[0]
    path = tmp_path / "games.jsonl"
    write_records(path, itertools.repeat(record, 2000))
    file = RecordFile(path)
    assert file[3] == record and len(file._starts) < 20
    tracemalloc.start()
    try:
        assert len(file) == 2000 and file[1999] == record
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300_000 < path.stat().st_size / 3


def test_threads_may_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dominoes_env.record_file._BLOCK", 512)
    records = some_records()
    path = tmp_path / "games.jsonl"
    write_records(path, records * 20)
    for _ in range(3):
        file = RecordFile(path)
        wrong: list[int] = []

        def read(number: int, file: RecordFile = file, wrong: list[int] = wrong) -> None:
            order = random.Random(number).sample(range(240), 60)
            wrong.extend(n for n in order if file[n] != records[n % 12])

        threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and len(file) == 240


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, some_records(3))
    file = RecordFile(path)
    assert file[0]
    write_records(path, some_records(5))
    for ask in (lambda: file[0], lambda: list(file), lambda: len(RecordFile(path)) + file[2].game_id):
        with pytest.raises(ValueError, match=r"games\.jsonl has changed since it was opened"):
            ask()


# Where rounds start, and every position


@settings(deadline=None, max_examples=40)
@given(rule_sets(), st.integers(0, 2**32), st.integers(0, 200), st.integers(0, 20))
def test_positions_are_those_of_the_game(rules: Rules, seed: int, num_steps: int, later: int) -> None:
    game = played(rules, seed, num_steps)
    if later % 2 and not game.is_over:  # the record then begins in mid-round, and has no seed
        game = Game.from_position(game.position)
        for _ in range(later):
            if not game.is_over:
                game.step(game.legal_actions[-1])
    record = game.record
    twin = Game.from_position(f"{rules_text(rules)} | {record.rounds[0].deal}")
    seen = list(positions(record))
    assert [(place.round, place.move) for place in seen] == [
        (number, move) for number, past in enumerate(record.rounds) for move in range(len(past.actions) + 1)
    ]
    starts = list(round_starts(record))
    for place in seen:
        if place.move == 0:
            assert place.state == starts[place.round][0] and place.history == starts[place.round][1]
        else:
            twin.step(place.history[-1])
        if place.move < len(record.rounds[place.round].actions):
            assert place.state == twin.state and place.history == twin.history
    assert (seen[-1].state, seen[-1].history) == replay(record)


# Damage


def damaged_texts(text: str) -> dict[str, tuple[bytes, str]]:
    """Kinds of damage to a record of a match of the draw game: the file, and what is said of it."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("1. "))
    swapped = [*lines]
    swapped[first + 1], swapped[first + 2] = lines[first + 2], lines[first + 1]
    illegal = [*lines]
    illegal[first] = illegal[first].replace(illegal[first].split()[1], "0-0" if "0-0" not in lines[first] else "1-0", 1)
    broken = text.encode()
    return {
        "cut after a line": ("\n".join(lines[: first + 2]).encode(), f"line {first + 2}: the record breaks off"),
        "cut in a line": (broken[: broken.index(b"\n3. ") + 7], f"line {first + 3}: "),
        "reordered": ("\n".join(swapped).encode(), f"line {first + 2}: moves 3. stand where 2. should"),
        "an illegal move": ("\n".join(illegal).encode(), rf"line {first + 1}: .* is illegal for seat \d; legal: "),
        "another version": (broken.replace(b"record 1", b"record 9", 1), "line 1: version: '9' cannot be read; this"),
        "another engine": (broken.replace(b"\nengine 1", b"\nengine 9", 1), "line 3: engine: '9' cannot be read; this"),
        "latin-1": (broken.replace(b"\n2. ", b"\n2. \xe9", 1), rf"line {first + 2}: allowed: UTF-8 text, not other"),
        "a byte order mark": (b"\xef\xbb\xbf" + broken, "line 1: no record; .* begins with a byte order mark"),
    }


def no_records() -> dict[str, tuple[bytes, str]]:
    line = record_to_json(some_records(1)[0])
    text = format_record(some_records(1)[0])
    return {
        "empty": (b"", "line 1: no record; there is nothing in the file"),
        "blank": (b"\n \n", "line 1: no record; there is nothing in the file"),
        "a letter": (b"Dear Ann,\n", "line 1: no record, or one that breaks off: Expecting value"),
        "zeros": (bytes(500), "line 1: no record, or one that breaks off: Expecting value"),
        "gzip": (gzip.compress(line.encode()), "line 1: no record; allowed: UTF-8 text, not compressed by gzip"),
        "UTF-16": (text.encode("utf-16"), "line 1: no record; allowed: UTF-8 text, not UTF-16"),
        "latin-1": (b"\xe9\xe8\n", "line 1: no record; allowed: UTF-8 text, not other encodings"),
        "other JSON": (b'{"format":"chess"}\n', "line 1: no record; a record has format 'dominoes record'"),
    }


@pytest.mark.parametrize("kind", damaged_texts(format_record(match_record())))
def test_a_damaged_text_is_refused_and_its_beginning_recovered(tmp_path: Path, kind: str) -> None:
    record = match_record()
    data, reason = damaged_texts(format_record(record))[kind]
    path = tmp_path / "game.txt"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"game\.txt, {reason}"):
        open_records(path)
    if kind in ("another version", "another engine", "a byte order mark"):
        with pytest.raises(ValueError, match=rf"game\.txt, {reason}.*; nothing before it can be recovered"):
            open_records(path, recover=True)
        return
    lost: list[str] = []
    (begun,) = open_records(path, recover=True, report=lost.append)
    said = reason if kind != "latin-1" else reason.partition(": ")[0]
    assert len(lost) == 1 and re.search(rf"game\.txt, {said}.*; kept: \d+ moves before it; lost: ", lost[0])
    assert lost[0].isprintable()
    assert begun.rounds[0].actions == record.rounds[0].actions[: len(begun.rounds[0].actions)]
    assert begun.status == "playing" and not Game.from_record(begun).is_over
    assert parse_record(format_record(begun)) == begun
    with pytest.warns(UserWarning, match="kept: "):
        assert open_records(path, recover=True)[0] == begun


def test_numbers_of_no_record_are_told_as_they_were_given(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, [played(make_rules("draw"), seed, 5).record for seed in range(3)])
    records = RecordFile(path)
    for number in (3, -4):
        with pytest.raises(IndexError, match=f"record {number} is not there; it has 3"):
            records[number]
    for word in ("1", 1.0):
        with pytest.raises(TypeError, match="integer"):
            records[word]  # type: ignore[call-overload]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_is_refused_since_it_can_be_read_once_only(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)  # so that nobody waits for the other end
    try:
        with pytest.raises(ValueError, match="pipe is not allowed, it is a pipe or a device"):
            RecordFile(pipe)
    finally:
        os.close(held)
    with pytest.raises(ValueError, match=f"{os.devnull} is not allowed"):
        open_records(os.devnull)


@pytest.mark.parametrize("kind", no_records())
def test_what_is_no_record_is_refused(tmp_path: Path, kind: str) -> None:
    data, reason = no_records()[kind]
    path = tmp_path / "games"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"games, {reason}"):
        open_records(path)[0]
    with pytest.raises((ValueError, IndexError), match="games"):
        open_records(path, recover=True, report=lambda _: None)[0]
    with pytest.raises(FileNotFoundError):
        open_records(tmp_path / "none")


def test_both_forms_come_through_one_door(tmp_path: Path) -> None:
    record = match_record()
    text, lines = tmp_path / "game.txt", tmp_path / "game.jsonl"
    text.write_text(format_record(record), encoding="utf-8")
    write_records(lines, [record])
    for path in (text, lines):
        for recover in (False, True):
            assert list(open_records(path, recover=recover)) == [record]
    text.write_bytes(format_record(record).replace("\n", "\r\n").encode())
    assert open_records(text)[0] == record


@settings(deadline=None, max_examples=60)
@given(rule_sets(), st.integers(0, 2**32), st.integers(1, 200), st.floats(0, 1), st.integers(0, 255))
def test_the_longest_sound_beginning(rules: Rules, seed: int, num_steps: int, where: float, byte: int) -> None:
    """Cut anywhere, or with any byte overwritten: a beginning of the game is recovered, and nearly all of it."""
    record = played(rules, seed, num_steps).record
    data = format_record(record).encode()
    place = int(where * (len(data) - 1))
    cut = data[:place].decode()
    told = [action for past in record.rounds for action in past.actions]
    try:
        begun, lost = recover_record(cut)
    except ValueError as error:
        assert re.match(r"line \d+: .*; nothing before it can be recovered", str(error))
        assert "\n1. " not in cut and "\nend" not in cut
    else:
        kept = [action for past in begun.rounds for action in past.actions]
        assert kept == told[: len(kept)]
        # Every move that is followed by anything on its line is whole.
        whole = [word for line in cut.splitlines() for word in line.split()[1:-1] if re.match(r"\d+\.", line)]
        assert len(kept) >= len([word for word in whole if word != "/"]) - (record.rounds != begun.rounds)
        assert lost or begun == record
    changed = bytearray(data)
    changed[place] = byte
    try:
        begun, lost = recover_record(changed.decode("utf-8", "surrogateescape"))
    except ValueError:
        return
    kept = [action for past in begun.rounds for action in past.actions]
    if begun.rounds[0].deal == record.rounds[0].deal and begun.rules == rules and lost:
        assert parse_record(format_record(begun)) == begun
    assert lost or begun == parse_record(changed.decode())


def test_a_record_with_something_after_it(tmp_path: Path) -> None:
    record = match_record()
    text = format_record(record)
    begun, lost = recover_record(text + "\nhello\nagain\n")
    assert begun == record and re.search("'hello' after the result; .*lost: what follows, 1 lines", lost)
    wrong = text.replace("\nend round_over", "\nend match_over", 1)
    begun, lost = recover_record(wrong)
    assert "end: the moves lead to" in lost
    assert begun.rounds == record.rounds[:1] and begun.status == "round_over"
    assert Game.from_record(begun).record.rounds[:2] == (record.rounds[0], Game.from_record(begun).record.rounds[1])


DAMAGE: list[tuple[str, Any, str]] = [
    ("cut", lambda line: line[: len(line) // 2], "no record, or one that breaks off"),
    (
        "illegal",
        lambda line: re.sub(rb'"moves":"[^ ]+', b'"moves":"pass', line, count=1),
        "round 1, move 1: pass is il",
    ),
    ("version", lambda line: line.replace(b'"version":1', b'"version":2'), "version: 2 cannot be read; this is vers"),
    ("latin-1", lambda line: line.replace(b"hands", b"h\xe4nds", 1), "no record; allowed: UTF-8 text, not other enc"),
    ("zeros", lambda line: bytes(len(line)), "no record, or one that breaks off"),
    ("another", lambda line: b'{"move": "e4"}', "no record; a record has format"),
    ("scores", lambda line: re.sub(rb'"scores":\[', b'"scores":[1', line, count=1), "round 1: scores: the moves lead"),
]


@pytest.mark.parametrize(("kind", "damage", "reason"), DAMAGE)
def test_damaged_lines(tmp_path: Path, kind: str, damage: Any, reason: str) -> None:
    records = some_records(5)
    lines = [record_to_json(record).encode() for record in records]
    path = tmp_path / "games.jsonl"
    for place in range(5):
        path.write_bytes(b"\n".join([*lines[:place], b"", damage(lines[place]), *lines[place + 1 :], b""]))
        message = rf"games\.jsonl, line {place + 2}: .*{reason}"
        reader = read_records(path)
        for record in records[:place]:
            assert next(reader) == record
        with pytest.raises(ValueError, match=message):
            next(reader)
        file = RecordFile(path)
        assert len(file) == 5
        for number, record in enumerate(records):
            if number == place:
                with pytest.raises(ValueError, match=message):
                    file[number]
            else:
                assert file[number] == record
        sound = records[:place] + records[place + 1 :]
        for read in (read_records, RecordFile, open_records):
            lost: list[str] = []
            recovered = read(path, recover=True, report=lost.append)  # type: ignore[operator]
            assert list(recovered) == sound
            assert len(lost) == 1 and re.search(message + ".*; this line is left out", lost[0])
        by_number = RecordFile(path, recover=True, report=lost.append)
        assert [by_number[number] for number in range(4)] == sound and len(by_number) == 4
        with pytest.warns(UserWarning, match="left out"):
            assert list(read_records(path, recover=True)) == sound
