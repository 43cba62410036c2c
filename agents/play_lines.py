"""The terminal game as text that goes on and on, answered by lines: for pipes, and terminals without single keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.events import Event
from agents.play_face import Face, events_of_round
from agents.play_text import (
    game_lines,
    help_lines,
    log_lines,
    match_lines,
    move_lines,
    progress_lines,
    round_lines,
    table_lines,
)

__all__ = ["LineFace"]


class LineFace(Face):
    """Text that goes on and on, answers by lines."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.is_new = True

    def say(self, lines: Sequence[str]) -> None:
        print("\n".join(lines), file=self.output, flush=True)

    def play(self) -> None:
        self.say([*game_lines(self.session), "? is help."])
        if self.session.game.history:
            self.say(["", *log_lines(self.session, events_of_round(self.session))])
        super().play()

    def tell(self, events: Sequence[Event]) -> None:
        super().tell(events)
        self.is_new = True
        self.say(log_lines(self.session, [event for event in events if event.kind != "deal"]))
        round_event = self.round_of(events)
        if round_event is not None:
            self.say(["", *self.final_table(), "", *round_lines(self.session, round_event)])
            if not self.session.is_over:
                self.say(["", *log_lines(self.session, [event for event in events if event.kind == "deal"])])

    def ask(self) -> None:
        if self.is_new:
            self.say(["", *progress_lines(self.session, **self.bar), *table_lines(self.session)])
            self.is_new = False
        self.say(move_lines(self.session, self.advice))
        place = len(self.session.events), self.session.num_undone
        while (len(self.session.events), self.session.num_undone) == place:
            print("your move (number or word; ? help): ", end="", file=self.output, flush=True)
            line = self.source.readline()
            if not line:
                raise EOFError
            text = line.strip().lower()
            advice = self.advice
            if text:
                self.obey(text)
            elif len(self.session.game.legal_actions) == 1:
                self.obey("1")
            else:
                self.notes = ["the number of a move is missing"]
            if self.notes:
                self.say(self.notes)
                self.notes = []
            if self.advice is not None and self.advice is not advice:
                self.say(move_lines(self.session, self.advice))

    def show_help(self) -> None:
        self.say(help_lines(self.session, 88))

    def end(self) -> None:
        self.say(["", *match_lines(self.session)])
