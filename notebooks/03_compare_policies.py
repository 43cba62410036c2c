# %% [markdown]
# # Comparing policies
#
# Which of two players is better, by how much, and how sure is that? You will measure a trained
# player against a ladder of others, see what it saves to play each deal from both sides, hold a
# small tournament, and look at a position in which two players part. Fifteen minutes to read, half
# a minute to run.

# %%
# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
import numpy as np

import dominoes_env
from training.evaluate import evaluate
from training.plots import advice_figure, intervals_figure

rules = dominoes_env.make_rules("classic_block")

# %% [markdown]
# The game is block as most people play it: seven tiles each, nobody draws, and whoever goes out, or
# holds fewest pips when nobody can play, scores the pips of the other.
#
# ## A ladder
#
# `evaluate` plays *mirrored deals*: each deal twice, with the players' seats exchanged. Both get
# the same good and bad hands. Intervals are of 95 %, and they are taken over deals, since the two
# games of a deal are not independent.

# %%
trained = "learned:classic_block-2p"  # comes with the package
ladder = ("random", "greedy", "doubles", "flexible")
results = {name: evaluate([trained, name], rules, deals=2000, seed=1) for name in ladder}
intervals_figure(
    {name: result.win_rate for name, result in results.items()},
    title=f"{trained} against each opponent\nclassic_block, 2,000 mirrored deals each, seed 1",
    unit="win rate of the trained player, %",
    of="opponent",
    even=0.5,
    scale=100,
)

# %% [markdown]
# Every interval lies to the right of 50 %, so the trained player is better than all four, as sure
# as such an interval is: of a hundred of them, five or so miss the truth. `random` plays anything,
# `greedy` the heaviest tile, `doubles` doubles first, and `flexible` weighs what it could play
# next. The better the opponent, the less is won.
#
# In a game of luck a few percent are a lot, and the ceiling is not 100 %: even `cheater`, who sees
# all tiles, loses with a bad hand.
#
# ## What mirroring saves
#
# The same question with the same number of games, once mirrored and once with a fresh deal for each
# game:

# %%
mirrored = evaluate(["flexible", "greedy"], rules, deals=2000, seed=1)
plain = evaluate(["flexible", "greedy"], rules, deals=4000, seed=2, mirrored=False)
intervals_figure(
    {
        "2,000 deals, each played twice": mirrored.points,
        "4,000 deals, each played once": plain.points,
    },
    title="flexible against greedy, dealt in two ways\nclassic_block, 4,000 games each",
    unit="points a game of flexible over greedy",
    of="how the games were dealt",
    even=0,
    digits=2,
)

# %%
saving = mirrored.mirroring
print(
    f"without mirroring, as narrow an interval takes {saving.points:.2f} times the games for points"
)
print(f"and {saving.win_rate:.2f} times the games for wins ({mirrored.deals:,} mirrored deals)")

# %% [markdown]
# The more alike two players are, the more mirroring saves: where they play the same, the luck of
# the deal cancels completely. `dominoes evaluate --control` saves more: it takes off the luck that
# cheap stand-ins show on the same deals.
#
# ## A tournament
#
# Everybody against everybody on the same deals. `pimc:20` is a search: it deals the hidden tiles 20
# times, solves each deal with open hands, and plays what is best on average.

# %%
from training.tournament import tournament
from training.tournament_plot import tournament_figure

cup = tournament(
    ["random", "greedy", "doubles", "flexible", "pimc:20", trained], rules, deals=500, seed=1
)
tournament_figure(cup)

# %% [markdown]
# On the right is what was measured, and the ratings on the left sum it up. One number a player is
# only fair if no cycle is hidden in the table (A beats B beats C beats A). The tournament looks for
# one, and the figure says so if there is.

# %%
print("a cycle:", cup.cycle)
for better, worse in zip(cup.standings, cup.standings[1:], strict=False):
    meeting = cup.meeting(better.agent, worse.agent).win_rate
    figures = f"{meeting.text(1, scale=100)} %"
    verdict = "better" if meeting.low > 0.5 else "not sure"
    print(f"{better.agent:24} v {worse.agent:24} {figures}: {verdict}")

# %% [markdown]
# Where it says *not sure*, 500 deals are too few to tell. And of five verdicts one may well be
# luck: a *better* that just clears the line is worth a longer match. To halve an interval takes
# four times the deals. `dominoes evaluate A B --until 0.01` plays until the win rate is known to ±
# 1 %, and `--sprt 0 20` until it is clear which of two claims holds.
#
# ## Where two players part
#
# A win rate says who is better, not why. `find_disagreements` lets two players play each other, and
# asks both in every decision.

# %%
from agents.advice import advise, turn_of
from training.disagreement import find_disagreements
from training.intervals import mean_interval

parted = find_disagreements("flexible", trained, rules, deals=500, seed=1)
share = parted.share
print(f"they part in {share.text(1, scale=100)} % of the decisions with a choice")
print(f"({parted.decisions:,} decisions in {parted.deals} deals; the interval is taken over deals)")

# %% [markdown]
# Who is right? Nobody knows for sure, but a strong search can be asked: `inference:200` also reads
# something out of what the others have played. One position a deal, the last in which they part, so
# that positions are independent:

# %%
judge = "inference:200"
positions = list({one.deal: one for one in parted.positions}.values())
games = [dominoes_env.Game.from_position(one.position, episode="round") for one in positions]
gains = np.zeros(len(games))
for number, (game, one) in enumerate(zip(games, positions, strict=True)):
    view = advise(judge, turn_of(game, key=number))
    gains[number] = view.value_of(one.actions[1]) - view.value_of(one.actions[0])
gain = mean_interval(gains)
print(f"in the eyes of {judge}, the trained player's move is worth")
print(f"{gain.text(signed=True)} points more than flexible's (n = {len(gains)} positions)")

# %% [markdown]
# An interval tells of chance alone, not whether the judge is fair: it thinks that the others play
# much like `flexible`, and it may overlook what a trained player knows. The match above is the
# measurement; this helps to understand it.
#
# The position in which the judge sees most between them, as the player on turn sees it:

# %%
from IPython.display import SVG

most = int(gains.argmax())
game = games[most]
SVG(game.svg(viewer=game.turn))

# %%
advice_figure(
    rules, [advise(agent, turn_of(game, key=most)) for agent in ("flexible", trained, judge)]
)

# %% [markdown]
# ## Where to go next
#
# - `04_train_an_agent`: make a player of your own and put it on the ladder.
# - `05_study_a_position`: more of what agents think, and what they believe of the hidden tiles.
# - `dominoes evaluate --help` and `dominoes tournament --help`: the same in a terminal, over many
#   cores, resumable.
