"""What a player may know: ``conceal`` blanks the rest. (``determinize`` fills it in again: worlds.py.)"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import NO_TILES, tile_bit

__all__ = ["conceal", "known_tiles"]


@jit
def known_tiles(state, seat):
    """The tiles in a hand that everybody knows: a kept lot that has not been laid (A4)."""
    lot = state["lots"][seat]
    if lot == NONE:
        return NO_TILES
    return tile_bit(lot) & ~state["laid"]


@jit
def conceal(state, player):
    """Blank, in place, all that ``player`` may not know: other hands, the pile and the generator.

    Kept lots stay in the hands that hold them; counts, the layout and everything else is public.
    """
    for seat in range(4):
        if seat != player:
            state["hands"][seat] = known_tiles(state, seat)
    for place in range(len(state["pile"])):
        state["pile"][place] = NONE
    state["generator"] = np.uint64(0)
