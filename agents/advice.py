"""Advice: what an agent would do in a decision, and how it judges each action. It knows what the player may know."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from agents.base import Agent, Turn, Turns
from agents.catalog import make_agent
from agents.learned import LearnedAgent
from agents.match import turns_of
from dominoes_env.arguments import MAX_SEED, checked_integer
from dominoes_env.game import Game
from dominoes_env.table import Table

__all__ = ["BEST_ADVISER", "Advice", "advise", "check_adviser", "turn_of"]

#: The strongest player that does not cheat and plays every variant; a hint of it takes a moment.
BEST_ADVISER = "inference:200"


@dataclass(frozen=True)
class Advice:
    """An agent's view of a decision. Tuples hold a value for each of ``actions``."""

    agent: str
    """The agent's name."""
    actions: tuple[int, ...]
    """The legal action ids, ascending."""
    best: int
    """What the agent would do."""
    values: tuple[float, ...] | None = None
    """Points of the rest of the round less the opponents' that it expects after each action, NaN where it has not
    looked; None: it has no values, or there is no choice."""
    probabilities: tuple[float, ...] | None = None
    """How likely it is to take each action; None: it cannot say."""

    @property
    def lead(self) -> float | None:
        """By how many points the best action is ahead of the next best one, or is not, where visits decide."""
        if self.values is None:
            return None
        others = [value for action, value in zip(self.actions, self.values, strict=True) if action != self.best]
        known = [value for value in others if not np.isnan(value)]
        return self.value_of(self.best) - max(known) if known else None

    def value_of(self, action: int) -> float:
        """The value of an action; NaN if there is none."""
        return float("nan") if self.values is None else self.values[self.actions.index(action)]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: NaN becomes None."""
        values = self.values and [None if np.isnan(value) else value for value in self.values]
        return {**asdict(self), "values": values, "lead": self.lead}


def turn_of(game: Game, *, key: int = 0, history: bool = False) -> Turn:
    """The decision that a game waits for, as the seat on turn may know it.

    Args:
        game: the game.
        key: the random bits of the decision, an integer in [0, 2**64).
        history: whether the observation ends with the round's actions, for agents that need them.

    Raises:
        ValueError: if the game is over, or for a key that is not allowed.
    """
    if game.is_over:
        raise ValueError("game: it is over; allowed: a game in which somebody is to move")
    table = Table(game.rules, history=history)
    table.set_state(0, game.state, game.history)
    return turns_of(table, np.arange(1), np.array([checked_integer("key", key, 0, MAX_SEED)], np.uint64))[0]


def check_adviser(agent: Any) -> Agent:
    """The agent of this name, or this one.

    Raises:
        ValueError: if there is none, or it cheats, or asks a person.
    """
    adviser = make_agent(agent)
    if adviser.sees_all:
        raise ValueError(f"agent={adviser.name!r} is not allowed to advise: it sees what is hidden; allowed: any other")
    if adviser.is_person:
        raise ValueError(f"agent={adviser.name!r} is not allowed to advise: it asks a person; allowed: any other")
    return adviser


def advise(agent: Any, turn: Turn) -> Advice:
    """What ``agent``, a name of the catalog or an agent, would do in ``turn``, and how it judges each action.

    Searches give values in points; trained players the probabilities of their policy, also those that always take the
    best; rules of thumb equal shares of their best. The answer depends on the turn and its key alone.

    Raises:
        ValueError: for an agent that cheats, is a person or cannot play by the rules.
    """
    adviser = check_adviser(agent)
    adviser.check_rules(turn.rules)
    turn = replace(turn, open_state=None)
    legal = turn.legal_actions
    values = probabilities = None
    if adviser.gives_values:
        best, all_values = adviser.evaluate(turn)
        if len(legal) > 1:
            values = tuple(all_values[legal].tolist())
    else:
        best = adviser.act(turn)
    if adviser.gives_probabilities:
        teller = LearnedAgent(adviser.policy, "sample") if isinstance(adviser, LearnedAgent) else adviser
        probabilities = tuple(teller.probabilities(Turns.of([turn]))[0, legal].tolist())
    if best not in legal:
        raise ValueError(f"agent {adviser.name!r} advises action={best!r}; legal: {', '.join(map(str, legal))}")
    return Advice(adviser.name, tuple(legal.tolist()), int(best), values, probabilities)
