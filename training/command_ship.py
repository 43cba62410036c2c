"""The command ``ship``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from training.command_line import add_command

__all__ = ["add_ship"]


def add_ship(commands: Any) -> None:
    parser = add_command(commands, "ship", _ship, "measure a run's policy and put it, with a card, into the box")
    parser.add_argument("run_path", metavar="RUN", help="run directory")
    parser.add_argument("--name", metavar="NAME", help="what it is to be called (default: the run's preset)")
    for flag, default, letter, meaning in (
        ("--deals", 10_000, "N", "mirrored deals an opponent"),
        ("--workers", 1, "W", "processes that play; they change no figure"),
    ):
        parser.add_argument(flag, type=int, default=default, metavar=letter, help=f"{meaning} (default: %(default)s)")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of these deals (default: one that no run looks at)")
    parser.add_argument(
        "--against", nargs="+", metavar="AGENT", help="opponents (default: random greedy doubles flexible)"
    )
    parser.add_argument("--limit", action="append", default=[], metavar="TEXT", help="one more sentence for its limits")
    parser.add_argument("--machine", metavar="TEXT", help="what it was trained on (default: what the run noted)")
    parser.add_argument("--box", metavar="DIR", help="another directory than the package's agents/policies")


def _preset_of(run: Any) -> str | None:
    """The preset that a run was made from, if it is a run of that preset's game."""
    from training.presets import PRESETS

    name = run.origin.get("preset")
    return name if name in PRESETS and PRESETS[name].wishes.rules()[1] == run.rules else None


def _ship(arguments: argparse.Namespace) -> None:
    import agents.box
    from training.league import RULES_OF_THUMB
    from training.run_directory import read_run
    from training.ship import SHIP_SEED, card_text, ship
    from training.text_tables import ProgressLine

    name = _preset_of(read_run(arguments.run_path)) if arguments.name is None else arguments.name
    if name is None:
        raise ValueError("--name is missing: the run has no preset of its own rules to be called after")
    box = agents.box.BOX if arguments.box is None else Path(arguments.box)
    if not box.is_dir():
        raise FileNotFoundError(f"--box {box}: there is no such directory")
    opponents = tuple(arguments.against or RULES_OF_THUMB)
    played = 0
    with ProgressLine() as line:

        def show(deals: int) -> None:
            nonlocal played
            played += deals
            line.show(f"{played:,} of {len(opponents) * arguments.deals:,} deals")

        card = ship(
            arguments.run_path,
            name,
            opponents=opponents,
            deals=arguments.deals,
            seed=SHIP_SEED if arguments.seed is None else arguments.seed,
            limits=arguments.limit,
            machine=arguments.machine,
            box=box,
            workers=arguments.workers,
            progress=show,
        )
    print(card_text(card))
    print(f"shipped as {box / name}.npz, .json, .card.json and .card.md")
