"""Files that are either the old one or the new one, whatever happens while they are written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file beside ``path``, flush it to the disk, and put it in the place of ``path``.

    A link stays one: the file that it leads to is replaced.

    Raises:
        OSError: if it cannot be written; ``path`` is then as it was.
    """
    path = Path(os.path.realpath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp is private; a result is not
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
