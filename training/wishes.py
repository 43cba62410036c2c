"""What a run is asked to be, by several who may ask: defaults, a preset, a file, flags; the later ones on top."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import make_rules
from training.config import TrainConfig, checked_settings
from training.run_directory import CONFIG_NAME, FORMAT

__all__ = ["Wishes", "read_wishes"]

_KEYS = ("preset", "variant", "num_players", "rules", "config")
#: What a run's own ``config.json`` says besides.
_RECORDS = ("format", "format_version", "rules_version", "observation_version", "versions", "origin")


@dataclass(frozen=True)
class Wishes:
    """What one of them asks for; None and empty dicts are no wish."""

    variant: str | None = None
    num_players: int | None = None
    knobs: dict[str, Any] = field(default_factory=dict)
    """Of the rules, on top of the variant's."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Of :class:`training.config.TrainConfig`."""
    preset: str | None = None

    @property
    def has_rules(self) -> bool:
        """Whether the game is asked for."""
        return self.variant is not None or self.num_players is not None or bool(self.knobs)

    def under(self, top: Wishes) -> Wishes:
        """Both, those of ``top`` first. A variant that ``top`` names begins the rules anew."""
        if top.variant is not None:
            game = top
        else:
            num_players = self.num_players if top.num_players is None else top.num_players
            game = Wishes(self.variant, num_players, {**self.knobs, **top.knobs})
        return Wishes(
            game.variant, game.num_players, game.knobs, {**self.settings, **top.settings}, top.preset or self.preset
        )

    def rules(self) -> tuple[str, Rules]:
        """The name of the variant (``draw`` if none is asked for) and the rules.

        Raises:
            ValueError: for what is not allowed, all named in the message.
        """
        variant = "draw" if self.variant is None else self.variant
        return variant, make_rules(variant, num_players=self.num_players, **self.knobs)

    def config(self) -> TrainConfig:
        """The settings, defaults where nothing is asked for.

        Raises:
            ValueError: for an unknown setting, or a value that is not allowed.
        """
        return TrainConfig.from_dict(self.settings)


def read_wishes(path: str | Path) -> Wishes:
    """The wishes in a file: TOML, or the ``config.json`` of a run, whose directory may be given for it.

        preset = "draw-2p"      # each of these may be left out
        variant = "draw"
        num_players = 2
        [rules]                 # knobs
        target = 50
        [config]                # settings
        minutes = 30
        hidden = [128, 128]

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is damaged, or has a key that is not allowed; the message names the file and what is allowed.
    """
    file = Path(path) / CONFIG_NAME if Path(path).is_dir() else Path(path)
    if file.suffix not in (".toml", ".json"):
        raise ValueError(f"--config {path} is not allowed; allowed: a file .toml or .json, or a run directory")
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist")
    try:
        return _wishes(_parsed(file))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} cannot be used: {error}") from None


def _parsed(file: Path) -> dict[str, Any]:
    text = file.read_text()
    content = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    if not isinstance(content, dict):
        raise ValueError("it is no table of settings")
    return content


def _wishes(content: dict[str, Any]) -> Wishes:
    allowed = (*_KEYS, *_RECORDS) if content.get("format") == FORMAT else _KEYS
    for key in content:
        if key not in allowed:
            raise ValueError(f"unknown key {key!r}; the keys are: {', '.join(_KEYS)}")
    for key in ("rules", "config", "origin"):
        if not isinstance(content.get(key, {}), dict):
            raise ValueError(f"{key}={content[key]!r} is not allowed; allowed: a table")
    preset = content.get("preset", content.get("origin", {}).get("preset"))
    if not isinstance(preset, (str, type(None))):
        raise ValueError(f"preset={preset!r} is not allowed; allowed: the name of a preset")
    knobs = dict(content.get("rules", {}))
    num_players = knobs.pop("num_players", content.get("num_players"))
    if content.get("num_players", num_players) != num_players:
        raise ValueError(f"num_players={content['num_players']!r} contradicts rules.num_players={num_players!r}")
    settings = checked_settings(content.get("config", {}))  # what does not go together may be mended by others
    wishes = Wishes(content.get("variant"), num_players, knobs, settings, preset)
    if wishes.variant is not None:
        wishes.rules()
    return wishes
