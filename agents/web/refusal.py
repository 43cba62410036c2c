"""What a request that is not carried out is told."""

from __future__ import annotations

__all__ = ["Refusal"]


class Refusal(Exception):
    """A request is refused and has changed nothing.

    Args:
        status: of HTTP, 4xx.
        message: why, for the person.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
