"""The stock algorithm: MaskablePPO of sb3-contrib on ``dominoes_env.envs.sb3.SelfPlayVecEnv``, every seat learning."""

from __future__ import annotations

import time
from typing import Any

import torch
from gymnasium.spaces import Box
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from agents.policy_file import Policy
from dominoes_env.engine.rules import Rules
from dominoes_env.envs.sb3 import SelfPlayVecEnv
from training.checkpoint import packed, unpack
from training.config import TrainConfig
from training.export import export_policy, observation_scale
from training.league import League
from training.partner import Partner
from training.rollout import SeatRolloutBuffer
from training.threads import Threads

__all__ = ["MaskablePPOLearner", "ScaledObservation"]


class ScaledObservation(BaseFeaturesExtractor):
    """The observation times :func:`training.export.observation_scale`."""

    scale: torch.Tensor

    def __init__(self, observation_space: Box) -> None:
        scale = torch.from_numpy(observation_scale(observation_space.low, observation_space.high))
        super().__init__(observation_space, len(scale))
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return observations * self.scale


class _SelfPlayPPO(MaskablePPO):
    """MaskablePPO without the loop over infos that looks for a Monitor's statistics, of which there are none."""

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: Any = None) -> None:
        pass


class MaskablePPOLearner:
    """The stock learner of a run; see :class:`training.trainer.Learner` and :func:`training.trainer.make_learner`."""

    title = "MaskablePPO self-play, every seat learns"

    def __init__(
        self, rules: Rules, config: TrainConfig, reward_scale: float, league: League, partner: Partner
    ) -> None:
        self.rules = rules
        self._league = league
        self._threads = Threads(config.threads)
        torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time, to check ourselves
        reward: Any = config.reward
        self.env = SelfPlayVecEnv(
            rules,
            config.rows,
            seed=config.seed,
            reward=reward,
            reward_scale=reward_scale,
            num_league=league.num_rows,
            opponents=league.opponents(partner),
        )
        self.model = _SelfPlayPPO(
            "MlpPolicy",
            self.env,
            learning_rate=lambda remaining: config.learning_rate * (0.1 + 0.9 * remaining),
            n_steps=config.rollout,
            batch_size=config.batch,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"env": self.env, "shuffle_seed": config.seed},
            policy_kwargs={"net_arch": list(config.hidden), "features_extractor_class": ScaledObservation},
            seed=config.seed,
            device="cpu",
        )
        self.model.policy.optimizer.register_step_post_hook(self._threads.after_step)
        self.model.set_logger(Logger(None, []))
        _, self._callback = self.model._setup_learn(total_timesteps=1, callback=self._tell_league)
        self._warm_up(reward)

    def _warm_up(self, reward: Any) -> None:
        """Have a step of other games compiled or loaded before a clock runs: the first time it takes a minute."""
        num_league = min(1, self._league.num_rows)
        others = Partner(self.rules) if num_league else None
        env = SelfPlayVecEnv(self.rules, 1 + num_league, reward=reward, num_league=num_league, opponents=others)
        env.reset()
        env.step(env.action_masks().argmax(axis=1))

    def _tell_league(self, *_: Any) -> bool:
        """After each step of the environment; True goes on."""
        if self._league.num_rows:
            env, part = self.env, slice(self.env.num_envs - self._league.num_rows, None)
            self._league.record(env.league_episodes, env.acted[part], env.seat_rewards[part], env.dones[part])
        return True

    @property
    def decisions(self) -> int:
        """Decisions played so far."""
        return self.model.num_timesteps

    @decisions.setter
    def decisions(self, decisions: int) -> None:
        self.model.num_timesteps = decisions

    @property
    def reward_scale(self) -> float:
        """What rewards are divided by."""
        return self.env.reward_scale

    @reward_scale.setter
    def reward_scale(self, reward_scale: float) -> None:
        self.env.reward_scale = reward_scale

    def update(self, fraction: float) -> dict[str, float]:
        """One round of collecting and learning."""
        self._threads.reconsider()
        model = self.model
        began = time.monotonic()
        model._current_progress_remaining = 1 - fraction
        model.collect_rollouts(self.env, self._callback, model.rollout_buffer, model.n_steps)
        collected = time.monotonic()
        rounds = max(1, int(self._buffer.dones.sum()))
        self._threads.begin_steps()
        model.train()
        return {
            **model.logger.name_to_value,
            "time/collecting_share": (collected - began) / (time.monotonic() - began),
            "rollout/decisions_a_round": self._buffer.dones.size / rounds,
        }

    def policy(self, about: dict[str, Any]) -> Policy:
        """The actor as it stands.

        Raises:
            ValueError: if it is not of the kind that this project trains.
        """
        policy = self.model.policy
        hidden = list(policy.mlp_extractor.policy_net)
        linears = [layer for layer in hidden if isinstance(layer, torch.nn.Linear)]
        others = {type(layer) for layer in hidden if not isinstance(layer, torch.nn.Linear)}
        extractor = policy.features_extractor
        if not isinstance(extractor, ScaledObservation) or others != {torch.nn.Tanh}:
            raise ValueError(f"a policy of {type(extractor).__name__} and {others} cannot be exported")
        return export_policy([*linears, policy.action_net], extractor.scale.numpy(), "tanh", self.rules, about)

    def state(self) -> dict[str, Any]:
        """Networks, optimizer, counters, generators and games."""
        return {
            "policy": self.model.policy.state_dict(),
            "optimizer": self.model.policy.optimizer.state_dict(),
            "updates": self.model._n_updates,
            "torch_generator": torch.get_rng_state(),
            "shuffle_generator": self._buffer.generator_state(),
            "games": {name: packed(array) for name, array in self.env.arrays().items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`state`."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model._n_updates = int(state["updates"])
        self._buffer.restore_generator(state["shuffle_generator"])
        for name, array in self.env.arrays().items():
            unpack(state["games"][name], array)
        torch.set_rng_state(state["torch_generator"])
        model._last_obs = self.env.observations()

    @property
    def _buffer(self) -> SeatRolloutBuffer:
        buffer = self.model.rollout_buffer
        assert isinstance(buffer, SeatRolloutBuffer)
        return buffer
