"""Agents: rules of thumb against a plain restatement, ties, hidden tiles, the catalog, policies, learned players."""

from __future__ import annotations

import inspect
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from agents import CATALOG, Agent, Turn, Turns, as_agent, make_agent
from agents.keys import decision_keys, fraction, pick
from agents.learned import LearnedAgent, action_logits
from agents.match import turns_of
from agents.policy_file import Policy, load_policy, save_policy
from dominoes_env.engine.actions import decode_action
from dominoes_env.engine.rules import KNOB_MEANINGS, Rules, allowed_values
from dominoes_env.engine.tiles import HIGH, LOW, tiles_in
from dominoes_env.engine.variants import VARIANTS, make_rules
from dominoes_env.observation import observation_size
from dominoes_env.table import Table


def random_turns(rules: Rules, num_games: int = 64, num_steps: int = 6, seed: int = 3) -> tuple[Table, Turns]:
    """A table some random moves into its games, and the decisions that it waits for."""
    table = Table(rules, num_games, seed=seed)
    generator = np.random.default_rng(seed)
    for _ in range(num_steps):
        table.step((table.masks * generator.random(table.masks.shape)).argmax(axis=1), autoreset=True)
    rows = np.arange(num_games)
    return table, turns_of(table, rows, decision_keys(seed, rows))


def random_policy(rules: Rules, hidden: tuple[int, ...] = (16, 8), seed: int = 0) -> Policy:
    generator = np.random.default_rng(seed)
    sizes = [observation_size(rules), *hidden, rules.num_actions]
    weights = tuple(generator.normal(0, 0.5, shape).astype(np.float32) for shape in pairwise(sizes))
    return Policy(rules, weights, tuple(generator.normal(0, 0.5, n).astype(np.float32) for n in sizes[1:]))


# Rules of thumb


def points_of_play(table: Table, row: int, action: int) -> int:
    """What a play books at once for its player, by playing it: only plays that do not end the round."""
    alone = Table(table.rules)
    alone.set_state(0, table.states[row])
    player = int(alone.players[0])
    alone.step(np.array([action]))
    return int(alone.points[0, player]) if not alone.terminated[0] else -1


def openness(turn: Turn, action: int) -> float:
    """3 a tile of the hand and -1.5 an unseen one, of those that fit an open end once ``action`` is played."""
    alone = Table(turn.rules)
    alone.set_state(0, turn.state)
    alone.step(np.array([action]))
    ends = {int(end) for end in alone.states["ends"][0] if end >= 0}
    hand = set(tiles_in(turn.state["hands"][0, turn.player])) - {decode_action(turn.rules, action)[0]}
    unseen = set(range(turn.rules.num_tiles)) - hand - set(tiles_in(alone.states["laid"][0]))
    fits = {tile for tile in range(turn.rules.num_tiles) if {int(LOW[tile]), int(HIGH[tile])} & ends}
    return 3 * len(hand & fits) - 1.5 * len(unseen & fits)


@pytest.mark.parametrize("name", ["greedy", "doubles", "flexible"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_rules_of_thumb_choose_what_they_say(variant, name):
    rules = make_rules(variant)
    agent = make_agent(name)
    table, turns = random_turns(rules)
    probabilities = agent.probabilities(turns)
    assert (probabilities[np.arange(len(turns)), agent.act_batch(turns)] > 0).all()
    for row, action in enumerate(agent.act_batch(turns)):
        legal = turns[row].legal_actions
        assert action in legal
        if len(legal) == 1:
            continue

        def rank(candidate, row=row):
            tile, _ = decode_action(rules, candidate)
            points = points_of_play(table, row, candidate) if rules.end_scoring != "none" else 0
            is_double = name == "doubles" and LOW[tile] == HIGH[tile]
            left_open = openness(turns[row], candidate) if name == "flexible" else 0
            return points, is_double, int(LOW[tile]) + int(HIGH[tile]) + left_open

        ranks = {candidate: rank(int(candidate)) for candidate in legal}
        if all(points >= 0 for points, _, _ in ranks.values()):
            best = [candidate for candidate in legal if ranks[candidate] == max(ranks.values())]
            assert action in best
            assert probabilities[row].nonzero()[0].tolist() == best
            assert (probabilities[row, best] == 1 / len(best)).all()


@pytest.mark.parametrize("name", ["random", "greedy", "doubles", "flexible"])
@pytest.mark.parametrize("variant", ["draw", "all_fives", "partners"])
def test_one_turn_and_many_give_the_same_answers(name, variant):
    _, turns = random_turns(make_rules(variant))
    agent = make_agent(name)
    together = agent.act_batch(turns)
    assert together.dtype == np.int64
    assert [agent.act(turns[row]) for row in range(len(turns))] == together.tolist()
    assert Turns.of([turns[row] for row in range(len(turns))]).histories.shape[0] == len(turns)


def repeated(turn: Turn, keys: np.ndarray) -> Turns:
    """The same decision under many keys."""
    one = Turns.of([turn])
    fields = (one.players, one.states, one.histories, one.history_lengths, one.observations, one.masks)
    return Turns(turn.rules, *(np.repeat(field, len(keys), axis=0) for field in fields), keys)


@pytest.mark.parametrize(("legal", "best"), [((5, 33, 7, 1), {5, 33, 7}), ((5, 33, 7, 9), {9})])
def test_ties_are_broken_uniformly_over_tile_and_end(legal, best):
    # [2-2] has id 5 on end 0 and 33 on end 1, and weighs 4 as [1-3] (7) does; [0-1] (1) is lighter, [3-3] (9) heavier.
    _, turns = random_turns(make_rules("classic_block"), num_games=1, num_steps=1)
    many = repeated(turns[0], decision_keys(np.arange(6000)))
    many.masks[:] = 0
    many.masks[:, legal] = 1
    actions, counts = np.unique(make_agent("greedy").act_batch(many), return_counts=True)
    assert set(actions.tolist()) == best
    assert np.abs(counts - 6000 / len(best)).max() < 5 * (6000 / len(best)) ** 0.5


def test_random_is_uniform_over_legal_actions():
    _, turns = random_turns(make_rules("draw"), num_games=1, num_steps=2)
    legal = turns[0].legal_actions
    keys = decision_keys(np.arange(20_000))
    actions, counts = np.unique(make_agent("random").act_batch(repeated(turns[0], keys)), return_counts=True)
    assert actions.tolist() == legal.tolist()
    assert make_agent("random").probabilities(turns)[0, legal].tolist() == [1 / len(legal)] * len(legal)
    expected = len(keys) / len(legal)
    assert np.abs(counts - expected).max() < 5 * expected**0.5


def test_a_turn_holds_nothing_hidden():
    for variant in ("draw", "all_fives", "cuban"):
        table, turns = random_turns(make_rules(variant))
        for row in range(len(turns)):
            turn, hands = turns[row], turns[row].state["hands"][0]
            assert hands[turn.player] == table.states["hands"][row, turn.player]
            assert all(hands[seat] == 0 for seat in range(4) if seat != turn.player)
            assert turn.state["generator"][0] == 0
            assert (turn.state["pile"][0] == -1).all()
            assert (turn.state == table.concealed(row, turn.player)).all()
            assert len(turn.history) == table.history_lengths[row]


def test_the_generator_of_a_turn_is_the_same_for_the_same_key():
    _, turns = random_turns(make_rules("draw"), num_games=2)
    assert turns[0].generator.random() == turns[0].generator.random() != turns[1].generator.random()


# Keys


def test_keys_differ_by_place_and_fill_the_unit_interval():
    keys = decision_keys(1, np.arange(100_000), 0)
    assert len(np.unique(keys)) == len(keys)
    assert decision_keys(1, np.arange(5), 0).tolist() == keys[:5].tolist()
    assert decision_keys(1, 2) != decision_keys(2, 1)
    fractions = np.array([fraction(key) for key in keys[:20_000]])
    assert fractions.min() >= 0 and fractions.max() < 1
    assert abs(fractions.mean() - 0.5) < 0.01
    assert np.bincount([pick(key, 3) for key in keys[:3000]], minlength=3).min() > 880


# Objects and the catalog


class FirstLegal:
    name = "first"

    def act(self, turn):
        return int(turn.legal_actions[0])


def test_any_object_that_acts_is_an_agent():
    agent = make_agent(FirstLegal())
    assert isinstance(agent, Agent)
    assert agent.name == "first"
    _, turns = random_turns(make_rules("draw"))
    assert agent.act_batch(turns).tolist() == [turns[row].legal_actions[0] for row in range(len(turns))]
    own = make_agent("greedy")
    assert as_agent(own) is own
    assert not agent.gives_probabilities
    with pytest.raises(NotImplementedError, match="'first' gives no probabilities"):
        agent.probabilities(turns)
    FirstLegal.probabilities = lambda self, turns: turns.masks
    said = make_agent(FirstLegal())
    del FirstLegal.probabilities
    assert said.gives_probabilities
    for wrong in (3, FirstLegal, object()):
        with pytest.raises(TypeError, match="act"):
            as_agent(wrong)


def test_the_catalog_lists_what_there_is_when_a_name_is_unknown():
    with pytest.raises(ValueError, match=r"'grredy' is not a run .* agent name; the agents are: random, greedy, doub"):
        make_agent("grredy")
    for text, match in (
        ("greedy:5", "no argument '5'; allowed: greedy"),
        ("learned", "lacks path"),
        ("pimc:wolds=3", "no argument 'wolds=3'; allowed: pimc:worlds=50"),
        ("learned:x:mode=", "no argument 'mode='"),
        ("learned:x:y", "no argument 'y'"),
        ("learned:x:mode=best,mode=best", "gives mode twice"),
    ):
        with pytest.raises(ValueError, match=match):
            make_agent(text)
    with pytest.raises(FileNotFoundError, match="missing"):
        make_agent("learned:missing")
    assert list(CATALOG)[:4] == ["random", "greedy", "doubles", "flexible"]
    assert [make_agent(name).name for name in CATALOG if name != "learned"] == [n for n in CATALOG if n != "learned"]


# Policy files and learned players


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    policy = random_policy(make_rules("draw"))
    save_policy(policy, tmp_path)
    return policy


def test_a_policy_survives_its_file(policy, tmp_path):
    for path in (tmp_path, tmp_path / "policy.json", tmp_path / "policy.npz"):
        loaded = load_policy(path)
        assert loaded.rules == policy.rules
        assert loaded.sizes == policy.sizes
        assert all(
            (a == b).all() for a, b in zip(loaded.weights + loaded.biases, policy.weights + policy.biases, strict=True)
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.json", "policy.npz"]


def test_a_learned_player_computes_its_network(policy, tmp_path):
    _, turns = random_turns(policy.rules)
    values = turns.observations.astype(np.float64)
    for weight, bias in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        values = np.tanh(values @ weight + bias)
    logits = values @ policy.weights[-1] + policy.biases[-1]
    np.testing.assert_allclose(action_logits(policy, turns.observations), logits, atol=1e-4)
    best = np.where(turns.masks == 1, logits, -np.inf).argmax(axis=1)
    for agent in (make_agent(str(tmp_path)), make_agent(f"learned:{tmp_path}:mode=best"), LearnedAgent(policy)):
        assert agent.act_batch(turns).tolist() == best.tolist()
        assert [agent.act(turns[row]) for row in range(len(turns))] == best.tolist()


def test_a_sampling_player_takes_each_action_by_its_probability(policy):
    agent = LearnedAgent(policy, mode="sample")
    _, turns = random_turns(policy.rules, num_games=32)
    row = int(turns.masks.sum(axis=1).argmax())
    legal = turns[row].legal_actions
    logits = action_logits(policy, turns.observations)[row, legal].astype(np.float64)
    expected = np.exp(logits - logits.max())
    expected /= expected.sum()
    keys = decision_keys(np.arange(20_000))
    chosen = agent.act_batch(repeated(turns[row], keys))
    seen = np.array([(chosen == action).mean() for action in legal])
    assert seen.sum() == 1
    assert np.abs(seen - expected).max() < 5 * 0.5 / len(keys) ** 0.5
    assert agent.probabilities(turns)[row, legal] == pytest.approx(expected)
    best = LearnedAgent(policy)
    assert best.probabilities(turns).argmax(axis=1).tolist() == best.act_batch(turns).tolist()
    assert (best.probabilities(turns).max(axis=1) == 1).all()
    assert [agent.act(turns[r]) for r in range(len(turns))] == agent.act_batch(turns).tolist()


def test_a_relu_network_is_computed_too(policy):
    relu = Policy(policy.rules, policy.weights, policy.biases, "relu")
    _, turns = random_turns(policy.rules)
    values = turns.observations.astype(np.float64)
    for weight, bias in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        values = np.maximum(values @ weight + bias, 0)
    logits = values @ policy.weights[-1] + policy.biases[-1]
    np.testing.assert_allclose(action_logits(relu, turns.observations), logits, atol=1e-3)


def test_a_damaged_policy_is_refused_and_the_file_named(policy, tmp_path):
    weights, header = tmp_path / "policy.npz", tmp_path / "policy.json"
    whole, text = weights.read_bytes(), header.read_text()
    for damaged in (whole[:-20], whole[:100] + b"x" + whole[101:], b""):
        weights.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"policy\.npz is not the file"):
            load_policy(tmp_path)
    weights.unlink()
    with pytest.raises(FileNotFoundError, match=r"policy\.npz"):
        load_policy(tmp_path)
    weights.write_bytes(whole)
    for damaged in (
        text[:50],
        "[]",
        "",
        text.replace("dominoes_env policy", "poem"),
        text.replace('"sizes"', '"seizes"'),
    ):
        header.write_text(damaged)
        with pytest.raises(ValueError, match=r"policy\.json"):
            load_policy(tmp_path)
    header.unlink()
    with pytest.raises(FileNotFoundError, match=r"policy\.json"):
        load_policy(tmp_path)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"rules_version": 999}, r"rules_version 999, this version has rules_version \d"),
        ({"observation_version": 998}, r"observation_version 998, this version has observation_version \d"),
        ({"format_version": 997}, "policy format 997"),
        ({"rules": {"target": -1}}, "target=-1"),
        ({"rules": {"variant": 1}}, "unknown rule 'variant'"),
        ({"rules": make_rules("draw", max_pip=5, hand_size=5).to_dict()}, "allowed: 71 inputs"),
        ({"activation": "sine"}, "activation='sine'"),
        ({"sizes": [1, 2, 3, 4, 5]}, "holds no weights"),
    ],
)
def test_a_policy_of_another_version_or_game_is_refused(policy, tmp_path, changes, match):
    header = json.loads((tmp_path / "policy.json").read_text())
    (tmp_path / "policy.json").write_text(json.dumps({**header, **changes}))
    with pytest.raises(ValueError, match=match) as refusal:
        load_policy(tmp_path)
    assert str(tmp_path) in str(refusal.value)


def test_a_learned_player_refuses_other_rules(policy):
    _, turns = random_turns(make_rules("draw", target=50))
    with pytest.raises(ValueError, match=r"other rules .*target=100, not 50"):
        LearnedAgent(policy).act_batch(turns)
    with pytest.raises(ValueError, match="mode='worst'"):
        LearnedAgent(policy, mode="worst")


def test_a_policy_must_fit_its_rules(policy):
    with pytest.raises(ValueError, match="not finite"):
        Policy(policy.rules, (policy.weights[0] * np.float32("nan"), *policy.weights[1:]), policy.biases)
    with pytest.raises(ValueError, match="outputs"):
        Policy(policy.rules, policy.weights[:2], policy.biases[:2])
    with pytest.raises(ValueError, match="dtype"):
        Policy(policy.rules, tuple(w.astype(np.float64) for w in policy.weights), policy.biases)


def test_help_on_rules_lists_every_knob_with_its_meaning_and_values():
    for knob, meaning in KNOB_MEANINGS.items():
        default = getattr(Rules(), knob)
        assert f"    {knob} = {default!r}: {meaning} [{allowed_values(knob)}]\n" in Rules.__doc__
    assert list(KNOB_MEANINGS) == list(Rules().to_dict())


@pytest.mark.parametrize(
    "name", [entry.name for entry in CATALOG.values() if entry.parameters and entry.name != "learned"]
)
def test_the_catalog_states_the_defaults_of_the_agents(name):
    accepted = dict(inspect.signature(type(make_agent(name))).parameters)
    assert {one.name: one.default for one in CATALOG[name].parameters} == {
        argument: parameter.default for argument, parameter in accepted.items()
    }
