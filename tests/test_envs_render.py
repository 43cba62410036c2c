"""Render modes: what they give in each form of the game, whose eyes they look through, films that play, and that a
game goes on as if nobody looked."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import PRESETS
from pettingzoo.test import render_test

import dominoes_env
from dominoes_env.engine.variants import make_rules
from dominoes_env.render.pixels import HEIGHT, WIDTH, view_pixels
from dominoes_env.render.view import make_view

FORMS = (dominoes_env.raw_env, dominoes_env.env, dominoes_env.parallel_env, dominoes_env.gym_env)
SIZE = (HEIGHT, WIDTH, 3)


def forms_of(viewer: str) -> list[Any]:
    return [form for form in FORMS if (form is dominoes_env.gym_env) == (viewer == "player")]


# What is given


def test_the_fixed_size_is_what_the_documents_say():
    assert SIZE == (800, 960, 3)
    for form in FORMS:
        assert form().metadata["render_modes"] == ["human", "ansi", "rgb_array"]
        assert form().metadata["render_fps"] == 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("viewer", ["all", "player", 0, 1])
def test_who_looks(form, viewer):
    env = form("all_fives", render_mode="rgb_array", render_viewer=viewer)
    text = form("all_fives", render_mode="ansi", render_viewer=viewer)
    for game in (env, text):
        game.reset(seed=5)
    twin = dominoes_env.raw_env("all_fives")
    twin.reset(seed=5)
    if form is dominoes_env.gym_env:
        state, history, player, is_lost = env._rows.shown(0)
        assert player == 0 and not is_lost
    else:
        state, history, player = twin.unwrapped._seats.table.states, (), twin.unwrapped._seats.turn
    seat = {"all": None, "player": player}.get(viewer, viewer)
    wanted = view_pixels(make_view(env.unwrapped.rules, state, history, seat))
    assert np.array_equal(env.render(), wanted)
    assert ("hidden" in text.render()) == (viewer != "all")


@pytest.mark.parametrize("form", FORMS)
def test_who_looks_if_nothing_is_said(form):
    """All hands are shown where every seat is played from outside, the learner's where one is."""
    default = "player" if form is dominoes_env.gym_env else "all"
    pictures = []
    for options in ({}, {"render_viewer": default}):
        env = form("draw", render_mode="rgb_array", **options)
        env.reset(seed=3)
        pictures.append(env.render())
    assert np.array_equal(*pictures)


def test_a_lost_episode_says_so():
    for form in (dominoes_env.env, dominoes_env.gym_env):
        env = form("draw", render_mode="ansi", illegal="lose")
        env.reset(seed=1)
        wrong = int(np.flatnonzero(np.asarray(mask_of(env)) == 0)[0])
        env.step(wrong)
        assert env.render().endswith("lost it by an illegal action")


def mask_of(env: Any) -> Any:
    return env.action_masks() if hasattr(env, "action_masks") else env.last()[0]["action_mask"]


def test_text_is_in_colour_on_a_terminal(monkeypatch):
    env = dominoes_env.env("draw", render_mode="ansi")
    env.reset(seed=1)
    assert "\x1b" not in env.render()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" in env.render()
    assert "\x1b" not in env.view("player_0")


def test_a_row_of_a_vector_shows_what_a_single_game_does():
    for mode in ("rgb_array", "ansi"):
        vector = gymnasium.make_vec("dominoes_env:Dominoes-v0", 3, variant="draw", seat=1, render_mode=mode)
        single = dominoes_env.gym_env("draw", seat=1, render_mode=mode)
        vector.reset(seed=4)
        _, info = single.reset(seed=4)
        for _ in range(4):
            rows = vector.render()
            assert isinstance(rows, tuple) and len(rows) == 3
            assert np.array_equal(rows[0], single.render()) and not np.array_equal(rows[0], rows[1])
            action = int(info["action_mask"].argmax())
            masks = vector.unwrapped.action_masks()
            _, _, terminated, _, info = single.step(action)
            vector.step(masks.argmax(axis=1))
            if terminated:
                break
    silent = dominoes_env.vector_env(2)
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode; give one when making the env: ansi, rgb_array"):
        assert silent.render() is None
    with pytest.raises(gymnasium.error.ResetNeeded):
        dominoes_env.vector_env(2, render_mode="ansi").render()
    with pytest.raises(ValueError, match="render_mode='human' is not allowed; allowed: None, ansi, rgb_array"):
        dominoes_env.vector_env(2, render_mode="human")  # type: ignore[arg-type]


def test_a_vector_of_all_seats_shows_who_is_on_turn():
    env = dominoes_env.vector_env(2, "draw", seat="all", render_mode="ansi")
    _, info = env.reset(seed=3)
    for _ in range(5):
        for row, text in enumerate(env.render()):
            (mover,) = (line for line in text.splitlines() if line.startswith(">"))
            assert mover.startswith(f"> player_{info['player'][row]}") and "hidden" not in mover
        info = env.step(info["action_mask"].argmax(axis=1))[-1]


# The checks of others


@pytest.mark.parametrize(("variant", "num_players"), PRESETS[::5])
def test_pettingzoos_check(variant, num_players):
    for form in (dominoes_env.raw_env, dominoes_env.env):
        render_test(lambda form=form, **options: form(variant, num_players=num_players, **options))


@pytest.mark.parametrize("mode", ["human", "ansi", "rgb_array"])
def test_gymnasiums_check(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("dominoes_env:Dominoes-v0", render_mode=mode)
        check_env(env.unwrapped)
        env.reset(seed=1)
        assert (env.render() is None) == (mode == "human")
        env.close()


def test_frames_are_collected_on_request():
    env = gymnasium.make("dominoes_env:Dominoes-v0", render_mode="rgb_array_list")
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    frames = env.render()
    assert len(frames) == 2 and frames[0].shape == SIZE and not np.array_equal(*frames)


# Films


def frames_of(path: str) -> list[Any]:
    """A film as it is read back from the file."""
    reader = pytest.importorskip("imageio_ffmpeg").read_frames(path)
    width, height = next(reader)["size"]
    return [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


def check_film(path: Any, pictures: list[Any]) -> None:
    frames = frames_of(str(path))
    assert len(frames) == len(pictures) > 5
    for frame, picture in zip(frames, pictures, strict=True):
        assert frame.shape == picture.shape == SIZE
        assert np.abs(frame.astype(int) - picture).mean() < 4  # what the film's coding loses


def test_a_film_of_a_whole_game_plays_gymnasium(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make("dominoes_env:Dominoes-v0", variant="all_fives", render_mode="rgb_array", skip_forced=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        film = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "film"), disable_logger=True)
        _, info = film.reset(seed=7)
        pictures, is_over = [env.render()], False
        while not is_over:
            _, _, terminated, truncated, info = film.step(int(info["action_mask"].argmax()))
            pictures.append(env.render())
            is_over = terminated or truncated
        film.close()
    check_film(tmp_path / "film" / "rl-video-episode-0.mp4", pictures)


def test_a_film_of_a_whole_game_plays_pettingzoo(tmp_path):
    pytest.importorskip("moviepy")
    wrappers = pytest.importorskip("pettingzoo.utils.wrappers.record_video")
    env = dominoes_env.env("draw", render_mode="rgb_array")
    film = wrappers.RecordVideo(env, str(tmp_path / "film"), episode_trigger=lambda episode: True, disable_logger=True)
    film.reset(seed=7)
    pictures = [env.render()]
    for _ in film.agent_iter():
        observation, _, terminated, truncated, _ = film.last()
        film.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
        pictures.append(env.render())
    film.close()
    check_film(next(tmp_path.glob("film/*.mp4")), pictures)


# Without a trace


@settings(max_examples=25, deadline=None)
@given(
    preset=st.sampled_from(PRESETS),
    seed=st.integers(0, 2**32),
    mode=st.sampled_from(["human", "ansi", "rgb_array"]),
    viewer=st.sampled_from(["all", "player", 0, 1]),
    skip_forced=st.booleans(),
)
def test_a_game_goes_on_as_if_nobody_looked(preset, seed, mode, viewer, skip_forced):
    variant, num_players = preset
    options = {"num_players": num_players, "skip_forced": skip_forced}
    plain, shown = (
        dominoes_env.raw_env(variant, **options, **more)
        for more in ({}, {"render_mode": mode, "render_viewer": viewer})
    )
    generator = random.Random(seed)
    for game in (plain, shown):
        game.reset(seed=seed)
    while plain.agents:
        assert plain.agent_selection == shown.agent_selection
        if generator.random() < 0.1:
            shown.render()
        for first, second in zip(plain.last(), shown.last(), strict=True):
            assert repr(first) == repr(second)
        for agent in plain.agents:
            first, second = plain.observe(agent), shown.observe(agent)
            assert all(np.array_equal(first[key], second[key]) for key in first)
        assert plain.rewards == shown.rewards and np.array_equal(plain.state(), shown.state())
        observation, _, terminated, truncated, _ = plain.last()
        action = None
        if not (terminated or truncated):
            action = generator.choice(np.flatnonzero(observation["action_mask"]).tolist())
        for game in (plain, shown):
            game.step(action)
    assert not shown.agents
    shown.close()


@settings(max_examples=25, deadline=None)
@given(preset=st.sampled_from(PRESETS), seed=st.integers(0, 2**32), mode=st.sampled_from(["ansi", "rgb_array"]))
def test_a_learners_game_goes_on_as_if_nobody_looked(preset, seed, mode):
    games = [dominoes_env.gym_env(preset[0], num_players=preset[1], render_mode=mode) for mode in (None, mode)]
    generator = random.Random(seed)
    seen = [game.reset(seed=seed) for game in games]
    is_over = False
    while not is_over:
        if generator.random() < 0.3:
            games[1].render()
        assert np.array_equal(seen[0][0], seen[1][0]) and repr(seen[0][1:]) == repr(seen[1][1:])
        action = generator.choice(np.flatnonzero(seen[0][-1]["action_mask"]).tolist())
        seen = [game.step(action) for game in games]
        is_over = seen[0][2] or seen[0][3]
    assert np.array_equal(seen[0][0], seen[1][0]) and repr(seen[0][1:]) == repr(seen[1][1:])


@pytest.mark.parametrize("mode", ["human", "ansi", "rgb_array"])
def test_copies_are_rendered_too(mode):
    env = dominoes_env.raw_env("draw", render_mode=mode)
    env.reset(seed=1)
    first = env.render()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert np.array_equal(twin.render(), first)
        twin.close()
    env.close()


# What is missing


@pytest.mark.parametrize(
    ("module", "mode", "extra"),
    [("PIL.Image", "rgb_array", "render"), ("PIL.Image", "human", "render"), ("pygame", "human", "window")],
)
def test_a_mode_that_lacks_something_says_what_to_install(monkeypatch, module, mode, extra):
    monkeypatch.setitem(sys.modules, module, None)
    for form in FORMS:
        with pytest.raises(ModuleNotFoundError, match=rf"pip install 'dominoes_env\[{extra}\]'"):
            form("draw", render_mode=mode)
        form("draw", render_mode="ansi")
    if mode == "rgb_array":
        with pytest.raises(ModuleNotFoundError, match="render"):
            dominoes_env.vector_env(2, render_mode=mode)


def test_rules_of_more_players_have_more_viewers():
    dominoes_env.env(rules=make_rules("partners"), render_viewer=3)
    with pytest.raises(ValueError, match="a seat from 0 to 3"):
        dominoes_env.env(rules=make_rules("partners"), render_viewer=4)
