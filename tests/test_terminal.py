"""The terminal: keys out of bytes, frames that write what is new alone, lines that fit."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import termios

import pytest
from pseudo_terminal import Screen

from agents.terminal import Terminal, clipped, has_keys, visible_width, wrapped

RED, PLAIN = "\x1b[31m", "\x1b[0m"


@pytest.fixture
def pair():
    """Both ends of a pseudo-terminal, and the streams of a program in it."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r+b", buffering=0) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", write_through=True)
        yield master, stream
    os.close(master)


def keys_of(terminal, master, sent):
    """The keys that arrive when these bytes are sent."""
    os.write(master, sent)
    keys = []
    while (key := terminal.read_key(0.02)) is not None:
        keys.append(key)
    return keys


def test_keys(pair):
    master, stream = pair
    before = termios.tcgetattr(stream.fileno())
    with Terminal(stream, stream) as terminal:
        terminal.draw([])
        codes = b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOB\x1bOC\x1bOD\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[5~\x1b[6~"
        names = ["up", "down", "right", "left"] * 2 + ["home", "end"] * 2 + ["pageup", "pagedown"]
        assert keys_of(terminal, master, codes) == names
        assert keys_of(terminal, master, b"6-4@1\r\x7f\x15") == [*"6-4@1", "enter", "backspace", "clear"]
        assert keys_of(terminal, master, b"\x04") == ["quit"]
        # Keys that mean nothing here leave nothing behind, nor do bytes that are no text.
        assert keys_of(terminal, master, b"\x1b[2~\x1b[15;2~\x1bOP\x1b[1;5C\xc3\xa9\x00\tx") == ["x"]
        assert keys_of(terminal, master, b"\x1bx") == ["escape", "x"]
        os.write(master, b"ahead")
        assert terminal.read_key() == "a"
        terminal.forget_keys()
        assert terminal.read_key(0.01) is None
    assert termios.tcgetattr(stream.fileno()) == before


def test_a_lone_escape_is_a_key_and_a_code_in_two_parts_is_one(pair):
    master, stream = pair
    with Terminal(stream, stream) as terminal:
        terminal.draw([])
        os.write(master, b"\x1b")
        assert terminal.read_key() == "escape"
        terminal._pending += b"\x1b["
        os.write(master, b"A")
        assert terminal.read_key() == "up"


def test_what_ends_with_an_error_leaves_the_terminal_as_it_was(pair):
    master, stream = pair
    before = termios.tcgetattr(stream.fileno())
    with pytest.raises(ZeroDivisionError), Terminal(stream, stream):
        assert termios.tcgetattr(stream.fileno()) != before
        raise ZeroDivisionError
    assert termios.tcgetattr(stream.fileno()) == before
    assert written(master).endswith("\x1b[?25h\x1b[?1049l")


def written(master):
    """All that was written, which may come in parts."""
    text = b""
    while select.select([master], [], [], 0.2)[0]:
        text += os.read(master, 65536)
    return text.decode()


def test_frames_write_what_is_new_alone(pair):
    master, stream = pair
    screen = Screen(80, 24)
    with Terminal(stream, stream) as terminal:
        frames = [["one", "two", "three"], ["one", "2", "three", "four"], [f"{RED}one{PLAIN}"], ["x" * 200] * 40]
        for number, frame in enumerate(frames):
            terminal.draw(frame, (1, len(frame) - 1))
            text = written(master)
            screen.feed(text)
            shown = [re.sub(r"\x1b\[[0-9]*m", "", line)[:79] for line in frame[-24:]]
            assert screen.lines == shown + [""] * (24 - len(shown))
            assert (screen.row, screen.column) == (len(shown) - 1, 1) and screen.cursor_shown
            assert ("one" in text) == (number in (0, 2))  # a line that stays is left alone
        terminal.draw(frames[-1])
        text = written(master)
        screen.feed(text)
        assert "x" not in text and not screen.cursor_shown


def test_lines_that_fit():
    assert visible_width(f"{RED}ab{PLAIN}c") == 3
    assert clipped("abc", 3) == "abc" and clipped("abcd", 3) == "abc"
    assert clipped(f"{RED}abcd{PLAIN}e", 3) == f"{RED}abc{PLAIN}"
    layout = "layout    " + "[6-6]" * 9
    assert wrapped(layout, 30, " " * 10) == [
        "layout    [6-6][6-6][6-6][6-6]",
        "          [6-6][6-6][6-6][6-6]",
        "          [6-6]",
    ]
    assert wrapped("a few words", 7) == ["a few", "words"] and wrapped("x" * 10, 4) == ["xxxx", "xxxx", "xx"]
    assert wrapped(f"{RED}aa bb{PLAIN}", 3) == [f"{RED}aa {PLAIN}", f"{RED}bb{PLAIN}"]
    for width in range(12, 60):
        parts = wrapped(layout, width, " " * 10)
        assert all(len(part) <= width for part in parts) and "".join("".join(parts).split()) == layout.replace(" ", "")


def test_streams_without_keys(pair, monkeypatch):
    _, stream = pair
    monkeypatch.setenv("TERM", "xterm")
    assert has_keys(stream, stream)
    assert not has_keys(io.StringIO(), stream) and not has_keys(stream, io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not has_keys(stream, stream)
    monkeypatch.delenv("TERM")
    assert not has_keys(stream, stream)
