"""A second engine, for the tests alone: slow, in lists and sets, written from the rule sheet, sharing only ``Rules``.

Tiles are pairs ``(low, high)``. The layout is kept as the tiles that lie there, arm by arm and the way they are
turned, so that the halves that touch can be looked at. Nothing here deals: a :class:`Deal` is given from outside, and
:func:`faults_of_deal` says whether the opening rule allows it. It is one file of more than 400 lines so that it reads
in one go beside the rule sheet.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import combinations

from dominoes_env.engine.rules import Rules

Tile = tuple[int, int]
Piece = list[int]

PLAYING, ROUND_OVER, MATCH_OVER, TRUNCATED = range(4)
NOTHING = -1


def make_set(max_pip: int) -> list[Tile]:
    """Every tile of a double-``max_pip`` set; a tile's place in the list is its id."""
    return [(low, high) for high in range(max_pip + 1) for low in range(high + 1)]


def is_double(tile: Tile) -> bool:
    return tile[0] == tile[1]


def heaviness(tile: Tile) -> tuple[int, int]:
    """What "the heaviest tile" compares: the sum, then the higher half."""
    return sum(tile), tile[1]


# ---------------------------------------------------------------------------------------------------------- deals


@dataclass
class Deal:
    """One deal: hands by seat, the boneyard with the tile drawn next in front, and what the opening rule said."""

    hands: list[list[Tile]]
    boneyard: list[Tile]
    starter: int
    is_lead_forced: bool
    lots: list[Tile | None] = field(default_factory=list)


def lot_value(rules: Rules, tile: Tile) -> tuple[int, int]:
    """What two lots compare by; equal values are a tie."""
    if rules.lots_key == "double_first" and is_double(tile):
        return 1, tile[0]
    return 0, sum(tile)


def can_win_lots(rules: Rules, lots: list[Tile], starter: int) -> bool:
    """Whether the lots kept in the end can have made ``starter`` lead.

    A tied player's tile goes back and he draws again, so the lots in hand may come from several drawings; an early
    loser may then hold a better tile than the winner, but never one as good as the tie he lost to.
    """
    tiles = make_set(rules.max_pip)

    def reachable(contenders: frozenset[int]) -> bool:
        """Whether the drawing among ``contenders`` can end as seen, the lots of all the others lying fast."""
        others = contenders - {starter}
        if all(lot_value(rules, lots[starter]) > lot_value(rules, lots[seat]) for seat in others):
            return True
        for size in range(2, len(contenders)):  # a tie of all of them changes nothing: they just draw again
            for tied in map(frozenset, combinations(sorted(contenders), size)):
                losers = contenders - tied
                gone = {lots[seat] for seat in range(rules.num_players) if seat not in tied}
                values = [lot_value(rules, tile) for tile in tiles if tile not in gone]
                beaten = [
                    value
                    for value in set(values)
                    if values.count(value) >= size and all(lot_value(rules, lots[seat]) < value for seat in losers)
                ]
                if starter in tied and beaten and reachable(tied):
                    return True
        return False

    return reachable(frozenset(range(rules.num_players)))


def faults_of_deal(rules: Rules, deal: Deal, next_leads: frozenset[int] = frozenset()) -> list[str]:
    """Why the rules exclude ``deal``; empty if they allow it.

    ``next_leads`` are the seats of which the round before lets one lead; none: the round opens as a first round.
    """
    faults = []
    players = range(rules.num_players)
    dealt = sorted(tile for hand in [*deal.hands, deal.boneyard] for tile in hand)
    if dealt != sorted(make_set(rules.max_pip)):
        faults.append("the tiles dealt are not the set, each once")
    if [len(hand) for hand in deal.hands] != [rules.hand_size] * rules.num_players:
        faults.append("a hand has the wrong size")
    if deal.starter not in players:
        return [*faults, f"no seat {deal.starter}"]
    keeps_lots = not next_leads and rules.opening == "lots_keep"
    if any(lot is not None for lot in deal.lots) != keeps_lots:
        faults.append("lots are kept by a rule that keeps none, or the other way round")
    if next_leads:
        if deal.starter not in next_leads:
            faults.append(f"seat {deal.starter} leads, not one of {sorted(next_leads)}")
        if deal.is_lead_forced:
            faults.append("a lead by the round before is free")
        return faults
    if deal.is_lead_forced != (rules.opening in ("lots_keep", "highest_double", "heaviest", "set_double")):
        faults.append(f"opening={rules.opening} with is_lead_forced={deal.is_lead_forced}")
    held = [tile for hand in deal.hands for tile in hand]
    own = deal.hands[deal.starter]
    wanted = None
    if rules.opening == "seat_0" and deal.starter != 0:
        faults.append("not seat 0 leads")
    elif rules.opening == "lots_keep":
        if any(deal.lots[seat] not in deal.hands[seat] for seat in players):
            faults.append("a kept lot is not in its player's hand")
        elif not can_win_lots(rules, deal.lots, deal.starter):
            faults.append("the lots do not let the starter lead")
    elif rules.opening == "heaviest":
        wanted = max(held, key=heaviness)
    elif rules.opening in ("highest_double", "set_double"):
        doubles = [tile for tile in held if is_double(tile)]
        if rules.opening == "set_double":
            doubles = [tile for tile in doubles if tile[0] == rules.max_pip]
        if doubles:
            wanted = max(doubles)
        elif rules.no_double == "redeal":
            faults.append("nobody holds the double: this should have been dealt anew")
        else:
            wanted = max(held, key=heaviness)
    if wanted is not None and wanted not in own:
        faults.append(f"seat {deal.starter} leads without holding {wanted}")
    return faults


# --------------------------------------------------------------------------------------------------------- layout


class Layout:
    """The tiles on the table. Arms 0 and 1 go out from the lead's low and high half, 2 and 3 from the spinner."""

    def __init__(self, spinner_rule: str) -> None:
        self.spinner_rule = spinner_rule
        self.lead: Tile | None = None
        self.arms: list[list[tuple[int, int]]] = [[], [], [], []]  # each tile as (number inside, number outside)
        self.spinner: int | None = None
        self.spinner_place: tuple[int, int] | None = None  # arm and place in it; None: the lead, or there is none

    def tiles(self) -> list[Tile]:
        laid = [(min(halves), max(halves)) for arm in self.arms for halves in arm]
        return laid if self.lead is None else [self.lead, *laid]

    def arms_beyond_spinner(self) -> dict[int, list[tuple[int, int]]]:
        """The free sides of the spinner by the arm that leaves there, with the tiles that lie on it."""
        if self.spinner is None:
            return {}
        if self.spinner_place is None:
            return dict(enumerate(self.arms))
        arm, place = self.spinner_place
        return {arm: self.arms[arm][place + 1 :], 2: self.arms[2], 3: self.arms[3]}

    def tip(self, arm: int) -> tuple[int, bool] | None:
        """Number and doubleness of the tile at the end of ``arm``; None where nothing, or only the spinner, lies."""
        beyond = self.arms_beyond_spinner()
        if self.lead is None or (arm in beyond and not beyond[arm]) or (arm > 1 and not beyond):
            return None
        if not self.arms[arm]:
            return self.lead[arm], is_double(self.lead)
        inside, outside = self.arms[arm][-1]
        return outside, inside == outside

    def numbers(self) -> list[int | None]:
        """What a tile must show to go on each arm; of the spinner's free sides only the lowest is offered."""
        shown: list[int | None] = []
        is_spinner_offered = False
        for arm in range(4):
            tip = self.tip(arm)
            if tip is not None:
                shown.append(tip[0])
            elif self.spinner is not None and not is_spinner_offered:
                shown.append(self.spinner)
                is_spinner_offered = True
            else:
                shown.append(None)
        return shown

    def lay(self, tile: Tile, arm: int) -> None:
        if self.lead is None:
            self.lead = tile
            if is_double(tile) and self.spinner_rule != "none":
                self.spinner = tile[0]
            return
        inside = self.numbers()[arm]
        assert inside in tile, f"{tile} does not fit {inside}"
        self.arms[arm].append((inside, tile[1] if tile[0] == inside else tile[0]))
        if is_double(tile) and self.spinner_rule == "first_double" and self.spinner is None:
            self.spinner = tile[0]
            self.spinner_place = arm, len(self.arms[arm]) - 1

    def count(self) -> int:
        """The sum over the open ends."""
        if self.lead is None:
            return 0
        if not any(self.arms):
            return sum(self.lead)  # a lone double counts both halves, once
        total = 0
        for arm in range(4):
            tip = self.tip(arm)
            if tip is not None:
                total += tip[0] * (2 if tip[1] else 1)
        if self.spinner is not None:
            neighbours = sum(bool(arm) for arm in self.arms_beyond_spinner().values())
            if self.spinner_place is not None:
                neighbours += 1
            if neighbours < 2:
                total += 2 * self.spinner
        return total

    def do_halves_touch(self) -> bool:
        """Whether each tile shows the number of the half that it lies at."""
        if self.lead is None:
            return not any(self.arms)
        for arm, tiles in enumerate(self.arms):
            inside = self.lead[arm] if arm < 2 else self.spinner
            for halves in tiles:
                if halves[0] != inside:
                    return False
                inside = halves[1]
        return True


# ----------------------------------------------------------------------------------------------------------- game


class ReferenceGame:
    """One match, round after round: :meth:`step` plays, :meth:`next_deal` goes on after a round."""

    def __init__(self, rules: Rules, deal: Deal, *, num_round: int = 1, scores: list[int] | None = None) -> None:
        self.rules = rules
        self.tiles = make_set(rules.max_pip)
        self.ids = {tile: number for number, tile in enumerate(self.tiles)}
        self.draw_action = len(self.tiles) * (2 if rules.spinner == "none" else 4)
        self.sides = [[0, 2], [1, 3]] if rules.teams else [[seat] for seat in range(rules.num_players)]
        self.scores = list(scores or [0] * rules.num_players)
        self.num_round = num_round
        self._begin(deal)

    def _begin(self, deal: Deal) -> None:
        players = self.rules.num_players
        self.hands = [set(hand) for hand in deal.hands]
        self.boneyard = list(deal.boneyard)
        self.starter = self.turn = deal.starter
        self.is_lead_forced = deal.is_lead_forced
        self.lots = list(deal.lots) if deal.lots else [None] * players
        self.layout = Layout(self.rules.spinner)
        self.lacking: list[set[int]] = [set() for _ in range(players)]
        self.has_drawn = False
        self.round_points = [0] * players
        self.points = [0] * players
        self.status = PLAYING
        self.is_out = False
        self.next_leads: set[int] = set()
        self.round_winners: set[int] = set()
        self.match_winners: set[int] = set()
        self.history: list[tuple[int, int]] = []  # seat and action
        self._numbers = self.layout.numbers()

    def next_deal(self, deal: Deal) -> None:
        """Begins the next round with ``deal``; raises ValueError if the round before or the rules exclude it."""
        faults = faults_of_deal(self.rules, deal, frozenset(self.next_leads))
        if self.status != ROUND_OVER:
            faults.append(f"no round follows status {self.status}")
        if faults:
            raise ValueError("; ".join(faults))
        self.num_round += 1
        self._begin(deal)

    def copy(self) -> ReferenceGame:
        other = copy.copy(self)
        other.hands = [set(hand) for hand in self.hands]
        other.lacking = [set(numbers) for numbers in self.lacking]
        other.layout = copy.copy(self.layout)
        other.layout.arms = [list(arm) for arm in self.layout.arms]
        for name in ("boneyard", "scores", "round_points", "points", "history"):
            setattr(other, name, list(getattr(self, name)))
        return other

    # ------------------------------------------------------------------------------------------------------ moves

    def forced_tile(self) -> Tile:
        """The tile that the opening rule makes the starter lead."""
        hand = self.hands[self.starter]
        doubles = {tile for tile in hand if is_double(tile)}
        lot = self.lots[self.starter]
        if self.rules.opening == "lots_keep":
            assert lot is not None
            return lot
        if self.rules.opening == "highest_double" and doubles:
            return max(doubles)
        if self.rules.opening == "set_double" and (self.rules.max_pip,) * 2 in doubles:
            return (self.rules.max_pip,) * 2
        return max(hand, key=heaviness)

    def plays(self, seat: int) -> list[tuple[Tile, int]]:
        """The tiles of ``seat`` that fit, each with its arm, as if it were his turn."""
        if self.layout.lead is None:
            tiles = [self.forced_tile()] if self.is_lead_forced else list(self.hands[seat])
            return [(tile, 0) for tile in tiles]
        return [
            (tile, arm)
            for arm, number in enumerate(self._numbers)
            if number is not None
            for tile in self.hands[seat]
            if number in tile
        ]

    def may_anybody_draw(self) -> bool:
        return self.rules.draw_rule != "none" and len(self.boneyard) > self.rules.boneyard_reserve

    def legal_actions(self) -> list[int]:
        """The ids of the legal actions of the seat on turn, ascending; none once the round is over."""
        if self.status != PLAYING:
            return []
        plays = self.plays(self.turn)
        if plays:
            return sorted(arm * len(self.tiles) + self.ids[tile] for tile, arm in plays)
        if self.may_anybody_draw() and not (self.rules.draw_rule == "one" and self.has_drawn):
            return [self.draw_action]
        return [self.draw_action + 1]

    def step(self, action: int) -> None:
        """Plays ``action`` and books what it brings; raises ValueError if it is not legal."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not one of {self.legal_actions()}")
        seat = self.turn
        self.points = [0] * self.rules.num_players
        self.history.append((seat, action))
        if action >= self.draw_action:
            open_numbers = {number for number in self._numbers if number is not None}
            if self.has_drawn:  # a tile drawn and kept may show any number but these
                self.lacking[seat] = open_numbers
            else:
                self.lacking[seat] |= open_numbers
        if action == self.draw_action + 1:
            self._pass_turn()
        elif action == self.draw_action:
            self.hands[seat].add(self.boneyard.pop(0))
            self.has_drawn = True
            if self._is_blocked():
                self._end_round(None)
        else:
            arm, tile_id = divmod(action, len(self.tiles))
            self._play(seat, self.tiles[tile_id], arm)

    def _pass_turn(self) -> None:
        self.turn = (self.turn + 1) % self.rules.num_players
        self.has_drawn = False

    def _play(self, seat: int, tile: Tile, arm: int) -> None:
        self.hands[seat].remove(tile)
        self.layout.lay(tile, arm)
        self._numbers = self.layout.numbers()
        self._pass_turn()
        is_out = not self.hands[seat] and self.rules.round_end == "out_or_blocked"
        if self._book(self._side_of(seat), self._points_of_play()):
            self.is_out = is_out
            self._end_match(self._side_of(seat), None, [])
        elif is_out:
            self._end_round(seat)
        elif self._is_blocked():
            self._end_round(None)

    def _is_blocked(self) -> bool:
        if not self.may_anybody_draw() and not any(self.plays(seat) for seat in range(self.rules.num_players)):
            return True
        outside = [tile for hand in [*self.hands, self.boneyard] for tile in hand]
        return self.rules.early_block and not any(number in tile for tile in outside for number in self._numbers)

    # ---------------------------------------------------------------------------------------------------- scoring

    def _side_of(self, seat: int) -> list[int]:
        return next(side for side in self.sides if seat in side)

    def _from_starter(self, seats: list[int] | set[int]) -> list[int]:
        return sorted(seats, key=lambda seat: (seat - self.starter) % self.rules.num_players)

    def _points_of_play(self) -> int:
        count = self.layout.count()
        how = self.rules.end_scoring
        if how == "fives":
            return count if count % 5 == 0 else 0
        if how == "threes":
            return count if count % 3 == 0 else 0
        if how == "fives_and_threes":
            return (count // 3 if count % 3 == 0 else 0) + (count // 5 if count % 5 == 0 else 0)
        if how == "equal_ends":
            if len(self.layout.tiles()) == 1:
                return 2 if is_double(self.layout.tiles()[0]) else 0
            left, right = self.layout.tip(0), self.layout.tip(1)
            assert left is not None and right is not None
            if left[0] == right[0]:
                return 3 if left[1] or right[1] else 2
        return 0

    def _book(self, side: list[int], amount: int) -> bool:
        """Books points for all seats of a side; True if that ends the match on the spot."""
        for seat in side:
            self.points[seat] += amount
            self.scores[seat] += amount
            self.round_points[seat] += amount
        is_at_once = self.rules.target_check == "at_once" and self.rules.settlement == "winner_takes"
        return is_at_once and self.scores[side[0]] >= self.rules.target

    def _rounded(self, pips: int) -> int:
        if self.rules.rounding == "none":
            return pips
        unit = {"fives": 5, "threes": 3}[self.rules.end_scoring]
        over = pips % unit
        up = over > 0 if self.rules.rounding == "up" else 2 * over > unit
        return pips - over + (unit if up else 0)

    def _leftovers(self, gained: list[int], given: list[int] | None = None) -> int:
        """The pips of some seats' hands less those of others, rounded the way the rules say."""
        pips = self._pips()
        plus, minus = [pips[seat] for seat in gained], [pips[seat] for seat in given or []]
        if self.rules.rounding == "each_hand":
            return sum(map(self._rounded, plus)) - sum(map(self._rounded, minus))
        return self._rounded(sum(plus) - sum(minus))

    def _pips(self) -> list[int]:
        return [sum(map(sum, hand)) for hand in self.hands]

    def _lowest_sides(self) -> list[list[int]]:
        """The sides that a block goes to: one, or the tied."""
        pips = self._pips()
        combine = min if self.rules.block_winner == "single_lowest" else sum
        totals = [combine(pips[seat] for seat in side) for side in self.sides]
        return [side for side, total in zip(self.sides, totals, strict=True) if total == min(totals)]

    def _end_round(self, out: int | None) -> None:
        """Closes the round: ``out`` has laid his last tile, or (None) it is blocked."""
        self.is_out = out is not None
        seats = list(range(self.rules.num_players))
        lowest = self._lowest_sides()
        if self.rules.settlement == "penalty_each":
            for seat, pips in enumerate(self._pips()):
                self.points[seat] -= pips
                self.scores[seat] += pips
                self.round_points[seat] += pips
        else:
            for side, amount in self._shares(out, lowest):
                if self._book(side, amount):
                    self._end_match(side, out, lowest)
                    return
        self.round_winners = self._winners_of_round(out, lowest)
        self.match_winners = self._winners_of_match()
        if self.match_winners:
            self.status = MATCH_OVER
        elif self.rules.max_rounds and self.num_round >= self.rules.max_rounds:
            self.status = TRUNCATED
        else:
            self.status = ROUND_OVER
            self.next_leads = self._leaders_of_next_round(out, lowest)
        assert self.match_winners <= set(seats)

    def _shares(self, out: int | None, lowest: list[list[int]]) -> list[tuple[list[int], int]]:
        """Who books how much of the leftovers, in the order of booking."""
        seats = list(range(self.rules.num_players))
        award = self.rules.award
        if out is None and len(lowest) > 1:
            if self.rules.blocked_tie == "nobody":
                return []
            tied = [seat for side in lowest for seat in side]
            pot = {
                "all": self._leftovers(seats),
                "opponents": self._leftovers([seat for seat in seats if seat not in tied]),
                "one_point": 1,
            }[award]
            first = {self._from_starter(side)[0]: side for side in lowest}
            return [(first[seat], pot // len(lowest)) for seat in self._from_starter(set(first))]
        winner = lowest[0] if out is None else self._side_of(out)
        opponents = [seat for seat in seats if seat not in winner]
        if award == "one_point":
            amount = 1
        elif award == "all":
            amount = self._leftovers(seats)
        elif award == "opponents_minus_own" and out is None:
            amount = self._leftovers(opponents, winner)
        else:
            amount = self._leftovers(opponents)
        return [(winner, amount)]

    def _winners_of_round(self, out: int | None, lowest: list[list[int]]) -> set[int]:
        if self.rules.end_scoring != "none":
            return {seat for seat, booked in enumerate(self.round_points) if booked == max(self.round_points)}
        if out is not None and self.rules.settlement == "winner_takes":
            return set(self._side_of(out))
        return {seat for side in lowest for seat in side}

    def _winners_of_match(self) -> set[int]:
        """Who has won the match by the scores after a round; nobody while it goes on."""
        if max(self.scores) < self.rules.target:
            return set()
        if self.rules.settlement == "penalty_each":
            return {seat for seat, score in enumerate(self.scores) if score == min(self.scores)}
        best = [side for side in self.sides if self.scores[side[0]] == max(self.scores)]
        return set(best[0]) if len(best) == 1 else set()

    def _leaders_of_next_round(self, out: int | None, lowest: list[list[int]]) -> set[int]:
        rules = self.rules
        seat_after_starter = (self.starter + 1) % rules.num_players
        if rules.next_lead == "as_first":
            return set()
        if rules.next_lead == "rotate":
            return {seat_after_starter}
        if out is not None:
            return {out}
        if len(lowest) == 1:
            pips = self._pips()
            return {min(self._from_starter(lowest[0]), key=lambda seat: pips[seat])}
        return {
            "draw_among_tied": {seat for side in lowest for seat in side},
            "as_first": set(),
            "same_starter": {self.starter},
            "next_seat": {seat_after_starter},
        }[rules.tie_lead]

    def _end_match(self, side: list[int], out: int | None, lowest: list[list[int]]) -> None:
        """Ends round and match at the booking by which ``side`` has reached the target."""
        self.status = MATCH_OVER
        self.match_winners = set(side)
        self.round_winners = self._winners_of_round(out, lowest)

    def rewards(self, kind: str, episode: str) -> list[float]:
        """The last step's reward of each seat."""
        seats = range(self.rules.num_players)
        if kind == "points":
            return [float(points) for points in self.points]
        if kind == "margin":
            means = []
            for seat in seats:
                opponents = [self.points[other] for other in seats if other not in self._side_of(seat)]
                means.append(self.points[seat] - sum(opponents) / len(opponents))
            return means
        winners = self.episode_winners(episode)
        if not winners or len(winners) == len(seats):
            return [0.0 for _ in seats]
        return [1 / len(winners) if seat in winners else -1 / (len(seats) - len(winners)) for seat in seats]

    def is_episode_over(self, episode: str) -> bool:
        return self.status != PLAYING and (episode == "round" or self.status != ROUND_OVER)

    def episode_winners(self, episode: str) -> set[int]:
        """Who has won the episode; nobody before its end, or when it was truncated."""
        if not self.is_episode_over(episode):
            return set()
        return self.round_winners if episode == "round" else self.match_winners

    # --------------------------------------------------------------------------------------------- what is to see

    def check(self) -> None:
        """What holds after every step of every game."""
        everywhere = sorted([*self.layout.tiles(), *self.boneyard, *(tile for hand in self.hands for tile in hand)])
        assert everywhere == sorted(self.tiles), "hands, layout and boneyard are not the set"
        assert self.layout.do_halves_touch(), "halves that touch differ"
        assert (self.status != PLAYING) or self.legal_actions(), "nothing to do"

    def fields(self) -> dict[str, int | list[int]]:
        """Everything that a state record says, the generator excepted, in the record's own coding."""

        def bits(numbers: set[int]) -> int:
            return sum(1 << number for number in numbers)

        def of_seats(values: list[int], empty: int) -> list[int]:
            return [*values, *[empty] * (4 - len(values))]

        def tile_ids(tiles: set[Tile] | list[Tile]) -> list[int]:
            return [self.ids[tile] for tile in tiles]

        tips = [self.layout.tip(arm) for arm in range(4)]
        return {
            "hands": of_seats([bits(set(tile_ids(hand))) for hand in self.hands], 0),
            "pile": [*reversed(tile_ids(self.boneyard)), *[NOTHING] * (56 - len(self.boneyard))],
            "laid": bits(set(tile_ids(self.layout.tiles()))),
            "scores": of_seats(self.scores, 0),
            "round_points": of_seats(self.round_points, 0),
            "round": self.num_round,
            "lacking": of_seats([bits(numbers) for numbers in self.lacking], 0),
            "hand_counts": of_seats([len(hand) for hand in self.hands], 0),
            "ends": [NOTHING if number is None else number for number in self._numbers],
            "lots": of_seats([NOTHING if lot is None else self.ids[lot] for lot in self.lots], NOTHING),
            "tip_doubles": bits({arm for arm, tip in enumerate(tips) if tip is not None and tip[1]}),
            "begun": bits({arm for arm, tip in enumerate(tips) if tip is not None}),
            "spinner": NOTHING if self.layout.spinner is None else self.layout.spinner,
            "boneyard": len(self.boneyard),
            "turn": self.turn,
            "starter": self.starter,
            "is_lead_forced": int(self.is_lead_forced),
            "has_drawn": int(self.has_drawn),
            "status": self.status,
            "next_leads": bits(self.next_leads),
            "round_winners": bits(self.round_winners),
            "match_winners": bits(self.match_winners),
            "is_out": int(self.is_out),
        }

    def concealed_hands(self, player: int) -> list[int]:
        """The hands as ``player`` knows them: his own, and of the others the lots that they kept and still hold."""
        known = []
        for seat, hand in enumerate(self.hands):
            seen = hand if seat == player else {lot for lot in [self.lots[seat]] if lot in hand}
            known.append(sum(1 << self.ids[tile] for tile in seen))
        return [*known, *[0] * (4 - len(known))]

    def mask(self, player: int) -> Piece:
        """1 for each legal action; a seat that is not on turn, and every seat after the end, shows a pass."""
        mask = [0] * (self.draw_action + 2)
        for action in (self.legal_actions() if player == self.turn else []) or [self.draw_action + 1]:
            mask[action] = 1
        return mask

    def observation(self, player: int, *, history: bool = False) -> dict[str, Piece]:
        """What ``player`` sees, piece by piece in the documented order, each flattened; he himself comes first."""
        rules = self.rules
        num_ends = 2 if rules.spinner == "none" else 4
        seats = [(player + step) % rules.num_players for step in range(rules.num_players)]
        tips = [self.layout.tip(arm) for arm in range(num_ends)]
        on_table = set(self.layout.tiles())

        def one_hot(number: int | None) -> Piece:
            return [int(number == shown) for shown in range(rules.max_pip + 1)]

        def tile_flags(tiles: set[Tile]) -> Piece:
            return [int(tile in tiles) for tile in self.tiles]

        seen: dict[str, Piece] = {
            "hand": tile_flags(self.hands[player]),
            "laid": tile_flags(on_table),
            "ends": [flag for number in self._numbers[:num_ends] for flag in one_hot(number)],
            "tip_doubles": [int(tip is not None and tip[1]) for tip in tips],
        }
        if rules.spinner != "none":
            seen["spinner"] = one_hot(self.layout.spinner)
            seen["begun"] = [int(tip is not None) for tip in tips]
        seen["turn"] = [int(self.status == PLAYING and seat == self.turn) for seat in seats]
        seen["lacking"] = [
            int(number in self.lacking[seat]) for seat in seats[1:] for number in range(rules.max_pip + 1)
        ]
        if rules.opening == "lots_keep":
            seen["kept_lots"] = [
                int(tile == self.lots[seat] and tile in self.hands[seat]) for seat in seats for tile in self.tiles
            ]
        if rules.draw_rule != "none":
            seen["has_drawn"] = [int(self.has_drawn)]
        seen["is_lead_forced"] = [int(self.is_lead_forced)]
        divisor = {"fives": 5, "threes": 3, "fives_and_threes": 15}.get(rules.end_scoring)
        count = self.layout.count()
        if divisor:
            seen["remainder"] = [int(bool(on_table) and count % divisor == left) for left in range(divisor)]
        seen["hand_counts"] = [len(self.hands[seat]) for seat in seats]
        seen["boneyard"] = [len(self.boneyard)]
        seen["scores"] = [max(-127, min(127, 100 * self.scores[seat] // rules.target)) for seat in seats]
        if divisor:
            seen["exposed_count"] = [count]
        if history:
            steps = []
            for seat, action in self.history:
                end, tile = divmod(action, len(self.tiles))
                if action >= self.draw_action:
                    end, tile = 0, -2 - (action - self.draw_action)
                steps += [(seat - player) % rules.num_players + 1, tile + 1, end]
            seen["history"] = steps + [0] * (3 * rules.max_history - len(steps))
        return seen


def perft(game: ReferenceGame, *, limit: int = 10**9) -> list[int]:
    """How many sequences of exactly 1, 2, ... actions the round of ``game`` allows, to its end.

    Raises:
        OverflowError: as soon as there are more than ``limit``, all lengths together.
    """
    counts: list[int] = []
    total = 0
    open_positions = [(game, 0)]
    while open_positions:
        position, depth = open_positions.pop()
        for action in position.legal_actions():
            total += 1
            if total > limit:
                raise OverflowError(f"more than {limit} sequences")
            if depth == len(counts):
                counts.append(0)
            counts[depth] += 1
            following = position.copy()
            following.step(action)
            open_positions.append((following, depth + 1))
    return counts
