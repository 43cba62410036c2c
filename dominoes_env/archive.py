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
status of the match and its winners; a game that is not over has status ``playing``. (The file is long
because each form is written and read side by side.)
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.notation import parse_rules, rules_text
from dominoes_env.records import Record, Replay, RoundRecord, make_record
from dominoes_env.words import format_actions, parse_action, parse_actions

__all__ = [
    "RECORD_VERSION",
    "decoded",
    "format_record",
    "is_text_record",
    "parse_record",
    "read_records",
    "record_from_json",
    "record_to_json",
    "recover_record",
    "write_records",
]

#: Version of the form of records.
RECORD_VERSION = 1

_TITLE = "dominoes record"


def _result_line(record: Record) -> str:
    return record.status + (" | won " + ",".join(map(str, record.winners)) if record.winners else "")


def _move_lines(rules: Rules, round_record: RoundRecord) -> Iterator[str]:
    """The moves, once round the table a line."""
    turns: list[str] = []
    words: list[str] = []
    told = format_actions(rules, round_record.actions, has_lead="| layout " not in round_record.deal)
    for word, action in zip(told, round_record.actions, strict=True):
        words.append(word)
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
            outcome = str(self.game.outcome())
            if rest != outcome:
                raise ValueError(f"end: the moves lead to {outcome!r}, not to {rest!r}")
            self.game.end_round()
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
            self.tags["players"] = tuple(name.strip() for name in f" {text} ".split(" / "))
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
            words = turn.split()
            for place, word in enumerate(words or [""]):
                if not word or (place and words[place - 1] != "draw"):
                    raise ValueError(f"{turn.strip()!r} is no turn; a turn is any number of draws and a play or pass")
                action = parse_action(rules, word)
                if self.game.history and action < rules.draw_action and "@" not in word:
                    raise ValueError(f"{word!r} does not say on which end; only a lead does not")
                self.game.play([action])  # one by one: those before an error are kept by recover_record


def parse_record(text: str) -> Record:
    """The inverse of :func:`format_record`; the game is replayed.

    Raises:
        ValueError: with the line and the reason, for a text that is no record or of another version, an illegal move,
            a wrong result, or a record that breaks off.
    """
    reader, error, _ = _read(text)
    if error or reader.record is None:
        raise ValueError(error)
    return reader.record


def recover_record(text: str) -> tuple[Record, str]:
    """The longest sound beginning of a damaged record, and what is lost of it in a sentence, empty if nothing is.

    The game stands where the first line that cannot be leaves it, the moves on that line before the one that cannot
    be included; ``Game.from_record`` goes on from there.

    Raises:
        ValueError: with the line and the reason, if not even the first deal is sound.
    """
    reader, error, number = _read(text)
    if reader.record is None:
        if reader.game is None or not reader.game.deal_line:
            raise ValueError(f"{error}; nothing before it can be recovered")
        if reader.is_in_round:
            reader.game.end_round()
        reader.record = reader.game.finish()
    if not error:
        return reader.record, ""
    after = sum(1 for line in text.splitlines()[number:] if line.strip())
    moves = sum(len(past.actions) for past in reader.record.rounds)
    return reader.record, f"{error}; kept: {moves} moves before it; lost: what follows, {after} lines after that one"


def is_text_record(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is to be read as a text of one record, rather than as JSON lines."""
    return head.lstrip(b"\xef\xbb\xbf").startswith(_TITLE.encode())


def _read(text: str) -> tuple[_TextReader, str, int]:
    """What was read of a text up to the first line that cannot be, the line and the reason, empty if all is sound, and
    the line's number.
    """
    lines = text.splitlines()
    reader = _TextReader()
    number = 1
    try:
        _check_title(lines[0] if lines else "")
        for number, line in enumerate(lines[1:], 2):  # noqa: B007 (the error tells it)
            if line.strip():
                reader.read(line)
    except ValueError as error:
        return reader, f"line {number}: {error}", number
    if reader.record is None:
        return reader, f"line {len(lines)}: the record breaks off; it should end in 'result'", len(lines)
    return reader, "", len(lines)


def _check_title(line: str) -> None:
    title, _, version = line.strip().rpartition(" ")
    if title != _TITLE:
        mark = " (it begins with a byte order mark)" if line.startswith("\ufeff") else ""
        raise ValueError(f"no record; a record starts with '{_TITLE} {RECORD_VERSION}'{mark}")
    _check_version("version", version, RECORD_VERSION)


def _check_version(name: str, found: Any, known: int) -> None:
    if str(found) != str(known):
        raise ValueError(f"{name}: {found!r} cannot be read; this is version {known}")


# JSON lines

_ENCODER = json.JSONEncoder(separators=(",", ":"))


def record_to_json(record: Record) -> str:
    """A record as one line of JSON, without a newline; moves are a text of words, points are numbers."""
    return _ENCODER.encode(
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
                    "moves": " ".join(format_actions(record.rules, round_record.actions)),
                    **vars(round_record.outcome),
                }
                for round_record in record.rounds
            ],
            "status": record.status,
            "winners": record.winners,
        }
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
        rounds = [(entry["deal"], parse_actions(rules, entry["moves"])) for entry in data["rounds"]]
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


def read_records(
    path: str | os.PathLike[str], *, recover: bool = False, report: Callable[[str], object] = warnings.warn
) -> Iterator[Record]:
    """The records of a JSON-lines file, one by one; the file is read as they are asked for. Blank lines are skipped.

    Args:
        path: the file.
        recover: leave out lines that are no sound record, instead of raising at the first; what comes before that one
            is handed out in either case.
        report: with ``recover``, called with the file, the line and the reason for each line that is left out.

    Raises:
        ValueError: with the file, the line and the reason, at the first line that is no sound record.
    """
    with open(path, "rb") as file:  # each line is decoded where an error can name it
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = record_from_json(decoded(line, is_first=number == 1))
            except ValueError as error:
                message = f"{os.fspath(path)}, line {number}: {error}"
                if not recover:
                    raise ValueError(message) from None
                report(f"{message}; this line is left out")
                continue
            yield record


#: How files begin that hold something else, which a text editor would not tell.
_FOREIGN = {
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def decoded(line: bytes, *, is_first: bool) -> str:
    """A line of a file as text.

    Raises:
        ValueError: if it is no UTF-8; for the first line with what the file seems to be.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        kind = next((kind for mark, kind in _FOREIGN.items() if is_first and line.startswith(mark)), "")
        raise ValueError(f"no record; allowed: UTF-8 text, not {kind or 'other encodings'} ({error})") from None


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
