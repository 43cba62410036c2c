"""Faults that people met in other environments, as worked cases: each test carries the number of its case.

D and Z are public reports about other implementations; here each fault's whole kind is covered, not only the probe.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from env_cases import (
    ODD_RULES,
    PRESETS,
    chooser,
    only_unavoidable_warnings,
    play_aec,
    play_parallel,
    same_state,
    state_of,
)
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.tiles import HIGH, LOW, tiles_in
from dominoes_env.engine.variants import make_rules
from dominoes_env.envs.aec import env, raw_env
from dominoes_env.envs.parallel import parallel_env
from dominoes_env.observation import read_piece


def mask_of(game: Any) -> Any:
    """The mask of the agent on turn."""
    return game.observe(game.agent_selection)["action_mask"]


def test_d03_the_winning_tile_closes_the_round() -> None:
    for variant in ("classic_block", "draw", "all_fives", "bergen"):
        for players in (2, 3, 4):
            for seed in range(200):
                game = env(variant, num_players=players, render_mode="ansi")
                seen = play_aec(game, chooser(seed), seed=seed)
                if state_of(game)["is_out"][0]:
                    break
            else:
                raise AssertionError("nobody went out in 200 games")
            empty = [
                agent
                for agent in game.possible_agents
                if not read_piece(game.unwrapped.rules, game.observe(agent)["observation"], "hand").any()
            ]
            assert len(empty) == 1 and all(game.observation_space(a).contains(game.observe(a)) for a in empty)
            assert "0 tiles" in game.render() and game.state_space.contains(game.state())
            assert sum(step[3] for step in seen) == players  # each agent was told once


def test_d11_no_return_before_the_end() -> None:
    for variant, players in [
        case for case in PRESETS if make_rules(case[0], num_players=case[1]).end_scoring == "none"
    ]:
        rules = make_rules(variant, num_players=players)
        game = parallel_env(rules=rules, reward="points")
        for seed in range(20):
            seen = play_parallel(game, chooser(seed), seed=seed)
            assert not any(any(step[2].values()) for step in seen[1:-1])
            sign = -1 if rules.settlement == "penalty_each" else 1
            assert [sign * value for value in seen[-1][2].values()] == state_of(game)["scores"][0, :players].tolist()


def test_d11_rewards_of_a_round_add_up_to_the_score() -> None:
    for variant, players in PRESETS:
        rules = make_rules(variant, num_players=players)
        games = [parallel_env(rules=rules, reward="points", skip_forced=skip) for skip in (False, True)]
        for game, seed in [(game, seed) for game in games for seed in range(10)]:
            seen = play_parallel(game, chooser(seed), seed=seed)
            sums = [sum(step[2][agent] for step in seen[1:]) for agent in game.possible_agents]
            sign = -1 if rules.settlement == "penalty_each" else 1
            assert [sign * value for value in sums] == state_of(game)["scores"][0, :players].tolist()


def mask_from_observation(rules: Rules, observation: Any) -> set[int]:
    """The legal actions of whoever sees ``observation``, worked out from it alone."""
    piece = {
        name: read_piece(rules, observation, name)
        for name in ("hand", "laid", "ends", "turn", "boneyard", "is_lead_forced")
    }
    if not piece["turn"][0]:
        return {rules.pass_action}
    hand = np.flatnonzero(piece["hand"]).tolist()
    if not piece["laid"].any():
        return {opening_lead(rules, hand, observation)} if piece["is_lead_forced"][0] else set(hand)
    plays = {
        end * rules.num_tiles + tile
        for end, numbers in enumerate(piece["ends"])
        for number in np.flatnonzero(numbers)
        for tile in hand
        if number in (LOW[tile], HIGH[tile])
    }
    if plays:
        return plays
    may_draw = rules.draw_rule != "none" and piece["boneyard"][0] > rules.boneyard_reserve
    if may_draw and rules.draw_rule == "one":
        may_draw = not read_piece(rules, observation, "has_drawn")[0]
    return {rules.draw_action if may_draw else rules.pass_action}


def opening_lead(rules: Rules, hand: list[int], observation: Any) -> int:
    """The tile that the opening makes the starter lead."""
    if rules.opening == "lots_keep":
        return int(np.flatnonzero(read_piece(rules, observation, "kept_lots")[0])[0])
    doubles = [tile for tile in hand if LOW[tile] == HIGH[tile]]
    if rules.opening == "set_double" and rules.num_tiles - 1 in hand:
        return rules.num_tiles - 1
    if rules.opening == "highest_double" and doubles:
        return max(doubles)
    return max(hand, key=lambda tile: (LOW[tile] + HIGH[tile], HIGH[tile]))


def test_d14_open_ends_are_seen() -> None:
    game = raw_env("classic_block")
    seen = []
    for first in ("5-1", "5-3"):
        line = f"hands 6-2,6-4 / rest | boneyard 0-0 | layout {first} 5-2@1 | turn 0"
        game.reset(options={"position": line})
        seen.append(game.observe("player_0"))
    ends = [read_piece(game.rules, one["observation"], "ends") for one in seen]
    assert ends[0][0].tolist() != ends[1][0].tolist() and ends[0][1].tolist() == ends[1][1].tolist()


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_d14_the_mask_follows_from_the_observation(variant: str, players: int) -> None:
    game = raw_env(variant, num_players=players, episode="match", target=30)
    _check_masks(game)


@pytest.mark.parametrize("number", range(len(ODD_RULES)))
def test_d14_the_mask_follows_from_the_observation_in_odd_rules(number: int) -> None:
    variant, knobs = ODD_RULES[number]
    _check_masks(raw_env(variant, episode="match", **knobs))


def _check_masks(game: Any) -> None:
    choose = chooser(3)
    game.reset(seed=8)
    while not any(game.terminations.values()) and not any(game.truncations.values()):
        for agent in game.possible_agents:
            seen = game.observe(agent)
            assert set(np.flatnonzero(seen["action_mask"])) == mask_from_observation(game.rules, seen["observation"])
        game.step(choose(mask_of(game)))


def test_d17_the_opening_tile_is_enforced() -> None:
    game = raw_env("draw")
    for seed in range(50):
        game.reset(seed=seed)
        legal = np.flatnonzero(mask_of(game)).tolist()
        hands = [tiles_in(hand) for hand in state_of(game)["hands"][0, :2]]
        doubles = [tile for hand in hands for tile in hand if LOW[tile] == HIGH[tile]]
        assert legal == [max(doubles)]
        before = pickle.dumps(game)
        for action in range(game.rules.num_actions):
            if action not in legal:
                with pytest.raises(ValueError, match=f"action={action} "):
                    game.step(action)
        assert pickle.dumps(game) == before


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_d21_a_restored_match_goes_on_as_it_was(twin_of: Any) -> None:
    for variant, players in PRESETS:
        game = env(variant, num_players=players, episode="match")
        choose = chooser(1)
        game.reset(seed=14)
        while state_of(game)["round"][0] < 3 and not any(game.terminations.values()):
            game.step(choose(mask_of(game)))
        twin = twin_of(game)
        while not any(game.terminations.values()):
            assert data_equivalence(game.last(), twin.last(), exact=True)
            assert same_state(state_of(game), state_of(twin))  # scores and leader among it
            action = choose(mask_of(game))
            game.step(action)
            twin.step(action)
        assert all(twin.terminations.values()) and game.rewards == twin.rewards


def test_d31_a_long_arm_drops_no_legal_place() -> None:
    """Twenty tiles on one arm, drawn after each: the legal set is that of a game without rendering."""
    chain: list[tuple[int, int]] = [(0, 1)]
    used = {frozenset(chain[0])}
    while len(chain) < 22:
        last = chain[-1][1]
        step = next(n for n in range(9, -1, -1) if frozenset((last, n)) not in used and n != last)
        chain.append((last, step))
        used.add(frozenset((last, step)))
    options = {"deal": [chain[0::2], chain[1::2]], "lead": 0}
    shown = raw_env("classic_block", max_pip=9, hand_size=11, render_mode="ansi")
    plain = raw_env("classic_block", max_pip=9, hand_size=11)
    for game in (shown, plain):
        game.reset(options=options)
    for number, (a, b) in enumerate(chain[:21]):
        tile = max(a, b) * (max(a, b) + 1) // 2 + min(a, b)
        action = tile if number == 0 else 55 + tile
        assert isinstance(shown.render(), str)
        assert np.array_equal(mask_of(shown), mask_of(plain)) and mask_of(shown)[action]
        shown.step(action)
        plain.step(action)
    assert f"[{chain[19][0]}-{chain[19][1]}][{chain[20][0]}-{chain[20][1]}]" in shown.render()


@pytest.mark.parametrize(("variant", "players"), PRESETS)
def test_z01_masks_are_right_after_reset(variant: str, players: int) -> None:
    game = raw_env(variant, num_players=players)
    rules = game.rules
    for seed in range(500):
        game.reset(seed=seed)
        state = state_of(game)[0]
        hand = tiles_in(state["hands"][state["turn"]])
        free = rules.opening in ("lots", "uniform", "seat_0")
        legal = set(hand) if free else {opening_lead(rules, hand, None)}
        assert set(np.flatnonzero(mask_of(game))) == legal
        assert game.agent_selection == f"player_{state['turn']}"
        if not free:  # whoever starts holds the tile that all hands together would lead
            dealt = [tile for seat in range(players) for tile in tiles_in(state["hands"][seat])]
            assert legal == {opening_lead(rules, dealt, None)}


def test_z03_looking_at_others_does_not_make_a_legal_play_illegal() -> None:
    for variant, players in PRESETS:
        game = env(variant, num_players=players, render_mode="ansi")
        choose = chooser(4)
        game.reset(seed=6)
        while not any(game.terminations.values()):
            mover, mask = game.agent_selection, mask_of(game)
            for agent in game.possible_agents:
                seen = read_piece(game.unwrapped.rules, game.observe(agent)["observation"], "hand")
                hand = state_of(game)["hands"][0, game.possible_agents.index(agent)]
                assert np.flatnonzero(seen).tolist() == tiles_in(hand)  # its own hand and no other
                if agent != mover:
                    game.render()
            game.step(choose(mask))
            assert game.unwrapped.rules.total_pips not in map(abs, game.rewards.values())
        assert "illegal" not in game.render()


def test_z05_a_seed_gives_the_same_game_and_no_seed_another() -> None:
    game, other = env(), env()

    def deals(which: Any, seed: int | None) -> list[bytes]:
        found = []
        for number in range(3):
            which.reset(seed=seed if number == 0 else None)
            found.append(which.state().tobytes())
        return found

    first = deals(game, 7)
    np.random.seed(0)
    assert deals(game, 7) == first == deals(other, 7) == deals(game, np.int64(7))
    assert len(set(first)) == 3  # without a seed the generator goes on
    game.reset(seed=7)
    other.reset(seed=8)
    game.reset()
    assert game.state().tobytes() == first[1]  # what the other did has no part in it
    assert deals(env(), None) != deals(env(), None)  # a first reset without a seed draws entropy


def test_z05_a_seed_gives_the_same_game_in_another_process() -> None:
    program = (
        "import random, numpy; random.seed(1); numpy.random.seed(2)\n"
        "from dominoes_env.envs.aec import env\n"
        "game = env('all_fives', num_players=3); game.reset(seed=7); print(game.state().tobytes().hex())"
    )
    game = env("all_fives", num_players=3)
    game.reset(seed=7)
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.split()[-1] == game.state().tobytes().hex()


@pytest.mark.parametrize("variant", ["draw", "block", "all_fives"])
def test_z07_max_rounds_truncates_and_says_so(variant: str) -> None:
    for players in (2, 3, 4):
        game = env(variant, num_players=players, episode="match", max_rounds=3, target=5000)
        seen = play_aec(game, chooser(2), seed=4)
        flags = [(step[3], step[4]) for step in seen]
        assert set(flags[:-players]) == {(False, False)} and flags[-players:] == players * [(False, True)]
        assert state_of(game)["round"][0] == 3
        parallel = parallel_env(variant, num_players=players, episode="match", max_rounds=3, target=5000)
        last = play_parallel(parallel, chooser(2), seed=4)[-1]
        assert not any(last[3].values()) and all(last[4].values()) and parallel.agents == []


def test_z07_truncation_is_nobodys_win() -> None:
    game = parallel_env("draw", episode="match", max_rounds=2, target=5000, reward="win")
    for seed in range(5):
        assert not any(any(step[2].values()) for step in play_parallel(game, chooser(0), seed=seed)[1:])


def test_z09_the_turn_based_form_is_not_taken_for_a_parallel_one() -> None:
    for game in (env(), raw_env()):
        assert game.metadata["is_parallelizable"] is False
        with pytest.raises(AssertionError, match="not generally safe"):
            aec_to_parallel(game)
    for variant, players in PRESETS:
        play_parallel(turn_based_aec_to_parallel(env(variant, num_players=players)), chooser(0))


def test_z11_every_render_mode_works() -> None:
    for make in (env, raw_env, parallel_env):
        for mode in make().metadata["render_modes"]:
            game = make("all_fives", num_players=3, render_mode=mode)
            play = play_parallel if make is parallel_env else play_aec
            game.reset(seed=5)
            first = game.render()
            play(game, chooser(1), seed=5)
            last = game.render()
            if mode == "ansi":
                assert isinstance(first, str) and isinstance(last, str) and first != last
            elif mode == "rgb_array":
                assert first.shape == last.shape and not np.array_equal(first, last)
            else:
                assert first is last is None
            game.close()


def test_z11_no_hidden_tile_is_in_a_view() -> None:
    """In each agent's view only its own tiles and those of the layout are named, whoever is on turn."""
    for variant, players in PRESETS:
        game = raw_env(variant, num_players=players, render_mode="ansi", render_viewer="player")
        choose = chooser(5)
        game.reset(seed=3)
        while not any(game.terminations.values()):
            state = state_of(game)[0]
            laid = set(tiles_in(state["laid"]))
            for seat, agent in enumerate(game.possible_agents):
                open_tiles = laid | set(tiles_in(state["hands"][seat]))
                assert _tiles_named(game.view(agent)) == open_tiles
                if agent == game.agent_selection:
                    assert game.render() == game.view(agent)
            game.step(choose(mask_of(game)))


def _tiles_named(text: str) -> set[int]:
    words = "".join(letter if letter.isdigit() or letter == "-" else " " for letter in text).split()
    pairs = [tuple(map(int, word.split("-"))) for word in words if len(word) == 3 and word[1] == "-"]
    return {max(pair) * (max(pair) + 1) // 2 + min(pair) for pair in pairs}


def test_z13_masks_are_never_empty() -> None:
    """The agent on turn always has an action; each other agent, and all after the end, have exactly PASS."""
    for variant, players in PRESETS:
        for settings in ({}, {"skip_forced": True}):
            game = parallel_env(variant, num_players=players, episode="match", target=30, **settings)
            passing = game.rules.pass_action
            for step in play_parallel(game, chooser(3), seed=2):
                observations = step[0] if len(step) == 2 else step[1]
                masks = [observations[agent]["action_mask"] for agent in game.possible_agents]
                only_pass = [mask.nonzero()[0].tolist() == [passing] for mask in masks]
                assert all(mask.any() for mask in masks) and sum(only_pass) >= players - 1
                if settings and any(read_piece(game.rules, observations["player_0"]["observation"], "turn")):
                    assert sum(only_pass) == players - 1  # a decision is a choice of two or more
            assert all(only_pass)


def test_z15_dict_observations_pass_pettingzoos_test() -> None:
    for variant, players in PRESETS:
        game = env(variant, num_players=players)
        with only_unavoidable_warnings():
            api_test(game)
        game.reset(seed=0)
        for agent in game.possible_agents:
            seen = game.observe(agent)
            assert set(seen) == {"observation", "action_mask"}
            assert all(array.dtype == np.int8 and array.ndim == 1 for array in seen.values())
