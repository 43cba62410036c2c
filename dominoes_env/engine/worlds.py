"""``determinize``: full states that a player may be in, exactly uniform over the deals that fit what he knows.

What he knows: his own tiles, and every public event of the round. A deal and a pile *fit* if replaying the round's
actions from them is legal at each step and nothing public comes out otherwise. Written as an assignment problem: each
hidden tile goes to one *place*: a player's dealt tiles, the tiles that he kept when drawing in one turn, or the pile.

- The places that each tile may have follow from the passes, the draws and the lead (places.py).
- Which tile goes where is drawn from the counts of completions (assignment.py).
- That the round is not blocked, and before the lead that this seat leads, is asked of the finished world; one that
  fails is drawn anew.
- Where a world's past is asked for, its tiles are taken back to where they were dealt (past.py).
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoes_env.arguments import checked_integer, checked_switch
from dominoes_env.engine.assignment import assign, count_ways
from dominoes_env.engine.deal import opening_seat, random_below
from dominoes_env.engine.information import conceal, known_tiles
from dominoes_env.engine.jit import jit
from dominoes_env.engine.opening import forced_lead, tiles_above
from dominoes_env.engine.past import take_back, undeal
from dominoes_env.engine.places import (
    DRAW_DTYPE,
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

__all__ = ["determinize", "determinize_rows", "determinize_with_deals"]

_ONE = np.uint64(1)


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
def _draw_world(world, rules, source, places, tiles, chosen, count):
    """Put the hidden tiles of an assignment into ``world``, a boneyard that is drawn from in random order."""
    for i in range(count):
        if tiles[i] >= 0:
            _place_tile(world, places, chosen[i], tiles[i])
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
def _list_places(state, rules, player, is_own, history, has_past, places, tiles, allowed, draws):
    """Walk the round and list places and tiles: the hidden ones, or with ``is_own`` the player's own, from whichever
    turn he has them. Returns ``(refused, num_places, count, restricted, num_draws)``; refused as determinize_rows.
    """
    most = len(history) + 1
    open_at = np.zeros((4, most), np.uint64)
    kept = np.zeros((4, most), np.int64)
    num_turns = np.zeros(4, np.int64)
    laid = np.zeros(most, LAID_DTYPE)
    board = np.zeros(1, STATE_DTYPE)
    seats = 1 << player
    unseen = state["hands"][player] & ~known_tiles(state, player)
    pile = np.int64(0)
    if not is_own:
        seats ^= (1 << rules["num_players"]) - 1
        unseen = _unseen_tiles(state, rules, player)
        pile += state["boneyard"]
    num_laid, num_draws = replay(state, rules, seats, history, board[0], open_at, kept, num_turns, laid, draws)
    if num_laid < 0 or (has_past and not _is_same_position(board[0], state)):
        return 1, 0, 0, 0, 0
    dealt_not = _tiles_not_dealt(state, rules, player, history) if has_past else NO_TILES
    if not has_past:
        _turns_from_lacking(state, rules, open_at, num_turns)
    num_places = make_places(
        state, rules, seats, pile, unseen, dealt_not, open_at, kept, num_turns, laid, num_laid, places
    )
    if num_places < 0:
        return 2, 0, 0, 0, 0
    count, restricted = list_tiles(
        unseen, dealt_not, open_at, laid, num_laid, state, places, num_places, tiles, allowed
    )
    size = np.int64(0)
    for place in range(num_places):
        size += places[place]["size"]
    return 0 if size == count else 1, num_places, count, restricted, num_draws


@jit
def _set_up(state, rules, player, is_own, history, has_past):
    """``(refused, draws, num_draws, dealing, past)``: all that it takes to assign tiles, again and again.

    ``dealing``: places, joined where nothing tells them apart, and their number; the places allowed for each tile, how
    many tiles and how many of them restricted; strides and ways of ``count_ways``. ``past``: the places before they
    were joined, their number, what each was joined to, and the tiles.
    """
    places = np.zeros(MAX_PLACES, PLACE_DTYPE)
    joined = np.zeros(MAX_PLACES, np.int64)
    tiles = np.zeros(2 * MAX_TILES, np.int64)
    allowed = np.zeros(2 * MAX_TILES, np.uint64)
    draws = np.zeros(len(history) + 1, DRAW_DTYPE)
    refused, num_places, count, restricted, num_draws = _list_places(
        state, rules, player, is_own, history, has_past, places, tiles, allowed, draws
    )
    separate = places.copy()
    num_joined = merge_places(places, num_places, tiles, allowed, restricted, joined)
    strides, ways = count_ways(places, num_joined, allowed, restricted, count - restricted)
    if refused == 0:
        if len(ways) == 0:
            refused = 2
        elif ways[0, 0] == 0.0:
            refused = 1
    dealing = (places, num_joined, allowed, count, restricted, strides, ways)
    return refused, draws, num_draws, dealing, (separate, num_places, joined, tiles)


@jit
def _fill(worlds, deals, rules, concealed, player, history, has_past, generator):
    """:func:`determinize_rows`, and where ``deals`` has rows the deal that each world came from."""
    state, rule = concealed[0], rules[0]
    with_deals = len(deals) > 0
    refused, draws, num_draws, hidden, hidden_past = _set_up(state, rule, player, False, history, has_past)
    own, own_past = hidden, hidden_past
    if refused == 0 and with_deals:
        refused, _, _, own, own_past = _set_up(state, rule, player, True, history, has_past)
    if refused != 0:
        return refused
    places, tiles, count = hidden[0], hidden_past[3], hidden[3]
    source, other = np.zeros(1, STATE_DTYPE), np.zeros(1, STATE_DTYPE)
    source[0]["generator"] = generator[0]
    slots = np.zeros(MAX_TILES + 1, np.int64)
    chosen, own_chosen = np.zeros(2 * MAX_TILES, np.int64), np.zeros(2 * MAX_TILES, np.int64)
    for row in range(len(worlds)):
        while True:
            worlds[row] = state
            for position in range(MAX_BONEYARD):
                worlds[row]["pile"][position] = NONE
            assign(source[0], hidden, slots, chosen)
            _draw_world(worlds[row], rule, source[0], places, tiles, chosen, count)
            if not has_past or _fits_the_moment(worlds[row], rule):
                break
        random_below(source[0], 2)
        worlds[row]["generator"] = source[0]["generator"] ^ np.uint64(0x5851F42D4C957F2D)
        if with_deals:
            # A source of its own, so that the worlds are the same with and without their deals.
            other[0]["generator"] = source[0]["generator"] ^ np.uint64(0x2545F4914F6CDD1D)
            assign(other[0], own, slots, own_chosen)
            deals[row] = worlds[row]
            undeal(deals[row], rule)
            take_back(deals[row], other[0], hidden_past, chosen, count, draws, num_draws)
            take_back(deals[row], other[0], own_past, own_chosen, own[3], draws, num_draws)
    generator[0] = source[0]["generator"]
    return 0


@jit
def determinize_rows(worlds, rules, concealed, player, history, has_past, generator):
    """Fill every row of ``worlds`` with a state that ``player`` may be in; ``generator`` (1,) uint64 is moved on.

    Returns 0; 1 if the history does not lead to ``concealed``; 2 if the places are too many to count.
    """
    return _fill(worlds, worlds[:0], rules, concealed, player, history, has_past, generator)


@jit
def determinize_with_deals(worlds, deals, rules, concealed, player, history, generator):
    """:func:`determinize_rows` with a past: the same worlds, and in ``deals`` the deal that each came from.

    Replaying ``history`` from a deal gives its world. World and deal together are uniform over the deals that fit.
    """
    return _fill(worlds, deals, rules, concealed, player, history, True, generator)


@overload
def determinize(
    rules: Rules,
    concealed: NDArray[Any],
    player: int,
    history: ArrayLike | None,
    rng: np.random.Generator,
    *,
    num_worlds: int = ...,
    with_deal: Literal[False] = ...,
) -> NDArray[Any]: ...


@overload
def determinize(
    rules: Rules,
    concealed: NDArray[Any],
    player: int,
    history: ArrayLike | None,
    rng: np.random.Generator,
    *,
    num_worlds: int = ...,
    with_deal: Literal[True],
) -> tuple[NDArray[Any], NDArray[Any]]: ...


def determinize(
    rules: Rules,
    concealed: NDArray[Any],
    player: int,
    history: ArrayLike | None,
    rng: np.random.Generator,
    *,
    num_worlds: int = 1,
    with_deal: bool = False,
) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
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
        with_deal: also give the deal that each state came from.

    Returns:
        States, shape (num_worlds,), dtype ``STATE_DTYPE``; each with a generator of its own. ``Table.set_state``
        takes one of them, and the history, to play on from there. With ``with_deal`` a pair: these same states, and
        their rounds as dealt, (num_worlds,), from each of which ``history`` leads to its state. The pairs are uniform
        over the deals that fit; when ``player`` drew which of his tiles is not in the record, so it varies too.

    Raises:
        ValueError: if the round is over, the history does not lead to the state, a deal is asked for without a
            history, or the places of hidden tiles are too many to be counted (memory for 2**25 counts; seen only in
            double-nine games for four with ``draw_rule="one"``).
    """
    state = np.asarray(concealed).reshape(-1).copy()  # of a lone record np.array makes a view
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
    if checked_switch("with_deal", with_deal) and history is None:
        raise ValueError("history=None is not allowed with with_deal=True; allowed: action ids in order")
    past = np.asarray([] if history is None else history)
    is_listed = past.ndim == 1 and (not past.size or past.dtype.kind in "iu")
    if not is_listed or (past.size and not 0 <= past.min() <= past.max() < rules.num_actions):
        raise ValueError(f"history={history!r} is not allowed; allowed: action ids in order, or None")
    conceal(state[0], int(player))
    worlds = np.zeros(num_worlds, STATE_DTYPE)
    deals = np.zeros_like(worlds)
    generator = rng.integers(0, 2**64, 1, np.uint64)
    actions = past.astype(np.int16)
    if with_deal:
        refused = determinize_with_deals(worlds, deals, rules.row, state, int(player), actions, generator)
    else:
        refused = determinize_rows(worlds, rules.row, state, int(player), actions, history is not None, generator)
    if refused == 1:
        raise ValueError(
            f"history of {len(past)} actions does not lead to the state that player {player} sees; "
            "None stands for an unknown past"
        )
    if refused == 2:
        raise ValueError("history: too many ways to have drawn; the hidden tiles cannot be counted exactly")
    return (worlds, deals) if with_deal else worlds
