# %% [markdown]
# # How far from perfect?
#
# Beating others does not make a player good: all of them may have the same holes. A game that is
# small enough can be *solved*, and then any player's distance from perfect play can be told,
# exactly and without playing a single game. You will solve a block game of 3,150 deals, watch
# three algorithms converge, and judge rules of thumb, a search and a trained player. Ten minutes
# to read, a minute to run.

# %%
# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
import dominoes_env
from training.cfr import ALGORITHMS, Solver
from training.evaluate import evaluate
from training.exact_game import ExactGame
from training.exploit import exploit
from training.plots import convergence_figure, exploitability_figure
from training.solve import solve

rules = dominoes_env.make_rules("classic_block", max_pip=3, hand_size=4, opening="seat_0")

# %% [markdown]
# The game is block with the ten tiles of a double-three set, four in each hand and two asleep;
# seat 0 leads, and the winner gets the pips that the other still holds. How large is it?

# %%
game = ExactGame(rules)
counts = game.counts
print(f"{counts.deals:,.0f} deals, {counts.histories:,} ways that a round can go")
print(f"{counts.with_choice:,} situations in which a player has a choice")

# %% [markdown]
# A *situation* (an information set) is what a player knows: the own hand and all that was played.
# A strategy says how likely each move is in each of them.
#
# ## Solving it
#
# Counterfactual regret minimization plays against itself: in every situation it keeps score of
# what each move would have gained over what was played, and plays moves by that score. The
# *average* of what it played comes ever closer to a strategy that nobody can beat. How close is
# measured exactly: against an opponent who knows the strategy and answers it as well as can be.
# What he gains over perfect play, as a mean over both seats, is the strategy's *exploitability*.

# %%
small = ExactGame(
    dominoes_env.make_rules("classic_block", max_pip=3, hand_size=3, opening="seat_0")
)
curves = {}
for algorithm in ALGORITHMS:
    solver, curves[algorithm] = Solver(small, algorithm), {}
    for iterations in (1, 2, 4, 8, 16, 32, 64):
        solver.run(iterations - solver.iterations)
        curves[algorithm][iterations] = solver.bounds().exploitability
convergence_figure(
    curves,
    title="Solving block, double-three, three tiles a hand (4,200 deals)\nby three algorithms",
)

# %% [markdown]
# `cfr` is the first of its kind, `cfr+` forgets bad scores at once, and `pcfr+`, the default of
# `dominoes solve`, also expects that the last round's lesson will hold once more.
#
# Now the game with four tiles a hand, until nobody could gain more than a thousandth of a point:

# %%
solved = solve(rules, epsilon=1e-3)
bounds = solved.bounds
print(f"the value for seat 0 lies between {bounds.low:.4f} and {bounds.high:.4f} points a round")
print(f"exploitability {bounds.exploitability:.5f} after {solved.solver.iterations} iterations")

# %% [markdown]
# Leading is worth almost three points. That is no estimate with an interval: both ends are exact
# results against best responses, and no dice are in them.
#
# ## Judging players
#
# `exploit` asks a player what it would do in each situation, and lets the best response play
# against that. Players that give probabilities are asked for them; a search is asked several
# times.

# %%
open_ends = ExactGame(rules, is_folded=False)  # players may tell like ends apart
judged = {name: exploit(name, open_ends) for name in ("random", "greedy", "doubles", "flexible")}
judged["pimc:20"] = exploit("pimc:20", open_ends, samples=4)
for name in ("learned:double_three-2p", "learned:double_three-2p:mode=sample"):
    judged[name] = exploit(name, open_ends)
exploitability_figure(
    {name: one.bounds.exploitability for name, one in judged.items()},
    title="What a best response gains on each player\nblock, double-three, four tiles a hand",
)

# %% [markdown]
# The trained player learned by self-play from nothing (`dominoes train --preset double_three-2p`).
# Where it samples from its probabilities it is harder to exploit than where it always takes its
# likeliest move: in a game of hidden hands, who can be foreseen can be beaten. The search knows the
# rules and nothing else; since it is asked only four times, it seems a little more exploitable than
# it is.
#
# ## Beating is not the same
#
# What the players score against each other, over mirrored deals:

# %%
names = ("flexible", "pimc:20", "learned:double_three-2p")
for number, first in enumerate(names):
    for second in names[number + 1 :]:
        points = evaluate([first, second], rules, deals=3000, seed=1).points
        print(
            f"{first:10} v {second:24} {points.text(2, signed=True)} points a round (3,000 deals)"
        )

# %% [markdown]
# `flexible` loses up to a point a round to the others, and more than that to a best response. The
# search and the trained player are a quarter of a point apart, and both could still lose to
# somebody who knew them well. A match tells which of two is better; exploitability tells how much
# there is left to learn, whoever comes along.
#
# ## The real game
#
# Double-six with seven tiles a hand has too many situations. There one can train *against* a
# player who stays as it is, and see what that gains: a lower bound, with an interval.
#
# ```console
# dominoes exploit learned:draw-2p --variant draw --approximate --minutes 60 --references greedy
# ```
#
# ## Where to go next
#
# - `dominoes solve --help` and `dominoes exploit --help`; the README has the values of more games,
#   the whole double-six set with three tiles a hand among them.
# - `04_train_an_agent`: train with another `magnet` or `entropy`, and see here what it does.
# - `training/cfr.py`, `training/tree_walk.py`: how it is done.
