"""From a torch network to a policy file, and the scaling of observations that is folded into its first layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.policy_file import Policy
from dominoes_env.engine.rules import Rules

__all__ = ["export_policy", "observation_scale"]


def observation_scale(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float32]:
    """What inputs with these bounds are multiplied by, entry by entry, so that all lie in -1..1; float32 (size,)."""
    largest = np.maximum(np.abs(low.astype(np.float32)), np.abs(high.astype(np.float32)))
    scale: NDArray[np.float32] = (1 / np.maximum(largest, 1)).astype(np.float32)
    return scale


def export_policy(
    layers: Sequence[torch.nn.Linear],
    scale: NDArray[np.float32],
    activation: str,
    rules: Rules,
    about: dict[str, Any],
) -> Policy:
    """Linear layers with ``activation`` between them, on observations times ``scale``, as plain arrays."""
    weights = [layer.weight.detach().cpu().numpy().T.astype(np.float32) for layer in layers]
    biases = [layer.bias.detach().cpu().numpy().astype(np.float32) for layer in layers]
    weights[0] = weights[0] * scale[:, None]
    in_order = tuple(np.ascontiguousarray(weight) for weight in weights)
    return Policy(rules, in_order, tuple(biases), activation, history=False, about=about)
