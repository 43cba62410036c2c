"""The recipes in examples/ run, with tiny budgets, and are as short as they say."""

from __future__ import annotations

import importlib.util
import io
import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def load(name: str) -> Any:
    pytest.importorskip("sb3_contrib")
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def num_code_lines(name: str) -> int:
    """Lines with code on them: no blank line, comment or docstring; without the call of ``main`` at the end."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").partition("\nif __name__")[0] + "\n"
    lines, is_start = set(), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = is_start and token.type == tokenize.STRING
        if token.type not in _NOT_CODE and not is_docstring:
            lines.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            is_start = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return len(lines)


@pytest.mark.parametrize(
    ("name", "most"), [("sb3_self_play", 20), ("sb3_against_greedy", 20), ("own_loop", 40), ("pettingzoo_loop", 20)]
)
def test_they_are_short(name: str, most: int) -> None:
    assert 8 <= num_code_lines(name) <= most


def test_self_play_with_stable_baselines() -> None:
    model, result = load("sb3_self_play").main(decisions=256, num_envs=8, deals=4)
    assert model.num_timesteps == 256 and result.deals == 4


def test_one_learner_with_stable_baselines() -> None:
    model, result = load("sb3_against_greedy").main(decisions=256, num_envs=8, deals=4)
    assert model.num_timesteps == 256 and result.agents == ("model", "greedy")


def test_a_model_of_other_rules_is_refused() -> None:
    from dominoes_env import make_rules
    from training.model_agent import ModelAgent

    model, _ = load("sb3_against_greedy").main(decisions=256, num_envs=8, deals=4)
    with pytest.raises(ValueError, match=r"agent='mine' was trained on 88 numbers and 58 actions, these rules have"):
        ModelAgent(model, "mine").check_rules(make_rules("all_fives"))


def test_a_loop_of_ones_own_learns() -> None:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    try:
        net, (before, after) = load("own_loop").main(updates=150, num_envs=64, measured_steps=200)
    finally:
        torch.set_num_threads(threads)
    assert all(torch.isfinite(weights).all() for weights in net.parameters())
    assert before < after


def test_pettingzoos_loop_keeps_a_tally() -> None:
    totals = load("pettingzoo_loop").main(games=20)
    assert list(totals) == ["flexible", "greedy"]
    np.testing.assert_allclose(sum(totals.values()), 0, atol=1e-4)
    assert any(totals.values())
