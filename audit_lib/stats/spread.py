"""The spread within groups of values, pooled over the groups: the noise of answers to the same question."""

from __future__ import annotations

import math

from scipy.special import chdtri

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats._checks import check_level

__all__ = ["pooled_sd_interval"]


def pooled_sd_interval(squares: float, df: int, level: float = 0.95) -> Interval:
    r"""Interval of the standard deviation within groups, :math:`s = \sqrt{SS / \nu}`.

    .. math:: s \sqrt{\nu / \chi^2_{\nu, 1 - \alpha/2}} \quad\text{to}\quad s \sqrt{\nu / \chi^2_{\nu, \alpha/2}}

    Parameters
    ----------
    squares : float
        Sum of the squared deviations of all values from the mean of their group.
    df : int
        Values minus groups.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        Without a degree of freedom, or if no value departs from its group's mean.

    Notes
    -----
    Exact where values are normal with one spread. Values with heavier tails, or groups of unlike spread, vary more
    than it says.

    References
    ----------
    Snedecor, G. W. & Cochran, W. G. (1989). Statistical Methods, 8th ed., section 5.11.

    Examples
    --------
    Three answers to each of five questions, which leave ten degrees of freedom:

    >>> interval = pooled_sd_interval(40.0, 10)
    >>> round(interval.low, 4), round(interval.high, 4), interval.method
    (1.3974, 3.5099, 'chi-squared, 10 degrees of freedom')
    """
    if df < 1:
        raise UndefinedMetricError("nothing was asked twice: no spread of repeats to measure")
    if squares == 0:
        raise UndefinedMetricError("all repeats are alike: no spread to give an interval of")
    tail = (1 - check_level(level)) / 2
    low, high = (math.sqrt(squares / float(chdtri(df, p))) for p in (tail, 1 - tail))
    return Interval(low=low, high=high, level=level, method=f"chi-squared, {df} degrees of freedom")
