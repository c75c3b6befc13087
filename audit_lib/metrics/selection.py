"""Who is selected when the best k of each round's pool go forward, and the gaps that result.

Source of the definitions: Chen, Ji and Evans, arXiv:2408.01285. A candidate's standing in its pool (how
many rank above, how many tie with it, itself included) decides its share for every quota at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_flags, as_numbers, as_quotas
from audit_lib.metrics.standing import Standing, as_pools, standing_of


def fractional_shares(above: NDArray[Any], tied: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Share of one of the k places of each candidate of a pool, ties split evenly.

    Parameters
    ----------
    above, tied : ndarray of int
        Candidates of the pool with a higher score, and with the same one (itself included), as
        `pool_standing` counts them.
    k : int
        Quota.

    Returns
    -------
    ndarray of float
        ``(k - above) / tied``, kept within [0, 1]: the expectation over all ways to break the tie.

    Examples
    --------
    >>> fractional_shares(np.array([0, 1, 1, 3]), np.array([1, 2, 2, 1]), k=2).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    shares = np.asarray((k - above) / tied)
    return np.clip(shares, 0.0, 1.0, out=shares)


def selection_shares(
    scores: ArrayLike,
    rounds: ArrayLike | None = None,
    k: int | Sequence[int] = 1,
    ties: Literal["fractional", "random"] = "fractional",
    seed: int | None = None,
) -> NDArray[np.float64]:
    """Share of one of the k places that each candidate of each round gets.

    Candidates are ranked by score, descending, within the full pool of their round. With
    ``ties="fractional"``, one above whom `n_above` rank and who ties with `n_tied` (itself included)
    gets ``(k - n_above) / n_tied``, kept within [0, 1]: the expectation over all ways to break the tie.
    With ``ties="random"`` ties are broken at random, and shares are 0 or 1. Either way the shares of a
    round sum to k.

    Parameters
    ----------
    scores : array_like
        Shape (rounds, candidates) without `rounds`; shape (n,) with it. NaN (unranked or missing) ranks
        below every score, and all NaN of a pool tie with each other, so they are selected only where
        the scored candidates are fewer than k. How many there are is for the caller to count and print.
    rounds : array_like, shape (n,), optional
        Round of each candidate.
    k : int or sequence of int
        Quota: candidates selected a round. Several quotas are answered in one pass.
    ties : {"fractional", "random"}
        How ties at the last place are split. The paper is silent; fractional is the default because it
        adds no noise.
    seed : int, optional
        Needed with ``ties="random"``, refused otherwise. The draw depends on the order of rows.

    Returns
    -------
    ndarray of float
        In the shape of `scores`; with several quotas, one such array per quota along a new first axis.

    Raises
    ------
    InputError
        If shapes do not fit, or k, ties or seed are not what they may be.
    UndefinedMetricError
        If a round holds no score, or fewer candidates than k.

    Examples
    --------
    >>> selection_shares([[0.9, 0.4, 0.4, 0.1]], k=2).tolist()
    [[1.0, 0.5, 0.5, 0.0]]
    >>> selection_shares([3, 1, 2, 2], ["a", "a", "b", "b"], k=1).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    quotas = as_quotas(k)
    if ties not in ("fractional", "random"):
        raise InputError(f'ties: expected "fractional" or "random", got {ties!r}')
    if (ties == "random") != (seed is not None):
        raise InputError('seed: needed with ties="random", and only there')
    values, codes = as_pools(scores, rounds)
    _check_pool_sizes(values, codes, max(quotas))
    standing = standing_of(values, codes)
    if seed is not None:
        above = _broken_at_random(codes, standing, seed)
        shares = np.stack([(above < quota).astype(np.float64) for quota in quotas])
    else:
        shares = _fractional(standing, quotas)
    shares = shares.reshape(len(quotas), *np.shape(scores))
    return shares[0] if np.ndim(k) == 0 else shares


def column_selection_rates(scores: ArrayLike, k: int | Sequence[int] = 1) -> NDArray[np.float64]:
    """Mean selection share of each column, where column j of every round holds a candidate of group j.

    The mean of `selection_shares` over rounds, ties fractional, computed from integer counts of
    standings: it does not depend on the order of rounds, to the last bit, and makes no copy per quota.

    Parameters
    ----------
    scores : array_like, shape (rounds, groups)
        Scores; NaN as in `selection_shares`.
    k : int or sequence of int
        Quota or quotas.

    Returns
    -------
    ndarray of float, shape (groups,) or (quotas, groups)
        Selection rates; their differences are demographic parity gaps.

    Raises
    ------
    InputError, UndefinedMetricError
        As `selection_shares` does.

    Examples
    --------
    >>> column_selection_rates([[0.9, 0.4, 0.4], [0.1, 0.5, 0.2]], k=[1, 2]).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.75, 0.75]]
    """
    quotas = as_quotas(k)
    values, codes = as_pools(scores, None)
    _check_pool_sizes(values, codes, max(quotas))
    above, tied = standing_of(values, codes)
    n_rounds, width = values.shape
    table = _share_table(width, quotas)
    rates = np.empty((len(quotas), width))
    for column in range(width):
        code = above[:, column].astype(np.int64) * (width + 1) + tied[:, column]
        counts = np.bincount(code, minlength=table.shape[1])
        # Not a matrix product: its last digits would depend on the number of BLAS threads.
        rates[:, column] = np.einsum("qc,c->q", table, counts.astype(np.float64)) / n_rounds
    return rates[0] if np.ndim(k) == 0 else rates


def demographic_parity_gap(group_selected: ArrayLike, reference_selected: ArrayLike) -> float:
    """Selection rate of the group minus that of the reference.

    Parameters
    ----------
    group_selected, reference_selected : array_like, shape (n,) and (m,)
        One entry a candidate: whether it was selected (bool, 0 or 1), or its share of a place in [0, 1]
        as `selection_shares` gives it.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity, negative if the group is selected less often.

    Raises
    ------
    InputError
        If an entry lies outside [0, 1].
    UndefinedMetricError
        If a side has no candidate or a missing entry.

    Examples
    --------
    >>> demographic_parity_gap([1, 0, 0, 0], [1, 1, 0, 0])
    -0.25
    """
    return _rate(group_selected, "group_selected") - _rate(reference_selected, "reference_selected")


def equal_opportunity_gap(
    group_selected: ArrayLike,
    group_qualified: ArrayLike,
    reference_selected: ArrayLike,
    reference_qualified: ArrayLike,
) -> float:
    """Selection rate of the group's qualified candidates minus that of the reference's.

    The selection is the same as for demographic parity, made in the full pool; only afterwards are the
    qualified of each group counted.

    Parameters
    ----------
    group_selected, reference_selected : array_like, shape (n,) and (m,)
        As in `demographic_parity_gap`.
    group_qualified, reference_qualified : array_like, shape (n,) and (m,)
        Whether each candidate is qualified (bool, 0 or 1).

    Returns
    -------
    float
        In [-1, 1]; 0 at parity.

    Raises
    ------
    InputError
        If lengths differ or an entry is out of range.
    UndefinedMetricError
        If a side has no qualified candidate or a missing entry.

    Notes
    -----
    The published code divides a tied place by all who tie but then credits only the qualified among
    them; here each candidate keeps the share that the whole pool gave it.

    Examples
    --------
    >>> equal_opportunity_gap([1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0])
    -0.5
    """
    return _qualified_rate(group_selected, group_qualified, "group") - _qualified_rate(
        reference_selected, reference_qualified, "reference"
    )


def _qualified_rate(selected: ArrayLike, qualified: ArrayLike, side: str) -> float:
    selected, qualified = same_rows(**{f"{side}_selected": selected, f"{side}_qualified": qualified})
    shares = as_numbers(selected, f"{side}_selected")
    flags = as_flags(qualified, f"{side}_qualified", shares.size)
    if shares.size and not flags.any():
        raise UndefinedMetricError(f"{side}: no qualified candidate")
    return _rate(shares[flags], f"{side}_selected")


def _rate(selected: ArrayLike, name: str) -> float:
    shares = as_numbers(selected, name)
    if shares.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got shape {shares.shape}")
    if shares.size == 0:
        raise UndefinedMetricError(f"{name}: no candidates")
    if shares.dtype.kind == "b":
        return int(np.count_nonzero(shares)) / shares.size
    low, high = shares.min(), shares.max()  # NaN where one is
    if low != low:
        missing = int(np.isnan(shares).sum())
        raise UndefinedMetricError(f"{name}: {missing} of {shares.size} entries are missing")
    if low < 0 or high > 1:
        wrong = np.flatnonzero((shares < 0) | (shares > 1))
        raise InputError(f"{name}, row {wrong[0]}: a share lies in [0, 1], got {shares[wrong[0]]}")
    return float(shares.sum(dtype=np.float64) / shares.size)


def _check_pool_sizes(values: NDArray[Any], codes: NDArray[np.int64] | None, quota: int) -> None:
    smallest = values.shape[1] if codes is None else int(np.bincount(codes).min())
    if smallest < quota:
        raise UndefinedMetricError(f"a pool of {smallest} candidates is smaller than the quota k = {quota}")


def _broken_at_random(codes: NDArray[np.int64] | None, standing: Standing, seed: int) -> NDArray[np.int64]:
    """Return how many stand above each candidate once ties are broken by a uniform draw."""
    above = standing.above.ravel()
    draw = np.random.Generator(np.random.PCG64(seed)).random(above.size)
    if codes is None:
        codes = np.repeat(np.arange(standing.above.shape[0]), standing.above.shape[1])
    order = np.lexsort((draw, above, codes))
    pool = codes[order]
    starts = np.flatnonzero(np.append(True, pool[1:] != pool[:-1]))
    broken = np.empty(above.size, np.int64)
    broken[order] = np.arange(order.size) - np.repeat(starts, np.diff(np.append(starts, order.size)))
    return broken.reshape(standing.above.shape)


def _fractional(standing: Standing, quotas: list[int]) -> NDArray[np.float64]:
    above, tied = standing
    if above.dtype == np.uint8:
        # A standing takes few values: look its share up instead of computing it for every candidate.
        width = above.shape[1]
        code = above.T.astype(np.intp)
        code *= width + 1
        code += tied.T
        shares = np.empty((len(quotas), *code.shape))
        for row, out in zip(_share_table(width, quotas), shares, strict=True):
            row.take(code, out=out, mode="clip")  # codes are in range; "raise" would buffer the output
        return shares.transpose(0, 2, 1)
    return np.stack([fractional_shares(above, tied, quota) for quota in quotas])


def _share_table(width: int, quotas: list[int]) -> NDArray[np.float64]:
    """Shares by ``above * (width + 1) + tied``, one row a quota."""
    code = np.arange((width + 1) ** 2)
    above, tied = code // (width + 1), np.maximum(code % (width + 1), 1)
    return np.stack([fractional_shares(above, tied, quota) for quota in quotas])
