"""Self-play in batches: a network plays all seats of rows of games, and what it did is kept for a learner.

A critic may be shown what a player is not: behind each observation stands what the seat does not see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from agents.keys import fraction
from dominoes_env.engine.deal import key_bits
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules

__all__ = ["Games", "Rollout", "gather", "play_part", "sample", "to_log_probabilities"]


class Games(Protocol):
    """Rows of games that are played and seen as a :class:`dominoes_env.table.Table` is."""

    rules: Rules
    num_games: int

    @property
    def players(self) -> NDArray[np.int8]: ...
    @property
    def observations(self) -> NDArray[np.int8]: ...
    @property
    def masks(self) -> NDArray[np.int8]: ...
    @property
    def rewards(self) -> NDArray[np.float32]: ...
    @property
    def terminated(self) -> NDArray[np.bool_]: ...
    @property
    def truncated(self) -> NDArray[np.bool_]: ...
    def hidden(self) -> NDArray[np.int8]: ...
    def step(self, actions: NDArray[np.int64], *, autoreset: bool = False) -> None: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...


@dataclass(frozen=True)
class Rollout:
    """Decisions of all rows in order, and the ones that the rows stand at afterwards (where it says T + 1)."""

    seen: NDArray[np.int8]
    """(T + 1, rows, size): observation, then what the seat does not see."""
    masks: NDArray[np.int8]
    """(T, rows, actions)."""
    acted: NDArray[np.int8]
    """(T + 1, rows): the seat that decides."""
    actions: NDArray[np.int64]
    """(T, rows)."""
    taken: NDArray[np.float32]
    """(T, rows): the log-probability of the action."""
    rewards: NDArray[np.float32]
    """(T, rows, seats): what every seat got until the next decision of the row, scaled."""
    dones: NDArray[np.bool_]
    """(T, rows): whether the episode ended by then."""

    @classmethod
    def empty(cls, steps: int, rows: int, games: Games) -> Rollout:
        """Room for ``steps`` decisions in each of ``rows`` rows of such games."""
        size = games.observations.shape[1] + games.hidden().shape[1]
        return cls(
            np.zeros((steps + 1, rows, size), np.int8),
            np.zeros((steps, rows, games.masks.shape[1]), np.int8),
            np.zeros((steps + 1, rows), np.int8),
            np.zeros((steps, rows), np.int64),
            np.zeros((steps, rows), np.float32),
            np.zeros((steps, rows, games.rewards.shape[1]), np.float32),
            np.zeros((steps, rows), np.bool_),
        )

    def seen_flat(self) -> NDArray[np.int8]:
        """:attr:`seen` as ((T + 1) * rows, size); decision ``t`` of row ``i`` is ``t * rows + i``, here and below."""
        return self.seen.reshape(-1, self.seen.shape[2])

    def masks_flat(self) -> NDArray[np.int8]:
        """:attr:`masks` as (T * rows, actions)."""
        return self.masks.reshape(-1, self.masks.shape[2])


@jit
def gather(seen, chosen, scale, inputs):  # type: ignore[no-untyped-def]
    """The first entries of the rows ``chosen`` of ``seen`` (int8), times ``scale``, into ``inputs`` float32 (m, D)."""
    for k in range(len(chosen)):
        for j in range(inputs.shape[1]):
            inputs[k, j] = np.float32(seen[chosen[k], j]) * scale[j]


@jit
def to_log_probabilities(logits, masks):  # type: ignore[no-untyped-def]
    """Turn the logits (m, A) of legal actions into the logarithms of their probabilities, in place."""
    for row in range(len(logits)):
        top = -np.inf
        for action in range(logits.shape[1]):
            if masks[row, action] == 1:
                top = max(top, np.float64(logits[row, action]))
        total = 0.0
        for action in range(logits.shape[1]):
            if masks[row, action] == 1:
                total += math.exp(np.float64(logits[row, action]) - top)
        shift = top + math.log(total)
        for action in range(logits.shape[1]):
            if masks[row, action] == 1:
                logits[row, action] -= shift


@jit
def sample(log_probabilities, masks, keys, actions, taken):  # type: ignore[no-untyped-def]
    """A legal action each by its probability into ``actions``, the logarithm of that into ``taken``.

    ``keys`` (m,) uint64, not 0, are the sources of randomness, moved on.
    """
    for row in range(len(actions)):
        left = fraction(key_bits(keys, row))
        for action in range(masks.shape[1]):
            if masks[row, action] == 1:
                actions[row] = action  # the last legal one, if rounding leaves something over
                left -= math.exp(np.float64(log_probabilities[row, action]))
                if left < 0:
                    break
        taken[row] = log_probabilities[row, actions[row]]


def play_part(
    rollout: Rollout,
    part: slice,
    games: Games,
    actor: Any,
    scale: NDArray[np.float32],
    keys: NDArray[np.uint64],
    reward_scale: float,
) -> None:
    """Fill the rows ``part`` of a rollout: play on in ``games``, whose rows they are, by ``actor``.

    Args:
        rollout: written.
        part: the rows of it.
        games: as many as there are rows in the part.
        actor: a network from observations to logits; it is shown nothing else.
        scale: what each entry of what is seen is multiplied by, float32 (size,).
        keys: sources of randomness of the part's rows, moved on.
        reward_scale: what rewards are divided by.
    """
    rows = np.arange(part.start, part.stop)
    size = games.observations.shape[1]
    inputs = torch.empty((games.num_games, size))

    def look(t: int) -> None:
        rollout.acted[t, part] = games.players
        rollout.seen[t, part, :size] = games.observations
        rollout.seen[t, part, size:] = games.hidden()

    with torch.inference_mode():
        for t in range(len(rollout.actions)):
            look(t)
            masks, actions = rollout.masks[t, part], rollout.actions[t, part]
            masks[...] = games.masks
            gather(rollout.seen[t], rows, scale, inputs.numpy())
            logits = actor(inputs).numpy()
            to_log_probabilities(logits, masks)
            sample(logits, masks, keys, actions, rollout.taken[t, part])
            games.step(actions, autoreset=True)
            rollout.rewards[t, part] = games.rewards
            rollout.rewards[t, part] /= np.float32(reward_scale)
            rollout.dones[t, part] = games.terminated | games.truncated
    look(len(rollout.actions))
