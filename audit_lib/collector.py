"""Python's search for garbage in cycles, put off while a large document is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SELDOM: Final = 1_000_000
"""New objects after which cycles are looked for, 700 otherwise; what is in no cycle is let go of at once anyway."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for cycles seldom: each search goes through all that was made, and a document of a stage holds no cycle.

    Examples
    --------
    >>> before = gc.get_threshold()
    >>> with seldom_collected():
    ...     gc.get_threshold()[0]
    1000000
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _SELDOM) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
