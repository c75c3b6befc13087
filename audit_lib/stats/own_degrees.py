"""Simultaneous multipliers of standard errors where each estimate has degrees of freedom of its own.

With one number for all, a single small subgroup would make the intervals of all others as wide as its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError

__all__ = ["pair_degrees", "pair_multipliers"]

Floats = NDArray[np.float64]


def pair_degrees(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the degrees of freedom of a difference (Welch and Satterthwaite).

    Parameters
    ----------
    first, second : tuple of float
        Variance of each estimate, and its degrees of freedom, which may be infinite.

    Examples
    --------
    >>> pair_degrees((1.0, 10.0), (1.0, 10.0)), round(pair_degrees((1.0, 1.0), (0.01, 100.0)), 2)
    (20.0, 1.02)
    >>> pair_degrees((1.0, math.inf), (0.0, 3.0))
    inf
    """
    (v, m), (w, n) = first, second
    spread = v * v / m + w * w / n
    return (v + w) ** 2 / spread if spread > 0.0 else math.inf


def pair_multipliers(
    errors: Mapping[tuple[int, int], float],
    variances: Floats,
    degrees: Floats,
    normal: Floats,
    level: float,
    seed: int,
) -> tuple[float, dict[tuple[int, int], float]]:
    r"""Return what multiplies each pair's standard error, so that all pairs hold together.

    Each pair's ratio of difference to standard error is put on the normal scale by its own degrees of freedom, and
    one quantile of the largest is taken there: a pair that is known badly has a wide interval, and leaves the
    others theirs.

    Parameters
    ----------
    errors : mapping of (int, int) to float
        Standard error of each pair that has one.
    variances, degrees : ndarray of float, shape (k,)
        Variance and degrees of freedom of each estimate.
    normal : ndarray of float, shape (k, draws)
        Draws of the estimates' errors with their covariance.
    level : float
        Probability that all pairs stay below.
    seed : int
        Of the draws of the variances.

    Returns
    -------
    float, dict of (int, int) to float
        The quantile on the normal scale, and the multiplier of each pair.

    Raises
    ------
    InputError
        If degrees of freedom are not positive.

    References
    ----------
    Beran, R. (1988). Balanced simultaneous confidence sets. JASA 83, 679-686. Wallace, D. L. (1959). Bounds on normal
    approximations to Student's and the chi-square distributions. Ann. Math. Stat. 30, 1121-1130.

    Examples
    --------
    >>> draws = np.random.Generator(np.random.PCG64(0)).standard_normal((2, 50_000))
    >>> c, found = pair_multipliers({(0, 1): 2**0.5}, np.ones(2), np.full(2, math.inf), draws, 0.95, 0)
    >>> round(c, 1), found[0, 1] == c
    (2.0, True)
    """
    if not (degrees > 0.0).all():
        raise InputError("degrees of freedom must be positive, or infinite")
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    count = normal.shape[1]
    scales = np.ones_like(normal)
    for place in np.flatnonzero(np.isfinite(degrees)):
        scales[place] = rng.chisquare(degrees[place], count) / degrees[place]
    largest, own = np.zeros(count), {}
    for (i, j), error in errors.items():
        own[i, j] = pair_degrees((variances[i], degrees[i]), (variances[j], degrees[j]))
        both = variances[i] + variances[j]
        scale = (variances[i] * scales[i] + variances[j] * scales[j]) / both
        square = (normal[i] - normal[j]) ** 2 / (error**2 * scale)
        np.maximum(largest, _to_normal(square, own[i, j]), out=largest)
    critical = float(np.quantile(largest, level))
    return critical, {pair: _from_normal(critical, df) for pair, df in own.items()}


def _to_normal(square: Floats, df: float) -> Floats:
    """Put squares of Student's t on the normal scale (Wallace's approximation)."""
    if math.isinf(df):
        return np.sqrt(square)
    return (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(square / df))


def _from_normal(z: float, df: float) -> float:
    """Undo `_to_normal`."""
    if math.isinf(df):
        return z
    return math.sqrt(df * math.expm1((z * (8 * df + 3) / (8 * df + 1)) ** 2 / df))
