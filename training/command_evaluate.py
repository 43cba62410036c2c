"""The command ``evaluate``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from training.command_line import add_command, refuse_lost_outputs
from training.command_rules import add_rule_flags, are_rules_given, flags_of, rules_of, rules_of_policies

__all__ = [
    "add_agents_flag",
    "add_deal_flags",
    "add_evaluate",
    "add_match_flags",
    "agents_and_rules",
    "opened_store",
    "tell_resumed",
]


def add_agents_flag(parser: argparse.ArgumentParser) -> None:
    """The agents of a match, by name."""
    parser.add_argument(
        "agents",
        nargs="+",
        metavar="AGENT",
        help="names (see: dominoes agents) or run directories (their best policy; RUN/policy.json is the last)",
    )


def add_deal_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of all that plays mirrored deals: which, by which rules, and how the work is cut."""
    add_rule_flags(parser, default="the rules that a trained agent was trained for, else draw")
    for flag, default, letter, meaning in (
        ("--deals", 1000, "N", "deals, each played once a seating"),
        ("--seed", 0, "N", "seed of deals and decisions"),
        ("--workers", 1, "W", "processes that play; they change no figure but the clock's"),
        ("--chunk", 250, "N", "deals of a chunk, the unit of work"),
    ):
        parser.add_argument(flag, type=int, default=default, metavar=letter, help=f"{meaning} (default: %(default)s)")


def add_match_flags(parser: argparse.ArgumentParser) -> None:
    """The same, and where results go."""
    add_deal_flags(parser)
    parser.add_argument("--out", metavar="DIR", help="keep finished chunks; the same command goes on with them")
    parser.add_argument("--json", metavar="FILE", help="write the result to a file too")


def add_evaluate(commands: Any) -> None:
    parser = add_command(commands, "evaluate", _evaluate, "play mirrored deals and print how the first agent does")
    add_agents_flag(parser)
    add_match_flags(parser)
    parser.add_argument("--one-seat", action="store_true", help="play each deal once, the first agent in seat 0")
    group = parser.add_argument_group(
        "stopping early", "looked at after each chunk; --deals are then the most that are played"
    )
    group.add_argument(
        "--until", type=float, metavar="WIDTH", help="stop at this half width of the win rate: 0.01 is 1 %%"
    )
    group.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("ELO0", "ELO1"),
        help="stop when it is known which of the two Elo differences is nearer the truth: 0 10",
    )
    for flag, meaning in (("--alpha", "ELO1 where ELO0 is true"), ("--beta", "ELO0 where ELO1 is true")):
        group.add_argument(flag, type=float, metavar="P", help=f"how often --sprt accepts {meaning} (default: 0.05)")
    group = parser.add_argument_group("less luck")
    group.add_argument(
        "--control",
        nargs="*",
        metavar="AGENT",
        help="take off the luck that cheap stand-ins show on the same deals: A B [C D ...], a pair each "
        "(without any: the rules of thumb)",
    )
    group.add_argument(
        "--control-deals",
        type=int,
        metavar="N",
        help="deals from which the stand-ins' own means are known (default: 20 for each deal played, at least 20000)",
    )


def agents_and_rules(arguments: argparse.Namespace) -> tuple[list[Any], str, Any]:
    """The agents by name, checked, and the variant and rules that flags or trained agents give."""
    from agents.catalog import make_agent
    from agents.learned import LearnedAgent
    from agents.policy_file import BEST_NAME, POLICY_NAME
    from dominoes_env.engine.variants import describe_rules

    variant, rules = rules_of(arguments)
    if len(arguments.agents) == 1:
        raise ValueError(f"agents={arguments.agents[0]!r} is not allowed; allowed: at least two agents")
    refuse_lost_outputs(arguments)
    players = [make_agent(agent) for agent in arguments.agents]
    for player in players:
        if isinstance(player, LearnedAgent) and player.source is not None and player.source.stem == BEST_NAME:
            last = player.source.with_stem(POLICY_NAME)
            print(f"{player.name} is its best policy on the ladder, {player.source}; the last one is {last}")
    is_given = are_rules_given(arguments)
    trained_for = rules_of_policies(players, rules if is_given else None)
    if not is_given and trained_for is not None:
        rules, variant = trained_for, describe_rules(trained_for)[0]
        print(f"the rules are those of the policy: {flags_of(rules)}")
    return list(arguments.agents), variant, rules


def opened_store(arguments: argparse.Namespace) -> Any:
    """The store in ``--out``, or None."""
    from training.chunk_store import ChunkStore

    return None if arguments.out is None else ChunkStore(arguments.out)


def tell_resumed(store: Any) -> None:
    """Say how much was there already."""
    if store is not None and store.num_found:
        print(f"{store.num_found:,} finished chunks were in {store.path}", file=sys.stderr)


def _stand_ins(names: Sequence[str] | None, reference_deals: int | None) -> Any:
    from agents.catalog import make_agent
    from training.stand_ins import StandIns

    if names is None:
        if reference_deals is not None:
            raise ValueError(f"--control-deals {reference_deals} is not allowed without --control")
        return None
    if len(names) % 2:
        raise ValueError(
            f"--control {' '.join(names)} is not allowed; allowed: pairs of agents, such as flexible greedy"
        )
    for name in names:
        make_agent(name)
    return StandIns(tuple(zip(names[::2], names[1::2], strict=True)), reference_deals)


def _evaluate(arguments: argparse.Namespace) -> None:
    from training.evaluate import evaluate, write_json
    from training.sequential import Sprt
    from training.text_tables import DealsLine

    agents, variant, rules = agents_and_rules(arguments)
    rates = {name: getattr(arguments, name) for name in ("alpha", "beta") if getattr(arguments, name) is not None}
    for name, rate in rates.items():
        if arguments.sprt is None:
            raise ValueError(f"--{name} {rate} is not allowed without --sprt")
    sprt = None if arguments.sprt is None else Sprt(*arguments.sprt, **rates)
    control = _stand_ins(arguments.control, arguments.control_deals)
    store = opened_store(arguments)
    with DealsLine(arguments.deals) as line:

        def show_references(done: int, wanted: int) -> None:
            line.add(0, f"; the stand-ins {done:,} of {wanted:,}")

        result = evaluate(
            agents,
            rules,
            arguments.deals,
            seed=arguments.seed,
            variant=variant,
            progress=line.add,
            mirrored=not arguments.one_seat,
            chunk=arguments.chunk,
            workers=arguments.workers,
            store=store,
            until=arguments.until,
            sprt=sprt,
            control=control,
            reference_progress=show_references,
        )
    tell_resumed(store)
    print(result)
    if arguments.json is not None:
        write_json(result.to_dict(), arguments.json)
