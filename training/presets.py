"""Presets of ``dominoes train --preset NAME``: a game and the settings that make a good player of it from nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from training.wishes import Wishes

__all__ = ["PRESETS", "Preset", "get_preset"]


@dataclass(frozen=True)
class Preset:
    """A game and settings for it, for two cores; a player in the box has the name of its preset."""

    name: str
    meaning: str
    variant: str
    num_players: int
    settings: dict[str, Any]
    """Where they differ from the defaults of :class:`training.config.TrainConfig`."""
    knobs: dict[str, Any] = field(default_factory=dict)
    """Rules that differ from the variant's."""

    @property
    def wishes(self) -> Wishes:
        """The preset as one of those who ask."""
        return Wishes(self.variant, self.num_players, dict(self.knobs), dict(self.settings), self.name)


#: Measured in equal minutes of `classic_block`, learning to win gives more wins, learning the margin more points.
_HALF_AN_HOUR: dict[str, Any] = {"minutes": 30.0, "reward": "win"}

_PRESETS = (
    Preset("block-2p", "block with penalty points, two players", "block", 2, _HALF_AN_HOUR),
    Preset("draw-2p", "the draw game, two players", "draw", 2, _HALF_AN_HOUR),
    Preset("all_fives-2p", "All Fives, two players", "all_fives", 2, _HALF_AN_HOUR),
    Preset("classic_block-2p", "block as most people play it, two players", "classic_block", 2, _HALF_AN_HOUR),
    Preset("partners-4p", "two against two, all tiles dealt", "partners", 4, _HALF_AN_HOUR),
    # By exact exploitability: with the default magnet it ends at 0.37 points a round, however long.
    Preset(
        "double_three-2p",
        "classic block small enough to be solved: double-three, four tiles a hand, seat 0 leads",
        "classic_block",
        2,
        {"minutes": 10.0, "magnet": 0.5, "magnet_speed": 0.02, "gae_lambda": 0.95},
        {"max_pip": 3, "hand_size": 4, "opening": "seat_0"},
    ),
)

#: The presets by name.
PRESETS: dict[str, Preset] = {preset.name: preset for preset in _PRESETS}


def get_preset(name: str) -> Preset:
    """The preset called ``name``.

    Raises:
        ValueError: if there is none.
    """
    if name not in PRESETS:
        raise ValueError(f"preset={name!r} is unknown; presets: {', '.join(PRESETS)}")
    return PRESETS[name]
