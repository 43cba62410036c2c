# %% [markdown]
# # Training an agent
#
# You will train a player of the draw game from nothing, by self-play, look at its learning curve,
# measure it on deals that its training never looked at, and keep it as a player that any match can
# use. Ten minutes to read, well under a minute to run.

# %%
# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
from pathlib import Path
from tempfile import TemporaryDirectory

import dominoes_env
from training.config import TrainConfig
from training.plots import intervals_figure, learning_curve_figure
from training.run_directory import create_run
from training.trainer import train

rules = dominoes_env.make_rules("draw")

# %% [markdown]
# ## Four hundred thousand decisions
#
# One network plays every seat, and every seat learns from its own rewards. The default algorithm is
# a PPO that is drawn towards a slow copy of itself; its critic sees all hands, the player does not.
# `rows` games are played side by side.
#
# One thread and a number of decisions, instead of minutes by the clock, give the same weights in
# every run on a machine. The ladder is climbed after every update here; a real run does so every
# few minutes.

# %%
config = TrainConfig(steps=400_000, seed=1, threads=1, ladder_deals=200, ladder_minutes=1e-6)
directory = TemporaryDirectory()
run = create_run(Path(directory.name) / "first", "draw", rules, config)
train(run)
print(", ".join(sorted(path.name for path in run.path.iterdir())))

# %% [markdown]
# In a terminal this is `dominoes train --variant draw --steps 400000 --seed 1 --out runs/first`;
# with `--resume` it goes on where it was stopped. `config.json` holds every setting,
# `checkpoint.pt` what it takes to go on, `policy` the last player and `best` the best one on the
# ladder, both as plain arrays that play without torch.
#
# ## The learning curve

# %%
learning_curve_figure(run.path)

# %% [markdown]
# Looks are noisy: each plays 200 deals an opponent, and the bands say how little that is. They
# share their deals, though, so that two looks differ less by chance than the bands suggest. One
# seed is one run: how much runs differ can only be seen from several (`--seed`).
#
# ## What it is worth
#
# The best of many looks is flattered by the deals of those looks. So measure it on others. The last
# row is the player that comes with the package, which trained for half an hour.

# %%
from agents.learned import LearnedAgent
from training.evaluate import evaluate

mine = LearnedAgent(run.path)  # the best policy of the run
mine.name = "mine"
opponents = ("random", "greedy", "doubles", "flexible", "learned:draw-2p")
results = {name: evaluate([mine, name], rules, deals=2000, seed=77) for name in opponents}
intervals_figure(
    {name: result.win_rate for name, result in results.items()},
    title="The new player against each opponent\ndraw, 2,000 mirrored deals each, seed 77",
    unit="win rate of the new player, %",
    of="opponent",
    even=0.5,
    scale=100,
)

# %%
for name, result in results.items():
    points = result.points
    verdict = "better" if points.low > 0 else "worse" if points.high < 0 else "not sure"
    print(f"v {name:16} {points.text(signed=True)} points a deal: {verdict}")

# %% [markdown]
# Some seconds of training are enough to beat simple rules of thumb. The distance to the last row is
# what more time buys: `dominoes train --preset draw-2p` takes half an hour.
#
# ## Keep it
#
# A policy is a file of arrays and a header that says what it is. It can be put anywhere, and its
# path is the name of an agent, in `make_agent` and on every command line.

# %%
from agents import make_agent
from agents.policy_file import load_policy, save_policy

policy = load_policy(run.path)
path = save_policy(policy, Path(directory.name), "my_player")
print(path.name, "· layers", policy.sizes, "·", f"{policy.about['decisions']:,} decisions")

again = make_agent(str(path))
first = evaluate([mine, "greedy"], rules, deals=100, seed=5)
second = evaluate([again, "greedy"], rules, deals=100, seed=5)
print("the same figures in the same games:", first.points == second.points)

# %% [markdown]
# It can sit in an environment too, as the opponent of whoever learns next:

# %%
from agents import as_opponent

env = dominoes_env.vector_env(256, rules=rules, opponents=as_opponent(again, rules))
observations, infos = env.reset(seed=1)
print(observations.shape)

# %%
directory.cleanup()

# %% [markdown]
# ## Where to go next
#
# - `dominoes train --help`: every setting, and `--league 0.25`, in which past selves and rules of
#   thumb are met too.
# - `examples/`: MaskablePPO of sb3-contrib in 20 lines, a training loop of your own in 40, TorchRL,
#   RLlib.
# - `05_study_a_position`: what a trained player thinks of a position.
