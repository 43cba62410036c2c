"""How many threads torch should use: measured, because two that wait for a busy core are many times slower than one."""

from __future__ import annotations

import os
import time

import torch

__all__ = ["choose_threads"]

_ROWS, _UNITS, _REPEATS = 2048, 128, 6
#: More threads than this never paid on networks of this size.
_MOST = 4
#: Threads that are not clearly faster are not worth the other programs' time.
_GAIN = 0.85


def choose_threads() -> int:
    """Set and return the number of threads that is faster just now, 1 or one a core; takes some 50 ms.

    torch's threads spin while they wait for each other. On idle cores two give 1.7 times the speed of one, beside
    another program a tenth.
    """
    most = min(_MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if most > 1 and _seconds(most) < _GAIN * _seconds(1):
        torch.set_num_threads(most)
        return most
    torch.set_num_threads(1)
    return 1


def _seconds(threads: int) -> float:
    torch.set_num_threads(threads)
    inputs, weight = torch.full((_ROWS, _UNITS), 0.01), torch.full((_UNITS, _UNITS), 0.01, requires_grad=True)
    torch.tanh(inputs @ weight).sum().backward()
    began = time.perf_counter()
    for _ in range(_REPEATS):
        torch.tanh(torch.tanh(inputs @ weight) @ weight).sum().backward()
    return time.perf_counter() - began
