"""Our own PPO: its loss against autograd and by hand, what each network is shown, and that threads change nothing."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from linear_policy import policy_of
from seat_games import SeatRows, chain_advantages

from agents.learned import action_logits
from agents.policy_file import load_policy, save_policy
from dominoes_env.engine.variants import make_rules
from dominoes_env.observation import observation_size
from dominoes_env.table import Table
from training.batch_play import sample, to_log_probabilities
from training.config import TrainConfig
from training.league import League
from training.magnetic_ppo import MagneticPPO, make_magnetic_ppo, policy_gradient
from training.partner import Partner

TINY = {"algorithm": "magnetic_ppo", "rows": 15, "rollout": 8, "batch": 32, "epochs": 2, "hidden": (16,), "threads": 1}
GAMES = [("draw", 2), ("draw", 3), ("classic_block", 2), ("all_fives", 4), ("partners", 4)]


def learner(variant="draw", num_players=None, **settings):
    rules = make_rules(variant) if num_players is None else make_rules(variant, num_players=num_players)
    return make_magnetic_ppo(rules, TrainConfig(**{**TINY, **settings}), 7.0)


def random_decisions(number, num_actions, seed):
    """Logits of a policy and a magnet, masks, legal actions, and the rest of what a loss takes."""
    rng = np.random.default_rng(seed)
    logits, magnets = rng.normal(size=(2, number, num_actions)).astype(np.float32) * 2
    masks = (rng.random((number, num_actions)) < 0.4).astype(np.int8)
    masks[np.arange(number), rng.integers(0, num_actions, number)] = 1
    actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
    advantages = rng.normal(size=number).astype(np.float32)
    return logits, magnets, masks, actions, advantages, rng


def test_the_gradient_is_that_of_the_loss():
    logits, magnets, masks, actions, advantages, rng = random_decisions(60, 9, seed=1)
    clip, magnet_weight, entropy_weight = 0.2, 0.3, 0.07
    is_legal = torch.from_numpy(masks == 1)

    def logs(values):
        return torch.log_softmax(torch.where(is_legal, values, -1e4), dim=1)

    variable = torch.from_numpy(logits.astype(np.float64)).requires_grad_()
    magnet = logs(torch.from_numpy(magnets.astype(np.float64)))
    log = logs(variable)
    chosen_log = log[torch.arange(60), torch.from_numpy(actions)]
    taken = (chosen_log.detach() + torch.from_numpy(rng.normal(size=60)) * 0.3).float()
    ratio, advantage = (chosen_log - taken).exp(), torch.from_numpy(advantages)
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    divergence = (log.exp() * (log - magnet)).sum(1)
    entropy = -(log.exp() * log).sum(1)
    chosen = np.array([3, 5, 8, 13, 21, 34, 55, 0])
    loss = (-surrogate + magnet_weight * divergence - entropy_weight * entropy)[chosen].mean()
    (expected,) = torch.autograd.grad(loss, variable)

    now, slow = logits[chosen].copy(), magnets.copy()
    to_log_probabilities(now, masks[chosen])
    to_log_probabilities(slow, masks)
    gradient, sums = np.full(now.shape, np.nan, np.float32), np.zeros(4)
    weights = np.array([clip, magnet_weight, entropy_weight])
    policy_gradient(now, slow, masks, actions, taken.numpy(), advantages, chosen, weights, gradient, sums)
    expected = expected[chosen].numpy()
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    assert (gradient[masks[chosen] == 0] == 0).all()
    is_clipped = (surrogate != ratio * advantage).detach().numpy()
    assert 0 < is_clipped[chosen].sum() == sums[2] < len(chosen)
    np.testing.assert_allclose(sums[:2], [divergence[chosen].sum().item(), entropy[chosen].sum().item()], rtol=1e-5)
    change = (chosen_log - taken).detach().numpy()[chosen]
    assert sums[3] == pytest.approx((np.exp(change) - 1 - change).sum(), rel=1e-4)


def test_divergence_and_entropy_by_hand():
    """Two legal actions, 3/4 and 1/4, a magnet of 1/2 each: H = 2 ln 2 - 3/4 ln 3, KL = 3/4 ln 3 - ln 2."""
    now, magnets = np.log([[0.75, 0.25, 9.0]]).astype(np.float32), np.log([[0.5, 0.5, 9.0]]).astype(np.float32)
    masks, zero, first = np.array([[1, 1, 0]], np.int8), np.zeros(1, np.float32), np.zeros(1, np.int64)
    sums = np.zeros(4)

    def gradient_of(magnet, entropy):
        gradient = np.empty((1, 3), np.float32)
        weights = np.array([0.2, magnet, entropy])
        policy_gradient(now, magnets, masks, first, now[:, 0].copy(), zero, first, weights, gradient, sums)
        return gradient[0]

    # By logits x, y the derivatives of p = e^x / (e^x + e^y) are p (1 - p) and its negative: here 3/16; dKL/dp =
    # ln(p / (1 - p)) = ln 3, and dH/dp is the same with the other sign.
    steep = 3 / 16 * math.log(3)
    np.testing.assert_allclose(gradient_of(1.0, 0.0), [steep, -steep, 0], rtol=1e-5)
    np.testing.assert_allclose(sums[:2], [0.75 * math.log(3) - math.log(2), 2 * math.log(2) - 0.75 * math.log(3)], 1e-5)
    np.testing.assert_allclose(gradient_of(0.0, 1.0), [steep, -steep, 0], rtol=1e-5)  # a minus before H, and in dH
    np.testing.assert_allclose(gradient_of(0.0, 0.0), 0)


def test_actions_are_sampled_by_their_probability():
    number = 40_000
    logits = np.tile(np.array([1.0, 50.0, -1.0, 0.0], np.float32), (number, 1))
    masks = np.tile(np.array([1, 0, 1, 1], np.int8), (number, 1))
    keys, actions, taken = np.arange(1, number + 1).astype(np.uint64), np.zeros(number, np.int64), np.zeros(number)
    to_log_probabilities(logits, masks)
    for _ in range(3):  # such keys are not random before they have been moved on
        sample(logits, masks, keys, actions, taken)
    expected = np.exp([1.0, -np.inf, -1.0, 0.0])
    expected /= expected.sum()
    np.testing.assert_allclose(np.bincount(actions, minlength=4) / number, expected, atol=0.01)
    np.testing.assert_allclose(np.exp(taken), expected[actions], rtol=1e-5)


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
def test_a_rollout_holds_what_was_played(variant, num_players):
    """Replayed on plain tables: observations, what is hidden from them, masks, seats, rewards of every seat, ends."""
    playing = learner(variant, num_players)
    rules, rollout = playing.games[0].rules, playing.rollout
    table = Table(rules, 15, seed=1, skip_forced=True)
    for _ in range(3):
        playing.update(0.0)
        for t in range(8):
            seen = np.concatenate([table.observations, table.hidden()], axis=1)
            assert (rollout.seen[t] == seen).all() and (rollout.masks[t] == table.masks).all()
            assert (rollout.acted[t] == table.players).all()
            table.step(rollout.actions[t], autoreset=True)
            np.testing.assert_allclose(rollout.rewards[t], table.rewards / 7, rtol=1e-6)
            assert (rollout.dones[t] == table.terminated).all()
        assert (rollout.seen[8, :, : table.observations.shape[1]] == table.observations).all()
        assert (rollout.acted[8] == table.players).all()
    assert playing.decisions == 3 * 8 * 15


def test_the_critic_learns_returns_of_the_seat_that_decides():
    """Its goals are the advantages by their definition plus its own values, over decisions whose outcome is known."""
    playing = learner("draw", 3, gae_lambda=0.9)
    told = []
    playing._teach_critic = lambda decisions, goals: told.append((decisions, goals)) or 0.0
    values_of = playing._values
    playing._values = lambda: told.append(values_of()) or told[-1]
    playing.update(0.0)
    values, (decisions, goals) = told
    rollout = playing.rollout
    inputs = torch.from_numpy(rollout.seen.astype(np.float32) * playing._scale)
    with torch.no_grad():
        np.testing.assert_allclose(values, playing.critic(inputs)[..., 0].numpy(), atol=1e-5)
    for row in range(15):
        expected, known = chain_advantages(
            values[:-1, row], rollout.acted[:-1, row], rollout.rewards[:, row], rollout.dones[:, row],
            values[-1, row], rollout.acted[-1, row], 1.0, 0.9,
        )  # fmt: skip
        places = np.arange(8)[known] * 15 + row
        assert set(places) == {place for place in decisions if place % 15 == row}
        np.testing.assert_allclose(goals[places], (expected + values[:-1, row])[known], atol=2e-5)


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
def test_the_policy_never_sees_what_is_hidden(variant, num_players):
    """Two learners that differ in what is shown to the critic: their first rollouts are the same."""
    one, other = learner(variant, num_players), learner(variant, num_players)
    for games in other.games:
        games.hidden = partial(np.ones_like, games.hidden())
    one.update(0.0), other.update(0.0)
    size = observation_size(one.games[0].rules)
    assert (one.rollout.seen[..., size:] != other.rollout.seen[..., size:]).any()
    assert (one.rollout.seen[..., :size] == other.rollout.seen[..., :size]).all()
    assert (one.rollout.actions == other.rollout.actions).all()
    assert one.actor[0].in_features == size < one.critic[0].in_features == one.rollout.seen.shape[2]


def test_the_policy_file_is_the_trained_actor(tmp_path):
    trained = learner("all_fives")
    for _ in range(3):
        trained.update(0.0)
    save_policy(trained.policy({"made": "here"}), tmp_path)
    policy = load_policy(tmp_path)
    assert (policy.activation, policy.about) == ("relu", {"made": "here"})
    size = policy.sizes[0]
    seen = trained.rollout.seen_flat()[:, :size]
    with torch.no_grad():
        logits = trained.actor(torch.from_numpy(seen * trained._scale[:size])).numpy()
    assert np.abs(logits).max() > 0.05
    np.testing.assert_allclose(action_logits(policy, seen), logits, atol=1e-5)


@pytest.mark.parametrize(("variant", "share"), [("draw", 0.0), ("draw", 0.5), ("partners", 0.5)])
def test_the_number_of_threads_changes_no_bit(variant, share, tmp_path):
    """With rows of the league too, whose members answer beside the other rows."""
    rules, learners = make_rules(variant), []
    for threads in (1, 2):
        config = TrainConfig(**{**TINY, "threads": threads, "league": share})
        league, partner = League(rules, round(15 * share), tmp_path / str(threads)), Partner(rules)
        for seed in range(2):
            league.admit(policy_of(variant, 1, seed))
        learners.append(make_magnetic_ppo(rules, config, 7.0, league, partner))
    one, two = learners
    for step in range(4):
        one.update(step / 4), two.update(step / 4)
    for network in ("actor", "critic", "magnet"):
        pairs = zip(getattr(one, network).parameters(), getattr(two, network).parameters(), strict=True)
        assert all((first == second).all() for first, second in pairs)


@pytest.mark.parametrize("units", [16, 128])
def test_a_new_thread_adds_up_in_the_same_order(units):
    """Whatever the number of rows: a resumed run has new threads, an uninterrupted one old ones."""
    for rows in (*range(1, 26), 64, 100, 256, 2048):
        playing = learner("draw", hidden=(units,), threads=2)
        inputs = torch.from_numpy(np.random.default_rng(rows).normal(size=(rows, playing._size)).astype(np.float32))

        def answer(network=playing.actor, inputs=inputs):
            with torch.inference_mode():
                return network(inputs)

        answers = [*playing._together(answer, answer, answer), answer()]
        assert all((one == answers[0]).all() for one in answers), rows


def test_the_first_weights_are_those_of_one_thread():
    """The orthogonalisation rounds otherwise with more, as in a process that has more cores."""
    networks = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        networks.append(learner("draw", hidden=(128, 128)).actor)
    assert all((one == two).all() for one, two in zip(*(network.parameters() for network in networks), strict=True))


def test_the_magnet_follows_the_policy():
    slow = learner("draw", magnet_speed=0.25)
    before = [weight.clone() for weight in slow.magnet.parameters()]
    slow.update(0.0)
    for was, now, goal in zip(before, slow.magnet.parameters(), slow.actor.parameters(), strict=True):
        np.testing.assert_allclose(now.detach(), (0.75 * was + 0.25 * goal).detach(), atol=1e-6)


def test_a_strong_magnet_holds_the_policy():
    """From the same games, and with the same steps, it ends nearer to where it began."""
    free, held = (learner("draw", rows=64, magnet=weight, magnet_speed=0.0) for weight in (0.0, 10.0))
    for _ in range(10):
        free_figures, held_figures = free.update(0.0), held.update(0.0)
    assert held_figures["train/magnet_divergence"] < free_figures["train/magnet_divergence"] / 4


@pytest.mark.parametrize("seats", [2, 4])
def test_every_seat_learns_what_only_its_seat_tells(seats):
    config = TrainConfig(**{**TINY, "rows": 16, "rollout": 16, "batch": 64, "epochs": 4, "learning_rate": 3e-3})
    games = [SeatRows(seats, 8), SeatRows(seats, 8)]
    playing = MagneticPPO(games, np.ones(seats + 1, np.float32), config, 1.0)
    for _ in range(30):
        playing.update(0.0)
    with torch.no_grad():
        probabilities = torch.softmax(playing.actor(torch.eye(seats)), dim=1).numpy()
    assert np.diag(probabilities).min() > 0.9
