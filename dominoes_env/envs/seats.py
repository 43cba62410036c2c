"""What the PettingZoo forms share: a table with one game behind named agents, and the rule for illegal actions."""

from __future__ import annotations

import operator
import secrets
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoes_env.arguments import checked_switch
from dominoes_env.engine.batch import IS_TERMINATED
from dominoes_env.engine.rules import Rules
from dominoes_env.envs.illegal import Illegal, check_illegal, loss_of_mover, losses_by_mover
from dominoes_env.envs.open_state import open_state, state_space
from dominoes_env.envs.rendering import METADATA, Rendered, Rendering, RenderMode, RenderViewer, told
from dominoes_env.envs.set_up import read_set_up
from dominoes_env.observation import mask_space, observation_layout, observation_space
from dominoes_env.table import Episode, Reward, Table
from dominoes_env.words import format_action

__all__ = [
    "METADATA",
    "Episode",
    "Illegal",
    "Observation",
    "RenderMode",
    "RenderViewer",
    "Rendered",
    "Reward",
    "SeatedEnv",
    "Seats",
]

Observation: TypeAlias = dict[str, NDArray[np.int8]]


class Seats:
    """One game on a :class:`Table` as the named agents ``player_0``, ``player_1``, ... see it.

    After :meth:`reset` and :meth:`play`: ``turn`` is the seat that moves, or would if the episode were not over,
    ``mover`` the same or -1 once it is over; ``rewards`` what each agent has booked just now, a fresh dict,
    and ``is_rewarded`` whether that is anything; ``is_terminated`` and ``is_truncated`` whether the episode is over.
    Every seat but the mover has exactly PASS in its mask.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        episode: Episode,
        reward: Reward,
        illegal: Illegal,
        illegal_reward: float | None,
        skip_forced: bool,
        history: bool,
        render_mode: RenderMode | None,
        render_viewer: RenderViewer,
    ) -> None:
        check_illegal(illegal, illegal_reward)
        checked_switch("skip_forced", skip_forced)
        checked_switch("history", history)
        self.rendering = Rendering(rules, render_mode, render_viewer)
        self.rules = rules
        self.table = Table(rules, episode=episode, reward=reward, skip_forced=skip_forced, history=history)
        self._look()
        self.raises = illegal == "raise"
        self.history = history
        self.agents = [f"player_{seat}" for seat in range(rules.num_players)]
        self.seat_of = {agent: seat for seat, agent in enumerate(self.agents)}
        self.observation_spaces = {agent: _observation_space(rules, history) for agent in self.agents}
        self.action_spaces = {agent: spaces.Discrete(rules.num_actions) for agent in self.agents}
        self.state_space = state_space(rules, history=history)
        self.turn = 0
        self.mover = -1
        self.rewards: dict[str, float] = {}
        self.is_rewarded = False
        self.is_terminated = False
        self.is_truncated = False
        self._is_lost = False
        self._is_dealt = False
        self._is_seeded = False
        self._losses = losses_by_mover(rules, loss_of_mover(rules, reward, illegal_reward))
        self._num_actions = rules.num_actions
        self._no_rewards = dict.fromkeys(self.agents, 0.0)
        self._only_pass = np.zeros(rules.num_actions, np.int8)
        self._only_pass[rules.pass_action] = 1
        self._only_pass.flags.writeable = False
        self._turn_piece = observation_layout(rules, history=history)["turn"].slice

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Begin a new episode; a refused option or seed leaves everything as it was."""
        set_up = read_set_up(self.rules, options)
        if seed is None and not self._is_seeded:
            seed = secrets.randbits(63)
        self.table.reset(seed)
        self._is_seeded = True
        if set_up is not None:
            self.table.set_state(0, *set_up.placed(self.table.states))
        self._is_lost = False
        self._is_dealt = True
        self._take_in()

    def play(self, action: Any) -> None:
        """Carry out the action of the seat on turn. An illegal one raises or loses; nothing has changed if it raises.

        Raises:
            ValueError: for an action that is not an integer, or outside the action space, or illegal where such
                actions raise; or when the episode is over.
        """
        if type(action) is not int:
            action = self._integer(action)
        if not 0 <= action < self._num_actions:
            raise ValueError(f"action={action} is not allowed; allowed: 0 to {self._num_actions - 1}")
        if self.is_terminated or self.is_truncated:
            raise ValueError(f"action={action} is not allowed: the episode is over; allowed: reset()")
        told = self.table.step_one(action)
        if 0 <= told < IS_TERMINATED:  # no flag is set, as in most steps
            self.turn = self.mover = told
            self.rewards = self._no_rewards.copy()
            self.is_rewarded = False
        elif told >= 0:
            self._take_in()
        elif self.raises:
            raise ValueError(self._refusal(action))
        else:
            self.rewards = dict(zip(self.agents, self._losses[self.turn], strict=True))
            self.is_rewarded = self.is_terminated = self._is_lost = True
            self.mover = -1

    def mask(self, seat: int) -> NDArray[np.int8]:
        """The legal actions of a seat, int8 (num_actions,); a fresh array."""
        return (self._mask if seat == self.mover else self._only_pass).copy()

    def observe(self, agent: str) -> Observation:
        """What an agent sees: ``observation`` and ``action_mask``, fresh arrays; changes nothing."""
        if self.seat_of.get(agent) == self.mover:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        self.require_reset("observe")
        seat = self.seat(agent)
        if seat == self.turn:
            observation = self._observation.copy()
        else:
            observation = self.table.observe(0, seat)
        return {"observation": self._as_seen(observation), "action_mask": self.mask(seat)}

    def _as_seen(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """An observation as the episode stands: once it is lost nobody moves, and the mask must follow from it."""
        if self._is_lost:
            observation[self._turn_piece] = 0
        return observation

    def infos(self) -> dict[str, dict[str, Any]]:
        """The ``info`` of every agent: its mask again, nothing else. Masks of PASS alone are one read-only array."""
        only_pass = self._only_pass
        infos: dict[str, dict[str, Any]] = {}
        for agent in self.agents:
            infos[agent] = {"action_mask": only_pass}
        if self.mover >= 0:
            infos[self.agents[self.mover]]["action_mask"] = self._mask.copy()
        return infos

    def state(self) -> NDArray[np.int8]:
        """All there is to know, hidden tiles included, laid out by :func:`state_layout`; a fresh array."""
        self.require_reset("state")
        observation = self._as_seen(self.table.observe(0, 0))
        return open_state(self.rules, self.table.states, observation, history=self.history)

    def render(self) -> Rendered:
        """The table in the render mode; see :class:`Rendering`."""
        self.require_reset("render")
        history = self.table.round_history().tolist()
        return self.rendering.render(self.table.states, history, self.turn, self._is_lost)

    def view(self, seat: int) -> str:
        """The table as text as one seat sees it; the tiles hidden from that seat are not in it."""
        history = self.table.round_history().tolist()
        return told(self.rules, self.table.states, history, seat, self.turn, is_lost=self._is_lost)

    def seat(self, agent: str) -> int:
        """The seat of an agent by its name."""
        seat = self.seat_of.get(agent)
        if seat is None:
            raise ValueError(f"agent={agent!r} is not allowed; allowed: {', '.join(self.agents)}")
        return seat

    def require_reset(self, what: str) -> None:
        """Refuse ``what`` before the first reset, as PettingZoo's own order check does."""
        if not self._is_dealt:
            raise AssertionError(f"reset() needs to be called before {what}.")

    def _look(self) -> None:
        self._mask: NDArray[np.int8] = self.table.masks[0]  # live rows: each step writes them anew
        self._observation: NDArray[np.int8] = self.table.observations[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_mask", "_observation")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._only_pass.flags.writeable = False
        self._look()

    def _take_in(self) -> None:
        table = self.table
        self.turn = int(table.players[0])
        self.rewards = dict(zip(self.agents, table.rewards[0].tolist(), strict=True))
        self.is_rewarded = any(self.rewards.values())
        self.is_terminated = bool(table.terminated[0])
        self.is_truncated = bool(table.truncated[0])
        self.mover = -1 if self.is_terminated or self.is_truncated else self.turn

    def _integer(self, action: Any) -> int:
        try:
            if isinstance(action, (bool, np.bool_)):
                raise TypeError
            return operator.index(action)
        except TypeError:
            raise ValueError(
                f"action={action!r} is no integer; allowed: integers from 0 to {self._num_actions - 1}"
            ) from None

    def _refusal(self, action: int) -> str:
        is_lead = not self.table.states["laid"][0]
        legal = np.flatnonzero(self.table.masks[0]).tolist()
        words = [f"{other} ({format_action(self.rules, other, is_lead=is_lead)})" for other in legal]
        word = format_action(self.rules, action)
        return f"action={action} ({word}) is illegal for {self.agents[self.turn]}; allowed: {', '.join(words)}"


def _observation_space(rules: Rules, history: bool) -> spaces.Dict:
    return spaces.Dict({"observation": observation_space(rules, history=history), "action_mask": mask_space(rules)})


class SeatedEnv:
    """What the turn-based and the parallel environment have in common: spaces and looking."""

    possible_agents: list[str]

    def _sit(self, seats: Seats) -> None:
        self._seats = seats
        self.rules = seats.rules
        self.render_mode = seats.rendering.mode
        self.possible_agents = list(seats.agents)
        self.agents: list[str] = []
        self.observation_spaces = seats.observation_spaces
        self.action_spaces = seats.action_spaces
        self.state_space = seats.state_space

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The Dict space of an agent's observations: always the same object."""
        return self._seats.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The Discrete space of an agent's actions: always the same object."""
        return self._seats.action_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """What ``agent`` sees now, in fresh arrays; looking changes nothing."""
        return self._seats.observe(agent)

    def state(self) -> NDArray[np.int8]:
        """Everything, hidden tiles included, for centralised critics: int8, laid out by ``state_layout``."""
        return self._seats.state()

    def render(self) -> Rendered:
        """The table in the render mode, see :data:`RenderMode`, as ``render_viewer`` may see it."""
        return self._seats.render()

    def view(self, agent: str) -> str:
        """The table as text as ``agent`` sees it."""
        self._seats.require_reset("view")
        return self._seats.view(self._seats.seat(agent))

    def knowledge(self, agent: str | None = None) -> dict[str, Any]:
        """What an agent may know of the game, for players who think about it; all fresh, nothing hidden in it.

        Args:
            agent: its name; None: the agent on turn.

        Returns:
            ``player``, its seat; ``state``, the record concealed from it, (1,) ``STATE_DTYPE``; ``history``, the
            round's actions in order, int16 (k,); ``action_mask``, int8 (num_actions,).
        """
        seats = self._seats
        seats.require_reset("knowledge")
        seat = seats.turn if agent is None else seats.seat(agent)
        return {
            "player": seat,
            "state": seats.table.concealed(0, seat),
            "history": seats.table.round_history(),
            "action_mask": seats.mask(seat),
        }

    def close(self) -> None:
        """Close the window, if one is open; may be called at any time, and twice."""
        self._seats.rendering.close()
