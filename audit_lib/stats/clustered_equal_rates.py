"""Could all rates be equal, where people share rounds or applications? As `equal_rates`, by clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats._cluster_tables import (
    MOST_ROWS,
    ScaleOfPairs,
    TableSums,
    permuted_largest,
    tail_of_pairs,
)
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.equal_rates import (
    PERMUTATIONS,
    EqualRates,
    require_some,
    step_down,
    told_by_draws,
)
from audit_lib.stats.simultaneous import largest_differences

__all__ = ["clustered_equal_rates"]

Floats = NDArray[np.float64]

DRAWS: Final = 19_999


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
    sizes = rates.people.sum(axis=0)
    few, alike = int(sizes.sum()) <= MOST_ROWS, bool(np.ptp(sizes) == 0)
    whole = TableSums.of_counts(rates.won, rates.people)
    raw = whole.evidence()[0].clip(min=0.0)
    scaled = ScaleOfPairs.of([rates.kinds(i) for i in range(len(rates.totals))]).normal(raw)

    def law(places: Sequence[int], own: Floats) -> Floats:
        part, found, to = whole.take(places), np.zeros(len(places)), np.ix_(places, places)
        bound = scaled[to].max(axis=1)
        if few:
            rng = np.random.Generator(np.random.PCG64(seed))
            selected, people = (one[list(places)].astype(np.float64) for one in (rates.won, rates.people))
            largest = permuted_largest(selected, people, permutations, rng)
            found = told_by_draws(
                largest, raw[to].max(axis=1), lambda i: tail_of_pairs(len(places), bound[i])
            )
        if few and alike:
            return found
        largest = largest_differences(part.logs(), draws, seed)
        return np.maximum(found, told_by_draws(largest, own, lambda i: tail_of_pairs(len(places), own[i])))

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
