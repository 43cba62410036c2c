"""Ids of the environments in PettingZoo's registry: ``dominoes/<preset>-v0``, turn-based (aec) and parallel.

It names the presets itself, so that registering them loads neither the engine nor an environment.
"""

from __future__ import annotations

import pettingzoo

__all__ = ["PRESETS", "register_presets"]

#: The names in ``VARIANTS``.
PRESETS = (
    "block",
    "block_121",
    "draw",
    "all_fives",
    "classic_block",
    "partners",
    "cuban",
    "muggins",
    "threes",
    "fives_and_threes",
    "bergen",
)


def register_presets() -> None:
    """Register every preset; again does nothing, and so does a PettingZoo without a registry (before 1.27)."""
    if not hasattr(pettingzoo, "register"):
        return
    forms = (
        ("aec", pettingzoo.aec_registry, "dominoes_env.envs.aec:env"),
        ("parallel", pettingzoo.parallel_registry, "dominoes_env.envs.parallel:parallel_env"),
    )
    for form, registry, entry_point in forms:
        for preset in PRESETS:
            name = f"dominoes/{preset}-v0"
            if name not in registry:
                pettingzoo.register(form, name, entry_point=entry_point, kwargs={"variant": preset})
