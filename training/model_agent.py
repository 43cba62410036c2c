"""A model of sb3-contrib as a player: what was trained with a few lines plays a match without an export."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import BatchAgent, Turns
from dominoes_env.engine.rules import Rules
from dominoes_env.observation import observation_size

__all__ = ["ModelAgent"]


class ModelAgent(BatchAgent):
    """Plays the most probable legal action of a MaskablePPO, or of any model with its ``predict`` and its spaces.

    torch rounds a batch otherwise than a row alone, so where two actions are as good as equal the answer may depend on
    the turns beside it. For more than one worker the model has to be one that can be pickled.

    Args:
        model: has ``predict(observations, action_masks=, deterministic=)``, ``observation_space`` and
            ``action_space``. A model without masks cannot play: it would choose what is not legal.
        name: what results call it.
        history: whether it was trained on observations that end in the round's history.
    """

    def __init__(self, model: Any, name: str = "model", *, history: bool = False) -> None:
        self.model = model
        self.name = name
        self.needs_history = history

    def check_rules(self, rules: Rules) -> None:
        """Refuse rules whose observations or actions are not as many as the model's."""
        trained = (*self.model.observation_space.shape, int(self.model.action_space.n))
        wanted = (observation_size(rules, history=self.needs_history), rules.num_actions)
        if trained != wanted:
            raise ValueError(
                f"agent={self.name!r} was trained on {trained[0]} numbers and {trained[-1]} actions, these rules have "
                f"{wanted[0]} and {wanted[1]} (history={self.needs_history})"
            )

    def act_batch(self, turns: Turns) -> NDArray[np.int64]:
        width = self.model.observation_space.shape[0]  # others at the table may have asked for the history too
        actions, _ = self.model.predict(turns.observations[:, :width], action_masks=turns.masks, deterministic=True)
        return np.asarray(actions, np.int64)
