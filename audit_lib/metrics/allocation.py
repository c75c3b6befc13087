"""How far apart the scores of two groups lie, as an allocation by rank would feel it.

The first argument is always the protected group, the second the reference; a positive directed value
favours the protected group. Source of the definitions: Chen, Ji and Evans, "The Mismeasure of Man and
Models" (2024), arXiv:2408.01285.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_numbers, as_scores
from audit_lib.metrics._rank_counts import PairCounter, RankCounts


def rank_counts(group: ArrayLike, reference: ArrayLike) -> RankCounts:
    """Count wins, losses and ties of `group` over all pairs with `reference`.

    By sorting: O((n + m) log(n + m)) time, and no n x m table.

    Parameters
    ----------
    group : array_like, shape (n,)
        Scores of the protected group. Infinite scores rank as such.
    reference : array_like, shape (m,)
        Scores of the reference group.

    Returns
    -------
    RankCounts
        Exact integers; ``wins + losses + ties == n * m``.

    Raises
    ------
    InputError
        If scores of two number types are beyond 2**53, where numpy compares them rounded.
    UndefinedMetricError
        If a side is empty or holds a missing score.

    Examples
    --------
    >>> rank_counts([3, 1], [1, 2])
    RankCounts(wins=2, losses=1, ties=1)
    """
    keys, others = as_scores(group, "group"), as_scores(reference, "reference")
    _check_comparable(keys, others)
    return PairCounter(others).count(keys, np.zeros(keys.size, np.int64), 1)[0]


def rank_counts_by_group(scores: ArrayLike, groups: ArrayLike, reference: Hashable) -> dict[Any, RankCounts]:
    """Count wins, losses and ties of every group against one reference, which is sorted once.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores of everybody.
    groups : array_like, shape (n,)
        Group of each; rows without one (None) belong to no group.
    reference : label
        The reference group.

    Returns
    -------
    dict of label to RankCounts
        All groups but the reference, sorted by label.

    Raises
    ------
    InputError
        If no row belongs to the reference, or lengths differ.
    UndefinedMetricError
        If a score is missing.

    Examples
    --------
    >>> rank_counts_by_group([3, 1, 1, 2], ["a", "a", "b", "b"], reference="b")
    {'a': RankCounts(wins=2, losses=1, ties=1)}
    """
    scores, groups = same_rows(scores=scores, groups=groups)
    values = as_scores(scores, "scores")
    codes, levels = as_codes(groups, "groups")
    labels = levels.tolist()
    if codes.size != values.size:
        raise InputError(f"groups: {codes.size} labels for {values.size} scores")
    if reference not in labels:
        raise InputError(f"no row belongs to the reference group {reference!r}")
    own = labels.index(reference)
    references = np.flatnonzero(codes == own)
    counts = PairCounter(values.take(references)).count(values, codes, len(labels), own)
    return {label: found for label, found in zip(labels, counts, strict=True) if label != reference}


def rabbi(group: ArrayLike, reference: ArrayLike) -> float:
    """Rank-allocation-based bias index of Chen, Ji and Evans.

    ``(wins - losses) / (n m)`` over all pairs of one member of the group and one of the reference; ties
    count for neither. Equal to ``2 U / (n m) - 1`` where the Mann-Whitney U counts a tie as one half.

    Parameters
    ----------
    group : array_like, shape (n,)
        Scores of the protected group, in any unit: only their order matters.
    reference : array_like, shape (m,)
        Scores of the reference group.

    Returns
    -------
    float
        In [-1, 1]: 0 at parity, 1 if every member of the group outranks every one of the reference.
        Computed from exact integers, so ``rabbi(a, b) == -rabbi(b, a)`` to the last bit.

    Raises
    ------
    UndefinedMetricError
        If a side is empty or holds a missing score.

    Notes
    -----
    The published code computes the same number.

    Examples
    --------
    >>> rabbi([3, 1], [1, 2])
    0.25
    """
    return rank_counts(group, reference).index


def score_gap(group: ArrayLike, reference: ArrayLike) -> float:
    """Difference of mean scores, ``mean(group) - mean(reference)`` (the paper's delta).

    Parameters
    ----------
    group, reference : array_like, shape (n,) and (m,)
        Scores, in any unit; the gap has the same one.

    Returns
    -------
    float
        0 at parity, positive if the group scores higher.

    Raises
    ------
    UndefinedMetricError
        If a side is empty or holds a missing or infinite score.

    Examples
    --------
    >>> score_gap([3, 4], [2, 3])
    1.0
    """
    a, b = as_scores(group, "group", finite=True), as_scores(reference, "reference", finite=True)
    # float64 whatever came in: a float32 mean of a million scores would lose digits.
    return _without_overflow(lambda x, y: float(x.mean(dtype=np.float64) - y.mean(dtype=np.float64)), a, b)


def jensen_shannon_divergence(
    group: ArrayLike, reference: ArrayLike, bins: int | Sequence[float] | NDArray[np.float64] = 20
) -> float:
    """Jensen-Shannon divergence of the two score histograms over common bins.

    ``(KL(p, m) + KL(q, m)) / 2`` with ``m = (p + q) / 2`` and the natural logarithm. Undirected: compare
    it with the absolute value of a gap. It is the divergence, the square of the Jensen-Shannon distance.

    Parameters
    ----------
    group, reference : array_like, shape (n,) and (m,)
        Scores.
    bins : int or sequence of float
        Number of bins of equal width between the smallest and the largest score of both groups
        together, or the increasing edges themselves, which must hold every score. The last bin
        contains its right edge. A score that lies on the edge of two bins of equal width but for the
        rounding of its type is in the upper one, so the unit of the scores does not matter.

    Returns
    -------
    float
        In [0, ln 2]: 0 for equal histograms, ln 2 where no bin holds scores of both groups.

    Raises
    ------
    InputError
        If the edges do not increase or do not hold every score.
    UndefinedMetricError
        If a side is empty or holds a missing or infinite score, or if the scores differ, but by so little
        beside their size that bins of equal width are hardly wider than the rounding of the scores.

    Notes
    -----
    The published code takes its bins from the protected group alone and drops the empty ones, which
    gives 0 for two fully separated groups, where the definition gives ln 2.

    Examples
    --------
    >>> round(jensen_shannon_divergence([1, 1, 2], [8, 9, 9], bins=10), 6)
    0.693147
    """
    a, b = as_scores(group, "group", finite=True), as_scores(reference, "reference", finite=True)
    places, n_bins = common_bins(a, b, bins)
    p = np.bincount(places[: a.size], minlength=n_bins) / a.size
    q = np.bincount(places[a.size :], minlength=n_bins) / b.size
    total = p + q
    divergence = 0.0
    for share in (p, q):
        seen = share > 0
        divergence += 0.5 * float(np.sum(share[seen] * np.log(2 * share[seen] / total[seen])))
    return min(max(divergence, 0.0), float(np.log(2)))  # rounding may step over a bound by an ulp


def earth_movers_distance(group: ArrayLike, reference: ArrayLike) -> float:
    """Earth mover's (first Wasserstein) distance of the two score distributions.

    The area between the two empirical distribution functions. Undirected: compare it with the absolute
    value of a gap, of which it is never smaller than the score gap's.

    Parameters
    ----------
    group, reference : array_like, shape (n,) and (m,)
        Scores; the distance has their unit.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    UndefinedMetricError
        If a side is empty or holds a missing or infinite score.

    Examples
    --------
    >>> earth_movers_distance([0, 1], [1, 2])
    1.0
    """
    a = np.sort(as_scores(group, "group", finite=True)).astype(np.float64)
    b = np.sort(as_scores(reference, "reference", finite=True)).astype(np.float64)
    return _without_overflow(_area_between, a, b)


def _area_between(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    points = np.sort(np.concatenate([a, b]))
    below_a = np.searchsorted(a, points[:-1], "right") / a.size
    below_b = np.searchsorted(b, points[:-1], "right") / b.size
    return float(np.sum(np.abs(below_a - below_b) * np.diff(points)))


def _without_overflow(
    distance: Callable[[NDArray[Any], NDArray[Any]], float], a: NDArray[Any], b: NDArray[Any]
) -> float:
    """Compute a distance in the scores' unit; where it overflows, again in a unit 2**80 times as large."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = distance(a, b)
        if not math.isfinite(found):
            found = distance(a * 2.0**-80, b * 2.0**-80) * 2.0**80
    if not math.isfinite(found):
        raise UndefinedMetricError("the difference is larger than the largest floating-point number")
    return found


def _check_comparable(a: NDArray[Any], b: NDArray[Any]) -> None:
    """Refuse numbers that numpy would round before it compares them."""
    if a.dtype.kind == b.dtype.kind or not {a.dtype.kind, b.dtype.kind} & {"i", "u"}:
        return
    for side in (a, b):
        if side.dtype.kind in "iu" and (int(side.max()) > 2**53 or int(side.min()) < -(2**53)):
            raise InputError(
                f"scores of types {a.dtype} and {b.dtype} beyond 2**53 cannot be compared exactly; "
                "give both in one integer type"
            )


def common_bins(
    a: NDArray[Any], b: NDArray[Any], bins: int | Sequence[float] | NDArray[np.float64]
) -> tuple[NDArray[np.int64], int]:
    """Return the bin of each score, those of `a` first, and the number of bins.

    Parameters
    ----------
    a, b : ndarray, shape (n,) and (m,)
        Scores of both sides, without NaN; neither empty.
    bins : int or sequence of float
        Number of equal bins from the lowest to the highest score, or their edges.

    Raises
    ------
    InputError
        If the edges do not increase or do not hold every score.
    UndefinedMetricError
        If the scores differ by too little, beside their size, to be told into the bins.

    Examples
    --------
    >>> common_bins(np.array([0.0, 0.4]), np.array([1.0]), 2)[0].tolist()
    [0, 0, 1]
    """
    values = np.concatenate([a.astype(np.float64), b.astype(np.float64)])
    low, high = float(values.min()), float(values.max())
    if isinstance(bins, int | np.integer):
        if bins < 1:
            raise InputError(f"bins: expected at least 1, got {bins}")
        rounding = max(float(np.finfo(side.dtype).eps) for side in (a, b, values) if side.dtype.kind == "f")
        return _equal_bins(values, low, high, int(bins), rounding), int(bins)
    edges = np.asarray(as_numbers(bins, "bins"), dtype=np.float64)
    if edges.ndim != 1 or edges.size < 2 or not np.all(np.diff(edges) > 0):
        raise InputError("bins: edges must be at least two and increase")
    if low < edges[0] or high > edges[-1]:
        raise InputError(f"bins: scores from {low} to {high} do not fit into [{edges[0]}, {edges[-1]}]")
    places = np.searchsorted(edges, values, "right") - 1
    return np.minimum(places, edges.size - 2), edges.size - 1


def _equal_bins(
    values: NDArray[np.float64], low: float, high: float, bins: int, rounding: float
) -> NDArray[np.int64]:
    if not math.isfinite(high - low):  # scores near the largest float, both ways
        values, low, high = values / 4, low / 4, high / 4
    width = high - low
    # How far rounding of the scores can move a position, in bins.
    if width == 0:
        return np.zeros(values.size, np.int64)
    slack = max(1e-9, 4 * bins * rounding * max(-low, high) / width)
    if slack >= 0.5:
        raise UndefinedMetricError(
            f"scores from {low!r} to {high!r} are too close for {bins} bins: a bin is hardly wider than the "
            "rounding of the numbers themselves; subtract their common offset before scoring"
        )
    position = values - low
    position /= width
    position *= bins
    position += slack  # what lies on an edge but for rounding is rounded down to that edge
    return np.minimum(position.astype(np.int64), bins - 1)
