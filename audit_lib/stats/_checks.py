"""Checks and small numerical helpers that every file of this package shares."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from audit_lib.errors import InputError, UndefinedMetricError


def check_level(level: float) -> float:
    """Return `level` if it is a coverage in (0, 1)."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a coverage between 0 and 1, such as 0.95")
    return float(level)


def check_counts(successes: SupportsIndex, n: SupportsIndex, what: str = "the sample") -> tuple[int, int]:
    """Return the two counts as Python integers, having checked that 0 <= successes <= n and n > 0."""
    try:
        x, total = operator.index(successes), operator.index(n)
    except TypeError as error:
        raise InputError(f"counts of {what} must be integers, got {successes!r} of {n!r}") from error
    if total < 0 or x < 0 or x > total:
        raise InputError(f"{what} has {x} successes of {total}; counts must satisfy 0 <= successes <= n")
    if total == 0:
        raise UndefinedMetricError(f"no one in {what}")
    return x, total


def check_two_samples(
    x1: SupportsIndex, n1: SupportsIndex, x2: SupportsIndex, n2: SupportsIndex
) -> tuple[int, int, int, int]:
    """Check the counts of the group and of the comparator."""
    return *check_counts(x1, n1, "the group"), *check_counts(x2, n2, "the comparator")


def as_count(value: SupportsIndex, what: str) -> int:
    """Return a count as a Python integer, having checked that it is whole and at least 0."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InputError(f"{what} is {value!r}; give a whole number") from None
    if count < 0:
        raise InputError(f"{what} is {count}; give a count, at least 0")
    return count


@lru_cache(maxsize=64)
def pair_places(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second of all pairs of `k`, in the order of `itertools.combinations`; kept."""
    first, second = np.triu_indices(k, 1)
    for kept in (first, second):
        kept.flags.writeable = False
    return first, second


def z_quantile(level: float) -> float:
    """Return the two-sided standard normal quantile."""
    return float(-ndtri((1.0 - check_level(level)) / 2.0))


def t_quantile(level: float, df: float) -> float:
    """Return the two-sided Student quantile with `df` degrees of freedom."""
    return float(-stdtrit(df, (1.0 - check_level(level)) / 2.0))


def quantiles(values: NDArray[np.float64], levels: Sequence[float]) -> list[float]:
    """Return quantiles by linear interpolation, as NumPy's `quantile` does, which takes longer for few values."""
    last = values.size - 1
    below = [math.floor(last * level) for level in levels]
    above = [min(place + 1, last) for place in below]
    placed = np.partition(values, sorted({*below, *above}))
    return [
        interpolated(float(placed[i]), float(placed[j]), last * level - i)
        for i, j, level in zip(below, above, levels, strict=True)
    ]


def interpolated(low: float, high: float, share: float) -> float:
    """Return what lies between two values, that share of the way from the lower one."""
    return low + (high - low) * share if share < 0.5 else high - (high - low) * (1.0 - share)


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """Return a root of `f` between `low` and `high`, where its sign differs, to the last bit.

    A plain bisection: its result depends on no tolerance and on no library version.
    """
    f_low = f(low)
    if f_low == 0.0:
        return low
    if (f_low > 0.0) == (f(high) > 0.0):
        raise InputError(f"no change of sign between {low} and {high}")
    while True:
        middle = low + (high - low) / 2.0
        if middle in (low, high):
            return middle
        f_middle = f(middle)
        if f_middle == 0.0:
            return middle
        if (f_middle > 0.0) == (f_low > 0.0):
            low = middle
        else:
            high = middle


def smallest_size(reached: Callable[[int], float], power: float) -> int:
    """Return the smallest sample at which a power is reached that grows with it."""
    high = 2
    while reached(high) < power:
        high *= 2
        if high > 2**40:
            raise UndefinedMetricError("no sample of fewer than a trillion would find so small a difference")
    low = 1
    while low < high:
        middle = (low + high) // 2
        if reached(middle) < power:
            low = middle + 1
        else:
            high = middle
    return low


def both_or_neither(group_clusters: ArrayLike | None, reference_clusters: ArrayLike | None) -> bool:
    """Tell whether clusters were given; one side only is an error."""
    if (group_clusters is None) != (reference_clusters is None):
        raise InputError("clusters were given for one side only; give them for both sides or for neither")
    return group_clusters is not None


def finite_values(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return a one-dimensional array of floats; texts, NaN and infinities are refused, with their number."""
    given = np.asarray(values)
    text = given.dtype.kind in "USMm" or (
        given.dtype.kind == "O" and any(isinstance(item, str | bytes) for item in given.flat)
    )
    try:
        if text:
            raise TypeError
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: expected numbers; convert or drop other values first") from None
    if array.ndim != 1:
        raise InputError(f"{what}: give one dimension, not {array.ndim}")
    bad = array.size - int(np.isfinite(array).sum())
    if bad:
        raise InputError(f"{what}: {bad} of {array.size} values are not finite; drop or resolve them first")
    return array
