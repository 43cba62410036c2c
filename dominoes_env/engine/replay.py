"""Games that are known already: played again from where they start, and seen again as those who played them saw them.

Contains no rule. A round comes as the state that it starts in and its actions in order; where it starts in mid-round,
those that led there come first.
"""

from __future__ import annotations

import numpy as np

from dominoes_env.engine.batch import _clear, _hand_out, _write_view, is_legal_row
from dominoes_env.engine.deal import row_generator, start_match
from dominoes_env.engine.encode import write_mask
from dominoes_env.engine.jit import jit
from dominoes_env.engine.moves import num_legal_actions
from dominoes_env.engine.rounds import step

__all__ = ["ROUND_DTYPE", "STEP_DTYPE", "play_actions", "replay_rounds", "start_game"]

#: What is to be known of a recorded round besides its start and its actions.
ROUND_DTYPE = np.dtype(
    [
        ("game", np.int64),  # the number of its game, which each of its steps is given
        ("past", np.int32),  # actions that led to where it starts
        ("length", np.int32),  # all actions, those included
        ("episode", np.int8),  # EPISODE_ROUND or EPISODE_MATCH
        ("begins", np.bool_),  # it is the first round of its game
        ("ends", np.bool_),  # it is the last round of its game
    ],
    align=True,
)

#: One decision of a recorded game besides the mask and the observation.
STEP_DTYPE = np.dtype(
    [
        ("game", np.int64),  # the number of the game
        ("rewards", np.float32, (4,)),  # of each seat, up to the next decision or the end
        ("action", np.int16),
        ("player", np.int8),  # who took it
        ("terminated", np.bool_),  # the episode ended with it
        ("truncated", np.bool_),  # ... by max_rounds, undecided
    ],
    align=True,
)


@jit(borrows=True)
def start_game(states, rules, seed, game_id):
    """The first deal of game ``game_id`` of ``seed`` (both uint64) in the first row."""
    states[0]["generator"] = row_generator(seed, game_id)
    start_match(states[0], rules[0])


@jit(borrows=True)
def play_actions(states, rules, actions):
    """Take ``actions`` in the first row up to the first that is illegal or comes after the round's end; returns how
    many that were.
    """
    for place in range(len(actions)):
        if not is_legal_row(states, rules, 0, actions[place]):
            return place
        step(states[0], rules[0], actions[place])
    return len(actions)


@jit(borrows=True)
def replay_rounds(states, rules, options, rounds, history, results, steps, masks, observations):
    """Play rounds of legal actions again and write down every decision, as its player saw it; returns how many.

    Args:
        states: where each round starts, (rounds,); moved to where it ends.
        rules: of all rounds, (1,).
        options: (1,) ``OPTIONS_DTYPE``; the episode is taken from the rounds. With ``skip_forced`` a state of one
            action is no decision, but for the last of an episode that has no other, as in a table.
        rounds: (rounds,) ``ROUND_DTYPE``, those of a game one after the other.
        history: the actions of each round, int16 (rounds, max_history).
        results: (1,) ``RESULT_DTYPE``, for use in here.
        steps: ``STEP_DTYPE``, one for each action at least, and as many rows of masks and observations.
        masks, observations: buffers as those of a table.
    """
    values = observations.view(np.int8)
    result, option = results[0], options[0]
    count = first = 0  # steps so far; those before this game
    is_offered = False  # whether this game's only step is a forced one
    for row in range(len(rounds)):
        state, about = states[row], rounds[row]
        if about["begins"]:
            option["episode"] = about["episode"]
            for seat in range(4):
                result["told"][seat] = state["scores"][seat]
        for place in range(about["past"], about["length"]):
            is_forced = option["skip_forced"] == 1 and num_legal_actions(state, rules[0]) == 1
            is_offered |= is_forced and count == first and about["ends"] and place == about["length"] - 1
            if not is_forced or is_offered:
                if count > first:
                    _close(state, rules[0], option, result, steps[count - 1])
                result["history_length"] = place
                player = np.int64(state["turn"])
                write_mask(state, rules[0], player, masks, count)
                _write_view(state, rules[0], option, history, row, result, player, observations, values, count)
                steps[count]["game"] = about["game"]
                steps[count]["action"] = history[row, place]
                steps[count]["player"] = player
                _clear(result)
                count += 1
            step(state, rules[0], np.int64(history[row, place]))
        if about["ends"]:
            if count > first:
                _close(state, rules[0], option, result, steps[count - 1])
                if is_offered and not (result["terminated"] or result["truncated"]):
                    count -= 1
            first = count
            is_offered = False
    return count


@jit(inline=True, borrows=True)
def _close(state, rules, option, result, last):
    """What came of the step before: all that has been booked since."""
    _hand_out(state, rules, option, result)
    for seat in range(4):
        last["rewards"][seat] = result["rewards"][seat]
    last["terminated"] = result["terminated"]
    last["truncated"] = result["truncated"]
