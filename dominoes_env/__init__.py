"""Dominoes for reinforcement learning: the block, draw and All Fives games for 2 to 4 players on one engine.

``dominoes_env.parallel_env()`` is the draw game for two; the other forms and the rules are listed in ``__all__``.
Environments load when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dominoes_env.registration import register_gymnasium, register_presets

__version__ = "0.1.0"

__all__ = [
    "VARIANTS",
    "Game",
    "Rules",
    "Table",
    "__version__",
    "determinize",
    "dominoes_v0",
    "env",
    "gym_env",
    "make_rules",
    "observation_layout",
    "parallel_env",
    "raw_env",
    "read_piece",
    "vector_env",
]

_HOMES = {
    "VARIANTS": "engine.variants",
    "Game": "game",
    "Rules": "engine.rules",
    "Table": "table",
    "determinize": "engine.worlds",
    "env": "envs.aec",
    "gym_env": "envs.single_agent",
    "make_rules": "engine.variants",
    "observation_layout": "observation",
    "parallel_env": "envs.parallel",
    "raw_env": "envs.aec",
    "read_piece": "observation",
    "vector_env": "envs.vector",
}

if TYPE_CHECKING:
    from dominoes_env import dominoes_v0 as dominoes_v0
    from dominoes_env.engine.rules import Rules as Rules
    from dominoes_env.engine.variants import VARIANTS as VARIANTS
    from dominoes_env.engine.variants import make_rules as make_rules
    from dominoes_env.engine.worlds import determinize as determinize
    from dominoes_env.envs.aec import env as env
    from dominoes_env.envs.aec import raw_env as raw_env
    from dominoes_env.envs.parallel import parallel_env as parallel_env
    from dominoes_env.envs.single_agent import gym_env as gym_env
    from dominoes_env.envs.vector import vector_env as vector_env
    from dominoes_env.game import Game as Game
    from dominoes_env.observation import observation_layout as observation_layout
    from dominoes_env.observation import read_piece as read_piece
    from dominoes_env.table import Table as Table

register_gymnasium()
register_presets()


def __getattr__(name: str) -> Any:
    if name == "dominoes_v0":
        return import_module("dominoes_env.dominoes_v0")
    if name not in _HOMES:
        raise AttributeError(f"module 'dominoes_env' has no attribute {name!r}; it has: {', '.join(__all__)}")
    value = getattr(import_module(f"dominoes_env.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
