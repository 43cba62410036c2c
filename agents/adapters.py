"""Agents where an environment asks: as the policy of a PettingZoo seat, or as the opponents of a learner's rows."""

from __future__ import annotations

import hashlib
import operator
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.base import Agent, Turn, Turns
from agents.catalog import make_agent
from agents.keys import decision_keys
from dominoes_env.arguments import MAX_SEED, checked_integer
from dominoes_env.engine.rules import Rules
from dominoes_env.observation import observation_size

__all__ = ["as_opponent", "as_policy"]


def as_policy(agent: Any, env: Any, *, seed: int | None = 0) -> Callable[..., int]:
    """``policy(observation, mask, info) -> action`` for a PettingZoo environment, turn-based or parallel.

    The policy answers for the agent on turn in ``env``: what that agent may know is asked of ``env.knowledge()``. A
    mask that allows one action is answered with it, whosever it is, so the policy of a seat may be asked at any time.

        policy = as_policy("greedy", env)
        observation, _, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else policy(observation, info["action_mask"], info))

    Args:
        agent: a name of the catalog, or an object that acts. One that cheats is refused.
        env: what ``dominoes_env.env``, ``raw_env`` or ``parallel_env`` made; with ``history=True`` if the agent needs
            the history in its observations.
        seed: with a seed a decision's randomness is a function of the seed and of what the player knows: the same view
            of the table gets the same answer. None: every decision is random anew.

    Returns:
        The policy. ``observation``: what the environment showed, the dict or its ``observation`` array. ``mask``: the
        legal actions, int8 (num_actions,); None takes that of the dict or of ``info``. ``info`` may be left out.

    Raises:
        ValueError: for an agent that cannot play here, or another environment. The policy itself raises it for a mask
            that is not that of the agent on turn.
    """
    player = _honest(agent)
    knowledge = getattr(env, "knowledge", None)
    if not callable(knowledge):
        raise ValueError(f"env={env!r} is not allowed; allowed: what dominoes_env.env, raw_env or parallel_env made")
    rules: Rules = env.rules
    player.check_rules(rules)
    size = env.observation_space(env.possible_agents[0])["observation"].shape[0]
    _require_history(player, rules, size)
    seed = None if seed is None else checked_integer("seed", seed, 0, MAX_SEED)

    def policy(observation: Any, mask: ArrayLike | None = None, info: Mapping[str, Any] | None = None) -> int:
        seen = observation["observation"] if isinstance(observation, Mapping) else observation
        legal = _mask(observation, mask, info)
        if legal.sum() == 1:
            return int(legal.argmax())
        known = knowledge()
        if not np.array_equal(known["action_mask"], legal):
            raise ValueError(f"mask={np.flatnonzero(legal)} is not that of player_{known['player']}, who is on turn")
        state, history = known["state"], known["history"]
        key = secrets.randbits(64) if seed is None else _key(seed, state, history)
        turn = Turn(rules, known["player"], state, history, np.asarray(seen, np.int8), known["action_mask"], key)
        return operator.index(player.act(turn))

    return policy


def as_opponent(agent: Any, rules: Rules, *, seed: int = 0) -> Callable[..., NDArray[np.int64]]:
    """An opponent for ``gym_env(opponents=...)`` and ``vector_env(opponents=...)``: all rows are answered at once.

        rules = make_rules("draw")
        env = dominoes_env.vector_env(1024, rules=rules, opponents=as_opponent("greedy", rules))

    Args:
        agent: a name of the catalog, or an object that acts. One that cheats is refused.
        rules: those of the environment.
        seed: joins the key that the environment gives each decision: with the same seeds the play is the same.

    Raises:
        ValueError: for an agent that cannot play by the rules. An environment of other rules refuses the opponent, and
            the opponent one that shows no history to an agent that needs it.
    """
    player = _honest(agent)
    player.check_rules(rules)
    seed = checked_integer("seed", seed, 0, MAX_SEED)

    def opponent(observations: NDArray[np.int8], masks: NDArray[np.int8], infos: dict[str, Any]) -> NDArray[np.int64]:
        _require_history(player, rules, observations.shape[1])
        turns = Turns(
            rules,
            infos["player"],
            infos["state"],
            infos["history"],
            infos["history_length"],
            observations,
            masks,
            decision_keys(seed, infos["key"]),
        )
        return player.act_batch(turns)

    opponent.rules = rules  # type: ignore[attr-defined] - an environment of other rules refuses it
    return opponent


def _honest(agent: Any) -> Agent:
    player = make_agent(agent)
    if player.sees_all:
        raise ValueError(
            f"agent={player.name!r} is not allowed: it sees hidden tiles, which an environment shows to nobody; "
            "agents.play_match lets it play"
        )
    return player


def _require_history(player: Agent, rules: Rules, size: int) -> None:
    if player.needs_history and size < observation_size(rules, history=True):
        raise ValueError(f"agent={player.name!r} needs an environment with history=True")


def _mask(observation: Any, mask: ArrayLike | None, info: Mapping[str, Any] | None) -> NDArray[np.int8]:
    if mask is None:
        holder = observation if isinstance(observation, Mapping) else info
        if holder is None or "action_mask" not in holder:
            raise ValueError("mask=None is not allowed without an action_mask in the observation or the info")
        mask = holder["action_mask"]
    return np.asarray(mask, np.int8)


def _key(seed: int, state: NDArray[Any], history: NDArray[np.int16]) -> int:
    view = hashlib.blake2b(state.tobytes() + history.tobytes(), digest_size=8).digest()
    return int(decision_keys(seed, int.from_bytes(view, "little"))[0])
