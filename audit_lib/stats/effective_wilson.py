"""The interval of one rate whose people come in clusters, from its variance."""

from __future__ import annotations

import math

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats._checks import z_quantile
from audit_lib.stats.intervals import clopper_pearson
from audit_lib.stats.normal_scale import from_normal_scale

__all__ = ["effective_wilson", "flat_limit"]


def effective_wilson(x: int, n: int, units: int, variance: float, df: float, level: float = 0.95) -> Interval:
    r"""Interval of a rate whose people come in clusters: Wilson's, of as many people as the clusters are worth.

    The effective number of people is :math:`\tilde n = p (1 - p) / V`, with V the rate's variance over
    clusters: n over the design effect. Wilson's limits are taken at it, with the t quantile of the degrees of
    freedom that the clusters leave. Where everybody or nobody is selected there is no V; see :func:`flat_limit`.

    Parameters
    ----------
    x, n : int
        Selected, of how many.
    units : int
        A, the clusters they come in.
    variance : float
        V; not looked at where x is 0 or n.
    df : float
        Its degrees of freedom, such as :func:`audit_lib.stats.cluster_worth.degrees_left` of the clusters.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        With one cluster, or if all show the same rate, unless everybody or nobody is selected.

    Notes
    -----
    Range: from 30 clusters on, where the clusters times the rate (or what is left of 1) are at least 10; elsewhere,
    and with clusters of very unequal sizes, 93% or more (``docs/coverage.md``).

    References
    ----------
    Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data. Survey Methodology 24, 193-201. Franco, C., Little, R. J. A.,
    Louis, T. A. & Slud, E. V. (2019). Comparative study of confidence intervals for proportions in complex
    sample surveys. J. Survey Stat. Methodol. 7, 334-364.

    Examples
    --------
    Twelve of 60 people in 20 clusters; the rate varies twice as much as with 60 independent people.

    >>> interval = effective_wilson(12, 60, 20, variance=2 * 0.2 * 0.8 / 60, df=19)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.09, 0.386)
    >>> effective_wilson(0, 60, 20, variance=0.0, df=19).method
    'Clopper-Pearson over 20 clusters, conservative'
    """
    if x in (0, n):
        reach = flat_limit(units, level)
        method = f"Clopper-Pearson over {units} clusters, conservative"
        low, high = (0.0, reach) if x == 0 else (1.0 - reach, 1.0)
        return Interval(low=low, high=high, level=level, method=method)
    if units < 2:
        raise UndefinedMetricError(f"all {n} people are in one cluster: no spread to estimate")
    p = x / n
    if variance <= 1e-12 * p * (1 - p) / n:
        raise UndefinedMetricError("every cluster shows the same rate: no spread to estimate")
    t = from_normal_scale(z_quantile(level), df)
    shrink = t * t * variance / (p * (1 - p))  # t^2 over the effective number
    centre = (p + shrink / 2) / (1 + shrink)
    half = math.sqrt(t * t * variance + shrink * shrink / 4) / (1 + shrink)
    method = f"Wilson score, n over the design effect of {units} clusters, t({df:.4g})"
    return Interval(low=max(centre - half, 0.0), high=min(centre + half, 1.0), level=level, method=method)


def flat_limit(units: int, level: float = 0.95) -> float:
    """Return the upper limit of a mean of values in [0, 1] that is 0 in all of `units` clusters.

    With clusters of one size such a mean is at most the chance that a cluster holds anything above 0; and that
    none of `units` clusters does says, by Clopper and Pearson's argument, that this chance is below the limit.

    Parameters
    ----------
    units : int
        Independent clusters, all with a mean of 0.
    level : float
        Nominal coverage of the two-sided interval whose upper limit this is.

    Examples
    --------
    >>> round(flat_limit(100), 4)
    0.0362
    """
    return clopper_pearson(0, units, level).high
