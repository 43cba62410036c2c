"""Where two agents part: every position is one, both are asked the same, and shares are of decisions."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from agents.advice import turn_of
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game
from training.disagreement import find_disagreements


def test_an_agent_never_parts_from_itself():
    for name in ("random", "flexible"):
        parted = find_disagreements(name, name, make_rules("draw"), 30, seed=2)
        assert parted.positions == () and parted.share.mean == 0 and parted.decisions > 100


@pytest.mark.parametrize(("variant", "num_players"), [("classic_block", 2), ("all_fives", 3), ("partners", 4)])
def test_positions_are_those_in_which_they_part(variant, num_players):
    class Lowest:
        name = "lowest"

        def act(self, turn):
            return int(turn.legal_actions[0])

    class Highest(Lowest):
        name = "highest"

        def act(self, turn):
            return int(turn.legal_actions[-1])

    rules = make_rules(variant, num_players=num_players)
    parted = find_disagreements(Lowest(), Highest(), rules, 20, seed=4)
    assert parted.agents == ("lowest", "highest") and parted.deals == 20
    assert len(parted.positions) == parted.decisions  # they part wherever there is a choice
    assert parted.share.mean == 1 and parted.share.low < 1
    assert [one.deal for one in parted.positions] == sorted(one.deal for one in parted.positions)
    for one in parted.positions:
        game = Game.from_position(one.position, episode="round")
        assert one.actions == (game.legal_actions[0], game.legal_actions[-1])
    for before, after in zip(parted.positions, parted.positions[1:], strict=False):
        if before.deal == after.deal:  # the first sits where seat and deal add up to an even number
            game = Game.from_position(before.position, episode="round")
            history = Game.from_position(after.position, episode="round").history
            assert history[len(game.history)] == before.actions[(game.turn + before.deal) % 2]


def test_real_agents_part_in_some_decisions():
    rules, trained = make_rules("classic_block"), make_agent("learned:classic_block-2p")
    parted = find_disagreements("flexible", trained, rules, 60, seed=1)
    assert 0.2 < parted.share.low < parted.share.mean < parted.share.high < 0.6
    assert parted == find_disagreements("flexible", trained, rules, 60, seed=1)
    for one in parted.positions[::10]:
        turn = turn_of(Game.from_position(one.position, episode="round"))
        assert trained.act(turn) == one.actions[1] != one.actions[0] and one.actions[0] in turn.legal_actions
    assert np.mean([one.deal for one in parted.positions]) == pytest.approx(30, abs=5)


@pytest.mark.parametrize("name", ["cheater", "human"])
def test_who_sees_all_or_is_a_person_is_refused(name):
    with pytest.raises(ValueError, match=f"agent='{name}' is not allowed"):
        find_disagreements("greedy", name, make_rules("draw"), 3)
