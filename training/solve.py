"""Solving a game to a given exploitability: the loop of iterations, exact checks, and saves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dominoes_env.engine.rules import Rules
from training.cfr import ALGORITHMS, Solver, num_arrays
from training.exact_game import Bounds, ExactGame, measured
from training.public_tree import TreeSize
from training.solution import Solution, load_solution, save_solution
from training.stopping import asked_to_stop

__all__ = ["Solved", "SolvingStep", "solve"]

#: By how much iterations grow from one check to the next, at least and at most; the first checks come at once.
_LEAST_GROWTH, _MOST_GROWTH = 1.2, 1.6
_FIRST_CHECK = 4
#: The exploitability falls about like the number of iterations to this power.
_POWER = 1.7


@dataclass(frozen=True)
class SolvingStep:
    """How far solving has come."""

    iterations: int
    seconds: float
    bounds: Bounds | None
    """Those of the last check; None before the first."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A solved game, or how far it was solved."""

    game: ExactGame
    solver: Solver
    bounds: Bounds
    seconds: float
    """By the clock, all runs together; loading, counting and compiling not included."""
    stopped_by: int
    """The signal that stopped it; 0: none."""

    def figures(self) -> dict[str, float | int]:
        """Value, bounds and counts, for JSON."""
        counts = self.game.counts
        return {
            "value": self.bounds.value,
            "low": self.bounds.low,
            "high": self.bounds.high,
            "exploitability": self.bounds.exploitability,
            "information_sets": sum(counts.information_sets),
            "histories": counts.histories,
            "iterations": self.solver.iterations,
            "seconds": round(self.seconds, 3),
        }


def solve(
    rules: Rules,
    *,
    algorithm: str = "pcfr+",
    epsilon: float = 1e-3,
    iterations: int = 0,
    minutes: float = 0.0,
    out: Path | None = None,
    save_minutes: float = 5.0,
    memory: int = 4 << 30,
    tell_size: Callable[[TreeSize, int], object] | None = None,
    tell_game: Callable[[ExactGame], object] | None = None,
    report: Callable[[SolvingStep], object] | None = None,
) -> Solved:
    """Solve until the average strategies can be exploited by at most ``epsilon`` points a round, or a budget is spent.

    Args:
        rules: a game for two.
        algorithm: one of :data:`training.cfr.ALGORITHMS`.
        epsilon: the exploitability to stop at.
        iterations: in all, earlier runs included; 0: no bound.
        minutes: of this run; 0: no bound.
        out: the file of the solution, which is taken up if it is there, and written every ``save_minutes`` and at the
            end.
        save_minutes: see ``out``.
        memory: bytes that may be used.
        tell_size: called with the size of the tree, and the bytes that it takes, before they are taken.
        tell_game: called with the game, once it stands.
        report: called after every check, and now and then between them.

    Raises:
        MemoryError: if the game takes more than ``memory``; the figure is named.
        ValueError: for rules that cannot be solved, or a file of another game.
        OSError: if the file cannot be written.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={algorithm!r} is not allowed; allowed: {', '.join(ALGORITHMS)}")
    known = load_solution(out, rules) if out is not None and out.exists() else None
    if known is not None and known.algorithm != algorithm:
        raise ValueError(f"algorithm={algorithm!r} is not allowed with {out}; allowed: {known.algorithm!r}, its own")
    size = measured(rules, memory, arrays=num_arrays(algorithm))
    if tell_size is not None:
        tell_size(size, size.num_bytes(num_arrays(algorithm)))
    game = ExactGame(rules, size=size)
    if tell_game is not None:
        tell_game(game)
    solver = Solver(game, algorithm)
    seconds = 0.0
    if known is not None:
        _take_up(solver, known, out)
        seconds = known.seconds
    first, began = solver.iterations, time.monotonic()
    saved = began
    bounds = solver.bounds()

    def clock() -> float:
        return seconds + time.monotonic() - began

    def is_done() -> bool:
        is_out_of_time = minutes > 0 and time.monotonic() - began >= 60 * minutes
        is_at_end = iterations > 0 and solver.iterations >= iterations
        return is_out_of_time or is_at_end or (solver.iterations > 0 and bounds.exploitability <= epsilon)

    def save() -> None:
        if out is not None:
            save_solution(Solution(rules, algorithm, solver.iterations, clock(), solver.arrays()), out)

    with asked_to_stop() as signals:
        while not is_done() and not signals:
            goal = _next_check(solver.iterations, bounds.exploitability, epsilon, iterations)
            while solver.iterations < goal and not signals:
                # Parts of some seconds, so that it can be stopped and shown; a part costs a walk more.
                solver.run(min(goal - solver.iterations, _part(solver.iterations - first, clock() - seconds)))
                if report is not None:
                    report(SolvingStep(solver.iterations, clock(), None))
                if minutes > 0 and time.monotonic() - began >= 60 * minutes:
                    break
                if time.monotonic() - saved >= 60 * save_minutes:
                    save()
                    saved = time.monotonic()
            bounds = solver.bounds()
            if report is not None:
                report(SolvingStep(solver.iterations, clock(), bounds))
        save()
        return Solved(game, solver, bounds, clock(), signals[0] if signals else 0)


def _take_up(solver: Solver, known: Solution, path: Path | None) -> None:
    arrays = solver.arrays()
    if known.arrays.keys() != arrays.keys() or any(known.arrays[name].shape != arrays[name].shape for name in arrays):
        raise ValueError(f"{path} does not fit this game: it has {', '.join(known.arrays)} of another size")
    for name, array in arrays.items():
        array[:] = known.arrays[name]
    solver.iterations = known.iterations


def _next_check(done: int, exploitability: float, epsilon: float, most: int) -> int:
    """The iteration after which to look next: about where ``epsilon`` is expected, but never far."""
    if done < _FIRST_CHECK:
        goal = _FIRST_CHECK
    else:
        growth = (exploitability / epsilon) ** (1 / _POWER) if epsilon > 0 else _MOST_GROWTH
        goal = done + max(1, round(done * (min(max(growth, _LEAST_GROWTH), _MOST_GROWTH) - 1)))
    return min(goal, most) if most > 0 else goal


def _part(done: int, seconds: float) -> int:
    """Iterations of about ten seconds."""
    return max(1, int(10 * done / seconds)) if seconds > 0 else 1
