"""Rows of the league as :mod:`training.batch_play` plays them: the learner in one seat, the members in the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.envs.rows import Rows
from training.league import League
from training.partner import Partner

__all__ = ["LeagueRows"]


class LeagueRows:
    """``league.num_rows`` games from game ``first_game`` of ``seed`` on; the league is told how each step went.

    Like the rows of a league in ``dominoes_env.envs.sb3``, bit for bit.
    """

    def __init__(
        self, rules: Rules, league: League, partner: Partner, *, seed: int, first_game: int, reward: Any
    ) -> None:
        self.rules = rules
        self.num_games = league.num_rows
        self._league = league
        self._rows = Rows(
            rules, league.num_rows, seat="rotate", opponents=league.opponents(partner), autoreset="same_step",
            episode="round", reward=reward, illegal="raise", illegal_reward=None, skip_forced=True, history=False,
            first_game=first_game,
        )  # fmt: skip
        self._rows.reset(seed)

    @property
    def players(self) -> NDArray[np.int8]:
        """The learner's seat in each row."""
        return self._rows.players

    @property
    def observations(self) -> NDArray[np.int8]:
        """What the learner sees."""
        return self._rows.table.observations

    @property
    def masks(self) -> NDArray[np.int8]:
        """What the learner may do."""
        return self._rows.table.masks

    @property
    def rewards(self) -> NDArray[np.float32]:
        """What every seat got since the learner's last decision."""
        return self._rows.rewards

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Whether the last step ended the episode."""
        return self._rows.flags[0]

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Whether the last step cut the episode short."""
        return self._rows.flags[1]

    def hidden(self) -> NDArray[np.int8]:
        """What the learner does not see."""
        return self._rows.hidden()

    def step(self, actions: NDArray[np.int64], *, autoreset: bool = False) -> None:
        """Take the learner's actions and have the members answer. Episodes that end always begin anew.

        Raises:
            ValueError: for an illegal action, and without ``autoreset``.
        """
        if not autoreset:
            raise ValueError("autoreset=False is not allowed; allowed: True")
        rows, seats = self._rows, self._rows.players.copy()
        rows.step(actions)
        self._league.record(rows.records["episode"].copy(), seats, rows.rewards, self.terminated | self.truncated)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays that the games are made of, as of a Table; the league keeps its own."""
        return self._rows.arrays()
