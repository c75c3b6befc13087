"""Selection rates over all random pools at once: exact expectations, where others simulate.

Breaking ties by a uniform draw u per candidate gives the fractional split in expectation, and turns a
candidate's place into the number of others above it: a Poisson binomial where the pool has one candidate
of each group, a hypergeometric where it is a simple random sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._arrays import as_codes, as_flags, as_numbers, as_quotas, is_missing


def expected_selection_rates(
    scores: ArrayLike,
    groups: ArrayLike,
    k: int,
    design: Literal["one_per_group", "simple"] = "one_per_group",
    pool_size: int | None = None,
    qualified: ArrayLike | None = None,
) -> dict[Any, float]:
    """Expected selection rate of each group when the best k of a random pool are selected.

    The expectation, over every pool that the design can draw, of the group's selected places over its
    places in pools; ties split fractionally. Exact up to rounding: nothing is simulated.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores of all candidates. NaN (unranked or missing) ranks below every score.
    groups : array_like, shape (n,)
        Group of each candidate.
    k : int
        Quota: candidates selected from each pool.
    design : {"one_per_group", "simple"}
        ``one_per_group``: a pool has one uniformly drawn candidate of each group (the resumes of Chen,
        Ji and Evans). ``simple``: a pool is `pool_size` candidates drawn without replacement from all
        (their essays).
    pool_size : int, optional
        Needed by ``simple``; for ``one_per_group`` it is the number of groups, and may be left out.
    qualified : array_like of bool, shape (n,), optional
        With it, the rates are those of the qualified candidates of each group (for the equal
        opportunity gap); pools are drawn from everybody all the same.

    Returns
    -------
    dict of label to float
        Rates in [0, 1], sorted by label; a difference of two is a demographic parity gap (with
        `qualified`, an equal opportunity gap).

    Raises
    ------
    InputError
        If lengths differ, a candidate has no group, or a parameter is not what it may be.
    UndefinedMetricError
        If there is no score, a pool would be smaller than k, or a group has no qualified candidate.

    Notes
    -----
    The published code simulates the pools.

    Examples
    --------
    >>> expected_selection_rates([3, 1, 2, 2], ["a", "a", "b", "b"], k=1)
    {'a': 0.5, 'b': 0.5}
    >>> rates = expected_selection_rates([3, 1, 2, 2], ["a", "a", "b", "b"], 1, "simple", pool_size=3)
    >>> {group: round(rate, 4) for group, rate in rates.items()}
    {'a': 0.5, 'b': 0.1667}
    """
    if np.ndim(k):
        raise InputError("k: expected one quota; expected_selection_shares answers several")
    shares = expected_selection_shares(scores, groups, k, design, pool_size)
    codes, levels = as_codes(groups, "groups")
    counted = np.ones(codes.size, bool) if qualified is None else as_flags(qualified, "qualified", codes.size)
    members = np.bincount(codes[counted], minlength=levels.size)
    if not members.all():
        raise UndefinedMetricError(f"group {levels[np.argmin(members)]!r}: no qualified candidate")
    rates = np.bincount(codes[counted], weights=shares[counted], minlength=levels.size) / members
    return dict(zip(levels.tolist(), rates.tolist(), strict=True))


def expected_selection_shares(
    scores: ArrayLike,
    groups: ArrayLike,
    k: int | Sequence[int],
    design: Literal["one_per_group", "simple"] = "one_per_group",
    pool_size: int | None = None,
) -> NDArray[np.float64]:
    """Probability that each candidate is selected from a random pool that it is in.

    Parameters
    ----------
    scores, groups, design, pool_size
        As in `expected_selection_rates`.
    k : int or sequence of int
        Quota or quotas.

    Returns
    -------
    ndarray of float, shape (n,) or (quotas, n)
        Probabilities in [0, 1]. Group means of them are `expected_selection_rates`.

    Raises
    ------
    InputError, UndefinedMetricError
        As `expected_selection_rates` does.

    Examples
    --------
    >>> expected_selection_shares([3, 1, 2, 2], ["a", "a", "b", "b"], k=1).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    quotas = as_quotas(k)
    values = as_numbers(scores, "scores")
    codes, levels = as_codes(groups, "groups")
    if values.ndim != 1 or values.size != codes.size:
        raise InputError(f"groups: {codes.size} labels for scores of shape {values.shape}")
    if values.size == 0:
        raise UndefinedMetricError("scores: no candidates")
    if codes.min() < 0:
        raise InputError(f"groups, row {int(np.argmin(codes))}: no group")
    if is_missing(values).all():
        raise UndefinedMetricError("scores: no candidate has a score")
    if design == "one_per_group":
        size = levels.size
        if pool_size not in (None, size):
            raise InputError(f"pool_size: one candidate of each of {size} groups, got {pool_size}")
    elif design == "simple":
        if not isinstance(pool_size, int | np.integer) or not 1 <= pool_size <= values.size:
            raise InputError(f"pool_size: expected from 1 to {values.size} candidates, got {pool_size}")
        size = pool_size
    else:
        raise InputError(f'design: expected "one_per_group" or "simple", got {design!r}')
    if max(quotas) > size:
        raise UndefinedMetricError(f"a pool of {size} candidates is smaller than the quota k = {max(quotas)}")
    ranks = _dense_ranks(values)
    if design == "simple":
        shares = _simple(ranks, quotas, size)
    else:
        shares = _one_per_group(ranks, codes, levels.size, quotas)
    np.clip(shares, 0.0, 1.0, out=shares)  # rounding may step over a bound by an ulp
    return shares[0] if np.ndim(k) == 0 else shares


def _dense_ranks(values: NDArray[Any]) -> NDArray[np.int64]:
    """0 for the highest score, 1 for the next distinct one, ..., NaN last."""
    distinct, inverse = np.unique(values, return_inverse=True)  # NaN is one value, and the last
    ranks = distinct.size - 1 - inverse
    if is_missing(distinct[-1:]).any():
        ranks = np.where(ranks == 0, distinct.size - 1, ranks - 1)
    return np.asarray(ranks, dtype=np.int64)


def _one_per_group(
    ranks: NDArray[np.int64], codes: NDArray[np.int64], n_groups: int, quotas: list[int]
) -> NDArray[np.float64]:
    n_ranks = int(ranks.max()) + 1
    table = np.bincount(codes * n_ranks + ranks, minlength=n_groups * n_ranks).reshape(n_groups, n_ranks)
    sizes = table.sum(axis=1, keepdims=True)
    tie = table / sizes
    higher = (np.cumsum(table, axis=1) - table) / sizes
    # With u the candidate's tie draw, another group's candidate is above with chance higher + u * tie;
    # the chance of at most k - 1 above is a polynomial in u of degree below n_groups, so this many
    # Gauss-Legendre nodes integrate it exactly.
    nodes, weights = np.polynomial.legendre.leggauss((n_groups + 1) // 2)
    nodes, weights = (nodes + 1) / 2, weights / 2
    shares = np.empty((len(quotas), ranks.size))
    for group in range(n_groups):
        others = [other for other in range(n_groups) if other != group]
        mine = np.flatnonzero(table[group])
        tied = (tie[others][:, mine] > 0).any(axis=0) if others else np.zeros(mine.size, bool)
        by_rank = np.empty((len(quotas), n_ranks))
        at = mine[~tied]
        by_rank[:, at] = _at_most(higher[others][:, at], quotas)
        at = mine[tied]
        by_rank[:, at] = 0.0
        if at.size:
            for node, weight in zip(nodes, weights, strict=True):
                by_rank[:, at] += weight * _at_most(higher[others][:, at] + node * tie[others][:, at], quotas)
        members = codes == group
        shares[:, members] = by_rank[:, ranks[members]]
    return shares


def _at_most(chances: NDArray[np.float64], quotas: list[int]) -> NDArray[np.float64]:
    """Chance that at most quota - 1 of independent events happen; `chances` is (events, columns)."""
    # dist[j]: chance of exactly j so far; counts of max(quotas) or more are never needed.
    dist = np.zeros((max(quotas), chances.shape[1]))
    dist[0] = 1.0
    for chance in chances:
        moved = dist[:-1] * chance
        dist *= 1.0 - chance
        dist[1:] += moved
    total = np.cumsum(dist, axis=0)
    return total[[quota - 1 for quota in quotas]]


def _simple(ranks: NDArray[np.int64], quotas: list[int], pool_size: int) -> NDArray[np.float64]:
    sizes = np.bincount(ranks)
    starts = np.cumsum(sizes) - sizes
    # By place in the whole order, ties broken; candidates who tie share the mean over their places.
    by_place = _hypergeometric_at_most(ranks.size - 1, pool_size - 1, quotas)
    return (np.add.reduceat(by_place, starts, axis=1) / sizes)[:, ranks]


def _hypergeometric_at_most(others: int, draws: int, quotas: list[int]) -> NDArray[np.float64]:
    """Chance that at most quota - 1 of the `above` best are among `draws` of `others`, above = 0, 1, ...

    By products of ratios, whose rounding error grows with the pool alone (log-gamma loses digits as the
    number of candidates grows).
    """
    above = np.arange(others + 1, dtype=np.float64)
    most = min(max(quotas) - 1, draws)
    # Chance of exactly j = head[j] * tail[j]; factors are ordered so that each list grows by one step.
    head = [np.ones_like(above)]
    for i in range(most):
        head.append(head[-1] * ((above - i) / (others - i)) * ((draws - i) / (i + 1)))
    rest = np.ones_like(above)
    for i in range(draws - most):
        rest *= (others - above - i) / (others - most - i)
    exactly = np.empty((most + 1, above.size))
    for j in range(most, -1, -1):
        exactly[j] = head[j] * rest
        rest = rest * ((others - above - (draws - j)) / (others - j + 1))
    total = np.cumsum(exactly, axis=0)
    return total[[min(quota - 1, most) for quota in quotas]]
