"""A page on which a person plays a :class:`~agents.session.Session`: ``dominoes web``. It needs the extra ``web``.

The browser is told what the person may know and nothing else: no hidden tile, and no seed, since that gives the deal
away, before the game is over. State stays here, in a file a game. The page is for the machine that it runs on.
"""

from __future__ import annotations

__all__: list[str] = []
