"""Means, differences and any other estimate whose units come in clusters.

An application is audited in several versions, so its rows are not independent. The variance comes from **influence
values**: how much each row moves the estimate, adding up to zero. They are summed within clusters first, so that what
rows of one application share is counted, also where it stands on both sides of a comparison.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval, TestResult
from audit_lib.stats._checks import both_or_neither, check_level, finite_values, t_quantile
from audit_lib.stats._labels import cluster_codes
from audit_lib.stats.cluster_worth import variance_of_one
from audit_lib.stats.two_sided import TwoSidedVariance, cluster_sums, two_sided_variance

__all__ = ["cluster_interval", "difference_interval", "mean_difference", "t_test"]

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
