"""What an observation holds: the table of named pieces, the spaces, a version number.

An observation is a flat int8 vector, written by :mod:`dominoes_env.engine.encode`; this table says which piece stands
where. It is egocentric: seats count from the observer's own. All seats see the same shape. A piece that the rules
give no meaning (the spinner in a game without one) is left out.

What a seat does not see has a table of its own, for critics that training shows more than the players.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from dominoes_env.engine.encode import SOONEST
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import count_modulus

__all__ = [
    "OBSERVATION_VERSION",
    "Piece",
    "hidden_layout",
    "hidden_size",
    "mask_space",
    "observation_layout",
    "observation_size",
    "observation_space",
    "read_piece",
]

#: Raised by one whenever an observation's pieces, their order or meaning change.
OBSERVATION_VERSION = 2


@dataclass(frozen=True)
class Piece:
    """A named part of the observation vector."""

    name: str
    start: int
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str

    @property
    def size(self) -> int:
        """Entries of the vector that the piece takes."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """One past the last entry of the piece."""
        return self.start + self.size

    @property
    def slice(self) -> slice:
        """Where the piece stands in the vector."""
        return slice(self.start, self.stop)


@lru_cache(maxsize=256)
def _pieces(rules: Rules, history: bool) -> tuple[Piece, ...]:
    n, tiles, ends, numbers = rules.num_players, rules.num_tiles, rules.num_ends, rules.max_pip + 1
    has_spinner = rules.spinner != "none"
    has_draws = rules.draw_rule != "none"
    modulus = int(count_modulus(rules.row[0]))
    rows: list[tuple[bool, str, tuple[int, ...], int, int, str]] = [
        (True, "hand", (tiles,), 0, 1, "1 for each tile id in the observer's hand"),
        (True, "laid", (tiles,), 0, 1, "1 for each tile id on the layout"),
        (True, "ends", (ends, numbers), 0, 1, "one-hot: the number a tile laid on that end must show; none: all 0"),
        (True, "tip_doubles", (ends,), 0, 1, "1: the tip of that end is a double (the spinner never is)"),
        (has_spinner, "spinner", (numbers,), 0, 1, "one-hot: the spinner's number; no spinner laid: all 0"),
        (has_spinner, "begun", (ends,), 0, 1, "1: that end has a tip of its own"),
        (True, "turn", (n,), 0, 1, "one-hot: who is to move; the round is over: all 0"),
        (True, "lacking", (n - 1, numbers), 0, 1, "1: that opponent has shown not to hold the number"),
        (rules.opening == "lots_keep", "kept_lots", (n, tiles), 0, 1, "1: that seat's kept lot, still in his hand"),
        (has_draws, "has_drawn", (1,), 0, 1, "1: the player on turn has drawn in this turn"),
        (True, "is_lead_forced", (1,), 0, 1, "1: the opening rule names the lead of this round"),
        (modulus > 0, "remainder", (modulus,), 0, 1, "one-hot: the exposed count's remainder; empty layout: all 0"),
        (True, "hand_counts", (n,), 0, rules.num_tiles, "tiles in each hand"),
        (True, "boneyard", (1,), 0, rules.num_tiles, "tiles in the boneyard, reserve included"),
        (True, "scores", (n,), -127, 127, "floor(100 * score / target), clipped"),
        (modulus > 0, "exposed_count", (1,), 0, 8 * rules.max_pip, "the sum over the open ends; empty layout: 0"),
        (
            history,
            "history",
            (rules.max_history, 3),
            -2,
            rules.num_tiles,
            "the round's actions in order: seat + 1; tile + 1, -1 a draw, -2 a pass; end. Not yet taken: all 0",
        ),
    ]
    return _placed(rows)


def _placed(rows: list[tuple[bool, str, tuple[int, ...], int, int, str]]) -> tuple[Piece, ...]:
    """The pieces that are present, one behind the other."""
    pieces: list[Piece] = []
    start = 0
    for is_present, name, shape, low, high, meaning in rows:
        if is_present:
            pieces.append(Piece(name, start, shape, low, high, meaning))
            start += pieces[-1].size
    return tuple(pieces)


@lru_cache(maxsize=256)
def _hidden_pieces(rules: Rules) -> tuple[Piece, ...]:
    n, tiles = rules.num_players, rules.num_tiles
    soon = f"how soon each tile is drawn: the next {SOONEST}, each after it half of that, rounded down; else 0"
    return _placed(
        [
            (True, "hands", (n - 1, tiles), 0, 1, "1 for each tile id in that opponent's hand"),
            (rules.draw_rule != "none", "draws", (tiles,), 0, SOONEST, soon),
        ]
    )


def hidden_layout(rules: Rules) -> dict[str, Piece]:
    """The pieces of :meth:`dominoes_env.table.Table.hidden` by name, in their order; never to be shown to a player."""
    return {piece.name: piece for piece in _hidden_pieces(rules)}


def hidden_size(rules: Rules) -> int:
    """Length of the vector of what a seat does not see."""
    return _hidden_pieces(rules)[-1].stop


def observation_layout(rules: Rules, *, history: bool = False) -> dict[str, Piece]:
    """The pieces of an observation by name, in their order.

    Args:
        rules: the rules of the game; sizes and presence of pieces follow from them.
        history: whether the round's actions in order are a piece (perfect recall).
    """
    return {piece.name: piece for piece in _pieces(rules, bool(history))}


def observation_size(rules: Rules, *, history: bool = False) -> int:
    """Length of the observation vector."""
    return _pieces(rules, bool(history))[-1].stop


def read_piece(rules: Rules, observation: NDArray[np.int8], name: str, *, history: bool = False) -> NDArray[np.int8]:
    """The piece ``name`` of one observation (or of a batch: leading axes are kept), in the piece's shape.

    Raises:
        ValueError: if the rules give no such piece, or observations of another length.
    """
    layout = observation_layout(rules, history=history)
    if name not in layout:
        raise ValueError(f"name={name!r} is no piece of this observation; pieces: {', '.join(layout)}")
    size = observation_size(rules, history=history)
    if observation.shape[-1:] != (size,):
        raise ValueError(f"observation of shape {observation.shape} is not allowed; allowed: (..., {size})")
    piece = layout[name]
    return observation[..., piece.slice].reshape(*observation.shape[:-1], *piece.shape)


def observation_space(rules: Rules, *, history: bool = False) -> Box:
    """The space of observations: a Box of int8, shape (``observation_size``,), each piece with its own bounds."""
    bounds: Any = [(piece.low, piece.high, piece.size) for piece in _pieces(rules, bool(history))]
    low = np.concatenate([np.full(size, low, np.int8) for low, _, size in bounds])
    high = np.concatenate([np.full(size, high, np.int8) for _, high, size in bounds])
    return Box(low, high, dtype=np.int8)


def mask_space(rules: Rules) -> Box:
    """The space of action masks: a Box of int8 0/1, shape (``rules.num_actions``,)."""
    return Box(0, 1, (rules.num_actions,), np.int8)
