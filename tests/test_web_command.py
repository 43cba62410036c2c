"""The command that serves the page: what it says, what it refuses, and how it is stopped."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from training.cli import main


@pytest.fixture
def command(tmp_path):
    """Starts ``dominoes web`` on any port; returns the process and its address."""
    started = []

    def start(*options):
        words = [sys.executable, "-m", "training.cli", "web", "--port", "0", "--games", str(tmp_path / "new" / "games")]
        process = subprocess.Popen([*words, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        assert str(tmp_path / "new" / "games") in line
        return process, re.search(r"http://127\.0\.0\.1:\d+", line).group()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ask(address, data=None):
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


CHOICE = {"game": "given", "num_players": 2, "seat": 0, "opponents": ["flexible"], "episode": "round", "seed": "3"}


def test_the_page_is_served_until_it_is_interrupted(command, tmp_path):
    process, address = command("--rule", "target=60", "--against", "flexible", "--pace", "2")
    assert ask(f"{address}/api/menu")["first"] == {"game": "given", "num_players": 2, "against": ["flexible"]}
    game_id = ask(f"{address}/api/games", CHOICE)["id"]
    seen = ask(f"{address}/api/games/{game_id}")
    assert (seen["target"], seen["pace"]) == (60, 2)
    assert (tmp_path / "new" / "games").stat().st_mode & 0o077 == 0
    port = int(address.rpartition(":")[2])
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):  # nobody else on the network reaches it
        other.settimeout(5)
        other.connect(("127.0.0.2", port))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and "closed" in out and "Traceback" not in err
    _, again = command("--rule", "target=60", "--pace", "2")
    assert ask(f"{again}/api/games/{game_id}") == seen


def test_it_stops_while_an_agent_thinks(command):
    process, address = command("--variant", "draw", "--against", "ismcts:100000000")
    game_id = ask(f"{address}/api/games", {**CHOICE, "game": "draw", "opponents": ["ismcts:100000000"]})["id"]
    seen = ask(f"{address}/api/games/{game_id}")
    while seen["is_to_decide"]:
        data = {"position": seen["position"], "action": seen["moves"][0]["action"]}
        seen = ask(f"{address}/api/games/{game_id}/move", data)
    host = address.removeprefix("http://")
    with socket.create_connection(host.split(":"), timeout=30) as thinking:
        body = json.dumps({"position": seen["position"]})
        thinking.sendall(
            f"POST /api/games/{game_id}/advance HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        assert ask(f"{address}/api/menu")["games"]  # it answers meanwhile
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and "closed" in out and "Traceback" not in err and "ERROR" not in err, err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--port 70000", "--port=70000 is not allowed; allowed: an integer from 0 to 65535"),
        ("--pace -1", "--pace=-1.0 is not allowed"),
        ("--against cheater", "agent='cheater' is not allowed on the page: it sees what is hidden"),
        ("--against human", "agent='human' is not allowed on the page: it asks a person"),
        ("--against nobody", "agent='nobody' is not"),
        ("--against flexible flexible", "--against flexible flexible is not allowed; allowed: one agent, or 1"),
        ("--hints cheater", "agent='cheater' is not allowed to advise"),
        ("--variant draw --against learned:block-2p", "trained for other rules"),
        ("--games pyproject.toml", "pyproject.toml"),
    ],
)
def test_what_is_wrong_costs_a_line(capsys, options, message):
    assert main(["web", *options.split()]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_port_that_is_taken(capsys, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["web", "--port", str(port), "--games", str(tmp_path)]) == 2
    assert f"--port {port} cannot be had" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "agents.web.app", None)
    assert main(["web"]) == 2
    assert "pip install 'dominoes_env[web]'" in capsys.readouterr().err
