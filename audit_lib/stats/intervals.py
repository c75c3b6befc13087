"""Intervals for one proportion, and for the ratio and the difference of two independent ones.

First the group, then the comparator: ``x1`` of ``n1`` against ``x2`` of ``n2``. Limits are computed
from the integer counts, so nothing breaks at 0 or at n. Where two groups share applications, their
counts are not independent; use :mod:`audit_lib.stats.clusters` instead.
"""

from __future__ import annotations

import math
from typing import Literal

from audit_lib.errors import InputError
from audit_lib.results import Interval
from audit_lib.stats._checks import bisect, check_counts, check_level, check_two_samples, z_quantile
from audit_lib.stats.koopman import koopman_limits

__all__ = ["clopper_pearson", "difference_of_proportions", "ratio_of_proportions", "wilson"]


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Score interval of a proportion: all p with ``|x/n - p| <= z sqrt(p (1 - p) / n)``.

    Parameters
    ----------
    successes, n : int
        Counts, ``0 <= successes <= n``.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval
        Never outside [0, 1], never of width 0.

    Raises
    ------
    UndefinedMetricError
        If n is 0.

    Notes
    -----
    Range: covers 93 to 97% where at least 10 are expected selected and 10 not. Elsewhere it is near
    nominal on average over p, but dips at single values of p (``docs/coverage.md``); use
    :func:`clopper_pearson` where a guarantee is needed.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    JASA 22, 209-212.

    Examples
    --------
    >>> interval = wilson(15, 148)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0624, 0.1605)
    """
    x, n = check_counts(successes, n)
    low, high = _wilson_limits(x, n, z_quantile(level))
    return Interval(low=low, high=high, level=level, method="Wilson score")


def clopper_pearson(successes: int, n: int, level: float = 0.95, *, midp: bool = False) -> Interval:
    """Exact interval of a proportion, by inverting two one-sided binomial tests.

    Parameters
    ----------
    successes, n : int
        Counts, ``0 <= successes <= n``.
    level : float
        Nominal coverage; the actual one is never less, unless `midp`.
    midp : bool
        Count half of the probability of the observed count: shorter, and close to nominal coverage
        on average instead of at least nominal everywhere.

    Raises
    ------
    UndefinedMetricError
        If n is 0.

    Notes
    -----
    Range: any counts; with `midp`, as :func:`wilson`.

    References
    ----------
    Clopper, C. J. & Pearson, E. S. (1934). Biometrika 26, 404-413. Mid-p: Berry, G. & Armitage, P.
    (1995). The Statistician 44, 417-423.

    Examples
    --------
    >>> interval = clopper_pearson(15, 148)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0578, 0.1617)
    """
    from scipy.special import betainc, betaincinv

    x, n = check_counts(successes, n)
    tail = (1.0 - check_level(level)) / 2.0
    if not midp:
        low = float(betaincinv(x, n - x + 1, tail)) if x > 0 else 0.0
        high = float(betaincinv(x + 1, n - x, 1.0 - tail)) if x < n else 1.0
        return Interval(low=low, high=high, level=level, method="Clopper-Pearson")

    def at_least(count: int, p: float) -> float:
        if count <= 0:
            return 1.0
        return float(betainc(count, n - count + 1, p)) if count <= n else 0.0

    def upper_tail(p: float) -> float:
        return (at_least(x, p) + at_least(x + 1, p)) / 2.0

    low = bisect(lambda p: upper_tail(p) - tail, 0.0, 1.0) if x > 0 else 0.0
    high = bisect(lambda p: upper_tail(p) - (1.0 - tail), 0.0, 1.0) if x < n else 1.0
    return Interval(low=low, high=high, level=level, method="Clopper-Pearson, mid-p")


def ratio_of_proportions(
    x1: int,
    n1: int,
    x2: int,
    n2: int,
    level: float = 0.95,
    *,
    method: Literal["koopman", "mover"] = "koopman",
) -> Interval:
    r"""Interval of the ratio p1 / p2 of two independent proportions.

    ``koopman`` inverts Pearson's chi-square test of ``p1 = ratio * p2``: all ratios for which

    .. math:: \frac{(\hat p_1 - \rho \hat p_2)^2}
              {\tilde p_1 (1 - \tilde p_1) / n_1 + \rho^2 \tilde p_2 (1 - \tilde p_2) / n_2} \le z^2

    with the maximum likelihood estimates under the constraint. ``mover`` recovers the variances
    from the two Wilson intervals.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Selected and total of the group, then of the comparator.
    level : float
        Nominal coverage.
    method : {"koopman", "mover"}
        Construction.

    Returns
    -------
    Interval
        The lower limit is 0 where x1 is 0; the upper one is infinite where x2 is 0. Both at once
        where nobody was selected: the data say nothing about the ratio.

    Raises
    ------
    UndefinedMetricError
        If n1 or n2 is 0.

    Notes
    -----
    Range: covers 93 to 97% where at least 5 are expected in each of the four cells, selected and
    not (``docs/coverage.md``); with fewer it mostly errs on the long side.

    The comparator is taken as fixed before the data were seen. Where it is the category with the
    highest rate, this interval is conditional on that choice; see
    :func:`audit_lib.stats.simultaneous_ratios`.

    References
    ----------
    Koopman, P. A. R. (1984). Confidence intervals for the ratio of two binomial proportions.
    Biometrics 40, 513-517. Donner, A. & Zou, G. Y. (2012). Closed-form confidence intervals for
    functions of the normal mean and standard deviation. Stat. Methods Med. Res. 21, 347-359.

    Examples
    --------
    Koopman's own example, 36 of 40 against 16 of 80:

    >>> interval = ratio_of_proportions(36, 40, 16, 80)
    >>> round(interval.low, 2), round(interval.high, 2)
    (2.94, 7.15)
    """
    x1, n1, x2, n2 = check_two_samples(x1, n1, x2, n2)
    z = z_quantile(level)
    if method == "koopman":
        low, high = (float(limit) for limit in koopman_limits(x1, n1, x2, n2, z))
        return Interval(low=low, high=high, level=level, method="Koopman score")
    if method == "mover":
        low, high = _mover_ratio_limits(x1, n1, x2, n2, z)
        return Interval(low=low, high=high, level=level, method="MOVER from Wilson limits")
    raise InputError(f"method is {method!r}; give 'koopman' or 'mover'")


def difference_of_proportions(
    x1: int,
    n1: int,
    x2: int,
    n2: int,
    level: float = 0.95,
    *,
    method: Literal["newcombe", "miettinen-nurminen"] = "newcombe",
) -> Interval:
    r"""Interval of the difference p1 - p2 of two independent proportions.

    ``newcombe`` is the hybrid score interval: with Wilson limits :math:`l_i, u_i`,

    .. math:: d - \sqrt{(p_1 - l_1)^2 + (u_2 - p_2)^2}, \quad d + \sqrt{(u_1 - p_1)^2 + (p_2 - l_2)^2}.

    ``miettinen-nurminen`` inverts the score test under the constraint p1 - p2 = d, with their
    variance factor N / (N - 1).

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Selected and total of the group, then of the comparator.
    level : float
        Nominal coverage.
    method : {"newcombe", "miettinen-nurminen"}
        Construction.

    Raises
    ------
    UndefinedMetricError
        If n1 or n2 is 0.

    Notes
    -----
    Range: covers 93 to 97% where at least 5 are expected in each of the four cells, selected and
    not (``docs/coverage.md``).

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions:
    comparison of eleven methods. Stat. Med. 17, 873-890 (method 10). Miettinen, O. & Nurminen, M.
    (1985). Comparative analysis of two rates. Stat. Med. 4, 213-226.

    Examples
    --------
    Newcombe's example (a), 56 of 70 against 48 of 80:

    >>> interval = difference_of_proportions(56, 70, 48, 80)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3339)
    >>> interval = difference_of_proportions(56, 70, 48, 80, method="miettinen-nurminen")
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0528, 0.3382)
    """
    x1, n1, x2, n2 = check_two_samples(x1, n1, x2, n2)
    z = z_quantile(level)
    if method == "newcombe":
        low, high = _newcombe_limits(x1, n1, x2, n2, z)
        return Interval(low=low, high=high, level=level, method="Newcombe hybrid score")
    if method == "miettinen-nurminen":
        # exchanging the groups turns one limit into the other with its sign changed
        low = _miettinen_nurminen_lower(x1, n1, x2, n2, z)
        high = -_miettinen_nurminen_lower(x2, n2, x1, n1, z)
        return Interval(low=low, high=high, level=level, method="Miettinen-Nurminen score")
    raise InputError(f"method is {method!r}; give 'newcombe' or 'miettinen-nurminen'")


def _wilson_limits(x: int, n: int, z: float) -> tuple[float, float]:
    p = x / n
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # the product of the two roots is p^2 / (1 + z^2/n): no cancellation in either tail
    high = 1.0 if x == n else (centre + half) / (1 + z * z / n)
    low = p * p / (centre + half)
    return low, high


def _mover_ratio_limits(x1: int, n1: int, x2: int, n2: int, z: float) -> tuple[float, float]:
    p1, p2 = x1 / n1, x2 / n2
    l1, u1 = _wilson_limits(x1, n1, z)
    l2, u2 = _wilson_limits(x2, n2, z)
    product = p1 * p2
    numerator = l1 * (2 * p1 - l1)
    root = math.sqrt(max(product * product - numerator * u2 * (2 * p2 - u2), 0.0))
    low = numerator / (product + root) if x1 else 0.0
    denominator = l2 * (2 * p2 - l2)
    if denominator == 0.0:
        return low, math.inf
    root = math.sqrt(max(product * product - u1 * (2 * p1 - u1) * denominator, 0.0))
    return low, (product + root) / denominator


def _newcombe_limits(x1: int, n1: int, x2: int, n2: int, z: float) -> tuple[float, float]:
    p1, p2 = x1 / n1, x2 / n2
    l1, u1 = _wilson_limits(x1, n1, z)
    l2, u2 = _wilson_limits(x2, n2, z)
    d = p1 - p2
    return max(d - math.hypot(p1 - l1, u2 - p2), -1.0), min(d + math.hypot(u1 - p1, p2 - l2), 1.0)


def _miettinen_nurminen_lower(x1: int, n1: int, x2: int, n2: int, z: float) -> float:
    estimate = x1 / n1 - x2 / n2

    def excess(d: float) -> float:
        p1, p2 = _constrained_by_difference(d, x1, n1, x2, n2)
        total = n1 + n2
        variance = (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * total / (total - 1)
        if variance <= 0.0:
            return -z * z if d == estimate else math.inf
        return (estimate - d) ** 2 / variance - z * z

    if estimate == -1.0:
        return -1.0
    return bisect(excess, -1.0, estimate)


def _constrained_by_difference(d: float, x1: int, n1: int, x2: int, n2: int) -> tuple[float, float]:
    """Maximum likelihood of (p1, p2) under p1 - p2 = d: the root of the authors' cubic in p2."""
    total, selected = n1 + n2, x1 + x2
    c3 = float(total)
    c2 = (n1 + 2 * n2) * d - total - selected
    c1 = (n2 * d - total - 2 * x2) * d + selected
    c0 = x2 * d * (1 - d)
    q = c2**3 / (27 * c3**3) - c1 * c2 / (6 * c3 * c3) + c0 / (2 * c3)
    p = math.copysign(math.sqrt(max(c2 * c2 / (9 * c3 * c3) - c1 / (3 * c3), 0.0)), q)
    cosine = min(max(q / p**3, -1.0), 1.0) if p else 0.0
    angle = (math.pi + math.acos(cosine)) / 3
    p2 = 2 * p * math.cos(angle) - c2 / (3 * c3)
    p2 = min(max(p2, 0.0, -d), 1.0, 1.0 - d)
    return min(max(p2 + d, 0.0), 1.0), p2
