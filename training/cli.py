"""The command line ``dominoes``: parses, calls, prints. Errors of the user's input are one line and exit code 2."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
from collections.abc import Sequence

from dominoes_env import __version__
from training.command_bench import add_bench
from training.command_evaluate import add_evaluate
from training.command_exploit import add_exploit
from training.command_line import add_command
from training.command_lists import add_agents, add_variants
from training.command_play import add_play
from training.command_records import add_record, add_render, add_replay
from training.command_ship import add_ship
from training.command_solve import add_solve
from training.command_tournament import add_tournament
from training.command_train import add_demo, add_train
from training.command_web import add_web

__all__ = ["main"]

_VERSION = f"dominoes_env {__version__}"

_EPILOG = """
a first evening:
  dominoes variants                                       the games
  dominoes play --variant all_fives                       a match against the machine; ? is help
  dominoes web --open                                     the same, and more, on a page in the browser
  dominoes train --variant draw --minutes 5 --out runs/first
  dominoes evaluate runs/first greedy --deals 2000
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 2 for wrong input, 128 + N after signal N."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal or a file that knows fewer letters gets question marks
            stream.reconfigure(errors="replace")
    parser = _parser()
    arguments = parser.parse_args(argv)
    arguments.command_line = shlex.join(["dominoes", *(sys.argv[1:] if argv is None else argv)])
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
    except Exception as error:
        if os.environ.get("DOMINOES_TRACEBACK") or not _is_foreseen(error):
            raise
        print(f"dominoes {arguments.command}: {_message(error)}", file=sys.stderr)
        return 2


def _is_foreseen(error: Exception) -> bool:
    """Whether the message says it all."""
    from agents.match import AgentFailure  # heavy to load; whoever can raise it has loaded it

    return isinstance(error, (ValueError, OSError, MemoryError, ModuleNotFoundError, AgentFailure))


def _message(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and "extra" not in str(error):
        return f"{error}; training needs the extra `train`: pip install 'dominoes_env[train]'"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).splitlines())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dominoes",
        description="Dominoes: train players by self-play, and measure them over mirrored deals.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_VERSION, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    add_play(commands)
    add_web(commands)
    add_train(commands)
    add_evaluate(commands)
    add_tournament(commands)
    add_record(commands)
    add_replay(commands)
    add_render(commands)
    add_ship(commands)
    add_solve(commands)
    add_exploit(commands)
    add_demo(commands)
    add_bench(commands)
    add_variants(commands)
    add_agents(commands)
    add_command(commands, "version", _version, "print the version")
    return parser


def _version(arguments: argparse.Namespace) -> None:
    del arguments
    print(_VERSION)


if __name__ == "__main__":
    sys.exit(main())
