"""The checks that adverse impact analysts apply to two selection rates.

All compare the counts themselves, ``x1`` of ``n1`` in the group against ``x2`` of ``n2`` in the
comparator: a rate of 0.72 over one of 0.9 is exactly 4/5, which floats would put below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.rounding import as_fraction
from audit_lib.results import TestResult
from audit_lib.stats._checks import check_two_samples
from audit_lib.stats.exact import fisher_exact
from audit_lib.typed_json import as_json

__all__ = ["FindingReversal", "exact_ratio", "flip_flop", "is_below", "shortfall", "two_standard_deviations"]

FOUR_FIFTHS = Fraction(4, 5)


def exact_ratio(x1: int, n1: int, x2: int, n2: int) -> Fraction:
    """Return (x1 / n1) / (x2 / n2) as a fraction.

    Raises
    ------
    UndefinedMetricError
        If a group is empty or the comparator selected nobody.

    Examples
    --------
    >>> exact_ratio(72, 100, 90, 100)
    Fraction(4, 5)
    """
    x1, n1, x2, n2 = check_two_samples(x1, n1, x2, n2)
    if x2 == 0:
        raise UndefinedMetricError("the comparator selected nobody, so there is no ratio to its rate")
    return Fraction(x1 * n2, n1 * x2)


def is_below(x1: int, n1: int, x2: int, n2: int, threshold: Fraction | float | str = FOUR_FIFTHS) -> bool:
    """Tell whether the ratio of the two rates is strictly below `threshold`, without rounding.

    A float threshold is read as the decimal it prints: 0.8 is 4/5.

    Parameters
    ----------
    x1, n1 : int
        Selected and total of the group.
    x2, n2 : int
        Selected and total of the comparator.
    threshold : Fraction, float or str
        Ratio to be below.

    Raises
    ------
    UndefinedMetricError
        If a group is empty or the comparator selected nobody.

    Examples
    --------
    >>> is_below(48, 60, 60, 60), is_below(47, 60, 60, 60)
    (False, True)
    """
    return exact_ratio(x1, n1, x2, n2) < as_fraction(threshold)


def two_standard_deviations(
    x1: int, n1: int, x2: int, n2: int, *, form: Literal["pooled", "hypergeometric"] = "pooled"
) -> TestResult:
    r"""Difference of two selection rates in standard deviations; courts look for more than two.

    ``pooled``: :math:`(p_1 - p_2) / \sqrt{p (1 - p) (1/n_1 + 1/n_2)}` with p the rate of both groups
    together. ``hypergeometric``: the group's count less its expectation at p, over the standard
    deviation given both margins; it is the pooled form times :math:`\sqrt{(N - 1) / N}`.

    Parameters
    ----------
    x1, n1 : int
        Selected and total of the group.
    x2, n2 : int
        Selected and total of the comparator.
    form : {"pooled", "hypergeometric"}
        Which standard deviation.

    Returns
    -------
    TestResult
        The statistic is negative where the group is selected less often; the p-value is normal and
        two-sided, without continuity correction. It is an approximation: below some five expected
        in any cell, read Fisher's test.

    Raises
    ------
    UndefinedMetricError
        If a group is empty, or if everybody or nobody was selected.

    References
    ----------
    Hazelwood School District v. United States, 433 U.S. 299 (1977), n. 14 and 17. Morris, S. B. &
    Dunleavy, E. M. (eds) (2017). Adverse Impact Analysis. Routledge.

    Examples
    --------
    >>> test = two_standard_deviations(20, 100, 40, 100)
    >>> round(test.statistic, 3), round(test.p_value, 5)
    (-3.086, 0.00203)
    """
    x1, n1, x2, n2 = check_two_samples(x1, n1, x2, n2)
    selected, total = x1 + x2, n1 + n2
    if selected in (0, total):
        if selected == 0:
            raise UndefinedMetricError("nobody was selected in both groups: no variation")
        raise UndefinedMetricError("everybody was selected in both groups: no variation")
    # integers until the last step: numerator N (x1 n2 - x2 n1) / N of the deviation from expectation
    deviation = (x1 * n2 - x2 * n1) / math.sqrt(n1 * n2 * selected * (total - selected))
    if form == "pooled":
        z = deviation * math.sqrt(total)
    elif form == "hypergeometric":
        z = deviation * math.sqrt(total - 1)
    else:
        raise InputError(f"form is {form!r}; give 'pooled' or 'hypergeometric'")
    return TestResult(
        name="two_standard_deviations",
        p_value=math.erfc(abs(z) / math.sqrt(2)),
        statistic=z,
        n=total,
        method=f"difference of rates in standard deviations ({form})",
    )


def shortfall(
    x1: int, n1: int, x2: int, n2: int, *, expected_at: Literal["pooled", "comparator"] = "pooled"
) -> float:
    """Return how many more of the group would have been selected without a difference.

    ``pooled``: n1 (x1 + x2) / (n1 + n2) - x1, the selections redistributed at the common rate.
    ``comparator``: n1 x2 / n2 - x1, the group selected at the comparator's rate. Negative where the
    group is selected more often.

    Parameters
    ----------
    x1, n1 : int
        Selected and total of the group.
    x2, n2 : int
        Selected and total of the comparator.
    expected_at : {"pooled", "comparator"}
        At which rate the group is expected to be selected.

    Raises
    ------
    UndefinedMetricError
        If a group is empty.

    References
    ----------
    Gastwirth, J. L. (1988). Statistical Reasoning in Law and Public Policy, vol. 1. Academic Press.

    Examples
    --------
    >>> shortfall(20, 100, 40, 100), shortfall(20, 100, 40, 100, expected_at="comparator")
    (10.0, 20.0)
    """
    x1, n1, x2, n2 = check_two_samples(x1, n1, x2, n2)
    if expected_at == "pooled":
        return (n1 * x2 - n2 * x1) / (n1 + n2)
    if expected_at == "comparator":
        return (n1 * x2 - n2 * x1) / n2
    raise InputError(f"expected_at is {expected_at!r}; give 'pooled' or 'comparator'")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingReversal:
    """What one different selection does to a finding.

    Parameters
    ----------
    below_threshold, significant : bool
        The two findings as observed.
    threshold_reverses, significance_reverses : bool
        Whether moving one selection between the two groups turns each finding into its opposite.
    ratio : Fraction
        Observed ratio.
    ratio_after : Fraction or None
        Ratio after the move that could reverse the threshold's finding; None where no such move is
        possible, or where it leaves the comparator without any selection.
    p_value, p_value_after : float, float or None
        Fisher's, observed and after the move that could reverse the significance.
    """

    below_threshold: bool
    threshold_reverses: bool
    significant: bool
    significance_reverses: bool
    ratio: Fraction
    ratio_after: Fraction | None
    p_value: float
    p_value_after: float | None

    def as_dict(self) -> dict[str, Any]:
        """JSON form; ratios as floats."""
        return {
            "below_threshold": self.below_threshold,
            "threshold_reverses": self.threshold_reverses,
            "significant": self.significant,
            "significance_reverses": self.significance_reverses,
            "ratio": float(self.ratio),
            "ratio_after": None if self.ratio_after is None else float(self.ratio_after),
            "p_value": as_json(self.p_value),
            "p_value_after": as_json(self.p_value_after),
        }


def flip_flop(
    x1: int,
    n1: int,
    x2: int,
    n2: int,
    *,
    threshold: Fraction | float | str = FOUR_FIFTHS,
    alpha: float = 0.05,
    midp: bool = False,
) -> FindingReversal:
    """Tell whether one different selection would have reversed the finding.

    A finding against the group (ratio below `threshold`; a rate significantly lower) is tested by
    moving one selection from the comparator to the group, and a finding in its favour by moving one
    from the group to the comparator. The number of selections stays the same. Significance is
    two-sided Fisher at `alpha`, with the group the less selected; each finding moves on its own.

    Parameters
    ----------
    x1, n1 : int
        Selected and total of the group.
    x2, n2 : int
        Selected and total of the comparator.
    threshold : Fraction, float or str
        Ratio below which there is a finding.
    alpha : float
        Level of Fisher's test.
    midp : bool
        Whether Fisher's p-value is the mid-p one.

    Raises
    ------
    UndefinedMetricError
        If a group is empty or the comparator selected nobody.

    References
    ----------
    Uniform Guidelines on Employee Selection Procedures, Questions and Answers (1979), no. 21: a
    difference that one person more or less would reverse is too small to rest a finding on.

    Examples
    --------
    >>> check = flip_flop(47, 60, 60, 60)
    >>> check.below_threshold, check.threshold_reverses, check.ratio_after
    (True, True, Fraction(48, 59))
    """
    ratio = exact_ratio(x1, n1, x2, n2)
    limit = as_fraction(threshold)
    below = ratio < limit
    significant, p_value = _significantly_lower(x1, n1, x2, n2, alpha, midp)

    ratio_after: Fraction | None = None
    threshold_reverses = False
    moved = _move_one(x1, n1, x2, n2, to_group=below)
    if moved is not None:
        if moved[1] == 0:
            threshold_reverses = below
        else:
            ratio_after = Fraction(moved[0] * n2, n1 * moved[1])
            threshold_reverses = (ratio_after < limit) != below

    p_value_after: float | None = None
    significance_reverses = False
    moved = _move_one(x1, n1, x2, n2, to_group=significant)
    if moved is not None:
        after, p_value_after = _significantly_lower(moved[0], n1, moved[1], n2, alpha, midp)
        significance_reverses = after != significant
    return FindingReversal(
        below_threshold=below,
        threshold_reverses=threshold_reverses,
        significant=significant,
        significance_reverses=significance_reverses,
        ratio=ratio,
        ratio_after=ratio_after,
        p_value=p_value,
        p_value_after=p_value_after,
    )


def _move_one(x1: int, n1: int, x2: int, n2: int, *, to_group: bool) -> tuple[int, int] | None:
    moved = (x1 + 1, x2 - 1) if to_group else (x1 - 1, x2 + 1)
    return moved if 0 <= moved[0] <= n1 and 0 <= moved[1] <= n2 else None


def _significantly_lower(x1: int, n1: int, x2: int, n2: int, alpha: float, midp: bool) -> tuple[bool, float]:
    p_value = fisher_exact(x1, n1 - x1, x2, n2 - x2, midp=midp).p_value
    if not isinstance(p_value, float):
        raise UndefinedMetricError(p_value.reason)
    return x1 * n2 < x2 * n1 and p_value < alpha, p_value
