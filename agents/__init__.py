"""Players of dominoes: they see what a player may know and answer with an action.

The doors: :func:`make_agent` turns a name into an agent, :func:`play_match` lets agents play mirrored deals, a class
with the methods of :class:`Agent` is a player of your own (of :class:`BatchAgent` one that answers many turns at once),
and :func:`as_policy` and :func:`as_opponent` seat an agent in an environment.
"""

from agents.adapters import as_opponent, as_policy
from agents.base import Agent, BatchAgent, Turn, Turns, as_agent
from agents.catalog import CATALOG, make_agent
from agents.match import MatchResult, play_match

__all__ = [
    "CATALOG",
    "Agent",
    "BatchAgent",
    "MatchResult",
    "Turn",
    "Turns",
    "as_agent",
    "as_opponent",
    "as_policy",
    "make_agent",
    "play_match",
]
