"""Intervals for all pairs at once, and for what is read off the most extreme pair.

The comparator of an impact ratio is the category that happens to have the highest rate, and an AUC
gap is the largest of many differences. An interval made for a pair chosen beforehand is too short
for a pair chosen by the data. Here all pairs are covered together, so whichever is read is covered.

The critical value is the quantile of the largest absolute standardised difference among all pairs,
drawn from the normal (or Student) distribution with the estimated covariance: ``DRAWS`` draws give
it to about +-0.01 (twice its standard error); with a single pair it is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, Undefined
from audit_lib.stats._checks import check_level, finite_values, t_quantile, z_quantile
from audit_lib.stats.largest_draws import all_largest, drawn_quantile, normal_draws, pair_errors, root
from audit_lib.stats.own_degrees import pair_degrees, pair_multipliers
from audit_lib.typed_json import as_json

__all__ = [
    "AllPairs",
    "PairInterval",
    "max_t_quantile",
    "simultaneous_differences",
]

Floats = NDArray[np.float64]

DRAWS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PairInterval:
    """One pair: first minus second, or first over second.

    Parameters
    ----------
    first, second : int
        Positions in the input.
    value : float or Undefined
        The difference or ratio.
    interval : Interval or Undefined
        Covers with all other pairs at the level.
    conditional : Interval or Undefined
        Covers on its own, had the pair been chosen beforehand.
    """

    first: int
    second: int
    value: float | Undefined
    interval: Interval | Undefined
    conditional: Interval | Undefined

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPairs:
    """All differences, and the largest of them.

    Parameters
    ----------
    pairs : tuple of PairInterval
        Every pair (i, j), i < j, in order.
    largest : PairInterval
        The pair with the largest absolute difference.
    gap : Interval
        Interval of the largest absolute difference, allowing for its having been selected.
    critical_value : float
        What the standard errors were multiplied by.
    """

    pairs: tuple[PairInterval, ...]
    largest: PairInterval
    gap: Interval
    critical_value: float

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def max_t_quantile(
    covariance: ArrayLike, level: float = 0.95, *, df: float = math.inf, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return the quantile of the largest absolute standardised difference of all pairs.

    Parameters
    ----------
    covariance : array_like of shape (k, k)
        Of the k estimates; may be singular. Pairs without variance are left out.
    level : float
        Probability that all pairs stay below.
    df : float
        Degrees of freedom shared by all pairs; infinite for the normal distribution.
    draws, seed : int
        Size and seed of the simulation; not used with a single pair.

    Raises
    ------
    UndefinedMetricError
        If no pair has any variance.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric
    models. Biom. J. 50, 346-363.

    Examples
    --------
    Five independent equal variances: Tukey's studentised range, 3.858 / sqrt(2) = 2.728.

    >>> abs(max_t_quantile(np.eye(5)) - 2.728) < 0.02
    True
    """
    v = check_covariance(covariance)
    if not df > 0.0:
        raise InputError(f"df is {df}; give positive degrees of freedom, or infinity")
    errors = pair_errors(v)
    live = [pair for pair, error in errors.items() if error > 0.0]
    if not live:
        raise UndefinedMetricError("no pair of estimates has any variance")
    if len(live) == 1:
        return z_quantile(level) if math.isinf(df) else t_quantile(level, df)
    return _kept_quantile(v.tobytes(), v.shape[0], check_level(level), df, draws, seed)


def independent_quantile(
    variances: Floats, level: float = 0.95, *, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return `max_t_quantile` of independent estimates, each of which varies.

    Parameters
    ----------
    variances : ndarray of shape (k,)
        Positive, of two estimates or more.
    level, draws, seed
        As in :func:`max_t_quantile`.

    Examples
    --------
    >>> variances = np.array([1.0, 2.0, 3.0])
    >>> independent_quantile(variances) == max_t_quantile(np.diag(variances))
    True
    """
    if variances.size == 2:
        return z_quantile(level)
    return _kept_quantile(
        np.diag(variances).tobytes(), variances.size, check_level(level), math.inf, draws, seed
    )


def largest_differences(covariance: ArrayLike, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Draw the largest absolute standardised difference of all pairs of normal estimates; sorted.

    Parameters
    ----------
    covariance : array_like of shape (k, k)
        Of the k estimates; may be singular. Pairs without variance are left out.
    draws, seed : int
        Size and seed of the simulation.

    Examples
    --------
    >>> largest = largest_differences(np.eye(5))
    >>> round(float(np.quantile(largest, 0.95)), 1)
    2.7
    """
    v = check_covariance(covariance)
    return np.sort(all_largest(v, math.inf, draws, seed))


@lru_cache(maxsize=1024)
def _kept_quantile(covariance: bytes, k: int, level: float, df: float, draws: int, seed: int) -> float:
    """The simulation: kept, since tables are recomputed when a run is verified, and their parts recur in strata."""
    return drawn_quantile(np.frombuffer(covariance).reshape(k, k), level, df, draws, seed)


def simultaneous_differences(
    estimates: ArrayLike,
    covariance: ArrayLike,
    level: float = 0.95,
    *,
    df: float | ArrayLike = math.inf,
    draws: int = DRAWS,
    seed: int = 0,
) -> AllPairs:
    r"""Differences of all pairs of estimates, with intervals that hold together.

    .. math:: d_{ij} \pm c \sqrt{V_{ii} + V_{jj} - 2 V_{ij}}

    The largest absolute difference lies, whenever they all hold, between the largest of the lower
    limits of :math:`|d_{ij}|` and the largest of the upper ones: that is ``gap``.

    Parameters
    ----------
    estimates : array_like of shape (k,)
        At least two.
    covariance : array_like of shape (k, k)
        Their covariance, whatever the overlap they come from.
    level, draws, seed
        As in :func:`max_t_quantile`.
    df : float or array_like of shape (k,)
        Degrees of freedom shared by all pairs, or those of each estimate: then each pair has its own
        (`audit_lib.stats.own_degrees`), and ``critical_value`` is on the normal scale.

    Raises
    ------
    UndefinedMetricError
        With fewer than two estimates, or no variance at all.

    Examples
    --------
    >>> result = simultaneous_differences([0.80, 0.70, 0.75], np.diag([4e-4, 9e-4, 4e-4]))
    >>> result.largest.first, result.largest.second, round(result.largest.value, 2)
    (0, 1, 0.1)
    >>> round(result.gap.low, 2), round(result.gap.high, 2)
    (0.02, 0.18)
    """
    values = finite_values(estimates, "estimates")
    v = check_covariance(covariance)
    if v.shape[0] != values.size:
        raise InputError(f"covariance of {v.shape[0]} estimates given for {values.size}")
    if values.size < 2:
        raise UndefinedMetricError("fewer than two estimates: there is no pair")
    errors = pair_errors(v)
    critical, multipliers = _multipliers(v, errors, df, level, draws, seed)
    pairs = []
    for (i, j), error in errors.items():
        difference = float(values[i] - values[j])
        interval: Interval | Undefined = Undefined("the difference of this pair has no variance")
        conditional = interval
        if error > 0.0:
            together, single = multipliers[i, j]
            half = together * error
            interval = Interval(
                low=difference - half,
                high=difference + half,
                level=level,
                method="max-|t| over all pairs",
                kind="simultaneous",
            )
            half = single * error
            conditional = Interval(
                low=difference - half,
                high=difference + half,
                level=level,
                method="Wald, pair as if fixed",
                kind="conditional",
            )
        pairs.append(
            PairInterval(first=i, second=j, value=difference, interval=interval, conditional=conditional)
        )
    sizes = [abs(float(values[pair.first] - values[pair.second])) for pair in pairs]
    return AllPairs(
        pairs=tuple(pairs),
        largest=pairs[int(np.argmax(sizes))],
        gap=_gap([pair.interval for pair in pairs], sizes, level),
        critical_value=critical,
    )


def _multipliers(
    v: Floats,
    errors: dict[tuple[int, int], float],
    df: float | ArrayLike,
    level: float,
    draws: int,
    seed: int,
) -> tuple[float, dict[tuple[int, int], tuple[float, float]]]:
    """Return the critical value, and what multiplies each pair's error: with all others, and alone."""
    live = {pair: error for pair, error in errors.items() if error > 0.0}
    if np.ndim(df) == 0:
        shared = float(np.asarray(df, dtype=np.float64))
        critical = max_t_quantile(v, level, df=shared, draws=draws, seed=seed)
        return critical, dict.fromkeys(live, (critical, _single(level, shared)))
    degrees = np.asarray(df, dtype=np.float64)
    if degrees.shape != (v.shape[0],):
        raise InputError(
            f"df has shape {degrees.shape} for {v.shape[0]} estimates; give one number, or one each"
        )
    if not live:
        raise UndefinedMetricError("no pair of estimates has any variance")
    normal = np.einsum("ij,jd->id", root(v), normal_draws(v.shape[0], draws, seed))
    variances = v.diagonal()
    critical, together = pair_multipliers(live, variances, degrees, normal, check_level(level), seed)
    alone = {
        (i, j): _single(level, pair_degrees((variances[i], degrees[i]), (variances[j], degrees[j])))
        for i, j in live
    }
    if len(live) == 1:  # exact: nothing was selected
        together = alone
    return critical, {pair: (together[pair], alone[pair]) for pair in live}


def _single(level: float, df: float) -> float:
    return z_quantile(level) if math.isinf(df) else t_quantile(level, df)


def _gap(intervals: list[Interval | Undefined], sizes: list[float], level: float) -> Interval:
    low = high = 0.0
    for interval, size in zip(intervals, sizes, strict=True):
        if isinstance(interval, Undefined):
            low, high = max(low, size), max(high, size)
        else:
            low = max(low, interval.low, -interval.high)
            high = max(high, abs(interval.low), abs(interval.high))
    return Interval(
        low=low,
        high=high,
        level=level,
        method="largest difference, from simultaneous intervals of all pairs",
        kind="simultaneous",
    )


def check_covariance(covariance: ArrayLike) -> Floats:
    """Return the covariance as a square, finite, symmetrical and positive semi-definite matrix.

    Parameters
    ----------
    covariance : array_like of shape (k, k)
        To be checked.

    Raises
    ------
    InputError
        If it is not that.

    Examples
    --------
    >>> check_covariance([[1, 2], [2, 1]])
    Traceback (most recent call last):
    audit_lib.errors.InputError: the covariance is not positive semi-definite: no estimates vary together so
    """
    v = np.asarray(covariance, dtype=np.float64)
    if v.ndim != 2 or v.shape[0] != v.shape[1]:
        raise InputError(f"a covariance is a square matrix, not of shape {v.shape}")
    if not np.isfinite(v).all() or not ((v == v.T).all() or np.allclose(v, v.T)):
        raise InputError("the covariance is not finite and symmetrical")
    # By correlations, so that what counts as rounding does not depend on units.
    scale = np.sqrt(np.maximum(v.diagonal(), 0.0))
    unit = v / np.where(scale > 0.0, scale, 1.0)[:, None] / np.where(scale > 0.0, scale, 1.0)
    apart = not np.any(unit - np.diag(unit.diagonal()))
    if v.size and (unit.diagonal().min() if apart else np.linalg.eigvalsh(unit)[0]) < -1e-8:
        raise InputError("the covariance is not positive semi-definite: no estimates vary together so")
    return v
