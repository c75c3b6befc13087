"""Bets on sums of bounded values, and what they have won: what the files of sequential evidence share."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BETS: Final = 0.9 * 2.0 ** (-np.arange(19) / 2.0)
"""Half an octave apart, down to 1/570: for changes seen in one window and for ones that need ten million values.

The best bet on n values of standard deviation s, for evidence of e to the power of b, is the root of 2 b / n over s.
"""
_STAKES: Final = -np.log1p(np.square(np.log2(BETS / 0.14) / 1.5))
WEIGHTS: Final = np.exp(_STAKES) / np.exp(_STAKES).sum()
"""What is staked on each bet, together 1: most on those for changes of .05 to .2 in a selection rate.

As a Cauchy distribution over octaves, so that no bet has less than a seventh of an equal share.
"""
STEPS: Final = 60
"""Halvings of an interval: to the last bits of a double."""
_COST: Final = -np.log1p(-BETS) - BETS


def so_far(n: NDArray[np.int64], total: Floats, squares: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, sum and sum of squares of all windows up to each look."""
    return np.cumsum(n).astype(np.float64), np.cumsum(total), np.cumsum(squares)


def log_e_values(n: Floats, total: Floats, squares: Floats, null: float | Floats, reach: float) -> Floats:
    """Return the log evidence that values lie above `null`, for each bet in a last axis; `reach`: centre less bound."""
    gain = (total - n * null) / reach
    return np.asarray(gain[..., None] * BETS - (squares / reach**2)[..., None] * _COST)


def log_average(log_e: Floats) -> Floats:
    """Return the logarithm of the average over the bets, which are the last axis, by what is staked on each."""
    top = log_e.max(axis=-1)
    return np.asarray(top + np.log(np.exp(log_e - top[..., None]) @ WEIGHTS))


def log_sum(terms: Floats) -> float:
    """Return the logarithm of a sum of which the logarithms are given; some may be minus infinity.

    scipy's ``logsumexp`` prepares its arguments for longer than these few numbers take.
    """
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum())) if math.isfinite(top) else top


def lower_limits(
    n: Floats, total: Floats, squares: Floats, bounds: tuple[float, float], reach: float, told: float
) -> Floats:
    """Return the least mean that is not told to be exceeded, at each look: the evidence falls where the null rises."""
    low, high = (np.full(n.shape, bound) for bound in bounds)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        exceeded = log_average(log_e_values(n, total, squares, middle, reach)) >= told
        low, high = np.where(exceeded, middle, low), np.where(exceeded, high, middle)
    return low
