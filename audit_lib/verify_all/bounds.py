"""What a verification of a whole store may cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

INTERVAL: Final = timedelta(days=30)
"""Every run is verified in full at least once in it, whatever its digests say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBounds:
    """What it may cost.

    Parameters
    ----------
    run_seconds : float
        The verification of one run is stopped after it.
    run_bytes : int
        Memory that the process of one verification may take.
    seconds : float or None
        No verification in full is begun after it; the rest is put off, and named. None: no bound.
    bytes : int or None
        No verification in full is begun that would have read more than this in all.
    processes : int
        That work at once.
    """

    run_seconds: float = 900.0
    run_bytes: int = 4 << 30
    seconds: float | None = None
    bytes: int | None = None
    processes: int = 1
