"""``dominoes replay`` and ``dominoes render``: by keys in a real terminal, as plain text, and as pictures."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from pseudo_terminal import PseudoTerminal, dominoes
from random_games import played

from dominoes_env.archive import format_record, record_to_json, write_records
from dominoes_env.engine.variants import make_rules
from dominoes_env.records import make_record, positions
from dominoes_env.words import format_tile
from training.cli import main
from training.replaying import Walk, print_games


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("DOMINOES_QUIET", "1")


def a_match(variant="draw", seed=3, **knobs):
    record = played(make_rules(variant, **{"target": 40, **knobs}), seed, 10_000).record
    rounds = [(past.deal, past.actions) for past in record.rounds]
    players = [f"Ann{seat}" for seat in range(record.rules.num_players)]
    return make_record(record.rules, rounds, seed=seed, players=players, tags=[("event", "club night")])


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [a_match(), a_match("all_fives", 4), a_match("partners", 5)])
    return path


# A walk


def test_a_walk_goes_everywhere():
    records = [a_match(), a_match("all_fives", 4)]
    walk = Walk(records)
    count = sum(len(past.actions) + 1 for past in records[0].rounds)
    assert walk.previous() == "this is the first position of the game"
    places = [walk.place]
    while not walk.next():
        places.append(walk.place)
    assert places == list(range(count)) and walk.next() == "this is the last position of the game"
    assert walk.next_round() == "this is the last round of the game"
    walk.first()
    rounds = [0]
    while not walk.next_round():
        rounds.append(walk.positions[walk.place].round)
        assert walk.positions[walk.place].move == 0
    assert rounds == list(range(len(records[0].rounds)))
    walk.last()
    assert walk.place == count - 1 and not walk.previous() and walk.place == count - 2
    assert walk.previous_game() == "this is the first game"
    assert not walk.next_game() and walk.game == 1 and walk.place == 0
    assert walk.next_game() == "this is the last game" and walk.game == 1
    assert not walk.previous_game() and walk.record == records[0]


def test_a_position_in_words():
    record = a_match()
    walk = Walk([record])
    moves = len(record.rounds[0].actions)
    text = walk.text()
    assert text.startswith("game 1 · Ann0 v Ann1 · seed 3, game id 0 · event club night\n")
    assert f"\nposition 0 of {len(walk.positions) - 1} · round 1 · the deal, {moves} moves follow\n" in text
    walk.next()
    assert re.search(rf"\nposition 1 .* · move 1 of {moves} · player_\d \(Ann\d\): \d-\d\n", walk.text())
    walk.place = moves  # the round's points are booked
    winner = int(np.argmax(record.rounds[0].outcome.round_points))
    points = record.rounds[0].outcome.round_points[winner]
    assert f" · +{points} for player_{winner} (Ann{winner})\n" in walk.text()
    walk.last()
    (won,) = record.winners
    assert walk.text().endswith(f"\nthe match is over; won by player_{won} (Ann{won})")
    assert "\x1b" not in walk.text() and "\x1b" in walk.text(colour=True)
    begun = Walk([played(make_rules("draw"), 1, 5).record])
    begun.last()
    assert begun.text().endswith("\nthe record ends here; the round is not over")


@pytest.mark.parametrize("variant", ["draw", "all_fives", "partners"])
def test_a_viewer_is_shown_no_hidden_tile(variant):
    record = a_match(variant)
    for viewer in range(record.rules.num_players):
        walk = Walk([record], viewer=viewer)
        for place, here in enumerate(positions(record)):
            walk.place = place
            shown = set(re.findall(r"(?<![\d\[+])\d-\d(?!\])", walk.text().partition("boneyard")[2]))
            for seat in range(record.rules.num_players):
                hand = {format_tile(t) for t in range(28) if int(here.state["hands"][0, seat]) >> t & 1}
                assert hand <= shown if seat == viewer else not hand & shown
    with pytest.raises(ValueError, match="viewer=4 is not allowed; allowed: 0 to"):
        Walk([record], viewer=4)


def test_printing_goes_on_to_the_next_game():
    records = [a_match(), a_match(seed=4)]
    one, both = io.StringIO(), io.StringIO()
    print_games(Walk(records), one, only_one=True)
    print_games(Walk(records), both, only_one=False)
    assert both.getvalue().startswith(one.getvalue())
    counts = [sum(len(past.actions) + 1 for past in record.rounds) for record in records]
    assert [len(re.findall(r"^position ", text.getvalue(), re.M)) for text in (one, both)] == [counts[0], sum(counts)]


# The command without a terminal


def test_replay_prints_all_positions_where_there_is_no_terminal(games, tmp_path, capsys):
    assert main(["replay", str(games), "--game", "2", "--viewer", "1"]) == 0
    text = capsys.readouterr().out
    record = a_match("all_fives", 4)
    assert len(re.findall(r"^position \d+ of", text, re.M)) == len(list(positions(record)))
    assert text.startswith("game 2 · ") and "game 3" not in text and "hidden" in text and "\x1b" not in text
    assert main(["replay", str(games), "--all"]) == 0
    text = capsys.readouterr().out
    assert all(f"game {number} · " in text for number in (1, 2, 3))
    single = tmp_path / "game.txt"
    single.write_text(format_record(record))
    assert main(["replay", str(single)]) == 0
    assert capsys.readouterr().out.count("\nposition ") == len(list(positions(record)))


def test_replay_recovers(games, tmp_path, capsys):
    text = format_record(a_match())
    single = tmp_path / "game.txt"
    single.write_text(text[: text.index("\n3. ") + 7])
    assert main(["replay", str(single)]) == 2
    said = capsys.readouterr()
    assert re.fullmatch(rf"dominoes replay: {single}, line \d+: .*\n", said.err) and not said.out
    assert main(["replay", str(single), "--recover"]) == 0
    said = capsys.readouterr()
    assert re.fullmatch(rf"{single}, line \d+: .*; kept: \d+ moves before it; lost: .*\n", said.err)
    assert said.out.rstrip().endswith("the record ends here; the round is not over")
    lines = games.read_text().splitlines(keepends=True)
    games.write_text(lines[0] + lines[1][:300] + "\n" + lines[2])
    assert main(["replay", str(games)]) == 2
    said = capsys.readouterr()
    assert f"{games}, line 2: no record, or one that breaks off" in said.err and "game 1 · " in said.out
    assert main(["replay", str(games), "--recover"]) == 0
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and "this line is left out" in said.err and "Ann3" in said.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("replay {games} --game 0", "--game 0 is not allowed; allowed: 1 to 3"),
        ("replay {games} --game 4", "--game 4 is not allowed; allowed: 1 to 3"),
        ("replay {games} --viewer 2", "viewer=2 is not allowed; allowed: 0 to 1"),
        ("replay {tmp}/empty", "empty, line 1: no record; there is nothing in the file"),
        ("replay {tmp}", "irectory"),
        ("render {games} --out {tmp}/a.txt", "allowed: a file that ends in .svg, .png, .gif, .html"),
        ("replay {tmp}/none.jsonl", "{tmp}/none.jsonl: No such file or directory"),
        ("render {games} --out {tmp}/none/a.svg", "the directory {tmp}/none does not exist"),
        ("render {games} --out {tmp}/a.svg --move 999", "--move 999 is not allowed; allowed: 0 to "),
        ("render {games} --out {tmp}/a.svg --move -1", "--move -1 is not allowed; allowed: 0 to "),
        ("render {games} --out {tmp}/a.svg --viewer 2", "--viewer 2 is not allowed; allowed: 0 to 1"),
        ("render {games} --out {tmp}/a.svg --game 7", "--game 7 is not allowed; allowed: 1 to 3"),
        ("render {games} --out {tmp}/a.gif --move 3", "--move 3 is not allowed with .gif, which shows the whole game"),
        ("render {games} --out {tmp}/a.html --theme dark", "--theme dark is not allowed with .html"),
        (
            "render {games} --out {tmp}/a.png --theme auto",
            "--theme auto is not allowed with .png; allowed: light, dark",
        ),
        ("render {tmp}/empty --out {tmp}/a.svg", "there is nothing in the file"),
        ("replay {tmp}/hopeless --recover", "hopeless: there is no sound record in it"),
        ("replay {tmp}/hopeless --recover --game 1", "hopeless: there is no sound record in it"),
        ("render {tmp}/hopeless --recover --out {tmp}/a.svg", "hopeless: there is no sound record in it"),
        ("render {games} --out {tmp}/null.svg", "null.svg: it is a device or a pipe; allowed: a file"),
    ],
)
def test_wrong_input_is_one_line(words, said, games, tmp_path, capsys):
    (tmp_path / "empty").write_text("")
    (tmp_path / "hopeless").write_text("no record\n")
    (tmp_path / "null.svg").symlink_to(os.devnull)
    before = sorted(tmp_path.iterdir())
    assert main(words.format(games=games, tmp=tmp_path).split()) == 2
    text = capsys.readouterr()
    told = [line for line in text.err.splitlines() if not line.endswith("left out")]
    assert said.format(tmp=tmp_path) in text.err and len(told) == 1 and not text.out
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "words", ["render {games} --game 1 --out {link}", "record random random --deals 1 --out {link}"]
)
def test_a_link_stays_a_link_to_what_is_written(words, games, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    link = tmp_path / "link.svg"
    link.symlink_to(kept / "picture.svg")
    assert main(words.format(games=games, link=link).split()) == 0
    assert link.is_symlink() and [file.name for file in kept.iterdir()] == ["picture.svg"]
    assert link.read_text()[:1] in "<{"


def test_a_seat_is_not_told_the_seed_which_tells_all_hands(games, capsys):
    for words, is_told in (([], True), (["--viewer", "1"], False)):
        assert main(["replay", str(games), *words]) == 0
        assert ("seed" in capsys.readouterr().out) == is_told


def test_an_output_that_knows_few_letters_gets_question_marks(games, tmp_path):
    for encoding in ("ascii", "cp1252"):
        done = subprocess.run(
            [sys.executable, "-m", "training.cli", "replay", str(games), "--game", "1"],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "DOMINOES_QUIET": "1"},
            timeout=120,
        )
        assert done.returncode == 0 and not done.stderr and b"??" in done.stdout and b"the match is over" in done.stdout


# The command in a terminal


def replay(*words):
    return PseudoTerminal(dominoes("replay", *words), width=200, height=50)


def test_replay_in_a_terminal(games):
    last = len(list(positions(a_match()))) - 1
    with replay(str(games)) as terminal:
        terminal.wait_for("q quit")
        assert terminal.screen.is_second and f"position 0 of {last} ·" in terminal.screen.text
        for keys, then in (
            ("n", f"position 1 of {last} "),
            ("\x1b[C", f"position 2 of {last} "),
            (" ", f"position 3 of {last} "),
            ("p", f"position 2 of {last} "),
            ("\x1b[D", f"position 1 of {last} "),
            ("pp", "this is the first position of the game"),
            ("r", "round 2 · the deal"),
            ("l", f"position {last} of {last} "),
            ("n", "this is the last position of the game"),
            ("f", f"position 0 of {last} "),
            ("x", "'x' is no key here"),
            ("\x1b[15~N", f"position 1 of {last} "),  # a function key means nothing
            ("g", "game 2 · Ann0 v Ann1"),
            ("\x1b[5~", "game 1 · "),
            ("gg", "game 3 · Ann0 v Ann1 v Ann2 v Ann3"),
            ("g", "this is the last game"),
        ):
            terminal.type(keys)
            terminal.wait_for(then)
        terminal.resize(60, 30)
        terminal.wait_for("game 3 · ")
        terminal.type("q")
        assert terminal.finish() == 0 and terminal.is_as_found


@pytest.mark.parametrize(("keys", "code"), [("\x1b", 0), ("\x04", 0), ("\x03", 130)])
def test_a_terminal_is_left_as_it_was(games, keys, code):
    with replay(str(games), "--game", "2", "--recover") as terminal:
        terminal.wait_for("q quit")
        assert not terminal.is_as_found and "game 2 · " in terminal.screen.text
        terminal.type(keys)
        assert terminal.finish() == code
        assert terminal.is_as_found and terminal.screen.has_left


def test_damage_is_said_and_the_game_stays(games):
    lines = games.read_text().splitlines(keepends=True)
    games.write_text(lines[0] + lines[1][:300] + "\n" + lines[2])
    with replay(str(games)) as terminal:
        terminal.wait_for("q quit")
        terminal.type("g")
        terminal.wait_until(lambda screen: "line 2: no record, or one that breaks off" in " ".join(screen.text.split()))
        assert "game 1 · " in terminal.screen.text
        terminal.type("q")
        assert terminal.finish() == 0
    with replay(str(games), "--recover") as terminal:
        terminal.wait_until(lambda screen: "this line is left out" in " ".join(screen.text.split()))
        terminal.type("g")
        terminal.wait_for("Ann3")
        terminal.type("q")
        assert terminal.finish() == 0


# Pictures


def test_render_draws_positions(games, tmp_path, capsys):
    out = tmp_path / "game.svg"
    pictures = []
    for words in ("", "--move 0", "--move 3", "--move 3 --theme dark", "--move 3 --viewer 0", "--move 3 --game 2"):
        assert main(["render", str(games), "--out", str(out), *words.split()]) == 0
        assert capsys.readouterr().out == f"{out}\n"
        pictures.append(out.read_text())
        assert pictures[-1].startswith("<svg")
    assert len(set(pictures)) == len(pictures)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.svg", "games.jsonl"]


def test_a_picture_that_fails_leaves_the_old_one(games, tmp_path, monkeypatch):
    out = tmp_path / "game.svg"
    out.write_text("old")

    def fails(*_, **__):
        raise ValueError("no ink")

    monkeypatch.setattr("dominoes_env.render.svg.view_svg", fails)
    assert main(["render", str(games), "--out", str(out)]) == 2
    assert out.read_text() == "old" and len(list(tmp_path.iterdir())) == 2


def test_render_draws_films_and_pages(games, tmp_path):
    pytest.importorskip("PIL")
    pytest.importorskip("PIL.Image")
    short = tmp_path / "short.jsonl"
    short.write_text(record_to_json(played(make_rules("draw"), 3, 5, "round").record) + "\n")
    for suffix, start in ((".png", b"\x89PNG"), (".gif", b"GIF8"), (".html", b"<!doctype html")):
        out = tmp_path / f"game{suffix}"
        assert main(["render", str(short), "--out", str(out), "--viewer", "0"]) == 0
        assert out.read_bytes()[: len(start)].lower() == start.lower()
    assert main(["render", str(short), "--out", str(tmp_path / "dark.png"), "--theme", "dark"]) == 0
    assert (tmp_path / "dark.png").read_bytes() != (tmp_path / "game.png").read_bytes()


def test_pictures_that_lack_something_say_what_to_install(games, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    for suffix in ("png", "gif"):
        assert main(["render", str(games), "--out", str(tmp_path / f"game.{suffix}")]) == 2
        text = capsys.readouterr()
        assert text.err.endswith("pip install 'dominoes_env[render]'\n") and text.err.count("\n") == 1 and not text.out
    assert main(["render", str(games), "--out", str(tmp_path / "game.svg")]) == 0


def test_the_help_names_the_commands(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(re.search(rf"^    {name} ", text, re.M) for name in ("record", "replay", "render"))
