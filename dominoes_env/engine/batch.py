"""Loops over rows: episodes, autoreset, skipping forced moves, rewards. Contains no rule.

A batch is four arrays with a row a game: states, the actions of each current round (``history``), what the last step
gave (``results``), and the buffers for masks and observations. Every row has its own generator, so that what happens
in it depends on nothing else. (The file is long because every loop over a table's rows is in it.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import key_bits, row_generator, start_match
from dominoes_env.engine.encode import write_hidden, write_history, write_mask, write_observation
from dominoes_env.engine.information import conceal
from dominoes_env.engine.jit import array_at, jit
from dominoes_env.engine.moves import draw_or_pass, is_legal, nth_legal_action, num_legal_actions, playable_tiles
from dominoes_env.engine.rounds import advance, step
from dominoes_env.engine.rules import RULES_DTYPE
from dominoes_env.engine.scoring import points_of
from dominoes_env.engine.state import PLAYING, ROUND_OVER, STATE_DTYPE, TRUNCATED
from dominoes_env.engine.tiles import nth_tile, num_tiles_of

__all__ = [
    "EPISODES",
    "IS_REWARDED",
    "IS_TERMINATED",
    "IS_TRUNCATED",
    "OPTIONS_DTYPE",
    "RESULT_DTYPE",
    "REWARDS",
    "conceal_rows",
    "hidden_rows",
    "is_legal_row",
    "mask_row",
    "observe_row",
    "perft",
    "places_of",
    "play_rows",
    "refresh_rows",
    "refused_row",
    "reset_rows",
    "sample_rows",
    "seed_rows",
    "step_one",
    "step_rows",
]

EPISODES = ("round", "match")
EPISODE_ROUND, EPISODE_MATCH = range(2)
REWARDS = ("margin", "points", "win")
REWARD_MARGIN, REWARD_POINTS, REWARD_WIN = range(3)

#: What a step gives for each row.
RESULT_DTYPE = np.dtype(
    [
        ("rewards", np.float32, (4,)),  # reward of each seat since the step before
        ("points", np.int32, (4,)),  # points that each seat booked since the step before; penalties negative
        ("told", np.int32, (4,)),  # scores of which points have been given: those of the step before, 0 at the start
        ("history_length", np.int32),  # actions of the current round
        ("terminated", np.bool_),  # the episode ended in this step
        ("truncated", np.bool_),  # ... by max_rounds, undecided
        ("final_winners", np.uint8),  # seats that won the episode that ended in this step, as bits; else 0
    ],
    align=True,
)

#: How a batch is run; one record.
OPTIONS_DTYPE = np.dtype(
    [
        ("episode", np.int8),  # EPISODE_ROUND or EPISODE_MATCH
        ("reward", np.int8),  # REWARD_MARGIN, REWARD_POINTS or REWARD_WIN
        ("skip_forced", np.int8),  # 1: play on while the seat on turn has one action
        ("history_start", np.int32),  # byte of an observation at which the history piece starts; -1: there is none
    ],
    align=True,
)


@jit(borrows=True)
def seed_rows(states, seed, game_ids, rows):
    """Give each of ``rows`` the generator of its game under ``seed`` (uint64)."""
    for row in rows:
        states[row]["generator"] = row_generator(seed, game_ids[row])


@jit
def _is_over(state, options):
    if options["episode"] == EPISODE_MATCH:
        return state["status"] > ROUND_OVER
    return state["status"] != PLAYING


@jit(inline=True, borrows=True)
def _move(state, rules, options, action, history, row, result):
    """One recorded action; in a match the deal that follows a round empties the record."""
    history[row, min(result["history_length"], history.shape[1] - 1)] = action  # in range whatever was set up
    result["history_length"] += 1
    if options["episode"] == EPISODE_MATCH:
        before = state["round"]
        advance(state, rules, action)
        if state["round"] != before:
            result["history_length"] = 0
    else:
        step(state, rules, action)


#: Forced moves that are skipped in a row. A match in which nobody ever scores or has a choice would not end.
_MOST_FORCED = 10_000


@jit(borrows=True)
def _play_forced(state, rules, options, history, row, result, at_most):
    """Play on while there is one action, ``at_most`` times; returns how often."""
    moves = 0
    while moves < at_most and not _is_over(state, options) and num_legal_actions(state, rules) == 1:
        _move(state, rules, options, nth_legal_action(state, rules, 0), history, row, result)
        moves += 1
    return moves


@jit(borrows=True)
def _start_episode(state, rules, options, history, row, result):
    """A fresh match. An episode in which nobody ever has a choice is offered at its last move, so that it counts."""
    generator = state["generator"]
    start_match(state, rules)
    for seat in range(4):
        result["told"][seat] = 0  # what forced moves book before the first decision comes with the first step
    result["history_length"] = 0
    if options["skip_forced"] == 1:
        moves = _play_forced(state, rules, options, history, row, result, _MOST_FORCED)
        if _is_over(state, options):
            state["generator"] = generator
            start_match(state, rules)
            result["history_length"] = 0
            _play_forced(state, rules, options, history, row, result, moves - 1)


@jit
def _clear(result):
    for seat in range(4):
        result["rewards"][seat] = 0
        result["points"][seat] = 0
    result["terminated"] = False
    result["truncated"] = False
    result["final_winners"] = 0


@jit(borrows=True)
def reset_rows(states, rules, options, history, results, rows):
    """Start a fresh episode in each of ``rows``; their generators go on from where they are."""
    for row in rows:
        _clear(results[row])
        _start_episode(states[row], rules[0], options[0], history, row, results[row])


@jit
def _reward(state, rules, options, result):
    """Rewards of all seats from the points just booked, or from who won the episode that has just ended."""
    num_players = np.int64(rules["num_players"])
    if options["reward"] == REWARD_WIN:
        winners = np.int64(result["final_winners"])
        count = num_tiles_of(np.uint64(winners))
        if 0 < count < num_players:
            for seat in range(num_players):
                won = winners >> seat & 1 == 1
                result["rewards"][seat] = 1.0 / count if won else -1.0 / (num_players - count)
        return
    total = np.int64(0)
    is_any = False
    for seat in range(4):  # seats that do not play book nothing
        total += result["points"][seat]
        is_any |= result["points"][seat] != 0
    if not is_any:
        return
    for seat in range(4):
        if seat >= num_players:
            break
        own = np.int64(result["points"][seat])
        if options["reward"] == REWARD_POINTS:
            result["rewards"][seat] = own
        elif rules["teams"] == 1:
            result["rewards"][seat] = own - np.int64(result["points"][(seat + 1) % 4])
        else:
            result["rewards"][seat] = own - (total - own) / (num_players - 1)


@jit(inline=True)
def _tell(state, rules, result):
    """The points booked since the step before; whether there are any, and mostly there are none."""
    changed = np.int64(0)
    for seat in range(4):
        changed |= np.int64(state["scores"][seat]) ^ np.int64(result["told"][seat])
    if changed == 0:
        return False
    for seat in range(4):
        result["points"][seat] = points_of(state["scores"][seat], result["told"][seat], rules)
        result["told"][seat] = state["scores"][seat]
    return True


@jit(inline=True)
def _hand_out(state, rules, options, result):
    """Points, flags and rewards of all that has happened since they were cleared; whether the episode is over."""
    is_booked = _tell(state, rules, result)
    is_over = _is_over(state, options)
    if is_over:
        if options["episode"] == EPISODE_ROUND:
            result["terminated"] = True
            result["final_winners"] = state["round_winners"]
        else:
            result["truncated"] = state["status"] == TRUNCATED
            result["terminated"] = not result["truncated"]
            result["final_winners"] = state["match_winners"]
    if is_booked or is_over:
        _reward(state, rules, options, result)
    return is_over


@jit(inline=True, borrows=True)
def _step_row(state, rules, options, action, history, row, result, autoreset):
    """One action in one row, the forced moves after it if these are skipped, what all that booked, and autoreset."""
    _clear(result)
    _move(state, rules, options, action, history, row, result)
    if options["skip_forced"] == 1:
        _play_forced(state, rules, options, history, row, result, _MOST_FORCED)
    is_over = _hand_out(state, rules, options, result)
    if is_over and autoreset:
        _start_episode(state, rules, options, history, row, result)


@jit(inline=True, borrows=True)
def _write_view(state, rules, options, history, row, result, player, observations, values, into):
    write_observation(state, rules, player, observations, values, into)
    start = np.int64(options["history_start"])
    if start >= 0:
        write_history(state, rules, player, history, row, result["history_length"], values, into, start)


@jit(inline=True, borrows=True)
def _refresh(state, rules, options, history, row, result, masks, observations, values):
    player = np.int64(state["turn"])
    write_mask(state, rules, player, masks, row)
    _write_view(state, rules, options, history, row, result, player, observations, values, row)


@jit(borrows=True)
def refresh_rows(states, rules, options, history, results, masks, observations):
    """Write mask and observation of the seat on turn for every row."""
    values = observations.view(np.int8)
    for row in range(len(states)):
        _refresh(states[row], rules[0], options[0], history, row, results[row], masks, observations, values)


@jit(inline=True, borrows=True)
def is_legal_row(states, rules, row, action):
    """Whether the seat on turn in ``row`` may take ``action``."""
    return states[row]["status"] == PLAYING and is_legal(states[row], rules[0], action)


@jit(inline=True, borrows=True)
def refused_row(states, rules, actions):
    """The first row in which the action is illegal or nothing can be played; -1: there is none."""
    for row in range(len(states)):
        if not is_legal_row(states, rules, row, actions[row]):
            return row
    return -1


@jit(borrows=True)
def step_rows(states, rules, options, actions, history, results, masks, observations, autoreset, is_checked):
    """One action in every row, then mask and observation of whoever is on turn.

    Returns :func:`refused_row`, and has changed no row if there is one; ``is_checked``: the caller has asked it.
    """
    values = observations.view(np.int8)
    if not is_checked:
        refused = refused_row(states, rules, actions)
        if refused >= 0:
            return refused
    for row in range(len(states)):
        _step_row(states[row], rules[0], options[0], actions[row], history, row, results[row], autoreset)
        _refresh(states[row], rules[0], options[0], history, row, results[row], masks, observations, values)
    return -1


#: Bits of what :func:`step_one` returns, over the two of the seat on turn.
IS_TERMINATED, IS_TRUNCATED, IS_REWARDED = 4, 8, 16


def places_of(*arrays: NDArray[Any]) -> NDArray[np.int64]:
    """What :func:`step_one` takes for states, rules, options, history, results, masks and observations, int64 (2, 7):
    where they lie, and how long a row of each is. True as long as they live.
    """
    return np.array([[array.ctypes.data for array in arrays], [array.shape[-1] for array in arrays]], np.int64)


@jit
def step_one(places, action):
    """:func:`step_rows` for a single game with the action as a number, for callers who make a call a step.

    The arrays come as :func:`places_of` them: to hand them over one by one takes longer than the step itself.
    Returns -1 if the action is refused; else the seat on turn and the bits above, which spares looking them up.
    """
    states, rules = array_at(places[0, 0], (1,), STATE_DTYPE), array_at(places[0, 1], (1,), RULES_DTYPE)
    if not is_legal_row(states, rules, 0, action):
        return -1
    options, results = array_at(places[0, 2], (1,), OPTIONS_DTYPE), array_at(places[0, 4], (1,), RESULT_DTYPE)
    history = array_at(places[0, 3], (1, places[1, 3]), np.int16)
    masks = array_at(places[0, 5], (1, places[1, 5]), np.uint64)
    observations = array_at(places[0, 6], (1, places[1, 6]), np.uint64)
    state, result = states[0], results[0]
    _step_row(state, rules[0], options[0], action, history, 0, result, False)
    _refresh(state, rules[0], options[0], history, 0, result, masks, observations, observations.view(np.int8))
    told = np.int64(state["turn"])
    if result["terminated"]:
        told |= IS_TERMINATED
    if result["truncated"]:
        told |= IS_TRUNCATED
    for seat in range(4):
        if result["rewards"][seat] != 0:
            told |= IS_REWARDED
    return told


@jit(borrows=True)
def sample_rows(states, rules, keys, actions):
    """A uniformly random legal action for the seat on turn in every row; ``keys``: see ``key_bits``."""
    for row in range(len(states)):
        actions[row] = _uniform_action(states[row], rules[0], keys, row)


@jit(inline=True, borrows=True)
def _uniform_action(state, rules, keys, row):
    bits = key_bits(keys, row) >> np.uint64(32)
    if rules["num_ends"] > 2:
        count = np.uint64(num_legal_actions(state, rules))
        return nth_legal_action(state, rules, np.int64((bits * count) >> np.uint64(32)))
    # The same for two ends, looking at each once.
    low, high = playable_tiles(state, rules, 0), playable_tiles(state, rules, 1)
    num_low = num_tiles_of(low)
    count = num_low + num_tiles_of(high)
    if count == 0:
        return draw_or_pass(state, rules)
    n = np.int64((bits * np.uint64(count)) >> np.uint64(32))
    if n < num_low:
        return nth_tile(low, n)
    return np.int64(rules["num_tiles"]) + nth_tile(high, n - num_low)


@jit(borrows=True)
def play_rows(states, rules, options, keys, history, results, masks, observations, num_steps):
    """``num_steps`` uniformly random actions in every row, with autoreset; masks and observations at each step."""
    values = observations.view(np.int8)
    for _ in range(num_steps):
        for row in range(len(states)):
            action = _uniform_action(states[row], rules[0], keys, row)
            _step_row(states[row], rules[0], options[0], action, history, row, results[row], True)
            _refresh(states[row], rules[0], options[0], history, row, results[row], masks, observations, values)


@jit(borrows=True)
def mask_row(states, rules, row, player, masks):
    """Write the mask of any seat of ``row`` into the first row of ``masks``."""
    write_mask(states[row], rules[0], player, masks, 0)


@jit(borrows=True)
def observe_row(states, rules, options, history, results, row, player, observations):
    """Write the observation of any seat of ``row`` into the first row of ``observations``."""
    _write_view(
        states[row],
        rules[0],
        options[0],
        history,
        row,
        results[row],
        player,
        observations,
        observations.view(np.int8),
        0,
    )


@jit(borrows=True)
def hidden_rows(states, rules, values):
    """Write what the seat on turn does not see for every row into ``values``, int8 (rows, size)."""
    for row in range(len(states)):
        write_hidden(states[row], rules[0], np.int64(states[row]["turn"]), values, row)


@jit(borrows=True)
def conceal_rows(states, player):
    """Blank in every row what ``player`` may not know."""
    for row in range(len(states)):
        conceal(states[row], player)


@jit
def perft(states, rules, depth):
    """How many sequences of ``depth`` actions lead on from ``states[0]`` within its round, all chance being fixed."""
    if depth == 0:
        return 1
    stack = np.empty(depth, STATE_DTYPE)
    chosen = np.zeros(depth, np.int64)
    stack[0] = states[0]
    level = 0
    count = 0
    while level >= 0:
        state = stack[level]
        if state["status"] != PLAYING or chosen[level] >= num_legal_actions(state, rules[0]):
            level -= 1
            continue
        if level == depth - 1:
            count += num_legal_actions(state, rules[0])
            level -= 1
            continue
        action = nth_legal_action(state, rules[0], chosen[level])
        chosen[level] += 1
        level += 1
        stack[level] = stack[level - 1]
        chosen[level] = 0
        step(stack[level], rules[0], action)
    return count
