"""Gaps over rounds drawn at random from one set of candidates, each of whom is in many rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.random_pools import expected_shares
from audit_lib.stats.two_sided import TwoSidedVariance

__all__ = ["DrawnShares", "random_rounds_gap", "random_rounds_variance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnShares:
    """Rounds drawn at random without replacement within pools, and who gets how much of the k places of each.

    Parameters
    ----------
    members : ndarray of int, shape (rounds, size)
        The candidates of each round, numbered from 0.
    shares : ndarray of float, shape (rounds, size)
        Their shares of the places.
    k : int
        Places of a round.
    round_pool : ndarray of int, shape (rounds,)
        Pool of each round, numbered from 0; each pool has as many rounds.
    rank : ndarray of int, shape (candidates,)
        Scores as ranks: equal scores, equal ranks; higher is better.
    pool : ndarray of int, shape (candidates,)
        Pool of each candidate.
    """

    members: Ints
    shares: Floats
    k: int
    round_pool: Ints
    rank: Ints
    pool: Ints


def random_rounds_gap(drawn: DrawnShares, group: Flags, reference: Flags) -> float:
    """Return the difference of two groups' selected shares over all rounds.

    Each share counts once for every round that its candidate is in.

    Parameters
    ----------
    drawn : DrawnShares
        The rounds.
    group, reference : ndarray of bool, shape (candidates,)
        Who is counted on each side.

    Raises
    ------
    UndefinedMetricError
        If nobody of a side is in a round.

    Examples
    --------
    >>> drawn = DrawnShares(
    ...     members=np.array([[0, 1], [2, 3], [0, 3]]), shares=np.array([[1.0, 0], [0, 1], [1, 0]]), k=1,
    ...     round_pool=np.zeros(3, int), rank=np.array([3, 1, 0, 2]), pool=np.zeros(4, int))
    >>> first = np.array([True, False, True, False])
    >>> round(random_rounds_gap(drawn, first, ~first), 3)
    0.333
    """
    a, b = _side(drawn, group, "group"), _side(drawn, reference, "reference")
    return a.rate - b.rate


def random_rounds_variance(
    drawn: DrawnShares, group: Flags, reference: Flags, clusters: Ints
) -> TwoSidedVariance:
    r"""Return the variance of `random_rounds_gap`, in which a candidate in a hundred rounds counts as one.

    Given the candidates, rounds are independent: that part of the variance is read off the rounds. The other part is
    that of the mean over all rounds that could be drawn, when other candidates are sampled: a jackknife that leaves
    out each candidate, as a member of its group and as a rival of everybody else, with the exact expectation in place
    of the rounds (`audit_lib.metrics.random_pools.expected_shares`).

    .. math:: V = E[V(\hat d \mid \text{candidates})] + V(E[\hat d \mid \text{candidates}])

    Parameters
    ----------
    drawn, group, reference
        As in `random_rounds_gap`.
    clusters : ndarray of int, shape (candidates,)
        Independent unit of each candidate.

    Returns
    -------
    TwoSidedVariance
        Degrees of freedom are those of the side with fewer units.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two units, a pool has one round, or is no larger than its rounds.

    Notes
    -----
    Range: 95% intervals cover at least 93% of the time with groups of one size, of at least 8 candidates each, in
    pools of at least 8 times a round (``docs/coverage.md``). Outside it, of 12 to 20 candidates next to 84 to
    100, few of whom are selected, 82 to 91%: the interval is too short there, and an audit prints none.

    References
    ----------
    Efron, B. & Stein, C. (1981). The jackknife estimate of variance. Ann. Stat. 9, 586-596. Blom, G. (1976). Some
    properties of incomplete U-statistics. Biometrika 63, 573-580.

    Examples
    --------
    >>> drawn = DrawnShares(
    ...     members=np.array([[0, 1], [2, 3], [0, 3]]), shares=np.array([[1.0, 0], [0, 1], [1, 0]]), k=1,
    ...     round_pool=np.zeros(3, int), rank=np.array([3, 1, 0, 2]), pool=np.zeros(4, int))
    >>> first = np.array([True, False, True, False])
    >>> random_rounds_variance(drawn, first, ~first, np.arange(4)).clusters_group
    2
    """
    units = [int(np.unique(clusters[mask]).size) for mask in (group, reference)]
    if min(units) < 2:
        raise UndefinedMetricError(
            f"{units[0]} and {units[1]} independent units: each side needs at least two"
        )
    a, b = _side(drawn, group, "group"), _side(drawn, reference, "reference")
    variance = _of_rounds(drawn, a.influence - b.influence)
    variance += _of_candidates(drawn, group, reference, clusters)
    return TwoSidedVariance(
        variance=variance,
        df=float(min(units) - 1),
        clusters=int(np.unique(clusters[group | reference]).size),
        clusters_group=units[0],
        clusters_reference=units[1],
    )


@dataclass(frozen=True, slots=True)
class _Side:
    rate: float
    influence: Floats
    """Of each round on the rate."""


def _side(drawn: DrawnShares, mask: Flags, name: str) -> _Side:
    counted = mask[drawn.members]
    places, people = (drawn.shares * counted).sum(axis=1), counted.sum(axis=1)
    total = int(people.sum())
    if not total:
        raise UndefinedMetricError(f"{name}: nobody is in a round that was drawn")
    rate = float(places.sum() / total)
    return _Side(rate, (places - rate * people) / total)


def _of_rounds(drawn: DrawnShares, influence: Floats) -> float:
    """Variance of the draw, given the candidates; the number of rounds of each pool was fixed."""
    found = 0.0
    for pool in np.unique(drawn.round_pool).tolist():
        own = influence[drawn.round_pool == pool]
        if own.size < 2:
            raise UndefinedMetricError("one round of a pool: how much rounds differ cannot be estimated")
        found += float(own.size * own.var(ddof=1))
    return found


def _of_candidates(drawn: DrawnShares, group: Flags, reference: Flags, clusters: Ints) -> float:
    """Variance of the gap that is expected over all rounds, by a jackknife of candidates within pools."""
    size = drawn.members.shape[1]
    pools = [np.flatnonzero(drawn.pool == pool) for pool in np.unique(drawn.pool).tolist()]
    if any(members.size <= size for members in pools):
        raise UndefinedMetricError(
            f"a pool is no larger than its rounds of {size}: all its rounds are the same candidates"
        )
    parts = [[_PoolShare.of(drawn, members, mask, size) for mask in (group, reference)] for members in pools]
    totals = [
        (sum(own[side].places for own in parts), sum(own[side].people for own in parts)) for side in (0, 1)
    ]
    influence = np.zeros(drawn.rank.size)
    for members, own in zip(pools, parts, strict=True):
        without = [
            (places - part.places + part.places_without) / (people - part.people + part.people_without)
            for part, (places, people) in zip(own, totals, strict=True)
        ]
        gaps = without[0] - without[1]
        influence[members] = (members.size - 1) / members.size * (gaps.mean() - gaps)
    codes = np.unique(clusters, return_inverse=True)[1]
    sums, count = np.bincount(codes, influence), int(codes.max()) + 1
    return float(count / (count - 1) * (sums**2).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _PoolShare:
    """What a pool gives to one side's rate, in appearances a round: as it is, and without each of its candidates."""

    places: float
    people: float
    places_without: Floats
    people_without: Floats

    @classmethod
    def of(cls, drawn: DrawnShares, members: Ints, mask: Flags, size: int) -> _PoolShare:
        n, own = members.size, mask[members]
        classes, code, counts = np.unique(drawn.rank[members], return_inverse=True, return_counts=True)
        tied = counts[code]
        above = n - np.cumsum(counts)[code]

        def expected(higher: Ints, equal: Ints) -> Floats:
            # Where there is nobody to be left out, the standing is not one, and what it gives is not used.
            higher = np.clip(higher, 0, n - 2)
            return expected_shares(higher, np.clip(equal, 1, n - 1 - higher), n - 1, size, drawn.k)

        now = expected_shares(above, tied, n, size, drawn.k)
        below_gone, above_gone, tied_gone = (
            expected(above, tied), expected(above - 1, tied), expected(above, tied - 1)
        )  # fmt: skip
        sums = [
            np.bincount(code, np.where(own, shares, 0.0), classes.size)
            for shares in (below_gone, above_gone, tied_gone)
        ]
        higher = sums[0].sum() - np.cumsum(sums[0])
        lower = np.cumsum(sums[1]) - sums[1]
        left = (higher + lower + sums[2])[code] - np.where(own, tied_gone, 0.0)
        return cls(
            places=float(np.where(own, now, 0.0).sum() / n),
            people=float(np.count_nonzero(own) / n),
            places_without=left / (n - 1),
            people_without=(np.count_nonzero(own) - own) / (n - 1),
        )
