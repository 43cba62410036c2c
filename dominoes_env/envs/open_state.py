"""``state()`` of the environments: everything that there is to know of the round, hidden tiles included, as one vector.

For centralised critics. Never hand it to a player. Seats are absolute here: index 0 is ``player_0``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.observation import Piece, observation_layout

__all__ = ["open_state", "state_layout", "state_space"]

#: Pieces of an observation that ``hands`` and the full ``lacking`` replace.
_REPLACED = ("hand", "lacking")


def state_layout(rules: Rules, *, history: bool = False) -> dict[str, Piece]:
    """The pieces of :func:`open_state` by name, in order.

    ``hands`` (n, T) 0/1, ``pile`` (T,) the boneyard in drawing order as tile + 1, then 0, ``lacking`` (n, N+1) 0/1,
    then the other pieces of the observation of seat 0, whose seat order is the absolute one. The pile has room for
    every tile of the set, since a position that is set up may leave more in the boneyard than a deal does.
    """
    players, numbers = rules.num_players, rules.max_pip + 1
    shapes: list[tuple[str, tuple[int, ...], int, int, str]] = [
        ("hands", (players, rules.num_tiles), 0, 1, "tiles in each hand, by tile id"),
        ("pile", (rules.num_tiles,), 0, rules.num_tiles, "boneyard in drawing order: tile + 1; after it 0"),
        ("lacking", (players, numbers), 0, 1, "numbers that each seat has shown not to hold"),
    ]
    for name, piece in observation_layout(rules, history=history).items():
        if name not in _REPLACED:
            shapes.append((name, piece.shape, piece.low, piece.high, piece.meaning))
    layout: dict[str, Piece] = {}
    start = 0
    for name, shape, low, high, meaning in shapes:
        layout[name] = Piece(name, start, shape, low, high, meaning)
        start += layout[name].size
    return layout


def state_space(rules: Rules, *, history: bool = False) -> spaces.Box:
    """The int8 Box that holds :func:`open_state`."""
    layout = state_layout(rules, history=history)
    size = max(piece.slice.stop for piece in layout.values())
    low, high = np.zeros(size, np.int8), np.zeros(size, np.int8)
    for piece in layout.values():
        low[piece.slice], high[piece.slice] = piece.low, piece.high
    return spaces.Box(low, high, dtype=np.int8)


def open_state(
    rules: Rules, state: NDArray[Any], observation: NDArray[np.int8], *, history: bool = False
) -> NDArray[np.int8]:
    """The whole state as int8, laid out by :func:`state_layout`; a fresh array.

    Args:
        rules: the rules of the game.
        state: its record, shape (1,), dtype ``STATE_DTYPE``.
        observation: what seat 0 sees of it.
        history: whether that observation holds the history.
    """
    players, record = rules.num_players, state[0]
    hands = record["hands"][:players, None] >> np.arange(rules.num_tiles, dtype=np.uint64) & np.uint64(1)
    lacking = record["lacking"][:players, None] >> np.arange(rules.max_pip + 1, dtype=np.uint16) & np.uint16(1)
    left = int(record["boneyard"])
    pile = np.zeros(rules.num_tiles, np.int8)
    pile[:left] = record["pile"][:left][::-1] + 1
    seen = observation_layout(rules, history=history)
    public = [observation[piece.slice] for name, piece in seen.items() if name not in _REPLACED]
    return np.concatenate([hands.astype(np.int8).ravel(), pile, lacking.astype(np.int8).ravel(), *public])
