"""The rollout buffer of sb3-contrib with the advantages of every seat; see :mod:`training.advantages`."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from training.advantages import seat_advantages

__all__ = ["SeatRolloutBuffer", "SeatedEnv"]

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
        """The decisions with a known advantage once, in a new order, in minibatches of about ``batch_size``.

        They have at least two decisions, unless there is one in all: the learner divides by their spread.
        """
        if not self.full:
            raise RuntimeError("the buffer is not full")
        if not self.generator_ready:
            for name in _FLATTENED:
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        indices = np.flatnonzero(self.known)
        self.generator.shuffle(indices)
        parts = 1 if batch_size is None else max(1, min(round(len(indices) / batch_size), len(indices) // 2))
        for part in np.array_split(indices, parts):
            yield self._get_samples(part)

    def generator_state(self) -> str:
        """The state of the shuffling generator as JSON."""
        return json.dumps(self.generator.bit_generator.state)

    def restore_generator(self, state: str) -> None:
        """The inverse of :meth:`generator_state`."""
        self.generator.bit_generator.state = json.loads(state)
