"""A game of nothing but seats, and advantages by their definition: what learners of all seats are tested on."""

from __future__ import annotations

from typing import Any

import numpy as np


class SeatRows:
    """Rows of a game, looking like a Table: the action that equals one's seat number wins a point from each other.

    The seats move in turn, and an episode ends after ``2 * seats`` moves; rewards come at once to all seats. An agent
    that learns from another seat's reward learns to lose.
    """

    def __init__(self, seats: int, rows: int) -> None:
        self.rules: Any = None
        self.num_games, self.seats = rows, seats
        self.moves = np.zeros(rows, np.int64)
        self.rewards = np.zeros((rows, seats), np.float32)
        self.terminated = np.zeros(rows, np.bool_)
        self.truncated = np.zeros(rows, np.bool_)
        self.masks = np.ones((rows, seats), np.int8)

    @property
    def players(self) -> np.ndarray:
        return (self.moves % self.seats).astype(np.int8)

    @property
    def observations(self) -> np.ndarray:
        return np.eye(self.seats, dtype=np.int8)[self.players]

    def hidden(self) -> np.ndarray:
        return (self.moves[:, None] // self.seats).astype(np.int8)

    def step(self, actions: np.ndarray, *, autoreset: bool = False) -> None:
        assert autoreset
        acted, rows = self.players, np.arange(self.num_games)
        right = actions == acted
        shares = np.where(right, -1.0, 1.0)[:, None] / (self.seats - 1)
        self.rewards[...] = shares
        self.rewards[rows, acted] = np.where(right, 1.0, -1.0)
        self.moves += 1
        self.terminated = self.moves == 2 * self.seats
        self.moves[self.terminated] = 0

    def arrays(self) -> dict[str, np.ndarray]:
        return {"moves": self.moves}


def chain_advantages(values, acted, rewards, dones, last_value, last_player, gamma, gae_lambda):
    """One row, seat by seat, forwards and by the definition: sums of discounted one-step errors."""
    steps, seats = rewards.shape
    advantages, known = np.zeros(steps), np.zeros(steps, bool)
    for seat in range(seats):
        mine = [step for step in range(steps) if acted[step] == seat]
        errors, links = {}, {}
        for step in mine:
            gained, end = 0.0, step
            while True:
                gained += rewards[end, seat]
                if dones[end]:
                    errors[step], links[step] = gained - values[step], None
                    break
                end += 1
                if end == steps:
                    if seat == last_player:
                        errors[step], links[step] = gained + gamma * last_value - values[step], None
                    break
                if acted[end] == seat:
                    errors[step], links[step] = gained + gamma * values[end] - values[step], end
                    break
        for step in mine:
            if step in errors:
                known[step] = True
                at, weight = step, 1.0
                while at is not None and at in errors:
                    advantages[step] += weight * errors[at]
                    at, weight = links[at], weight * gamma * gae_lambda
    return advantages, known
