"""What an illegal action costs where it loses the episode instead of raising."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from dominoes_env.engine.rules import Rules

__all__ = ["Illegal", "check_illegal", "loss_of_mover", "losses_by_mover"]

Illegal: TypeAlias = Literal["lose", "raise"]


def check_illegal(illegal: str, illegal_reward: float | None) -> None:
    """Refuse an unknown way to treat illegal actions, or a price for them where they raise.

    Raises:
        ValueError: naming the argument and what is allowed.
    """
    if illegal not in get_args(Illegal):
        raise ValueError(f"illegal={illegal!r} is not allowed; allowed: {', '.join(get_args(Illegal))}")
    if illegal == "raise" and illegal_reward is not None:
        raise ValueError(f"illegal_reward={illegal_reward!r} is not allowed; allowed: None with illegal='raise'")


def loss_of_mover(rules: Rules, reward: str, illegal_reward: float | None) -> float:
    """What the mover of an illegal action gets, at most 0."""
    if illegal_reward is None:
        return -1.0 if reward == "win" else -float(rules.total_pips)
    is_number = isinstance(illegal_reward, (int, float, np.integer, np.floating)) and not isinstance(
        illegal_reward, bool
    )
    if not is_number or not math.isfinite(illegal_reward) or illegal_reward > 0:
        raise ValueError(f"illegal_reward={illegal_reward!r} is not allowed; allowed: None or a finite number up to 0")
    return float(illegal_reward)


def losses_by_mover(rules: Rules, loss: float) -> list[list[float]]:
    """For each mover the rewards of all seats after his illegal action: they sum to 0.

    The others share what the mover loses. With teams his partner loses as much as he does, and each opponent gains
    it.
    """
    seats = range(rules.num_players)
    if rules.teams:
        return [[loss if (seat - mover) % 2 == 0 else -loss for seat in seats] for mover in seats]
    share = -loss / (rules.num_players - 1)
    return [[loss if seat == mover else share for seat in seats] for mover in seats]
