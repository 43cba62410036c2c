"""``raw_env`` and ``env``: the turn-based PettingZoo form, one agent at a time (AEC)."""

from __future__ import annotations

from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import choose_rules
from dominoes_env.envs.seats import (
    METADATA,
    Episode,
    Illegal,
    Observation,
    RenderMode,
    RenderViewer,
    Reward,
    SeatedEnv,
    Seats,
)

__all__ = ["OrderedEnv", "env", "raw_env"]


class raw_env(SeatedEnv, AECEnv[str, Observation, int | None]):  # type: ignore[misc]
    """Dominoes as a turn-based environment without a wrapper; :func:`env` is this one, wrapped.

    DRAW and PASS are steps like any other. Each agent's observation is a dict of ``observation`` (int8, see
    ``dominoes_env.observation_layout``) and ``action_mask`` (int8, 1 is legal); ``info`` repeats the mask. An agent
    that is not on turn, and every agent after the end, has exactly PASS in its mask. ``last()`` gives the reward
    since the agent's own previous step.

    Args:
        variant: a preset, see ``dominoes_env.VARIANTS``.
        num_players: 2, 3 or 4; None takes the preset's own number.
        rules: rules as they are, instead of a preset with overrides.
        episode: ``"round"``: the first round of a fresh match; ``"match"``: rounds until the match is over.
        reward: ``"margin"``: own points less the mean of the opponents' (with teams, team-wise); ``"points"``;
            ``"win"``: +1 shared by the winners and -1 by the others at the end.
        illegal: ``"raise"``: an illegal action raises ValueError and changes nothing; ``"lose"``: it ends the
            episode, the mover gets minus all pips of the set (-1 with ``reward="win"``) and the others share
            them; with teams his partner loses as much as he does and each opponent gains it.
        illegal_reward: what the mover gets instead, at most 0; only with ``illegal="lose"``.
        skip_forced: states with one legal action are played on without a step.
        history: the observation ends in the actions of the round, in order.
        render_mode: ``"human"``: a window, which follows each reset and step, twice a second; ``"ansi"``: ``render()``
            returns text; ``"rgb_array"``: pixels, uint8 (800, 960, 3). The first and the last need the extras
            ``window`` and ``render``.
        render_viewer: whose eyes these look through: ``"all"``: every hand and the boneyard; ``"player"``: the agent
            on turn; a seat.
        **rule_overrides: knobs of ``Rules``.

    Raises:
        ValueError: for an argument that is not allowed; the message names it, its value and what is allowed.
        ModuleNotFoundError: if what the render mode needs is not installed; the message names the extra.
    """

    metadata: ClassVar[dict[str, Any]] = {**METADATA, "is_parallelizable": False}

    def __init__(
        self,
        variant: str = "draw",
        *,
        num_players: int | None = None,
        rules: Rules | None = None,
        episode: Episode = "round",
        reward: Reward = "margin",
        illegal: Illegal = "raise",
        illegal_reward: float | None = None,
        skip_forced: bool = False,
        history: bool = False,
        render_mode: RenderMode | None = None,
        render_viewer: RenderViewer = "all",
        **rule_overrides: Any,
    ) -> None:
        super().__init__()
        seats = Seats(
            choose_rules(variant, num_players, rules, rule_overrides),
            episode=episode,
            reward=reward,
            illegal=illegal,
            illegal_reward=illegal_reward,
            skip_forced=skip_forced,
            history=history,
            render_mode=render_mode,
            render_viewer=render_viewer,
        )
        self._sit(seats)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new episode.

        The same seed gives the same deals in every form and in ``Game``. Without a seed the generator goes on from
        where it is; the first time it starts from the system's entropy.

        Args:
            seed: of all chance from here on.
            options: ``{"deal": ..., "lead": ...}`` or ``{"position": ...}`` sets a game up, see
                :mod:`dominoes_env.envs.set_up`; other options are ignored. A game set up is shown as it is, with
                ``skip_forced`` too: a forced action in it is not played on.

        Raises:
            ValueError: for a seed, deal or position that is not allowed; the environment stays as it was.
        """
        seats = self._seats
        seats.reset(seed, options)
        self.agents = list(seats.agents)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection: str | None = None
        self._show()

    def step(self, action: int | None) -> None:
        """Carry out the action of ``agent_selection``; None from an agent whose episode is over.

        Raises:
            ValueError: for an action that is no integer, outside the action space, or illegal under
                ``illegal="raise"``, all naming it; or after the end. Nothing has changed then.
        """
        seats = self._seats
        if not self.agents:
            seats.require_reset("step")
            raise ValueError(f"action={action!r} is not allowed: the episode is over; allowed: reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        seats.play(action)
        self._cumulative_rewards[agent] = 0.0
        self._show()

    def _show(self) -> None:
        """Publish what the seats say after a reset or a step."""
        seats, agents = self._seats, self.agents
        self.infos = seats.infos()
        self.agent_selection = agents[seats.turn]
        self.rewards = seats.rewards
        if seats.is_rewarded:
            cumulative = self._cumulative_rewards
            for agent, reward in self.rewards.items():
                cumulative[agent] += reward
        if seats.mover < 0:
            self.terminations = dict.fromkeys(agents, seats.is_terminated)
            self.truncations = dict.fromkeys(agents, seats.is_truncated)
            self._deads_step_first()
        if self.render_mode == "human":
            seats.render()


def _handed_on(name: str) -> Any:
    """An attribute of the wrapped environment, refused before the first reset."""

    def read(ordered: OrderedEnv) -> Any:
        if not ordered._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        return getattr(ordered.env, name)

    return property(read)


class OrderedEnv(OrderEnforcingWrapper[str, Observation, int | None]):  # type: ignore[misc]
    """The one wrapper of :func:`env`: calls before reset, or a loop without a step, are refused as PettingZoo does.

    PettingZoo's own chain answers every attribute by way of ``__getattr__`` and observes before each step, which
    costs many times the step itself. This one hands on directly.
    """

    env: raw_env
    agents = _handed_on("agents")
    agent_selection = _handed_on("agent_selection")
    rewards = _handed_on("rewards")
    terminations = _handed_on("terminations")
    truncations = _handed_on("truncations")
    infos = _handed_on("infos")

    def step(self, action: int | None) -> None:
        self._has_updated = True
        self.env.step(action)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        if not self._has_reset:
            raise AssertionError("reset() needs to be called before last.")
        seen: tuple[Observation | None, float, bool, bool, dict[str, Any]] = self.env.last(observe)
        return seen

    def observe(self, agent: str) -> Observation:
        return self.env.observe(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self._has_reset = self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


def env(
    variant: str = "draw",
    *,
    num_players: int | None = None,
    rules: Rules | None = None,
    episode: Episode = "round",
    reward: Reward = "margin",
    illegal: Illegal = "lose",
    illegal_reward: float | None = None,
    skip_forced: bool = False,
    history: bool = False,
    render_mode: RenderMode | None = None,
    render_viewer: RenderViewer = "all",
    **rule_overrides: Any,
) -> OrderedEnv:
    """Dominoes as a turn-based PettingZoo environment; the arguments are those of :class:`raw_env`.

    An illegal action loses the episode unless ``illegal="raise"``; calls in a wrong order are refused.
    """
    return OrderedEnv(
        raw_env(
            variant,
            num_players=num_players,
            rules=rules,
            episode=episode,
            reward=reward,
            illegal=illegal,
            illegal_reward=illegal_reward,
            skip_forced=skip_forced,
            history=history,
            render_mode=render_mode,
            render_viewer=render_viewer,
            **rule_overrides,
        )
    )
