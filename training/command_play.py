"""The command ``play``."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from training.command_line import add_command, refuse_lost_output
from training.command_rules import add_rule_flags, are_rules_given, rules_of, rules_of_policies

__all__ = ["OPPONENT", "add_play", "state_directory"]

#: Against whom a person plays who does not say.
OPPONENT = "pimc:50"


def add_play(commands: Any) -> None:
    parser = add_command(commands, "play", _play, "play a game in the terminal against any agents")
    add_rule_flags(parser, default="the rules that a trained opponent was trained for, else draw")
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="AGENT",
        help=f"the others (see: dominoes agents): one for all, or one a seat in turn order (default: {OPPONENT})",
    )
    parser.add_argument(
        "--partner", metavar="AGENT", help="your partner, where there are teams (default: as the others)"
    )
    parser.add_argument("--seat", type=int, metavar="N", help="where you sit, from 0 (default: 0)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the deals and the agents' luck (default: drawn)")
    parser.add_argument("--episode", choices=("match", "round"), help="how much is played (default: match)")
    parser.add_argument("--hints", metavar="AGENT", help="who gives hints (default: the strongest that does not cheat)")
    parser.add_argument("--save", metavar="FILE", help="save here after each move (default: a file of the user's own)")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="FILE", help="go on with a saved game (default: the last)"
    )
    parser.add_argument("--lines", action="store_true", help="read lines and print lines, also on a terminal")
    parser.add_argument(
        "--pace", type=float, default=0.3, metavar="S", help="seconds between the others' moves (default: %(default)s)"
    )


def _play(arguments: argparse.Namespace) -> None:
    from agents.advice import BEST_ADVISER
    from agents.play import play_session
    from dominoes_env.arguments import checked_number

    pace = checked_number("--pace", arguments.pace, 0, 60)
    session, file, is_kept = _opened(arguments)
    adviser = arguments.hints or BEST_ADVISER
    is_over = play_session(session, save=file, adviser=adviser, pace=pace, keys=False if arguments.lines else None)
    if is_over and not is_kept and file is not None:
        file.unlink(missing_ok=True)
    elif not is_over and file is not None:
        print(f"\nThe game is saved. To go on: {shlex.join(['dominoes', 'play', '--resume', str(file)])}")
    elif not is_over:
        print("\nThe game is not saved: there is no place for it; --save FILE names one.")


def _opened(arguments: argparse.Namespace) -> tuple[Any, Path | None, bool]:
    """The session, the file that it is saved to, and whether the file is to stay once the game is over."""
    from agents.session import Session

    if arguments.resume is not None:
        given = [
            flag
            for flag in ("variant", "num_players", "rule", "against", "partner", "seat", "seed", "episode")
            if getattr(arguments, flag) not in (None, [])
        ]
        if given:
            flag = "--" + given[0].replace("_", "-")
            raise ValueError(f"{flag} is not allowed with --resume: the saved game says it; allowed: --save, --hints")
        source = Path(arguments.resume) if arguments.resume else _last_game()
        session = Session.load(source)
        file = source if arguments.save is None else Path(arguments.save)
        if file.resolve() != source.resolve():
            _refuse_taken(file)
        return session, file, file.parent != state_directory()
    session = _new_session(arguments)
    if arguments.save is None:
        return session, _default_file(session), False
    file = Path(arguments.save)
    _refuse_taken(file)
    return session, file, True


def _refuse_taken(file: Path) -> None:
    refuse_lost_output("--save", str(file))
    if file.exists():
        raise ValueError(f"--save {file} is not allowed: the file exists; --resume {file} goes on with a game in it")


def _new_session(arguments: argparse.Namespace) -> Any:
    from agents.catalog import make_agent
    from agents.session import Session

    names = arguments.against or [OPPONENT]
    _, rules = rules_of(arguments)
    extra = [arguments.partner] if arguments.partner else []
    trained_for = rules_of_policies(
        [make_agent(name) for name in names + extra], rules if are_rules_given(arguments) else None
    )
    rules = trained_for or rules
    seat = 0 if arguments.seat is None else arguments.seat
    others = [(seat + step) % rules.num_players for step in range(1, rules.num_players)]
    partner = (seat + 2) % rules.num_players
    if arguments.partner:
        if not rules.teams:
            raise ValueError(
                f"--partner {arguments.partner} is not allowed without teams; allowed: variants with teams"
            )
        others.remove(partner)
    if len(names) not in (1, len(others)):
        raise ValueError(f"--against {shlex.join(names)} is not allowed; allowed: one agent, or {len(others)}")
    opponents = dict(zip(others, names if len(names) > 1 else names * len(others), strict=True))
    if arguments.partner:
        opponents[partner] = arguments.partner
    return Session(rules, opponents, seat, arguments.seed, arguments.episode or "match")


def state_directory() -> Path | None:
    """Where games are saved that are not told where; None: there is no home."""
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dominoes"
    except RuntimeError:
        return None


def _default_file(session: Any) -> Path | None:
    from dominoes_env.engine.variants import describe_rules

    variant, _ = describe_rules(session.rules)
    directory = state_directory()
    if directory is None:
        return None
    file = directory / f"{variant}-{session.seed}.json"
    number = 1
    while file.exists():  # another game of this seed that has not been finished
        number += 1
        file = directory / f"{variant}-{session.seed}-{number}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        refuse_lost_output("--save", str(file))
    except OSError:
        return None
    return file


def _last_game() -> Path:
    directory = state_directory()
    games = [] if directory is None else sorted(directory.glob("*.json"), key=lambda file: file.stat().st_mtime)
    if not games:
        raise ValueError(f"--resume: there is no saved game in {directory}; allowed: a file")
    return games[-1]
