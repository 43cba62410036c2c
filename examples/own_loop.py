"""A training loop of one's own in 40 lines: an actor-critic that learns to beat ``greedy``.

It prints its mean return, points a round less the opponent's, before and after. A row begins its next round within the
step that ends one (``SameStep``), so what is seen always waits for a decision of the learner's.
"""

import numpy as np
import torch
from torch import nn

from agents import as_opponent
from dominoes_env import make_rules, vector_env


def decide(net, observations, masks):
    """The distribution over the legal actions, and the value of what is seen."""
    outputs = net(torch.as_tensor(observations, dtype=torch.float32))
    logits = outputs[..., 1:].masked_fill(torch.as_tensor(masks) == 0, -1e9)
    return torch.distributions.Categorical(logits=logits), outputs[..., 0]


@torch.no_grad()
def play(net, env, seen, num_steps):
    """Play on from ``seen``, observations and masks: what is seen then, and five arrays (num_steps, num_envs, ...)."""
    steps = []
    for _ in range(num_steps):
        actions = decide(net, *seen)[0].sample().numpy()
        observations, rewards, terminated, truncated, info = env.step(actions)
        steps.append((*seen, actions, rewards, terminated | truncated))
        seen = observations, info["action_mask"]
    return seen, [np.stack(column) for column in zip(*steps, strict=True)]


def main(updates=2000, num_envs=128, num_steps=8, measured_steps=400):
    """Train for so many updates; returns the net and its mean returns before and after."""
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the net is small
    opponents = as_opponent("greedy", make_rules("draw"))
    env = vector_env(num_envs, "draw", opponents=opponents, autoreset_mode="SameStep")
    seen, means = (env.reset(seed=1)[0], env.action_masks()), []
    net = nn.Sequential(nn.Linear(seen[0].shape[1], 128), nn.ReLU(), nn.Linear(128, 1 + seen[1].shape[1]))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for update in range(updates + 1):
        if update in (0, updates):
            seen, (*_, rewards, ends) = play(net, env, seen, measured_steps)
            means.append(float(rewards.sum() / ends.sum()))
        seen, (observations, masks, actions, rewards, ends) = play(net, env, seen, num_steps)
        policy, values = decide(net, observations, masks)
        returns, ahead = rewards / 20, decide(net, *seen)[1].detach().numpy()
        for step in reversed(range(num_steps)):
            ahead = returns[step] = returns[step] + ahead * ~ends[step]
        gains, chosen = torch.as_tensor(returns) - values, policy.log_prob(torch.as_tensor(actions))
        optimizer.zero_grad()
        (gains.square() / 2 - gains.detach() * chosen - 0.01 * policy.entropy()).mean().backward()
        optimizer.step()
    return net, means


if __name__ == "__main__":
    print("mean return before and after: {:+.2f}, {:+.2f}".format(*main()[1]))
