"""How far something is: told often enough to see that it goes on, and seldom enough for a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_EVERY_S: Final = 5.0


def ignore(message: str) -> None:
    """Tell nobody."""


class Progress:
    """Tells how many of how many are done, every few seconds, and at the end if it told before.

    Parameters
    ----------
    what : str
        What is done, such as ``verify: files hashed``.
    total : int
        How many there are.
    notify : callable
        Whom to tell.
    """

    def __init__(self, what: str, total: int, notify: Callable[[str], None]) -> None:
        self._what, self._total, self._notify = what, total, notify
        self._done, self._said = 0, 0
        self._told = time.monotonic()

    def one_more(self, count: int = 1) -> None:
        """Count what is done now."""
        self._done += count
        now = time.monotonic()
        last = self._done >= self._total
        if now - self._told >= _EVERY_S or (last and self._said and self._said < self._done):
            self._told, self._said = now, self._done
            self._notify(f"{self._what}: {self._done} of {self._total}")
