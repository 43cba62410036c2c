"""A window in which a game is watched. It needs pygame-ce, which the extra ``window`` installs, and a display."""

from __future__ import annotations

import os
from typing import Any

from dominoes_env.render.pixels import HEIGHT, WIDTH, require_pillow, view_pixels
from dominoes_env.render.view import View

__all__ = ["Window", "require_window"]


def require_window() -> None:
    """Nothing if all is installed that a window needs.

    Raises:
        ModuleNotFoundError: naming the extra that brings it.
    """
    require_pillow()
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame  # noqa: F401
    except ImportError as error:
        message = "a window needs pygame-ce, the extra `window`: pip install 'dominoes_env[window]'; or choose 'ansi'"
        raise ModuleNotFoundError(message) from error


class Window:
    """One window, opened by the first :meth:`show`; its size can be changed, and it can be closed at any time.

    Closed by its user it stays so, and the game goes on unseen, until :meth:`close` was called. A copy is another
    window, not yet open. A process has one at a time: the next takes its place.

    Args:
        fps: views a second, at most: :meth:`show` waits as long as that takes. 0: it does not wait.
    """

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self.is_dismissed = False
        """Whether its user has closed it."""
        self._view: View | None = None
        self._next = 0

    def show(self, view: View) -> None:
        """Show a view.

        Raises:
            ModuleNotFoundError: without pygame-ce or Pillow.
            RuntimeError: without a display.
        """
        if self.is_dismissed:
            return
        require_window()
        import pygame

        if self._view is None or pygame.display.get_surface() is None:
            try:
                pygame.display.init()
                pygame.display.set_mode((WIDTH, HEIGHT), pygame.RESIZABLE)
            except pygame.error as error:
                message = f"a window cannot be opened ({error}); without a display there are 'ansi' and 'rgb_array'"
                raise RuntimeError(message) from error
            pygame.display.set_caption("Dominoes")
        self._view = view
        self._paint()
        self._wait()

    def close(self) -> None:
        """Close it; the next :meth:`show` opens it again. May be called at any time, and twice."""
        if self._view is not None:
            import pygame

            pygame.display.quit()
        self.is_dismissed = False
        self._view = None

    def _paint(self) -> None:
        import pygame

        surface = pygame.display.get_surface()
        if surface is not None and self._view is not None:
            width, height = surface.get_size()
            painted = view_pixels(self._view, width=width, height=height)
            surface.blit(pygame.image.frombuffer(painted.tobytes(), (width, height), "RGB"), (0, 0))
            pygame.display.flip()

    def _wait(self) -> None:
        """Answer what the user does, at least once, until the next view may come."""
        import pygame

        while True:
            for event in pygame.event.get():
                is_key = event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE
                if event.type == pygame.QUIT or is_key:
                    self.close()
                    self.is_dismissed = True
                    return
                if event.type in (pygame.VIDEORESIZE, pygame.VIDEOEXPOSE):
                    self._paint()
            left = self._next - pygame.time.get_ticks()
            if left <= 0 or not self.fps:
                break
            pygame.time.wait(min(left, 20))
        self._next = pygame.time.get_ticks() + round(1000 / self.fps) if self.fps else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Window, (self.fps,)
