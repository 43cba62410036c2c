"""The command line: what it prints, what it writes, and that wrong input costs one line and nothing else."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dominoes_env import __version__
from dominoes_env.engine.rules import KNOB_MEANINGS, allowed_values
from dominoes_env.engine.variants import VARIANTS, make_rules
from training.cli import main
from training.config import TrainConfig
from training.run_directory import create_run

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
    assert "the preset; the knobs below" not in text


def test_a_sheet_beside_changed_rules_says_so_and_marks_them(capsys):
    assert main(["variants", "bergen", "--rule", "target=50", "--num-players", "3"]) == 0
    text = capsys.readouterr().out
    assert "The sheet describes the preset; the knobs below are what is played." in text
    assert [line.split()[1] for line in text.splitlines() if line.startswith("  ! ")] == ["target=50"]
    assert "  * award=one_point" in text


def test_variants_say_what_every_knob_means_and_may_be(capsys):
    assert main(["variants", "draw"]) == 0
    text = capsys.readouterr().out
    lines = {
        line[4:].partition("=")[0]: line for line in text.splitlines() if line[4:].partition("=")[0] in KNOB_MEANINGS
    }
    assert len(lines) == len(KNOB_MEANINGS)
    for knob, meaning in KNOB_MEANINGS.items():
        assert meaning in lines[knob] and lines[knob].endswith(f"[{allowed_values(knob)}]")
    assert "[none, until_playable, one]" in lines["draw_rule"] and "[1 to 9]" in lines["max_pip"]


def test_variants_are_filtered_by_players(capsys):
    assert main(["variants", "--num-players", "3"]) == 0
    text = capsys.readouterr().out
    assert "block_121" in text and "partners" not in text


def test_agents_and_version(capsys):
    assert main(["agents"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("random", "greedy", "doubles", "learned:PATH:mode=best"))
    assert main(["version"]) == 0
    by_command = capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == by_command == f"dominoes_env {__version__}\n"


def test_evaluate_prints_and_writes(capsys, tmp_path):
    file = tmp_path / "result.json"
    words = ["evaluate", "greedy", "random", "--variant", "classic_block", "--rule", "opening=seat_0"]
    assert main([*words, "--deals", "300", "--seed", "1", "--json", str(file)]) == 0
    text = capsys.readouterr()
    assert "greedy v random" in text.out and "win rate" in text.out and "points a deal" in text.out
    assert "warning" not in text.out
    result = json.loads(file.read_text())
    assert result["rules"]["opening"] == "seat_0"
    for name in ("win_rate", "points"):
        assert result[name]["low"] < result[name]["mean"] < result[name]["high"]
    assert main([*words, "--deals", "30"]) == 0
    assert "warning: only 30 deals" in capsys.readouterr().out
    assert main([*words, "--deals", "1", "--json", str(file)]) == 0
    text = capsys.readouterr()
    assert "warning: only 1 deal: " in text.out and "1 deal x 2 seatings" in text.out
    assert text.out.count("± unknown") == 2 and "inf" not in text.out
    result = json.loads(file.read_text())
    assert (result["win_rate"]["low"], result["win_rate"]["high"], result["points"]["low"]) == (0, 1, None)
    assert main(["evaluate", "greedy", "random", "--num-players", "3", "--rule", "target=50", "--deals", "100"]) == 0
    assert "3 players, 100 deals x 3 seatings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "evaluate greedy rnadom",
            "agent='rnadom' is not a run directory, policy file or agent name; the agents are: random",
        ),
        ("evaluate {tmp}/mine.txt random", "mine.txt' is not a run directory, policy file or agent name"),
        ("evaluate {tmp}/none random", "none' is not a run directory, policy file or agent name"),
        ("evaluate learned:{tmp}/mine.txt random", "mine.txt is no policy file; allowed: a run directory, or a file"),
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
        ("train --out {tmp}/run --ladder nobody", "agent='nobody' is not a run directory"),
        ("train --out {tmp}/run --league-size 3", "league_size=3 is not allowed with league=0, which does not read it"),
        ("train --out {tmp} --steps 1", "exists and is not empty: --resume"),
        ("train --out {tmp}/none --resume", "holds no run"),
        ("train --out {tmp}/mine.txt", "mine.txt is a file; allowed: a directory that is new or empty"),
        ("train --out {tmp}/mine.txt --resume", "mine.txt is a file; allowed: a run directory"),
        ("train --out {tmp}/mine.txt/run", "the run directory {tmp}/mine.txt/run cannot be made: "),
        ("variants --rule target=50", "--rule 'target=50' is not allowed without a variant"),
        ("variants --num-players 5", "num_players=5 is not allowed; allowed: 2, 3, 4"),
        (
            "evaluate {tmp} random",
            "is no run directory, or a run without a policy yet: {tmp}/policy.json does not exist",
        ),
        ("evaluate learned:{tmp}/none random", "does not exist"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(words, said, capsys, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(words.format(tmp=tmp_path).split()) == 2
    text = capsys.readouterr()
    assert said.format(tmp=tmp_path) in text.err
    assert text.err.count("\n") == 1 and text.err.startswith("dominoes ")
    assert not text.out
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("failure", [KeyError("no\nplan"), EOFError("the input ended")])
def test_an_agent_that_fails_is_one_line_and_exit_code_2(failure, capsys, monkeypatch):
    def fails(*_):
        raise failure

    monkeypatch.setattr("agents.greedy.GreedyAgent.act_batch", fails)
    words = ["evaluate", "greedy", "random", "--deals", "100"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("dominoes evaluate: agent 'greedy' failed in deal 0, ") and said.count("\n") == 1
    monkeypatch.setenv("DOMINOES_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="agent 'greedy' failed in "):
        main(words)


def test_an_illegal_choice_is_one_line_and_exit_code_2(capsys, monkeypatch):
    monkeypatch.setattr("agents.greedy.GreedyAgent.act_batch", lambda self, turns: np.full(len(turns), 57))
    assert main(["tournament", "greedy", "random", "--deals", "100"]) == 2
    said = capsys.readouterr().err
    assert "agent 'greedy' chose action=57 in deal " in said and said.count("\n") == 1


@pytest.mark.parametrize("words", [["fly"], ["train", "--out"], ["evaluate"], ["train", "--rows", "many"]])
def test_what_does_not_parse_is_exit_code_2_too(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "usage: dominoes" in capsys.readouterr().err


def test_hidden_units_that_are_no_numbers_are_refused_in_plain_words(capsys):
    with pytest.raises(SystemExit) as end:
        main(["train", "--out", "x", "--hidden", "a,b"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "hidden='a,b' is not allowed; allowed: integers of at least 1, such as 128,128" in said


@pytest.mark.parametrize("command", ["train", "evaluate", "tournament", "demo"])
def test_help_gives_defaults_in_one_form(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert re.findall(r"--seed \w+ [^(]*\(([^)]*)\)", text)[-1].startswith("default: ")
    assert not re.search(r"\((?:\d[\d.]*|runs/demo)\)", text)


def test_a_directory_that_cannot_be_written_to_is_named(capsys, tmp_path, monkeypatch):
    def refused(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(OSError, match=r"the run directory .*run cannot be made: .*run: Permission denied"):
        create_run(tmp_path / "run", "draw", make_rules("draw"), TrainConfig())


def test_train_evaluate_resume(capsys, tmp_path):
    pytest.importorskip("sb3_contrib")
    out = tmp_path / "my run"
    assert main(["train", "--out", str(out), "--seed", "7", "--rule", "target=50", *TINY, "--steps", "256"]) == 0
    text = capsys.readouterr()
    assert "policy.json" in text.out
    hint = text.out.splitlines()[-1]
    assert shlex.split(hint) == ["dominoes", "evaluate", str(out), "greedy", "--variant", "draw", "--rule", "target=50"]
    config = json.loads((out / "config.json").read_text())
    assert config["config"]["seed"] == 7 and config["rules"]["target"] == 50 and config["versions"]["torch"]
    assert main(["evaluate", str(out), "greedy", "--rule", "target=50", "--deals", "100"]) == 0
    capsys.readouterr()
    assert main([*shlex.split(hint)[1:], "--deals", "100"]) == 0
    explicit = capsys.readouterr().out
    assert main(["evaluate", str(out), "greedy", "--deals", "100"]) == 0
    which, said, taken = capsys.readouterr().out.split("\n", 2)
    assert "is its best policy on the ladder" in which
    assert said == "the rules are those of the policy: --variant draw --rule target=50"
    figures = [
        [line for line in text.splitlines() if "ms a move" not in line] for text in (f"{which}\n{taken}", explicit)
    ]
    assert figures[0] == figures[1]  # times differ
    for other in (["--variant", "draw"], ["--rule", "target=60"], ["--num-players", "3"]):
        assert main(["evaluate", str(out), "greedy", *other, "--deals", "100"]) == 2
        said = capsys.readouterr().err
        assert "trained for other rules (draw): " in said
        assert said.endswith("; the flags that fit it: --variant draw --rule target=50\n")
    assert main(["train", "--out", str(out)]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["train", "--out", str(out), "--resume"]) == 0
    assert "nothing is left" in capsys.readouterr().out
    assert main(["train", "--out", str(out), "--resume", "--steps", "512", "--rule", "target=50"]) == 0
    assert json.loads((out / "policy.json").read_text())["about"]["decisions"] == 512
    assert main(["train", "--out", str(out), "--resume", "--seed", "8"]) == 2
    assert "seed=8 is not allowed with --resume" in capsys.readouterr().err
    (out / "checkpoint.pt").rename(tmp_path / "kept.pt")
    policy = (out / "policy.npz").read_bytes()
    assert main(["train", "--out", str(out), "--resume", "--steps", "768"]) == 2
    said = capsys.readouterr().err
    assert "is damaged: it has policy.json but no checkpoint.pt to resume from" in said
    assert (out / "policy.npz").read_bytes() == policy
    (tmp_path / "kept.pt").rename(out / "checkpoint.pt")
    assert main(["train", "--out", str(out), "--resume", "--variant", "block"]) == 2
    assert "other rules" in capsys.readouterr().err


def test_a_run_stopped_before_its_first_checkpoint_starts_over(capsys, tmp_path):
    pytest.importorskip("sb3_contrib")
    out = tmp_path / "run"
    config = TrainConfig(rows=16, rollout=8, batch=64, epochs=1, hidden=(8,), threads=1, steps=128)
    run = create_run(out, "draw", make_rules("draw"), config)
    Trainer = pytest.importorskip("training.trainer").Trainer
    Trainer(run).update()  # logs, but no checkpoint
    assert any((out / "tensorboard").iterdir())
    assert main(["train", "--out", str(out), "--resume"]) == 0
    assert "was stopped before its first checkpoint: it starts over" in capsys.readouterr().out
    for name in ("checkpoint.pt", "policy.json", "policy.npz", "best.json", "best.npz"):
        (out / name).unlink()
    assert main(["train", "--out", str(out), "--resume"]) == 2  # the logs tell that there was one
    assert re.search(r"damaged: it has tensorboard/events\S+ but no checkpoint", capsys.readouterr().err)


def test_the_algorithm_is_a_setting(capsys, tmp_path):
    pytest.importorskip("sb3_contrib")
    out = str(tmp_path / "run")
    tiny = ["--rows", "16", "--rollout", "8", "--batch", "64", "--hidden", "8", "--steps", "128", "--threads", "1"]
    words = ["train", "--variant", "draw", "--algorithm", "magnetic_ppo", "--out", out, *tiny]
    assert main([*words, "--value-weight", "0.1"]) == 2
    assert "value_weight=0.1 is not allowed with algorithm='magnetic_ppo'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert main(words) == 0
    assert main(["train", "--out", out, "--resume", "--algorithm", "maskable_ppo"]) == 2
    assert "algorithm='maskable_ppo' is not allowed with --resume" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "(default: 2; maskable_ppo: 4)" in told and "read by maskable_ppo alone)" in told


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
        deadline = time.monotonic() + 300
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
