"""What a learner among opponents must be shown and paid, played out one game at a time on a plain table."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.solo import ROW_DTYPE, seed_keys
from dominoes_env.table import Table


def chosen(observation: np.ndarray, mask: np.ndarray) -> int:
    """An action that depends on nothing but what is seen."""
    legal = np.flatnonzero(mask)
    return int(legal[zlib.crc32(observation.tobytes()) % len(legal)])


def chosen_all(observations: np.ndarray, masks: np.ndarray, infos: Any = None) -> np.ndarray:
    """:func:`chosen` for many, also as an opponent."""
    return np.array([chosen(observation, mask) for observation, mask in zip(observations, masks, strict=True)])


def learner_games(
    rules: Rules, row: int, seat: Any, *, seed: int, skip_forced: bool, are_asked: bool, **options: Any
) -> Iterator[tuple[list[tuple[Any, Any, float]], Any, Any, np.ndarray]]:
    """Episode after episode of game ``row``: its decisions as (observation, mask, reward), what is seen at the end,
    the learner's seat, and the rewards of all seats. The learner and opponents who are asked play :func:`chosen`.
    """
    table = Table(rules, 1, seed=seed, game_ids=[row], **options)
    keys = np.ones(1, np.uint64)
    seed_keys(keys, np.arange(1), np.uint64(seed), np.array([row], np.uint64), np.zeros(1, ROW_DTYPE))
    episode = 0
    while True:
        learner = (row + episode) % rules.num_players if seat == "rotate" else seat
        totals = np.zeros(rules.num_players)
        seen = [(table.observe(0, learner), table.mask(0, learner), 0.0)]
        is_decided = False
        while True:
            observation, mask = table.observations[0].copy(), table.masks[0].copy()
            if table.players[0] == learner:
                is_choice = not skip_forced or mask.sum() > 1
                if not is_decided:
                    seen = [(observation, mask, totals[learner])]  # what is shown if nothing comes after it
                elif is_choice:
                    seen.append((observation, mask, totals[learner]))
                is_decided |= is_choice
            if table.players[0] == learner or are_asked:
                action = np.array([chosen(observation, mask)])
            else:
                action = table.sample(keys)
            table.step(action)
            totals += table.rewards[0]
            if table.terminated[0] or table.truncated[0]:
                break
        paid = [*(total for _, _, total in seen[1:]), totals[learner]]
        before = [0.0, *paid[:-1]]
        decisions = [
            (observation, mask, after - was)
            for (observation, mask, _), after, was in zip(seen, paid, before, strict=True)
        ]
        yield decisions, (table.observe(0, learner), table.mask(0, learner)), learner, totals
        table.reset()
        episode += 1
