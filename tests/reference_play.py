"""Plays random games on a ``Table`` and on the reference engine, and compares all there is to see after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reference import NOTHING, PLAYING, ROUND_OVER, Deal, ReferenceGame, Tile, faults_of_deal, make_set

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import STATE_DTYPE
from dominoes_env.table import Table

_COMPARED_FIELDS = tuple(name for name in STATE_DTYPE.names if name != "generator")


class Disagreement(AssertionError):
    """Engine and reference differ, or the engine has dealt what the rules exclude."""


@dataclass
class Played:
    """How much was compared."""

    episodes: int = 0
    rounds: int = 0
    steps: int = 0


def deal_of_state(rules: Rules, state: np.void) -> Deal:
    """The deal that a record holds before the first action of its round."""
    tiles = make_set(rules.max_pip)

    def tile_or_none(number: int) -> Tile | None:
        return None if number == NOTHING else tiles[number]

    hands = [[tile for i, tile in enumerate(tiles) if int(state["hands"][seat]) >> i & 1] for seat in range(4)]
    pile = [int(number) for number in state["pile"][: int(state["boneyard"])]]
    return Deal(
        hands=hands[: rules.num_players],
        boneyard=[tiles[number] for number in reversed(pile)],
        starter=int(state["starter"]),
        is_lead_forced=bool(state["is_lead_forced"]),
        lots=[tile_or_none(int(number)) for number in state["lots"][: rules.num_players]],
    )


def state_of_reference(game: ReferenceGame) -> NDArray[Any]:
    """The reference's position as a record, shape (1,), its generator at rest."""
    state = np.zeros(1, STATE_DTYPE)
    for name, value in game.fields().items():
        state[name][0] = value
    return state


class Comparison:
    """Some games of one set of rules, side by side in a table and as reference games."""

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        *,
        seed: int,
        episode: str = "round",
        reward: str = "margin",
        history: bool = False,
        is_rearranged: bool = False,
    ) -> None:
        """``is_rearranged``: every other round starts as if in mid-match, scores near the target, the lead free."""
        self.rules, self.episode, self.reward, self.history = rules, episode, reward, history
        self.is_rearranged = is_rearranged
        self.random = np.random.default_rng([seed, 1])
        self.table = Table(rules, num_games, seed=seed, episode=episode, reward=reward, history=history)  # type: ignore[arg-type]
        self.table.reset()
        self.games: list[ReferenceGame] = [self._open(row) for row in range(num_games)]
        self.played = Played()

    def _open(self, row: int) -> ReferenceGame:
        """The reference of the fresh episode in ``row``, whose deal is judged."""
        state = self.table.states[row]
        deal = deal_of_state(self.rules, state)
        faults = faults_of_deal(self.rules, deal)
        if faults:
            raise Disagreement(f"{self.rules}\n{deal}\n{'; '.join(faults)}")
        if not self.is_rearranged or self.random.random() < 0.5:
            return ReferenceGame(self.rules, deal)
        deal.starter = int(self.random.integers(self.rules.num_players))
        deal.is_lead_forced = False
        deal.lots = []
        last = self.rules.max_rounds or 5
        game = ReferenceGame(self.rules, deal, scores=self._scores(), num_round=int(self.random.integers(1, last + 1)))
        record = state_of_reference(game)
        record["generator"] = state["generator"]
        self.table.set_state(row, record)
        return game

    def _scores(self) -> list[int]:
        """Scores that a round can start from, some of them one booking short of the target."""
        rules = self.rules
        low = 0 if self.random.random() < 0.5 else max(0, rules.target - 12)
        scores = [int(score) for score in self.random.integers(low, rules.target, rules.num_players)]
        if rules.target_check == "after_round" and rules.settlement == "winner_takes" and self.random.random() < 0.2:
            best = rules.target + int(self.random.integers(6))
            scores[:2] = [best, best]  # a tie past the target is played on
        if rules.teams:
            scores[2:] = scores[:2]
        return scores

    def run(self, *, rounds: int, autoreset: bool = False) -> Played:
        """Plays until ``rounds`` rounds have been compared; the last ones may be left unfinished."""
        self._compare()
        while self.played.rounds < rounds:
            actions = self._choose()
            self.table.step(actions, autoreset=autoreset)
            for game, action in zip(self.games, actions.tolist(), strict=True):
                game.step(action)
                game.check()
            self._follow(autoreset)
            self._compare()
        return self.played

    def _choose(self) -> NDArray[np.int64]:
        keys = np.where(self.table.masks == 1, self.random.random(self.table.masks.shape), -1)
        return np.argmax(keys, axis=1)

    def _follow(self, autoreset: bool) -> None:
        """Compares what the last step booked and flagged, then goes on to the next rounds and episodes."""
        table, games, rules = self.table, self.games, self.rules
        is_over = [game.is_episode_over(self.episode) for game in games]
        is_truncated = [
            over and self.episode == "match" and not game.match_winners
            for game, over in zip(games, is_over, strict=True)
        ]
        winners = [sum(1 << seat for seat in game.episode_winners(self.episode)) for game in games]
        rewards = np.array([game.rewards(self.reward, self.episode) for game in games]).astype(np.float32)
        self._expect("points", table.points, [game.points for game in games])
        if not np.allclose(table.rewards, rewards, rtol=1e-6, atol=1e-6):
            self._expect("rewards", table.rewards, rewards)
        self._expect("truncated", table.truncated, is_truncated)
        self._expect("terminated", table.terminated, np.array(is_over) & ~np.array(is_truncated))
        self._expect("final_winners", table.final_winners, winners)
        self.played.steps += len(games)
        self.played.rounds += sum(game.status != PLAYING for game in games)
        for row, game in enumerate(games):
            if not is_over[row] and game.status == ROUND_OVER:
                deal = deal_of_state(rules, table.states[row])
                try:
                    game.next_deal(deal)
                except ValueError as fault:
                    raise self._disagreement(row, f"next deal {deal}: {fault}") from None
        if any(is_over):
            self.played.episodes += sum(is_over)
            rows = np.flatnonzero(is_over)
            if not autoreset:
                self._compare()  # the ended episodes, before they are dealt anew
                table.reset(rows=rows)
            for row in rows.tolist():
                games[row] = self._open(row)

    def _compare(self) -> None:
        table, games = self.table, self.games
        fields = [game.fields() for game in games]
        for name in _COMPARED_FIELDS:
            self._expect(name, table.states[name], [each[name] for each in fields])
        self._expect("players", table.players, [each["turn"] for each in fields])
        self._expect("masks", table.masks, [game.mask(game.turn) for game in games])
        lengths = [len(game.history) for game in games]
        self._expect("history_lengths", table.history_lengths, lengths)
        for row, game in enumerate(games):
            actions = [action for _, action in game.history]
            if table.history_actions[row, : len(actions)].tolist() != actions:
                raise self._disagreement(row, f"history_actions {table.history_actions[row]}")
            for seat in range(self.rules.num_players):
                self._compare_view(row, seat)

    def _compare_view(self, row: int, seat: int) -> None:
        table, game = self.table, self.games[row]
        pieces = game.observation(seat, history=self.history)
        expected = [entry for piece in pieces.values() for entry in piece]
        views = [table.observe(row, seat)]
        if seat == game.turn:
            views.append(table.observations[row])
        for seen in views:
            if seen.tolist() != expected:
                start = 0
                for name, piece in pieces.items():
                    if seen[start : start + len(piece)].tolist() != piece:
                        raise self._disagreement(
                            row, f"seat {seat} sees {name} {seen[start : start + len(piece)]}, not {piece}"
                        )
                    start += len(piece)
                raise self._disagreement(row, f"seat {seat}: observation of {len(seen)} entries, not {len(expected)}")
        if seat != game.turn and table.mask(row, seat).tolist() != game.mask(seat):
            raise self._disagreement(row, f"mask of seat {seat}: {table.mask(row, seat)}")
        known = table.concealed(row, seat)
        blank = (int(known["generator"][0]), set(known["pile"][0].tolist()))
        if blank != (0, {NOTHING}) or known["hands"][0].tolist() != game.concealed_hands(seat):
            raise self._disagreement(row, f"concealed from seat {seat}: {known}")

    def _expect(self, name: str, seen: NDArray[Any], expected: Any) -> None:
        wanted = np.array(expected, dtype=seen.dtype)
        if seen.shape != wanted.shape:
            raise Disagreement(f"{self.rules}\n{name} has the shape {seen.shape}, not {wanted.shape}")
        if not np.array_equal(seen, wanted):
            row = int(np.argmax((seen != wanted).reshape(len(seen), -1).any(axis=1)))
            raise self._disagreement(row, f"{name}: engine {seen[row]}, reference {wanted[row]}")

    def _disagreement(self, row: int, what: str) -> Disagreement:
        game = self.games[row]
        return Disagreement(
            f"{what}\n{self.rules}\nepisode={self.episode} reward={self.reward} row={row} of {len(self.games)}"
            f"\nhistory (seat, action): {game.history}\nreference: {game.fields()}\nengine: {self.table.states[row]}"
        )


def compare_games(
    rules: Rules, num_games: int, *, rounds: int, seed: int, autoreset: bool = False, **options: Any
) -> Played:
    """Compares ``rounds`` rounds of random play, ``num_games`` of them side by side; raises :class:`Disagreement`."""
    return Comparison(rules, num_games, seed=seed, **options).run(rounds=rounds, autoreset=autoreset)
