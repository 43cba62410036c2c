"""No agent but the cheater sees hidden tiles: dealing them anew never changes its choice for the same key."""

from __future__ import annotations

import numpy as np
import pytest

from agents import CATALOG, Turns, make_agent
from agents.keys import decision_keys
from agents.learned import LearnedAgent
from agents.match import turns_of
from agents.policy_file import Policy
from dominoes_env.engine.variants import make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.observation import observation_size
from dominoes_env.table import Table

#: What an agent is called here, where its name alone would think for long; small budgets show a leak as well.
BUDGETS = {"pimc": "pimc:6", "ismcts": "ismcts:40", "inference": "inference:6"}
GAMES = [
    ("classic_block", 2, {}),
    ("draw", 2, {}),
    ("draw", 3, {"draw_rule": "one", "max_pip": 5, "hand_size": 4}),
    ("all_fives", 2, {}),
    ("block", 4, {"opening": "lots_keep"}),
    ("partners", 4, {}),
]
NUM_WORLDS = 4


def player(name, rules):
    """The agent called ``name`` in the catalog, made for ``rules``."""
    if name != "learned":
        return make_agent(BUDGETS.get(name, name))
    generator = np.random.default_rng(0)
    shape = observation_size(rules), rules.num_actions
    weights = generator.normal(0, 1, shape).astype(np.float32)
    return LearnedAgent(Policy(rules, (weights,), (np.zeros(shape[1], np.float32),)), mode="sample")


def decisions(rules, num_decisions, seed):
    """Decisions in the middle of random rounds: the table that holds each, and the round so far."""
    generator = np.random.default_rng(seed)
    table = Table(rules, seed=seed, skip_forced=True)
    found = 0
    while found < num_decisions:
        for _ in range(int(generator.integers(0, 8))):
            table.step([generator.choice(np.flatnonzero(table.masks[0]))], autoreset=True)
        if table.masks[0].sum() > 1:
            yield table
            found += 1
        table.reset()


def worlds_of(table, generator):
    """The decision that a table waits for, in worlds that its mover cannot tell apart: one key for all."""
    rules, mover, past = table.rules, int(table.players[0]), table.round_history()
    worlds = determinize(rules, table.concealed(0, mover), mover, past, generator, num_worlds=NUM_WORLDS)
    others = Table(rules, NUM_WORLDS + 1)
    others.set_state(0, table.states[0], past)
    for row, world in enumerate(worlds, 1):
        others.set_state(row, world, past)
    keys = np.repeat(decision_keys(int(generator.integers(2**32))), NUM_WORLDS + 1)
    return others, turns_of(others, np.arange(NUM_WORLDS + 1), keys)


@pytest.mark.parametrize(("variant", "num_players", "knobs"), GAMES)
@pytest.mark.parametrize("name", [name for name in CATALOG if name not in ("cheater", "human")])
def test_dealing_anew_what_is_hidden_never_changes_a_choice(name, variant, num_players, knobs):
    rules = make_rules(variant, num_players=num_players, **knobs)
    agent = player(name, rules)
    assert not agent.sees_all
    generator = np.random.default_rng(1)
    differing = 0
    for table in decisions(rules, 5, seed=3):
        others, turns = worlds_of(table, generator)
        differing += len(np.unique(others.states["hands"], axis=0)) > 1
        together = agent.act_batch(turns)
        alone = [agent.act(turns[row]) for row in range(len(turns))]
        assert together.tolist() == alone == [alone[0]] * len(turns), name
        assert turns.masks[0, alone[0]] == 1
        if agent.gives_probabilities:
            probabilities = agent.probabilities(turns)
            assert (probabilities == probabilities[0]).all() and probabilities[0, alone[0]] > 0
    assert differing >= 3


def test_the_worlds_of_a_decision_are_the_same_turn():
    """What the test above rests on: all that a turn holds is equal, and what is hidden is not."""
    rules = make_rules("draw")
    for table in decisions(rules, 5, seed=3):
        others, turns = worlds_of(table, np.random.default_rng(0))
        assert isinstance(turns, Turns) and turns.open_states is None
        for field in ("players", "states", "histories", "history_lengths", "observations", "masks", "keys"):
            values = getattr(turns, field)
            assert (values == values[:1]).all(), field
        assert len(np.unique(others.states["hands"], axis=0)) > 1


def test_only_the_cheater_says_that_it_cheats():
    assert [name for name in CATALOG if name != "learned" and make_agent(name).sees_all] == ["cheater"]
