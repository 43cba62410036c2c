"""Games in files, one a game, of which some are kept in memory. One request at a time has a game in its hands."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from agents.session import Session
from agents.web.refusal import Refusal

__all__ = ["Shelf", "ShelvedGame"]

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
#: What a file is known by: if it is another one than that which was written, somebody else has gone on with the game.
_Stamp = tuple[int, int, int]


@dataclass
class ShelvedGame:
    """A game while a request has it."""

    path: Path
    session: Session | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    num_users: int = 0
    """Requests that have it or wait for it."""
    stamp: _Stamp | None = None
    failure: str = ""
    """Why it could not be saved last; empty: it could."""

    def load(self) -> Session:
        """The game as its file has it, or as it is in memory where the file is the one that was written."""
        try:
            stamp = _stamp_of(self.path)
            if self.session is None or stamp != self.stamp:
                self.session, self.stamp = Session.load(self.path), stamp
        except FileNotFoundError:
            raise Refusal(404, "there is no such game") from None
        except (OSError, ValueError) as error:  # the reason may tell hidden tiles; it is for whoever runs the server
            print(f"{self.path} cannot be read: {error}", flush=True)
            raise Refusal(410, "the saved game cannot be read; the server says why") from None
        return self.session

    def save(self) -> None:
        """Write it to its file; where that fails it goes on in memory, and :attr:`failure` says why."""
        assert self.session is not None
        try:
            self.session.save(self.path)
            self.stamp, self.failure = _stamp_of(self.path), ""
        except OSError as error:
            self.failure = f"the game could not be saved: {error.strerror or error}"


class Shelf:
    """The games of a directory by their ids, which nobody can guess.

    Args:
        directory: it exists; whoever can read it can read all hands.
        in_memory: games that are kept in memory at most, but for those that are in hands.
        on_disk: its files that are kept at most; the ones that have not been played for longest go. Other files in the
            directory are left alone.
    """

    def __init__(self, directory: Path, *, in_memory: int = 32, on_disk: int = 1000) -> None:
        self.directory = directory
        self.in_memory = in_memory
        self.on_disk = on_disk
        self._games: OrderedDict[str, ShelvedGame] = OrderedDict()

    def has(self, game_id: str) -> bool:
        """Whether there is a game of this id."""
        return bool(_ID.fullmatch(game_id)) and self._path(game_id).is_file()

    def add(self, session: Session) -> str:
        """Put a new game into a file; returns its id.

        Raises:
            OSError: if it cannot be written.
        """
        game_id = secrets.token_urlsafe(16)
        session.save(self._path(game_id))
        for file in self._files()[: -self.on_disk]:
            with suppress(OSError):  # it stays, then
                file.unlink()
        return game_id

    def _files(self) -> list[Path]:
        """The games' files, those that have not been played for longest first."""
        times: dict[Path, int] = {}
        for file in self.directory.glob("*.json"):
            if _ID.fullmatch(file.stem):
                with suppress(FileNotFoundError):  # removed meanwhile
                    times[file] = file.stat().st_mtime_ns
        return sorted(times, key=times.__getitem__)

    @asynccontextmanager
    async def taken(self, game_id: str) -> AsyncIterator[ShelvedGame]:
        """A game, for this request alone.

        What the request refuses leaves the game as it is; any other error puts it back as its file has it.

        Raises:
            Refusal: 404 if there is none of this id, 410 if its file is damaged.
        """
        if not _ID.fullmatch(game_id):
            raise Refusal(404, "there is no such game")
        game = self._games.setdefault(game_id, ShelvedGame(self._path(game_id)))
        self._games.move_to_end(game_id)
        game.num_users += 1
        try:
            async with game.lock:
                try:
                    await run_in_threadpool(game.load)
                    yield game
                except Refusal as refusal:
                    if refusal.status in (404, 410):
                        game.session = None
                    raise
                except BaseException:
                    game.session = None
                    raise
        finally:
            game.num_users -= 1
            self._put_back(game_id, game)

    def _put_back(self, game_id: str, game: ShelvedGame) -> None:
        """Forget games that are in no hands: this one if there is nothing to remember, and the oldest of too many.

        Those that could not be saved last are kept: there is nothing else of them.
        """
        if game.session is None and not game.num_users:
            self._games.pop(game_id, None)
        for other in list(self._games):
            if len(self._games) <= self.in_memory:
                break
            if not self._games[other].num_users and not self._games[other].failure:
                del self._games[other]

    def _path(self, game_id: str) -> Path:
        return self.directory / f"{game_id}.json"


def _stamp_of(path: Path) -> _Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
