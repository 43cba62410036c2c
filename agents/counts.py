"""What a play scores at the open ends, spelled out: ``6+4+5 = 15: 15 points``. Every number comes from the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dominoes_env.engine.actions import decode_action
from dominoes_env.engine.moves import lay_tile
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import exposed_count, exposed_part, play_points, points_of, score_play
from dominoes_env.engine.state import NONE

__all__ = ["Count", "count_plays"]


@dataclass(frozen=True)
class Count:
    """The open ends after a play, and what they score."""

    parts: tuple[int, ...]
    """What each end that counts adds, ends in order, the spinner last where it counts; a double adds both halves.
    Where equal ends score: their numbers."""
    total: int
    """What all ends that count add up to."""
    points: int
    """What the play scores."""
    booked: tuple[int, ...]
    """The same by seat, for the player and whoever shares his score."""
    kind: str = "fives"
    """The rule ``end_scoring``."""

    def __str__(self) -> str:
        what = "+".join(map(str, self.parts)) or "0"
        if self.kind == "equal_ends":
            what = " and ".join(map(str, self.parts))
        elif len(self.parts) > 1:
            what += f" = {self.total}"
        worth = "nothing" if not self.points else f"{self.points} {'point' if self.points == 1 else 'points'}"
        return f"{what}: {worth}"


def count_plays(rules: Rules, state: NDArray[Any], actions: Sequence[int]) -> dict[int, Count]:
    """What each play among ``actions`` scores for the seat on turn; empty where open ends score nothing.

    ``state`` (1,) ``STATE_DTYPE`` may be concealed: only what everybody sees is asked.
    """
    if rules.end_scoring == "none":
        return {}
    counts = {}
    for action in actions:
        decoded = decode_action(rules, action)
        if isinstance(decoded, str):
            continue
        after = state.copy()
        record, row = after[0], rules.row[0]
        lay_tile(record, row, *decoded)
        if rules.end_scoring == "equal_ends":
            parts = [int(number) for number in record["ends"] if number != NONE]
        else:
            parts = [int(exposed_part(record, part)) for part in range(5) if _counts(record, part)]
        total, points = int(exposed_count(record)), int(play_points(record, row))
        score_play(record, row, int(state["turn"][0]))
        pairs = zip(after["scores"][0], state["scores"][0], strict=True)
        booked = [int(points_of(score, before, row)) for score, before in pairs]
        counts[action] = Count(tuple(parts), total, points, tuple(booked[: rules.num_players]), rules.end_scoring)
    return counts


def _counts(record: Any, part: int) -> bool:
    """Whether an end, or the spinner (4), is among the ends that are added up: a blank end is, and adds 0."""
    return bool(int(record["begun"]) >> part & 1) if part < 4 else bool(exposed_part(record, part))
