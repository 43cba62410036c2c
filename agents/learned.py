"""The player ``learned``: a trained policy, run without torch.

The network adds up each row in one fixed order, so that an answer is the same to the last bit alone and in any batch.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turn, Turns
from agents.keys import fraction
from agents.policy_file import Policy, differing_rules, find_policy, load_policy
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import describe_rules

__all__ = ["MODES", "LearnedAgent", "action_logits"]

#: How an action is taken from the policy: the most probable one, or each by its probability.
MODES = ("best", "sample")
#: Observations that go through the network together: their units stay in a core's nearest cache beside the weights.
_BLOCK = 8


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
    taken = np.empty(inputs, np.int64)
    count = 0
    for i in range(inputs):
        taken[count] = i
        count += values[i] != 0
    whole = count - count % 4
    for k in range(0, whole, 4):  # four at a time: an output is read and written once for them
        a, b, c, d = taken[k], taken[k + 1], taken[k + 2], taken[k + 3]
        row_a, row_b = weights[a * outputs : (a + 1) * outputs], weights[b * outputs : (b + 1) * outputs]
        row_c, row_d = weights[c * outputs : (c + 1) * outputs], weights[d * outputs : (d + 1) * outputs]
        va, vb, vc, vd = np.float32(values[a]), np.float32(values[b]), np.float32(values[c]), np.float32(values[d])
        for j in range(outputs):
            out[j] += va * row_a[j] + vb * row_b[j] + vc * row_c[j] + vd * row_d[j]
    for k in range(whole, count):
        row = weights[taken[k] * outputs : (taken[k] + 1) * outputs]
        value = np.float32(values[taken[k]])
        for j in range(outputs):
            out[j] += value * row[j]


@jit
def _add_units(out, weights, values, rows, inputs, outputs):  # type: ignore[no-untyped-def]
    """Add ``values @ weights`` to ``out`` in all rows, in each by the same additions whatever the number of rows.

    Four inputs at a time, and their weights for all rows, so that they are fetched once.
    """
    whole = inputs - inputs % 4
    for i in range(0, whole, 4):
        start = i * outputs
        row_a, row_b = weights[start : start + outputs], weights[start + outputs : start + 2 * outputs]
        row_c = weights[start + 2 * outputs : start + 3 * outputs]
        row_d = weights[start + 3 * outputs : start + 4 * outputs]
        for row in range(rows):
            va, vb, vc, vd = values[row, i], values[row, i + 1], values[row, i + 2], values[row, i + 3]
            sums = out[row]
            for j in range(outputs):
                sums[j] += va * row_a[j] + vb * row_b[j] + vc * row_c[j] + vd * row_d[j]
    for i in range(whole, inputs):
        weight = weights[i * outputs : (i + 1) * outputs]
        for row in range(rows):
            value, sums = values[row, i], out[row]
            for j in range(outputs):
                sums[j] += value * weight[j]


@jit
def _forward(parameters, sizes, is_tanh, observations, values, scratch):  # type: ignore[no-untyped-def]
    """Logits of some observations into ``values[:, :sizes[-1]]``.

    ``parameters``: each layer's weights (inputs, outputs) row by row, then its biases, one after another, float32.
    ``values`` and ``scratch``: a row an observation at least, as wide as the widest layer.
    """
    num_layers, rows = len(sizes) - 1, len(observations)
    start = 0
    for layer in range(num_layers):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        bias = start + inputs * outputs
        weights = parameters[start:bias]
        for row in range(rows):
            scratch[row, :outputs] = parameters[bias : bias + outputs]
        if layer == 0:
            for row in range(rows):
                _add_inputs(scratch[row], weights, observations[row], inputs, outputs)
        else:
            _add_units(scratch, weights, values, rows, inputs, outputs)
        start = bias + outputs
        for row in range(rows):
            out = scratch[row, :outputs]
            if layer < num_layers - 1:
                if is_tanh:
                    _tanh_in_place(out, outputs)
                else:
                    out[:] = np.maximum(out, np.float32(0))
            values[row, :outputs] = out


@jit
def _logits(parameters, sizes, is_tanh, observations, logits):  # type: ignore[no-untyped-def]
    shape = min(len(observations), _BLOCK), sizes.max()
    values, scratch = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for start in range(0, len(observations), _BLOCK):
        block = observations[start : start + _BLOCK]
        _forward(parameters, sizes, is_tanh, block, values, scratch)
        logits[start : start + len(block)] = values[: len(block), : sizes[-1]]


@jit
def _choose(parameters, sizes, is_tanh, observations, masks, keys, best, actions):  # type: ignore[no-untyped-def]
    shape = min(len(observations), _BLOCK), sizes.max()
    logits, scratch = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for start in range(0, len(observations), _BLOCK):
        block = observations[start : start + _BLOCK]
        _forward(parameters, sizes, is_tanh, block, logits, scratch)
        for k in range(len(block)):
            values, row = logits[k], start + k
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
        self._width = self.policy.sizes[0]
        self._is_tanh = self.policy.activation == "tanh"

    def check_rules(self, rules: Rules) -> None:
        """A policy plays the game that it was trained for, to the last knob."""
        if rules is not self.policy.rules and rules != self.policy.rules:
            variant, _ = describe_rules(self.policy.rules)
            differing = differing_rules(self.policy.rules, rules)
            raise ValueError(f"the policy {self.name} was trained for other rules ({variant}): {differing}")

    def act(self, turn: Turn) -> int:
        key = np.array([turn.key], np.uint64)
        return int(self._chosen(turn.rules, turn.observation[None], turn.mask[None], key)[0])

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        return self._chosen(turns.rules, turns.observations, turns.masks, turns.keys)

    def _chosen(
        self, rules: Rules, observations: NDArray[np.int8], masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        actions = np.zeros(len(masks), np.int64)
        inputs, masks = self._inputs(rules, observations), np.ascontiguousarray(masks)
        _choose(self._parameters, self._sizes, self._is_tanh, inputs, masks, keys, self.mode == "best", actions)
        return actions

    def probabilities(self, turns: Turns) -> NDArray[np.float64]:
        """Those of the policy over the legal actions; of ``mode="best"`` all on its most probable one."""
        logits = np.empty(turns.masks.shape, np.float32)
        _logits(self._parameters, self._sizes, self._is_tanh, self._inputs(turns.rules, turns.observations), logits)
        values = np.where(turns.masks == 1, logits.astype(np.float64), -np.inf)
        probabilities: NDArray[np.float64] = np.zeros(values.shape)
        if self.mode == "best":
            probabilities[np.arange(len(turns)), values.argmax(axis=1)] = 1
        else:
            np.exp(values - values.max(axis=1, keepdims=True), out=probabilities)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _inputs(self, rules: Rules, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """The part of the observations that the network reads."""
        self.check_rules(rules)
        width = self._width
        if observations.shape[1] < width:
            raise ValueError(f"the policy {self.name} needs observations with history=True")
        return np.ascontiguousarray(observations[:, :width])
