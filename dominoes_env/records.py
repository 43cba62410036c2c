"""Records of games as values: each round's deal, actions and outcome; made, and so known to be right, by replay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import deal_round, opening_seat
from dominoes_env.engine.moves import nth_legal_action, num_legal_actions
from dominoes_env.engine.opening import opening_forces_lead
from dominoes_env.engine.replay import play_actions, start_game
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, ROUND_OVER, STATE_DTYPE
from dominoes_env.notation import (
    STATUS_WORDS,
    format_action,
    format_position,
    parse_position,
    seats_in,
)
from dominoes_env.words import empty_round

__all__ = [
    "Outcome",
    "Position",
    "Record",
    "Replay",
    "RoundRecord",
    "make_record",
    "positions",
    "replay",
    "round_starts",
    "seeded_start",
]

_EPISODES = ("round", "match")


@dataclass(frozen=True)
class Outcome:
    """How a round ended, or how it stands with status ``playing``."""

    status: str
    """A word of ``STATUS_WORDS``."""
    winners: tuple[int, ...]
    """The seats that won the deal, all tied ones."""
    round_points: tuple[int, ...]
    """What each seat booked in the round; penalties are positive, as in the scores."""
    scores: tuple[int, ...]
    """Of the match, after the round."""

    def __str__(self) -> str:
        parts = [self.status]
        if self.winners:
            parts.append("won " + ",".join(map(str, self.winners)))
        parts.append("round_points " + " ".join(map(str, self.round_points)))
        parts.append("scores " + " ".join(map(str, self.scores)))
        return " | ".join(parts)


@dataclass(frozen=True)
class RoundRecord:
    """One round: where it started, what was done in it, how it ended."""

    deal: str
    """The position at its start, without the rules."""
    actions: tuple[int, ...]
    """Action ids in order."""
    outcome: Outcome


@dataclass(frozen=True)
class Record:
    """One game. Made by :func:`make_record` or read, and so known to replay."""

    rules: Rules
    rounds: tuple[RoundRecord, ...]
    status: str
    """The status after the last round."""
    winners: tuple[int, ...] = ()
    """The seats that won the match."""
    episode: str = "match"
    """``round``: the game ends with its first round; ``match``: it goes on."""
    seed: int | None = None
    """The seed that the first deal came from; None if it came from no seed."""
    game_id: int = 0
    """The game's number under that seed."""
    players: tuple[str, ...] = ()
    """The players' names by seat, or none."""
    tags: tuple[tuple[str, str], ...] = ()
    """What else is to be said of the game, as (name, text)."""


# Replay


def seeded_start(rules: Rules, seed: int, game_id: int) -> NDArray[Any]:
    """The record (1,) with which game ``game_id`` of ``seed`` (both 0 to 2**64 - 1) starts."""
    state = empty_round(rules)
    start_game(state, rules.row, np.uint64(seed), np.uint64(game_id))
    return state


def _copy(state: NDArray[Any]) -> NDArray[Any]:
    """The same as ``state.copy()``, which goes through such records field by field, in a tenth of the time."""
    return np.frombuffer(bytearray(state), STATE_DTYPE)


class Replay:
    """Builds a record move by move; each method raises ValueError with the reason why the game cannot go so."""

    def __init__(self, rules: Rules, tags: dict[str, Any]):
        self.rules = rules
        self.tags = tags  # the fields of the record that no move decides
        self.rounds: list[RoundRecord] = []
        self.state = empty_round(rules)
        self.history: list[int] = []
        self.deal_line = ""
        self.num_earlier = 0
        _check_tags(rules, tags)

    def deal(self, line: str) -> None:
        """Start a round from a position without rules; it must be a deal that can follow."""
        if self.deal_line and self.tags["episode"] == "round":
            raise ValueError("deal: a second round in an episode of one round")
        expected = self._expected_deal()
        expected_line = "" if expected is None else format_position(self.rules, expected, with_rules=False)
        if expected is not None and line == expected_line:  # nearly always, and it spares reading the line
            state, self.history, self.deal_line = expected, [], line
        else:
            state = self._read_deal(line, expected)
        self.state, self.num_earlier = state, len(self.history)

    def _expected_deal(self) -> NDArray[Any] | None:
        """The deal that must come, where a seed or a generator says exactly which; None: they say nothing."""
        if not self.deal_line:
            seed = self.tags["seed"]
            return None if seed is None else seeded_start(self.rules, seed, self.tags["game_id"])
        if self.state["status"][0] != ROUND_OVER or not self.state["generator"][0]:
            return None
        expected = _copy(self.state)
        deal_round(expected[0], self.rules.row[0])
        return expected

    def _read_deal(self, line: str, expected: NDArray[Any] | None) -> NDArray[Any]:
        _, state, history = parse_position(line, self.rules)
        if self.deal_line:
            _check_next_deal(self.rules, self.state, state, history, expected)
        elif expected is not None and state.tobytes() != expected.tobytes():
            raise ValueError(f"deal: it is not that of seed {self.tags['seed']}, game {self.tags['game_id']}")
        self.history = list(history)
        self.deal_line = format_position(self.rules, state, history, with_rules=False)
        return state

    def play(self, actions: Sequence[int]) -> None:
        """Take actions, which must be legal; those before the first that is not are taken."""
        try:
            chosen = np.array(actions, np.int64)
        except OverflowError:
            chosen = np.array([min(max(action, -1), self.rules.num_actions) for action in actions], np.int64)
        done = int(play_actions(self.state, self.rules.row, chosen))
        self.history.extend(actions[:done])
        if done < len(actions):
            raise ValueError(self._refusal(actions[done]))

    @property
    def num_moves(self) -> int:
        """Actions taken in this round since its deal."""
        return len(self.history) - self.num_earlier

    def _refusal(self, action: int) -> str:
        record, row = self.state[0], self.rules.row[0]
        word = format_action(self.rules, action, is_lead=not self.history and action < self.rules.num_tiles)
        if record["status"] != PLAYING:
            return f"{word} after the end of the round"
        legal = [int(nth_legal_action(record, row, n)) for n in range(num_legal_actions(record, row))]
        words = ", ".join(format_action(self.rules, other, is_lead=not self.history) for other in legal)
        return f"{word} is illegal for seat {record['turn']}; legal: {words}"

    def outcome(self) -> Outcome:
        """How the round stands."""
        state, num_players = self.state, self.rules.num_players
        return Outcome(
            STATUS_WORDS[state["status"][0]],
            seats_in(state["round_winners"][0]),
            tuple(state["round_points"][0, :num_players].tolist()),
            tuple(state["scores"][0, :num_players].tolist()),
        )

    def end_round(self) -> None:
        """Close the round, also one that is still being played."""
        self.rounds.append(RoundRecord(self.deal_line, tuple(self.history[self.num_earlier :]), self.outcome()))

    def finish(self) -> Record:
        """The record of the rounds so far."""
        if not self.rounds:
            raise ValueError("a record has at least one round")
        return Record(
            rules=self.rules,
            rounds=tuple(self.rounds),
            status=self.rounds[-1].outcome.status,
            winners=seats_in(self.state["match_winners"][0]),
            **self.tags,
        )


def _check_tags(rules: Rules, tags: dict[str, Any]) -> None:
    if tags["episode"] not in _EPISODES:
        raise ValueError(f"episode: {tags['episode']!r} is not allowed; allowed: {', '.join(_EPISODES)}")
    for name in ("seed", "game_id"):
        value = tags[name]
        if value is not None and not (type(value) is int and 0 <= value < 2**64):
            raise ValueError(f"{name}: {value!r} is not allowed; allowed: an integer from 0 to 2**64 - 1")
    if tags["seed"] is None and tags["game_id"] != 0:
        raise ValueError(f"game_id: {tags['game_id']} is not allowed without a seed; allowed: 0")
    players = tags["players"]
    if players and len(players) != rules.num_players:
        raise ValueError(f"players: {len(players)} names are not allowed; allowed: {rules.num_players}, or none")
    for text in players:
        if not text or not _is_words(text) or "/" in text.split():
            raise ValueError(f"players: {text!r} is not allowed; allowed: words with single spaces, none of them '/'")
    for name, text in tags["tags"]:
        if not re.fullmatch(r"\w+", name) or not _is_words(text):
            raise ValueError(f"tag {name!r}: {text!r} is not allowed; allowed: a word, and words with single spaces")


def _is_words(text: str) -> bool:
    """Whether it is words with single spaces that can be shown: a terminal would obey other signs."""
    return text.isprintable() and text == " ".join(text.split())


def _check_next_deal(
    rules: Rules,
    before: NDArray[Any],
    state: NDArray[Any],
    history: Sequence[int],
    expected: NDArray[Any] | None,
) -> None:
    """Refuse a ``state`` that cannot be dealt after the round that ended in ``before``; its generator says exactly."""
    if before["status"][0] != ROUND_OVER:
        raise ValueError(f"deal: no round can follow, the status is {STATUS_WORDS[before['status'][0]]}")
    if expected is not None:
        if state.tobytes() != expected.tobytes():
            raise ValueError("deal: it is not the deal that the generator gives after the round before")
        return
    if history or np.any(state["hand_counts"][0, : rules.num_players] != rules.hand_size):
        raise ValueError(f"deal: a round starts with an empty layout and {rules.hand_size} tiles each")
    if state["round"][0] != before["round"][0] + 1 or np.any(state["scores"] != before["scores"]):
        raise ValueError(f"deal: round {before['round'][0] + 1} starts with the scores of the round before")
    if np.any(state["round_points"]) or np.any(state["lacking"]) or state["status"][0] != PLAYING:
        raise ValueError("deal: a round starts with nothing booked and nothing shown")
    leads, starter = int(before["next_leads"][0]), int(state["starter"][0])
    is_forced = leads == 0 and bool(opening_forces_lead(rules.row[0]))
    if bool(state["is_lead_forced"][0]) != is_forced:
        raise ValueError("deal: the lead is " + ("forced" if is_forced else "free"))
    if is_forced and rules.opening == "lots_keep":
        if np.any(state["lots"][0, : rules.num_players] == NONE):
            raise ValueError("deal: the lots are missing")
    elif leads and not leads >> starter & 1:
        raise ValueError(f"deal: seat {starter} does not lead after the round before; allowed: {seats_in(leads)}")
    elif is_forced and opening_seat(state[0], rules.row[0]) != starter:
        raise ValueError(f"deal: seat {starter} does not lead by opening={rules.opening!r}")


def make_record(
    rules: Rules,
    rounds: Iterable[tuple[str, Sequence[int]]],
    *,
    episode: str = "match",
    seed: int | None = None,
    game_id: int = 0,
    players: Sequence[str] = (),
    tags: Sequence[tuple[str, str]] = (),
) -> Record:
    """The record of a game from its rounds, each a deal (a position without rules) and action ids, by replay.

    Raises:
        ValueError: naming round and move, if the game cannot have gone so.
    """
    about = {"episode": episode, "seed": seed, "game_id": game_id, "players": tuple(players), "tags": tuple(tags)}
    game = Replay(rules, about)
    for number, (deal, actions) in enumerate(rounds, 1):
        try:
            game.deal(deal)
        except ValueError as error:
            raise ValueError(f"round {number}: {error}") from None
        try:
            game.play([int(action) for action in actions])
        except ValueError as error:
            raise ValueError(f"round {number}, move {game.num_moves + 1}: {error}") from None
        game.end_round()
    return game.finish()


# Looking back


def round_starts(record: Record) -> Iterator[tuple[NDArray[Any], tuple[int, ...]]]:
    """Where each round starts: the state, a fresh (1,) ``STATE_DTYPE``, and the actions that led there, mostly none."""
    row = record.rules.row
    state: NDArray[Any] | None = None
    for past in record.rounds:
        history: tuple[int, ...] = ()
        if state is None and record.seed is not None:
            state = seeded_start(record.rules, record.seed, record.game_id)
        elif state is not None and state["generator"][0]:
            deal_round(state[0], row[0])
        else:  # nothing but the deal itself says how it was
            _, state, history = parse_position(past.deal, record.rules)
        yield _copy(state), history
        play_actions(state, row, np.array(past.actions, np.int64))


class Position(NamedTuple):
    """Where a game stood."""

    round: int
    """The index of the round in the record."""
    move: int
    """How many actions of that round the record had told by then; 0 is the deal."""
    state: NDArray[Any]
    """Shape (1,), ``STATE_DTYPE``."""
    history: tuple[int, ...]
    """The actions of the round up to there, those before the record's own included."""


def positions(record: Record) -> Iterator[Position]:
    """Every position of a game in order: for each round the deal, then the position after each of its actions."""
    for number, (state, history) in enumerate(round_starts(record)):
        yield Position(number, 0, _copy(state), history)
        for move, action in enumerate(record.rounds[number].actions, 1):
            step(state[0], record.rules.row[0], action)
            history = (*history, action)
            yield Position(number, move, _copy(state), history)


def replay(record: Record) -> tuple[NDArray[Any], tuple[int, ...]]:
    """The state ((1,) ``STATE_DTYPE``) that a record ends in, and the actions of its last round up to there."""
    last = record.rounds[-1]
    _, state, history = parse_position(last.deal, record.rules)
    play_actions(state, record.rules.row, np.array(last.actions, np.int64))
    return state, history + last.actions
