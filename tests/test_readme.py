"""The README: its Python examples run, and its table of presets names them all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy

import dominoes_env
from dominoes_env.engine.variants import VARIANTS

README = Path(__file__).resolve().parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_ten_line_example_plays_a_game(capsys) -> None:  # type: ignore[no-untyped-def]
    assert len(EXAMPLES[0].strip().splitlines()) == 10
    exec(compile(EXAMPLES[0], "README.md", "exec"), {})
    returns = eval(capsys.readouterr().out)
    assert set(returns) == {"player_0", "player_1"} and sum(returns.values()) == 0 and any(returns.values())


def test_the_other_examples_run_in_their_order() -> None:
    names: dict[str, object] = {"dominoes_env": dominoes_env, "numpy": numpy}
    for example in EXAMPLES[1:]:
        exec(compile(example, "README.md", "exec"), names)
    game = names["game"]
    assert isinstance(game, dominoes_env.Game)
    game.step("4-4")
    assert len(names["worlds"]) == 50  # type: ignore[arg-type]


def test_every_preset_stands_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [row for row in rows if row in VARIANTS] == list(VARIANTS)
