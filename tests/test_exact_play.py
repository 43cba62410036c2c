"""Exact play: published figures, an outside judge, and plain recursions over real deals that share no code with it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import Agent, Turns
from agents.keys import mix
from agents.learned import LearnedAgent
from agents.match import turns_of
from agents.policy_file import Policy
from dominoes_env.engine.deal import open_round, opening_seat
from dominoes_env.engine.opening import opening_forces_lead
from dominoes_env.engine.rounds import step
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import settle
from dominoes_env.engine.state import PLAYING, STATE_DTYPE, new_states
from dominoes_env.engine.tiles import PIPS
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.observation import observation_size
from dominoes_env.table import Table
from training.cli import main
from training.config import TrainConfig
from training.exact.cfr import Solver
from training.exact.exact_game import ExactGame
from training.exact.exploit import exploit, strategy_of
from training.exact.payoffs import payoffs_of
from training.exact.solution import load_solution, save_solution
from training.exact.solve import solve
from training.run_directory import create_run
from training.trainer import Trainer

# Two-player block with seat 0 leading, by N of the set and tiles a hand: information sets of each seat where a tile is
# laid, those with a choice; the value; uniform play's value and exploitability; that of the heaviest tile.
TABLE = {
    (2, 2): ((75, 105), 48, 2.2, 1.450000, 0.563889, 0.538889),
    (3, 2): ((333, 522), 195, 2.925472, 2.070238, 0.618254, 0.508532),
    (3, 3): ((7902, 12874), 6220, 2.50034, 1.565438, 1.492801, 1.050923),
    (3, 4): ((70378, 102720), 49126, 2.87553, 1.399569, 2.965498, 2.276786),
    (4, 3): ((52425, 97740), 35805, 3.53885, 2.198987, 1.547093, 0.995662),
}


def block(max_pip: int, hand_size: int) -> Rules:
    return make_rules("classic_block", max_pip=max_pip, hand_size=hand_size, opening="seat_0")


@cache
def game_of(rules: Rules, is_folded: bool = True) -> ExactGame:
    return ExactGame(rules, is_folded=is_folded)


@pytest.mark.parametrize("size", [*TABLE])
def test_information_sets_and_simple_players(size: tuple[int, int]) -> None:
    sets, with_choice, _, value, exploitability, greedy = TABLE[size]
    game = game_of(block(*size))
    assert game.counts.information_sets == sets
    assert game.counts.with_choice == with_choice
    bounds = game.bounds(game.uniform())
    assert [round(bounds.value, 6), round(bounds.exploitability, 6)] == [value, exploitability]
    for agent, expected in (("greedy", greedy), ("random", exploitability)):
        found = exploit(agent, game_of(block(*size), False))
        assert round(found.bounds.exploitability, 6) == expected
    assert round(found.bounds.value, 6) == value


@pytest.mark.parametrize(
    ("size", "digits"), [((2, 2), 6), ((3, 2), 6), *(pytest.param(s, 5, marks=pytest.mark.slow) for s in [*TABLE][2:])]
)
def test_nash_values(size: tuple[int, int], digits: int) -> None:
    solved = solve(block(*size), epsilon=0.4 * 10**-digits)
    assert solved.bounds.low <= solved.bounds.value <= solved.bounds.high
    assert abs(solved.bounds.value - TABLE[size][2]) < 10**-digits


@pytest.mark.parametrize(
    ("algorithm", "iterations", "exploitability"),
    [("cfr", (200, 400), (0.0027638889, 0.0013819444)), ("cfr+", (50, 100), (0.00043355120, 0.00010946095))],
)
def test_published_traces(algorithm: str, iterations: tuple[int, int], exploitability: tuple[float, float]) -> None:
    solver = Solver(game_of(block(2, 2)), algorithm)
    for target, expected in zip(iterations, exploitability, strict=True):
        solver.run(target - solver.iterations)
        assert f"{solver.bounds().exploitability:.8g}" == f"{expected:.8g}"


def test_the_default_algorithm_is_the_fastest() -> None:
    found = {}
    for algorithm in ("cfr", "cfr+", "pcfr+"):
        solver = Solver(game_of(block(3, 3)), algorithm)
        solver.run(64)
        found[algorithm] = solver.bounds().exploitability
    assert found["pcfr+"] < found["cfr+"] < found["cfr"]


def smaller_openspiel_game(monkeypatch: pytest.MonkeyPatch, theirs: Any, max_pip: int, hand_size: int) -> Any:
    """OpenSpiel's block dominoes with the tiles of a smaller set."""
    pips = [float(number) for number in range(max_pip + 1)]
    deck = list(itertools.combinations_with_replacement(pips, 2))
    monkeypatch.setattr(theirs, "_DECK", deck)
    monkeypatch.setattr(theirs, "_HAND_SIZE", hand_size)
    chance, terminal = theirs.pyspiel.PlayerId.CHANCE, theirs.pyspiel.PlayerId.TERMINAL

    def current_player(state: Any) -> Any:
        if state.is_terminal():
            return terminal
        return chance if len(state.deck) > len(deck) - 2 * hand_size else state._next_player

    monkeypatch.setattr(theirs.BlockDominoesState, "current_player", current_player)
    return theirs.BlockDominoesGame()


def test_openspiel_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel (open-spiel, extra dev) is not installed")
    theirs = pytest.importorskip("open_spiel.python.games.block_dominoes", reason="it has no Python block dominoes")
    from open_spiel.python.algorithms import cfr, exploitability

    game, own = smaller_openspiel_game(monkeypatch, theirs, 2, 2), game_of(block(2, 2))
    for kind, algorithm in ((cfr.CFRSolver, "cfr"), (cfr.CFRPlusSolver, "cfr+")):
        other, solver = kind(game), Solver(own, algorithm)
        for _ in range(4):
            other.evaluate_and_update_policy()
        solver.run(4)
        expected = exploitability.exploitability(game, other.average_policy())
        assert abs(solver.bounds().exploitability - expected) < 1e-9


class Capricious(Agent):
    """Odd shares, a function of what it may know: the hand, the layout, the history, which end is which."""

    name = "capricious"
    gives_probabilities = True

    def act(self, turn: Any) -> int:
        raise AssertionError("nobody asks it to act")

    def probabilities(self, turns: Turns) -> np.ndarray:
        shares = np.zeros(turns.masks.shape)
        for row in range(len(turns)):
            turn = turns[row]
            assert int(turn.state["turn"][0]) == turn.player
            key = hash((turn.state.tobytes(), turn.history.tobytes(), turn.observation.tobytes()))
            weights = mix(np.arange(len(turn.mask), dtype=np.uint64) + np.uint64(key & (1 << 64) - 1)).astype(float)
            shares[row] = turn.mask * (1e-3 + weights / 2**64) ** 2
        return shares / shares.sum(axis=1, keepdims=True)


def all_deals(rules: Rules) -> np.ndarray:
    """Every deal with every order of the boneyard and every starter, as records, each as likely as the others."""
    deals: list[np.void] = []
    tiles = range(rules.num_tiles)
    forced = int(opening_forces_lead(rules.row[0]))
    for own in itertools.combinations(tiles, rules.hand_size):
        rest = [tile for tile in tiles if tile not in own]
        for other in itertools.combinations(rest, rules.hand_size):
            left = [tile for tile in rest if tile not in other]
            for pile in itertools.permutations(left) if rules.draw_rule != "none" else [left]:
                state = new_states(1)
                state["hands"][0, :2] = sum(1 << tile for tile in own), sum(1 << tile for tile in other)
                state["hand_counts"][0, :2], state["lots"], state["pile"] = rules.hand_size, -1, -1
                state["pile"][0, : len(pile)], state["boneyard"], state["round"] = pile, len(pile), 1
                seats = [int(opening_seat(state[0], rules.row[0]))] if forced else [0, 1]
                for seat in [0] if rules.opening == "seat_0" else seats:
                    if seat >= 0:
                        open_round(state[0], rules.row[0], seat, forced)
                        deals.append(state[0].copy())
    return np.array(deals, STATE_DTYPE)


class PlainPlay:
    """Rounds played deal by deal on a table: what an agent's play, and a best response to it, is worth to a seat."""

    def __init__(self, rules: Rules, agent: Agent, responder: int | None) -> None:
        self.rules, self.agent, self.responder = rules, agent, responder
        self.row = rules.row[0]

    def margin(self, state: np.void) -> float:
        sign = -1.0 if self.rules.settlement == "penalty_each" else 1.0
        return sign * (float(state["scores"][0]) - float(state["scores"][1]))

    def worth(self, states: np.ndarray, reach: np.ndarray, history: tuple[int, ...]) -> float:
        """Of deals that look alike to the responder (to everybody, if there is none), to seat 0, times their reach."""
        is_over = states["status"] != PLAYING
        total = sum(self.margin(state) * part for state, part in zip(states[is_over], reach[is_over], strict=True))
        states, reach = states[~is_over], reach[~is_over]
        if not len(states):
            return float(total)
        table = Table(self.rules, len(states))
        table.buffers.states[:] = states
        table.buffers.history[:, : len(history)] = history
        table.buffers.results["history_length"] = len(history)
        table.refresh()
        mover = int(states["turn"][0])
        if mover == self.responder and table.masks[0].sum() > 1:
            assert (table.masks == table.masks[0]).all()
            choices = [self.after(states, reach, history, int(action)) for action in np.flatnonzero(table.masks[0])]
            return float(total) + (max(choices) if mover == 0 else min(choices))
        shares = table.masks / table.masks.sum(axis=1, keepdims=True)
        if mover != self.responder:
            turns = turns_of(table, np.arange(len(states)), np.zeros(len(states), np.uint64))
            shares = np.where(table.masks.sum(axis=1, keepdims=True) > 1, self.agent.probabilities(turns), shares)
        for action in np.flatnonzero(shares.any(axis=0)):
            rows = shares[:, action] > 0
            total += self.after(states[rows], reach[rows] * shares[rows, action], history, int(action))
        return float(total)

    def after(self, states: np.ndarray, reach: np.ndarray, history: tuple[int, ...], action: int) -> float:
        states = states.copy()
        for state in states:
            step(state, self.row, action)
        alike = defaultdict(list)
        for row, hand in enumerate(states["hands"][:, self.responder or 0].tolist()):
            alike[hand if self.responder is not None else 0].append(row)
        return sum(self.worth(states[rows], reach[rows], (*history, action)) for rows in alike.values())

    def round(self) -> float:
        deals = all_deals(self.rules)
        alike = defaultdict(list)
        for row, deal in enumerate(deals):
            alike[deal["turn"], deal["hands"][self.responder] if self.responder is not None else 0].append(row)
        reach = np.full(len(deals), 1 / len(deals))
        return sum(self.worth(deals[rows], reach[rows], ()) for rows in alike.values())


SMALL_GAMES = {
    "classic_block": make_rules("classic_block", max_pip=2, hand_size=2),
    "block": make_rules("block", max_pip=2, hand_size=2, opening="seat_0"),
    "block_121, the highest double": make_rules("block_121", max_pip=2, hand_size=2, opening="highest_double"),
    "draw": make_rules("draw", max_pip=2, hand_size=2),
    "draw one, a reserve": make_rules("draw", max_pip=2, hand_size=1, draw_rule="one", boneyard_reserve=1),
    "draw, one tile each": make_rules("draw", max_pip=2, hand_size=1, opening="seat_0"),
    "draw, ended early": make_rules("draw", max_pip=2, hand_size=1, opening="seat_0", early_block=True),
    "all_fives": make_rules("all_fives", max_pip=2, hand_size=2, opening="seat_0"),
    "threes": make_rules("threes", max_pip=2, hand_size=2),
    "bergen": make_rules("bergen", max_pip=2, hand_size=2, boneyard_reserve=0, opening="heaviest"),
}


@pytest.mark.parametrize("name", [*SMALL_GAMES])
def test_plain_play_of_every_deal_agrees(name: str) -> None:
    rules, agent = SMALL_GAMES[name], Capricious()
    game = game_of(rules, False)
    bounds = game.bounds(strategy_of(agent, game))
    assert abs(PlainPlay(rules, agent, None).round() - bounds.value) < 1e-9
    assert abs(PlainPlay(rules, agent, 0).round() - bounds.high) < 1e-9
    assert abs(PlainPlay(rules, agent, 1).round() - bounds.low) < 1e-9


@pytest.mark.parametrize("name", [*SMALL_GAMES])
def test_like_ends_are_one_action_and_lose_nothing(name: str) -> None:
    values = []
    for is_folded in (True, False):
        solver = Solver(game_of(SMALL_GAMES[name], is_folded))
        solver.run(200)
        values.append(solver.bounds())
    assert values[0].exploitability < 1e-2 > values[1].exploitability
    assert values[0].low - 1e-9 <= values[1].high and values[1].low - 1e-9 <= values[0].high
    assert game_of(SMALL_GAMES[name]).counts.deals == game_of(SMALL_GAMES[name], False).counts.deals


def dominoes(*words: object, game: tuple[int, int] = (2, 2)) -> int:
    rules = ("--rule", f"max_pip={game[0]}", "--rule", f"hand_size={game[1]}", "--rule", "opening=seat_0")
    return main([*map(str, words), "--variant", "classic_block", *rules])


def test_solve_writes_prints_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, figures = tmp_path / "policy.npz", tmp_path / "figures.json"
    assert dominoes("solve", "--epsilon", "1e-9", "--iterations", 30, "--out", out, "--json", figures) == 0
    assert "75 + 105 information sets, with a choice in 48" in capsys.readouterr().out
    found = json.loads(figures.read_text())
    assert [*found] == [
        "value", "low", "high", "exploitability", "information_sets", "histories", "iterations", "seconds",
    ]  # fmt: skip
    assert found["information_sets"] == 180 and found["histories"] == 267 and found["iterations"] == 30
    assert found["low"] <= 2.2 <= found["high"] and found["exploitability"] < 1e-3
    assert dominoes("solve", "--epsilon", "1e-9", "--iterations", 50, "--out", out) == 0
    whole = Solver(game_of(block(2, 2)))
    whole.run(50)
    resumed = load_solution(out)
    assert resumed.iterations == 50
    assert all(np.allclose(resumed.arrays[name], array, rtol=1e-12) for name, array in whole.arrays().items())


def test_solve_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "policy.npz"
    assert dominoes("solve", "--iterations", 5, "--out", out) == 0
    for words, message in (
        (("--variant", "draw", "--num-players", "3"), "num_players=3 is not allowed for exact play; allowed: 2"),
        (("--variant", "block", "--rule", "opening=lots_keep"), "opening='lots_keep' is not allowed"),
        (("--variant", "classic_block", "--memory", "0.1"), "GiB"),
        (("--variant", "all_fives", "--rule", "target=5", "--rule", "max_pip=2", "--rule", "hand_size=2"), "target=5"),
        (("--variant", "classic_block", "--rule", "max_pip=3", "--rule", "hand_size=2", "--out", str(out)), "max_pip"),
        (("--variant", "classic_block", "--algorithm", "cfr", "--rule", "max_pip=2", "--rule", "hand_size=2", "--rule",
          "opening=seat_0", "--out", str(out)), "allowed: 'pcfr+', its own"),
    ):  # fmt: skip
        assert main(["solve", *words]) == 2
        assert message in capsys.readouterr().err
    known = load_solution(out)
    for foreign, message in (
        (dataclasses.replace(known, iterations="5"), "iterations='5' is of the wrong kind"),
        (dataclasses.replace(known, arrays={**known.arrays, "average": known.arrays["average"] * np.nan}), "no number"),
        (dataclasses.replace(known, arrays={**known.arrays, "average": np.array(["a"])}), "average holds what is no"),
    ):
        save_solution(foreign, out)
        assert dominoes("solve", "--out", out) == 2
        assert message in capsys.readouterr().err
    for header in ([], {"format": "dominoes_env solution"}):
        np.savez(out, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **known.arrays)
        assert dominoes("solve", "--out", out) == 2
        assert "is no solution" in capsys.readouterr().err
    out.write_bytes(out.read_bytes()[:100])
    assert dominoes("solve", "--out", out) == 2
    assert "is no solution" in capsys.readouterr().err


def test_exploit_prints_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    assert dominoes("exploit", "greedy", "--json", figures, game=(3, 2)) == 0
    assert "exploitability 0.508532: 82.3 % of the uniform player's 0.618254" in capsys.readouterr().out
    assert json.loads(figures.read_text())["exploitability"] == pytest.approx(0.508532, abs=1e-6)
    assert dominoes("exploit", "cheater", game=(3, 2)) == 2
    assert "it sees what is hidden" in capsys.readouterr().err
    assert dominoes("exploit", "greedy", "--seed", -1) == 2
    assert "--seed=-1 is not allowed" in capsys.readouterr().err
    runs = tmp_path / "runs"
    assert dominoes("exploit", "greedy", "--approximate", "--deals", 0, "--out", runs) == 2  # at once
    assert "--deals=0 is not allowed" in capsys.readouterr().err and not runs.exists()


def test_figures_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = tmp_path / "figures.json"
    figures.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        for words in (("solve", "--iterations", 5), ("exploit", "greedy")):
            assert dominoes(*words, "--json", figures) == 2
    assert figures.read_text() == "old" and [*tmp_path.iterdir()] == [figures]


def test_searches_are_asked_to_act() -> None:
    game = game_of(block(3, 2), False)
    found = [exploit("pimc:20", game, samples=3, seed=seed) for seed in (1, 1, 2)]
    assert found[0].samples == 3 and found[0].bounds == found[1].bounds != found[2].bounds
    assert found[0].bounds.exploitability < 0.3 * found[0].uniform.exploitability


def test_learned_policies_are_judged_by_their_probabilities() -> None:
    rules = block(3, 2)
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(observation_size(rules), rules.num_actions)).astype(np.float32)
    policy = Policy(rules, (weights,), (np.zeros(rules.num_actions, np.float32),))
    best, mixed = (exploit(LearnedAgent(policy, mode), game_of(rules, False)).bounds for mode in ("best", "sample"))
    assert best != mixed and min(best.exploitability, mixed.exploitability) > 0.05


def test_what_is_left_is_paid_as_the_engine_pays_real_hands() -> None:
    rng = np.random.default_rng(4)
    for rules in [make_rules(variant) for variant in VARIANTS if 2 in VARIANTS[variant].hand_sizes]:
        pays, _ = payoffs_of(rules)
        for out in (-1, 0, 1):
            for _ in range(50):
                tiles = rng.permutation(rules.num_tiles)[:9]
                state = new_states(1)
                hands = [tiles[: rng.integers(1, 5)], tiles[5 : 5 + rng.integers(1, 5)]]
                state["hands"][0, :2] = [0 if seat == out else sum(1 << int(t) for t in hands[seat]) for seat in (0, 1)]
                settle(state[0], rules.row[0], out)
                paid = float(state["scores"][0, 0]) - float(state["scores"][0, 1])
                paid *= -1 if rules.settlement == "penalty_each" else 1
                pips = [int(PIPS[hand].sum()) for hand in hands]
                assert paid == (pays.blocked[pips[0], pips[1]] if out < 0 else pays.out[out, pips[1 - out]])


def test_training_finds_most_of_what_there_is_to_gain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    words = ("exploit", "greedy", "--approximate", "--minutes", 0.05, "--deals", 2000, "--out", tmp_path / "runs")
    assert dominoes(*words, "--references", "random", "--json", figures, game=(3, 3)) == 0
    assert "greedy: a player trained for 0.05 minutes against it is ahead by" in capsys.readouterr().out
    found = json.loads(figures.read_text())
    assert [one["agent"] for one in found] == ["greedy", "random"]
    exact = {"greedy": 1.050923, "random": 1.492801}
    for one in found:
        assert one["gain"]["low"] < exact[one["agent"]]  # no response gains more than the best
        assert one["gain"]["mean"] > 0
    assert dominoes(*words, "--seed", 2, game=(3, 3)) == 2
    assert "is a run against 'greedy' with seed 0; allowed: another --out" in capsys.readouterr().err
    assert dominoes("exploit", "greedy", "--minutes", 1) == 2
    assert "--minutes 1.0 is not allowed without --approximate, which does not read it" in capsys.readouterr().err


def test_all_games_may_be_against_one_agent(tmp_path: Path) -> None:
    config = TrainConfig(against="greedy", rows=16, rollout=8, batch=64, hidden=(8,), threads=1)
    run = create_run(tmp_path / "run", "classic_block", block(2, 2), config)
    trainer = Trainer(run)
    assert [part.num_games for part in trainer.learner.games] == [16]
    assert [one.name for one in trainer.league.standings()] == ["greedy"]
    for _ in range(config.gate_updates + 1):
        trainer.update()
    assert [one.name for one in trainer.league.standings()] == ["greedy"] and trainer.league.num_attempts == 0
    assert trainer.league.standings()[0].games > 0
    with pytest.raises(ValueError, match=r"league=0\.5 is not allowed with against='greedy'; allowed: 0"):
        TrainConfig(against="greedy", league=0.5)
