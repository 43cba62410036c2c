"""Loops over rows for those who wait between steps: one seat a row played from outside (a learner), or every seat.

A learner's row is played on until its seat has to decide. The other seats play uniformly at random in here, or wait to
be answered from outside. Contains no rule.

An episode may be over before the learner has decided anything. It is not lost, and nothing is dealt twice: the row is
*held*. It shows the learner's last forced move (or the deal, if he never had a turn), and the step that answers it
hands over the end that has come.

Kernels take their arrays in four tuples: ``games`` (states, rules, options, settings, keys, history, results,
records), with a row a game but for rules, options and settings; ``held`` (states, history, results), what held rows
show; ``views`` and ``finals`` (masks, observations, observations as int8), what is to be seen now, and what was to be
seen at the end of an episode after which the same step began the next. The file is long because its kernels share
this one way of handing arrays on.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.batch import _MOST_FORCED, _clear, _refresh, _start_episode, _step_row, _uniform_action
from dominoes_env.engine.batch import _write_view as _write_batch_view
from dominoes_env.engine.deal import row_generator
from dominoes_env.engine.encode import write_mask
from dominoes_env.engine.information import conceal
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import is_legal, nth_legal_action, num_legal_actions
from dominoes_env.engine.state import NONE, ROUND_OVER

__all__ = [
    "AUTORESETS",
    "ROW_DTYPE",
    "SETTINGS_DTYPE",
    "answer_rows",
    "conceal_own",
    "opponent_views",
    "refused_learner",
    "refused_seat",
    "reset_learners",
    "reset_seats",
    "seed_keys",
    "step_learners",
    "step_seats",
]

AUTORESETS = ("next_step", "same_step", "disabled")
NEXT_STEP, SAME_STEP, DISABLED = range(3)

#: What is kept for each row besides the game; rewards are by absolute seat.
ROW_DTYPE = np.dtype(
    [
        ("owed", np.float32, (4,)),  # rewards booked and not yet handed over
        ("held_owed", np.float32, (4,)),  # ... as they stood in the position that a held row shows
        ("rewards", np.float32, (4,)),  # rewards that the last step handed over
        ("reward", np.float32),  # that of the learner, or of the seat that acted
        ("episode", np.int64),  # number of the episode since the row was seeded, from 0
        ("seat", np.int8),  # the learner's seat; where all seats are played: who acted last, NONE after a reset
        ("waiting", np.int8),  # opponent who has to be answered from outside before the row goes on; else NONE
        ("terminated", np.bool_),  # the last step ended the episode
        ("truncated", np.bool_),  # ... by max_rounds, undecided
        ("is_over", np.bool_),  # the episode has ended and the next has not begun
        ("is_lost", np.bool_),  # ... by an illegal action
        ("is_held", np.bool_),  # the row shows a position before the end that has come
        ("has_decided", np.bool_),  # the learner has been asked in this episode
        ("has_acted", np.bool_),  # the learner has acted and has not been handed his reward
    ],
    align=True,
)

#: How rows are run; one record.
SETTINGS_DTYPE = np.dtype(
    [
        ("losses", np.float32, (16,)),  # [4 * mover + seat]: rewards for an illegal action of the mover
        ("autoreset", np.int8),  # NEXT_STEP, SAME_STEP or DISABLED
        ("raises", np.int8),  # 1: illegal actions are refused, 0: they lose
        ("skip_forced", np.int8),  # 1: a seat with one action is not asked (learners' rows)
        ("seat", np.int8),  # the learner's seat; NONE: it goes round, (row + episode) % num_players
        ("is_asked", np.int8, (3,)),  # 1: the opponent 1, 2, 3 seats after the learner is answered from outside
    ],
    align=True,
)


@jit(borrows=True)
def seed_keys(keys, rows, seed, game_ids, records):
    """Give each of ``rows`` the random choices of its opponents under ``seed`` (uint64), and a count from 0."""
    for row in rows:
        keys[row] = max(row_generator(seed ^ np.uint64(0x9E6C63D0876A9A35), game_ids[row]), np.uint64(1))
        records[row]["episode"] = -1


@jit(borrows=True)
def _write_view(state, rules, options, history, row, result, player, masks, observations, values, into):
    write_mask(state, rules, player, masks, into)
    _write_batch_view(state, rules, options, history, row, result, player, observations, values, into)


@jit(borrows=True)
def _hand_over(record, result, is_over, player):
    """Rewards since the last hand-over, and whether they are the episode's last."""
    for seat in range(4):
        record["rewards"][seat] = record["owed"][seat]
        record["owed"][seat] = 0
    record["reward"] = record["rewards"][player]
    record["terminated"] = is_over and result["terminated"]
    record["truncated"] = is_over and result["truncated"]


@jit(borrows=True)
def _lose(state, settings, result, record, mover):
    """End the episode in mid-round by an illegal action of ``mover``."""
    _clear(result)
    result["terminated"] = True
    state["status"] = ROUND_OVER  # nobody is on turn any more; the next episode begins afresh
    record["is_lost"] = True
    for seat in range(4):
        result["rewards"][seat] = settings["losses"][4 * mover + seat]


@jit(borrows=True)
def _hold(states, history, results, records, row, held):
    """Keep the position of ``row`` in case the episode ends before the learner decides anything."""
    held_states, held_history, held_results = held
    held_states[row] = states[row]
    held_results[row] = results[row]
    for place in range(results[row]["history_length"]):
        held_history[row, place] = history[row, place]
    for seat in range(4):
        records[row]["held_owed"][seat] = records[row]["owed"][seat]


@jit(borrows=True)
def _release(states, history, results, records, row, held):
    """Go back to the held position, but for the generator: the next deal is another."""
    held_states, held_history, held_results = held
    generator = states[row]["generator"]
    states[row] = held_states[row]
    states[row]["generator"] = generator
    results[row] = held_results[row]
    for place in range(results[row]["history_length"]):
        history[row, place] = held_history[row, place]
    for seat in range(4):
        records[row]["owed"][seat] = records[row]["held_owed"][seat]


@jit(borrows=True)
def _act(state, rules, options, history, row, result, record, action):
    _step_row(state, rules, options, action, history, row, result, False)
    for seat in range(4):
        record["owed"][seat] += result["rewards"][seat]


@jit(borrows=True)
def _play_on(state, rules, options, settings, keys, history, row, result, record, moves):
    """Play on until the learner is asked, an opponent has to be answered, or the episode is over.

    Returns -1, or, where the learner has come to a forced move before his first decision (not played yet), the number
    of actions so far, of which ``moves`` came before.
    """
    num_players = np.int64(rules["num_players"])
    learner = np.int64(record["seat"])
    record["waiting"] = NONE
    while not (result["terminated"] or result["truncated"]):
        seat = np.int64(state["turn"])
        away = seat - learner + num_players if seat < learner else seat - learner
        if away > 0 and settings["is_asked"][away - 1] == 0:
            if moves >= _MOST_FORCED:
                record["has_decided"] = True  # a match without an end: shown though not on turn, so that steps return
                return -1
            action = _uniform_action(state, rules, keys, row)
        else:
            is_skipped = settings["skip_forced"] == 1 and moves < _MOST_FORCED
            if not is_skipped or num_legal_actions(state, rules) != 1:
                if away == 0:
                    record["has_decided"] = True
                else:
                    record["waiting"] = seat
                return -1
            if away == 0 and not record["has_decided"]:
                return moves
            action = nth_legal_action(state, rules, 0)
        _act(state, rules, options, history, row, result, record, action)
        moves += 1
    return -1


@jit(borrows=True)
def _begin(states, rules, options, settings, history, results, records, row, held, is_dealt):
    """A fresh episode, or with ``is_dealt`` the one that lies there; nothing is played yet."""
    record = records[row]
    record["episode"] += 1
    record["seat"] = settings["seat"]
    if settings["seat"] == NONE:
        record["seat"] = (row + record["episode"]) % np.int64(rules["num_players"])
    record["is_over"] = False
    record["is_lost"] = False
    record["is_held"] = False
    record["has_decided"] = False
    record["has_acted"] = False
    for seat in range(4):
        record["owed"][seat] = 0
    _clear(results[row])
    if not is_dealt:
        _start_episode(states[row], rules, options, history, row, results[row])
    _hold(states, history, results, records, row, held)


@jit(borrows=True)
def _settle(games, held, views, finals, rows):
    """Play on in ``rows``; where no opponent has to be answered, hand over what came of it and show the learner."""
    states, rules, options, settings, keys, history, results, records = games
    held_states, held_history, held_results = held
    masks, observations, values = views
    final_masks, final_observations, final_values = finals
    is_same_step = settings[0]["autoreset"] == SAME_STEP
    for row in rows:
        state, result, record = states[row], results[row], records[row]
        is_over = True
        while is_over:
            player = np.int64(record["seat"])
            moves = _play_on(state, rules[0], options[0], settings[0], keys, history, row, result, record, 0)
            while moves >= 0:
                _hold(states, history, results, records, row, held)
                action = nth_legal_action(state, rules[0], 0)
                _act(state, rules[0], options[0], history, row, result, record, action)
                moves = _play_on(
                    state, rules[0], options[0], settings[0], keys, history, row, result, record, moves + 1
                )
            if record["waiting"] != NONE:
                break
            is_over = result["terminated"] or result["truncated"]
            if is_over and not record["has_decided"]:
                record["is_held"] = True
                is_over = False
            if record["has_acted"]:
                _hand_over(record, result, is_over, player)
                record["has_acted"] = False
            record["is_over"] = is_over
            if not is_over or not is_same_step:
                break
            _write_view(state, rules[0], options[0], history, row, result, player, final_masks, final_observations,
                        final_values, row)  # fmt: skip
            _begin(states, rules[0], options[0], settings[0], history, results, records, row, held, False)
        if record["waiting"] != NONE:
            continue
        if record["is_held"]:
            _write_view(held_states[row], rules[0], options[0], held_history, row, held_results[row], player, masks,
                        observations, values, row)  # fmt: skip
        else:
            _write_view(state, rules[0], options[0], history, row, result, player, masks, observations, values, row)


@jit(borrows=True)
def _forget_step(record):
    """What a step hands over in a row that it only resets: nothing."""
    for seat in range(4):
        record["rewards"][seat] = 0
    record["reward"] = 0
    record["terminated"] = False
    record["truncated"] = False


@jit(borrows=True)
def reset_learners(games, held, views, finals, rows, is_dealt):
    """Start a fresh episode in each of ``rows`` and play on to the learner's first decision.

    With ``is_dealt`` the positions that lie in the rows are the start.
    """
    states, rules, options, settings, _, history, results, records = games
    for row in rows:
        _forget_step(records[row])
        _begin(states, rules[0], options[0], settings[0], history, results, records, row, held, is_dealt)
    _settle(games, held, views, finals, rows)


@jit(borrows=True)
def _is_allowed(state, rules, player, action):
    """Whether ``player`` may take ``action`` in the position that he is shown; not on turn: PASS alone."""
    if state["turn"] != player:
        return action == np.int64(rules["num_actions"]) - 1
    return is_legal(state, rules, action)


@jit(borrows=True)
def _is_outside(rules, action):
    return action < 0 or action >= np.int64(rules["num_actions"])


@jit(borrows=True)
def refused_learner(games, held, actions, rows):
    """The first of ``rows`` whose learner's action is refused; -1: none. Notes which actions are allowed."""
    states, rules, _, settings, _, _, _, records = games
    held_states, _, _ = held
    for row in rows:
        if records[row]["is_over"]:
            if settings[0]["autoreset"] != NEXT_STEP:
                return row
            continue
        player = np.int64(records[row]["seat"])
        if records[row]["is_held"]:
            is_allowed = _is_allowed(held_states[row], rules[0], player, actions[row])
        else:
            is_allowed = _is_allowed(states[row], rules[0], player, actions[row])
        if not is_allowed and (settings[0]["raises"] == 1 or _is_outside(rules[0], actions[row])):
            return row
        records[row]["has_acted"] = is_allowed  # until the action is carried out
    return -1


@jit(borrows=True)
def step_learners(games, held, views, finals, actions, rows, is_checked):
    """One action of each learner, and play on to his next decision; rows whose episode is over are reset instead.

    Returns :func:`refused_learner`, and has changed no row if there is one; ``is_checked``: the caller has asked it.
    Rows with a ``waiting`` opponent need :func:`answer_rows` before they are through.
    """
    states, rules, options, settings, _, history, results, records = games
    if not is_checked:
        refused = refused_learner(games, held, actions, rows)
        if refused >= 0:
            return refused
    for row in rows:
        record = records[row]
        if record["is_over"]:
            _forget_step(record)
            _begin(states, rules[0], options[0], settings[0], history, results, records, row, held, False)
            continue
        if not record["has_acted"]:
            if record["is_held"]:
                _release(states, history, results, records, row, held)
            _lose(states[row], settings[0], results[row], record, np.int64(record["seat"]))
            for seat in range(4):
                record["owed"][seat] += results[row]["rewards"][seat]
        elif not record["is_held"] and states[row]["turn"] == record["seat"]:
            _act(states[row], rules[0], options[0], history, row, results[row], record, actions[row])
        record["is_held"] = False
        record["has_decided"] = True
        record["has_acted"] = True
    _settle(games, held, views, finals, rows)
    return -1


@jit(borrows=True)
def answer_rows(games, held, views, finals, rows, actions):
    """The actions of the opponents that ``rows`` wait for. Returns -1, or the place of the first illegal one."""
    states, rules, options, _, _, history, results, records = games
    for place in range(len(rows)):
        if not is_legal(states[rows[place]], rules[0], actions[place]):
            return place
    for place in range(len(rows)):
        row = rows[place]
        _act(states[row], rules[0], options[0], history, row, results[row], records[row], actions[place])
    _settle(games, held, views, finals, rows)
    return -1


@jit(borrows=True)
def opponent_views(games, rows, views, fresh_keys):
    """Mask, observation and a random key for the seat on turn in each of ``rows``, into the first rows of ``views``."""
    states, rules, options, _, keys, history, results, _ = games
    masks, observations, values = views
    for place in range(len(rows)):
        row = rows[place]
        player = np.int64(states[row]["turn"])
        _write_view(states[row], rules[0], options[0], history, row, results[row], player, masks, observations, values,
                    place)  # fmt: skip
        keys[row] = row_generator(keys[row], np.uint64(1)) | np.uint64(1)
        fresh_keys[place] = row_generator(keys[row], np.uint64(2))


@jit(borrows=True)
def conceal_own(states):
    """Blank in every row what the seat on turn may not know."""
    for row in range(len(states)):
        conceal(states[row], np.int64(states[row]["turn"]))


@jit(borrows=True)
def _begin_seats(state, rules, options, history, row, result, record):
    """A fresh episode of which every seat is played from outside; ``result`` is still that of the step before."""
    record["episode"] += 1
    record["is_over"] = False
    record["is_lost"] = False
    for seat in range(4):
        record["owed"][seat] = 0
    _start_episode(state, rules, options, history, row, result)


@jit(borrows=True)
def _reset_seats(state, rules, options, history, row, result, record):
    _clear(result)
    record["reward"] = 0
    record["seat"] = NONE
    _begin_seats(state, rules, options, history, row, result, record)


@jit(borrows=True)
def reset_seats(games, views, rows):
    """Start a fresh episode in each of ``rows`` where every seat is played from outside."""
    states, rules, options, _, _, history, results, records = games
    masks, observations, values = views
    for row in rows:
        _reset_seats(states[row], rules[0], options[0], history, row, results[row], records[row])
        _refresh(states[row], rules[0], options[0], history, row, results[row], masks, observations, values)


@jit(borrows=True)
def refused_seat(games, actions, rows):
    """The first of ``rows`` in which the action of whoever is on turn is refused; -1: none."""
    states, rules, _, settings, _, _, _, records = games
    for row in rows:
        if records[row]["is_over"]:
            if settings[0]["autoreset"] != NEXT_STEP:
                return row
        elif not is_legal(states[row], rules[0], actions[row]):
            if settings[0]["raises"] == 1 or _is_outside(rules[0], actions[row]):
                return row
    return -1


@jit(borrows=True)
def step_seats(games, views, finals, actions, rows, is_checked):
    """One action in each of ``rows``, of whoever is on turn; rows whose episode is over are reset instead.

    ``reward`` is that of the seat that acted since its turn before; all else that the step gave stands in results.
    Returns :func:`refused_seat`, and has changed no row if there is one; ``is_checked``: the caller has asked it.
    """
    states, rules, options, settings, _, history, results, records = games
    if not is_checked:
        refused = refused_seat(games, actions, rows)
        if refused >= 0:
            return refused
    masks, observations, values = views
    autoreset = settings[0]["autoreset"]
    for row in rows:
        state, result, record = states[row], results[row], records[row]
        if record["is_over"]:
            _reset_seats(state, rules[0], options[0], history, row, result, record)
        else:
            _act_as_seat(state, rules[0], options[0], settings[0], history, row, result, record, actions[row])
            if record["is_over"] and autoreset == SAME_STEP:
                _write_final(state, rules[0], options[0], history, row, result, finals)
                _begin_seats(state, rules[0], options[0], history, row, result, record)
        _refresh(state, rules[0], options[0], history, row, result, masks, observations, values)
    return -1


@jit(borrows=True)
def _write_final(state, rules, options, history, row, result, finals):
    masks, observations, values = finals
    _refresh(state, rules, options, history, row, result, masks, observations, values)


@jit(inline=True, borrows=True)
def _act_as_seat(state, rules, options, settings, history, row, result, record, action):
    mover = np.int64(state["turn"])
    record["seat"] = mover
    if settings["raises"] == 1 or is_legal(state, rules, action):
        _step_row(state, rules, options, action, history, row, result, False)
    else:
        _lose(state, settings, result, record, mover)
    for seat in range(4):
        record["owed"][seat] += result["rewards"][seat]
    record["reward"] = record["owed"][mover]
    record["owed"][mover] = 0
    record["is_over"] = result["terminated"] or result["truncated"]
