"""Players in the box: shipped from a run in one step, listed, loaded by name, refused where they do not fit."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from linear_policy import policy_of

import agents.box
import dominoes_env
from agents import as_opponent, as_policy, make_agent, play_match
from agents.box import box_names, read_card
from agents.policy_file import Policy, load_policy, save_policy
from dominoes_env.engine.variants import make_rules
from dominoes_env.observation import observation_size
from training.cli import main
from training.config import TrainConfig
from training.evaluate import evaluate
from training.origin import git_state, origin
from training.run_directory import create_run
from training.ship import card_text, ship

RULES = make_rules("draw")
ABOUT = {"algorithm": "by hand", "minutes": 0.5, "decisions": 1234}


@pytest.fixture
def box(tmp_path, monkeypatch):
    directory = tmp_path / "box"
    directory.mkdir()
    monkeypatch.setattr(agents.box, "BOX", directory)
    return directory


@pytest.fixture
def run(tmp_path):
    made = create_run(tmp_path / "run", "draw", RULES, TrainConfig(seed=7), origin=origin("dominoes train", "draw-2p"))
    policy = policy_of("draw", 1)
    save_policy(Policy(policy.rules, policy.weights, policy.biases, about=ABOUT), made.path)
    return made


def test_a_run_is_shipped_listed_and_played(box, run, capsys):
    words = ["ship", str(run.path), "--box", str(box), "--deals", "200", "--against", "random", "flexible"]
    assert main([*words, "--limit", "It was made by hand."]) == 0
    text = capsys.readouterr().out
    assert sorted(file.name for file in box.iterdir()) == [
        "draw-2p.card.json", "draw-2p.card.md", "draw-2p.json", "draw-2p.npz",
    ]  # fmt: skip
    assert box_names() == ["draw-2p"]
    card = read_card("draw-2p")
    assert card["trained"]["command"] == "dominoes train" and card["trained"]["preset"] == "draw-2p"
    assert (card["trained"]["decisions"], card["trained"]["seed"], card["trained"]["policy"]) == (1234, 7, "policy")
    assert card["trained"]["machine"] == run.origin["machine"] and card["trained"]["git"] == git_state()
    assert [rung["opponent"] for rung in card["ladder"]] == ["random", "flexible"]
    assert all(rung["win_rate"]["low"] < rung["win_rate"]["mean"] < rung["win_rate"]["high"] for rung in card["ladder"])
    assert card["limits"][-1] == "It was made by hand." and len(card["limits"]) > 2
    assert card["network"]["bytes"] < 2_000_000
    assert (box / "draw-2p.card.md").read_text() == card_text(card) and card_text(card) in text
    assert "dominoes evaluate learned:draw-2p OPPONENT --deals 200" in text

    words = ["evaluate", "learned:draw-2p", "flexible", "--deals", "200", "--seed"]
    assert main([*words, str(card["ladder"][1]["seed"])]) == 0
    win = card["ladder"][1]["win_rate"]
    assert f"{100 * win['mean']:.2f} %" in capsys.readouterr().out
    assert make_agent("learned:draw-2p:mode=sample").name == "learned:draw-2p:mode=sample"
    assert main(["agents"]) == 0
    listed = capsys.readouterr().out
    assert "learned:draw-2p" in listed and f"{100 * win['mean']:.1f} % v flexible" in listed


class Killed(BaseException):
    """What no code catches, as it would not SIGKILL."""


@pytest.mark.parametrize("moment", range(9))
def test_a_ship_that_is_cut_off_leaves_no_card_of_another_policy(moment, box, run, monkeypatch):
    """A second policy replaces a first; killed before its first, second, ... change of a file, the player is refused,
    or has no card, or has its own.
    """
    ship(run.path, "mine", opponents=("random",), deals=4)
    save_policy(Policy(RULES, *_parts(policy_of("draw", -1)), about=ABOUT), run.path)
    left = moment

    def dying(change):
        def dies(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return change(*arguments, **options)

        return dies

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", dying(os.replace))
        patched.setattr(Path, "unlink", dying(Path.unlink))
        try:
            card = ship(run.path, "mine", opponents=("random",), deals=4)
            assert moment >= 6
        except Killed:
            card = None
    try:
        sign = 1 if (load_policy("mine").biases[0] == policy_of("draw", 1).biases[0]).all() else -1
        read = read_card("mine")
    except (FileNotFoundError, ValueError) as refusal:
        assert card is None and "mine" in str(refusal)
        return
    won = evaluate(["learned:mine", "random"], RULES, 4, seed=read["ladder"][0]["seed"]).win_rate
    assert won.to_dict() == read["ladder"][0]["win_rate"] and sign == (-1 if card else 1)
    assert (box / "mine.card.md").read_text() == card_text(read)


def test_a_card_belongs_to_its_policy(box, run, capsys):
    ship(run.path, "mine", opponents=("random",), deals=4)
    save_policy(policy_of("draw", -1), box, "mine")
    with pytest.raises(ValueError, match=r"mine\.card\.json does not belong to the policy .*mine\.json: ship it anew"):
        read_card("mine")
    assert main(["agents"]) == 0
    assert "does not belong" in capsys.readouterr().out
    (box / "half.npz").write_bytes(b"")  # killed before the header came
    assert box_names() == ["mine"]
    with pytest.raises(FileNotFoundError, match="players in the box: mine"):
        make_agent("learned:half")


def test_a_run_of_other_rules_is_not_called_after_its_preset(box, tmp_path, capsys):
    made = create_run(tmp_path / "other", "block", make_rules("block"), TrainConfig(), origin=origin("c", "draw-2p"))
    save_policy(policy_of("block", 1), made.path)
    assert main(["ship", str(made.path), "--deals", "4"]) == 2
    assert "--name is missing: the run has no preset of its own rules" in capsys.readouterr().err
    assert main(["ship", str(made.path), "--deals", "4", "--name", ""]) == 2
    assert not list(box.iterdir())


def test_the_best_policy_of_a_run_is_shipped(box, run):
    save_policy(Policy(RULES, *_parts(policy_of("draw", -1)), about={**ABOUT, "ladder": {}}), run.path, "best")
    card = ship(run.path, "mine", opponents=("random",), deals=100)
    assert card["trained"]["policy"] == "best" and card["name"] == "mine"
    assert (load_policy("mine").biases[0] == policy_of("draw", -1).biases[0]).all()
    assert "ladder" not in load_policy("mine").about
    assert sorted(file.suffix for file in box.iterdir()) == [".json", ".json", ".md", ".npz"]


def _parts(policy):
    return policy.weights, policy.biases


@pytest.mark.parametrize("version", ["rules_version", "observation_version"])
def test_players_of_other_versions_are_refused_with_both_versions(version, box, capsys):
    save_policy(policy_of("draw", 1), box, "draw-2p")
    header = json.loads((box / "draw-2p.json").read_text())
    current, header[version] = header[version], 77
    (box / "draw-2p.json").write_text(json.dumps(header))
    said = f"made for {version} 77, this version has {version} {current}"
    for use in (
        lambda: make_agent("learned:draw-2p"),
        lambda: load_policy(box / "draw-2p.json"),
        lambda: as_policy("learned:draw-2p", dominoes_env.env("draw")),
        lambda: as_opponent("learned:draw-2p", RULES),
    ):
        with pytest.raises(ValueError, match=said):
            use()
    assert main(["evaluate", "learned:draw-2p", "random"]) == 2
    assert said in capsys.readouterr().err


def test_players_of_other_rules_are_refused(box, capsys):
    save_policy(policy_of("draw", 1), box, "draw-2p")
    with pytest.raises(ValueError, match=r"learned:draw-2p was trained for other rules \(draw\): target=100, not 50"):
        play_match(["learned:draw-2p", "random"], make_rules("draw", target=50), 1)
    assert main(["evaluate", "learned:draw-2p", "random", "--variant", "block"]) == 2
    assert "the flags that fit it: --variant draw" in capsys.readouterr().err
    assert main(["agents"]) == 0  # without a card it is listed all the same
    assert "draw-2p.card.json does not exist" in capsys.readouterr().out


def test_names_are_found_or_explained(box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="players in the box: none yet"):
        make_agent("learned:draw-2p")
    save_policy(policy_of("draw", 1), box, "draw-2p")
    with pytest.raises(ValueError, match="'draw-2p' is a player in the box: learned:draw-2p"):
        make_agent("draw-2p")
    with pytest.raises(FileNotFoundError, match="players in the box: draw-2p"):
        make_agent("learned:draw-3p")
    (tmp_path / "draw-2p").mkdir()
    for name in ("draw-2p", "learned:draw-2p"):
        with pytest.raises(ValueError, match=r"a player in the box and a path here; \./draw-2p means the path"):
            make_agent(name)
    save_policy(policy_of("draw", -1), tmp_path / "draw-2p")
    assert make_agent("./draw-2p").policy.biases[0][0] == policy_of("draw", -1).biases[0][0]


def test_what_cannot_be_shipped_is_refused(box, run, tmp_path):
    for name in ("greedy", "a/b", "", "a b"):
        with pytest.raises(ValueError, match="name="):
            ship(run.path, name)
    for opponents in (("random", "nobody"), ("random", "human"), ()):
        with pytest.raises(ValueError, match=r"nobody|human|opponents="):
            ship(run.path, "mine", opponents=opponents, deals=4, progress=lambda deals: pytest.fail("it has played"))
    with pytest.raises(ValueError, match="deals=1"):
        ship(run.path, "mine", deals=1)
    empty = create_run(tmp_path / "empty", "draw", RULES, TrainConfig())
    with pytest.raises(FileNotFoundError, match="without a policy"):
        ship(empty.path, "mine")
    assert main(["ship", str(empty.path), "--box", str(box)]) == 2  # no preset, no name
    shape = observation_size(RULES), 6000, RULES.num_actions
    weights = tuple(np.zeros(pair, np.float32) for pair in pairwise(shape))
    save_policy(Policy(RULES, weights, tuple(np.zeros(width, np.float32) for width in shape[1:])), empty.path)
    with pytest.raises(ValueError, match="would weigh"):
        ship(empty.path, "mine")
    save_policy(policy_of("block", 1), empty.path)
    with pytest.raises(ValueError, match="other rules"):
        ship(empty.path, "mine")
    assert not list(box.iterdir())


def test_what_lies_in_the_box_fits_this_version():
    for name in box_names():
        card = read_card(name)
        agent = make_agent(f"learned:{name}")
        assert agent.policy.rules.to_dict() == card["rules"] and card["name"] == name
        assert sum((agents.box.BOX / f"{name}{end}").stat().st_size for end in (".npz", ".json")) < 2_000_000
        assert (agents.box.BOX / f"{name}.card.md").read_text() == card_text(card)


def test_a_header_that_says_something_else_is_refused(box):
    file = save_policy(policy_of("draw", 1), box, "mine")
    header = json.loads(file.read_text())
    knobs = {knob: value for knob, value in header["rules"].items() if knob != "target"}
    for wrong, said in (
        ({"rules_version": True}, "no proper 'rules_version'"),
        ({"rules": knobs}, "the rules lack target"),
        ({"sizes": [5, 5]}, r"sizes=\[5, 5\] is not allowed; allowed: \[\d+, 58\]"),
        ({"format_version": 9}, "policy format 9"),
    ):
        file.write_text(json.dumps({**header, **wrong}))
        with pytest.raises(ValueError, match=said) as refusal:
            make_agent("learned:mine")
        assert "mine.json" in str(refusal.value)
