"""``Table``: n games of one rule set on preallocated buffers, stepped together by the engine.

Every interface of the package is a translation of a table; a single game is a table of one. (The file is long because
each buffer that it hands out is described here and nowhere else.)
"""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoes_env.arguments import MAX_SEED, checked_integer, checked_switch, checked_word
from dominoes_env.engine import batch
from dominoes_env.engine.encode import buffer_words
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE, PLAYING, STATE_DTYPE, new_states
from dominoes_env.observation import hidden_size, observation_layout, observation_size

__all__ = ["Buffers", "Episode", "Reward", "Table", "new_views", "random_keys", "writeable"]

Episode = Literal["round", "match"]
Reward = Literal["margin", "points", "win"]

#: What Table._bind makes anew for a copy.
_VIEWS = frozenset(
    {
        "_all_rows",
        "_everything",
        "_games",
        "_outputs",
        "_places",
        "_pool",
        "_pool_process",
        "_players",
        "_rewards",
        "_points",
        "_terminated",
        "_truncated",
        "_masks",
        "_observations",
    }
)


class Buffers(NamedTuple):
    """The arrays behind a table as the engine's kernels take them, a row a game; whoever writes to them plays."""

    states: NDArray[Any]
    """Shape (num_games,), ``STATE_DTYPE``."""
    options: NDArray[Any]
    """Shape (1,), ``OPTIONS_DTYPE``."""
    history: NDArray[np.int16]
    """Shape (num_games, max_history)."""
    results: NDArray[Any]
    """Shape (num_games,), ``RESULT_DTYPE``."""
    masks: NDArray[np.uint64]
    """Shape (num_games, words): seen as int8 each row begins with the mask."""
    observations: NDArray[np.uint64]
    """Shape (num_games, words): seen as int8 each row begins with the observation."""


class Table:
    """``num_games`` independent games of the same rules, dealt and ready to be played.

    Row ``i`` under seed ``s`` is the game ``(s, game_ids[i])``: what happens in it depends on nothing but its
    actions, whatever the number of rows.

    Args:
        rules: the rules of every row.
        num_games: rows, at least 1.
        seed: an integer in [0, 2**64).
        game_ids: one integer in [0, 2**64) a row; None takes 0, 1, 2, ...
        episode: ``"round"``: round 1 of a fresh match, then it ends; ``"match"``: rounds up to the target.
        reward: ``"margin"``: own points minus the mean of the opponents' (team-wise with teams); ``"points"``:
            points booked, penalties negative; ``"win"``: at the end of the episode the winners share +1, the others
            share -1; 0 if all tie or the match is truncated.
        skip_forced: play on while the seat on turn has a single action. An episode in which nobody ever has a
            choice is offered at its last move, so that none is lost.
        history: whether observations end with the round's actions in order.
        num_threads: threads that share the rows of a step; the results are the same for any number. Two pay from
            some thousand rows on, for fewer one is faster.

    Raises:
        ValueError: for an argument outside what is allowed.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int = 1,
        *,
        seed: int = 0,
        game_ids: Sequence[int] | NDArray[Any] | None = None,
        episode: Episode = "round",
        reward: Reward = "margin",
        skip_forced: bool = False,
        history: bool = False,
        num_threads: int = 1,
    ) -> None:
        if not isinstance(rules, Rules):
            raise ValueError(f"rules={rules!r} is not allowed; allowed: a Rules, as make_rules gives")
        self.rules = rules
        self.num_games = checked_integer("num_games", num_games, 1)
        self.num_threads = checked_integer("num_threads", num_threads, 1)
        self.episode = checked_word("episode", episode, batch.EPISODES)
        self.reward = checked_word("reward", reward, batch.REWARDS)
        self.skip_forced = checked_switch("skip_forced", skip_forced)
        self.history = checked_switch("history", history)
        self.game_ids = _game_ids(game_ids, self.num_games)
        self._options = np.zeros(1, batch.OPTIONS_DTYPE)
        self._options["episode"] = batch.EPISODES.index(episode)
        self._options["reward"] = batch.REWARDS.index(reward)
        self._options["skip_forced"] = self.skip_forced
        layout = observation_layout(rules, history=self.history)
        self._options["history_start"] = layout["history"].start if self.history else -1
        self._states = new_states(self.num_games)
        self._results = np.zeros(self.num_games, batch.RESULT_DTYPE)
        self._history = np.zeros((self.num_games, rules.max_history), np.int16)
        self._mask_words, self._observation_words = new_views(rules, self.num_games, history=self.history)
        self._bind()
        self.reset(seed)

    def _bind(self) -> None:
        """Make the views that the properties hand out."""
        rules, n = self.rules, self.rules.num_players
        self._all_rows = np.arange(self.num_games)
        self._everything = slice(0, self.num_games)
        self._games = (self._states, rules.row, self._options)
        self._outputs = (self._history, self._results, self._mask_words, self._observation_words)
        self._places = batch.places_of(*self._games, *self._outputs)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        self._players = self._states["turn"]
        self._rewards = self._results["rewards"][:, :n]
        self._points = self._results["points"][:, :n]
        self._terminated = self._results["terminated"]
        self._truncated = self._results["truncated"]
        self._masks = self._mask_words.view(np.int8)[:, : rules.num_actions]
        size = observation_size(rules, history=self.history)
        self._observations = self._observation_words.view(np.int8)[:, :size]

    # What the rows hold. All are live views: the next reset or step changes them; copy what is to be kept.

    @property
    def states(self) -> NDArray[Any]:
        """The records, shape (num_games,), dtype ``STATE_DTYPE``; to be read, not written."""
        return self._states

    @property
    def players(self) -> NDArray[np.int8]:
        """The seat on turn in each row, int8 (num_games,)."""
        return self._players

    @property
    def observations(self) -> NDArray[np.int8]:
        """The observation of the seat on turn in each row, int8 (num_games, size)."""
        return self._observations

    @property
    def masks(self) -> NDArray[np.int8]:
        """The legal actions of the seat on turn in each row, int8 0/1 (num_games, num_actions)."""
        return self._masks

    @property
    def rewards(self) -> NDArray[np.float32]:
        """The reward of every seat for the last step, float32 (num_games, num_players)."""
        return self._rewards

    @property
    def points(self) -> NDArray[np.int32]:
        """The points that every seat booked in the last step, penalties negative, int32 (num_games, num_players)."""
        return self._points

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Whether the episode of each row ended in the last step, bool (num_games,)."""
        return self._terminated

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Whether it was cut short by ``max_rounds``, undecided, bool (num_games,)."""
        return self._truncated

    @property
    def final_winners(self) -> NDArray[np.uint8]:
        """Seats, as bits, that won the episode which ended in the last step, uint8 (num_games,); 0: none ended."""
        winners: NDArray[np.uint8] = self._results["final_winners"]
        return winners

    @property
    def history_actions(self) -> NDArray[np.int16]:
        """The actions of each row's current round in order, int16 (num_games, max_history); valid to the length."""
        return self._history

    @property
    def history_lengths(self) -> NDArray[np.int32]:
        """Actions of each row's current round, int32 (num_games,)."""
        lengths: NDArray[np.int32] = self._results["history_length"]
        return lengths

    @property
    def buffers(self) -> Buffers:
        """The arrays themselves, for code that drives the engine's kernels on this table."""
        return Buffers(self._states, self._options, *self._outputs)

    @property
    def all_rows(self) -> NDArray[np.int64]:
        """0, 1, ... num_games - 1; not to be written to."""
        return self._all_rows

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays that the games are made of: written back in place they put the games as they were."""
        return {name: value for name, value in self.__getstate__().items() if isinstance(value, np.ndarray)}

    def round_history(self, row: int = 0) -> NDArray[np.int16]:
        """A copy of the actions of the current round of ``row``; the starter took the first."""
        row = self._row(row)
        return self._history[row, : self._results["history_length"][row]].copy()

    # Play.

    def reset(self, seed: int | None = None, *, rows: ArrayLike | None = None) -> None:
        """Start a fresh episode in every row, or in ``rows``.

        Args:
            seed: seeds the rows anew; None goes on with each row's generator.
            rows: indices of rows, or a mask of shape (num_games,) such as ``terminated``; None takes all.

        Raises:
            ValueError: for a seed that is no integer in [0, 2**64), or rows that the table does not have.
        """
        chosen = self._all_rows if rows is None else self._chosen_rows(rows)
        if seed is not None:
            seed = checked_integer("seed", seed, 0, MAX_SEED)
            batch.seed_rows(self._states, np.uint64(seed), self.game_ids, chosen)
        batch.reset_rows(self._states, self.rules.row, self._options, self._history, self._results, chosen)
        self.refresh()

    def step(self, actions: ArrayLike, *, autoreset: bool = False) -> None:
        """Take one action in every row, that of the seat on turn, and refresh all buffers.

        Args:
            actions: integers, shape (num_games,).
            autoreset: start a fresh episode at once in rows whose episode ended; their rewards, points and flags
                are those of the ended episode, masks and observations those of the new one.

        Raises:
            ValueError: if the actions have another shape or are no integers, if one is illegal in its row, or if an
                episode is over (and was not reset); no row has changed then.
        """
        chosen = self.checked_actions(actions)
        if self.num_threads == 1:
            refused = batch.step_rows(*self._games, chosen, *self._outputs, autoreset, False)
        else:
            refused = self._refused(chosen)
            if refused < 0:
                self.in_parts(lambda part: self._step_part(part, chosen, autoreset, True))
        if refused >= 0:
            raise self._refusal(int(refused), int(chosen[refused]))

    def checked_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        """``actions`` as int64, shape (num_games,), whatever they do.

        Raises:
            ValueError: if they have another shape or are no integers.
        """
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise ValueError(f"actions of dtype {chosen.dtype} are not allowed; allowed: integers")
        if chosen.shape != (self.num_games,):
            raise ValueError(f"actions of shape {chosen.shape} are not allowed; allowed: ({self.num_games},)")
        return np.ascontiguousarray(chosen, np.int64)

    def step_one(self, action: int) -> int:
        """:meth:`step` of a table of one, for callers to whom a microsecond matters; ``action`` is an int.

        Returns:
            -1 if the action is illegal or the episode over, nothing having changed; else the seat on turn (two
            bits), and the bits ``IS_TERMINATED``, ``IS_TRUNCATED`` and ``IS_REWARDED`` (somebody's reward is not 0).
        """
        told: int = batch.step_one(self._places, action)
        return told

    def _step_part(self, part: slice, actions: NDArray[np.int64], autoreset: bool, is_checked: bool) -> int:
        refused: int = batch.step_rows(
            self._states[part],
            self.rules.row,
            self._options,
            actions[part],
            self._history[part],
            self._results[part],
            self._mask_words[part],
            self._observation_words[part],
            autoreset,
            is_checked,
        )
        return refused

    def _refused(self, actions: NDArray[np.int64]) -> int:
        """The first row whose action is refused, asked in parts; -1: none."""

        def ask(part: slice) -> int:
            refused: int = batch.refused_row(self._states[part], self.rules.row, actions[part])
            return refused if refused < 0 else refused + part.start

        return min((refused for refused in self.in_parts(ask) if refused >= 0), default=-1)

    def in_parts(self, work: Callable[[slice], int]) -> list[int]:
        """``work`` on an even part of the rows in each of ``num_threads`` threads; compiled code holds no lock."""
        count = min(self.num_threads, self.num_games)
        if count == 1:
            return [work(self._everything)]
        if self._pool is None or self._pool_process != os.getpid():  # a forked child has none of the threads
            # Without the JIT unsigned arithmetic wraps in these threads too, without a warning.
            self._pool = ThreadPoolExecutor(count - 1, "dominoes", np.seterr, (None, None, "ignore"))
            self._pool_process = os.getpid()
        bounds = [self.num_games * i // count for i in range(count + 1)]
        parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        others = [self._pool.submit(work, part) for part in parts[1:]]
        try:
            first = work(parts[0])
        finally:
            wait(others)  # nobody goes on while rows are written
        return [first, *(other.result() for other in others)]

    def sample(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """A uniformly random legal action for the seat on turn in each row, int64 (num_games,).

        Args:
            keys: the sources of randomness, uint64 (num_games,), none of them 0 (see :func:`random_keys`); moved on.
        """
        actions = np.empty(self.num_games, np.int64)
        batch.sample_rows(self._states, self.rules.row, keys, actions)
        return actions

    def play(self, keys: NDArray[np.uint64], num_steps: int) -> None:
        """``num_steps`` uniformly random steps with autoreset in one call, every buffer refreshed at each."""

        def play_part(part: slice) -> int:
            batch.play_rows(
                self._states[part],
                self.rules.row,
                self._options,
                keys[part],
                self._history[part],
                self._results[part],
                self._mask_words[part],
                self._observation_words[part],
                num_steps,
            )
            return 0

        self.in_parts(play_part)

    def _refusal(self, row: int, action: int) -> ValueError:
        where = f" in row {row}" if self.num_games > 1 else ""
        if self._states[row]["status"] != PLAYING:
            return ValueError(f"action={action}{where}: the episode is over; reset() starts the next")
        if not 0 <= action < self.rules.num_actions:
            allowed = f"0 to {self.rules.num_actions - 1}"
            return ValueError(f"action={action}{where} is outside the action space; allowed: {allowed}")
        legal = ", ".join(map(str, np.flatnonzero(self.mask(row, int(self._players[row])))))
        return ValueError(f"action={action}{where} is illegal; legal: {legal}")

    def is_legal(self, row: int, action: int) -> bool:
        """Whether the seat on turn in ``row`` may take ``action``."""
        action = operator.index(action)
        if not 0 <= action < self.rules.num_actions:
            return False
        return bool(batch.is_legal_row(self._states, self.rules.row, self._row(row), action))

    def _chosen_rows(self, rows: ArrayLike) -> NDArray[np.int64]:
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_ and chosen.shape == (self.num_games,):
            return np.flatnonzero(chosen)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"rows={rows!r} is not allowed; allowed: indices, or a mask of shape ({self.num_games},)")
        return np.array([self._row(row) for row in chosen.tolist()], np.int64)

    def _row(self, row: int) -> int:
        return checked_integer("row", row, 0, self.num_games - 1)

    def _player(self, player: int) -> int:
        return checked_integer("player", player, 0, self.rules.num_players - 1)

    def refresh(self) -> None:
        """Write masks and observations anew, for the seat on turn in every row."""
        batch.refresh_rows(
            self._states,
            self.rules.row,
            self._options,
            self._history,
            self._results,
            self._mask_words,
            self._observation_words,
        )

    # One seat's view.

    def observe(self, row: int, player: int) -> NDArray[np.int8]:
        """The observation of any seat, a fresh int8 array (size,)."""
        row, player = self._row(row), self._player(player)
        words = np.zeros((1, self._observation_words.shape[1]), np.uint64)
        batch.observe_row(self._states, self.rules.row, self._options, self._history, self._results, row, player, words)
        seen: NDArray[np.int8] = words.view(np.int8)[0, : self._observations.shape[1]]
        return seen

    def hidden(self) -> NDArray[np.int8]:
        """What the seat on turn in each row does not see, laid out by :func:`dominoes_env.observation.hidden_layout`.

        For critics in training, beside the observations: a fresh int8 array (num_games, size). Never show it a player.
        """
        values = np.empty((self.num_games, hidden_size(self.rules)), np.int8)
        batch.hidden_rows(self._states, self.rules.row, values)
        return values

    def mask(self, row: int, player: int) -> NDArray[np.int8]:
        """The mask of any seat, a fresh int8 array (num_actions,); exactly PASS where it is not on turn."""
        words = np.zeros((1, self._mask_words.shape[1]), np.uint64)
        batch.mask_row(self._states, self.rules.row, self._row(row), self._player(player), words)
        mask: NDArray[np.int8] = words.view(np.int8)[0, : self.rules.num_actions]
        return mask

    def concealed(self, row: int, player: int) -> NDArray[Any]:
        """What ``player`` may know of the state of ``row``: a fresh array (1,), dtype ``STATE_DTYPE``."""
        row = self._row(row)
        state = self._states[row : row + 1].copy()
        batch.conceal_rows(state, self._player(player))
        return state

    def set_state(self, row: int, state: NDArray[Any], history: Sequence[int] | NDArray[Any] = ()) -> None:
        """Put a record (of shape () or (1,), copied) and the actions of its round into ``row``.

        Forced moves are not skipped before the next step.

        Raises:
            ValueError: for a row that is not there, no record, one with anything in seats or on ends that the rules do
                not have, or a history that cannot be one.
        """
        row = self._row(row)
        record = np.asarray(state).reshape(-1)
        if record.shape != (1,) or record.dtype != STATE_DTYPE:
            raise ValueError(f"state of dtype {record.dtype} is not allowed; allowed: one record of STATE_DTYPE")
        n = self.rules.num_players
        if record["hands"][0, n:].any() or record["scores"][0, n:].any():
            raise ValueError(f"state is not allowed: seats that do not play hold tiles or points; allowed: {n} seats")
        if (record["ends"][0, self.rules.num_ends :] != NONE).any() and record["laid"][0]:
            raise ValueError(f"state is not allowed: more than {self.rules.num_ends} ends are open")
        past = np.asarray(history)
        is_listed = past.ndim == 1 and (not past.size or past.dtype.kind in "iu")
        if not is_listed or (past.size and not 0 <= past.min() <= past.max() < self.rules.num_actions):
            raise ValueError(f"history={history!r} is not allowed; allowed: action ids in order")
        # What may still come has to fit too: tiles laid, passes between, draws and their passes.
        left = self.rules.num_tiles - int(record["laid"][0]).bit_count()
        draws = 0 if self.rules.draw_rule == "none" else int(record["boneyard"][0])
        most = self._history.shape[1] - left * self.rules.num_players - 2 * draws
        if len(past) > most:
            raise ValueError(f"history of {len(past)} actions is not allowed; allowed: at most {most} here")
        self._states[row] = record[0]
        self._results[row] = np.zeros(1, batch.RESULT_DTYPE)[0]
        self._history[row, : len(past)] = past
        self._results["history_length"][row] = len(past)
        self._results["told"][row] = self._states["scores"][row]
        self.refresh()

    # Copies. Views are made anew, so that a copy shares nothing with its origin.

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writeable(state))
        self._bind()

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        twin = Table.__new__(Table)
        twin.__setstate__(
            {
                name: value if name == "rules" else copy.deepcopy(value, memo)
                for name, value in self.__getstate__().items()
            }
        )
        return twin


def new_views(rules: Rules, num_rows: int, *, history: bool = False) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Buffers for so many masks and observations, as :class:`Buffers` describes them."""
    size = observation_size(rules, history=history)
    bits = observation_layout(rules, history=history)["hand_counts"].start  # all pieces before it are bits
    widths = buffer_words(rules.num_actions, rules.num_actions), buffer_words(bits, size)
    return np.zeros((num_rows, widths[0]), np.uint64), np.zeros((num_rows, widths[1]), np.uint64)


def writeable(state: dict[str, Any]) -> dict[str, Any]:
    """``state`` with arrays that can be written to: those that were unpickled from read-only memory are copied."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) and not value.flags.writeable else value
        for name, value in state.items()
    }


def random_keys(seed: int, num_games: int) -> NDArray[np.uint64]:
    """Sources of randomness for :meth:`Table.sample` and :meth:`Table.play`, uint64 (num_games,), none 0."""
    return np.random.default_rng(seed).integers(1, 2**64, num_games, np.uint64)


def _game_ids(game_ids: Sequence[int] | NDArray[Any] | None, num_games: int) -> NDArray[np.uint64]:
    if game_ids is None:
        return np.arange(num_games, dtype=np.uint64)
    if np.shape(game_ids) != (num_games,):
        raise ValueError(f"game_ids of shape {np.shape(game_ids)} is not allowed; allowed: ({num_games},)")
    return np.array([checked_integer("game_ids", game_id, 0, MAX_SEED) for game_id in game_ids], np.uint64)
