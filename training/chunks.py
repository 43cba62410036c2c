"""Matches cut into chunks of deals, each given by its agents, rules, seed and deals alone.

No figure depends on who plays a chunk, in what order, or beside how many others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.catalog import make_agent
from agents.match import AgentFailure, Games, IllegalChoice, MatchResult, play_match, seatings
from dominoes_env.arguments import MAX_SEED, checked_integer, checked_switch
from dominoes_env.engine.rules import Rules

__all__ = ["CHUNK_DEALS", "Chunk", "chunks_of"]

#: Deals of a chunk where nothing else is said: some ms of the rules of thumb, a minute of a slow search.
CHUNK_DEALS = 250
#: The deal that is played to compile and load code before an agent's time is taken; no match gets so far.
_PRACTICE_DEAL = 2**62


@dataclass(frozen=True)
class Chunk:
    """Some deals of a match; :func:`agents.match.play_match` says what the fields mean."""

    agents: tuple[Any, ...]
    """Names, which travel as names, or objects that act, which are pickled."""
    rules: Rules
    seed: int
    first_deal: int
    deals: int
    mirrored: bool = True
    batch: int = field(default=2048, compare=False)

    def play(self) -> Any:
        """What its games came to; a :class:`agents.match.MatchResult` here."""
        return self.play_match()

    def play_match(self, games: Callable[[Games], object] | None = None) -> MatchResult:
        agents = [make_agent(agent) for agent in self.agents]
        _practise(agents, self.rules)
        return play_match(
            agents,
            self.rules,
            self.deals,
            seed=self.seed,
            first_deal=self.first_deal,
            mirrored=self.mirrored,
            batch=self.batch,
            games=games,
        )


_practised: set[tuple[Any, ...]] = set()


def _practise(agents: Sequence[Agent], rules: Rules) -> None:
    """Play a deal that counts nowhere, once a process: compiling and loading code is no part of anybody's time."""
    key = (*map(type, agents), rules)
    if key not in _practised and not any(agent.is_person for agent in agents):
        with suppress(AgentFailure, IllegalChoice):  # the match will show it, on a deal of its own
            play_match(agents, rules, 1, first_deal=_PRACTICE_DEAL)
        _practised.add(key)


def chunks_of(
    agents: Sequence[Any],
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    first_deal: int = 0,
    size: int = CHUNK_DEALS,
    mirrored: bool = True,
    batch: int = 2048,
) -> Iterator[Chunk]:
    """A match of ``deals`` deals in chunks of ``size``, made one by one; the last may be shorter.

    With a person no deal is played twice, whatever ``mirrored`` says.

    Raises:
        ValueError: for what :func:`agents.match.play_match` would refuse, before anything is played.
    """
    deals, size = checked_integer("deals", deals, 1), checked_integer("chunk", size, 1)
    first_deal, seed = checked_integer("first_deal", first_deal, 0), checked_integer("seed", seed, 0, MAX_SEED)
    players = [make_agent(agent) for agent in agents]
    seatings(rules, len(players))
    for player in players:
        player.check_rules(rules)
    mirrored = checked_switch("mirrored", mirrored) and not any(player.is_person for player in players)
    travelling = tuple(str(agent) if isinstance(agent, (str, Path)) else agent for agent in agents)
    end = first_deal + deals
    return (
        Chunk(travelling, rules, seed, start, min(size, end - start), mirrored, batch)
        for start in range(first_deal, end, size)
    )
