"""Where each candidate stands among those of its round who have a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.rows.constant import constant, taken
from audit_lib.metrics.selection import fractional_shares
from audit_lib.metrics.standing import pool_standing

_SMALL: Final = 180
"""Candidates of a round below which products fit into two bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """Standing of each row in its round; all zero for a row without a score or without a round.

    Parameters
    ----------
    above : ndarray of int
        Candidates of the round with a strictly higher score.
    tied : ndarray of int
        Candidates of the round with the same score, the row itself included.
    size : ndarray of int
        Candidates of the round with a score, or whose first place alone is known.
    places : ndarray of int
        How many of the round's places are known, from the first on: all that have a score, or 1.
    """

    above: NDArray[np.signedinteger[Any]]
    tied: NDArray[np.signedinteger[Any]]
    size: NDArray[np.signedinteger[Any]]
    places: NDArray[np.signedinteger[Any]]

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
        rows = np.flatnonzero(~np.isnan(score) & (rounds >= 0))
        if not rows.size:
            none = constant(0, score.size, np.int16)
            return cls(above=none, tied=none, size=none, places=none)
        above, tied, size = (np.zeros(score.size, dtype=np.int32) for _ in range(3))
        # Round by round, so that rounds of one size are a table.
        rows = rows[np.argsort(rounds[rows], kind="stable")]
        own = rounds[rows]
        above[rows], tied[rows] = pool_standing(score[rows], own)
        size[rows] = np.bincount(own)[own]
        # Room for sums and products of two of them; an audit's rounds are small.
        kind: type[np.signedinteger[Any]] = np.int16 if size.max(initial=0) < _SMALL else np.int32
        packed: list[NDArray[np.signedinteger[Any]]] = [
            part.astype(kind, copy=False) for part in (above, tied, size)
        ]
        return cls(above=packed[0], tied=packed[1], size=packed[2], places=packed[2])

    def with_firsts(self, first: NDArray[Any], rounds: NDArray[Any]) -> Pools:
        """Add the rounds of which the first place alone is known.

        Parameters
        ----------
        first : ndarray of int, shape (n,)
            1 for who is first, 0 for the others of the round, -1 where this is not known.
        rounds : ndarray of int, shape (n,)
            Code of each row's round, -1 for none.

        Examples
        --------
        >>> score, rounds = np.full(3, np.nan), np.zeros(3, int)
        >>> pools = Pools.of(score, rounds).with_firsts(np.array([0, 1, 0]), rounds)
        >>> pools.shares(1).tolist(), pools.shares(2).tolist()
        ([0.0, 1.0, 0.0], [nan, nan, nan])
        """
        rows = np.flatnonzero((first >= 0) & (rounds >= 0) & (self.size == 0))
        if not rows.size:
            return self
        above, tied, size, places = (a.copy() for a in (self.above, self.tied, self.size, self.places))
        own = rounds[rows]
        above[rows] = 1 - first[rows]
        size[rows] = np.bincount(own)[own]
        tied[rows] = np.where(first[rows] == 1, 1, size[rows] - 1)
        places[rows] = 1
        return Pools(above=above, tied=tied, size=size, places=places)

    def shares(self, k: int) -> NDArray[np.float64]:
        """Return each row's share of the k places of its round, ties split; NaN where fewer than k are known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = fractional_shares(self.above, self.tied, k)
        shares[self.places < k] = np.nan
        return shares

    def take(self, index: NDArray[Any]) -> Pools:
        """Return the standing of some of the rows."""
        size = taken(self.size, index)
        places = size if self.places is self.size else taken(self.places, index)
        return Pools(above=taken(self.above, index), tied=taken(self.tied, index), size=size, places=places)
