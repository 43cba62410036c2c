"""``TrainConfig``: every setting of a training run, a line a field; the text beside a field is the flag's help."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

__all__ = ["ALGORITHMS", "CHANGEABLE", "RULES_OF_THUMB", "TrainConfig", "checked_settings", "setting"]

#: Our own PPO with a magnet and a critic that sees all hands, and MaskablePPO of sb3-contrib; each in its file here.
ALGORITHMS = ("magnetic_ppo", "maskable_ppo")
#: Agents that cost next to nothing: the usual ladder, and what a league always has.
RULES_OF_THUMB = ("random", "greedy", "doubles", "flexible")


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


#: Beyond it a number is as good as infinite.
_LARGEST = 1e300
_WORDS = {"algorithm": ALGORITHMS, "reward": ("margin", "points", "win")}
#: The least value of settings that are integers. A rollout of 5 holds two decisions of a seat, whoever moves.
_WHOLES = {"steps": 0, "seed": 0, "rows": 1, "rollout": 5, "batch": 2, "epochs": 1, "threads": 0}
_WHOLES |= {"league_size": 1, "gate_updates": 1, "gate_deals": 1, "ladder_deals": 2}
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
    against: str = setting("", "agent that all games are played against, which stays as it is; empty: self-play")
    ladder: tuple[str, ...] = setting(RULES_OF_THUMB, "agents to be measured against")
    ladder_deals: int = setting(1000, "mirrored deals against each of them")
    ladder_minutes: float = setting(2.0, "minutes between two looks at the ladder, each after a checkpoint")
    checkpoint_minutes: float = setting(1.0, "minutes between two checkpoints")
    threads: int = setting(0, "threads that learn, of magnetic_ppo 2 at most; 0: as many as pay on this machine")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is None and field.metadata["others"]:
                default = field.metadata["others"].get(self.algorithm, field.metadata["default"])
                object.__setattr__(self, field.name, default)
            _refuse(field.name, getattr(self, field.name))
        if self.batch > self.rows * self.rollout:
            most = self.rows * self.rollout
            raise ValueError(f"batch={self.batch!r} is not allowed; allowed: at most rows * rollout = {most}")
        if self.against and self.league:
            raise ValueError(f"league={self.league!r} is not allowed with against={self.against!r}; allowed: 0")
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
        return cls(**checked_settings(values))


#: Settings that may differ when a run is resumed: they bound or report it, and do not change what is learnt so far.
CHANGEABLE = ("minutes", "steps", "ladder_minutes", "checkpoint_minutes", "threads")


def checked_settings(values: dict[str, Any]) -> dict[str, Any]:
    """Settings as JSON or TOML has them, as :class:`TrainConfig` takes them: each known and allowed by itself.

    Raises:
        ValueError: for one that is not, whatever the others are.
    """
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    settings = {}
    for name, value in values.items():
        if name not in names:
            raise ValueError(f"unknown setting {name!r}; the settings are: {', '.join(names)}")
        settings[name] = tuple(value) if isinstance(value, list) else value
        _refuse(name, settings[name])
    return settings


def _refuse(name: str, value: Any) -> None:
    """Raise ValueError for a value that is not allowed, whatever the other settings are."""
    if allowed := _allowed(name, value):
        raise ValueError(f"{name}={value!r} is not allowed; allowed: {allowed}")


def _allowed(name: str, value: Any) -> str:
    """What is allowed where ``value`` is not; empty where it is."""
    if name in _WORDS:
        return "" if value in _WORDS[name] else ", ".join(_WORDS[name])
    if name in _WHOLES:
        least = _WHOLES[name]
        if not _is_whole(value) or value < least:
            return f"an integer of at least {least}"
        return "an integer below 2**31" if value >= 2**31 and name != "steps" else ""
    if name == "against":
        return "" if isinstance(value, str) else "an agent by name, or nothing"
    if name == "hidden":
        are_units = isinstance(value, tuple) and all(_is_whole(units) and units >= 1 for units in value)
        return "" if value and are_units else "integers of at least 1, such as 128,128"
    if name == "ladder":
        are_names = isinstance(value, tuple) and all(isinstance(agent, str) and agent for agent in value)
        is_once = are_names and len(set(value)) == len(value)
        return "" if value and is_once else "agents by name, each once, such as greedy,flexible"
    most = (_ABOVE_0 | _FROM_0)[name]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST
    if is_number and (0 < value <= most or (value == 0 and name in _FROM_0)):
        return ""
    bound = "" if most == math.inf else f", at most {most}"
    return f"a number {'of at least' if name in _FROM_0 else 'above'} 0{bound}"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
