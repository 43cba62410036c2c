"""Who plays chunks: this process, or any ``concurrent.futures.Executor``, such as some spawned processes.

Results are handed out in the order of the chunks, so that a decision to stop early depends on no race of workers.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from agents.catalog import make_agent
from agents.match import MatchResult
from dominoes_env.arguments import checked_integer
from training.chunk_store import ChunkStore, Identities
from training.chunks import Chunk

__all__ = ["executor_of", "play_chunks"]

#: Chunks on their way for each worker: the next one is there when one is done.
_AHEAD = 2
#: What libraries take their number of threads from; a worker is to use its one core.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _played(chunk: Chunk, store: ChunkStore | None, identity: dict[str, Any]) -> MatchResult:
    result = chunk.play()
    if store is not None:
        store.save(chunk, identity, result)
    return result


def play_chunks(
    chunks: Iterable[Chunk], *, executor: Executor | None = None, workers: int = 1, store: ChunkStore | None = None
) -> Generator[MatchResult, None, None]:
    """The result of each chunk, in the order of ``chunks``, as soon as it and all before it are there.

    Args:
        chunks: taken one by one, shortly before they are played.
        executor: who plays them, such as :func:`executor_of`; None: this process, when the next result is asked for.
        workers: how many of them ``executor`` plays at once.
        store: results found there are not played again, new ones are kept there (by whoever plays them).

    Raises:
        TypeError: for an agent that cannot be pickled where it would have to be.
        ValueError: for a damaged file in the store; a person with an executor.
        ChildProcessError: when a worker process died.
        IllegalChoice, AgentFailure: as :func:`agents.match.play_match`.
    """
    identities = Identities()
    if executor is None:
        for chunk in chunks:
            identity = {} if store is None else identities.of(chunk)
            kept = None if store is None else store.load(chunk, identity)
            yield _played(chunk, store, identity) if kept is None else kept
        return
    waiting: deque[MatchResult | Future[MatchResult]] = deque()
    try:
        for chunk in chunks:
            identity = {} if store is None else identities.of(chunk)
            kept = None if store is None else store.load(chunk, identity)
            waiting.append(_submitted(executor, chunk, store, identity) if kept is None else kept)
            if len(waiting) > _AHEAD * workers:
                yield _awaited(waiting.popleft(), store)
        while waiting:
            yield _awaited(waiting.popleft(), store)
    finally:
        for one in waiting:
            if isinstance(one, Future):
                one.cancel()


def _submitted(
    executor: Executor, chunk: Chunk, store: ChunkStore | None, identity: dict[str, Any]
) -> Future[MatchResult]:
    for agent in chunk.agents:
        if (made := make_agent(agent)).is_person:
            raise ValueError(f"agent={made.name!r} plays in this process only; allowed: workers=1")
        try:
            pickle.dumps(agent)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise TypeError(
                f"agent {made.name!r} cannot be sent to another process ({why}); "
                f"allowed: a name, an object that can be pickled, or workers=1"
            ) from None
    return executor.submit(_played, chunk, store, identity)


def _awaited(result: MatchResult | Future[MatchResult], store: ChunkStore | None) -> MatchResult:
    try:
        return result.result() if isinstance(result, Future) else result
    except BrokenProcessPool:
        kept = (
            "" if store is None else f"; finished chunks are kept in {store.path}, the same command goes on with them"
        )
        raise ChildProcessError(f"a worker process died (out of memory, or killed){kept}") from None


@contextmanager
def executor_of(workers: int) -> Iterator[Executor | None]:
    """``workers`` spawned processes of one thread each; None for 1, which means this process.

    They end at once, whatever they are at, when the block is left or this process dies. As always with spawned
    processes, a script that uses them needs ``if __name__ == "__main__":``.

    Raises:
        ValueError: if ``workers`` is not an integer of at least 1.
    """
    if checked_integer("workers", workers, 1) == 1:
        yield None
        return
    context = get_context("spawn")  # a forked child would die of the threads that a parallel kernel left
    ear, mouth = context.Pipe(duplex=False)
    with _worker_environment():
        executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(ear,))
        try:
            yield executor
        finally:
            mouth.close()  # the workers hear it
            executor.shutdown(wait=True, cancel_futures=True)
            ear.close()


@contextmanager
def _worker_environment() -> Iterator[None]:
    """What the workers inherit: one thread each, and no word of compiling beside this process's own."""
    given = {**dict.fromkeys(_THREAD_VARIABLES, "1"), "DOMINOES_QUIET": "1"}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin_worker(ear: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that will end this one
    threading.Thread(target=_end_with, args=(ear,), daemon=True).start()


def _end_with(ear: Connection) -> None:
    """Wait until the other end is closed, by intent or because its process died; then end this one at once."""
    with suppress(EOFError, OSError):
        ear.recv_bytes()
    os._exit(1)
