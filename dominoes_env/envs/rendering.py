"""How an environment shows its game: in which mode, and through whose eyes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dominoes_env.engine.rules import Rules
from dominoes_env.render.pixels import require_pillow, view_pixels
from dominoes_env.render.text import has_colour, view_text
from dominoes_env.render.view import make_view
from dominoes_env.render.window import Window, require_window

__all__ = ["METADATA", "RenderMode", "RenderViewer", "Rendered", "Rendering"]

RenderMode: TypeAlias = Literal["human", "ansi", "rgb_array"]
"""``"human"``: a window, which follows each reset and step; ``"ansi"``: ``render()`` returns text, in colour if the
standard output is a terminal; ``"rgb_array"``: uint8 (800, 960, 3)."""
RenderViewer: TypeAlias = Literal["all", "player"] | int
"""Who looks: ``"all"``: every hand and the boneyard are shown; ``"player"``: what the seat that is on turn may see; a
seat: what that seat may see."""
#: What ``render()`` gives; None from a window, or without a mode.
Rendered: TypeAlias = str | NDArray[np.uint8] | None

METADATA: dict[str, Any] = {"name": "dominoes_v0", "render_modes": list(get_args(RenderMode)), "render_fps": 2}


class Rendering:
    """A render mode and a viewer, checked.

    Raises:
        ValueError: for one that is not allowed.
        ModuleNotFoundError: if what the mode needs is not installed, naming the extra.
    """

    def __init__(
        self,
        rules: Rules,
        mode: RenderMode | None,
        viewer: RenderViewer,
        modes: Sequence[str] = METADATA["render_modes"],
    ) -> None:
        if mode is not None and mode not in modes:
            raise ValueError(f"render_mode={mode!r} is not allowed; allowed: None, {', '.join(modes)}")
        seats = range(rules.num_players)
        if isinstance(viewer, bool) or viewer not in ("all", "player", *seats):
            allowed = f"all, player, or a seat from 0 to {seats[-1]}"
            raise ValueError(f"render_viewer={viewer!r} is not allowed; allowed: {allowed}")
        if mode == "rgb_array":
            require_pillow()
        if mode == "human":
            require_window()
        self.rules = rules
        self.mode = mode
        self.modes = modes
        self.viewer = viewer
        self._window = Window(METADATA["render_fps"])

    def render(self, state: NDArray[Any], history: Sequence[int], player: int, is_lost: bool) -> Rendered:
        """The table in the mode that was chosen; None, and a warning, if none was, and None from the window.

        Args:
            state: the record, shape (1,).
            history: the actions of the round, in order.
            player: the seat on turn, or the one whose illegal action ended the episode.
            is_lost: whether one did.
        """
        if self.mode is None:
            self.warn()
            return None
        viewer = None if self.viewer == "all" else player if self.viewer == "player" else int(self.viewer)
        if self.mode == "ansi":
            colour = has_colour(sys.stdout)
            return told(self.rules, state, history, viewer, player, is_lost=is_lost, colour=colour)
        view = make_view(self.rules, state, history, viewer, is_lost=is_lost)
        if self.mode == "rgb_array":
            return view_pixels(view)
        self._window.show(view)
        return None

    def warn(self) -> None:
        """Say that nothing is rendered without a mode."""
        gymnasium.logger.warn(
            f"render() does nothing without a render_mode; give one when making the env: {', '.join(self.modes)}"
        )

    def close(self) -> None:
        """Close the window, if one is open."""
        self._window.close()


def told(
    rules: Rules,
    state: NDArray[Any],
    history: Sequence[int],
    viewer: int | None,
    player: int,
    *,
    is_lost: bool,
    colour: bool = False,
) -> str:
    """The table as text; if the episode was lost it says by whom."""
    text = view_text(rules, state, history, viewer=viewer, is_lost=is_lost, colour=colour)
    return text + f"\nthe episode is over: player_{player} lost it by an illegal action" if is_lost else text
