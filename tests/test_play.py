"""The terminal game, played by keys in a pseudo-terminal and by lines through a pipe."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess

import pytest
from pseudo_terminal import PseudoTerminal, dominoes

from agents.session import Session
from dominoes_env.engine.variants import make_rules
from training.cli import main

TEXTS = ["block", "draw", "all_fives"]
PROMPT = re.compile(r"your move: ?(.*)$")
ARROWS = ("\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB")


def answer(session):
    """The number in the list of the move that a person makes; it depends on where he stands alone."""
    generator = random.Random(f"{session.game.round} {session.game.history}")
    return generator.randrange(len(session.game.legal_actions))


def played_out(session):
    """The session at its end; its person draws and passes unasked, as at the terminal."""
    session.advance()
    while not session.is_over:
        session.play(session.game.legal_actions[answer(session)])
        session.advance()
    return session


def typed(screen):
    """What stands behind the prompt; None: the person is not asked."""
    found = PROMPT.match(screen.text.splitlines()[-1]) if screen.text else None
    return None if found is None else found[1]


def is_asking(screen):
    return typed(screen) == ""


def is_chosen(screen, number):
    return any(line.startswith(f"> {number + 1:2}  ") for line in screen.lines) or any(
        f"  > {number + 1:2}  " in line for line in screen.lines
    )


def is_any_chosen(screen):
    return any(re.search(r"(^|  )> +[0-9]+  ", line) for line in screen.lines)


class Person:
    """Plays what :func:`answer` says, by number, word or arrow keys in turn, and looks at every screen."""

    def __init__(self, terminal, file):
        self.terminal, self.file = terminal, file
        self.num_moves = self.num_rounds = 0

    def session(self):
        return Session.load(self.file)

    def settle(self):
        """Wait until the person is asked, turning pages; False once the game is over."""
        while True:
            self.terminal.wait_until(
                lambda screen: screen.has_left or is_asking(screen) or "Enter: the next round" in screen.text
            )
            while self.terminal.read(0.05):
                pass  # a frame may come in parts
            screen = self.terminal.screen
            if screen.has_left:
                return False
            if is_asking(screen):
                return True
            self.check_page(screen.text)
            self.num_rounds += 1
            self.terminal.type("\r")
            self.terminal.wait_until(lambda screen: "Enter: the next round" not in screen.text)

    def check_page(self, text):
        event = next(event for event in reversed(self.session().events) if event.kind == "round")
        assert f"Round {event.round} is over: " in text
        for seat, hand in enumerate(event.hands):
            name = "you" if seat == 0 else f"player_{seat}"
            row = next(line for line in text.splitlines() if re.match(rf"  {name} +{event.pips[seat]}  ", line))
            assert row.split("  ")[-2].strip() == str(event.scores[seat])
            assert row.split("  ")[-1] in text and ("[" in row.split("  ")[-1]) == bool(hand)
            assert all(f"[{tile}]" in text for tile in hand)

    def check_screen(self):
        """All that is shown is his to know, and the moves are all there."""
        session, text = self.session(), self.terminal.screen.text
        game = session.game
        hidden = {tile for hand in game.hands[1:] for tile in hand} | set(game.boneyard)
        assert not hidden & set(re.findall(r"[0-9]-[0-9]", text)), text
        for tile in game.hands[0]:
            assert tile in text
        for number, word in enumerate(game.legal_words, 1):
            assert re.search(rf"(^|\s){number}  {re.escape(word)}(\s|$)", text, re.M), text
        for count in session.counts().values():
            assert str(count) in text
        for score in game.scores:
            assert re.search(rf"player_[0-9].* {score}  ", text)
        return session

    def enter(self, text):
        """A line of text."""
        screens = self.terminal
        screens.type(text)
        screens.wait_until(lambda screen: typed(screen) == text)
        screens.type("\r")
        screens.wait_until(lambda screen: typed(screen) != text)

    def arrow_to(self, number):
        self.terminal.type(ARROWS[1 + 2 * (number % 2)])
        self.terminal.wait_until(is_any_chosen)
        self.terminal.type("\x1b[H" if number % 2 else "\x1b[1~")
        self.terminal.wait_until(lambda screen: is_chosen(screen, 0))
        for _ in range(number):
            self.terminal.type(ARROWS[1])
        self.terminal.wait_until(lambda screen: is_chosen(screen, number))
        self.terminal.type("\r")
        self.terminal.wait_until(lambda screen: not is_any_chosen(screen))

    def move(self):
        session = self.check_screen()
        number = answer(session)
        way = self.num_moves % 3
        if way == 0:
            self.enter(str(number + 1))
        elif way == 1:
            self.enter(session.game.legal_words[number].upper())
        else:
            self.arrow_to(number)
        self.num_moves += 1

    def play(self, num_moves=10_000):
        while self.num_moves < num_moves and self.settle():
            self.move()


@pytest.mark.parametrize("variant", TEXTS)
def test_a_match_by_keys_to_its_end(variant, tmp_path):
    file = tmp_path / "game.json"
    rule = ["--rule", "target=60"]
    command = dominoes("play", "--variant", variant, *rule, "--against", "flexible", "--seed", "5", "--pace", "0")
    expected = played_out(Session(make_rules(variant, target=60), "flexible", seed=5))
    with PseudoTerminal([*command, "--save", str(file)]) as terminal:
        person = Person(terminal, file)
        assert person.settle()
        bad_input(person)
        help_undo_and_hint(person)
        person.play()
        assert terminal.finish() == 0
        assert terminal.is_as_found
        assert terminal.screen.cursor_shown
        text = terminal.screen.text
    session = Session.load(file)
    assert session.game.record == expected.game.record and session.events == expected.events
    assert person.num_moves > 8 and person.num_rounds == len(session.record.rounds) - 1
    won = "You have won the match" if 0 in session.game.winners else "Player_1 has won the match"
    assert won in text and "With 1 hint and 1 undo" in text
    assert f"Round {session.game.round} is over" in text


def bad_input(person):
    """None of it changes the game, each is answered."""
    before = person.session().to_dict()
    count = len(person.session().game.legal_actions)
    for text, note in (
        ("99", f"99 is no number in the list; allowed: 1 to {count}"),
        ("0", "0 is no number"),
        ("6-9", "tile '6-9' is not allowed"),
        ("draw", "legal now"),
        ("@@", "not allowed"),
        ("6-6@5", "allowed"),
        ("x" * 20, "not allowed"),
    ):
        person.enter(text)
        person.terminal.wait_until(lambda screen, note=note: note in " ".join(screen.text.split()))
    # Keys that mean nothing, codes of other keys, Tab, bytes that are no text, a lone escape.
    person.terminal.type("\x1b[5~\x1b[15;2~\x1bOP\t\x00\x01é")
    person.terminal.type("7")
    person.terminal.wait_until(lambda screen: typed(screen) == "7")
    person.terminal.type("89\x7f")
    person.terminal.wait_until(lambda screen: typed(screen) == "78")
    person.terminal.type("\x1b")
    person.terminal.wait_until(is_asking)
    person.terminal.type("7\x15")
    person.terminal.wait_until(is_asking)
    assert person.session().to_dict() == before


def help_undo_and_hint(person):
    terminal = person.terminal
    terminal.type("?\r")  # this Enter turns no page
    terminal.wait_for("any key: back to the table")
    assert "undo: back to your last choice" in terminal.screen.text
    terminal.type("x")
    terminal.wait_until(is_asking)
    terminal.type("u")
    terminal.wait_for("there is nothing to undo")
    terminal.type("r")
    terminal.wait_for("there is nothing to redo")
    while len(person.session().game.legal_actions) == 1:
        person.move()
        assert person.settle()
    terminal.type("\x1b")
    terminal.wait_until(lambda screen: is_asking(screen) and "nothing to redo" not in screen.text)
    before, text = person.session(), terminal.screen.text
    terminal.type("hint\r")  # the whole word: "int" and Enter are not taken for more
    terminal.wait_until(lambda screen: "would play" in screen.text and is_asking(screen))
    assert re.search(r"\* +[+-][0-9]+\.[0-9]", terminal.screen.text) and "next best" in " ".join(
        terminal.screen.text.split()
    )
    person.check_screen()
    number = answer(before)
    other = (number + 1) % len(before.game.legal_actions)
    person.enter(str(other + 1))
    assert person.settle()
    terminal.type("u")
    terminal.wait_until(lambda screen: is_asking(screen) and screen.text == text)
    after = person.session()
    assert (after.events, after.num_undone) == (before.events, 1)


@pytest.mark.parametrize("variant", TEXTS)
def test_a_game_that_is_killed_goes_on_as_if_it_had_not_been(variant, tmp_path):
    file = tmp_path / "game.json"
    start = ["--variant", variant, "--rule", "target=80", "--against", "flexible", "--seed", "8", "--save", str(file)]
    expected = played_out(Session(make_rules(variant, target=80), "flexible", seed=8))
    words, num_kills = start, 0
    while True:
        with PseudoTerminal(dominoes("play", *words, "--pace", "0"), width=70, height=30) as terminal:
            person = Person(terminal, file)
            person.play(5 if num_kills < 2 else 10_000)
            if num_kills < 2:
                assert person.settle()
                kept = person.session()
                terminal.type("1")  # the move in hand
                terminal.kill()
                num_kills += 1
                assert person.session().events == kept.events
                words = ["--resume", str(file)]
            else:
                assert terminal.finish() == 0
                break
    assert Session.load(file).events == expected.events
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]


def test_ways_to_leave_and_to_come_back(tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    file = tmp_path / "dominoes" / "draw-3.json"
    with PseudoTerminal(dominoes("play", "--against", "greedy", "--seed", "3"), **state) as terminal:
        person = Person(terminal, file)
        assert person.settle()
        person.move()
        assert person.settle()
        terminal.type("q")
        assert terminal.finish() == 0 and terminal.is_as_found
        assert f"To go on: dominoes play --resume {file}" in "".join(terminal.screen.text.split("\n"))
    events = Session.load(file).events
    for leave, code in (("\x03", 0), ("\x04", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        with PseudoTerminal(dominoes("play", "--resume"), **state) as terminal:
            assert Person(terminal, file).settle()
            if isinstance(leave, str):
                terminal.type(leave)
            else:
                terminal.process.send_signal(leave)
            assert terminal.finish() == code
            assert terminal.is_as_found and not terminal.screen.is_second
            assert (code == 0) == ("The game is saved" in terminal.screen.text)
        assert Session.load(file).events == events


def test_another_size_and_a_pause(tmp_path):
    file = tmp_path / "game.json"
    words = ["--variant", "partners", "--against", "flexible", "--partner", "greedy", "--seed", "3"]
    shell = ["bash", "-c", 'set -m; "$@"; echo "code $?"; read -r _; fg', "bash"]
    game = dominoes("play", *words, "--save", str(file))
    with PseudoTerminal([*shell, *game], width=120, height=40) as terminal:
        person = Person(terminal, file)
        assert person.settle()
        assert "greedy, your partner" in terminal.screen.text
        for width, height in ((60, 24), (30, 60), (100, 30)):
            terminal.resize(width, height)
            terminal.wait_until(is_asking)
            person.check_screen()
        terminal.resize(20, 8)  # too small for all: the prompt is there
        terminal.wait_until(is_asking)
        terminal.resize(100, 30)
        terminal.wait_until(is_asking)
        text = terminal.screen.text
        terminal.type("\x1a")
        terminal.wait_until(lambda screen: "code 148" in screen.text and terminal.is_as_found)
        terminal.type("\r")
        terminal.wait_until(lambda screen: screen.is_second and screen.text == text)
        person.move()
        assert person.settle()


def run(*words, text="", **environment):
    return subprocess.run(
        dominoes("play", *words),
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "DOMINOES_QUIET": "1", "PYTHONUTF8": "1", **environment},
    )


@pytest.mark.parametrize("variant", TEXTS)
def test_a_match_by_lines_to_its_end(variant, tmp_path):
    file = tmp_path / "game.json"
    session = Session(make_rules(variant), "flexible", seed=2, seat=1)
    lines, bad = ["?", "undo", "foo", "99", "6-6@7", "9" * 5000], 0
    session.advance()
    while not session.is_over:
        legal = session.game.legal_actions
        number = answer(session)
        if legal[0] < session.rules.draw_action:
            lines.append(str(number + 1) if len(lines) % 2 else session.game.legal_words[number])
            if len(legal) > 1 and bad < 3:
                lines.insert(-1, "hint")
                bad += 1
        session.play(legal[number])
        session.advance()
    words = ["--variant", variant, "--against", "flexible", "--seat", "1", "--seed", "2", "--hints", "flexible"]
    done = run(*words, "--save", str(file), text="\n".join(lines) + "\n")
    assert done.returncode == 0 and not done.stderr, done.stderr
    played = Session.load(file)
    assert played.events == session.events and played.num_hints == 3
    assert "won the match" in done.stdout and done.stdout.count(" is over: ") == session.game.round
    assert "\x1b" not in done.stdout
    assert "action 'foo': tile 'foo' is not allowed" in done.stdout and "99 is no number" in done.stdout
    resumed = run("--resume", str(file))
    assert resumed.returncode == 0 and "won the match" in resumed.stdout and "your move" not in resumed.stdout


def test_lines_show_nothing_hidden(tmp_path):
    file = tmp_path / "game.json"
    done = run("--against", "flexible", "--seed", "4", "--episode", "round", "--save", str(file), text="u\nh\n?\n")
    game = Session.load(file).game
    hidden = {tile for hand in game.hands[1:] for tile in hand} | set(game.boneyard)
    shown = set(re.findall(r"[0-9]-[0-9]", done.stdout.replace("6-4@1", "").replace(" 6-4 ", " ")))
    assert set(game.hands[0]) <= shown and not hidden & shown
    assert "The game is saved. To go on:" in done.stdout and str(file) in done.stdout


def test_wrong_flags_and_files_cost_one_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "game.json"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def refusal(*words):
        assert main(["play", *words]) == 2
        told = capsys.readouterr()
        assert not told.out and told.err.count("\n") == 1
        return told.err

    for words, message in (
        (["--against", "nobody"], "nobody"),
        (["--against", "human"], "'human' is not allowed"),
        (["--against", "greedy", "random"], "--against greedy random is not allowed; allowed: one agent, or 1"),
        (["--partner", "greedy"], "--partner greedy is not allowed without teams"),
        (["--seat", "2"], "seat=2 is not allowed; allowed: 0 to 1"),
        (["--seed", "-1"], "seed=-1 is not allowed"),
        (["--hints", "cheater"], "'cheater' is not allowed to advise"),
        (["--pace", "-1"], "--pace=-1.0 is not allowed"),
        (["--resume"], f"--resume: there is no saved game in {tmp_path}"),
        (["--resume", str(file)], "No such file"),
        (["--resume", str(file), "--seat", "0"], "--seat is not allowed with --resume"),
        (["--resume", str(file), "--rule", "target=5"], "--rule is not allowed with --resume"),
        (["--save", str(tmp_path / "none" / "x")], "does not exist"),
        (["--variant", "chess"], "variant='chess' is unknown"),
    ):
        assert message in refusal(*words)
    assert run("--save", str(file)).returncode == 0
    assert f"--resume {file} goes on with" in refusal("--save", str(file))
    other = tmp_path / "letter.txt"
    other.write_text("dear")
    assert f"--save {other} is not allowed: the file exists" in refusal("--resume", str(file), "--save", str(other))
    assert other.read_text() == "dear"
    assert run("--resume", str(file), "--save", str(file)).returncode == 0
    text = file.read_text()
    for damaged, message in (
        (text[:200], "no JSON, or it is cut off"),
        (text.replace('"num_hints": 0', '"num_hints": 1'), "is damaged"),
        (text.replace('"version": 1', '"version": 9', 1), "version 9 cannot be read; this is version 1"),
    ):
        file.write_text(damaged)
        told = refusal("--resume", str(file))
        assert f"{file}: " in told and message in told
        assert file.read_text() == damaged


def test_games_without_a_file_of_their_own_are_kept_apart_and_cleared_away(tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    for _ in range(2):
        assert run("--seed", "1", "--against", "random", **state).returncode == 0
    games = sorted(path.name for path in (tmp_path / "dominoes").iterdir())
    assert games == ["draw-1-2.json", "draw-1.json"]
    done = run("--resume", "--hints", "greedy", text="1\n" * 400, **state)
    assert done.returncode == 0 and "won the match" in done.stdout
    assert len(list((tmp_path / "dominoes").iterdir())) == 1
