"""A terminal as keys and frames, without curses: single keys where the standard input is a terminal, else lines.

A frame is a list of lines. Only lines that differ from the last frame are written, all in one go, so nothing flickers.
Whatever happens, the terminal is left as it was found.
"""

from __future__ import annotations

import os
import re
import select
import signal
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, TextIO

try:
    import termios
    import tty
except ImportError:  # not a Unix system: lines are read instead of keys
    termios = tty = None  # type: ignore[assignment]

__all__ = ["Terminal", "clipped", "has_keys", "visible_width", "wrapped"]

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
#: What follows an escape in the codes of keys; Home, End and others have two forms each.
_CODES = {
    b"[A": "up",
    b"[B": "down",
    b"[C": "right",
    b"[D": "left",
    b"OA": "up",
    b"OB": "down",
    b"OC": "right",
    b"OD": "left",
    b"[H": "home",
    b"[F": "end",
    b"OH": "home",
    b"OF": "end",
    b"[1~": "home",
    b"[4~": "end",
    b"[5~": "pageup",
    b"[6~": "pagedown",
}
_CONTROLS = {"\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\x04": "quit", "\x15": "clear"}
_CODE = re.compile(rb"\[[0-?]*[ -/]*[@-~]|O[ -~]")
#: Seconds after which an escape that nothing follows is the key of that name.
_ESCAPE_TIME = 0.05
#: Seconds between looks at the size of the terminal.
_LOOK = 0.25


def has_keys(source: TextIO, output: TextIO) -> bool:
    """Whether single keys can be read from ``source`` and frames drawn on ``output``."""
    if termios is None or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return os.isatty(source.fileno()) and os.isatty(output.fileno())
    except (OSError, ValueError, AttributeError):  # streams of no file
        return False


def visible_width(text: str) -> int:
    """Columns that a text takes, colours left out."""
    plain = _ESCAPE.sub("", text)
    return len(plain) if plain.isascii() else sum(map(_columns, plain))


def _columns(sign: str) -> int:
    """Columns that a sign takes: none if it is set over the one before, two if it is wide, as in Chinese."""
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """The first ``width`` columns of a text; a colour that was begun ends."""
    if visible_width(text) <= width:
        return text
    return _cut(text, width)[0]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """A text as lines of at most ``width`` columns, broken after a ``]`` or a space where there is one."""
    lines: list[str] = []
    while visible_width(text) > width:
        head, tail = _cut(text, width)
        plain = _ESCAPE.sub("", head)
        place = max(plain.rfind("]"), plain.rfind(" ")) + 1
        if place > len(indent) + 1:
            head, tail = _cut(text, visible_width(plain[:place]))
        lines.append(head.rstrip())
        text = indent + tail.lstrip()
    return [*lines, text]


def _cut(text: str, width: int) -> tuple[str, str]:
    """A text in two after ``width`` columns; a colour that spans the cut is ended and begun again."""
    colour, place, used = "", 0, 0
    while place < len(text):
        escape = _ESCAPE.match(text, place)
        if escape:
            colour = "" if escape[0] in ("\x1b[0m", "\x1b[m") else colour + escape[0]
            place = escape.end()
            continue
        used += _columns(text[place])
        if used > width:
            break
        place += 1
    return text[:place] + ("\x1b[0m" if colour else ""), colour + text[place:]


class Terminal:
    """The terminal in single-key mode, on its second screen, while the ``with`` block lasts.

    Signals that end a program (SIGTERM, SIGHUP) raise SystemExit(128 + number) in it, Ctrl-C KeyboardInterrupt as ever.
    It can be suspended (Ctrl-Z).
    """

    def __init__(self, source: TextIO, output: TextIO) -> None:
        self._descriptor = source.fileno()
        self._output = output
        self._pending = bytearray()
        self._frame: list[str] = []
        self._size: tuple[int, int] | None = None
        self._found: Any = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Terminal:
        self._found = termios.tcgetattr(self._descriptor)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, _exit)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        self._begin()
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._end()

    def _begin(self) -> None:
        tty.setcbreak(self._descriptor)
        self._write("\x1b[?1049h")
        self._size = None  # whatever was shown is gone

    def _end(self) -> None:
        with suppress(OSError, termios.error):  # the terminal is gone
            self._write("\x1b[?25h\x1b[?1049l")
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._found)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Leave the terminal to the shell, and take it back once the shell lets us go on."""
        del frame
        self._end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # here it stops
        signal.signal(number, self._suspend)
        self._begin()

    def _write(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        try:
            columns, lines = os.get_terminal_size(self._descriptor)
        except OSError:  # a terminal that does not tell
            columns = lines = 0
        return max(columns or 80, 20), max(lines or 24, 8)

    def draw(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        """Show a frame from the upper left corner on; ``cursor``: its column and line, from 0. None hides it.

        Lines that are too long are cut off, and of too many the first.
        """
        width, height = self.size
        left_out = max(len(lines) - height, 0)
        frame = [clipped(line, width - 1) for line in lines[left_out:]]
        if (width, height) != self._size:
            self._size, self._frame = (width, height), []
            parts = ["\x1b[?25l\x1b[2J"]
        else:
            parts = ["\x1b[?25l"]
        for number in range(max(len(frame), len(self._frame))):
            new = frame[number] if number < len(frame) else ""
            if number >= len(self._frame) or new != self._frame[number]:
                parts.append(f"\x1b[{number + 1};1H{new}\x1b[K")
        self._frame = frame
        if cursor is not None:
            parts.append(f"\x1b[{max(cursor[1] - left_out, 0) + 1};{min(cursor[0], width - 1) + 1}H\x1b[?25h")
        self._write("".join(parts))

    def read_key(self, timeout: float | None = None) -> str | None:
        """The next key: a character, or a word such as ``up``, ``enter``, ``escape``, ``quit`` (Ctrl-D).

        ``resize`` says that the terminal's size has changed; None that ``timeout`` seconds went by.

        Raises:
            EOFError: when the terminal is gone.
        """
        left = timeout
        while True:
            key = self._decoded()
            if key is not None:
                return key
            wait = _ESCAPE_TIME if self._pending else _LOOK if left is None else min(left, _LOOK)
            if select.select([self._descriptor], [], [], wait)[0]:
                self._read()
            elif self._pending:  # nothing follows: what there is of a code is taken for the key
                del self._pending[:]
                return "escape"
            elif self._size != self.size:
                return "resize"
            elif left is not None:
                left -= wait
                if left <= 0:
                    return None

    def forget_keys(self) -> None:
        """Drop what was typed ahead."""
        del self._pending[:]
        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def _read(self) -> None:
        try:
            new = os.read(self._descriptor, 4096)
        except OSError:
            new = b""
        if not new:
            raise EOFError("the terminal is gone")
        self._pending += new

    def _decoded(self) -> str | None:
        """A key off what was read; None if there is no whole one."""
        while self._pending:
            first = self._pending[0]
            if first == 0x1B:
                code = _CODE.match(self._pending, 1)
                if code is None:
                    if len(self._pending) > 1 and self._pending[1] not in b"[O":  # Alt with a key, or the key escape
                        del self._pending[0]
                        return "escape"
                    return None
                name = _CODES.get(bytes(code[0]))
                del self._pending[: code.end()]
                if name is None:
                    continue  # a key that means nothing here
                return name
            del self._pending[0]
            character = chr(first)
            if character in _CONTROLS:
                return _CONTROLS[character]
            if " " <= character <= "~":
                return character
        return None


def _exit(number: int, frame: FrameType | None) -> None:
    del frame
    raise SystemExit(128 + number)
