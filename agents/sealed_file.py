"""JSON files that tell whether they are whole: what they hold is sealed by a digest, and other versions are refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.atomic import write_atomically

__all__ = ["read_sealed", "sealed", "unsealed", "write_sealed"]


def sealed(title: str, versions: Mapping[str, int], content: Mapping[str, Any]) -> dict[str, Any]:
    """``content`` for JSON with its title, its versions by name, and a digest of it all."""
    whole = {"format": title, **versions, **content}
    return {**whole, "digest": _digest(whole)}


def unsealed(title: str, versions: Mapping[str, int], data: Any) -> dict[str, Any]:
    """``data`` as :func:`sealed` gave it.

    Raises:
        ValueError: with the reason, if it is something else, of another version (both are named), or damaged.
    """
    if not isinstance(data, dict) or data.get("format") != title:
        raise ValueError(f"no {title}; one has format {title!r}")
    for name, known in versions.items():
        if data.get(name) != known:
            raise ValueError(f"{name} {data.get(name)!r} cannot be read; this is {name} {known}")
    content = {name: value for name, value in data.items() if name != "digest"}
    if data.get("digest") != _digest(content):
        raise ValueError(f"the {title} is damaged: its digest does not fit what it says")
    return content


def write_sealed(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write it to a file, which is the old one or the new one, whatever happens meanwhile.

    Raises:
        OSError: if it cannot be written.
    """
    write_atomically(Path(path), (json.dumps(data, indent=1) + "\n").encode())


def read_sealed(path: str | os.PathLike[str]) -> Any:
    """What the JSON of a file holds, not yet unsealed.

    Raises:
        ValueError: if it is no JSON.
        OSError: if it cannot be read.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON, or it is cut off: {error}") from None


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
