"""The server of the page: what it answers, what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

import asyncio
import os
import random
import time

import httpx2
import pytest
from web_games import CHOICE, HOST, Server, at_a_choice

from agents.session import Session
from agents.web.menu import Menu
from dominoes_env.archive import parse_record
from dominoes_env.engine.variants import VARIANTS, make_rules

TEXTS = ("block", "draw", "all_fives")


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


@pytest.mark.parametrize("variant", TEXTS)
def test_a_whole_game(server, variant):
    game_id = server.new(variant, seed=3)
    seen = server.play(game_id)
    expected = Session.load(server.file(game_id))
    assert seen["is_over"] and expected.is_over and seen["result"]["seed"] == "3"
    assert [seat["score"] for seat in seen["seats"]] == list(expected.game.scores)
    rows = seen["round_over"]["rows"]
    assert [[tile["tile"] for tile in row["tiles"]] for row in rows] == [
        list(hand) for hand in expected.events[-1].hands
    ]
    record = server.get(f"/api/games/{game_id}/record")
    assert (
        record.headers["content-disposition"].startswith("attachment")
        and "text/plain" in record.headers["content-type"]
    )
    assert parse_record(record.text) == expected.record
    number = seen["result"]["num_positions"]
    assert number == 1 + len(expected.game.history)
    for place, text in ((0, "Round 1: "), (number - 1, "Round 1 is over: ")):
        answer = server.get(f"/api/games/{game_id}/positions/{place}?columns=14").json()
        assert answer["svg"].startswith("<svg") and text in answer["text"]
    assert server.get(f"/api/games/{game_id}/positions/{number}").status_code == 404


def test_a_match_says_how_each_round_ended(server):
    game_id = server.new("draw", episode="match")
    seen, rounds = server.seen(game_id), []
    while not seen["is_over"]:
        seen = server.step(game_id, seen)
        if seen["round_over"]:
            rounds.append(seen["round_over"]["round"])
            assert seen["log"][-1]["kind"] in ("deal", "match") and any(e["kind"] == "round" for e in seen["log"])
    assert rounds == list(range(1, len(rounds) + 1)) and len(rounds) > 1
    assert seen["result"]["text"].startswith(("You have won", "Flexible has won"))


def test_what_the_person_sees_of_moves_and_counts(server):
    game_id = server.new("all_fives", episode="match")
    seen, points = server.seen(game_id), 0
    while points == 0 or len(seen["ends"]) < 3:
        for move in seen["moves"]:
            if "tile" not in move:
                assert move["label"] in ("draw a tile", "pass")
            elif seen["ends"]:
                end = next(end for end in seen["ends"] if end["end"] == move["end"])
                assert move["label"] == f"{move['tile']} on the {end['name']} ({end['number']})"
                assert str(end["number"]) in move["tile"].split("-")
                assert move["count"].endswith(f"{move['points']} points" if move["points"] else "nothing")
                points += move["points"]
            else:
                assert move["label"] == f"lead {move['tile']}"
        seen = server.step(game_id, seen)
    assert f'data-end="{seen["ends"][2]["end"]}"' in seen["table"]


def test_undo_and_redo(server):
    game_id = server.new("draw", seed=8)
    seen = server.seen(game_id)
    while not (seen["is_to_decide"] and len(seen["moves"]) > 1):
        seen = server.step(game_id, seen)
    before = seen
    after = server.step(game_id, seen)
    assert after["can_undo"]
    undone = server.do(game_id, "undo", after)
    assert {**undone, "position": 0, "can_redo": 0} == {**before, "position": 0, "can_redo": 0}
    redone = server.do(game_id, "redo", undone)
    assert {**redone, "position": 0} == {**after, "position": 0}
    places = [before["position"], after["position"], undone["position"], redone["position"]]
    assert len(set(places)) == 4


@pytest.mark.parametrize(
    ("adviser", "what"), [("pimc:10", "value"), ("flexible", "probability"), ("learned:draw-2p", "probability")]
)
def test_a_hint_judges_each_move(tmp_path, adviser, what):
    server = Server(tmp_path, adviser=adviser)
    game_id = server.new("draw", seed=8)
    seen = server.seen(game_id)
    while not (seen["is_to_decide"] and len(seen["moves"]) > 1):
        seen = server.step(game_id, seen)
    hint = server.do(game_id, "hint", seen)
    assert (
        hint["agent"] == adviser and f"{adviser} would play " in hint["text"] and hint["position"] == seen["position"]
    )
    assert [move["action"] for move in hint["moves"]] == [move["action"] for move in seen["moves"]]
    assert all(isinstance(move[what], float) for move in hint["moves"])
    assert server.do(game_id, "hint", seen) == hint and server.seen(game_id) == seen
    assert Session.load(server.file(game_id)).num_hints == 2


# Games side by side


def test_two_games_do_not_disturb_each_other(server):
    ids = [server.new("draw", seed=1), server.new("draw", seed=2), server.new("draw", seed=1)]
    seen = {game_id: server.seen(game_id) for game_id in ids}
    alone = Server(server.directory)
    generator = random.Random(0)
    while not all(each["is_over"] for each in seen.values()):
        game_id = generator.choice([game_id for game_id in ids if not seen[game_id]["is_over"]])
        others = {other: server.file(other).read_bytes() for other in ids if other != game_id}
        seen[game_id] = server.step(game_id, seen[game_id])
        assert others == {other: server.file(other).read_bytes() for other in others}
    assert seen[ids[0]] == seen[ids[2]] != seen[ids[1]]
    assert alone.play(alone.new("draw", seed=2)) == seen[ids[1]]


@pytest.mark.parametrize("in_memory", [1, 2])
def test_games_that_are_not_in_memory_are_on_disk(tmp_path, in_memory):
    server = Server(tmp_path, in_memory=in_memory)
    ids = [server.new("draw", seed=seed) for seed in range(4)]
    seen = [server.seen(game_id) for game_id in ids]
    for _ in range(6):
        for place, game_id in enumerate(ids):
            if not seen[place]["is_over"]:
                seen[place] = server.step(game_id, seen[place])
            assert len(server.shelf._games) <= in_memory
    assert [server.seen(game_id) for game_id in ids] == seen


def test_a_server_that_is_started_again_goes_on(tmp_path):
    first = Server(tmp_path)
    game_id, seen = at_a_choice(first, "all_fives", num_players=3, episode="match")
    for _ in range(5):
        second = Server(tmp_path)
        assert second.seen(game_id) == seen
        seen = second.step(game_id, seen)
        assert first.seen(game_id) == seen  # another server on the same files, too


def test_only_so_many_files_are_kept(tmp_path):
    server = Server(tmp_path, on_disk=3)
    ids = []
    for place in range(5):
        ids.append(server.new("draw"))
        os.utime(server.file(ids[-1]), (place, place))
    server.new("draw")
    assert [server.file(game_id).exists() for game_id in ids] == [False, False, False, True, True]
    assert server.get(f"/api/games/{ids[0]}").status_code == 404


def test_files_of_others_are_neither_counted_nor_removed(tmp_path):
    others = [tmp_path / name for name in ("letters.json", "package.json", "draw-7.json", f"{'x' * 21}.json")]
    for file in others:
        file.write_text("{}")
        os.utime(file, (0, 0))
    server = Server(tmp_path, on_disk=2)
    ids = [server.new("draw") for _ in range(3)]
    assert all(file.read_text() == "{}" for file in others)
    assert sum(server.file(game_id).exists() for game_id in ids) == 2


def test_a_game_that_cannot_be_saved_is_not_forgotten_for_others(tmp_path, monkeypatch):
    server = Server(tmp_path, in_memory=1)
    others = [server.new("draw", seed=seed) for seed in (1, 2, 3)]
    game_id, seen = at_a_choice(server)

    def full(session, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Session, "save", full)
    seen = server.do(game_id, "move", seen, action=seen["moves"][0]["action"])
    assert "No space left on device" in seen["failure"]
    for other in others:
        server.seen(other)
    assert server.seen(game_id)["position"] == seen["position"]
    monkeypatch.undo()
    server.step(game_id, seen)
    assert not server.seen(game_id)["failure"]


def test_requests_for_the_same_position_have_an_effect_once(server):
    game_id, seen = at_a_choice(server)
    other = server.new("draw", seed=9)
    requests = [{"position": seen["position"], "action": move["action"]} for move in seen["moves"] * 3]

    async def all_at_once():
        transport = httpx2.ASGITransport(server.app)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            moves = [client.post(f"/api/games/{game_id}/move", json=request) for request in requests]
            return await asyncio.gather(*moves, *[client.get(f"/api/games/{other}") for _ in range(5)])

    answers = asyncio.run(all_at_once())
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] * 6 + [409] * (len(requests) - 1)
    assert len(Session.load(server.file(game_id)).events) == 1 + int(seen["position"].partition(".")[2])


def test_the_server_answers_while_an_agent_thinks(server, monkeypatch):
    slow, quick = server.new("draw", seat=1, seed=1), server.new("draw", seed=2)
    seen = server.seen(slow)
    while seen["is_to_decide"]:
        seen = server.step(slow, seen)
    server.seen(quick)
    monkeypatch.setattr(server.session(slow).agents[0], "act", lambda turn: time.sleep(1) or turn.legal_actions[0])
    monkeypatch.setattr(type(server.session(slow).game), "legal_actions", property(lambda game: [0, 1]))
    order = []

    async def both():
        transport = httpx2.ASGITransport(server.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:

            async def ask(name, request):
                await request
                order.append(name)

            think = client.post(f"/api/games/{slow}/advance", json={"position": seen["position"]})
            await asyncio.gather(ask("slow", think), ask("quick", client.get("/api/menu")))

    asyncio.run(both())
    assert order == ["quick", "slow"]


# The menu


def test_the_menu_offers_all_games_and_agents_that_play_them(server):
    menu = server.get("/api/menu").json()
    assert [game["name"] for game in menu["games"]] == list(VARIANTS)
    agents = {agent["name"]: agent for agent in menu["agents"]}
    assert "cheater" not in agents and "human" not in agents
    assert agents["learned:draw-2p"]["plays"] == ["draw 2"] and "cuban 4" in agents["flexible"]["plays"]
    assert menu["first"] == {"game": "draw", "num_players": 2, "against": ["pimc:50"]}


def test_rules_that_were_given_are_offered_first(tmp_path):
    rules = make_rules("draw", num_players=3, target=40)
    server = Server(tmp_path, menu=Menu(rules, against=["flexible", "pimc:7"]))
    menu = server.get("/api/menu").json()
    assert menu["games"][0]["name"] == menu["first"]["game"] == "given" and "target=40" in menu["games"][0]["sheet"]
    assert menu["first"]["against"] == ["flexible", "pimc:7"] and "pimc:7" in [
        agent["name"] for agent in menu["agents"]
    ]
    game_id = server.new("given", 3, opponents=["flexible", "pimc:7"], episode="match")
    assert server.seen(game_id)["target"] == 40
    assert server.post("/api/games", {**CHOICE, "game": "given"}).status_code == 422


@pytest.mark.parametrize("name", ["cheater", "human", "nobody"])
def test_some_do_not_play_on_the_page(name):
    with pytest.raises(ValueError, match=name):
        Menu(against=[name])


def test_namesakes_are_told_apart(server):
    seen = server.seen(server.new("draw", 4, seat=2, opponents=["flexible", "greedy", "flexible"]))
    assert [seat["name"] for seat in seen["seats"]] == ["you", "flexible (2)", "greedy", "flexible (1)"]
