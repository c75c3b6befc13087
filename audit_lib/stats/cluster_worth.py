r"""What clusters of unequal sizes are worth: the errors and the degrees of freedom that they leave.

A cluster that holds much of a category pulls its rate to its own, so that the deviations from it are too small; and
where few clusters decide, a variance is measured by few. Both are set right here, once for intervals and tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from audit_lib.errors import UndefinedMetricError

__all__ = [
    "ClusterSpread",
    "cluster_spread",
    "from_normal_scale",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpread:
    """How clusters spread around a rate.

    Parameters
    ----------
    moved : ndarray of float, shape (clusters,)
        What each cluster moves the rate, measured from the others.
    variance : float
        Of the rate: the sum of their squares.
    df : float
        Degrees of freedom of the variance.
    """

    moved: Floats
    variance: float
    df: float


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
    n, count = people.sum(), int(np.count_nonzero(people))
    shares = people / n
    if count > 1:
        require_worth(shares)
    if count < 2:
        raise UndefinedMetricError(f"{count} cluster: no variance between clusters to measure")
    p = selected.sum() / n if rate is None else rate
    moved = math.sqrt((count - 1) / count) * (selected - p * people) / (n * (1.0 - shares))
    squares = np.square(moved)
    variance, df = _sum(squares), worth_of(shares) - 1.0
    uneven = _sum(np.square(squares)) / max(variance**2, 1e-300) - 1.0 / count
    if variance > 0.0 and uneven > 0.0 and not _decided_as_one(selected, people):
        df = min(df, 2.0 / uneven)
    return ClusterSpread(moved=moved, variance=variance, df=df)


def _decided_as_one(selected: Floats, people: Floats) -> bool:
    there = people > 0
    sizes = people[there]
    return bool(np.ptp(sizes) == 0 and ((selected[there] == 0) | (selected[there] == sizes)).all())


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
