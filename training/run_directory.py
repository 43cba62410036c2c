"""A run directory: ``config.json`` says what is trained and how; checkpoint, policies and logs lie beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.atomic import write_atomically
from agents.policy_file import BEST_NAME, POLICY_NAME, differing_rules
from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.observation import OBSERVATION_VERSION
from training.config import CHANGEABLE, TrainConfig
from training.origin import versions

__all__ = [
    "CHECKPOINT_NAME",
    "CONFIG_NAME",
    "LEAGUE_NAME",
    "LOG_NAME",
    "LOOK_TAG",
    "Run",
    "create_run",
    "open_run",
    "read_run",
    "write_config",
]

CONFIG_NAME = "config.json"
CHECKPOINT_NAME = "checkpoint.pt"
#: The folder of the league's past selves.
LEAGUE_NAME = "league"
#: The folder of TensorBoard's logs.
LOG_NAME = "tensorboard"
#: What is logged of looks at the ladder begins so. Each follows a checkpoint: logs that hold one without a
#: checkpoint beside them tell that it was lost, not that the run was stopped before its first.
LOOK_TAG = "ladder/"
FORMAT = "dominoes_env run"
FORMAT_VERSION = 1
_POLICIES = tuple(f"{name}{suffix}" for name in (POLICY_NAME, BEST_NAME) for suffix in (".json", ".npz"))


@dataclass(frozen=True)
class Run:
    """A training run: where it lies, its game, its settings."""

    path: Path
    variant: str
    rules: Rules
    config: TrainConfig
    origin: dict[str, Any] = field(default_factory=dict, compare=False)
    """See :func:`training.origin.origin`; under ``resumed`` a list of the same, one a resumption."""

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is something to resume."""
        return (self.path / CHECKPOINT_NAME).is_file()

    def to_dict(self) -> dict[str, Any]:
        """What ``config.json`` holds."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "variant": self.variant,
            "rules": self.rules.to_dict(),
            "config": self.config.to_dict(),
            "rules_version": RULES_VERSION,
            "observation_version": OBSERVATION_VERSION,
            "versions": versions(),
            "origin": self.origin,
        }


def create_run(
    path: str | Path, variant: str, rules: Rules, config: TrainConfig, *, origin: dict[str, Any] | None = None
) -> Run:
    """Make a run directory and write its ``config.json``.

    Raises:
        FileExistsError: if ``path`` is a file, or a directory with anything in it.
        OSError: if the directory cannot be made or written to; the message names it.
    """
    path = Path(path)
    if path.is_file():
        raise FileExistsError(f"{path} is a file; allowed: a directory that is new or empty")
    run = Run(path, variant, rules, config, origin or {})
    try:
        if path.is_dir() and any(path.iterdir()):
            raise FileExistsError(
                f"{path} exists and is not empty: --resume goes on with it, another --out starts anew"
            )
        path.mkdir(parents=True, exist_ok=True)
        write_config(run)
    except OSError as error:
        if error.strerror is None:  # our own
            raise
        raise OSError(f"the run directory {path} cannot be made: {error.filename}: {error.strerror}") from None
    return run


def write_config(run: Run) -> None:
    """Write the ``config.json`` of a run, atomically."""
    write_atomically(run.path / CONFIG_NAME, (json.dumps(run.to_dict(), indent=2) + "\n").encode())


def read_run(path: str | Path) -> Run:
    """The run in a directory, to be looked at.

    Raises:
        FileNotFoundError: if there is no run.
        ValueError: if ``config.json`` is cut off or edited, or was made by another version of rules or observation.
    """
    file = Path(path) / CONFIG_NAME
    if Path(path).is_file():
        raise FileNotFoundError(f"{path} is a file; allowed: a run directory")
    if not file.is_file():
        raise FileNotFoundError(f"{path} holds no run: {file} does not exist")
    content = _content(file)
    try:
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if content.get("format_version") != FORMAT_VERSION:
            found = content.get("format_version")
            raise ValueError(f"its format_version is {found!r}, this version reads {FORMAT_VERSION}")
        for name, current in (("rules_version", RULES_VERSION), ("observation_version", OBSERVATION_VERSION)):
            if content.get(name) != current:
                raise ValueError(f"it was made for {name} {content.get(name)!r}, this version has {name} {current}")
        for name in ("rules", "config", "origin"):
            if not isinstance(content.get(name, {}), dict):
                raise ValueError(f"{name}={content[name]!r} is not allowed; allowed: a table")
        origin = content.get("origin", {})
        if not isinstance(origin.get("resumed", []), list):
            raise ValueError(f"origin.resumed={origin['resumed']!r} is not allowed; allowed: a list")
        rules_of_run, config = Rules.from_dict(content["rules"]), TrainConfig.from_dict(content["config"])
        if lacking := rules_of_run.to_dict().keys() - content["rules"].keys():
            raise ValueError(f"its rules lack {', '.join(sorted(lacking))} (edited?)")
        run = Run(Path(path), str(content["variant"]), rules_of_run, config, origin)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{file} cannot be used: {error}") from None
    return run


def open_run(
    path: str | Path,
    *,
    rules: Rules | None = None,
    changes: dict[str, Any] | None = None,
    origin: dict[str, Any] | None = None,
) -> Run:
    """The run in a directory, to be resumed. Nothing is written: :func:`training.trainer.train` does when it goes on.

    Args:
        path: the run directory.
        rules: if given, they must be the run's own.
        changes: settings asked for; those that bound or report a run are changed, the others must be the run's own.
        origin: of this resumption, to be kept with the run's own.

    Raises:
        FileNotFoundError: as :func:`read_run`.
        ValueError: as :func:`read_run`, and if the run differs from what is asked for; the message names both values.
            Also if it has been saved before and its checkpoint is gone: to begin again would overwrite what is left.
    """
    run = read_run(path)
    if rules is not None and rules != run.rules:
        raise ValueError(f"{path} is a run of other rules: {differing_rules(run.rules, rules)}")
    _refuse_lost_checkpoint(run)
    return _changed(run, changes or {}, origin)


def _content(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is no JSON (cut off or edited): {error}") from None


def _refuse_lost_checkpoint(run: Run) -> None:
    if run.has_checkpoint:
        return
    left = [path for path in map(run.path.joinpath, _POLICIES) if path.exists()]
    logs = sorted((run.path / LOG_NAME).glob("events.*"))
    left += [log for log in logs if LOOK_TAG.encode() in log.read_bytes()]
    if left:
        raise ValueError(
            f"{run.path} is damaged: it has {left[0].relative_to(run.path)} but no {CHECKPOINT_NAME} to resume from; "
            f"put the checkpoint back, or train anew with another --out"
        )


def _changed(run: Run, changes: dict[str, Any], origin: dict[str, Any] | None) -> Run:
    settings = run.config.to_dict()
    asked = TrainConfig.from_dict({**settings, **changes}).to_dict()
    for name in settings:
        if asked[name] != settings[name] and name not in CHANGEABLE:
            raise ValueError(
                f"{name}={asked[name]!r} is not allowed with --resume; allowed: {settings[name]!r}, as {run.path} "
                f"began (what may change: {', '.join(CHANGEABLE)})"
            )
    changed = replace(run, config=TrainConfig.from_dict(asked))
    if origin is not None:
        changed = replace(changed, origin={**run.origin, "resumed": [*run.origin.get("resumed", []), origin]})
    return changed
