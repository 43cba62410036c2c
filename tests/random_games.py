"""Rule sets of every kind, and games played at random under them."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from invariants import PRESETS

from dominoes_env.engine.rules import KNOB_VALUES, Rules
from dominoes_env.engine.variants import make_rules
from dominoes_env.game import Game

KNOBS: dict[str, st.SearchStrategy[object]] = {
    **{knob: st.sampled_from(words) for knob, words in KNOB_VALUES.items()},
    "max_pip": st.integers(1, 9),
    "hand_size": st.integers(1, 8),
    "boneyard_reserve": st.integers(0, 2),
    "early_block": st.booleans(),
    "target": st.integers(1, 60),
    "max_rounds": st.integers(0, 4),
}

#: Knobs of ``partners`` with which a won block may cost points: the hands are rounded one by one.
PAYING: dict[str, Any] = {
    "hand_size": 3,
    "opening": "uniform",
    "end_scoring": "fives",
    "rounding": "each_hand",
    "award": "opponents_minus_own",
    "target": 20,
    "max_rounds": 8,
}
PARTNERS_WHO_PAY = (("partners", 4), PAYING)


@st.composite
def rule_sets(draw: st.DrawFn) -> Rules:
    """A preset for any number of players, or partners who may pay for a won block, up to three knobs changed."""
    (variant, num_players), base = draw(st.sampled_from([*((preset, {}) for preset in PRESETS), PARTNERS_WHO_PAY]))
    knobs = draw(st.lists(st.sampled_from(sorted(KNOBS)), max_size=3, unique=True))
    try:
        return make_rules(variant, num_players=num_players, **base | {knob: draw(KNOBS[knob]) for knob in knobs})
    except ValueError:
        assume(False)
        raise


def played(rules: Rules, seed: int, num_steps: int, episode: str = "match") -> Game:
    game = Game(rules=rules, seed=seed, episode=episode)  # type: ignore[arg-type]
    generator = random.Random(seed)
    for _ in range(num_steps):
        if game.is_over:
            break
        game.step(generator.choice(game.legal_actions))
    return game
