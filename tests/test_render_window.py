"""The window, on no display: it shows views, answers its user, waits, and can be closed and copied."""

from __future__ import annotations

import copy
import pickle
import time

import numpy as np
import pytest

import dominoes_env
from dominoes_env.game import Game
from dominoes_env.render.pixels import HEIGHT, WIDTH, view_pixels
from dominoes_env.render.view import make_view
from dominoes_env.render.window import Window

pygame = pytest.importorskip("pygame")


@pytest.fixture
def window():
    window = Window(0)
    yield window
    window.close()


def view_of(seed: int):
    game = Game("draw", seed=seed)
    return make_view(game.rules, game.state, game.history)


def shown() -> np.ndarray:
    return np.swapaxes(pygame.surfarray.array3d(pygame.display.get_surface()), 0, 1)


def test_it_shows_a_view(window):
    for seed in (1, 2):
        window.show(view_of(seed))
        assert pygame.display.get_surface().get_size() == (WIDTH, HEIGHT)
        assert np.array_equal(shown(), view_pixels(view_of(seed)))


@pytest.mark.parametrize("event", ["QUIT", "ESCAPE"])
def test_its_user_closes_it_and_the_game_goes_on(event):
    env = dominoes_env.env("draw", render_mode="human")
    env.reset(seed=1)
    assert pygame.display.get_surface() is not None
    if event == "QUIT":
        pygame.event.post(pygame.event.Event(pygame.QUIT))
    else:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
        assert pygame.display.get_surface() is None
    assert env.render() is None
    env.close()
    env.reset(seed=1)
    assert pygame.display.get_surface() is not None
    env.close()
    env.close()
    assert pygame.display.get_surface() is None


def test_it_follows_its_size(window):
    window.show(view_of(1))
    pygame.display.set_mode((500, 700), pygame.RESIZABLE)
    pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, size=(500, 700), w=500, h=700))
    window._wait()
    assert np.array_equal(shown(), view_pixels(view_of(1), width=500, height=700))


def test_it_waits_so_that_views_can_be_seen(hasty_windows):
    window = Window.__new__(Window)
    hasty_windows(window, 20)
    began = time.monotonic()
    for _ in range(4):
        window.show(view_of(1))
    assert 0.14 < time.monotonic() - began < 3
    window.close()


def test_a_copy_is_a_window_of_its_own(window):
    window.show(view_of(1))
    for twin in (copy.deepcopy(window), pickle.loads(pickle.dumps(window))):
        assert twin is not window and twin.fps == window.fps and not twin.is_dismissed
        twin.show(view_of(2))


def test_without_a_display_it_says_so(monkeypatch, window):
    def fail(*arguments: object) -> None:
        raise pygame.error("no available video device")

    monkeypatch.setattr(pygame.display, "set_mode", fail)
    with pytest.raises(RuntimeError, match=r"no available video device.*'ansi' and 'rgb_array'"):
        window.show(view_of(1))
