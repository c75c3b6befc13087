"""Uncertainty of distances between shares and what they should be, averaged over several distributions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats.bootstrap import bootstrap_totals
from audit_lib.stats.distances import ErrorDraws

__all__ = ["share_errors"]


def share_errors(counts: ArrayLike, *, seed: int, draws: int = 1999, bound: float = 1.0) -> ErrorDraws:
    r"""Draw the bound on the error of a mean of total variation distances from fixed shares.

    With shares :math:`g_w` of the groups in distribution w of W, hats for the sample's, and any fixed r,

    .. math:: \Bigl|\frac1W \sum_w TV(\hat g_w, r) - \frac1W \sum_w TV(g_w, r)\Bigr|
              \le \frac1W \sum_w \tfrac12 \|\hat g_w - g_w\|_1 .

    The right side is drawn by the cluster bootstrap, times the root of A / (A - 1) for A clusters. Where a
    resample holds nothing of a distribution, its term is the largest there can be. A distribution of which
    all clusters show the same shares has no spread to draw; its term is then the largest there can be, times a
    draw of Clopper and Pearson's limit for 0 of as many as its clusters: a Beta(1, clusters) variable, one for
    all such distributions together.

    Parameters
    ----------
    counts : array_like of int, shape (clusters, distributions, groups)
        How many of each group a cluster adds to each distribution; one without any is left out.
    seed : int
        Of ``Generator(PCG64(seed))``.
    draws : int
        How many resamples.
    bound : float
        What the mean distance cannot exceed: 1 less the smallest share of r.

    Returns
    -------
    ErrorDraws
        For :func:`audit_lib.stats.distance_interval`, with the mean over the distributions that have counts.

    Raises
    ------
    InputError
        If the counts are no whole numbers in three dimensions.
    UndefinedMetricError
        With fewer than two clusters, or without counts.

    Notes
    -----
    Range: from 100 clusters on (``docs/coverage.md``).

    References
    ----------
    Field, C. A. & Welsh, A. H. (2007). Bootstrapping clustered data. JRSS B 69, 369-390. Clopper, C. J. &
    Pearson, E. S. (1934). Biometrika 26, 404-413.

    Examples
    --------
    One word, said of women in 30 of 40 texts: 1/4 from equal shares.

    >>> from audit_lib.stats import distance_interval
    >>> errors = share_errors([[[1, 0]]] * 30 + [[[0, 1]]] * 10, seed=1, bound=0.5)
    >>> interval = distance_interval(0.25, errors)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.123, 0.377)
    """
    table = np.asarray(counts)
    if table.ndim != 3 or table.dtype.kind not in "iu" or (table.size and table.min() < 0):
        raise InputError(
            f"counts of shape {table.shape}: give whole numbers, cluster by distribution by group"
        )
    table = table[table.any(axis=(1, 2))][:, table.any(axis=(0, 2))]
    units, words, groups = table.shape
    if units < 2:
        raise UndefinedMetricError(f"{units} independent units with counts: at least two are needed")
    flat = table.reshape(units, -1)
    flat = flat[np.lexsort(flat.T[::-1])]  # resamples then do not depend on how clusters are called
    total = flat.sum(axis=0).reshape(words, groups)
    shares = total / total.sum(axis=1, keepdims=True)
    farthest = 1.0 - shares.min(axis=1)

    drawn = bootstrap_totals(flat, draws, seed).reshape(draws, words, groups)
    sizes = drawn.sum(axis=2)
    errors = np.abs(drawn / np.maximum(sizes, 1.0)[:, :, None] - shares).sum(axis=2) / 2
    # A resample spreads as if the sample's own spread were not itself too small, by the usual factor.
    errors = np.where(sizes > 0, np.minimum(errors * math.sqrt(units / (units - 1)), farthest), farthest)

    own = table.sum(axis=2)
    # Whole numbers, so that equal shares are found equal.
    alike = (table * total.sum(axis=1)[:, None] == total * own[:, :, None]).all(axis=(0, 2))
    if alike.any():
        chance = np.random.Generator(np.random.PCG64([seed, 1])).random(draws)
        held = np.count_nonzero(own[:, alike], axis=0)
        errors[:, alike] = farthest[alike] * -np.expm1(np.log1p(-chance)[:, None] / held)
    return ErrorDraws(
        values=errors.mean(axis=1), clusters=units, bound=bound, drawn="resamples of the clusters"
    )
