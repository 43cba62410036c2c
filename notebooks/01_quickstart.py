# %% [markdown]
# # Quickstart
#
# You will play the same game through every interface that the package has, pick its rules, look at
# it as a picture, and write it down and read it back. It takes five minutes to read and some
# seconds to run.
#
# The engine is compiled for your machine when a part is first used: a minute or two in all, once.

# %%
import dominoes_env

# %% [markdown]
# ## A game that you can look at
#
# `Game` is the form for people: tiles and moves are words. A notebook shows it as a picture with
# all hands open. The tile laid last has a bright edge.

# %%
game = dominoes_env.Game("draw", seed=7, episode="round")
for word in ("4-4", "4-1@0", "6-4@1", "1-1@0"):
    print(f"legal for player_{game.turn}: {', '.join(game.legal_words)}")
    game.step(word)
game

# %% [markdown]
# `6-4@1` is the tile 6-4 on end 1. A move that is not legal is refused, by name, and nothing
# happens:

# %%
try:
    game.step("6-6@1")
except ValueError as error:
    print(error)

# %% [markdown]
# A player sees less. This is the same table from the seat of `player_1`: the other hand and the
# boneyard are backs of tiles.

# %%
from IPython.display import SVG

SVG(game.svg(viewer=1))

# %% [markdown]
# ## PettingZoo, one agent at a time
#
# The mask of legal actions is part of the observation, and it stands in `info` too. Whoever has
# just one legal action still takes it, so that a draw or a pass is seen by all.

# %%
env = dominoes_env.env("draw")
env.reset(seed=7)
env.action_space("player_0").seed(1)
env.action_space("player_1").seed(2)
returns = dict.fromkeys(env.possible_agents, 0.0)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    returns[agent] += reward
    is_over = terminated or truncated
    env.step(None if is_over else env.action_space(agent).sample(info["action_mask"]))
print(returns)

# %% [markdown]
# Rewards are points, and they add up to zero: the winner gets what the loser still held.
# `reward="win"` gives +1 and −1 instead, `episode="match"` plays rounds up to the target.
#
# ## PettingZoo, parallel
#
# All agents hand in an action; whoever is not on turn can only pass.

# %%
env = dominoes_env.parallel_env("draw")
observations, infos = env.reset(seed=7)
num_steps = 0
while env.agents:
    actions = {agent: int(seen["action_mask"].argmax()) for agent, seen in observations.items()}
    observations, rewards, terminations, truncations, infos = env.step(actions)
    num_steps += 1
print(num_steps, "steps;", rewards)

# %% [markdown]
# ## Gymnasium: one learner against others
#
# The others are part of the environment. They play at random, or are any agent of the package. Here
# `flexible` plays, a strong rule of thumb.

# %%
import agents

rules = dominoes_env.make_rules("draw")
env = dominoes_env.gym_env(rules=rules, opponents=agents.as_opponent("flexible", rules))
observation, info = env.reset(seed=7)
terminated = False
while not terminated:
    action = int(info["action_mask"].argmax())
    observation, reward, terminated, truncated, info = env.step(action)
print("observation", observation.shape, observation.dtype, "· reward", reward)

# %% [markdown]
# ## Gymnasium, vectorized
#
# A thousand games at once, stepped by compiled code. The seat of the learner changes from episode
# to episode.

# %%
import numpy as np

env = dominoes_env.vector_env(1024, "draw")
observations, infos = env.reset(seed=7)
num_rounds = 0
for _ in range(100):
    actions = infos["action_mask"].argmax(axis=1)
    observations, rewards, terminated, truncated, infos = env.step(actions)
    num_rounds += int(terminated.sum())
print(f"{100 * env.num_envs:,} steps, {num_rounds:,} rounds finished")

# %% [markdown]
# ## Stable-Baselines3: self-play
#
# `SelfPlayVecEnv` puts one policy in all seats. `examples/sb3_self_play.py` trains MaskablePPO on
# it in 20 lines.

# %%
from dominoes_env.envs.sb3 import SelfPlayVecEnv

env = SelfPlayVecEnv(rules, 512, seed=7)
observations = env.reset()
masks = env.env_method("action_masks")[0]
observations, rewards, dones, infos = env.step(masks.argmax(axis=1))
print(observations.shape, masks.shape, rewards.shape)

# %% [markdown]
# ## Rules are values
#
# Eleven games come with names. Every one of their rules can be changed; what contradicts itself is
# refused.

# %%
for name in dominoes_env.VARIANTS:
    made = dominoes_env.make_rules(name)
    sizes = f"{made.num_players} players, {made.num_tiles} tiles, {made.num_actions:3} actions"
    print(f"{name:17}{sizes}, to {made.target} points")

# %%
rules = dominoes_env.make_rules("draw", num_players=3, max_pip=9, hand_size=10)
print(rules.num_tiles, "tiles,", rules.hand_size, "in each of", rules.num_players, "hands")
try:
    dominoes_env.make_rules("draw", hand_size=20)
except ValueError as error:
    print(error)

# %% [markdown]
# In All Fives the first double is the *spinner*: it can be built on from four sides. Whoever brings
# the open ends to a multiple of five scores that at once.

# %%
game = dominoes_env.Game("all_fives", seed=9, episode="round")
player = np.random.default_rng(5)
while len(game.history) < 16 and not game.is_over:
    game.step(int(player.choice(game.legal_actions)))
print("the open ends count", game.exposed_count, "· booked so far:", game.scores)
game

# %% [markdown]
# ## Records
#
# A game is a text. Reading it replays it by the rules, so that a record that cannot have gone so is
# refused.

# %%
from dominoes_env.archive import format_record

text = format_record(game.record)
print(text)

# %%
again = dominoes_env.Game.from_record(text)
print("the same position:", again.position == game.position)

# %% [markdown]
# `dominoes record`, `replay` and `render` do this for files of a million games; `dominoes render
# games.jsonl --out game.html` makes a page that steps through one.
#
# ## Where to go next
#
# - `02_observations_and_masks`: what exactly the numbers in an observation are.
# - `03_compare_policies`: which of two players is better.
# - `dominoes play` in a terminal: a game against you.
