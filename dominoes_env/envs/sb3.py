"""Stable-Baselines3: a ``VecEnv`` straight on the engine, where each row's action is for the seat that is to decide.

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

from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
from dominoes_env.envs.rows import Opponents, Rows
from dominoes_env.observation import observation_size, observation_space
from dominoes_env.table import Episode, Reward

__all__ = ["SelfPlayVecEnv"]

# Shared by all rows of a kind; not to be written to.
_GOES_ON: dict[str, Any] = {}
_TERMINATED: dict[str, Any] = {"TimeLimit.truncated": False}
_TRUNCATED: dict[str, Any] = {"TimeLimit.truncated": True}


class SelfPlayVecEnv(VecEnv):
    """``num_envs`` games, most of them played by one policy from all seats, the last ``num_league`` against others.

    Observations are int8 (num_envs, size) of the seat that is to decide, fresh arrays; ``env_method("action_masks")``
    gives ``[masks]``, which sb3-contrib stacks to (1, num_envs, num_actions) and its policies reshape. Games that end
    are dealt anew in the same step; their info is ``{"TimeLimit.truncated": bool}``, without a terminal observation.

    In a row of the league one seat is the learner's, in the row's episode ``k`` the seat ``(i + k) % num_players`` of
    league row ``i``; the other seats are answered by ``opponents`` within :meth:`step_wait`, each policy once for all
    rows that wait for it. There ``seat_rewards`` is what every seat got since the learner's last decision.

    Args:
        rules: the rules of every game.
        num_envs: games side by side.
        seed: row ``i`` is game ``i`` of this seed.
        episode: ``"round"`` or ``"match"``.
        reward: ``"margin"``, ``"points"`` or ``"win"``.
        reward_scale: every reward is divided by it.
        skip_forced: whether states with a single legal action are played without asking.
        history: whether observations hold the round's history.
        num_league: rows of the league, 0 to ``num_envs``.
        opponents: the others in the league, see :data:`dominoes_env.envs.rows.OpponentPolicy`: one callable for all
            seats, or one a seat, that for the seat after the learner's first (with teams the second is his partner's);
            None plays uniformly at random. ``infos["row"]`` counts league rows from 0.

    Raises:
        ValueError: for an argument that is not allowed; the message names it, its value and what is allowed.
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
        num_league: int = 0,
        opponents: Opponents = None,
    ) -> None:
        if not isinstance(rules, Rules):
            raise ValueError(f"rules={rules!r} is not allowed; allowed: a Rules, as make_rules gives")
        if not reward_scale > 0:
            raise ValueError(f"reward_scale={reward_scale!r} is not allowed; allowed: a number above 0")
        num_envs = checked_integer("num_envs", num_envs, 1)
        num_league = checked_integer("num_league", num_league, 0, num_envs)
        if opponents is not None and not num_league:
            raise ValueError("opponents= is not allowed with num_league=0: they would have nothing to play")
        options: dict[str, Any] = {
            "autoreset": "same_step",
            "episode": episode,
            "reward": reward,
            "illegal": "raise",
            "illegal_reward": None,
            "skip_forced": skip_forced,
            "history": history,
        }
        alone = num_envs - num_league
        self._parts: list[tuple[slice, Rows]] = []
        if alone:
            self._parts.append((slice(0, alone), Rows(rules, alone, seat="all", opponents=None, **options)))
        if num_league:
            league = Rows(rules, num_league, seat="rotate", opponents=opponents, first_game=alone, **options)
            self._parts.append((slice(alone, num_envs), league))
        self.rules = rules
        self.reward_scale = float(reward_scale)
        self.render_mode = None
        #: int8 (num_envs,): the seat that took the last step's action; before a step, 0.
        self.acted: NDArray[np.int8] = np.zeros(num_envs, np.int8)
        #: float32 (num_envs, num_players): scaled reward of every seat for the last step.
        self.seat_rewards: NDArray[np.float32] = np.zeros((num_envs, rules.num_players), np.float32)
        #: bool (num_envs,): whether an episode ended in the last step.
        self.dones: NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._truncated: NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._all_rows = np.arange(num_envs)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self._observations = np.zeros((num_envs, observation_size(rules, history=history)), np.int8)
        self._masks = np.zeros((num_envs, rules.num_actions), np.int8)
        self._deal(seed)
        super().__init__(num_envs, observation_space(rules, history=history), Discrete(rules.num_actions))

    @property
    def num_players(self) -> int:
        """Seats of a game."""
        return self.rules.num_players

    @property
    def players(self) -> NDArray[np.int8]:
        """The seat that is to decide in each row, int8 (num_envs,), a fresh array."""
        return np.concatenate([rows.players for _, rows in self._parts])

    @property
    def league_episodes(self) -> NDArray[np.int64]:
        """The number of the episode underway in each league row, int64 (num_league,), a fresh array."""
        _, rows = self._parts[-1]
        return np.zeros(0, np.int64) if rows.plays_all else rows.records["episode"].copy()

    def observations(self) -> NDArray[np.int8]:
        """What the seats that are to decide see, int8 (num_envs, size), a fresh array."""
        return self._observations.copy()

    def action_masks(self) -> NDArray[np.int8]:
        """Legal actions of the seats that are to decide, int8 0/1 (num_envs, num_actions); a live view."""
        return self._masks

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays that the games are made of: written back in place they put the games as they were."""
        return {
            "observations": self._observations,
            "masks": self._masks,
            **{
                f"{number}.{name}": array
                for number, (_, rows) in enumerate(self._parts)
                for name, array in rows.arrays().items()
            },
        }

    def reset(self) -> NDArray[np.int8]:
        """Fresh episodes in all rows; ``seed()`` called before makes them the games of that seed."""
        self._deal(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return self.observations()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions, integers (num_envs,), for :meth:`step_wait`."""
        self._actions = np.asarray(actions).reshape(-1)

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the actions; the rewards are those of the seats that acted.

        Raises:
            ValueError: for an illegal action; no row has changed then. Also if an opponent answers with an illegal
                action; then the environment has to be reset.
        """
        if self._actions.shape != (self.num_envs,):
            raise ValueError(f"actions of shape {self._actions.shape} are not allowed; allowed: ({self.num_envs},)")
        acted = self.players
        checked = [rows.check(self._actions[part]) for part, rows in self._parts]
        self.acted = acted
        self.seat_rewards = np.empty_like(self.seat_rewards)
        self.dones = np.empty_like(self.dones)
        for (part, rows), actions in zip(self._parts, checked, strict=True):
            rows.step(actions, is_checked=True)
            self.seat_rewards[part] = rows.rewards
            terminated, self._truncated[part] = rows.flags
            self.dones[part] = terminated | self._truncated[part]
            self._look(part, rows)
        self.seat_rewards /= np.float32(self.reward_scale)
        infos = [_GOES_ON] * self.num_envs
        for row in np.flatnonzero(self.dones):
            infos[row] = _TRUNCATED if self._truncated[row] else _TERMINATED
        return self.observations(), self.seat_rewards[self._all_rows, acted], self.dones, infos

    def _deal(self, seed: int | None) -> None:
        for part, rows in self._parts:
            rows.reset(seed)
            self._look(part, rows)

    def _look(self, part: slice, rows: Rows) -> None:
        self._observations[part] = rows.table.observations
        self._masks[part] = rows.table.masks

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
