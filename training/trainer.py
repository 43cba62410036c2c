"""Self-play: one policy plays every seat of every game and learns from all of them, by the algorithm of the settings.

The loop is update (collect and learn), now and then save. A run can be stopped at any time and resumed: a checkpoint
holds all that a learner is made of, the games and generators too, so that on one thread a resumed run ends with the
weights that an uninterrupted one of the same ``steps`` would have.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from torch.utils.tensorboard import SummaryWriter

from agents.learned import LearnedAgent
from agents.match import play_match
from agents.policy_file import Policy, save_policy
from agents.uniform import UniformAgent
from dominoes_env.engine.rules import Rules
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import TrainConfig
from training.evaluate import evaluate
from training.intervals import Interval
from training.run_directory import CHECKPOINT_NAME, LOG_NAME, LOOK_TAG, Run

__all__ = ["Learner", "Progress", "Trainer", "make_learner", "measure_reward_scale", "train"]

#: Deals of the look at how the policy does against ``greedy``, taken with each checkpoint.
LOOK_DEALS = 250
_LOOK_SEED = 20_000
_SCALE_DEALS = 1000


class Learner(Protocol):
    """What plays and learns; an algorithm is one, see ``training.maskable_ppo`` and ``training.magnetic_ppo``."""

    title: str
    """What the policy file says of how it was trained."""
    decisions: int
    """Decisions played so far."""
    reward_scale: float
    """What rewards are divided by."""

    def update(self, fraction: float) -> dict[str, float]:
        """One round of collecting and learning, ``fraction`` (0 to 1) of the budget being spent; figures to log."""

    def policy(self, about: dict[str, Any]) -> Policy:
        """The policy as it stands."""

    def state(self) -> dict[str, Any]:
        """All that it takes to go on as if never stopped, for a checkpoint."""

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`state`; raises KeyError, RuntimeError, TypeError or ValueError if it does not fit."""


def make_learner(rules: Rules, config: TrainConfig, reward_scale: float) -> Learner:
    """The learner of ``config.algorithm``, at the start of a run; rewards are divided by ``reward_scale``."""
    if config.algorithm == "magnetic_ppo":
        from training.magnetic_ppo import make_magnetic_ppo

        return make_magnetic_ppo(rules, config, reward_scale)
    from training.maskable_ppo import MaskablePPOLearner

    return MaskablePPOLearner(rules, config, reward_scale)


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


class Trainer:
    """A run's learner with its clock, its logs and its files."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.seconds = 0.0
        self.versus_greedy: Interval | None = None
        self.learner = make_learner(run.rules, run.config, measure_reward_scale(run.rules, run.config.reward))
        self._writer = SummaryWriter(str(run.path / LOG_NAME))

    @property
    def decisions(self) -> int:
        """Decisions played so far."""
        return self.learner.decisions

    @property
    def fraction(self) -> float:
        """The part of the budget that is spent, 0 to 1."""
        config = self.run.config
        spent = self.decisions / config.steps if config.steps else self.seconds / (60 * config.minutes)
        return min(1.0, spent)

    def update(self) -> None:
        """One round of collecting and learning."""
        began, before = time.monotonic(), self.decisions
        figures = self.learner.update(self.fraction)
        took = time.monotonic() - began
        self.seconds += took
        self._log({"time/decisions_a_second": (self.decisions - before) / took, **figures})

    def _log(self, figures: dict[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, self.decisions)
        self._writer.flush()

    def policy(self) -> Policy:
        """The policy as it stands."""
        about = {
            "algorithm": self.learner.title,
            "variant": self.run.variant,
            "decisions": self.decisions,
            "minutes": round(self.seconds / 60, 2),
            "config": self.run.config.to_dict(),
        }
        return self.learner.policy(about)

    def look(self) -> None:
        """A quick match against ``greedy``, for the progress bar and the curve; after a save (see ``LOOK_TAG``)."""
        agents = [LearnedAgent(self.policy()), "greedy"]
        result = evaluate(agents, self.run.rules, LOOK_DEALS, seed=_LOOK_SEED)
        self.versus_greedy = result.win_rate
        means = {"win_rate_v_greedy": result.win_rate.mean, "points_v_greedy": result.points.mean}
        self._log({LOOK_TAG + name: mean for name, mean in means.items()})

    def save(self) -> None:
        """Write checkpoint and policy."""
        content = {
            "decisions": self.decisions,
            "seconds": self.seconds,
            "reward_scale": self.learner.reward_scale,
            "learner": self.learner.state(),
        }
        save_checkpoint(self.run.path / CHECKPOINT_NAME, content)
        save_policy(self.policy(), self.run.path)

    def restore(self) -> None:
        """Take up the run's checkpoint.

        Raises:
            FileNotFoundError, ValueError: if there is none, or it is damaged or does not fit; the file is named.
        """
        path = self.run.path / CHECKPOINT_NAME
        content = load_checkpoint(path)
        try:
            self.seconds = float(content["seconds"])
            self.learner.decisions = int(content["decisions"])
            self.learner.reward_scale = float(content["reward_scale"])
            self.learner.restore(content["learner"])
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not fit this run: {error}") from None


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
