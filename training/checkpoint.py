"""A checkpoint: one file with all that a run needs to go on as if it had never stopped.

A line of text with a SHA-256, then what ``torch.save`` wrote. It is read with ``weights_only``: tensors, numbers,
strings and containers of them, never code.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.atomic import write_atomically

__all__ = ["load_checkpoint", "packed", "save_checkpoint", "unpack"]

_MAGIC = b"dominoes_env checkpoint 2 "


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` (tensors, numbers, strings, lists and dicts of them) atomically.

    Raises:
        ValueError: for a tensor that is not finite: who goes on from it learns nothing. The file is then as it was.
    """
    _refuse_not_finite(content, "")
    payload = io.BytesIO()
    torch.save(content, payload)
    digest = hashlib.sha256(payload.getvalue()).hexdigest().encode()
    write_atomically(path, _MAGIC + digest + b"\n" + payload.getvalue())


def _refuse_not_finite(content: Any, place: str) -> None:
    if isinstance(content, torch.Tensor):
        if not torch.isfinite(content).all():
            raise ValueError(f"{place.lstrip('.')} is not finite: the run has diverged and stays as last saved")
    elif isinstance(content, (dict, list)):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            _refuse_not_finite(value, f"{place}.{key}")


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is cut off, edited, or no checkpoint of this version; the message names the file.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist: there is nothing to resume") from None
    head, _, payload = raw.partition(b"\n")
    if not head.startswith(_MAGIC):
        raise ValueError(f"{path} is no checkpoint that this version reads")
    if hashlib.sha256(payload).hexdigest().encode() != head[len(_MAGIC) :]:
        raise ValueError(f"{path} is cut off or was edited: its checksum does not match")
    try:
        content = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no run")
    return content


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """Any array, records too, as a checkpoint can hold it: a tensor of bytes with its layout."""
    content = torch.frombuffer(bytearray(array.tobytes()), dtype=torch.uint8)
    return {"layout": f"{array.shape} {array.dtype}", "bytes": content}


def unpack(content: dict[str, Any], into: NDArray[Any]) -> None:
    """Write what :func:`packed` made into an array of the same layout.

    Raises:
        ValueError: if it has another layout.
    """
    layout = f"{into.shape} {into.dtype}"
    if content["layout"] != layout:
        raise ValueError(f"games are laid out as {content['layout'][:80]}, not {layout[:80]}")
    into[...] = np.frombuffer(content["bytes"].numpy().tobytes(), into.dtype).reshape(into.shape)
