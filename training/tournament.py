"""A round robin: every pair of agents over the same mirrored deals, a rating for each, and whether ratings tell all.

With more than two sides at the table a pair meets twice: one of the first among the second's, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.catalog import make_agent
from agents.match import MatchResult
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import describe_rules
from training.chunk_store import ChunkStore
from training.chunks import CHUNK_DEALS, chunks_of
from training.evaluate import thinness
from training.evaluation import fair_share
from training.intervals import Interval, mean_interval
from training.ratings import Ratings, bootstrap_ratings, find_cycle
from training.workers import executor_of, play_chunks

__all__ = ["Meeting", "Standing", "Tournament", "tournament"]


@dataclass(frozen=True)
class Meeting:
    """How ``agent`` did against ``opponent`` (against one of him in each other seat); 95 %."""

    agent: str
    opponent: str
    win_rate: Interval
    points: Interval

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        figures = {"win_rate": self.win_rate.to_dict(), "points": self.points.to_dict()}
        return {"agent": self.agent, "opponent": self.opponent, **figures}


@dataclass(frozen=True)
class Standing:
    """One agent's rating in Elo with its bootstrap interval of 95 %, and how long it thought."""

    agent: str
    elo: Interval
    decisions: int
    ms_a_move: float | None
    """By the clock, in batches; not reproducible. None: it never had a choice."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {**vars(self), "elo": self.elo.to_dict()}


@dataclass(frozen=True)
class Tournament:
    """What a round robin came to."""

    variant: str
    rules: Rules
    deals: int
    """Of each meeting; the same in all."""
    seed: int
    num_seatings: int
    standings: tuple[Standing, ...]
    """The best first."""
    meetings: tuple[Meeting, ...]
    """Both directions of each pair."""
    anchor: str | None
    """Whose rating is 0 by definition; None: the mean is."""
    cycle: tuple[str, ...] | None
    """Agents each of which significantly beats the next, and the last the first."""
    warnings: tuple[str, ...]

    @property
    def fair_share(self) -> float:
        """The win rate of an agent as good as its opponents."""
        return fair_share(self.rules)

    def meeting(self, agent: str, opponent: str) -> Meeting:
        """The figures of ``agent`` against ``opponent``."""
        return next(one for one in self.meetings if (one.agent, one.opponent) == (agent, opponent))

    def to_dict(self) -> dict[str, Any]:
        """JSON values; infinite ends of intervals are None."""
        return {
            "variant": self.variant,
            "num_players": self.rules.num_players,
            "rules": self.rules.to_dict(),
            "deals": self.deals,
            "seatings": self.num_seatings,
            "seed": self.seed,
            "confidence": 0.95,
            "fair_share": self.fair_share,
            "anchor": self.anchor,
            "standings": [standing.to_dict() for standing in self.standings],
            "meetings": [meeting.to_dict() for meeting in self.meetings],
            "cycle": None if self.cycle is None else list(self.cycle),
            "warnings": list(self.warnings),
        }


def tournament(
    agents: Sequence[Any],
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    variant: str | None = None,
    anchor: str | None = None,
    chunk: int = CHUNK_DEALS,
    workers: int = 1,
    executor: Executor | None = None,
    store: ChunkStore | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Tournament:
    """Let every pair of ``agents`` play the same ``deals``.

    Args:
        agents: at least two of different names, as in the catalog or objects that act.
        rules: the rules; a pair plays as :func:`agents.match.seatings` gives.
        deals: mirrored groups of each meeting.
        seed: of deals, decisions and bootstrap.
        variant: the name to print; None: the preset nearest to the rules.
        anchor: the name of the agent whose rating is 0; None: the mean is 0.
        chunk: deals of a chunk; changes no figure.
        workers: processes that play; changes no figure.
        executor: who plays instead of own processes; ``workers`` says how many chunks it plays at once.
        store: keeps finished chunks, so that a killed tournament goes on when it is called again.
        progress: called with the chunks that are done and their number.

    Raises:
        ValueError: for fewer than two agents, equal names, a person, an unknown anchor, and as
            :func:`training.chunks.chunks_of`.
        TypeError, ChildProcessError: as :func:`training.workers.play_chunks`.
    """
    players = [make_agent(agent) for agent in agents]
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"agents={', '.join(names)} is not allowed; allowed: at least two, of different names")
    for player in players:
        if player.is_person:
            raise ValueError(
                f"agent={player.name!r} is not allowed in a tournament: it plays every deal many times; "
                f"allowed: agents that are no persons"
            )
    if anchor is not None and anchor not in names:
        raise ValueError(f"anchor={anchor!r} is not allowed; allowed: {', '.join(names)}")
    is_paired = rules.num_players == 2 or rules.teams
    pairs = list((combinations if is_paired else permutations)(range(len(names)), 2))
    columns = [chunks_of([agents[a], agents[b]], rules, deals, seed=seed, size=chunk) for a, b in pairs]
    order = (one for row in zip(*columns, strict=True) for one in row)  # all pairs get on together
    count = len(pairs) * -(-deals // chunk)
    parts: list[list[MatchResult]] = [[] for _ in pairs]
    with (
        executor_of(workers) if executor is None else nullcontext(executor) as pool,
        closing(play_chunks(order, executor=pool, workers=workers, store=store)) as stream,
    ):
        for number, result in enumerate(stream):
            parts[number % len(pairs)].append(result)
            if progress is not None:
                progress(number + 1, count)
    results = dict(zip(pairs, map(MatchResult.joined, parts), strict=True))
    named = describe_rules(rules)[0] if variant is None else variant
    return _summed_up(names, results, named, names.index(anchor) if anchor is not None else None)


def _summed_up(
    names: list[str], results: dict[tuple[int, int], MatchResult], variant: str, anchor: int | None
) -> Tournament:
    first = next(iter(results.values()))
    ratings = _ratings(len(names), results, anchor, first.seed)
    meetings = {pair: _meeting(names, results, *pair) for pair in permutations(range(len(names)), 2)}
    found = find_cycle(_beats(len(names), results))
    cycle = None if found is None else tuple(names[agent] for agent in found)
    warnings = list(thinness(first.num_deals, len(first.seatings)))
    if cycle is not None:
        warnings.append(
            f"a cycle: {' beats '.join([*cycle, cycle[0]])}, each outside chance (95 %); one number a player "
            f"cannot say this: read the table, not the ratings"
        )
    ranking = sorted(range(len(names)), key=lambda agent: -ratings.elo[agent].mean)
    return Tournament(
        variant,
        first.rules,
        first.num_deals,
        first.seed,
        len(first.seatings),
        tuple(_standing(agent, names[agent], results, ratings.elo[agent]) for agent in ranking),
        tuple(meetings[a, b] for a, b in permutations(ranking, 2)),
        None if anchor is None else names[anchor],
        cycle,
        tuple(warnings),
    )


def _own(results: dict[tuple[int, int], MatchResult], measure: str, agent: int, opponent: int) -> NDArray[np.float64]:
    """What ``agent`` had of ``measure`` (wins, points) a deal as the first of a pair, shape (deals,)."""
    if (agent, opponent) in results:
        found = getattr(results[agent, opponent], measure)[0]
    else:  # two sides: the same match, seen from the other one
        found = getattr(results[opponent, agent], measure)[1]
    mean: NDArray[np.float64] = found.mean(axis=1)
    return mean


def _meeting(names: list[str], results: dict[tuple[int, int], MatchResult], agent: int, opponent: int) -> Meeting:
    wins, points = (_own(results, measure, agent, opponent) for measure in ("wins", "points"))
    return Meeting(names[agent], names[opponent], mean_interval(wins, bounds=(0, 1)), mean_interval(points))


def _beats(num_agents: int, results: dict[tuple[int, int], MatchResult]) -> NDArray[np.bool_]:
    """Who won more against whom than the other way round, outside chance; shape (agents, agents).

    No allowance is made for many pairs: a cycle takes three such results that fit together.
    """
    beats = np.zeros((num_agents, num_agents), np.bool_)
    for a, b in permutations(range(num_agents), 2):
        more = _own(results, "wins", a, b) - _own(results, "wins", b, a)
        beats[a, b] = mean_interval(more, bounds=(-1, 1)).low > 0
    return beats


def _ratings(num_agents: int, results: dict[tuple[int, int], MatchResult], anchor: int | None, seed: int) -> Ratings:
    rules = next(iter(results.values())).rules
    others = 1 if rules.teams else rules.num_players - 1
    seats = np.zeros((len(results), num_agents), np.int64)
    wins = np.zeros((next(iter(results.values())).num_deals, len(results), num_agents))
    for number, ((a, b), result) in enumerate(results.items()):
        for agent, side, count in ((a, 0, 1), (b, 1, others)):
            seats[number, agent] = count
            wins[:, number, agent] = count * result.wins[side].mean(axis=1)
    return bootstrap_ratings(wins, seats, anchor=anchor, seed=seed)


def _standing(agent: int, name: str, results: dict[tuple[int, int], MatchResult], elo: Interval) -> Standing:
    own = [(result, pair.index(agent)) for pair, result in results.items() if agent in pair]
    decisions = sum(int(result.decisions[side]) for result, side in own)
    seconds = sum(float(result.seconds[side]) for result, side in own)
    return Standing(name, elo, decisions, 1000 * seconds / decisions if decisions else None)
