"""How many threads torch should use: measured, because two that wait for a busy core are many times slower than one."""

from __future__ import annotations

import math
import time
from typing import Any

import torch

from training.machine import num_cores

__all__ = ["Threads"]

_ROWS, _UNITS, _REPEATS = 2048, 128, 6
#: More threads than this never paid on networks of this size.
_MOST = 4
#: Threads that are not clearly faster are not worth the other programs' time.
_GAIN = 0.85
#: Seconds after which the number is thought over.
_INTERVAL = 15.0
#: An optimizer step so many times slower than the fastest means that a core has been lost to another program.
_LOST = 4.0


class Threads:
    """Keeps torch at the faster number of threads, one or one a core.

    torch's threads spin while they wait for each other: on two idle cores two of them give 1.7 times the speed of
    one, beside another program a tenth of it, or less.

    Args:
        fixed: use so many and never change; 0: as measured.
    """

    def __init__(self, fixed: int = 0) -> None:
        self._is_fixed = fixed > 0
        self._chosen_at = -math.inf
        self._step_at = math.inf
        self._fastest = math.inf
        if self._is_fixed:
            torch.set_num_threads(fixed)

    def reconsider(self) -> None:
        """Measure and choose anew, if that is long ago; takes some 50 ms."""
        if self._is_fixed or time.monotonic() - self._chosen_at < _INTERVAL:
            return
        most = min(_MOST, num_cores())
        use_most = most > 1 and _seconds(most) < _GAIN * _seconds(1)
        torch.set_num_threads(most if use_most else 1)
        self._chosen_at = time.monotonic()

    def begin_steps(self) -> None:
        """Called before the optimizer's steps of an update."""
        self._step_at = time.perf_counter()
        self._fastest = math.inf

    def after_step(self, *_: Any) -> None:
        """Called after each step (a hook of the optimizer): goes down to one thread when steps become slow."""
        now = time.perf_counter()
        took, self._step_at = now - self._step_at, now
        if took > _LOST * self._fastest and not self._is_fixed:
            torch.set_num_threads(1)
        self._fastest = min(self._fastest, took)


def _seconds(threads: int) -> float:
    """How long a few passes through a layer and back take."""
    torch.set_num_threads(threads)
    inputs, weight = torch.full((_ROWS, _UNITS), 0.01), torch.full((_UNITS, _UNITS), 0.01, requires_grad=True)
    torch.tanh(inputs @ weight).sum().backward()
    began = time.perf_counter()
    for _ in range(_REPEATS):
        torch.tanh(torch.tanh(inputs @ weight) @ weight).sum().backward()
    return time.perf_counter() - began
