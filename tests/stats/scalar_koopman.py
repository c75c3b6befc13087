"""Koopman's limits of one pair by a bisection on the log scale: the reference of the library's."""

from __future__ import annotations

import math

from audit_lib.stats._checks import bisect


def limits(x1: int, n1: int, x2: int, n2: int, z: float) -> tuple[float, float]:
    inverse = _lower(x2, n2, x1, n1, z)
    return _lower(x1, n1, x2, n2, z), math.inf if inverse == 0.0 else 1.0 / inverse


def _lower(x1: int, n1: int, x2: int, n2: int, z: float) -> float:
    if x1 == 0:
        return 0.0

    def excess(log_ratio: float) -> float:
        return statistic(math.exp(log_ratio), x1, n1, x2, n2) - z * z

    high = math.log(x1 / n1) - math.log(x2 / n2) if x2 else math.log(2 * n2 * x1 / n1)
    while x2 == 0 and excess(high) > 0:
        high += 1.0
    low = high - 1.0
    while excess(low) < 0:
        low -= 2.0
    return math.exp(bisect(excess, low, high)) if excess(high) < 0 else math.exp(high)


def statistic(ratio: float, x1: int, n1: int, x2: int, n2: int) -> float:
    """Pearson's chi-square of ``p1 = ratio * p2`` at the constrained maximum."""
    total = n1 + n2
    b = ratio * (n1 + x2) + x1 + n2
    c = ratio * (x1 + x2)
    # the smaller root of N p^2 - b p + c, in the form without cancellation
    p1 = 2 * c / (b + math.sqrt(max(b * b - 4 * total * c, 0.0)))
    p2 = min(p1 / ratio, 1.0)
    variance = p1 * (1 - p1) / n1 + ratio * ratio * p2 * (1 - p2) / n2
    distance = (x1 / n1 - ratio * x2 / n2) ** 2
    if variance <= 0.0:
        return 0.0 if distance == 0.0 else math.inf
    return distance / variance
