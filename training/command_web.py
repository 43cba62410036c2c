"""The command ``web``."""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Any

from training.command_line import add_command
from training.command_play import OPPONENT, state_directory
from training.command_rules import add_rule_flags, are_rules_given, rules_of, rules_of_policies

__all__ = ["add_web"]

_PORT = 8421


def add_web(commands: Any) -> None:
    parser = add_command(commands, "web", _web, "play on a page in the browser, served by this machine to itself alone")
    add_rule_flags(parser, default="the rules that a trained opponent was trained for, else draw; others can be chosen")
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="AGENT",
        help="the others that are chosen at first (see: dominoes agents): one for all, or one a seat in turn order "
        f"(default: {OPPONENT})",
    )
    parser.add_argument("--hints", metavar="AGENT", help="who gives hints (default: the strongest that does not cheat)")
    parser.add_argument(
        "--port", type=int, default=_PORT, metavar="N", help="of 127.0.0.1; 0: any (default: %(default)s)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--games", metavar="DIR", help="save games here (default: a directory of the user's own)")
    parser.add_argument(
        "--pace", type=float, default=0.5, metavar="S", help="seconds between the others' moves (default: %(default)s)"
    )


def _web(arguments: argparse.Namespace) -> None:
    from dominoes_env.arguments import checked_integer, checked_number

    try:
        from agents.web.app import make_app
        from agents.web.server import serve
        from agents.web.shelf import Shelf
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; the page needs the extra `web`: pip install 'dominoes_env[web]'") from None
    from agents.advice import BEST_ADVISER, check_adviser

    pace = checked_number("--pace", arguments.pace, 0, 60)
    port = checked_integer("--port", arguments.port, 0, 65535)
    menu, adviser = _menu(arguments), check_adviser(arguments.hints or BEST_ADVISER)
    directory = _directory(arguments.games)

    def started(address: str) -> None:
        print(f"The page is at {address} (Ctrl-C stops it). Games are saved in {directory}.", flush=True)
        if arguments.open:
            webbrowser.open(address)

    serve(lambda hosts: make_app(Shelf(directory), menu, hosts, adviser=adviser, pace=pace), port, started)
    print("\nThe page is closed; its games are saved.", flush=True)
    if threading.active_count() > 1:  # an agent still thinks; nobody waits for it, and it would change nothing
        os._exit(0)


def _menu(arguments: argparse.Namespace) -> Any:
    from agents.catalog import make_agent
    from agents.web.menu import Menu

    names = arguments.against or [OPPONENT]
    _, rules = rules_of(arguments)
    asked = rules if are_rules_given(arguments) else None
    rules = rules_of_policies([make_agent(name) for name in names], asked) or rules
    others = rules.num_players - 1
    if len(names) not in (1, others):
        raise ValueError(f"--against {shlex.join(names)} is not allowed; allowed: one agent, or {others}")
    return Menu(rules, names)


def _directory(given: str | None) -> Path:
    """Where games are saved; one that is gone when the machine is started again if there is no home."""
    home = state_directory()
    directory = Path(given) if given else home / "web" if home else Path(tempfile.mkdtemp(prefix="dominoes-"))
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=directory):
        pass  # before there is a game to be lost
    return directory
