# %% [markdown]
# # Observations and masks
#
# What does an agent see, and what does it not see? You will take one observation apart, piece by
# piece, compute its mask from it, and check that nothing hidden is in it. Ten minutes to read, some
# seconds to run.

# %%
import numpy as np

import dominoes_env
from dominoes_env import determinize, make_rules, observation_layout, read_piece
from dominoes_env.words import format_action, format_tile

rules = make_rules("draw")

# %% [markdown]
# ## The pieces
#
# An observation is a flat vector of small integers (int8). Its pieces have names; seats are counted
# from the observer's own, so that one network can play every seat. A tile's number is `high * (high
# + 1) / 2 + low`: 0-0 is 0, 1-0 is 1, 1-1 is 2, up to 6-6, which is 27.

# %%
for piece in observation_layout(rules).values():
    values = f"{piece.low:4} to {piece.high:<3}"
    print(f"{piece.start:3} {piece.name:15}{piece.shape!s:8} {values} {piece.meaning}")

# %% [markdown]
# Other rules have other pieces. All Fives adds a spinner and the count of its ends:

# %%
extra = observation_layout(make_rules("all_fives")).keys() - observation_layout(rules).keys()
print(", ".join(sorted(extra)))

# %% [markdown]
# ## One observation taken apart
#
# A round of two in which `player_1` could not lay a 1, drew two tiles, and laid the second.
# `player_0` is on turn.

# %%
game = dominoes_env.Game("draw", seed=22, episode="round")
for word in ("6-6", "6-0@0", "6-1@1", "1-0@0", "draw", "draw", "3-1@0"):
    game.step(word)
game

# %%
observation = game.observation()
print(observation.shape, observation.dtype)
print(observation)

# %% [markdown]
# `read_piece` gives a piece in its own shape. It takes batches as well: leading axes are kept.

# %%
for name in ("hand", "laid"):
    print(
        f"{name:11}",
        *(format_tile(tile) for tile in np.flatnonzero(read_piece(rules, observation, name))),
    )
print("ends want  ", *read_piece(rules, observation, "ends").argmax(axis=1))
print(
    "lacking    ", *np.flatnonzero(read_piece(rules, observation, "lacking")[0]), "(the opponent)"
)
print("hand counts", *read_piece(rules, observation, "hand_counts"), "(own first)")
print("boneyard   ", *read_piece(rules, observation, "boneyard"))

# %% [markdown]
# The opponent's draws have told something: he had no 1 when he drew, and the tile that he drew and
# kept has none either. That is in `lacking`, until a tile that may be a 1 comes to his hand.
#
# ## The mask
#
# An action is a tile on an end, `end * tiles + tile`, then one id to draw and one to pass. An id
# means the same move in every position. The mask has a 1 for each legal action, and it can be
# computed from the observation:

# %%
pips = np.array(
    [(low, high) for high in range(7) for low in range(high + 1)]
)  # (tiles, 2), by tile id


def mask_of(observation):
    """The mask after the lead in the draw game, where one draws until a tile fits."""
    hand, ends, (boneyard,) = (
        read_piece(rules, observation, name) for name in ("hand", "ends", "boneyard")
    )
    fits = ends[:, pips].any(axis=2) & hand  # (ends, tiles)
    can_play, can_draw = fits.any(), boneyard > 0
    return np.concatenate([fits.ravel(), [not can_play and can_draw, not (can_play or can_draw)]])


print("legal:", *(format_action(rules, action) for action in np.flatnonzero(game.mask())))
print("the same as computed:", np.array_equal(mask_of(observation), game.mask()))

# %% [markdown]
# Does this hold in general? 2,000 games, each after ten random steps:

# %%
table = dominoes_env.Table(rules, 2000, seed=1)
generator = np.random.default_rng(1)
for _ in range(10):
    choice = generator.random(table.masks.shape) * table.masks
    table.step(choice.argmax(axis=1), autoreset=True)
after_lead = np.flatnonzero(table.states["laid"])
same = [np.array_equal(mask_of(table.observations[row]), table.masks[row]) for row in after_lead]
print(f"{sum(same):,} of {len(same):,} masks are the same")

# %% [markdown]
# A seat that is not on turn has exactly PASS in its mask, and so has every seat after the end. No
# mask is empty.

# %%
print([format_action(rules, action) for action in np.flatnonzero(game.mask(1 - game.turn))])

# %% [markdown]
# ## Nothing hidden is in it
#
# `determinize` deals the hidden tiles anew, uniformly among all the ways that fit what `player_0`
# knows. If the observation told anything about them, it would differ between such worlds.

# %%
seat = game.turn
worlds = determinize(
    rules, game.concealed(), seat, game.history, np.random.default_rng(0), num_worlds=1000
)
table = dominoes_env.Table(rules, len(worlds))
for row, world in enumerate(worlds):
    table.set_state(row, world, game.history)
print("different hands of the opponent:", len(np.unique(table.states["hands"][:, 1 - seat])))
print("different observations:         ", len(np.unique(table.observations, axis=0)))
print("different masks:                ", len(np.unique(table.masks, axis=0)))

# %% [markdown]
# A thousand worlds are evidence, not proof. The tests do this for every kind of game, and check
# that the engine writes the same observation from a record in which the hidden fields are blank.
#
# Here is one of these worlds. Compare the hand of `player_1` with the true one above:

# %%
from dominoes_env.notation import format_position

dominoes_env.Game.from_position(format_position(rules, worlds[:1], game.history))

# %% [markdown]
# ## Perfect recall, if you want it
#
# The pieces so far forget the order of moves. With `history=True` the observation ends with the
# round's actions in order. A row is an action: the seat that moved (its number + 1; the observer is
# seat 0), the tile (its number + 1; −1 is a draw, −2 a pass), and the end.

# %%
env = dominoes_env.raw_env(rules=rules, history=True)
env.reset(seed=22)
for action in game.history:
    env.step(action)
with_history = env.observe(env.agent_selection)["observation"]
moves = read_piece(rules, with_history, "history", history=True)
print(with_history.shape, "instead of", observation.shape)
print(moves[: len(game.history)])

# %% [markdown]
# ## For critics that see everything
#
# In training, a critic may see what players may not. `env.state()` is the whole state as one
# vector, and `Table.hidden()` is what the seat on turn does not see, to be put beside its
# observation. The training of this package uses the second. Neither is ever for a player.

# %%
from dominoes_env.observation import hidden_layout

hidden = table.hidden()
for piece in hidden_layout(rules).values():
    print(f"{piece.name:8}{piece.shape!s:9}{piece.meaning}")
print("in the worlds from above, different:", len(np.unique(hidden, axis=0)), "of", len(hidden))
print("env.state():", env.state().shape)

# %% [markdown]
# ## Where to go next
#
# - `03_compare_policies`: players that read these observations, and which of them is better.
# - `05_study_a_position`: what can be inferred about the hidden tiles, and how good such beliefs
#   are.
# - `dominoes_env/observation.py` has the table of pieces, `dominoes_env/engine/state.py` the record
#   behind it.
