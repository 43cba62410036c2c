"""The terminal game: a person plays a :class:`~agents.session.Session`, by keys or, where there are none, by lines.

After each move the session is saved, so that a game that is killed loses at most the move in hand.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TextIO

from agents.advice import BEST_ADVISER, check_adviser
from agents.play_face import Quit
from agents.play_lines import LineFace
from agents.play_screen import ScreenFace
from agents.session import Session
from agents.terminal import has_keys

__all__ = ["play_session"]


def play_session(
    session: Session,
    *,
    save: Path | None = None,
    adviser: Any = BEST_ADVISER,
    pace: float = 0.3,
    keys: bool | None = None,
    source: TextIO | None = None,
    output: TextIO | None = None,
) -> bool:
    """Let a person play a session to its end; False if he leaves before.

    Args:
        session: it is played in place.
        save: a file to which it is saved at the start and after each move; None: it is not saved.
        adviser: the agent that hints come from, or its name.
        pace: seconds between the moves of the others, where there are keys.
        keys: single keys and a screen, or lines; None: whatever the streams can do.
        source: None: the standard input.
        output: None: the standard output.

    Raises:
        ValueError: if the adviser cheats or cannot play by the rules, or the session cannot be saved.
        OSError: if it cannot be saved at the start.
    """
    source, output = source or sys.stdin, output or sys.stdout
    agent = check_adviser(adviser)
    agent.check_rules(session.rules)
    if save is not None:
        session.save(save)
    keys = has_keys(source, output) if keys is None else keys
    face = (
        ScreenFace(session, save, agent, source, output, pace)
        if keys
        else LineFace(session, save, agent, source, output)
    )
    try:
        face.play()
    except (Quit, EOFError, KeyboardInterrupt):
        return False
    return True
