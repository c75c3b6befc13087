"""Draws from a normal law, the same on any number of threads."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError, UndefinedMetricError

Floats = NDArray[np.float64]

_SINGULAR = 1e-12  # a variance this small next to the largest is what rounding leaves of 0


def normal_draws(covariance: Floats, draws: int, seed: int) -> Floats:
    """Draw from a normal law with mean 0."""
    if draws < 1:
        raise InputError(f"{draws} draws; give at least 1")
    factor = _root(covariance)
    rng = np.random.Generator(np.random.PCG64(seed))
    # Not a matrix product: its sums would depend on the number of BLAS threads.
    return np.asarray(np.einsum("rk,jk->rj", rng.standard_normal((draws, factor.shape[1])), factor))


def _root(covariance: Floats) -> Floats:
    """Lower triangular root of a covariance, without the columns that are 0 because it is singular.

    Cholesky's method one column at a time, the same on any number of threads.
    """
    rest = covariance.copy()
    smallest = _SINGULAR * float(np.diag(rest).max(initial=0.0))
    columns = []
    for at in range(rest.shape[0]):
        pivot = float(rest[at, at])
        if pivot <= smallest:
            continue
        column = rest[:, at] / math.sqrt(pivot)
        column[:at] = 0.0
        columns.append(column)
        rest[at:, at:] -= np.multiply.outer(column[at:], column[at:])
    if not columns:
        raise UndefinedMetricError("every cluster shows the same scores: the spread cannot be estimated")
    return np.stack(columns, axis=1)
