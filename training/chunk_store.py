"""Finished chunks on disk, so that a run that was killed goes on where it was.

A file is named by a digest of all that its figures depend on: agents (with what they have learned), rules, seed,
deals, and the sources of engine and agents. One directory may hold chunks of any matches, longer ones use the chunks
of shorter ones, and after a change of the sources chunks are played anew. Files are written atomically.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np

import agents
from agents.atomic import write_atomically
from agents.catalog import make_agent
from agents.match import MatchResult, seatings
from dominoes_env.engine.jit import source_digest
from dominoes_env.engine.rules import RULES_VERSION
from training.chunks import Chunk

__all__ = ["ChunkStore", "Identities"]

FORMAT = "dominoes_env chunks"
FORMAT_VERSION = 1
_MARK = "chunks.json"


class ChunkStore:
    """A directory of finished chunks.

    Args:
        path: a directory that is new, empty, or such a store; it is made when the first chunk is kept.

    Raises:
        FileExistsError: if it is a file, or a directory of something else.
        OSError: if it cannot be made or written to.
        ValueError: if another version of this package made it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        #: Chunks that :meth:`load` has found.
        self.num_found = 0
        mark = self.path / _MARK
        if self.path.is_file():
            raise FileExistsError(f"{self.path} is a file; allowed: a directory that is new, empty, or holds chunks")
        nearest = next(place for place in (self.path, *self.path.absolute().parents) if place.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK):
            raise OSError(f"{self.path} cannot be written: {nearest} is no directory that may be written to")
        if not mark.is_file():
            if self.path.is_dir() and any(self.path.iterdir()):
                raise FileExistsError(f"{self.path} holds something else; allowed: a directory that is new or empty")
        elif _mark_of(mark) != (FORMAT, FORMAT_VERSION):
            raise ValueError(
                f"{mark} is not of this version ({FORMAT!r}, {FORMAT_VERSION}): it reads {mark.read_bytes()[:80]!r}; "
                f"allowed: another directory"
            )

    def load(self, chunk: Chunk, identity: dict[str, Any]) -> MatchResult | None:
        """The kept result of ``chunk``, which has that identity (see :class:`Identities`); None if there is none.

        Raises:
            ValueError: if its file is damaged or holds another chunk; the message names it and the way out.
        """
        file = self._file(chunk, identity)
        if not file.is_file():
            return None
        order = seatings(chunk.rules, len(chunk.agents))[: None if chunk.mirrored else 1]
        num_agents = len(chunk.agents)
        games: tuple[int, ...] = (num_agents, chunk.deals, len(order))
        kinds: dict[str, tuple[tuple[int, ...], type]] = {
            "points": (games, np.float64),
            "wins": (games, np.float64),
            "decisions": ((num_agents,), np.int64),
            "seconds": ((num_agents,), np.float64),
        }
        try:
            with np.load(file, allow_pickle=False) as content:
                if json.loads(content["identity"].tobytes()) != identity:
                    raise ValueError("it holds another chunk")
                arrays = {name: content[name] for name in kinds}
            for name, (shape, dtype) in kinds.items():
                array = arrays[name]
                if array.shape != shape or array.dtype != dtype:
                    raise ValueError(
                        f"its {name} are {array.dtype} of shape {array.shape}, not {dtype.__name__} {shape}"
                    )
                if not np.isfinite(array).all():
                    raise ValueError(f"its {name} are not all finite")
        except Exception as error:  # a damaged archive raises nearly anything
            why = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise ValueError(f"{file} cannot be used: {why}; remove it, and its deals are played again") from None
        self.num_found += 1
        return MatchResult(chunk.rules, chunk.seed, order, **arrays)

    def save(self, chunk: Chunk, identity: dict[str, Any], result: MatchResult) -> None:
        """Keep the result of ``chunk``, which had that identity before it was played.

        Raises:
            OSError: if it cannot be written.
        """
        mark = self.path / _MARK
        if not mark.is_file():
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(mark, (json.dumps({"format": FORMAT, "format_version": FORMAT_VERSION}) + "\n").encode())
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            identity=np.frombuffer(json.dumps(identity).encode(), np.uint8),
            points=result.points,
            wins=result.wins,
            decisions=result.decisions,
            seconds=result.seconds,
        )
        write_atomically(self._file(chunk, identity), buffer.getvalue())

    def _file(self, chunk: Chunk, identity: dict[str, Any]) -> Path:
        """Agents and deals to read, and the digest that counts."""
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
        names = re.sub(r"[^\w.=,-]+", "_", "_v_".join(agent["name"] for agent in identity["agents"]))[:80]
        return self.path / f"{names}-{chunk.first_deal:07d}-{digest}.npz"


def _mark_of(file: Path) -> tuple[Any, Any]:
    try:
        content = json.loads(file.read_bytes())
        return content["format"], content["format_version"]
    except (ValueError, KeyError, TypeError):
        return None, None


class Identities:
    """All that the figures of chunks depend on. An agent counts as it was when it was first seen here: playing may
    change what it holds, such as a cache, and that makes no other agent of it.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, dict[str, str]]] = {}  # the agent is kept, so that its id stays its own

    def of(self, chunk: Chunk) -> dict[str, Any]:
        """JSON values.

        Raises:
            TypeError: if an agent cannot be pickled, and so not be told from another one.
        """
        for agent in chunk.agents:
            if id(agent) not in self._seen:
                self._seen[id(agent)] = (agent, _agent_identity(agent))
        return {
            "agents": [self._seen[id(agent)][1] for agent in chunk.agents],
            "rules": chunk.rules.to_dict(),
            "rules_version": RULES_VERSION,
            "sources": source_digest(str(Path(agents.__file__).parent)),
            "seed": chunk.seed,
            "first_deal": chunk.first_deal,
            "deals": chunk.deals,
            "mirrored": chunk.mirrored,
        }


def _agent_identity(agent: Any) -> dict[str, str]:
    """An agent's name and a digest of all that it holds: a policy that was trained further is another agent."""
    made = make_agent(agent)
    try:
        digest = hashlib.sha256(pickle.dumps(made, protocol=5)).hexdigest()
    except Exception as error:
        raise TypeError(
            f"agent {made.name!r} cannot be told from another one ({type(error).__name__}: {error}); "
            f"allowed with a store: a name, or an object that can be pickled"
        ) from None
    return {"name": made.name, "digest": digest}
