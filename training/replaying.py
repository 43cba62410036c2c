"""Stepping through recorded games in a terminal, and printing them where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TextIO

from agents.terminal import Terminal, wrapped
from dominoes_env.records import Position, Record, positions
from dominoes_env.render.text import has_colour, view_text
from dominoes_env.words import format_action

__all__ = ["Walk", "print_games", "step_through"]

_LAST_GAME = "this is the last game"


class Walk:
    """A place in a file of games: a game, and one of its positions.

    Args:
        records: the games.
        game: the number of the first to be shown, from 0.
        viewer: the seat whose hidden tiles are not shown; None shows all.

    Raises:
        IndexError: if there is no such game.
        ValueError: if it is no sound record, or has no such seat.
    """

    def __init__(self, records: Sequence[Record], *, game: int = 0, viewer: int | None = None) -> None:
        self.records = records
        self.viewer = viewer
        self.place = 0
        self._open(game)

    def _open(self, game: int) -> None:
        record = self.records[game]
        n = record.rules.num_players
        if self.viewer is not None and not 0 <= self.viewer < n:
            raise ValueError(f"viewer={self.viewer} is not allowed; allowed: 0 to {n - 1}")
        self.positions: list[Position] = list(positions(record))
        self.record, self.game, self.place = record, game, 0

    # Each goes somewhere and returns what there is to say about it, empty if it went.

    def next(self) -> str:
        if self.place == len(self.positions) - 1:
            return "this is the last position of the game"
        self.place += 1
        return ""

    def previous(self) -> str:
        if self.place == 0:
            return "this is the first position of the game"
        self.place -= 1
        return ""

    def first(self) -> str:
        self.place = 0
        return ""

    def last(self) -> str:
        self.place = len(self.positions) - 1
        return ""

    def next_round(self) -> str:
        here = self.positions[self.place].round
        for place in range(self.place, len(self.positions)):
            if self.positions[place].round > here:
                self.place = place
                return ""
        return "this is the last round of the game"

    def next_game(self) -> str:
        try:
            self._open(self.game + 1)
        except IndexError:
            return _LAST_GAME
        except ValueError as error:
            return str(error)
        return ""

    def previous_game(self) -> str:
        if self.game == 0:
            return "this is the first game"
        try:
            self._open(self.game - 1)
        except ValueError as error:
            return str(error)
        return ""

    def text(self, *, colour: bool = False, width: int = 80) -> str:
        """The position: where it is, what led to it, and the table; see ``view_text`` for colour and width."""
        here = self.positions[self.place]
        lines = [self._heading(), self._step(here), ""]
        how: dict[str, Any] = {"viewer": self.viewer, "colour": colour, "width": width}
        lines.append(view_text(self.record.rules, here.state, here.history, **how))
        if self.place == len(self.positions) - 1:
            lines.append(self._result())
        return "\n".join(lines)

    def _heading(self) -> str:
        parts = [f"game {self.game + 1}"]
        if self.record.players:
            parts.append(" v ".join(self.record.players))
        if self.record.seed is not None and self.viewer is None:  # a seed tells all hands
            parts.append(f"seed {self.record.seed}, game id {self.record.game_id}")
        parts += [f"{name} {text}".strip() for name, text in self.record.tags]
        return " · ".join(parts)

    def _step(self, here: Position) -> str:
        moves = self.record.rounds[here.round].actions
        number = f"position {self.place} of {len(self.positions) - 1} · round {here.state['round'][0]}"
        if here.move == 0:
            return f"{number} · the deal, {len(moves)} moves follow"
        before = self.positions[self.place - 1].state
        seat = int(before["turn"][0])
        word = format_action(self.record.rules, moves[here.move - 1], is_lead=not before["laid"][0])
        booked = (here.state["scores"][0] - before["scores"][0])[: self.record.rules.num_players]
        points = [f"{int(amount):+} for {self._player(other)}" for other, amount in enumerate(booked) if amount]
        return f"{number} · move {here.move} of {len(moves)} · {self._player(seat)}: {word}" + (
            f" · {', '.join(points)}" if points else ""
        )

    def _player(self, seat: int) -> str:
        name = f"player_{seat}"
        return f"{name} ({self.record.players[seat]})" if self.record.players else name

    def _result(self) -> str:
        if self.record.status == "playing":
            return "the record ends here; the round is not over"
        if self.record.status == "round_over":
            return "the record ends here" + ("" if self.record.episode == "round" else "; the match is not over")
        won = " and ".join(self._player(seat) for seat in self.record.winners) or "nobody"
        return f"the match is over; won by {won}"


def print_games(walk: Walk, output: TextIO, *, only_one: bool) -> None:
    """Every position of the game, or of that one and all after it.

    Raises:
        ValueError: at a game that is no sound record; those before it have been printed.
    """
    while True:
        walk.first()
        print(walk.text(), end="\n\n", file=output)
        while not walk.next():
            print(walk.text(), end="\n\n", file=output)
        if only_one:
            return
        said = walk.next_game()
        if said == _LAST_GAME:
            return
        if said:
            raise ValueError(said)


_HELP = "→ n next  ← p previous  ↑ f first  ↓ l last  r next round  g next game  b game before  q quit"
_KEYS: dict[str, Callable[[Walk], str]] = {
    **dict.fromkeys(("n", " ", "enter", "right"), Walk.next),
    **dict.fromkeys(("p", "backspace", "left"), Walk.previous),
    **dict.fromkeys(("f", "up", "home"), Walk.first),
    **dict.fromkeys(("l", "down", "end"), Walk.last),
    "r": Walk.next_round,
    **dict.fromkeys(("g", "pagedown"), Walk.next_game),
    **dict.fromkeys(("b", "pageup"), Walk.previous_game),
}
_QUIT = ("q", "escape", "quit")


def step_through(walk: Walk, *, messages: list[str]) -> None:
    """Show positions on the terminal and go by keys, until it is left by one.

    Args:
        walk: where to begin.
        messages: shown below the position until the next key; somebody else may add to them.
    """
    with suppress(EOFError), Terminal(sys.stdin, sys.stdout) as terminal:
        key: str | None = "resize"
        while key not in _QUIT:
            if key and key != "resize":
                messages.clear()
                go = _KEYS.get(key.lower())
                said = go(walk) if go else f"{key!r} is no key here"
                messages += [said] if said else []
            width, _ = terminal.size
            text = walk.text(colour=has_colour(sys.stdout), width=width)
            said_lines = [line for message in messages for line in wrapped(message, width - 1)]
            terminal.draw([*text.split("\n"), "", *said_lines, _HELP])
            key = terminal.read_key()
