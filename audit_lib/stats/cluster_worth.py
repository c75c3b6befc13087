r"""What clusters of unequal sizes are worth: the errors and the degrees of freedom that they leave.

A cluster that holds much of a category pulls its rate to its own, so that the deviations from it are too small; and
where few clusters decide, a variance is measured by few. Both are set right here, once for intervals and tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats.cluster_kinds import ClusterKinds

__all__ = [
    "ClusterSpread",
    "ClusterWorth",
    "cluster_spread",
    "degrees_of_squares",
    "leverage_factors",
    "require_worth",
    "spread_of_kinds",
    "variance_of_one",
    "worth_of",
]

Floats = NDArray[np.float64]

LEAST: Final = 3
"""Clusters of one size that a category's have to be worth: with fewer there are under two degrees of freedom."""


def worth_of(shares: Floats) -> float:
    r"""Return how many clusters of one size clusters are worth: :math:`1 / \sum_c s_c^2`.

    Parameters
    ----------
    shares : ndarray of float, shape (clusters,)
        Of all rows, how many are in each cluster; they add up to 1.

    References
    ----------
    Carter, A. V., Schnepel, K. T. & Steigerwald, D. G. (2017). Asymptotic behavior of a t-test robust to cluster
    heterogeneity. Rev. Econ. Stat. 99, 698-709.

    Examples
    --------
    >>> worth_of(np.full(4, 0.25)), round(worth_of(np.array([0.9, 0.05, 0.05])), 2)
    (4.0, 1.23)
    """
    return 1.0 / _sum(np.square(shares))


def require_worth(shares: Floats, least: int = LEAST) -> None:
    """Refuse clusters that are worth fewer than some of one size: no interval of a known level exists for them.

    Parameters
    ----------
    shares : ndarray of float, shape (clusters,)
        As in :func:`worth_of`.
    least : int
        How many; three unless given. Of values that are not rates two are enough, which leave one degree of freedom.

    Raises
    ------
    UndefinedMetricError
        If they are.

    Examples
    --------
    >>> require_worth(np.array([0.9, 0.05, 0.05]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    audit_lib.errors.UndefinedMetricError: 3 clusters, of which the largest holds 90% of the people, are worth 1.2 ...
    """
    _require(worth_of(shares), int(np.count_nonzero(shares)), float(shares.max()), least)


def _require(worth: float, count: int, largest: float, least: int = LEAST) -> None:
    if worth < least - 1e-9:
        raise UndefinedMetricError(
            f"{count} clusters, of which the largest holds {largest:.0%} of the people, are worth {worth:.1f} of one "
            f"size; at least {least} are needed to tell how much clusters differ"
        )


def leverage_factors(shares: Floats) -> Floats:
    r"""Return what deviations of clusters are multiplied by, to measure each from the others: 1 where all are alike.

    A cluster that holds :math:`s_c` of the rows pulls their mean towards its own, so that its deviation from the mean
    is :math:`1 - s_c` of that from the others. Next to A clusters of one size, whose usual factor
    :math:`\sqrt{A / (A - 1)}` undoes that already, it is :math:`(1 - 1/A) / (1 - s_c)`.

    Parameters
    ----------
    shares : ndarray of float, shape (clusters,)
        As in :func:`worth_of`; at least two are above 0.

    Examples
    --------
    >>> leverage_factors(np.full(3, 1 / 3)).tolist(), leverage_factors(np.array([0.5, 0.25, 0.25])).round(2).tolist()
    ([1.0, 1.0, 1.0], [1.33, 0.89, 0.89])
    """
    there = shares > 0.0
    if np.ptp(shares[there]) <= 1e-9 * shares.max():
        return np.ones_like(shares)
    return np.asarray((1.0 - 1.0 / np.count_nonzero(there)) / (1.0 - shares), dtype=np.float64)


def degrees_of_squares(squares: Floats, count: int) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of squares: few, where few of them hold most of it.

    Parameters
    ----------
    squares : ndarray of float, shape (clusters,)
        Of what each cluster moves.
    count : int
        Clusters that can move it.

    Examples
    --------
    >>> round(degrees_of_squares(np.array([4.0, 1.0, 1.0, 0.0]), 4), 2), degrees_of_squares(np.ones(4), 4)
    (8.0, inf)
    """
    return _degrees(_sum(squares), _sum(np.square(squares)), count)


def _degrees(variance: float, fourth_powers: float, count: int) -> float:
    uneven = fourth_powers / max(variance**2, 1e-300) - 1.0 / count
    return 2.0 / uneven if variance > 0.0 and uneven > 0.0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWorth:
    """What clusters of an estimate that is no rate are worth.

    Parameters
    ----------
    factors : ndarray of float, shape (clusters,), or None
        What each cluster's sum of influence values is multiplied by (:func:`leverage_factors`); None where all have as
        many rows, and it is 1.
    count : int
        How many there are.
    df : float
        Degrees of freedom that they leave.
    """

    factors: Floats | None
    count: int
    df: float

    @classmethod
    def of(cls, rows: NDArray[Any]) -> ClusterWorth:
        """Take the rows of each cluster.

        Parameters
        ----------
        rows : ndarray of float or int, shape (clusters,)
            How many each has; at least two have some.

        Raises
        ------
        UndefinedMetricError
            With clusters that are worth fewer than two of one size.

        Examples
        --------
        >>> ClusterWorth.of(np.array([5.0, 5.0, 5.0])).df, round(ClusterWorth.of(np.array([10.0, 5.0, 5.0])).df, 2)
        (2.0, 1.67)
        """
        total, count, largest = float(rows.sum()), int(np.count_nonzero(rows)), float(rows.max(initial=0))
        # Weights are not whole numbers, and no two clusters of them are alike.
        whole = rows.dtype.kind in "iub" or bool((rows == np.floor(rows)).all())
        if whole and count * largest == total:
            _require(1.0 / (count * np.square(largest / total)), count, largest / total, least=2)
            return cls(factors=None, count=count, df=count - 1.0)
        rows = rows.astype(np.float64, copy=False)
        shares = rows / total
        kinds = ClusterKinds.of(np.zeros_like(rows), rows) if whole else None
        worth = worth_of(shares) if kinds is None else 1.0 / kinds.total(np.square(kinds.people / total))
        _require(worth, count, float(shares.max()), least=2)
        factors = leverage_factors(shares)
        even = bool((factors == 1.0).all())
        return cls(factors=None if even else factors, count=count, df=count - 1.0 if even else worth - 1.0)

    @property
    def even(self) -> bool:
        """Whether all have as many rows."""
        return self.factors is None

    def scaled(self, sums: Floats) -> Floats:
        """Return sums of influence values by cluster, each measured from the others.

        Parameters
        ----------
        sums : ndarray of float, shape (clusters,)
            As they are.

        Examples
        --------
        >>> ClusterWorth.of(np.array([2.0, 1.0, 1.0])).scaled(np.array([3.0, 4.0, 2.0])).round(2).tolist()
        [4.0, 3.56, 1.78]
        """
        return sums if self.factors is None else sums * self.factors

    def limited(self, squares: Floats) -> float:
        """Return the degrees of freedom, fewer where few of several sizes hold most of the squares.

        Parameters
        ----------
        squares : ndarray of float, shape (clusters,)
            Of what each cluster moves.

        Examples
        --------
        >>> worth = ClusterWorth.of(np.array([6.0, *[5.0] * 20]))
        >>> round(worth.df, 1), round(worth.limited(np.array([30.0, *[1.0] * 20])), 1)
        (20.0, 6.2)
        """
        return self.df if self.even else min(self.df, degrees_of_squares(squares, self.count))


def variance_of_one(sums: Floats, rows: ArrayLike) -> tuple[float, float]:
    """Return the variance of an estimate from the sums of its influence values by cluster, and its df.

    Parameters
    ----------
    sums : ndarray of float, shape (clusters,)
        Sum of each cluster's influence values.
    rows : array_like, shape (clusters,)
        How many rows each has: at least one.

    Raises
    ------
    UndefinedMetricError
        With clusters that are worth fewer than two of one size.

    Examples
    --------
    >>> variance_of_one(np.array([-0.5, 0.0, 0.5]), [1, 1, 1])
    (0.75, 2.0)
    """
    worth = ClusterWorth.of(np.asarray(rows, dtype=np.float64))
    squares = np.square(worth.scaled(sums - sums.mean()))
    count = sums.size
    return count / (count - 1) * float(squares.sum()), worth.limited(squares)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpread:
    """How clusters spread around a rate.

    Parameters
    ----------
    of_kind : ndarray of float, shape (kinds,)
        What a cluster of each kind moves the rate, measured from the others.
    of_cluster : ndarray of int, shape (clusters,)
        The kind of each cluster.
    variance : float
        Of the rate: the sum of the squares of what the clusters move.
    df : float
        Degrees of freedom of the variance.
    """

    of_kind: Floats
    of_cluster: NDArray[Any]
    variance: float
    df: float

    @property
    def moved(self) -> Floats:
        """What each cluster moves the rate."""
        found: Floats = self.of_kind[self.of_cluster]
        return found


def cluster_spread(selected: Floats, people: Floats, rate: float | None = None) -> ClusterSpread:
    r"""Measure how clusters spread around a rate: the jackknife's variance, and its degrees of freedom.

    With :math:`n_c` of N people and :math:`s_c = n_c / N`, each cluster is measured from the others, since one that
    holds much of the people pulls the rate to its own:

    .. math:: \tilde u_c = \sqrt{\tfrac{A - 1}{A}} \, \frac{x_c - p n_c}{N (1 - s_c)}, \qquad
              V = \sum_c \tilde u_c^2, \qquad
              \nu = \min\Big(\frac{1}{\sum s_c^2} - 1,\;
              2 \Big/ \Big(\frac{\sum \tilde u_c^4}{V^2} - \frac{1}{A}\Big)\Big)

    With A clusters of one size V is the usual :math:`\tfrac{A}{A - 1} \sum_c u_c^2`. The degrees of freedom are what
    clusters are worth less one, or Satterthwaite's of the squares, where few clusters hold what there is of spread;
    but clusters of one size that are decided as one, all or nobody of each, are people, whose spread their rate tells.

    Parameters
    ----------
    selected, people : ndarray of float, shape (clusters,)
        Of each cluster.
    rate : float, optional
        That around which they spread; their own unless given.

    Raises
    ------
    UndefinedMetricError
        With clusters that are worth fewer than three of one size.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28, 169-181. MacKinnon, J. G., Nielsen, M. O. & Webb, M. D. (2023). Leverage,
    influence, and the jackknife in clustered regression models. Stata Journal 23, 942-982. Satterthwaite, F. E. (1946).
    Biometrics 2, 110-114. Carter, Schnepel and Steigerwald (2017), see :func:`worth_of`.

    Examples
    --------
    Of 100 people 4 are selected; then of 100 clusters of ten, one or two people of each of four clusters:

    >>> won = np.repeat([1.0, 0.0], [4, 96])
    >>> round(cluster_spread(won, np.ones(100)).df, 1)
    99.0
    >>> round(cluster_spread(won * np.repeat([2.0, 1.0], [2, 98]), np.full(100, 10.0)).df, 1)
    6.4
    """
    return spread_of_kinds(ClusterKinds.of(selected, people), rate)


def spread_of_kinds(kinds: ClusterKinds, rate: float | None = None) -> ClusterSpread:
    """Measure how clusters spread around a rate, as :func:`cluster_spread`, where it is known which are alike.

    Parameters
    ----------
    kinds : ClusterKinds
        The clusters.
    rate : float, optional
        That around which they spread; their own unless given.

    Raises
    ------
    UndefinedMetricError
        With clusters that are worth fewer than three of one size.

    Examples
    --------
    >>> round(spread_of_kinds(ClusterKinds.of(np.repeat([1.0, 0.0], [4, 96]), np.ones(100))).df, 1)
    99.0
    """
    n, count = kinds.all_people, kinds.occupied
    shares = kinds.people / n
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    worth = 1.0 / kinds.total(np.square(shares))
    _require(worth, count, float(shares.max()))
    p = kinds.all_selected / n if rate is None else rate
    moved = math.sqrt((count - 1) / count) * (kinds.selected - p * kinds.people) / (n * (1.0 - shares))
    squares = np.square(moved)
    variance, df = kinds.total(squares), worth - 1.0
    if not _decided_as_one(kinds.selected, kinds.people):
        df = min(df, _degrees(variance, kinds.total(np.square(squares)), count))
    return ClusterSpread(of_kind=moved, of_cluster=kinds.of_cluster, variance=variance, df=df)


def _decided_as_one(selected: Floats, people: Floats) -> bool:
    there = people > 0
    sizes = people[there]
    return bool(np.ptp(sizes) == 0 and ((selected[there] == 0) | (selected[there] == sizes)).all())


def _sum(values: Floats) -> float:
    """Add up exactly: the order of clusters changes nothing."""
    return math.fsum(values.tolist())
