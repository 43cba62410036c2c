"""The command ``tournament``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from training.command_evaluate import add_match_flags, agents_and_rules, opened_store, tell_resumed
from training.command_line import add_command

__all__ = ["add_tournament"]


def add_tournament(commands: Any) -> None:
    parser = add_command(
        commands, "tournament", _tournament, "let every pair of agents play the same deals, and rate them"
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="names (see: dominoes agents) or run directories")
    add_match_flags(parser)
    parser.add_argument("--anchor", metavar="AGENT", help="whose rating is 0 (default: the mean is)")
    parser.add_argument("--csv", metavar="FILE", help="write the table to a file, a row a pair and direction")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw ratings and win rates: .png, .svg, .pdf (needs matplotlib)"
    )


def _tournament(arguments: argparse.Namespace) -> None:
    from agents.atomic import write_atomically
    from training.evaluate import write_json
    from training.text_tables import ProgressLine
    from training.tournament import tournament
    from training.tournament_tables import tournament_csv, tournament_tables

    agents, variant, rules = agents_and_rules(arguments)
    if arguments.plot is not None:
        from training.tournament_plot import check_plot, save_plot

        check_plot(arguments.plot)
    store = opened_store(arguments)
    with ProgressLine() as line:
        result = tournament(
            agents,
            rules,
            arguments.deals,
            seed=arguments.seed,
            variant=variant,
            anchor=arguments.anchor,
            chunk=arguments.chunk,
            workers=arguments.workers,
            store=store,
            progress=lambda done, count: line.show(f"{done:,} of {count:,} chunks"),
        )
    tell_resumed(store)
    print(tournament_tables(result))
    if arguments.json is not None:
        write_json(result.to_dict(), arguments.json)
    if arguments.csv is not None:
        write_atomically(Path(arguments.csv), tournament_csv(result).encode())
    if arguments.plot is not None:
        save_plot(result, arguments.plot)
