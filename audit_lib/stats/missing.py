"""Bounds for what unknown demographics could change: no assumption, only arithmetic.

Of people whose category is unknown, anyone might belong to the category at hand, selected or not.
Bounds are not confidence intervals; they hold with certainty and do not shrink with the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats._checks import as_count, check_counts

__all__ = ["ValueBounds", "rate_bounds", "ratio_bounds", "ratio_bounds_joint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBounds:
    """The least and the greatest value that the unknowns allow.

    Parameters
    ----------
    low, high : Fraction or None
        Exact; None for `high` where a ratio has no upper bound.
    missing : int
        People of unknown category.
    """

    low: Fraction
    high: Fraction | None
    missing: int

    def as_dict(self) -> dict[str, Any]:
        """JSON form; an absent bound is ``null``."""
        high = None if self.high is None else float(self.high)
        return {"low": float(self.low), "high": high, "missing": self.missing}


def rate_bounds(selected: int, total: int, missing: int) -> ValueBounds:
    """Bounds of a category's selection rate: s / (n + m) to (s + m) / (n + m).

    Low: all m unknown belong to the category and none was selected. High: all belong to it and all
    were selected.

    Parameters
    ----------
    selected, total : int
        Counts of people known to be in the category.
    missing : int
        People whose category is unknown.

    Raises
    ------
    UndefinedMetricError
        If nobody is known to be in the category and nobody is unknown.

    References
    ----------
    Manski, C. F. (2003). Partial Identification of Probability Distributions, ch. 1. Springer.

    Examples
    --------
    >>> bounds = rate_bounds(40, 90, 10)
    >>> bounds.low, bounds.high
    (Fraction(2, 5), Fraction(1, 2))
    """
    x, n, m = _counts(selected, total, missing)
    low = Fraction(x, n + m)
    return ValueBounds(low=low, high=low if m == 0 else Fraction(x + m, n + m), missing=m)


def _counts(selected: int, total: int, missing: int) -> tuple[int, int, int]:
    """Check the counts of a category of whom somebody is known, or unknown."""
    m, total = _check_missing(missing), as_count(total, "total")
    if m == 0 or total > 0:
        selected, total = check_counts(selected, total, "the category")
    elif as_count(selected, "selected"):
        raise InputError(f"{selected} selected of {total} in the category")
    return selected, total, m


def ratio_bounds(
    selected: int, total: int, missing: int, comparator_selected: int, comparator_total: int
) -> ValueBounds:
    """Bounds of an impact ratio over the comparator's observed rate.

    The convention of published audits: :func:`rate_bounds` divided by the comparator's rate among
    those whose category is known. :func:`ratio_bounds_joint` lets the unknowns move both.

    Parameters
    ----------
    selected, total, missing : int
        Of the category, as in :func:`rate_bounds`.
    comparator_selected, comparator_total : int
        Counts of people known to be in the comparator.

    Raises
    ------
    UndefinedMetricError
        If the comparator is empty or selected nobody.

    Examples
    --------
    >>> bounds = ratio_bounds(40, 90, 10, 50, 100)
    >>> bounds.low, bounds.high
    (Fraction(4, 5), Fraction(1, 1))
    """
    x2, n2 = check_counts(comparator_selected, comparator_total, "the comparator")
    if x2 == 0:
        raise UndefinedMetricError("the comparator selected nobody, so there is no ratio to its rate")
    x, n, m = _counts(selected, total, missing)
    below = (n + m) * x2
    low = Fraction(x * n2, below)
    return ValueBounds(low=low, high=low if m == 0 else Fraction((x + m) * n2, below), missing=m)


def ratio_bounds_joint(
    selected: int, total: int, missing: int, comparator_selected: int, comparator_total: int
) -> ValueBounds:
    r"""Sharp bounds of an impact ratio over all ways to place the unknowns in the two categories.

    Each unknown person may belong to the category, to the comparator or to neither, selected or
    not. With j of the m in the category, the least ratio is

    .. math:: \min_j \frac{s / (n + j)}{(s' + m - j) / (n' + m - j)}

    and the greatest likewise with the roles of the selected exchanged.

    Parameters
    ----------
    selected, total, missing : int
        Of the category, as in :func:`rate_bounds`.
    comparator_selected, comparator_total : int
        Counts of people known to be in the comparator.

    Raises
    ------
    UndefinedMetricError
        If one of the two categories is empty, or if nobody could have been selected by the
        comparator.

    Examples
    --------
    >>> bounds = ratio_bounds_joint(40, 90, 10, 50, 100)
    >>> round(float(bounds.low), 3), round(float(bounds.high), 3)
    (0.8, 1.0)
    """
    x1, n1 = check_counts(selected, total, "the category")
    x2, n2 = check_counts(comparator_selected, comparator_total, "the comparator")
    m = _check_missing(missing)
    if x2 + m == 0:
        raise UndefinedMetricError("the comparator selected nobody, so there is no ratio to its rate")

    def least(j: int) -> Fraction:
        return Fraction(x1, n1 + j) / Fraction(x2 + m - j, n2 + m - j)

    def negative_greatest(j: int) -> Fraction:
        return -Fraction(x1 + j, n1 + j) / Fraction(x2, n2 + m - j)

    low = _minimum(least, m if x2 else m - 1)
    high = -_minimum(negative_greatest, m) if x2 else None
    return ValueBounds(low=low, high=high, missing=m)


def _minimum(f: Callable[[int], Fraction], last: int) -> Fraction:
    """Return the least value of `f` on 0 .. last; both functions above have one valley only.

    The logarithm of the first is convex in j and that of the second, without its sign, concave.
    """
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if f(middle) <= f(middle + 1):
            high = middle
        else:
            low = middle + 1
    return f(low)


def _check_missing(missing: int) -> int:
    return as_count(missing, "missing")
