"""Stable-Baselines3: a ``VecEnv`` straight on a table, where each row's action is for whichever seat is on turn.

Needs ``stable_baselines3`` (and with it torch); nothing else of the package imports this file. Nothing in a step is
done game by game in Python but a mark for games that have just ended.

The reward that SB3's interface has room for is that of the seat that has just acted. Where every seat learns, that is
not enough: the stock rollout buffer would credit the next seat's value to this one. Such a learner reads
:attr:`SelfPlayVecEnv.acted` and :attr:`SelfPlayVecEnv.seat_rewards` after each step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from dominoes_env.engine.rules import Rules
from dominoes_env.observation import observation_space
from dominoes_env.table import Episode, Reward, Table

__all__ = ["SelfPlayVecEnv"]

# Shared by all rows of a kind; not to be written to.
_GOES_ON: dict[str, Any] = {}
_TERMINATED: dict[str, Any] = {"TimeLimit.truncated": False}
_TRUNCATED: dict[str, Any] = {"TimeLimit.truncated": True}


class SelfPlayVecEnv(VecEnv):
    """``num_envs`` games played by one policy from all seats.

    Observations are int8 (num_envs, size) of the seat on turn, fresh arrays; ``env_method("action_masks")`` gives
    ``[masks]``, which sb3-contrib stacks to (1, num_envs, num_actions) and its policies reshape. Games that end are
    dealt anew in the same step; their info is ``{"TimeLimit.truncated": bool}``, without a terminal observation.

    Args:
        rules: the rules of every game.
        num_envs: games side by side.
        seed: row ``i`` is game ``i`` of this seed.
        episode: ``"round"`` or ``"match"``.
        reward: ``"margin"``, ``"points"`` or ``"win"``.
        reward_scale: every reward is divided by it.
        skip_forced: whether states with a single legal action are played without asking.
        history: whether observations hold the round's history.
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int = 512,
        *,
        seed: int = 0,
        episode: Episode = "round",
        reward: Reward = "margin",
        reward_scale: float = 1.0,
        skip_forced: bool = True,
        history: bool = False,
    ) -> None:
        if not reward_scale > 0:
            raise ValueError(f"reward_scale={reward_scale!r} is not allowed; allowed: a number above 0")
        self.table = Table(
            rules, num_envs, seed=seed, episode=episode, reward=reward, skip_forced=skip_forced, history=history
        )
        self.reward_scale = float(reward_scale)
        self.render_mode = None
        #: int8 (num_envs,): the seat that took the last step's action; before a step, 0.
        self.acted: NDArray[np.int8] = np.zeros(num_envs, np.int8)
        #: float32 (num_envs, num_players): scaled reward of every seat for the last step.
        self.seat_rewards: NDArray[np.float32] = np.zeros((num_envs, rules.num_players), np.float32)
        #: bool (num_envs,): whether an episode ended in the last step.
        self.dones: NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._rows = np.arange(num_envs)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, observation_space(rules, history=history), Discrete(rules.num_actions))

    @property
    def num_players(self) -> int:
        """Seats of a game."""
        return self.table.rules.num_players

    @property
    def players(self) -> NDArray[np.int8]:
        """The seat on turn in each row, int8 (num_envs,), a fresh array."""
        return self.table.players.copy()

    def action_masks(self) -> NDArray[np.int8]:
        """Legal actions of the seat on turn, int8 0/1 (num_envs, num_actions); a live view."""
        return self.table.masks

    def reset(self) -> NDArray[np.int8]:
        """Fresh episodes in all rows; ``seed()`` called before makes them the games of that seed."""
        seed = self._seeds[0]
        self.table.reset(seed)
        self._reset_seeds()
        self._reset_options()
        return self.table.observations.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions, integers (num_envs,), for :meth:`step_wait`."""
        self._actions = np.asarray(actions).reshape(-1)

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the actions; the rewards are those of the seats that acted.

        Raises:
            ValueError: for an illegal action; no row has changed then.
        """
        acted = self.table.players.copy()
        self.table.step(self._actions, autoreset=True)
        self.acted = acted
        self.seat_rewards = self.table.rewards / np.float32(self.reward_scale)
        truncated = self.table.truncated
        self.dones = self.table.terminated | truncated
        infos = [_GOES_ON] * self.num_envs
        for row in np.flatnonzero(self.dones):
            infos[row] = _TRUNCATED if truncated[row] else _TERMINATED
        rewards = self.seat_rewards[self._rows, acted]
        return self.table.observations.copy(), rewards, self.dones, infos

    def close(self) -> None:
        """Nothing is held open."""

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of the whole batch, once for each of ``indices``."""
        value = getattr(self, attr_name)
        return [value] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: rows have no attributes of their own."""
        raise AttributeError(f"{attr_name!r} cannot be set: the rows of a table have no attributes of their own")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """``action_masks`` only: a list with one array, the masks of the rows asked for."""
        if method_name != "action_masks":
            raise AttributeError(f"env_method({method_name!r}) is not allowed; allowed: 'action_masks'")
        masks = self.action_masks()
        return [masks if indices is None else masks[self._chosen(indices)]]

    def env_is_wrapped(self, wrapper_class: Any, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Never."""
        return [False] * len(self._chosen(indices))
