"""Ids of the environments: ``dominoes/<preset>-v0`` in PettingZoo's registry, turn-based (aec) and parallel, and
``Dominoes-v0`` in Gymnasium's, single and vector.

It names the presets itself, so that registering them loads neither the engine nor an environment.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

__all__ = ["GYMNASIUM_ID", "PRESETS", "register_gymnasium", "register_presets"]

GYMNASIUM_ID = "Dominoes-v0"

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


def register_gymnasium() -> None:
    """Register the one id; ``make`` and ``make_vec`` pass ``variant`` and the rest on. Again does nothing."""
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="dominoes_env.envs.single_agent:gym_env",
            vector_entry_point="dominoes_env.envs.vector:vector_env",
        )


def register_presets() -> None:
    """Register every preset with PettingZoo. Again does nothing; so does a PettingZoo before 1.27, without registry."""
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
