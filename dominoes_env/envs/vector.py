"""``vector_env``: many games stepped together, the Gymnasium vector form."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import choose_rules
from dominoes_env.envs.illegal import Illegal
from dominoes_env.envs.rendering import METADATA, Rendered, Rendering, RenderViewer
from dominoes_env.envs.rows import Opponents, Rows, Seat, checked_seed
from dominoes_env.observation import observation_space
from dominoes_env.table import Episode, Reward

__all__ = ["vector_env"]

_AUTORESETS = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}

Step = tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class vector_env(VectorEnv[NDArray[np.int8], ArrayLike, NDArray[Any]]):
    """``num_envs`` games as a Gymnasium vector environment on the compiled engine.

    By default each row has one learner, whose seat changes from episode to episode, among opponents that play
    uniformly at random inside the engine: any trainer for vector environments can learn on it. Observations are int8
    (num_envs, size), see ``dominoes_env.observation_layout``. The legal actions stand in ``info["action_mask"]``, int8
    (num_envs, num_actions), and come from :meth:`action_masks` too; they are no part of the observation, from which
    they could be computed. Rewards are float32 (num_envs,): what the learner booked since his last decision, for the
    first decision of an episode what was booked before it too. ``info["player"]`` is the seat that is played next,
    int8 (num_envs,), ``info["rewards"]`` what every seat booked in the same time, float32 (num_envs, num_players).

    With ``seat="all"`` each action is for whoever is on turn, ``info["player"]``. The reward is that of the seat that
    has just acted (``info["acted"]``, -1 in a row that was only reset), since its own turn before; ``info["rewards"]``
    holds what each seat booked in this step, and the sum of these over an episode is complete: the reward alone misses
    what seats booked after their last action. **A stock trainer must not treat such a row as one player**: the value
    of a row's next state is the value for another seat.

    An episode that ends before the learner has decided anything is not lost: he is shown his last forced move (or, if
    he never came to move, the deal, with a mask of just PASS), and the step that answers it brings the reward and the
    end. Row ``i`` under seed ``s`` is the same whatever the number of rows and threads.

    Args:
        num_envs: rows, at least 1.
        variant: a preset, see ``dominoes_env.VARIANTS``.
        num_players: 2, 3 or 4; None takes the preset's own number.
        rules: rules as they are, instead of a preset with overrides.
        seat: ``"rotate"``: in its episode ``k`` the learner of row ``i`` has seat ``(i + k) % num_players``; an int:
            that seat; ``"all"``: see above.
        opponents: None: uniformly random ones; a callable that answers for all of them in batches, see
            :data:`dominoes_env.envs.rows.OpponentPolicy`; or a sequence of these (None among them is uniform), that
            for the seat after the learner's first. An illegal answer raises.
        autoreset_mode: a ``gymnasium.vector.AutoresetMode``. NEXT_STEP: the step after the end of an episode ignores
            that row's action and resets it, for reward 0. SAME_STEP: the step that ends an episode resets the row,
            with ``final_obs`` and ``final_info`` in the info. DISABLED: ``reset(options={"reset_mask": mask})``.
        episode: ``"round"``: the first round of a fresh match; ``"match"``: rounds until the match is over.
        reward: ``"margin"``, ``"points"`` or ``"win"``, see :class:`dominoes_env.Table`.
        illegal: ``"lose"``: an illegal action ends the episode, the mover gets minus all pips of the set (-1 with
            ``reward="win"``) and the others share them; ``"raise"``: it raises ValueError and nothing changes. None
            takes "raise" for ``seat="all"``, else "lose". An action outside the action space always raises.
        illegal_reward: what the mover gets instead, at most 0; only with ``illegal="lose"``.
        skip_forced: states with one legal action are played on without asking anybody.
        history: the observation ends in the actions of the round, in order.
        num_threads: threads that share the rows of a step. Two pay from some thousand rows on, for fewer one is
            faster; opponents that are callables are asked in the caller's thread.
        copy: hand out fresh arrays; False hands out the buffers themselves, which the next call overwrites.
        render_mode: what ``render()`` gives of each row: ``"ansi"``: text; ``"rgb_array"``: pixels, uint8
            (800, 960, 3), which need the extra ``render``.
        render_viewer: whose eyes these look through: ``"player"``: the seat in ``info["player"]``; ``"all"``: every
            hand and the boneyard; a seat.
        **rule_overrides: knobs of ``Rules``.

    Raises:
        ValueError: for an argument that is not allowed; the message names it, its value and what is allowed.
        ModuleNotFoundError: if what the render mode needs is not installed; the message names the extra.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": METADATA["render_fps"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        variant: str = "draw",
        *,
        num_players: int | None = None,
        rules: Rules | None = None,
        seat: Seat = "rotate",
        opponents: Opponents = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episode: Episode = "round",
        reward: Reward = "margin",
        illegal: Illegal | None = None,
        illegal_reward: float | None = None,
        skip_forced: bool = True,
        history: bool = False,
        num_threads: int = 1,
        copy: bool = True,
        render_mode: Literal["ansi", "rgb_array"] | None = None,
        render_viewer: RenderViewer = "player",
        **rule_overrides: Any,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not allowed; allowed: an integer of at least 1")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            allowed = ", ".join(map(str, AutoresetMode))
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not allowed; allowed: {allowed}") from None
        self.rules = choose_rules(variant, num_players, rules, rule_overrides)
        self._rendering = Rendering(self.rules, render_mode, render_viewer, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.num_envs = int(num_envs)
        self.copy = bool(copy)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self._rows = Rows(
            self.rules,
            self.num_envs,
            seat=seat,
            opponents=opponents,
            autoreset=_AUTORESETS[self.autoreset_mode],
            episode=episode,
            reward=reward,
            illegal=illegal,
            illegal_reward=illegal_reward,
            skip_forced=skip_forced,
            history=history,
            num_threads=num_threads,
        )
        self.single_observation_space = observation_space(self.rules, history=history)
        self.single_action_space = Discrete(self.rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._is_dealt = False

    @property
    def num_players(self) -> int:
        """Seats of a game."""
        return self.rules.num_players

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a new episode in every row, or in those of a mask.

        Args:
            seed: row ``i`` becomes game ``i`` of this seed, and its learner's seat starts over. Without one the
                generators go on; the first time they start from the system's entropy.
            options: ``{"reset_mask": mask}``, bool (num_envs,), resets only the rows in which it is True; others are
                ignored.

        Raises:
            ValueError: for a seed or mask that is not allowed; nothing has changed then.
        """
        rows = self._masked_rows(options)
        seed = checked_seed(seed)
        if seed is None and not self._is_dealt:
            seed = int(self.np_random.integers(2**63))
        elif seed is not None:
            super().reset(seed=seed)
        self._rows.reset(seed, rows)
        self._is_dealt = True
        return self._out(self._rows.table.observations), self._info()

    def step(self, actions: ArrayLike) -> Step:
        """Carry out an action in every row, integers (num_envs,), for the seats in ``info["player"]``.

        Raises:
            ValueError: if the actions have another shape or are no integers, if one is outside the action space or,
                where such raise, illegal, or if under DISABLED an episode is over; no row has changed then. Also if
                an opponent answers with an illegal action; then the environment has to be reset.
        """
        if not self._is_dealt:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        rows, out = self._rows, self._out
        rows.step(actions)
        records = rows.records
        info = self._info()
        info["rewards"] = out(rows.rewards)
        if rows.plays_all:
            info["acted"] = out(records["seat"])
        terminated, truncated = map(out, rows.flags)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._add_finals(info, terminated | truncated)  # a fresh array, to be handed out
        return out(rows.table.observations), out(records["reward"]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of the seat that is played next, int8 0/1 (num_envs, num_actions)."""
        return self._out(self._rows.table.masks)

    def render(self) -> tuple[Rendered, ...] | None:  # type: ignore[override]
        """Each row's table in the render mode, as ``render_viewer`` may see it; None, and a warning, without a mode."""
        if not self._is_dealt:
            raise ResetNeeded("Cannot call env.render() before calling env.reset()")
        if self.render_mode is None:
            self._rendering.warn()
            return None
        return tuple(self._rendering.render(*self._rows.shown(row)) for row in range(self.num_envs))

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "player": self._out(self._rows.players)}

    def _out(self, values: NDArray[Any]) -> NDArray[Any]:
        return values.copy() if self.copy else values

    def _add_finals(self, info: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        """What Gymnasium says of episodes after which the same step began the next; other rows hold nothing."""
        rows = np.flatnonzero(ended)
        if not rows.size:
            return
        observations = np.full(self.num_envs, None, object)
        for row, observation in zip(rows.tolist(), self._rows.final_observations[rows], strict=True):
            observations[row] = observation
        info["final_obs"], info["_final_obs"] = observations, ended
        info["final_info"] = {"action_mask": self._out(self._rows.final_masks), "_action_mask": ended}
        info["_final_info"] = ended

    def _masked_rows(self, options: dict[str, Any] | None) -> NDArray[np.int64] | None:
        mask = None if options is None else options.get("reset_mask")
        if mask is None:
            return None
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not is_mask or not mask.any():
            allowed = f"a bool array of shape ({self.num_envs},) with at least one True"
            raise ValueError(f"options: reset_mask={mask!r} is not allowed; allowed: {allowed}")
        if not self._is_dealt:
            raise ValueError("options: reset_mask is not allowed in the first reset; allowed: reset() of all rows")
        return np.flatnonzero(mask)
