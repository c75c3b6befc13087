"""Exact counts of who scores higher, over all pairs with a reference, without making the pairs.

A key's place among the reference's distinct scores is first guessed by interpolation into a table, the few that
turn out too low are moved up by one, and searched for where one step was not enough. That is the sorted search's
answer at a fraction of its time, and neither the groups nor the keys are sorted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError

_BLOCK = 1 << 14  # keys at a time, so that intermediate arrays stay in the processor's cache
_BUCKETS = 8  # table entries for each distinct score: the guess is then nearly always right


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
        pairs = self.pairs
        if pairs == 0:
            raise UndefinedMetricError("no pair to compare")
        return (self.wins - self.losses) / pairs

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
        new = np.ones(ordered.size, np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        first = new.nonzero()[0]
        self._size = ordered.size
        self._distinct = ordered[first]
        # Members below each distinct score, then all: times more than a block has keys, and 1 for the key itself. One
        # sum then counts both, as floats, which is what bincount sums, exact below 2**53.
        self._block = min(_BLOCK, 1 << int((51 - math.log2(ordered.size)) / 2))
        self._unit = 2 * self._block
        self._below = np.full(first.size + 1, ordered.size, np.float64)
        self._below[:-1] = first
        self._below *= self._unit
        self._below += 1.0
        self._low = float(ordered[0])
        span = float(ordered[-1]) - self._low
        # A table needs a finite, positive width; infinite or constant scores are searched plainly.
        self._scale = (_BUCKETS * first.size - 1) / span if 0 < span < math.inf else 0.0
        self._has_table = 0 < self._scale < math.inf
        if self._has_table:
            # Distinct scores in lower buckets, for each bucket up to that of the highest score.
            lower = np.bincount(self._bucket(self._distinct)[0] + 1)[:-1]
            self._start = np.cumsum(lower, out=lower)

    def count(
        self, keys: NDArray[Any], codes: NDArray[np.int64], n_groups: int, own: int | None = None
    ) -> list[RankCounts]:
        """Return the counts of each group 0..n_groups - 1; a key with code -1 belongs to none.

        `own` is the code of the reference itself, where it is among the keys: its ties are left out.
        """
        totals = np.zeros((3, n_groups + 1), np.int64)
        shift = int(codes.size > 0 and codes.min() < 0)  # bincount takes no negative number
        for at in range(0, keys.size, self._block):
            block, group = keys[at : at + self._block], codes[at : at + self._block]
            if shift:
                group = group + 1
            place, same, memory = self._places(block)
            below = self._below.take(place, out=memory, mode="clip")
            totals[:2] += np.divmod(np.bincount(group, below, n_groups + 1).astype(np.int64), self._unit)
            if own is not None:
                same &= group != own + shift
            tied = same.nonzero()[0]
            if tied.size:
                equal = self._below.take(place[tied] + 1) - below[tied]
                totals[2] += np.bincount(group[tied], equal, n_groups + 1).astype(np.int64) // self._unit
        totals = totals[:, shift : shift + n_groups]
        return [
            RankCounts(wins=wins, ties=ties, losses=members * self._size - wins - ties)
            for wins, members, ties in totals.T.tolist()
        ]

    def _bucket(self, scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Bucket of each score, never decreasing among those of the reference; and memory to use again.

        Of a score far outside it is any number.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            position = np.subtract(scores, self._low, dtype=np.float64)
            position *= self._scale
            return position.astype(np.int64), position

    def _places(
        self, keys: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64] | None]:
        """Number of distinct reference scores strictly below each key, and whether the next equals it."""
        if not self._has_table:
            return *self._search(keys), None
        bucket, memory = self._bucket(keys)
        place = self._start.take(bucket, mode="clip")
        # Fresh memory costs a small call more than its sums: scores are looked up in what is at hand.
        found = memory if self._distinct.dtype == np.float64 else np.empty(keys.size, self._distinct.dtype)
        guess = self._distinct.take(place, out=found, mode="clip")
        same = guess == keys
        low = (guess < keys).nonzero()[0]
        if low.size:
            place[low] += 1
            own = keys[low]
            guess = self._distinct.take(place[low], mode="clip")
            same[low] = guess == own
            behind = low[(guess < own) & (place[low] < self._distinct.size)]
            if behind.size:
                place[behind], same[behind] = self._search(keys[behind])
        return place, same, memory

    def _search(self, keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        place = np.searchsorted(self._distinct, keys)
        return place, np.asarray(self._distinct.take(place, mode="clip") == keys)
