"""The commands that train: ``train`` and ``demo``."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import shlex
from pathlib import Path
from typing import Any

from agents.policy_file import BEST_NAME
from training.command_line import add_command
from training.command_rules import add_rule_flags, flags_of, given_rules
from training.config import TrainConfig
from training.origin import origin
from training.presets import PRESETS, get_preset
from training.wishes import Wishes, read_wishes

__all__ = ["add_demo", "add_train"]


def _hidden(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        allowed = "integers of at least 1, such as 128,128"
        raise argparse.ArgumentTypeError(f"hidden={text!r} is not allowed; allowed: {allowed}") from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def add_train(commands: Any) -> None:
    parser = add_command(
        commands,
        "train",
        _train,
        "train a player by self-play; flags are stronger than --config, that is stronger than --preset",
    )
    parser.add_argument("--preset", metavar="NAME", help=f"a game and settings for it: {', '.join(PRESETS)}")
    parser.add_argument(
        "--config", metavar="FILE", help="game and settings in TOML ([rules], [config]), or those of another run"
    )
    add_rule_flags(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="run directory: settings, logs, checkpoint, policies (default: runs/PRESET)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    group = parser.add_argument_group("settings")
    for field in dataclasses.fields(TrainConfig):
        default = field.metadata["default"]
        kind: Any = type(default)
        if isinstance(default, tuple):
            kind = _names if isinstance(default[0], str) else _hidden
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        shown += "".join(f"; {algorithm}: {other}" for algorithm, other in field.metadata["others"].items())
        if field.metadata["only"]:
            shown += f"; read by {field.metadata['only']} alone"
        if field.metadata["needs"]:
            shown += f"; read with a {field.metadata['needs']}"
        group.add_argument(
            "--" + field.name.replace("_", "-"),
            type=kind,
            metavar=field.name.upper().split("_")[-1],
            help=f"{field.metadata['help']} (default: {shown})",
        )


def _train(arguments: argparse.Namespace) -> int:
    from training.ladder import check_opponents
    from training.run_directory import create_run

    wishes = _wishes(arguments)
    out = arguments.out or (f"runs/{wishes.preset}" if wishes.preset else None)
    if out is None:
        raise ValueError("--out is missing: the run directory (only with a preset it has a default)")
    if arguments.resume:
        rules = wishes.rules()[1] if wishes.has_rules else None
        run = _reopened(out, rules, wishes.settings, arguments.command_line)
    else:
        variant, rules = wishes.rules()
        config = wishes.config()
        check_opponents(config.ladder, rules)
        _import_learner(config)
        run = create_run(out, variant, rules, config, origin=origin(arguments.command_line, wishes.preset))
    return _train_run(run)


def _wishes(arguments: argparse.Namespace) -> Wishes:
    """What preset, file and flags ask for, each stronger than the one before."""
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    settings = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    flags = Wishes(*given_rules(arguments), settings)
    file = Wishes() if arguments.config is None else read_wishes(arguments.config)
    preset = file.preset if arguments.preset is None else arguments.preset
    ground = Wishes() if preset is None else get_preset(preset).wishes
    return ground.under(file).under(flags)


def _reopened(path: str | Path, rules: Any, changes: dict[str, Any], command: str) -> Any:
    from training.run_directory import open_run

    run = open_run(path, rules=rules, changes=changes, origin=origin(command))
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
    best = run.path / f"{BEST_NAME}.json"
    if best.is_file():
        print(f"the best policy on the ladder is {best}, the last one {run.path / 'policy.json'}; measure the best:")
    else:
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
        run = _reopened(out, rules, settings, arguments.command_line)
    else:
        run = create_run(out, "draw", rules, config, origin=origin(arguments.command_line))
    code = _train_run(run)
    if code == 0:
        results = yardsticks(out, rules, variant="draw", deals=arguments.deals, seed=arguments.seed)
        print(results_table(out, results))
    return code
