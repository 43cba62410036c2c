"""The player ``human``: shows the table as its seat sees it, and reads the answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from agents.base import Agent, Turn
from dominoes_env.engine.rules import Rules
from dominoes_env.render.text import has_colour, view_text
from dominoes_env.words import format_action, parse_action

__all__ = ["HumanAgent", "read_word"]


class HumanAgent(Agent):
    """Asks a person: by the number of a move in a list, or by its word (``6-4@1``; ``6-4`` where one end fits).

    A line that is no legal move is answered with what is wrong with it, and asked again.

    Args:
        input: lines are read from here; None: the standard input.
        output: all text goes here; None: the standard output.
    """

    name = "human"
    is_person = True

    def __init__(self, *, input: TextIO | None = None, output: TextIO | None = None) -> None:
        self._input = input
        self._output = output

    def act(self, turn: Turn) -> int:
        """Asks until the answer is a legal move.

        Raises:
            EOFError: if the input ends before that.
        """
        source, output = self._input or sys.stdin, self._output or sys.stdout
        is_lead = not turn.state["laid"][0]
        moves = [(int(a), format_action(turn.rules, int(a), is_lead=is_lead)) for a in turn.legal_actions]
        colour = has_colour(output)
        print(view_text(turn.rules, turn.state, turn.history.tolist(), viewer=turn.player, colour=colour), file=output)
        for number, (_, word) in enumerate(moves, 1):
            print(f"{number:4}  {word}", file=output)
        while True:
            print(f"player_{turn.player}, your move (number or word): ", end="", file=output, flush=True)
            line = source.readline()
            if not line:
                raise EOFError(f"the input ended before player_{turn.player} had chosen a move")
            try:
                return _read_move(turn, moves, line.strip().lower())
            except ValueError as refusal:
                print(refusal, file=output)


def _read_move(turn: Turn, moves: list[tuple[int, str]], text: str) -> int:
    """The action that ``text`` means; ValueError, for people, if it means none."""
    if text.isdecimal():
        if len(text) > 9 or not 1 <= int(text) <= len(moves):
            raise ValueError(f"{text[:9]} is no number in the list; allowed: 1 to {len(moves)}")
        return moves[int(text) - 1][0]
    return read_word(turn.rules, moves, text)


def read_word(rules: Rules, moves: Sequence[tuple[int, str]], text: str) -> int:
    """The action that a word means; a tile alone goes on whichever end it fits.

    ``moves``: the legal actions with their words.

    Raises:
        ValueError: for people, if it means none of them.
    """
    action = parse_action(rules, text)
    num_tiles = rules.num_tiles
    if action < num_tiles and "@" not in text:
        fitting = [other for other, _ in moves if other < rules.draw_action and other % num_tiles == action]
        if len(fitting) > 1:
            words = ", ".join(word for other, word in moves if other in fitting)
            raise ValueError(f"{text} fits more than one end; allowed: {words}")
        action = fitting[0] if fitting else action
    if action not in (other for other, _ in moves):
        raise ValueError(f"{text} is not legal now; allowed: {', '.join(word for _, word in moves)}")
    return action
