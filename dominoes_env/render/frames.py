"""The positions of a record as views, one after the other: what films and pages of a game are made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from dominoes_env.engine.rounds import step
from dominoes_env.notation import parse_position
from dominoes_env.records import Record
from dominoes_env.render.view import View, make_view

__all__ = ["num_positions", "record_view", "record_views"]


def record_views(record: Record, viewer: int | None = None, *, columns: float = 30) -> Iterator[View]:
    """Each position of a game as ``viewer`` may see it: of every round the deal, then what each action led to."""
    for state, history in _positions(record):
        yield make_view(record.rules, state, history, viewer, columns=columns, names=record.players)


def record_view(record: Record, number: int, viewer: int | None = None, *, columns: float = 30) -> View:
    """One of them by its number, from 0.

    Raises:
        ValueError: if there are not so many.
    """
    for place, (state, history) in enumerate(_positions(record)):
        if place == number:
            return make_view(record.rules, state, history, viewer, columns=columns, names=record.players)
    raise ValueError(f"number={number!r} is not allowed; allowed: 0 to {num_positions(record) - 1}")


def num_positions(record: Record) -> int:
    """How many positions there are."""
    return sum(1 + len(past.actions) for past in record.rounds)


def _positions(record: Record) -> Iterator[tuple[NDArray[Any], tuple[int, ...]]]:
    """The state, which is played on with, and the actions of the round so far."""
    rules = record.rules
    for past in record.rounds:
        _, state, history = parse_position(past.deal, rules)
        yield state, history
        for action in past.actions:
            step(state[0], rules.row[0], action)
            history = (*history, action)
            yield state, history
