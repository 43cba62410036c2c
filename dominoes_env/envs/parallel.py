"""``parallel_env``: the PettingZoo form in which all agents are asked at once, of which one is on turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pettingzoo import ParallelEnv

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

__all__ = ["parallel_env"]


class parallel_env(SeatedEnv, ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """Dominoes as a parallel environment, run natively.

    A game of turns has one agent on turn at a time, and a step is one action of the game. Only the action of the
    agent on turn counts: it is the one whose mask is not just PASS, and the ``turn`` piece of every observation names
    it. Whatever the others send, or that they send nothing, is ignored.

    The arguments are those of :class:`dominoes_env.envs.aec.raw_env`; an illegal action loses the episode unless
    ``illegal="raise"``.
    """

    metadata: ClassVar[dict[str, Any]] = METADATA

    def __init__(
        self,
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
    ) -> None:
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

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a new episode; seed and options as in the turn-based form. Returns observations and infos.

        A deal or position that ``options`` set up is shown as it is, with ``skip_forced`` too.
        """
        self._seats.reset(seed, options)
        self.agents = list(self.possible_agents)
        if self.render_mode == "human":
            self._seats.render()
        return self._observations(), self._seats.infos()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out the action of the agent on turn; the entries of the others are ignored.

        Returns:
            Observations, rewards, terminations, truncations and infos, each by agent.

        Raises:
            ValueError: if the agent on turn has no entry, or one that is no integer, outside the action space, or
                illegal under ``illegal="raise"``; or after the end. Nothing has changed then.
        """
        seats = self._seats
        if not self.agents:
            seats.require_reset("step")
            raise ValueError("step() is not allowed: the episode is over; allowed: reset()")
        agent = self.possible_agents[seats.turn]
        if not isinstance(actions, Mapping) or agent not in actions:
            raise ValueError(f"actions={actions!r} is not allowed; allowed: a dict with the action of {agent}, on turn")
        seats.play(actions[agent])
        agents = self.agents
        if seats.is_terminated or seats.is_truncated:
            self.agents = []
        if self.render_mode == "human":
            seats.render()
        return (
            self._observations(),
            seats.rewards,
            dict.fromkeys(agents, seats.is_terminated),
            dict.fromkeys(agents, seats.is_truncated),
            seats.infos(),
        )

    def _observations(self) -> dict[str, Observation]:
        return {agent: self._seats.observe(agent) for agent in self.possible_agents}
