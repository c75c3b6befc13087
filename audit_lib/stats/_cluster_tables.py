"""Tables whose people share clusters: evidence of all pairs of categories, and its permutations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats.cluster_kinds import ClusterKinds
from audit_lib.stats.cluster_worth import spread_of_kinds
from audit_lib.stats.equal_rates import largest_of_pairs, signed_roots
from audit_lib.stats.normal_scale import on_normal_scale

Floats = NDArray[np.float64]

MOST_ROWS: Final = 2_000
"""Of a table whose rows are permuted one by one; with more of them the normal law is near enough."""
_BLOCK: Final = 1 << 16
"""Clusters whose counts are numbers of 64 bits at a time."""
_CHUNK: Final = 1_000_000
"""Rows of permuted tables at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOfPairs:
    """What evidence of pairs of categories is worth, by what the clusters of the two are worth.

    Parameters
    ----------
    df : ndarray of float, shape (k, k)
        Degrees of freedom of each pair; may be infinite.
    told : ndarray of float, shape (k, k)
        By what its evidence is multiplied: 0 where the clusters are worth too few to be evidence of anything.
    """

    df: Floats
    told: Floats

    @classmethod
    def of(cls, categories: Sequence[ClusterKinds]) -> ScaleOfPairs:
        """Measure the clusters of each category."""
        df, told = np.full(len(categories), np.inf), np.ones(len(categories))
        for j, kinds in enumerate(categories):
            n, x, units = kinds.all_people, kinds.all_selected, kinds.occupied
            if 0 < x < n and units > 1:
                plain = (
                    kinds.total(np.square((kinds.selected - x / n * kinds.people) / n)) * units / (units - 1)
                )
                try:
                    spread = spread_of_kinds(kinds)
                    df[j] = spread.df
                    told[j] = math.sqrt(plain / spread.variance) if spread.variance > 0.0 else 1.0
                except UndefinedMetricError:
                    told[j] = 0.0
        return cls(df=np.minimum(df[:, None], df[None, :]), told=np.minimum(told[:, None], told[None, :]))

    def normal(self, evidence: Floats) -> Floats:
        """Put evidence of the pairs, shape (k, k), on the normal scale by Student's law."""
        return on_normal_scale(evidence * self.told, self.df).clip(min=0.0)

    def normal_against(self, place: int, evidence: Floats) -> Floats:
        """Put each evidence, shape (n,), of a category against all others on it, shape (n, k - 1)."""
        others = np.arange(len(self.df)) != place
        own = evidence[:, None] * self.told[place, others]
        return on_normal_scale(own, np.broadcast_to(self.df[place, others], own.shape)).clip(min=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSums:
    """What evidence needs of the counts of one table, or of several with the same people: sums over clusters.

    Parameters
    ----------
    n, units : ndarray of shape (k,)
        People of each category, and the clusters that hold any.
    x : ndarray of shape (tables, k)
        Selected.
    people : ndarray of shape (k, k)
        Products of people of two categories.
    mixed, both : ndarray of shape (tables, k, k)
        People of the row's category times selected of the column's; products of selected.
    """

    n: Floats
    units: Floats
    people: Floats
    x: Floats
    mixed: Floats
    both: Floats

    @classmethod
    def of(cls, selected: Floats, people: Floats) -> TableSums:
        """Add up counts: selected of (table, category, cluster), people of (category, cluster)."""
        turned = selected.transpose(0, 2, 1)
        return cls(
            n=people.sum(axis=1),
            units=np.count_nonzero(people, axis=1).astype(np.float64),
            people=people @ people.T,
            x=selected.sum(axis=2),
            mixed=people @ turned,  # whole numbers: exact in any order of addition
            both=selected @ turned,
        )

    @classmethod
    def of_counts(cls, selected: NDArray[Any], people: NDArray[Any]) -> TableSums:
        """Add up one table, of category by cluster, some clusters at a time: sums of whole numbers are exact."""
        parts = [
            cls.of(
                selected[None, :, start : start + _BLOCK].astype(np.float64),
                people[:, start : start + _BLOCK].astype(np.float64),
            )
            for start in range(0, max(people.shape[1], 1), _BLOCK)
        ]
        names = ("n", "units", "people", "x", "mixed", "both")
        return cls(**{name: sum(getattr(part, name) for part in parts) for name in names})

    def take(self, places: Sequence[int]) -> TableSums:
        """Return some of the categories."""
        to = list(places)
        return TableSums(
            n=self.n[to],
            units=self.units[to],
            people=self.people[np.ix_(to, to)],
            x=self.x[:, to],
            mixed=self.mixed[:, to][:, :, to],
            both=self.both[:, to][:, :, to],
        )

    def evidence(self) -> Floats:
        """Row by column, positive where the row's rate is below: signed roots over the roots of design effects."""
        rate, variance, independent = self._spread()
        relative = variance / (rate[:, :, None] * rate[:, None, :])
        own = np.einsum("dii->di", relative)
        of_logs = own[:, :, None] + own[:, None, :] - 2.0 * relative
        effect = np.maximum(of_logs / (independent[:, :, None] + independent[:, None, :]), 1e-9)
        roots = signed_roots(self.x.astype(np.int64), self.n.astype(np.int64))
        return np.asarray(roots / np.sqrt(effect), dtype=np.float64)

    def logs(self) -> Floats:
        """Covariance of the log rates of the first table."""
        rate, variance, _ = self._spread()
        return np.asarray((variance / (rate[:, :, None] * rate[:, None, :]))[0], dtype=np.float64)

    def _spread(self) -> tuple[Floats, Floats, Floats]:
        """Rates, their covariance by clusters, and the variance of each log rate of independent people.

        As `ClusteredRates`: where everybody or nobody is selected, its clusters count as one person each.
        """
        n, units, x = self.n, self.units, self.x
        flat = (x == 0) | (x == n) | (units == 1)
        rate = np.where(flat, (x + 0.5) / (n + 1), x / n)
        p = x / n
        one = p[:, :, None] * self.mixed
        sums = self.both - one - one.transpose(0, 2, 1) + p[:, :, None] * p[:, None, :] * self.people
        root = np.sqrt(units / np.maximum(units - 1, 1)) / n
        covariance = sums * root[:, None] * root[None, :]
        covariance[flat[:, :, None] | flat[:, None, :]] = 0.0
        places = np.arange(n.size)
        covariance[:, places, places] += np.where(flat, rate * (1 - rate) / units, 0.0)
        return rate, covariance, (1 - rate) / (n * rate)


def permuted_largest(selected: Floats, people: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the largest evidence of any pair in each of some permutations, sorted."""
    sizes, won = people.sum(axis=0).astype(np.int64), selected.sum(axis=0).astype(np.int64)
    # In an order of the clusters' own contents: no draw depends on the order of the rows.
    order = np.lexsort((*selected, *people, sizes))[int((sizes == 0).sum()) :]
    people, sizes, won = people[:, order], sizes[order], won[order]
    step = max(int(_CHUNK // sizes.sum()), 1)
    found = [
        largest_of_pairs(
            TableSums.of(_moved(people, sizes, won, min(step, draws - start), rng), people).evidence()
        )
        for start in range(0, draws, step)
    ]
    return np.sort(np.concatenate(found))


def _moved(
    people: Floats, sizes: NDArray[np.int64], won: NDArray[np.int64], draws: int, rng: np.random.Generator
) -> Floats:
    """Draw who is selected: places move between clusters of one size, and then among the rows of each."""
    k, clusters = people.shape
    counts = np.zeros((k, clusters, draws))  # a cell is a row of draws: they are added to together
    for size in np.unique(sizes).tolist():
        where = np.flatnonzero(sizes == size)
        categories = np.tile(np.arange(k), where.size)
        categories = np.repeat(categories, people[:, where].T.astype(np.int64).ravel()).reshape(-1, size)
        places = np.broadcast_to(won[where, None], (where.size, draws))
        places = rng.permuted(places, axis=0) if np.ptp(won[where]) else places.copy()
        for row in range(size):  # each row takes one of the places left, or one of the others
            taken = rng.random(places.shape) * (size - row) < places
            counts[categories[:, row], where] += taken
            places -= taken
    return np.ascontiguousarray(counts.transpose(2, 0, 1))


def tail_of_pairs(k: int, evidence: float) -> float:
    """Twice the tail of the normal law, times the number of pairs of k categories: what needs no draws."""
    return min(float(ndtr(-evidence)) * k * (k - 1), 1.0)
