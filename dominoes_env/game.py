"""``Game``: a table of one with a human face. Tiles and actions are words, illegal moves are refused by name."""

from __future__ import annotations

import operator
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.archive import parse_record
from dominoes_env.arguments import MAX_SEED, checked_integer
from dominoes_env.engine.deal import deal_round, row_generator
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import exposed_count
from dominoes_env.engine.state import PLAYING, ROUND_OVER
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.engine.variants import choose_rules
from dominoes_env.notation import STATUS_WORDS, format_position, parse_position, seats_in
from dominoes_env.records import Record, make_record, replay
from dominoes_env.render.pixels import HEIGHT, WIDTH, PixelTheme, view_pixels
from dominoes_env.render.svg import Theme, view_svg
from dominoes_env.render.text import view_text
from dominoes_env.render.view import make_view
from dominoes_env.table import Episode, Table
from dominoes_env.words import format_action, format_tile, layout_line, parse_action

__all__ = ["Game"]


class Game:
    """One game, dealt and ready to be played: ``Game("draw", seed=7)``.

    Tiles are words (``"6-4"``), and so are actions (``"6-4"`` to lead, ``"6-4@1"``, ``"draw"``, ``"pass"``), which
    :meth:`step` also takes by id. In a match the next round is dealt in the step that ends the one before.

    Args:
        variant: a preset, see ``dominoes_env.VARIANTS``.
        num_players: 2, 3 or 4; None takes the preset's own number.
        rules: rules as they are, instead of a preset with overrides.
        seed: an integer in [0, 2**64); the same seed gives the same deals in every interface. None draws one.
        game_id: the number of the game under that seed.
        episode: ``"match"``: rounds up to the target; ``"round"``: the first round of a match.
        **overrides: knobs of ``Rules``.

    Raises:
        ValueError: for an argument that is not allowed; the message names it.
    """

    def __init__(
        self,
        variant: str = "draw",
        *,
        num_players: int | None = None,
        rules: Rules | None = None,
        seed: int | None = None,
        game_id: int = 0,
        episode: Episode = "match",
        **overrides: Any,
    ) -> None:
        self.rules = choose_rules(variant, num_players, rules, overrides)
        self.seed: int | None = secrets.randbits(63) if seed is None else checked_integer("seed", seed, 0, MAX_SEED)
        self.game_id = checked_integer("game_id", game_id, 0, MAX_SEED)
        self.table = Table(self.rules, seed=self.seed, game_ids=[self.game_id], episode=episode)
        self._rounds: list[tuple[str, tuple[int, ...]]] = []
        self._begin_round(self.table.states.copy(), ())

    @classmethod
    def from_position(cls, text: str, *, seed: int | None = None, episode: Episode = "match") -> Game:
        """A game that goes on from a position, a line as :attr:`position` gives it or written by hand.

        In a match a position whose round is over goes on with the next deal.

        Args:
            text: see :mod:`dominoes_env.notation`.
            seed: of the deals to come, where the line has no generator.
            episode: as in :class:`Game`.

        Raises:
            ValueError: naming what in the line cannot be.
        """
        rules, state, history = parse_position(text)
        if seed is not None:
            if state["generator"][0]:
                raise ValueError(f"seed={seed!r} is not allowed; allowed: None, the position has a generator")
            state["generator"] = row_generator(np.uint64(checked_integer("seed", seed, 0, MAX_SEED)), np.uint64(0))
        game = cls._bare(rules, episode)
        game._begin_round(state, history)
        game._go_on(state, history)
        return game

    @classmethod
    def from_record(cls, record: Record | str) -> Game:
        """The game that a record, or its text, tells, at its end; if that is not over it can be played on.

        Raises:
            ValueError: with the line and the reason, if the text is no sound record.
        """
        if isinstance(record, str):
            record = parse_record(record)
        if not isinstance(record, Record):
            raise ValueError(f"record={record!r} is not allowed; allowed: a Record, or its text")
        _, state, history = parse_position(record.rounds[-1].deal, record.rules)
        game = cls._bare(record.rules, record.episode)
        game.seed, game.game_id = record.seed, record.game_id
        game._begin_round(state, history)
        game._rounds = [(past.deal, past.actions) for past in record.rounds[:-1]]
        game._go_on(*replay(record))
        return game

    @classmethod
    def _bare(cls, rules: Rules, episode: Any) -> Game:
        """A game of no seed, in which a round is still to be begun."""
        game = cls(rules=rules, seed=0, episode=episode)
        game.seed = None
        return game

    def _begin_round(self, state: NDArray[Any], history: Sequence[int]) -> None:
        """Keep where the record of this round starts."""
        self._start = state.copy(), tuple(history)

    def _go_on(self, state: NDArray[Any], history: Sequence[int]) -> None:
        """Put a state on the table; in a match a round that is over is followed by the next deal."""
        state = state.copy()
        if state["status"][0] == ROUND_OVER and self.episode == "match":
            self._rounds.append((self._deal_line(), tuple(history)[len(self._start[1]) :]))
            deal_round(state[0], self.rules.row[0])
            history = ()
            self._begin_round(state, ())
        self.table.set_state(0, state, history)

    def _deal_line(self) -> str:
        return format_position(self.rules, *self._start, with_rules=False)

    # What lies on the table. Seats are numbers from 0.

    @property
    def episode(self) -> str:
        """``"round"`` or ``"match"``."""
        return self.table.episode

    @property
    def state(self) -> NDArray[Any]:
        """A copy of the whole state, (1,) ``STATE_DTYPE``."""
        return self.table.states.copy()

    @property
    def hands(self) -> tuple[tuple[str, ...], ...]:
        """Each seat's tiles, ascending by id."""
        hands = self.table.states["hands"][0, : self.rules.num_players]
        return tuple(tuple(map(format_tile, tiles_in(hand))) for hand in hands)

    @property
    def boneyard(self) -> tuple[str, ...]:
        """The boneyard in drawing order, the reserve last."""
        record = self.table.states[0]
        return tuple(format_tile(tile) for tile in record["pile"][: record["boneyard"]][::-1])

    @property
    def layout(self) -> str:
        """The line of play from end 0 to end 1, then the other arms: ``[6-1][1-6][6-6] + [6-2]``."""
        return layout_line(self.rules, self.history)

    @property
    def ends(self) -> dict[int, int]:
        """The number that a tile must show to be laid, by end; ends where nothing can be laid are left out."""
        ends = self.table.states["ends"][0]
        return {end: int(number) for end, number in enumerate(ends) if number >= 0}

    @property
    def exposed_count(self) -> int:
        """The sum over the open ends that All Fives and its kin score; 0 on an empty layout."""
        return int(exposed_count(self.table.states[0])) if self.table.states["laid"][0] else 0

    @property
    def history(self) -> tuple[int, ...]:
        """The actions of the round so far, by id; the starter took the first."""
        return tuple(self.table.round_history().tolist())

    @property
    def moves(self) -> tuple[str, ...]:
        """The actions of the round so far, as words."""
        return tuple(format_action(self.rules, action, is_lead=n == 0) for n, action in enumerate(self.history))

    @property
    def turn(self) -> int:
        """The seat that moves, once the game is over the seat that would."""
        return int(self.table.players[0])

    @property
    def starter(self) -> int:
        """The seat that leads this round."""
        return int(self.table.states["starter"][0])

    @property
    def round(self) -> int:
        """The number of this round, from 1."""
        return int(self.table.states["round"][0])

    @property
    def scores(self) -> tuple[int, ...]:
        """Of the match; where each books his own leftovers these are penalties."""
        return tuple(self.table.states["scores"][0, : self.rules.num_players].tolist())

    @property
    def lacking(self) -> tuple[tuple[int, ...], ...]:
        """The numbers that each seat has shown not to hold."""
        shown = self.table.states["lacking"][0, : self.rules.num_players]
        return tuple(tuple(n for n in range(self.rules.max_pip + 1) if int(bits) >> n & 1) for bits in shown)

    @property
    def status(self) -> str:
        """``playing``, ``round_over``, ``match_over`` or ``truncated``."""
        return STATUS_WORDS[self.table.states["status"][0]]

    @property
    def is_over(self) -> bool:
        """Whether the episode is over."""
        return bool(self.table.states["status"][0] != PLAYING)

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that won the episode, all tied ones of a round; empty while it lasts, or if it was truncated."""
        if not self.is_over:
            return ()
        return seats_in(self.table.states["round_winners" if self.episode == "round" else "match_winners"][0])

    # Play.

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions of the seat on turn by id; empty once the game is over."""
        return [] if self.is_over else np.flatnonzero(self.table.masks[0]).tolist()

    @property
    def legal_words(self) -> list[str]:
        """The same as words."""
        is_lead = not self.table.states["laid"][0]
        return [format_action(self.rules, action, is_lead=is_lead) for action in self.legal_actions]

    def step(self, action: int | str) -> tuple[int, ...]:
        """Take an action of the seat on turn, an id or a word; returns the points that each seat booked, penalties < 0.

        Raises:
            ValueError: if the action is not legal, naming it and what is; nothing has changed then.
        """
        chosen = self._action(action)
        before, history = self.table.states.copy(), self.history
        self.table.step(np.array([chosen]))
        if self.table.states["round"][0] != before["round"][0]:
            self._rounds.append((self._deal_line(), (*history, chosen)[len(self._start[1]) :]))
            self._begin_round(self.table.states, ())
        return tuple(self.table.points[0].tolist())

    def _action(self, action: Any) -> int:
        if self.is_over:
            raise ValueError(f"action {action!r}: the game is over")
        try:
            if isinstance(action, str):
                chosen = parse_action(self.rules, action)
                if "@" not in action and chosen < self.rules.draw_action and self.table.states["laid"][0]:
                    raise ValueError(f"action {action!r} does not say on which end, as in {action + '@1'!r}")
            elif isinstance(action, (bool, np.bool_)):
                raise TypeError
            else:
                chosen = operator.index(action)
            if not 0 <= chosen < self.rules.num_actions or not self.table.masks[0, chosen]:
                raise ValueError(f"action {action!r} is illegal for seat {self.turn}")
        except (TypeError, ValueError) as error:
            legal = ", ".join(f"{word} ({id})" for word, id in zip(self.legal_words, self.legal_actions, strict=True))
            reason = f"action {action!r} is neither a word nor an integer" if isinstance(error, TypeError) else error
            raise ValueError(f"{reason}; legal: {legal}") from None
        return chosen

    def observation(self, player: int | None = None) -> NDArray[np.int8]:
        """What a seat, by default the one on turn, observes: a fresh int8 vector, see ``observation_layout``."""
        return self.table.observe(0, self._seat(player))

    def mask(self, player: int | None = None) -> NDArray[np.int8]:
        """The legal actions of a seat, by default the one on turn: a fresh int8 0/1 vector.

        A seat that is not on turn, and every seat once the game is over, has exactly PASS.
        """
        return self.table.mask(0, self._seat(player))

    def concealed(self, player: int | None = None) -> NDArray[Any]:
        """What a seat, by default the one on turn, may know of the state: a fresh (1,) ``STATE_DTYPE`` array."""
        return self.table.concealed(0, self._seat(player))

    def _seat(self, player: int | None) -> int:
        return self.turn if player is None else self._checked_seat("player", player)

    def _checked_seat(self, name: str, seat: int) -> int:
        return checked_integer(name, seat, 0, self.rules.num_players - 1)

    # Texts.

    @property
    def position(self) -> str:
        """All of the game's state as one line, from which :meth:`from_position` gives it back. It hides nothing."""
        return format_position(self.rules, self.table.states, self.history)

    @property
    def record(self) -> Record:
        """The game so far; ``format_record`` in :mod:`dominoes_env.archive` gives its text."""
        current = self._deal_line(), self.history[len(self._start[1]) :]
        return make_record(
            self.rules, [*self._rounds, current], episode=self.episode, seed=self.seed, game_id=self.game_id
        )

    def view(self, player: int) -> str:
        """The table as one seat may see it: other hands and the boneyard are counts."""
        return self._text(self._seat(player))

    def __str__(self) -> str:
        return self._text(None)

    def _text(self, viewer: int | None) -> str:
        text = view_text(self.rules, self.table.states, self.history, viewer=viewer)
        if viewer is None and self.boneyard:
            text += f"\nboneyard in drawing order: {' '.join(self.boneyard)}"
        if viewer in (None, self.turn) and not self.is_over:
            text += f"\nlegal: {', '.join(self.legal_words)}"
        if self.status in ("match_over", "truncated"):
            winners = seats_in(self.table.states["match_winners"][0])
            won = " and ".join(f"player_{seat}" for seat in winners) or "nobody"
            text += f"\nthe match is over; won by {won}"
        return text

    def svg(self, viewer: int | None = None, *, theme: Theme = "auto", columns: float = 30) -> str:
        """The table as a picture, an ``<svg>`` element, as one seat may see it; None shows every hand.

        ``theme`` is ``"light"``, ``"dark"`` or as the reader's system asks; ``columns`` the width of the table in half
        tiles, 14 for a phone.
        """
        seat = None if viewer is None else self._checked_seat("viewer", viewer)
        return view_svg(make_view(self.rules, self.table.states, self.history, seat, columns=columns), theme=theme)

    def pixels(
        self, viewer: int | None = None, *, width: int = WIDTH, height: int | None = HEIGHT, theme: PixelTheme = "light"
    ) -> NDArray[np.uint8]:
        """The same as an array, uint8 (height, width, 3), see :func:`dominoes_env.render.pixels.view_pixels`; needs the
        extra ``render``."""
        seat = None if viewer is None else self._checked_seat("viewer", viewer)
        view = make_view(self.rules, self.table.states, self.history, seat)
        return view_pixels(view, width=width, height=height, theme=theme)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        return self.svg()

    def __repr__(self) -> str:
        return f"Game.from_position({self.position!r}, episode={self.episode!r})"

    # Copies. Rules are values, and are shared.

    def clone(self) -> Game:
        """A copy that shares nothing that can change."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        twin = Game.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin.table = self.table.__deepcopy__(memo)
        twin._rounds = list(self._rounds)
        return twin
