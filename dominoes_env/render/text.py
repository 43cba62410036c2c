"""A game as text, for all to see or as one seat may see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from dominoes_env.engine.information import known_tiles
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import PLAYING
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.words import format_tile, layout_line, rules_text

__all__ = ["view_text"]


def view_text(
    rules: Rules, state: NDArray[Any], history: Sequence[int], *, viewer: int | None = None, is_lost: bool = False
) -> str:
    """The table as a few lines of text, without a line break at the end.

    Args:
        rules: the rules of the game.
        state: its record, shape (1,), dtype ``STATE_DTYPE``.
        history: the actions of the round, in order.
        viewer: the seat that looks; nothing that is hidden from it is in the text. None shows every hand.
        is_lost: the episode ended in mid-round by an illegal action, so that nobody is marked as the mover.
    """
    record = state[0]
    ends = [f"{end}: {number}" for end, number in enumerate(record["ends"]) if number >= 0]
    lines = [
        f"{rules_text(rules)} | round {record['round']}",
        f"layout    {layout_line(rules, history)}",
        f"ends      {', '.join(ends) if ends else 'none'}",
        f"boneyard  {record['boneyard']}",
    ]
    for seat in range(rules.num_players):
        is_shown = viewer is None or viewer == seat
        known = tiles_in(record["hands"][seat] if is_shown else known_tiles(record, seat))
        hand = " ".join(map(format_tile, known))
        count = int(record["hand_counts"][seat])
        if len(known) < count:
            hand = f"{hand} and {count - len(known)} hidden" if known else "hidden"
        is_mover = record["status"] == PLAYING and record["turn"] == seat and not is_lost
        lines.append(
            f"{'>' if is_mover else ' '} player_{seat}  score {record['scores'][seat]}  "
            f"{count} {'tile' if count == 1 else 'tiles'}{': ' + hand if count else ''}"
        )
    if record["status"] != PLAYING:
        winners = [f"player_{seat}" for seat in range(4) if int(record["round_winners"]) >> seat & 1]
        lines.append(f"the round is over; won by {' and '.join(winners) if winners else 'nobody'}")
    return "\n".join(lines)
