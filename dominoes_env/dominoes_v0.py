"""Version 0 of the environment, as PettingZoo names such modules; its ids are ``dominoes/<preset>-v0``.

``pettingzoo.make("aec", "dominoes/all_fives-v0", num_players=3)`` and ``pettingzoo.make("parallel", ...)`` then work.
"""

from __future__ import annotations

from dominoes_env.envs.aec import env, raw_env
from dominoes_env.envs.parallel import parallel_env

__all__ = ["env", "parallel_env", "raw_env"]
