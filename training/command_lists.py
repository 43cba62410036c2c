"""The commands that list what there is: ``variants`` and ``agents``."""

from __future__ import annotations

import argparse
from typing import Any

from training.command_line import add_command
from training.command_rules import add_rule_flags, rules_of

__all__ = ["add_agents", "add_variants"]


def add_variants(commands: Any) -> None:
    parser = add_command(commands, "variants", _variants, "list the games, or print one game's rule sheet")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a variant")
    add_rule_flags(parser, with_variant=False)


def _variants(arguments: argparse.Namespace) -> None:
    import textwrap

    from dominoes_env.engine.rules import KNOB_MEANINGS, Rules, allowed_values
    from dominoes_env.engine.variants import get_variant, make_rules

    if arguments.name is None:
        _list_variants(arguments)
        return
    variant = get_variant(arguments.name)
    arguments.variant = arguments.name
    _, rules = rules_of(arguments)
    knobs, defaults = rules.to_dict(), Rules().to_dict()
    preset = make_rules(variant.name, num_players=rules.num_players).to_dict()
    print(f"{variant.name}: {variant.title}\n\n{textwrap.fill(variant.sheet, 88)}\n")
    marks = "* differs from the default"
    if knobs != preset:
        print("The sheet describes the preset; the knobs below are what is played.")
        marks += ", ! from the preset"
    print(f"The rules for {rules.num_players} players ({marks}); --rule KNOB=VALUE changes one:")
    for knob, value in knobs.items():
        mark = "!" if value != preset[knob] else "*" if value != defaults[knob] else " "
        print(f"  {mark} {f'{knob}={value}':28} {KNOB_MEANINGS[knob]} [{allowed_values(knob)}]")


def _list_variants(arguments: argparse.Namespace) -> None:
    from dominoes_env.engine.variants import VARIANTS

    if arguments.rule:
        raise ValueError(
            f"--rule {arguments.rule[0]!r} is not allowed without a variant; allowed: dominoes variants NAME"
        )
    if arguments.num_players not in (None, 2, 3, 4):
        raise ValueError(f"num_players={arguments.num_players!r} is not allowed; allowed: 2, 3, 4")
    for name, variant in VARIANTS.items():
        if arguments.num_players in (None, *variant.hand_sizes):
            print(f"{name:17} {'/'.join(map(str, variant.hand_sizes)):7} players   {variant.title}")
    print("\nA game's sheet and its rules by name: dominoes variants NAME")


def add_agents(commands: Any) -> None:
    add_command(commands, "agents", _agents, "list the agents and their arguments")


def _agents(arguments: argparse.Namespace) -> None:
    from agents.box import box_names
    from agents.catalog import CATALOG

    del arguments
    for entry in CATALOG.values():
        print(f"{entry.name:12} {entry.meaning}")
        if entry.parameters:
            print(f"{'':12} {entry.usage}")
        for parameter in entry.parameters:
            print(f"{'':14} {parameter.name:12} {parameter.meaning}")
    print("\nThe path of a run directory or of a policy file is a trained player too.")
    if names := box_names():
        print("\nTrained players in the box, each with a card beside it:")
        for name in names:
            print(f"  {f'learned:{name}':24} {_summary(name)}")


def _summary(name: str) -> str:
    """A card in a line; what is wrong with it where it cannot be read, so that the list goes on."""
    from agents.box import read_card

    try:
        card = read_card(name)
        rungs = (f"{100 * rung['win_rate']['mean']:.1f} % v {rung['opponent']}" for rung in card["ladder"])
        return f"{card['variant']}, {card['rules']['num_players']} players; {', '.join(rungs)}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"({error})"
