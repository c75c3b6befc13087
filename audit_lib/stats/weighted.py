"""What is estimated by sampling weights: Kish's effective size, and intervals from variances of linearised values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats._checks import finite_values, t_quantile
from audit_lib.stats.cluster_worth import variance_of_one
from audit_lib.stats.clusters import difference_interval
from audit_lib.stats.two_sided import TwoSidedVariance

__all__ = ["kish_effective_size", "linearised_mean", "log_ratio_interval", "logit_rate_interval"]

Floats = NDArray[np.float64]


def kish_effective_size(weights: ArrayLike) -> float:
    r"""Number of equally weighted rows that unequal weights are worth: :math:`(\sum w)^2 / \sum w^2`.

    Parameters
    ----------
    weights : array_like of shape (n,)
        Above 0.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley, section 11.7.

    Examples
    --------
    >>> kish_effective_size([2, 2, 2]), round(kish_effective_size([1, 1, 4]), 3)
    (3.0, 2.0)
    """
    w = finite_values(weights, "weights")
    if not w.size:
        return 0.0
    w = w / w.max()  # of large weights the squares would overflow
    return float(w.sum() ** 2 / np.square(w).sum())


def linearised_mean(values: Floats, weights: Floats) -> tuple[float, Floats]:
    r"""Return the weighted mean, and how much each row moves it: :math:`w_i (y_i - \bar y_w) / \sum w`.

    The mean is Hajek's, a ratio of two totals; these are its linearised values (Taylor).

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        At least one row; weights above 0.

    References
    ----------
    Saerndal, C.-E., Swensson, B. & Wretman, J. (1992). Model Assisted Survey Sampling. Springer, section 5.7.

    Examples
    --------
    >>> mean, influence = linearised_mean(np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    >>> mean, influence.tolist()
    (0.75, [0.1875, -0.1875])
    """
    total = weights.sum()
    mean = float((weights * values).sum() / total)  # of rows that are all 1 exactly 1
    return mean, weights / total * (values - mean)


def logit_rate_interval(rate: float, sums: Floats, totals: Floats, level: float = 0.95) -> Interval:
    """Interval of a weighted rate on the logit scale, from the sums of its linearised values by cluster.

    Parameters
    ----------
    rate : float
        The rate.
    sums : ndarray of shape (clusters,)
        One a cluster; they add up to 0.
    totals : ndarray of shape (clusters,)
        Sum of each cluster's weights: what it holds of the rate, and so how far the others tell it.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        With clusters that are worth fewer than two of one size, a rate of 0 or 1, or no spread between clusters.

    Notes
    -----
    Range: 20 clusters in the stratum of the population that is drawn least (``docs/coverage.md``).

    Examples
    --------
    >>> found = logit_rate_interval(0.5, np.array([0.1, -0.1, 0.1, -0.1]), np.ones(4))
    >>> round(found.low, 3), round(found.high, 3)
    (0.05, 0.95)
    """
    count = sums.size
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    if not 0.0 < rate < 1.0:
        raise UndefinedMetricError("everybody or nobody is selected: weights leave no spread to estimate")
    variance, df = variance_of_one(sums, totals)
    if variance <= 1e-24:
        raise UndefinedMetricError("every cluster shows the same rate: no spread to estimate")
    half = t_quantile(level, df) * math.sqrt(variance) / (rate * (1 - rate))
    centre = math.log(rate / (1 - rate))
    low, high = (1 / (1 + math.exp(-min(max(x, -700.0), 700.0))) for x in (centre - half, centre + half))
    return Interval(
        low=low, high=high, level=level, method=f"logit of linearised values by cluster, t({df:.4g})"
    )


def log_ratio_interval(ratio: float, spread: TwoSidedVariance, level: float = 0.95) -> Interval:
    """Interval of a ratio of two weighted rates, from the variance of its logarithm.

    Parameters
    ----------
    ratio : float
        Above 0.
    spread : TwoSidedVariance
        Of the difference of the rates' logarithms.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        If the variance is 0, or there is no logarithm.

    Examples
    --------
    >>> from audit_lib.stats import two_sided_variance
    >>> spread = two_sided_variance([-0.1, 0.1, 0.1, -0.1], [0.1, -0.1, 0.1, -0.1])
    >>> found = log_ratio_interval(0.8, spread)
    >>> round(found.low, 3), round(found.high, 3)
    (0.36, 1.779)
    """
    if ratio <= 0.0:
        raise UndefinedMetricError("nobody of a side is selected: a ratio of 0 has no logarithm")
    found = difference_interval(math.log(ratio), spread, level)
    low, high = (math.exp(min(x, 700.0)) for x in (found.low, found.high))
    return replace(
        found, low=low, high=high, method=f"logarithm of linearised values by cluster, t({spread.df:.4g})"
    )
