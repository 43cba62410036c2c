"""The positions of a record as views, one after the other: what films and pages of a game are made from."""

from __future__ import annotations

from collections.abc import Iterator

from dominoes_env.engine.rounds import step
from dominoes_env.notation import parse_position
from dominoes_env.records import Record
from dominoes_env.render.view import View, make_view

__all__ = ["record_views"]


def record_views(record: Record, viewer: int | None = None, *, columns: float = 30) -> Iterator[View]:
    """Each position of a game as ``viewer`` may see it: of every round the deal, then what each action led to."""
    rules = record.rules
    for past in record.rounds:
        _, state, history = parse_position(past.deal, rules)
        yield make_view(rules, state, history, viewer, columns=columns, names=record.players)
        for action in past.actions:
            step(state[0], rules.row[0], action)
            history = (*history, action)
            yield make_view(rules, state, history, viewer, columns=columns, names=record.players)
