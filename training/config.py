"""``TrainConfig``: every setting of a training run, a line a field; the text beside a field is the flag's help."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

__all__ = ["ALGORITHMS", "CHANGEABLE", "TrainConfig", "setting"]

#: Our own PPO with a magnet and a critic that sees all hands, and MaskablePPO of sb3-contrib; each in its file here.
ALGORITHMS = ("magnetic_ppo", "maskable_ppo")


def setting(default: Any, meaning: str, *, only: str | None = None, needs: str | None = None, **others: Any) -> Any:
    """A dataclass field with a help text.

    Args:
        default: what it is if nothing is said.
        meaning: the help text.
        only: the algorithm that reads it, if not all do.
        needs: the setting without which (at 0) it is not read.
        others: the default under the algorithm of that name, where it is another one.
    """
    metadata = {"help": meaning, "only": only, "needs": needs, "default": default, "others": others}
    return dataclasses.field(default=None if others else default, metadata=metadata)


#: The largest value of settings that are numbers above 0, and of those that may be 0.
_ABOVE_0 = {"minutes": math.inf, "learning_rate": 1, "gamma": 1, "clip": 1, "checkpoint_minutes": math.inf}
_ABOVE_0 |= {"gate_elo": 1000, "ladder_minutes": math.inf}
_FROM_0 = {"gae_lambda": 1, "entropy": math.inf, "value_weight": math.inf, "magnet": math.inf, "magnet_speed": 1}
_FROM_0 |= {"league": 1, "league_thumbs": 1, "league_hardness": math.inf}


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a run beside its rules.

    Raises:
        ValueError: for a value outside what is allowed, naming setting, value and what is allowed.
    """

    algorithm: str = setting("magnetic_ppo", f"how is learnt: {', '.join(ALGORITHMS)}")
    minutes: float = setting(5.0, "minutes of training in all, resumed parts included")
    steps: int = setting(0, "stop after so many decisions in all instead; 0: by minutes")
    seed: int = setting(1, "seeds deals, weights and sampling")
    rows: int = setting(512, "games played side by side")
    rollout: int = setting(64, "decisions a row between two updates")
    batch: int = setting(2048, "decisions a minibatch")
    epochs: int = setting(2, "passes over the decisions of an update", maskable_ppo=4)
    hidden: tuple[int, ...] = setting((128, 128), "units of the hidden layers, of policy and value network each")
    learning_rate: float = setting(
        3e-3, "step size of Adam at the start; it falls linearly to a tenth at the end", maskable_ppo=1e-3
    )
    gamma: float = setting(1.0, "discount from a seat's decision to its next")
    gae_lambda: float = setting(0.5, "advantages: 0 trusts the value network, 1 the outcome", maskable_ppo=0.95)
    clip: float = setting(0.2, "bound of PPO on the change of a probability")
    entropy: float = setting(0.003, "weight of the entropy bonus", maskable_ppo=0.01)
    value_weight: float = setting(0.5, "weight of the value loss", only="maskable_ppo")
    magnet: float = setting(
        0.2, "weight of the divergence from the magnet, a slow copy of the policy", only="magnetic_ppo"
    )
    magnet_speed: float = setting(
        0.05, "part of its way to the policy that the magnet goes at an update", only="magnetic_ppo"
    )
    reward: str = setting("margin", "what is learnt: margin, points or win")
    league: float = setting(0.0, "share of the rows that play the league, at least one row; 0: all play themselves")
    league_size: int = setting(12, "past selves in the league at most", needs="league")
    league_thumbs: float = setting(
        0.2, "share of league games against rules of thumb, once there are past selves", needs="league"
    )
    league_hardness: float = setting(4.0, "how much rather those are met who do better; 0: all alike", needs="league")
    gate_updates: int = setting(30, "updates between two candidates for the league", needs="league")
    gate_elo: float = setting(
        10.0, "a candidate enters if it is so much stronger than the last one, and not equal", needs="league"
    )
    gate_deals: int = setting(4000, "deals of a candidate's match at most", needs="league")
    ladder: tuple[str, ...] = setting(("random", "greedy", "doubles", "flexible"), "agents to be measured against")
    ladder_deals: int = setting(1000, "mirrored deals against each of them")
    ladder_minutes: float = setting(2.0, "minutes between two looks at the ladder, each after a checkpoint")
    checkpoint_minutes: float = setting(1.0, "minutes between two checkpoints")
    threads: int = setting(0, "threads that learn; 0: as many as pay on this machine")

    def __post_init__(self) -> None:
        for name, words in {"algorithm": ALGORITHMS, "reward": ("margin", "points", "win")}.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed; allowed: {', '.join(words)}")
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is None and field.metadata["others"]:
                default = field.metadata["others"].get(self.algorithm, field.metadata["default"])
                object.__setattr__(self, field.name, default)
        wholes = {"steps": 0, "seed": 0, "rows": 1, "rollout": 2, "batch": 2, "epochs": 1, "threads": 0}
        wholes |= {"league_size": 1, "gate_updates": 1, "gate_deals": 1, "ladder_deals": 2}
        for name, least in wholes.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r} is not allowed; allowed: an integer of at least {least}")
        if self.seed >= 2**31:
            raise ValueError(f"seed={self.seed!r} is not allowed; allowed: an integer below 2**31")
        for name, most in _ABOVE_0.items():
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value <= most:
                bound = "" if most == math.inf else f", at most {most}"
                raise ValueError(f"{name}={value!r} is not allowed; allowed: a number above 0{bound}")
        for name, most in _FROM_0.items():
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= most:
                bound = "" if most == math.inf else f", at most {most}"
                raise ValueError(f"{name}={value!r} is not allowed; allowed: a number of at least 0{bound}")
        if not self.hidden or any(isinstance(u, bool) or not isinstance(u, int) or u < 1 for u in self.hidden):
            raise ValueError(f"hidden={self.hidden!r} is not allowed; allowed: integers of at least 1, such as 128,128")
        are_names = isinstance(self.ladder, tuple) and all(isinstance(name, str) and name for name in self.ladder)
        if not self.ladder or not are_names:
            raise ValueError(f"ladder={self.ladder!r} is not allowed; allowed: agents by name, such as greedy,flexible")
        if self.batch > self.rows * self.rollout:
            most = self.rows * self.rollout
            raise ValueError(f"batch={self.batch!r} is not allowed; allowed: at most rows * rollout = {most}")
        self._refuse_unread()

    def _refuse_unread(self) -> None:
        for field in dataclasses.fields(self):
            reader, needed, value = field.metadata["only"], field.metadata["needs"], getattr(self, field.name)
            if reader not in (None, self.algorithm) and value != field.default:
                raise ValueError(
                    f"{field.name}={value!r} is not allowed with algorithm={self.algorithm!r}, which does not read it; "
                    f"allowed: {field.default!r}, or algorithm={reader!r}"
                )
            if needed is not None and not getattr(self, needed) and value != field.default:
                raise ValueError(
                    f"{field.name}={value!r} is not allowed with {needed}=0, which does not read it; "
                    f"allowed: {field.default!r}, or a {needed} above 0"
                )

    def to_dict(self) -> dict[str, Any]:
        """Every setting and its value, as JSON has it."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in dataclasses.asdict(self).items()
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainConfig:
        """The inverse of :meth:`to_dict`; settings left out take their default."""
        names = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise ValueError(f"unknown setting {name!r}; the settings are: {', '.join(names)}")
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**settings)


#: Settings that may differ when a run is resumed: they bound or report it, and do not change what is learnt so far.
CHANGEABLE = ("minutes", "steps", "ladder_minutes", "checkpoint_minutes", "threads")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
