"""What the tests of the environments share: every preset at every player count, whole games, comparisons."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dominoes_env.engine.variants import VARIANTS

PRESETS = [(name, players) for name, variant in VARIANTS.items() for players in variant.hand_sizes]
#: Rules that the presets do not show: kept lots, one draw a turn, small sets.
ODD_RULES: list[tuple[str, dict[str, Any]]] = [
    ("block", {"opening": "lots_keep", "num_players": 3}),
    ("draw", {"draw_rule": "one", "no_double": "heaviest"}),
    ("all_fives", {"spinner": "opening_double", "target_check": "after_round", "target": 30}),
    ("draw", {"max_pip": 3, "hand_size": 3, "target": 20, "max_rounds": 2}),
]

#: PettingZoo knows which of its own environments have Dict observations; for all others these two cannot be avoided.
UNAVOIDABLE = ("Observation is not a NumPy array", "Observation space for each agent probably should be")


@contextmanager
def only_unavoidable_warnings() -> Iterator[None]:
    """Every warning but the two about Dict observations is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in UNAVOIDABLE:
            warnings.filterwarnings("ignore", message=message)
        yield


def chooser(seed: int) -> Callable[[Any], int]:
    """A uniform random choice among the actions of a mask."""
    generator = np.random.default_rng(seed)

    def choose(mask: Any) -> int:
        return int(generator.choice(np.flatnonzero(mask)))

    return choose


def play_aec(env: Any, choose: Callable[[Any], int], *, seed: int | None = None) -> list[Any]:
    """Play an episode; what every agent saw, got and did, step by step."""
    env.reset(seed=seed)
    seen = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else choose(observation["action_mask"])
        seen.append((agent, observation, reward, terminated, truncated, info, action))
        env.step(action)
    return seen


def play_parallel(env: Any, choose: Callable[[Any], int], *, seed: int | None = None) -> list[Any]:
    """Play an episode; each step's actions, and what step returned."""
    observations, infos = env.reset(seed=seed)
    seen: list[Any] = [(observations, infos)]
    while env.agents:
        actions = {agent: choose(observations[agent]["action_mask"]) for agent in env.agents}
        step = env.step(actions)
        observations = step[0]
        seen.append((actions, *step))
    return seen


def state_of(env: Any) -> Any:
    """A copy of the record (1,) of an environment's game."""
    return env.unwrapped._seats.table.states.copy()


def same_state(a: Any, b: Any) -> bool:
    """Whether two records agree in every field."""
    return all(np.array_equal(a[name], b[name]) for name in a.dtype.names)


def first_illegal(env: Any) -> int:
    """The lowest action that the agent on turn may not take."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])
