"""Which positions can be: refuses a round that cannot have gone as it is told, or stands as the rules do not say.

A position written by hand need not come from a deal of its rules: hands may be of any size, and what was drawn is not
told. What is told must fit together: each function raises ValueError, naming the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.moves import lay_tile, open_tiles, show_lacking
from dominoes_env.engine.opening import first_lead, tiles_above
from dominoes_env.engine.rounds import round_is_blocked
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.scoring import decide_match, play_points, settle
from dominoes_env.engine.state import MATCH_OVER, NONE, ROUND_OVER, TRUNCATED
from dominoes_env.words import STATUS_WORDS, empty_round, format_action, format_tile, seats_in

__all__ = [
    "may_score_below_zero",
    "refuse_finished",
    "refuse_impossible_actions",
    "refuse_unfinished",
    "refuse_wrong_lead",
    "shown_lacking",
]

#: Every amount that can be booked stays below it.
_NO_TARGET = 2**31 - 1


def may_score_below_zero(rules: Rules) -> bool:
    """Whether a score can be negative: the team with fewer pips may have more once each of its hands is rounded."""
    return rules.teams and rules.award == "opponents_minus_own" and rules.rounding == "each_hand"


# The past of the round


def refuse_impossible_actions(rules: Rules, state: NDArray[Any], history: Sequence[int]) -> None:
    """Refuse actions that those who took them could not take, by what they hold now or laid afterwards."""
    record = state[0]
    seats, fitting, _ = _walk(rules, int(record["starter"]), history)
    counts = [int(count) for count in record["hand_counts"]]
    held = [int(hand) for hand in record["hands"]]  # now or since laid: all but what was laid before, and drawn
    drawn = [0] * rules.num_players
    left = int(record["boneyard"])
    least = 0 if rules.round_end == "blocked_only" else 1
    for place in range(len(history) - 1, -1, -1):
        action, seat = history[place], seats[place]
        word = f"{format_action(rules, action, is_lead=place == 0)} of seat {seat}"
        if action < rules.draw_action:
            counts[seat] += 1
            held[seat] |= 1 << action % rules.num_tiles
        elif action == rules.draw_action:
            counts[seat] -= 1
            drawn[seat] += 1
            left += 1
            if left <= rules.boneyard_reserve:
                raise ValueError(f"layout: {word} takes a tile of the reserve; allowed: {rules.boneyard_reserve} stay")
        elif rules.draw_rule != "none" and left > rules.boneyard_reserve:
            has_drawn = history[place - 1] == rules.draw_action
            if rules.draw_rule != "one" or not has_drawn:
                raise ValueError(f"layout: {word} with {left} tiles in the boneyard; allowed: draw")
        # Each tile drawn later may be one of those that fit; more of them were in the hand.
        if action >= rules.draw_action and (held[seat] & fitting[place]).bit_count() > drawn[seat]:
            raise ValueError(f"layout: {word}, who holds or laid a tile that fitted; allowed: to lay it")
        if counts[seat] < least:
            raise ValueError(f"layout: {word}, who had no tile left then")


def _walk(rules: Rules, starter: int, history: Sequence[int]) -> tuple[list[int], list[int], NDArray[np.uint16]]:
    """Who took each action, the tiles (bits) that touched an open end before it, and what each seat shows to lack."""
    board = empty_round(rules)
    seats: list[int] = []
    fitting: list[int] = []
    seat = starter
    for place, action in enumerate(history):
        seats.append(seat)
        fitting.append(int(open_tiles(board[0])))
        if action < rules.draw_action:
            lay_tile(board[0], rules.row[0], action % rules.num_tiles, action // rules.num_tiles)
        else:
            show_lacking(board[0], seat, place > 0 and history[place - 1] == rules.draw_action)
        if action != rules.draw_action:
            seat = (seat + 1) % rules.num_players
    return seats, fitting, board["lacking"][0]


def shown_lacking(rules: Rules, starter: int, history: Sequence[int]) -> NDArray[np.uint16]:
    """The numbers (bits) that each seat has shown not to hold by its passes and draws, shape (4,)."""
    return _walk(rules, starter, history)[2]


def refuse_wrong_lead(rules: Rules, state: NDArray[Any], history: Sequence[int]) -> None:
    """Refuse a forced lead that the opening did not name, and kept lots that are not where they should be."""
    record = state[0]
    seats, _, _ = _walk(rules, int(record["starter"]), history)
    dealt = [int(hand) for hand in record["hands"][: rules.num_players]]
    for action, seat in zip(history, seats, strict=True):
        if action < rules.draw_action:
            dealt[seat] |= 1 << action % rules.num_tiles
    lots = [int(lot) for lot in record["lots"][: rules.num_players]]
    for seat, lot in enumerate(lots):
        if lot != NONE and not dealt[seat] >> lot & 1:
            raise ValueError(f"lots: seat {seat} does not hold {format_tile(lot)}, and has not laid it")
    if not record["is_lead_forced"] or not history:
        return
    lead, starter = history[0], int(record["starter"])
    if rules.opening == "lots_keep":
        if lead != lots[starter]:
            raise ValueError(f"forced: seat {starter} led {format_tile(lead)}; allowed: its lot")
        return
    if first_lead(np.uint64(1 << lead), rules.row[0]) == NONE:
        raise ValueError(
            f"forced: by opening={rules.opening!r} no hand leads {format_tile(lead)}; it asks for a redeal"
        )
    above = int(tiles_above(lead, rules.row[0]))
    for seat in range(rules.num_players):
        has_drawn = any(action == rules.draw_action and seats[place] == seat for place, action in enumerate(history))
        if not has_drawn and dealt[seat] & above:
            raise ValueError(
                f"forced: by opening={rules.opening!r} a tile dealt to seat {seat} leads before {format_tile(lead)}"
            )


# A round that is being played


def refuse_finished(rules: Rules, state: NDArray[Any]) -> None:
    """Refuse a round said to be played that is over, or that a match which is over would not have had."""
    counts = state["hand_counts"][0, : rules.num_players]
    if state["laid"][0] == 0 and counts[state["turn"][0]] == 0:
        raise ValueError(f"hands: seat {state['turn'][0]} is to lead and holds no tile")
    if rules.round_end == "out_or_blocked" and np.any(counts == 0):
        raise ValueError(f"hands: seat {np.flatnonzero(counts == 0)[0]} holds no tile, so the round is over")
    if round_is_blocked(state[0], rules.row[0]):
        raise ValueError("hands: nobody can move, so the round is over")
    _refuse_bookings(rules, state)


def _ends_at_once(rules: Rules) -> bool:
    return rules.target_check == "at_once" and rules.settlement == "winner_takes"


def _refuse_bookings(rules: Rules, state: NDArray[Any]) -> None:
    """Refuse scores with which a round cannot be played on: only its plays have scored, in a match that is open."""
    if _ends_at_once(rules) and np.any(state["scores"] >= rules.target):
        raise ValueError(f"scores: {rules.target} points are reached, so the match is over")
    if np.any(state["round_points"] < 0) or (rules.end_scoring == "none" and np.any(state["round_points"])):
        booked = " ".join(map(str, state["round_points"][0, : rules.num_players]))
        raise ValueError(f"round_points: plays cannot have booked {booked} with end_scoring={rules.end_scoring!r}")
    before = state.copy()
    before["scores"] -= before["round_points"]
    before["round"] -= 1
    decide_match(before[0], rules.row[0])
    if before["status"][0] != ROUND_OVER:
        name = "round" if before["status"][0] == TRUNCATED else "scores"
        raise ValueError(f"{name}: the match was over before round {state['round'][0]}")


# A round that is over


def refuse_unfinished(rules: Rules, state: NDArray[Any], history: Sequence[int]) -> None:
    """Refuse a round said to be over that is not, or that has not ended as the engine's own settling ends it."""
    record = state[0]
    if not history or history[-1] == rules.pass_action:
        raise ValueError(
            f"status: the round is not over, so it is not {STATUS_WORDS[record['status']]}: a play or a draw ends it"
        )
    is_play = history[-1] < rules.draw_action
    mover = (int(record["turn"]) - is_play) % rules.num_players
    empty = np.flatnonzero(record["hand_counts"][: rules.num_players] == 0).tolist()
    is_out = is_play and rules.round_end == "out_or_blocked" and mover in empty
    if bool(record["is_out"]) != is_out:
        reason = f"seat {mover} has laid its last tile" if is_out else "the last action laid no last tile"
        raise ValueError(f"out: {reason}")
    if rules.round_end == "out_or_blocked" and any(seat != mover or not is_out for seat in empty):
        raise ValueError(f"hands: seat {empty[0]} held no tile before the last action, so the round was over")
    first: NDArray[Any] | None = None
    for ended in _endings(rules, state, mover, is_play, is_out):
        if ended == state:
            return
        first = ended if first is None else first
    if first is None:
        raise ValueError(f"status: the round is not over, so it is not {STATUS_WORDS[record['status']]}")
    _refuse_ending(rules, first, state)


def _refuse_ending(rules: Rules, right: NDArray[Any], state: NDArray[Any]) -> None:
    """Name the first field in which ``state`` is not ``right``."""

    def seats(bits: Any) -> str:
        return ",".join(map(str, seats_in(bits))) or "nobody"

    if state["status"][0] != right["status"][0]:
        found, allowed = STATUS_WORDS[state["status"][0]], STATUS_WORDS[right["status"][0]]
        raise ValueError(f"status: {found} is not allowed with these scores; allowed: {allowed}")
    for name, field in (("won", "round_winners"), ("match_won", "match_winners"), ("next", "next_leads")):
        if state[field][0] != right[field][0]:
            found, allowed = seats(state[field][0]), seats(right[field][0])
            raise ValueError(f"{name}: {found} is not allowed with these hands and scores; allowed: {allowed}")
    raise ValueError("scores: they cannot be with these hands")


def _endings(rules: Rules, state: NDArray[Any], mover: int, is_play: bool, is_out: bool) -> Iterator[NDArray[Any]]:
    """What the round is, settled, for each way in which its bookings can have come to the scores in ``state``."""
    row, out = rules.row[0], mover if is_out else NONE
    unsettled = state.copy()
    for name in ("status", "is_out", "round_winners", "match_winners", "next_leads"):
        unsettled[name] = 0
    refused: ValueError | None = None
    if is_play and _play_ends_match(rules, state, mover):
        ended = unsettled.copy()
        ended["status"] = MATCH_OVER
        ended["match_winners"] = _side(rules, mover)
        settle(ended[0], row, out)
        yield ended
    elif is_out or round_is_blocked(state[0], row):
        for amounts in _amounts(rules, unsettled, out):
            ended = unsettled.copy()
            ended["scores"] -= amounts
            ended["round_points"] -= amounts
            try:
                _refuse_bookings(rules, ended)
            except ValueError as error:
                refused = refused or error
                continue
            settle(ended[0], row, out)
            yield ended
    if refused is not None:
        raise refused


def _play_ends_match(rules: Rules, state: NDArray[Any], mover: int) -> bool:
    """Whether the points of the last play reached the target, so that nothing more was booked."""
    if not _ends_at_once(rules) or rules.end_scoring == "none":
        return False
    points, score = int(play_points(state[0], rules.row[0])), int(state["scores"][0, mover])
    return score - points < rules.target <= score and int(state["round_points"][0, mover]) >= points


def _amounts(rules: Rules, unsettled: NDArray[Any], out: int) -> Iterator[NDArray[Any]]:
    """What the end of the round books, (1, 4): all of it, and for a target reached at once what came first."""
    row = rules.row.copy()
    row["target"] = _NO_TARGET
    trial = unsettled.copy()
    trial["scores"] = trial["round_points"] = 0
    settle(trial[0], row[0], out)
    amounts = trial["round_points"].copy()
    yield amounts
    if rules.blocked_tie != "split" or not _ends_at_once(rules):
        return
    order = [(int(unsettled["starter"][0]) + step) % rules.num_players for step in range(rules.num_players)]
    booked = np.zeros_like(amounts)
    for seat in order:
        for other in seats_in(_side(rules, seat)):
            booked[0, other] = amounts[0, other]
        yield booked.copy()


def _side(rules: Rules, seat: int) -> int:
    return 0b0101 << (seat & 1) if rules.teams else 1 << seat
