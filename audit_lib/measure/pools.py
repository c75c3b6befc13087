"""Where each candidate stands among those of its round who have a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.selection import pool_standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """Standing of each row in its round; all zero for a row without a score or without a round.

    Parameters
    ----------
    above : ndarray of int32
        Candidates of the round with a strictly higher score.
    tied : ndarray of int32
        Candidates of the round with the same score, the row itself included.
    size : ndarray of int32
        Candidates of the round with a score.
    """

    above: NDArray[np.int32]
    tied: NDArray[np.int32]
    size: NDArray[np.int32]

    @classmethod
    def of(cls, score: NDArray[np.float64], rounds: NDArray[Any]) -> Pools:
        """Compare the scores of each round.

        Parameters
        ----------
        score : ndarray of float, shape (n,)
            NaN for none.
        rounds : ndarray of int, shape (n,)
            Code of each row's round, -1 for none.

        Examples
        --------
        >>> pools = Pools.of(np.array([0.2, 0.9, np.nan, 0.2]), np.array([0, 0, 0, 0]))
        >>> pools.above.tolist(), pools.tied.tolist(), pools.size.tolist()
        ([1, 0, 0, 1], [2, 1, 0, 2], [3, 3, 0, 3])
        """
        above, tied, size = (np.zeros(score.size, dtype=np.int32) for _ in range(3))
        rows = np.flatnonzero(~np.isnan(score) & (rounds >= 0))
        if rows.size:
            # Round by round, so that rounds of one size are a table.
            rows = rows[np.argsort(rounds[rows], kind="stable")]
            own = rounds[rows]
            above[rows], tied[rows] = pool_standing(score[rows], own)
            size[rows] = np.bincount(own)[own]
        return cls(above=above, tied=tied, size=size)

    def shares(self, k: int) -> NDArray[np.float64]:
        """Return each row's share of the k places of its round, ties split; NaN where fewer than k compete."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.clip((k - self.above) / self.tied, 0.0, 1.0)
        shares[self.size < k] = np.nan
        return shares

    def take(self, index: NDArray[Any]) -> Pools:
        """Return the standing of some of the rows."""
        return Pools(above=self.above[index], tied=self.tied[index], size=self.size[index])
