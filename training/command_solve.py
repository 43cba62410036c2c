"""The command ``solve``."""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from training.command_line import add_command, refuse_lost_output, refuse_lost_outputs, write_json
from training.command_rules import add_rule_flags, flags_of, rules_of

__all__ = ["add_memory_flag", "add_solve", "memory_of", "number_above_0"]

#: Of the memory that is free, what is used at most unless another figure is given.
_MOST_OF_FREE = 0.8
#: Seconds between two lines where there is no terminal.
_LINE_SECONDS = 30.0


def number_above_0(text: str) -> float:
    """A flag's number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; allowed: a number above 0")
    return number


def add_memory_flag(parser: argparse.ArgumentParser) -> None:
    """The bound on memory."""
    parser.add_argument(
        "--memory",
        type=number_above_0,
        metavar="GIB",
        help="most memory to take (default: four fifths of what is free)",
    )


def memory_of(arguments: argparse.Namespace) -> int:
    """The bound in bytes."""
    from training.exact.exact_game import free_memory

    return int(arguments.memory * 2**30 if arguments.memory else _MOST_OF_FREE * free_memory())


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; allowed: an integer of at least 1")
    return int(text)


def add_solve(commands: Any) -> None:
    parser = add_command(
        commands, "solve", _solve, "solve a small game for two: its value with exact bounds, and how to play it"
    )
    add_rule_flags(parser)
    parser.add_argument(
        "--epsilon",
        type=number_above_0,
        default=1e-3,
        metavar="POINTS",
        help="stop when a best response gains at most so many points a round, on average of both seats "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--algorithm",
        choices=("pcfr+", "cfr+", "cfr"),
        default="pcfr+",
        help="predictive CFR+ with quadratic averages, CFR+, or CFR (default: %(default)s)",
    )
    parser.add_argument("--iterations", type=_whole, default=0, metavar="N", help="stop after so many in all")
    parser.add_argument("--minutes", type=number_above_0, default=0.0, metavar="M", help="stop after so many")
    parser.add_argument(
        "--out", metavar="FILE.npz", help="keep the solution here, saved now and then; the same command goes on with it"
    )
    parser.add_argument("--json", metavar="FILE", help="write value, bounds and counts to a file too")
    add_memory_flag(parser)


class _Show:
    """What is said while a game is solved: a bar on a terminal, else a line now and then; a context manager."""

    def __init__(self, epsilon: float) -> None:
        self._epsilon, self._first, self._text = epsilon, 0.0, ""
        self._is_terminal, self._last_line = sys.stderr.isatty(), time.monotonic()
        self._bar = tqdm(
            total=100, disable=not self._is_terminal, bar_format="{percentage:5.1f} % |{bar}| {elapsed}{postfix}"
        )

    def __enter__(self) -> _Show:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def step(self, step: Any) -> None:
        """Bring the display up to date; how far it is goes by the logarithm of the exploitability."""
        if step.bounds is not None:
            now = step.bounds.exploitability
            self._first = self._first or now
            way = math.log(self._first / self._epsilon)
            part = math.log(self._first / now) / way if now > self._epsilon and way > 0 else 1.0
            self._bar.n = min(100.0, max(0.0, 100 * part))
            self._text = f"exploitability {now:.3g}, value {step.bounds.low:.5f} to {step.bounds.high:.5f}, "
        text = f"{self._text}iteration {step.iterations:,}"
        if self._is_terminal:
            self._bar.set_postfix_str(text)
        elif time.monotonic() - self._last_line >= _LINE_SECONDS:
            self._last_line = time.monotonic()
            print(f"{step.seconds:7.0f} s  {text}", file=sys.stderr, flush=True)


def _tell_size(size: Any, num_bytes: int) -> None:
    print(f"{size.nodes:,} public nodes, {size.entries:,} numbers to find; {num_bytes / 2**20:,.0f} MiB of memory")


def _tell_game(game: Any) -> None:
    counts = game.counts
    first, second = counts.information_sets
    print(
        f"{counts.deals:,.0f} deals, {counts.histories:,} histories; a tile is laid in {first:,} + {second:,} "
        f"information sets, with a choice in {counts.with_choice:,}",
        flush=True,
    )


def _solve(arguments: argparse.Namespace) -> int:
    from training.exact.solve import solve

    variant, rules = rules_of(arguments)
    refuse_lost_output("--out", arguments.out)
    refuse_lost_outputs(arguments)
    if arguments.out is not None and Path(arguments.out).suffix != ".npz":
        raise ValueError(f"--out {arguments.out} is not allowed; allowed: a file whose name ends in .npz")
    print(f"{variant}: {flags_of(rules)}")
    with _Show(arguments.epsilon) as show:
        solved = solve(
            rules,
            algorithm=arguments.algorithm,
            epsilon=arguments.epsilon,
            iterations=arguments.iterations,
            minutes=arguments.minutes,
            out=None if arguments.out is None else Path(arguments.out),
            memory=memory_of(arguments),
            tell_size=_tell_size,
            tell_game=_tell_game,
            report=show.step,
        )
    bounds = solved.bounds
    print(
        f"value for seat 0: {bounds.value:.6f} points a round, between {bounds.low:.6f} and {bounds.high:.6f}; "
        f"exploitability {bounds.exploitability:.3g} after {solved.solver.iterations:,} iterations, "
        f"{solved.seconds:.1f} s"
    )
    if arguments.json is not None:
        write_json(arguments.json, solved.figures())
    if solved.stopped_by:
        print("stopped" if arguments.out is None else "stopped; the same command goes on")
        return 128 + solved.stopped_by
    return 0
