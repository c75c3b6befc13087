"""Which draws hold a quantile of the largest difference of all pairs of independent estimates.

The standardised difference of two of them is no further from 0 than the pair of their standard normal draws is (Cauchy
and Schwarz). So pairs of draws are looked at from the furthest on, in single precision, until enough differences are
larger than all that is left could be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats._checks import pair_places, z_quantile
from audit_lib.stats.kept_draws import Floats, Singles, normal_draws
from audit_lib.stats.screened_draws import Screened, told

_FIRST: Final = 2000
"""Pairs of draws that are looked at first, or more."""
_DOUBT: Final = 2.0**-20
"""Error of a difference in single precision, of a draw at distance 1: four times what it can be."""


@dataclass(frozen=True, slots=True)
class _Entries:
    """Pairs of independent standard normal draws, those furthest from 0 first."""

    pair: NDArray[np.intp]
    draw: NDArray[np.intp]
    """Which pair of estimates, and which draw."""
    x: Singles
    y: Singles
    inward: Floats
    """How far they are from 0, less than nothing, so that they ascend."""

    def differences(self, weights: tuple[Singles, Singles], part: slice) -> Singles:
        """Return the standardised differences of some of them."""
        a, b = (one[self.pair[part]] for one in weights)
        a *= self.x[part]
        b *= self.y[part]
        a -= b
        return np.abs(a, out=a)


@lru_cache(maxsize=16)
def _entries(k: int, least: float, draws: int, seed: int) -> _Entries:
    normals = normal_draws(k, draws, seed)
    squares, (first, second) = np.square(normals), pair_places(k)
    where = [
        np.flatnonzero(squares[i] + squares[j] >= least * least) for i, j in zip(first, second, strict=True)
    ]
    pair, draw = np.repeat(np.arange(first.size), [one.size for one in where]), np.concatenate(where)
    x, y = normals[first[pair], draw], normals[second[pair], draw]
    inward = -np.sqrt(x * x + y * y)
    order = np.argsort(inward, kind="stable")
    return _Entries(
        pair=pair[order], draw=draw[order], x=x[order].astype(np.float32), y=y[order].astype(np.float32),
        inward=inward[order],
    )  # fmt: skip


def screened_of_independent(
    errors: Floats, level: float, largest: int, draws: int, seed: int
) -> Screened | None:
    """Find the draws that may be the `largest`-th of all, or the one above it; None where that takes too many.

    Parameters
    ----------
    errors : ndarray of shape (k,)
        Standard errors of the estimates.
    level : float
        Of the quantile.
    largest : int
        Its place, from the largest draw.
    draws, seed : int
        As of `normal_draws`.

    Examples
    --------
    >>> found = screened_of_independent(np.ones(3), 0.95, 50, 1000, 0)
    >>> found.untold.size + found.above >= 50
    True
    """
    k = errors.size
    # What the largest of k - 1 independent draws exceeds as rarely: where one estimate varies far more than all others.
    least = z_quantile(level ** (1 / (k - 1)))
    entries, (i, j) = _entries(k, round(least, 6), draws, seed), pair_places(k)
    if not entries.draw.size:
        return None
    with np.errstate(invalid="ignore"):
        both = np.hypot(errors[i], errors[j])
        first, second = (np.nan_to_num(errors[one] / both, nan=0.0).astype(np.float32) for one in (i, j))
    doubt = -_DOUBT * float(entries.inward[0])
    stop = min(max(4 * largest, _FIRST), entries.draw.size)
    found = entries.differences((first, second), slice(0, stop))
    # Of a draw there may be several differences, so that this bound is a guess; what is found has to bear it out.
    place = min(largest + largest // 4, stop)
    bound = float(np.partition(found, stop - place)[stop - place])
    while bound > least:
        more = int(np.searchsorted(entries.inward, -bound, "right"))
        if more > stop:
            found = np.concatenate([found, entries.differences((first, second), slice(stop, more))])
            stop = more
        places = np.flatnonzero(found >= np.float32(bound))
        draw, values = _largest_of_each(entries.draw[places], found[places], draws)
        limits = told(values.astype(np.float64), doubt, largest)
        # No difference of pairs nearer to 0 than the bound is above it.
        if limits is not None and limits.low >= bound:
            return Screened(draw[limits.untold], limits.above)
        bound *= 0.97
    return None


def _largest_of_each(draw: NDArray[np.intp], values: Singles, draws: int) -> tuple[NDArray[np.intp], Singles]:
    """Return the draws that occur, each once, and the largest value of each."""
    largest, last = np.zeros(draws, np.float32), np.empty(draws, np.intp)
    np.maximum.at(largest, draw, values)
    number = np.arange(draw.size)
    last[draw] = number
    once = draw[last[draw] == number]
    return once, largest[once]
