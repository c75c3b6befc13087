"""Uncertainty of the rank index: who ranks higher, a random member of the group or of the reference.

With theta = P(X > Y) + P(X = Y) / 2, the rank index is 2 theta - 1, in [-1, 1]; 0 is parity. Its
variance is that of the **placements**: the share of the other sample that each score is above, ties
counting half.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, TestResult
from audit_lib.stats._checks import bisect, both_or_neither, finite_values, t_quantile, z_quantile
from audit_lib.stats.clusters import t_test
from audit_lib.stats.two_sided import TwoSidedVariance, two_sided_variance

__all__ = ["index_interval", "index_test", "placements", "rank_index_interval"]

Floats = NDArray[np.float64]


def placements(group: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
    """Return the share of pairs that each score wins for the group, ties counting half.

    Parameters
    ----------
    group, reference : array_like of shape (n,), (m,)
        Scores.

    Returns
    -------
    ndarray of shape (n,)
        For each score of the group, the share of the reference below it.
    ndarray of shape (m,)
        For each score of the reference, the share of the group above it.

    Raises
    ------
    UndefinedMetricError
        If a group is empty.

    Notes
    -----
    Both have the mean theta. Time O((n + m) log(n + m)).

    Examples
    --------
    >>> wins, lost = placements([2, 3, 5], [1, 3])
    >>> wins.tolist(), lost.round(3).tolist()
    ([0.5, 0.75, 1.0], [1.0, 0.5])
    """
    x, y = finite_values(group, "the group"), finite_values(reference, "the reference")
    if x.size == 0 or y.size == 0:
        raise UndefinedMetricError(f"no one in {'the group' if x.size == 0 else 'the reference'}")
    below = _share_below(x, np.sort(y))
    above = 1.0 - _share_below(y, np.sort(x))
    return below, above


def rank_index_interval(
    group: ArrayLike,
    reference: ArrayLike,
    group_clusters: ArrayLike | None = None,
    reference_clusters: ArrayLike | None = None,
    level: float = 0.95,
    *,
    transform: Literal["logit", "none"] = "logit",
) -> Interval:
    r"""Interval of the rank index 2 theta - 1.

    Without clusters, Brunner and Munzel's variance of theta,

    .. math:: V = S_x^2 / n + S_y^2 / m,

    with the sample variances of the placements, and their degrees of freedom (Satterthwaite). Ties
    need no correction, nor equal variances. With clusters, the influence values
    :math:`(\text{placement} - \theta)/n` of both samples are summed within clusters, so an
    application whose versions stand on both sides contributes its covariance.

    Parameters
    ----------
    group, reference : array_like
        Scores.
    group_clusters, reference_clusters : array_like, optional
        The application of each score; equal labels on both sides are the same application. Give
        both or neither.
    level : float
        Nominal coverage.
    transform : {"logit", "none"}
        ``logit`` works on log(theta / (1 - theta)): limits stay inside (-1, 1), and coverage is
        better in small samples. ``none`` is the symmetrical interval, cut at -1 and 1.

    Returns
    -------
    Interval
        Where the samples do not overlap at all, the variance is 0 and says nothing; then Newcombe's
        score interval is given (his method 5), counting independent units, and `method` says so.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two independent units, or if all scores are equal.

    Notes
    -----
    Range of the logit interval: covers 93 to 97% from 30 independent units a side, for indices
    between -0.8 and 0.8, and where at least 3 scores of each side are expected outside the most
    frequent one (``docs/coverage.md``). With fewer units it errs on the long side; the
    untransformed one is too short towards -1 and 1.

    References
    ----------
    Brunner, E. & Munzel, U. (2000). The nonparametric Behrens-Fisher problem. Biom. J. 42, 17-25.
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53,
    567-578. Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic, part 2. Stat. Med. 25, 559-573.

    Examples
    --------
    Brunner and Munzel's pain scores after laparoscopic surgery, treatment against control:

    >>> treated = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
    >>> control = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
    >>> interval = rank_index_interval(control, treated, transform="none")
    >>> round((interval.low + 1) / 2, 4), round((interval.high + 1) / 2, 4)
    (0.5952, 0.9827)
    """
    if transform not in ("logit", "none"):
        raise InputError(f"transform is {transform!r}; give 'logit' or 'none'")
    wins, lost = placements(group, reference)
    clustered = both_or_neither(group_clusters, reference_clusters)
    theta = float(wins.mean())
    spread = two_sided_variance(
        (wins - theta) / wins.size, (lost - lost.mean()) / lost.size, group_clusters, reference_clusters
    )
    name = "cluster influence function" if clustered else "Brunner-Munzel"
    return index_interval(theta, spread, level, name=name, transform=transform)


def index_interval(
    theta: float,
    spread: TwoSidedVariance,
    level: float,
    *,
    name: str = "cluster influence function",
    transform: Literal["logit", "none"] = "logit",
) -> Interval:
    """Interval of 2 theta - 1 from the variance of theta: the last step of :func:`rank_index_interval`.

    Parameters
    ----------
    theta : float
        P(X > Y) + P(X = Y) / 2.
    spread : TwoSidedVariance
        Its variance.
    level, transform
        As in :func:`rank_index_interval`.
    name : str
        Where the variance comes from.

    Raises
    ------
    UndefinedMetricError
        If the variance is 0 and theta is neither 0 nor 1.

    Examples
    --------
    >>> from audit_lib.stats.two_sided import two_sided_variance
    >>> interval = index_interval(0.5, two_sided_variance([-0.1, 0.1], [0.1, -0.1]), 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.985, 0.985)
    """
    if theta in (0.0, 1.0):
        limit = 2 * separated_limit(spread.clusters_group, spread.clusters_reference, level) - 1
        low, high = (limit, 1.0) if theta == 1.0 else (-1.0, -limit)
        return Interval(low=low, high=high, level=level, method="Newcombe score, separated samples")
    if spread.variance == 0.0:
        raise UndefinedMetricError("no placement differs: the spread cannot be estimated")
    half = t_quantile(level, spread.df) * math.sqrt(spread.variance)
    if transform == "logit":
        centre, half = math.log(theta / (1 - theta)), half / (theta * (1 - theta))
        low, high = math.tanh((centre - half) / 2), math.tanh((centre + half) / 2)
    else:
        low, high = max(2 * (theta - half) - 1, -1.0), min(2 * (theta + half) - 1, 1.0)
    scale = ", logit" if transform == "logit" else ""
    return Interval(low=low, high=high, level=level, method=f"{name}{scale}, t({spread.df:.4g})")


def index_test(
    theta: float, spread: TwoSidedVariance, name: str = "cluster influence function"
) -> TestResult:
    """Test that theta is one half, on the scale of :func:`index_interval`: both always agree.

    A t test of the log odds of theta. Where the samples do not overlap, the score test that Newcombe's
    interval inverts: (theta - 1/2) over Hanley and McNeil's standard error at one half.

    Parameters
    ----------
    theta, spread, name
        As in :func:`index_interval`.

    Raises
    ------
    UndefinedMetricError
        If the variance is 0 and theta is neither 0 nor 1.

    Examples
    --------
    >>> from audit_lib.stats.two_sided import two_sided_variance
    >>> test = index_test(0.8, two_sided_variance([-0.1, 0.1] * 8, [0.1, -0.1] * 8))
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (0.38, 0.707)
    """
    if theta in (0.0, 1.0):
        n, m = spread.clusters_group, spread.clusters_reference
        z = (theta - 0.5) / math.sqrt(_hanley_mcneil(0.5, n, m))
        return TestResult(
            name="score_test",
            p_value=min(math.erfc(abs(z) / math.sqrt(2)), 1.0),
            statistic=z,
            n=spread.clusters,
            method="Newcombe score, separated samples, normal",
        )
    if spread.variance == 0.0:
        raise UndefinedMetricError("no placement differs: the spread cannot be estimated")
    error = math.sqrt(spread.variance) / (theta * (1 - theta))
    return t_test(math.log(theta / (1 - theta)), error, spread.df, spread.clusters, f"{name}, logit")


def _share_below(values: Floats, ordered: Floats) -> Floats:
    counts = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return counts / (2 * ordered.size)


def separated_limit(n: int, m: int, level: float) -> float:
    """Return the lower limit of theta where all n values exceed all m.

    Solves 1 - t = z sqrt(V(t)) with Hanley and McNeil's variance at the mean sample size: Newcombe's
    method 5. The upper limit where none exceeds is 1 less this.

    Parameters
    ----------
    n, m : int
        Values of each side.
    level : float
        Nominal coverage of the two-sided interval.

    Examples
    --------
    >>> 0.5 < separated_limit(5, 5, 0.95) < separated_limit(50, 50, 0.95) < 1
    True
    """
    z = z_quantile(level)
    return bisect(lambda t: 1 - t - z * math.sqrt(_hanley_mcneil(t, n, m)), 0.0, 1.0 - 1e-12)


def _hanley_mcneil(t: float, n: int, m: int) -> float:
    mean = (n + m) / 2 - 1
    return t * (1 - t) * (1 + mean * (1 - t) / (2 - t) + mean * t / (1 + t)) / (n * m)
