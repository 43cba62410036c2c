"""Self-play: one policy plays every seat and learns from all of them, by the algorithm of the settings. In a part of
the rows it has one seat, and the league the others; or in all rows, and one agent that stays as it is the others.

The loop is update (collect, learn, now and then try a candidate for the league), at times save, at times look at the
ladder. A run can be stopped at any time and resumed: a checkpoint holds all that learner and league are made of, the
games and generators too, so that on one thread a resumed run ends with the weights that an uninterrupted one of the
same ``steps`` would have. A look that was due when a run was killed is taken when it is resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from torch.utils.tensorboard import SummaryWriter

from agents.made_for import VERSIONS, differing_rules, other_version
from agents.match import play_match
from agents.policy_file import Policy, save_policy
from agents.uniform import UniformAgent
from dominoes_env.engine.rules import Rules
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import TrainConfig
from training.ladder import Ladder, Look, check_opponents
from training.league import League
from training.partner import Partner
from training.run_directory import CHECKPOINT_NAME, LOG_NAME, Run, write_config
from training.stopping import asked_to_stop

__all__ = ["Learner", "Progress", "Trainer", "make_learner", "measure_reward_scale", "train"]

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


def make_learner(rules: Rules, config: TrainConfig, reward_scale: float, league: League, partner: Partner) -> Learner:
    """The learner of ``config.algorithm``, at the start of a run.

    Args:
        rules: the game.
        config: the settings.
        reward_scale: what rewards are divided by.
        league: who is met in its ``num_rows`` rows; told of every step in them.
        partner: who sits opposite the learner there, in games with teams.
    """
    if config.algorithm == "magnetic_ppo":
        from training.magnetic_ppo import make_magnetic_ppo

        return make_magnetic_ppo(rules, config, reward_scale, league, partner)
    from training.maskable_ppo import MaskablePPOLearner

    return MaskablePPOLearner(rules, config, reward_scale, league, partner)


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
    look: Look | None
    """The last one of this process at the ladder."""


class Trainer:
    """A run's learner with its league, its ladder, its clock, its logs and its files.

    Where the run has a checkpoint, :meth:`restore` comes before anything else.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.seconds = 0.0
        check_opponents(run.config.ladder, run.rules)
        self.num_updates = 0
        self.last_look: Look | None = None
        self.league = League.of(run)
        self.partner = Partner(run.rules, seed=run.config.seed)
        scale = measure_reward_scale(run.rules, run.config.reward)
        self.learner = make_learner(run.rules, run.config, scale, self.league, self.partner)
        self._ladder: Ladder | None = None
        self._writer: SummaryWriter | None = None
        self._is_look_due = False
        self._taken_up = 0
        self._brief_partner(self.policy())

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

    @property
    def lacks_look(self) -> bool:
        """Whether the checkpoint taken up should have been looked at, and was not: the run was stopped in between."""
        if self._ladder is None or self._ladder.last_decisions == self.decisions:
            return False
        return self._is_look_due or self.fraction >= 1

    def update(self) -> None:
        """One round of collecting and learning, and every ``gate_updates`` a candidate for the league.

        Raises:
            ValueError: if the weights are no longer finite numbers. What the run has saved is as it was.
        """
        began, before = time.monotonic(), self.decisions
        figures = self.learner.update(self.fraction)
        took = time.monotonic() - began
        self.num_updates += 1
        try:
            policy = self.policy()
        except ValueError as error:
            rate = self.run.config.learning_rate
            raise ValueError(
                f"{self.run.path} has diverged ({error}) and stays as last saved; train anew with another --out and "
                f"less than learning_rate={rate!r}"
            ) from None
        self._brief_partner(policy)
        if self.league.num_rows:
            if not self.run.config.against and self.num_updates % self.run.config.gate_updates == 0:
                admission = self.league.consider(policy)
                self._log_book().add_text("league/gate", str(admission), self.decisions)
            figures |= self.league.scalars()
        self.seconds += time.monotonic() - began
        self._log({"time/decisions_a_second": (self.decisions - before) / took, **figures})

    def _brief_partner(self, policy: Policy) -> None:
        """Have the learner's partner in the league play as the learner does now."""
        if self.league.num_rows and self.run.rules.teams:
            self.partner.follow(policy)

    def _log_book(self) -> SummaryWriter:
        """TensorBoard's, opened when it is first written to; what a killed run wrote beyond its checkpoint is void."""
        if self._writer is None:
            self._writer = SummaryWriter(str(self.run.path / LOG_NAME), purge_step=self._taken_up + 1)
        return self._writer

    def _log(self, figures: dict[str, float]) -> None:
        book = self._log_book()
        for name, value in figures.items():
            book.add_scalar(name, value, self.decisions)
        book.flush()

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
        """Measure the policy on the ladder and keep it if it is the best so far; after a save (see ``LOOK_TAG``)."""
        if self._ladder is None:
            self._ladder = Ladder.of(self.run)
        self.last_look = self._ladder.measure(self.policy(), decisions=self.decisions, minutes=self.seconds / 60)
        self._log(self.last_look.scalars())

    def save(self, *, is_look_due: bool = False) -> None:
        """Write checkpoint and policy; remove the files of those who have left the league.

        Args:
            is_look_due: whether a look comes next. A run that is killed before it takes it when it is resumed.

        Raises:
            ValueError: if the weights are no longer finite numbers; nothing is written then.
        """
        policy = self.policy()
        content = {
            "made_for": {"rules": self.run.rules.to_dict(), **VERSIONS},
            "is_look_due": is_look_due,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "reward_scale": self.learner.reward_scale,
            "updates": self.num_updates,
            "learner": self.learner.state(),
            "league": self.league.state(),
        }
        save_checkpoint(self.run.path / CHECKPOINT_NAME, content)
        save_policy(policy, self.run.path)
        self.league.sweep()

    def _refuse_others(self, made_for: dict[str, Any]) -> None:
        """Raise ValueError for a checkpoint of other rules or versions."""
        if other := other_version(made_for):
            raise ValueError(f"it {other}")
        if differing := differing_rules(Rules.from_dict(made_for["rules"]), self.run.rules):
            raise ValueError(f"it was made for other rules: {differing}")

    def restore(self) -> None:
        """Take up the run's checkpoint.

        Raises:
            FileNotFoundError, ValueError: if there is none, or it, the ladder's file or a past self is damaged or does
                not fit; the file is named.
        """
        path = self.run.path / CHECKPOINT_NAME
        content = load_checkpoint(path)
        try:
            if "made_for" in content:  # older checkpoints do not say
                self._refuse_others(content["made_for"])
            self._is_look_due = bool(content.get("is_look_due", False))
            self.seconds = float(content["seconds"])
            self.learner.decisions = int(content["decisions"])
            self.learner.reward_scale = float(content["reward_scale"])
            self.num_updates = int(content["updates"])
            self.learner.restore(content["learner"])
            self.league.restore(content["league"])
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not fit this run: {error}") from None
        self._taken_up = self.decisions
        self._brief_partner(self.policy())
        self._ladder = Ladder.of(self.run, upto=self.decisions)


def train(run: Run, *, report: Callable[[Progress], object] | None = None) -> int:
    """Train until the budget is spent or a SIGINT or SIGTERM comes, then save. A checkpoint in the run is taken up, and
    only then is its ``config.json`` brought up to date with ``run``.

    Returns:
        0, or the number of the signal that stopped it.

    Raises:
        ValueError: as :meth:`Trainer.restore`, nothing being changed, and as :meth:`Trainer.update`.
    """
    trainer = Trainer(run)
    if run.has_checkpoint:
        trainer.restore()
    write_config(run)
    began, first = time.monotonic(), trainer.decisions
    saved = looked = began

    def tell(rate: float) -> None:
        if report is not None:
            report(Progress(trainer.decisions, trainer.seconds, trainer.fraction, rate, trainer.last_look))

    with asked_to_stop() as signals:
        if trainer.lacks_look:
            trainer.look()
            tell(0.0)
        while trainer.fraction < 1 and not signals:
            trainer.update()
            now, is_over = time.monotonic(), trainer.fraction >= 1
            is_look_due = is_over or now - looked >= 60 * run.config.ladder_minutes
            if is_look_due or now - saved >= 60 * run.config.checkpoint_minutes:
                saved = now
                trainer.save(is_look_due=is_look_due)
            if is_look_due:
                looked = now
                trainer.look()
            tell((trainer.decisions - first) / (now - began))
        trainer.save()  # also where nothing was left to train: the policy may have been removed
    return signals[0] if signals else 0
