"""Records of games as values: each round's deal, actions and outcome; made, and so known to be right, by replay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.deal import deal_round, opening_seat, row_generator, start_match
from dominoes_env.engine.moves import is_legal, nth_legal_action, num_legal_actions
from dominoes_env.engine.opening import opening_forces_lead
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, ROUND_OVER
from dominoes_env.notation import (
    STATUS_WORDS,
    format_action,
    format_position,
    parse_position,
    seats_in,
)
from dominoes_env.words import empty_round

__all__ = ["Outcome", "Record", "Replay", "RoundRecord", "make_record", "replay", "seeded_start"]

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
    state["generator"] = row_generator(np.uint64(seed), np.uint64(game_id))
    start_match(state[0], rules.row[0])
    return state


def _is_same(state: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two records (1,) hold the same."""
    return bool((state == other).all())


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
        _, state, history = parse_position(line, self.rules)
        if self.deal_line:
            if self.tags["episode"] == "round":
                raise ValueError("deal: a second round in an episode of one round")
            _check_next_deal(self.rules, self.state, state, history)
        elif self.tags["seed"] is not None:
            start = seeded_start(self.rules, self.tags["seed"], self.tags["game_id"])
            if not _is_same(state, start):
                raise ValueError(f"deal: it is not that of seed {self.tags['seed']}, game {self.tags['game_id']}")
        self.state, self.history, self.num_earlier = state, list(history), len(history)
        self.deal_line = format_position(self.rules, state, history, with_rules=False)

    def play(self, action: int) -> None:
        """Take an action, which must be legal."""
        record, row = self.state[0], self.rules.row[0]
        word = format_action(self.rules, action, is_lead=not self.history and action < self.rules.num_tiles)
        if record["status"] != PLAYING:
            raise ValueError(f"{word} after the end of the round")
        if not is_legal(record, row, action):
            legal = [int(nth_legal_action(record, row, n)) for n in range(num_legal_actions(record, row))]
            words = ", ".join(format_action(self.rules, other, is_lead=not self.history) for other in legal)
            raise ValueError(f"{word} is illegal for seat {record['turn']}; legal: {words}")
        step(record, row, action)
        self.history.append(action)

    def end_round(self) -> Outcome:
        """Close the round, also one that is still being played, and tell how it stands."""
        record, num_players = self.state[0], self.rules.num_players
        outcome = Outcome(
            STATUS_WORDS[record["status"]],
            seats_in(record["round_winners"]),
            tuple(int(points) for points in record["round_points"][:num_players]),
            tuple(int(score) for score in record["scores"][:num_players]),
        )
        self.rounds.append(RoundRecord(self.deal_line, tuple(self.history[self.num_earlier :]), outcome))
        return outcome

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
        if not text or text != " ".join(text.split()) or "/" in text:
            raise ValueError(f"players: {text!r} is not allowed; allowed: words with single spaces, without '/'")
    for name, text in tags["tags"]:
        if not re.fullmatch(r"\w+", name) or text != " ".join(text.split()):
            raise ValueError(f"tag {name!r}: {text!r} is not allowed; allowed: a word, and words with single spaces")


def _check_next_deal(rules: Rules, before: NDArray[Any], state: NDArray[Any], history: Sequence[int]) -> None:
    """Refuse a ``state`` that cannot be dealt after the round that ended in ``before``; its generator says exactly."""
    if before["status"][0] != ROUND_OVER:
        raise ValueError(f"deal: no round can follow, the status is {STATUS_WORDS[before['status'][0]]}")
    if before["generator"][0]:
        expected = before.copy()
        deal_round(expected[0], rules.row[0])
        if not _is_same(state, expected):
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
        move = 0
        try:
            game.deal(deal)
            for move, action in enumerate(actions, 1):  # noqa: B007 (the error tells it)
                game.play(int(action))
        except ValueError as error:
            raise ValueError(f"round {number}" + (f", move {move}" if move else "") + f": {error}") from None
        game.end_round()
    return game.finish()


def replay(record: Record) -> tuple[NDArray[Any], tuple[int, ...]]:
    """The state ((1,) ``STATE_DTYPE``) that a record ends in, and the actions of its last round up to there."""
    last = record.rounds[-1]
    _, state, history = parse_position(last.deal, record.rules)
    for action in last.actions:
        step(state[0], record.rules.row[0], action)
    return state, history + last.actions
