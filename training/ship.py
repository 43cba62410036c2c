"""From a run to a player in the box: its policy, measured on deals that no run has seen, and its card."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import agents.box
from agents.atomic import write_atomically
from agents.box import CARD_SUFFIX, header_digest
from agents.catalog import CATALOG
from agents.learned import LearnedAgent
from agents.policy_file import Policy, find_policy, load_policy, save_policy
from dominoes_env import __version__
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.engine.variants import describe_rules
from dominoes_env.observation import OBSERVATION_VERSION
from training.evaluate import evaluate
from training.evaluation import Evaluation
from training.intervals import Interval
from training.ladder import check_opponents
from training.league import RULES_OF_THUMB
from training.run_directory import Run, read_run

__all__ = ["MOST_BYTES", "SHIP_SEED", "card_text", "ship"]

#: What a player may weigh.
MOST_BYTES = 2_000_000
#: Seeds the deals of a card's ladder; no training looks at them.
SHIP_SEED = 77_000
_HEADER_BYTES = 20_000  # more than any header has


def ship(
    run_path: str | Path,
    name: str,
    *,
    opponents: Sequence[str] = RULES_OF_THUMB,
    deals: int = 10_000,
    seed: int = SHIP_SEED,
    limits: Sequence[str] = (),
    machine: str | None = None,
    box: Path | None = None,
    workers: int = 1,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Measure the policy of a run (the best one, where it has a ladder) and put it, with a card, into the box.

    Each file is written atomically, the card last; the card of a player that is replaced goes first. Whatever happens
    in between, no card lies beside a policy that it does not describe.

    Args:
        run_path: the run directory.
        name: what the player is to be called; one of that name is replaced.
        opponents: agents by name, each met over ``deals`` mirrored deals.
        deals: mirrored deals an opponent.
        seed: of these deals.
        limits: what else to say of what the player cannot do, a sentence each.
        machine: what the run was trained on; None: what the run itself noted.
        box: another directory than the package's own.
        workers: processes that play; they change no figure.
        progress: called with the number of deals just finished.

    Returns:
        The card, as it was written.

    Raises:
        FileNotFoundError: if there is no run or no policy.
        ValueError: for a name that is no plain word, an opponent that cannot play, or a policy that is damaged, too
            large or of another version.
    """
    box = agents.box.BOX if box is None else box
    _check_name(name)
    checked_integer("deals", deals, 2)
    run = read_run(run_path)
    source = find_policy(run.path)
    policy = load_policy(source)
    if policy.rules != run.rules:
        raise ValueError(f"{source} was trained for other rules than {run.path} says")
    size = sum(array.nbytes for array in (*policy.weights, *policy.biases)) + _HEADER_BYTES
    if size > MOST_BYTES:
        raise ValueError(f"{source} would weigh {size:,} bytes; allowed: at most {MOST_BYTES:,}")
    check_opponents(opponents, run.rules)
    agent = LearnedAgent(policy)
    agent.name = f"learned:{name}"
    results = [
        evaluate([agent, opponent], run.rules, deals, seed=seed, workers=workers, progress=progress)
        for opponent in opponents
    ]
    about = {key: value for key, value in policy.about.items() if key != "ladder"}
    text_file, card_file = box / f"{name}.card.md", box / f"{name}{CARD_SUFFIX}"
    for file in (card_file, text_file):
        file.unlink(missing_ok=True)
    header = save_policy(replace(policy, about={**about, "name": name}), box, name)
    card = {
        "name": name,
        "variant": describe_rules(run.rules)[0],
        "rules": run.rules.to_dict(),
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "package_version": __version__,
        "header_sha256": header_digest(header),
        "trained": {**_training(run, policy, machine), "policy": source.stem},
        "network": {
            "sizes": policy.sizes,
            "activation": policy.activation,
            "bytes": header.stat().st_size + header.with_suffix(".npz").stat().st_size,
        },
        "ladder": [_rung(result) for result in results],
        "ladder_command": f"dominoes evaluate learned:{name} OPPONENT --deals {deals} --seed {seed}",
        "limits": [*_own_limits(run.rules), *limits],
    }
    write_atomically(text_file, card_text(card).encode())
    write_atomically(card_file, (json.dumps(card, indent=2, allow_nan=False) + "\n").encode())
    return card


def _training(run: Run, policy: Policy, machine: str | None) -> dict[str, Any]:
    """How it was trained, as far as run and policy say; None where they do not."""
    origin, about = run.origin, policy.about
    return {
        "command": origin.get("command"),
        "preset": origin.get("preset"),
        "algorithm": about.get("algorithm"),
        "minutes": about.get("minutes"),
        "decisions": about.get("decisions"),
        "seed": run.config.seed,
        "config": run.config.to_dict(),
        "began": origin.get("began"),
        "resumed": len(origin.get("resumed", [])),
        "git": origin.get("git"),
        "versions": origin.get("versions"),
        "machine": machine or origin.get("machine"),
    }


def _check_name(name: str) -> None:
    is_word = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    if not is_word or name in CATALOG:
        raise ValueError(f"name={name!r} is not allowed; allowed: letters, digits, - and _, and no agent's name")


def _own_limits(rules: Rules) -> list[str]:
    variant, knobs = describe_rules(rules)
    words = ", ".join(f"{knob}={value}" for knob, value in knobs.items())
    return [
        f"It plays by these rules alone, to the last knob: {variant}, {words}.",
        "It was trained on single rounds at 0-0: it has never seen the later scores of a match.",
        "It takes its most probable action: who knows it can foresee it. `mode=sample` draws by its probabilities.",
    ]


def _rung(result: Evaluation) -> dict[str, Any]:
    return {
        "opponent": result.agents[1],
        "deals": result.deals,
        "seed": result.seed,
        "win_rate": result.win_rate.to_dict(),
        "points": result.points.to_dict(),
        "fair_share": result.fair_share,
    }


def card_text(card: dict[str, Any]) -> str:
    """A card as Markdown."""
    trained, network = card["trained"], card["network"]
    git = trained["git"]
    commit = "no checkout" if not git else f"commit {git['commit'][:12]}{', changed' if git['dirty'] else ''}"
    versions = ", ".join(f"{package} {version}" for package, version in (trained["versions"] or {}).items())
    lines = [
        f"# `learned:{card['name']}`",
        "",
        f"A player of `{card['variant']}` for {card['rules']['num_players']} players (rules version "
        f"{card['rules_version']}, observation version {card['observation_version']}).",
        "",
        "## How it was trained",
        "",
        f"- command: `{trained['command']}`" + (f", resumed {trained['resumed']} times" if trained["resumed"] else ""),
        f"- {_known(trained['minutes'], ',.1f')} minutes, {_known(trained['decisions'], ',')} decisions, "
        f"seed {trained['seed']}, on {trained['machine']}",
        f"- {trained['algorithm']}; the {'best' if trained['policy'] == 'best' else 'last'} policy of the run",
        f"- network {' x '.join(map(str, network['sizes']))} ({network['activation']}), {network['bytes']:,} bytes",
        f"- {commit}; {versions}",
        "",
        "## How it does",
        "",
        f"`{card['ladder_command']}`; ± is the 95 % interval over mirrored deals, a tie counts ½.",
        "",
        "| against | deals | win rate | points a deal |",
        "|---|---|---|---|",
    ]
    for rung in card["ladder"]:
        win, points = (Interval(**rung[name]) for name in ("win_rate", "points"))
        lines.append(
            f"| `{rung['opponent']}` | {rung['deals']:,} | {100 * win.mean:.1f} % ± {100 * win.half_width:.1f} | "
            f"{points.mean:+.2f} ± {points.half_width:.2f} |"
        )
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in card["limits"])]
    return "\n".join(lines) + "\n"


def _known(value: Any, form: str) -> str:
    return "unknown" if value is None else format(value, form)
