"""The human player: what it shows, what it reads, what it refuses."""

from __future__ import annotations

import io

import numpy as np
import pytest

from agents import make_agent
from agents.human import HumanAgent
from agents.keys import decision_keys
from agents.match import play_match, turns_of
from dominoes_env.engine.variants import make_rules
from dominoes_env.table import Table
from dominoes_env.words import format_action, format_tile


def first_decision(variant="draw", seed=1, steps=0):
    table = Table(make_rules(variant), seed=seed, skip_forced=True)
    for _ in range(steps):
        table.step([table.masks[0].argmax()])
    return turns_of(table, np.arange(1), decision_keys(0, [0]))[0]


def answer(turn, text):
    output = io.StringIO()
    action = HumanAgent(input=io.StringIO(text), output=output).act(turn)
    return action, output.getvalue()


@pytest.mark.parametrize("variant", ["draw", "all_fives", "partners", "cuban"])
@pytest.mark.parametrize("steps", [0, 3, 6])
def test_moves_are_taken_by_number_and_by_word(variant, steps):
    turn = first_decision(variant, steps=steps)
    for number, action in enumerate(turn.legal_actions, 1):
        word = format_action(turn.rules, int(action), is_lead=len(turn.history) == 0)
        shown = answer(turn, f"{number}\n")
        assert shown[0] == answer(turn, f"  {word.upper()} \n")[0] == action
        assert f"{number:4}  {word}\n" in shown[1]
        assert f"player_{turn.player}, your move" in shown[1]
        tile, _, end = word.partition("@")
        assert answer(turn, f"{tile[::-1]}{'@' if end else ''}{end}\n")[0] == action


def test_what_is_no_move_is_asked_again():
    turn = first_decision(steps=3)
    ends = {}
    for action in turn.legal_actions:
        ends.setdefault(int(action) % turn.rules.num_tiles, []).append(int(action))
    action, text = answer(turn, "0\n99\nhello\n9-9\npass\n6-\n\n" + "9" * 5000 + "\n1\n")
    assert action == turn.legal_actions[0]
    assert text.count("your move") == 9
    assert "99 is no number in the list; allowed: 1 to" in text and "pass is not legal now; allowed: " in text
    for tile, actions in ends.items():
        if len(actions) == 1:
            assert answer(turn, f"{format_tile(tile)}\n")[0] == actions[0]
        else:
            action, text = answer(turn, f"{format_tile(tile)}\n1\n")
            assert "fits more than one end" in text


def test_nothing_hidden_is_shown_and_an_ended_input_is_an_error():
    table = Table(make_rules("draw"), seed=1)
    turn = turns_of(table, np.arange(1), decision_keys(0, [0]))[0]
    output = io.StringIO()
    with pytest.raises(EOFError, match=f"the input ended before player_{turn.player} had chosen"):
        HumanAgent(input=io.StringIO("x\n"), output=output).act(turn)
    other = f"player_{1 - turn.player}"
    assert f"{other}  score 0  7 tiles: hidden" in output.getvalue()


def test_the_standard_streams_are_used_by_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 500))
    result = play_match([make_agent("human"), "random"], make_rules("classic_block"), 1)
    assert result.num_decisions > 2
    assert "your move" in capsys.readouterr().out
