"""Sentences about a session that all its faces share. ``names`` are what the seats are called, ``you`` the person."""

from __future__ import annotations

from collections.abc import Sequence

from agents.advice import Advice
from agents.events import Event
from agents.session import Session
from dominoes_env.engine.rules import Rules

__all__ = [
    "booked_columns",
    "booked_rows",
    "help_given",
    "hint_sentence",
    "is_penalty",
    "joined",
    "match_sentence",
    "round_ending",
    "round_winner",
    "verb",
]


def is_penalty(rules: Rules) -> bool:
    """Whether scores are penalties, of which fewest win."""
    return rules.settlement == "penalty_each"


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verb(session: Session, seats: Sequence[int], plain: str, third: str) -> str:
    """The form of a verb that fits: ``you lead``, ``player_1 leads``."""
    return plain if len(seats) > 1 or session.seat in seats else third


def round_ending(session: Session, event: Event, names: Sequence[str]) -> str:
    """How the round of a ``round`` event ended."""
    if event.seat is not None:
        return f"{names[event.seat]} went out"
    if event.is_blocked:
        return "blocked, nobody can move"
    target = session.rules.target
    reached = [names[seat] for seat in range(session.rules.num_players) if event.scores[seat] >= target]
    return f"{joined(reached)} reached {target}"


def round_winner(session: Session, event: Event, names: Sequence[str]) -> str:
    """Who won the deal of a ``round`` event, or that nobody did; where open ends score, that is who booked most."""
    if not event.winners:
        return "Nobody wins the round."
    won = joined([names[seat] for seat in event.winners])
    if len(event.winners) == (2 if session.rules.teams else 1):
        if session.rules.end_scoring != "none":
            return f"{_capital(won)} {verb(session, event.winners, 'score', 'scores')} most in this round."
        return f"{_capital(won)} {verb(session, event.winners, 'win', 'wins')} the round."
    return f"The round is tied between {won}."


def booked_columns(rules: Rules) -> list[str]:
    """What the columns of :func:`booked_rows` are."""
    if rules.end_scoring != "none":
        return ["at ends", "for hands", "round"]
    return ["penalty" if is_penalty(rules) else "booked"]


def booked_rows(rules: Rules, event: Event) -> list[list[str]]:
    """What each seat booked in the round of a ``round`` event, signed; penalties are positive, as in the scores."""
    sign = -1 if is_penalty(rules) else 1
    rows = []
    for hands, whole in zip(event.points, event.round_points, strict=True):
        hands = sign * hands
        parts = [whole - hands, hands, whole] if rules.end_scoring != "none" else [hands]
        rows.append([f"{points:+}" for points in parts])
    return rows


def match_sentence(session: Session, names: Sequence[str]) -> str:
    """Who won the match that is over; empty where one round was all."""
    game = session.game
    if game.episode == "round":
        return ""
    scores = " to ".join(map(str, dict.fromkeys(sorted(game.scores, reverse=not is_penalty(session.rules)))))
    rounds = f"{game.round} {'round' if game.round == 1 else 'rounds'}"
    if not game.winners:
        return f"The match is over undecided after {rounds}, {scores}."
    shared = " together" if len(game.winners) > (2 if session.rules.teams else 1) else ""
    won = _capital(joined([names[seat] for seat in game.winners]))
    return f"{won} {verb(session, game.winners, 'have', 'has')} won the match{shared}, {scores}, in {rounds}."


def help_given(session: Session) -> str:
    """How often the person was helped; empty: never."""
    given = [
        f"{number} {what if number == 1 else what + 's'}"
        for number, what in ((session.num_hints, "hint"), (session.num_undone, "undo"))
        if number
    ]
    return f"With {' and '.join(given)}." if given else ""


def hint_sentence(advice: Advice, best: str) -> str:
    """What the adviser would do, called ``best``, and by how much."""
    if len(advice.actions) == 1:
        return f"{best} is the only move"
    told = f"{advice.agent} would play {best}"
    if advice.values is not None:
        if advice.lead is not None:
            told += f", {abs(advice.lead):.1f} points {'better' if advice.lead >= 0 else 'worse'} than the next best"
        told += f" (it expects {advice.value_of(advice.best):+.1f} in this round)"
    elif advice.probabilities is not None:
        told += f": {100 * advice.probabilities[advice.actions.index(advice.best)]:.0f} % of its choice"
    return told


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
