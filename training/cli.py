"""The command line ``dominoes``: parses, calls, prints. Errors of the user's input are one line and exit code 2."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dominoes_env import __version__
from training.command_rules import add_rule_flags, are_rules_given, flags_of, rules_of, rules_of_policies
from training.config import TrainConfig

__all__ = ["main"]

_VERSION = f"dominoes_env {__version__}"

_EPILOG = """
a first evening:
  dominoes variants                                       the games
  dominoes train --variant draw --minutes 5 --out runs/first
  dominoes evaluate runs/first greedy --deals 2000
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 2 for wrong input, 128 + N after signal N."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        return int(arguments.run(arguments) or 0)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, ModuleNotFoundError) as error:
        if os.environ.get("DOMINOES_TRACEBACK"):
            raise
        print(f"dominoes {arguments.command}: {_message(error)}", file=sys.stderr)
        return 2


def _message(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; training needs the extra `train`: pip install 'dominoes_env[train]'"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dominoes",
        description="Dominoes: train players by self-play, and measure them over mirrored deals.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_VERSION, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_train(commands)
    _add_evaluate(commands)
    _add_demo(commands)
    _add_bench(commands)
    _add_variants(commands)
    _add(commands, "agents", _agents, "list the agents and their arguments")
    _add(commands, "version", _version, "print the version")
    return parser


def _add(commands: Any, name: str, run: Any, meaning: str) -> argparse.ArgumentParser:
    sentence = meaning[0].upper() + meaning[1:] + "."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=meaning, description=sentence)
    parser.set_defaults(run=run)
    return parser


# train


def _hidden(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        allowed = "integers of at least 1, such as 128,128"
        raise argparse.ArgumentTypeError(f"hidden={text!r} is not allowed; allowed: {allowed}") from None


def _add_train(commands: Any) -> None:
    parser = _add(commands, "train", _train, "train a player by self-play")
    add_rule_flags(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="run directory: settings, logs, checkpoint, policy")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    group = parser.add_argument_group("settings")
    for field in dataclasses.fields(TrainConfig):
        default = field.default
        kind: Any = _hidden if isinstance(default, tuple) else type(default)
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
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
        _import_learner()
        run = create_run(arguments.out, variant, rules, config)
    return _train_run(run)


def _reopened(path: str | Path, rules: Any, changes: dict[str, Any]) -> Any:
    from training.run_directory import open_run

    run = open_run(path, rules=rules, changes=changes)
    if not run.has_checkpoint:
        print(f"{run.path} was stopped before its first checkpoint: it starts over")
    return run


def _import_learner() -> None:
    """torch and SB3, before anything is written: a machine without them gets no empty run directory."""
    import training.self_play  # noqa: F401


def _train_run(run: Any) -> int:
    from training.progress import ProgressBar
    from training.self_play import train

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


# evaluate


def _add_evaluate(commands: Any) -> None:
    parser = _add(commands, "evaluate", _evaluate, "play mirrored deals and print how the first agent does")
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="names (see: dominoes agents) or run directories")
    add_rule_flags(parser, default="the rules that a trained agent was trained for, else draw")
    parser.add_argument(
        "--deals", type=int, default=1000, metavar="N", help="deals, each played once a seating (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of deals and decisions (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result to a file too")


def _evaluate(arguments: argparse.Namespace) -> None:
    from agents.catalog import make_agent
    from dominoes_env.engine.variants import describe_rules
    from training.evaluate import evaluate, write_json

    variant, rules = rules_of(arguments)
    if len(arguments.agents) == 1:
        raise ValueError(f"agents={arguments.agents[0]!r} is not allowed; allowed: two agents, or one a player")
    if arguments.json and not Path(arguments.json).parent.is_dir():  # found out before hours of play, not after
        raise FileNotFoundError(f"--json {arguments.json}: the directory {Path(arguments.json).parent} does not exist")
    players = [make_agent(agent) for agent in arguments.agents]
    is_given = are_rules_given(arguments)
    trained_for = rules_of_policies(players, rules if is_given else None)
    if not is_given and trained_for is not None:
        rules, variant = trained_for, describe_rules(trained_for)[0]
        print(f"the rules are those of the policy: {flags_of(rules)}")
    result = evaluate(players, rules, arguments.deals, seed=arguments.seed, variant=variant)
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(result)
    if arguments.json:
        write_json(result.to_dict(), arguments.json)


# demo


def _add_demo(commands: Any) -> None:
    parser = _add(commands, "demo", _demo, "train on the draw game for some minutes and print how the player does")
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
    _import_learner()
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


# bench


def _add_bench(commands: Any) -> None:
    parser = _add(commands, "bench", _bench, "measure the engine and every interface, and peers beside them")
    add_rule_flags(parser)
    parser.add_argument("--num-envs", type=int, default=1024, metavar="N", help="games side by side (1024)")
    parser.add_argument("--threads", type=int, default=1, metavar="T", help="of the engine and the vector env (1)")
    parser.add_argument("--against", default="", metavar="PEERS", help="any of openspiel,pettingzoo,pgx")
    parser.add_argument("--seconds", type=float, metavar="S", help="seconds a measurement (1)")
    parser.add_argument("--quick", action="store_true", help="a look of a few seconds, without the cold compile")
    parser.add_argument("--json", metavar="FILE", help="write the result to a file too")


def _bench(arguments: argparse.Namespace) -> None:
    from training.bench import BenchConfig, bench
    from training.bench_tables import ProgressLine, bench_tables
    from training.evaluate import write_json

    variant, rules = rules_of(arguments)
    by_players = {}
    for num_players in (2, 3, 4):  # those that the game and the flags allow, for the growth table
        with suppress(ValueError):
            by_players[num_players] = rules_of(argparse.Namespace(**{**vars(arguments), "num_players": num_players}))[1]
    config = BenchConfig(
        variant=variant,
        rules=rules,
        rules_by_players=by_players,
        num_envs=arguments.num_envs,
        threads=arguments.threads,
        against=tuple(arguments.against.split(",")) if arguments.against else (),
        seconds=arguments.seconds,
        quick=arguments.quick,
    )
    if arguments.json and not Path(arguments.json).parent.is_dir():  # found out before minutes of play, not after
        raise FileNotFoundError(f"--json {arguments.json}: the directory {Path(arguments.json).parent} does not exist")
    with ProgressLine() as line:
        result = bench(config, line.show)
    print(bench_tables(result))
    if arguments.json:
        write_json(result.to_dict(), arguments.json)


# lists


def _add_variants(commands: Any) -> None:
    parser = _add(commands, "variants", _variants, "list the games, or print one game's rule sheet")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a variant")
    add_rule_flags(parser, with_variant=False)


def _variants(arguments: argparse.Namespace) -> None:
    import textwrap

    from dominoes_env.engine.rules import KNOB_MEANINGS, Rules, allowed_values
    from dominoes_env.engine.variants import get_variant, make_rules

    if arguments.name is None:
        _list_variants(arguments)
        return
    variant = get_variant(arguments.name)
    arguments.variant = arguments.name
    _, rules = rules_of(arguments)
    knobs, defaults = rules.to_dict(), Rules().to_dict()
    preset = make_rules(variant.name, num_players=rules.num_players).to_dict()
    print(f"{variant.name}: {variant.title}\n\n{textwrap.fill(variant.sheet, 88)}\n")
    marks = "* differs from the default"
    if knobs != preset:
        print("The sheet describes the preset; the knobs below are what is played.")
        marks += ", ! from the preset"
    print(f"The rules for {rules.num_players} players ({marks}); --rule KNOB=VALUE changes one:")
    for knob, value in knobs.items():
        mark = "!" if value != preset[knob] else "*" if value != defaults[knob] else " "
        print(f"  {mark} {f'{knob}={value}':28} {KNOB_MEANINGS[knob]} [{allowed_values(knob)}]")


def _list_variants(arguments: argparse.Namespace) -> None:
    from dominoes_env.engine.variants import VARIANTS

    if arguments.rule:
        raise ValueError(
            f"--rule {arguments.rule[0]!r} is not allowed without a variant; allowed: dominoes variants NAME"
        )
    if arguments.num_players not in (None, 2, 3, 4):
        raise ValueError(f"num_players={arguments.num_players!r} is not allowed; allowed: 2, 3, 4")
    for name, variant in VARIANTS.items():
        if arguments.num_players in (None, *variant.hand_sizes):
            print(f"{name:17} {'/'.join(map(str, variant.hand_sizes)):7} players   {variant.title}")
    print("\nA game's sheet and its rules by name: dominoes variants NAME")


def _agents(arguments: argparse.Namespace) -> None:
    from agents.catalog import CATALOG

    del arguments
    for entry in CATALOG.values():
        print(f"{entry.usage:28} {entry.meaning}")
        for parameter in entry.parameters:
            print(f"{'':28}   {parameter.name}: {parameter.meaning}")
    print("\nThe path of a run directory or of a policy file is a trained player too.")


def _version(arguments: argparse.Namespace) -> None:
    del arguments
    print(_VERSION)


if __name__ == "__main__":
    sys.exit(main())
