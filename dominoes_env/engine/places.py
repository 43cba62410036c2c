"""Where hidden tiles may be, as far as the public events of a round tell: the ground of worlds.py.

A *place* is a player's dealt tiles, the tiles that he kept when drawing in one turn, or the pile. Whoever passed or
drew on open ends held no tile that fits them: a tile that a player holds, or held until he laid it, cannot have been
in his hand at such a turn if it fits those ends. An opening that forces the lead says that the dealt hands hold
nothing above it.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.deal import open_round
from dominoes_env.engine.information import known_tiles
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import lay_tile, open_tiles, split_play
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import MAX_TILES, NO_TILES, TOUCHING, num_tiles_of, tile_bit

__all__ = [
    "DRAW_DTYPE",
    "LAID_DTYPE",
    "MAX_PLACES",
    "PLACE_DTYPE",
    "list_tiles",
    "make_places",
    "merge_places",
    "replay",
]

_ONE = np.uint64(1)

#: One place for hidden tiles.
PLACE_DTYPE = np.dtype(
    [
        ("seat", np.int64),  # whose; NONE: the pile
        (
            "turn",
            np.int64,
        ),  # kept in that turn without a fit, counted from 0; NONE: dealt; for the tile just drawn: all
        ("size", np.int64),  # tiles that it takes
        ("may_hold", np.uint64),  # unseen tiles that may be there now, as bits
    ],
    align=True,
)
#: One tile that a player laid from his hand, whose place may be in doubt.
LAID_DTYPE = np.dtype([("seat", np.int64), ("tile", np.int64), ("turns", np.int64)], align=True)
#: One draw: who drew, in which of his turns without a fit (as a place has it), and the tile if he laid it at once.
DRAW_DTYPE = np.dtype([("seat", np.int64), ("turn", np.int64), ("tile", np.int64)], align=True)

#: Places are bits of a ``uint64``.
MAX_PLACES = 64


@jit
def _fits(board, tile, end):
    """Whether a tile that is not laid yet goes on an end."""
    if board["laid"] == NO_TILES:
        return end == 0
    number = board["ends"][end]
    return number >= 0 and TOUCHING[number] & ~board["laid"] & tile_bit(tile) != NO_TILES


@jit
def replay(concealed, rules, seats, history, board, open_at, kept, num_turns, laid, draws):
    """Walk the round's public events; fills each seat's turns without a fit and the tiles laid from hands of ``seats``.

    ``open_at`` (4, turns): tiles that would have fitted, as bits; ``kept`` (4, turns): tiles drawn and kept then;
    ``draws``: everybody's draws in order. Leaves the public position in ``board``. ``seats``: bits. Returns the
    number of tiles in ``laid`` and of ``draws``; -1 and 0 for actions that cannot be.
    """
    open_round(board, rules, concealed["starter"], concealed["is_lead_forced"])
    board["boneyard"] = rules["boneyard_size"]
    num_tiles = np.int64(rules["num_tiles"])
    plays = num_tiles * rules["num_ends"]
    seat = np.int64(concealed["starter"])
    drawn = np.int64(0)
    num_laid = 0
    num_draws = 0
    for i in range(len(history)):
        action = np.int64(history[i])
        if action >= plays and board["laid"] == NO_TILES:
            return -1, 0
        if action >= plays and drawn == 0:
            open_at[seat, num_turns[seat]] = open_tiles(board)
            num_turns[seat] += 1
        if action == plays:
            board["boneyard"] -= 1
            draws[num_draws]["seat"] = seat
            draws[num_draws]["turn"] = num_turns[seat] - 1
            draws[num_draws]["tile"] = NONE
            num_draws += 1
            drawn += 1
            continue
        if action > plays:
            kept[seat, num_turns[seat] - 1] = drawn
        else:
            tile, end = split_play(action, num_tiles)
            if not _fits(board, tile, end):
                return -1, 0
            lay_tile(board, rules, tile, end)
            if drawn > 0:  # the tile laid after drawing is the last one drawn
                kept[seat, num_turns[seat] - 1] = drawn - 1
                draws[num_draws - 1]["tile"] = tile
            elif seats >> seat & 1 == 1:
                laid[num_laid]["seat"] = seat
                laid[num_laid]["tile"] = tile
                laid[num_laid]["turns"] = num_turns[seat]
                num_laid += 1
        drawn = np.int64(0)
        seat = (seat + 1) % rules["num_players"]
    if drawn > 0:
        kept[seat, num_turns[seat] - 1] = drawn - 1
        draws[num_draws - 1]["turn"] = num_turns[seat]
        board["has_drawn"] = 1
    board["turn"] = seat
    return num_laid, num_draws


@jit
def _add_place(places, num_places, seat, turn, size, may_hold):
    if size > 0:
        places[num_places]["seat"] = seat
        places[num_places]["turn"] = turn
        places[num_places]["size"] = size
        places[num_places]["may_hold"] = may_hold
        return num_places + 1
    return num_places


@jit
def make_places(concealed, rules, seats, pile, unseen, dealt_not, open_at, kept, num_turns, laid, num_laid, places):
    """The places for ``unseen`` tiles: the pile of ``pile`` tiles first, then those of ``seats`` (bits).

    Returns their number, -1 if they are too many.
    """
    num_places = _add_place(places, 0, NONE, NONE, pile, unseen)
    for seat in range(rules["num_players"]):
        if seats >> seat & 1 == 0:
            continue
        fresh = np.int64(1) if seat == concealed["turn"] and concealed["has_drawn"] == 1 else np.int64(0)
        dealt = np.int64(concealed["hand_counts"][seat]) - fresh - num_tiles_of(known_tiles(concealed, seat))
        for i in range(num_laid):
            if laid[i]["seat"] == seat and laid[i]["tile"] != concealed["lots"][seat]:
                dealt += 1
        num_places = _add_place(places, num_places, seat, num_turns[seat], fresh, unseen)
        cannot = NO_TILES
        for turn in range(num_turns[seat] - 1, -1, -1):
            cannot |= open_at[seat, turn]
            dealt -= kept[seat, turn]
            num_places = _add_place(places, num_places, seat, turn, kept[seat, turn], unseen & ~cannot)
            if num_places > MAX_PLACES - 3:
                return -1
        num_places = _add_place(places, num_places, seat, NONE, dealt, unseen & ~cannot & ~dealt_not)
    return num_places


@jit
def _laid_places(entry, open_at, dealt_not, places, num_places):
    """The places, as bits, from which a tile may have been laid."""
    bit = tile_bit(entry["tile"])
    first = np.int64(0)  # the first turn without a fit after which he may have come by it
    for turn in range(entry["turns"]):
        if open_at[entry["seat"], turn] & bit != NO_TILES:
            first = turn + 1
    allowed = np.uint64(0)
    for place in range(num_places):
        if places[place]["seat"] != entry["seat"]:
            continue
        turn = places[place]["turn"]
        if turn == NONE:
            if first == 0 and dealt_not & bit == NO_TILES:
                allowed |= _ONE << np.uint64(place)
        elif first <= turn < entry["turns"]:
            allowed |= _ONE << np.uint64(place)
    return allowed


@jit
def list_tiles(unseen, dealt_not, open_at, laid, num_laid, concealed, places, num_places, tiles, allowed):
    """The tiles to be placed and the places of each, as bits; tiles with one place take its slot at once.

    Tiles laid come as ``-1 - tile``: they only use up slots. Returns how many tiles there are and how many of them,
    first in the list, are restricted; the rest may be anywhere.
    """
    anywhere = (_ONE << np.uint64(num_places)) - _ONE
    count = 0
    for i in range(num_laid):
        if laid[i]["tile"] == concealed["lots"][laid[i]["seat"]]:
            continue
        tiles[count] = -1 - laid[i]["tile"]
        allowed[count] = _laid_places(laid[i], open_at, dealt_not, places, num_places)
        count += 1
    for is_free in range(2):
        if is_free == 1:
            restricted = count
        for tile in range(MAX_TILES):
            if unseen & tile_bit(tile) != NO_TILES:
                may = np.uint64(0)
                for place in range(num_places):
                    if places[place]["may_hold"] & tile_bit(tile) != NO_TILES:
                        may |= _ONE << np.uint64(place)
                if (may == anywhere) == (is_free == 1):
                    tiles[count] = tile
                    allowed[count] = may
                    count += 1
    return count, restricted


@jit
def merge_places(places, num_places, tiles, allowed, restricted, joined):
    """Join places of one player that no tile tells apart; returns the new number of places.

    ``joined[place]`` is what became of each.
    """
    merged = 0
    for place in range(num_places):
        into = -1
        for other in range(merged):
            if places[other]["seat"] == places[place]["seat"]:
                is_same = True
                for i in range(restricted):
                    if (allowed[i] >> np.uint64(place)) & _ONE != (allowed[i] >> np.uint64(other)) & _ONE:
                        is_same = False
                if is_same:
                    into = other
        if into >= 0:
            places[into]["size"] += places[place]["size"]
            joined[place] = into
        else:
            places[merged] = places[place]
            joined[place] = merged
            for i in range(restricted):
                bit = (allowed[i] >> np.uint64(place)) & _ONE
                allowed[i] = (allowed[i] & ~(_ONE << np.uint64(merged))) | (bit << np.uint64(merged))
            merged += 1
    for i in range(restricted):
        allowed[i] &= (_ONE << np.uint64(merged)) - _ONE
    return merged
