"""The flags of every command that takes a game: ``--variant``, ``--num-players``, and ``--rule`` as often as wanted."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any

from agents.base import Agent
from agents.learned import LearnedAgent
from dominoes_env.engine.rules import Rules, parse_knob
from dominoes_env.engine.variants import VARIANTS, describe_rules, get_variant, make_rules

__all__ = ["add_rule_flags", "are_rules_given", "flags_of", "given_rules", "rules_of", "rules_of_policies"]

_DEFAULT_VARIANT = "draw"


def add_rule_flags(
    parser: argparse.ArgumentParser, *, with_variant: bool = True, default: str = _DEFAULT_VARIANT
) -> None:
    """Add the three flags, or but the last two where the variant is given otherwise; ``default`` is for the help."""
    group = parser.add_argument_group("the game")
    names = ", ".join(VARIANTS)
    if with_variant:
        group.add_argument("--variant", metavar="NAME", help=f"one of {names} (default: {default})")
    group.add_argument("--num-players", type=int, metavar="N", help="2, 3 or 4 (default: the variant's own)")
    group.add_argument(
        "--rule", action="append", default=[], metavar="KNOB=VALUE", help="change a rule; may be repeated"
    )


def are_rules_given(arguments: argparse.Namespace) -> bool:
    """Whether any of the three flags was used."""
    return arguments.variant is not None or arguments.num_players is not None or bool(arguments.rule)


def given_rules(arguments: argparse.Namespace) -> tuple[str | None, int | None, dict[str, Any]]:
    """What the flags say: a variant, a number of players (None: nothing), and knobs.

    Raises:
        ValueError: naming the flag or knob, its value and what is allowed.
    """
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
    return arguments.variant, num_players, knobs


def rules_of(arguments: argparse.Namespace) -> tuple[str, Rules]:
    """The name of the variant and the rules that the flags give, the draw game's where they say nothing.

    Raises:
        ValueError: naming the flag or knob, its value and what is allowed.
    """
    variant, num_players, knobs = given_rules(arguments)
    variant = variant or _DEFAULT_VARIANT
    return variant, make_rules(variant, num_players=num_players, **knobs)


def flags_of(rules: Rules) -> str:
    """The flags that give ``rules``, quoted for a shell."""
    variant, knobs = describe_rules(rules)
    words = ["--variant", variant]
    if knobs.pop("num_players") != get_variant(variant).num_players:
        words += ["--num-players", str(rules.num_players)]
    for knob, value in knobs.items():
        words += ["--rule", f"{knob}={value}"]
    return shlex.join(words)


def rules_of_policies(agents: Sequence[Agent], asked: Rules | None) -> Rules | None:
    """The rules that trained players among ``agents`` were trained for; None if there is none.

    Raises:
        ValueError: if one was trained for others than ``asked`` or than another one; the flags that fit are named.
    """
    learned = [agent for agent in agents if isinstance(agent, LearnedAgent)]
    rules = asked if asked is not None or not learned else learned[0].policy.rules
    for agent in learned:
        assert rules is not None
        try:
            agent.check_rules(rules)
        except ValueError as error:
            raise ValueError(f"{error}; the flags that fit it: {flags_of(agent.policy.rules)}") from None
    return rules if learned else None
