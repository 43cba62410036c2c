"""A program in a pseudo-terminal: what a person would see of it, and his keys."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence

_CODE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """Enough of a terminal for what the game writes; codes that it does not know are an error."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.is_second = self.has_left = False  # whether the second screen is shown, and was given back
        self.cursor_shown = True
        self.first: list[str] = []
        self.clear()
        self.first_place = (0, 0)
        self._rest = ""

    def clear(self) -> None:
        self.rows = [[" "] * self.width for _ in range(self.height)]
        self.row = self.column = 0

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    def feed(self, text: str) -> None:
        text = self._rest + text
        self._rest = ""
        place = 0
        while place < len(text):
            character = text[place]
            if character == "\x1b":
                code = _CODE.match(text, place)
                if code is None:
                    assert len(text) - place < 20, repr(text[place : place + 20])
                    self._rest = text[place:]
                    return
                self._obey(*code.groups())
                place = code.end()
                continue
            place += 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self._next_row()
            else:
                assert character >= " ", repr(character)
                if self.column >= self.width:
                    assert not self.is_second, "a frame is wider than the screen"
                    self.column = 0
                    self._next_row()
                self.rows[self.row][self.column] = character
                self.column += 1

    def _next_row(self) -> None:
        self.row += 1
        if self.row == self.height:
            assert not self.is_second, "a frame is longer than the screen"
            self.rows = [*self.rows[1:], [" "] * self.width]
            self.row -= 1

    def _obey(self, private: str, numbers: str, letter: str) -> None:
        if private:
            assert letter in "hl" and numbers in ("25", "1049"), (numbers, letter)
            if numbers == "25":
                self.cursor_shown = letter == "h"
            elif (letter == "h") != self.is_second:
                self.is_second, self.has_left = letter == "h", letter == "l"
                if self.is_second:
                    self.kept = self.rows, self.row, self.column
                    self.clear()
                else:
                    self.rows, self.row, self.column = self.kept
        elif letter == "H":
            row, column = (int(number) for number in numbers.split(";"))
            assert 1 <= row <= self.height and 1 <= column <= self.width
            self.row, self.column = row - 1, column - 1
        elif letter == "K" and not numbers:
            self.rows[self.row][self.column :] = [" "] * (self.width - self.column)
        elif letter == "J" and numbers == "2":
            self.rows = [[" "] * self.width for _ in range(self.height)]
        else:
            assert letter == "m", (numbers, letter)


class PseudoTerminal:
    """A command that runs in a terminal of its own."""

    def __init__(self, command: Sequence[str], *, width: int = 80, height: int = 24, **environment: str) -> None:
        self.master, slave = pty.openpty()
        self.screen = Screen(width, height)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.attributes = termios.tcgetattr(slave)
        self.slave = slave
        self.written = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        surroundings = {**os.environ, "TERM": "xterm-256color", "DOMINOES_QUIET": "1", "PYTHONUTF8": "1", **environment}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=surroundings,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C comes from the terminal
        )

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        for descriptor in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def read(self, seconds: float) -> bool:
        """Take in what the program writes within so many seconds, at most once."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        text = self.decoder.decode(os.read(self.master, 65536))  # a sign may come in two parts
        self.written += text
        self.screen.feed(text)
        return True

    def wait_until(self, is_so: Callable[[Screen], bool], seconds: float = 60) -> None:
        """Go on reading until the screen is as wanted."""
        deadline = time.monotonic() + seconds
        while not is_so(self.screen):
            assert time.monotonic() < deadline, f"waited in vain; the screen:\n{self.screen.text}"
            if not self.read(0.05) and self.process.poll() is not None and not self.read(0):
                assert is_so(self.screen), f"the program has ended; the screen:\n{self.screen.text}"

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda screen: text in screen.text)

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    @property
    def is_as_found(self) -> bool:
        """Whether the terminal's settings are what they were."""
        return termios.tcgetattr(self.slave) == self.attributes

    def resize(self, width: int, height: int) -> None:
        self.screen = Screen(width, height)
        self.screen.is_second = True
        self.screen.kept = [[" "] * width for _ in range(height)], 0, 0
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def finish(self, seconds: float = 60) -> int:
        """The exit code, once all is read."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it goes on and on; the screen:\n{self.screen.text}"
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.returncode

    def kill(self) -> None:
        """What nothing can be done about."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def dominoes(*words: str) -> list[str]:
    """The command line as a command."""
    return [sys.executable, "-m", "training.cli", *words]
