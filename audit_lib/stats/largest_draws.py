"""Draws of the largest standardised difference of all pairs of normal estimates, and their quantiles.

A quantile needs the largest draws alone. Which these can be is told by a bound that costs little, so that only they are
computed in full; the quantile is that of all draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats._checks import interpolated, pair_places
from audit_lib.stats.independent_draws import screened_of_independent
from audit_lib.stats.kept_draws import normal_draws, reach, scales, single_draws
from audit_lib.stats.screened_draws import ComparedPairs, screened

__all__ = ["all_largest", "drawn_quantile", "normal_draws", "pair_errors", "root"]

Floats = NDArray[np.float64]

_HIGH: Final = 0.9
"""Below this level so many draws are among the largest that all are computed."""


def drawn_quantile(v: Floats, level: float, df: float, draws: int, seed: int) -> float:
    """Return the quantile of the largest absolute standardised difference of all pairs.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance, checked; some pair has variance.
    level : float
        Probability.
    df : float
        Degrees of freedom shared by all pairs; may be infinite.
    draws, seed : int
        Of the simulation.

    Examples
    --------
    >>> found = drawn_quantile(np.eye(3), 0.95, np.inf, 1000, 0)
    >>> bool(found == np.quantile(all_largest(np.eye(3), np.inf, 1000, 0), 0.95))
    True
    """
    place = (draws - 1) * level
    largest = draws - math.floor(place)
    top = None
    if level >= _HIGH and math.isinf(df) and not np.any(v - np.diag(v.diagonal())):
        top = _of_independent(v, level, largest, draws, seed)
    elif level >= _HIGH:
        top = _of_screened(v, df, level, largest, draws, seed)
    if top is None:
        top = _Top(values=all_largest(v, df, draws, seed))
    low, high = top.at(largest), top.at(max(largest - 1, 1))
    return interpolated(low, high, place - math.floor(place))


def _of_screened(v: Floats, df: float, level: float, largest: int, draws: int, seed: int) -> _Top | None:
    pairs, k = ComparedPairs(lower=root(v), errors=pair_errors(v)), v.shape[0]
    normals, by = normal_draws(k, draws, seed), scales(k, df, draws, seed)
    found = screened(pairs, single_draws(k, draws, seed), reach(k, draws, seed), by, level, largest)
    if found is None:
        return None
    values = pairs.largest(normals[:, found.untold])
    return _Top(values=values if by is None else values / by[found.untold], above=found.above)


def _of_independent(v: Floats, level: float, largest: int, draws: int, seed: int) -> _Top | None:
    errors, (i, j) = np.sqrt(v.diagonal()), pair_places(v.shape[0])
    found = screened_of_independent(errors, level, largest, draws, seed)
    if found is None:
        return None
    normals, a, b = normal_draws(errors.size, draws, seed)[:, found.untold], errors[i, None], errors[j, None]
    with np.errstate(invalid="ignore"):
        values = np.abs(a * normals[i] - b * normals[j]) / np.sqrt(a * a + b * b)
    return _Top(values=np.nan_to_num(values, nan=0.0).max(axis=0), above=found.above)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Top:
    """The largest of all draws, or those of them that are looked at.

    Parameters
    ----------
    values : ndarray of float
        Of these.
    above : int
        How many others are larger than all of them.
    """

    values: Floats
    above: int = 0

    def at(self, number: int) -> float:
        """Return the `number`-th largest of all."""
        place = self.values.size + self.above - number
        return float(np.partition(self.values, place)[place])


def all_largest(v: Floats, df: float, draws: int, seed: int) -> Floats:
    """Return the largest absolute standardised difference of all pairs, of every draw.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance, checked.
    df : float
        Degrees of freedom shared by all pairs; may be infinite.
    draws, seed : int
        Of the simulation.

    Examples
    --------
    >>> all_largest(np.eye(2), np.inf, 4, 0).shape
    (4,)
    """
    k = v.shape[0]
    found = ComparedPairs(lower=root(v), errors=pair_errors(v)).largest(normal_draws(k, draws, seed))
    by = scales(k, df, draws, seed)
    return found if by is None else found / by


def pair_errors(v: Floats) -> dict[tuple[int, int], float]:
    """Return the standard error of each pair's difference; 0 where it has none.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance.

    Examples
    --------
    >>> pair_errors(np.array([[2.0, 0.0], [0.0, 2.0]]))
    {(0, 1): 2.0}
    """
    i, j = pair_places(v.shape[0])
    own = v.diagonal()
    variances = own[i] + own[j] - 2 * v[i, j]
    # what is left after cancellation in the last digits is not a variance
    floors = 1e-12 * np.maximum(own[i], own[j])
    errors = np.sqrt(np.where(variances > floors, variances, 0.0))
    return dict(zip(combinations(range(v.shape[0]), 2), errors.tolist(), strict=True))


def root(v: Floats) -> Floats:
    """Return the lower triangular L with L L' = v, also where v is singular; the same on every machine.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance.

    Examples
    --------
    >>> root(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    k = v.shape[0]
    lower = np.zeros((k, k))
    for j in range(k):
        rest = v[j, j] - float(np.square(lower[j, :j]).sum())
        if rest > 1e-12 * v[j, j]:
            lower[j, j] = math.sqrt(rest)
            known = (lower[j + 1 :, :j] * lower[j, :j]).sum(axis=1)
            lower[j + 1 :, j] = (v[j + 1 :, j] - known) / lower[j, j]
    return lower
