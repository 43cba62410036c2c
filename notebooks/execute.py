"""Runs the notebooks from their Python halves and writes the other halves, outputs included.

`make notebooks` calls it:

    python notebooks/execute.py [NAME ...]

Nothing is kept that would change from run to run: no times, no metadata, no ids but numbers.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

HERE = Path(__file__).resolve().parent
#: The longest that a cell may take, in seconds, the first compiling of the engine included.
CELL_SECONDS = 600


def sources() -> list[Path]:
    """The Python halves, in their order."""
    return sorted(HERE.glob("[0-9][0-9]_*.py"))


def read_source(path: Path) -> Any:
    """A notebook without outputs, from its Python half."""
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell["id"], cell["metadata"] = f"cell-{number}", {}
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def executed(path: Path) -> Any:
    """The notebook of a Python half, run from top to bottom in a kernel of its own.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises.
    """
    notebook = read_source(path)
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = {"PYTHONPATH": os.pathsep.join(paths), "DOMINOES_QUIET": "1"}
    ours["SOURCE_DATE_EPOCH"] = "0"  # the date that is written into pictures
    with TemporaryDirectory() as directory:
        no_port = Config(KernelManager={"transport": "ipc", "ip": f"{directory}/kernel"})
        place = {"metadata": {"path": str(HERE)}}
        client = NotebookClient(notebook, timeout=CELL_SECONDS, resources=place, config=no_port)
        client.execute(env={**os.environ, **ours})
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell["outputs"] = _joined(cell["outputs"])
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs in which what was printed in pieces is one piece: how it was cut is chance."""
    joined: list[Any] = []
    for output in outputs:
        is_more = (
            joined
            and output.output_type == joined[-1].output_type == "stream"
            and output.name == joined[-1].name
        )
        if is_more:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def main(names: list[str]) -> None:
    """Run and write the notebooks whose names begin like one of ``names``; without any, all.

    Raises:
        SystemExit: for a name that none begins with.
    """
    paths = sources()
    for name in names:
        if not any(path.stem.startswith(name) for path in paths):
            known = ", ".join(path.stem for path in paths)
            sys.exit(f"no notebook begins with {name!r}; there are: {known}")
    for path in paths:
        if not names or any(path.stem.startswith(name) for name in names):
            print(path.stem, flush=True)
            nbformat.write(executed(path), path.with_suffix(".ipynb"))


if __name__ == "__main__":
    main(sys.argv[1:])
