"""A game between persons and agents, move by move: what ``dominoes play`` and ``dominoes web`` are faces of.

A session is its seed, its agents and the actions so far: everything else follows from them. So a move is taken back by
playing the others again, a saved game goes on exactly as it would have, and the agents' luck hangs on the seed and the
place of a decision, never on how it was come to. (Only agents with a time limit, ``ms``, answer to the clock.)

At the end of a round the hands are laid open, as at any table. Then the round is over for good: no move of it can be
taken back. (The file is long because saving, undoing and going on are one thing: playing the same moves again.)
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.advice import BEST_ADVISER, Advice, advise, check_adviser
from agents.base import Agent, Turn
from agents.catalog import make_agent
from agents.counts import Count, count_plays
from agents.events import Event
from agents.human import read_word
from agents.keys import decision_keys
from agents.match import IllegalChoice, turns_of
from agents.sealed_file import read_sealed, sealed, unsealed, write_sealed
from dominoes_env.archive import record_from_json, record_to_json
from dominoes_env.engine.rounds import round_is_blocked, step
from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.engine.state import NONE, PLAYING
from dominoes_env.engine.tiles import pips_of, tiles_in
from dominoes_env.game import Game
from dominoes_env.records import Record
from dominoes_env.table import Episode, Table
from dominoes_env.words import STATUS_WORDS, format_action, format_tile, seats_in

__all__ = ["SESSION_VERSION", "Session"]

#: Version of the form of saved sessions.
SESSION_VERSION = 1

_TITLE = "saved dominoes game"
_VERSIONS = {"version": SESSION_VERSION, "engine": RULES_VERSION}
#: What a key is used for: an agent's move, a hint.
_MOVE, _HINT = range(2)


class Session:
    """A game of one person, or several, against agents.

    Args:
        rules: of the game.
        opponents: an agent of the catalog by name, or an agent, for all seats but ``seat``; or one for each seat by
            number, and the seats that are left out are persons' (``seat`` among them).
        seat: the person's.
        seed: of the deals and of the agents' luck, in [0, 2**64); None draws one.
        episode: ``"match"``, or ``"round"`` for its first round alone.

    Raises:
        ValueError: for an argument that is not allowed, or an agent that cannot play by the rules.
        FileNotFoundError: for a policy that does not exist.
    """

    def __init__(
        self,
        rules: Rules,
        opponents: Mapping[int, Any] | Any = "pimc:50",
        seat: int = 0,
        seed: int | None = None,
        episode: Episode = "match",
    ) -> None:
        self.rules = rules
        self._episode: Episode = episode
        self.game = Game(rules=rules, seed=seed, episode=episode)
        last = rules.num_players - 1
        if not isinstance(seat, (int, np.integer)) or isinstance(seat, bool) or not 0 <= seat <= last:
            raise ValueError(f"seat={seat!r} is not allowed; allowed: 0 to {last}")
        if not isinstance(opponents, Mapping):
            opponents = {other: opponents for other in range(rules.num_players) if other != seat}
        self._agents = _seated(rules, opponents, int(seat))
        self._unnamed = [other for other, agent in opponents.items() if not isinstance(agent, (str, Path))]
        self.persons = tuple(other for other in range(rules.num_players) if other not in self._agents)
        self._first_seat = int(seat)
        self.num_undone = self.num_hints = 0
        self._with_history: Table | None = None
        self._start_over(())

    def _start_over(self, actions: Sequence[int]) -> None:
        """Deal the game anew and play ``actions``."""
        self.game = Game(rules=self.rules, seed=self.game.seed, episode=self._episode)
        self._actions: list[int] = []
        self._choices: list[int] = []  # where in the actions of this round persons had a choice
        self._undone: list[list[int]] = []  # what redo() plays, the next last
        self._events = [self._deal_event()]
        self._finished: tuple[NDArray[Any], tuple[int, ...]] | None = None
        for action in actions:
            self._take(action)

    # Who sits where, and what they see.

    @property
    def seat(self) -> int:
        """The person's seat; of several persons' that of the one to move, else the first one's."""
        return self.game.turn if self.is_to_decide else self._first_seat

    @property
    def agents(self) -> dict[int, Agent]:
        """The agents by seat."""
        return dict(self._agents)

    @property
    def names(self) -> tuple[str, ...]:
        """By seat the agent's name, a person's is ``person``."""
        return tuple(
            self._agents[seat].name if seat in self._agents else "person" for seat in range(self.rules.num_players)
        )

    @property
    def seed(self) -> int:
        """Of the deals and of the agents' luck."""
        assert self.game.seed is not None
        return self.game.seed

    @property
    def is_over(self) -> bool:
        """Whether the game is."""
        return self.game.is_over

    @property
    def is_to_decide(self) -> bool:
        """Whether a person is on turn."""
        return not self.game.is_over and self.game.turn in self.persons

    @property
    def can_undo(self) -> bool:
        """Whether :meth:`undo` would do something."""
        return bool(self._choices)

    @property
    def can_redo(self) -> bool:
        """Whether :meth:`redo` would do something."""
        return bool(self._undone)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, from the first deal on."""
        return tuple(self._events)

    @property
    def record(self) -> Record:
        """The game so far. Its text holds all hands."""
        players = tuple(" ".join(name.replace("/", " ").split()) or "agent" for name in self.names)
        return replace(self.game.record, players=players)

    def concealed(self, seat: int | None = None) -> NDArray[Any]:
        """What a seat, by default :attr:`seat`, may know of the state: a fresh (1,) ``STATE_DTYPE`` array."""
        return self.game.concealed(self.seat if seat is None else seat)

    @property
    def finished_round(self) -> tuple[NDArray[Any], tuple[int, ...]] | None:
        """The record and the actions of the last round that is over, hands laid open, boneyard not; None: none is."""
        return None if self._finished is None else (self._finished[0].copy(), self._finished[1])

    # Play.

    def advance(self, *, skip_forced: bool = False, max_moves: int | None = None) -> list[Event]:
        """Let the agents play until a person is to decide or the game is over; returns what happened.

        Args:
            skip_forced: persons' moves without a choice are made as well.
            max_moves: stop after so many.

        Raises:
            IllegalChoice: when an agent chooses an action that is not legal.
        """
        start = len(self._events)
        left = -1 if max_moves is None else max_moves
        while not self.game.is_over and left != 0:
            legal = self.game.legal_actions
            if self.is_to_decide and not (skip_forced and len(legal) == 1):
                break
            self._take(legal[0] if len(legal) == 1 else self._choice(self._agents[self.game.turn]))
            left -= 1
        return self._events[start:]

    def play(self, action: int | str) -> list[Event]:
        """Make a person's move, an id or a word; a tile alone (``6-4``) goes on the one end that it fits.

        Raises:
            ValueError: if no person is on turn, or the move is not legal; nothing has changed then.
        """
        start = len(self._events)
        self._take(self._legal(action))
        self._undone.clear()
        return self._events[start:]

    def undo(self) -> bool:
        """Go back to a person's last decision with a choice in this round; False if there is none, or it is over."""
        if not self._choices:
            return False
        place = self._choices[-1]
        undone = [*self._undone, self._actions[place:]]
        self._start_over(self._actions[:place])
        self._undone = undone
        self.num_undone += 1
        return True

    def redo(self) -> list[Event]:
        """Make the moves again that :meth:`undo` took back, up to a person's next decision; none: an empty list."""
        if not self._undone:
            return []
        start = len(self._events)
        for action in self._undone.pop():
            self._take(action)
        return self._events[start:]

    # Help.

    def hint(self, agent: Any = BEST_ADVISER) -> Advice:
        """What ``agent`` would do in the person's place. The same question has the same answer.

        Raises:
            ValueError: if no person is on turn, or the agent cheats or cannot play by the rules.
        """
        self._refuse_unless_to_decide("hint")
        adviser = check_adviser(agent)
        adviser.check_rules(self.rules)
        advice = advise(adviser, self._turn(adviser, _HINT))
        self.num_hints += 1
        return advice

    def counts(self) -> dict[int, Count]:
        """What each legal play of the seat on turn scores at the open ends; empty where ends score nothing."""
        return count_plays(self.rules, self.game.concealed(), self.game.legal_actions)

    # Saving.

    def to_dict(self) -> dict[str, Any]:
        """All that it takes to go on exactly, for JSON. It holds all hands, of which a person is not to know.

        Raises:
            ValueError: if an agent was not made from a name.
        """
        for seat in self._unnamed:
            name = self._agents[seat].name
            raise ValueError(f"agent {name!r} in seat {seat} cannot be saved; allowed: an agent by name")
        return sealed(
            _TITLE,
            _VERSIONS,
            {
                "seat": self._first_seat,
                "agents": {str(seat): agent.name for seat, agent in self._agents.items()},
                "num_undone": self.num_undone,
                "num_hints": self.num_hints,
                "record": json.loads(record_to_json(self.game.record)),
            },
        )

    @classmethod
    def from_dict(cls, data: Any) -> Session:
        """The inverse of :meth:`to_dict`.

        Raises:
            ValueError: with the reason, if it is no saved session, damaged, or of another version.
            FileNotFoundError: for a policy that is not there any more.
        """
        data = unsealed(_TITLE, _VERSIONS, data)
        try:
            record = record_from_json(json.dumps(data["record"]))
            agents = {int(seat): str(name) for seat, name in data["agents"].items()}
            session = cls(record.rules, agents, data["seat"], record.seed, record.episode)  # type: ignore[arg-type]
            session.num_undone, session.num_hints = int(data["num_undone"]), int(data["num_hints"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no saved dominoes game: a part is missing or of the wrong kind ({error})") from None
        session._start_over([action for past in record.rounds for action in past.actions])
        if session.game.record != record:
            raise ValueError("the saved dominoes game is damaged: its moves do not follow from its seed")
        return session

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a file, which is the old one or the new one, whatever happens meanwhile.

        Raises:
            ValueError: as :meth:`to_dict`.
            OSError: if it cannot be written.
        """
        write_sealed(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """The inverse of :meth:`save`.

        Raises:
            ValueError: naming the file and the reason, as :meth:`from_dict`.
            OSError: if it cannot be read.
        """
        try:
            return cls.from_dict(read_sealed(path))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    # Inside.

    def _take(self, action: int) -> None:
        """Take a legal action of the seat on turn and book what it brings about."""
        before, seat = self.game.state, self.game.turn
        if seat in self.persons and len(self.game.legal_actions) > 1:
            self._choices.append(len(self._actions))
        is_lead = not before["laid"][0]
        count = count_plays(self.rules, before, [action]).get(action)
        after = before.copy()
        step(after[0], self.rules.row[0], action)  # the game may deal the next round in the same step
        history = (*self.game.history, action)
        points = self.game.step(action)
        self._actions.append(action)
        number = int(before["round"][0])
        kind = {self.rules.draw_action: "draw", self.rules.pass_action: "pass"}.get(action, "play")
        drawn = None
        if kind == "draw" and seat in self.persons:
            drawn = format_tile(tiles_in(after["hands"][0, seat] & ~before["hands"][0, seat])[0])
        word = format_action(self.rules, action, is_lead=is_lead)
        self._events.append(Event(kind, number, seat, action, word, count, drawn))
        if after["status"][0] == PLAYING:
            return
        self._choices.clear()
        after["pile"], after["generator"] = NONE, 0
        self._finished = after, history
        if count is not None:
            points = tuple(map(operator.sub, points, count.booked))
        self._events.append(self._round_event(after, seat, points))
        if self.game.status in ("match_over", "truncated"):
            winners = seats_in(after["match_winners"][0])
            self._events.append(
                Event("match", number, scores=self.game.scores, winners=winners, status=self.game.status)
            )
        elif not self.game.is_over:
            self._events.append(self._deal_event())

    def _round_event(self, after: NDArray[Any], mover: int, points: tuple[int, ...]) -> Event:
        record, num_players = after[0], self.rules.num_players
        hands = [tiles_in(hand) for hand in record["hands"][:num_players]]
        return Event(
            "round",
            int(record["round"]),
            mover if record["is_out"] else None,
            points=points,
            round_points=tuple(record["round_points"][:num_players].tolist()),
            scores=tuple(record["scores"][:num_players].tolist()),
            hands=tuple(tuple(map(format_tile, hand)) for hand in hands),
            pips=tuple(int(pips_of(hand)) for hand in record["hands"][:num_players]),
            is_blocked=bool(round_is_blocked(record, self.rules.row[0])),
            winners=seats_in(record["round_winners"]),
            status=STATUS_WORDS[record["status"]],
        )

    def _deal_event(self) -> Event:
        return Event("deal", self.game.round, self.game.starter, scores=self.game.scores)

    def _choice(self, agent: Agent) -> int:
        action, legal = operator.index(agent.act(self._turn(agent, _MOVE))), self.game.legal_actions
        if action not in legal:
            allowed = ", ".join(map(str, legal))
            raise IllegalChoice(
                f"agent {agent.name!r} in seat {self.game.turn} chose action={action}; legal: {allowed}"
            )
        return action

    def _turn(self, agent: Agent, use: int) -> Turn:
        """The decision that the game waits for, as its mover may know it, or all of it if ``agent`` cheats."""
        table, history = self.game.table, self.game.history
        if agent.needs_history:
            self._with_history = self._with_history or Table(self.rules, history=True)
            self._with_history.set_state(0, table.states, history)
            table = self._with_history
        key = decision_keys(self.seed, self.game.round, len(history), use)
        return turns_of(table, np.arange(1), key, is_open=agent.sees_all)[0]

    def _legal(self, action: Any) -> int:
        """The id of a person's move, which must be legal."""
        self._refuse_unless_to_decide("move")
        legal, words = self.game.legal_actions, self.game.legal_words
        if isinstance(action, str):
            return read_word(self.rules, list(zip(legal, words, strict=True)), action.strip().lower())
        is_integer = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        if not is_integer or action not in legal:
            pairs = ", ".join(f"{word} ({other})" for word, other in zip(words, legal, strict=True))
            raise ValueError(f"action {action!r} is not legal now; legal: {pairs}")
        return int(action)

    def _refuse_unless_to_decide(self, what: str) -> None:
        if not self.is_to_decide:
            why = "the game is over" if self.is_over else f"seat {self.game.turn} is on turn, and no person sits there"
            raise ValueError(f"no {what} is asked for: {why}")


def _seated(rules: Rules, opponents: Mapping[int, Any], seat: int) -> dict[int, Agent]:
    """The agents by seat, each asked whether it can play by the rules."""
    agents = {}
    for other, opponent in sorted(opponents.items()):
        if other not in range(rules.num_players) or other == seat:
            allowed = ", ".join(str(allowed) for allowed in range(rules.num_players) if allowed != seat)
            raise ValueError(f"opponents: seat {other!r} is not allowed; allowed: {allowed}")
        agent = make_agent(opponent)
        if agent.is_person:
            raise ValueError(f"opponents: {agent.name!r} is not allowed; allowed: agents, or the seat left out")
        agent.check_rules(rules)
        agents[other] = agent
    return agents
