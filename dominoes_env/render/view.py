"""What one seat may see of a game, as a value. The drawings get nothing else, and so can give nothing else away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dominoes_env.engine.information import known_tiles
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import exposed_count
from dominoes_env.engine.state import MATCH_OVER, PLAYING, TRUNCATED
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.render.layout import Layout, lay_out
from dominoes_env.words import STATUS_WORDS, format_action, seats_in

__all__ = ["LastMove", "SeatView", "View", "make_view"]


@dataclass(frozen=True)
class SeatView:
    """A seat as the viewer sees it."""

    seat: int
    name: str
    hand: tuple[int, ...]
    """The tiles that are shown, by id, ascending: all of the viewer's own, of others those that everybody knows."""
    num_hidden: int
    """The tiles in the hand that are not shown."""
    score: int
    round_points: int
    """The part of the score that was booked in this round."""
    is_mover: bool
    """Whether the seat is to move; never once the round is over."""
    is_winner: bool
    """Whether the seat has won: the match if that is over, else the round."""
    lacking: tuple[int, ...]
    """The numbers that the seat has shown not to hold, ascending."""

    @property
    def count(self) -> int:
        """The tiles in the hand."""
        return len(self.hand) + self.num_hidden


@dataclass(frozen=True)
class LastMove:
    """What was done last in the round."""

    seat: int
    word: str
    """As actions are written: ``6-4@1``, ``draw``, ``pass``."""
    box: int | None
    """The laid tile's index among the boxes; None for a draw or a pass."""


@dataclass(frozen=True)
class View:
    """A game as one seat, or everybody, may see it. Equal views give equal drawings."""

    rules: Rules
    viewer: int | None
    """The seat that looks; None: all hands are shown."""
    history: tuple[int, ...]
    """The actions of the round, which are public."""
    starter: int
    """The seat that leads the round."""
    layout: Layout
    seats: tuple[SeatView, ...]
    boneyard: int
    """Tiles in the boneyard."""
    pile: tuple[int, ...]
    """The boneyard in drawing order; only where no seat looks and the state tells it, else empty."""
    ends: dict[int, int]
    """The number that a tile must show to be laid, by open end."""
    exposed_count: int | None
    """The sum over the open ends; None under rules that do not score it."""
    last_move: LastMove | None
    status: str
    """A word of ``STATUS_WORDS``."""
    winners: tuple[int, ...]
    """The seats that won: the match if that is over, else the round; empty while it lasts."""
    round: int
    is_lost: bool
    """The episode ended in mid-round by an illegal action."""

    @property
    def mover(self) -> int | None:
        """The seat that is to move; None once nobody is."""
        return next((seat.seat for seat in self.seats if seat.is_mover), None)

    @property
    def is_over(self) -> bool:
        """Whether the round is over."""
        return self.status != STATUS_WORDS[PLAYING]

    def mover_of(self, move: int) -> int:
        """The seat that took the action at a place of the history."""
        return _mover_of(self.rules, self.starter, self.history, move)

    @property
    def last_move_text(self) -> str:
        """What was done last, as a sentence without a full stop; empty before the lead."""
        if self.last_move is None:
            return ""
        name, (tile, _, end) = self.seats[self.last_move.seat].name, self.last_move.word.partition("@")
        if tile == "draw":
            return f"{name} drew a tile"
        if tile == "pass":
            return f"{name} passed"
        return f"{name} laid {tile} on end {end}" if end else f"{name} led {tile}"

    @property
    def status_text(self) -> str:
        """Who is to move, or how it ended, as a sentence without a full stop."""
        if self.status == STATUS_WORDS[TRUNCATED]:
            return "the match ended undecided"
        if self.is_over:
            won = " and ".join(self.seats[seat].name for seat in self.winners) or "nobody"
            return f"the {'match' if self.status == STATUS_WORDS[MATCH_OVER] else 'round'} is over; won by {won}"
        if self.mover is None:
            return "the game was ended by an illegal action"
        return f"{self.seats[self.mover].name} is to {'move' if self.layout.boxes else 'lead'}"


def make_view(
    rules: Rules,
    state: NDArray[Any],
    history: Sequence[int],
    viewer: int | None = None,
    *,
    is_lost: bool = False,
    columns: float = 30,
    names: Sequence[str] = (),
) -> View:
    """What ``viewer`` may see.

    Args:
        rules: the rules of the game.
        state: its record, shape (1,), dtype ``STATE_DTYPE``; it may be concealed.
        history: the actions of the round, in order.
        viewer: the seat that looks; nothing that is hidden from it is in the view. None shows every hand.
        is_lost: the episode ended in mid-round by an illegal action, so that nobody is marked as the mover.
        columns: the width of the table, see :func:`lay_out`.
        names: of the players by seat; none: ``player_0`` and so on.
    """
    record, history = state[0], tuple(map(int, history))
    num_players = rules.num_players
    is_match_over = record["status"] == MATCH_OVER
    is_played = record["status"] == PLAYING
    winners = seats_in(record["match_winners" if is_match_over else "round_winners"])
    layout = lay_out(rules, history, columns=columns)
    seats = []
    for seat in range(num_players):
        is_shown = viewer is None or viewer == seat
        hand = tuple(tiles_in(record["hands"][seat] if is_shown else known_tiles(record, seat)))
        seats.append(
            SeatView(
                seat=seat,
                name=names[seat] if names else f"player_{seat}",
                hand=hand,
                num_hidden=int(record["hand_counts"][seat]) - len(hand),
                score=int(record["scores"][seat]),
                round_points=int(record["round_points"][seat]),
                is_mover=bool(is_played and record["turn"] == seat and not is_lost),
                is_winner=not is_played and seat in winners,
                lacking=tuple(n for n in range(rules.max_pip + 1) if int(record["lacking"][seat]) >> n & 1),
            )
        )
    pile = tuple(int(tile) for tile in record["pile"][: record["boneyard"]][::-1]) if viewer is None else ()
    counts_ends = rules.end_scoring in ("fives", "threes", "fives_and_threes")
    return View(
        rules=rules,
        viewer=viewer,
        history=history,
        starter=int(record["starter"]),
        layout=layout,
        seats=tuple(seats),
        boneyard=int(record["boneyard"]),
        pile=pile if all(tile >= 0 for tile in pile) else (),
        ends={end: int(number) for end, number in enumerate(record["ends"]) if number >= 0},
        exposed_count=(int(exposed_count(record)) if layout.boxes else 0) if counts_ends else None,
        last_move=_last_move(rules, int(record["starter"]), history, len(layout.boxes) - 1),
        status=STATUS_WORDS[record["status"]],
        winners=() if is_played else winners,
        round=int(record["round"]),
        is_lost=is_lost,
    )


def _last_move(rules: Rules, starter: int, history: Sequence[int], last_box: int) -> LastMove | None:
    if not history:
        return None
    action = history[-1]
    word = format_action(rules, action, is_lead=len(history) == 1 and action < rules.num_tiles)
    seat = _mover_of(rules, starter, history, len(history) - 1)
    return LastMove(seat, word, last_box if action < rules.draw_action else None)


def _mover_of(rules: Rules, starter: int, history: Sequence[int], move: int) -> int:
    turns = sum(action != rules.draw_action for action in history[:move])  # a draw leaves the turn where it is
    return (starter + turns) % rules.num_players
