"""Uncertainty of how far groups' shares of a total are from their shares of the people."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats._normal import normal_draws
from audit_lib.stats.distances import ErrorDraws

__all__ = ["group_share_errors"]

Floats = NDArray[np.float64]


def group_share_errors(people: Floats, totals: Floats, *, seed: int, draws: int = 9999) -> ErrorDraws:
    r"""Draw the error of the root of a Kullback-Leibler divergence of shares of a total from shares of people.

    With shares q of the total and p of the people, :math:`\sum_g q_g \ln (q_g / p_g)` is to second order
    :math:`\tfrac12 \sum_g (q_g - p_g)^2 / p_g`: its root is a norm of q - p, which errs by no more than the norm of
    the difference's error. That error is drawn as normal, with its covariance over clusters.

    Parameters
    ----------
    people, totals : ndarray, shape (clusters, groups)
        People of each group in each cluster, and the sum over them.
    seed : int
        Of ``Generator(PCG64(seed))``.
    draws : int
        How many.

    Returns
    -------
    ErrorDraws
        Of the root: `power` is 2.

    Raises
    ------
    UndefinedMetricError
        With fewer than two clusters, or if nothing varies.

    Notes
    -----
    Range: from 60 people a group, where half of the people have a benefit or more (``docs/coverage.md``).

    References
    ----------
    Speicher, T. et al. (2018). A unified approach to quantifying algorithmic unfairness. KDD, 2239-2248.

    Examples
    --------
    Ten people of each of two groups, with totals of 10 and 5:

    >>> people, totals = np.zeros((20, 2)), np.zeros((20, 2))
    >>> people[:10, 0] = totals[:10, 0] = people[10:, 1] = 1.0
    >>> totals[10:15, 1] = 1.0
    >>> errors = group_share_errors(people, totals, seed=1)
    >>> errors.power, errors.clusters, bool(errors.values.mean() < 0.2)
    (2, 20, True)
    """
    units = people.shape[0]
    if units < 2:
        raise UndefinedMetricError(f"{units} independent units: no spread to estimate")
    p, q = people.sum(axis=0) / people.sum(), totals.sum(axis=0) / totals.sum()
    of_people = (people - people.sum(axis=1, keepdims=True) * p) / people.sum()
    of_total = (totals - totals.sum(axis=1, keepdims=True) * q) / totals.sum()
    influence = (of_total - of_people) / np.sqrt(2 * p) * math.sqrt(units / (units - 1))
    errors = normal_draws(np.einsum("ci,cj->ij", influence, influence), draws, seed)
    return ErrorDraws(values=np.sqrt(np.square(errors).sum(axis=1)), clusters=units, power=2)
