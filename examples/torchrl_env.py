"""TorchRL's ``PettingZooWrapper`` around our environments, and a masked policy that both players share.

``parallel_env`` puts all players into one group, "player": tensors (..., players, ...). A player who is not on turn has
exactly PASS in its mask, so a masked policy answers for everybody at once and nobody has to be told apart. ``env``, one
agent at a time, needs ``use_mask=True`` and gets a group a player: ``mask`` says who is on turn, and of the others
TorchRL makes the action mask all true.
"""

try:
    import torch
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torchrl.envs import PettingZooWrapper
    from torchrl.envs.utils import check_env_specs
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
except ImportError as error:
    raise ImportError(f"this example needs torchrl ({error}); pip install torchrl pettingzoo") from error

import dominoes_env


class FloatLinear(torch.nn.Linear):
    """A layer that takes int8."""

    def forward(self, seen):
        return super().forward(seen.float())


def make_policy(env):
    """A linear layer over the observations of the group "player", and a choice among the legal actions."""
    width = env.observation_spec["player", "observation", "observation"].shape[-1]
    num_actions = env.observation_spec["player", "action_mask"].shape[-1]
    logits = TensorDictModule(
        FloatLinear(width, num_actions),
        in_keys=[("player", "observation", "observation")],
        out_keys=[("player", "logits")],
    )
    chooser = ProbabilisticActor(
        TensorDictSequential(logits),
        in_keys={"logits": ("player", "logits"), "mask": ("player", "action_mask")},
        out_keys=[("player", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    return chooser


def main(steps=200, seed=1):
    """Roll out so many steps, over as many rounds as they hold; returns the tensordict."""
    torch.manual_seed(seed)
    env = PettingZooWrapper(dominoes_env.parallel_env("draw", illegal="raise"), seed=seed)
    check_env_specs(env)
    return env.rollout(steps, make_policy(env), break_when_any_done=False)


if __name__ == "__main__":
    print(main())
