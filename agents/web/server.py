"""The page served on this machine, until it is interrupted."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

__all__ = ["ADDRESS", "serve"]

#: The address that is listened to: this machine's own, which others cannot reach.
ADDRESS = "127.0.0.1"


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the log is more than that a request was broken off because the server stops."""
    is_broken_off = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not is_broken_off and "graceful shutdown" not in record.getMessage()


def serve(make: Callable[[list[str]], ASGIApp], port: int, started: Callable[[str], object]) -> None:
    """Serve an application until Ctrl-C; requests that are being worked on are given a second to end.

    Threads that they have started may go on after it.

    Args:
        make: makes it, given the names with port by which it may be asked for.
        port: 0 takes a free one.
        started: called with the page's address once it can be opened.

    Raises:
        OSError: if the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
        except OSError as error:
            raise OSError(f"--port {port} cannot be had ({error.strerror}); allowed: a free one, or 0") from None
        listener.listen()
        port = listener.getsockname()[1]
        names = (ADDRESS, "localhost")
        app = make([f"{name}:{port}" for name in names] + [name for name in names if port == 80])
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
        )
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        started(f"http://{ADDRESS}:{port}/")
        with suppress(KeyboardInterrupt):  # how it is stopped
            uvicorn.Server(config).run(sockets=[listener])
