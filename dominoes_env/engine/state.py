"""The state of one game: a flat record, a line a field. A batch of games is an array of them.

A record is copied by assignment (``states[j] = states[i]``), and that is a search's undo. The history of a round
lives beside the state, not in it. Fields of seats that do not play hold the empty value. The fields fill the record
without padding, so that equal states are equal bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MATCH_OVER",
    "NONE",
    "PLAYING",
    "ROUND_OVER",
    "STATE_DTYPE",
    "TRUNCATED",
    "new_states",
]

#: The empty value of numbers, tiles and seats.
NONE = -1
#: Values of ``status``.
PLAYING, ROUND_OVER, MATCH_OVER, TRUNCATED = range(4)
#: Tiles that a boneyard can hold, rounded up: a double-nine set less two hands of one.
MAX_BONEYARD = 56

STATE_DTYPE = np.dtype(
    [
        # hidden: conceal() blanks these
        ("hands", np.uint64, (4,)),  # tiles of each seat, as bits by tile id; empty 0
        ("generator", np.uint64),  # the game's own random generator; gives the next deals away
        (
            "pile",
            np.int8,
            (MAX_BONEYARD,),
        ),  # the boneyard as a stack of tile ids; [boneyard - 1] is drawn next; empty NONE
        # public
        ("laid", np.uint64),  # tiles on the layout, as bits
        ("scores", np.int32, (4,)),  # match points of each seat; penalty points where each books his own
        ("round_points", np.int32, (4,)),  # the part of scores that was booked in this round
        ("round", np.int32),  # number of this round, from 1
        ("status", np.int32),  # PLAYING, ROUND_OVER (the match goes on), MATCH_OVER or TRUNCATED
        ("lacking", np.uint16, (4,)),  # numbers that each seat has shown not to hold, as bits
        ("hand_counts", np.int8, (4,)),  # tiles in each hand
        ("ends", np.int8, (4,)),  # number that a tile laid on each end must show; NONE: nothing can be laid there
        ("lots", np.int8, (4,)),  # kept lot of each seat this round, also once laid; NONE: no lots kept
        ("tip_doubles", np.uint8),  # ends whose tip is a double other than the spinner, as bits
        ("begun", np.uint8),  # ends that have a tip of their own (the spinner itself is no tip), as bits
        ("spinner", np.int8),  # number of the spinner; NONE: no spinner on the layout
        ("boneyard", np.int8),  # tiles in the boneyard, reserve included
        ("turn", np.int8),  # seat that moves; once the round is over, the seat that would
        ("starter", np.int8),  # seat that leads this round
        ("is_lead_forced", np.int8),  # 1: the opening rule names the lead, 0: any tile may lead
        ("has_drawn", np.int8),  # 1: the seat on turn has drawn in this turn
        (
            "next_leads",
            np.uint8,
        ),  # seats of which one, drawn by lot, leads the next round, as bits; 0: as a first round
        ("round_winners", np.uint8),  # after a round: seats that won the deal (tied ones all), as bits
        ("match_winners", np.uint8),  # after a match: seats that won it, as bits
        ("is_out", np.int8),  # 1: the round ended by a player going out
    ],
    align=True,
)


def new_states(num_games: int) -> NDArray[Any]:
    """``num_games`` zeroed records, shape (num_games,), dtype ``STATE_DTYPE``; nothing is dealt yet."""
    return np.zeros(num_games, STATE_DTYPE)
