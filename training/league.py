"""The league: past selves and rules of thumb that the learner plays against, besides itself.

A past self enters by a gate: a sequential test on mirrored deals must find it stronger than the last one that entered.
Who is met is drawn by how well he does against the learner (prioritised fictitious self-play, Vinyals et al. 2019,
"Grandmaster level in StarCraft II using multi-agent reinforcement learning"), from estimates that forget, since the
learner changes. In each row the learner meets one member for as many episodes as there are seats, so that he plays it
from every seat.

A league is an opponent of ``dominoes_env.envs.rows``: it answers all waiting rows of one member in one call. All that
it does follows from its seed and from what it is told, and :meth:`League.state` and its policy files bring it back as
it was. (The file is long because what is saved of a league stands beside what it does.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.base import Agent, Turns
from agents.catalog import make_agent
from agents.keys import decision_keys
from agents.learned import LearnedAgent
from agents.policy_file import Policy, load_policy, save_policy
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
from training.config import RULES_OF_THUMB
from training.gate import Admission, Gate
from training.priority import priority
from training.run_directory import LEAGUE_NAME, Run

__all__ = ["League", "Standing"]

#: A member of which nothing is known counts as equal to the learner, with the weight of so many games.
_PRIOR_GAMES = 50.0
#: Sums of float32 rewards of a drawn game are off by less.
_TIE = 1e-4
_NOBODY = -1
_FORMAT = 1


@dataclass(frozen=True)
class Standing:
    """A member as it stands."""

    name: str
    is_thumb: bool
    share: float
    """Of the episodes of the league."""
    win_rate: float
    """Of the learner against it, lately; a tie counts half."""
    games: float
    """Behind the win rate, recent ones counting more."""


@dataclass(eq=False)
class _Member:
    number: int
    """Its own for ever; rules of thumb come first."""
    agent: Agent
    is_thumb: bool
    is_retired: bool = False
    """Drawn no more; it stays until no row plays it."""
    wins: float = 0.0
    """Of the learner against it, recent games counting more."""
    games: float = 0.0

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def win_rate(self) -> float:
        return (self.wins + _PRIOR_GAMES / 2) / (self.games + _PRIOR_GAMES)


class League:
    """The members, who meets whom, and how it went.

    Args:
        rules: those of the games; every member must be able to play by them.
        num_rows: rows of the league (``num_league`` of the environment).
        directory: where past selves are kept; made when the first one enters.
        seed: seeds draws, the members' decisions, and the gate's deals.
        thumbs: agents that are always there, by name; at least one.
        thumb_share: the share of episodes against them, 0 to 1, once there is a past self.
        size: past selves kept at most; beyond it the one that the learner beats most often goes.
        hardness: see :func:`priority`.
        half_life: games of a member after which a game counts half in its win rate.
        gate: the test of candidates.
        mode: how past selves play, in the league and at the gate: ``sample`` or ``best``.
    """

    def __init__(
        self,
        rules: Rules,
        num_rows: int,
        directory: Path,
        *,
        seed: int = 0,
        thumbs: Sequence[str] = RULES_OF_THUMB,
        thumb_share: float = 0.2,
        size: int = 12,
        hardness: float = 4.0,
        half_life: float = 2000.0,
        gate: Gate | None = None,
        mode: str = "sample",
    ) -> None:
        _check(thumbs, thumb_share=(thumb_share, 1.0), hardness=(hardness, math.inf))
        if not half_life > 0:
            raise ValueError(f"half_life={half_life!r} is not allowed; allowed: a number above 0")
        self.rules, self.directory, self.seed = rules, Path(directory), seed
        self.num_rows = checked_integer("num_rows", num_rows, 0)
        self.size = checked_integer("size", size, 1)
        self.thumb_share, self.hardness, self.half_life = thumb_share, hardness, half_life
        self.gate, self.mode = gate or Gate(), mode
        self.num_attempts = 0
        self._members: dict[int, _Member] = {}
        for number, name in enumerate(thumbs):
            self._enter(number, make_agent(name), is_thumb=True)
        self._num_thumbs = self._next_number = len(thumbs)
        # Of two episodes a row, one being told of while the next has begun: which one, and who plays it.
        self._episodes = np.full((num_rows, 2), _NOBODY, np.int64)
        self._playing = np.full((num_rows, 2), _NOBODY, np.int64)
        self._margins = np.zeros(num_rows)
        self._forget_draw()

    @classmethod
    def of(cls, run: Run) -> League:
        """The league that a run's settings ask for, as it is before the first game.

        Where all games are against one agent, it is the only member and plays in all rows.
        """
        config = run.config
        if config.against:
            return cls(
                run.rules,
                config.rows,
                run.path / LEAGUE_NAME,
                seed=config.seed,
                thumbs=(config.against,),
                thumb_share=1.0,
            )
        return cls(
            run.rules,
            max(1, round(config.league * config.rows)) if config.league else 0,
            run.path / LEAGUE_NAME,
            seed=config.seed,
            thumb_share=config.league_thumbs,
            size=config.league_size,
            hardness=config.league_hardness,
            gate=Gate(config.gate_elo, config.gate_deals),
        )

    # Answering

    def __call__(self, observations: NDArray[np.int8], masks: NDArray[np.int8], infos: dict[str, Any]) -> ArrayLike:
        """Actions of the members that ``infos["row"]`` play in ``infos["episode"]``; see ``OpponentPolicy``."""
        numbers = self.members_of(infos["row"], infos["episode"])
        order = np.argsort(numbers, kind="stable")  # each member's decisions side by side
        fields = [infos[name][order] for name in ("player", "state", "history", "history_length")]
        fields += [observations[order], masks[order], decision_keys(self.seed, infos["key"][order])]
        chosen = np.zeros(len(numbers), np.int64)
        present, starts = np.unique(numbers[order], return_index=True)
        for number, start, end in zip(present.tolist(), starts, [*starts[1:], len(numbers)], strict=True):
            turns = Turns(self.rules, *(values[start:end] for values in fields))
            chosen[start:end] = self._members[number].agent.act_batch(turns)
        actions = np.empty_like(chosen)
        actions[order] = chosen
        return actions

    def opponents(self, partner: Callable[..., ArrayLike]) -> Any:
        """What an environment takes as ``opponents=``: with teams ``partner`` (the learner's policy) sits opposite.

        None for a league without rows.
        """
        if not self.num_rows:
            return None
        return [self, partner, self] if self.rules.teams else self

    def members_of(self, rows: NDArray[np.int64], episodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the member that each of ``rows`` plays in that episode, drawn if it has just begun."""
        slots = episodes % 2
        fresh = self._episodes[rows, slots] != episodes
        if fresh.any():
            at, now = rows[fresh], episodes[fresh]
            self._episodes[at, slots[fresh]] = now
            self._playing[at, slots[fresh]] = self._drawn(at, now)
        numbers: NDArray[np.int64] = self._playing[rows, slots]
        return numbers

    def _drawn(self, rows: NDArray[np.int64], episodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """One member for each: that of the episode before until the learner has played it from every seat."""
        seats = self.rules.num_players
        keys = decision_keys(self.seed, rows, episodes // seats)
        at = np.searchsorted(self._draw_ends, (keys >> np.uint64(11)) * 2.0**-53, side="right")
        drawn = self._draw_numbers[np.minimum(at, len(self._draw_numbers) - 1)]
        before = 1 - episodes % 2
        goes_on = (episodes % seats != 0) & (self._episodes[rows, before] == episodes - 1)
        return np.where(goes_on, self._playing[rows, before], drawn)

    def _forget_draw(self) -> None:
        """Draw by what is known now."""
        shares = self.shares()
        self._draw_numbers = np.array(list(shares), np.int64)
        self._draw_ends = np.cumsum(list(shares.values()))

    def shares(self) -> dict[int, float]:
        """How likely each member is to be met, by number; those retired are left out."""
        shares: dict[int, float] = {}
        here = [member for member in self._members.values() if not member.is_retired]
        selves = [member for member in here if not member.is_thumb]
        for kind, share in (
            ([member for member in here if member.is_thumb], self.thumb_share if selves else 1.0),
            (selves, 1 - self.thumb_share),
        ):
            if kind:
                each = priority(np.array([member.win_rate for member in kind]), self.hardness)
                shares.update({member.number: share * float(one) for member, one in zip(kind, each, strict=True)})
        return shares

    # Being told

    def record(
        self,
        episodes: NDArray[np.int64],
        seats: NDArray[np.int8],
        rewards: NDArray[np.float32],
        dones: NDArray[np.bool_],
    ) -> None:
        """What a step of the environment gave in the rows of the league; to be called after every step.

        Args:
            episodes: (num_rows,), the episode underway after the step.
            seats: (num_rows,), the learner's seat in the step.
            rewards: (num_rows, num_players), what every seat got.
            dones: (num_rows,), whether an episode ended.
        """
        rows = np.arange(self.num_rows)
        self._margins += _margins(rewards, self.rules)[rows, seats]
        ended = np.flatnonzero(dones)
        if not len(ended):
            return
        margins, last = self._margins[ended], episodes[ended] - 1
        self._margins[ended] = 0
        slots = last % 2
        known = self._episodes[ended, slots] == last  # else no opponent had a choice in it
        wins = np.where(np.abs(margins) < _TIE, 0.5, margins > 0)[known]
        numbers = self._playing[ended, slots][known]
        for number in np.unique(numbers):
            his = wins[numbers == number]
            member = self._members[int(number)]
            kept = 2.0 ** (-len(his) / self.half_life)
            member.wins = member.wins * kept + float(his.sum())
            member.games = member.games * kept + len(his)
        self._forget_draw()

    # Entering and leaving

    def consider(self, policy: Policy) -> Admission:
        """Try a candidate at the gate against the last one that entered (``random`` at first); keep it if it passes."""
        candidate = self._past_self(self._next_number, policy)
        champion = self._champion
        seed = int(decision_keys(self.seed, self.num_attempts)[0] >> np.uint64(1))
        match = self.gate.try_out(candidate, champion, self.rules, seed)
        is_admitted = match.stop is not None and match.stop.verdict == "elo1"
        admission = Admission(self.num_attempts, champion.name, match, is_admitted)
        self.num_attempts += 1
        if is_admitted:
            self.admit(policy)
        return admission

    @property
    def _champion(self) -> Agent:
        selves = [member for member in self._members.values() if not (member.is_thumb or member.is_retired)]
        return selves[-1].agent if selves else make_agent("random")

    def admit(self, policy: Policy) -> str:
        """Let a past self in without a test; returns its name. Its files are written before anything else changes."""
        number = self._next_number
        self.directory.mkdir(parents=True, exist_ok=True)
        save_policy(policy, self.directory, self._file_name(number))
        self._enter(number, self._past_self(number, policy))
        self._next_number += 1
        selves = [one for one in self._members.values() if not (one.is_thumb or one.is_retired)]
        if len(selves) > self.size:
            max(selves[:-1] or selves, key=lambda one: one.win_rate).is_retired = True
        self._drop_retired()
        self._forget_draw()
        return self._members[number].name

    def _file_name(self, number: int) -> str:
        return f"past_{number - self._num_thumbs:04d}"

    def _past_self(self, number: int, policy: Policy) -> LearnedAgent:
        agent = LearnedAgent(policy, self.mode)
        agent.name = self._file_name(number)
        return agent

    def _enter(self, number: int, agent: Agent, *, is_thumb: bool = False, **known: Any) -> None:
        if agent.sees_all:
            raise ValueError(f"agent={agent.name!r} is not allowed: it sees hidden tiles")
        agent.check_rules(self.rules)
        self._members[number] = _Member(number, agent, is_thumb, **known)

    def _drop_retired(self) -> None:
        playing = set(self._playing.ravel().tolist())
        for member in list(self._members.values()):
            if member.is_retired and member.number not in playing:
                del self._members[member.number]

    def sweep(self) -> None:
        """Remove the files of those who have left; to be called when a checkpoint without them has been written."""
        names = {member.name for member in self._members.values()}
        for file in self.directory.glob("past_*.*"):
            if file.stem not in names:
                file.unlink(missing_ok=True)

    # Keeping and telling

    def state(self) -> dict[str, Any]:
        """All that is not in the policy files, as numbers, strings, lists and dicts."""
        self._drop_retired()
        members = [
            {name: getattr(member, name) for name in ("number", "name", "is_thumb", "is_retired", "wins", "games")}
            for member in self._members.values()
        ]
        rows = {
            "episodes": self._episodes.tolist(),
            "playing": self._playing.tolist(),
            "margins": self._margins.tolist(),
        }
        return {
            "format": _FORMAT,
            "next_number": self._next_number,
            "attempts": self.num_attempts,
            "members": members,
            **rows,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`state`, with the policy files that are there.

        Raises:
            FileNotFoundError, ValueError: if a policy file is missing or damaged, or ``state`` is of another league.
        """
        try:
            thumbs = [member["name"] for member in state["members"] if member["is_thumb"]]
            here = [member.name for member in self._members.values() if member.is_thumb]
            if state["format"] != _FORMAT or thumbs != here or len(state["episodes"]) != self.num_rows:
                raise ValueError(f"it has {thumbs} and {len(state['episodes'])} rows, not {here} and {self.num_rows}")
            thumb_agents = [member.agent for member in self._members.values() if member.is_thumb]
            self._members = {}
            for saved in state["members"]:
                number = int(saved["number"])
                agent: Agent
                if saved["is_thumb"]:
                    agent = thumb_agents[number]
                else:
                    agent = self._past_self(number, load_policy(self.directory / f"{self._file_name(number)}.json"))
                known = {name: saved[name] for name in ("is_retired", "wins", "games")}
                self._enter(number, agent, is_thumb=bool(saved["is_thumb"]), **known)
            self._next_number, self.num_attempts = int(state["next_number"]), int(state["attempts"])
            self._episodes[...] = np.reshape(state["episodes"], self._episodes.shape)
            self._playing[...] = np.reshape(state["playing"], self._playing.shape)
            self._margins[...] = state["margins"]
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"the state of the league is damaged: {error!r}") from None
        self._forget_draw()

    def standings(self) -> list[Standing]:
        """Who may be met, how often, and how the learner does against it."""
        shares = self.shares()
        return [
            Standing(one.name, one.is_thumb, shares[number], one.win_rate, one.games)
            for number, one in self._members.items()
            if number in shares
        ]

    def scalars(self) -> dict[str, float]:
        """Figures for a learning curve: past selves, and the learner's recent win rates."""
        standings = self.standings()
        past = [one.win_rate for one in standings if not one.is_thumb]
        figures = {"league/past_selves": float(len(past))}
        figures |= {f"league/win_rate_v_{one.name}": one.win_rate for one in standings if one.is_thumb}
        if past:
            figures |= {"league/win_rate_v_past": float(np.mean(past)), "league/win_rate_v_hardest": min(past)}
        return figures


def _margins(rewards: NDArray[np.float32], rules: Rules) -> NDArray[np.float64]:
    """Own reward less the mean of the opponents', of each seat: its sign tells who won, whatever is rewarded."""
    given = rewards.astype(np.float64)
    if rules.teams:
        return given - np.roll(given, 1, axis=1)
    n = rules.num_players
    return given - (given.sum(axis=1, keepdims=True) - given) / (n - 1)


def _check(thumbs: Sequence[str], **numbers: tuple[float, float]) -> None:
    if isinstance(thumbs, str) or not thumbs:
        raise ValueError(f"thumbs={thumbs!r} is not allowed; allowed: names of agents, at least one")
    for name, (value, most) in numbers.items():
        if not 0 <= value <= most:
            bound = "" if most == math.inf else f" to {most:g}"
            raise ValueError(f"{name}={value!r} is not allowed; allowed: a number from 0{bound}")
