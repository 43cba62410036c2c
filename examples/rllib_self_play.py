"""RLlib's PPO with its masking module, one policy for all players, over RLlib's wrapper of our turn-based ``env``.

``ActionMaskingTorchRLModule`` finds the mask in ``observation["action_mask"]``, as ours is called, but the rest under
"observations" and not "observation", and it wants floats: ``RenamedEnv`` sees to both. RLlib checks an environment with
actions that ignore the mask. So ``illegal="raise"`` needs ``disable_env_checking=True``.
"""

try:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
except ImportError as error:
    raise ImportError(f'this example needs RLlib and torch ({error}); pip install torch "ray[rllib]"') from error

import numpy as np
from gymnasium import spaces

import dominoes_env


def renamed(seen):
    """What one agent sees, as the masking module wants it."""
    return {
        "action_mask": seen["action_mask"].astype(np.float32),
        "observations": seen["observation"].astype(np.float32),
    }


class RenamedEnv(PettingZooEnv):
    """The draw game; only the agent on turn is asked."""

    def __init__(self, config):
        env = dominoes_env.env("draw", illegal="raise", **config)
        super().__init__(env)
        space = env.observation_space("player_0")
        low, high = ({name: getattr(box, end) for name, box in space.items()} for end in ("low", "high"))
        low, high = renamed(low), renamed(high)
        seen = spaces.Dict({name: spaces.Box(low[name], high[name]) for name in low})
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.observation_space = spaces.Dict(self.observation_spaces)

    def reset(self, *, seed=None, options=None):
        observations, infos = super().reset(seed=seed, options=options)
        return {agent: renamed(seen) for agent, seen in observations.items()}, infos

    def step(self, actions):
        observations, *rest = super().step(actions)
        return {agent: renamed(seen) for agent, seen in observations.items()}, *rest


def main(iterations=3, decisions=2000):
    """Train for so many iterations; returns the mean return of each agent in the last one, which add up to 0."""
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64]})
    config = (
        PPOConfig()
        .environment(RenamedEnv, disable_env_checking=True)
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=decisions, minibatch_size=256, num_epochs=4)
        .multi_agent(policies={"all"}, policy_mapping_fn=lambda agent, *_, **__: "all")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"all": module}))
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        result = algorithm.train()
    algorithm.stop()
    returns = result["env_runners"]["agent_episode_returns_mean"]
    return {agent: float(mean) for agent, mean in sorted(returns.items())}


if __name__ == "__main__":
    print(main())
