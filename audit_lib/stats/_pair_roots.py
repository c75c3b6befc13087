"""Roots of the likelihood ratios of pairs of categories, of many tables at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]

_LOOKED_UP: Final = 100_000
"""The largest count whose product with its logarithm is kept."""


def halves(x: NDArray[np.int64], n: NDArray[np.int64]) -> Floats:
    """Return the signed roots of the pairs (i, j), i < j, of several tables: shape (tables, pairs)."""
    i, j = np.triu_indices(n.size, 1)
    found = np.concatenate([np.zeros((0, len(x))), *_of_first(x.T, n)])
    found *= 2.0
    roots = np.sqrt(np.maximum(found, 0.0, out=found), out=found)
    return np.asarray(np.sign(x[:, j] * n[i] - x[:, i] * n[j]) * roots.T)


def largest_roots(x: NDArray[np.int64], n: NDArray[np.int64]) -> Floats:
    """Return the largest root of each table: of each pair one of the two is positive, or the rates are equal."""
    own = np.ascontiguousarray(x.T)
    found = np.zeros(len(x))
    for rows in _of_first(own, n):
        np.maximum(found, rows.max(axis=0), out=found)
    # Of equal rates, which tell nothing, rounding leaves less than this; where there is more, another pair has made it.
    noise = 1e-12 * (1.0 + float(_times_log(2 * n.max(initial=0))))
    few = np.flatnonzero(found <= noise)
    found *= 2.0
    np.sqrt(found, out=found)
    found[few] = np.abs(halves(x[few], n)).max(axis=1, initial=0.0)
    return found


def _of_first(x: NDArray[np.int64], n: NDArray[np.int64]) -> Iterator[Floats]:
    """Yield, for each category, half the likelihood ratio of it and each later one: (later category, table)."""
    times_log = _times_log_of(n)
    own = times_log(x) + times_log(n[:, None] - x) - times_log(n)[:, None]
    for i in range(n.size - 1):
        together = n[i] + n[i + 1 :]
        found = own[i + 1 :] + own[i]
        found -= _of_both(x[i + 1 :] + x[i], together, times_log)
        yield found


def _of_both(
    both: NDArray[np.int64], together: NDArray[np.int64], times_log: Callable[[NDArray[np.int64]], Floats]
) -> Floats:
    """Return the log likelihood of each count, of so many people a row: looked up where rows are longer than that."""
    sizes = together + 1
    if sizes.sum() > both.size:
        rest = times_log(both)
        rest += times_log(together[:, None] - both)
        rest -= times_log(together)[:, None]
        return rest
    starts = np.cumsum(sizes) - sizes
    count = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
    of_all = np.repeat(together, sizes)
    known = times_log(count) + times_log(of_all - count) - times_log(of_all)
    both += starts[:, None]
    return known.take(both)


def _times_log_of(n: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], Floats]:
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
