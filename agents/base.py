"""What an agent is: it is given a :class:`Turn` and answers with an action id.

A turn holds what the player may know, and nothing else: the rules, the concealed record (other hands, the boneyard's
order and the generator are blanked), the actions of the round so far, the observation, the mask, and a random key.
Only an agent that says of itself that it cheats (``sees_all``) is shown the open record too, where who asks has it.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules

__all__ = ["Agent", "BatchAgent", "Turn", "Turns", "as_agent"]


@dataclass(frozen=True, eq=False)
class Turn:
    """One decision of one player, as he may know it. The arrays are not to be written to."""

    rules: Rules
    player: int
    """The seat that decides."""
    state: NDArray[Any]
    """Shape (1,), ``STATE_DTYPE``: the record as this seat knows it."""
    history: NDArray[np.int16]
    """Shape (k,): the actions of this round in order; the starter leads, then seat order, a DRAW keeps the turn."""
    observation: NDArray[np.int8]
    """Shape (D,): see ``dominoes_env.observation_layout``."""
    mask: NDArray[np.int8]
    """Shape (A,): 1 where an action is legal."""
    key: int
    """64 random bits of this decision."""
    open_state: NDArray[Any] | None = None
    """Shape (1,), ``STATE_DTYPE``: the whole record, for agents that cheat; None for all others."""

    @cached_property
    def generator(self) -> np.random.Generator:
        """NumPy's generator seeded by the key: the same decision draws the same numbers."""
        return np.random.Generator(np.random.PCG64(self.key))

    @cached_property
    def legal_actions(self) -> NDArray[np.int64]:
        """The legal action ids, ascending."""
        return np.flatnonzero(self.mask)


@dataclass(frozen=True, eq=False)
class Turns:
    """``m`` decisions of one rule set at once: the fields of :class:`Turn`, a row a decision."""

    rules: Rules
    players: NDArray[np.int8]
    """Shape (m,)."""
    states: NDArray[Any]
    """Shape (m,), ``STATE_DTYPE``, concealed."""
    histories: NDArray[np.int16]
    """Shape (m, H); only the first ``history_lengths`` of a row mean anything."""
    history_lengths: NDArray[np.int32]
    """Shape (m,)."""
    observations: NDArray[np.int8]
    """Shape (m, D)."""
    masks: NDArray[np.int8]
    """Shape (m, A)."""
    keys: NDArray[np.uint64]
    """Shape (m,)."""
    open_states: NDArray[Any] | None = None
    """Shape (m,), ``STATE_DTYPE``: the whole records, for agents that cheat; None for all others."""

    def __len__(self) -> int:
        return len(self.players)

    def __getitem__(self, row: int) -> Turn:
        record = slice(row, row + 1 or None)
        return Turn(
            self.rules,
            int(self.players[row]),
            self.states[record],
            self.histories[row, : self.history_lengths[row]],
            self.observations[row],
            self.masks[row],
            int(self.keys[row]),
            None if self.open_states is None else self.open_states[record],
        )

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> Turns:
        """Turns of the same rules, one a row."""
        longest = max((len(turn.history) for turn in turns), default=0)
        histories = np.zeros((len(turns), longest), np.int16)
        for row, turn in enumerate(turns):
            histories[row, : len(turn.history)] = turn.history
        open_states = [turn.open_state for turn in turns if turn.open_state is not None]
        return cls(
            turns[0].rules,
            np.array([turn.player for turn in turns], np.int8),
            np.concatenate([turn.state for turn in turns]),
            histories,
            np.array([len(turn.history) for turn in turns], np.int32),
            np.stack([turn.observation for turn in turns]),
            np.stack([turn.mask for turn in turns]),
            np.array([turn.key for turn in turns], np.uint64),
            np.concatenate(open_states) if len(open_states) == len(turns) else None,
        )


class Agent(ABC):
    """A player. It keeps nothing from one turn to the next, so one agent may sit in many games at once."""

    name: str = "agent"
    needs_history: bool = False
    """Whether observations must hold the round's history."""
    sees_all: bool = False
    """Whether it cheats: its turns hold the open record."""
    gives_probabilities: bool = False
    """Whether :meth:`probabilities` answers."""
    gives_values: bool = False
    """Whether :meth:`evaluate` answers."""
    is_person: bool = False
    """Whether a person decides: a match then goes game by game, and shows each deal from one side only."""

    @abstractmethod
    def act(self, turn: Turn) -> int:
        """The id of a legal action."""

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        """An action id for each of ``turns``, shape (m,): exactly what :meth:`act` would answer to each."""
        return np.array([operator.index(self.act(turns[row])) for row in range(len(turns))], np.int64)

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        """How likely :meth:`act` is to take each action, over all keys: shape (m, A), rows adding up to 1.

        An optional capability, for those who reason about this player: see ``gives_probabilities``. Illegal actions
        have probability 0.

        Raises:
            NotImplementedError: if the agent cannot say.
        """
        raise NotImplementedError(f"agent {self.name!r} gives no probabilities")

    def evaluate(self, turn: Turn) -> tuple[int, NDArray[np.float64]]:
        """What :meth:`act` would answer, and what it thinks of each action: shape (A,).

        An optional capability: see ``gives_values``. Values are points of the rest of the round less those of the
        others (the mean of the opponents', or the other team's), as expected; NaN: illegal, or not looked at, as is an
        only action.

        Raises:
            NotImplementedError: if the agent cannot say.
        """
        raise NotImplementedError(f"agent {self.name!r} gives no values")

    def check_rules(self, rules: Rules) -> None:
        """Called before a match.

        Raises:
            ValueError: if this agent cannot play by ``rules``.
        """
        del rules  # most agents play everything


class BatchAgent(Agent):
    """A player that is written for many turns at once."""

    def act(self, turn: Turn) -> int:
        return int(self.act_batch(Turns.of([turn]))[0])

    @abstractmethod
    def act_batch(self, turns: Turns) -> NDArray[np.int64]: ...


class _Wrapped(Agent):
    """Any object with an ``act`` method, and an ``act_batch``, ``probabilities`` and ``evaluate`` if it has them."""

    def __init__(self, player: Any) -> None:
        self.player = player
        self.name = str(getattr(player, "name", type(player).__name__))
        self.needs_history = bool(getattr(player, "needs_history", False))
        self.sees_all = bool(getattr(player, "sees_all", False))
        self.gives_probabilities = callable(getattr(player, "probabilities", None))
        self.gives_values = callable(getattr(player, "evaluate", None))
        self.is_person = bool(getattr(player, "is_person", False))

    def act(self, turn: Turn) -> int:
        return operator.index(self.player.act(turn))

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        if callable(getattr(self.player, "act_batch", None)):
            return np.asarray(self.player.act_batch(turns))
        return super().act_batch(turns)

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        if self.gives_probabilities:
            return np.asarray(self.player.probabilities(turns), np.float64)
        return super().probabilities(turns)

    def evaluate(self, turn: Turn) -> tuple[int, NDArray[np.float64]]:
        if self.gives_values:
            action, values = self.player.evaluate(turn)
            return operator.index(action), np.asarray(values, np.float64)
        return super().evaluate(turn)

    def check_rules(self, rules: Rules) -> None:
        if callable(getattr(self.player, "check_rules", None)):
            self.player.check_rules(rules)


def as_agent(player: Any) -> Agent:
    """``player`` if it is an :class:`Agent`, else a wrapper around an object with ``act(turn) -> int``.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(player, Agent):
        return player
    if isinstance(player, type) or not callable(getattr(player, "act", None)):
        raise TypeError(f"agent={player!r} is not allowed; allowed: an object with act(turn) -> int")
    return _Wrapped(player)
