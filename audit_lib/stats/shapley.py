"""Parts of a whole that do not depend on the order in which they are taken, and their errors by blocks of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from audit_lib.errors import InputError
from audit_lib.results import Interval, Undefined
from audit_lib.stats._checks import check_level

__all__ = ["block_interval", "shapley_parts"]

Floats = NDArray[np.float64]

_FEWEST_BLOCKS = 8


def shapley_parts(players: int, worth: Callable[[int], Floats]) -> Floats:
    r"""Share out a change among what changed: the mean over all orders in which things may have changed one by one.

    With :math:`v(S)` the result where only what is in :math:`S` has changed, the part of :math:`i` is

    .. math::
        \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(k - |S| - 1)!}{k!} \bigl(v(S \cup \{i\}) - v(S)\bigr),

    and the parts add up to the whole change.

    Parameters
    ----------
    players : int
        How many things may have changed, :math:`k`.
    worth : callable
        The result for a set of them, as a number whose bit i says whether i has changed; an array, for replicates.

    Returns
    -------
    ndarray, shape (players, ...)
        The part of each.

    References
    ----------
    Shorrocks, A. F. (2013). Decomposition procedures for distributional analysis: a unified framework based on the
    Shapley value. Journal of Economic Inequality 11, 99-126.

    Examples
    --------
    A product that went from 2 x 3 to 4 x 5: 14 more, of which 8 by the first factor.

    >>> shapley_parts(2, lambda changed: np.array((4 if changed & 1 else 2) * (5 if changed & 2 else 3))).tolist()
    [8.0, 6.0]
    """
    values = [np.asarray(worth(changed), dtype=np.float64) for changed in range(2**players)]
    parts = np.zeros((players, *values[0].shape))
    for changed, value in enumerate(values):
        size = changed.bit_count()
        for one in range(players):
            if not changed >> one & 1:
                weight = 1.0 / (players * math.comb(players - 1, size))
                parts[one] += weight * (values[changed | 1 << one] - value)
    return parts


def block_interval(
    value: float, replicates: NDArray[np.float64], level: float = 0.95
) -> Interval | Undefined:
    r"""Return an interval from the values that are left when each block of clusters is taken out in turn.

    The delete-a-group jackknife: clusters are dealt to blocks, so the blocks are independent, and the variance of any
    smooth function of their sums is :math:`\frac{B - 1}{B} \sum_b (\theta_{(b)} - \bar\theta)^2`, with B - 1 degrees
    of freedom.

    Parameters
    ----------
    value : float
        With all blocks.
    replicates : ndarray of float, shape (blocks,)
        Without each block that holds somebody.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval or Undefined
        None where fewer than eight blocks hold somebody, or the value does not exist without one of them.

    Raises
    ------
    InputError
        If the value is no number.

    References
    ----------
    Kott, P. S. (2001). The delete-a-group jackknife. Journal of Official Statistics 17, 521-526.

    Examples
    --------
    >>> found = block_interval(2.0, np.array([1.9, 2.1, 2.0, 2.05, 1.95, 2.0, 1.9, 2.1]))
    >>> round(found.low, 2), round(found.high, 2)
    (1.53, 2.47)
    """
    check_level(level)
    blocks = replicates.size
    if math.isnan(value):
        raise InputError("the value with all blocks is no number; it has no interval")
    if blocks < _FEWEST_BLOCKS:
        return Undefined(f"{blocks} blocks of clusters; {_FEWEST_BLOCKS} are needed for an interval")
    if np.isnan(replicates).any():
        return Undefined("without one block of clusters there is nothing to compute it from")
    deviation = math.sqrt((blocks - 1) / blocks * float(np.square(replicates - replicates.mean()).sum()))
    half = float(student.ppf((1.0 + level) / 2.0, blocks - 1)) * deviation
    return Interval(
        low=value - half, high=value + half, level=level, method="delete-a-group jackknife over clusters"
    )
