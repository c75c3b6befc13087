"""Counts times their logarithms, of which likelihoods of tables are made: looked up where counts are small."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]
TimesLog = Callable[[NDArray[np.int64]], Floats]
"""Counts c -> c log c."""

_LOOKED_UP: Final = 100_000
"""The largest count whose product with its logarithm is kept."""


def times_log_of(n: NDArray[np.int64]) -> TimesLog:
    """Return c -> c log c for counts of the categories, and of two together: looked up where counts are small."""
    most = int(n.max(initial=0)) * 2
    if most > _LOOKED_UP:
        return _times_log
    known = _small_times_log()
    return lambda counts: known[counts]


@lru_cache(maxsize=1)
def _small_times_log() -> Floats:
    return _times_log(np.arange(_LOOKED_UP + 1))


def _times_log(counts: ArrayLike) -> Floats:
    values = np.asarray(counts, dtype=np.float64)
    return np.asarray(xlogy(values, values))


def together(both: NDArray[np.int64], totals: NDArray[np.int64], times_log: TimesLog) -> Floats:
    """Return c log c + (n - c) log (n - c) - n log n of some rows of counts c, of n each."""
    most = int(totals.max()) + 1
    if most * totals.size > both.size:  # more counts are possible than there are
        return times_log(both) + times_log(totals[:, None] - both) - times_log(totals[:, None])
    counts = np.minimum(np.arange(most), totals[:, None])
    known = times_log(counts) + times_log(totals[:, None] - counts) - times_log(totals[:, None])
    both += np.arange(totals.size)[:, None] * most
    return known.take(both)
