"""How a run is shown while it goes on: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from tqdm import tqdm

from training.run_directory import Run
from training.trainer import Progress

__all__ = ["ProgressBar"]

#: Seconds between two lines where there is no terminal.
_LINE_SECONDS = 30.0


class ProgressBar:
    """Shows every :class:`training.trainer.Progress` that it is given; a context manager."""

    def __init__(self, run: Run) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last_line = time.monotonic()
        self.is_begun = False
        self._bar = tqdm(
            total=100,
            desc=str(run.path),
            disable=not self._is_terminal,
            bar_format="{desc} {percentage:5.1f} % |{bar}| {elapsed}{postfix}",
        )

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def show(self, progress: Progress) -> None:
        """Bring the display up to date."""
        self.is_begun = True
        text = f"{progress.decisions / 1e6:.2f} M decisions, {progress.decisions_a_second:,.0f}/s"
        if progress.look is not None:
            text += f", {progress.look}"
        if self._is_terminal:
            self._bar.n = min(100.0, 100 * progress.fraction)
            self._bar.set_postfix_str(text)
        elif progress.fraction >= 1 or time.monotonic() - self._last_line >= _LINE_SECONDS:
            self._last_line = time.monotonic()
            print(f"{100 * progress.fraction:5.1f} %  {text}", file=sys.stderr, flush=True)
