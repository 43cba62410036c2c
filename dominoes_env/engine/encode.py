"""Action mask and observation of one record, written into the caller's buffers.

Both are rows of 0/1 bytes that are put together as bits, 64 at a time, and spread to bytes through a table. Buffers
are ``uint64`` arrays of shape (rows, words); seen as int8 their first bytes are the mask, or the observation. Bits are
written up to 64 at a time, so a row has room for whole words of bits (``buffer_words``). Which piece stands where is
the table in :mod:`dominoes_env.observation`; the order below is that table's.

Loops over ends and seats run to 4 with a test inside: told how many there are, the compiler makes vector code of them
that is far longer, and slower for so few.
"""

from __future__ import annotations

import sys

import numpy as np

from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import draw_or_pass, playable_tiles, split_play
from dominoes_env.engine.rules import DRAW_NONE, LOTS_KEEP, SPINNER_NONE
from dominoes_env.engine.scoring import count_modulus, exposed_count
from dominoes_env.engine.state import NONE, PLAYING
from dominoes_env.engine.tiles import NO_TILES, tile_bit

__all__ = ["SOONEST", "buffer_words", "write_hidden", "write_history", "write_mask", "write_observation"]

#: uint64 (256,): eight bits spread to the low bits of eight bytes in memory order.
_SPREAD = np.array([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], np.uint8).view(np.uint64).reshape(-1)
assert sys.byteorder == "little"  # the bit order of words and the byte order of rows must agree

#: How the tile that is drawn next is marked in :func:`write_hidden`; each one after it by half of that.
SOONEST = 64

_ONE = np.uint64(1)
_NOTHING = np.uint64(0)


def buffer_words(num_bits: int, num_bytes: int) -> int:
    """Words of 8 bytes that a row needs for ``num_bits`` bits spread to bytes, and ``num_bytes`` bytes in all."""
    return max(-(-num_bits // 64) * 8, -(-num_bytes // 8))


@jit(inline=True, borrows=True)
def _spread(buffer, row, half, bits):
    """Spread the low 32 of ``bits`` over 32 bytes of the row; ``half`` counts half words of bits from its start.

    Unsigned indices spare the check for negative ones, and the fixed number of stores the loop.
    """
    line = np.uint64(row)
    first = np.uint64(half) << np.uint64(2)
    for byte in range(4):
        spread = _SPREAD[(bits >> np.uint64(byte << 3)) & np.uint64(255)]
        buffer[line, first + np.uint64(byte)] = spread


@jit(inline=True, borrows=True)
def _append(buffer, row, pending, position, bits, width):
    """Append ``width`` (at most 55) bits; returns the bits not written yet and the new position in bits."""
    offset = position & 63
    pending |= bits << np.uint64(offset)
    if offset + width >= 64:
        half = position >> 6 << 1
        _spread(buffer, row, half, pending)
        _spread(buffer, row, half + 1, pending >> np.uint64(32))
        pending = bits >> np.uint64(64 - offset)
    return pending, position + width


@jit(inline=True, borrows=True)
def _finish(buffer, row, pending, position):
    """Write the bits that are left."""
    left = position & 63
    half = position >> 6 << 1
    if left > 0:
        _spread(buffer, row, half, pending)
    if left > 32:
        _spread(buffer, row, half + 1, pending >> np.uint64(32))


@jit(inline=True)
def _seat_at(player, away, num_players):
    """The seat ``away`` places after ``player`` (without a division, which is dear)."""
    seat = player + away
    return seat - num_players if seat >= num_players else seat


@jit(inline=True)
def _seats_away(player, seat, num_players):
    """How many places ``seat`` comes after ``player``."""
    away = seat - player
    return away + num_players if away < 0 else away


@jit(inline=True, borrows=True)
def write_mask(state, rules, player, masks, row):
    """The actions that ``player`` may take; exactly PASS if it is not his turn or the round is over."""
    num_tiles = np.int64(rules["num_tiles"])
    num_ends = np.int64(rules["num_ends"])
    is_mover = state["status"] == PLAYING and state["turn"] == player
    pending = _NOTHING
    position = np.int64(0)
    any_play = NO_TILES
    for end in range(4):
        if end >= num_ends:
            break
        tiles = playable_tiles(state, rules, end) if is_mover else NO_TILES
        any_play |= tiles
        if num_ends * num_tiles < 63:  # the whole mask in one word: most sets without a spinner
            pending |= tiles << np.uint64(position)
            position += num_tiles
        else:
            pending, position = _append(masks, row, pending, position, tiles, num_tiles)
    last = _NOTHING  # DRAW, PASS
    if any_play == NO_TILES:
        is_draw = is_mover and draw_or_pass(state, rules) == num_tiles * num_ends
        last = np.uint64(1) if is_draw else np.uint64(2)
    pending, position = _append(masks, row, pending, position, last, 2)
    _finish(masks, row, pending, position)


@jit(inline=True, borrows=True)
def write_observation(state, rules, player, observations, values, row):
    """What ``player`` sees, seats counted from his own; the history piece is left alone.

    ``values`` is the buffer seen as int8. Small pieces are put together before they are appended, at most 55 bits.
    """
    num_players = np.int64(rules["num_players"])
    num_tiles = np.int64(rules["num_tiles"])
    num_ends = np.int64(rules["num_ends"])
    numbers = np.int64(rules["max_pip"]) + 1
    pending, position = _append(observations, row, _NOTHING, np.int64(0), state["hands"][np.uint64(player)], num_tiles)
    pending, position = _append(observations, row, pending, position, state["laid"], num_tiles)
    ends = _NOTHING
    for end in range(4):  # those that the rules lack are empty
        if state["ends"][end] >= 0:
            ends |= _ONE << np.uint64(end * numbers + state["ends"][end])
    pending, position = _append(observations, row, pending, position, ends, num_ends * numbers)
    small = np.uint64(state["tip_doubles"])
    width = num_ends
    if rules["spinner"] != SPINNER_NONE:
        if state["spinner"] != NONE:
            small |= _ONE << np.uint64(width + state["spinner"])
        small |= np.uint64(state["begun"]) << np.uint64(width + numbers)
        width += numbers + num_ends
    if state["status"] == PLAYING:
        small |= _ONE << np.uint64(width + _seats_away(player, np.int64(state["turn"]), num_players))
    width += num_players
    for away in range(1, 4):
        if away < num_players:
            seat = np.uint64(_seat_at(player, away, num_players))
            small |= np.uint64(state["lacking"][seat]) << np.uint64(width)
            width += numbers
    if rules["opening"] == LOTS_KEEP:
        pending, position = _append(observations, row, pending, position, small, width)
        small = _NOTHING
        width = np.int64(0)
        for away in range(num_players):
            lot = state["lots"][_seat_at(player, away, num_players)]
            tiles = tile_bit(lot) & ~state["laid"] if lot != NONE else NO_TILES
            pending, position = _append(observations, row, pending, position, tiles, num_tiles)
    if rules["draw_rule"] != DRAW_NONE:
        small |= np.uint64(state["has_drawn"]) << np.uint64(width)
        width += 1
    small |= np.uint64(state["is_lead_forced"]) << np.uint64(width)
    pending, position = _append(observations, row, pending, position, small, width + 1)
    modulus = count_modulus(rules)
    count = exposed_count(state) if modulus > 0 and state["laid"] != NO_TILES else np.int64(0)
    if modulus > 0:
        remainder = _ONE << np.uint64(count % modulus) if state["laid"] != NO_TILES else _NOTHING
        pending, position = _append(observations, row, pending, position, remainder, modulus)
    _finish(observations, row, pending, position)

    line, first = np.uint64(row), np.uint64(position)
    for away in range(4):
        if away >= num_players:
            break
        seat = np.uint64(_seat_at(player, away, num_players))
        values[line, first + np.uint64(away)] = state["hand_counts"][seat]
        percent = np.int64(state["scores"][seat])
        if percent != 0:  # a division is dear, and most rounds begin at 0-0
            percent = min(max(100 * percent // np.int64(rules["target"]), -127), 127)
        values[line, first + np.uint64(num_players + 1 + away)] = percent
    values[line, first + np.uint64(num_players)] = state["boneyard"]
    if modulus > 0:
        values[line, first + np.uint64(2 * num_players + 1)] = count


@jit(borrows=True)
def write_history(state, rules, player, history, history_row, length, values, row, position):
    """The round's actions in order at byte ``position``: (seat from the observer's + 1, tile + 1 | -1 | -2, end)."""
    num_players = np.int64(rules["num_players"])
    num_tiles = np.int64(rules["num_tiles"])
    plays = num_tiles * rules["num_ends"]
    values[row, position : position + 3 * history.shape[1]] = 0
    seat = np.int64(state["starter"])
    for i in range(min(length, history.shape[1])):
        action = np.int64(history[history_row, i])
        values[row, position + 3 * i] = _seats_away(player, seat, num_players) + 1
        if action < plays:
            tile, end = split_play(action, num_tiles)
            values[row, position + 3 * i + 1] = tile + 1
            values[row, position + 3 * i + 2] = end
        else:
            values[row, position + 3 * i + 1] = plays - 1 - action
        if action != plays:
            seat = _seat_at(seat, 1, num_players)


@jit(borrows=True)
def write_hidden(state, rules, player, values, row):
    """What ``player`` does not see: the other hands, seats counted from his; how soon each tile is drawn, if any are.

    ``values`` is int8 (rows, size). It adds to an observation what a critic may know, and no player.
    """
    num_players = np.int64(rules["num_players"])
    num_tiles = np.int64(rules["num_tiles"])
    position = np.int64(0)
    for away in range(1, num_players):
        hand = state["hands"][_seat_at(player, away, num_players)]
        for tile in range(num_tiles):
            values[row, position + tile] = (hand >> np.uint64(tile)) & _ONE
        position += num_tiles
    if rules["draw_rule"] != DRAW_NONE:
        values[row, position : position + num_tiles] = 0
        mark = np.int64(SOONEST)
        left = np.int64(state["boneyard"])
        while left > 0 and mark > 0:
            left -= 1
            values[row, position + state["pile"][left]] = mark
            mark >>= 1
