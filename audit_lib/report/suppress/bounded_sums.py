"""The lines of a linear program: sums of whole numbers that lie between two bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Terms = list[tuple[int, int]]
"""Variable and coefficient."""
BoundedSum = tuple[Terms, float, float]
"""What is added up, the least and the most it is."""


@dataclass(frozen=True, slots=True)
class BoundedSums:
    """Many sums: a row of `entries` is sum, variable and coefficient."""

    entries: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, sums: Sequence[BoundedSum]) -> BoundedSums:
        """Return sums, without those of nothing."""
        some = [one for one in sums if one[0]]
        low, high = (np.array([one[end] for one in some], dtype=np.float64) for end in (1, 2))
        return cls(_entries(one[0] for one in some), low, high)

    @classmethod
    def joined(cls, several: Sequence[BoundedSums]) -> BoundedSums:
        """Return the sums of all."""
        firsts = np.cumsum([0, *(len(one.low) for one in several)])
        entries = np.concatenate([one.entries for one in several])
        entries[:, 0] += np.repeat(firsts[:-1], [len(one.entries) for one in several])
        low, high = (np.concatenate([getattr(one, end) for one in several]) for end in ("low", "high"))
        return cls(entries, low, high)

    def matrix(self, size: int) -> Any:
        """Return the coefficients as a sparse matrix of so many variables."""
        return _matrix(self.entries, len(self.low), size)


def matrix_of(sums: Sequence[Terms], size: int) -> Any:
    """Return sums as a sparse matrix of so many variables."""
    return _matrix(_entries(sums), len(sums), size)


def _entries(sums: Iterable[Terms]) -> NDArray[np.int64]:
    found = [(row, v, c) for row, terms in enumerate(sums) for v, c in terms]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _matrix(entries: NDArray[np.int64], rows: int, size: int) -> Any:
    from scipy.sparse import csr_array

    row, column, value = entries.T
    found = csr_array((value, (row, column)), shape=(rows, size), dtype=np.int64)
    found.eliminate_zeros()
    return found
