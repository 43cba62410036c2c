"""What a person may choose on the page: the game, and whom to play against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from agents.base import Agent
from agents.box import box_names
from agents.catalog import make_agent
from agents.session import Session
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.variants import VARIANTS, describe_rules, make_rules
from dominoes_env.game import Game
from dominoes_env.render.scene import variant_title
from dominoes_env.render.svg import table_svg
from dominoes_env.render.view import make_view
from dominoes_env.words import rules_text

__all__ = ["GIVEN", "Menu"]

#: The name of the game whose rules were given, beside those of the presets.
GIVEN = "given"

#: Agents that are offered, and how they play, in a few words. A request cannot ask for others: some cheat, one asks at
#: the keyboard of the server, and a budget or a path from elsewhere could keep the machine busy or read any file.
_AGENTS = {
    "random": ("easy", "plays whatever fits"),
    "greedy": ("easy", "gets rid of its heaviest tile"),
    "doubles": ("easy", "doubles first, then the heaviest tile"),
    "flexible": ("medium", "keeps tiles that go on fitting"),
    "pimc:50": ("strong", "imagines 50 deals and plays them out"),
    "ismcts:1000": ("strong", "searches through 1,000 imagined games"),
    "inference:50": ("strongest", "reads your moves, imagines 50 deals"),
    "inference:200": ("strongest", "reads your moves, imagines 200 deals"),
}
_TRAINED = ("strong", "trained by playing against itself")
#: A round of All Fives that is shown before there is one to be played: its seed and its actions.
_PICTURED = 1057, (20, 112, 17, 43, 4, 82, 31, 102, 11, 90, 40, 84, 41, 112, 19, 79, 112, 52, 61)
_OWN = ("given", "as asked for at the start")


class Menu:
    """The choices.

    Args:
        rules: the game that is chosen at first; it is offered beside the presets if it is none of them.
        against: the agents that are chosen at first, one for all seats or one a seat in turn order; they are offered
            too.

    Raises:
        ValueError: for an unknown agent, or one that is not allowed as an opponent.
        FileNotFoundError: for a policy that does not exist.
    """

    def __init__(self, rules: Rules | None = None, against: Sequence[str] = ("pimc:50",)) -> None:
        rules = rules or make_rules("draw")
        variant, knobs = describe_rules(rules)
        is_preset = knobs.keys() == {"num_players"}
        self.rules = None if is_preset else rules
        self.first = {"game": variant if is_preset else GIVEN, "num_players": rules.num_players}
        self.against = tuple(against)
        for name in self.against:
            _checked_opponent(name)

    @cached_property
    def agents(self) -> dict[str, tuple[str, str]]:
        """How strong each agent on offer is, and how it plays, by name."""
        offered = {**_AGENTS, **{f"learned:{name}": _TRAINED for name in box_names()}}
        return {**offered, **{name: _OWN for name in self.against if name not in offered}}

    def rules_of(self, game: str, num_players: int) -> Rules:
        """The rules of a game on offer.

        Raises:
            ValueError: naming the argument, its value and what is allowed.
        """
        if game == GIVEN and self.rules is not None:
            if num_players != self.rules.num_players:
                raise ValueError(f"num_players={num_players!r} is not allowed; allowed: {self.rules.num_players}")
            return self.rules
        if game not in VARIANTS:
            raise ValueError(f"game={game!r} is not allowed; allowed: {', '.join(VARIANTS)}")
        if num_players not in VARIANTS[game].hand_sizes:
            allowed = ", ".join(map(str, VARIANTS[game].hand_sizes))
            raise ValueError(f"num_players={num_players!r} is not allowed in {game}; allowed: {allowed}")
        return make_rules(game, num_players=num_players)

    def session(self, choice: Mapping[str, Any]) -> Session:
        """The game that was chosen: ``game``, ``num_players``, ``seat``, ``opponents`` in turn order from the person's
        seat on, ``episode``, and ``seed``, a number as text, or None.

        Raises:
            ValueError: naming the argument, its value and what is allowed.
        """
        rules = self.rules_of(choice["game"], choice["num_players"])
        names, seat = choice["opponents"], choice["seat"]
        if not 0 <= seat < rules.num_players:
            raise ValueError(f"seat={seat!r} is not allowed; allowed: 0 to {rules.num_players - 1}")
        if len(names) != rules.num_players - 1:
            raise ValueError(f"opponents={names!r} is not allowed; allowed: a list of {rules.num_players - 1} agents")
        for name in names:
            if not isinstance(name, str) or name not in self.agents:
                raise ValueError(f"opponent {name!r} is not allowed; allowed: {', '.join(self.agents)}")
        opponents = {(seat + step) % rules.num_players: name for step, name in enumerate(names, 1)}
        return Session(rules, opponents, seat, _seed(choice["seed"]), choice["episode"])

    @cached_property
    def for_page(self) -> dict[str, Any]:
        """All of it, for JSON."""
        games = [
            {
                "name": name,
                "short": variant_title(make_rules(name)),
                "sheet": variant.sheet,
                "players": list(variant.hand_sizes),
            }
            for name, variant in VARIANTS.items()
        ]
        if self.rules is not None:
            sheet = f"The rules given at the start: {rules_text(self.rules)}."
            short = f"{variant_title(self.rules)}, own rules"
            games.insert(0, {"name": GIVEN, "short": short, "sheet": sheet, "players": [self.rules.num_players]})
        for game in games:
            game["teams"] = self.rules_of(game["name"], game["players"][0]).teams
        plays = [(game["name"], players) for game in games for players in game["players"]]
        agents = []
        for name, (strength, meaning) in self.agents.items():
            agent = make_agent(name)
            allowed = [f"{game} {players}" for game, players in plays if self._plays(agent, game, players)]
            agents.append({"name": name, "strength": strength, "meaning": meaning, "plays": allowed})
        first = {**self.first, "against": list(self.against)}
        return {"games": games, "agents": agents, "first": first, "picture": _picture()}

    def _plays(self, agent: Agent, game: str, num_players: int) -> bool:
        try:
            agent.check_rules(self.rules_of(game, num_players))
        except ValueError:
            return False
        return True


def _picture() -> str:
    """A table at the end of a round of All Fives, to look at."""
    seed, actions = _PICTURED
    game = Game("all_fives", seed=seed, episode="round")
    for action in actions:
        game.step(action)
    return table_svg(make_view(game.rules, game.state, game.history, columns=22))


def _checked_opponent(name: str) -> None:
    agent = make_agent(name)
    if agent.sees_all:
        raise ValueError(f"agent={name!r} is not allowed on the page: it sees what is hidden; allowed: any other")
    if agent.is_person:
        raise ValueError(f"agent={name!r} is not allowed on the page: it asks a person; allowed: any other")


def _seed(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 20 and int(text) < 2**64):
        raise ValueError(f"seed={text!r} is not allowed; allowed: an integer from 0 to 2**64 - 1, or nothing")
    return int(text)
