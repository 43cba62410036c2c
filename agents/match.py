"""Mirrored deals: every deal is played once in each seating of the agents, so that luck of the deal cancels.

Deal ``d`` of a seed is the game ``(seed, d)`` of :class:`dominoes_env.table.Table` in every seating: the same hands,
boneyard and opening. Decision keys are the same in every seating too (common random numbers): agents that think alike
have the same luck with ties and samples for as long as they play alike, and it cancels as well. What is played depends
on the seed and the deal alone, never on how games are batched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, Turns
from agents.catalog import make_agent
from agents.keys import decision_keys
from dominoes_env.arguments import MAX_SEED, checked_integer, checked_switch
from dominoes_env.engine.information import conceal
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules
from dominoes_env.table import Table

__all__ = ["AgentFailure", "Games", "IllegalChoice", "MatchResult", "play_match", "seatings", "turns_of"]


class IllegalChoice(ValueError):
    """An agent chose an action that is not legal."""


class AgentFailure(RuntimeError):
    """An agent raised an exception instead of answering: the ``__cause__`` of this one, which says where that was."""


@dataclass(frozen=True, eq=False, repr=False)
class MatchResult:
    """What each agent got in each deal and seating; a deal's seatings are one mirrored group.

    These are the raw figures. Means with intervals are in ``training.intervals.mean_interval(result.points_a_deal())``,
    and ``training.evaluate.evaluate`` plays a match and sums it up.
    """

    rules: Rules
    seed: int
    seatings: NDArray[np.int64]
    """Shape (seatings, num_players): the agent in each seat."""
    points: NDArray[np.float64]
    """Shape (agents, deals, seatings): points booked in the round less the mean of the opponents' (the other team's),
    the mean over an agent's seats."""
    wins: NDArray[np.float64]
    """Shape (agents, deals, seatings): the share in the round's win, 1 alone, 1/k of k tied sides, the mean over an
    agent's seats. Fair shares add up to 1: 1/2 for two sides, 1/4 for four players each for himself."""
    decisions: NDArray[np.int64]
    """Shape (agents,): decisions with a choice that each agent was asked for."""
    seconds: NDArray[np.float64]
    """Shape (agents,): how long each took over them, by the clock. Of all figures only these are not reproducible."""

    def __repr__(self) -> str:
        figures = zip(self.wins.mean(axis=(1, 2)), self.points.mean(axis=(1, 2)), strict=True)
        means = "; ".join(f"agent {number} {win:.3f}, {points:+.2f}" for number, (win, points) in enumerate(figures))
        return (
            f"<MatchResult {self.num_deals} deals x {len(self.seatings)} seatings, "
            f"num_players={self.rules.num_players}, seed={self.seed}: mean win and points of {means}>"
        )

    @classmethod
    def joined(cls, parts: Sequence[MatchResult]) -> MatchResult:
        """One result of the deals of all ``parts``, in their order: parts of one match, of the same rules and seed."""
        return cls(
            parts[0].rules,
            parts[0].seed,
            parts[0].seatings,
            np.concatenate([part.points for part in parts], axis=1),
            np.concatenate([part.wins for part in parts], axis=1),
            np.sum([part.decisions for part in parts], axis=0),
            np.sum([part.seconds for part in parts], axis=0),
        )

    @property
    def num_deals(self) -> int:
        """Mirrored groups."""
        return self.points.shape[1]

    @property
    def num_decisions(self) -> int:
        """Decisions with a choice that agents were asked for, all together."""
        return int(self.decisions.sum())

    def points_a_deal(self, agent: int = 0) -> NDArray[np.float64]:
        """The points of one agent, averaged over the seatings of each deal, shape (deals,)."""
        mean: NDArray[np.float64] = self.points[agent].mean(axis=1)
        return mean

    def win_rate_a_deal(self, agent: int = 0) -> NDArray[np.float64]:
        """The win share of one agent, averaged over the seatings of each deal, shape (deals,)."""
        mean: NDArray[np.float64] = self.wins[agent].mean(axis=1)
        return mean


@dataclass(frozen=True, eq=False, repr=False)
class Games:
    """The games of some deals, move by move; a deal's seatings stand one after the other."""

    deals: NDArray[np.uint64]
    """Shape (games,): the deal of each, the number of the game under the match's seed."""
    sits: NDArray[np.int64]
    """Shape (games, num_players): the agent in each seat."""
    actions: NDArray[np.int16]
    """Shape (games, max_history): all actions of the round in order, forced ones included."""
    lengths: NDArray[np.int32]
    """Shape (games,): how many they are."""


def seatings(rules: Rules, num_agents: int) -> NDArray[np.int64]:
    """Who sits where so that seats are balanced, shape (seatings, num_players), values are numbers of agents.

    Two agents: with two players or two teams each side once; with 3 or 4 players the first agent once in each seat,
    the second in all others. As many agents as players: every rotation; in teams these keep partners together, agents
    0 and 2 against 1 and 3.

    Raises:
        ValueError: for any other number of agents.
    """
    n = rules.num_players
    seats = np.arange(n)
    if num_agents == n:
        return (seats[None, :] - seats[:, None]) % n
    if num_agents == 2 and rules.teams:
        return np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    if num_agents == 2:
        return (seats[None, :] != seats[:, None]).astype(np.int64)
    allowed = "2" if n == 2 else f"2 or {n}"
    raise ValueError(f"num_agents={num_agents} is not allowed; allowed: {allowed} with num_players={n}")


@jit
def _conceal_for_mover(states):  # type: ignore[no-untyped-def]
    for row in range(len(states)):
        conceal(states[row], states[row]["turn"])


def turns_of(table: Table, rows: NDArray[np.int64], keys: NDArray[np.uint64], *, is_open: bool = False) -> Turns:
    """The decisions that ``rows`` of a table wait for, as their movers may know them; fresh arrays.

    With ``is_open`` the open records are added, for agents that cheat.
    """
    states = table.states[rows]
    open_states = states.copy() if is_open else None
    _conceal_for_mover(states)
    return Turns(
        table.rules,
        table.players[rows],
        states,
        table.history_actions[rows],
        table.history_lengths[rows],
        table.observations[rows],
        table.masks[rows],
        keys,
        open_states,
    )


def play_match(
    agents: Sequence[Agent | Any],
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    first_deal: int = 0,
    mirrored: bool = True,
    batch: int = 2048,
    progress: Callable[[int], object] | None = None,
    games: Callable[[Games], object] | None = None,
) -> MatchResult:
    """Play ``deals`` rounds (round 1 of a fresh match at 0-0), each in every seating of ``agents``.

    Args:
        agents: two, or one a player (see :func:`seatings`): names as in the catalog, or objects that act.
        rules: the rules; each agent is asked whether it can play by them.
        deals: how many deals, from deal ``first_deal`` on.
        seed: seeds the deals and the agents' decisions.
        first_deal: a match in parts gives what the whole gives.
        mirrored: whether each deal is played in every seating; else in the first alone, where the first agent has
            seat 0: a plain comparison, with the luck of the deal and of the seat in it. With a person it is always
            that: he would know the hands of a deal that he has played before.
        batch: games played side by side; no result depends on it. With a person they are played one by one.
        progress: called with the number of deals that have just been finished.
        games: called with the games of these deals; what is played does not depend on it.

    Raises:
        ValueError: for an unknown name, a wrong number of agents, deals or seed, or an agent that cannot play by the
            rules.
        IllegalChoice: when an agent chooses an illegal action; names agent, deal, seating and what is legal.
        AgentFailure: when an agent raises; names agent, deal, seating and seat, and has the agent's exception as cause.
    """
    players = [make_agent(agent) for agent in agents]
    deals, batch = checked_integer("deals", deals, 1), checked_integer("batch", batch, 1)
    first_deal, seed = checked_integer("first_deal", first_deal, 0), checked_integer("seed", seed, 0, MAX_SEED)
    with_person = any(player.is_person for player in players)
    order = seatings(rules, len(players))
    if with_person or not checked_switch("mirrored", mirrored):
        order = order[:1]
    for player in players:
        player.check_rules(rules)
    a_time = 1 if with_person else max(1, batch // len(order))
    parts = []
    for start in range(first_deal, first_deal + deals, a_time):
        numbers = np.arange(start, min(start + a_time, first_deal + deals), dtype=np.uint64)
        parts.append(_play_deals(players, rules, numbers, order, seed, games))
        if progress is not None:
            progress(len(numbers))
    return MatchResult.joined(parts)


def _play_deals(
    agents: list[Agent],
    rules: Rules,
    deals: NDArray[np.uint64],
    order: NDArray[np.int64],
    seed: int,
    tell: Callable[[Games], object] | None,
) -> MatchResult:
    count = len(deals) * len(order)
    table = Table(
        rules,
        count,
        seed=seed,
        game_ids=np.repeat(deals, len(order)),
        skip_forced=True,
        history=any(agent.needs_history for agent in agents),
    )
    seating = np.tile(np.arange(len(order)), len(deals))
    sits = order[seating]  # (count, num_players): the agent in each seat
    games = decision_keys(seed, table.game_ids)  # the same in every seating
    points = np.zeros((count, rules.num_players), np.int64)
    winners = np.zeros(count, np.int64)
    lengths = np.zeros(count, np.int32)
    told = np.zeros((count, 0 if tell is None else rules.max_history), np.int16)
    playing = np.arange(count)
    decisions, seconds = np.zeros(len(agents), np.int64), np.zeros(len(agents))
    while len(playing):
        actions = table.masks.argmax(axis=1)  # of finished games, dealt anew, any will do
        mover = sits[playing, table.players[playing]]
        keys = decision_keys(games[playing], table.history_lengths[playing])
        for number, agent in enumerate(agents):
            chosen = mover == number
            if chosen.any():
                rows = playing[chosen]
                turns = turns_of(table, rows, keys[chosen], is_open=agent.sees_all)
                began = time.perf_counter()
                answer = _ask(agent, turns, table.game_ids[rows], seating[rows])
                seconds[number] += time.perf_counter() - began
                decisions[number] += len(rows)
                actions[rows] = _checked(answer, turns, agent, table.game_ids[rows], seating[rows])
        table.step(actions, autoreset=tell is None)
        points[playing] += table.points[playing]
        ended = table.terminated[playing]
        winners[playing[ended]] = table.final_winners[playing[ended]]
        if tell is not None and ended.any():
            lengths[playing[ended]] = table.history_lengths[playing[ended]]
            told[playing[ended]] = table.history_actions[playing[ended]]
        if tell is not None and table.terminated.any():
            table.reset(rows=table.terminated)
        playing = playing[~ended]
    if tell is not None:
        tell(Games(table.game_ids, sits, told, lengths))
    shape = (len(deals), len(order), rules.num_players)
    margins, shares = _margins(points, rules).reshape(shape), _win_shares(winners, rules).reshape(shape)
    points_of, shares_of = (_by_agent(values, order, len(agents)) for values in (margins, shares))
    return MatchResult(rules, seed, order, points_of, shares_of, decisions, seconds)


def _ask(agent: Agent, turns: Turns, deals: NDArray[np.uint64], seating: NDArray[np.int64]) -> Any:
    try:
        return agent.act_batch(turns)
    except Exception as error:
        row = _failing_row(agent, turns)
        first = row or 0
        place = f"deal {int(deals[first])}, seating {int(seating[first])}, seat {int(turns.players[first])}"
        if row is None:
            place = f"a batch of {len(turns)} turns that begins with {place}"
        raise AgentFailure(f"agent {agent.name!r} failed in {place}: {type(error).__name__}: {error}") from error


def _failing_row(agent: Agent, turns: Turns) -> int | None:
    """The first turn that fails when it is asked alone: agents keep nothing, so asking again gives the same."""
    if len(turns) == 1:
        return 0
    for row in range(len(turns)):
        try:
            agent.act(turns[row])
        except Exception:
            return row
    return None


def _checked(
    answer: Any, turns: Turns, agent: Agent, deals: NDArray[np.uint64], seating: NDArray[np.int64]
) -> NDArray[np.int64]:
    actions = np.asarray(answer)
    if actions.dtype.kind not in "iu" or actions.shape != (len(turns),):
        raise IllegalChoice(
            f"agent {agent.name!r} answered {len(turns)} turns with {actions.dtype} of shape {actions.shape}; "
            f"allowed: one integer a turn"
        )
    inside = (actions >= 0) & (actions < turns.rules.num_actions)
    legal = inside & (turns.masks[np.arange(len(turns)), np.where(inside, actions, 0)] == 1)
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        allowed = ", ".join(map(str, np.flatnonzero(turns.masks[row])))
        raise IllegalChoice(
            f"agent {agent.name!r} chose action={int(actions[row])} in deal {int(deals[row])}, seating "
            f"{int(seating[row])}, seat {int(turns.players[row])}; legal: {allowed}"
        )
    return actions.astype(np.int64)


def _margins(points: NDArray[np.int64], rules: Rules) -> NDArray[np.float64]:
    """Own points less the mean of the opponents', of each seat; shape (games, num_players) as given."""
    if rules.teams:
        return (points - np.roll(points, 1, axis=1)).astype(np.float64)
    n = rules.num_players
    return points - (points.sum(axis=1, keepdims=True) - points) / (n - 1)


def _win_shares(winners: NDArray[np.int64], rules: Rules) -> NDArray[np.float64]:
    """The share of each seat's side in the win, from bits of the winning seats; shape (games, num_players)."""
    won = (winners[:, None] >> np.arange(rules.num_players) & 1).astype(np.float64)
    sides = won.sum(axis=1, keepdims=True) / (2 if rules.teams else 1)
    return won / np.maximum(sides, 1)


def _by_agent(values: NDArray[np.float64], order: NDArray[np.int64], num_agents: int) -> NDArray[np.float64]:
    """Means over each agent's seats, shape (agents, deals, seatings), of (deals, seatings, seats)."""
    sits = order[None] == np.arange(num_agents)[:, None, None]  # (agents, seatings, seats); each agent sits in each
    return np.einsum("dsp,asp->ads", values, sits / sits.sum(axis=2, keepdims=True))
