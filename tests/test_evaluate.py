"""Evaluation: chunks, workers and stores change no figure; what is printed and written; what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from agents import Agent, make_agent, play_match
from agents.catalog import CATALOG
from agents.match import MatchResult
from dominoes_env.engine.variants import make_rules
from training.chunk_store import ChunkStore
from training.chunks import Chunk, chunks_of
from training.cli import main
from training.evaluate import evaluate
from training.sequential import Sprt
from training.stand_ins import StandIns
from training.tournament import tournament
from training.workers import executor_of, play_chunks

BLOCK = make_rules("classic_block")


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("DOMINOES_QUIET", "1")


@pytest.fixture(scope="module")
def pool():
    """Two worker processes, started once."""
    with executor_of(2) as executor:
        yield executor


class Lowest(Agent):
    """The legal action of the lowest number, and nothing else to it."""

    name = "lowest"

    def act(self, turn):
        return int(turn.legal_actions[0])


class Unsendable(Lowest):
    name = "unsendable"

    def __init__(self) -> None:
        self.secret = lambda: None


# Decision keys: the same luck in every seating.


def test_an_agent_against_itself_is_exactly_even_in_every_deal():
    for name in ("random", "greedy"):
        result = play_match([name, name], BLOCK, 50, seed=3)
        assert (result.win_rate_a_deal() == 0.5).all() and (result.points_a_deal() == 0).all()
        assert result.points.any()


def test_plain_play_is_the_first_seating():
    both, plain = (play_match(["greedy", "random"], BLOCK, 40, seed=2, mirrored=mirrored) for mirrored in (True, False))
    assert plain.seatings.tolist() == [[0, 1]]
    assert (plain.points[:, :, 0] == both.points[:, :, 0]).all()
    with pytest.raises(ValueError, match="mirrored=1 is not allowed; allowed: True or False"):
        play_match(["greedy", "random"], BLOCK, 40, mirrored=1)


def test_time_is_taken_for_each_agent():
    class Slow(Lowest):
        def act_batch(self, turns):
            time.sleep(0.001)
            return super().act_batch(turns)

    result = play_match([Slow(), "random"], BLOCK, 5)
    assert result.decisions.shape == result.seconds.shape == (2,)
    assert result.decisions.sum() == result.num_decisions
    assert result.seconds[0] > 0.004 and result.seconds[1] < result.seconds[0]


# Chunks.


def whole(chunks: list[Chunk], **how) -> MatchResult:
    return MatchResult.joined(list(play_chunks(chunks, **how)))


@pytest.mark.parametrize(("variant", "knobs"), [("draw", {}), ("all_fives", {"num_players": 3}), ("partners", {})])
def test_chunks_make_the_whole(variant, knobs):
    rules = make_rules(variant, **knobs)
    expected = play_match(["doubles", "random"], rules, 50, seed=4)
    for size in (7, 50, 80):
        chunks = list(chunks_of(["doubles", "random"], rules, 50, seed=4, size=size, batch=11))
        assert sum(chunk.deals for chunk in chunks) == 50 and chunks[-1].deals in (1, 50)
        result = whole(chunks)
        assert (result.points == expected.points).all() and (result.wins == expected.wins).all()
        assert (result.decisions == expected.decisions).all()


def test_chunks_are_made_when_they_are_needed():
    chunks = chunks_of(["greedy", "random"], BLOCK, 10**12, seed=np.int64(3), size=10)
    assert next(chunks).seed == 3 and next(chunks).first_deal == 10
    assert evaluate(["greedy", "random"], BLOCK, 10**12, until=0.1).deals == 250


@pytest.mark.parametrize("wrong", [None, -1, 2**64, 1.0, "1", True])
def test_wrong_seeds_are_refused(wrong):
    for play in (evaluate, tournament, play_match):
        with pytest.raises(ValueError, match=r"seed=.* is not allowed; allowed: an integer from 0 to 2\*\*64 - 1"):
            play(["greedy", "random"], BLOCK, 10, seed=wrong)


def test_seeds_of_numpy_are_seeds():
    for play in (evaluate, tournament):
        result = play(["greedy", "random"], BLOCK, np.int64(10), seed=np.uint64(5))
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["seed"] == 5
    assert play_match(["greedy", "random"], BLOCK, 10, seed=np.uint64(5)).seed == 5


def test_workers_change_no_figure_and_results_come_in_order(pool):
    chunks = list(chunks_of(["greedy", Lowest()], BLOCK, 60, seed=1, size=9))
    alone = list(play_chunks(chunks))
    for executor in (pool, ThreadPoolExecutor(3)):
        beside = list(play_chunks(chunks, executor=executor, workers=2))
        assert [len(one.points[0]) for one in beside] == [9] * 6 + [6]
        for one, other in zip(alone, beside, strict=True):
            assert (one.points == other.points).all() and (one.wins == other.wins).all()
    assert evaluate(["greedy", "random"], BLOCK, 60, chunk=9) == evaluate(
        ["greedy", "random"], BLOCK, 60, chunk=20, executor=pool, workers=2
    )


def test_an_early_stop_does_not_depend_on_workers(pool):
    sequential = {"until": 0.05, "sprt": Sprt(-5, 400), "chunk": 40}
    alone = evaluate(["greedy", "random"], BLOCK, 5000, **sequential)
    assert alone == evaluate(["greedy", "random"], BLOCK, 5000, **sequential, executor=pool, workers=2)
    assert alone.stop.verdict and alone.deals < 2000 and alone.deals % 40 == 0


def test_workers_use_one_thread_and_end_with_the_block():
    before = dict(os.environ)
    with executor_of(1) as executor:
        assert executor is None
    with executor_of(2) as executor:
        seen = executor.submit(os.getenv, "OMP_NUM_THREADS").result(timeout=60)
        process = executor.submit(os.getpid).result(timeout=60)
        executor.submit(time.sleep, 600)
        began = time.monotonic()
    assert seen == "1" and time.monotonic() - began < 10
    assert dict(os.environ) == before
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_what_cannot_be_sent_is_refused(pool):
    with pytest.raises(TypeError, match=r"'unsendable' cannot be sent to another process .*: .*allowed: a name"):
        evaluate([Unsendable(), "random"], BLOCK, 10, executor=pool)
    with pytest.raises(ValueError, match="agent='human' plays in this process only; allowed: workers=1"):
        evaluate(["human", "random"], BLOCK, 10, executor=pool)
    assert evaluate([Unsendable(), "random"], BLOCK, 10).deals == 10
    with pytest.raises(ValueError, match="workers=0 is not allowed"):
        evaluate(["greedy", "random"], BLOCK, 10, workers=0)


class Deadly(Lowest):
    def act(self, turn):
        os._exit(3)


def test_a_worker_that_dies_is_reported():
    with (
        executor_of(2) as executor,
        pytest.raises(ChildProcessError, match=r"a worker process died \(out of memory, or killed\)"),
    ):
        evaluate([Deadly(), "random"], BLOCK, 10, executor=executor)


# Stores.


def test_a_store_gives_what_was_played_and_longer_matches_use_it(tmp_path, pool, monkeypatch):
    store = ChunkStore(tmp_path / "kept")
    assert not store.path.exists()
    first = evaluate(["greedy", "random"], BLOCK, 40, chunk=10, store=store)
    assert store.num_found == 0 and len(list(store.path.glob("*.npz"))) == 4
    longer = evaluate(["greedy", "random"], BLOCK, 60, chunk=10, store=store, executor=pool, workers=2)
    assert store.num_found == 4 and longer == evaluate(["greedy", "random"], BLOCK, 60)
    monkeypatch.setattr(Chunk, "play", None)
    again = ChunkStore(store.path)
    assert evaluate(["greedy", "random"], BLOCK, 40, chunk=10, store=again) == first and again.num_found == 4
    for other in ({"seed": 1}, {"mirrored": False}, {"chunk": 20}):
        with pytest.raises(TypeError, match="NoneType"):
            evaluate(["greedy", "random"], BLOCK, 40, **{"chunk": 10, **other}, store=again)


def with_one(content: bytes, **arrays: np.ndarray) -> bytes:
    """The same file with other arrays in it."""
    with np.load(io.BytesIO(content)) as found:
        arrays = {**found, **arrays}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def with_byte(content: bytes, place: int, byte: int) -> bytes:
    """Another byte there in each local file header, and likewise in the directory at the end."""
    changed = bytearray(content)
    changed[place] = byte
    if place < 30:
        for start in (match.start() for match in re.finditer(b"PK\x01\x02", content)):
            changed[start + 2 + place] = byte
    return bytes(changed)


def test_a_damaged_or_foreign_file_is_refused(tmp_path):
    store = ChunkStore(tmp_path)
    evaluate(["greedy", "random"], BLOCK, 20, chunk=10, store=store)
    one, other = sorted(tmp_path.glob("*.npz"))
    good = one.read_bytes()
    for content, why in (
        (good[: len(good) // 2], ""),
        (b"", ""),
        (b"no chunk", ""),
        (with_one(good, identity=np.frombuffer(b"\xff\xfe{", np.uint8)), ""),
        (with_one(good, points=np.zeros((2, 10, 2), np.float32)), "its points are float32 of shape"),
        (
            with_one(good, wins=np.zeros((2, 9, 2))),
            r"its wins are float64 of shape \(2, 9, 2\), not float64 \(2, 10, 2\)",
        ),
        (with_one(good, seconds=np.array([1, np.nan])), "its seconds are not all finite"),
        (with_byte(good, 8, 99), "NotImplementedError: "),  # a kind of compression that nobody has
        (with_byte(good, 6, 1), "RuntimeError: "),  # encrypted
        (with_byte(good, 200, good[200] ^ 255), ""),
        (other.read_bytes(), "it holds another chunk"),
        (good.replace(b"points.npy", b"pionts.npy"), ""),
    ):
        one.write_bytes(content)
        said = rf"{re.escape(str(one))} cannot be used: .*{why}.*; remove it, and its deals are played again"
        with pytest.raises(ValueError, match=said):
            evaluate(["greedy", "random"], BLOCK, 20, chunk=10, store=store)
    one.unlink()
    assert evaluate(["greedy", "random"], BLOCK, 20, store=store, chunk=10) == evaluate(["greedy", "random"], BLOCK, 20)


def test_a_directory_of_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds something else; allowed: a directory that is new or empty"):
        ChunkStore(tmp_path)
    with pytest.raises(FileExistsError, match="is a file; allowed: a directory"):
        ChunkStore(tmp_path / "mine.txt")
    for mark in (b'{"format": "dominoes_env chunks", "format_version": 99}', b"{", b"\xff\xff"):
        (tmp_path / "chunks.json").write_bytes(mark)
        with pytest.raises(ValueError, match=r"chunks.json is not of this version .*; allowed: another directory"):
            ChunkStore(tmp_path)


def test_an_agent_is_known_by_what_it_holds(tmp_path):
    class Weighed(Lowest):
        pass

    globals()["Weighed"], Weighed.__qualname__ = Weighed, "Weighed"
    store, agents = ChunkStore(tmp_path), [Weighed(), Weighed()]
    agents[1].weight = 2
    for agent in agents:
        evaluate([agent, "random"], BLOCK, 5, store=store)
    assert store.num_found == 0 and len(list(tmp_path.glob("lowest_v_random-*.npz"))) == 2
    with pytest.raises(TypeError, match="'unsendable' cannot be told from another one"):
        evaluate([Unsendable(), "random"], BLOCK, 5, store=store)


class Learning(Lowest):
    """Keeps what it was asked."""

    name = "learning"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act(self, turn):
        self.asked.append(turn.key)
        return super().act(turn)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_with_a_cache_resumes(tmp_path, pool, workers, monkeypatch):
    how = {"chunk": 5, "executor": pool if workers > 1 else None, "workers": workers}
    first = evaluate([Learning(), "random"], BLOCK, 20, store=ChunkStore(tmp_path), **how)
    monkeypatch.setattr(Chunk, "play", None)
    again = ChunkStore(tmp_path)
    assert evaluate([Learning(), "random"], BLOCK, 20, store=again, chunk=5) == first and again.num_found == 4


def test_named_agents_are_pickled_the_same_every_time():
    for entry in CATALOG.values():
        if all(parameter.default is not None for parameter in entry.parameters):
            first, second = (pickle.dumps(make_agent(entry.name), protocol=5) for _ in range(2))
            assert first == second, entry.name


# What an evaluation says.


def test_an_evaluation_says_it_all(tmp_path, capsys):
    file = tmp_path / "result.json"
    words = ["evaluate", "greedy", "random", "--variant", "classic_block", "--deals", "300", "--json", str(file)]
    assert main([*words, "--chunk", "100", "--workers", "2", "--sprt", "-200", "200"]) == 0
    text = capsys.readouterr().out
    for said in ("win rate ", "points a deal ", "Elo ", "ms a move      greedy ", "mirroring      saves ", "SPRT  "):
        assert f"\n  {said}" in text
    assert "x 2 seatings" in text and "Elo -200 against +200: +200 accepted (log-likelihood ratio " in text
    result = json.loads(file.read_text())
    assert [one["agent"] for one in result["results"]] == result["agents"] == ["greedy", "random"]
    for one in result["results"]:
        assert one["ms_a_move"] > 0 and one["decisions"] > 100
    assert result["results"][0]["win_rate"] == result["win_rate"]
    assert result["results"][1]["win_rate"]["mean"] == pytest.approx(1 - result["win_rate"]["mean"])
    assert 0.8 < result["mirroring_saves"]["win_rate"] < 2 and result["control"] is None
    assert result["elo"]["low"] < result["elo"]["mean"] < result["elo"]["high"]
    assert result["stop"]["verdict"] == "elo1" and result["stop"]["sprt"]["low"] == pytest.approx(-2.944, abs=1e-3)


def test_every_agent_of_three_is_shown(capsys):
    assert main(["evaluate", "greedy", "random", "doubles", "--num-players", "3", "--deals", "100"]) == 0
    text = capsys.readouterr().out
    assert "100 deals x 3 seatings" in text and "even: 33)" in text
    assert "\n  random: win rate " in text and "\n  doubles: win rate " in text


def test_one_seat_and_few_deals_are_warned_of(capsys):
    words = ["evaluate", "greedy", "random", "--variant", "classic_block"]
    assert main([*words, "--one-seat", "--deals", "99"]) == 0
    said = capsys.readouterr()
    assert "  warning: one seat only: what is measured is the seat as much as the agent\n" in said.out
    assert said.out.count("warning: only 99 deals: ") == 1 and not said.err
    assert "99 deals x 1 seating," in said.out and "mirroring" not in said.out
    assert main([*words, "--deals", "100"]) == 0
    assert "warning" not in capsys.readouterr().out


class Person(Lowest):
    """Notes the games that it sees."""

    name = "person"
    is_person = True

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def act(self, turn):
        self.seen.append((len(turn.history), turn.player))
        return super().act(turn)


def test_a_person_plays_game_after_game_and_sees_no_deal_twice(pool):
    person = Person()
    result = evaluate([person, "random"], BLOCK, 12, chunk=5)
    assert result.num_seatings == 1 and any("one seat only" in warning for warning in result.warnings)
    assert {seat for _, seat in person.seen} == {0}
    lengths = [length for length, _ in person.seen]
    assert sum(later <= before for before, later in pairwise(lengths)) == 11  # a new game begins
    assert len(play_match(["random", Person()], BLOCK, 3).seatings) == 1
    assert result.points == evaluate([Lowest(), "random"], BLOCK, 12, mirrored=False).points
    for refused, said in (
        (lambda: tournament([Person(), "random"], BLOCK, 5), "agent='person' is not allowed in a tournament"),
        (
            lambda: evaluate(["greedy", "random"], BLOCK, 200, control=StandIns(((Person(), "random"),))),
            "control='person'",
        ),
        (lambda: evaluate([Person(), "random"], BLOCK, 5, executor=pool), "agent='person' plays in this process only"),
    ):
        with pytest.raises(ValueError, match=said):
            refused()


def test_partnerships_are_named():
    rules = make_rules("partners")
    result = evaluate(["greedy", "random", "doubles", "flexible"], rules, 100)
    assert str(result).startswith("greedy + doubles v random + flexible · partners")
    assert result.to_dict()["sides"] == [["greedy", "doubles"], ["random", "flexible"]]
    assert str(evaluate(["greedy", "random"], rules, 100)).startswith("greedy v random · partners")


def test_a_win_rate_without_spread_reaches_no_width_and_has_one():
    result = evaluate(["greedy", "greedy"], BLOCK, 300, until=0.001, chunk=100)
    assert result.deals == 300 and result.stop.verdict is None
    assert result.win_rate.low < 0.5 < result.win_rate.high and result.win_rate.half_width < 0.01


def test_a_width_is_reached_or_not(capsys):
    words = ["evaluate", "greedy", "random", "--variant", "classic_block", "--chunk", "100"]
    assert main([*words, "--until", "0.03", "--deals", "2000"]) == 0
    text = capsys.readouterr().out
    assert "stopped at     ± 3 % of the win rate: reached" in text
    assert float(re.search(r"win rate .* ± (\S+)", text)[1]) <= 3
    assert main([*words, "--until", "0.001", "--deals", "200"]) == 0
    assert "± 0.1 % of the win rate: NOT reached" in capsys.readouterr().out
    assert main([*words, "--sprt", "55", "65", "--deals", "200"]) == 0
    assert "Elo +55 against +65: NOT decided (log-likelihood ratio " in capsys.readouterr().out


def test_a_control_narrows_the_interval_and_moves_little():
    plain = evaluate(["greedy", "random"], BLOCK, 1000)
    pairs = (("doubles", "random"), ("greedy", "doubles"))
    better = evaluate(["greedy", "random"], BLOCK, 1000, control=StandIns(pairs, 20_000))
    assert better.results == plain.results and better.control.stand_ins == pairs
    assert better.control.reference_deals == 20_000
    for measure in ("win_rate", "points"):
        one, other = getattr(plain, measure), getattr(better, measure)
        assert other.half_width < 0.95 * one.half_width and abs(one.mean - other.mean) < one.half_width
    assert "control        saves 1." in str(better) and "doubles v random, greedy v doubles" in str(better)
    content = json.loads(json.dumps(better.to_dict(), allow_nan=False))["control"]
    assert content["stand_ins"] == [list(pair) for pair in pairs] and 1.1 < content["saves"]["win_rate"] < 2


def test_a_reference_grows_with_the_deals_played():
    told, how = [], {"control": StandIns((("doubles", "random"),)), "chunk": 500}
    result = evaluate(
        ["greedy", "random"], BLOCK, 10**9, until=0.015, **how, reference_progress=lambda *counts: told.append(counts)
    )
    wanted = max(20_000, 20 * result.deals)
    assert result.deals > 1000 and wanted <= result.control.reference_deals < wanted + 5000
    assert told[-1] == (result.control.reference_deals,) * 2 and told[0] == (5000, 20_000)
    at_once = evaluate(["greedy", "random"], BLOCK, result.deals, **how)
    assert at_once.control.reference_deals == result.control.reference_deals
    assert at_once.win_rate.mean == pytest.approx(result.win_rate.mean)


def test_a_control_changes_with_no_worker_and_serves_until(pool):
    how = {"control": StandIns((("doubles", "random"),), 5000), "until": 0.03, "chunk": 100}
    alone = evaluate(["greedy", "random"], BLOCK, 1000, **how)
    assert alone == evaluate(["greedy", "random"], BLOCK, 1000, **how, executor=pool, workers=2)
    assert alone.stop.verdict == "until" and alone.win_rate.half_width <= 0.03
    assert alone.deals <= evaluate(["greedy", "random"], BLOCK, 1000, until=0.03, chunk=100).deals


def test_default_stand_ins_are_not_the_match_itself():
    from training.stand_ins import default_stand_ins

    assert len(default_stand_ins(["pimc:50", "greedy"])) == 6
    assert ("greedy", "random") not in default_stand_ins(["random", "greedy"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--workers 0", "workers=0 is not allowed; allowed: an integer of at least 1"),
        ("--chunk 0", "chunk=0 is not allowed"),
        ("--until 0", "until=0.0 is not allowed; allowed: a half width above 0 and below 0.5; 0.01 is 1 %"),
        ("--until 1", "until=1.0 is not allowed"),
        ("--until inf", "until=inf is not allowed"),
        ("--until nan", "until=nan is not allowed"),
        ("--sprt 0 2001", "elo1=2001.0 is not allowed; allowed: a number from -2000 to 2000"),
        ("--sprt inf 0", "elo0=inf is not allowed; allowed: a number from -2000 to 2000"),
        ("--sprt 5 5", "elo1=5.0 is not allowed; allowed: more than elo0=5.0"),
        ("--sprt 0 10 --alpha nan", "alpha=nan is not allowed; allowed: more than 0, less than 0.5"),
        ("--sprt 0 10 --beta inf", "beta=inf is not allowed; allowed: more than 0, less than 0.5"),
        ("--control human random", "control='human' is not allowed; allowed: agents that are no persons"),
        ("--json {tmp}", "--json {tmp}: it is a directory; allowed: a file"),
        ("--json {long}", "it cannot be written (File name too long)"),
        ("--json {tmp}/kept --out {tmp}/../{here}/kept", "--json {tmp}/kept is not allowed: --out names it too"),
        ("--out {tmp}/mine.txt/kept", "mine.txt/kept cannot be written: "),
        ("--sprt 10 0", "elo1=0.0 is not allowed; allowed: more than elo0=10.0"),
        ("--sprt 0 nan", "elo1=nan is not allowed; allowed: a number"),
        ("--sprt 0 10 --alpha 0.7", "alpha=0.7 is not allowed; allowed: more than 0, less than 0.5"),
        ("--alpha 0.01", "--alpha 0.01 is not allowed without --sprt"),
        ("--control greedy", "--control greedy is not allowed; allowed: pairs of agents, such as flexible greedy"),
        ("--control greedy nobody", "agent='nobody' is not a run directory"),
        ("--control-deals 5000", "--control-deals 5000 is not allowed without --control"),
        ("--control --control-deals 10", "control_deals=10 is not allowed; allowed: an integer of at least 1000"),
        ("--control --deals 50", "deals=50 is not allowed with control; allowed: 100 or more"),
        ("--out {tmp}/mine.txt", "mine.txt is a file; allowed: a directory"),
        ("--out {tmp}", "holds something else; allowed: a directory that is new or empty"),
        ("--json {tmp}/none/x.json", "the directory {tmp}/none does not exist"),
    ],
)
def test_wrong_flags_are_one_line(words, said, capsys, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    names = {"tmp": tmp_path, "here": tmp_path.name, "long": tmp_path / ("x" * 250)}
    assert main(["evaluate", "greedy", "random", *words.format(**names).split()]) == 2
    text = capsys.readouterr()
    assert said.format(tmp=tmp_path) in text.err and text.err.count("\n") == 1 and not text.out
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


# Interrupts.


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_run_ends_at_once_and_leaves_no_process(workers, tmp_path):
    words = ["evaluate", "greedy", "random", "--deals", "10000000", "--workers", str(workers), "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "training.cli", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored by what runs in the background
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.npz"))) < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130 and said == "interrupted\n"
    deadline = time.monotonic() + 10
    while Path("/proc").is_dir() and processes_of(process.pid):  # Python's own resource tracker goes last
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes_of(session: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


def test_decisions_are_counted_for_each_agent_over_all_chunks():
    result = evaluate(["greedy", "random"], BLOCK, 30, chunk=7)
    expected = play_match(["greedy", "random"], BLOCK, 30).decisions
    assert [one.decisions for one in result.results] == expected.tolist()
    assert np.isfinite([one.ms_a_move for one in result.results]).all()
