"""Uncertainty of a distance between two groups' score distributions, at parity and away from it.

A distance is never below 0, and in a sample it is above 0 even where the groups do not differ; neither a
normal interval nor the percentiles of a bootstrap cover it there. But a distance is the norm of a
difference, and by the triangle inequality the norm of a difference errs by no more than the norm of the
difference's error. That error is centred, so its law can be drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, TestResult
from audit_lib.stats._checks import both_or_neither, check_level, finite_values
from audit_lib.stats._labels import cluster_codes, cluster_labels, join_labels
from audit_lib.stats._normal import normal_draws

__all__ = [
    "ErrorDraws",
    "distance_interval",
    "distance_test",
    "earth_movers_errors",
    "jensen_shannon_errors",
]

Floats = NDArray[np.float64]

_GRID = 64  # quantiles, and as many points at equal steps, where scores have more distinct values than both
_SPARSE = 20  # scores of a group in a bin, below which the divergence's first order falls short


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDraws:
    """Draws of a norm that bounds the error of a distance.

    Parameters
    ----------
    values : ndarray of shape (draws,)
        In the unit of the distance, or of its root.
    clusters : int
        Independent units, both sides together.
    power : {1, 2}
        2 where the draws are of the error of the distance's square root.
    bound : float
        What the distance cannot exceed.
    drawn : str
        What was drawn, in words.
    """

    values: Floats
    clusters: int
    power: int = 1
    bound: float = math.inf
    drawn: str = "normal draws over clusters"


def earth_movers_errors(
    group: ArrayLike,
    reference: ArrayLike,
    group_clusters: ArrayLike | None = None,
    reference_clusters: ArrayLike | None = None,
    *,
    seed: int,
    draws: int = 9999,
) -> ErrorDraws:
    r"""Draw the bound on the error of the earth mover's distance.

    With distribution functions F of the group and G of the reference, and hats for the samples',

    .. math:: |W(\hat F, \hat G) - W(F, G)| \le \int |(\hat F - F) - (\hat G - G)|\, dt .

    The right side is drawn as :math:`\int |\sum_c \xi_c I_c(t)|\, dt` with independent normal
    :math:`\xi_c` and :math:`I_c` the influence of application c on :math:`\hat F - \hat G`: the cluster
    bootstrap with normal weights, computed from the influences' covariance on a grid. So its time and
    memory do not grow with the draws times the applications.

    Parameters
    ----------
    group, reference : array_like of shape (n,), (m,)
        Scores.
    group_clusters, reference_clusters : array_like, optional
        The application of each score; equal labels on both sides are the same application.
    seed : int
        Of ``Generator(PCG64(seed))``.
    draws : int
        How many.

    Returns
    -------
    ErrorDraws
        In the unit of the scores.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two independent units, or if nothing varies.

    Notes
    -----
    Up to 128 distinct scores the grid is these, and the integral exact. With more it is 64 quantiles of
    both groups together and 64 equal steps, by the trapezoidal rule.

    References
    ----------
    van der Vaart, A. W. & Wellner, J. A. (1996). Weak Convergence and Empirical Processes, ch. 2.9 and
    3.6. Springer. del Barrio, E., Gine, E. & Matran, C. (1999). Central limit theorems for the
    Wasserstein distance. Ann. Probab. 27, 1009-1071.

    Examples
    --------
    >>> errors = earth_movers_errors([1, 2, 3, 4, 5], [4, 5, 6, 7, 8], seed=1)
    >>> interval = distance_interval(3.0, errors)
    >>> round(interval.low, 1), round(interval.high, 1)
    (0.8, 5.2)
    """
    x, y = finite_values(group, "the group"), finite_values(reference, "the reference")
    points, widths = _grid(x, y)
    sides = _Sides.of(
        np.searchsorted(points, x),
        np.searchsorted(points, y),
        points.size,
        group_clusters,
        reference_clusters,
    )
    half = points.size
    joint = sides.covariance()
    shares = joint[:half, :half] + joint[half:, half:] - joint[:half, half:] - joint[half:, :half]
    # Of the difference of the distribution functions at each point, in units of the integral.
    below = np.cumsum(np.cumsum(shares, axis=0), axis=1)[:-1, :-1] * np.multiply.outer(widths, widths)
    if not np.isfinite(below).all():
        raise UndefinedMetricError("the scores are too large for the spread of their distance")
    values = np.abs(normal_draws(below, draws, seed)).sum(axis=1)
    return ErrorDraws(values=values, clusters=sides.clusters)


def jensen_shannon_errors(
    group_bins: ArrayLike,
    reference_bins: ArrayLike,
    n_bins: int,
    group_clusters: ArrayLike | None = None,
    reference_clusters: ArrayLike | None = None,
    *,
    seed: int,
    draws: int = 9999,
) -> ErrorDraws:
    r"""Draw the bound on the error of the square root of the Jensen-Shannon divergence.

    The root is a distance in a Hilbert space: :math:`\sqrt{J(p, q)} = \|\phi(p) - \phi(q)\|`. So it errs
    by at most :math:`\|(\phi(\hat p) - \phi(p)) - (\phi(\hat q) - \phi(q))\|`, which for errors a and b of
    the two groups' shares is, to first order, the root of

    .. math:: \sum_j \frac{a_j^2}{8 p_j} + \frac{b_j^2}{8 q_j} - \frac{a_j b_j}{2 (p_j + q_j)} .

    a and b are drawn as normal, with the shares' covariance over applications. In bins that hold fewer than
    20 scores of a group the first order is not enough; there Topsoe's bound of the divergence by
    :math:`\frac{\ln 2}{2} (a_j - b_j)^2 / (p_j + q_j)` stands in.

    Parameters
    ----------
    group_bins, reference_bins : array_like of int, of shape (n,), (m,)
        The bin of each score, 0 .. n_bins - 1; bins are taken as fixed.
    n_bins : int
        Number of bins.
    group_clusters, reference_clusters, seed, draws
        As in :func:`earth_movers_errors`.

    Returns
    -------
    ErrorDraws
        Of the root: `power` is 2.

    Raises
    ------
    InputError
        If a bin is not among them.
    UndefinedMetricError
        If a side has fewer than two independent units, or if nothing varies.

    References
    ----------
    Fuglede, B. & Topsoe, F. (2004). Jensen-Shannon divergence and Hilbert space embedding. Proc. IEEE
    ISIT, 31. Topsoe, F. (2000). Some inequalities for information divergence and related measures of
    discrimination. IEEE Trans. Inf. Theory 46, 1602-1609.

    Examples
    --------
    >>> errors = jensen_shannon_errors([0] * 70 + [1] * 30, [0] * 40 + [1] * 60, 2, seed=1)
    >>> interval = distance_interval(0.0458, errors)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.01, 0.1)
    """
    a, b = _bins(group_bins, n_bins, "the group"), _bins(reference_bins, n_bins, "the reference")
    sides = _Sides.of(a, b, n_bins, group_clusters, reference_clusters)
    errors = normal_draws(sides.covariance(), draws, seed)
    of_p, of_q = errors[:, :n_bins], errors[:, n_bins:]
    p, q = sides.shares_group, sides.shares_reference
    # An empty bin has no error of its own; its share of the sum is 0, whatever it is divided by.
    each, both = (np.where(share > 0, share, 1.0) for share in (np.stack([p, q]), p + q))
    terms = of_p**2 / (8 * each[0]) + of_q**2 / (8 * each[1]) - of_p * of_q / (2 * both)
    sparse = np.minimum(p * a.size, q * b.size) < _SPARSE
    terms[:, sparse] = math.log(2) / 2 * (of_p - of_q)[:, sparse] ** 2 / both[sparse]
    square = terms.sum(axis=1)
    return ErrorDraws(
        values=np.sqrt(np.maximum(square, 0.0)), clusters=sides.clusters, power=2, bound=math.log(2)
    )


def distance_interval(distance: float, errors: ErrorDraws, level: float = 0.95) -> Interval:
    """Interval of a distance: it, or its root, less and plus the quantile of its error's bound, cut at 0.

    Parameters
    ----------
    distance : float
        From the sample.
    errors : ErrorDraws
        From :func:`earth_movers_errors` or :func:`jensen_shannon_errors`.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval
        Its coverage is near the nominal one at parity, where the distance is nothing but the error, and
        above it elsewhere: conservative.

    Raises
    ------
    InputError
        If there are too few draws for the level.

    Notes
    -----
    The interval holds 0 exactly where :func:`distance_test` does not reject at 1 - level. Range: from 30
    independent units a side, none with over three times as many as the other; bins fixed beforehand
    (``docs/coverage.md``).

    Examples
    --------
    >>> interval = distance_interval(0.5, ErrorDraws(values=np.linspace(0, 1, 999), clusters=50))
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.0, 1.45)
    """
    order = math.ceil((errors.values.size + 1) * check_level(level) - 1e-9)
    if order > errors.values.size:
        raise InputError(f"{errors.values.size} draws cannot give a {level:.3g} interval; draw more")
    reach = float(np.sort(errors.values)[order - 1])
    root = distance ** (1 / errors.power)
    return Interval(
        low=max(root - reach, 0.0) ** errors.power,
        high=min((root + reach) ** errors.power, errors.bound),
        level=level,
        method=f"bound on the error's norm, {errors.values.size} {errors.drawn}; conservative",
    )


def distance_test(distance: float, errors: ErrorDraws) -> TestResult:
    """Test that the two distributions are one: how often the error alone is as large as the distance.

    The p-value is (1 + the number of such draws) / (1 + draws), so never 0.

    Parameters
    ----------
    distance, errors
        As in :func:`distance_interval`.

    Examples
    --------
    >>> distance_test(0.95, ErrorDraws(values=np.linspace(0, 1, 999), clusters=50)).p_value
    0.051
    """
    root = distance ** (1 / errors.power)
    reached = int(np.count_nonzero(errors.values >= root))
    return TestResult(
        name="distance_test",
        p_value=(1 + reached) / (1 + errors.values.size),
        statistic=distance,
        n=errors.clusters,
        method=f"share of {errors.values.size} {errors.drawn}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """Rows of both sides by cluster and bin, as exact counts of pairs of rows that share a cluster."""

    table: Any  # sparse, clusters x (bins of the group, then of the reference)
    shares_group: Floats
    shares_reference: Floats
    sizes: tuple[int, int]
    units: tuple[int, int]
    clusters: int

    @classmethod
    def of(
        cls,
        group: NDArray[Any],
        reference: NDArray[Any],
        n_bins: int,
        group_clusters: ArrayLike | None,
        reference_clusters: ArrayLike | None,
    ) -> _Sides:
        from scipy.sparse import coo_array

        n, m = group.size, reference.size
        if both_or_neither(group_clusters, reference_clusters):
            codes = _codes(group_clusters, reference_clusters, n, m)
        else:
            codes = np.arange(n + m)
        count = int(codes.max(initial=-1)) + 1
        on_sides = [np.bincount(part, minlength=count) > 0 for part in (codes[:n], codes[n:])]
        units = (int(np.count_nonzero(on_sides[0])), int(np.count_nonzero(on_sides[1])))
        if min(units) < 2:
            raise UndefinedMetricError(
                f"{units[0]} and {units[1]} independent units: each side needs at least two"
            )
        bins = np.concatenate([group, reference + n_bins])
        ones = np.ones(n + m, np.int64)
        return cls(
            table=coo_array((ones, (codes, bins)), shape=(count, 2 * n_bins)).tocsr(),
            shares_group=np.bincount(group, minlength=n_bins) / n,
            shares_reference=np.bincount(reference, minlength=n_bins) / m,
            sizes=(n, m),
            units=units,
            clusters=int(np.count_nonzero(on_sides[0] | on_sides[1])),
        )

    def covariance(self) -> Floats:
        """Of the shares of all bins, those of the group first: sums over clusters, times A / (A - 1)."""
        half = self.shares_group.size
        table, ends = self.table, (slice(None, half), slice(half, None))
        pairs = (table.T @ table).toarray().astype(np.float64)  # integers: exact in any order
        shares = (self.shares_group, self.shares_reference)
        rows = np.stack([table[:, at].sum(axis=1) for at in ends])  # of each cluster on each side
        with_rows = [np.asarray(table.T @ of_side).astype(np.float64) for of_side in rows]
        scale = [math.sqrt(u / (u - 1)) / n for u, n in zip(self.units, self.sizes, strict=True)]
        out: Floats = np.empty_like(pairs)
        for i, a in enumerate(ends):
            for j, b in enumerate(ends):
                own = float((rows[i] * rows[j]).sum())
                # Sum over clusters of (rows in a bin - rows x the bin's share), of one side times the other.
                centred = pairs[a, b] - np.multiply.outer(with_rows[j][a], shares[j])
                centred -= np.multiply.outer(shares[i], with_rows[i][b])
                centred += own * np.multiply.outer(shares[i], shares[j])
                out[a, b] = centred * scale[i] * scale[j]
        return out


def _codes(group: ArrayLike | None, reference: ArrayLike | None, n: int, m: int) -> NDArray[Any]:
    labels = join_labels(cluster_labels(group, n, "the group"), cluster_labels(reference, m, "the reference"))
    # Small whole numbers are codes already; ones that no row has do no harm.
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() <= 8 * labels.size:
        return labels
    return cluster_codes(labels, labels.size)[0]


def _grid(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Points up to the largest score, and what a value of the integrand at each but the last counts."""
    ordered = np.sort(np.concatenate([x, y]))
    if ordered.size == 0:
        raise UndefinedMetricError("no scores")
    distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if distinct.size == 1:
        raise UndefinedMetricError("all scores are equal: no spread to estimate")
    with np.errstate(over="ignore", invalid="ignore"):
        if distinct.size <= 2 * _GRID:
            return distinct, np.diff(distinct)
        at = np.linspace(0, ordered.size - 1, _GRID).astype(np.int64)
        points = np.unique(np.concatenate([ordered[at], np.linspace(ordered[0], ordered[-1], _GRID)]))
        steps = np.diff(points)
        return points, (steps + np.concatenate([[0.0], steps[:-1]])) / 2


def _bins(values: ArrayLike, n_bins: int, what: str) -> NDArray[np.int64]:
    bins = np.asarray(values)
    if bins.ndim != 1 or (bins.size and bins.dtype.kind not in "iu"):
        raise InputError(f"bins of {what}: give one whole number a score")
    if bins.size and not 0 <= bins.min() <= bins.max() < n_bins:
        raise InputError(f"bins of {what} run from {bins.min()} to {bins.max()}; expected 0 to {n_bins - 1}")
    return np.asarray(bins, dtype=np.int64)
