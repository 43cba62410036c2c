"""The notebooks: each runs from top to bottom, and what is committed is what its source says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("jupytext")
pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

PLACE = Path(__file__).resolve().parent.parent / "notebooks"
SPEC = importlib.util.spec_from_file_location("notebooks_execute", PLACE / "execute.py")
execute = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(execute)
NOTEBOOKS = pytest.mark.parametrize("path", execute.sources(), ids=lambda path: path.stem)
#: Those whose outputs hang on the engine and NumPy's generator alone: the same on every machine.
EXACT = ("01_quickstart", "02_observations_and_masks")
MOST_BYTES = 500_000


def committed(path):
    return nbformat.read(path.with_suffix(".ipynb"), as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(notebook):
    """Of each output of each cell what it is, without what it says."""
    return [
        [(output.output_type, output.get("name"), *sorted(output.get("data", {}))) for output in cell.outputs]
        for cell in code_cells(notebook)
    ]


def refuse_complaints(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text


def test_the_pairs_are_complete():
    names = [path.stem for path in execute.sources()]
    assert [name[:2] for name in names] == [f"{number:02}" for number in range(1, len(names) + 1)] and len(names) >= 5
    assert sorted(path.stem for path in PLACE.glob("*.ipynb")) == names


def test_the_readme_names_each():
    readme = (PLACE.parent / "README.md").read_text(encoding="utf-8")
    for path in execute.sources():
        assert f"(notebooks/{path.stem}.ipynb)" in readme


@NOTEBOOKS
def test_both_halves_are_the_same(path):
    source, written = execute.read_source(path), committed(path)
    halves = [[(cell.cell_type, cell.source, cell.id) for cell in half.cells] for half in (source, written)]
    assert halves[0] == halves[1], f"run `make notebooks`, or jupytext --sync {path.name}"
    assert source.metadata == written.metadata
    nbformat.validate(written)


@NOTEBOOKS
def test_what_is_committed_has_been_run_and_says_nothing_that_changes(path):
    notebook = committed(path)
    refuse_complaints(notebook)
    assert [cell.execution_count for cell in code_cells(notebook)] == list(range(1, len(code_cells(notebook)) + 1))
    assert any(cell.outputs for cell in code_cells(notebook))
    assert all(not cell.metadata for cell in notebook.cells)
    text = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"/(tmp|home|root)/| at 0x[0-9a-f]{6}|it/s\]", text)


@NOTEBOOKS
def test_it_begins_with_what_is_learnt_and_ends_with_where_to_go(path):
    first, *_, last = execute.read_source(path).cells
    assert first.cell_type == last.cell_type == "markdown"
    assert first.source.startswith("# ") and "to run" in first.source
    assert "## Where to go next" in last.source


@NOTEBOOKS
def test_it_runs_from_top_to_bottom(path):
    notebook = execute.executed(path)
    refuse_complaints(notebook)
    if path.stem in EXACT:
        assert [cell.outputs for cell in code_cells(notebook)] == [
            cell.outputs for cell in code_cells(committed(path))
        ], "outputs have changed: run `make notebooks`"
    assert kinds(notebook) == kinds(committed(path))
