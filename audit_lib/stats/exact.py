"""Exact tests of equal selection rates in two independent groups, and of pairs that lean one way."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError
from audit_lib.results import TestResult, Undefined
from audit_lib.stats._checks import check_two_samples

__all__ = ["boschloo", "fisher_exact", "sign_test"]

Alternative = Literal["two-sided", "less", "greater"]

# tables whose probabilities differ by rounding only are equally likely
_SAME = 1e-7


def sign_test(plus: int, minus: int) -> TestResult:
    """Exact two-sided test that as many units lean one way as the other.

    Of pairs with a decision each, of which `plus` and `minus` are decided differently, it is McNemar's exact test.

    Parameters
    ----------
    plus, minus : int
        Independent units that lean either way; those that lean neither way say nothing.

    Raises
    ------
    InputError
        If there is none, or a count is negative.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12, 153-157.

    Examples
    --------
    >>> round(sign_test(9, 1).p_value, 6)  # 2 (1 + 10) / 2^10
    0.021484
    """
    from scipy.special import bdtr

    if min(plus, minus) < 0 or plus + minus == 0:
        raise InputError(f"{plus} and {minus} units that lean: give counts, not both 0")
    count = plus + minus
    p_value = min(2.0 * float(bdtr(float(min(plus, minus)), count, 0.5)), 1.0)
    return TestResult(
        name="sign_test", p_value=p_value, statistic=float(plus - minus), n=count,
        method="exact sign test over units that lean one way",
    )  # fmt: skip


def fisher_exact(
    a: int, b: int, c: int, d: int, *, midp: bool = False, alternative: Alternative = "two-sided"
) -> TestResult:
    """Fisher's exact test of a two by two table, conditional on both margins.

    Two-sided: the probability of all tables that are no more likely than the observed one.
    Mid-p: the observed probability, ties included, counts half.

    Parameters
    ----------
    a, b : int
        Selected and not selected, of the group.
    c, d : int
        Selected and not selected, of the comparator.
    midp : bool
        Less conservative; no longer guaranteed to keep the level at every sample size.
    alternative : {"two-sided", "less", "greater"}
        ``less``: the group is selected less often.

    Returns
    -------
    TestResult
        Its statistic is the sample odds ratio a d / (b c), where that exists.

    Raises
    ------
    UndefinedMetricError
        If the group or the comparator is empty.

    References
    ----------
    Fisher, R. A. (1935). The logic of inductive inference. JRSS 98, 39-54. Lancaster, H. O. (1961).
    Significance tests in discrete distributions. JASA 56, 223-234.

    Examples
    --------
    The lady tasting tea:

    >>> round(fisher_exact(3, 1, 1, 3, alternative="greater").p_value, 4)
    0.2429
    >>> round(fisher_exact(3, 1, 1, 3).p_value, 4), round(fisher_exact(3, 1, 1, 3, midp=True).p_value, 4)
    (0.4857, 0.2571)
    """
    if min(a, b, c, d) < 0:
        raise InputError(f"a table of counts has a negative cell: {a}, {b}, {c}, {d}")
    x1, n1, x2, n2 = check_two_samples(a, a + b, c, c + d)
    if alternative not in ("two-sided", "less", "greater"):
        raise InputError(f"alternative is {alternative!r}; give 'two-sided', 'less' or 'greater'")
    odds_ratio: float | Undefined
    if b * c > 0:
        odds_ratio = (a * d) / (b * c)
    else:
        odds_ratio = Undefined("an empty cell: the odds ratio is infinite or undefined")
    return TestResult(
        name="fisher_exact",
        p_value=_fisher_p(x1, n1, x2, n2, midp, alternative),
        statistic=odds_ratio,
        n=n1 + n2,
        method="Fisher's exact test, mid-p" if midp else "Fisher's exact test",
        alternative=alternative,
    )


@lru_cache(maxsize=1024)
def _fisher_p(x1: int, n1: int, x2: int, n2: int, midp: bool, alternative: Alternative) -> float:
    """Fisher's p-value: kept, since what one selection more would change is asked of tables that are tested too."""
    support, pmf = _given_margins(x1, n1, x2, n2)
    if alternative == "two-sided":
        observed = pmf[x1 - support[0]]
        as_extreme = pmf <= observed * (1 + _SAME)
        tied = as_extreme & (pmf >= observed * (1 - _SAME)) if midp else None
    else:
        as_extreme = support <= x1 if alternative == "less" else support >= x1
        tied = support == x1 if midp else None
    p_value = float(pmf[as_extreme].sum())
    if tied is not None:
        p_value -= float(pmf[tied].sum()) / 2
    return min(p_value, 1.0)


def boschloo(
    a: int, b: int, c: int, d: int, *, midp: bool = False, alternative: Alternative = "two-sided"
) -> TestResult:
    r"""Boschloo's exact unconditional test: more powerful than Fisher's, and still exact.

    Tables are ordered by their one-sided Fisher p-value F; the p-value is

    .. math:: \sup_{0 \le \pi \le 1} P_\pi \{F(X_1, X_2) \le F(x_1, x_2)\}

    with both counts binomial at the same rate. Two-sided: twice the smaller one-sided p-value,
    at most 1.

    Parameters
    ----------
    a, b, c, d : int
        As in :func:`fisher_exact`.
    midp : bool
        Count half of the probability of the tables tied with the observed one.
    alternative : {"two-sided", "less", "greater"}
        ``less``: the group is selected less often.

    Returns
    -------
    TestResult
        Its statistic is the (smaller) one-sided Fisher p-value.

    Raises
    ------
    UndefinedMetricError
        If the group or the comparator is empty.

    Notes
    -----
    The supremum is searched on 1,001 points, equidistant on the arcsine scale, then refined around
    the three highest; memory and time grow with the smaller group. Meant for up to some 2,000
    people a group, above which Fisher's test loses little.

    References
    ----------
    Boschloo, R. D. (1970). Raised conditional level of significance for the 2x2 table when testing
    the equality of two probabilities. Statistica Neerlandica 24, 1-35.

    Examples
    --------
    A vaccine trial, 7 of 15 against 12 of 15:

    >>> round(boschloo(7, 8, 12, 3, alternative="less").p_value, 4)
    0.0341
    >>> round(fisher_exact(7, 8, 12, 3, alternative="less").p_value, 4)
    0.0641
    """
    if min(a, b, c, d) < 0:
        raise InputError(f"a table of counts has a negative cell: {a}, {b}, {c}, {d}")
    x1, n1, x2, n2 = check_two_samples(a, a + b, c, c + d)
    if alternative not in ("two-sided", "less", "greater"):
        raise InputError(f"alternative is {alternative!r}; give 'two-sided', 'less' or 'greater'")
    sides = []
    if alternative != "greater":
        sides.append(_boschloo_less(x1, n1, x2, n2, midp))
    if alternative != "less":
        sides.append(_boschloo_less(n1 - x1, n1, n2 - x2, n2, midp))
    p_value, fisher = min(sides)
    return TestResult(
        name="boschloo",
        p_value=min(len(sides) * p_value, 1.0),
        statistic=fisher,
        n=n1 + n2,
        method="Boschloo's exact unconditional test" + (", mid-p" if midp else ""),
        alternative=alternative,
    )


def fisher_p_values(
    selected: int, n1: int, n2: int, *, midp: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the two-sided p-value of every table with these margins that is not all but impossible.

    The counts of the group come first. Tables further than 40 standard deviations out are left off.

    Parameters
    ----------
    selected : int
        People selected, both sides together.
    n1, n2 : int
        Members of the group and of the comparator.
    midp : bool
        Whether p-values are the mid-p ones.

    Examples
    --------
    >>> counts, p_values = fisher_p_values(1, 2, 2)
    >>> counts.tolist(), p_values.round(6).tolist()
    ([0, 1], [1.0, 1.0])
    """
    x1 = max(0, selected - n2, n1 * selected // (n1 + n2))
    support, pmf = _given_margins(x1, n1, selected - x1, n2)
    ordered = np.sort(pmf)
    up_to = np.concatenate([[0.0], np.cumsum(ordered)])
    p_values = up_to[np.searchsorted(ordered, pmf * (1 + _SAME), "right")]
    if midp:
        p_values = (p_values + up_to[np.searchsorted(ordered, pmf * (1 - _SAME), "left")]) / 2
    return support, p_values


def _given_margins(x1: int, n1: int, x2: int, n2: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the counts of the group that the margins allow, and their probabilities.

    Far from the mode they are left off, but for the observed one.
    """
    selected, total = x1 + x2, n1 + n2
    low, high = max(0, selected - n2), min(n1, selected)
    mode = (n1 + 1) * (selected + 1) // (total + 2)
    deviation = (n1 * n2 * selected * (total - selected) / (total * total * max(total - 1, 1))) ** 0.5
    reach = int(40 * deviation) + 100
    low, high = max(low, min(mode - reach, x1)), min(high, max(mode + reach, x1))
    return _between(low, high, n1, n2, selected)


@lru_cache(maxsize=1024)
def _between(
    low: int, high: int, n1: int, n2: int, selected: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the counts from `low` to `high`, and their probabilities given the margins.

    Probabilities are products of ratios of neighbours, starting at the mode: no large logarithms.
    """
    mode = (n1 + 1) * (selected + 1) // (n1 + n2 + 2)
    support = np.arange(low, high + 1)
    k = support[:-1].astype(np.float64)
    steps = np.log((selected - k) * (n1 - k)) - np.log((k + 1.0) * (n2 - selected + k + 1.0))
    at = mode - low
    logs = np.zeros(support.size)
    logs[at + 1 :] = np.cumsum(steps[at:])
    logs[:at] = -np.cumsum(steps[:at][::-1])[::-1]
    weights = np.exp(logs)
    weights /= weights.sum()
    for kept in (support, weights):
        kept.flags.writeable = False
    return support, weights


def _boschloo_less(x1: int, n1: int, x2: int, n2: int, midp: bool) -> tuple[float, float]:
    """Return the one-sided p-value, and the Fisher p-value that orders the tables."""
    if n1 > n2:
        # the same question asked of the comparator: fewer rows to sum over
        x1, n1, x2, n2 = n2 - x2, n2, n1 - x1, n1
    support, pmf = _given_margins(x1, n1, x2, n2)
    fisher = float(pmf[support <= x1].sum())
    regions = [_boundary(n1, n2, fisher * (1 + _SAME))]
    if midp:
        regions.append(_boundary(n1, n2, fisher * (1 - _SAME)))

    def probability(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = [_region_probability(boundary, n1, n2, rates) for boundary in regions]
        return sum(parts[1:], parts[0]) / len(parts)

    return _supremum(probability), fisher


def _boundary(n1: int, n2: int, limit: float) -> NDArray[np.int64]:
    """For each count of the group, the smallest count of the comparator whose Fisher p <= `limit`.

    Fisher's p falls as the comparator's count rises, so a bisection over all rows at once finds it;
    n2 + 1 where no count is large enough.
    """
    from scipy.stats import hypergeom

    rows = np.arange(n1 + 1)
    low, high = np.zeros(n1 + 1, dtype=np.int64), np.full(n1 + 1, n2 + 1, dtype=np.int64)
    while np.any(low < high):
        middle = (low + high) // 2
        inside = hypergeom.cdf(rows, n1 + n2, rows + np.minimum(middle, n2), n1) <= limit
        open_rows = low < high
        high = np.where(open_rows & inside, middle, high)
        low = np.where(open_rows & ~inside, middle + 1, low)
    return high


def _region_probability(
    boundary: NDArray[np.int64], n1: int, n2: int, rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.special import betainc, gammaln, xlog1py, xlogy

    inside = boundary <= n2
    rows, least = np.flatnonzero(inside).astype(np.float64), boundary[inside].astype(np.float64)
    choose = gammaln(n1 + 1) - gammaln(rows + 1) - gammaln(n1 - rows + 1)
    out = np.empty(rates.size)
    for start in range(0, rates.size, 64):
        rate = rates[start : start + 64, None]
        binomial = np.exp(choose + xlogy(rows, rate) + xlog1py(n1 - rows, -rate))
        # P(X2 >= least); at least == 0 this is 1, which betainc would not say
        tail = np.where(least > 0, betainc(np.maximum(least, 1.0), n2 - least + 1.0, rate), 1.0)
        out[start : start + 64] = (binomial * tail).sum(axis=1)
    return out


def _supremum(probability: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    angles = np.linspace(0.0, np.pi / 2, 1001)
    values = probability(np.sin(angles) ** 2)
    best = float(values.max())
    for centre in np.argsort(values, kind="stable")[-3:]:
        low, high = angles[max(centre - 1, 0)], angles[min(centre + 1, angles.size - 1)]
        for _ in range(4):
            fine = np.linspace(low, high, 21)
            heights = probability(np.sin(fine) ** 2)
            top = int(heights.argmax())
            best = max(best, float(heights[top]))
            low, high = fine[max(top - 1, 0)], fine[min(top + 1, fine.size - 1)]
    return best
