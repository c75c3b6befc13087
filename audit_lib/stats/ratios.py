"""Impact ratios whose comparator is the category with the highest rate, with honest intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, Undefined
from audit_lib.stats._checks import check_counts, pair_places, z_quantile
from audit_lib.stats.koopman import koopman_limits
from audit_lib.stats.largest_draws import pair_errors
from audit_lib.stats.simultaneous import (
    DRAWS,
    PairInterval,
    check_covariance,
    independent_quantile,
    max_t_quantile,
    simultaneous_differences,
)
from audit_lib.typed_json import as_json

__all__ = ["AllRatios", "simultaneous_log_ratios", "simultaneous_ratios"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllRatios:
    """All ratios, and each rate over the highest.

    Parameters
    ----------
    pairs : tuple of PairInterval
        Every pair (i, j), i < j, in order.
    to_highest : tuple of Interval
        For each category, the interval of its rate over the highest true rate, whichever category
        that is. Its upper limit is at most 1. All of them hold together at the level.
    critical_value : float
        What replaced the normal quantile.
    """

    pairs: tuple[PairInterval, ...]
    to_highest: tuple[Interval, ...]
    critical_value: float

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def simultaneous_ratios(
    selected: Sequence[int],
    totals: Sequence[int],
    level: float = 0.95,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> AllRatios:
    """Ratios of all pairs of independent proportions, and each over the highest, holding together.

    Each pair's limits are Koopman's, with the normal quantile replaced by the max-|t| quantile of
    the log ratios of all pairs. Score limits exist for any counts: with no selection in one
    category its ratio's limit is 0 or infinite, and nothing is added to the data. Only the critical
    value uses rates smoothed to (x + 1/2) / (n + 1). For the ratio to the highest,

    ``low = min(1, low of the ratio to each other category)``, and ``high`` likewise; both are 1 where
    every other category is shown to be lower.

    Parameters
    ----------
    selected, totals : sequence of int
        Counts of each category; categories do not overlap.
    level : float
        Nominal joint coverage.
    draws, seed : int
        As in :func:`max_t_quantile`.

    Raises
    ------
    UndefinedMetricError
        If a category is empty, or if there are fewer than two.

    Notes
    -----
    Range: all pairs at once are covered 93 to 97% of the time where at least 5 are expected selected
    and 5 not in each category; the ratios to the highest at least as often, and more often where
    rates differ (``docs/coverage.md``).

    References
    ----------
    Agresti, A., Bini, M., Bertaccini, B. & Ryu, E. (2008). Simultaneous confidence intervals for
    comparing binomial parameters. Biometrics 64, 1270-1275. Koopman (1984), see
    :func:`audit_lib.stats.ratio_of_proportions`. Hsu, J. C. (1996). Multiple Comparisons. Chapman
    & Hall (comparisons with the best).

    Examples
    --------
    >>> result = simultaneous_ratios([48, 30, 24], [60, 50, 48])
    >>> [(round(i.low, 2), round(i.high, 2)) for i in result.to_highest]
    [(1.0, 1.0), (0.53, 1.0), (0.42, 0.88)]
    """
    counts, critical = _critical(selected, totals, level, draws, seed)
    k = len(counts)
    low, high = _limits(counts, critical)
    narrow, wide = _limits(counts, z_quantile(level))
    pairs = []
    for number, (i, j) in enumerate(combinations(range(k), 2)):
        (x1, n1), (x2, n2) = counts[i], counts[j]
        interval = Interval(
            low=float(low[number]),
            high=float(high[number]),
            level=level,
            method="Koopman score, max-|t| over all pairs",
            kind="simultaneous",
        )
        conditional = Interval(
            low=float(narrow[number]),
            high=float(wide[number]),
            level=level,
            method="Koopman score",
            kind="conditional",
        )
        value = (x1 * n2) / (n1 * x2) if x2 else Undefined("the comparator selected nobody")
        pairs.append(PairInterval(first=i, second=j, value=value, interval=interval, conditional=conditional))
    return AllRatios(pairs=tuple(pairs), to_highest=to_highest(low, high, k, level), critical_value=critical)


def ratios_to_the_highest(
    tables: Sequence[tuple[Sequence[int], Sequence[int]]],
    level: float = 0.95,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[tuple[Interval, ...] | Undefined]:
    """Return what `simultaneous_ratios` says of each category over the highest, of many tables at once.

    Parameters
    ----------
    tables : sequence of (sequence of int, sequence of int)
        Selected and total of each category of a table; categories do not overlap.
    level : float
        Nominal joint coverage of each table.
    draws, seed : int
        As in :func:`max_t_quantile`.

    Returns
    -------
    list of (tuple of Interval, or Undefined)
        Undefined where a category is empty, or where there are fewer than two.

    Examples
    --------
    >>> counts = [48, 30, 24], [60, 50, 48]
    >>> ratios_to_the_highest([counts]) == [simultaneous_ratios(*counts).to_highest]
    True
    """
    found: list[tuple[Interval, ...] | Undefined] = []
    kept: list[tuple[list[tuple[int, int]], float]] = []
    for selected, totals in tables:
        try:
            kept.append(_critical(selected, totals, level, draws, seed))
            found.append(())
        except UndefinedMetricError as error:
            found.append(Undefined(str(error)))
    limits = iter(_limits_of([counts for counts, _ in kept], [critical for _, critical in kept]))
    sizes = iter(len(counts) for counts, _ in kept)
    return [
        one if isinstance(one, Undefined) else to_highest(*next(limits), next(sizes), level) for one in found
    ]


def _critical(
    selected: Sequence[int], totals: Sequence[int], level: float, draws: int, seed: int
) -> tuple[list[tuple[int, int]], float]:
    """Return the counts, checked, and the critical value of all pairs."""
    if len(selected) != len(totals):
        raise InputError(f"{len(selected)} counts of selected for {len(totals)} totals")
    counts = [
        check_counts(x, n, f"category {i}") for i, (x, n) in enumerate(zip(selected, totals, strict=True))
    ]
    if len(counts) < 2:
        raise UndefinedMetricError("fewer than two categories: there is nothing to compare with")
    smoothed = [(x + 0.5) / (n + 1) for x, n in counts]
    variance = [(1 - p) / (n * p) for p, (_, n) in zip(smoothed, counts, strict=True)]
    return counts, independent_quantile(np.array(variance), level, draws=draws, seed=seed)


def _limits(counts: Sequence[tuple[int, int]], critical: float) -> tuple[Floats, Floats]:
    """Return the limits of each pair's ratio, in the order of `combinations`."""
    return _limits_of([counts], [critical])[0]


def _limits_of(
    tables: Sequence[Sequence[tuple[int, int]]], criticals: Sequence[float]
) -> list[tuple[Floats, Floats]]:
    """Return the limits of each table."""
    if not tables:
        return []
    sides = []
    for counts in tables:
        x, n = np.array(counts, dtype=np.float64).T
        i, j = pair_places(x.size)
        sides.append(np.array([x[i], n[i], x[j], n[j]]))
    pairs = [side.shape[1] for side in sides]
    x1, n1, x2, n2 = np.hstack(sides)
    low, high = koopman_limits(x1, n1, x2, n2, np.repeat(criticals, pairs))
    ends = np.cumsum(pairs)[:-1]
    return list(zip(np.split(low, ends), np.split(high, ends), strict=True))


def simultaneous_log_ratios(
    rates: ArrayLike,
    covariance: ArrayLike,
    level: float = 0.95,
    *,
    df: float = math.inf,
    draws: int = DRAWS,
    seed: int = 0,
) -> AllRatios:
    """Ratios of all pairs of positive estimates with any covariance: for rates that share applications.

    The delta method on the log scale: the covariance of log rates is V / (p_i p_j). Not for rates
    near 0; at 0 it does not exist.

    Parameters
    ----------
    rates : array_like of shape (k,)
        Positive estimates.
    covariance : array_like of shape (k, k)
        Their covariance, such as from cluster sums of influence values.
    level, df, draws, seed
        As in :func:`max_t_quantile`.

    Raises
    ------
    UndefinedMetricError
        If a rate is 0, there are fewer than two, or none varies.

    Examples
    --------
    >>> result = simultaneous_log_ratios([0.8, 0.6], np.diag([0.0016, 0.0024]))
    >>> round(result.pairs[0].interval.low, 3), round(result.to_highest[1].high, 3)
    (1.105, 0.905)
    """
    p, v = _on_log_scale(rates, covariance)
    logs = simultaneous_differences(np.log(p), v, level, df=df, draws=draws, seed=seed)
    pairs = [
        PairInterval(
            first=pair.first,
            second=pair.second,
            value=float(p[pair.first] / p[pair.second]),
            interval=_exponential(pair.interval),
            conditional=_exponential(pair.conditional),
        )
        for pair in logs.pairs
    ]
    return ratios_to_highest(pairs, p.size, logs.critical_value, level)


def log_ratios_to_the_highest(
    rates: ArrayLike,
    covariance: ArrayLike,
    level: float = 0.95,
    *,
    df: float = math.inf,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Interval, ...]:
    """Return what `simultaneous_log_ratios` says of each category over the highest, without the pairs.

    Parameters
    ----------
    rates, covariance, level, df, draws, seed
        As in :func:`simultaneous_log_ratios`.

    Raises
    ------
    UndefinedMetricError
        As there.

    Examples
    --------
    >>> given = [0.8, 0.6, 0.7], np.diag([0.0016, 0.0024, 0.002])
    >>> log_ratios_to_the_highest(*given) == simultaneous_log_ratios(*given).to_highest
    True
    """
    p, v = _on_log_scale(rates, covariance)
    if p.size < 2:
        raise UndefinedMetricError("fewer than two estimates: there is no pair")
    critical = max_t_quantile(v, level, df=df, draws=draws, seed=seed)
    i, j = pair_places(p.size)
    logs, errors = np.log(p), np.array(list(pair_errors(v).values()))
    differences, halves = logs[i] - logs[j], critical * errors
    low = np.array(list(map(math.exp, (differences - halves).tolist())))
    high = np.array(list(map(math.exp, (differences + halves).tolist())))
    known = errors == 0.0  # two estimates that never differ
    low[known] = high[known] = (p[i] / p[j])[known]
    return to_highest(low, high, p.size, level)


def _on_log_scale(rates: ArrayLike, covariance: ArrayLike) -> tuple[Floats, Floats]:
    """Return positive rates, and the covariance of their logarithms."""
    p = np.asarray(rates, dtype=np.float64)
    if np.any(p <= 0.0):
        raise UndefinedMetricError("a rate is 0: its log ratio does not exist")
    return p, check_covariance(covariance) / np.outer(p, p)


def _exponential(interval: Interval | Undefined) -> Interval | Undefined:
    if isinstance(interval, Undefined):
        return interval
    return replace(
        interval,
        low=math.exp(interval.low),
        high=math.exp(interval.high),
        method=f"{interval.method}, log scale",
    )


def ratios_to_highest(pairs: list[PairInterval], k: int, critical: float, level: float) -> AllRatios:
    """Return the ratios of all pairs of `k` categories, with each over the highest read off them.

    Parameters
    ----------
    pairs : list of PairInterval
        Ratio of each pair of categories, with its interval, in the order of `combinations`.
    k : int
        Number of categories.
    critical : float
        The quantile that the intervals were made with.
    level : float
        Their common coverage.

    Examples
    --------
    >>> none = Undefined("the two never differ")
    >>> pair = PairInterval(first=0, second=1, value=2.0, interval=none, conditional=none)
    >>> [interval.low for interval in ratios_to_highest([pair], 2, 1.96, 0.95).to_highest]
    [1.0, 0.5]
    """
    low, high = np.empty(len(pairs)), np.empty(len(pairs))
    for place, pair in enumerate(pairs):
        if isinstance(pair.interval, Undefined):
            # two estimates that never differ: the ratio of this pair is known
            low[place] = high[place] = pair.value if isinstance(pair.value, float) else 1.0
        else:
            low[place], high[place] = pair.interval.low, pair.interval.high
    return AllRatios(pairs=tuple(pairs), to_highest=to_highest(low, high, k, level), critical_value=critical)


def to_highest(low: Floats, high: Floats, k: int, level: float) -> tuple[Interval, ...]:
    """Return the interval of each of `k` rates over the highest, from the limits of all pairs' ratios.

    Parameters
    ----------
    low, high : ndarray of float
        Of each pair's ratio, first over second, in the order of `combinations`; an upper limit may be infinite.
    k : int
        Number of categories.
    level : float
        Coverage of all pairs together.

    Examples
    --------
    >>> [interval.high for interval in to_highest(np.array([1.5]), np.array([3.0]), 2, 0.95)]
    [1.0, 0.6666666666666666]
    """
    lower, upper = np.ones((k, k)), np.ones((k, k))
    i, j = pair_places(k)
    lower[i, j], upper[i, j] = low, high
    with np.errstate(divide="ignore"):
        lower[j, i], upper[j, i] = 1.0 / high, 1.0 / low
    method = "ratio to the highest rate, from simultaneous intervals of all pairs"
    return tuple(
        Interval(low=a, high=b, level=level, method=method, kind="simultaneous")
        for a, b in zip(lower.min(axis=1).tolist(), upper.min(axis=1).tolist(), strict=True)
    )
