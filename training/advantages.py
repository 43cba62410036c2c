"""Advantages where every seat learns: each decision is followed by the same seat's next decision in that game.

The next decision of a row is another seat's, and to take it, as the stock buffer does, would credit his value to this
one. Here each row holds one chain a seat. Between two decisions of a seat its rewards add up, whoever moved; the
discount applies once from decision to decision; the end of an episode closes the chains of all seats.

Where the rollout ends, the seat on turn goes on with the value of the decision that it faces. The others' next
decisions are not known yet, so their last decision in the rollout stands in as the end of their chains: its value
bootstraps the one before, and it is itself not trained on (one decision a seat at most, of ``rollout`` a row).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["seat_advantages"]


def seat_advantages(
    values: NDArray[np.float32],
    acted: NDArray[np.int8],
    rewards: NDArray[np.float32],
    dones: NDArray[np.bool_],
    last_values: NDArray[np.float32],
    last_players: NDArray[np.int8],
    gamma: float,
    gae_lambda: float,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Generalised advantages (Schulman et al. 2016) along each seat's own decisions.

    Args:
        values: (steps, rows), the value of each decision to the seat that took it.
        acted: (steps, rows), that seat.
        rewards: (steps, rows, seats), what every seat got between this decision and the next of the row.
        dones: (steps, rows), whether the episode ended then.
        last_values: (rows,), the value of the decision after the last one to the seat that faces it.
        last_players: (rows,), that seat.
        gamma: discount from a seat's decision to its next.
        gae_lambda: 0 to 1.

    Returns:
        The advantages (steps, rows), and where they are known (steps, rows): not at a seat's last decision before the
        buffer's end when its next one lies beyond; the advantage there is 0.
    """
    steps, num_rows, seats = rewards.shape
    rows = np.arange(num_rows)
    advantages = np.zeros((steps, num_rows), np.float32)
    known = np.zeros((steps, num_rows), np.bool_)
    # Of each seat's next decision: is there one (or an end), its value and advantage; and rewards since.
    has_next = np.zeros((num_rows, seats), np.bool_)
    next_value = np.zeros((num_rows, seats), np.float32)
    next_advantage = np.zeros((num_rows, seats), np.float32)
    since = np.zeros((num_rows, seats), np.float32)
    has_next[rows, last_players] = True
    next_value[rows, last_players] = last_values
    for step in reversed(range(steps)):
        ended = dones[step]
        has_next[ended] = True
        next_value[ended] = 0
        next_advantage[ended] = 0
        since[ended] = 0
        since += rewards[step]
        seat = acted[step]
        value = values[step]
        is_known = has_next[rows, seat]
        delta = since[rows, seat] + gamma * next_value[rows, seat] - value
        advantage = np.where(is_known, delta + gamma * gae_lambda * next_advantage[rows, seat], 0)
        advantages[step] = advantage
        known[step] = is_known
        has_next[rows, seat] = True
        next_value[rows, seat] = value
        next_advantage[rows, seat] = advantage
        since[rows, seat] = 0
    return advantages, known
