"""Uncertainty of the largest of several gaps, as of a distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats._normal import normal_draws
from audit_lib.stats.cluster_worth import leverage_factors, require_worth
from audit_lib.stats.distances import ErrorDraws

__all__ = ["largest_gap_errors"]

Floats = NDArray[np.float64]


def largest_gap_errors(
    group_sums: Floats,
    reference_sums: Floats,
    group_rows: NDArray[np.float64],
    reference_rows: NDArray[np.float64],
    flat: Sequence[tuple[int, int, int]] = (),
    *,
    seed: int,
    draws: int = 9999,
) -> ErrorDraws:
    r"""Draw the bound on the error of the largest size of several gaps.

    With gaps :math:`g_1 .. g_K`, hats for the sample's,

    .. math:: |\max_k |\hat g_k| - \max_k |g_k|| \le \max_k |\hat g_k - g_k| .

    The right side is drawn as the largest size of a normal vector with the gaps' covariance over clusters. A rate that
    is 0 or 1 in all clusters has no spread to draw; its error is then a draw of Clopper and Pearson's limit for 0 of
    as many as its clusters: a Beta(1, clusters) variable, to the side on which the rate can lie.

    Parameters
    ----------
    group_sums, reference_sums : ndarray, shape (clusters, gaps)
        Influence on each gap, summed by cluster: of the group's rows, and of the reference's.
    group_rows, reference_rows : ndarray of float, shape (clusters,)
        How many rows each cluster has on each side.
    flat : sequence of (gap, sign, clusters)
        Rates without spread: on which gap, whether its error can only be above (1) or below (-1) 0, and the number of
        clusters that it is of.
    seed : int
        Of ``Generator(PCG64(seed))``.
    draws : int
        How many.

    Returns
    -------
    ErrorDraws
        For :func:`audit_lib.stats.distances.distance_interval`.

    Raises
    ------
    UndefinedMetricError
        If a side has fewer than two clusters, or if nothing varies and no rate is flat.

    Notes
    -----
    Range: from 30 qualified and 30 other independent people a side (``docs/coverage.md``).

    References
    ----------
    Hardt, M., Price, E. & Srebro, N. (2016). Equality of opportunity in supervised learning. arXiv:1610.02413.

    Examples
    --------
    >>> a, b = np.array([[0.1], [-0.1], [0.0]]), np.zeros((3, 1))
    >>> there = np.ones(3)
    >>> errors = largest_gap_errors(a, b, there, there, seed=1)
    >>> round(float(np.sqrt(np.mean(errors.values**2))), 2)  # the root of 3 / 2 times 0.1^2 + 0.1^2
    0.17
    """
    in_group, in_reference = group_rows > 0, reference_rows > 0
    n_a, n_b = int(np.count_nonzero(in_group)), int(np.count_nonzero(in_reference))
    if min(n_a, n_b) < 2:
        raise UndefinedMetricError(f"{n_a} and {n_b} independent units: each side needs at least two")
    sides = [rows / rows.sum() for rows in (group_rows, reference_rows)]
    for shares in sides:
        require_worth(shares, least=2)
    factors_a, factors_b = (leverage_factors(shares)[:, None] for shares in sides)
    a = group_sums * factors_a * math.sqrt(n_a / (n_a - 1))
    b = reference_sums * factors_b * math.sqrt(n_b / (n_b - 1))
    both = a + b
    covariance = np.einsum("cj,ck->jk", both, both)
    if flat and not (np.diag(covariance) > 0).any():
        errors = np.zeros((draws, covariance.shape[0]))
    else:
        errors = normal_draws(covariance, draws, seed)
    chance = np.random.Generator(np.random.PCG64([seed, 1])).random((draws, len(flat)))
    for number, (gap, sign, clusters) in enumerate(flat):
        errors[:, gap] -= sign * np.expm1(np.log1p(-chance[:, number]) / clusters)
    count = int(np.count_nonzero(in_group | in_reference))
    return ErrorDraws(values=np.abs(errors).max(axis=1), clusters=count, bound=1.0)
