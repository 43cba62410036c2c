"""The engine against the reference engine over a great many games: ``python tests/soak.py --games 1000000``."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time

from reference_play import Disagreement, compare_games
from reference_rules import ALL_VALUES, COMBINED_VALUES, NEEDED, PRESETS, REWARDS, fitted, reconciled, small_target

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules

ROUNDS_OF_A_CHUNK = 200


def draw_rules(chooser: random.Random) -> Rules:
    """A preset as it is, a preset with one knob changed, or any combination of knobs, with equal chance."""
    while True:
        kind = chooser.randrange(3)
        variant, players = chooser.choice(PRESETS)
        rules = make_rules(variant, num_players=players)
        if kind == 1:
            knob = chooser.choice(list(ALL_VALUES))
            start = rules
            if chooser.random() < 0.5:
                start = rules.replace(max_pip=4, hand_size=min(3, rules.hand_size), **NEEDED.get(knob, {}))
            changed = fitted(start, knob, chooser.choice(ALL_VALUES[knob]))
            if changed is None:
                continue
            rules = changed
        elif kind == 2:
            knobs = {knob: chooser.choice(values) for knob, values in COMBINED_VALUES.items()}
            try:
                rules = Rules(**reconciled(knobs))  # type: ignore[arg-type]
            except ValueError:
                continue
        if kind < 2 and chooser.random() < 0.5:
            rules = rules.replace(target=small_target(rules))
        return rules


def soak(task: tuple[int, int, int]) -> tuple[int, str]:
    """Compares one chunk of games; how many rounds there were, and the disagreement, if any."""
    seed, chunk, rounds = task
    chooser = random.Random(f"{seed}:{chunk}")
    rules = draw_rules(chooser)
    options = {
        "episode": chooser.choice(("round", "match")),
        "reward": chooser.choice(REWARDS),
        "history": chooser.random() < 0.2,
        "is_rearranged": chooser.random() < 0.4,
        "autoreset": chooser.random() < 0.4,
    }
    try:
        played = compare_games(rules, min(20, rounds), rounds=rounds, seed=chooser.randrange(2**32), **options)
    except (Disagreement, AssertionError, ValueError) as fault:
        return 0, f"--seed {seed}, chunk {chunk}: {fault!r}"
    return played.rounds, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1_000_000, help="rounds to compare (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other games (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    arguments = parser.parse_args()
    chunks = -(-arguments.games // ROUNDS_OF_A_CHUNK)
    tasks = ((arguments.seed, chunk, min(ROUNDS_OF_A_CHUNK, arguments.games)) for chunk in range(chunks))
    begun = time.monotonic()
    done = faults = 0
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
        for number, (rounds, fault) in enumerate(pool.imap_unordered(soak, tasks), 1):
            done += rounds
            if fault:
                faults += 1
                print(f"\n{fault}\n", flush=True)
            if number % 50 == 0 or number == chunks:
                print(f"{done:,} games agree, {faults} chunks do not, {time.monotonic() - begun:.0f} s", flush=True)
            if faults >= 10:
                pool.terminate()
                break
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
