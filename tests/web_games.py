"""Games of the page for the tests: a server of their own without sockets, and how a person plays through it."""

from __future__ import annotations

import random
from pathlib import Path

from starlette.testclient import TestClient

from agents.web.app import make_app
from agents.web.menu import Menu
from agents.web.shelf import Shelf

HOST = "127.0.0.1:8421"


class Server:
    """The server of the page, with all that it has answered."""

    def __init__(self, directory: Path, *, in_memory=32, on_disk=1000, menu=None, raises=True, **options):
        self.directory = directory
        self.shelf = Shelf(directory, in_memory=in_memory, on_disk=on_disk)
        self.app = make_app(self.shelf, menu or Menu(), [HOST], **options)
        self.client = TestClient(self.app, base_url=f"http://{HOST}", raise_server_exceptions=raises)
        self.answers = []

    def get(self, path, **options):
        self.answers.append(self.client.get(path, **options))
        return self.answers[-1]

    def post(self, path, data=None, **options):
        self.answers.append(self.client.post(path, json=data, **options))
        return self.answers[-1]

    def new(self, game="draw", num_players=2, seat=0, opponents="flexible", episode="round", seed=5):
        names = [opponents] * (num_players - 1) if isinstance(opponents, str) else opponents
        answer = self.post(
            "/api/games",
            {
                "game": game,
                "num_players": num_players,
                "seat": seat,
                "opponents": names,
                "episode": episode,
                "seed": None if seed is None else str(seed),
            },
        )
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def seen(self, game_id):
        answer = self.get(f"/api/games/{game_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def file(self, game_id) -> Path:
        return self.directory / f"{game_id}.json"

    def session(self, game_id):
        """The session as the server has it in memory."""
        return self.shelf._games[game_id].session

    def do(self, game_id, what, seen, **fields):
        """A request that is carried out; returns what it answers."""
        answer = self.post(f"/api/games/{game_id}/{what}", {"position": seen["position"], **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def step(self, game_id, seen, seed=0):
        """The next move: the person's, one that depends on the position alone, or another's."""
        if not seen["is_to_decide"]:
            return self.do(game_id, "advance", seen)
        generator = random.Random(f"{seed} {seen['position']}")
        return self.do(game_id, "move", seen, action=generator.choice(seen["moves"])["action"])

    def play(self, game_id, seed=0):
        """A game to its end; returns what is seen then."""
        seen = self.seen(game_id)
        while not seen["is_over"]:
            seen = self.step(game_id, seen, seed)
        return seen
