"""Intervals of means of values that have bounds, such as rates of flagged texts and similarities.

A mean of bounded values lies within them, and that all of a sample's values lie at one bound does not make
the mean certain: both are lost on a normal interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import Contrast, Estimator, PointEstimator, gap_of_means, mean_gap
from audit_lib.measure.sides import Side
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats.cluster_worth import variance_of_one
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.clusters import cluster_interval
from audit_lib.stats.effective_wilson import flat_limit
from audit_lib.stats.two_sided import cluster_sums

MeanBounds = tuple[float, float]
CLIPPED = "interval_clipped"
"""Mark of an estimate whose interval was cut at a bound of the values."""

_ROUNDING = 1e-12  # of the bounds' distance: a cosine of equal vectors is not quite 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedMean:
    """A mean's interval, its standard error, and marks."""

    interval: Interval | Undefined
    standard_error: float | Undefined
    flags: tuple[str, ...] = ()


def bounded_mean(
    values: NDArray[np.float64], clusters: NDArray[np.intp], units: int, level: float, bounds: MeanBounds
) -> BoundedMean:
    """Return the interval of a mean of values within bounds, clustered.

    Of values at the bounds only (a rate) it is Wilson's, with n over the design effect; of values that all
    lie at one bound, Clopper and Pearson's limit over clusters; otherwise that of the clusters' influence,
    cut at the bounds and marked so. Values that leave the bounds have no bounds.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        At least one.
    clusters : ndarray of int, shape (n,)
        Independent unit of each, 0 .. units - 1.
    level : float
        Nominal coverage.
    bounds : pair of float
        What a value cannot be below and above.

    Examples
    --------
    >>> found = bounded_mean(np.zeros(60), np.arange(60) // 3, 20, 0.95, (0.0, 1.0))
    >>> found.interval.low, round(found.interval.high, 3), found.interval.method
    (0.0, 0.168, 'Clopper-Pearson over 20 clusters, conservative')
    """
    mean = float(values.mean())
    influence = (values - mean) / values.size
    sums = cluster_sums(influence, clusters, units)
    within = bool(bounds[0] <= values.min() and values.max() <= bounds[1])
    error: float | Undefined = Undefined("one independent unit: no spread to estimate")
    if units > 1:
        try:
            error = math.sqrt(variance_of_one(sums, np.bincount(clusters, minlength=units))[0])
        except UndefinedMetricError as undefined:
            error = Undefined(str(undefined))
    try:
        if within and (end := end_of(values, bounds)) is not None:
            nothing = Undefined("all values are the same: no spread to estimate")
            return BoundedMean(interval=_at_end(mean, end, units, level, bounds), standard_error=nothing)
        if bounds == (0.0, 1.0) and within and bool(((values == 0.0) | (values == 1.0)).all()):
            people, won = (np.bincount(clusters, of, units).astype(np.int64) for of in (None, values))
            found = ClusteredRates.of(won[None], people[None]).rate(0, level)
            return BoundedMean(interval=found, standard_error=error)
        interval = cluster_interval(influence, clusters, mean, level)
    except UndefinedMetricError as undefined:
        nothing = Undefined(str(undefined))
        return BoundedMean(interval=nothing, standard_error=nothing)
    low, high = max(interval.low, bounds[0]), min(interval.high, bounds[1])
    if not within or (low, high) == (interval.low, interval.high):
        return BoundedMean(interval=interval, standard_error=error)
    cut = replace(interval, low=low, high=high, method=f"{interval.method}, cut at the bounds of the values")
    return BoundedMean(interval=cut, standard_error=error, flags=(CLIPPED,))


def bounded_gap(
    bounds: MeanBounds, point: PointEstimator | None = None, *, opposed: bool = False
) -> Estimator:
    """Make an estimator of a difference of means of values within bounds, whose value `point` computes.

    It is :func:`audit_lib.measure.inference.mean_gap`, but where all values of a side lie at one bound: that
    side has no spread, though it has limits. There the interval is MOVER's from the limits of each side,
    which ignores what applications on both sides share, and so errs on the long side; and the test is that
    interval turned round: the level at which it ends at 0.

    Parameters
    ----------
    bounds : pair of float
        What a value cannot be below and above.
    point : callable, optional
        What computes the value; the difference of means unless given.
    opposed : bool
        Whether what one side gets may be taken from the other, as a place of a round is: where units have rows on
        both sides, their reaches are then added instead of the squares, which holds whatever they share.

    References
    ----------
    Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: a general
    approach. Statist. Med. 27, 1693-1702.
    """
    of_means = mean_gap if point is None else gap_of_means(point)

    def estimator(group: Side, reference: Side, level: float) -> Contrast:
        found = of_means(group, reference, level)
        sides = (group, reference)
        ends = [end_of(side.values, bounds) for side in sides]
        if all(end is None for end in ends):
            return found

        added = opposed and bool((group.occurs & reference.occurs).any())
        units_of = [np.unique(side.clusters, return_inverse=True) for side in sides]

        def at(wanted: float) -> Interval:
            limits = []
            for side, (codes, own) in zip(sides, units_of, strict=True):
                one = bounded_mean(side.values, own, codes.size, wanted, bounds).interval
                if isinstance(one, Undefined):
                    raise UndefinedMetricError(one.reason)
                limits.append(one)
            means = [float(side.values.mean()) for side in sides]
            below = means[0] - limits[0].low, limits[1].high - means[1]
            above = limits[0].high - means[0], means[1] - limits[1].low
            if added:
                method = f"limits of {limits[0].method} and {limits[1].method}, added up"
                low, high = found.value - sum(below), found.value + sum(above)
            else:
                method = f"MOVER of {limits[0].method} and {limits[1].method}"
                low, high = found.value - math.hypot(*below), found.value + math.hypot(*above)
            return Interval(low=low, high=high, level=wanted, method=method)

        try:
            interval = at(level)
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return replace(found, interval=nothing, test=nothing, standard_error=nothing)
        units = int(np.count_nonzero(group.occurs | reference.occurs))
        nothing = Undefined("all values of a side are the same: no spread to estimate")
        name = "added_limits_test" if added else "mover_test"
        test = turned(at, found.value, units, name)
        return replace(found, interval=interval, test=test, standard_error=nothing)

    return estimator


def turned(at: Callable[[float], Interval], value: float, units: int, name: str) -> TestResult | Undefined:
    """Return the test that rejects where the interval of that level leaves out 0."""
    if value == 0.0:
        return Undefined("no value differs: nothing to test")
    low, high = 0.0, 1.0  # p-values: intervals of level 1 - p hold 0 below the one looked for
    while high - low > 1e-10:
        middle = (low + high) / 2
        interval = at(1.0 - middle)
        if interval.low <= 0.0 <= interval.high:
            low = middle
        else:
            high = middle
    words = {
        "mover_test": "level at which MOVER's interval ends at 0",
        "added_limits_test": "level at which the interval of added limits ends at 0",
    }
    return TestResult(name=name, p_value=high, n=units, method=words[name])


def end_of(values: NDArray[np.float64], bounds: MeanBounds) -> int | None:
    """Tell at which bound all values lie: 0 or 1, None where they do not."""
    slack = _ROUNDING * (bounds[1] - bounds[0])
    for end in (0, 1):
        if values.size and bool((np.abs(values - bounds[end]) <= slack).all()):
            return end
    return None


def _at_end(mean: float, end: int, units: int, level: float, bounds: MeanBounds) -> Interval:
    reach = (bounds[1] - bounds[0]) * flat_limit(units, level)
    low, high = (bounds[0], bounds[0] + reach) if end == 0 else (bounds[1] - reach, bounds[1])
    method = f"Clopper-Pearson over {units} clusters, conservative"
    return Interval(low=min(low, mean), high=max(high, mean), level=level, method=method)
