"""How much of a training's time is spent in the environment: stock MaskablePPO on the self-play VecEnv, timed inside.

Needs the extra ``train``.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from dominoes_env.engine.rules import Rules
from dominoes_env.envs.sb3 import SelfPlayVecEnv

__all__ = ["environment_share"]


class _TimedVecEnv(SelfPlayVecEnv):
    """Adds up the seconds spent in steps and masks."""

    spent = 0.0

    def step(self, actions: Any) -> Any:
        began = time.perf_counter()
        outcome = super().step(actions)
        self.spent += time.perf_counter() - began
        return outcome

    def env_method(self, *arguments: Any, **options: Any) -> list[Any]:
        began = time.perf_counter()
        outcome = super().env_method(*arguments, **options)
        self.spent += time.perf_counter() - began
        return outcome


def environment_share(
    rules: Rules, *, rows: int = 512, rollout: int = 32, batch: int = 2048, epochs: int = 4, updates: int = 2
) -> dict[str, Any]:
    """Train for ``updates`` updates after one to warm up, on one thread of torch, with a net of 64 x 64.

    Returns:
        ``share`` of the time in ``step`` and the masks, 0 to 1; ``decisions_per_second``; and the settings.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        env = _TimedVecEnv(rules, rows, seed=1)
        model = MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=rollout,
            batch_size=batch,
            n_epochs=epochs,
            policy_kwargs={"net_arch": [64, 64]},
            seed=1,
            device="cpu",
        )
        model.learn(rows * rollout)
        env.spent = 0.0
        began = time.perf_counter()
        model.learn(updates * rows * rollout)
        took = time.perf_counter() - began
    finally:
        torch.set_num_threads(threads)
    return {
        "share": env.spent / took,
        "decisions_per_second": round(updates * rows * rollout / took, 1),
        "rows": rows,
        "rollout": rollout,
        "batch": batch,
        "epochs": epochs,
        "net": [64, 64],
    }
