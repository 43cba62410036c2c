"""The file of a solution: ``.npz`` with a JSON header; the strategy, and what solving goes on from."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.made_for import VERSIONS, differing_rules, other_version, read_rules
from dominoes_env.engine.rules import Rules
from training.exact.tree_records import TREE_VERSION

__all__ = ["Solution", "load_solution", "save_solution"]

_FORMAT = "dominoes_env solution"
#: What the header holds besides, and of which kind.
_HEADER = {"tree_version": int, "rules": dict, "algorithm": str, "iterations": int, "seconds": (int, float)}


@dataclass(frozen=True, eq=False)
class Solution:
    """What is known of a game so far."""

    rules: Rules
    algorithm: str
    iterations: int
    seconds: float
    """Of all runs together, by the clock."""
    arrays: dict[str, NDArray[np.float64]]
    """``average``: the strategy; ``regrets`` and, of some algorithms, ``weights``: what solving goes on from."""


def save_solution(solution: Solution, path: Path) -> None:
    """Write the file, atomically.

    Raises:
        OSError: if it cannot be written.
    """
    header = {
        "format": _FORMAT,
        "tree_version": TREE_VERSION,
        **VERSIONS,
        "rules": solution.rules.to_dict(),
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
    }
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path = Path(os.path.realpath(path))  # a link stays one
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:  # straight to the disk: the arrays may fill most of the memory
            np.savez(file, header=text, **solution.arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load_solution(path: Path, rules: Rules | None = None, *, names: tuple[str, ...] | None = None) -> Solution:
    """Read the file, or of its arrays only those of ``names``.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is no solution, damaged, or one of other versions or of other rules than ``rules``.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            header: dict[str, Any] = json.loads(content["header"].tobytes())
            if not isinstance(header, dict) or header.get("format") != _FORMAT:
                raise ValueError("it has another format")
            for name, kind in _HEADER.items():
                if not isinstance(header[name], kind):
                    raise ValueError(f"{name}={header[name]!r} is of the wrong kind")
            arrays = {name: content[name] for name in content.files if name in (names or content.files)}
            arrays.pop("header", None)
            for name, array in arrays.items():
                if array.dtype != np.float64 or not np.isfinite(array.sum()):
                    raise ValueError(f"{name} holds what is no number")
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no solution of dominoes solve: {error}") from None
    if header["tree_version"] != TREE_VERSION:
        raise ValueError(f"{path} was made for tree_version {header['tree_version']}, this version has {TREE_VERSION}")
    if other := other_version(header):
        raise ValueError(f"{path} {other}: solve anew")
    found = read_rules(header["rules"])
    if rules is not None and (differing := differing_rules(found, rules)):
        raise ValueError(f"{path} is a solution of other rules: {differing}; name another file")
    return Solution(found, header["algorithm"], header["iterations"], header["seconds"], arrays)
