"""A trained policy as two files: the weights as ``NAME.npz`` and a header ``NAME.json`` that says what they are for.

The header names the rules, the versions of rules and observation, the shape of the network, and the SHA-256 of the
weights file, so that a cut, edited or mismatched pair is refused. Nothing in it is executed: arrays load without
pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import box
from agents.atomic import write_atomically
from dominoes_env.engine.rules import RULES_VERSION, Rules
from dominoes_env.observation import OBSERVATION_VERSION, observation_size

__all__ = [
    "ACTIVATIONS",
    "BEST_NAME",
    "POLICY_NAME",
    "Policy",
    "differing_rules",
    "find_policy",
    "is_policy_path",
    "load_policy",
    "save_policy",
]

FORMAT = "dominoes_env policy"
FORMAT_VERSION = 1
#: The last policy of a run directory is called so.
POLICY_NAME = "policy"
#: ... and so the one that did best on the run's ladder, where there is one.
BEST_NAME = "best"
ACTIVATIONS = ("tanh", "relu")
_SUFFIXES = (".json", ".npz")


@dataclass(frozen=True, eq=False)
class Policy:
    """A multi-layer perceptron from an observation (as int8, unscaled) to a logit for each action.

    Raises:
        ValueError: if the arrays do not fit the rules or each other.
    """

    rules: Rules
    weights: tuple[NDArray[np.float32], ...]
    """One a layer, shape (inputs, outputs)."""
    biases: tuple[NDArray[np.float32], ...]
    """One a layer, shape (outputs,)."""
    activation: str = "tanh"
    """Between layers; none after the last."""
    history: bool = False
    """Whether observations hold the round's history."""
    about: dict[str, Any] = field(default_factory=dict)
    """How it was made, for people; JSON values."""

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation={self.activation!r} is not allowed; allowed: {', '.join(ACTIVATIONS)}")
        if not self.weights or len(self.weights) != len(self.biases):
            raise ValueError(f"{len(self.weights)} weights and {len(self.biases)} biases do not make a network")
        inputs = observation_size(self.rules, history=self.history)
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if weight.dtype != np.float32 or bias.dtype != np.float32:
                raise ValueError(f"layer {number} has dtype {weight.dtype} and {bias.dtype}; allowed: float32")
            if weight.ndim != 2 or weight.shape[0] != inputs or bias.shape != weight.shape[1:]:
                raise ValueError(f"layer {number} has shape {weight.shape} + {bias.shape}; allowed: {inputs} inputs")
            if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                raise ValueError(f"layer {number} has weights that are not finite")
            inputs = weight.shape[1]
        if inputs != self.rules.num_actions:
            raise ValueError(f"the network has {inputs} outputs; allowed: {self.rules.num_actions}, one an action")

    @property
    def sizes(self) -> list[int]:
        """Inputs, hidden units of each layer, outputs."""
        return [self.weights[0].shape[0], *(weight.shape[1] for weight in self.weights)]


def differing_rules(own: Rules, asked: Rules) -> str:
    """The knobs in which two rule sets differ, as words; empty if they are equal."""
    left, right = own.to_dict(), asked.to_dict()
    return ", ".join(f"{knob}={left[knob]!r}, not {right[knob]!r}" for knob in left if left[knob] != right[knob])


def is_policy_path(path: str | Path) -> bool:
    """Whether ``path`` exists and may be a policy by its kind: a directory, or a file with a policy file's suffix."""
    path = Path(path)
    return path.is_dir() or (path.is_file() and path.suffix in _SUFFIXES)


def find_policy(path: str | Path) -> Path:
    """The header file that ``path`` means: a player in the box by name, a run directory, or either file of a policy.

    Of a run it is the best policy on the run's ladder, or the last one where no ladder was played; the last one is
    always ``RUN/policy.json``.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if ``path`` is a file of another kind, or means both a player in the box and a path.
    """
    if box.is_in_box(str(path)):
        if is_policy_path(path):
            raise ValueError(f"{path} is a player in the box and a path here; ./{path} means the path")
        return box.BOX / f"{path}.json"
    path = Path(path)
    if path.is_file() and not is_policy_path(path):
        raise ValueError(f"{path} is no policy file; allowed: a run directory, or a file {' or '.join(_SUFFIXES)}")
    if path.is_dir():
        header = path / f"{BEST_NAME}.json"
        if not header.is_file():
            header = path / f"{POLICY_NAME}.json"
        kind = "is no run directory, or a run without a policy yet"
    else:
        header = path.with_suffix(".json")
        kind = "is no policy"
    if not header.is_file():
        listed = ", ".join(box.box_names()) or "none yet"
        raise FileNotFoundError(f"{path} {kind}: {header} does not exist; players in the box: {listed}")
    return header


def save_policy(policy: Policy, directory: Path, name: str = POLICY_NAME) -> Path:
    """Write the two files of a policy, each atomically, the header last; returns the header's path."""
    arrays: dict[str, Any] = {}
    for number, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        arrays[f"weight_{number}"] = weight
        arrays[f"bias_{number}"] = bias
    payload = io.BytesIO()
    np.savez(payload, **arrays)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "rules": policy.rules.to_dict(),
        "history": policy.history,
        "sizes": policy.sizes,
        "activation": policy.activation,
        "weights_sha256": hashlib.sha256(payload.getvalue()).hexdigest(),
        "about": policy.about,
    }
    write_atomically(directory / f"{name}.npz", payload.getvalue())
    write_atomically(directory / f"{name}.json", (json.dumps(header, indent=2) + "\n").encode())
    return directory / f"{name}.json"


def load_policy(path: str | Path) -> Policy:
    """The policy that ``path`` means, see :func:`find_policy`.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is cut or edited, or made for another version of rules or observation; the message names
            the file, and both versions.
    """
    header_path = find_policy(path)
    header = _read_header(header_path)
    weights_path = header_path.with_suffix(".npz")
    if not weights_path.is_file():
        raise FileNotFoundError(f"{weights_path} does not exist; {header_path} needs it")
    content = weights_path.read_bytes()
    if hashlib.sha256(content).hexdigest() != header["weights_sha256"]:
        raise ValueError(f"{weights_path} is not the file that {header_path} describes (cut off or edited)")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            count = len(header["sizes"]) - 1
            weights = tuple(arrays[f"weight_{number}"] for number in range(count))
            biases = tuple(arrays[f"bias_{number}"] for number in range(count))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{weights_path} holds no weights as {header_path} describes them: {error}") from None
    try:
        rules = Rules.from_dict(header["rules"])
        if lacking := rules.to_dict().keys() - header["rules"].keys():
            raise ValueError(f"the rules lack {', '.join(sorted(lacking))} (edited?)")
        policy = Policy(rules, weights, biases, header["activation"], header["history"], header["about"])
        if policy.sizes != header["sizes"]:
            raise ValueError(f"sizes={header['sizes']!r} is not allowed; allowed: {policy.sizes}, those of the weights")
        return policy
    except (TypeError, ValueError) as error:
        raise ValueError(f"{header_path}: {error}") from None


_FIELDS = {
    "rules_version": int,
    "observation_version": int,
    "rules": dict,
    "history": bool,
    "sizes": list,
    "activation": str,
    "weights_sha256": str,
    "about": dict,
}


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON (cut off or edited): {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is no policy: its format is not {FORMAT!r}")
    if header.get("format_version") != FORMAT_VERSION:
        found = header.get("format_version")
        raise ValueError(f"{path} has policy format {found!r}, this version reads {FORMAT_VERSION}")
    for name, kind in _FIELDS.items():
        if type(header.get(name)) is not kind:
            raise ValueError(f"{path} has no proper {name!r} (edited?)")
    for name, current in (("rules_version", RULES_VERSION), ("observation_version", OBSERVATION_VERSION)):
        if header[name] != current:
            raise ValueError(
                f"{path} was made for {name} {header[name]}, this version has {name} {current}: train anew"
            )
    return header
