"""Checks of arguments, each with the one form of refusal: the name, the value, and what is allowed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

__all__ = ["MAX_SEED", "checked_integer", "checked_switch", "checked_word"]

#: Seeds and game ids are unsigned 64-bit numbers.
MAX_SEED = 2**64 - 1


def checked_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """``value`` as an int from ``low`` to ``high`` (None: no bound); NumPy's integers are taken, bools are not.

    Raises:
        ValueError: for anything else.
    """
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        shown = "2**64 - 1" if high == MAX_SEED else high
        allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {shown}"
        raise ValueError(f"{name}={value!r} is not allowed; allowed: {allowed}")
    return int(value)


def checked_switch(name: str, value: Any) -> bool:
    """``value`` as a bool.

    Raises:
        ValueError: for anything but True and False.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} is not allowed; allowed: True or False")
    return bool(value)


def checked_word(name: str, value: Any, words: Collection[str]) -> str:
    """``value`` if it is one of ``words``.

    Raises:
        ValueError: for anything else.
    """
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name}={value!r} is not allowed; allowed: {', '.join(words)}")
    return value
