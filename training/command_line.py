"""What all commands of the command line share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_command", "refuse_lost_output"]


def add_command(commands: Any, name: str, run: Any, meaning: str) -> argparse.ArgumentParser:
    """A parser of one more command, which calls ``run`` with the parsed arguments."""
    sentence = meaning[0].upper() + meaning[1:] + "."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=meaning, description=sentence)
    parser.set_defaults(run=run)
    return parser


def refuse_lost_output(flag: str, file: str | None) -> None:
    """Find out before hours of play, not after, that a result has no place to go to.

    Raises:
        FileNotFoundError: if the directory of ``file`` does not exist.
    """
    if file and not Path(file).parent.is_dir():
        raise FileNotFoundError(f"{flag} {file}: the directory {Path(file).parent} does not exist")
