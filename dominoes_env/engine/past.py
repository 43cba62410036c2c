"""The deal that a world came from: the tiles of a world taken back to the hands and the pile that they were dealt to.

worlds.py assigns tiles to places in which those are joined that nothing public tells apart. Here a joined place is
split again, every split equally often, and a turn's drawn tiles get their order; the laid ones go back as well.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.deal import open_round, random_below
from dominoes_env.engine.jit import jit
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import MAX_TILES, NO_TILES, tile_bit

__all__ = ["take_back", "undeal"]


@jit
def undeal(deal, rules):
    """Turn a world into its round's beginning, in place: nothing laid, no hands but kept lots, nothing booked."""
    for seat in range(4):
        deal["scores"][seat] -= deal["round_points"][seat]
    for seat in range(rules["num_players"]):
        lot = deal["lots"][seat]
        deal["hands"][seat] = NO_TILES if lot == NONE else tile_bit(lot)
        deal["hand_counts"][seat] = rules["hand_size"]
    deal["boneyard"] = rules["boneyard_size"]
    open_round(deal, rules, deal["starter"], deal["is_lead_forced"])


@jit
def _split(source, places, num_places, joined, tiles, chosen, count, found, homes):
    """Fill ``found`` with the tiles in hands and ``homes`` with the place of each, those of a place in random order.

    ``joined[place]``: the joined place that took in ``place``; ``chosen``: the joined place of each of ``tiles``.
    Returns how many there are.
    """
    filled = 0
    for group in range(num_places):
        if group == 0 and places[0]["seat"] == NONE:
            continue  # the pile, which is joined with nothing
        start = filled
        for i in range(count):
            if chosen[i] == group:
                pick = start + random_below(source, filled - start + 1)  # a shuffle that grows (Fisher-Yates)
                found[filled] = found[pick]
                found[pick] = tiles[i] if tiles[i] >= 0 else -1 - tiles[i]
                filled += 1
        for place in range(num_places):
            if joined[place] == group:
                for k in range(places[place]["size"]):
                    homes[start + k] = place
                start += places[place]["size"]
    return filled


@jit
def take_back(deal, source, past, chosen, count, draws, num_draws):
    """Put the tiles of one assignment, and those laid as soon as drawn, where they were dealt to; see ``undeal``.

    ``past``: the places before they were joined, their number, what each was joined to, and the ``count`` tiles.
    """
    places, num_places, joined, tiles = past
    found = np.zeros(2 * MAX_TILES, np.int64)
    homes = np.zeros(2 * MAX_TILES, np.int64)
    count = _split(source, places, num_places, joined, tiles, chosen, count, found, homes)
    for i in range(count):
        place = places[homes[i]]
        if place["turn"] == NONE:
            deal["hands"][place["seat"]] |= tile_bit(found[i])
    for draw in range(num_draws):
        at = deal["boneyard"] - 1 - draw
        if draws[draw]["tile"] != NONE:
            deal["pile"][at] = draws[draw]["tile"]
            continue
        for i in range(count):
            place = places[homes[i]]
            if found[i] >= 0 and place["seat"] == draws[draw]["seat"] and place["turn"] == draws[draw]["turn"]:
                deal["pile"][at] = found[i]
                found[i] = NONE
                break
