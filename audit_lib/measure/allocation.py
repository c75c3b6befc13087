"""How far apart the scores of two groups lie, as an allocation by rank would feel it.

The first argument is always the protected group, the second the reference; a positive directed value
favours the protected group. Source of the definitions: Chen, Ji and Evans, "The Mismeasure of Man and
Models" (2024), arXiv:2408.01285.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError
from audit_lib.measure._arrays import as_codes, as_numbers, as_scores
from audit_lib.measure._pairs import PairCounter, RankCounts


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
    UndefinedMetricError
        If a side is empty or holds a missing score.

    Examples
    --------
    >>> rank_counts([3, 1], [1, 2])
    RankCounts(wins=2, losses=1, ties=1)
    """
    keys = as_scores(group, "group")
    return PairCounter(as_scores(reference, "reference")).count(keys, np.zeros(keys.size, np.int64), 1)[0]


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
    values = as_scores(scores, "scores")
    codes, levels = as_codes(groups, "groups")
    labels = levels.tolist()
    if codes.size != values.size:
        raise InputError(f"groups: {codes.size} labels for {values.size} scores")
    if reference not in labels:
        raise InputError(f"no row belongs to the reference group {reference!r}")
    counts = PairCounter(values[codes == labels.index(reference)]).count(values, codes, len(labels))
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
    return float(a.mean(dtype=np.float64) - b.mean(dtype=np.float64))


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
        contains its right edge.

    Returns
    -------
    float
        In [0, ln 2]: 0 for equal histograms, ln 2 where no bin holds scores of both groups.

    Raises
    ------
    InputError
        If the edges do not increase or do not hold every score.
    UndefinedMetricError
        If a side is empty or holds a missing or infinite score.

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
    edges = _common_edges(a, b, bins)
    p = np.histogram(a, edges)[0] / a.size
    q = np.histogram(b, edges)[0] / b.size
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
    points = np.sort(np.concatenate([a, b]))
    below_a = np.searchsorted(a, points[:-1], "right") / a.size
    below_b = np.searchsorted(b, points[:-1], "right") / b.size
    return float(np.sum(np.abs(below_a - below_b) * np.diff(points)))


def _common_edges(
    a: NDArray[Any], b: NDArray[Any], bins: int | Sequence[float] | NDArray[np.float64]
) -> NDArray[np.float64]:
    low, high = float(min(a.min(), b.min())), float(max(a.max(), b.max()))
    if isinstance(bins, int | np.integer):
        if bins < 1:
            raise InputError(f"bins: expected at least 1, got {bins}")
        return np.histogram_bin_edges([low, high], int(bins))
    edges = np.asarray(as_numbers(bins, "bins"), dtype=np.float64)
    if edges.ndim != 1 or edges.size < 2 or not np.all(np.diff(edges) > 0):
        raise InputError("bins: edges must be at least two and increase")
    if low < edges[0] or high > edges[-1]:
        raise InputError(f"bins: scores from {low} to {high} do not fit into [{edges[0]}, {edges[-1]}]")
    return edges
