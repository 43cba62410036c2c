"""Where two agents part: positions in which, asked the same, they would play differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, Turns
from agents.catalog import make_agent
from agents.keys import decision_keys
from agents.match import turns_of
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
from dominoes_env.notation import format_position
from dominoes_env.table import Table
from training.intervals import Interval, mean_interval

__all__ = ["Disagreement", "Disagreements", "find_disagreements"]


@dataclass(frozen=True)
class Disagreement:
    """A position and what each of two agents would play there."""

    position: str
    """The line that :meth:`dominoes_env.Game.from_position` reads; it hides nothing."""
    actions: tuple[int, int]
    """Of the first and the second agent, by id."""
    deal: int
    """The number of the game under the seed."""


@dataclass(frozen=True)
class Disagreements:
    """How often two agents part, and where."""

    agents: tuple[str, str]
    deals: int
    decisions: int
    """Decisions with a choice in which both were asked."""
    share: Interval
    """The share of decisions in which they part: the mean over deals, 95 %."""
    positions: tuple[Disagreement, ...]
    """All of them, deal by deal."""


def find_disagreements(first: Any, second: Any, rules: Rules, deals: int, *, seed: int = 0) -> Disagreements:
    """Let two agents play each other and ask both in every decision, whoever's it is.

    Each is given what the player on turn may know, and the same key. In deal ``d`` the first one sits in the seats
    ``s`` for which ``s + d`` is even.

    Args:
        first: a name of the catalog, or an object that acts.
        second: the other one.
        rules: the rules.
        deals: rounds to play.
        seed: of deals and decisions.

    Raises:
        ValueError: for an unknown agent, or one that is a person, cheats or cannot play by the rules.
    """
    agents = make_agent(first), make_agent(second)
    for agent in agents:
        if agent.is_person or agent.sees_all:
            raise ValueError(
                f"agent={agent.name!r} is not allowed; allowed: agents that are no persons and do not cheat"
            )
        agent.check_rules(rules)
    count = checked_integer("deals", deals, 1)
    with_history = any(agent.needs_history for agent in agents)
    table = Table(rules, count, seed=seed, skip_forced=True, history=with_history)
    asked, parted = np.zeros(count, np.int64), np.zeros(count, np.int64)
    found: list[Disagreement] = []
    playing = table.all_rows
    while len(playing):
        keys = decision_keys(seed, table.game_ids[playing], table.history_lengths[playing])
        turns = turns_of(table, playing, keys)
        answers = _answers(agents, turns)
        has_choice = turns.masks.sum(axis=1) > 1  # a round without any is offered at its last, forced move
        differs = has_choice & (answers[0] != answers[1])
        asked[playing] += has_choice
        parted[playing] += differs
        for row in np.flatnonzero(differs):
            found.append(_disagreement(table, int(playing[row]), answers[:, row]))
        actions = table.masks.argmax(axis=1)  # of finished games, dealt anew, any will do
        actions[playing] = answers[(table.players[playing] + playing) % 2, np.arange(len(playing))]
        table.step(actions, autoreset=True)
        playing = playing[~(table.terminated | table.truncated)[playing]]
    had_choice = asked > 0
    shares = parted[had_choice] / asked[had_choice]
    share = mean_interval(shares, bounds=(0, 1)) if len(shares) else Interval(0.0, 0.0, 1.0)
    found.sort(key=lambda one: one.deal)  # stable: within a deal in the order of play
    return Disagreements((agents[0].name, agents[1].name), count, int(asked.sum()), share, tuple(found))


def _answers(agents: tuple[Agent, Agent], turns: Turns) -> NDArray[np.int64]:
    return np.stack([np.asarray(agent.act_batch(turns), np.int64) for agent in agents])


def _disagreement(table: Table, row: int, actions: NDArray[np.int64]) -> Disagreement:
    history = table.round_history(row).tolist()
    position = format_position(table.rules, table.states[row : row + 1], history)
    return Disagreement(position, (int(actions[0]), int(actions[1])), int(table.game_ids[row]))
