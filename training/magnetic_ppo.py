"""Our own algorithm: PPO that is drawn to a slow copy of itself, with a critic that sees all hands.

In a game of hidden hands the gradient alone runs in circles: every policy has its best answer, and that one its own.
Magnetic mirror descent (Sokota et al. 2023, "A unified approach to reinforcement learning, quantal response equilibria
and two-player zero-sum games") converges in self-play because each step also pulls the policy towards a magnet. In each
update, of the decisions of all seats,

    maximise   E[ min(r A, clip(r, 1 - clip, 1 + clip) A) ]  -  magnet * KL(policy, magnet)  +  entropy * H(policy)

where r is the probability of the action now over that when it was taken, and A its advantage to the seat that took it.
The clip keeps a step short, as the proximal term of mirror descent does. The magnet is an average of past weights:
after each update it goes ``magnet_speed`` of its way to the policy's.

The critic learns the return of a decision from what the seat sees and what it does not (``Table.hidden``), which takes
the luck of the deal out of the advantages. Only the actor is exported, and it reads observations alone.

An update is collect, judge, learn. What runs side by side shares nothing: two halves of the rows in which it plays
itself, and those of the league; actor and critic, which are two networks. So the number of threads changes nothing but
the time, not a bit of the weights.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.policy_file import Policy
from dominoes_env.engine.jit import jit
from dominoes_env.engine.rules import Rules
from dominoes_env.observation import hidden_layout, observation_space
from dominoes_env.table import Table, random_keys
from training.advantages import seat_advantages
from training.batch_play import Games, Rollout, gather, play_part, sample, to_log_probabilities
from training.checkpoint import packed, unpack
from training.config import TrainConfig
from training.export import export_policy, observation_scale
from training.league import League
from training.league_rows import LeagueRows
from training.machine import num_cores
from training.partner import Partner

__all__ = ["MagneticPPO", "make_magnetic_ppo", "policy_gradient"]

#: Decisions that are judged at once; their activations fit into a core's cache.
_CHUNK = 2048
#: Gradients longer than this are shortened to it.
_LONGEST = 0.5


@jit
def policy_gradient(now, magnets, masks, actions, taken, advantages, chosen, weights, gradient, sums):  # type: ignore[no-untyped-def]
    """The gradient by the logits of what an update minimises, the mean over the decisions ``chosen`` of

        -min(r A, clip(r) A)  +  magnet * KL(policy, magnet)  -  entropy * H(policy)

    Args:
        now: log-probabilities of the policy for the chosen decisions (m, A).
        magnets: those of the magnet, for all decisions (N, A); as the following:
        masks: legal actions (N, A).
        actions: what was done (N,).
        taken: the log-probability that it had then (N,).
        advantages: of it to the seat that did it (N,).
        chosen: indices of decisions (m,).
        weights: of the clip, the magnet and the entropy (3,).
        gradient: float32 (m, A), written; 0 for illegal actions.
        sums: float64 (4,): the sums of KL from the magnet, entropy, decisions clipped, and KL from the policy that
            acted (Schulman's estimate) are added.
    """
    clip, magnet_weight, entropy_weight = weights[0], weights[1], weights[2]
    for k in range(len(chosen)):
        row = chosen[k]
        entropy, divergence = 0.0, 0.0
        for action in range(masks.shape[1]):
            gradient[k, action] = 0
            if masks[row, action] == 1:
                log = np.float64(now[k, action])
                probability = math.exp(log)
                entropy -= probability * log
                divergence += probability * (log - magnets[row, action])
                gradient[k, action] = probability / len(chosen)
        change = np.float64(now[k, actions[row]]) - taken[row]
        ratio, advantage = math.exp(change), np.float64(advantages[row])
        is_clipped = ratio > 1 + clip if advantage > 0 else ratio < 1 - clip
        push = 0.0 if is_clipped else ratio * advantage
        for action in range(masks.shape[1]):
            if masks[row, action] == 1:
                log = np.float64(now[k, action])
                pull = magnet_weight * (log - magnets[row, action] - divergence) + entropy_weight * (log + entropy)
                gradient[k, action] *= push + pull
        gradient[k, actions[row]] -= push / len(chosen)
        sums[0] += divergence
        sums[1] += entropy
        sums[2] += is_clipped
        sums[3] += ratio - 1 - change


def _network(inputs: int, hidden: Sequence[int], outputs: int, gain: float, generator: torch.Generator) -> Any:
    """Linear layers with ReLU between, orthogonal at the start, the last one times ``gain``."""
    layers: list[torch.nn.Module] = []
    for units in (*hidden, outputs):
        layer = torch.nn.Linear(inputs, units)
        torch.nn.init.orthogonal_(layer.weight, math.sqrt(2) if len(layers) < 2 * len(hidden) else gain, generator)
        torch.nn.init.zeros_(layer.bias)
        layers += [layer, torch.nn.ReLU()]
        inputs = units
    return torch.nn.Sequential(*layers[:-1])


class MagneticPPO:
    """The learner of a run; see :class:`training.trainer.Learner` and :func:`make_magnetic_ppo`.

    Args:
        games: what is played, in parts that can be played side by side.
        scale: what the entries of an observation and of what is hidden are multiplied by, float32 (size,).
        config: the settings.
        reward_scale: what rewards are divided by.
    """

    title = "PPO with a magnet and a critic that sees all hands, self-play, every seat learns"

    def __init__(
        self, games: Sequence[Games], scale: NDArray[np.float32], config: TrainConfig, reward_scale: float
    ) -> None:
        self.config = config
        self.reward_scale = reward_scale
        self.decisions = 0
        self.games = games
        bounds = np.cumsum([0, *(part.num_games for part in games)]).tolist()
        self._parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        self._scale = scale
        self._size = games[0].observations.shape[1]
        self._keys = random_keys(config.seed, config.rows)
        self.rollout = Rollout.empty(config.rollout, config.rows, games[0])
        torch.set_num_threads(1)  # before the first weights: their orthogonalisation rounds otherwise with more
        generator = torch.Generator().manual_seed(config.seed)
        num_actions = games[0].masks.shape[1]
        self.actor = _network(self._size, config.hidden, num_actions, 0.01, generator)
        self.critic = _network(len(scale), config.hidden, 1, 1.0, generator)
        self.magnet = _network(self._size, config.hidden, num_actions, 0.01, generator)
        self.magnet.load_state_dict(self.actor.state_dict())
        self._optimizers = [
            torch.optim.Adam(network.parameters(), config.learning_rate, eps=1e-5, fused=True)
            for network in (self.actor, self.critic)
        ]
        self._orders = [np.random.Generator(np.random.PCG64([config.seed, number])) for number in range(2)]
        threads = min(2, config.threads or num_cores())
        # Each thread has to be told: in one that was not, products of some shapes are added up in another order.
        self._pool = ThreadPoolExecutor(threads, "dominoes", torch.set_num_threads, (1,))
        self._warm_up()

    def _together(self, *tasks: Callable[[], Any]) -> list[Any]:
        """What the tasks return, worked off by the threads."""
        return list(self._pool.map(lambda task: task(), tasks))

    def update(self, fraction: float) -> dict[str, float]:
        """One round of collecting, judging and learning."""
        rate = self.config.learning_rate * (1 - 0.9 * fraction)
        for optimizer in self._optimizers:
            optimizer.param_groups[0]["lr"] = rate
        began = time.monotonic()
        self._together(*(lambda number=number: self._collect(number) for number in range(len(self.games))))
        rollout = self.rollout
        self.decisions += rollout.actions.size
        collected = time.monotonic()
        values, magnets = self._together(self._values, self._magnets)
        advantages, known = seat_advantages(
            values[:-1], rollout.acted[:-1], rollout.rewards, rollout.dones, values[-1], rollout.acted[-1],
            self.config.gamma, self.config.gae_lambda,
        )  # fmt: skip
        decisions = np.flatnonzero(known)
        gained, goals = advantages.ravel(), (advantages + values[:-1]).ravel()
        of_size_one = (gained - gained[decisions].mean()) / (gained[decisions].std() + 1e-8)
        judged = time.monotonic()
        figures, error = self._together(
            lambda: self._teach_actor(decisions, of_size_one, magnets), lambda: self._teach_critic(decisions, goals)
        )
        with torch.no_grad():
            for slow, fast in zip(self.magnet.parameters(), self.actor.parameters(), strict=True):
                slow.lerp_(fast, self.config.magnet_speed)
        took = time.monotonic() - began
        return {
            **figures,
            "train/learning_rate": rate,
            "train/value_loss": error,
            "train/explained_variance": float(1 - gained[decisions].var() / goals[decisions].var()),
            "time/collecting_share": (collected - began) / took,
            "time/judging_share": (judged - collected) / took,
            "rollout/decisions_a_round": rollout.dones.size / max(1, int(rollout.dones.sum())),
        }

    def _collect(self, number: int) -> None:
        part, games = self._parts[number], self.games[number]
        play_part(self.rollout, part, games, self.actor, self._scale, self._keys[part], self.reward_scale)

    def _values(self) -> NDArray[np.float32]:
        """What the critic makes of all decisions, (T + 1, rows)."""
        return self._judged(self.critic, len(self._scale)).reshape(self.rollout.acted.shape)

    def _magnets(self) -> NDArray[np.float32]:
        """Log-probabilities of the magnet for all decisions, (T * rows, actions)."""
        masks = self.rollout.masks_flat()
        logits = self._judged(self.magnet, self._size)[: len(masks)]
        to_log_probabilities(logits, masks)
        return logits

    def _judged(self, network: Any, size: int) -> NDArray[np.float32]:
        """The outputs of a network that reads the first ``size`` entries, for all of ``seen``."""
        seen = self.rollout.seen_flat()
        outputs = np.empty((len(seen), network[-1].out_features), np.float32)
        inputs = torch.empty((_CHUNK, size))
        with torch.inference_mode():
            for start in range(0, len(seen), _CHUNK):
                chosen = np.arange(start, min(start + _CHUNK, len(seen)))
                gather(seen, chosen, self._scale, inputs.numpy())
                outputs[chosen] = network(inputs[: len(chosen)]).numpy()
        return outputs

    def _minibatches(self, order: np.random.Generator, decisions: NDArray[np.int64]) -> Any:
        """Every decision once an epoch, in a new order, in parts of about ``batch``."""
        count = max(1, round(len(decisions) / self.config.batch))
        for _ in range(self.config.epochs):
            yield from np.array_split(order.permutation(decisions), count)

    def _teach_actor(
        self, decisions: NDArray[np.int64], advantages: NDArray[np.float32], magnets: NDArray[np.float32]
    ) -> dict[str, float]:
        rollout, config, seen = self.rollout, self.config, self.rollout.seen_flat()
        masks, actions, taken = rollout.masks_flat(), rollout.actions.ravel(), rollout.taken.ravel()
        weights = np.array([config.clip, config.magnet, config.entropy])
        sums, count = np.zeros(4), 0
        for chosen in self._minibatches(self._orders[0], decisions):
            inputs = torch.empty((len(chosen), self._size))
            gather(seen, chosen, self._scale, inputs.numpy())
            logits = self.actor(inputs)
            now = logits.detach().numpy().copy()
            to_log_probabilities(now, masks[chosen])
            gradient = torch.empty_like(logits)
            policy_gradient(now, magnets, masks, actions, taken, advantages, chosen, weights, gradient.numpy(), sums)
            self._descend(self.actor, self._optimizers[0], logits, gradient)
            count += len(chosen)
        names = ("magnet_divergence", "entropy", "clip_fraction", "approx_kl")
        return {f"train/{name}": float(total / count) for name, total in zip(names, sums, strict=True)}

    def _teach_critic(self, decisions: NDArray[np.int64], goals: NDArray[np.float32]) -> float:
        """Descend on half the squared error; returns its mean square."""
        seen, total, count = self.rollout.seen_flat(), 0.0, 0
        for chosen in self._minibatches(self._orders[1], decisions):
            inputs = torch.empty((len(chosen), len(self._scale)))
            gather(seen, chosen, self._scale, inputs.numpy())
            values = self.critic(inputs)
            errors = values.detach() - torch.from_numpy(goals[chosen])[:, None]
            self._descend(self.critic, self._optimizers[1], values, errors / len(chosen))
            total += float(errors.square().sum())
            count += len(chosen)
        return total / count

    def _descend(self, network: Any, optimizer: Any, outputs: torch.Tensor, gradient: torch.Tensor) -> None:
        optimizer.zero_grad()
        outputs.backward(gradient)
        torch.nn.utils.clip_grad_norm_(network.parameters(), _LONGEST)
        optimizer.step()

    def _warm_up(self) -> None:
        """Have this file's kernels compiled or loaded before a clock runs."""
        logits, masks = np.zeros((1, 2), np.float32), np.ones((2, 3, 2), np.int8)
        keys, actions, taken = np.ones(1, np.uint64), np.zeros(1, np.int64), np.zeros(1, np.float32)
        gather(np.zeros((1, 1), np.int8), np.zeros(1, np.int64), taken, logits[:, :1].copy())
        to_log_probabilities(logits, masks[0])
        sample(logits, masks[0], keys, actions, taken)
        policy_gradient(logits, logits, masks[0], actions, taken, taken, actions, np.ones(3), logits.copy(), np.ones(4))

    def policy(self, about: dict[str, Any]) -> Policy:
        """The actor as it stands."""
        layers = [layer for layer in self.actor if isinstance(layer, torch.nn.Linear)]
        return export_policy(layers, self._scale[: self._size], "relu", self.games[0].rules, about)

    def state(self) -> dict[str, Any]:
        """Networks, optimizers, generators and games."""
        return {
            "networks": [network.state_dict() for network in (self.actor, self.critic, self.magnet)],
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "orders": [json.dumps(order.bit_generator.state) for order in self._orders],
            "keys": packed(self._keys),
            "games": [{name: packed(array) for name, array in part.arrays().items()} for part in self.games],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`state`."""
        for network, weights in zip((self.actor, self.critic, self.magnet), state["networks"], strict=True):
            network.load_state_dict(weights)
        for optimizer, moments in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(moments)
        for order, generator in zip(self._orders, state["orders"], strict=True):
            order.bit_generator.state = json.loads(generator)
        unpack(state["keys"], self._keys)
        for part, arrays in zip(self.games, state["games"], strict=True):
            for name, array in part.arrays().items():
                unpack(arrays[name], array)


def make_magnetic_ppo(
    rules: Rules, config: TrainConfig, reward_scale: float, league: League | None = None, partner: Partner | None = None
) -> MagneticPPO:
    """The learner of a run at its start, on two tables and the rows of the league, which are played side by side."""
    reward: Any = config.reward
    alone = config.rows - (0 if league is None else league.num_rows)
    first = alone - alone // 2
    games: list[Games] = [
        Table(rules, len(ids), seed=config.seed, game_ids=ids, reward=reward, skip_forced=True)
        for ids in (np.arange(first), np.arange(first, alone))
        if len(ids)
    ]
    if league is not None and league.num_rows:
        partner = partner or Partner(rules, seed=config.seed)
        games.append(LeagueRows(rules, league, partner, seed=config.seed, first_game=alone, reward=reward))
    other = Table(rules, 1, skip_forced=True)  # a step compiled or loaded before a clock runs
    other.step(other.masks.argmax(axis=1), autoreset=True)
    space = observation_space(rules)
    hidden = [observation_scale(*np.repeat([[p.low], [p.high]], p.size, 1)) for p in hidden_layout(rules).values()]
    scale = np.concatenate([observation_scale(space.low, space.high), *hidden])
    return MagneticPPO(games, scale, config, reward_scale)
