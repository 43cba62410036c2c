"""The box: trained players that come with the package, by name; ``agents/policies/README.md`` says what lies there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

__all__ = ["BOX", "CARD_SUFFIX", "box_names", "header_digest", "is_in_box", "read_card"]

#: Where they lie.
BOX = Path(__file__).parent / "policies"
#: The file of a player's card ends so.
CARD_SUFFIX = ".card.json"


def box_names(box: Path | None = None) -> list[str]:
    """The players' names, sorted; ``box``: another directory of the same kind.

    A player is there when its header is, which is written last.
    """
    headers = (BOX if box is None else box).glob("*.json")
    return sorted(file.stem for file in headers if not file.name.endswith(CARD_SUFFIX))


def is_in_box(name: str) -> bool:
    """Whether a player is called so; a path never is."""
    return name in box_names()


def read_card(name: str, box: Path | None = None) -> dict[str, Any]:
    """The card of a player.

    Raises:
        FileNotFoundError: if there is none; the message lists the players.
        ValueError: if it is damaged, or belongs to another policy than the one that lies there.
    """
    folder = BOX if box is None else box
    file, header = folder / f"{name}{CARD_SUFFIX}", folder / f"{name}.json"
    if not file.is_file():
        listed = ", ".join(box_names(box)) or "none yet"
        raise FileNotFoundError(f"{file} does not exist; players in the box: {listed}")
    try:
        card = json.loads(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file} is no JSON (cut off or edited): {error}") from None
    if not isinstance(card, dict):
        raise ValueError(f"{file} is no card")
    if not header.is_file() or card.get("header_sha256") != header_digest(header):
        raise ValueError(f"{file} does not belong to the policy {header}: ship it anew")
    return card


def header_digest(header: Path) -> str:
    """SHA-256 (hex) of a policy's header file, which holds that of its weights: it stands for the whole policy."""
    return hashlib.sha256(header.read_bytes()).hexdigest()
