"""Areas under the ROC curve of several subgroups, which may overlap, and their covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.group_auc import auc as area
from audit_lib.results import Interval
from audit_lib.stats._checks import finite_values
from audit_lib.stats._labels import cluster_codes, cluster_labels
from audit_lib.stats.ranks import placements, rank_index_interval, separated_limit
from audit_lib.stats.simultaneous import DRAWS, AllPairs, simultaneous_differences
from audit_lib.stats.two_sided import cluster_sums

__all__ = ["AucCovariance", "auc_covariance", "auc_gap_intervals", "auc_interval"]

Floats = NDArray[np.float64]

ENOUGH = 100
"""Rows of each class from which on DeLong's variance of a subgroup is taken as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AucCovariance:
    """AUCs of subgroups and how they vary together.

    Parameters
    ----------
    auc : ndarray of shape (k,)
        One AUC a subgroup.
    covariance : ndarray of shape (k, k)
        Their estimated covariance.
    df : tuple of float
        Degrees of freedom of each subgroup: infinite without clusters; with them, the number of clusters that
        hold its positives, or its negatives, whichever is less, less 1; infinite too where `common` gave the
        least variance.
    positives, negatives : tuple of int
        Rows of each class, by subgroup.
    """

    auc: Floats
    covariance: Floats
    df: tuple[float, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]


def auc_interval(
    scores: ArrayLike, outcome: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Interval:
    """Interval of one AUC, on the logit scale; range: 50 positives and 50 negatives.

    The AUC is the rank index of positives against negatives, moved from [-1, 1] to [0, 1]; see
    :func:`audit_lib.stats.rank_index_interval` for the method, and for what raises.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Higher is better.
    outcome : array_like of shape (n,)
        0 or 1, whether qualified.
    clusters : array_like of shape (n,), optional
        Cluster of each row; rows are independent without it.
    level : float
        Nominal coverage.

    Examples
    --------
    >>> interval = auc_interval([0.9, 0.8, 0.7, 0.6, 0.4, 0.3], [1, 1, 0, 1, 0, 0])
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.088, 0.998)
    """
    score, positive = _rows(scores, outcome)
    sides: tuple[NDArray[np.generic] | None, NDArray[np.generic] | None] = (None, None)
    if clusters is not None:
        labels = cluster_labels(clusters, score.size)
        sides = labels[positive], labels[~positive]
    index = rank_index_interval(score[positive], score[~positive], *sides, level)
    return replace(index, low=(index.low + 1) / 2, high=(index.high + 1) / 2)


def auc_covariance(
    scores: ArrayLike,
    outcome: ArrayLike,
    members: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    common: float | None = None,
) -> AucCovariance:
    r"""AUC of each subgroup, and their covariance, rows shared by subgroups included.

    DeLong's: with :math:`v_{ik}` the placement of row i among the other class of subgroup k, the
    influence of a positive on :math:`A_k` is :math:`(v_{ik} - A_k)/m_k` and of a negative
    :math:`(v_{jk} - A_k)/n_k`, 0 outside the subgroup, each class with the factor
    :math:`\sqrt{m_k/(m_k - 1)}`; covariances are their sums of products. For one set of rows scored
    by several models this is DeLong's matrix exactly. With clusters, influence values are summed
    within clusters first, and factors count clusters.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Higher means more likely positive.
    outcome : array_like of shape (n,)
        Class of each row, 0 or 1.
    members : array_like of bool, of shape (n, k)
        Which rows belong to which subgroup.
    clusters : array_like of shape (n,), optional
        The application of each row.
    common : float, optional
        AUC of everybody. Given, a subgroup with fewer than 100 of a class has at least the variance that it would have
        at this AUC (Hanley and McNeil's): a few rows that happen to be in order look surer than they are.

    Raises
    ------
    UndefinedMetricError
        If a subgroup has fewer than two positives or two negatives, or two clusters of each.

    Notes
    -----
    A subgroup whose classes do not overlap has an AUC of exactly 0 or 1 and no variance of its own.
    It is given the one that makes its 95% limit Newcombe's (method 5), so that it never counts as
    known without error.

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or
    more correlated ROC curves: a nonparametric approach. Biometrics 44, 837-845. Hanley, J. A. & McNeil,
    B. J. (1982). The meaning and use of the area under a ROC curve. Radiology 143, 29-36. Obuchowski (1997)
    and Newcombe (2006), see :func:`audit_lib.stats.rank_index_interval`.

    Examples
    --------
    >>> scores = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
    >>> outcome = [1, 0, 1, 1, 0, 1, 0, 0]
    >>> everyone, half = [True] * 8, [True, True, True, False, True, True, False, True]
    >>> result = auc_covariance(scores, outcome, np.column_stack([everyone, half]))
    >>> result.auc.round(3).tolist(), result.positives
    ([0.75, 0.667], (4, 3))
    """
    score, positive = _rows(scores, outcome)
    given = np.asarray(members)
    # bool(nan) is True: an unknown membership would count as one.
    if given.dtype.kind != "b" and not np.isin(given, (0, 1)).all():
        raise InputError("members must hold true or false for each row and subgroup, without missing ones")
    member = given.astype(np.bool_)
    if member.ndim != 2 or member.shape[0] != score.size:
        raise InputError(f"members have shape {member.shape} for {score.size} rows; give (rows, subgroups)")
    k = member.shape[1]
    codes, count = (np.arange(score.size), score.size)
    if clusters is not None:
        codes, count = cluster_codes(clusters, score.size)
    auc, influence = np.empty(k), np.zeros((2, k, count))
    units: list[tuple[int, int]] = []
    for g in range(k):
        rows = (np.flatnonzero(member[:, g] & positive), np.flatnonzero(member[:, g] & ~positive))
        sizes = [int(np.unique(codes[side]).size) if clusters is not None else side.size for side in rows]
        for size, name in zip(sizes, ("positives", "negatives"), strict=True):
            if size < 2:
                what = "independent " if clusters is not None else ""
                raise UndefinedMetricError(f"subgroup {g} has {size} {what}{name}; at least 2 are needed")
        sides = placements(score[rows[0]], score[rows[1]])
        both = np.concatenate(rows)
        auc[g] = area(score[both], positive[both])
        for s in (0, 1):
            values = (sides[s] - sides[s].mean()) / sides[s].size
            sums = cluster_sums(values, codes[rows[s]], count)
            influence[s, g] = sums * math.sqrt(sizes[s] / (sizes[s] - 1))
        units.append((sizes[0], sizes[1]))
    if clusters is None:
        covariance = _products(influence[0]) + _products(influence[1])
    else:
        covariance = _products(influence[0] + influence[1])
    df = [math.inf if clusters is None else float(min(pair) - 1) for pair in units]
    for g, (m, n) in enumerate(units):
        if auc[g] in (0.0, 1.0):
            covariance[g, g] = ((1.0 - separated_limit(m, n, 0.95)) / 1.959963984540054) ** 2
        own = tuple(int((member[:, g] & side).sum()) for side in (positive, ~positive))
        if common is not None and min(own) < ENOUGH:
            covariance[g, g] = max(covariance[g, g], _variance_at(common, *own))
            if own == (m, n):
                df[g] = math.inf  # a variance that is not read off a few rows
    return AucCovariance(
        auc=auc,
        covariance=covariance,
        df=tuple(df),
        positives=tuple(int((member[:, g] & positive).sum()) for g in range(k)),
        negatives=tuple(int((member[:, g] & ~positive).sum()) for g in range(k)),
    )


def auc_gap_intervals(
    scores: ArrayLike,
    outcome: ArrayLike,
    members: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> AllPairs:
    """Differences of the AUCs of all pairs of subgroups, and the interval of the largest: the AUC gap.

    Parameters
    ----------
    scores, outcome, members, clusters
        As in :func:`auc_covariance`.
    level : float
        Nominal joint coverage.
    draws, seed : int
        As in :func:`audit_lib.stats.max_t_quantile`.

    Returns
    -------
    AllPairs
        ``gap`` allows for the selection of the pair; each pair also has its conditional interval.

    Raises
    ------
    UndefinedMetricError
        As :func:`auc_covariance`, and with fewer than two subgroups.

    Notes
    -----
    Range: all pairs at once are covered 93 to 97% of the time with at least 100 positives and 100 negatives in each
    subgroup (``docs/coverage.md``), and at least 93% with fewer, where the least variance makes intervals longer; the
    gap at least as often, of overlapping subgroups too.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(3))
    >>> outcome, group = rng.integers(2, size=900), rng.integers(3, size=900)
    >>> scores = rng.normal(outcome * np.array([2.0, 1.0, 1.5])[group])
    >>> result = auc_gap_intervals(scores, outcome, np.arange(3) == group[:, None])
    >>> result.largest.first, result.largest.second
    (0, 1)
    >>> result.largest.conditional.low > result.largest.interval.low > 0
    True
    """
    score, positive = _rows(scores, outcome)
    fit = auc_covariance(score, positive, members, clusters, common=area(score, positive))
    df = math.inf if clusters is None else fit.df
    return simultaneous_differences(fit.auc, fit.covariance, level, df=df, draws=draws, seed=seed)


def _products(influence: Floats) -> Floats:
    """``influence @ influence.T`` with one order of addition, whatever the number of BLAS threads."""
    return np.asarray(np.einsum("ig,jg->ij", influence, influence))


def _variance_at(auc: float, positives: int, negatives: int) -> float:
    """Variance of an AUC of this size (Hanley and McNeil's)."""
    among_positives, among_negatives = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (
        auc * (1 - auc)
        + (positives - 1) * (among_positives - auc**2)
        + (negatives - 1) * (among_negatives - auc**2)
    ) / (positives * negatives)


def _rows(scores: ArrayLike, outcome: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    score = finite_values(scores, "scores")
    classes = np.asarray(outcome)
    if classes.shape != score.shape or not np.isin(classes, (0, 1)).all():
        raise InputError("outcome must hold one 0 or 1 a score")
    return score, classes.astype(bool)
