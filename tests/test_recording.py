"""``dominoes record``: the games that ``evaluate`` plays, in a file that is there only once it is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agents.match import play_match
from agents.uniform import UniformAgent
from dominoes_env.archive import read_records, write_records
from dominoes_env.engine.variants import make_rules
from dominoes_env.record_file import RecordFile
from training.chunks import chunks_of
from training.cli import main
from training.recording import part_of, record_games


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("DOMINOES_QUIET", "1")


def part(agents, rules, deals, path, **how):
    return part_of(path, next(chunks_of(agents, rules, deals, **how)))


@pytest.mark.parametrize(
    ("variant", "num_players", "agents"),
    [
        ("draw", 2, ("greedy", "random")),
        ("block", 3, ("doubles", "random", "greedy")),
        ("all_fives", 4, ("flexible", "random")),
        ("partners", 4, ("flexible", "random")),
        ("classic_block", 2, ("pimc:5", "flexible")),
    ],
)
def test_records_are_the_games_of_the_match(variant, num_players, agents, tmp_path):
    rules = make_rules(variant, num_players=num_players)
    path = tmp_path / "games.jsonl"
    told = []
    count = record_games(agents, rules, 7, path, seed=5, chunk=3, progress=lambda *now: told.append(now))
    assert told == [(3, False), (6, False), (7, False)]
    result = play_match(agents, rules, 7, seed=5)
    records = list(read_records(path))
    assert len(records) == count == 7 * len(result.seatings)
    points = np.zeros_like(result.points)
    for number, record in enumerate(records):
        deal, seating = divmod(number, len(result.seatings))
        assert (record.rules, record.seed, record.game_id, record.episode) == (rules, 5, deal, "round")
        sits = result.seatings[seating]
        assert record.players == tuple(agents[agent] for agent in sits)
        assert record.status != "playing"
        booked = np.array(record.rounds[0].outcome.round_points) * (-1 if variant == "block" else 1)
        total = booked.sum()
        for agent in range(len(agents)):
            seats = np.flatnonzero(sits == agent)
            if rules.teams:
                margins = [booked[seat] - booked[(seat + 1) % 4] for seat in seats]
            else:
                margins = [booked[seat] - (total - booked[seat]) / (num_players - 1) for seat in seats]
            points[agent, deal, seating] = np.mean(margins)
    np.testing.assert_allclose(points, result.points)
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_telling_games_changes_nothing_that_is_played():
    rules = make_rules("draw", num_players=3)
    games = []
    plain = play_match(["greedy", "random"], rules, 50, seed=3, batch=32)
    told = play_match(["greedy", "random"], rules, 50, seed=3, batch=32, games=games.append)
    assert (plain.points == told.points).all() and (plain.wins == told.wins).all()
    assert (plain.decisions == told.decisions).all()
    assert np.concatenate([part.deals for part in games]).tolist() == [d for d in range(50) for _ in range(3)]


def test_neither_chunks_nor_workers_change_the_file(tmp_path):
    rules = make_rules("draw")
    files = []
    for name, how in (("a", {}), ("b", {"chunk": 7}), ("c", {"chunk": 7, "workers": 2})):
        record_games(["greedy", "random"], rules, 30, tmp_path / name, seed=2, **how)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] == files[2]
    assert record_games(["greedy", "random"], rules, 30, tmp_path / "d", seed=2, mirrored=False) == 30
    assert [record.players for record in RecordFile(tmp_path / "d")] == [("greedy", "random")] * 30


class StopsAt(UniformAgent):
    """Random, and out of order from the n-th question on."""

    name = "stops"
    left = 0

    def act_batch(self, turns):
        StopsAt.left -= 1
        if StopsAt.left < 0:
            raise KeyboardInterrupt
        return super().act_batch(turns)

    def __reduce__(self):
        return (StopsAt, ())


def test_a_stopped_recording_goes_on(tmp_path):
    rules = make_rules("draw")
    path = tmp_path / "games.jsonl"
    agents = [StopsAt(), "greedy"]
    StopsAt.left = 10**9
    record_games(agents, rules, 40, path, chunk=5)
    whole = path.read_bytes()
    write_records(path, [])  # a good file, if not a long one
    waiting = part(agents, rules, 40, path)
    StopsAt.left = 60
    with pytest.raises(KeyboardInterrupt):
        record_games(agents, rules, 40, path, chunk=5)
    assert path.read_bytes() == b""
    begun = waiting.read_bytes()
    assert begun and whole.startswith(begun) and len(begun) < len(whole)
    StopsAt.left = 10**9
    for damage in (
        begun,
        begun[:-100],
        begun + b"\0" * 500,
        begun + whole[: len(whole) // 3],
        begun[: len(begun) // 2],
    ):
        waiting.write_bytes(damage)
        told = []
        assert record_games(agents, rules, 40, path, chunk=5, progress=lambda *now, told=told: told.append(now)) == 80
        assert path.read_bytes() == whole
        assert told[0][1] and told[0][0] > 0 and told[-1] == (40, False)
        assert not waiting.exists()
    waiting.write_bytes(whole)  # all played, but not yet put in its place; and fewer are asked for
    assert record_games(agents, rules, 10, path, chunk=5) == 20
    assert whole.startswith(path.read_bytes()) and len(RecordFile(path)) == 20
    assert part(agents, rules, 40, path) == waiting == part(agents, rules, 9, path)
    others = [
        part(agents, rules, 40, path, seed=1),
        part(agents, make_rules("draw", target=50), 40, path),
        part(agents, rules, 40, path, mirrored=False),
        part([*agents][::-1], rules, 40, path),
        part(["random", "greedy"], rules, 40, path),
    ]
    assert len({waiting, *others}) == 6


def test_two_at_the_same_work_are_refused(tmp_path):
    pytest.importorskip("fcntl")
    rules = make_rules("draw")
    path = tmp_path / "games.jsonl"
    refused = []

    def again(*_):
        with pytest.raises(BlockingIOError, match=r"\.part is being written by another process"):
            record_games(["greedy", "random"], rules, 10, path)
        refused.append(True)

    record_games(["greedy", "random"], rules, 10, path, progress=again)
    assert refused and len(RecordFile(path)) == 20


def test_names_that_a_record_cannot_hold(tmp_path):
    class Odd(UniformAgent):
        name = " a  / b\x1b "

        def __reduce__(self):
            return (UniformAgent, ())

    record_games([Odd(), "greedy"], make_rules("draw"), 1, tmp_path / "games.jsonl")
    assert RecordFile(tmp_path / "games.jsonl")[0].players == ("a b?", "greedy")


# The command


def test_record_says_what_it_did(capsys, tmp_path):
    out = tmp_path / "games.jsonl"
    words = ["record", "greedy", "random", "--variant", "all_fives", "--deals", "20", "--seed", "3", "--out", str(out)]
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{out}: 40 games of 20 deals, ") and not said.err
    before = out.read_bytes()
    assert main([*words, "--workers", "2", "--chunk", "4"]) == 0
    assert out.read_bytes() == before
    assert main([*words[:-1], str(tmp_path / "one.jsonl"), "--one-seat"]) == 0
    assert len(RecordFile(tmp_path / "one.jsonl")) == 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("record greedy rnadom --out {tmp}/x", "agent='rnadom' is not a run directory"),
        ("record greedy --out {tmp}/x", "two agents"),
        ("record greedy random --out {tmp}", "it is a directory; allowed: a file"),
        ("record greedy random --out {tmp}/none/x", "does not exist"),
        ("record greedy random --out {tmp}/x --deals 0", "deals=0 is not allowed"),
        ("record greedy random --out {tmp}/x --workers 0", "workers=0 is not allowed"),
        ("record greedy random --out {tmp}/x --variant chess", "variant='chess' is unknown"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(words, said, capsys, tmp_path):
    assert main(words.format(tmp=tmp_path).split()) == 2
    text = capsys.readouterr()
    assert said in text.err and text.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_recording_leaves_the_old_file_and_goes_on(tmp_path):
    out = tmp_path / "games.jsonl"
    out.write_text("")
    words = ["record", "greedy", "random", "--deals", "3000", "--chunk", "50", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "training.cli", *words], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not any(file.stat().st_size for file in tmp_path.glob("*.part")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    finally:
        process.kill()
    assert out.read_bytes() == b""
    assert main(words) == 0
    assert len(RecordFile(out)) == 6000 and [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]
