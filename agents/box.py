"""The box: trained players that come with the package, by name; ``agents/policies/README.md`` says what lies there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["BOX", "CARD_SUFFIX", "box_names", "is_in_box", "read_card"]

#: Where they lie.
BOX = Path(__file__).parent / "policies"
#: The file of a player's card ends so.
CARD_SUFFIX = ".card.json"


def box_names(box: Path | None = None) -> list[str]:
    """The players' names, sorted; ``box``: another directory of the same kind."""
    return sorted(file.stem for file in (BOX if box is None else box).glob("*.npz"))


def is_in_box(name: str) -> bool:
    """Whether a player is called so; a path never is."""
    return name in box_names()


def read_card(name: str, box: Path | None = None) -> dict[str, Any]:
    """The card of a player.

    Raises:
        FileNotFoundError: if there is none; the message lists the players.
        ValueError: if it is damaged.
    """
    file = (BOX if box is None else box) / f"{name}{CARD_SUFFIX}"
    if not file.is_file():
        listed = ", ".join(box_names(box)) or "none yet"
        raise FileNotFoundError(f"{file} does not exist; players in the box: {listed}")
    try:
        card = json.loads(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file} is no JSON (cut off or edited): {error}") from None
    if not isinstance(card, dict):
        raise ValueError(f"{file} is no card")
    return card
