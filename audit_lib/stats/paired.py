"""The same estimate of two samples of answers about the same units: their difference, by the units' own differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval, TestResult
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.two_sided import variance_of_sums

__all__ = ["METHOD", "UnitSums", "paired_difference"]

METHOD = "cluster influence function of the difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSums:
    """Influence on an estimate, summed by unit; units stand in the same order in all that are compared.

    Parameters
    ----------
    estimate : float
        What they moved.
    group, reference : ndarray of float, shape (units,)
        Sums of the influence values of each unit's rows on either side; each side adds up to zero.
    group_rows, reference_rows : ndarray of float, shape (units,)
        How many rows each unit has there.
    """

    estimate: float
    group: NDArray[np.float64]
    reference: NDArray[np.float64]
    group_rows: NDArray[np.float64]
    reference_rows: NDArray[np.float64]

    @property
    def occurs(self) -> NDArray[np.bool_]:
        """Which units have rows on any side."""
        return np.asarray(self.group_rows + self.reference_rows > 0)


def paired_difference(
    first: UnitSums, second: UnitSums, level: float = 0.95
) -> tuple[float, Interval, TestResult]:
    r"""Difference of an estimate between two models that judged the same units, with its interval and test of 0.

    With :math:`a_g, b_g` the influence sums of unit g in the first model and :math:`a'_g, b'_g` in the second, the
    difference has the sums :math:`a_g - a'_g` and :math:`b_g - b'_g`; its variance is that of
    :func:`two_sided_variance`. What both models share about a unit (a strong application) drops out.

    Parameters
    ----------
    first, second : UnitSums
        Over the same units in the same order. A unit that one of them lacks moves that one by 0.
    level : float
        Nominal coverage.

    Returns
    -------
    float, Interval, TestResult
        The first less the second.

    Raises
    ------
    UndefinedMetricError
        If no unit is in both, a side has fewer than two units, or every unit shows the same difference.

    Notes
    -----
    Where every unit has one row on each side this is the paired t test of the units' own differences.

    References
    ----------
    Liang, K.-Y. & Zeger, S. L. (1986). Biometrika 73, 13-22.

    Examples
    --------
    Two models' scores of four women and four men of the same four applications; the gaps are 1 and 0.25:

    >>> import numpy as np
    >>> def gap(women, men):
    ...     n, there = len(women), np.ones(len(women))
    ...     return UnitSums(
    ...         estimate=float(np.mean(women) - np.mean(men)),
    ...         group=(women - np.mean(women)) / n, reference=(np.mean(men) - men) / n,
    ...         group_rows=there, reference_rows=there,
    ...     )
    >>> men = np.array([1.0, 2.0, 3.0, 4.0])
    >>> found = paired_difference(gap(men + [2, 1, 1, 0], men), gap(men + [1, 0, 0, 0], men))
    >>> found[0], round(found[1].low, 3), round(found[1].high, 3), round(found[2].p_value, 3)
    (0.75, -0.046, 1.546, 0.058)
    """
    value = first.estimate - second.estimate
    shared = int(np.count_nonzero(first.occurs & second.occurs))
    if shared == 0:
        raise UndefinedMetricError("no application or round has a value of both: nothing pairs them")
    spread = variance_of_sums(
        first.group - second.group,
        first.reference - second.reference,
        np.maximum(first.group_rows, second.group_rows),
        np.maximum(first.reference_rows, second.reference_rows),
    )
    # What is left after two equal numbers cancel is rounding, and no spread.
    size = sum(float(np.square(one).sum()) for s in (first, second) for one in (s.group, s.reference))
    if spread.variance <= 1e-24 * size or spread.variance == 0.0:
        raise UndefinedMetricError("every cluster shows the same difference: no spread to estimate")
    interval = difference_interval(value, spread, level)
    return value, interval, t_test(value, float(np.sqrt(spread.variance)), spread.df, shared, METHOD)
