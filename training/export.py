"""From a torch policy to a policy file, and the scaling of observations that is folded into its first layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from agents.policy_file import Policy
from dominoes_env.engine.rules import Rules

__all__ = ["ScaledObservation", "export_policy"]


class ScaledObservation(BaseFeaturesExtractor):
    """The observation divided, entry by entry, by the largest size that it can have, so that all lie in -1..1."""

    scale: torch.Tensor

    def __init__(self, observation_space: Box) -> None:
        super().__init__(observation_space, int(np.prod(observation_space.shape)))
        largest = np.maximum(np.abs(observation_space.low.astype(np.float32)), np.abs(observation_space.high))
        scale = torch.from_numpy((1 / np.maximum(largest, 1)).astype(np.float32))
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return observations * self.scale


def export_policy(policy: MaskableActorCriticPolicy, rules: Rules, about: dict[str, Any]) -> Policy:
    """The actor of an sb3-contrib MLP policy as plain arrays.

    Raises:
        ValueError: if the policy is not of the kind that this project trains.
    """
    extractor = policy.features_extractor
    linears = [layer for layer in policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    others = {type(layer) for layer in policy.mlp_extractor.policy_net if not isinstance(layer, torch.nn.Linear)}
    if not isinstance(extractor, ScaledObservation) or others != {torch.nn.Tanh}:
        raise ValueError(f"a policy of {type(extractor).__name__} and {others} cannot be exported")
    layers = [*linears, policy.action_net]
    weights = [layer.weight.detach().cpu().numpy().T.astype(np.float32) for layer in layers]
    biases = [layer.bias.detach().cpu().numpy().astype(np.float32) for layer in layers]
    weights[0] = weights[0] * extractor.scale.cpu().numpy()[:, None]
    in_order = tuple(np.ascontiguousarray(weight) for weight in weights)
    return Policy(rules, in_order, tuple(biases), "tanh", history=False, about=about)
