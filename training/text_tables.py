"""Text on a terminal: aligned columns, and a line that shows what is going on."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["DealsLine", "ProgressLine", "aligned"]


class ProgressLine:
    """On a terminal one line, overwritten; elsewhere nothing. A context manager."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def show(self, text: str) -> None:
        """Replace the line by ``text``."""
        if self._is_terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


class DealsLine(ProgressLine):
    """A line that counts the deals played of those wanted."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self._wanted, self._played = wanted, 0

    def add(self, deals: int, note: str = "") -> None:
        """So many more have been played; ``note`` is said behind them."""
        self._played += deals
        self.show(f"{self._played:,} of {self._wanted:,} deals{note}")


def aligned(rows: Sequence[Sequence[str]], num_left: int = 1) -> list[str]:
    """Lines of equal columns: the first ``num_left`` to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            text.ljust(width) if column < num_left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines
