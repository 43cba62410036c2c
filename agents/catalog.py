"""Agents by name: ``NAME[:VALUE][:KEY=V,...]``, one bare value being the main parameter.

``greedy`` is the greedy player, ``learned:runs/first:mode=sample`` a trained one that samples, ``learned:draw-2p`` one
that comes with the package. The path of an existing run directory or policy file alone means ``learned:`` of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from agents.base import Agent, as_agent
from agents.box import is_in_box
from agents.doubles import DoublesAgent
from agents.flexible import FlexibleAgent
from agents.greedy import GreedyAgent
from agents.learned import LearnedAgent
from agents.policy_file import is_policy_path
from agents.uniform import UniformAgent

__all__ = ["CATALOG", "Entry", "Parameter", "make_agent"]


@dataclass(frozen=True)
class Parameter:
    """An argument of an agent on a command line."""

    name: str
    kind: Callable[[str], Any]
    """Reads the value from text; ValueError if it is none."""
    default: Any
    """None: it must be given."""
    meaning: str


@dataclass(frozen=True)
class Entry:
    """An agent of the catalog; the first of its parameters is the main one."""

    name: str
    make: Callable[..., Agent]
    meaning: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def usage(self) -> str:
        """The name with its arguments, as one would type it."""
        if not self.parameters:
            return self.name
        main, *rest = self.parameters
        value = main.name.upper() if main.default is None else f"{main.name}={main.default}"
        return ":".join([self.name, value, *([",".join(f"{p.name}={p.default}" for p in rest)] if rest else [])])


def _imported(module: str, name: str) -> Callable[..., Agent]:
    """The class ``name`` of an agent's module, imported when it is first made: the searches are heavy to load."""

    def make(**arguments: Any) -> Agent:
        agent: Agent = getattr(import_module(module), name)(**arguments)
        return agent

    return make


def _milliseconds() -> Parameter:
    return Parameter("ms", float, 0, "stops thinking after so many milliseconds a move; 0: never, the answers repeat")


def _nodes(default: int = 20_000) -> Parameter:
    return Parameter("nodes", int, default, "positions looked at in a deal; beyond that its value is an estimate")


_ENTRIES = (
    Entry("random", UniformAgent, "every legal action equally often"),
    Entry("greedy", GreedyAgent, "the heaviest tile; where open ends score, the highest-scoring play first"),
    Entry("doubles", DoublesAgent, "doubles first, then the heaviest tile; where open ends score, most points first"),
    Entry(
        "flexible",
        FlexibleAgent,
        "pips + 3 x own tiles that fit afterwards - 1.5 x unseen ones; where open ends score, most points first",
    ),
    Entry(
        "pimc",
        _imported("agents.pimc", "PimcAgent"),
        "deals what is hidden many times over, solves each deal with open hands, averages",
        (Parameter("worlds", int, 50, "deals"), _milliseconds(), _nodes()),
    ),
    Entry(
        "ismcts",
        _imported("agents.ismcts", "IsmctsAgent"),
        "a tree search over what the players know, a new deal of what is hidden in each iteration",
        (
            Parameter("iterations", int, 1000, "games played through the tree"),
            Parameter("observer", str, "auto", "single: one tree; multiple: one a player's view; auto: by the rules"),
            Parameter("exploration", float, 0.7, "constant of the confidence bound, in ranges of the margins seen"),
            _milliseconds(),
        ),
    ),
    Entry(
        "inference",
        _imported("agents.inference", "InferenceAgent"),
        "pimc with each deal weighted by how likely the others' past plays are in it",
        (
            Parameter("worlds", int, 200, "deals"),
            Parameter("model", str, "flexible", "how the others play: an agent that gives probabilities"),
            Parameter(
                "temperature", float, 3.5, "pips of worth that make a rule of thumb e times as likely to play it"
            ),
            Parameter("noise", float, 0.15, "the share of choices that the model makes at random"),
            Parameter("pool", int, 4, "deals weighted for each one solved"),
            _milliseconds(),
            _nodes(),
        ),
    ),
    Entry(
        "cheater",
        _imported("agents.cheater", "CheaterAgent"),
        "sees all hands and the boneyard, and plays them out exactly: the ceiling",
        (_nodes(1_000_000),),
    ),
    Entry(
        "human",
        _imported("agents.human", "HumanAgent"),
        "asks a person at the keyboard",
    ),
    Entry(
        "learned",
        LearnedAgent,
        "a trained policy; the path of a run directory or policy file alone means the same",
        (
            Parameter("path", str, None, "player in the box, run directory (its best policy) or policy file"),
            Parameter("mode", str, "best", "best: the most probable action; sample: each by its probability"),
        ),
    ),
)

#: The agents by name.
CATALOG: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def make_agent(agent: Any) -> Agent:
    """The agent called ``agent``; an object that acts (see :func:`agents.base.as_agent`) is passed through.

    Raises:
        ValueError: for an unknown name or argument, or a value that is not allowed; the message lists what there is.
        FileNotFoundError: for a policy that does not exist.
    """
    if not isinstance(agent, (str, Path)):
        return as_agent(agent)
    text = str(agent)
    name, *rest = text.split(":")
    if name not in CATALOG:
        if not is_policy_path(name):
            if is_in_box(name):
                raise ValueError(f"agent={text!r} is a player in the box: learned:{text}")
            raise ValueError(
                f"agent={text!r} is not a run directory, policy file or agent name; the agents are: "
                f"{', '.join(CATALOG)}"
            )
        name, rest = "learned", [name, *rest]
    entry = CATALOG[name]
    made = entry.make(**_arguments(entry, rest, text))
    made.name = text
    return made


def _arguments(entry: Entry, parts: list[str], text: str) -> dict[str, Any]:
    by_name = {parameter.name: parameter for parameter in entry.parameters}
    allowed = f"allowed: {entry.usage}"
    given: dict[str, str] = {}
    for position, part in enumerate(parts):
        is_text = bool(entry.parameters) and entry.parameters[0].kind is str  # a path may hold a =
        is_bare = position == 0 and entry.parameters and part.partition("=")[0] not in by_name
        is_bare = is_bare and (is_text or "=" not in part)
        for item in [f"{entry.parameters[0].name}={part}"] if is_bare else part.split(","):
            key, _, value = item.partition("=")
            if key not in by_name or not value:
                raise ValueError(f"agent={text!r} has no argument {item!r}; {allowed}")
            if key in given:
                raise ValueError(f"agent={text!r} gives {key} twice; {allowed}")
            given[key] = value
    arguments: dict[str, Any] = {}
    for name, parameter in by_name.items():
        if name not in given:
            if parameter.default is None:
                raise ValueError(f"agent={text!r} lacks {name} ({parameter.meaning}); {allowed}")
            continue
        try:
            arguments[name] = parameter.kind(given[name])
        except ValueError:
            kind = parameter.kind.__name__
            raise ValueError(f"agent={text!r}: {name}={given[name]!r} is no {kind}; {allowed}") from None
    return arguments
