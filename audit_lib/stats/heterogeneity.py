"""Do positions agree? Tests over strata, the common odds ratio, and Simpson's paradox.

Each stratum is ``(x1, n1, x2, n2)``: selected and total of the group, then of the comparator. A
stratum in which one group is empty, or everybody or nobody was selected, says nothing about the
odds ratio; it is left out and the result's ``method`` counts it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats._checks import as_count, check_level, z_quantile
from audit_lib.typed_json import Typed, as_json

__all__ = [
    "MantelHaenszel",
    "SimpsonCheck",
    "TwoByTwo",
    "breslow_day",
    "cochran_q",
    "mantel_haenszel",
    "simpson_check",
]

TwoByTwo = tuple[int, int, int, int]


def cochran_q(estimates: ArrayLike, variances: ArrayLike) -> TestResult:
    r"""Cochran's test that independent estimates, such as one a position, share one true value.

    .. math:: Q = \sum_i w_i (\hat\theta_i - \bar\theta_w)^2, \quad w_i = 1/V_i,

    referred to chi-square with k - 1 degrees of freedom.

    Parameters
    ----------
    estimates, variances : array_like of shape (k,)
        Estimates, on a scale where they are about normal (a log ratio, a gap), and their variances.

    Returns
    -------
    TestResult
        ``n`` is the number of estimates; ``method`` states I2, the share of Q beyond chance.

    Raises
    ------
    UndefinedMetricError
        With fewer than two estimates, one that is not finite, or a variance that is not positive.

    References
    ----------
    Cochran, W. G. (1954). The combination of estimates from different experiments. Biometrics 10,
    101-129. Higgins, J. P. T. & Thompson, S. G. (2002). Stat. Med. 21, 1539-1558 (I2).

    Examples
    --------
    >>> test = cochran_q([0.1, 0.4, 0.7], [0.01, 0.01, 0.04])
    >>> round(test.statistic, 3), round(test.p_value, 4), test.method
    (9.0, 0.0111, 'Cochran Q, chi-square(2), I2 = 78%')
    """
    theta, v = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if theta.shape != v.shape or theta.ndim != 1:
        raise InputError(f"{theta.shape} estimates and {v.shape} variances; give one variance an estimate")
    if theta.size < 2:
        raise UndefinedMetricError("fewer than two estimates: nothing to compare")
    if not (np.isfinite(theta).all() and np.isfinite(v).all()):
        raise UndefinedMetricError("an estimate or a variance is missing or infinite")
    if not (v > 0.0).all():
        raise UndefinedMetricError("an estimate without variance cannot be weighted")
    with np.errstate(over="ignore", invalid="ignore"):
        weights = 1.0 / v
        centre = float((weights * theta).sum() / weights.sum())
        q = float((weights * np.square(theta - centre)).sum())
    if not math.isfinite(q):
        raise UndefinedMetricError("estimates or variances are too large or too small to be weighted")
    df = theta.size - 1
    share = max(0.0, (q - df) / q) if q > 0.0 else 0.0
    return TestResult(
        name="cochran_q",
        p_value=float(chdtrc(df, q)),
        statistic=q,
        n=theta.size,
        method=f"Cochran Q, chi-square({df}), I2 = {100 * share:.0f}%",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MantelHaenszel:
    """What the strata say together.

    Parameters
    ----------
    odds_ratio : float or Undefined
        Common odds ratio of selection, group over comparator.
    interval : Interval or Undefined
        Of the odds ratio.
    test : TestResult
        That the common odds ratio is 1.
    gap : float
        Common difference of rates.
    strata : int
        Strata that carry information.
    """

    odds_ratio: float | Undefined
    interval: Interval | Undefined
    test: TestResult
    gap: float
    strata: int

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def mantel_haenszel(strata: Sequence[TwoByTwo], level: float = 0.95) -> MantelHaenszel:
    r"""Estimate the common odds ratio and rate gap over strata, and the test of no association.

    With the cells a, b, c, d of each stratum of size N,

    .. math:: \hat\psi = \frac{\sum ad/N}{\sum bc/N}, \qquad
              \chi^2 = \frac{(\sum a - \sum E a)^2}{\sum V a},

    without continuity correction; the interval is Robins, Breslow and Greenland's, on the log scale.
    Range: covers 93 to 97% from 2 strata of 20 a group to 20 strata of 10 (``docs/coverage.md``).

    Parameters
    ----------
    strata : sequence of tuple of int
        Selected and total of the group, then of the comparator, in each stratum.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        If no stratum carries information.

    References
    ----------
    Mantel, N. & Haenszel, W. (1959). JNCI 22, 719-748. Robins, J., Breslow, N. & Greenland, S.
    (1986). Biometrics 42, 311-323.

    Examples
    --------
    >>> result = mantel_haenszel([(20, 50, 30, 50), (10, 60, 8, 30)])
    >>> round(result.odds_ratio, 3), round(result.test.p_value, 4)
    (0.479, 0.0235)
    """
    used = _informative(strata)
    z = z_quantile(level)
    r = s = pr = ps_qr = qs = deviation = variance = 0.0
    gap_up = gap_down = Fraction(0)
    for x1, n1, x2, n2 in used:
        total, selected = n1 + n2, x1 + x2
        a, b, c, d = x1, n1 - x1, x2, n2 - x2
        p, q = (a + d) / total, (b + c) / total
        r_k, s_k = a * d / total, b * c / total
        r, s = r + r_k, s + s_k
        pr, ps_qr, qs = pr + p * r_k, ps_qr + p * s_k + q * r_k, qs + q * s_k
        deviation += (x1 * n2 - x2 * n1) / total
        variance += n1 * n2 * selected * (total - selected) / (total * total * (total - 1))
        gap_up += Fraction(x1 * n2 - x2 * n1, total)
        gap_down += Fraction(n1 * n2, total)
    chi2 = deviation * deviation / variance
    left_out = f"over {len(used)} of {len(strata)} strata"
    no_ratio = Undefined("an empty cell in every stratum: no finite odds ratio")
    odds_ratio: float | Undefined = no_ratio
    interval: Interval | Undefined = no_ratio
    if r > 0.0 and s > 0.0:
        odds_ratio = r / s
        half = z * math.sqrt(pr / (2 * r * r) + ps_qr / (2 * r * s) + qs / (2 * s * s))
        interval = Interval(
            low=odds_ratio * math.exp(-half),
            high=odds_ratio * math.exp(half),
            level=check_level(level),
            method="Robins-Breslow-Greenland, log scale",
        )
    return MantelHaenszel(
        odds_ratio=odds_ratio,
        interval=interval,
        test=TestResult(
            name="mantel_haenszel",
            p_value=float(chdtrc(1, chi2)),
            statistic=chi2,
            n=sum(n1 + n2 for _, n1, _, n2 in used),
            method=f"Cochran-Mantel-Haenszel, chi-square(1), {left_out}",
        ),
        gap=float(gap_up / gap_down),
        strata=len(used),
    )


def breslow_day(strata: Sequence[TwoByTwo], *, tarone: bool = True) -> TestResult:
    r"""Breslow and Day's test that the odds ratio is the same in all strata.

    .. math:: \sum_k \frac{(a_k - A_k)^2}{V_k} - \frac{(\sum (a_k - A_k))^2}{\sum V_k},

    with A and V the mean and variance of a given the margins and the Mantel-Haenszel odds ratio,
    referred to chi-square with K - 1 degrees of freedom. The second term is Tarone's correction.

    Parameters
    ----------
    strata : sequence of (x1, n1, x2, n2)
        One table a position.
    tarone : bool
        Apply the correction, which makes the test asymptotically valid.

    Raises
    ------
    UndefinedMetricError
        With fewer than two informative strata, or no finite common odds ratio.

    Notes
    -----
    Range: at 5%, finds equal odds ratios equal 93 to 97% of the time from 2 strata of 20 a group to
    20 strata of 10 (``docs/coverage.md``).

    References
    ----------
    Breslow, N. E. & Day, N. E. (1980). Statistical Methods in Cancer Research, vol. 1, p. 142. IARC.
    Tarone, R. E. (1985). On heterogeneity tests based on efficient scores. Biometrika 72, 91-95.

    Examples
    --------
    >>> test = breslow_day([(20, 50, 30, 50), (30, 60, 8, 30)])
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (8.447, 0.0037)
    """
    used = _informative(strata)
    if len(used) < 2:
        raise UndefinedMetricError(f"{len(used)} stratum carries information: nothing to compare")
    odds_ratio = mantel_haenszel(used).odds_ratio
    if isinstance(odds_ratio, Undefined):
        raise UndefinedMetricError(odds_ratio.reason)
    statistic = total_deviation = total_variance = 0.0
    for x1, n1, x2, n2 in used:
        selected = x1 + x2
        mean, of = _expected(odds_ratio, n1, n2, selected)
        cells = [
            cell / of for cell in (mean, n1 * of - mean, selected * of - mean, (n2 - selected) * of + mean)
        ]
        if min(cells) <= 1e-300:
            raise UndefinedMetricError("the odds ratio is too extreme: it leaves a cell without expectation")
        variance = 1.0 / sum(1.0 / cell for cell in cells)
        deviation = (x1 * of - mean) / of
        statistic += deviation**2 / variance
        total_deviation += deviation
        total_variance += variance
    if tarone:
        statistic -= total_deviation**2 / total_variance
    df = len(used) - 1
    name = "Breslow-Day with Tarone's correction" if tarone else "Breslow-Day"
    return TestResult(
        name="breslow_day",
        p_value=float(chdtrc(df, max(statistic, 0.0))),
        statistic=statistic,
        n=sum(n1 + n2 for _, n1, _, n2 in used),
        method=f"{name}, chi-square({df}), over {len(used)} of {len(strata)} strata",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpsonCheck(Typed):
    """Whether pooling the strata turns the finding around.

    Parameters
    ----------
    reversed : bool
        The pooled gap and the one adjusted for strata have opposite signs.
    complete : bool
        Moreover no stratum has the sign of the pooled gap.
    pooled_gap, adjusted_gap : float
        Rate of the group minus the comparator's: of all people together, and Mantel-Haenszel's.
    lower, equal, higher : int
        Strata in which the group's rate is lower than, equal to and higher than the comparator's.
    """

    reversed: bool
    complete: bool
    pooled_gap: float
    adjusted_gap: float
    lower: int
    equal: int
    higher: int


def simpson_check(strata: Sequence[TwoByTwo]) -> SimpsonCheck:
    """Compare the pooled finding with the one within strata; exact, and no test of significance.

    Raises
    ------
    UndefinedMetricError
        If no stratum has members of both groups.

    References
    ----------
    Simpson, E. H. (1951). JRSS B 13, 238-241. Bickel, P. J., Hammel, E. A. & O'Connell, J. W.
    (1975). Sex bias in graduate admissions: data from Berkeley. Science 187, 398-404.

    Examples
    --------
    Women against men in the six largest departments of Berkeley, 1973:

    >>> check = simpson_check([
    ...     (89, 108, 512, 825), (17, 25, 353, 560), (202, 593, 120, 325),
    ...     (131, 375, 138, 417), (94, 393, 53, 191), (24, 341, 22, 373)])
    >>> round(check.pooled_gap, 3), round(check.adjusted_gap, 3), check.reversed
    (-0.142, 0.018, True)
    >>> check.lower, check.higher
    (2, 4)
    """
    both = [stratum for stratum in _checked(strata) if stratum[1] and stratum[3]]
    if not both:
        raise UndefinedMetricError("no stratum has members of both groups")
    x1, n1, x2, n2 = (sum(column) for column in zip(*both, strict=True))
    pooled = Fraction(x1, n1) - Fraction(x2, n2)
    products = [a * m - b * n for a, n, b, m in both]
    up = sum((Fraction(d, n + m) for d, (_, n, _, m) in zip(products, both, strict=True)), Fraction(0))
    down = sum((Fraction(n * m, n + m) for _, n, _, m in both), Fraction(0))
    lower, higher = sum(d < 0 for d in products), sum(d > 0 for d in products)
    turned = pooled * up < 0
    return SimpsonCheck(
        reversed=turned,
        complete=turned and (higher if pooled > 0 else lower) == 0,
        pooled_gap=float(pooled),
        adjusted_gap=float(up / down),
        lower=lower,
        equal=len(both) - lower - higher,
        higher=higher,
    )


def _checked(strata: Sequence[TwoByTwo]) -> list[TwoByTwo]:
    checked: list[TwoByTwo] = []
    for k, counts in enumerate(strata):
        if len(counts) != 4:
            raise InputError(f"stratum {k} has {len(counts)} numbers; give selected and total of both groups")
        x1, n1, x2, n2 = (as_count(count, f"a count of stratum {k}") for count in counts)
        if x1 > n1 or x2 > n2:
            raise InputError(f"stratum {k} has {x1} of {n1} and {x2} of {n2} selected")
        checked.append((x1, n1, x2, n2))
    return checked


def _informative(strata: Sequence[TwoByTwo]) -> list[TwoByTwo]:
    used = [(x1, n1, x2, n2) for x1, n1, x2, n2 in _checked(strata) if n1 and n2 and 0 < x1 + x2 < n1 + n2]
    if not used:
        raise UndefinedMetricError("no stratum has both groups with some, but not all, selected")
    return used


def _expected(odds_ratio: float, n1: int, n2: int, selected: int) -> tuple[int, int]:
    """Mean count of the group at this odds ratio, as a fraction: the root between the margins' limits.

    Exact but for the square root, taken to 128 binary places: at an odds ratio far from 1 little is left
    of a cell, and floats would lose it.
    """
    above, below = odds_ratio.as_integer_ratio()
    a = below - above
    b = below * (n2 - selected) + above * (n1 + selected)
    c = above * n1 * selected
    # times `below`, as all that goes before; the root of its square times 2^256
    root = math.isqrt(((b * b + 4 * a * c) << 256) // (below * below)) * below
    b <<= 128
    # two forms of the same root, each without cancellation on its side
    return ((2 * c) << 128, b + root) if b >= 0 else (root - b, (2 * a) << 128)
