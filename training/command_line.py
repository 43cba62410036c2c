"""What all commands of the command line share."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["add_command", "refuse_lost_output", "refuse_lost_outputs", "write_json"]


def add_command(commands: Any, name: str, run: Any, meaning: str) -> argparse.ArgumentParser:
    """A parser of one more command, which calls ``run`` with the parsed arguments."""
    sentence = meaning[0].upper() + meaning[1:] + "."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=meaning, description=sentence)
    parser.set_defaults(run=run)
    return parser


def refuse_lost_output(flag: str, file: str | None) -> None:
    """Find out before hours of play, not after, that a result has no place to go to.

    Raises:
        OSError: if ``file`` cannot be written.
    """
    if file is None:
        return
    path = Path(os.path.realpath(file))
    if path.is_dir():
        raise IsADirectoryError(f"{flag} {file}: it is a directory; allowed: a file")
    if path.exists() and not path.is_file():  # the file would take its place
        raise OSError(f"{flag} {file}: it is a device or a pipe; allowed: a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{flag} {file}: the directory {path.parent} does not exist")
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"{flag} {file}: it cannot be written ({error.strerror})") from None


def refuse_lost_outputs(arguments: argparse.Namespace) -> None:
    """The same for all output flags of a match, which must not name the same place.

    Raises:
        OSError: if one cannot be written.
        ValueError: if two are the same.
    """
    taken: dict[Path, str] = {}
    for flag, name in (("--out", "out"), ("--json", "json"), ("--csv", "csv"), ("--plot", "plot")):
        file = getattr(arguments, name, None)
        if file is None:
            continue
        other = taken.setdefault(Path(file).resolve(), flag)
        if other != flag:
            raise ValueError(f"{flag} {file} is not allowed: {other} names it too; allowed: another one")
        if name != "out":
            refuse_lost_output(flag, file)


def write_json(file: str, figures: Any) -> None:
    """Write figures to a file, which is the old one or the new one, whatever happens meanwhile.

    Raises:
        OSError: if it cannot be written.
    """
    from agents.atomic import write_atomically

    write_atomically(Path(file), (json.dumps(figures, indent=2) + "\n").encode())
