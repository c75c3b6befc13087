"""Exact counts of who scores higher, over all pairs with a reference, without making the pairs.

A key's place among the reference's distinct scores is first guessed by interpolation into a table, then
made exact by one comparison, or by a search where a bucket of the table holds several scores. That is
the sorted search's answer at a fraction of its time, and neither the groups nor the keys are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError

_BLOCK = 1 << 14  # keys at a time, so that intermediate arrays stay in the processor's cache
_BUCKETS = 8  # table entries for each distinct score: few buckets then hold more than one


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCounts:
    """Pairs (one of the group, one of the reference) by who scores higher: exact integers.

    Counts of disjoint sets of pairs add up.
    """

    wins: int
    losses: int
    ties: int

    @property
    def pairs(self) -> int:
        """All pairs: size of the group times size of the reference."""
        return self.wins + self.losses + self.ties

    @property
    def index(self) -> float:
        """RABBI, ``(wins - losses) / pairs``, in [-1, 1]."""
        if self.pairs == 0:
            raise UndefinedMetricError("no pair to compare")
        return (self.wins - self.losses) / self.pairs

    @property
    def auc(self) -> float:
        """Probability that the group's score is the higher one, a tie counting one half."""
        if self.pairs == 0:
            raise UndefinedMetricError("no pair to compare")
        return (2 * self.wins + self.ties) / (2 * self.pairs)

    def __add__(self, other: RankCounts) -> RankCounts:
        return RankCounts(
            wins=self.wins + other.wins, losses=self.losses + other.losses, ties=self.ties + other.ties
        )


class PairCounter:
    """Counts wins, losses and ties of any number of groups against one reference.

    Parameters
    ----------
    reference : ndarray, shape (m,)
        Scores of the reference, without NaN.

    Examples
    --------
    >>> scores, codes = np.array([3, 1, 2]), np.array([0, 0, 1])
    >>> PairCounter(np.array([1, 2])).count(scores, codes, 2)[1]
    RankCounts(wins=1, losses=0, ties=1)
    """

    def __init__(self, reference: NDArray[Any]) -> None:
        ordered = np.sort(reference)
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self._size = ordered.size
        self._distinct = ordered[first]
        # Members below each distinct score, then all; as floats, which is what bincount sums.
        self._below = np.append(first, ordered.size).astype(np.float64)
        self._low = float(ordered[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            span = np.subtract(ordered[-1], self._low, dtype=np.float64)
            self._scale = float((_BUCKETS * first.size - 1) / span)
        # A table needs a finite, positive width; infinite or constant scores are searched plainly.
        self._has_table = bool(np.isfinite(self._scale) and self._scale > 0)
        if self._has_table:
            held = np.bincount(self._bucket(self._distinct), minlength=_BUCKETS * first.size + 1)
            # At most the last one: the comparison that follows adds one to it.
            self._start = np.minimum(np.cumsum(held) - held, first.size - 1)
            self._crowded = held > 1

    def count(self, keys: NDArray[Any], codes: NDArray[np.int64], n_groups: int) -> list[RankCounts]:
        """Return the counts of each group 0..n_groups - 1; a key with code -1 belongs to none."""
        totals = np.zeros((3, n_groups), np.int64)
        for at in range(0, keys.size, _BLOCK):
            block, group = keys[at : at + _BLOCK], codes[at : at + _BLOCK] + 1
            place, same = self._places(block)
            below = self._below[place]
            tied = np.flatnonzero(same)
            equal = self._below[place[tied] + 1] - below[tied]
            # Float sums of a block's integers are exact: far below 2**53.
            for total, rows, weights in ((0, group, below), (1, group[tied], equal), (2, group, None)):
                totals[total] += np.bincount(rows, weights, n_groups + 1)[1:].astype(np.int64)
        return [
            RankCounts(wins=wins, ties=ties, losses=members * self._size - wins - ties)
            for wins, ties, members in totals.T.tolist()
        ]

    def _bucket(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Bucket of each score; never decreasing in the score, whatever the rounding."""
        with np.errstate(over="ignore"):
            position = np.subtract(scores, self._low, dtype=np.float64)
            position *= self._scale
        np.clip(position, -1.0, _BUCKETS * self._distinct.size - 1.0, out=position)
        position += 1.0  # bucket 0 is for scores below all
        return np.asarray(position.astype(np.int64))

    def _places(self, keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Number of distinct reference scores strictly below each key, and whether the next equals it."""
        if not self._has_table:
            return self._search(keys)
        bucket = self._bucket(keys)
        place = self._start[bucket]
        guess = self._distinct.take(place, mode="clip")
        place += guess < keys
        same = guess == keys
        several = np.flatnonzero(self._crowded[bucket])
        if several.size:
            place[several], same[several] = self._search(keys[several])
        return place, same

    def _search(self, keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        place = np.searchsorted(self._distinct, keys)
        return place, np.asarray(self._distinct.take(place, mode="clip") == keys)
