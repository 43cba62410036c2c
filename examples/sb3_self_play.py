"""Self-play with MaskablePPO in 20 lines: one policy in all seats, each learning from its own rewards; then a match.

``SeatRolloutBuffer`` is what makes it right: the stock buffer takes the next state's value for the same player's, and
here the next state is another seat's.
"""

from sb3_contrib import MaskablePPO

from dominoes_env import make_rules
from dominoes_env.envs.sb3 import SelfPlayVecEnv
from training.evaluate import evaluate
from training.model_agent import ModelAgent
from training.rollout import SeatRolloutBuffer


def main(decisions=600_000, num_envs=256, deals=2000):
    """Train for so many decisions; returns the model and its match of so many mirrored deals against ``greedy``."""
    rules = make_rules("draw")
    env = SelfPlayVecEnv(rules, num_envs, seed=1, reward_scale=20)
    buffer = {"rollout_buffer_class": SeatRolloutBuffer, "rollout_buffer_kwargs": {"env": env}}
    settings = {"n_steps": 32, "batch_size": 2048, "n_epochs": 4, "gamma": 1, "learning_rate": 1e-3, "seed": 1}
    model = MaskablePPO("MlpPolicy", env, device="cpu", **settings, **buffer)
    model.learn(decisions)
    return model, evaluate([ModelAgent(model), "greedy"], rules, deals, seed=1)


if __name__ == "__main__":
    print(main()[1])
