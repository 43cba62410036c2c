"""The ladder of a run: repeatable looks, the best one kept, a curve that survives being cut off."""

from __future__ import annotations

import numpy as np
import pytest
from linear_policy import policy_of

from agents import make_agent
from agents.policy_file import find_policy, load_policy, save_policy
from dominoes_env.engine.variants import make_rules
from training.curve import Curve
from training.evaluate import evaluate
from training.ladder import LADDER_SEED, Ladder

RULES = make_rules("classic_block")
LIGHT, HEAVY = policy_of("classic_block", -1), policy_of("classic_block", 1)


def test_a_look_is_an_evaluation_on_the_ladders_deals(tmp_path):
    ladder = Ladder(tmp_path, RULES, opponents=("random", "flexible"), deals=200)
    look = ladder.look(HEAVY, decisions=5, minutes=1.0)
    assert look == ladder.look(HEAVY, decisions=5, minutes=1.0)
    save_policy(HEAVY, tmp_path)
    results = {name: evaluate([str(tmp_path), name], RULES, 200, seed=LADDER_SEED) for name in ("random", "flexible")}
    for name, result in results.items():
        assert look.win_rates[name].mean == pytest.approx(result.win_rate.mean)
        assert look.win_rates[name].low == pytest.approx(result.win_rate.low)
        assert look.points[name].mean == pytest.approx(result.points.mean)
    assert look.score.mean == pytest.approx(np.mean([result.win_rate.mean for result in results.values()]))
    assert look.scalars()["ladder/win_rate_v_random"] == look.win_rates["random"].mean
    assert "v random" in str(look) and look.score.low < look.score.mean < look.score.high
    assert ladder._curve.lines() == [] and find_policy(tmp_path).name == "policy.json"


def test_the_best_is_kept_by_its_lower_bound(tmp_path):
    ladder = Ladder(tmp_path, RULES, opponents=("random",), deals=300)
    save_policy(LIGHT, tmp_path)
    looks = [
        ladder.measure(policy, decisions=100 * number, minutes=number / 3)
        for number, policy in enumerate((LIGHT, HEAVY, HEAVY, LIGHT), 1)
    ]
    assert [look.is_best for look in looks] == [True, True, False, False]
    assert (load_policy(tmp_path).biases[0] == HEAVY.biases[0]).all()
    assert find_policy(tmp_path).name == "best.json"
    assert (load_policy(tmp_path / "policy.json").biases[0] == LIGHT.biases[0]).all()
    about = load_policy(tmp_path).about["ladder"]
    assert (about["decisions"], about["score"]["low"]) == (200, looks[1].score.low)
    assert make_agent(str(tmp_path)).source == tmp_path / "best.json"

    lines = Curve(tmp_path / "ladder.csv", ladder._curve.columns).lines()
    assert [line["decisions"] for line in lines] == ["100", "200", "300", "400"]
    assert [line["is_best"] for line in lines] == ["1", "1", "0", "0"]
    assert float(lines[1]["win_rate_low_v_random"]) == pytest.approx(looks[1].win_rates["random"].low, abs=1e-5)

    again = Ladder(tmp_path, RULES, opponents=("random",), deals=300, upto=200)
    assert not again.measure(LIGHT, decisions=250, minutes=1.0).is_best
    assert [line["decisions"] for line in again._curve.lines()] == ["100", "200", "250"]
    (tmp_path / "best.npz").write_bytes(b"torn")
    again = Ladder(tmp_path, RULES, opponents=("random",), deals=300, upto=250)
    assert again.measure(LIGHT, decisions=300, minutes=1.0).is_best
    assert (load_policy(tmp_path).biases[0] == LIGHT.biases[0]).all()


def test_a_curve_is_repaired_at_any_byte(tmp_path):
    file = tmp_path / "curve.csv"
    curve = Curve(file, ("decisions", "share"))
    for number in range(3):
        curve.append({"decisions": 10 * number, "share": 0.5})
    whole = file.read_bytes()
    assert whole == b"decisions,share\n0,0.5\n10,0.5\n20,0.5\n"
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        lines = Curve(file, ("decisions", "share")).lines()
        assert len(lines) == max(0, whole[:cut].count(b"\n") - 1)
        assert file.read_bytes() == b"".join(whole.splitlines(keepends=True)[: len(lines) + 1])
    file.write_bytes(whole)
    assert [line["decisions"] for line in Curve(file, ("decisions", "share"), upto=10).lines()] == ["0", "10"]
    with pytest.raises(ValueError, match=r"curve\.csv has the columns decisions, share, not decisions"):
        Curve(file, ("decisions",))
    file.write_bytes(b"decisions,share\nx,1\n1,2\n")
    with pytest.raises(ValueError, match=r"curve\.csv is damaged in line 2"):
        Curve(file, ("decisions", "share"))


def test_a_wrong_ladder_is_refused(tmp_path):
    for wrong, text in (
        ({"opponents": ()}, "opponents="),
        ({"opponents": "greedy"}, "opponents='greedy'"),
        ({"opponents": ("nobody",)}, "nobody"),
        ({"deals": 1}, "deals=1"),
    ):
        with pytest.raises(ValueError, match=text):
            Ladder(tmp_path, RULES, **wrong)
    Ladder(tmp_path, RULES, opponents=("greedy",))
    with pytest.raises(ValueError, match=r"ladder\.csv has the columns"):
        Ladder(tmp_path, RULES, opponents=("random",))
