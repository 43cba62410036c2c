"""Mirrored matches as files of records: the games that ``evaluate`` would play, move by move, one a line.

A file grows beside the one that it will be, under a name that tells by a digest what is in it: the same command goes
on with it after it was stopped, and another one does not. Only when it is whole it takes the place of what was there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from agents.catalog import make_agent
from agents.match import Games, seatings
from dominoes_env.archive import record_to_json
from dominoes_env.engine.rules import Rules
from dominoes_env.notation import format_position
from dominoes_env.records import make_record, seeded_start
from training.chunk_store import Identities
from training.chunks import CHUNK_DEALS, Chunk, chunks_of
from training.workers import executor_of, play_chunks

__all__ = ["part_of", "record_games"]


@dataclass(frozen=True)
class _RecordingChunk(Chunk):
    """A chunk that gives its games."""

    def play(self) -> bytes:
        """The records as JSON lines, deal by deal, the seatings of each one after the other."""
        lines: list[str] = []
        self.play_match(lambda games: lines.extend(_lines(self, games)))
        return "".join(lines).encode()


def _lines(chunk: Chunk, games: Games) -> Iterator[str]:
    names = [_name(agent) for agent in chunk.agents]
    dealt, deal = -1, ""
    for row, game_id in enumerate(games.deals.tolist()):
        if game_id != dealt:
            state = seeded_start(chunk.rules, chunk.seed, game_id)
            dealt, deal = game_id, format_position(chunk.rules, state, with_rules=False)
        record = make_record(
            chunk.rules,
            [(deal, games.actions[row, : games.lengths[row]].tolist())],
            episode="round",
            seed=chunk.seed,
            game_id=game_id,
            players=[names[agent] for agent in games.sits[row].tolist()],
        )
        yield record_to_json(record) + "\n"


def _name(agent: Any) -> str:
    """The name of an agent as a record can hold it."""
    words = [word for word in make_agent(agent).name.split() if word != "/"]
    return " ".join("".join(sign if sign.isprintable() else "?" for sign in word) for word in words) or "agent"


def part_of(path: str | Path, chunk: Chunk) -> Path:
    """Where the games of a match wait until all are played; all but the number of deals decides the name.

    Raises:
        TypeError: if an agent cannot be pickled, and so not be told from another one.
    """
    identity = Identities().of(chunk)
    del identity["first_deal"], identity["deals"]
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
    path = Path(path)
    return path.with_name(f"{path.name}.{digest}.part")


def record_games(
    agents: Sequence[Any],
    rules: Rules,
    deals: int,
    path: str | Path,
    *,
    seed: int = 0,
    mirrored: bool = True,
    chunk: int = CHUNK_DEALS,
    workers: int = 1,
    progress: Callable[[int, bool], object] | None = None,
) -> int:
    """Play mirrored deals, as :func:`training.evaluate.evaluate` does, and keep every game in a JSON-lines file.

    A record has the match's seed, the deal as the number of the game, and the agents' names by seat. What is in the
    file depends neither on ``chunk`` nor on ``workers``, nor on how often the work was interrupted.

    Args:
        agents: names as in the catalog, or objects with the Agent protocol (pickled).
        rules: the rules.
        deals: each is played in every seating.
        path: the file; it appears, or is replaced, only once all games are in it.
        seed: of deals and decisions.
        mirrored: False plays each deal in one seating only.
        chunk: deals of a chunk, the unit of work.
        workers: processes that play.
        progress: called with the deals that are done so far, and whether they were found done.

    Returns:
        How many games are in the file.

    Raises:
        ValueError, TypeError, ChildProcessError, IllegalChoice, AgentFailure: as evaluate.
        BlockingIOError: if another process is at the same work.
        OSError: if the file cannot be written.
    """
    how: dict[str, Any] = {"seed": seed, "mirrored": mirrored}
    first = next(chunks_of(agents, rules, deals, **how))
    sits = seatings(rules, len(agents))[: None if first.mirrored else 1]
    path = os.path.realpath(path)  # a link stays one
    part = part_of(path, first)
    with _claimed(part) as file:
        done = _deals_done(file, first, sits.tolist(), deals)
        if progress is not None and done:
            progress(done, True)
        if done < deals:
            rest = chunks_of(agents, rules, deals - done, first_deal=done, size=chunk, **how)
            recording = (
                _RecordingChunk(**{name.name: getattr(one, name.name) for name in fields(one)}) for one in rest
            )
            with (
                executor_of(workers) as players,
                closing(play_chunks(recording, executor=players, workers=workers)) as parts,
            ):
                for lines in parts:
                    file.write(lines)
                    file.flush()
                    done = min(done + chunk, deals)
                    if progress is not None:
                        progress(done, False)
        os.fsync(file.fileno())
    os.replace(part, path)
    return deals * len(sits)


@contextmanager
def _claimed(part: Path) -> Iterator[BinaryIO]:
    """The unfinished file, open for nobody else, at least where files can be locked."""
    with open(part, "a+b") as file:
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BlockingIOError(f"{part} is being written by another process at the same work") from None
        try:
            yield file
        except BaseException:
            if not os.fstat(file.fileno()).st_size:  # nothing to go on with
                part.unlink(missing_ok=True)
            raise


def _deals_done(file: BinaryIO, chunk: Chunk, sits: list[list[int]], most: int) -> int:
    """How many deals, at most ``most``, stand whole and in order at the beginning of the file, which is cut to them."""
    names = [_name(agent) for agent in chunk.agents]
    players = [json.dumps([names[agent] for agent in seating], separators=(",", ":")) for seating in sits]
    file.seek(0)
    done = size = end = 0
    while done < most:
        for named in players:
            line = file.readline()
            told = f'"seed":{chunk.seed},"game":{done},"players":{named},'.encode()
            if not (line.startswith(b'{"format":') and line.endswith(b"}\n") and told in line):
                file.truncate(size)
                return done
            end += len(line)
        done, size = done + 1, end
    file.truncate(size)
    return done
