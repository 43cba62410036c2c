"""Rows of games for those who learn: one learner a row among opponents, or every seat of it played from outside.

What the vector and the single-agent environment share; it speaks no API's words.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoes_env.arguments import MAX_SEED, checked_integer, checked_switch
from dominoes_env.engine import batch, solo
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, new_states
from dominoes_env.envs.illegal import Illegal, check_illegal, loss_of_mover, losses_by_mover
from dominoes_env.envs.set_up import SetUp
from dominoes_env.observation import hidden_size
from dominoes_env.table import Episode, Reward, Table, writeable

__all__ = ["OpponentPolicy", "Opponents", "Rows", "Seat", "checked_seed"]

OpponentPolicy: TypeAlias = Callable[[NDArray[np.int8], NDArray[np.int8], dict[str, Any]], ArrayLike]
"""``policy(observations, masks, infos) -> actions``, for m decisions at once: int8 (m, size), int8 (m, num_actions),
and integers (m,) back. All arrays are the policy's own, and nothing in them is hidden from the seats that decide.
``infos`` has ``row``, ``episode`` (of the row, from 0) and ``player`` (m,), ``state`` (m,) concealed ``STATE_DTYPE``,
``history`` (m, H) int16 and ``history_length`` (m,): the round's actions in order, and ``key`` (m,) uint64: randomness
of each decision's own.
A policy with an attribute ``rules`` is refused by an environment of other rules."""

Opponents: TypeAlias = OpponentPolicy | Sequence[OpponentPolicy | None] | None
Seat: TypeAlias = Literal["rotate", "all"] | int


class Rows:
    """``num_rows`` games. After :meth:`reset` and :meth:`step`, ``records`` (``ROW_DTYPE``) says what each row gave,
    and the table's ``masks`` and ``observations`` are those of the seat that is played next.

    Row ``i`` under seed ``s`` is the game ``(s, first_game + i)`` whatever the number of rows and threads.
    """

    def __init__(
        self,
        rules: Rules,
        num_rows: int,
        *,
        seat: Seat,
        opponents: Opponents,
        autoreset: str,
        episode: Episode,
        reward: Reward,
        illegal: Illegal | None,
        illegal_reward: float | None,
        skip_forced: bool,
        history: bool,
        num_threads: int = 1,
        first_game: int = 0,
    ) -> None:
        self.plays_all = isinstance(seat, str) and seat == "all"
        self._policies = _policies(rules, seat, opponents)
        if illegal is None:
            illegal = "raise" if self.plays_all else "lose"
        check_illegal(illegal, illegal_reward)
        checked_switch("skip_forced", skip_forced)
        checked_switch("history", history)
        self._settings = np.zeros(1, solo.SETTINGS_DTYPE)
        losses = losses_by_mover(rules, loss_of_mover(rules, reward, illegal_reward))
        for mover, shares in enumerate(losses):
            self._settings["losses"][0, 4 * mover : 4 * mover + rules.num_players] = shares
        self._settings["autoreset"] = solo.AUTORESETS.index(autoreset)
        self._settings["raises"] = illegal == "raise"
        self._settings["skip_forced"] = skip_forced
        self._settings["seat"] = _seat(rules, seat)
        self._settings["is_asked"][0, : rules.num_players - 1] = [policy is not None for policy in self._policies]
        self.table = Table(
            rules,
            num_rows,
            game_ids=None if first_game == 0 else np.arange(first_game, first_game + num_rows),
            episode=episode,
            reward=reward,
            skip_forced=bool(skip_forced) and self.plays_all,  # a learner's row skips what its own seats may skip
            history=history,
            num_threads=num_threads,
        )
        self._first_game = first_game
        self.records = np.zeros(num_rows, solo.ROW_DTYPE)
        self._keys = np.ones(num_rows, np.uint64)
        self._has_final = autoreset == "same_step"
        finals = num_rows if self._has_final else 0
        self._final_mask_words = np.zeros((finals, self.table.buffers.masks.shape[1]), np.uint64)
        self._final_observation_words = np.zeros((finals, self.table.buffers.observations.shape[1]), np.uint64)
        held = 0 if self.plays_all else num_rows
        self._held_states = new_states(held)
        self._held_results = np.zeros(held, batch.RESULT_DTYPE)
        self._held_history = np.zeros((held, rules.max_history), np.int16)

    @property
    def rules(self) -> Rules:
        """The rules of every row."""
        return self.table.rules

    @property
    def players(self) -> NDArray[np.int8]:
        """The seat that is played next in each row, int8 (num_rows,); a live view."""
        if self.plays_all:
            return self.table.players
        seats: NDArray[np.int8] = self.records["seat"]
        return seats

    @property
    def rewards(self) -> NDArray[np.float32]:
        """What every seat booked: since the learner's decision, or in the last step; (num_rows, num_players)."""
        given = self.table.rewards if self.plays_all else self.records["rewards"][:, : self.rules.num_players]
        rewards: NDArray[np.float32] = given
        return rewards

    @property
    def flags(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the last step ended the episode, and whether it was cut short by it; live views (num_rows,)."""
        if self.plays_all:
            return self.table.terminated, self.table.truncated
        return self.records["terminated"], self.records["truncated"]

    def hidden(self) -> NDArray[np.int8]:
        """What the seats that are played next do not see, for critics in training; as :meth:`Table.hidden`."""
        states = self.table.states
        if not self.plays_all:
            states = np.where(self.records["is_held"], self._held_states, states)
        values = np.empty((len(states), hidden_size(self.rules)), np.int8)
        batch.hidden_rows(states, self.rules.row, values)
        return values

    @property
    def final_masks(self) -> NDArray[np.int8]:
        """Masks at the end of the episodes that ended in the last step (under same_step); else stale."""
        return self._final_mask_words.view(np.int8)[:, : self.rules.num_actions]

    @property
    def final_observations(self) -> NDArray[np.int8]:
        """Observations at the end of the episodes that ended in the last step (under same_step); else stale."""
        return self._final_observation_words.view(np.int8)[:, : self.table.observations.shape[1]]

    def reset(self, seed: int | None, rows: NDArray[np.int64] | None = None, *, set_up: SetUp | None = None) -> None:
        """Fresh episodes in all rows, or in ``rows`` (indices), played on to the seat that is played next.

        Args:
            seed: seeds them anew, an integer in [0, 2**64); None goes on with each row's generators.
            rows: indices of rows.
            set_up: what the first row begins with, instead of a deal.
        """
        table = self.table
        chosen = table.all_rows if rows is None else rows
        if seed is not None:
            batch.seed_rows(table.states, np.uint64(seed), table.game_ids, chosen)
            solo.seed_keys(self._keys, chosen, np.uint64(seed), table.game_ids, self.records)
        if set_up is not None:
            table.set_state(0, *set_up.placed(table.states[:1]))
        if self.plays_all:
            solo.reset_seats(self._games(), self._views(), chosen)
        else:
            is_dealt = set_up is not None
            solo.reset_learners(self._games(), self._held(), self._views(), self._finals(), chosen, is_dealt)
            self._answer()

    def check(self, actions: ArrayLike) -> NDArray[np.int64]:
        """The actions as :meth:`step` takes them.

        Raises:
            ValueError: if the actions have another shape or are no integers, if one is outside the action space or
                (where such raise) illegal, or if an episode is over and nothing resets it.
        """
        chosen = self.table.checked_actions(actions)
        games, held, rows = self._games(), self._held(), self.table.all_rows

        def ask(part: slice) -> int:
            if self.plays_all:
                return int(solo.refused_seat(games, chosen, rows[part]))
            return int(solo.refused_learner(games, held, chosen, rows[part]))

        refused = next((row for row in self.table.in_parts(ask) if row >= 0), -1)
        if refused >= 0:
            raise self._refusal(refused, int(chosen[refused]))
        return chosen

    def step(self, actions: ArrayLike, *, is_checked: bool = False) -> None:
        """One action in every row, for ``players``; see :func:`solo.step_learners` and :func:`solo.step_seats`.

        Args:
            actions: integers (num_rows,).
            is_checked: they have just come from :meth:`check`.

        Raises:
            ValueError: as :meth:`check`; no row has changed then. Also if an opponent answers with an illegal action;
                rows have to be reset then.
        """
        table = self.table
        if table.num_threads == 1:
            chosen = table.checked_actions(actions)
            refused = self._step_rows(chosen, table.all_rows, is_checked)
            if refused >= 0:
                raise self._refusal(refused, int(chosen[refused]))
        else:
            chosen = table.checked_actions(actions) if is_checked else self.check(actions)
            table.in_parts(lambda part: self._step_rows(chosen, table.all_rows[part], True))
        self._answer()

    def _step_rows(self, actions: NDArray[np.int64], rows: NDArray[np.int64], is_checked: bool) -> int:
        games, views, finals = self._games(), self._views(), self._finals()
        if self.plays_all:
            return int(solo.step_seats(games, views, finals, actions, rows, is_checked))
        return int(solo.step_learners(games, self._held(), views, finals, actions, rows, is_checked))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays that the games are made of: written back in place they put the games as they were."""
        own = {name: value for name, value in self.__dict__.items() if isinstance(value, np.ndarray) and value.size}
        return {**self.table.arrays(), **own}

    def shown(self, row: int) -> tuple[NDArray[Any], list[int], int, bool]:
        """The position that ``row`` shows: the record (1,), a copy; the round's actions; the seat that is played next,
        or whose illegal action ended the episode; and whether one did.

        An illegal action ends an episode without ending its round, and the record says so too.
        """
        if self.records["is_held"][row]:
            states, history, results = self._held_states, self._held_history, self._held_results
        else:
            states, _, history, results, _, _ = self.table.buffers
        state = states[row : row + 1].copy()
        is_lost = bool(self.records["is_lost"][row])
        if is_lost:
            state["status"] = PLAYING
        player = self.records["seat"][row] if is_lost else self.players[row]
        return state, history[row, : results["history_length"][row]].tolist(), int(player), is_lost

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writeable(state))

    # The tuples of arrays that the kernels take, made anew at each call so that copies of this object work.

    def _games(self) -> tuple[NDArray[Any], ...]:
        states, options, history, results, _, _ = self.table.buffers
        return states, self.rules.row, options, self._settings, self._keys, history, results, self.records

    def _held(self) -> tuple[NDArray[Any], ...]:
        return self._held_states, self._held_history, self._held_results

    def _views(self) -> tuple[NDArray[Any], ...]:
        return _views(*self.table.buffers[-2:])

    def _finals(self) -> tuple[NDArray[Any], ...]:
        return _views(self._final_mask_words, self._final_observation_words)

    def _answer(self) -> None:
        """Ask the opponents that rows wait for, all rows of one policy in one call, until no row waits."""
        while self._settings["is_asked"].any():
            waiting = np.flatnonzero(self.records["waiting"] != NONE)
            if not waiting.size:
                return
            num_players = self.rules.num_players
            away = (self.records["waiting"][waiting] - self.records["seat"][waiting]) % num_players
            asked: list[tuple[OpponentPolicy, NDArray[np.bool_]]] = []
            for place, policy in enumerate(self._policies, 1):
                if policy is None or any(policy is other for other, _ in asked):
                    continue
                same = [k for k, other in enumerate(self._policies, 1) if other is policy]
                is_his = np.isin(away, same) if len(same) > 1 else away == place
                if is_his.any():
                    asked.append((policy, is_his))
            for policy, is_his in asked:
                self._ask(policy, waiting[is_his])

    def _ask(self, policy: OpponentPolicy, rows: NDArray[np.int64]) -> None:
        table, count = self.table, len(rows)
        masks, observations = (np.zeros((count, words.shape[1]), np.uint64) for words in table.buffers[-2:])
        keys = np.zeros(count, np.uint64)
        solo.opponent_views(self._games(), rows, _views(masks, observations), keys)
        states = table.states[rows]
        solo.conceal_own(states)
        players = states["turn"].copy()
        infos = {
            "row": rows.copy(),
            "episode": self.records["episode"][rows],
            "player": players.copy(),
            "state": states,
            "history": table.history_actions[rows],
            "history_length": table.history_lengths[rows],
            "key": keys,
        }
        seen = observations.view(np.int8)[:, : table.observations.shape[1]]
        may = masks.view(np.int8)[:, : table.rules.num_actions]
        actions = np.asarray(policy(seen, may, infos))
        if actions.dtype.kind not in "iu" or actions.shape != (count,):
            shape = f"dtype {actions.dtype} and shape {actions.shape}"
            raise ValueError(f"an opponent answered with actions of {shape}; allowed: integers of shape ({count},)")
        refused = solo.answer_rows(
            self._games(), self._held(), self._views(), self._finals(), rows, actions.astype(np.int64)
        )
        if refused >= 0:
            row, player = rows[refused], players[refused]
            legal = np.flatnonzero(table.mask(int(row), int(player))).tolist()
            raise ValueError(f"action={actions[refused]} of the opponent in seat {player} of row {row}; legal: {legal}")

    def _refusal(self, row: int, action: int) -> ValueError:
        is_one_of_many = self.table.num_games > 1 or self._first_game > 0
        where = f" in row {self._first_game + row}" if is_one_of_many else ""
        if self.records["is_over"][row]:
            return ValueError(f"action={action}{where}: the episode is over; reset it first")
        if not 0 <= action < self.rules.num_actions:
            allowed = f"0 to {self.rules.num_actions - 1}"
            return ValueError(f"action={action}{where} is outside the action space; allowed: {allowed}")
        legal = ", ".join(map(str, np.flatnonzero(self.table.masks[row])))
        return ValueError(f"action={action}{where} is illegal; legal: {legal}")


def checked_seed(seed: Any) -> int | None:
    """A seed as it may be given to :meth:`Rows.reset`.

    Raises:
        ValueError: if it is none, neither None nor an integer in [0, 2**64).
    """
    if seed is None:
        return None
    return checked_integer("seed", seed, 0, MAX_SEED)


def _views(masks: NDArray[np.uint64], observations: NDArray[np.uint64]) -> tuple[NDArray[Any], ...]:
    return masks, observations, observations.view(np.int8)


def _seat(rules: Rules, seat: Any) -> int:
    """The seat as the kernels know it: NONE where it goes round, and where all are played."""
    if isinstance(seat, str) and seat in ("rotate", "all"):
        return NONE
    is_integer = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
    if not is_integer or not 0 <= seat < rules.num_players:
        allowed = f"'rotate', 'all' (vector_env), or 0 to {rules.num_players - 1}"
        raise ValueError(f"seat={seat!r} is not allowed; allowed: {allowed}")
    return operator.index(seat)


def _policies(rules: Rules, seat: Any, opponents: Opponents) -> list[OpponentPolicy | None]:
    """One a seat other than the learner's, by how many seats after his it sits; None plays uniformly at random."""
    others = rules.num_players - 1
    if opponents is None:
        return [None] * others
    if isinstance(seat, str) and seat == "all":
        raise ValueError("opponents= is not allowed with seat='all': nobody is left for them to play")
    if callable(opponents):
        opponents = [opponents] * others
    is_sequence = isinstance(opponents, Sequence) and not isinstance(opponents, (str, bytes))
    if not is_sequence or len(opponents) != others or not all(one is None or callable(one) for one in opponents):
        allowed = f"None, a callable, or a sequence of {others} of these, the seat after the learner's first"
        raise ValueError(f"opponents={opponents!r} is not allowed; allowed: {allowed}")
    for policy in opponents:
        if getattr(policy, "rules", rules) != rules:
            raise ValueError(f"opponents: {policy!r} plays by other rules; allowed: those of the environment")
    return list(opponents)
