"""Action ids: ``end * tiles + tile`` for a play, then DRAW, then PASS. An id means the same move in every state.

A lead on an empty layout uses end 0; it opens end 0 with its low half and end 1 with its high half. A tile on the
spinner takes the lowest arm that has not begun.
"""

from __future__ import annotations

from dominoes_env.engine.rules import Rules

__all__ = ["decode_action", "encode_play"]


def encode_play(rules: Rules, tile: int, end: int) -> int:
    """The id of laying ``tile`` (a tile id) on ``end``.

    Raises:
        ValueError: if the set has no such tile or the rules no such end.
    """
    if not 0 <= tile < rules.num_tiles:
        raise ValueError(f"tile={tile} is not allowed; allowed: 0 to {rules.num_tiles - 1}")
    if not 0 <= end < rules.num_ends:
        raise ValueError(f"end={end} is not allowed; allowed: 0 to {rules.num_ends - 1}")
    return end * rules.num_tiles + tile


def decode_action(rules: Rules, action: int) -> tuple[int, int] | str:
    """``(tile, end)`` of a play, ``"draw"`` or ``"pass"``.

    Raises:
        ValueError: if ``action`` lies outside the action space.
    """
    if not 0 <= action < rules.num_actions:
        raise ValueError(f"action={action} is not allowed; allowed: 0 to {rules.num_actions - 1}")
    if action == rules.draw_action:
        return "draw"
    if action == rules.pass_action:
        return "pass"
    end, tile = divmod(int(action), rules.num_tiles)
    return tile, end
