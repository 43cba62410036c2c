"""Writes the pages of this folder that are made from the code: ``make docs``. A test holds them against it."""

from __future__ import annotations

from pathlib import Path

from agents.catalog import CATALOG
from dominoes_env.engine.rules import KNOB_MEANINGS, RULES_VERSION, Rules, allowed_values
from dominoes_env.engine.variants import VARIANTS, Variant, make_rules
from dominoes_env.envs.open_state import state_layout
from dominoes_env.observation import OBSERVATION_VERSION, Piece, hidden_layout, observation_layout, observation_size

_FROM_CODE = "*Made from the code by `make docs`.*"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def variants_page() -> str:
    """The rule sheets, and every knob."""
    defaults = Rules().to_dict()
    knobs = [[f"`{name}`", f"`{defaults[name]}`", KNOB_MEANINGS[name], allowed_values(name)] for name in defaults]
    return "\n\n".join(
        [
            "# The games and their rules",
            _FROM_CODE,
            "A variant is a value: a name for choices of the knobs at the end of this page (rules version "
            f"{RULES_VERSION}). `dominoes_env.make_rules(NAME, num_players=..., KNOB=VALUE)` makes the rules of one, "
            "`--rule KNOB=VALUE` does on the command line.",
            *(_sheet(variant) for variant in VARIANTS.values()),
            "## All knobs",
            _table(["knob", "default", "meaning", "allowed"], knobs),
        ]
    )


def _sheet(variant: Variant) -> str:
    defaults = Rules().to_dict()
    knobs = make_rules(variant.name).to_dict()
    own = ", ".join(f"`{name}={value}`" for name, value in knobs.items() if value != defaults[name])
    hands = ", ".join(f"{players} players: {tiles} tiles" for players, tiles in variant.hand_sizes.items())
    return (
        f"## `{variant.name}`: {variant.title}\n\n{variant.sheet}\n\nHands: {hands}.\n\n"
        f"Differs from the defaults in: {own or 'nothing'}."
    )


def _pieces_table(layout: dict[str, Piece]) -> str:
    return _table(
        ["piece", "entries", "shape", "values", "meaning"],
        [
            [
                f"`{piece.name}`", f"{piece.start}–{piece.stop - 1}" if piece.size > 1 else str(piece.start),
                " × ".join(map(str, piece.shape)), f"{piece.low} to {piece.high}", piece.meaning,
            ]
            for piece in layout.values()
        ],
    )  # fmt: skip


def observations_page() -> str:
    """The pieces of observations, of what is hidden, and the actions."""
    shown = [("draw", 2), ("all_fives", 2), ("partners", 4)]
    sections = []
    for name, players in shown:
        rules = make_rules(name, num_players=players)
        sections += [
            f"## `{name}`, {players} players: {observation_size(rules)} entries, {rules.num_actions} actions",
            _pieces_table(observation_layout(rules)),
        ]
    draw = make_rules("draw")
    history = observation_layout(draw, history=True)["history"]
    sizes = [
        [f"`{name}`", *(str(observation_size(make_rules(name, num_players=n))) if n in variant.hand_sizes else ""
                        for n in (2, 3, 4)), str(make_rules(name).num_actions)]
        for name, variant in VARIANTS.items()
    ]  # fmt: skip
    return "\n\n".join(
        [
            "# What a player sees",
            _FROM_CODE,
            f"An observation is a flat int8 vector of named pieces (version {OBSERVATION_VERSION}), egocentric: seats "
            "count from the observer's own, in the order of play. `dominoes_env.observation_layout(rules)` is this "
            "table as a value, `dominoes_env.read_piece(rules, observation, NAME)` one piece in its shape. Which "
            "pieces there are, and how large, follows from the rules; tile ids are `high * (high + 1) / 2 + low`, "
            "whatever the set.",
            *sections,
            "## The history",
            f"With `history=True` one more piece closes the vector: `history`, {history.meaning}. For `draw` that is "
            f"{history.shape[0]} × {history.shape[1]} entries more.",
            "## What a player does not see",
            "`Table.hidden`, for critics that training shows more than the players; here `draw`, 2 players:",
            _pieces_table(hidden_layout(draw)),
            "PettingZoo's `env.state()` shows all at once, from no seat:",
            _pieces_table(state_layout(draw)),
            "## Actions",
            "`end * num_tiles + tile`, then DRAW, then PASS; an id means the same move in every state. A lead uses end "
            "0 and opens end 0 with its low half, end 1 with its high half. In `draw` there are "
            f"{draw.num_tiles} tiles and {draw.num_ends} ends, so DRAW is {draw.draw_action} and PASS "
            f"{draw.pass_action}. A tile on the spinner takes the lowest arm not yet begun.",
            "## Lengths",
            _table(["variant", "2 players", "3 players", "4 players", "actions"], sizes),
        ]
    )


def agents_page() -> str:
    """The agents by name, with their arguments."""
    parts = [
        "# The agents",
        _FROM_CODE,
        "A name with arguments is `NAME[:VALUE][:KEY=VALUE,...]`; one bare value is the first argument. It is taken by "
        "every command, and by `agents.make_agent`.",
    ]
    for entry in CATALOG.values():
        parts.append(f"## `{entry.name}`\n\n{entry.meaning[0].upper()}{entry.meaning[1:]}.")
        if entry.parameters:
            rows = [[f"`{parameter.name}`", parameter.meaning] for parameter in entry.parameters]
            parts.append(f"`{entry.usage}`\n\n{_table(['argument', 'meaning'], rows)}")
    return "\n\n".join(parts)


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    made = {"variants.md": variants_page(), "observations.md": observations_page(), "agents.md": agents_page()}
    return {name: text + "\n" for name, text in made.items()}


if __name__ == "__main__":
    for page, words in pages().items():
        (Path(__file__).parent / page).write_text(words, encoding="utf-8")
