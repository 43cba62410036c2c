"""Action mask and observation of one record, written into the caller's buffers.

Both are rows of 0/1 bytes that are put together as bits, 64 at a time, and spread to bytes through a table. Buffers
are ``uint64`` arrays of shape (rows, words); seen as int8 their first bytes are the mask, or the observation. Which
piece stands where is the table in :mod:`dominoes_env.observation`; the order below is that table's.
"""

from __future__ import annotations

import sys

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import draw_or_pass, playable_tiles
from dominoes_env.engine.rules import DRAW_NONE, LOTS_KEEP, SPINNER_NONE
from dominoes_env.engine.state import NONE, PLAYING
from dominoes_env.engine.tiles import NO_TILES, tile_bit

__all__ = ["write_history", "write_mask", "write_observation"]

#: uint64 (256,): eight bits spread to the low bits of eight bytes in memory order.
_SPREAD = np.array([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], np.uint8).view(np.uint64).reshape(-1)
assert sys.byteorder == "little"  # the bit order of words and the byte order of rows must agree

_ONE = np.uint64(1)
_NOTHING = np.uint64(0)


@jit(inline=True)
def _flush(buffer, row, word, bits, num_bytes):
    """Write the low ``num_bytes`` bytes of ``bits``, one byte of the row a bit, from bit ``64 * word`` on."""
    first = word << 3
    for byte in range(num_bytes):
        buffer[row, first + byte] = _SPREAD[(bits >> np.uint64(byte << 3)) & np.uint64(255)]


@jit(inline=True)
def _append(buffer, row, pending, position, bits, width):
    """Append ``width`` (at most 55) bits; returns the bits not written yet and the new position in bits."""
    offset = position & 63
    pending |= bits << np.uint64(offset)
    if offset + width >= 64:
        _flush(buffer, row, position >> 6, pending, 8)
        pending = bits >> np.uint64(64 - offset)
    return pending, position + width


@jit(inline=True)
def _finish(buffer, row, pending, position):
    _flush(buffer, row, position >> 6, pending, ((position & 63) + 7) >> 3)


@jit
def write_mask(state, rules, player, masks, row):
    """The actions that ``player`` may take; exactly PASS if it is not his turn or the round is over."""
    pending = _NOTHING
    position = np.int64(0)
    num_tiles = np.int64(rules["num_tiles"])
    is_mover = state["status"] == PLAYING and state["turn"] == player
    any_play = NO_TILES
    for end in range(rules["num_ends"]):
        tiles = playable_tiles(state, rules, end) if is_mover else NO_TILES
        any_play |= tiles
        pending, position = _append(masks, row, pending, position, tiles, num_tiles)
    last = _NOTHING  # DRAW, PASS
    if any_play == NO_TILES:
        is_draw = is_mover and draw_or_pass(state, rules) == num_tiles * rules["num_ends"]
        last = np.uint64(1) if is_draw else np.uint64(2)
    pending, position = _append(masks, row, pending, position, last, 2)
    _finish(masks, row, pending, position)


@jit
def write_observation(state, rules, player, observations, row):
    """What ``player`` sees, seats counted from his own; the history piece is left alone."""
    num_players = np.int64(rules["num_players"])
    num_tiles = np.int64(rules["num_tiles"])
    num_ends = np.int64(rules["num_ends"])
    numbers = np.int64(rules["max_pip"]) + 1
    pending, position = _append(observations, row, _NOTHING, np.int64(0), state["hands"][player], num_tiles)
    pending, position = _append(observations, row, pending, position, state["laid"], num_tiles)
    ends = _NOTHING
    for end in range(num_ends):
        if state["ends"][end] >= 0:
            ends |= _ONE << np.uint64(end * numbers + state["ends"][end])
    pending, position = _append(observations, row, pending, position, ends, num_ends * numbers)
    pending, position = _append(observations, row, pending, position, np.uint64(state["tip_doubles"]), num_ends)
    if rules["spinner"] != SPINNER_NONE:
        spinner = _ONE << np.uint64(state["spinner"]) if state["spinner"] != NONE else _NOTHING
        pending, position = _append(observations, row, pending, position, spinner, numbers)
        pending, position = _append(observations, row, pending, position, np.uint64(state["begun"]), num_ends)
    turn = _NOTHING
    if state["status"] == PLAYING:
        turn = _ONE << np.uint64((state["turn"] - player + num_players) % num_players)
    pending, position = _append(observations, row, pending, position, turn, num_players)
    lacking = _NOTHING
    for away in range(1, num_players):
        seat = (player + away) % num_players
        lacking |= np.uint64(state["lacking"][seat]) << np.uint64((away - 1) * numbers)
    pending, position = _append(observations, row, pending, position, lacking, (num_players - 1) * numbers)
    if rules["opening"] == LOTS_KEEP:
        for away in range(num_players):
            lot = state["lots"][(player + away) % num_players]
            tiles = tile_bit(lot) & ~state["laid"] if lot != NONE else NO_TILES
            pending, position = _append(observations, row, pending, position, tiles, num_tiles)
    if rules["draw_rule"] != DRAW_NONE:
        pending, position = _append(observations, row, pending, position, np.uint64(state["has_drawn"]), 1)
    forced = np.uint64(state["is_lead_forced"])
    pending, position = _append(observations, row, pending, position, forced, 1)
    _finish(observations, row, pending, position)

    counts = observations.view(np.int8)
    for away in range(num_players):
        seat = (player + away) % num_players
        counts[row, position + away] = state["hand_counts"][seat]
        percent = np.int64(state["scores"][seat]) * 100 // np.int64(rules["target"])
        counts[row, position + num_players + 1 + away] = min(max(percent, -127), 127)
    counts[row, position + num_players] = state["boneyard"]


@jit
def write_history(state, rules, player, history, history_row, length, observations, row, position):
    """The round's actions in order at byte ``position``: (seat from the observer's + 1, tile + 1 | -1 | -2, end)."""
    num_players = np.int64(rules["num_players"])
    num_tiles = np.int64(rules["num_tiles"])
    plays = num_tiles * rules["num_ends"]
    entries = observations.view(np.int8)
    entries[row, position : position + 3 * history.shape[1]] = 0
    seat = np.int64(state["starter"])
    for i in range(min(length, history.shape[1])):
        action = np.int64(history[history_row, i])
        entries[row, position + 3 * i] = (seat - player + num_players) % num_players + 1
        if action < plays:
            end = action // num_tiles
            entries[row, position + 3 * i + 1] = action - end * num_tiles + 1
            entries[row, position + 3 * i + 2] = end
        else:
            entries[row, position + 3 * i + 1] = plays - 1 - action
        if action != plays:
            seat = (seat + 1) % num_players
