"""Self-play: one policy plays every seat of every game and learns from all of them, by MaskablePPO of sb3-contrib.

The loop is collect, learn, now and then save. A run can be stopped at any time and resumed: a checkpoint holds weights,
optimizer, counters, generators and the games themselves, so that on one thread a resumed run ends with the weights
that an uninterrupted one of the same ``steps`` would have.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure

from agents.learned import LearnedAgent
from agents.match import play_match
from agents.policy_file import Policy, save_policy
from agents.uniform import UniformAgent
from dominoes_env.engine.rules import Rules
from dominoes_env.envs.sb3 import SelfPlayVecEnv
from training.checkpoint import load_checkpoint, save_checkpoint
from training.evaluate import evaluate
from training.export import ScaledObservation, export_policy
from training.intervals import Interval
from training.rollout import SeatRolloutBuffer
from training.run_directory import CHECKPOINT_NAME, LOG_NAME, LOOK_TAG, Run
from training.threads import Threads

__all__ = ["Progress", "Trainer", "measure_reward_scale", "train"]

#: Deals of the look at how the policy does against ``greedy``, taken with each checkpoint.
LOOK_DEALS = 250
_LOOK_SEED = 20_000
_SCALE_DEALS = 1000


def measure_reward_scale(rules: Rules, reward: str = "margin") -> float:
    """What rewards are divided by: the standard deviation of a round's margin under uniform play.

    Values and advantages are then of the size 1 that PPO's defaults expect, whatever a game pays. A win pays 1 already.
    """
    if reward == "win":
        return 1.0
    uniform = UniformAgent()
    margins = play_match([uniform, uniform], rules, _SCALE_DEALS, seed=1).points
    return max(round(float(margins.std()), 3), 1e-3)


@dataclass(frozen=True)
class Progress:
    """Where a run stands, as told after every update."""

    decisions: int
    seconds: float
    fraction: float
    """Of the budget, 0 to 1."""
    decisions_a_second: float
    """Of this process."""
    versus_greedy: Interval | None
    """Win rate of the last look."""


def _packed(array: NDArray[Any]) -> dict[str, Any]:
    """Any array as a tensor of bytes, with its layout."""
    content = torch.frombuffer(bytearray(array.tobytes()), dtype=torch.uint8)
    return {"layout": f"{array.shape} {array.dtype}", "bytes": content}


def _unpack(packed: dict[str, Any], into: NDArray[Any]) -> None:
    layout = f"{into.shape} {into.dtype}"
    if packed["layout"] != layout:
        raise ValueError(f"games are laid out as {packed['layout'][:80]}, not {layout[:80]}")
    into[...] = np.frombuffer(packed["bytes"].numpy().tobytes(), into.dtype).reshape(into.shape)


class _SelfPlayPPO(MaskablePPO):
    """MaskablePPO without the loop over infos that looks for a Monitor's statistics, of which there are none."""

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: Any = None) -> None:
        pass


class Trainer:
    """The learner of a run."""

    def __init__(self, run: Run) -> None:
        config = run.config
        self.run = run
        self.seconds = 0.0
        self.versus_greedy: Interval | None = None
        self._threads = Threads(config.threads)
        torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time, to check ourselves
        self.env = SelfPlayVecEnv(
            run.rules,
            config.rows,
            seed=config.seed,
            reward=config.reward,  # type: ignore[arg-type]
            reward_scale=measure_reward_scale(run.rules, config.reward),
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
        self.model.set_logger(configure(str(run.path / LOG_NAME), ["tensorboard"]))
        _, self._callback = self.model._setup_learn(total_timesteps=1)
        self._warm_up()

    def _warm_up(self) -> None:
        """Have a step of other games compiled or loaded before a clock runs: the first time it takes a minute."""
        env = SelfPlayVecEnv(self.run.rules, 1, reward=self.run.config.reward)  # type: ignore[arg-type]
        env.reset()
        env.step(env.action_masks().argmax(axis=1))

    @property
    def decisions(self) -> int:
        """Decisions played so far."""
        return self.model.num_timesteps

    @property
    def fraction(self) -> float:
        """The part of the budget that is spent, 0 to 1."""
        config = self.run.config
        spent = self.decisions / config.steps if config.steps else self.seconds / (60 * config.minutes)
        return min(1.0, spent)

    def update(self) -> None:
        """One round of collecting and learning."""
        self._threads.reconsider()
        model = self.model
        began = time.monotonic()
        model._current_progress_remaining = 1 - self.fraction
        model.collect_rollouts(self.env, self._callback, model.rollout_buffer, model.n_steps)
        collected = time.monotonic()
        rounds = max(1, int(self._buffer.dones.sum()))
        self._threads.begin_steps()
        model.train()
        took = time.monotonic() - began
        self.seconds += took
        decisions = self.run.config.rows * self.run.config.rollout
        model.logger.record("time/decisions_a_second", decisions / took)
        model.logger.record("time/collecting_share", (collected - began) / took)
        model.logger.record("rollout/decisions_a_round", decisions / rounds)
        model.logger.dump(step=self.decisions)

    def policy(self) -> Policy:
        """The policy as it stands."""
        about = {
            "algorithm": "MaskablePPO self-play, every seat learns",
            "variant": self.run.variant,
            "decisions": self.decisions,
            "minutes": round(self.seconds / 60, 2),
            "config": self.run.config.to_dict(),
        }
        return export_policy(self.model.policy, self.run.rules, about)

    def look(self) -> None:
        """A quick match against ``greedy``, for the progress bar and the curve; after a save (see ``LOOK_TAG``)."""
        agents = [LearnedAgent(self.policy()), "greedy"]
        result = evaluate(agents, self.run.rules, LOOK_DEALS, seed=_LOOK_SEED)
        self.versus_greedy = result.win_rate
        self.model.logger.record(LOOK_TAG + "win_rate_v_greedy", result.win_rate.mean)
        self.model.logger.record(LOOK_TAG + "points_v_greedy", result.points.mean)
        self.model.logger.dump(step=self.decisions)

    def save(self) -> None:
        """Write checkpoint and policy."""
        content = {
            "policy": self.model.policy.state_dict(),
            "optimizer": self.model.policy.optimizer.state_dict(),
            "decisions": self.decisions,
            "updates": self.model._n_updates,
            "seconds": self.seconds,
            "reward_scale": self.env.reward_scale,
            "torch_generator": torch.get_rng_state(),
            "shuffle_generator": self._buffer.generator_state(),
            "games": {name: _packed(array) for name, array in self.env.arrays().items()},
        }
        save_checkpoint(self.run.path / CHECKPOINT_NAME, content)
        save_policy(self.policy(), self.run.path)

    @property
    def _buffer(self) -> SeatRolloutBuffer:
        buffer = self.model.rollout_buffer
        assert isinstance(buffer, SeatRolloutBuffer)
        return buffer

    def restore(self) -> None:
        """Take up the run's checkpoint.

        Raises:
            FileNotFoundError, ValueError: if there is none, or it is damaged or does not fit; the file is named.
        """
        path = self.run.path / CHECKPOINT_NAME
        content = load_checkpoint(path)
        model = self.model
        try:
            model.policy.load_state_dict(content["policy"])
            model.policy.optimizer.load_state_dict(content["optimizer"])
            model.num_timesteps = int(content["decisions"])
            model._n_updates = int(content["updates"])
            self.seconds = float(content["seconds"])
            self.env.reward_scale = float(content["reward_scale"])
            self._buffer.restore_generator(content["shuffle_generator"])
            for name, array in self.env.arrays().items():
                _unpack(content["games"][name], array)
            torch.set_rng_state(content["torch_generator"])
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not fit this run: {error}") from None
        model._last_obs = self.env.observations()


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """A list that gets the number of a SIGINT or SIGTERM; a second SIGINT interrupts at once."""
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield signals
        return

    def note(number: int, _: Any) -> None:
        if signals and number == signal.SIGINT:
            raise KeyboardInterrupt
        signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train(run: Run, *, report: Callable[[Progress], object] | None = None) -> int:
    """Train until the budget is spent or a SIGINT or SIGTERM comes, then save. A checkpoint in the run is taken up.

    Returns:
        0, or the number of the signal that stopped it.
    """
    trainer = Trainer(run)
    if run.has_checkpoint:
        trainer.restore()
    began, first = time.monotonic(), trainer.decisions
    saved = began
    with _asked_to_stop() as signals:
        while trainer.fraction < 1 and not signals:
            trainer.update()
            now = time.monotonic()
            if now - saved >= 60 * run.config.checkpoint_minutes or trainer.fraction >= 1:
                saved = now
                trainer.save()
                trainer.look()
            if report is not None:
                rate = (trainer.decisions - first) / (now - began)
                report(Progress(trainer.decisions, trainer.seconds, trainer.fraction, rate, trainer.versus_greedy))
        trainer.save()  # also where nothing was left to train: the policy may have been removed
    return signals[0] if signals else 0
