"""Beliefs: how likely each seat is to hold each tile, as far as the player on turn may know.

Three kinds, each knowing more than the one before: :func:`count_belief` counts tiles, :func:`world_belief` counts the
deals that fit all that has been seen, and with an agent that weighs deals (``inference``) it also asks how likely the
others were to play as they did. :func:`brier_score` says how good a belief was, once the hands are open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Turn
from agents.catalog import make_agent
from agents.keys import decision_keys
from agents.match import turns_of
from dominoes_env.arguments import checked_integer
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.worlds import determinize
from dominoes_env.table import Table

__all__ = ["Belief", "brier_score", "count_belief", "score_beliefs", "world_belief"]


@dataclass(frozen=True, eq=False)
class Belief:
    """What a player believes of the hands."""

    rules: Rules
    player: int
    """The seat that believes."""
    hidden: tuple[int, ...]
    """Ids of the tiles of which it does not know where they are, ascending."""
    chances: NDArray[np.float64]
    """Shape (num_players, num_tiles): the probability that a seat holds a tile; what is left is the boneyard's."""
    effective_worlds: float = np.inf
    """So many equally weighted worlds are as good as those that were drawn (Kish 1965); infinite: exact."""

    def half_width(self, seat: int) -> NDArray[np.float64]:
        """The figure after ± of a seat's chances, 95 %: how far drawing more worlds might move them; (num_tiles,)."""
        chances = self.chances[seat]
        half: NDArray[np.float64] = 1.96 * np.sqrt(chances * (1 - chances) / self.effective_worlds)
        return half


def _tiles(rules: Rules, hands: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Bits as booleans: (...,) to (..., num_tiles)."""
    tiles: NDArray[np.bool_] = hands[..., None] >> np.arange(rules.num_tiles, dtype=np.uint64) & np.uint64(1) == 1
    return tiles


def _known(turn: Turn) -> NDArray[np.bool_]:
    """The tiles that ``turn`` shows to be in each hand: (num_players, num_tiles)."""
    return _tiles(turn.rules, turn.state["hands"][0, : turn.rules.num_players])


def _hidden(turn: Turn) -> NDArray[np.bool_]:
    """The tiles of which the player does not know where they are: (num_tiles,)."""
    hidden: NDArray[np.bool_] = ~(_tiles(turn.rules, turn.state["laid"][0]) | _known(turn).any(axis=0))
    return hidden


def count_belief(turn: Turn) -> Belief:
    """The belief of a player who counts tiles and forgets what was played: all hidden tiles are alike."""
    known, hidden = _known(turn), _hidden(turn)
    unknown = turn.state["hand_counts"][0, : turn.rules.num_players] - known.sum(axis=1)
    chances = known + np.outer(unknown / max(1, hidden.sum()), hidden)
    return Belief(turn.rules, turn.player, tuple(np.flatnonzero(hidden).tolist()), chances)


def world_belief(turn: Turn, *, worlds: int = 1000, agent: Any = None) -> Belief:
    """The belief of a player who remembers: the share of each tile's places among worlds that fit what he knows.

    Args:
        turn: the decision; its key seeds the worlds.
        worlds: how many are drawn (``determinize``).
        agent: weighs the worlds by how it thinks that the others play: a name of the catalog, or an object, with a
            method ``log_likelihoods`` as :class:`agents.inference.InferenceAgent` has; None: all count alike.

    Raises:
        ValueError: for an agent that does not weigh worlds, and as :func:`dominoes_env.determinize`.
    """
    weigher = None if agent is None else make_agent(agent)
    if weigher is not None and not hasattr(weigher, "log_likelihoods"):
        raise ValueError(f"agent={weigher.name!r} is not allowed; allowed: one that weighs deals, such as inference")
    checked_integer("worlds", worlds, 1)
    drawn, deals = determinize(
        turn.rules, turn.state, turn.player, turn.history, turn.generator, num_worlds=worlds, with_deal=True
    )
    weights = np.ones(worlds)
    if weigher is not None:
        logs = weigher.log_likelihoods(turn, deals)
        weights = np.exp(logs - logs.max())
    hands = _tiles(turn.rules, drawn["hands"][:, : turn.rules.num_players])
    chances = np.tensordot(weights / weights.sum(), hands, axes=1)
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    return Belief(turn.rules, turn.player, tuple(np.flatnonzero(_hidden(turn)).tolist()), chances, effective)


def brier_score(belief: Belief, open_state: NDArray[Any]) -> float:
    """The mean squared difference of the other seats' chances to the truth, over hidden tiles: 0 knows all.

    Args:
        belief: what was believed.
        open_state: shape (1,), ``STATE_DTYPE``, with all hands.

    Raises:
        ValueError: if no tile is hidden.
    """
    if not belief.hidden:
        raise ValueError("belief: no tile is hidden; allowed: at least one")
    others = [seat for seat in range(belief.rules.num_players) if seat != belief.player]
    truth = _tiles(belief.rules, open_state["hands"][0, others])
    errors = (belief.chances[others] - truth)[:, list(belief.hidden)]
    return float((errors**2).mean())


def score_beliefs(
    beliefs: Mapping[str, Callable[[Turn], Belief]],
    player: Any,
    rules: Rules,
    deals: int,
    *,
    decision: int = 5,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """Brier scores of ways to believe, on the same positions: one a deal, of games that ``player`` plays with himself.

    Args:
        beliefs: by name, functions such as :func:`count_belief`.
        player: who sits in every seat: a name of the catalog, or an object that acts.
        rules: the rules.
        deals: rounds to play.
        decision: the position is where the round's decision of this number, from 1, is to be taken (choices alone
            count). Deals that are over before are left out.
        seed: of deals and decisions.

    Returns:
        An array (n,) a belief, n the deals that got so far, in the same order in all.

    Raises:
        ValueError: for a person, an agent that cheats, and whatever else is not allowed.
    """
    agent = make_agent(player)
    if agent.is_person or agent.sees_all:
        raise ValueError(f"player={agent.name!r} is not allowed; allowed: no person, and none who cheats")
    agent.check_rules(rules)
    table = Table(rules, checked_integer("deals", deals, 1), seed=seed, skip_forced=True, history=agent.needs_history)
    is_playing = np.ones(deals, np.bool_)
    for _ in range(checked_integer("decision", decision, 1) - 1):
        keys = decision_keys(seed, table.game_ids, table.history_lengths)
        table.step(agent.act_batch(turns_of(table, table.all_rows, keys)), autoreset=True)
        is_playing &= ~(table.terminated | table.truncated)
    is_playing &= table.masks.sum(axis=1) > 1  # a round that is offered at its last, forced move has no decision left
    rows = np.flatnonzero(is_playing)
    turns = turns_of(table, rows, decision_keys(seed, table.game_ids[rows], table.history_lengths[rows]), is_open=True)
    scores = {name: np.empty(len(rows)) for name in beliefs}
    for row in range(len(rows)):
        turn = turns[row]
        open_state = turn.open_state
        for name, believe in beliefs.items():
            scores[name][row] = brier_score(believe(replace(turn, open_state=None)), open_state)
    return scores
