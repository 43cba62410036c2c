"""A learning curve as a CSV file that grows by whole lines, whatever happens while one is written."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.atomic import write_atomically

__all__ = ["Curve"]


class Curve:
    """Lines of the same columns, the first of which is an integer that grows: the decisions so far.

    Opening repairs: a last line that was cut off is removed, and with ``upto`` all lines beyond it, which a run that
    goes on from an earlier checkpoint will write again.

    Raises:
        ValueError: if the file has other columns, or a line within it is damaged; the message names the file.
    """

    def __init__(self, path: Path, columns: Sequence[str], *, upto: int | None = None) -> None:
        self.path = path
        self.columns = tuple(columns)
        self._open(upto)

    def _open(self, upto: int | None) -> None:
        content = self.path.read_bytes().decode(errors="replace") if self.path.is_file() else ""
        whole = content[: content.rfind("\n") + 1]
        header, *lines = list(csv.reader(io.StringIO(whole))) or [[]]
        if header and tuple(header) != self.columns:
            raise ValueError(f"{self.path} has the columns {', '.join(header)}, not {', '.join(self.columns)}")
        for number, line in enumerate(lines, 2):
            if len(line) != len(self.columns) or not line[0].isdecimal():
                raise ValueError(f"{self.path} is damaged in line {number}")
        kept = [line for line in lines if upto is None or int(line[0]) <= upto]
        repaired = _line(self.columns) + "".join(map(_line, kept))
        if repaired != content:
            write_atomically(self.path, repaired.encode())

    def append(self, values: dict[str, Any]) -> None:
        """One more line, on the disk when this returns; ``values`` has every column."""
        with open(self.path, "ab") as file:
            file.write(_line([values[name] for name in self.columns]).encode())
            file.flush()
            os.fsync(file.fileno())

    def lines(self) -> list[dict[str, str]]:
        """All lines, by column."""
        with open(self.path, newline="") as file:
            return list(csv.DictReader(file))


def _line(values: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
