r"""What clusters of unequal sizes are worth: the errors and the degrees of freedom that they leave.

A cluster that holds much of a category pulls its rate to its own, so that the deviations from it are too small; and
where few clusters decide, a variance is measured by few. Both are set right here, once for intervals and tests.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from audit_lib.errors import UndefinedMetricError

__all__ = [
    "degrees_left",
    "from_normal_scale",
    "leave_one_out",
    "on_normal_scale",
    "require_worth",
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


def require_worth(shares: Floats) -> None:
    """Refuse clusters that are worth fewer than three of one size: no interval of a known level exists for them.

    Parameters
    ----------
    shares : ndarray of float, shape (clusters,)
        As in :func:`worth_of`.

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
    worth, count, largest, least = worth_of(shares), int(np.count_nonzero(shares)), float(shares.max()), LEAST
    if worth < LEAST - 1e-9:
        raise UndefinedMetricError(
            f"{count} clusters, of which the largest holds {largest:.0%} of the people, are worth {worth:.1f} of one "
            f"size; at least {least} are needed to tell how much clusters differ"
        )


def leave_one_out(sums: Floats, shares: Floats) -> Floats:
    r"""Return what each cluster moves a mean, measured from the mean of the other clusters (jackknife).

    .. math:: \tilde u_c = \sqrt{\tfrac{A - 1}{A}} \, \frac{u_c}{1 - s_c}

    The sum of their squares is the jackknife variance. With A clusters of one size it is
    :math:`\tfrac{A}{A - 1} \sum_c u_c^2`, the usual one.

    Parameters
    ----------
    sums : ndarray of float, shape (clusters,)
        u: the summed influence values of each cluster.
    shares : ndarray of float, shape (clusters,)
        As in :func:`worth_of`; 0 where a cluster has no rows.

    Raises
    ------
    UndefinedMetricError
        With one cluster.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28, 169-181. MacKinnon, J. G., Nielsen, M. O. & Webb, M. D. (2023). Leverage,
    influence, and the jackknife in clustered regression models. Stata Journal 23, 942-982.

    Examples
    --------
    >>> found = leave_one_out(np.array([0.1, -0.1, 0.0, 0.0]), np.full(4, 0.25))
    >>> round(float((found**2).sum()), 4), round(4 / 3 * 0.02, 4)
    (0.0267, 0.0267)
    """
    count = int(np.count_nonzero(shares))
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    return np.asarray(math.sqrt((count - 1) / count) * sums / (1.0 - shares), dtype=np.float64)


def degrees_left(sums: Floats, shares: Floats) -> float:
    r"""Return the degrees of freedom of the sum of squares of :func:`leave_one_out`.

    The fewer of what clusters are worth less one, and of Satterthwaite's of the squares, which says when few clusters
    hold what there is of spread:

    .. math:: \min\Big(\frac{1}{\sum s_c^2} - 1,\;
              2 \Big/ \Big(\frac{\sum \tilde u_c^4}{(\sum \tilde u_c^2)^2} - \frac{1}{A}\Big)\Big)

    Parameters
    ----------
    sums : ndarray of float, shape (clusters,)
        From :func:`leave_one_out`.
    shares : ndarray of float, shape (clusters,)
        As in :func:`worth_of`.

    References
    ----------
    Satterthwaite, F. E. (1946). Biometrics 2, 110-114. Carter, Schnepel and Steigerwald (2017), see
    :func:`worth_of`.

    Examples
    --------
    Of 100 clusters one half is selected; then only four of them:

    >>> def of(won):
    ...     return degrees_left(np.repeat([1 - won / 100, -won / 100], [won, 100 - won]), np.full(100, 0.01))
    >>> round(of(50), 1), round(of(4), 1)
    (99.0, 9.1)
    """
    squares = np.square(sums)
    total = _sum(squares)
    uneven = _sum(np.square(squares)) / max(total**2, 1e-300) - 1.0 / int(np.count_nonzero(shares))
    by_size = worth_of(shares) - 1.0
    return by_size if total == 0.0 or uneven <= 0.0 else min(by_size, 2.0 / uneven)


def on_normal_scale(statistic: Floats, df: Floats) -> Floats:
    """Return the normal deviates with the upper tails that statistics have by Student's law.

    Parameters
    ----------
    statistic : ndarray of float
        At least 0.
    df : ndarray of float
        Degrees of freedom of each; may be infinite.

    Examples
    --------
    >>> on_normal_scale(np.array([4.303, 1.96]), np.array([2.0, np.inf])).round(2).tolist()
    [1.96, 1.96]
    """
    finite = np.isfinite(df)
    tail = np.maximum(stdtr(np.where(finite, df, 1.0), -statistic), 1e-300)
    return np.asarray(np.where(finite, -ndtri(tail), statistic), dtype=np.float64)


def from_normal_scale(deviate: float, df: float) -> float:
    """Undo :func:`on_normal_scale`: what a critical value on the normal scale is for Student's law.

    Parameters
    ----------
    deviate : float
        On the normal scale.
    df : float
        Degrees of freedom; may be infinite.

    Examples
    --------
    >>> round(from_normal_scale(1.959964, 2.0), 3), from_normal_scale(2.5, np.inf)
    (4.303, 2.5)
    """
    return float(-stdtrit(df, ndtr(-deviate))) if math.isfinite(df) else deviate


def _sum(values: Floats) -> float:
    """Add up exactly: the order of clusters changes nothing."""
    return math.fsum(values.tolist())
