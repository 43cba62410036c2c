"""An approximate best response: a player is trained against an agent that stays as it is.

What it is ahead by, a deal on average of both seats, is a lower bound of the agent's exploitability, up to its
interval: against itself an agent is ahead by nothing. How tight it is, nobody knows; the same budget's gain on agents
whose weakness is known is for scale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.policy_file import POLICY_NAME
from dominoes_env.engine.rules import Rules
from training.config import TrainConfig
from training.evaluate import evaluate
from training.intervals import Interval
from training.origin import origin
from training.run_directory import CONFIG_NAME, Run, create_run, open_run

__all__ = ["Response", "approximate_response", "run_name"]

#: Added to the seed of the deals by which a gain is measured, which no run was trained or looked at on.
_MEASURING = 500_000


@dataclass(frozen=True)
class Response:
    """What training against an agent gained."""

    agent: str
    gain: Interval
    """Points a deal, over mirrored deals."""
    win_rate: Interval
    minutes: float
    """Of training, all runs together."""
    deals: int
    policy: Path

    def figures(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "agent": self.agent,
            "gain": self.gain.to_dict(),
            "win_rate": self.win_rate.to_dict(),
            "minutes": self.minutes,
            "deals": self.deals,
            "policy": str(self.policy),
        }


def run_name(agent: str) -> str:
    """The directory of the run against an agent, within ``--out``: readable, and another one for another agent."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in agent)[-40:]
    return f"{plain}-{hashlib.sha256(agent.encode()).hexdigest()[:6]}"


def approximate_response(
    agent: str,
    variant: str,
    rules: Rules,
    *,
    minutes: float,
    deals: int,
    seed: int,
    out: Path,
    report: Callable[[Run], Any],
    command: str | None = None,
) -> Response | int:
    """Train against an agent, going on with the run in ``out`` if there is one, and measure what it gains.

    Args:
        agent: a name of the catalog; it must not cheat, nor be a person.
        variant: the name of the game.
        rules: the game, for two.
        minutes: of training in all.
        deals: mirrored deals by which the gain is measured.
        seed: of the run and of those deals.
        out: the directory that holds the runs.
        report: trains a run, showing how it goes, and returns the signal that stopped it, or 0.
        command: kept as where the run comes from.

    Returns:
        what was gained, or the number of the signal that stopped the training.

    Raises:
        ValueError: for an agent or rules that it cannot be done with.
    """
    if rules.num_players != 2:
        raise ValueError(f"num_players={rules.num_players} is not allowed for a best response; allowed: 2")
    path = out / run_name(agent)
    if (path / CONFIG_NAME).exists():
        run = open_run(path, rules=rules, changes={"minutes": minutes}, origin=origin(command))
        if run.config.against != agent or run.config.seed != seed:
            raise ValueError(
                f"{path} is a run against {run.config.against!r} with seed {run.config.seed}; allowed: another --out"
            )
    else:
        config = TrainConfig(minutes=minutes, seed=seed, against=agent, ladder=(agent,))
        run = create_run(path, variant, rules, config, origin=origin(command))
    if stopped_by := report(run):
        return int(stopped_by)
    policy = path / f"{POLICY_NAME}.json"
    result = evaluate([str(policy), agent], rules, deals, seed=seed + _MEASURING, variant=variant).results[0]
    return Response(agent, result.points, result.win_rate, minutes, deals, policy)
