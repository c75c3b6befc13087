"""Could all rates be equal, where people share rounds or applications? As `equal_rates`, by clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats.cluster_worth import cluster_spread, on_normal_scale
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.equal_rates import (
    PERMUTATIONS,
    EqualRates,
    largest_of_pairs,
    require_some,
    signed_roots,
    step_down,
    told_by_draws,
)
from audit_lib.stats.simultaneous import largest_differences

__all__ = ["clustered_equal_rates"]

Floats = NDArray[np.float64]

DRAWS: Final = 19_999
_MOST_ROWS: Final = 2_000
"""Of a table whose rows are permuted one by one; with more of them the normal law is near enough."""
_CHUNK: Final = 1_000_000
"""Rows of permuted tables at a time."""


def clustered_equal_rates(
    rates: ClusteredRates, *, permutations: int = PERMUTATIONS, draws: int = DRAWS, seed: int = 0
) -> EqualRates:
    r"""Test that all rates are equal, and which are below the highest, where people share clusters.

    The evidence is that of :func:`audit_lib.stats.equal_rates`, each root divided by the root of the pair's design
    effect, as measured between clusters. Where all clusters have as many rows as each other, in 2,000 rows at most,
    its law is that of permutations: who was selected moves among the rows of a cluster, and with it among clusters,
    and design effects are measured again each time. Else it is that of normal errors with the estimated covariance of
    the log rates, on the scale that the clusters of each pair give: Student's law of as many as they are worth
    (`audit_lib.stats.cluster_worth`); evidence is less by what leaving each cluster out adds to a category's error.

    Parameters
    ----------
    rates : ClusteredRates
        The table.
    permutations, draws, seed : int
        Number of permutations, and of draws of normal errors; and the seed of both.

    Raises
    ------
    UndefinedMetricError
        If a category is empty or all in one cluster, there are fewer than two, or nobody or everybody was selected.

    References
    ----------
    Chung, E. & Romano, J. P. (2013). Exact and asymptotically robust permutation tests. Ann. Statist. 41, 484-507.

    Examples
    --------
    Twenty rounds of two, of whom one wins; fifteen times it is the same of the two.

    >>> won = np.array([1] * 15 + [0] * 5)
    >>> found = clustered_equal_rates(ClusteredRates.of(np.array([won, 1 - won]), np.ones((2, 20), int)))
    >>> 0.03 < found.p_value < 0.06, found.p_values[0]
    (True, 1.0)
    """
    if not all(rates.totals):
        raise UndefinedMetricError("a category has no people: it has no rate")
    require_some(rates.selected, rates.totals)
    for n, units in zip(rates.totals, rates.occurs.sum(axis=1).tolist(), strict=True):
        if units == 1 and n > 1:
            raise UndefinedMetricError(
                f"all {n} people of a category are in one cluster: no spread to estimate"
            )
    selected, people = rates.won, rates.people
    sizes = people.sum(axis=0)
    few, alike = int(sizes.sum()) <= _MOST_ROWS, bool(np.ptp(sizes) == 0)
    whole = _Table.of(selected[None], people)
    raw = whole.evidence()[0].clip(min=0.0)
    scaled = _on_normal_scale(raw, selected, people)

    def law(places: Sequence[int], own: Floats) -> Floats:
        part, found, to = whole.take(places), np.zeros(len(places)), np.ix_(places, places)
        bound = scaled[to].max(axis=1)
        if few:
            rng = np.random.Generator(np.random.PCG64(seed))
            largest = _permuted(selected[list(places)], people[list(places)], permutations, rng)
            found = told_by_draws(largest, raw[to].max(axis=1), lambda i: _by_pairs(len(places), bound[i]))
        if few and alike:
            return found
        largest = largest_differences(part.logs(), draws, seed)
        return np.maximum(found, told_by_draws(largest, own, lambda i: _by_pairs(len(places), own[i])))

    permuted = f"{permutations + 1:,} permutations of the people within clusters, and of clusters"
    normal = "normal errors by clusters"
    how = permuted if few and alike else f"{normal}, and {permuted}" if few else normal
    p_values, _ = step_down(raw if few and alike else scaled, law)
    statistics = raw.max(axis=1)
    return EqualRates(
        p_values=tuple(p_values.tolist()),
        statistics=tuple(statistics.tolist()),
        p_value=float(p_values.min()),
        statistic=float(statistics.max()),
        method=f"largest difference of all pairs, comparator picked by the data; {how}",
    )


def _on_normal_scale(evidence: Floats, selected: Floats, people: Floats) -> Floats:
    """Put evidence of pairs on the normal scale, by Student's law with what the clusters of the two are worth.

    Clusters that are worth too few are evidence of nothing.
    """
    df, told = np.full(len(people), np.inf), np.ones(len(people))
    for j, (won, there) in enumerate(zip(selected, people, strict=True)):
        n, x, units = there.sum(), won.sum(), int(np.count_nonzero(there))
        if 0 < x < n and units > 1:
            plain = math.fsum(np.square((won - x / n * there) / n)) * units / (units - 1)
            try:
                spread = cluster_spread(won, there)
                df[j] = spread.df
                told[j] = math.sqrt(plain / spread.variance) if spread.variance > 0.0 else 1.0
            except UndefinedMetricError:
                told[j] = 0.0
    fewest = np.minimum(df[:, None], df[None, :])
    own = evidence * np.minimum(told[:, None], told[None, :])
    return on_normal_scale(own, fewest).clip(min=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
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
    def of(cls, selected: Floats, people: Floats) -> _Table:
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

    def take(self, places: Sequence[int]) -> _Table:
        """Return some of the categories."""
        to = list(places)
        return _Table(
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


def _permuted(selected: Floats, people: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the largest evidence of any pair in each of some permutations, sorted."""
    sizes, won = people.sum(axis=0).astype(np.int64), selected.sum(axis=0).astype(np.int64)
    # In an order of the clusters' own contents: no draw depends on the order of the rows.
    order = np.lexsort((*selected, *people, sizes))[int((sizes == 0).sum()) :]
    people, sizes, won = people[:, order], sizes[order], won[order]
    step = max(int(_CHUNK // sizes.sum()), 1)
    found = [
        largest_of_pairs(
            _Table.of(_moved(people, sizes, won, min(step, draws - start), rng), people).evidence()
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


def _by_pairs(k: int, evidence: float) -> float:
    """Twice the tail of the normal law, times the number of pairs of k categories: what needs no draws."""
    return min(float(ndtr(-evidence)) * k * (k - 1), 1.0)
