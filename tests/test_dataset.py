"""Records as arrays: what they hold is what the environments show, decision by decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env_cases import ODD_RULES, PRESETS
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import PARTNERS_WHO_PAY, played, rule_sets

import dominoes_env
from dominoes_env.archive import read_records, record_from_json, record_to_json, write_records
from dominoes_env.dataset import Transitions, numpy_chunks, to_numpy
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from dominoes_env.records import Record
from dominoes_env.table import Table


def shown_by_env(rules: Rules, seed: int, actions: list[int], options: Any = None, **settings: Any) -> dict[str, Any]:
    """What ``env`` shows when these actions are taken in it, in the form of :class:`Transitions`."""
    env = dominoes_env.env(rules=rules, **settings)
    env.reset(seed=seed, options=options)
    seen: dict[str, list[Any]] = {name: [] for name in Transitions.__annotations__ if name not in ("rules", "episodes")}
    for action in actions:
        agent = env.agent_selection
        observation = env.observe(agent)
        env.step(action)
        seen["observations"].append(observation["observation"])
        seen["masks"].append(observation["action_mask"])
        seen["actions"].append(action)
        seen["players"].append(int(agent.removeprefix("player_")))
        seen["rewards"].append([env.rewards[name] for name in env.possible_agents])
        seen["terminated"].append(any(env.terminations.values()))
        seen["truncated"].append(any(env.truncations.values()))
    return {name: np.array(values) for name, values in seen.items()}


def assert_same(data: Transitions, shown: dict[str, Any]) -> None:
    assert len(data) == len(shown["actions"])
    for name, values in shown.items():
        given = getattr(data, name)
        assert given.flags.c_contiguous and given.flags.owndata and given.flags.writeable
        np.testing.assert_array_equal(given, values.astype(given.dtype).reshape(given.shape), err_msg=name)


def env_record(rules: Rules, seed: int, num_steps: int, episode: str, skip_forced: bool) -> tuple[Record, list[int]]:
    """A random game, broken off after ``num_steps`` choices, and these choices."""
    rng = np.random.default_rng(seed)
    table = Table(rules, seed=seed, episode=episode, skip_forced=skip_forced)  # type: ignore[arg-type]
    game = Game(rules=rules, seed=seed, episode=episode)  # type: ignore[arg-type]
    chosen: list[int] = []

    def follow() -> None:
        """Take the forced actions that the table has taken by itself."""
        while not game.is_over and (
            table.terminated[0]
            or table.truncated[0]
            or (game.round, len(game.history)) != (table.states["round"][0], table.history_lengths[0])
        ):
            (action,) = game.legal_actions
            game.step(action)

    follow()
    while len(chosen) < num_steps and not game.is_over:
        chosen.append(int(rng.choice(np.flatnonzero(table.masks[0]))))
        table.step([chosen[-1]])
        game.step(chosen[-1])
        follow()
    return game.record, chosen


SOME = [(name, {"num_players": players}) for name, players in PRESETS] + ODD_RULES + [("partners", PARTNERS_WHO_PAY[1])]


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize(("variant", "knobs"), SOME)
def test_it_is_what_the_environment_shows(variant: str, knobs: dict[str, Any], skip_forced: bool) -> None:
    rules = make_rules(variant, **knobs)
    for seed, reward in enumerate(("margin", "points", "win")):
        for episode, num_steps in (("round", 1000), ("match", 120), ("match", 1000)):
            if num_steps == 1000 and episode == "match" and reward == "points":
                continue
            record, chosen = env_record(rules, seed, num_steps, episode, skip_forced)
            how: Any = {"reward": reward, "history": seed == 0, "skip_forced": skip_forced}
            data = to_numpy([record_from_json(record_to_json(record))], **how)
            assert_same(data, shown_by_env(rules, seed, chosen, episode=episode, **how))
            assert (data.episodes == 0).all()
