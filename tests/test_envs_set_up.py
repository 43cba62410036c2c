"""Games set up by hand through ``reset(options=...)``: deals, leads, kept lots, positions, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from env_cases import chooser, same_state, state_of

from dominoes_env.engine.variants import make_rules
from dominoes_env.envs.aec import env
from dominoes_env.envs.open_state import state_layout
from dominoes_env.envs.parallel import parallel_env
from dominoes_env.envs.set_up import read_set_up
from dominoes_env.game import Game

HANDS = [line.split() for line in ("6-6 6-3 3-4 4-6 5-0 3-1 4-4", "6-2 2-1 1-6 6-5 0-6 5-5 0-0")]


def test_a_deal_can_be_given() -> None:
    pairs = [[tuple(map(int, word.split("-"))) for word in hand] for hand in HANDS]
    ids = [[max(pair) * (max(pair) + 1) // 2 + min(pair) for pair in hand] for hand in pairs]
    states = []
    for hands in (HANDS, pairs, ids):
        for deal in ({"hands": hands, "boneyard": ["2-5", "4-1"]}, {"hands": hands, "boneyard": [(2, 5), 11]}):
            game = env("draw", history=True)
            game.reset(seed=3, options={"deal": deal, "lead": "player_0", "colour": "red"})
            assert game.agent_selection == "player_0"
            assert np.flatnonzero(game.observe("player_0")["action_mask"]).tolist() == [27]  # 6-6 is forced
            states.append(state_of(game))
    assert all(same_state(states[0], state) for state in states)
    table = game.unwrapped._seats.table
    assert table.states["pile"][0, 13] == 17 and table.states["pile"][0, 12] == 11  # 2-5 is drawn first
    assert table.states["pile"][0, :12].tolist() == sorted(table.states["pile"][0, :12].tolist(), reverse=True)
    game.reset(options={"deal": HANDS})
    assert game.agent_selection == "player_0" and np.array_equal(
        game.observe("player_0")["action_mask"].nonzero(), [[27]]
    )


def test_lots_decide_who_leads_a_given_deal_unless_lead_says() -> None:
    game = env("block")
    leads = set()
    for seed in range(30):
        game.reset(seed=seed, options={"deal": HANDS})
        leads.add(game.agent_selection)
        assert game.observe(game.agent_selection)["action_mask"].sum() == 7
    assert leads == {"player_0", "player_1"}
    for lead in (0, 1, "player_0", "player_1", np.int8(1)):
        game.reset(options={"deal": HANDS, "lead": lead})
        assert game.agent_selection in (f"player_{lead}", lead)
    keeping = env("block", opening="lots_keep")
    keeping.reset(options={"deal": {"hands": HANDS, "lots": ["4-4", "6-5"]}})
    assert keeping.agent_selection == "player_0"
    assert np.flatnonzero(keeping.observe("player_0")["action_mask"]).tolist() == [14]


def test_a_match_goes_on_from_a_given_deal() -> None:
    finals = []
    for _ in range(2):
        game = env("draw", episode="match", target=60)
        game.reset(seed=21, options={"deal": HANDS})
        choose = chooser(2)
        while not any(game.terminations.values()):
            game.step(choose(game.observe(game.agent_selection)["action_mask"]))
        finals.append(game.state().tobytes())
    assert finals[0] == finals[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lead": 0}, "lead=0 is not allowed without 'deal'"),
        ({"deal": 5}, "hands=5"),
        ({"deal": {"hands": HANDS[:1]}}, "allowed: 2, one a seat"),
        ({"deal": {"hand": HANDS}}, "'hand' is unknown"),
        ({"deal": [HANDS[0], HANDS[1][:6]]}, "seat 1 has 6 tiles; allowed: 7"),
        ({"deal": [HANDS[0], HANDS[0]]}, "there twice"),
        ({"deal": [HANDS[0], [*HANDS[1][:6], "7-0"]]}, "'7-0' in hand of seat 1"),
        ({"deal": [HANDS[0], [*HANDS[1][:6], 28]]}, "28 in hand of seat 1"),
        ({"deal": [HANDS[0], [*HANDS[1][:6], (1, -1)]]}, r"\(1, -1\) in hand of seat 1"),
        ({"deal": [HANDS[0], [*HANDS[1][:6], (1, 2, 3)]]}, r"\(1, 2, 3\) in hand of seat 1"),
        ({"deal": [HANDS[0], [*HANDS[1][:6], True]]}, "True in hand of seat 1"),
        ({"deal": [HANDS[0], "6-2"]}, "allowed: a sequence of tiles"),
        ({"deal": {"hands": HANDS, "boneyard": ["6-6"]}}, "boneyard"),
        ({"deal": {"hands": HANDS, "lots": ["4-4", "6-5"]}}, "lots"),
        ({"deal": HANDS, "lead": 1}, "lead=1 is not allowed; allowed: 0"),
        ({"deal": HANDS, "lead": 2}, "lead=2 is not allowed; allowed: 0 to 1"),
        ({"deal": HANDS, "lead": "player_5"}, "lead='player_5'"),
        ({"deal": [["6-5", "6-4", "6-3"], ["5-4", "5-3", "5-2"]]}, "seat 0 has 3 tiles"),
        ({"deal": {"hands": HANDS, "boneyard": {"5-4", "3-2"}}}, "boneyard=.* allowed: a sequence of tiles"),
        ({"deal": set(map(tuple, HANDS))}, "allowed: 2, one a seat"),
        ("abc", "options='abc' is not allowed; allowed: None or a dict"),
        (5, "options=5 is not allowed"),
        (["deal"], r"options=\['deal'\] is not allowed"),
        ({"position": 3}, "position=3"),
        ({"position": "nonsense"}, "position"),
        ({"position": "block num_players=2 | hands rest / 6-6"}, "its rules are"),
        ({"position": "hands rest / 6-6", "deal": HANDS}, "not allowed together"),
    ],
)
def test_a_wrong_set_up_is_refused_and_changes_nothing(options: Any, message: str) -> None:
    game = env("draw")
    game.reset(seed=1)
    before = pickle.dumps(game)
    with pytest.raises(ValueError, match=message):
        game.reset(seed=2, options=options)
    assert pickle.dumps(game) == before


def test_a_deal_that_asks_for_a_redeal_is_refused() -> None:
    hands = [line.split() for line in ("6-5 6-4 6-3 6-2 6-1 6-0 5-4", "5-3 5-2 5-1 5-0 4-3 4-2 4-1")]
    with pytest.raises(ValueError, match="redeal"):
        env("draw").reset(options={"deal": hands})
    game = env("draw", no_double="heaviest")
    game.reset(options={"deal": hands})
    assert game.agent_selection == "player_0"


def test_a_position_can_be_given() -> None:
    game = env("draw", episode="match")
    source = Game("draw", seed=5)
    for _ in range(6):
        source.step(source.legal_actions[0])
    for line in (source.position, source.position.split(" | ", 1)[1]):
        game.reset(options={"position": line})
        assert same_state(state_of(game), source.state)
        assert game.agent_selection == f"player_{source.turn}"
    while not source.is_over:
        action = source.legal_actions[-1]
        game.step(action)
        source.step(action)
        assert same_state(state_of(game), source.state)
    over = Game("draw", seed=5, episode="round")
    while not over.is_over:
        over.step(over.legal_actions[0])
    with pytest.raises(ValueError, match="its round is over"):
        game.reset(options={"position": over.position})


def test_options_may_be_empty_or_unknown() -> None:
    rules = make_rules("draw")
    assert read_set_up(rules, None) is read_set_up(rules, {}) is read_set_up(rules, {"options": 1}) is None
    assert read_set_up(rules, {"deal": None, "lead": None, "position": None}) is None


def test_hands_may_be_sets() -> None:
    game = env("draw")
    game.reset(seed=3, options={"deal": HANDS})
    before = state_of(game)
    game.reset(seed=3, options={"deal": [set(HANDS[0]), frozenset(HANDS[1])]})
    assert same_state(before, state_of(game))


@pytest.mark.parametrize(
    ("variant", "hands"),
    [
        ("partners", "6-6,0-0,0-1 / 6-1,6-2 / 1-1 / 5-5"),
        ("draw", "6-6,0-0,0-1 / 6-1"),
        ("cuban", "1-0 / 2-0 / 3-0 / 4-0"),
    ],
)
def test_state_has_room_for_any_boneyard(variant: str, hands: str) -> None:
    game = env(variant)
    game.reset(seed=1, options={"position": f"hands {hands} | turn 0"})
    state, record = game.state(), state_of(game)[0]
    assert game.state_space.contains(state)
    pile = state[state_layout(game.unwrapped.rules)["pile"].slice]
    left = int(record["boneyard"])
    assert pile.size == game.unwrapped.rules.num_tiles and not pile[left:].any()
    assert (pile[:left] - 1).tolist() == record["pile"][:left][::-1].tolist()


def test_a_game_set_up_is_shown_as_it_is() -> None:
    """Also where forced moves are skipped: the forced lead of the deal is there to be taken."""
    for make in (env, parallel_env):
        game = make("draw", skip_forced=True)
        game.reset(seed=1, options={"deal": HANDS})
        assert not state_of(game)["laid"][0]
        assert np.flatnonzero(game.unwrapped.observe("player_0")["action_mask"]).tolist() == [27]
