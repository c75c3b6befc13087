"""How sure is a correlation, when its points come from a few models?

Points of one model go together: they share its quirks. The interval of Fisher takes every point for an independent one
and is then far too short; a bootstrap over a handful of models is too short as well. Leaving out one model at a time
and Student's t hold their level from three models on (``python -m benchmarks.validity --coverage``).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats._checks import check_level, finite_values, t_quantile, z_quantile
from audit_lib.stats._labels import cluster_codes

__all__ = ["cluster_moments", "correlation_of_moments", "fisher_interval", "jackknife_interval"]

Floats = NDArray[np.float64]

_FEWEST = 3
"""Clusters from which on a jackknife says something."""


def fisher_interval(correlation: float, n: int, level: float = 0.95) -> Interval:
    """Interval of Pearson's r for n independent points: ``tanh(atanh(r) +- z / sqrt(n - 3))``.

    Parameters
    ----------
    correlation : float
        Pearson's r.
    n : int
        Points.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval
        In [-1, 1].

    Raises
    ------
    UndefinedMetricError
        If there are fewer than four points, or all lie on a line.

    References
    ----------
    Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation. Metron 1, 3-32.

    Examples
    --------
    >>> interval = fisher_interval(0.9, 28)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.793, 0.953)
    """
    z = z_quantile(check_level(level))
    if n < 4:
        raise UndefinedMetricError(f"{n} points: an interval of Fisher's needs four")
    if abs(correlation) >= 1.0:
        raise UndefinedMetricError("all points lie on a line: no spread to measure")
    middle, reach = math.atanh(correlation), z / math.sqrt(n - 3)
    return Interval(
        low=math.tanh(middle - reach),
        high=math.tanh(middle + reach),
        level=level,
        method=f"Fisher z, {n} points taken as independent",
    )


def jackknife_interval(
    value: float,
    without: ArrayLike,
    level: float = 0.95,
    *,
    scale: Literal["identity", "fisher_z"] = "identity",
    unit: str = "models",
) -> Interval:
    """Interval of an estimate from its values without each of G clusters: Student's t with G - 1 degrees of freedom.

    Parameters
    ----------
    value : float
        The estimate from all clusters.
    without : array_like, shape (G,)
        The estimate without the first cluster, without the second, and so on.
    level : float
        Nominal coverage.
    scale : {"identity", "fisher_z"}
        ``fisher_z``: the spread is measured of ``atanh``, and the limits are in [-1, 1]; for correlations.
    unit : str
        What the clusters are, for the name of the method.

    Returns
    -------
    Interval
        ``value +- t sqrt((G - 1) / G sum (without_g - mean)^2)`` on its scale.

    Raises
    ------
    UndefinedMetricError
        If there are fewer than three clusters, an estimate without one of them does not exist, or all are equal.

    References
    ----------
    Tukey, J. W. (1958). Bias and confidence in not-quite large samples. Ann. Math. Statist. 29, 614.

    Examples
    --------
    >>> interval = jackknife_interval(0.9, [0.88, 0.91, 0.93, 0.87], scale="fisher_z")
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.642, 0.975)
    """
    check_level(level)
    values = np.asarray(without, dtype=np.float64)
    if values.size < _FEWEST:
        raise UndefinedMetricError(f"{values.size} {unit}: an interval over {unit} needs at least {_FEWEST}")
    if not np.isfinite(values).all():
        raise UndefinedMetricError(f"without one of the {values.size} {unit} there is no estimate")
    if scale == "fisher_z":
        if max(abs(value), float(np.abs(values).max())) >= 1.0:
            raise UndefinedMetricError("all points lie on a line: no spread to measure")
        middle, values = math.atanh(value), np.arctanh(values)
    else:
        middle = value
    spread = float(np.square(values - values.mean()).sum()) * (values.size - 1) / values.size
    if spread <= 0.0:
        raise UndefinedMetricError(f"leaving out one of the {values.size} {unit} changes nothing")
    reach = t_quantile(level, values.size - 1) * math.sqrt(spread)
    low, high = middle - reach, middle + reach
    if scale == "fisher_z":
        low, high = math.tanh(low), math.tanh(high)
    words = " on Fisher's z" if scale == "fisher_z" else ""
    return Interval(
        low=low,
        high=high,
        level=level,
        method=f"jackknife over {values.size} {unit}{words}, Student's t",
    )


def cluster_moments(x: ArrayLike, y: ArrayLike, clusters: ArrayLike) -> Floats:
    """Sums over each cluster from which the correlation of any choice of clusters follows.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Points.
    clusters : array_like, shape (n,)
        The cluster of each, such as its model.

    Returns
    -------
    ndarray, shape (G, 6)
        Of each cluster, in the order of their labels: points, and sums of x, y, x^2, y^2 and x y, with x and y measured
        from their means in units of their largest deviation.

    Raises
    ------
    InputError
        If lengths differ, or a value is missing or infinite.
    UndefinedMetricError
        If there is no point.

    Examples
    --------
    >>> moments = cluster_moments([1, 2, 3, 5], [1, 3, 2, 5], ["a", "a", "b", "b"])
    >>> round(float(correlation_of_moments(moments.sum(axis=0))), 6)
    0.885714
    """
    a, b = finite_values(x, "x"), finite_values(y, "y")
    if a.size != b.size:
        raise InputError(f"x and y: {a.size} and {b.size} values")
    if not a.size:
        raise UndefinedMetricError("no point")
    a, b = _centred(a), _centred(b)
    codes, count = cluster_codes(clusters, a.size)
    parts = (np.ones(a.size), a, b, a * a, b * b, a * b)
    return np.stack([np.bincount(codes, part, count) for part in parts], axis=1)


def correlation_of_moments(moments: ArrayLike) -> Floats:
    """Pearson's r of sums as `cluster_moments` gives them, added up over the clusters that count.

    Parameters
    ----------
    moments : array_like, shape (..., 6)
        Added up over clusters, each as often as it counts.

    Returns
    -------
    ndarray, shape (...)
        In [-1, 1]; NaN where a side does not vary.

    Examples
    --------
    >>> float(correlation_of_moments([2, 0, 0, 2, 2, 2]))
    1.0
    """
    n, sx, sy, sxx, syy, sxy = np.moveaxis(np.asarray(moments, dtype=np.float64), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy, c = sxx - sx * sx / n, syy - sy * sy / n, sxy - sx * sy / n
        # What rounding leaves of a side that does not vary.
        flat = (vx <= 1e-14 * n) | (vy <= 1e-14 * n) | ~(n > 1)
        r = np.clip(c / np.sqrt(vx * vy), -1.0, 1.0)
    return np.where(flat, np.nan, r)


def _centred(values: Floats) -> Floats:
    deviations = np.asarray(values, dtype=np.float64) - values.mean()
    largest = float(np.abs(deviations).max())
    return np.asarray(deviations / largest) if largest > 0 else deviations
