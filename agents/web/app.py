"""The server of the page: what each address does. A game is asked for by its id, and changed by requests that say for
which position of it they are made: others have no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from agents.advice import BEST_ADVISER, check_adviser
from agents.base import Agent
from agents.match import IllegalChoice
from agents.session import Session
from agents.web.guard import Guard, read_json
from agents.web.menu import Menu
from agents.web.refusal import Refusal
from agents.web.seen import advice_seen, position_of, position_text, session_seen
from agents.web.shelf import Shelf, ShelvedGame
from dominoes_env.archive import format_record
from dominoes_env.render.frames import num_positions, record_view
from dominoes_env.render.layout import MIN_COLUMNS
from dominoes_env.render.svg import THEMES, svg_style, tile_svg, view_svg

__all__ = ["make_app"]

_MAX_COLUMNS = 60
#: Requests that compute at the same time; others wait.
_MAX_BUSY = 4
_PAGES = files("agents.web") / "page"
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_POSITION = {"position": str}
_CHOICE = {
    "game": str,
    "num_players": int,
    "seat": int,
    "opponents": list,
    "episode": str,
    "seed": (str, type(None)),
}


def make_app(
    shelf: Shelf,
    menu: Menu,
    hosts: Collection[str],
    *,
    adviser: Agent | str = BEST_ADVISER,
    pace: float = 0.5,
) -> ASGIApp:
    """The server as an ASGI application.

    Args:
        shelf: where games are kept.
        menu: what may be chosen.
        hosts: the names, with the port, by which browsers may ask for it.
        adviser: the agent that gives hints.
        pace: seconds that the page waits between the moves of others.

    Raises:
        ValueError: if the adviser cheats or asks a person.
    """
    pages = _Pages(shelf)
    games = _Games(shelf, menu, check_adviser(adviser), pace)
    game = "/api/games/{game_id}"
    app = Starlette(
        routes=[
            Route("/", pages.start),
            Route("/game/{game_id}", pages.game),
            Route("/page/{name}", pages.part),
            Route("/tiles.css", pages.tiles),
            Route("/favicon.svg", pages.icon),
            Route("/api/menu", games.menu_seen),
            Route("/api/games", games.create, methods=["POST"]),
            Route(game, games.seen),
            Route(f"{game}/move", games.move, methods=["POST"]),
            Route(f"{game}/advance", games.advance, methods=["POST"]),
            Route(f"{game}/undo", games.undo, methods=["POST"]),
            Route(f"{game}/redo", games.redo, methods=["POST"]),
            Route(f"{game}/hint", games.hint, methods=["POST"]),
            Route(f"{game}/record", games.record),
            Route(f"{game}/positions/{{number}}", games.position),
        ],
        exception_handlers={Refusal: _refused, HTTPException: _unknown, Exception: _failed},
    )
    return Guard(app, hosts)


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return JSONResponse({"error": str(refusal)}, refusal.status)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the server has failed; it says why where it was started"}, 500)


class _Pages:
    """What is the same for all games."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._parts = {part.name: part.read_bytes() for part in _PAGES.iterdir() if part.name.split(".")[-1] in _KINDS}

    def _answer(self, name: str, status: int = 200) -> Response:
        return Response(self._parts[name], status, media_type=_KINDS[name.split(".")[-1]])

    async def start(self, request: Request) -> Response:
        return self._answer("start.html")

    async def game(self, request: Request) -> Response:
        is_there = self._shelf.has(request.path_params["game_id"])
        return self._answer("game.html") if is_there else self._answer("missing.html", 404)

    async def part(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._parts or name.endswith(".html"):
            raise Refusal(404, "there is no such file")
        return self._answer(name)

    async def tiles(self, request: Request) -> Response:
        return Response(_colours() + svg_style(), media_type="text/css")

    async def icon(self, request: Request) -> Response:
        picture = tile_svg(13).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
        return Response(picture.replace("><", f"><style>{svg_style()}</style><", 1), media_type="image/svg+xml")


def _colours() -> str:
    """The colours of the pictures for the rest of the page."""
    light, dark = ("".join(f"--{name}:{colour};" for name, colour in THEMES[theme].items()) for theme in THEMES)
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


class _Games:
    """The games: what is done with them, one request at a time with each."""

    def __init__(self, shelf: Shelf, menu: Menu, adviser: Agent, pace: float) -> None:
        self._shelf = shelf
        self._menu = menu
        self._adviser = adviser
        self._pace = pace
        self._busy = asyncio.Semaphore(_MAX_BUSY)

    async def _compute(self, work: Callable[[], Any]) -> Any:
        """Off the event loop, which goes on answering meanwhile."""
        async with self._busy:
            return await run_in_threadpool(work)

    async def menu_seen(self, request: Request) -> Response:
        return JSONResponse(await self._compute(lambda: self._menu.for_page))

    async def create(self, request: Request) -> Response:
        choice = await read_json(request, _CHOICE)

        def work() -> str:
            try:
                session = self._menu.session(choice)
            except ValueError as error:
                raise Refusal(422, str(error)) from None
            try:
                return self._shelf.add(session)
            except OSError as error:
                raise Refusal(507, f"the game cannot be saved: {error.strerror or error}") from None

        return JSONResponse({"id": await self._compute(work)}, 201)

    def _answer(self, game: ShelvedGame, columns: int) -> Response:
        assert game.session is not None
        seen = session_seen(game.session, columns=columns)
        return JSONResponse({**seen, "pace": self._pace, "failure": game.failure})

    async def seen(self, request: Request) -> Response:
        columns = _columns(request)
        async with self._shelf.taken(request.path_params["game_id"]) as game:
            return await self._compute(lambda: self._answer(game, columns))

    async def _change(
        self, request: Request, change: Callable[[Session, dict[str, Any]], None], **fields: type
    ) -> Response:
        """Let ``change`` change the game that the request is about, if it stands where the request takes it to."""
        columns = _columns(request)
        data = await read_json(request, {**_POSITION, **fields})

        def work() -> Response:
            session = _at(game, data["position"])
            change(session, data)
            game.save()
            return self._answer(game, columns)

        async with self._shelf.taken(request.path_params["game_id"]) as game:
            return await self._compute(work)

    async def move(self, request: Request) -> Response:
        def change(session: Session, data: dict[str, Any]) -> None:
            try:
                session.play(data["action"])
            except ValueError as error:
                raise Refusal(422, str(error)) from None

        return await self._change(request, change, action=int)

    async def advance(self, request: Request) -> Response:
        """One move of whoever of the agents is on turn."""

        def change(session: Session, data: dict[str, Any]) -> None:
            if session.is_over or session.is_to_decide:
                raise Refusal(422, "nobody else is on turn")
            try:
                session.advance(max_moves=1)
            except IllegalChoice as error:
                raise Refusal(409, str(error)) from None

        return await self._change(request, change)

    async def undo(self, request: Request) -> Response:
        def change(session: Session, data: dict[str, Any]) -> None:
            if not session.undo():
                raise Refusal(422, "there is nothing to undo: you had no choice before in this round")

        return await self._change(request, change)

    async def redo(self, request: Request) -> Response:
        def change(session: Session, data: dict[str, Any]) -> None:
            if not session.redo():
                raise Refusal(422, "there is nothing to redo")

        return await self._change(request, change)

    async def hint(self, request: Request) -> Response:
        data = await read_json(request, _POSITION)

        def work() -> Response:
            session = _at(game, data["position"])
            try:
                advice = session.hint(self._adviser)
            except ValueError as error:
                raise Refusal(422, str(error)) from None
            game.save()
            return JSONResponse(advice_seen(session, advice))

        async with self._shelf.taken(request.path_params["game_id"]) as game:
            return await self._compute(work)

    # Once the game is over nothing is hidden.

    async def record(self, request: Request) -> Response:
        def work() -> Response:
            text = format_record(_finished(game).record)
            headers = {"content-disposition": 'attachment; filename="dominoes-record.txt"'}
            return Response(text, media_type="text/plain; charset=utf-8", headers=headers)

        async with self._shelf.taken(request.path_params["game_id"]) as game:
            return await self._compute(work)

    async def position(self, request: Request) -> Response:
        """A position of the whole game by its number, all hands shown."""
        columns, text = _columns(request), request.path_params["number"]

        def work() -> Response:
            session = _finished(game)
            record = session.record
            last = num_positions(record) - 1
            if not (text.isascii() and text.isdecimal() and len(text) < 8 and int(text) <= last):
                raise Refusal(404, f"there is no position {text}; allowed: 0 to {last}")
            view = record_view(record, int(text), columns=columns)
            return JSONResponse({"svg": view_svg(view, has_style=False), "text": position_text(session, int(text))})

        async with self._shelf.taken(request.path_params["game_id"]) as game:
            return await self._compute(work)


def _columns(request: Request) -> int:
    text = request.query_params.get("columns", "26")
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and MIN_COLUMNS <= int(text) <= _MAX_COLUMNS):
        raise Refusal(400, f"columns={text!r} is not allowed; allowed: {MIN_COLUMNS} to {_MAX_COLUMNS}")
    return int(text)


def _at(game: ShelvedGame, position: str) -> Session:
    """The session, if it stands at this position."""
    assert game.session is not None
    if position_of(game.session) != position:
        raise Refusal(409, "the game has gone on meanwhile")
    return game.session


def _finished(game: ShelvedGame) -> Session:
    assert game.session is not None
    if not game.session.is_over:
        raise Refusal(403, "hands are hidden until the game is over")
    return game.session
