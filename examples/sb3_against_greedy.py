"""MaskablePPO as one learner against ``greedy``, in 20 lines: all rows are the league's, the stock buffer will do.

In such a row only the learner's seat is asked, so its next state is again the learner's own.
"""

from sb3_contrib import MaskablePPO

from agents import as_opponent
from dominoes_env import make_rules
from dominoes_env.envs.sb3 import SelfPlayVecEnv
from training.evaluate import evaluate
from training.model_agent import ModelAgent


def main(decisions=600_000, num_envs=256, deals=2000, opponent="greedy"):
    """Train for so many decisions; returns the model and its match of so many mirrored deals against the opponent."""
    rules = make_rules("draw")
    opponents = as_opponent(opponent, rules)
    env = SelfPlayVecEnv(rules, num_envs, seed=1, reward_scale=20, num_league=num_envs, opponents=opponents)
    settings = {"n_steps": 32, "batch_size": 2048, "n_epochs": 4, "gamma": 1, "learning_rate": 1e-3, "seed": 1}
    model = MaskablePPO("MlpPolicy", env, device="cpu", **settings)
    model.learn(decisions)
    return model, evaluate([ModelAgent(model), opponent], rules, deals, seed=1)


if __name__ == "__main__":
    print(main()[1])
