"""The result of ``dominoes bench`` as aligned tables."""

from __future__ import annotations

from collections.abc import Sequence

from training.bench import BenchResult
from training.contenders import Contender
from training.text_tables import aligned

__all__ = ["bench_tables"]

#: Load a core, a minute's average, above which other programs are to be mentioned.
_BUSY = 0.4


def bench_tables(result: BenchResult) -> str:
    """All that was measured, for people."""
    config, machine = result.config, result.machine
    lines = [
        f"{config.variant}, {config.rules.num_players} players: random legal play with mask and full observation",
        f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, NumPy {machine['numpy']}, "
        f"Numba {machine['numba']}; best of {config.rounds} slices in turn, {config.seconds_each:g} s each in all",
        "",
    ]
    rows: list[tuple[str, ...]] = [("", "game", "players", "games", "threads", "steps/s", "a core")]
    rows += [_row(contender) for contender in result.contenders]
    lines += aligned(rows, 2)
    lines += ["", "ratios (the better figure on a noisy machine)", *aligned(_ratio_rows(result))]
    lines += ["", "the engine by games side by side, steps/s", *aligned(_growth_rows(result.growth), 0)]
    lines += ["", "seconds in a fresh process", *aligned(_compile_rows(result))]
    parts = ", ".join(f"{name} {size}" for name, size in result.bytes_a_game.items() if name != "all")
    lines += ["", f"bytes a game: {result.bytes_a_game['all']} ({parts})"]
    if result.training is not None:
        settings = result.training
        lines.append(
            f"MaskablePPO: {100 * settings['share']:.1f} % of the time in the environment, "
            f"{settings['decisions_per_second']:,.0f} decisions/s (net 64 x 64, {settings['rows']} rows, "
            f"batch {settings['batch']:,}, {settings['epochs']} epochs, one core)"
        )
    for name, pip in result.missing.items():
        lines.append(f"{name}: not installed (pip install {pip})")
    if (machine["load_before"] or 0) > _BUSY * machine["cores"]:
        lines.append(
            f"the machine was busy before this run (load {machine['load_before']}); threads and rates suffer from it"
        )
    lines.append(f"all of it took {result.took:.0f} s")
    return "\n".join(lines)


def _row(contender: Contender) -> tuple[str, ...]:
    rate = contender.steps_per_second
    return (
        contender.name,
        contender.variant,
        str(contender.num_players),
        f"{contender.num_envs:,}",
        str(contender.threads),
        f"{rate:,.0f}",
        f"{rate / contender.threads:,.0f}",
    )


def _ratio_rows(result: BenchResult) -> list[tuple[str, ...]]:
    return [(name, f"{ratio:,.2f}" if ratio < 100 else f"{ratio:,.0f}") for name, ratio in result.ratios.items()]


def _growth_rows(growth: Sequence[Contender]) -> list[list[str]]:
    columns = list(dict.fromkeys((one.num_players, one.threads) for one in growth))
    rates = {(one.num_envs, one.num_players, one.threads): one.steps_per_second for one in growth}
    rows = [["games", *(f"{n} players" + (f", {t} threads" if t > 1 else "") for n, t in columns)]]
    for batch in dict.fromkeys(one.num_envs for one in growth):
        rows.append([f"{batch:,}", *(f"{rates[batch, n, t]:,.0f}" for n, t in columns)])
    return rows


def _compile_rows(result: BenchResult) -> list[list[str]]:
    rows = [["", "import", "to the first step", "to the first play"]]
    for name, meaning in (("cold", "no cache"), ("warm", "from the cache")):
        seconds = result.compile[name]
        if seconds is not None:
            rows.append([meaning, *(f"{value:.2f}" for value in seconds.values())])
    return rows
