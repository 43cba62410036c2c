"""What happens at a table, one thing after the other, as those who sit there see it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from agents.counts import Count

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """Something that happened at the table. All may know all of it but ``drawn``: see :meth:`seen_by`."""

    kind: str
    """``deal``, ``play``, ``draw``, ``pass``, ``round`` (a round is over) or ``match`` (the match is)."""
    round: int
    """The number of the round."""
    seat: int | None = None
    """Who moved; of ``deal`` who leads; of ``round`` who went out, None: nobody."""
    action: int | None = None
    """Of moves: its id."""
    word: str = ""
    """Of moves: its word."""
    count: Count | None = None
    """Of plays, where open ends score: what it scored."""
    drawn: str | None = None
    """Of draws by a person: the tile, for his eyes alone."""
    points: tuple[int, ...] = ()
    """Of ``round``: what each seat booked for the hands that were left, penalties negative, without the last play's."""
    round_points: tuple[int, ...] = ()
    """Of ``round``: all that each seat booked in it; penalties are positive, as in the scores."""
    scores: tuple[int, ...] = ()
    """Of ``round`` and ``match``: of the match."""
    hands: tuple[tuple[str, ...], ...] = ()
    """Of ``round``: what each seat had left, laid open."""
    pips: tuple[int, ...] = ()
    """Of ``round``: the pips of these hands."""
    is_blocked: bool = False
    """Of ``round``: whether nobody could move any more."""
    winners: tuple[int, ...] = ()
    """Of ``round`` and ``match``: the seats that won, tied ones all; none: nobody has."""
    status: str = ""
    """Of ``round`` and ``match``: a word of ``STATUS_WORDS``."""

    def seen_by(self, seat: int | None) -> Event:
        """The same without what a seat (None: somebody who sits in none) may not know."""
        return self if self.drawn is None or self.seat == seat else replace(self, drawn=None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what there is to be said, and the text of the count."""
        fields = {name: value for name, value in asdict(self).items() if value or (value == 0 and value is not False)}
        return {**fields, "count_text": str(self.count)} if self.count else fields
