"""Records as arrays, for offline learning: every decision of every game, as the environments show it.

data = to_numpy(RecordFile("games.jsonl")[:10_000])
for data in numpy_chunks(read_records("games.jsonl")):  # any number of games, a bounded part at a time
    learn(data.observations, data.masks, data.actions, data.rewards[data.rows, data.players])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.arguments import checked_integer, checked_switch, checked_word
from dominoes_env.engine.batch import EPISODES, OPTIONS_DTYPE, RESULT_DTYPE, REWARDS
from dominoes_env.engine.replay import ROUND_DTYPE, STEP_DTYPE, replay_rounds
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import STATE_DTYPE
from dominoes_env.observation import observation_layout, observation_size
from dominoes_env.records import Record, round_starts
from dominoes_env.table import Reward, new_views

__all__ = ["Transitions", "numpy_chunks", "to_numpy"]


@dataclass(frozen=True, eq=False, repr=False)
class Transitions:
    """``m`` decisions of whole games, those of a game one after the other in the order in which they were taken.

    All arrays are C-contiguous and their owner's. What a decision leads to is the next row, unless ``dones`` or the
    episode's number says that none follows. A game that breaks off has no row that is done.
    """

    rules: Rules
    """Of all games."""
    observations: NDArray[np.int8]
    """Shape (m, D): what the player who decides sees; see ``dominoes_env.observation_layout``."""
    masks: NDArray[np.int8]
    """Shape (m, A): 1 where an action is legal."""
    actions: NDArray[np.int16]
    """Shape (m,): the action taken."""
    players: NDArray[np.int8]
    """Shape (m,): the seat that took it."""
    rewards: NDArray[np.float32]
    """Shape (m, num_players): the reward of every seat, from this decision up to the next one, anybody's."""
    terminated: NDArray[np.bool_]
    """Shape (m,): whether the episode ended with it."""
    truncated: NDArray[np.bool_]
    """Shape (m,): whether ``max_rounds`` cut the match short with it, undecided."""
    episodes: NDArray[np.int64]
    """Shape (m,): the number of the game among the records, from 0; a game without a decision is passed over."""

    def __len__(self) -> int:
        return len(self.actions)

    def __repr__(self) -> str:
        sizes = f"D={self.observations.shape[1]}, A={self.masks.shape[1]}, num_players={self.rules.num_players}"
        return f"<Transitions m={len(self)}, {sizes}>"

    @property
    def dones(self) -> NDArray[np.bool_]:
        """Shape (m,): terminated or truncated."""
        return self.terminated | self.truncated

    @property
    def rows(self) -> NDArray[np.int64]:
        """0, 1, ... m - 1, to pick with: ``data.rewards[data.rows, data.players]`` is each mover's own."""
        return np.arange(len(self))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, as ``np.savez`` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "rules"}


def to_numpy(
    records: Iterable[Record], *, reward: Reward = "margin", history: bool = False, skip_forced: bool = False
) -> Transitions:
    """All decisions of some records at once; about 250 bytes each for two players with double-six.

    Args:
        records: of the same rules, at least one.
        reward: what rewards are, see :class:`dominoes_env.Table`.
        history: whether observations end in the actions of the round.
        skip_forced: leave out states with one action, as the environments with ``skip_forced`` do; what is booked
            there goes to the decision before. Without it every action is a row, draws and passes included.

    Raises:
        ValueError: for no records, records of different rules, or an argument that is not allowed.
    """
    parts = list(numpy_chunks(records, reward=reward, history=history, skip_forced=skip_forced))
    if not parts:
        raise ValueError("records=[] is not allowed; allowed: at least one, since the shapes follow from its rules")
    if len(parts) == 1:
        return parts[0]
    joined = {name: np.concatenate([part.arrays()[name] for part in parts]) for name in parts[0].arrays()}
    return Transitions(parts[0].rules, **joined)


#: Decisions of a chunk where nothing else is said.
_AT_ONCE = 1 << 16


def numpy_chunks(
    records: Iterable[Record],
    *,
    size: int = _AT_ONCE,
    reward: Reward = "margin",
    history: bool = False,
    skip_forced: bool = False,
) -> Iterator[Transitions]:
    """The same in parts of whole games, each as soon as ``size`` actions are in it; records are taken one by one.

    The numbers of episodes count on from part to part.

    Raises:
        ValueError: as :func:`to_numpy`, but for no records, which give no parts.
    """
    checked_integer("size", size, 1)
    options = np.zeros(1, OPTIONS_DTYPE)
    options["reward"] = REWARDS.index(checked_word("reward", reward, REWARDS))
    options["skip_forced"] = checked_switch("skip_forced", skip_forced)
    checked_switch("history", history)
    return _chunks(records, size, options, history)


def _chunks(records: Iterable[Record], size: int, options: NDArray[Any], history: bool) -> Iterator[Transitions]:
    rules: Rules | None = None
    rounds = _Rounds()
    for number, record in enumerate(records):
        if rules is None:
            rules = record.rules
            piece = observation_layout(rules, history=history).get("history")
            options["history_start"] = -1 if piece is None else piece.start
        elif record.rules != rules:
            raise ValueError(f"record {number} has other rules than the first; allowed: records of the same rules")
        rounds.add(record, number)
        if rounds.num_actions >= size:
            yield rounds.transitions(rules, options, history)
            rounds = _Rounds()
    if rules is not None and rounds.starts:
        yield rounds.transitions(rules, options, history)


class _Rounds:
    """Rounds that wait to be played again together."""

    def __init__(self) -> None:
        self.num_actions = 0
        self.starts: list[bytes] = []  # NumPy would join them field by field
        self.about: list[tuple[int, int, int, int, bool, bool]] = []  # as ROUND_DTYPE
        self.histories: list[tuple[int, ...]] = []

    def add(self, record: Record, number: int) -> None:
        last = len(record.rounds) - 1
        for place, (state, past) in enumerate(round_starts(record)):
            actions = past + record.rounds[place].actions
            self.starts.append(state.tobytes())
            self.histories.append(actions)
            self.about.append(
                (number, len(past), len(actions), EPISODES.index(record.episode), place == 0, place == last)
            )
            self.num_actions += len(actions) - len(past)

    def transitions(self, rules: Rules, options: NDArray[Any], history: bool) -> Transitions:
        actions = np.zeros((len(self.starts), rules.max_history), np.int16)
        for row, told in enumerate(self.histories):
            actions[row, : len(told)] = told
        steps = np.zeros(self.num_actions, STEP_DTYPE)
        masks, observations = new_views(rules, self.num_actions, history=history)
        count = replay_rounds(
            np.frombuffer(bytearray(b"".join(self.starts)), STATE_DTYPE),
            rules.row,
            options,
            np.array(self.about, ROUND_DTYPE),
            actions,
            np.zeros(1, RESULT_DTYPE),
            steps,
            masks,
            observations,
        )
        steps = steps[:count]
        size = observation_size(rules, history=history)
        return Transitions(
            rules,
            observations.view(np.int8)[:count, :size].copy(),
            masks.view(np.int8)[:count, : rules.num_actions].copy(),
            steps["action"].copy(),
            steps["player"].copy(),
            steps["rewards"][:, : rules.num_players].copy(),
            steps["terminated"].copy(),
            steps["truncated"].copy(),
            steps["game"].copy(),
        )
