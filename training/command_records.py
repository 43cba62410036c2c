"""The commands ``record``, ``replay`` and ``render``: games into a file, and out of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from dominoes_env.records import Record
from training.command_evaluate import add_agents_flag, add_deal_flags, agents_and_rules
from training.command_line import add_command, refuse_lost_output

__all__ = ["add_record", "add_render", "add_replay"]


# record


def add_record(commands: Any) -> None:
    parser = add_command(commands, "record", _record, "play mirrored deals and write every game to a file")
    add_agents_flag(parser)
    add_deal_flags(parser)
    parser.add_argument("--one-seat", action="store_true", help="play each deal once, the first agent in seat 0")
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="JSON lines, a game a line; replaced only once all games are played, and the same command goes on with "
        "what it has (FILE.*.part)",
    )


def _record(arguments: argparse.Namespace) -> None:
    from training.recording import record_games
    from training.text_tables import ProgressLine

    agents, _, rules = agents_and_rules(arguments)
    refuse_lost_output("--out", arguments.out)
    began, found = time.monotonic(), 0
    with ProgressLine() as line:

        def show(deals: int, is_found: bool) -> None:
            nonlocal found
            if is_found:
                found = deals
                print(f"{deals:,} of {arguments.deals:,} deals were played before", file=sys.stderr)
                return
            rate = (deals - found) / max(time.monotonic() - began, 1e-9)
            line.show(f"{deals:,} of {arguments.deals:,} deals, {rate:,.0f} a second")

        games = record_games(
            agents,
            rules,
            arguments.deals,
            arguments.out,
            seed=arguments.seed,
            mirrored=not arguments.one_seat,
            chunk=arguments.chunk,
            workers=arguments.workers,
            progress=show,
        )
    seconds = time.monotonic() - began
    size = os.path.getsize(arguments.out)
    print(f"{arguments.out}: {games:,} games of {arguments.deals:,} deals, {size:,} bytes, in {seconds:.1f} s")


# replay


def _add_file_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a record as text, or JSON lines")
    parser.add_argument("--game", type=int, metavar="N", help="the N-th game of the file, from 1 (default: the first)")
    parser.add_argument("--viewer", type=int, metavar="SEAT", help="show only what this seat sees, from 0")
    parser.add_argument(
        "--recover",
        action="store_true",
        help="of a damaged record show its longest sound beginning, of damaged JSON lines the sound ones",
    )


def add_replay(commands: Any) -> None:
    parser = add_command(commands, "replay", _replay, "step through recorded games")
    _add_file_flags(parser)
    parser.add_argument(
        "--all", action="store_true", help="print all positions, as is done where the output is no terminal"
    )


def _replay(arguments: argparse.Namespace) -> None:
    from agents.terminal import has_keys
    from training.replaying import Walk, print_games, step_through

    messages: list[str] = []
    is_plain = arguments.all or not has_keys(sys.stdin, sys.stdout)

    def tell(message: str) -> None:
        if is_plain:
            print(message, file=sys.stderr)
        else:
            messages.append(message)

    records = _opened(arguments, tell)
    _refuse_missing(records, arguments)
    walk = Walk(records, game=(arguments.game or 1) - 1, viewer=arguments.viewer)
    if is_plain:
        print_games(walk, sys.stdout, only_one=arguments.game is not None)
    else:
        step_through(walk, messages=messages)


def _opened(arguments: argparse.Namespace, report: Callable[[str], object]) -> Sequence[Record]:
    from dominoes_env.record_file import open_records

    return open_records(arguments.file, recover=arguments.recover, report=report)


def _refuse_missing(records: Sequence[Record], arguments: argparse.Namespace) -> None:
    if not records:
        raise ValueError(f"{arguments.file}: there is no sound record in it")
    if arguments.game is None:
        return
    try:
        if arguments.game < 1:
            raise IndexError
        records[arguments.game - 1]
    except IndexError:
        raise ValueError(f"--game {arguments.game} is not allowed; allowed: 1 to {len(records):,}") from None


# render


def add_render(commands: Any) -> None:
    parser = add_command(commands, "render", _render, "draw a recorded game, or a position of it")
    _add_file_flags(parser)
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help=".svg or .png: a position; .gif: the game as a film; .html: a page to step through it, without a network",
    )
    parser.add_argument(
        "--move",
        type=int,
        metavar="M",
        help="the position, by the number that replay gives it: 0 is the deal (default: the last)",
    )
    parser.add_argument(
        "--theme", choices=("auto", "light", "dark"), help="auto: as the reader's system (default: auto; pixels: light)"
    )


def _render(arguments: argparse.Namespace) -> None:
    suffix = Path(arguments.out).suffix.lower()
    if suffix not in _DRAWERS:
        raise ValueError(f"--out {arguments.out} is not allowed; allowed: a file that ends in {', '.join(_DRAWERS)}")
    if arguments.move is not None and suffix in (".gif", ".html"):
        raise ValueError(f"--move {arguments.move} is not allowed with {suffix}, which shows the whole game")
    if arguments.theme is not None and suffix == ".html":
        raise ValueError(f"--theme {arguments.theme} is not allowed with .html, which follows the reader's system")
    if arguments.theme == "auto" and suffix in (".png", ".gif"):
        raise ValueError(f"--theme auto is not allowed with {suffix}; allowed: light, dark")
    refuse_lost_output("--out", arguments.out)
    records = _opened(arguments, lambda message: print(message, file=sys.stderr))
    _refuse_missing(records, arguments)
    record = records[(arguments.game or 1) - 1]
    n = record.rules.num_players
    if arguments.viewer is not None and not 0 <= arguments.viewer < n:
        raise ValueError(f"--viewer {arguments.viewer} is not allowed; allowed: 0 to {n - 1}")
    with _replacing(arguments.out) as path:
        _DRAWERS[suffix](path, record, arguments)
    print(arguments.out)


def _view(record: Record, arguments: argparse.Namespace) -> Any:
    """The view of the position that is asked for."""
    from dominoes_env.render.frames import record_views

    count = sum(len(past.actions) + 1 for past in record.rounds)
    move = count - 1 if arguments.move is None else arguments.move
    if not 0 <= move < count:
        raise ValueError(f"--move {move} is not allowed; allowed: 0 to {count - 1}")
    return next(islice(record_views(record, arguments.viewer), move, None))


def _draw_svg(path: Path, record: Record, arguments: argparse.Namespace) -> None:
    from dominoes_env.render.svg import view_svg

    path.write_text(view_svg(_view(record, arguments), theme=arguments.theme or "auto"), encoding="utf-8")


def _draw_png(path: Path, record: Record, arguments: argparse.Namespace) -> None:
    from dominoes_env.render.pixels import save_png

    save_png(path, _view(record, arguments), theme=arguments.theme or "light")


def _draw_gif(path: Path, record: Record, arguments: argparse.Namespace) -> None:
    from dominoes_env.render.pixels import save_gif

    save_gif(path, record, viewer=arguments.viewer, theme=arguments.theme or "light")


def _draw_html(path: Path, record: Record, arguments: argparse.Namespace) -> None:
    from dominoes_env.render.html import record_html

    path.write_text(record_html(record, viewer=arguments.viewer), encoding="utf-8")


_DRAWERS = {".svg": _draw_svg, ".png": _draw_png, ".gif": _draw_gif, ".html": _draw_html}


@contextmanager
def _replacing(file: str) -> Iterator[Path]:
    """A path to write to; what is there takes the place of ``file``, or of what it links to, if all goes well."""
    path = Path(os.path.realpath(file))
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
