"""The recipes in ``examples``: they run, do what they say, and are as short as they say."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from agents.uniform import UniformAgent
from dominoes_env import make_rules
from training.evaluate import evaluate

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
LIMITS = {"sb3_self_play": 20, "sb3_against_greedy": 20, "own_loop": 40, "pettingzoo_loop": 20}
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_lines(source: str) -> int:
    """Lines that hold anything but docstrings, comments and blanks; a line of several statements is refused."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            docstrings |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        assert not (token.type == tokenize.OP and token.string == ";"), f"two statements in line {token.start[0]}"
        if token.type not in _LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def test_lines_are_counted_as_one_would_by_hand() -> None:
    function = 'def f(\n    x,\n):\n    """None."""\n    return """a\nb"""\n'
    source = '"""Two\nlines."""\n\nimport os  # one\n\n# none\n\n\n' + function
    assert code_lines(source) == 1 + 3 + 2
    with pytest.raises(AssertionError, match="line 1"):
        code_lines("a = 1; b = 2\n")


@pytest.mark.parametrize("name", LIMITS)
def test_it_is_as_short_as_it_says(name: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert 8 <= code_lines(source) <= LIMITS[name]  # all of it: imports, and the last lines that run it


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_as_a_script_and_is_in_the_list(name: str) -> None:
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    (main,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert len(main.args.defaults) == len(main.args.args)
    last = ast.unparse(tree.body[-1])
    assert last.startswith("if __name__ == '__main__':\n") and "main()" in last and "print(" in last
    assert f"`{name}.py`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["sb3_self_play", "sb3_against_greedy"])
def test_the_stable_baselines_recipes_train_a_player(name: str) -> None:
    pytest.importorskip("sb3_contrib")
    import torch

    from training.model_agent import ModelAgent

    threads = torch.get_num_threads()
    try:
        example = load(name)
        model, result = example.main(decisions=1024, num_envs=16, deals=20)
        raw, _ = example.main(decisions=0, num_envs=16, deals=1)
    finally:
        torch.set_num_threads(threads)
    assert model.num_timesteps == 1024 and model._n_updates == 8  # 2 rollouts of 4 epochs
    trained, fresh = model.policy.state_dict(), raw.policy.state_dict()
    assert trained.keys() == fresh.keys() and all((trained[key] != fresh[key]).any() for key in trained)
    assert result.agents == ("model", "greedy") and result.deals == 20 and result.num_seatings == 2
    assert sum(one.points.mean for one in result.results) == pytest.approx(0)
    env = model.get_env()
    observations = env.reset()
    for _ in range(60):
        actions, _ = model.predict(observations, action_masks=env.action_masks())
        assert env.action_masks()[np.arange(16), actions].all()
        observations, _, _, _ = env.step(actions)
    again = evaluate([ModelAgent(model), "greedy"], make_rules("draw"), 20, seed=1)
    assert again.points == result.points


def test_self_play_learns_from_every_seat() -> None:
    pytest.importorskip("sb3_contrib")
    import torch

    from training.rollout import SeatRolloutBuffer

    threads = torch.get_num_threads()
    try:
        model, _ = load("sb3_self_play").main(decisions=512, num_envs=16, deals=1)
    finally:
        torch.set_num_threads(threads)
    buffer = model.rollout_buffer
    assert isinstance(buffer, SeatRolloutBuffer)
    assert set(buffer.acted.ravel().tolist()) == {0, 1} and buffer.known.any()
    np.testing.assert_allclose(buffer.seat_rewards.sum(axis=2), 0, atol=1e-6)


def test_the_own_loop_counts_what_it_measures() -> None:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    try:
        example = load("own_loop")
        untrained, before, _ = example.main(updates=0, num_envs=16, measured_steps=60)
        net, again, after = example.main(updates=4, num_envs=16, measured_steps=60)
    finally:
        torch.set_num_threads(threads)
    assert again == before and np.isfinite(after)  # the same seeds, the same games
    fresh, trained = untrained.state_dict(), net.state_dict()
    assert all((fresh[key] != trained[key]).any() for key in fresh)
    rules = make_rules("draw")
    env = example.vector_env(8, rules=rules, autoreset_mode="SameStep", illegal="raise")
    seen = env.reset(seed=3)[0], env.action_masks()
    _, played = example.play(net, env, seen, 40)  # an illegal action would raise
    observations, masks, actions, rewards, ends = (column.numpy() for column in played)
    assert np.take_along_axis(masks, actions[..., None], axis=2).all()
    assert observations.shape == (40, 8, env.single_observation_space.shape[0])
    assert ends.sum() > 8 and not rewards[~ends].any() and rewards[ends].any()  # draw books at a round's end


def test_pettingzoo_rounds_are_zero_sum_and_dealt_to_both_sides() -> None:
    example = load("pettingzoo_loop")
    totals = example.main(games=60)
    assert list(totals) == ["flexible", "greedy"] and sum(totals.values()) == 0 and any(totals.values())
    assert example.main(games=60) == totals
    assert example.main("flexible", "random", games=100)["flexible"] > 0
    assert sum(example.main(games=4, variant="all_fives").values()) == 0


def test_torchrl_plays_masked_and_zero_sum() -> None:
    pytest.importorskip("torchrl")
    played = load("torchrl_env").main(steps=150)
    masks, actions = played["player", "action_mask"], played["player", "action"]
    rewards, ends = played["next", "player", "reward"][..., 0], played["next", "done"][:, 0]
    assert masks.gather(2, actions[..., None]).all()
    assert (masks.sum(dim=2) == 1).any(dim=1).all()  # whoever is not on turn has exactly one: PASS
    assert masks[..., make_rules("draw").pass_action].any(dim=1).all()
    assert ends.sum() >= 3 and (rewards.sum(dim=1) == 0).all() and rewards[ends].any() and not rewards[~ends].any()


def test_rllib_plays_masked() -> None:
    pytest.importorskip("ray.rllib")
    returns = load("rllib_self_play").main(iterations=1, decisions=300)
    assert len(returns) == 2 and sum(returns.values()) == pytest.approx(0)


@pytest.mark.parametrize(("name", "package"), [("torchrl_env", "torchrl"), ("rllib_self_play", "ray")])
def test_what_is_missing_is_named(name: str, package: str) -> None:
    if importlib.util.find_spec(package) is not None:
        pytest.skip(f"{package} is installed")
    with pytest.raises(ImportError, match=f"pip install .*{package}"):
        load(name)


def script(name: str) -> str:
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_with_its_defaults_the_own_loop_learns() -> None:
    pytest.importorskip("torch")
    before, after = map(float, re.findall(r"([+-]\d+\.\d+) (?:before|after)", script("own_loop")))
    assert before < 0 < 1 < after and after - before > 2  # the means are known to ± 0.4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sb3_self_play", "sb3_against_greedy"])
def test_with_its_defaults_the_learner_beats_greedy(name: str) -> None:
    pytest.importorskip("sb3_contrib")
    low, _ = map(float, re.findall(r"win rate .*\(95 %: ([\d.]+) to ([\d.]+)", script(name))[0])
    assert low > 50


@pytest.mark.slow
def test_with_its_defaults_the_pettingzoo_loop_prints_a_tally() -> None:
    totals = dict(re.findall(r"(\w+): ([+-]\d+) points in 200 rounds", script("pettingzoo_loop")))
    assert int(totals["flexible"]) > 0 and int(totals["flexible"]) + int(totals["greedy"]) == 0


def test_a_model_as_a_player_is_asked_for_fitting_rules() -> None:
    from gymnasium.spaces import Box, Discrete

    from dominoes_env.observation import observation_size
    from training.model_agent import ModelAgent

    rules = make_rules("draw")

    class Highest:
        """A model that plays the highest legal action and keeps what it was shown."""

        observation_space = Box(-127, 127, (observation_size(rules),), np.int8)
        action_space = Discrete(rules.num_actions)
        widths: set[int] = set()  # noqa: RUF012 - one for the test

        def predict(self, observations, action_masks, deterministic):  # type: ignore[no-untyped-def]
            assert deterministic
            self.widths.add(observations.shape[1])
            return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1), None

    class Historian(UniformAgent):
        needs_history = True

    agent = ModelAgent(Highest(), "highest")
    result = evaluate([agent, Historian()], rules, 20, seed=1)
    assert result.agents[0] == "highest" and Highest.widths == {observation_size(rules)}
    for other, kwargs in (
        (make_rules("all_fives"), {}),
        (make_rules("draw", num_players=3), {}),
        (rules, {"history": True}),
    ):
        with pytest.raises(ValueError, match="was trained on"):
            evaluate([ModelAgent(Highest(), **kwargs), "random"], other, 2)
