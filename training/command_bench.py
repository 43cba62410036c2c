"""The command ``bench``."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from training.command_line import add_command, refuse_lost_output
from training.command_rules import add_rule_flags, rules_of

__all__ = ["add_bench"]


def add_bench(commands: Any) -> None:
    parser = add_command(commands, "bench", _bench, "measure the engine and every interface, and peers beside them")
    add_rule_flags(parser)
    parser.add_argument("--num-envs", type=int, default=1024, metavar="N", help="games side by side (1024)")
    parser.add_argument("--threads", type=int, default=1, metavar="T", help="of the engine and the vector env (1)")
    parser.add_argument("--against", default="", metavar="PEERS", help="any of openspiel,pettingzoo,pgx")
    parser.add_argument("--seconds", type=float, metavar="S", help="seconds a measurement (1)")
    parser.add_argument("--quick", action="store_true", help="a look of a few seconds, without the cold compile")
    parser.add_argument("--json", metavar="FILE", help="write the result to a file too")


def _bench(arguments: argparse.Namespace) -> None:
    from training.bench import BenchConfig, bench
    from training.bench_tables import bench_tables
    from training.evaluate import write_json
    from training.text_tables import ProgressLine

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
    refuse_lost_output("--json", arguments.json)
    with ProgressLine() as line:
        result = bench(config, line.show)
    print(bench_tables(result))
    if arguments.json:
        write_json(result.to_dict(), arguments.json)
