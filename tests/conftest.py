"""Windows open without a display here, and do not wait for anybody to look."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"


@pytest.fixture(autouse=True)
def hasty_windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from dominoes_env.render.window import Window

    whole = Window.__init__
    monkeypatch.setattr(Window, "__init__", lambda window, fps: whole(window, 0))
    yield whole
