"""Tournaments: figures against single evaluations, the cycle warning, files, resuming after a kill, refusals."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import permutations

import numpy as np
import pytest

from agents import Agent, play_match
from agents.match import MatchResult
from dominoes_env.engine.variants import make_rules
from training import tournament as module
from training.chunk_store import ChunkStore
from training.cli import main
from training.evaluate import evaluate
from training.tournament import tournament
from training.tournament_tables import tournament_csv, tournament_tables
from training.workers import executor_of

BLOCK = make_rules("classic_block")
NAMES = ["random", "greedy", "doubles"]


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("DOMINOES_QUIET", "1")


def figures(result):
    """All but the times, which are not reproducible."""
    content = result.to_dict()
    for standing in content["standings"]:
        del standing["ms_a_move"]
    return content


def test_each_meeting_is_an_evaluation_on_the_same_deals():
    result = tournament(NAMES, BLOCK, 200, seed=2, chunk=60)
    assert result.num_seatings == 2 and len(result.meetings) == 6
    for a, b in permutations(NAMES, 2):
        meeting, alone = result.meeting(a, b), evaluate([a, b], BLOCK, 200, seed=2)
        assert meeting.win_rate.mean == pytest.approx(alone.win_rate.mean)
        assert meeting.points.low == pytest.approx(alone.points.low)
    assert [one.agent for one in result.standings] == ["doubles", "greedy", "random"]
    assert sum(one.elo.mean for one in result.standings) == pytest.approx(0, abs=1e-6)
    assert all(one.elo.low < one.elo.mean < one.elo.high for one in result.standings)


def test_among_three_players_a_pair_meets_both_ways_round():
    rules = make_rules("draw", num_players=3)
    result = tournament(["greedy", "random"], rules, 150, anchor="random")
    for a, b in (("greedy", "random"), ("random", "greedy")):
        expected = play_match([a, b], rules, 150).win_rate_a_deal().mean()
        assert result.meeting(a, b).win_rate.mean == pytest.approx(expected)
    assert result.fair_share == pytest.approx(1 / 3) and result.num_seatings == 3
    assert {one.agent: one.elo.mean for one in result.standings}["random"] == 0
    assert "(one against 2)" in tournament_tables(result)


@pytest.mark.parametrize("variant", ["partners", "all_fives"])
def test_teams_and_other_games(variant):
    result = tournament(NAMES, make_rules(variant), 40)
    assert result.num_seatings == 2 and result.fair_share == 0.5
    assert result.warnings == ("only 40 deals: intervals of fewer than 100 are rough, and wide",)


def test_workers_and_chunks_change_no_figure(tmp_path):
    alone = tournament(NAMES, BLOCK, 60)
    with executor_of(2) as pool:
        beside = tournament(NAMES, BLOCK, 60, chunk=13, executor=pool, workers=2, store=ChunkStore(tmp_path / "kept"))
    assert figures(alone) == figures(beside)
    assert figures(alone) == figures(
        tournament(NAMES, BLOCK, 60, chunk=13, store=(store := ChunkStore(tmp_path / "kept")))
    )
    assert store.num_found == 15


def rock_paper_scissors(wins: dict[tuple[int, int], float], deals: int, noise: int) -> dict:
    """Matches in which the first of a pair wins that share of the deals."""
    generator, results = np.random.default_rng(noise), {}
    for pair, share in wins.items():
        won = (generator.random((deals, 1)) < share).astype(float)
        results[pair] = MatchResult(
            BLOCK, 0, np.array([[0, 1]]), np.stack([2 * won - 1, 1 - 2 * won]), np.stack([won, 1 - won]),
            np.ones(2, np.int64), np.ones(2),
        )  # fmt: skip
    return results


def test_a_cycle_is_warned_of_if_it_is_outside_chance():
    names = ["rock", "paper", "scissors"]
    cyclic = {(0, 1): 0.4, (0, 2): 0.6, (1, 2): 0.4}
    result = module._summed_up(names, rock_paper_scissors(cyclic, 2000, 1), "classic_block", None)
    assert result.cycle is not None and set(result.cycle) == set(names)
    assert any("a cycle: rock beats scissors beats paper beats rock, each outside chance" in w for w in result.warnings)
    assert all(abs(one.elo.mean) < 25 for one in result.standings)
    assert result.to_dict()["cycle"] == list(result.cycle)
    level = module._summed_up(names, rock_paper_scissors(dict.fromkeys(cyclic, 0.5), 200, 2), "classic_block", None)
    ordered = module._summed_up(names, rock_paper_scissors({**cyclic, (0, 2): 0.3}, 2000, 3), "classic_block", None)
    assert level.cycle is None and ordered.cycle is None


class Only(Agent):
    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, turn):
        return int(turn.legal_actions[0])


def test_objects_play_and_equal_agents_are_equal():
    result = tournament([Only("one"), Only("other")], BLOCK, 20)
    assert all(one.elo.low < one.elo.mean == 0 < one.elo.high for one in result.standings)
    for wrong, said in (
        ([Only("one")], "agents=one is not allowed; allowed: at least two, of different names"),
        ([Only("one"), Only("one")], "agents=one, one is not allowed"),
    ):
        with pytest.raises(ValueError, match=said):
            tournament(wrong, BLOCK, 20)


def test_the_command_prints_tables_and_writes_files(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    json_file, csv_file, plot = (tmp_path / name for name in ("t.json", "t.csv", "t.png"))
    words = ["tournament", *NAMES, "--variant", "classic_block", "--deals", "120", "--chunk", "50", "--seed", "3"]
    files = ["--json", str(json_file), "--csv", str(csv_file), "--plot", str(plot)]
    assert main([*words, *files, "--out", str(tmp_path / "kept")]) == 0
    text = capsys.readouterr()
    assert "3 agents · classic_block, 2 players, each pair 120 deals x 2 seatings, seed 3" in text.out
    assert "Bradley-Terry ratings (the mean is 0; bootstrap over deals)" in text.out and "1 doubles" in text.out
    assert "win rate of the row against the column, % ± 95 % (even: 50)" in text.out and "ms a move" in text.out
    assert not text.err
    content = json.loads(json_file.read_text())
    assert [one["agent"] for one in content["standings"]] == ["doubles", "greedy", "random"]
    assert content["deals"] == 120 and content["cycle"] is None and content["rules"]["hand_size"] == 7
    assert all(one["ms_a_move"] > 0 and one["elo"]["low"] < one["elo"]["high"] for one in content["standings"])
    rows = list(csv.DictReader(csv_file.open()))
    assert len(rows) == len(content["meetings"]) == 6
    for row, meeting in zip(rows, content["meetings"], strict=True):
        assert (row["agent"], row["opponent"]) == (meeting["agent"], meeting["opponent"])
        assert float(row["win_rate_low"]) == pytest.approx(meeting["win_rate"]["low"], rel=1e-4)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main([*words, "--out", str(tmp_path / "kept"), "--anchor", "random"]) == 0
    text = capsys.readouterr()
    assert "9 finished chunks were in " in text.err and "by definition" in text.out and "(random is 0;" in text.out


def test_pictures_of_all_kinds(tmp_path):
    pytest.importorskip("matplotlib")
    from training.tournament_plot import save_plot, tournament_figure

    result = tournament([Only("a" * 60), Only("b")], BLOCK, 1)
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        save_plot(result, tmp_path / f"plot.{ending}")
        assert (tmp_path / f"plot.{ending}").read_bytes().startswith(start)
    labels = [text.get_text() for text in tournament_figure(result).axes[0].get_yticklabels()]
    assert labels[0].startswith("…aaa") and labels[1] == "b  2"


def test_without_matplotlib_the_way_out_is_named_before_anything_is_played(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["tournament", "greedy", "random", "--plot", str(tmp_path / "t.png")]) == 2
    said = capsys.readouterr()
    assert "plots need the extra `plot`: pip install 'dominoes_env[plot]'" in said.err and not said.out
    assert "train" not in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("greedy", "agents='greedy' is not allowed; allowed: at least two agents"),
        ("greedy greedy", "agents=greedy, greedy is not allowed; allowed: at least two, of different names"),
        ("greedy nobody", "agent='nobody' is not a run directory"),
        ("greedy random --anchor doubles", "anchor='doubles' is not allowed; allowed: greedy, random"),
        ("greedy random --deals 0", "deals=0 is not allowed"),
        ("greedy human", "agent='human' is not allowed in a tournament"),
        ("greedy random --csv {tmp}/x --json {tmp}/x", "--csv {tmp}/x is not allowed: --json names it too"),
        ("greedy random --plot {tmp}", "--plot {tmp}: it is a directory; allowed: a file"),
        ("greedy random --csv {tmp}/none/t.csv", "--csv {tmp}/none/t.csv: the directory {tmp}/none does not exist"),
        ("greedy random --plot {tmp}/none/t.png", "--plot {tmp}/none/t.png: the directory {tmp}/none does not exist"),
        ("greedy random --plot {tmp}/t.jpg", "t.jpg' is not allowed; allowed: a file that ends in .png, .svg, .pdf"),
    ],
)
def test_wrong_input_is_one_line(words, said, capsys, tmp_path):
    assert main(["tournament", *words.format(tmp=tmp_path).split()]) == 2
    text = capsys.readouterr()
    assert said.format(tmp=tmp_path) in text.err and text.err.count("\n") == 1 and not text.out
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_tournament_goes_on_where_it_was(workers, tmp_path):
    out, file = tmp_path / "kept", tmp_path / "t.json"
    words = ["tournament", *NAMES, "--variant", "classic_block", "--deals", "6000", "--chunk", "120"]
    words += ["--workers", str(workers), "--out", str(out), "--json", str(file)]
    process = subprocess.Popen([sys.executable, "-m", "training.cli", *words], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while len(list(out.glob("*.npz"))) < 5:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not file.exists()
    for _ in range(100):  # workers hear of it
        time.sleep(0.05)
        kept = len(list(out.glob("*.npz")))
        time.sleep(0.05)
        if kept == len(list(out.glob("*.npz"))):
            break
    assert 5 <= kept < 150
    assert main([*words[:-6], "--out", str(out), "--json", str(file)]) == 0
    assert len(list(out.glob("*.npz"))) == 150
    resumed = json.loads(file.read_text())
    expected = tournament(NAMES, BLOCK, 6000, chunk=2000).to_dict()
    for content in (resumed, expected):
        for standing in content["standings"]:
            del standing["ms_a_move"]
    assert resumed == json.loads(json.dumps(expected))


def test_csv_of_a_single_deal_has_empty_ends():
    rows = list(csv.DictReader(tournament_csv(tournament(["greedy", "random"], BLOCK, 1)).splitlines()))
    assert rows[0]["points_low"] == rows[0]["points_high"] == "" and rows[0]["win_rate_low"] == "0"
    result = tournament(["greedy", "random"], BLOCK, 1, anchor="random")
    assert "± ?" in tournament_tables(result) and "warning: only 1 deal: " in tournament_tables(result)
    for standing in result.to_dict()["standings"]:
        assert (standing["elo"]["low"] is None) == (standing["elo"]["high"] is None) == (standing["agent"] != "random")
    assert re.search(r"\d greedy +[+-]\d+ +\? ", tournament_tables(result))


def test_a_few_equal_deals_are_no_victory():
    results = rock_paper_scissors({(0, 1): 1.0, (0, 2): 0.0, (1, 2): 1.0}, 2, 1)
    result = module._summed_up(["rock", "paper", "scissors"], results, "classic_block", None)
    assert result.cycle is None and all(one.elo.low < one.elo.high for one in result.standings)
