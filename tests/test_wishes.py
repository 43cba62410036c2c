"""What a run is asked to be: presets, files and flags on top of each other; what is written down of it."""

from __future__ import annotations

import copy
import json
import math
import re
import subprocess
from pathlib import Path

import pytest

import training
from agents import make_agent
from dominoes_env.engine.variants import make_rules
from training.cli import main
from training.config import TrainConfig
from training.origin import git_state, origin
from training.presets import PRESETS, get_preset
from training.run_directory import create_run, open_run, read_run
from training.wishes import Wishes, read_wishes

TINY = ["--rows", "16", "--rollout", "8", "--batch", "64", "--epochs", "1", "--hidden", "8", "--threads", "1"]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_are_runs(preset):
    variant, rules = preset.wishes.rules()
    config = preset.wishes.config()
    assert variant == preset.variant and preset.name.endswith(f"-{rules.num_players}p")
    assert rules == make_rules(variant, num_players=preset.num_players, **preset.knobs)
    assert config.minutes >= 10 and config == TrainConfig(**preset.settings)
    for name in config.ladder:
        make_agent(name).check_rules(rules)


def test_every_player_to_be_shipped_has_a_preset():
    assert {"block-2p", "draw-2p", "all_fives-2p", "classic_block-2p", "partners-4p"} < set(PRESETS)
    with pytest.raises(ValueError, match="preset='draw' is unknown; presets: block-2p, draw-2p"):
        get_preset("draw")


def test_the_later_ones_are_stronger():
    ground = Wishes("draw", 2, {"target": 50}, {"minutes": 3, "rows": 8}, "draw-2p")
    both = ground.under(Wishes(knobs={"draw_rule": "one"}, settings={"rows": 16}))
    assert both == Wishes("draw", 2, {"target": 50, "draw_rule": "one"}, {"minutes": 3, "rows": 16}, "draw-2p")
    assert ground.under(Wishes(num_players=3)).rules() == ("draw", make_rules("draw", num_players=3, target=50))
    assert ground.under(Wishes("block")).rules() == ("block", make_rules("block"))
    assert Wishes().rules() == ("draw", make_rules("draw")) and Wishes().config() == TrainConfig()


def test_a_file_may_be_toml_or_a_run(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'variant = "draw"\nnum_players = 3\n[rules]\ntarget = 50\n'
        '[config]\nminutes = 2\nhidden = [64, 32]\nladder = ["greedy"]\n'
    )
    wishes = read_wishes(file)
    assert wishes.rules() == ("draw", make_rules("draw", num_players=3, target=50))
    assert wishes.config() == TrainConfig(minutes=2, hidden=(64, 32), ladder=("greedy",))
    run = create_run(tmp_path / "run", *wishes.rules(), wishes.config(), origin=origin("dominoes train", "draw-2p"))
    for path in (run.path, run.path / "config.json"):
        again = read_wishes(path)
        assert (again.rules(), again.config(), again.preset) == (wishes.rules(), wishes.config(), "draw-2p")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("minutes = 5", "unknown key 'minutes'; the keys are: preset, variant, num_players, rules, config"),
        ("[config]\ncolour = 1", "unknown setting 'colour'; the settings are: algorithm, minutes, steps"),
        ("[config]\nrows = 0", "rows=0 is not allowed"),
        ('[config]\nhidden = "x"', "hidden='x' is not allowed"),
        ('variant = "draw"\n[rules]\ncolour = 1', "colour"),
        ('variant = "chess"', "variant='chess' is unknown; variants: block"),
        ("rules = 3", "rules=3 is not allowed; allowed: a table"),
        ("num_players = 2\n[rules]\nnum_players = 3", "num_players=2 contradicts"),
        ("[config", "cannot be used"),
        ("[config]\nhidden = 5", "hidden=5 is not allowed; allowed: integers of at least 1"),
        ("[config]\nminutes = true", "minutes=True is not allowed; allowed: a number above 0"),
        ('[config]\nladder = ["greedy", "greedy"]', "allowed: agents by name, each once"),
        ("[config]\nrows = 2147483648", "rows=2147483648 is not allowed; allowed: an integer below 2**31"),
        ("preset = 5", "preset=5 is not allowed; allowed: the name of a preset"),
        ('preset = ["draw-2p"]', "preset=['draw-2p'] is not allowed; allowed: the name of a preset"),
    ],
)
def test_wrong_files_are_refused_with_what_is_allowed(text, said, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"wrong\.toml cannot be used: ") as refusal:
        read_wishes(file)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("value_weight = 0.3", {"algorithm": "maskable_ppo"}),
        ("league_size = 3", {"league": 0.5}),
        ("batch = 65536", {"rows": 2048}),
    ],
)
def test_what_a_file_leaves_open_may_be_said_by_others(text, flags, tmp_path):
    """Settings that go together are judged when all have spoken, preset and flags too."""
    file = tmp_path / "half.toml"
    file.write_text(f"[config]\n{text}\n")
    name = text.split()[0]
    config = read_wishes(file).under(Wishes(settings=flags)).config()
    assert config == TrainConfig(**{name: getattr(config, name)}, **flags) != TrainConfig(**flags)
    assert Wishes(settings=flags).under(read_wishes(file)).config() == config
    with pytest.raises(ValueError, match=f"{name}="):
        read_wishes(file).config()


WRONG = (None, True, -1, 3.5, math.inf, 10**400, "x", [], [["a"]], {"a": 1})


def _places(content, path=()):
    for key, value in content.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from _places(value, (*path, key))


def test_a_value_of_any_kind_anywhere_in_a_runs_file_is_used_or_refused_by_name(tmp_path):
    again = origin("again", "draw-2p")
    run = create_run(tmp_path / "run", "draw", make_rules("draw"), TrainConfig(), origin=again)
    file = run.path / "config.json"
    content = json.loads(file.read_text())
    for *above, key in _places(content):
        wrong = copy.deepcopy(content)
        holder = wrong
        for name in above:
            holder = holder[name]
        for value in WRONG:
            holder[key] = value
            file.write_text(json.dumps(wrong))
            for use in (lambda: open_run(run.path, origin=again), lambda: read_wishes(run.path).config()):
                try:
                    use()
                except ValueError as refusal:
                    said = str(refusal)
                    assert "config.json" in said or "is not allowed with" in said  # what does not go together
                    assert not re.search(r"'\w+' object|unhashable|NoneType", said)
                file.write_text(json.dumps(wrong))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.toml does not exist"):
        read_wishes(tmp_path / "none.toml")
    with pytest.raises(ValueError, match=r"allowed: a file \.toml or \.json, or a run directory"):
        read_wishes(tmp_path / "settings.yaml")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ValueError, match="it is no table"):
        read_wishes(tmp_path / "list.json")


def test_flags_are_stronger_than_a_file_and_that_than_a_preset(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("[rules]\ntarget = 60\n[config]\nlearning_rate = 0.002\nentropy = 0.02\n")
    words = ["train", "--preset", "draw-2p", "--config", "mine.toml", "--entropy", "0.03", "--steps", "128", *TINY]
    assert main(words) == 0
    run = read_run("runs/draw-2p")
    assert (run.config.minutes, run.config.learning_rate, run.config.entropy) == (30, 0.002, 0.03)
    assert run.rules == make_rules("draw", target=60) and run.variant == "draw"
    assert run.origin["command"].startswith("dominoes train --preset draw-2p --config mine.toml")
    assert run.origin["preset"] == "draw-2p" and run.origin["versions"]["numpy"] and "core" in run.origin["machine"]
    assert "resumed" not in run.origin
    assert main(["train", "--config", "runs/draw-2p", "--out", "runs/other", "--seed", "2"]) == 0
    other = read_run("runs/other")
    assert other.config.to_dict() == {**run.config.to_dict(), "seed": 2} and other.rules == run.rules
    assert main([*words, "--resume", "--steps", "256"]) == 0
    again = read_run("runs/draw-2p")
    assert again.config.steps == 256 and len(again.origin["resumed"]) == 1
    assert again.origin["command"] == run.origin["command"]
    assert again.origin["resumed"][0]["command"].endswith("--resume --steps 256")
    capsys.readouterr()
    for wrong, said in (
        (["train"], "--out is missing"),
        (["train", "--preset", "whist"], "preset='whist' is unknown"),
        (["train", "--preset", ""], "preset='' is unknown"),
        (["train", "--variant", "", "--out", "runs/new"], "variant='' is unknown"),
        (["train", "--out", "runs/new", "--ladder", "human"], "agent='human' is not allowed; allowed: agents that are"),
        (["train", "--preset", "draw-2p", "--config", "none.toml"], "none.toml does not exist"),
        (["train", "--preset", "draw-2p", "--resume"], "is a run of other rules: target=60, not 100"),
    ):
        assert main(wrong) == 2
        assert said in capsys.readouterr().err


def test_the_git_state_is_that_of_the_code(tmp_path):
    def git(*words: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        return subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    source = tmp_path / "code.py"
    source.write_text("1")
    git("init", "-q")
    assert git_state(source) is None  # within a repository, but not of it
    git("add", "code.py")
    git("commit", "-qm", "first")
    commit = git("rev-parse", "HEAD").strip()
    assert git_state(source) == {"commit": commit, "dirty": False}
    source.write_text("2")
    assert git_state(source) == {"commit": commit, "dirty": True}
    assert git_state(Path("/") / "code.py") is None


def test_an_old_run_has_no_origin(tmp_path):
    run = create_run(tmp_path / "run", "draw", make_rules("draw"), TrainConfig())
    content = json.loads((run.path / "config.json").read_text())
    del content["origin"]
    (run.path / "config.json").write_text(json.dumps(content))
    assert open_run(run.path) == run and open_run(run.path).origin == {}
    assert Path(training.__file__).is_file()
