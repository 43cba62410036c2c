"""What the server of the page refuses, and what goes wrong: nothing is changed by it, and nothing given away."""

from __future__ import annotations

import json

import pytest
from web_games import CHOICE, HOST, Server, at_a_choice

from agents.match import IllegalChoice
from agents.session import Session
from agents.web.guard import MAX_BODY


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


def refused_requests(game_id, seen):
    """Requests by (method, path), what they send and with which headers, and the status that refuses them."""
    place, action = seen["position"], seen["moves"][0]["action"]
    good = {"position": place, "action": action}
    illegal = next(a for a in range(58) if a not in [move["action"] for move in seen["moves"]])
    move, game = f"/api/games/{game_id}/move", f"/api/games/{game_id}"
    kind = {"content-type": "application/json"}

    def send(data, headers=kind, path=move):
        content = data if isinstance(data, (str, bytes)) else json.dumps(data)
        return "POST", path, content, headers

    return [
        # forged: from other pages, by other names of this machine, in forms that need no leave
        (*send(good, {**kind, "host": "evil.example"}), 421),
        (*send(good, {**kind, "host": "127.0.0.1"}), 421),
        (*send(good, {**kind, "host": "127.0.0.1:80"}), 421),
        (*send(good, {**kind, "host": f"{HOST}.evil.example"}), 421),
        (*send(good, {**kind, "origin": "http://evil.example"}), 403),
        (*send(good, {**kind, "origin": "null"}), 403),
        (*send(good, {**kind, "origin": "https://" + HOST}), 403),
        (*send(good, {**kind, "origin": "http://127.0.0.1:9"}), 403),
        (*send(good, {**kind, "sec-fetch-site": "cross-site"}), 403),
        (*send(good, {"content-type": "text/plain"}), 415),
        (*send(good, {"content-type": "application/x-www-form-urlencoded"}), 415),
        (*send(good, {}), 415),
        ("GET", move, "", {}, 405),
        ("PUT", move, json.dumps(good), kind, 405),
        ("DELETE", game, "", {}, 405),
        ("POST", game, json.dumps(good), kind, 405),
        # not to be read
        (*send("x" * (MAX_BODY + 1)), 413),
        (*send({**good, "more": "x" * MAX_BODY}), 413),
        (*send("[" * 2000), 400),
        (*send("{"), 400),
        (*send(b"\xff\xfe"), 400),
        (*send(""), 400),
        (*send([place, action]), 400),
        (*send({"action": action}), 400),
        (*send({**good, "seat": 1}), 400),
        (*send({"position": 3, "action": action}), 400),
        (*send({"position": place, "action": str(action)}), 400),
        (*send({"position": place, "action": True}), 400),
        (*send({"position": place, "action": float(action)}), 400),
        (*send({"position": place, "action": None}), 400),
        (*send(good, path=f"{move}?columns=3"), 400),
        (*send(good, path=f"{move}?columns=1e9"), 400),
        # stale
        (*send({**good, "position": "0.0"}), 409),
        (*send({**good, "position": place + "0"}), 409),
        (*send({**good, "position": ""}), 409),
        (*send({"position": "0.0"}, path=f"{game}/undo"), 409),
        (*send({"position": "0.0"}, path=f"{game}/redo"), 409),
        (*send({"position": "0.0"}, path=f"{game}/advance"), 409),
        (*send({"position": "0.0"}, path=f"{game}/hint"), 409),
        # not allowed now
        (*send({**good, "action": illegal}), 422),
        (*send({**good, "action": -1}), 422),
        (*send({**good, "action": 10**30}), 422),
        (*send({"position": place}, path=f"{game}/advance"), 422),
        (*send({"position": place}, path=f"{game}/redo"), 422),
        ("GET", f"{game}/record", "", {}, 403),
        ("GET", f"{game}/positions/0", "", {}, 403),
        # not there
        (*send(good, path=f"/api/games/{'A' * 22}/move"), 404),
        (*send(good, path=f"/api/games/{game_id[:-1]}/move"), 404),
        (*send(good, path=f"/api/games/..%2f{game_id}/move"), 404),
        (*send(good, path=f"{game}/cheat"), 404),
        ("GET", f"/api/games/{'A' * 22}", "", {}, 404),
        ("GET", "/page/..%2fapp.py", "", {}, 404),
        ("GET", "/page/app.py", "", {}, 404),
        ("GET", f"/{game_id}.json", "", {}, 404),
    ]


def test_what_is_refused_changes_nothing(server):
    game_id, seen = at_a_choice(server)
    file = server.file(game_id).read_bytes()
    for method, path, content, headers, status in refused_requests(game_id, seen):
        answer = server.client.request(method, path, content=content, headers=headers)
        assert answer.status_code == status, (method, path, content[:80], headers, answer.status_code)
        assert answer.json()["error"], path
        assert server.file(game_id).read_bytes() == file, (path, content[:80])
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert [path.name for path in server.directory.iterdir()] == [server.file(game_id).name]
    assert server.seen(game_id) == seen
    server.step(game_id, seen)  # and the good request is carried out


@pytest.mark.parametrize(
    "field",
    [
        {"game": "whist"},
        {"game": "given"},
        {"num_players": 5},
        {"num_players": 0},
        {"game": "partners"},
        {"seat": 2},
        {"seat": -1},
        {"opponents": []},
        {"opponents": ["flexible", "flexible"]},
        {"opponents": ["cheater"]},
        {"opponents": ["human"]},
        {"opponents": ["pimc:100000"]},
        {"opponents": ["learned:/etc/passwd"]},
        {"opponents": ["learned:block-2p"]},
        {"opponents": [["flexible"]]},
        {"opponents": [3]},
        {"episode": "week"},
        {"seed": "-1"},
        {"seed": "x"},
        {"seed": str(2**64)},
        {"seed": "1" * 300},
    ],
)
def test_games_that_cannot_be(server, field):
    answer = server.post("/api/games", {**CHOICE, **field})
    assert answer.status_code == 422 and answer.json()["error"]
    assert list(server.directory.iterdir()) == []


def test_every_answer_keeps_the_browser_in_bounds(server):
    game_id = server.new()
    for path in ("/", f"/game/{game_id}", "/game/nowhere", "/page/page.css", "/tiles.css", "/favicon.svg", "/nowhere"):
        answer = server.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert (
            answer.headers["referrer-policy"] == "no-referrer" and "access-control-allow-origin" not in answer.headers
        )
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert server.get("/game/nowhere").status_code == 404


# What goes wrong


def test_a_damaged_file_is_refused_without_its_content(server, capsys):
    game_id = server.new("draw")
    text = server.file(game_id).read_text()
    hand = Session.load(server.file(game_id)).game.hands[1]
    server.file(game_id).write_text(text.replace(hand[0], hand[1]))
    answer = server.get(f"/api/games/{game_id}")
    assert answer.status_code == 410 and not any(tile in answer.text for tile in hand)
    assert "cannot be read" in capsys.readouterr().out
    server.file(game_id).write_text(text)
    server.seen(game_id)


def test_a_game_that_cannot_be_saved_goes_on_and_says_so(server, monkeypatch):
    game_id, seen = at_a_choice(server)
    file = server.file(game_id).read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("agents.sealed_file.write_atomically", full)
        seen = server.step(game_id, seen)
        assert seen["failure"] == "the game could not be saved: No space left on device"
        assert server.post("/api/games", CHOICE).status_code == 507
        assert server.seen(game_id) == seen and server.file(game_id).read_bytes() == file
    seen = server.step(game_id, seen)
    assert not seen["failure"] and server.file(game_id).read_bytes() != file


def test_an_agent_that_fails_changes_nothing(tmp_path, monkeypatch):
    server = Server(tmp_path, raises=False)
    game_id = server.new("draw")
    seen = server.seen(game_id)
    while seen["is_to_decide"]:
        seen = server.step(game_id, seen)
    file = server.file(game_id).read_bytes()
    for error, status in ((RuntimeError("lost"), 500), (IllegalChoice("agent 'flexible' chose 99"), 409)):

        def fail(*arguments, error=error, **options):
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(Session, "advance", fail)
            answer = server.post(f"/api/games/{game_id}/advance", {"position": seen["position"]})
        assert answer.status_code == status and answer.json()["error"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert server.file(game_id).read_bytes() == file and server.seen(game_id) == seen
