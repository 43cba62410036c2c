"""Other projects' games under the same random play, measured beside ours by ``dominoes bench --against``."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.contenders import Contender, Play, on_one_core, play_aec

__all__ = ["PEERS", "Peer"]

#: Games side by side in pgx.
PGX_BATCH = 1024
_PGX_STEPS = 32


@dataclass(frozen=True)
class Peer:
    """Another project.

    Attributes:
        pip: what pip installs it by.
        games: its games nearest to dominoes, all measured.
        rival: the contender of ours that stands against it.
        rival_envs: games that the rival plays side by side; 0: as many as asked for.
        contenders: makes them; ModuleNotFoundError if it is not installed.
    """

    pip: str
    games: tuple[str, ...]
    rival: str
    rival_envs: int
    contenders: Callable[[], list[Contender]]


def _openspiel() -> list[Contender]:
    return [Contender("openspiel:python_block_dominoes", "python_block_dominoes", 2, 1, 1, _play_openspiel())]


def _play_openspiel() -> Play:
    """Uniform play with the game's observation tensor and a mask at each step; chance is sampled by its own API."""
    import pyspiel
    from open_spiel.python.games import block_dominoes  # noqa: F401 - registers the game
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("python_block_dominoes")
    observation = make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), np.int8)
    draw = random.Random(3).random
    state = game.new_initial_state()

    def play(seconds: float) -> tuple[int, float]:
        nonlocal state
        steps = 0
        began = time.perf_counter()
        while True:
            if state.is_terminal():
                state = game.new_initial_state()
                took = time.perf_counter() - began
                if took >= seconds:
                    return steps, took
            legal = state.legal_actions()  # at a chance node: the tiles left, all equally likely
            if not state.is_chance_node():
                observation.set_from(state, state.current_player())
                mask.fill(0)
                mask[legal] = 1
                steps += 1
            state.apply_action(legal[int(draw() * len(legal))])

    return play


def _pettingzoo() -> list[Contender]:
    from pettingzoo.classic import connect_four_v3

    return [Contender("pettingzoo:connect_four_v3", "connect_four_v3", 2, 1, 1, play_aec(connect_four_v3.env()))]


def _pgx() -> list[Contender]:
    with on_one_core():  # the threads that JAX starts inherit it
        return [
            Contender(f"pgx:{game}", game, 2, PGX_BATCH, 1, _play_pgx(game))
            for game in ("leduc_holdem", "connect_four")
        ]


def _play_pgx(name: str) -> Play:
    """Uniform play with automatic reset: a jitted scan of vectorised steps; state, observation and mask are carried."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    cpu = jax.devices("cpu")[0]
    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def one(carry: Any, _: Any) -> Any:
        states, key = carry
        key, choosing, dealing = jax.random.split(key, 3)
        logits = jnp.where(states.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(choosing, logits)
        return (step(states, actions, jax.random.split(dealing, PGX_BATCH)), key), None

    with jax.default_device(cpu):
        run = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=_PGX_STEPS)[0])
        carry = (jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), PGX_BATCH)), jax.random.PRNGKey(2))
        carry = jax.block_until_ready(run(carry))

    def play(seconds: float) -> tuple[int, float]:
        nonlocal carry
        steps = 0
        began = time.perf_counter()
        with jax.default_device(cpu):
            while True:
                carry = jax.block_until_ready(run(carry))
                steps += _PGX_STEPS * PGX_BATCH
                took = time.perf_counter() - began
                if took >= seconds:
                    return steps, took

    return play


PEERS: dict[str, Peer] = {
    "openspiel": Peer("open-spiel", ("python_block_dominoes",), "engine", 0, _openspiel),
    "pettingzoo": Peer(
        "pettingzoo[classic], of which pygame-ce is enough", ("connect_four_v3",), "aec", 1, _pettingzoo
    ),
    "pgx": Peer("pgx", ("leduc_holdem", "connect_four"), "engine", PGX_BATCH, _pgx),
}
