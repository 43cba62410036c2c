# %% [markdown]
# # Studying a position
#
# You will set up a position from a line of text, deal its hidden tiles anew in all the ways that
# fit, ask seven agents what they would play and why, and look at what can be believed of the
# opponent's hand. At the end you will know how good such beliefs are, over hundreds of positions.
# Fifteen minutes to read, half a minute to run.

# %%
# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
import numpy as np
from IPython.display import SVG

import dominoes_env
from agents.advice import advise, turn_of
from agents.beliefs import brier_score, count_belief, score_beliefs, world_belief
from dominoes_env.engine.tiles import tiles_in
from dominoes_env.words import format_action, format_tile
from training.intervals import mean_interval
from training.plots import advice_figure, belief_figure, intervals_figure

# %% [markdown]
# ## A position from a line of text
#
# A line says the rules, the hands and how the round went, and so what each has shown not to hold.
# `rest` stands for all tiles that are not named, here those that sleep in the boneyard: in block
# nobody draws. The position was picked because agents part in it and because much can be inferred;
# averages come at the end.

# %%
line = (
    "classic_block num_players=2 | hands 1-1,4-2,5-1,6-6 / 3-2,3-3,4-3,5-4 | boneyard rest"
    " | layout 0-0 1-0@0 pass 5-0@1 5-3@1 6-3@1 6-2@1 | turn 0"
)
game = dominoes_env.Game.from_position(line, episode="round")
game

# %% [markdown]
# `player_0` is to move, and sees this:

# %%
SVG(game.svg(viewer=0))

# %% [markdown]
# ## What may be hidden
#
# `turn_of` is the decision as the player on turn knows it, and that is all that agents are shown.
# `determinize` draws full states that fit it, exactly uniformly. The opponent has passed when 0 and
# 1 were open: he holds neither.

# %%
turn = turn_of(game, key=1)
worlds = dominoes_env.determinize(
    game.rules, turn.state, turn.player, turn.history, np.random.default_rng(1), num_worlds=10_000
)
hands = worlds["hands"][:, 1]
print(f"{len(np.unique(hands)):,} different hands of player_1 in {len(hands):,} worlds. Three:")
for hand in hands[:3]:
    print("  ", *(format_tile(tile) for tile in tiles_in(hand)))

# %% [markdown]
# ## What each agent would play, and why
#
# Rules of thumb and trained players tell how likely they are to take each move, searches how many
# points they expect from the rest of the round.
#
# - `pimc` solves many worlds with open hands and averages. It trusts that from then on everybody
#   sees everything.
# - `ismcts` searches what the players know, with a new deal in each iteration.
# - `inference` is `pimc` in which worlds count by how well they explain what the opponent has
#   played.

# %%
names = ["greedy", "doubles", "flexible", "learned:classic_block-2p"]
names += ["pimc:500", "ismcts:5000", "inference:500"]
advices = [advise(name, turn) for name in names]
advice_figure(game.rules, advices)

# %% [markdown]
# How sure is a search of its own values? Its worlds are a sample, so ask it again with other random
# numbers:

# %%
for name in ("pimc:500", "inference:500"):
    asked = [advise(name, turn_of(game, key=key)) for key in range(20)]
    for action in turn.legal_actions:
        value = mean_interval(np.array([advice.value_of(action) for advice in asked]))
        word = format_action(game.rules, action)
        print(f"{name:14} {word}  {value.text(signed=True)} points")

# %% [markdown]
# (95 %, n = 20 askings with 500 worlds each.) So the two searches do not differ by chance. They
# differ in what they believe.
#
# ## Beliefs against the truth
#
# Three ways to believe, each using more than the one before:
#
# - *counting*: the opponent has 4 of the 18 tiles that are not in sight, so each with the same
#   chance;
# - *what fits*: the share of worlds in which he holds the tile, so what he has shown not to hold
#   counts;
# - *inference*: the same worlds, weighted by how likely he was to play as he did, by a model that
#   plays much like `flexible`.

# %%
beliefs = {
    "counting": count_belief(turn),
    "what fits": world_belief(turn, worlds=4000),
    "inference": world_belief(turn, worlds=4000, agent="inference"),
}
belief_figure(beliefs, seat=1, held=tiles_in(game.state["hands"][0, 1]))

# %% [markdown]
# The Brier score is the mean squared distance of the chances to the truth: 0 is knowing everything,
# and lower is better.

# %%
for name, belief in beliefs.items():
    print(f"{name:10} {brier_score(belief, game.state):.3f}")
print(f"the weighted worlds are as good as {beliefs['inference'].effective_worlds:,.0f} equal ones")

# %% [markdown]
# Weights have a price: the more unequal they are, the fewer worlds they are as good as.
#
# ## How good are such beliefs?
#
# One position shows nothing; this one was picked. `score_beliefs` plays games and scores the same
# beliefs in the sixth decision of each. Who plays matters: `inference` reads moves as those of
# somebody who wants to keep his hand flexible.

# %%
rules = game.rules
ways = {
    "counting": count_belief,
    "what fits": lambda turn: world_belief(turn, worlds=500),
    "inference": lambda turn: world_belief(turn, worlds=500, agent="inference"),
}
players = ("flexible", "learned:classic_block-2p", "random")
scores = {
    player: score_beliefs(ways, player, rules, deals=1000, decision=6, seed=3) for player in players
}
rows = {
    f"{way}, of {player}": mean_interval(values)
    for player in players
    for way, values in scores[player].items()
}
fewest = min(len(one["counting"]) for one in scores.values())
intervals_figure(
    rows,
    title=f"How far beliefs are from the truth\nclassic_block, sixth decision, n ≥ {fewest}",
    unit="Brier score (0: knows all)",
    of="belief, and who plays",
    digits=4,
)

# %% [markdown]
# The positions are the same for all ways, so differences are known better than the figures
# themselves:

# %%
for player in players:
    gain = mean_interval(scores[player]["what fits"] - scores[player]["inference"])
    figures = f"{gain.text(1, scale=1000, signed=True)} thousandths"
    print(f"of {player:25} inference gains {figures} (n = {len(scores[player]['inference'])})")

# %% [markdown]
# Reading moves helps most where the model is right, less where the opponent plays differently and
# well, and not at all where moves mean nothing: there it even misleads a little. A belief is as
# good as the model behind it.
#
# ## Where to go next
#
# - `agents/inference.py`: the search that uses these weights. Its `model` may be another agent that
#   tells how likely it takes each action, as trained players do:
#   `InferenceAgent(model="learned:classic_block-2p")`.
# - `dominoes play --against inference:200`: play against it, and ask for hints.
# - `03_compare_policies`: whether all this wins games.
