"""What a public tree is made of: the records of nodes and edges, a line a field."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.subsets import Subsets

__all__ = [
    "BLOCKED",
    "DRAWN",
    "EDGE_DTYPE",
    "KEEP",
    "LAST",
    "NODE_DTYPE",
    "OUT",
    "PLAY",
    "TREE_VERSION",
    "TURN",
    "UNFIT",
    "TreeArrays",
]

#: Raised by one whenever the same rules no longer give the same nodes and entries in the same order.
TREE_VERSION = 1
#: Kinds of nodes: a seat moves; it moves and each play is its last, worth the same on either end; it has just drawn,
#: and its hands are those before that; the round is blocked.
TURN, LAST, DRAWN, BLOCKED = range(4)
#: Kinds of edges: a tile laid; one that goes out; nothing fits (pass, draw, or the block); what was drawn does not fit.
PLAY, OUT, UNFIT, KEEP = range(4)

NODE_DTYPE = np.dtype(
    [
        ("masks", np.uint64, (2,)),  # tiles that each seat's hands are made of, as bits
        ("fits", np.uint64),  # tiles that the mover can lay, as bits
        ("twice", np.uint64),  # those of them that he can lay in more than one way
        ("policy", np.int64),  # where the entries of this node start in arrays over decisions; -1: there is no choice
        ("hands", np.int64),  # where this node starts in arrays over hands of the mover
        ("parent", np.int32),  # -1: the round starts here
        ("edge", np.int32),  # the edge that leads here
        ("first_edge", np.int32),
        ("length", np.int32),  # entries: the hands of each edge that lays a tile
        ("margin", np.int32),  # points of seat 0 less those of seat 1 so far
        ("num_edges", np.int16),
        ("depth", np.int16),
        ("action", np.int16),  # the engine's action that leads here; -1: none
        ("counts", np.int8, (2,)),  # tiles in the hands of each seat
        ("mover", np.int8),
        ("kind", np.int8),
        ("blocks", np.int8),  # 1: where nothing fits the mover the round is blocked; -1: it cannot be that nothing fits
        ("boneyard", np.int8),  # of a drawn tile: how many it may have been
    ],
    align=True,
)
EDGE_DTYPE = np.dtype(
    [
        ("child", np.int32),  # a node; -1 at OUT
        ("start", np.int32),  # the first entry of this edge within its node
        ("margin", np.int32),  # points of seat 0 less those of seat 1, this play's included
        ("action", np.int16),  # the engine's action
        ("kind", np.int8),
        ("tile", np.int8),
        ("places", np.int8, (2,)),  # of the tile in each seat's mask; -1: it is not there
    ],
    align=True,
)


class TreeArrays(NamedTuple):
    """A tree as kernels take it."""

    nodes: NDArray[Any]
    """``NODE_DTYPE``, in the order of a walk down the first edges first."""
    edges: NDArray[Any]
    """``EDGE_DTYPE``."""
    subsets: Subsets
