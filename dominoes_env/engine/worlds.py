"""``determinize``: full states that a player may be in, exactly uniform over the deals that fit what he knows.

What he knows: his own tiles, and every public event of the round. A deal and a pile *fit* if replaying the round's
actions from them is legal at each step and nothing public comes out otherwise. Written as an assignment problem: each
hidden tile goes to one *place*: a player's dealt tiles, the tiles that he kept when drawing in one turn, or the pile.

- The places that each tile may have follow from the passes, the draws and the lead (places.py).
- The number of completions is counted by dynamic programming over the places' free slots, tile by tile; tiles that
  may be anywhere are left to the end, where the count is a multinomial. Worlds are drawn by walking the counts.
- That the round is not blocked, and before the lead that this seat leads, is asked of the finished world; one that
  fails is drawn anew.

Counts are float64: probabilities are exact to about 1e-15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoes_env.arguments import checked_integer
from dominoes_env.engine.deal import opening_seat, random_below
from dominoes_env.engine.information import conceal, known_tiles
from dominoes_env.engine.jit import jit
from dominoes_env.engine.opening import forced_lead, tiles_above
from dominoes_env.engine.places import (
    LAID_DTYPE,
    MAX_PLACES,
    PLACE_DTYPE,
    list_tiles,
    make_places,
    merge_places,
    replay,
)
from dominoes_env.engine.rounds import round_is_blocked
from dominoes_env.engine.rules import DRAW_NONE, LOTS_KEEP, Rules
from dominoes_env.engine.state import MAX_BONEYARD, NONE, PLAYING, STATE_DTYPE
from dominoes_env.engine.tiles import MAX_TILES, NO_TILES, TOUCHING, tile_bit

__all__ = ["determinize", "determinize_rows"]

_ONE = np.uint64(1)
#: Counts kept at a time: 256 MiB.
_MAX_COUNTS = 1 << 25


@jit
def _count_ways(places, num_places, allowed, restricted, num_free, strides, ways):
    """``ways[i, used]``: completions once the first i restricted tiles lie and places 1.. have ``used`` slots taken.

    ``used`` is a mixed-radix number. Place 0 may be the pile; its use follows from the others'. A count at
    ``restricted`` is the multinomial of the free tiles, less a constant factor.
    """
    num_used = ways.shape[1]
    for used in range(num_used):
        left = num_free - np.int64(0)
        weight = 1.0
        for place in range(1, num_places):
            size = places[place]["size"]
            rest = size - (used // strides[place]) % (size + 1)
            left -= rest
            for k in range(2, rest + 1):
                weight /= k
        if left < 0 or left > places[0]["size"]:
            weight = 0.0
        for k in range(2, left + 1):
            weight /= k
        ways[restricted, used] = weight
    for i in range(restricted - 1, -1, -1):
        for used in range(num_used):
            total = ways[i + 1, used] if allowed[i] & _ONE != 0 else 0.0
            for place in range(1, num_places):
                if (allowed[i] >> np.uint64(place)) & _ONE != 0:
                    size = places[place]["size"]
                    if (used // strides[place]) % (size + 1) < size:
                        total += ways[i + 1, used + strides[place]]
            ways[i, used] = total


@jit
def _uniform(source):
    """A uniform float in [0, 1) with 53 bits from a record's generator."""
    high = random_below(source, np.int64(1) << 26)
    return (high * 134217728.0 + random_below(source, np.int64(1) << 27)) / 9007199254740992.0


@jit
def _place_tile(world, places, place, tile):
    """Put a hidden tile where the assignment says; the pile is filled from its bottom."""
    seat = places[place]["seat"]
    if seat == NONE:
        top = 0
        while world["pile"][top] != NONE:
            top += 1
        world["pile"][top] = tile
    else:
        world["hands"][seat] |= tile_bit(tile)


@jit
def _draw_world(world, rules, source, places, num_places, tiles, allowed, count, restricted, strides, ways, slots):
    """One assignment, each with the same probability, written into ``world``."""
    used = np.int64(0)
    for i in range(restricted):
        mark = _uniform(source) * ways[i, used]
        chosen = -1
        for place in range(num_places):
            if (allowed[i] >> np.uint64(place)) & _ONE == 0:
                continue
            after = used
            if place > 0:
                size = places[place]["size"]
                if (used // strides[place]) % (size + 1) == size:
                    continue
                after += strides[place]
            weight = ways[i + 1, after]
            if weight > 0.0:
                chosen = place
                if mark < weight:
                    break
                mark -= weight
        if chosen > 0:
            used += strides[chosen]
        if tiles[i] >= 0:
            _place_tile(world, places, chosen, tiles[i])
    left = 0
    for place in range(1, num_places):
        size = places[place]["size"]
        for _ in range(size - (used // strides[place]) % (size + 1)):
            slots[left] = place
            left += 1
    while left < count - restricted:
        slots[left] = 0
        left += 1
    for i in range(restricted, count):
        pick = random_below(source, left)
        left -= 1
        place = slots[pick]
        slots[pick] = slots[left]
        _place_tile(world, places, place, tiles[i])
    if rules["draw_rule"] != DRAW_NONE:
        pile = world["pile"]
        for position in range(world["boneyard"] - 1, 0, -1):
            pick = random_below(source, position + 1)
            tile = pile[pick]
            pile[pick] = pile[position]
            pile[position] = tile


@jit
def _fits_the_moment(world, rules):
    """What only the finished world can tell: before a forced lead this seat leads, later the round is not blocked."""
    if world["laid"] == NO_TILES:
        if world["is_lead_forced"] == 0 or rules["opening"] == LOTS_KEEP:
            return True
        return opening_seat(world, rules) == world["starter"]
    return not round_is_blocked(world, rules)


@jit
def _is_same_position(board, state):
    """Whether the actions lead to the layout, the turn and the boneyard of the state."""
    for end in range(4):
        if board["ends"][end] != state["ends"][end]:
            return False
    return (
        board["laid"] == state["laid"]
        and board["turn"] == state["turn"]
        and board["has_drawn"] == state["has_drawn"]
        and board["boneyard"] == state["boneyard"]
    )


@jit
def _unseen_tiles(state, rules, player):
    """The tiles of which ``player`` does not know where they are, as bits."""
    unseen = ((_ONE << np.uint64(rules["num_tiles"])) - _ONE) & ~state["laid"] & ~state["hands"][player]
    for seat in range(rules["num_players"]):
        if seat != player:
            unseen &= ~known_tiles(state, seat)
    return unseen


@jit
def _tiles_not_dealt(state, rules, player, history):
    """The tiles that no dealt hand held, as far as ``player`` knows the lead that the opening forced, as bits."""
    if state["is_lead_forced"] == 1:
        if len(history) > 0:
            return tiles_above(np.int64(history[0]), rules)
        if state["starter"] == player:
            return tiles_above(forced_lead(state["hands"][player], state["lots"][player], rules), rules)
    return NO_TILES


@jit
def _turns_from_lacking(state, rules, open_at, num_turns):
    """For a position without a past: what each seat has shown not to hold, as one turn on those ends."""
    for seat in range(rules["num_players"]):
        num_turns[seat] = 1
        for number in range(np.int64(rules["max_pip"]) + 1):
            if state["lacking"][seat] >> number & 1 == 1:
                open_at[seat, 0] |= TOUCHING[number]


@jit
def _set_strides(places, num_places, strides):
    """The mixed radix of the places' used slots; returns how many numbers it has, or some number over the bound."""
    num_used = np.int64(1)
    for place in range(1, num_places):
        strides[place] = num_used
        num_used = min(num_used * (places[place]["size"] + 1), 1 << 40)
    return num_used


@jit
def determinize_rows(worlds, rules, concealed, player, history, has_past, generator):
    """Fill every row of ``worlds`` with a state that ``player`` may be in; ``generator`` (1,) uint64 is moved on.

    Returns 0; 1 if the history does not lead to ``concealed``; 2 if the places are too many to count.
    """
    state = concealed[0]
    rule = rules[0]
    most = len(history) + 1
    open_at = np.zeros((4, most), np.uint64)
    kept = np.zeros((4, most), np.int64)
    num_turns = np.zeros(4, np.int64)
    laid = np.zeros(most, LAID_DTYPE)
    board = np.zeros(1, STATE_DTYPE)
    num_laid = replay(state, rule, player, history, board[0], open_at, kept, num_turns, laid)
    if num_laid < 0 or (has_past and not _is_same_position(board[0], state)):
        return 1
    unseen = _unseen_tiles(state, rule, player)
    dealt_not = _tiles_not_dealt(state, rule, player, history) if has_past else NO_TILES
    if not has_past:
        _turns_from_lacking(state, rule, open_at, num_turns)
    places = np.zeros(MAX_PLACES, PLACE_DTYPE)
    num_places = make_places(state, rule, player, unseen, dealt_not, open_at, kept, num_turns, laid, num_laid, places)
    if num_places < 0:
        return 2
    tiles = np.zeros(2 * MAX_TILES, np.int64)
    allowed = np.zeros(2 * MAX_TILES, np.uint64)
    count, restricted = list_tiles(
        unseen, dealt_not, open_at, laid, num_laid, state, places, num_places, tiles, allowed
    )
    size = np.int64(0)
    for place in range(num_places):
        size += places[place]["size"]
    if size != count:
        return 1
    num_places = merge_places(places, num_places, tiles, allowed, restricted)
    strides = np.zeros(MAX_PLACES, np.int64)
    num_used = _set_strides(places, num_places, strides)
    if num_used * (restricted + 1) > _MAX_COUNTS:
        return 2
    ways = np.zeros((restricted + 1, num_used))
    _count_ways(places, num_places, allowed, restricted, count - restricted, strides, ways)
    if ways[0, 0] == 0.0:
        return 1
    source = board[0]
    source["generator"] = generator[0]
    slots = np.zeros(MAX_TILES + 1, np.int64)
    for row in range(len(worlds)):
        while True:
            worlds[row] = state
            for position in range(MAX_BONEYARD):
                worlds[row]["pile"][position] = NONE
            _draw_world(
                worlds[row], rule, source, places, num_places, tiles, allowed, count, restricted, strides, ways, slots
            )
            if not has_past or _fits_the_moment(worlds[row], rule):
                break
        random_below(source, 2)
        worlds[row]["generator"] = source["generator"] ^ np.uint64(0x5851F42D4C957F2D)
    generator[0] = source["generator"]
    return 0


def determinize(
    rules: Rules,
    concealed: NDArray[Any],
    player: int,
    history: ArrayLike | None,
    rng: np.random.Generator,
    *,
    num_worlds: int = 1,
) -> NDArray[Any]:
    """Full states that ``player`` may be in, independent and uniform over the deals and piles that fit.

    Args:
        rules: the rules of the game.
        concealed: what ``player`` may know of the state, shape (1,), dtype ``STATE_DTYPE``, as ``Table.concealed``,
            ``Game.concealed`` and an agent's ``Turn.state`` give it; more than that is ignored.
        player: the seat that is guessing.
        history: all actions of the round in order, as ``Table.round_history`` gives; None for a position set up
            without its past, of which only ``lacking`` is respected.
        rng: the source of randomness.
        num_worlds: how many states to draw.

    Returns:
        States, shape (num_worlds,), dtype ``STATE_DTYPE``; each with a generator of its own. ``Table.set_state``
        takes one of them, and the history, to play on from there.

    Raises:
        ValueError: if the round is over, the history does not lead to the state, or the places of hidden tiles are
            too many to be counted (memory for 2**25 counts; seen only in double-nine games for four with
            ``draw_rule="one"``).
    """
    state = np.array(concealed).reshape(-1)
    if state.shape != (1,) or state.dtype != STATE_DTYPE:
        raise ValueError(
            f"concealed of shape {state.shape}, dtype {state.dtype} is not allowed; allowed: (1,), STATE_DTYPE"
        )
    if state["status"][0] != PLAYING:
        raise ValueError("concealed: the round is over; allowed: a state in which somebody is to move")
    checked_integer("player", player, 0, rules.num_players - 1)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng={rng!r} is not allowed; allowed: a numpy.random.Generator")
    checked_integer("num_worlds", num_worlds, 1)
    past = np.asarray([] if history is None else history)
    is_listed = past.ndim == 1 and (not past.size or past.dtype.kind in "iu")
    if not is_listed or (past.size and not 0 <= past.min() <= past.max() < rules.num_actions):
        raise ValueError(f"history={history!r} is not allowed; allowed: action ids in order, or None")
    conceal(state[0], int(player))
    worlds = np.zeros(num_worlds, STATE_DTYPE)
    generator = rng.integers(0, 2**64, 1, np.uint64)
    actions = past.astype(np.int16)
    refused = determinize_rows(worlds, rules.row, state, int(player), actions, history is not None, generator)
    if refused == 1:
        raise ValueError(
            f"history of {len(past)} actions does not lead to the state that player {player} sees; "
            "None stands for an unknown past"
        )
    if refused == 2:
        raise ValueError("history: too many ways to have drawn; the hidden tiles cannot be counted exactly")
    return worlds
