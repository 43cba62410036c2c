"""The terminal game as a screen that is drawn anew, answered by keys."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import TextIO

from agents.base import Agent
from agents.events import Event
from agents.play_face import COMMANDS, Face, Quit, events_of_round
from agents.play_text import (
    help_lines,
    log_lines,
    match_lines,
    move_lines,
    progress_lines,
    round_lines,
    table_lines,
    who,
)
from agents.session import Session
from agents.terminal import Terminal, visible_width, wrapped

__all__ = ["ScreenFace"]

#: Seconds in which an Enter is taken to belong to the command that opened a page.
_COMMAND_TIME = 1.0
#: Lines of the log that are shown at most.
_LOG = 8
_REVERSE, _DIM, _BOLD, _PLAIN = "\x1b[7m", "\x1b[2m", "\x1b[1m", "\x1b[0m"


class _Notes(io.TextIOBase):
    """A stream that makes notes on the screen of what would spoil it, such as that the engine is being compiled."""

    def __init__(self, face: ScreenFace) -> None:
        self._face = face

    def write(self, text: str) -> int:
        if text.strip():
            self._face.notes += text.strip().splitlines()
            self._face.draw(self._face.doing)
        return len(text)


class ScreenFace(Face):
    """A screen that is drawn anew, answers by keys."""

    def __init__(
        self, session: Session, save: Path | None, adviser: Agent, source: TextIO, output: TextIO, pace: float
    ) -> None:
        super().__init__(session, save, adviser, source, output)
        self.pace = pace
        self.has_colour = not os.environ.get("NO_COLOR")
        self.terminal = Terminal(source, output)
        self.selected: int | None = None
        self.typed = ""
        self.tail = ""  # what is left of a command of which the first letter was enough
        self.doing = ""  # what is waited for, in place of the prompt

    def play(self) -> None:
        with self.terminal, redirect_stderr(_Notes(self)):
            super().play()
        round_event = next(event for event in reversed(self.session.events) if event.kind == "round")
        lines = [
            *self.fitted(self.final_table),
            "",
            *round_lines(self.session, round_event),
            "",
            *match_lines(self.session),
        ]
        print("\n".join(lines), file=self.output, flush=True)

    def tell(self, events: Sequence[Event]) -> None:
        super().tell(events)
        self.selected, self.typed = None, ""
        round_event = self.round_of(events)
        if round_event is not None:
            self.show_round(round_event)
        elif not self.session.is_to_decide and not self.session.is_over:
            self.wait_for(f"{who(self.session, self.session.game.turn)} is to move ...")
            time.sleep(self.pace)

    def ask(self) -> None:
        place = len(self.session.events), self.session.num_undone
        while (len(self.session.events), self.session.num_undone) == place:
            self.draw()
            key = self.terminal.read_key()
            assert key is not None
            self.press(key)

    def press(self, key: str) -> None:
        """One key: of a word, of a choice, or a command."""
        if self.tail and key in (self.tail[0], "enter"):  # "hint" and Enter, typed in full, is no more than h
            self.tail = "" if key == "enter" else self.tail[1:] or " "
            return
        self.tail = ""
        if key == "quit":
            raise Quit
        if key == "enter":
            self.enter()
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif key in ("escape", "clear"):
            self.selected, self.typed, self.notes = None, "", []
        elif key in ("up", "down", "left", "right", "home", "end"):
            self.select(key)
        elif len(key) == 1:
            self.selected = None
            if not self.typed and key.lower() in COMMANDS:
                self.tail = COMMANDS[key.lower()][1:] or " "
                self.obey(key.lower())
            elif len(self.typed) < 20:
                self.typed += key

    def enter(self) -> None:
        legal = self.session.game.legal_actions
        typed, self.typed = self.typed.strip().lower(), ""
        if typed:
            self.obey(typed)
        elif self.selected is not None:
            self.obey(str(self.selected + 1))
        elif len(legal) == 1:
            self.obey("1")
        else:
            self.notes = ["choose a move with the arrow keys, or type its number"]

    def select(self, key: str) -> None:
        count = len(self.session.game.legal_actions)
        self.typed, self.notes = "", self.notes if self.advice else []
        rows = self.rows(count)
        if self.selected is None:
            self.selected = count - 1 if key in ("up", "end") else 0
        elif key in ("home", "end"):
            self.selected = 0 if key == "home" else count - 1
        elif key in ("up", "down"):
            self.selected = (self.selected + (1 if key == "down" else -1)) % count
        else:
            moved = self.selected + (rows if key == "right" else -rows)
            self.selected = moved if 0 <= moved < count else self.selected

    # Frames.

    def rows(self, count: int) -> int:
        """The lines in which so many moves are listed: a column, or more where they would take too much room."""
        width, height = self.terminal.size
        widest = max(map(len, move_lines(self.session, self.advice))) + 5
        columns = 1
        while (columns + 1) * widest < width and -(-count // columns) > max(height // 4, 4):
            columns += 1
        return -(-count // columns)

    def fitted(self, table: Callable[..., list[str]], others: int = 0) -> list[str]:
        """The lines of the table, those broken that are too long; ``others``: the lines that stand beside it.

        The line of play is drawn where there is room for it.
        """
        width, height = self.terminal.size
        for drawn in (width - 1, 0):
            lines = table(width=drawn, colour=self.has_colour)
            parts = [part for line in lines for part in wrapped(line, width - 1, " " * 10)]
            if len(parts) + others <= height:
                break
        return parts

    def styled(self, text: str, style: str) -> str:
        return f"{style}{text}{_PLAIN}" if self.has_colour else text

    def moves(self) -> list[str]:
        """The list of moves, the chosen one marked."""
        cells = []
        lines = move_lines(self.session, self.advice)
        rows = self.rows(len(lines))
        widest = max(map(len, lines))
        for number, line in enumerate(lines):
            if number == self.selected:
                cells.append(f"{_REVERSE}> {line:{widest}} {_PLAIN}")
            else:
                cells.append(f"  {line:{widest}} ")
        return ["  ".join(cells[row::rows]) for row in range(rows)]

    def draw(self, doing: str = "") -> None:
        """The whole screen; ``doing``: what is waited for, in place of the prompt."""
        self.doing = doing
        session = self.session
        width, height = self.terminal.size
        head = progress_lines(session, **self.bar)
        head[0] = self.styled(head[0], _BOLD)
        notes = [part for note in self.notes for part in wrapped(note, width - 1)]
        foot = [*(self.moves() if session.is_to_decide else []), *notes]
        prompt = f"your move: {self.typed}"
        keys = self.styled("arrows or number, Enter   h hint  u undo  r redo  ? help  q quit", _DIM)
        foot += ["", doing] if doing else [keys, prompt]
        table = self.fitted(partial(table_lines, session), len(head) + len(foot))
        left = height - len(head) - len(table) - len(foot)
        gap = [""] if left > 4 else []
        room = max(min(left - 3 * len(gap), _LOG), 0)
        log = log_lines(session, events_of_round(session))[-room:] if room else []
        log = [self.styled(line, _DIM) if number < len(log) - 1 else line for number, line in enumerate(log)]
        log += [""] * (room - len(log))  # so that the moves stay in their place
        frame = [*head, *gap, *table, *gap, *log, *gap, *foot]
        self.terminal.draw(frame, None if doing else (visible_width(prompt), len(frame) - 1))

    def wait_for(self, text: str) -> None:
        self.draw(text)

    def show(self, lines: Sequence[str], foot: str, keys: tuple[str, ...] | None) -> None:
        """A page of its own, until one of ``keys``, or any key, is pressed."""
        began = time.monotonic()
        while True:
            width, height = self.terminal.size
            parts = [part for line in lines for part in wrapped(line, width - 1)][: height - 2]
            self.terminal.draw([*parts, "", self.styled(foot, _DIM)])
            key = self.terminal.read_key()
            if key in ("quit", "q"):
                raise Quit
            is_of_command = key == "enter" and keys is None and time.monotonic() < began + _COMMAND_TIME
            if key != "resize" and not is_of_command and (keys is None or key in keys):
                return

    def show_round(self, event: Event) -> None:
        """How a round ended, until Enter is pressed; at the end of the game it is printed instead."""
        if self.session.is_over:
            return
        told = round_lines(self.session, event)
        lines = [*self.fitted(self.final_table, len(told) + 3), "", *told]
        progress = ["", *progress_lines(self.session, **self.bar)[1:]]
        if len(lines) + len(progress) < self.terminal.size[1] - 1:
            lines += progress
        self.terminal.forget_keys()  # nobody means to turn a page that he has not seen
        self.show(lines, "Enter: the next round   q quit", ("enter", " "))

    def show_help(self) -> None:
        width, _ = self.terminal.size
        self.tail = ""
        self.show(help_lines(self.session, min(width - 2, 88)), "any key: back to the table   q quit", None)

    def end(self) -> None:
        """Printed once the screen is given back."""
