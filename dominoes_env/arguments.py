"""Checks of arguments, each with the one form of refusal: the name, the value, and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

__all__ = ["MAX_SEED", "checked_integer", "checked_number", "checked_switch", "checked_word"]

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


def checked_number(name: str, value: Any, low: float, high: float = math.inf, *, above: bool = False) -> float:
    """``value`` as a finite float from ``low``, or with ``above`` from above it, to ``high``; bools are not taken.

    Raises:
        ValueError: for anything else.
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high or (above and value == low):
        least = f"above {low}" if above else f"of at least {low}"
        most = "" if high == math.inf else f" and at most {high}"
        raise ValueError(f"{name}={value!r} is not allowed; allowed: a number {least}{most}")
    return float(value)


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
