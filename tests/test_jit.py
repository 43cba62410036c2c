"""Compiling: no stale answer from the cache after an edit, the same games without the JIT, a light import."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dominoes_env

PACKAGE = Path(dominoes_env.__file__).parent

COUNT = """
import numpy as np
import dominoes_env
from dominoes_env.engine import deal, rounds, scoring, state
from dominoes_env.engine.variants import make_rules
rules = make_rules("all_fives")
s = state.new_states(1)
s["generator"] = 1
deal.start_match(s[0], rules.row[0])
hand = int(s["hands"][0][s["turn"][0]])
highest_double = max(t for t in (0, 2, 5, 9, 14, 20, 27) if hand >> t & 1)
rounds.step(s[0], rules.row[0], highest_double)
print(dominoes_env.__file__)
print(s["scores"][0].sum())
"""

GAMES = """
import hashlib
import numpy as np
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.table import Table
digest = hashlib.sha256()
for variant in VARIANTS:
    table = Table(make_rules(variant), 2, seed=3, episode="match", skip_forced=True, history=True)
    rng = np.random.default_rng(0)
    for _ in range(25):
        table.step([int(rng.choice(np.flatnonzero(mask))) for mask in table.masks], autoreset=True)
        for array in (table.states, table.observations, table.masks, table.rewards):
            digest.update(np.ascontiguousarray(array).tobytes())
    worlds = determinize(table.rules, table.concealed(0, 1), 1, table.round_history(0), rng)
    digest.update(worlds.tobytes())
print(digest.hexdigest())
"""


def _run(code: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_DISABLE_JIT", "COVERAGE_PROCESS_START")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, without its cache, that a fresh process can import."""
    shutil.copytree(PACKAGE, tmp_path / "dominoes_env", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edited_callee_is_never_answered_from_the_cache(copied: Path) -> None:
    """scoring.py is edited; rounds.py, which calls it and was not touched, must give the new answer."""
    first = _run(COUNT, copied)
    assert first.stdout.startswith(str(copied))
    assert first.stderr.count("compiling") == 1  # said, and once
    again = _run(COUNT, copied)
    assert again.stdout == first.stdout
    assert "compiling" not in again.stderr
    scoring = copied / "dominoes_env" / "engine" / "scoring.py"
    old = "return count if count % 5 == 0 else np.int64(0)"
    source = scoring.read_text()
    assert source.count(old) == 1
    scoring.write_text(source.replace(old, "return count + 1000"))
    edited = _run(COUNT, copied)
    assert int(edited.stdout.split()[-1]) > 1000 > int(first.stdout.split()[-1])


def test_the_compiling_notice_can_be_silenced(copied: Path) -> None:
    assert _run(COUNT, copied, DOMINOES_QUIET="1").stderr == ""


def test_the_same_games_without_the_jit() -> None:
    assert _run(GAMES).stdout == _run(GAMES, NUMBA_DISABLE_JIT="1").stdout


def test_import_is_light() -> None:
    """The face loads nothing heavy by itself, and the environments want no torch."""
    code = (
        "import sys, dominoes_env; {}; print([m for m in ('torch', 'stable_baselines3', 'agents') if m in sys.modules])"
    )
    assert _run(code.format("pass")).stdout.strip() == "[]"
    assert _run(code.format("dominoes_env.parallel_env(); dominoes_env.Game('draw')")).stdout.strip() == "[]"


def test_the_face_names_what_it_has() -> None:
    for name in dominoes_env.__all__:
        assert getattr(dominoes_env, name) is not None
    assert sorted(dominoes_env.__all__) == dir(dominoes_env)
    with pytest.raises(AttributeError, match="has no attribute 'chess'"):
        _ = dominoes_env.chess


LEAKS = """
import numpy as np
from numba.core.runtime import rtsys
import dominoes_env
from dominoes_env.engine.variants import make_rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.table import Table, random_keys

rules = make_rules("all_fives")
table, keys = Table(rules, 8, episode="match", history=True), random_keys(0, 8)
env = dominoes_env.vector_env(8, rules=rules, autoreset_mode="SameStep")
env.reset(seed=1)
one = Table(rules)
rng = np.random.default_rng(0)


def play():
    table.step(table.sample(keys), autoreset=True)
    table.play(keys, 5)
    table.observe(0, 1)
    env.step(env.action_masks().argmax(axis=1))
    one.reset(1)
    one.step_one(int(one.masks[0].argmax()))
    determinize(rules, one.concealed(0, 0), 0, one.round_history(), rng, num_worlds=2, with_deal=True)


def alive():
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free, stats.mi_alloc - stats.mi_free


play()
before = alive()
for _ in range(200):
    play()
print(before == alive(), *before, *alive())
"""


def test_nothing_is_left_behind() -> None:
    """Kernels that do not count references would leak what they make."""
    environment = {**os.environ, "NUMBA_NRT_STATS": "1"}
    run = subprocess.run([sys.executable, "-c", LEAKS], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("True"), run.stdout
