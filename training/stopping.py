"""Being asked to stop: long work ends where it can be taken up again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["asked_to_stop"]


@contextmanager
def asked_to_stop() -> Iterator[list[int]]:
    """A list that gets the number of a SIGINT or SIGTERM; a second SIGINT interrupts at once."""
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield signals
        return

    def note(number: int, _: Any) -> None:
        if signals and number == signal.SIGINT:
            raise KeyboardInterrupt
        signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
