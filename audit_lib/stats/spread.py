"""The spread of values that come in clusters, and what each cluster does to an estimate that is in its unit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats._checks import finite_values
from audit_lib.stats.cluster_worth import ClusterWorth

__all__ = ["left_out_error", "spread_without_each"]

Floats = NDArray[np.float64]


def spread_without_each(values: ArrayLike, clusters: ArrayLike, count: int = 0) -> Floats:
    """Return the standard deviation of the values that are left when each cluster is left out in turn.

    Parameters
    ----------
    values : array_like, shape (n,)
        Such as scores.
    clusters : array_like of int, shape (n,)
        The cluster of each: 0, 1, ...
    count : int
        How many clusters there are, where the last have no value.

    Raises
    ------
    UndefinedMetricError
        If the values that are left without some cluster do not vary.

    Examples
    --------
    >>> spread_without_each([1.0, 3.0, 5.0, 7.0], [0, 0, 1, 2]).round(3).tolist()
    [1.414, 3.055, 2.0]
    """
    x, codes = finite_values(values, "values"), np.asarray(clusters)
    if codes.shape != x.shape:
        raise InputError(f"{x.size} values and clusters of shape {codes.shape}: give one a value")
    x = x - x.mean()  # squares of small numbers: nothing cancels
    people, sums, squares = (np.bincount(codes, of, count) for of in (None, x, np.square(x)))
    left = x.size - people
    if (left < 2).any():
        raise UndefinedMetricError("without one cluster fewer than two values are left: no spread to measure")
    found = squares.sum() - squares - np.square(x.sum() - sums) / left
    if (found <= 1e-12 * squares.sum()).any():
        raise UndefinedMetricError(
            "without one cluster the values do not vary: no spread to take as the unit"
        )
    return np.asarray(np.sqrt(found / (left - 1)), dtype=np.float64)


def left_out_error(estimate: float, without: ArrayLike, rows: ArrayLike) -> tuple[float, float]:
    r"""Return the standard error of an estimate from what it is without each cluster, and its degrees of freedom.

    .. math:: \sqrt{\frac{A - 1}{A} \sum_c (\hat\theta_{(-c)} - \hat\theta)^2}

    Degrees of freedom are what the clusters are worth less one (:mod:`audit_lib.stats.cluster_worth`).

    Parameters
    ----------
    estimate : float
        Of all clusters.
    without : array_like, shape (clusters,)
        Without each in turn.
    rows : array_like, shape (clusters,)
        How many rows each has.

    Raises
    ------
    UndefinedMetricError
        With fewer than two clusters, with clusters worth fewer than two of one size, or if leaving out changes nothing.

    Notes
    -----
    Range: a mean over a standard deviation, from 10 clusters on; a standard deviation over another, on the scale of
    logarithms, from 100 (``docs/coverage.md``).

    References
    ----------
    Efron, B. & Stein, C. (1981). The jackknife estimate of variance. Ann. Stat. 9, 586-596.

    Examples
    --------
    Of a mean it is the usual error:

    >>> y = np.array([1.0, 2.0, 6.0])
    >>> error, df = left_out_error(3.0, (y.sum() - y) / 2, [1, 1, 1])
    >>> round(error, 4), round(float(y.std(ddof=1)) / 3**0.5, 4), df
    (1.5275, 1.5275, 2.0)
    """
    moved = np.asarray(without, dtype=np.float64) - estimate
    count = moved.size
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    worth = ClusterWorth.of(np.asarray(rows, dtype=np.float64))
    squares = np.square(moved)
    error = math.sqrt((count - 1) / count * math.fsum(squares.tolist()))
    if error <= 1e-12 * max(abs(estimate), 1e-300):
        raise UndefinedMetricError("leaving out any cluster changes nothing: no spread to estimate")
    return error, worth.limited(squares)
