"""Records as text, and as JSON lines for many: parse and print are inverse, and a record is read by replaying it.

A record starts with tags, then for each round has the deal, the moves and how it ended, and closes with the result:

    dominoes record 1
    rules draw num_players=2
    engine 1
    episode match
    seed 7
    game 0
    players Ann / Bob

    deal hands 6-6,6-3,... / 6-2,2-1,... | boneyard 5-4,... | turn 0 | forced | generator 0x1f...
    1. 6-6 / 6-2@0
    2. draw draw 6-3@1 / pass
    end round_over | won 0 | round_points 23 0 | scores 23 0

    result round_over

``engine`` is the version of the rules, ``seed`` and ``game`` name the game if it was dealt from a seed, ``players``
and any number of ``tag NAME TEXT`` may be missing. A deal is a position without its rules (see
:mod:`dominoes_env.notation`), so that a record can start anywhere. A line of moves is once round the table from the
seat that moved first; ``/`` divides the turns. ``end`` tells the round's status, winners and points, ``result`` the
status of the match and its winners; a game that is not over has status ``playing``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.notation import format_action, parse_action, parse_position, parse_rules, rules_text
from dominoes_env.records import Record, Replay, RoundRecord, make_record

__all__ = [
    "RECORD_VERSION",
    "format_record",
    "parse_record",
    "read_records",
    "record_from_json",
    "record_to_json",
    "write_records",
]

#: Version of the form of records.
RECORD_VERSION = 1

_TITLE = "dominoes record"


def _result_line(record: Record) -> str:
    return record.status + (" | won " + ",".join(map(str, record.winners)) if record.winners else "")


def _move_lines(rules: Rules, round_record: RoundRecord) -> Iterator[str]:
    """The moves, once round the table a line."""
    _, _, earlier = parse_position(round_record.deal, rules)
    turns: list[str] = []
    words: list[str] = []
    for place, action in enumerate(round_record.actions):
        words.append(format_action(rules, action, is_lead=place == 0 and not earlier))
        if action != rules.draw_action:
            turns.append(" ".join(words))
            words = []
    if words:
        turns.append(" ".join(words))
    for number, first in enumerate(range(0, len(turns), rules.num_players), 1):
        yield f"{number}. " + " / ".join(turns[first : first + rules.num_players])


def format_record(record: Record) -> str:
    """A record as text, ending in a newline."""
    lines = [
        f"{_TITLE} {RECORD_VERSION}",
        f"rules {rules_text(record.rules)}",
        f"engine {RULES_VERSION}",
        f"episode {record.episode}",
    ]
    if record.seed is not None:
        lines += [f"seed {record.seed}", f"game {record.game_id}"]
    if record.players:
        lines.append("players " + " / ".join(record.players))
    lines += [f"tag {name} {text}" for name, text in record.tags]
    for round_record in record.rounds:
        lines += [
            "",
            f"deal {round_record.deal}",
            *_move_lines(record.rules, round_record),
            f"end {round_record.outcome}",
        ]
    lines += ["", f"result {_result_line(record)}", ""]
    return "\n".join(lines)


class _TextReader:
    """Takes a record line by line, in order; replays as it goes."""

    def __init__(self) -> None:
        self.rules: Rules | None = None
        self.has_engine = False
        self.tags: dict[str, Any] = {"episode": "match", "seed": None, "game_id": 0, "players": (), "tags": ()}
        self.game: Replay | None = None
        self.is_in_round = False
        self.num_lines = 0
        self.record: Record | None = None
        self.seen: set[str] = set()

    def read(self, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if self.record is not None:
            raise ValueError(f"{word!r} after the result")
        if word == "deal":
            self._deal(rest)
        elif self.game is None:
            self._tag(word, rest)
        elif re.fullmatch(r"[0-9]+\.", word) and self.is_in_round:
            self._moves(int(word[:-1]), rest)
        elif word == "end" and self.is_in_round:
            outcome = str(self.game.end_round())
            if rest != outcome:
                raise ValueError(f"end: the moves lead to {outcome!r}, not to {rest!r}")
            self.is_in_round = False
        elif word == "result" and not self.is_in_round:
            record = self.game.finish()
            if rest != _result_line(record):
                raise ValueError(f"result: the rounds lead to {_result_line(record)!r}, not to {rest!r}")
            self.record = record
        else:
            raise ValueError(f"{word!r} cannot stand here")

    def _tag(self, word: str, text: str) -> None:
        if word in self.seen and word != "tag":
            raise ValueError(f"{word!r} is given twice")
        self.seen.add(word)
        if word == "rules":
            self.rules = parse_rules(text)
        elif word == "engine":
            _check_version("engine", text, RULES_VERSION)
            self.has_engine = True
        elif word == "episode":
            self.tags["episode"] = text
        elif word in ("seed", "game"):
            if not re.fullmatch(r"[0-9]+", text):
                raise ValueError(f"{word}: {text!r} is not allowed; allowed: an integer from 0 to 2**64 - 1")
            self.tags["seed" if word == "seed" else "game_id"] = int(text)
        elif word == "players":
            self.tags["players"] = tuple(name.strip() for name in text.split("/"))
        elif word == "tag":
            name, _, value = text.partition(" ")
            self.tags["tags"] += ((name, value.strip()),)
        else:
            raise ValueError(
                f"{word!r} cannot stand here; allowed: rules, engine, episode, seed, game, players, tag, deal"
            )

    def _deal(self, text: str) -> None:
        if self.game is None:
            if self.rules is None or not self.has_engine:
                raise ValueError("deal: the tags 'rules' and 'engine' must come first")
            self.game = Replay(self.rules, self.tags)
        if self.is_in_round:
            raise ValueError("deal: the round before has no 'end'")
        self.game.deal(text)
        self.is_in_round = True
        self.num_lines = 0

    def _moves(self, number: int, text: str) -> None:
        assert self.game is not None
        rules = self.game.rules
        self.num_lines += 1
        if number != self.num_lines:
            raise ValueError(f"moves {number}. stand where {self.num_lines}. should")
        for turn in text.split("/"):
            actions = [parse_action(rules, word) for word in turn.split()]
            if not actions or any(action != rules.draw_action for action in actions[:-1]):
                raise ValueError(f"{turn.strip()!r} is no turn; a turn is any number of draws and a play or pass")
            for action in actions:
                self.game.play(action)


def parse_record(text: str) -> Record:
    """The inverse of :func:`format_record`; the game is replayed.

    Raises:
        ValueError: with the line and the reason, for a text that is no record or of another version, an illegal move,
            a wrong result, or a record that breaks off.
    """
    lines = text.splitlines()
    title, _, version = lines[0].strip().rpartition(" ") if lines else ("", "", "")
    if title != _TITLE:
        raise ValueError(f"line 1: no record; a record starts with '{_TITLE} {RECORD_VERSION}'")
    reader = _TextReader()
    number = 1
    try:
        _check_version("version", version, RECORD_VERSION)
        for number, line in enumerate(lines[1:], 2):  # noqa: B007 (the error tells it)
            if line.strip():
                reader.read(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
    if reader.record is None:
        raise ValueError(f"line {len(lines)}: the record breaks off; it should end in 'result'")
    return reader.record


def _check_version(name: str, found: Any, known: int) -> None:
    if str(found) != str(known):
        raise ValueError(f"{name}: {found!r} cannot be read; this is version {known}")


# JSON lines


def record_to_json(record: Record) -> str:
    """A record as one line of JSON, without a newline; moves are a text of words, points are numbers."""
    return json.dumps(
        {
            "format": _TITLE,
            "version": RECORD_VERSION,
            "rules": rules_text(record.rules),
            "engine": RULES_VERSION,
            "episode": record.episode,
            "seed": record.seed,
            "game": record.game_id,
            "players": record.players,
            "tags": record.tags,
            "rounds": [
                {
                    "deal": round_record.deal,
                    "moves": " ".join(format_action(record.rules, action) for action in round_record.actions),
                    **vars(round_record.outcome),
                }
                for round_record in record.rounds
            ],
            "status": record.status,
            "winners": record.winners,
        },
        separators=(",", ":"),
    )


def record_from_json(line: str) -> Record:
    """The inverse of :func:`record_to_json`; the game is replayed.

    Raises:
        ValueError: with the reason, as :func:`parse_record`.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no record, or one that breaks off: {error}") from None
    if not isinstance(data, dict) or data.get("format") != _TITLE:
        raise ValueError(f"no record; a record has format '{_TITLE}'")
    _check_version("version", data.get("version"), RECORD_VERSION)
    _check_version("engine", data.get("engine"), RULES_VERSION)
    try:
        rules = parse_rules(data["rules"])
        rounds = [
            (entry["deal"], [parse_action(rules, word) for word in entry["moves"].split()]) for entry in data["rounds"]
        ]
        record = make_record(
            rules,
            rounds,
            episode=data["episode"],
            seed=data["seed"],
            game_id=data["game"],
            players=tuple(data["players"]),
            tags=tuple((name, text) for name, text in data["tags"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no record: a part is missing or of the wrong kind ({error})") from None
    for number, (made, given) in enumerate(zip(record.rounds, data["rounds"], strict=True), 1):
        for name, value in vars(made.outcome).items():
            _check_claim(f"round {number}: {name}", given.get(name), value)
    _check_claim("status", data.get("status"), record.status)
    _check_claim("winners", data.get("winners"), record.winners)
    return record


def _check_claim(name: str, claimed: Any, replayed: Any) -> None:
    replayed = list(replayed) if isinstance(replayed, tuple) else replayed
    if claimed != replayed:
        raise ValueError(f"{name}: the moves lead to {replayed!r}, not to {claimed!r}")


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a JSON-lines file, one by one; the file is read as they are asked for. Blank lines are skipped.

    Raises:
        ValueError: with the file, the line and the reason, at the first line that is no sound record.
    """
    with open(path, "rb") as file:  # each line is decoded where an error can name it
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = record_from_json(line.decode("utf-8"))
            except ValueError as error:
                raise ValueError(f"{os.fspath(path)}, line {number}: {error}") from None
            yield record


def write_records(path: str | os.PathLike[str], records: Iterable[Record]) -> int:
    """Write records as a JSON-lines file; returns how many. The file appears, or is replaced, only once it is whole."""
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    count = 0
    try:
        with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
            for record in records:
                file.write(record_to_json(record) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return count
