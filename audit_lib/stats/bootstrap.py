"""The cluster bootstrap: applications are drawn with replacement, each with all of its rows.

What is drawn is only how often each application appears. An estimate that is a function of sums
over applications is therefore recomputed from one matrix product, not from the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats._checks import check_level, finite_values
from audit_lib.stats._labels import cluster_codes, cluster_labels, join_labels

__all__ = ["bootstrap_rank_indices", "bootstrap_totals", "bootstrap_weights", "percentile_interval"]

_Places = NDArray[np.intp]
_BLOCK = 4_000_000  # drawn applications held at a time
_TOGETHER = 32  # resamples side by side, so that one look-up serves them all


def bootstrap_weights(n_clusters: int, resamples: int, seed: int) -> NDArray[np.int32]:
    """Draw how often each cluster appears in each resample.

    Each row is one draw of the multinomial distribution of `n_clusters` trials over as many equally
    likely cells; it adds up to `n_clusters`. The same seed gives the same weights.

    Parameters
    ----------
    n_clusters, resamples : int
        Shape of the result, turned around.
    seed : int
        Of ``Generator(PCG64(seed))``.

    Returns
    -------
    ndarray of shape (resamples, n_clusters), int32

    Raises
    ------
    UndefinedMetricError
        With fewer than two clusters.

    References
    ----------
    Efron, B. (1979). Bootstrap methods: another look at the jackknife. Ann. Stat. 7, 1-26. Field,
    C. A. & Welsh, A. H. (2007). Bootstrapping clustered data. JRSS B 69, 369-390.

    Examples
    --------
    >>> weights = bootstrap_weights(5, 3, seed=1)
    >>> weights.shape, weights.sum(axis=1).tolist()
    ((3, 5), [5, 5, 5])
    """
    return np.concatenate(list(_weight_blocks(n_clusters, resamples, seed)))


def bootstrap_totals(sums: ArrayLike, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the totals of per-cluster sums in each resample, without holding all weights at once.

    Parameters
    ----------
    sums : array_like of shape (n_clusters, columns)
        Sufficient statistics of each cluster: numbers selected, totals, sums of scores.
    resamples, seed : int
        As in :func:`bootstrap_weights`, whose weights it uses.

    Returns
    -------
    ndarray of shape (resamples, columns)
        Apply the estimate to its columns to get the replicates.

    Raises
    ------
    InputError
        If `sums` has not two dimensions.

    Examples
    --------
    An impact ratio from the selected and total of two groups in each of four applications:

    >>> sums = [[1, 2, 2, 2], [0, 2, 1, 2], [1, 2, 1, 2], [1, 2, 2, 2]]
    >>> totals = bootstrap_totals(sums, resamples=1999, seed=7)
    >>> x1, n1, x2, n2 = totals.T
    >>> interval = percentile_interval((x1 / n1) / (x2 / n2))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.2, 0.8)
    """
    table = np.asarray(sums, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"sums have {table.ndim} dimensions; give one row a cluster, one column a statistic")
    blocks = _weight_blocks(table.shape[0], resamples, seed)
    # Not a matrix product: its sums would depend on the number of BLAS threads.
    columns = np.ascontiguousarray(table.T)
    return np.concatenate([np.einsum("ij,kj->ik", block.astype(np.float64), columns) for block in blocks])


def bootstrap_rank_indices(
    groups: Sequence[ArrayLike],
    reference: ArrayLike,
    group_clusters: Sequence[ArrayLike],
    reference_clusters: ArrayLike,
    resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the rank index of each group against the reference in each resample of the clusters.

    Scores are sorted once; a resample only changes how much each counts. All groups see the same
    resamples, so differences between groups may be taken.

    Parameters
    ----------
    groups : sequence of k array_like
        Scores of each group.
    reference : array_like
        Scores of the reference.
    group_clusters, reference_clusters
        The application of each score, in the same shapes; equal labels are the same application.
    resamples, seed : int
        As in :func:`bootstrap_weights`, whose weights it uses; clusters in sorted order.

    Returns
    -------
    ndarray of shape (resamples, k)
        NaN where a resample holds no score of one side.

    Raises
    ------
    UndefinedMetricError
        With fewer than two clusters, or if a group is empty.

    Examples
    --------
    >>> applications = [1, 2, 3, 4]
    >>> replicates = bootstrap_rank_indices(
    ...     [[1, 3, 2, 4]], [2, 4, 3, 4], [applications], applications, resamples=1999, seed=1)
    >>> interval = percentile_interval(replicates[:, 0])
    >>> interval.low, interval.high
    (-0.8125, -0.0625)
    """
    if len(groups) != len(group_clusters):
        raise InputError(f"{len(group_clusters)} arrays of clusters given for {len(groups)} groups")
    y, xs = finite_values(reference, "the reference"), [finite_values(x, "a group") for x in groups]
    if min(y.size, *(x.size for x in xs)) == 0:
        raise UndefinedMetricError("no one in a group or in the reference")
    labels = join_labels(
        cluster_labels(reference_clusters, y.size, "the reference"),
        *(cluster_labels(given, x.size, "a group") for given, x in zip(group_clusters, xs, strict=True)),
    )
    codes, count = cluster_codes(labels, labels.size)
    code_y, *code_xs = np.split(codes, np.cumsum([y.size, *(x.size for x in xs)])[:-1])
    order = np.argsort(y, kind="stable")
    y, code_y = y[order], code_y[order]
    sides: list[tuple[_Places | None, _Places, _Places | None]] = []
    for x, code_x in zip(xs, code_xs, strict=True):
        order = np.argsort(code_x, kind="stable")
        x, code_x = x[order], code_x[order]
        left, right = np.searchsorted(y, x, "left"), np.searchsorted(y, x, "right")
        # Left out where not needed: a group that has each application once, scores of which none is tied.
        once_each, untied = np.array_equal(code_x, np.arange(count)), np.array_equal(left, right)
        sides.append((None if once_each else code_x, left, None if untied else right))
    out = np.empty((resamples, len(xs)))
    longest = max(count, y.size, *(x.size for x in xs))
    done = width = 0
    for block in _weight_blocks(count, resamples, seed, max(1, min(_TOGETHER, _BLOCK // longest))):
        if len(block) != width:  # the first block, or a shorter last one; fresh memory each time costs more
            width = len(block)
            sums = np.zeros((width, y.size + 1), np.int64)
            weights, below, of_x, at_x = (np.empty((n, width)) for n in (count, y.size + 1, longest, longest))
        for drawn, total in zip(block, sums, strict=True):
            np.cumsum(drawn[code_y], out=total[1:])
        # Turned around, one column a resample: what a score needs for all of them lies together.
        np.copyto(weights, block.T)
        np.copyto(below, sums.T)
        for g, (code, at, up_to) in enumerate(sides):
            # Integers all along, so exact up to 2^53 pairs; and no BLAS, whose threads cost more here.
            weight_x = weights if code is None else _rows(weights, code, of_x)
            size = count if code is None else np.einsum("ij->j", weight_x)
            pairs = size * below[-1]
            won = np.einsum("ij,ij->j", weight_x, _rows(below, at, at_x))
            not_lost = won
            if up_to is not None:
                not_lost = np.einsum("ij,ij->j", weight_x, _rows(below, up_to, at_x))
            replicates = np.full(width, np.nan)
            np.divide(won + not_lost - pairs, pairs, out=replicates, where=pairs > 0)
            out[done : done + width, g] = replicates
        done += width
    return out


def percentile_interval(
    replicates: ArrayLike,
    level: float = 0.95,
    method: Literal["percentile", "basic", "bca"] = "percentile",
    *,
    estimate: float | None = None,
    influence: ArrayLike | None = None,
) -> Interval:
    r"""Interval from bootstrap replicates.

    Limits are order statistics, number (R + 1) p of R rounded outwards; no interpolation, so
    infinite replicates of a ratio are in order.

    Parameters
    ----------
    replicates : array_like of shape (R,)
        The estimate in each resample.
    level : float
        Nominal coverage; needs R >= 2 / (1 - level) - 1.
    method : {"percentile", "basic", "bca"}
        ``basic`` reflects the percentiles in the estimate. ``bca`` corrects them for median bias
        and, by the acceleration :math:`\sum u^3 / (6 (\sum u^2)^{3/2})`, for a changing spread.
    estimate : float, optional
        The estimate from the sample itself, for ``basic`` and ``bca``.
    influence : array_like, optional
        Influence value of each cluster, for ``bca``.

    Raises
    ------
    UndefinedMetricError
        If any replicate is NaN: dropping those would hide how fragile the estimate is.

    Notes
    -----
    Range: from 50 clusters on, measured for a ratio of rates (``docs/coverage.md``).

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185. Davison, A. C. &
    Hinkley, D. V. (1997). Bootstrap Methods and their Application, ch. 5. Cambridge.

    Examples
    --------
    >>> interval = percentile_interval(np.arange(1, 200))
    >>> interval.low, interval.high
    (5.0, 195.0)
    """
    values = np.sort(np.asarray(replicates, dtype=np.float64))
    if values.ndim != 1:
        raise InputError(f"replicates have {values.ndim} dimensions; give those of one estimate at a time")
    undefined = int(np.isnan(values).sum())
    if undefined:
        raise UndefinedMetricError(f"undefined in {undefined} of {values.size} resamples: too few units")
    tail = (1.0 - check_level(level)) / 2.0
    if values.size < 1.0 / tail - 1.0 - 1e-9:
        raise InputError(f"{values.size} resamples cannot give a {level:.3g} interval; draw more")
    low_p, high_p = tail, 1.0 - tail
    if method == "bca":
        low_p, high_p = _bca_tails(values, tail, _required(estimate, method), influence)
    elif method not in ("percentile", "basic"):
        raise InputError(f"method is {method!r}; give 'percentile', 'basic' or 'bca'")
    low, high = _order_statistic(values, low_p, False), _order_statistic(values, high_p, True)
    if method == "basic":
        centre = _required(estimate, method)
        low, high = 2 * centre - high, 2 * centre - low
    names = {"percentile": "percentile", "basic": "basic", "bca": "BCa"}
    return Interval(
        low=low, high=high, level=level, method=f"cluster bootstrap, {names[method]}, {values.size} resamples"
    )


def _weight_blocks(
    n_clusters: int, resamples: int, seed: int, rows: int | None = None
) -> Iterator[NDArray[np.int32]]:
    """Yield the weights, `rows` resamples at a time; their number does not change what is drawn."""
    if n_clusters < 2:
        raise UndefinedMetricError(f"{n_clusters} cluster: nothing to resample")
    if resamples < 1:
        raise InputError(f"{resamples} resamples; give at least 1")
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = rows or max(1, _BLOCK // n_clusters)
    for start in range(0, resamples, rows):
        block = np.empty((min(rows, resamples - start), n_clusters), dtype=np.int32)
        # Numbers are drawn one after the other, so that the block's size does not change the stream.
        draws = rng.integers(n_clusters, size=block.shape, dtype=np.uint32)
        for row, drawn in zip(block, draws, strict=True):
            row[:] = np.bincount(drawn, minlength=n_clusters)
        yield block


def _rows(table: NDArray[np.float64], places: _Places, memory: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of `table` at `places`, all of them valid, written into `memory`."""
    return table.take(places, axis=0, out=memory[: places.size], mode="clip")


def _required(estimate: float | None, method: str) -> float:
    if estimate is None:
        raise InputError(f"method {method!r} needs the estimate")
    return estimate


def _order_statistic(ordered: NDArray[np.float64], p: float, up: bool) -> float:
    position = (ordered.size + 1) * p
    # a whole number that rounding has moved is still that number
    nearest = round(position)
    index = nearest if abs(position - nearest) < 1e-6 else int(position) + up
    return float(ordered[min(max(index, 1), ordered.size) - 1])


def _bca_tails(
    ordered: NDArray[np.float64], tail: float, estimate: float, influence: ArrayLike | None
) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    if influence is None:
        raise InputError("method 'bca' needs the influence value of each cluster")
    below = (np.searchsorted(ordered, estimate, "left") + np.searchsorted(ordered, estimate, "right")) / 2
    if below in (0, ordered.size):
        raise UndefinedMetricError("the estimate lies outside all resamples: BCa has no correction for it")
    bias = ndtri(below / ordered.size)
    u = np.asarray(influence, dtype=np.float64)
    spread = float(np.square(u).sum())
    if spread == 0.0:
        raise UndefinedMetricError("no cluster moves the estimate: BCa has no acceleration")
    acceleration = float((u**3).sum()) / (6 * spread**1.5)

    def corrected(p: float) -> float:
        shifted = bias + ndtri(p)
        return float(ndtr(bias + shifted / (1 - acceleration * shifted)))

    return corrected(tail), corrected(1.0 - tail)
