"""What a file was made for: versions and rules, by which those of another game or package version are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.observation import OBSERVATION_VERSION

__all__ = ["VERSIONS", "differing_rules", "other_version", "read_rules"]

#: What this package plays and shows; kept in every file that holds what was learnt.
VERSIONS = {"rules_version": RULES_VERSION, "observation_version": OBSERVATION_VERSION}


def other_version(found: Mapping[str, Any]) -> str:
    """In words, both named, the first version that differs from this package's; empty if none does."""
    for name, current in VERSIONS.items():
        if found.get(name) != current:
            return f"was made for {name} {found.get(name)!r}, this version has {name} {current}"
    return ""


def read_rules(knobs: dict[str, Any]) -> Rules:
    """The rules of a file, which names every knob.

    Raises:
        TypeError, ValueError: for a knob that is unknown, not allowed or missing.
    """
    rules = Rules.from_dict(knobs)
    if lacking := rules.to_dict().keys() - knobs.keys():
        raise ValueError(f"the rules lack {', '.join(sorted(lacking))} (edited?)")
    return rules


def differing_rules(own: Rules, asked: Rules) -> str:
    """The knobs in which two rule sets differ, as words; empty if they are equal."""
    left, right = own.to_dict(), asked.to_dict()
    return ", ".join(f"{knob}={left[knob]!r}, not {right[knob]!r}" for knob in left if left[knob] != right[knob])
