"""Koopman's score limits of the ratio of two proportions, of many pairs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["koopman_limits", "koopman_statistic"]

Floats = NDArray[np.float64]

_CLOSE: Final = 2.0**-40
"""A root is between two ratios that are so near to each other, relatively: a straight line then tells its last bits."""
_STEPS: Final = 200
"""More than any root takes: a bisection of all doubles between 0 and infinity takes fewer."""


def koopman_limits(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike
) -> tuple[Floats, Floats]:
    """Return Koopman's limits of each pair at its critical value, for counts that were checked.

    Only sums, products, quotients and square roots are taken, so every machine gives the same limits. Against
    arithmetic of 40 digits they were off by at most 5e-10 of their size up to 10,000 people a side, 4e-6 up to a
    million and 2e-5 up to a hundred million. From a billion on, with nearly all selected, differences cancel and
    limits can be wrong.

    Parameters
    ----------
    x1, n1 : array_like of int
        Selected and total of the group.
    x2, n2 : array_like of int
        Selected and total of the comparator.
    z : array_like of float
        Critical value, such as 1.96.

    Returns
    -------
    ndarray, ndarray
        Lower limits, which are 0 where nobody of the group is selected, and upper ones, which are infinite where nobody
        of the comparator is.

    References
    ----------
    Chandrupatla, T. R. (1997). A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
    without using derivatives. Adv. Eng. Softw. 28, 145-149. Koopman (1984), see
    :func:`audit_lib.stats.ratio_of_proportions`.

    Examples
    --------
    >>> low, high = koopman_limits([20, 0], 100, [40, 3], 100, 1.96)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.314, 0.0], [0.783, 1.259])
    """
    a, n, b, m, critical = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (x1, n1, x2, n2, z)))
    # The upper limit of a ratio is the lower one of its inverse, turned over.
    low = _lower(*(np.stack(pair) for pair in ((a, b), (n, m), (b, a), (m, n), (critical, critical))))
    with np.errstate(divide="ignore"):
        return low[0], 1.0 / low[1]


def koopman_statistic(ratio: Floats, x1: Floats, n1: Floats, x2: Floats, n2: Floats) -> Floats:
    """Return Pearson's chi-square of ``p1 = ratio * p2`` at the constrained maximum.

    Parameters
    ----------
    ratio : ndarray of float
        Above 0.
    x1, n1, x2, n2 : ndarray of float
        Counts.

    Examples
    --------
    >>> counts = (np.array([36.0]), np.array([40.0]), np.array([16.0]), np.array([80.0]))
    >>> koopman_statistic(np.array([2.94]), *counts).round(2).tolist()
    [3.84]
    """
    total = n1 + n2
    b = ratio * (n1 + x2) + (x1 + n2)
    c = ratio * (x1 + x2)
    # the smaller root of N p^2 - b p + c, in the form without cancellation
    p1 = 2.0 * c / (b + np.sqrt(np.maximum(b * b - 4.0 * total * c, 0.0)))
    p2 = np.minimum(p1 / ratio, 1.0)
    variance = p1 * (1.0 - p1) / n1 + ratio * ratio * p2 * (1.0 - p2) / n2
    distance = np.square(x1 / n1 - ratio * x2 / n2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = distance / variance
    return np.asarray(np.where(variance > 0.0, found, np.where(distance == 0.0, 0.0, np.inf)))


def _lower(x1: Floats, n1: Floats, x2: Floats, n2: Floats, z: Floats) -> Floats:
    # Where everybody is selected on both sides the equation has a solution in closed form, and no other that is stable.
    found = np.where((x1 == n1) & (x2 == n2), n1 / (n1 + z * z), 0.0)
    some = np.flatnonzero((x1 > 0) & ((x1 < n1) | (x2 < n2)))
    if not some.size:
        return found
    counts = [one.ravel()[some] for one in (x1, n1, x2, n2)]
    critical = z.ravel()[some]

    def excess(ratio: Floats, places: NDArray[np.int64]) -> Floats:
        # Its root is near to a straight line where the statistic itself is a parabola.
        if places.size == critical.size:  # all of them, in order
            return np.sqrt(koopman_statistic(ratio, *counts)) - critical
        return np.sqrt(koopman_statistic(ratio, *(one[places] for one in counts))) - critical[places]

    a, n, b, m = counts
    with np.errstate(divide="ignore"):
        high = np.where(b > 0, (a * m) / (n * b), 2.0 * m * a / n)
    beyond = np.flatnonzero(b == 0)
    while beyond.size:
        beyond = beyond[excess(high[beyond], beyond) > 0]
        high[beyond] *= 2.0
    low = high / 2.0
    below = np.arange(some.size)
    while below.size:
        below = below[excess(low[below], below) < 0]
        low[below] /= 4.0
    found.ravel()[some] = _roots(excess, low, high)
    return found


def _roots(f: Callable[[Floats, NDArray[np.int64]], Floats], low: Floats, high: Floats) -> Floats:
    """Return a root of each function between `low`, where it is not negative, and `high`, where it is not positive."""
    found = np.empty(low.size)
    left = np.arange(low.size)
    x1, x2, step = high.copy(), low.copy(), np.full(low.size, 0.5)
    f1, f2 = f(x1, left), f(x2, left)
    x3, f3 = x1, f1
    for _ in range(_STEPS):
        gap = np.abs(x2 - x1)
        done = (gap <= _CLOSE * x1) | (f1 == 0.0)
        if done.any():
            found[left[done]] = (x1 - f1 * ((x2 - x1) / (f2 - f1)))[done]
            keep = ~done
            left, step, gap = left[keep], step[keep], gap[keep]
            x1, x2, x3, f1, f2, f3 = (one[keep] for one in (x1, x2, x3, f1, f2, f3))
            if not left.size:
                return found
        nearest = np.minimum(0.5, 0.5 * _CLOSE * x1 / gap)
        x = x1 + np.clip(step, nearest, 1.0 - nearest) * (x2 - x1)
        y = f(x, left)
        same = (y > 0) == (f1 > 0)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = x, y
        step = _next_step(x1, x2, x3, f1, f2, f3)
    found[left] = x1
    return found


def _next_step(x1: Floats, x2: Floats, x3: Floats, f1: Floats, f2: Floats, f3: Floats) -> Floats:
    """Return how far to go from x1 to x2: by inverse quadratic interpolation where that is safe, else half."""
    with np.errstate(divide="ignore", invalid="ignore"):
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        safe = (phi * phi < xi) & ((1.0 - phi) * (1.0 - phi) < 1.0 - xi)
        step = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return np.where(safe & np.isfinite(step), step, 0.5)
