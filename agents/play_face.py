"""What all faces of the terminal game share: carrying out what the person asks for, and saving."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from agents.advice import Advice
from agents.base import Agent
from agents.events import Event
from agents.play_text import hint_text, who
from agents.session import Session
from dominoes_env.render.text import view_text

__all__ = ["COMMANDS", "Face", "Quit", "events_of_round"]

#: Commands by their letter.
COMMANDS = {"h": "hint", "u": "undo", "r": "redo", "q": "quit", "?": "?"}


class Quit(Exception):
    """The person leaves the table."""


class Face:
    """What both faces of the game share: carrying out commands, and saving."""

    def __init__(self, session: Session, save: Path | None, adviser: Agent, source: TextIO, output: TextIO) -> None:
        self.session = session
        self.save = save
        self.adviser = adviser
        self.source = source
        self.output = output
        self.advice: Advice | None = None
        self.notes: list[str] = []
        try:
            "█░…".encode(output.encoding or "ascii")
            self.bar = {"full": "█", "empty": "░"}
        except (UnicodeEncodeError, LookupError):
            self.bar = {"full": "#", "empty": "."}

    def play(self) -> None:
        """To the end of the game."""
        session = self.session
        while not session.is_over:
            if not session.is_to_decide:
                self.wait_for(f"{who(session, session.game.turn)} is to move ...")
                self.tell(session.advance(max_moves=1))
            elif session.game.legal_actions[0] >= session.rules.draw_action:  # a draw or a pass: there is no choice
                self.tell(session.play(session.game.legal_actions[0]))
            else:
                self.ask()
        self.end()

    def tell(self, events: Sequence[Event]) -> None:
        """Say what has happened, and keep it."""
        self.advice = None
        if self.save is not None:
            try:
                self.session.save(self.save)
            except OSError as error:
                self.notes.append(f"the game could not be saved: {error}")

    def ask(self) -> None:
        """Have the person decide."""
        raise NotImplementedError

    def end(self) -> None:
        """Say how the game ended."""
        raise NotImplementedError

    def show_help(self) -> None:
        """The keys and the rules."""
        raise NotImplementedError

    def wait_for(self, text: str) -> None:
        """Say that something takes a while."""

    def obey(self, text: str) -> None:
        """Carry out a line that the person has typed; what is wrong with it becomes a note."""
        session, legal = self.session, self.session.game.legal_actions
        self.notes.clear()
        command = next((letter for letter, word in COMMANDS.items() if text in (letter, word)), text)
        if command == "q" or text == "exit":
            raise Quit
        if command in ("?", "help"):
            self.show_help()
        elif command == "h":
            self.wait_for(f"{self.adviser.name} is thinking ...")
            self.advice = session.hint(self.adviser)
            self.notes = [hint_text(session, self.advice)]
        elif command == "u":
            if session.undo():
                self.tell([])
            else:
                self.notes = ["there is nothing to undo: you had no choice before in this round"]
        elif command == "r":
            events = session.redo()
            self.tell(events)
            if not events:
                self.notes = ["there is nothing to redo"]
        elif text.isdecimal():
            number = int(text) if len(text) < 10 else 0
            if 1 <= number <= len(legal):
                self.tell(session.play(legal[number - 1]))
            else:
                self.notes = [f"{text[:9]} is no number in the list; allowed: 1 to {len(legal)}"]
        else:
            try:
                events = session.play(text)
            except ValueError as refusal:
                self.notes = [str(refusal)]
            else:
                self.tell(events)

    def round_of(self, events: Sequence[Event]) -> Event | None:
        """The end of a round among ``events``."""
        return next((event for event in events if event.kind == "round"), None)

    def final_table(self, **how: Any) -> list[str]:
        """The table at the end of the last round, hands laid open; ``how``: width and colour of ``view_text``."""
        finished = self.session.finished_round
        assert finished is not None
        return view_text(self.session.rules, *finished, **how).splitlines()


def events_of_round(session: Session) -> list[Event]:
    events = session.events
    start = max(place for place, event in enumerate(events) if event.kind == "deal")
    return list(events[start:])
