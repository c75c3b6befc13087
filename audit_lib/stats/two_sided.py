"""The variance of a comparison of two sides whose rows come in clusters, which may stand on both.

Influence values are summed within clusters first, so that what rows of one application share is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats._checks import both_or_neither, finite_values
from audit_lib.stats._labels import cluster_codes, cluster_labels, join_labels
from audit_lib.stats.cluster_worth import ClusterWorth, degrees_of_squares

__all__ = [
    "SideSums",
    "TwoSidedVariance",
    "two_sided_variance",
    "variance_of_sides",
    "variance_of_sums",
]

Floats = NDArray[np.float64]

_PRODUCTS: Final = 1 << 16
"""Products that are held at once: at least as many as NumPy adds without halving them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSidedVariance:
    """Variance of a comparison of two groups.

    Parameters
    ----------
    variance : float
        Of the estimate.
    df : float
        Degrees of freedom of the t quantile that goes with it.
    clusters : int
        Independent units, both sides together.
    clusters_group, clusters_reference : int
        Independent units a side.
    """

    variance: float
    df: float
    clusters: int
    clusters_group: int
    clusters_reference: int


def two_sided_variance(
    group_influence: ArrayLike,
    reference_influence: ArrayLike,
    group_clusters: ArrayLike | None = None,
    reference_clusters: ArrayLike | None = None,
) -> TwoSidedVariance:
    r"""Variance of an estimate that is a sum over a group and a reference, sharing clusters or not.

    With :math:`a_g, b_g` the sums of the influence values of cluster g on each side, each measured from the others
    (:mod:`audit_lib.stats.cluster_worth`), and :math:`A, B` the numbers of clusters that have rows on each side,

    .. math:: V = \frac{A}{A-1}\sum a_g^2 + \frac{B}{B-1}\sum b_g^2
              + 2 \sqrt{\frac{A}{A-1}\frac{B}{B-1}} \sum a_g b_g .

    Every row its own cluster: Welch's variance and df. Every cluster on both sides, with as many rows as the others:
    the usual factor G / (G - 1), and G - 1 df. In between, the fewer of what the clusters of a side are worth, less
    one, or Satterthwaite's of the squares where clusters differ in size and few hold most. With none on both sides,
    Welch's of both.

    Parameters
    ----------
    group_influence, reference_influence : array_like
        Influence of each row on the estimate; each side adds up to zero.
    group_clusters, reference_clusters : array_like, optional
        The cluster of each row; equal labels on both sides are the same cluster.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two clusters, or clusters that are worth fewer than two of one size.

    Examples
    --------
    >>> two_sided_variance([-0.5, 0.5], [0.25, -0.25], [1, 2], [1, 2]).variance
    0.25
    """
    a, b = (finite_values(one, "influence values") for one in (group_influence, reference_influence))
    if not both_or_neither(group_clusters, reference_clusters):
        require_two(a.size, b.size)
        return _variance((_dot(a, a), _dot(b, b)), a.size, b.size, (a.size - 1.0, b.size - 1.0), product=0.0)
    labels = join_labels(
        cluster_labels(group_clusters, a.size, "the group"),
        cluster_labels(reference_clusters, b.size, "the reference"),
    )
    codes, count = cluster_codes(labels, labels.size)
    code_a, code_b = codes[: a.size], codes[a.size :]
    return variance_of_sums(
        cluster_sums(a, code_a, count),
        cluster_sums(b, code_b, count),
        np.bincount(code_a, minlength=count).astype(np.float64),
        np.bincount(code_b, minlength=count).astype(np.float64),
    )


def variance_of_sums(
    group_sums: Floats, reference_sums: Floats, group_rows: Floats, reference_rows: Floats
) -> TwoSidedVariance:
    """Variance of a comparison from the sums of its influence values by cluster.

    The second half of :func:`two_sided_variance`, for callers that hold the sums already.

    Parameters
    ----------
    group_sums, reference_sums : ndarray of shape (clusters,)
        Sum of each cluster's influence values on each side.
    group_rows, reference_rows : ndarray of float, of shape (clusters,)
        How many rows each cluster has on each side.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two clusters, or clusters that are worth fewer than two of one size.

    Examples
    --------
    >>> both = np.array([3.0, 3.0])
    >>> variance_of_sums(np.array([-0.5, 0.5]), np.array([0.25, -0.25]), both, both).variance
    0.25
    """
    there = group_rows > 0, reference_rows > 0
    require_two(*(int(np.count_nonzero(one)) for one in there))
    return variance_of_sides(
        SideSums.of(group_sums, there[0], ClusterWorth.of(group_rows)),
        SideSums.of(reference_sums, there[1], ClusterWorth.of(reference_rows)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSums:
    """What the clusters of one side move an estimate.

    Parameters
    ----------
    sums : ndarray of float, shape (clusters,)
        Sum of each cluster's influence values, measured from the others.
    there : ndarray of bool, shape (clusters,)
        Which have rows on this side.
    worth : ClusterWorth
        What they are worth.
    squares : float
        Sum of the squares of `sums`.
    """

    sums: Floats
    there: NDArray[np.bool_]
    worth: ClusterWorth
    squares: float

    @classmethod
    def of(cls, sums: Floats, there: NDArray[np.bool_], worth: ClusterWorth) -> SideSums:
        """Take the sums of influence values as they are.

        Parameters
        ----------
        sums, there, worth
            As of the class.

        Examples
        --------
        >>> one = np.ones(2)
        >>> SideSums.of(np.array([-0.5, 0.5]), one > 0, ClusterWorth.of(one)).squares
        0.5
        """
        scaled = worth.scaled(sums)
        return cls(sums=scaled, there=there, worth=worth, squares=_dot(scaled, scaled))

    @property
    def df(self) -> float:
        """Degrees of freedom of the squares."""
        return self.worth.df if self.worth.even else self.worth.limited(np.square(self.sums))


def variance_of_sides(group: SideSums, reference: SideSums) -> TwoSidedVariance:
    """Variance of a comparison of two sides that have two clusters at least: the end of :func:`variance_of_sums`.

    Parameters
    ----------
    group, reference : SideSums
        Of the same clusters.

    Examples
    --------
    >>> both, worth = np.ones(2) > 0, ClusterWorth.of(np.ones(2))
    >>> sides = (SideSums.of(np.array(sums), both, worth) for sums in ([-0.5, 0.5], [0.25, -0.25]))
    >>> variance_of_sides(*sides).variance
    0.25
    """
    ours, theirs = group.worth, reference.worth
    found = _variance(
        (group.squares, reference.squares), ours.count, theirs.count, (group.df, reference.df),
        product=_dot(group.sums, reference.sums),
    )  # fmt: skip
    count, df = int(np.count_nonzero(group.there | reference.there)), found.df
    if count < ours.count + theirs.count:  # some stand on both sides
        df = min(ours.df, theirs.df)
        if not (ours.even and theirs.even):
            df = min(df, degrees_of_squares(np.square(group.sums + reference.sums), count))
    return replace(found, clusters=count, df=df)


def require_two(n_a: int, n_b: int) -> None:
    """Refuse a side of fewer than two clusters.

    Parameters
    ----------
    n_a, n_b : int
        Clusters of each side.

    Raises
    ------
    UndefinedMetricError
        If there are fewer.

    Examples
    --------
    >>> require_two(2, 5)
    """
    if min(n_a, n_b) < 2:
        raise UndefinedMetricError(f"{n_a} and {n_b} independent units: each side needs at least two")


def _variance(
    squares: tuple[float, float], n_a: int, n_b: int, dfs: tuple[float, float], *, product: float
) -> TwoSidedVariance:
    factor_a, factor_b = n_a / (n_a - 1), n_b / (n_b - 1)
    v_a, v_b = factor_a * squares[0], factor_b * squares[1]
    variance = v_a + v_b + 2 * math.sqrt(factor_a * factor_b) * product
    if variance < 1e-12 * (v_a + v_b):
        variance = 0.0  # the two sides cancel; what is left is rounding
    df_a, df_b = dfs
    df = min(dfs) if v_a + v_b == 0.0 else (v_a + v_b) ** 2 / (v_a**2 / df_a + v_b**2 / df_b)
    return TwoSidedVariance(
        variance=variance, df=df, clusters=n_a + n_b, clusters_group=n_a, clusters_reference=n_b
    )


def _dot(a: Floats, b: Floats) -> float:
    """Sum of products in one order of addition, whatever the number of BLAS threads: that of ``(a * b).sum()``.

    NumPy adds two halves by themselves, and so do we, so that not all products are held at once.
    """
    if a.size <= _PRODUCTS:
        return float((a * b).sum())
    half = a.size // 2
    half -= half % 8
    return _dot(a[:half], b[:half]) + _dot(a[half:], b[half:])


def cluster_sums(values: Floats, codes: NDArray[np.intp], count: int) -> Floats:
    """Return the sum of the values of each cluster.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Without NaN.
    codes : ndarray of int, shape (n,)
        Cluster of each value: 0, 1, ...
    count : int
        Number of clusters.

    Examples
    --------
    >>> cluster_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3).tolist()
    [3.0, 0.0, 4.0]
    """
    return np.bincount(codes, weights=values, minlength=count).astype(np.float64, copy=False)
