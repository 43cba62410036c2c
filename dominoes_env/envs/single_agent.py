"""``gym_env``: one game for one learner, the Gymnasium form; the others at the table are part of the environment."""

from __future__ import annotations

import operator
from typing import Any, SupportsFloat, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import choose_rules
from dominoes_env.envs.illegal import Illegal
from dominoes_env.envs.rendering import METADATA, Rendered, Rendering, RenderMode, RenderViewer, told
from dominoes_env.envs.rows import Opponents, Rows, Seat, checked_seed
from dominoes_env.envs.set_up import read_set_up
from dominoes_env.observation import observation_space
from dominoes_env.table import Episode, Reward

__all__ = ["gym_env"]


class gym_env(gymnasium.Env[NDArray[np.int8], SupportsIndex]):
    """One game with one learner, as a Gymnasium environment; a single row of :class:`dominoes_env.vector_env`.

    Observations, rewards, opponents and forced moves are as there. Legal actions: ``info["action_mask"]``, int8
    (num_actions,), and :meth:`action_masks`, which sb3-contrib's ``MaskablePPO`` asks for. ``info["player"]`` is the
    learner's seat, ``info["rewards"]`` (after a step) what every seat booked, float32 (num_players,).

    Args:
        variant: a preset, see ``dominoes_env.VARIANTS``.
        num_players: 2, 3 or 4; None takes the preset's own number.
        rules: rules as they are, instead of a preset with overrides.
        seat: the learner's; ``"rotate"``: in episode ``k`` after a seeding it is ``k % num_players``.
        opponents: None: uniformly random ones; or callables, see :class:`dominoes_env.vector_env`.
        episode: ``"round"`` or ``"match"``.
        reward: ``"margin"``, ``"points"`` or ``"win"``, see :class:`dominoes_env.Table`.
        illegal: ``"lose"``: an illegal action ends the episode at a price; ``"raise"``: it raises ValueError.
        illegal_reward: the price, at most 0; None: minus all pips of the set, -1 with ``reward="win"``.
        skip_forced: states with one legal action are played on without asking anybody.
        history: the observation ends in the actions of the round, in order.
        render_mode: ``"human"``: a window, which follows each reset and step, twice a second; ``"ansi"``: ``render()``
            returns text; ``"rgb_array"``: pixels, uint8 (800, 960, 3). The first and the last need the extras
            ``window`` and ``render``.
        render_viewer: whose eyes these look through: ``"player"``: the learner, to whom other hands are hidden;
            ``"all"``: every hand and the boneyard; a seat.
        **rule_overrides: knobs of ``Rules``.

    Raises:
        ValueError: for an argument that is not allowed; the message names it, its value and what is allowed.
        ModuleNotFoundError: if what the render mode needs is not installed; the message names the extra.
    """

    metadata: dict[str, Any] = METADATA

    def __init__(
        self,
        variant: str = "draw",
        *,
        num_players: int | None = None,
        rules: Rules | None = None,
        seat: Seat = 0,
        opponents: Opponents = None,
        episode: Episode = "round",
        reward: Reward = "margin",
        illegal: Illegal = "lose",
        illegal_reward: float | None = None,
        skip_forced: bool = True,
        history: bool = False,
        render_mode: RenderMode | None = None,
        render_viewer: RenderViewer = "player",
        **rule_overrides: Any,
    ) -> None:
        self.rules = choose_rules(variant, num_players, rules, rule_overrides)
        if isinstance(seat, str) and seat == "all":
            raise ValueError("seat='all' is not allowed; allowed: 'rotate' or a seat (vector_env and env play all)")
        self._rows = Rows(
            self.rules,
            1,
            seat=seat,
            opponents=opponents,
            autoreset="disabled",
            episode=episode,
            reward=reward,
            illegal=illegal,
            illegal_reward=illegal_reward,
            skip_forced=skip_forced,
            history=history,
        )
        self._rendering = Rendering(self.rules, render_mode, render_viewer)
        self.render_mode = render_mode
        self.observation_space: spaces.Space[Any] = observation_space(self.rules, history=history)
        self.action_space: spaces.Space[Any] = spaces.Discrete(self.rules.num_actions)
        self._action = np.zeros(1, np.int64)
        self._is_dealt = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a new episode, played on to the learner's first decision.

        Args:
            seed: of all chance from here on; the deals are those of every form of the game. Without one the
                generators go on; the first time they start from the system's entropy.
            options: ``{"deal": ..., "lead": ...}`` or ``{"position": ...}`` sets a game up, see
                :mod:`dominoes_env.envs.set_up`; others are ignored. The play goes on from there to the learner's
                first decision.

        Raises:
            ValueError: for a seed, deal or position that is not allowed; the environment stays as it was.
        """
        set_up = read_set_up(self.rules, options)
        seed = checked_seed(seed)
        if seed is None and not self._is_dealt:
            seed = int(self.np_random.integers(2**63))
        elif seed is not None:
            super().reset(seed=seed)
        self._rows.reset(seed, set_up=set_up)
        self._is_dealt = True
        self._show()
        return self._rows.table.observations[0].copy(), self._info()

    def step(self, action: SupportsIndex) -> tuple[NDArray[np.int8], SupportsFloat, bool, bool, dict[str, Any]]:
        """Carry out the learner's action, and what follows up to his next decision or the end.

        Raises:
            ValueError: for an action that is no integer, outside the action space or, where such raise, illegal, or
                after the end; nothing has changed then. Also if an opponent answers with an illegal action; then the
                environment has to be reset.
        """
        if not self._is_dealt:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        try:
            if isinstance(action, (bool, np.bool_)):
                raise TypeError
            self._action[0] = operator.index(action)
        except (TypeError, OverflowError):
            allowed = f"integers from 0 to {self.rules.num_actions - 1}"
            raise ValueError(f"action={action!r} is not allowed; allowed: {allowed}") from None
        self._rows.step(self._action)
        record = self._rows.records[0]
        info = self._info()
        info["rewards"] = record["rewards"][: self.rules.num_players].copy()
        self._show()
        reward, terminated, truncated = float(record["reward"]), bool(record["terminated"]), bool(record["truncated"])
        return self._rows.table.observations[0].copy(), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.int8]:
        """The learner's legal actions, int8 0/1 (num_actions,), a fresh array; exactly PASS after the end."""
        mask: NDArray[np.int8] = self._rows.table.masks[0].copy()
        return mask

    def render(self) -> Rendered:
        """The table in the render mode, as ``render_viewer`` may see it, where the learner is to decide or at the end.

        None, and a warning, without a render mode.
        """
        if not self._is_dealt:
            raise ResetNeeded("Cannot call env.render() before calling env.reset()")
        return self._rendering.render(*self._rows.shown(0))

    def view(self) -> str:
        """The table as text as the learner sees it; the tiles hidden from him are not in it."""
        state, history, player, is_lost = self._rows.shown(0)
        return told(self.rules, state, history, player, player, is_lost=is_lost)

    def close(self) -> None:
        """Close the window, if one is open; may be called at any time, and twice."""
        self._rendering.close()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "player": int(self._rows.players[0])}
