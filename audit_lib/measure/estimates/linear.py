"""Inference of any number whose influence values by row are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import compact
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats.cluster_worth import variance_of_one
from audit_lib.stats.clusters import cluster_interval, t_test
from audit_lib.stats.two_sided import cluster_sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """Interval, standard error and test of 0 of one number, and how many independent units it is of."""

    interval: Interval | Undefined
    standard_error: float | Undefined
    tests: tuple[TestResult, ...]
    clusters: int


def inferred_from(
    value: float, influence: NDArray[np.float64], clusters: NDArray[Any], level: float
) -> Inferred:
    """Return what influence values say of a number.

    Parameters
    ----------
    influence : ndarray of float, shape (n,)
        Of each row on the number, in its unit.
    clusters : ndarray of int, shape (n,)
        Independent unit of each row.

    Examples
    --------
    >>> found = inferred_from(3.0, np.array([-1.0, 0.0, 1.0]), np.arange(3), 0.95)
    >>> round(found.interval.low, 3), round(found.standard_error, 3), found.clusters
    (-4.452, 1.732, 3)
    """
    codes, units = compact(clusters)
    try:
        interval = cluster_interval(influence, codes, value, level)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        return Inferred(interval=nothing, standard_error=nothing, tests=(), clusters=units)
    sums = cluster_sums(influence, codes.astype(np.intp), units)
    variance, df = variance_of_one(sums, np.bincount(codes, minlength=units))
    error_of = math.sqrt(variance)
    test = t_test(value, error_of, df, units, "cluster influence function")
    return Inferred(interval=interval, standard_error=error_of, tests=(test,), clusters=units)
