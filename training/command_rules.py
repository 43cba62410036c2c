"""The flags of every command that takes a game: ``--variant``, ``--num-players``, and ``--rule`` as often as wanted."""

from __future__ import annotations

import argparse
from typing import Any

from dominoes_env.engine.rules import Rules, parse_knob
from dominoes_env.engine.variants import VARIANTS, make_rules

__all__ = ["add_rule_flags", "are_rules_given", "rules_of"]

_DEFAULT_VARIANT = "draw"


def add_rule_flags(parser: argparse.ArgumentParser, *, with_variant: bool = True) -> None:
    """Add the three flags, or but the last two where the variant is given otherwise."""
    group = parser.add_argument_group("the game")
    names = ", ".join(VARIANTS)
    if with_variant:
        group.add_argument("--variant", metavar="NAME", help=f"one of {names} (default: {_DEFAULT_VARIANT})")
    group.add_argument("--num-players", type=int, metavar="N", help="2, 3 or 4 (default: the variant's own)")
    group.add_argument(
        "--rule", action="append", default=[], metavar="KNOB=VALUE", help="change a rule; may be repeated"
    )


def are_rules_given(arguments: argparse.Namespace) -> bool:
    """Whether any of the three flags was used."""
    return arguments.variant is not None or arguments.num_players is not None or bool(arguments.rule)


def rules_of(arguments: argparse.Namespace) -> tuple[str, Rules]:
    """The name of the variant and the rules that the flags give.

    Raises:
        ValueError: naming the flag or knob, its value and what is allowed.
    """
    variant = arguments.variant or _DEFAULT_VARIANT
    knobs: dict[str, Any] = {}
    for text in arguments.rule:
        name, separator, value = text.partition("=")
        if not separator:
            raise ValueError(f"--rule {text!r} is not allowed; allowed: KNOB=VALUE, such as target=50")
        if name in knobs:
            raise ValueError(f"--rule gives {name} twice")
        knobs[name] = parse_knob(name, value)
    num_players = knobs.pop("num_players", arguments.num_players)
    if arguments.num_players not in (None, num_players):
        raise ValueError(f"--num-players {arguments.num_players} contradicts --rule num_players={num_players}")
    return variant, make_rules(variant, num_players=num_players, **knobs)
