"""The player ``learned``: a trained policy, run without torch.

The network is evaluated row by row in one fixed order of additions, so that an answer is the same to the last bit alone
and in any batch.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from agents.keys import fraction
from agents.policy_file import Policy, differing_rules, find_policy, load_policy
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import describe_rules

__all__ = ["MODES", "LearnedAgent", "action_logits"]

#: How an action is taken from the policy: the most probable one, or each by its probability.
MODES = ("best", "sample")


@jit
def _tanh_in_place(values, count):  # type: ignore[no-untyped-def]
    """The hyperbolic tangent of ``values[:count]`` (float32) as a ratio of polynomials, off by at most 4e-7.

    The coefficients are those of Eigen (Eigen/src/Core/MathFunctionsImpl.h); a loop of them runs on all lanes of the
    processor, where the C library takes one value at a time and eight times as long.
    """
    for j in range(count):
        x = values[j]
        x = np.float32(7.9) if x > np.float32(7.9) else x
        x = np.float32(-7.9) if x < np.float32(-7.9) else x
        z = x * x
        top = np.float32(2.00018790482477e-13) + z * np.float32(-2.76076847742355e-16)
        top = np.float32(-8.60467152213735e-11) + z * top
        top = np.float32(5.12229709037114e-08) + z * top
        top = np.float32(1.48572235717979e-05) + z * top
        top = np.float32(6.37261928875436e-04) + z * top
        top = np.float32(4.89352455891786e-03) + z * top
        bottom = np.float32(1.18534705686654e-04) + z * np.float32(1.19825839466702e-06)
        bottom = np.float32(2.26843463243900e-03) + z * bottom
        bottom = np.float32(4.89352518554385e-03) + z * bottom
        values[j] = x * top / bottom


@jit
def _add_inputs(out, weights, values, inputs, outputs):  # type: ignore[no-untyped-def]
    """Add ``values @ weights`` to ``out``; inputs that are 0, most of an observation, cost nothing."""
    taken = np.empty(4, np.int64)
    count = 0
    for i in range(inputs):
        if values[i] != 0:
            taken[count] = i
            count += 1
        if count == 4:  # four at a time: an output is read and written once for them
            a, b, c, d = taken[0], taken[1], taken[2], taken[3]
            row_a, row_b = weights[a * outputs : (a + 1) * outputs], weights[b * outputs : (b + 1) * outputs]
            row_c, row_d = weights[c * outputs : (c + 1) * outputs], weights[d * outputs : (d + 1) * outputs]
            va, vb, vc, vd = values[a], values[b], values[c], values[d]
            for j in range(outputs):
                out[j] += va * row_a[j] + vb * row_b[j] + vc * row_c[j] + vd * row_d[j]
            count = 0
    for k in range(count):
        row = weights[taken[k] * outputs : (taken[k] + 1) * outputs]
        value = values[taken[k]]
        for j in range(outputs):
            out[j] += value * row[j]


@jit
def _forward(parameters, sizes, is_tanh, observation, values, scratch):  # type: ignore[no-untyped-def]
    """Logits of one observation into ``values[:sizes[-1]]``; ``values`` and ``scratch`` hold the widest layer.

    ``parameters``: each layer's weights (inputs, outputs) row by row, then its biases, one after another, float32.
    """
    num_layers = len(sizes) - 1
    for i in range(sizes[0]):
        values[i] = observation[i]
    start = 0
    for layer in range(num_layers):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        bias = start + inputs * outputs
        out = scratch[:outputs]
        out[:] = parameters[bias : bias + outputs]
        _add_inputs(out, parameters[start:bias], values, inputs, outputs)
        start = bias + outputs
        if layer < num_layers - 1:
            if is_tanh:
                _tanh_in_place(out, outputs)
            else:
                out[:] = np.maximum(out, np.float32(0))
        values[:outputs] = out


@jit
def _logits(parameters, sizes, is_tanh, observations, logits):  # type: ignore[no-untyped-def]
    widest = sizes.max()
    values, scratch = np.empty(widest, np.float32), np.empty(widest, np.float32)
    for row in range(len(observations)):
        _forward(parameters, sizes, is_tanh, observations[row], values, scratch)
        logits[row] = values[: sizes[-1]]


@jit
def _choose(parameters, sizes, is_tanh, observations, masks, keys, best, actions):  # type: ignore[no-untyped-def]
    widest = sizes.max()
    values, scratch = np.empty(widest, np.float32), np.empty(widest, np.float32)
    for row in range(len(observations)):
        _forward(parameters, sizes, is_tanh, observations[row], values, scratch)
        top = -1
        for action in range(masks.shape[1]):
            if masks[row, action] == 1 and (top < 0 or values[action] > values[top]):
                top = action
        actions[row] = top
        if best:
            continue
        total = 0.0
        for action in range(masks.shape[1]):
            if masks[row, action] == 1:
                total += math.exp(np.float64(values[action]) - np.float64(values[top]))
        left = fraction(keys[row]) * total
        for action in range(masks.shape[1]):
            if masks[row, action] == 1:
                left -= math.exp(np.float64(values[action]) - np.float64(values[top]))
                if left < 0:
                    actions[row] = action
                    break


def _packed(policy: Policy) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    parts = [np.concatenate([w.ravel(), b]) for w, b in zip(policy.weights, policy.biases, strict=True)]
    return np.concatenate(parts), np.array(policy.sizes, np.int64)


def action_logits(policy: Policy, observations: NDArray[np.int8]) -> NDArray[np.float32]:
    """The network's logits, legal and illegal alike, shape (m, A), of observations of shape (m, D)."""
    parameters, sizes = _packed(policy)
    logits = np.empty((len(observations), policy.rules.num_actions), np.float32)
    _logits(parameters, sizes, policy.activation == "tanh", np.ascontiguousarray(observations, np.int8), logits)
    return logits


class LearnedAgent(BatchAgent):
    """A trained policy.

    Args:
        path: what :func:`agents.policy_file.find_policy` finds, or the policy itself.
        mode: ``best`` takes the most probable legal action, ``sample`` each by its probability.

    Raises:
        ValueError, FileNotFoundError: as :func:`agents.policy_file.load_policy`, and for an unknown mode.
    """

    gives_probabilities = True
    source: Path | None
    """The header file of the policy; None where the policy itself was given."""

    def __init__(self, path: str | Path | Policy, mode: str = "best") -> None:
        if mode not in MODES:
            raise ValueError(f"mode={mode!r} is not allowed; allowed: {', '.join(MODES)}")
        self.source = None if isinstance(path, Policy) else find_policy(path)
        self.policy = path if isinstance(path, Policy) else load_policy(path)
        self.mode = mode
        self.needs_history = self.policy.history
        self.name = "learned" if isinstance(path, Policy) else str(path)
        self._parameters, self._sizes = _packed(self.policy)

    def check_rules(self, rules: Rules) -> None:
        """A policy plays the game that it was trained for, to the last knob."""
        if rules is not self.policy.rules and rules != self.policy.rules:
            variant, _ = describe_rules(self.policy.rules)
            differing = differing_rules(self.policy.rules, rules)
            raise ValueError(f"the policy {self.name} was trained for other rules ({variant}): {differing}")

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        observations = self._inputs(turns)
        actions = np.zeros(len(turns), np.int64)
        masks = np.ascontiguousarray(turns.masks)
        is_tanh = self.policy.activation == "tanh"
        is_best = self.mode == "best"
        _choose(self._parameters, self._sizes, is_tanh, observations, masks, turns.keys, is_best, actions)
        return actions

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        """Those of the policy over the legal actions; of ``mode="best"`` all on its most probable one."""
        logits = np.empty(turns.masks.shape, np.float32)
        is_tanh = self.policy.activation == "tanh"
        _logits(self._parameters, self._sizes, is_tanh, self._inputs(turns), logits)
        values = np.where(turns.masks == 1, logits.astype(np.float64), -np.inf)
        probabilities: NDArray[np.float64] = np.zeros(values.shape)
        if self.mode == "best":
            probabilities[np.arange(len(turns)), values.argmax(axis=1)] = 1
        else:
            np.exp(values - values.max(axis=1, keepdims=True), out=probabilities)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _inputs(self, turns: Turns) -> NDArray[np.int8]:
        """The part of the observations that the network reads."""
        self.check_rules(turns.rules)
        width = self.policy.sizes[0]
        if turns.observations.shape[1] < width:
            raise ValueError(f"the policy {self.name} needs observations with history=True")
        return np.ascontiguousarray(turns.observations[:, :width])
