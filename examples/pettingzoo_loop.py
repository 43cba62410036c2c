"""PettingZoo's loop, one agent at a time: players by name in the seats, masks heeded, a tally at the end.

A policy is a function of the observation, the mask and the info; ``as_policy`` makes one of any agent.
"""

from agents import as_policy
from dominoes_env import env as make_env


def main(first="flexible", second="greedy", games=200, variant="draw"):
    """Play so many rounds, the seats changed after each; returns each player's total of points less the opponent's."""
    env = make_env(variant)
    policies = {first: as_policy(first, env, seed=1), second: as_policy(second, env, seed=2)}
    totals = {name: 0.0 for name in policies}
    for game in range(games):
        env.reset(seed=game // 2)  # the same deal from both sides
        names = dict(zip(env.possible_agents, list(policies)[:: -1 if game % 2 else 1], strict=True))
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            totals[names[agent]] += reward
            over = terminated or truncated
            env.step(None if over else policies[names[agent]](observation, info["action_mask"], info))
    return totals


if __name__ == "__main__":
    for name, total in main().items():
        print(f"{name}: {total:+.0f} points in 200 rounds")
