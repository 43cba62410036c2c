"""What the terminal game says: lines of text about a session, as its person may know it. No input, no output."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.advice import Advice
from agents.counts import Count
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
from dominoes_env.engine.variants import VARIANTS, describe_rules
from dominoes_env.render.text import view_text
from dominoes_env.words import rules_text

__all__ = [
    "game_lines",
    "help_lines",
    "hint_text",
    "log_lines",
    "match_lines",
    "move_lines",
    "progress_lines",
    "round_lines",
    "table_lines",
    "who",
]

_BAR = 30
#: How the ends are called at the table, which is drawn from end 0 on the left to end 1 on the right.
_ENDS = ("left", "right", "third arm", "fourth arm")

_KEYS = (
    ("3  6-4@1  6-4", "a move by its number or its word, Enter makes it"),
    ("arrow keys", "choose a move, Enter makes it"),
    ("h", "hint: what a strong player would do, and by how much"),
    ("u  r", "undo: back to your last choice in this round; redo"),
    ("?", "this help"),
    ("q", "quit, as Ctrl-C and Ctrl-D: the game is saved, and says how to go on"),
)


def who(session: Session, seat: int) -> str:
    """What a seat is called."""
    return "you" if seat == session.seat else f"player_{seat}"


def _all_names(session: Session) -> list[str]:
    return [who(session, seat) for seat in range(session.rules.num_players)]


def game_lines(session: Session) -> list[str]:
    """What is played, in two lines, for the start."""
    variant, _ = describe_rules(session.rules)
    length = "one round" if session.game.episode == "round" else "a match"
    opponents = ", ".join(f"{who(session, seat)} is {agent.name}" for seat, agent in session.agents.items())
    return [
        f"{VARIANTS[variant].title}, {length}, seed {session.seed}.",
        f"You are player_{session.seat}; {opponents}.",
    ]


def progress_lines(session: Session, *, full: str = "#", empty: str = ".") -> list[str]:
    """How the match stands: what it goes to, and a line a side with its score and a bar."""
    rules, scores = session.rules, session.game.scores
    unit = "penalty points, fewest win" if is_penalty(session.rules) else "points"
    most = f" of at most {rules.max_rounds}" if rules.max_rounds else ""
    lines = [f"match to {rules.target} {unit}, round {session.game.round}{most}"]
    if session.game.episode == "round":
        lines = [f"one round for {unit}"]
    names = [_name_line(session, seat) for seat in range(rules.num_players)]
    width = max(map(len, names))
    for seat in range(rules.num_players):
        filled = round(_BAR * min(max(scores[seat] / rules.target, 0), 1))
        bar = full * filled + empty * (_BAR - filled)
        lines.append(f"  {names[seat]:{width}}  {scores[seat]:4}  {bar}")
    return lines


def _name_line(session: Session, seat: int) -> str:
    if seat == session.seat:
        return f"player_{seat}  you"
    name = session.names[seat]
    name = name if len(name) <= 24 else name[:22] + ".."
    is_partner = session.rules.teams and (seat - session.seat) % 2 == 0
    return f"player_{seat}  {name}{', your partner' if is_partner else ''}"


def table_lines(session: Session, **how: Any) -> list[str]:
    """The table as the person may see it; ``how``: the width and colour of ``view_text``."""
    text = view_text(session.rules, session.concealed(), session.game.history, viewer=session.seat, **how)
    return text.splitlines()


def log_lines(session: Session, events: Sequence[Event]) -> list[str]:
    """Moves and deals, a line each; draws that follow each other in one line. Ends of rounds are left out."""
    lines: list[str] = []
    width = max(len(who(session, seat)) for seat in range(session.rules.num_players))
    drawn: list[str] = []
    for place, event in enumerate(events):
        event = event.seen_by(session.seat)
        if event.kind == "deal":
            assert event.seat is not None
            leads = verb(session, [event.seat], "lead", "leads")
            lines.append(f"round {event.round}: {who(session, event.seat)} {leads}")
        if event.kind not in ("play", "draw", "pass"):
            continue
        assert event.seat is not None
        name = f"{who(session, event.seat):{width}}"
        if event.kind == "draw":
            drawn.append(event.drawn or "")
            following = events[place + 1] if place + 1 < len(events) else None
            if following is None or (following.kind, following.seat) != ("draw", event.seat):
                what = " ".join(drawn) if event.drawn else _tiles(len(drawn))
                lines.append(f"{name}  {verb(session, [event.seat], 'draw', 'draws')} {what}")
                drawn = []
        elif event.kind == "pass":
            lines.append(f"{name}  {verb(session, [event.seat], 'pass', 'passes')}: nothing fits")
        else:
            lines.append(f"{name}  {event.word:6}{_count_text(event.count)}".rstrip())
    return lines


def _tiles(number: int) -> str:
    return "a tile" if number == 1 else f"{number} tiles"


def _count_text(count: Count | None) -> str:
    return "" if count is None else f"  {count}"


def move_lines(session: Session, advice: Advice | None = None) -> list[str]:
    """The legal moves, numbered from 1: where each goes, what it scores, and what the advice thinks of it."""
    rules, ends = session.rules, session.game.ends
    counts = session.counts()
    rows = []
    for number, (action, word) in enumerate(zip(session.game.legal_actions, session.game.legal_words, strict=True), 1):
        decoded = decode_action(rules, action)
        place = ""
        if not isinstance(decoded, str) and ends:
            place = f"{_ENDS[decoded[1]]}, on {ends[decoded[1]]}"
        score = str(counts[action]) if action in counts else ""
        rows.append((f"{number:2}", word, place, score, _opinion(advice, action)))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True) if width).rstrip() for row in rows
    ]


def _opinion(advice: Advice | None, action: int) -> str:
    """What an adviser thinks of an action, in a few signs; an asterisk marks what it would do."""
    if advice is None or action not in advice.actions:
        return ""
    mark = "*" if action == advice.best else " "
    if advice.values is not None:
        value = advice.value_of(action)
        return f"{mark} {'   ?' if np.isnan(value) else f'{value:+6.1f}'}"
    if advice.probabilities is not None:
        return f"{mark} {100 * advice.probabilities[advice.actions.index(action)]:3.0f} %"
    return mark if action == advice.best else ""


def hint_text(session: Session, advice: Advice) -> str:
    """The advice in a sentence: what its agent would do, and by how much."""
    words = dict(zip(session.game.legal_actions, session.game.legal_words, strict=True))
    return hint_sentence(advice, words[advice.best])


def round_lines(session: Session, event: Event) -> list[str]:
    """How a round ended, and who booked what for which hand."""
    names = _all_names(session)
    ending, winner = round_ending(session, event, names), round_winner(session, event, names)
    lines = [f"Round {event.round} is over: {ending}.", winner, ""]
    rows = [["", "pips", *booked_columns(session.rules), "match", "left in hand"]]
    for seat, booked in enumerate(booked_rows(session.rules, event)):
        hand = "".join(f"[{tile}]" for tile in event.hands[seat]) or "nothing"
        rows.append([names[seat], str(event.pips[seat]), *booked, str(event.scores[seat]), hand])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers, hand in rows:
        cells = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=False)]
        lines.append("  " + "  ".join([f"{name:{widths[0]}}", *cells, hand]))
    return lines


def match_lines(session: Session) -> list[str]:
    """Who won the game, and what help there was."""
    return [line for line in (match_sentence(session, _all_names(session)), help_given(session)) if line]


def help_lines(session: Session, width: int) -> list[str]:
    """The keys, the rules, and what is played."""
    variant, _ = describe_rules(session.rules)
    lines = [*game_lines(session), ""]
    column = max(len(keys) for keys, _ in _KEYS)
    lines += [f"  {keys:{column}}  {meaning}" for keys, meaning in _KEYS]
    lines += ["", *textwrap.wrap(VARIANTS[variant].sheet, width), "", f"The rules: {rules_text(session.rules)}"]
    if session.rules.spinner != "none":
        lines.append("@0 is the left end, @1 the right one, @2 and @3 the other two arms of the spinner.")
    else:
        lines.append("@0 is the left end, @1 the right one.")
    return lines
