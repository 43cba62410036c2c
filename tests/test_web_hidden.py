"""Nothing that is hidden from the person leaves the server: no tile, no seed, no trace of them while a game is on."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from invariants import PRESETS
from web_games import Server

from agents.session import Session
from agents.web.shelf import ShelvedGame
from dominoes_env.engine.variants import VARIANTS
from dominoes_env.engine.worlds import determinize
from dominoes_env.render.svg import tile_svg
from dominoes_env.words import format_tile, parse_tile

QUICK = [("block", 2), ("draw", 2), ("draw", 3), ("all_fives", 2), ("all_fives", 4), ("partners", 4)]
GAMES = [pytest.param(*preset, marks=[] if preset in QUICK else pytest.mark.slow) for preset in PRESETS]
SEED = 9_876_543_210_123_456_789


def hidden_tiles(session: Session) -> set[str]:
    """What the person may not know: other hands and the boneyard, but for lots that all have seen."""
    game, seat = session.game, session.seat
    known = {
        tile
        for other, bits in enumerate(session.concealed()["hands"][0])
        if other != seat
        for tile in range(55)
        if int(bits) >> tile & 1
    }
    others = {tile for other, hand in enumerate(game.hands) if other != seat for tile in hand}
    return (others | set(game.boneyard)) - set(map(format_tile, known))


def check_answers(server: Server, session: Session) -> None:
    """All that has been answered since the last time holds nothing that is hidden now."""
    hidden = hidden_tiles(session)
    state = session.game.state
    generator = int(state["generator"][0])
    for answer in server.answers:
        texts = [answer.text, *map(str, answer.headers.values())]
        for text in texts:
            assert str(SEED) not in text and f"{SEED:x}" not in text
            assert str(generator) not in text and f"{generator:x}" not in text
        seen = answer.json() if "json" in answer.headers["content-type"] else {}
        assert seen.get("result") is None and "seed" not in answer.text and "generator" not in answer.text
        if "sheet" in seen:  # the rules may name a tile
            assert seen.pop("sheet") in [variant.sheet for variant in VARIANTS.values()]
        if seen.get("round_over"):  # hands of the round before lie open; their tiles are in the new deal again
            seen["round_over"] = seen["log"] = None
        text = str(seen)
        assert not hidden & set(re.findall(r"(?<![\d.])\d-\d(?![\d.])", text))
        assert not any(tile_svg(parse_tile(tile)) in text for tile in hidden)
    server.answers.clear()


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
def test_no_answer_holds_a_hidden_tile(tmp_path, variant, num_players):
    server = Server(tmp_path, adviser="pimc:2")
    for seed in range(3):
        game_id = server.new(
            variant, num_players, seat=seed % num_players, episode="match" if seed else "round", seed=SEED + seed
        )
        seen = server.seen(game_id)
        server.answers.clear()
        for number in range(40):
            if seen["is_to_decide"] and number % 9 == 4:
                server.do(game_id, "hint", seen)
                server.post(f"/api/games/{game_id}/move", {"position": seen["position"], "action": 55})
            if seen["can_undo"] and number % 11 == 7:
                seen = server.do(game_id, "undo", seen)
            check_answers(server, server.session(game_id))
            seen = server.step(game_id, seen, seed)
            if seen["is_over"]:
                break
            server.get(f"/api/games/{game_id}?columns=14")
            server.get(f"/api/games/{game_id}/record")
            server.get(f"/api/games/{game_id}/positions/0")
            check_answers(server, server.session(game_id))


def worlds_of(session: Session, generator) -> list[np.ndarray]:
    """Other deals of what the person does not know: he cannot tell these worlds from the true one."""
    game, seat = session.game, session.seat
    past = np.array(game.history, np.int16)
    return list(determinize(game.rules, game.concealed(seat), seat, past, generator, num_worlds=3))


@pytest.mark.parametrize(("variant", "num_players"), GAMES)
def test_dealing_anew_what_is_hidden_changes_no_byte_of_any_answer(tmp_path, monkeypatch, variant, num_players):
    server = Server(tmp_path, adviser="pimc:2")
    generator = np.random.default_rng(2)
    differing = compared = 0
    for seed in range(2):
        game_id = server.new(variant, num_players, seat=seed, episode="match", seed=seed)
        seen = server.seen(game_id)
        for _ in range(4):
            for _ in range(3 + num_players):
                seen = server.step(game_id, seen)
            while not (seen["is_to_decide"] or seen["is_over"]):
                seen = server.step(game_id, seen)
            if seen["is_over"]:
                break
            session = server.session(game_id)
            truth = answers_of(server, monkeypatch, game_id, session)
            for world in worlds_of(session, generator):
                other = copy.deepcopy(session)
                other.game.table.set_state(0, world, session.game.history)
                differing += other.game.hands != session.game.hands
                answers = answers_of(server, monkeypatch, game_id, other)
                assert answers.keys() == truth.keys()
                for what, answer in answers.items():
                    assert None in (answer, truth[what]) or answer == truth[what], what
                    compared += answer is not None
            server.shelf._games[game_id].session = session
    assert differing > 10 and compared > 60


def answers_of(server: Server, monkeypatch, game_id: str, session: Session) -> dict[str, bytes | None]:
    """What the server says if this is the game: to look at it, to ask for what is refused, a hint and each move.

    None: the move ends the round, hands are laid open, and the person learns what was hidden.
    """
    found: dict[str, bytes | None] = {}

    def ask(what, data=None, path=f"/api/games/{game_id}"):
        server.shelf._games[game_id].session = copy.deepcopy(session)
        answer = server.post(path + what, data) if data else server.get(path + what)
        found[f"{what} {data}"] = b"%d %s %s" % (answer.status_code, str(answer.headers).encode(), answer.content)
        return answer.json()

    with monkeypatch.context() as patched:
        patched.setattr(ShelvedGame, "save", lambda game: None)  # these are no games that follow from their seeds
        seen = ask("")
        place = {"position": seen["position"]}
        for what in ("?columns=14", "/record", "/positions/1"):
            ask(what)
        ask("/move", {**place, "action": 57})
        for what in ("/advance", "/redo", "/hint"):
            ask(what, place)
        for move in seen["moves"]:
            data = {**place, "action": move["action"]}
            after = ask("/move", data)
            if after["round_over"] or move["word"] == "draw":
                found[f"/move {data}"] = None
    return found
