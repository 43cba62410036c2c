"""Evaluation that can be believed: mirrored deals, intervals from the mirrored groups, a warning where it is thin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from agents.atomic import write_atomically
from agents.catalog import make_agent
from agents.match import MatchResult
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import describe_rules
from training.chunk_store import ChunkStore
from training.chunks import CHUNK_DEALS, Chunk, chunks_of
from training.control_variate import Controlled, Reference, controlled_mean, least_groups
from training.evaluation import AgentResult, Control, Evaluation, Mirroring, Stop, counted_deals, fair_share
from training.intervals import Interval, mean_interval, mirroring_saving
from training.sequential import Sprt
from training.stand_ins import StandIns, covariates, default_stand_ins
from training.workers import executor_of, play_chunks

__all__ = ["FEW_DEALS", "evaluate", "thinness", "write_json"]

#: Below so many deals a result is called thin.
FEW_DEALS = 100
_MEASURES = {"wins": (0.0, 1.0), "points": (-np.inf, np.inf)}


def evaluate(
    agents: Sequence[Any],
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    variant: str | None = None,
    batch: int = 2048,
    progress: Callable[[int], object] | None = None,
    mirrored: bool = True,
    chunk: int = CHUNK_DEALS,
    workers: int = 1,
    executor: Executor | None = None,
    store: ChunkStore | None = None,
    until: float | None = None,
    sprt: Sprt | None = None,
    control: StandIns | None = None,
    reference_progress: Callable[[int, int], object] | None = None,
) -> Evaluation:
    """Play mirrored deals and sum up for the first agent.

    Args:
        agents: names as in the catalog, or objects with the Agent protocol (pickled for more than one worker).
        rules: the rules.
        deals: mirrored groups; with ``until`` or ``sprt`` the most of them.
        seed: the same seed gives the same figures.
        variant: the name to print; None: the preset nearest to the rules.
        batch: games side by side; changes no figure.
        progress: called with the number of deals just finished.
        mirrored: False plays each deal in one seating only, the first agent in seat 0; so does any match of a person.
        chunk: deals of a chunk; after each one ``until`` and ``sprt`` are looked at.
        workers: processes that play; changes no figure.
        executor: who plays instead of own processes; ``workers`` says how many chunks it plays at once.
        store: keeps finished chunks, and gives those that it has.
        until: stop when the half width of the win rate's interval is at most so much (from 100 deals on).
        sprt: stop when this test has decided.
        control: take off the luck that these stand-ins show.
        reference_progress: called with the deals that the stand-ins' means are known from, and with how many are
            wanted by now.

    Raises:
        ValueError: as :func:`agents.match.play_match`; for ``until`` or ``control`` with a value that is not allowed;
            for a person with workers.
        TypeError, ChildProcessError: as :func:`training.workers.play_chunks`.
    """
    if until is not None and not 0 < until < 0.5:
        raise ValueError(f"until={until!r} is not allowed; allowed: a half width above 0 and below 0.5; 0.01 is 1 %")
    chunks = chunks_of(agents, rules, deals, seed=seed, size=chunk, mirrored=mirrored, batch=batch)
    names = tuple(make_agent(agent).name for agent in agents)
    if control is not None:
        control = _checked_control(control, names, rules, deals)
    with executor_of(workers) if executor is None else nullcontext(executor) as players:
        how = {"executor": players, "workers": workers, "store": store}
        first = next(chunks)
        references = None if control is None else _References(control, first, reference_progress, how)
        look = _Look(names, until, sprt, references)
        _play(look, chain((first,), chunks), progress, how)
    return look.evaluation(describe_rules(rules)[0] if variant is None else variant)


def _play(look: _Look, chunks: Iterable[Chunk], progress: Callable[[int], object] | None, how: dict[str, Any]) -> None:
    """Show ``look`` a chunk after the other, each with the stand-ins' games on its deals, until it has seen enough."""
    references = look.references
    width = 1 if references is None else 1 + len(references.control.pairs)
    rows = ((chunk, *(() if references is None else references.control.chunks_beside(chunk))) for chunk in chunks)
    with closing(play_chunks(chain.from_iterable(rows), **how)) as stream:
        for row in _rows(stream, width):
            if progress is not None:
                progress(row[0].num_deals)
            if look.sees_enough(row):
                break
    look.informed_references()


def _checked_control(control: StandIns, names: tuple[str, ...], rules: Rules, deals: int) -> StandIns:
    control = replace(control, pairs=control.pairs or default_stand_ins(names))
    control.check(rules)
    least = max(FEW_DEALS, least_groups(len(control.pairs)))
    if deals < least:
        raise ValueError(f"deals={deals} is not allowed with control; allowed: {least} or more")
    return control


def _rows(results: Iterator[MatchResult], width: int) -> Iterator[list[MatchResult]]:
    while row := list(islice(results, width)):
        yield row


class _References:
    """What is known of the stand-ins, by measure: from ever more deals as the match gets on."""

    def __init__(
        self, control: StandIns, chunk: Chunk, progress: Callable[[int, int], object] | None, how: dict[str, Any]
    ) -> None:
        self.control, self.num_deals = control, 0
        self._chunk, self._progress, self._how = chunk, progress, how
        self._known: dict[str, Reference] = {}

    def __getitem__(self, measure: str) -> Reference:
        return self._known[measure]

    def suffice(self, deals: int) -> None:
        """Let the stand-ins play what a match of so many deals asks for and they have not played yet."""
        wanted = self.control.num_reference_deals(deals)
        if self.num_deals >= wanted:
            return
        chunks = self.control.reference_chunks(self._chunk, self.num_deals, wanted)
        with closing(play_chunks(chunks, **self._how)) as stream:
            for row in _rows(stream, len(self.control.pairs)):
                for measure in _MEASURES:
                    new = Reference.of([covariates(row, measure)])
                    self._known[measure] = self._known[measure].joined(new) if self.num_deals else new
                self.num_deals += row[0].num_deals
                if self._progress is not None:
                    self._progress(self.num_deals, wanted)


class _Look:
    """All that has been played so far, and whether it is enough."""

    def __init__(
        self, names: tuple[str, ...], until: float | None, sprt: Sprt | None, references: _References | None
    ) -> None:
        self.names = names
        self.until, self.sprt, self.references = until, sprt, references
        self._parts: list[MatchResult] = []
        self._covariates: dict[str, list[Any]] = {measure: [] for measure in _MEASURES}
        self.ratio: float | None = None
        self.verdict: str | None = None

    def sees_enough(self, row: Sequence[MatchResult]) -> bool:
        """Take a chunk of the match and of the stand-ins; whether to stop."""
        self._parts.append(row[0])
        if self.references is not None:
            for measure in _MEASURES:
                self._covariates[measure].append(covariates(row[1:], measure))
        if self.sprt is None and self.until is None:
            return False
        result = self.result
        if self.sprt is not None:
            self.ratio = self.sprt.ratio(result.win_rate_a_deal(), fair_share(result.rules))
            self.verdict = self.sprt.verdict(self.ratio)
        if self.until is not None and self.verdict is None and result.num_deals >= self._least_deals:
            controlled = self._controlled("wins")
            interval = _plain("wins", result, 0) if controlled is None else controlled.interval
            self.verdict = "until" if interval.half_width <= self.until else None
        return self.verdict is not None

    @property
    def result(self) -> MatchResult:
        """The match so far."""
        if len(self._parts) > 1:
            self._parts = [MatchResult.joined(self._parts)]
        return self._parts[0]

    @property
    def _least_deals(self) -> int:
        return (
            FEW_DEALS if self.references is None else max(FEW_DEALS, least_groups(len(self.references.control.pairs)))
        )

    def informed_references(self) -> _References | None:
        """The stand-ins with means for the match so far; None without any, or if it is too short to use them."""
        if self.references is None or self.result.num_deals < self._least_deals:
            return None
        self.references.suffice(self.result.num_deals)
        return self.references

    def _controlled(self, measure: str) -> Controlled | None:
        if (references := self.informed_references()) is None:
            return None
        groups = getattr(self.result, measure)[0].mean(axis=1)
        beside = np.concatenate(self._covariates[measure])
        return controlled_mean(groups, beside, references[measure], bounds=_MEASURES[measure])

    def evaluation(self, variant: str) -> Evaluation:
        """What it comes to."""
        result = self.result
        wins, points = self._controlled("wins"), self._controlled("points")
        control, warnings = None, list(thinness(result.num_deals, len(result.seatings)))
        if self.references is not None and wins is None:
            warnings.append(f"no control: it takes {self._least_deals} deals, and the match was stopped before")
        if self.references is not None and wins is not None and points is not None:
            stand_ins = tuple(tuple(make_agent(agent).name for agent in pair) for pair in self.references.control.pairs)
            control = Control(stand_ins, self.references.num_deals, wins, points)
        is_sequential = self.until is not None or self.sprt is not None
        mirroring = None
        if len(result.seatings) > 1 and result.num_deals > 1:
            mirroring = Mirroring(*(mirroring_saving(getattr(result, measure)[0]) for measure in _MEASURES))
        return Evaluation(
            variant,
            result.rules,
            result.num_deals,
            result.seed,
            len(result.seatings),
            tuple(_agent_result(self.names[number], result, number) for number in range(len(self.names))),
            mirroring,
            control,
            Stop(self.until, self.sprt, self.ratio, self.verdict) if is_sequential else None,
            tuple(warnings),
        )


def _plain(measure: str, result: MatchResult, agent: int) -> Interval:
    return mean_interval(getattr(result, measure)[agent].mean(axis=1), bounds=_MEASURES[measure])


def _agent_result(name: str, result: MatchResult, agent: int) -> AgentResult:
    decisions = int(result.decisions[agent])
    return AgentResult(
        name,
        _plain("wins", result, agent),
        _plain("points", result, agent),
        decisions,
        1000 * float(result.seconds[agent]) / decisions if decisions else None,
    )


def thinness(deals: int, num_seatings: int) -> tuple[str, ...]:
    """Warnings of what makes a result thin."""
    warnings = []
    if deals < FEW_DEALS:
        warnings.append(f"only {counted_deals(deals)}: intervals of fewer than {FEW_DEALS} are rough, and wide")
    if num_seatings == 1:
        warnings.append("one seat only: what is measured is the seat as much as the agent")
    return tuple(warnings)


def write_json(content: Any, path: str | Path) -> None:
    """Write JSON atomically.

    Raises:
        ValueError: for a number that JSON does not have, such as infinity.
    """
    write_atomically(Path(path), (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())
