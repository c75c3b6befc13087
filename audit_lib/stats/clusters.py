"""Means, differences and any other estimate whose units come in clusters.

An application is audited in several versions, so its rows are not independent. The variance comes from **influence
values**: how much each row moves the estimate, adding up to zero. They are summed within clusters first, so that what
rows of one application share is counted, also where it stands on both sides of a comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval, TestResult
from audit_lib.stats._checks import both_or_neither, check_level, finite_values, t_quantile
from audit_lib.stats._labels import cluster_codes, cluster_labels, join_labels
from audit_lib.stats.cluster_worth import ClusterWorth, degrees_of_squares, variance_of_one

__all__ = [
    "TwoSidedVariance",
    "cluster_interval",
    "difference_interval",
    "mean_difference",
    "t_test",
    "two_sided_variance",
    "variance_of_sums",
]

Floats = NDArray[np.float64]


def cluster_interval(
    influence: ArrayLike, clusters: ArrayLike, estimate: float, level: float = 0.95
) -> Interval:
    r"""Interval of any estimate from the influence values of its rows.

    .. math:: \hat\theta \pm t_\nu \sqrt{\frac{G}{G - 1} \sum_g r_g^2 (u_g - \bar u)^2},
              \qquad u_g = \sum_{i \in g} \psi_i, \qquad r_g = \frac{1 - 1/G}{1 - s_g},
              \qquad \nu = \frac{1}{\sum_g s_g^2} - 1

    with :math:`s_g` the share of the rows that cluster g holds: each is measured from the others, and clusters count
    by what they are worth (:mod:`audit_lib.stats.cluster_worth`), or by Satterthwaite's degrees of freedom of the
    squares where few of them hold most. Of clusters of one size r is 1 and nu is G - 1.

    Parameters
    ----------
    influence : array_like of shape (n,)
        Influence of each row on the estimate, in its unit: for a mean, (y - mean) / n.
    clusters : array_like of shape (n,)
        The cluster of each row, as numbers or strings.
    estimate : float
        The estimate.
    level : float
        Nominal coverage.

    Raises
    ------
    InputError
        If there is not one label a row, or one is missing.
    UndefinedMetricError
        With clusters that are worth fewer than two of one size, or if nothing varies between them.

    Notes
    -----
    Range: covers 93 to 97% from 30 clusters on, also of moderately unequal sizes, and 93% or more where few clusters
    hold much of the rows (``docs/coverage.md``).

    References
    ----------
    Liang, K.-Y. & Zeger, S. L. (1986). Biometrika 73, 13-22. Cameron, A. C. & Miller, D. L. (2015).
    A practitioner's guide to cluster-robust inference. J. Human Resources 50, 317-372.

    Examples
    --------
    The mean of six answers of three applications:

    >>> y = np.array([1.0, 1.0, 3.0, 3.0, 5.0, 5.0])
    >>> interval = cluster_interval((y - 3) / 6, ["a", "a", "b", "b", "c", "c"], estimate=3.0)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-1.968, 7.968)
    """
    values = finite_values(influence, "influence values")
    codes, count = cluster_codes(clusters, values.size)
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    sums = cluster_sums(values, codes, count)
    if np.ptp(sums) <= 1e-12 * np.abs(sums).max(initial=0.0):
        raise UndefinedMetricError("every cluster moves the estimate alike: no spread to estimate")
    variance, df = variance_of_one(sums, np.bincount(codes, minlength=count))
    half = t_quantile(level, df) * math.sqrt(variance)
    estimate, degrees = float(estimate), int(df) if df.is_integer() else round(df, 2)
    method = f"cluster influence function, t({degrees})"
    return Interval(low=estimate - half, high=estimate + half, level=level, method=method)


def mean_difference(
    group: ArrayLike,
    reference: ArrayLike,
    group_clusters: ArrayLike | None = None,
    reference_clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    r"""Interval of mean(group) - mean(reference).

    Without clusters this is Welch's interval. With them, the influence values :math:`(x_i - \bar x)/n` and
    :math:`-(y_j - \bar y)/m` are summed within clusters, which may stand on both sides.

    Parameters
    ----------
    group, reference : array_like
        Values of the two groups.
    group_clusters, reference_clusters : array_like, optional
        The cluster of each value; equal labels on both sides are the same cluster. Give both or neither.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        If a group has fewer than two independent units, or if nothing varies.

    Notes
    -----
    Range: with clusters, 30 a side; for rates (values 0 and 1) of clusters of unequal sizes, 60, and where the
    clusters of a side times the rate, or what is left of 1, are at least 4. Where few clusters hold much of a side,
    93% or more (``docs/coverage.md``).

    References
    ----------
    Welch, B. L. (1947). Biometrika 34, 28-35. :func:`two_sided_variance` for the clustered form.

    Examples
    --------
    >>> interval = mean_difference([4, 5, 6, 7], [3, 4, 4, 5])
    >>> round(interval.low, 3), round(interval.high, 3), interval.method
    (-0.455, 3.455, 'Welch t')
    >>> interval = mean_difference([4, 5, 6, 7], [3, 4, 4, 5], [1, 2, 3, 4], [1, 2, 3, 4])
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.581, 2.419)
    """
    x, y = finite_values(group, "the group"), finite_values(reference, "the reference")
    clustered = both_or_neither(group_clusters, reference_clusters)
    if min(x.size, y.size) < 2:
        raise UndefinedMetricError(f"{x.size} and {y.size} values: each group needs at least two")
    if np.ptp(x) == 0.0 and np.ptp(y) == 0.0:
        raise UndefinedMetricError("no value differs within its group: the spread cannot be estimated")
    spread = two_sided_variance(
        (x - x.mean()) / x.size, -(y - y.mean()) / y.size, group_clusters, reference_clusters
    )
    estimate = float(x.mean() - y.mean())
    interval = difference_interval(estimate, spread, level)
    return interval if clustered else replace(interval, method="Welch t")


def difference_interval(estimate: float, spread: TwoSidedVariance, level: float) -> Interval:
    """Interval of a difference from its variance: the last step of :func:`mean_difference`.

    Parameters
    ----------
    estimate : float
        The difference.
    spread : TwoSidedVariance
        Its variance and degrees of freedom.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        If the variance is 0.

    Examples
    --------
    >>> interval = difference_interval(0.5, two_sided_variance([-0.1, 0.1], [0.1, -0.1]), 0.95)
    >>> round((interval.low + interval.high) / 2, 3)
    0.5
    """
    require_variance(spread)
    half = t_quantile(level, spread.df) * math.sqrt(spread.variance)
    method = f"cluster influence function, t({spread.df:.4g})"
    return Interval(low=estimate - half, high=estimate + half, level=check_level(level), method=method)


def require_variance(spread: TwoSidedVariance) -> None:
    """Refuse a comparison that is the same in all clusters.

    Parameters
    ----------
    spread : TwoSidedVariance
        Its variance.

    Raises
    ------
    UndefinedMetricError
        If the variance is 0.

    Examples
    --------
    >>> require_variance(two_sided_variance([0.0, 0.0], [0.0, 0.0]))
    Traceback (most recent call last):
    audit_lib.errors.UndefinedMetricError: every cluster shows the same difference: no spread to estimate
    """
    if spread.variance == 0.0:
        raise UndefinedMetricError("every cluster shows the same difference: no spread to estimate")


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
        _require_two(a.size, b.size)
        return _variance(a, b, a.size, b.size, (a.size - 1.0, b.size - 1.0), product=0.0)
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
    in_group, in_reference = group_rows > 0, reference_rows > 0
    n_a, n_b = int(np.count_nonzero(in_group)), int(np.count_nonzero(in_reference))
    _require_two(n_a, n_b)
    ours, theirs = ClusterWorth.of(group_rows), ClusterWorth.of(reference_rows)
    a, b = group_sums * ours.factors, reference_sums * theirs.factors
    dfs = ours.limited(np.square(a)), theirs.limited(np.square(b))
    found = _variance(a, b, n_a, n_b, dfs, product=_dot(a, b))
    count, df = int(np.count_nonzero(in_group | in_reference)), found.df
    if (in_group & in_reference).any():
        df = min(ours.df, theirs.df)
        if not (ours.even and theirs.even):
            df = min(df, degrees_of_squares(np.square(a + b), count))
    return replace(found, clusters=count, df=df)


def _require_two(n_a: int, n_b: int) -> None:
    if min(n_a, n_b) < 2:
        raise UndefinedMetricError(f"{n_a} and {n_b} independent units: each side needs at least two")


def _variance(
    a: Floats, b: Floats, n_a: int, n_b: int, dfs: tuple[float, float], *, product: float
) -> TwoSidedVariance:
    factor_a, factor_b = n_a / (n_a - 1), n_b / (n_b - 1)
    v_a, v_b = factor_a * _dot(a, a), factor_b * _dot(b, b)
    variance = v_a + v_b + 2 * math.sqrt(factor_a * factor_b) * product
    if variance < 1e-12 * (v_a + v_b):
        variance = 0.0  # the two sides cancel; what is left is rounding
    df_a, df_b = dfs
    df = min(dfs) if v_a + v_b == 0.0 else (v_a + v_b) ** 2 / (v_a**2 / df_a + v_b**2 / df_b)
    return TwoSidedVariance(
        variance=variance, df=df, clusters=n_a + n_b, clusters_group=n_a, clusters_reference=n_b
    )


def t_test(estimate: float, standard_error: float, df: float, n: int, method: str) -> TestResult:
    """Two-sided t test that an estimate's true value is 0.

    Parameters
    ----------
    estimate, standard_error : float
        On one scale, on which 0 means parity.
    df : float
        Degrees of freedom, as of the interval that goes with the estimate.
    n : int
        Independent units.
    method : str
        Where the standard error comes from.

    Examples
    --------
    >>> test = t_test(2.0, 0.8, df=30, n=31, method="cluster influence function")
    >>> round(test.statistic, 2), round(test.p_value, 4), test.method
    (2.5, 0.0181, 'cluster influence function, t(30)')
    """
    t = estimate / standard_error
    return TestResult(
        name="t_test",
        p_value=min(2.0 * float(stdtr(df, -abs(t))), 1.0),
        statistic=t,
        n=n,
        method=f"{method}, t({df:.4g})",
    )


def _dot(a: Floats, b: Floats) -> float:
    """Sum of products in one order of addition, whatever the number of BLAS threads."""
    return float((a * b).sum())


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
