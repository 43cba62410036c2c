"""The commands that train: ``train`` and ``demo``."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import shlex
from pathlib import Path
from typing import Any

from training.command_line import add_command
from training.command_rules import add_rule_flags, are_rules_given, flags_of, rules_of
from training.config import TrainConfig

__all__ = ["add_demo", "add_train"]


def _hidden(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        allowed = "integers of at least 1, such as 128,128"
        raise argparse.ArgumentTypeError(f"hidden={text!r} is not allowed; allowed: {allowed}") from None


def add_train(commands: Any) -> None:
    parser = add_command(commands, "train", _train, "train a player by self-play")
    add_rule_flags(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="run directory: settings, logs, checkpoint, policy")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    group = parser.add_argument_group("settings")
    for field in dataclasses.fields(TrainConfig):
        default = field.metadata["default"]
        kind: Any = _hidden if isinstance(default, tuple) else type(default)
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        shown += "".join(f"; {algorithm}: {other}" for algorithm, other in field.metadata["others"].items())
        if field.metadata["only"]:
            shown += f"; read by {field.metadata['only']} alone"
        group.add_argument(
            "--" + field.name.replace("_", "-"),
            type=kind,
            metavar=field.name.upper().split("_")[-1],
            help=f"{field.metadata['help']} (default: {shown})",
        )


def _train(arguments: argparse.Namespace) -> int:
    from training.run_directory import create_run

    names = [field.name for field in dataclasses.fields(TrainConfig)]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.resume:
        rules = rules_of(arguments)[1] if are_rules_given(arguments) else None
        run = _reopened(arguments.out, rules, given)
    else:
        variant, rules = rules_of(arguments)
        config = TrainConfig(**given)
        _import_learner(config)
        run = create_run(arguments.out, variant, rules, config)
    return _train_run(run)


def _reopened(path: str | Path, rules: Any, changes: dict[str, Any]) -> Any:
    from training.run_directory import open_run

    run = open_run(path, rules=rules, changes=changes)
    if not run.has_checkpoint:
        print(f"{run.path} was stopped before its first checkpoint: it starts over")
    return run


def _import_learner(config: TrainConfig) -> None:
    """torch, and SB3 if it is used, before anything is written: a machine without them gets no empty run directory."""
    for module in ("trainer", config.algorithm):
        importlib.import_module(f"training.{module}")


def _train_run(run: Any) -> int:
    from training.progress import ProgressBar
    from training.trainer import train

    with ProgressBar(run) as bar:
        stopped_by = train(run, report=bar.show)
    if not bar.is_begun and not stopped_by:
        print("nothing is left of the budget; a larger --minutes or --steps trains on")
    path = shlex.quote(str(run.path))
    if stopped_by:
        print(f"stopped; go on with: dominoes train --out {path} --resume")
        return 128 + stopped_by
    print(f"the policy is {run.path / 'policy.json'}; measure it:")
    print(f"  dominoes evaluate {path} greedy {flags_of(run.rules)}")
    return 0


def add_demo(commands: Any) -> None:
    parser = add_command(
        commands, "demo", _demo, "train on the draw game for some minutes and print how the player does"
    )
    parser.add_argument(
        "--out", default="runs/demo", metavar="DIR", help="run directory, resumed if there (default: %(default)s)"
    )
    for flag, kind, default, letter, meaning in (
        ("--minutes", float, 5.0, "M", "minutes of training"),
        ("--deals", int, 5000, "N", "mirrored deals an opponent"),
        ("--seed", int, 1, "N", "seed of training and evaluation"),
    ):
        parser.add_argument(flag, type=kind, default=default, metavar=letter, help=f"{meaning} (default: %(default)s)")


def _demo(arguments: argparse.Namespace) -> int:
    from dominoes_env.engine.variants import make_rules
    from training.demo import results_table, yardsticks
    from training.run_directory import CONFIG_NAME, create_run

    rules = make_rules("draw")
    settings = {"minutes": arguments.minutes, "seed": arguments.seed}
    config = TrainConfig(**settings)
    _import_learner(config)
    out = Path(arguments.out)
    if (out / CONFIG_NAME).exists():
        print(f"{out} is there: going on with it (remove it to start anew)")
        run = _reopened(out, rules, settings)
    else:
        run = create_run(out, "draw", rules, config)
    code = _train_run(run)
    if code == 0:
        results = yardsticks(out, rules, variant="draw", deals=arguments.deals, seed=arguments.seed)
        print(results_table(out, results))
    return code
