"""The command line: what it prints, what it writes, and that wrong input costs one line and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dominoes_env.engine.variants import VARIANTS
from training.cli import main

TINY = ["--rows", "16", "--rollout", "8", "--batch", "64", "--epochs", "1", "--hidden", "8", "--threads", "1"]


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """A first run's note that the engine is being compiled is no part of what is tested here."""
    monkeypatch.setenv("DOMINOES_QUIET", "1")


def dominoes(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "training.cli", *words], capture_output=True, text=True, timeout=120)


def test_without_arguments_it_is_friendly(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert "usage: dominoes" in text and "dominoes train --variant draw" in text


def test_variants_prints_presets_and_a_sheet(capsys):
    assert main(["variants"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in VARIANTS)
    assert main(["variants", "draw", "--num-players", "3"]) == 0
    text = capsys.readouterr().out
    assert "highest double" in text and "* draw_rule=until_playable" in text and "num_players=3" in text
    assert main(["variants", "draw", "--rule", "target=50"]) == 0
    assert "* target=50" in capsys.readouterr().out


def test_agents_and_version(capsys):
    assert main(["agents"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("random", "greedy", "doubles", "learned:PATH:mode=best"))
    assert main(["version"]) == 0
    assert "dominoes_env" in capsys.readouterr().out


def test_evaluate_prints_and_writes(capsys, tmp_path):
    file = tmp_path / "result.json"
    words = ["evaluate", "greedy", "random", "--variant", "classic_block", "--rule", "opening=seat_0"]
    assert main([*words, "--deals", "300", "--seed", "1", "--json", str(file)]) == 0
    text = capsys.readouterr()
    assert "greedy v random" in text.out and "win rate" in text.out and "points a deal" in text.out
    assert "warning" not in text.err
    result = json.loads(file.read_text())
    assert result["rules"]["opening"] == "seat_0"
    for name in ("win_rate", "points"):
        assert result[name]["low"] < result[name]["mean"] < result[name]["high"]
    assert main([*words, "--deals", "30"]) == 0
    assert "warning: only 30 deals" in capsys.readouterr().err
    assert main(["evaluate", "greedy", "random", "--num-players", "3", "--rule", "target=50", "--deals", "100"]) == 0
    assert "3 players, 100 deals x 3 seatings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("evaluate greedy rnadom", "agent='rnadom' is unknown; the agents are: random"),
        ("evaluate greedy", "two agents"),
        ("evaluate greedy random doubles", "num_agents=3 is not allowed; allowed: 2"),
        ("evaluate greedy random --variant chess", "variant='chess' is unknown; variants: block"),
        ("evaluate greedy random --variant matador", "another game"),
        ("evaluate greedy random --num-players 5", "num_players=5 is not allowed; allowed: 2, 3, 4"),
        ("evaluate greedy random --variant partners --num-players 2", "num_players=2 is not allowed; allowed: 4"),
        ("evaluate greedy random --rule target", "--rule 'target' is not allowed; allowed: KNOB=VALUE"),
        ("evaluate greedy random --rule target=many", "target='many' is not allowed; allowed: an integer"),
        ("evaluate greedy random --rule colour=red", "unknown rule 'colour'"),
        ("evaluate greedy random --rule target=50 --rule target=60", "--rule gives target twice"),
        ("evaluate greedy random --num-players 2 --rule num_players=3", "contradicts"),
        ("evaluate greedy random --deals 0", "deals=0 is not allowed"),
        ("evaluate greedy random --seed -1", "seed=-1 is not allowed"),
        ("evaluate greedy random --json /nowhere/at/all.json --deals 100", "/nowhere/at"),
        ("variants chess", "variant='chess' is unknown"),
        ("train --out {tmp}/run --learning-rate 5", "learning_rate=5.0 is not allowed"),
        ("train --out {tmp}/run --hidden 0", "hidden=(0,) is not allowed"),
        ("train --out {tmp} --steps 1", "exists and is not empty: --resume"),
        ("train --out {tmp}/none --resume", "holds no run"),
        ("evaluate {tmp} random", "run directory without a policy yet"),
        ("evaluate learned:{tmp}/none random", "does not exist"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(words, said, capsys, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(words.format(tmp=tmp_path).split()) == 2
    text = capsys.readouterr()
    assert said in text.err
    assert text.err.count("\n") == 1 and text.err.startswith("dominoes ")
    assert not text.out
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("words", [["fly"], ["train"], ["evaluate"], ["train", "--out", "x", "--rows", "many"]])
def test_what_does_not_parse_is_exit_code_2_too(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "usage: dominoes" in capsys.readouterr().err


def test_train_evaluate_resume(capsys, tmp_path):
    pytest.importorskip("sb3_contrib")
    out = tmp_path / "run"
    assert main(["train", "--out", str(out), "--seed", "7", "--rule", "target=50", *TINY, "--steps", "256"]) == 0
    text = capsys.readouterr()
    assert "policy.json" in text.out
    assert f"dominoes evaluate {out} greedy --variant draw --rule target=50" in text.out
    config = json.loads((out / "config.json").read_text())
    assert config["config"]["seed"] == 7 and config["rules"]["target"] == 50 and config["versions"]["torch"]
    assert main(["evaluate", str(out), "greedy", "--rule", "target=50", "--deals", "100"]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(out), "greedy", "--deals", "100"]) == 2
    assert "trained for other rules (draw): target=50, not 100" in capsys.readouterr().err
    assert main(["train", "--out", str(out)]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["train", "--out", str(out), "--resume"]) == 0
    assert "nothing is left" in capsys.readouterr().out
    assert main(["train", "--out", str(out), "--resume", "--steps", "512", "--rule", "target=50"]) == 0
    assert json.loads((out / "policy.json").read_text())["about"]["decisions"] == 512
    assert main(["train", "--out", str(out), "--resume", "--seed", "8"]) == 2
    assert "seed=8 is not allowed with --resume" in capsys.readouterr().err
    assert main(["train", "--out", str(out), "--resume", "--variant", "block"]) == 2
    assert "other rules" in capsys.readouterr().err


def test_demo_trains_and_prints_a_table(capsys, tmp_path):
    pytest.importorskip("sb3_contrib")
    words = ["demo", "--out", str(tmp_path / "demo"), "--minutes", "0.01", "--deals", "100", "--seed", "3"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "| opponent | win rate | points a deal |" in text and "training seed 3" in text and "beat" in text
    assert main(words) == 0
    assert "going on with it" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_terminated_run_can_be_resumed(tmp_path):
    pytest.importorskip("sb3_contrib")
    out = tmp_path / "run"
    command = [sys.executable, "-m", "training.cli", "train", "--out", str(out), "--minutes", "30", *TINY]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 90
        while not any((out / "tensorboard").glob("*")):  # the last thing before the loop
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGTERM
    assert f"dominoes train --out {out} --resume" in said
    decisions = json.loads((out / "policy.json").read_text())["about"]["decisions"]
    assert decisions > 0
    assert main(["train", "--out", str(out), "--resume", "--steps", str(decisions + 128)]) == 0
    assert json.loads((out / "policy.json").read_text())["about"]["decisions"] == decisions + 128
    assert {path.name for path in out.iterdir()} >= {"config.json", "checkpoint.pt", "policy.npz", "policy.json"}


def test_as_a_program():
    wrong = dominoes("evaluate", "greedy", "nobody")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr and wrong.stderr.count("\n") == 1


def test_torch_is_imported_only_to_train():
    code = (
        "import sys; from training.cli import main; import agents, dominoes_env; "
        "main(['evaluate', 'greedy', 'random', '--deals', '100']); assert 'torch' not in sys.modules, 'torch'"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120, env=environment)
