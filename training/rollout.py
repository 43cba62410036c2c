"""Advantages where every seat learns: each decision is followed by the same seat's next decision in that game.

The stock buffer takes the next decision of the row, which is another seat's, and would credit his value to this one.
Here each row holds one chain a seat. Between two decisions of a seat its rewards add up, whoever moved; the discount
applies once from decision to decision; the end of an episode closes the chains of all seats.

Where the buffer ends, the seat on turn goes on with the value of the decision that it faces. The others' next
decisions are not known yet, so their last decision in the buffer stands in as the end of their chains: its value
bootstraps the one before, and it is itself not trained on (one decision a seat at most, of ``rollout`` a row).
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

__all__ = ["SeatRolloutBuffer", "SeatedEnv", "seat_advantages"]


_FLATTENED = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks", "known")


class SeatedEnv(Protocol):
    """What the buffer reads of an environment after each step; see ``dominoes_env.envs.sb3.SelfPlayVecEnv``."""

    num_players: int
    acted: NDArray[np.int8]
    seat_rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]

    @property
    def players(self) -> NDArray[np.int8]:
        """The seat on turn in each row."""


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


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """sb3-contrib's buffer with :func:`seat_advantages`; pass it as ``rollout_buffer_class``.

    Args:
        env: the environment that is stepped; who acted and what every seat got is read from it after each step.
        shuffle_seed: seeds the order of minibatches.
    """

    def __init__(self, *args: Any, env: SeatedEnv, shuffle_seed: int = 0, **kwargs: Any) -> None:
        self.env = env
        self.generator = np.random.Generator(np.random.PCG64(shuffle_seed))
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        super().reset()
        shape = (self.buffer_size, self.n_envs)
        self.action_masks = np.ones((*shape, self.mask_dims), np.bool_)  # a quarter of float32, and converted as fast
        self.acted = np.zeros(shape, np.int8)
        self.seat_rewards = np.zeros((*shape, self.env.num_players), np.float32)
        self.dones = np.zeros(shape, np.bool_)
        self.known = np.zeros(shape, np.bool_)

    def add(self, *args: Any, **kwargs: Any) -> None:
        """As the stock buffer, just after the environment's step."""
        self.acted[self.pos] = self.env.acted
        self.seat_rewards[self.pos] = self.env.seat_rewards
        self.dones[self.pos] = self.env.dones
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: NDArray[np.bool_]) -> None:
        """Fill ``advantages``, ``returns`` (advantage + value) and ``known``."""
        self.advantages, self.known = seat_advantages(
            self.values,
            self.acted,
            self.seat_rewards,
            self.dones,
            last_values.detach().cpu().numpy().ravel(),
            self.env.players,
            self.gamma,
            self.gae_lambda,
        )
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """The decisions with a known advantage once, in a new order, in minibatches of about ``batch_size``."""
        if not self.full:
            raise RuntimeError("the buffer is not full")
        if not self.generator_ready:
            for name in _FLATTENED:
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        indices = np.flatnonzero(self.known)
        self.generator.shuffle(indices)
        parts = 1 if batch_size is None else max(1, round(len(indices) / batch_size))
        for part in np.array_split(indices, parts):
            yield self._get_samples(part)

    def generator_state(self) -> str:
        """The state of the shuffling generator as JSON."""
        return json.dumps(self.generator.bit_generator.state)

    def restore_generator(self, state: str) -> None:
        """The inverse of :meth:`generator_state`."""
        self.generator.bit_generator.state = json.loads(state)
