"""In which of many simulated tables would a category be found below the highest? The laws of `equal_rates`, drawn once.

A table of the test takes 2,000 permutations. A plan asks for thousands of tables that differ in chance only, so their
law is drawn a few times and serves for all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats._cluster_tables import (
    MOST_ROWS,
    ScaleOfPairs,
    TableSums,
    permuted_largest,
    tail_of_pairs,
)
from audit_lib.stats.cluster_kinds import ClusterKinds
from audit_lib.stats.clustered_equal_rates import DRAWS
from audit_lib.stats.equal_rates import (
    FEW_TABLES,
    PERMUTATIONS,
    TIE,
    every_table,
    fisher_p,
    largest_of_pairs,
    signed_roots,
    told_by_draws,
)
from audit_lib.stats.simultaneous import largest_differences

__all__ = ["LawOfTables", "evidence_of_tables", "p_values_of_pairs", "p_values_of_tables"]

Floats = NDArray[np.float64]

_SHARES: Final = (
    0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98,
)  # fmt: skip
"""Shares selected for which a law is drawn."""
_EVIDENCE: Final = np.concatenate([np.linspace(0.0, 8.0, 33), np.linspace(9.0, 40.0, 16)])
"""Where evidence is put on the normal scale; between them it is read off a line."""


def p_values_of_tables(
    x: NDArray[np.int64],
    n: NDArray[np.int64],
    place: int,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Floats:
    """Return the p-value of one category in the first step of each of several tables with the same people.

    Parameters
    ----------
    x : ndarray of int, shape (tables, k)
        Selected.
    n : ndarray of int, shape (k,)
        Of how many.
    place : int
        The category.
    permutations, seed : int
        As of :func:`equal_rates`.

    Notes
    -----
    The law depends on how many were selected in all. Where it is drawn, it is drawn for some shares of all people, and
    each table has the nearest one's.

    Examples
    --------
    >>> tables = np.array([[30, 10], [30, 26]])
    >>> p_values_of_tables(tables, np.array([60, 60]), 1).round(4).tolist()
    [0.0002, 0.5832]
    """
    others = [other for other in range(n.size) if other != place]
    roots = np.column_stack([signed_roots(x[:, [place, j]], n[[place, j]])[:, 0, 1] for j in others])
    own, best = roots.max(axis=1), np.array(others)[roots.argmax(axis=1)]
    totals, whole = x.sum(axis=1), int(n.sum())
    p_values = np.ones(len(x))
    colours = tuple(np.sort(n).tolist())
    few = n.size == 2 or float(np.prod(n[:-1] + 1.0)) <= FEW_TABLES
    grid = np.unique(totals if few else (np.array(_SHARES) * whole).round().astype(np.int64))
    nearest = np.abs(totals[:, None] - grid).argmin(axis=1)
    for number in np.unique(nearest).tolist():
        rows = np.flatnonzero((nearest == number) & (own > 0.0) & (totals > 0) & (totals < whole))
        largest, left = _law(colours, int(grid[number]), permutations, seed)
        if left is not None:
            p_values[rows] = left[np.searchsorted(largest, own[rows] - TIE)]
            continue

        def bound(one: int, rows: NDArray[np.intp] = rows) -> float:
            row = rows[one]
            counts = [(int(x[row, j]), int(n[j] - x[row, j])) for j in (place, best[row])]
            return fisher_p((*counts[0], *counts[1])) * n.size * (n.size - 1) / 2

        p_values[rows] = told_by_draws(largest, own[rows], bound)
    return p_values


@lru_cache(maxsize=2_000)
def _law(colours: tuple[int, ...], total: int, permutations: int, seed: int) -> tuple[Floats, Floats | None]:
    """Return the largest evidence of tables with these margins, sorted; and how probable as much is, of all tables."""
    n = np.array(colours)
    first = np.minimum(np.maximum(total - np.concatenate([[0], np.cumsum(n)[:-1]]), 0), n)
    every = every_table(first, n)
    if every is not None:
        order = np.argsort(every[0])
        return every[0][order], np.append(np.cumsum(every[1][order][::-1])[::-1], 0.0)
    rng = np.random.Generator(np.random.PCG64(seed))
    return largest_of_pairs(signed_roots(rng.multivariate_hypergeometric(n, total, permutations), n)), None


def evidence_of_tables(selected: Floats, people: Floats, place: int) -> Floats:
    """Return the evidence against one category in each of several tables with the same people.

    Parameters
    ----------
    selected : ndarray of shape (tables, k, clusters)
        Selected of each category and cluster.
    people : ndarray of shape (k, clusters)
        All of them.
    place : int
        The category.

    Examples
    --------
    >>> won = np.array([1.0] * 15 + [0.0] * 5)
    >>> evidence_of_tables(np.array([[won, 1 - won]]), np.ones((2, 20)), 1).round(2).tolist()
    [2.49]
    """
    return np.asarray(TableSums.of(selected, people).evidence()[:, place].max(axis=1), dtype=np.float64)


def p_values_of_pairs(selected: Floats, evidence: Floats) -> Floats:
    """Return the p-value of evidence in tables of two whose clusters hold one person of each: no draws are needed.

    Permutations leave it as it is in how many clusters one of the two is selected; which one is a toss of a coin. The
    law has large steps, so each table has its own.

    Parameters
    ----------
    selected : ndarray of shape (tables, 2, clusters)
        Selected of each category and cluster.
    evidence : ndarray of shape (tables,)
        Of each table, for one of the categories.

    Examples
    --------
    >>> won = np.array([1.0] * 15 + [0.0] * 5)
    >>> tables = np.array([[won, 1 - won]])
    >>> p_values_of_pairs(tables, evidence_of_tables(tables, np.ones((2, 20)), 1)).round(4).tolist()
    [0.0414]
    """
    units = selected.shape[2]
    both = (selected[:, 0] * selected[:, 1]).sum(axis=1).astype(np.int64)
    one = selected.sum(axis=(1, 2)).astype(np.int64) - 2 * both
    found = np.empty(evidence.size)
    for kind in np.unique(np.column_stack([both, one]), axis=0):
        rows = (both == kind[0]) & (one == kind[1])
        largest, tail = _law_of_pairs(units, int(kind[0]), int(kind[1]))
        found[rows] = tail[np.searchsorted(largest, evidence[rows] - TIE)]
    return found


@lru_cache(maxsize=20_000)
def _law_of_pairs(units: int, both: int, one: int) -> tuple[Floats, Floats]:
    """Return the largest evidence of tables with so many clusters of both and of one, sorted; and how probable."""
    from scipy.stats import binom  # which takes as long to load as all else that a plan needs

    first, people = np.arange(one + 1), np.ones((2, units))
    if not 0 < 2 * both + one < 2 * units:
        return np.zeros(1), np.ones(2)
    tables = np.zeros((one + 1, 2, units))
    tables[:, :, :both] = 1.0
    tables[:, 0, both : both + one] = np.arange(one) < first[:, None]
    tables[:, 1, both : both + one] = 1.0 - tables[:, 0, both : both + one]
    largest = np.maximum(*(evidence_of_tables(tables, people, place) for place in (0, 1)))
    order = np.argsort(largest)
    return largest[order], np.append(np.cumsum(binom.pmf(first, one, 0.5)[order][::-1])[::-1], 0.0)


class LawOfTables:
    """The law of a table's largest evidence, by which other tables with the same people have p-values.

    Parameters
    ----------
    selected, people : ndarray of shape (k, clusters)
        Of each category and cluster.
    place : int
        The category whose evidence is asked.
    permutations, draws, seed : int
        As of :func:`clustered_equal_rates`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> won = (rng.random((2, 60)) < 0.4).astype(float)
    >>> law = LawOfTables(won, np.ones((2, 60)), 1)
    >>> p = law.p_values(np.array([0.0, 1.5, 2.5]))
    >>> bool(p[0] == 1.0 > p[1] > 0.1 and p[2] < 0.03)
    True
    """

    def __init__(
        self,
        selected: Floats,
        people: Floats,
        place: int,
        *,
        permutations: int = PERMUTATIONS,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> None:
        sizes, self._k = people.sum(axis=0), len(people)
        few, alike = int(sizes.sum()) <= MOST_ROWS, bool(np.ptp(sizes) == 0)
        rng = np.random.Generator(np.random.PCG64(seed))
        self._permuted = permuted_largest(selected, people, permutations, rng) if few else None
        logs = TableSums.of(selected[None], people).logs()
        self._normal = None if few and alike else largest_differences(logs, draws, seed)
        kinds = [ClusterKinds.of(*of_category) for of_category in zip(selected, people, strict=True)]
        self._scaled = np.median(ScaleOfPairs.of(kinds).normal_against(place, _EVIDENCE), axis=1)

    def p_values(self, evidence: Floats) -> Floats:
        """Return the p-value of each evidence against the category, in the first step of the table's test."""
        scaled = np.interp(evidence, _EVIDENCE, self._scaled)
        found = np.zeros(evidence.size)
        for largest, own in ((self._permuted, evidence), (self._normal, scaled)):
            if largest is not None:
                made = told_by_draws(largest, own, lambda i: tail_of_pairs(self._k, float(scaled[i])))
                found = np.maximum(found, made)
        return np.where(evidence > 0.0, found, 1.0)
