"""Where a run comes from: command, versions, git state, machine. It tells later how something was trained."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from training.machine import cpu_model, num_cores

__all__ = ["git_state", "machine", "origin", "versions"]

_PACKAGES = ("dominoes_env", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib")


def origin(command: str | None = None, preset: str | None = None) -> dict[str, Any]:
    """JSON values: ``command`` and ``preset`` as given, ``began`` (UTC), ``git``, ``machine`` and ``versions``."""
    return {
        "command": command,
        "preset": preset,
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": git_state(),
        "machine": machine(),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that a result depends on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def git_state(source: Path = Path(__file__)) -> dict[str, Any] | None:
    """``commit`` and whether the working tree is ``dirty``, of the checkout that ``source`` is a tracked file of.

    None where there is none: an installed package, even one in an environment that lies within some repository.
    """
    if _git(source, "ls-files", "--error-unmatch", source.name) is None:
        return None
    commit, changes = _git(source, "rev-parse", "HEAD"), _git(source, "status", "--porcelain")
    if commit is None or changes is None:
        return None
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def _git(source: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=source.parent, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def machine() -> str:
    """The processor and how many cores this process may use."""
    cores = num_cores()
    return f"{cpu_model()}, {cores} core{'' if cores == 1 else 's'}"
