"""What the page shows, as values for JSON: a session as its person may know it. Nothing else reaches the browser.

Tiles are told as their word and a picture. The seed is told once the game is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agents.advice import Advice
from agents.events import Event
from agents.sentences import (
    booked_columns,
    booked_rows,
    help_given,
    hint_sentence,
    is_penalty,
    match_sentence,
    round_ending,
    round_winner,
    verb,
)
from agents.session import Session
from dominoes_env.engine.actions import decode_action
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import VARIANTS, describe_rules
from dominoes_env.render.frames import num_positions
from dominoes_env.render.scene import variant_title
from dominoes_env.render.svg import table_svg, tile_svg
from dominoes_env.render.view import SeatView, View, make_view
from dominoes_env.words import format_tile, parse_tile, rules_text

__all__ = ["advice_seen", "position_of", "position_text", "seat_names", "session_seen"]

#: How the ends are called: as they leave the first tile or the spinner, whichever way they turn later.
_ENDS = ("left end", "right end", "upper arm", "lower arm")
#: The least height of the table, in half tiles, so that it does not grow with the first moves.
_TABLE_HEIGHT = 7.0


def position_of(session: Session) -> str:
    """What tells a position of the session from all others that it has been or will be in."""
    return f"{session.num_undone}.{len(session.events)}"


def seat_names(session: Session) -> list[str]:
    """What the seats are called: ``you``, and agents by their names, numbered where they are namesakes."""
    number, told, names = Counter(session.names), Counter[str](), []
    for seat, name in enumerate(session.names):
        told[name] += 1
        own = name if number[name] == 1 else f"{name} ({told[name]})"
        names.append("you" if seat == session.seat else own)
    return names


def session_seen(session: Session, *, columns: int) -> dict[str, Any]:
    """The game as the page shows it; ``columns`` is the width of the table in half tiles."""
    names, game, rules = seat_names(session), session.game, session.rules
    view = make_view(
        rules, session.concealed(), game.history, session.seat, columns=columns, names=names
    )  # a round's end is told apart, see _round_seen
    seats = [view.seats[(session.seat + step) % rules.num_players] for step in range(rules.num_players)]
    is_to_decide = session.is_to_decide
    return {
        "position": position_of(session),
        **_about(session),
        "round": game.round,
        "seats": [_seat_seen(session, seat) for seat in seats],
        "back": tile_svg(None),
        "table": table_svg(view, height=_TABLE_HEIGHT),
        "boneyard": view.boneyard,
        "ends": [{"end": end, "name": _ENDS[end], "number": number} for end, number in view.ends.items()],
        "count": view.exposed_count,
        "mover": None if game.is_over else game.turn,
        "is_over": game.is_over,
        "is_to_decide": is_to_decide,
        "moves": moves_seen(session, view) if is_to_decide else [],
        "can_undo": session.can_undo,
        "can_redo": session.can_redo,
        "log": _log_seen(session, names),
        "round_over": _round_seen(session, names, columns),
        "result": _result_seen(session, names),
    }


def _about(session: Session) -> dict[str, Any]:
    """What is played."""
    variant, _ = describe_rules(session.rules)
    rules, is_match = session.rules, session.game.episode == "match"
    unit = "penalty points, fewest win" if is_penalty(rules) else "points"
    return {
        "short": variant_title(rules),
        "length": f"a match to {rules.target} {unit}" if is_match else f"one round for {unit}",
        "target": rules.target,
        "rules": rules_text(rules),
        "sheet": VARIANTS[variant].sheet,
    }


def _tile_seen(tile: int) -> dict[str, str]:
    return {"tile": format_tile(tile), "svg": tile_svg(tile)}


def _seat_seen(session: Session, seat: SeatView) -> dict[str, Any]:
    is_own = seat.seat == session.seat
    return {
        "seat": seat.seat,
        "name": seat.name,
        "is_you": is_own,
        "is_partner": session.rules.teams and not is_own and (seat.seat - session.seat) % 2 == 0,
        "score": seat.score,
        "round_points": seat.round_points,
        "tiles": [_tile_seen(tile) for tile in seat.hand],
        "num_hidden": seat.num_hidden,
        "count": seat.count,
        "lacking": list(seat.lacking),
        "is_mover": seat.is_mover,
    }


def moves_seen(session: Session, view: View) -> list[dict[str, Any]]:
    """The legal moves of the person on turn."""
    counts, moves = session.counts(), []
    for action, word in zip(session.game.legal_actions, session.game.legal_words, strict=True):
        move = {"action": action, "word": word, "label": move_label(session.rules, action, view.ends)}
        decoded = decode_action(session.rules, action)
        if not isinstance(decoded, str):
            move |= {"tile": format_tile(decoded[0]), "end": decoded[1] if view.ends else None}
        if action in counts:
            move |= {"points": counts[action].points, "count": str(counts[action])}
        moves.append(move)
    return moves


def move_label(rules: Rules, action: int, ends: dict[int, int]) -> str:
    """A move in words: ``6-4 on the right end (6)``."""
    decoded = decode_action(rules, action)
    if isinstance(decoded, str):
        return {"draw": "draw a tile", "pass": "pass"}[decoded]
    tile, end = decoded
    return f"{format_tile(tile)} on the {_ENDS[end]} ({ends[end]})" if ends else f"lead {format_tile(tile)}"


def advice_seen(session: Session, advice: Advice) -> dict[str, Any]:
    """A hint; ``moves`` says of each action its value in points, or its probability, None where there is none."""
    ends = session.game.ends
    fields = advice.to_dict()
    none = [None] * len(advice.actions)
    return {
        "position": position_of(session),
        "agent": advice.agent,
        "best": advice.best,
        "text": hint_sentence(advice, move_label(session.rules, advice.best, ends)) + ".",
        "moves": [
            {"action": action, "value": value, "probability": probability}
            for action, value, probability in zip(
                advice.actions, fields["values"] or none, fields["probabilities"] or none, strict=True
            )
        ],
    }


# What has happened


def _log_seen(session: Session, names: Sequence[str]) -> list[dict[str, Any]]:
    """The events of this round, or of the last one as long as nothing has happened in this one; by their numbers."""
    events = session.events
    deals = [place for place, event in enumerate(events) if event.kind == "deal"]
    is_fresh = deals[-1] == len(events) - 1 and len(deals) > 1
    start = deals[-2] if is_fresh else deals[-1]
    return [
        {"number": number, "kind": event.kind, "text": _event_text(session, event.seen_by(session.seat), names)}
        for number, event in enumerate(events[start:], start)
    ]


def position_text(session: Session, number: int) -> str:
    """What led to a position of a game that is over, by its number: a deal, or a move and what it brought about."""
    names, texts = seat_names(session), list[str]()
    for event in session.events:
        text = _event_text(session, event, names)
        if event.kind in ("round", "match"):
            texts[-1] += f" {text}"
        else:
            texts.append(text)
    return texts[number]


def _event_text(session: Session, event: Event, names: Sequence[str]) -> str:
    if event.kind == "round":
        return f"Round {event.round} is over: {round_ending(session, event, names)}. " + round_winner(
            session, event, names
        )
    if event.kind == "match":
        return match_sentence(session, names)
    assert event.seat is not None
    name, own = names[event.seat], [event.seat]
    name = name[:1].upper() + name[1:]
    if event.kind == "deal":
        return f"Round {event.round}: {names[event.seat]} {verb(session, own, 'lead', 'leads')}."
    if event.kind == "draw":
        return f"{name} drew {event.drawn or 'a tile'}."
    if event.kind == "pass":
        return f"{name} passed: nothing fits."
    tile, _, end = event.word.partition("@")
    text = f"{name} laid {tile} on the {_ENDS[int(end)]}" if end else f"{name} led {tile}"
    return f"{text}. {event.count}" if event.count else f"{text}."


def _round_seen(session: Session, names: Sequence[str], columns: int) -> dict[str, Any] | None:
    """How the last round ended, hands laid open, until the next one has begun; None: there is nothing to tell."""
    if session.finished_round is None or (session.game.history and not session.game.is_over):
        return None
    state, history = session.finished_round
    event = next(event for event in reversed(session.events) if event.kind == "round")
    view = make_view(session.rules, state, history, columns=columns, names=names)
    ending = round_ending(session, event, names)
    return {
        "round": event.round,
        "ending": f"{ending[:1].upper()}{ending[1:]}.",
        "winner": round_winner(session, event, names),
        "table": table_svg(view, height=_TABLE_HEIGHT),
        "columns": booked_columns(session.rules),
        "rows": [
            {
                "name": names[seat],
                "is_winner": seat in event.winners,
                "tiles": [_tile_seen(parse_tile(tile)) for tile in event.hands[seat]],
                "pips": event.pips[seat],
                "booked": booked,
                "score": event.scores[seat],
            }
            for seat, booked in enumerate(booked_rows(session.rules, event))
        ],
    }


def _result_seen(session: Session, names: Sequence[str]) -> dict[str, Any] | None:
    """How the game ended, and what it can be played again with; None while it lasts."""
    if not session.game.is_over:
        return None
    return {
        "text": match_sentence(session, names),
        "help": help_given(session),
        "is_won": session.seat in session.game.winners,
        "seed": str(session.seed),
        "num_positions": num_positions(session.record),
    }
