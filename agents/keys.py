"""Decision keys: all randomness of an agent's decision is one 64-bit number, so that a decision can be repeated.

A key is a hash of where the decision stands (the match's seed, the deal, the round, the move), never of
how the games are batched. An agent that breaks ties or samples does so by :func:`pick` or :func:`fraction` of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.jit import jit

__all__ = ["decision_keys", "fraction", "mix", "pick"]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele et al. 2014) over an array of uint64: a bijection that looks random."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def decision_keys(*numbers: Any) -> NDArray[np.uint64]:
    """One key for each place named by ``numbers``: integers or integer arrays that broadcast to one dimension."""
    keys = np.zeros(1, np.uint64)
    for number in numbers:
        word = np.atleast_1d(np.asarray(number)).astype(np.uint64)
        keys = mix(keys * np.uint64(5) + mix(word + _GAMMA) + _GAMMA)
    return keys


@jit
def pick(key, count):  # type: ignore[no-untyped-def]
    """A uniform integer in [0, count) from a uint64 key; the bias is at most count / 2**32."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@jit
def fraction(key):  # type: ignore[no-untyped-def]
    """A uniform float64 in [0, 1) from a uint64 key, in steps of 2**-53."""
    return np.float64(key >> np.uint64(11)) * (1.0 / 9007199254740992.0)
