"""Statistics of t distributions as the normal deviates of the same probability, and back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

__all__ = ["from_normal_scale", "on_normal_scale"]

Floats = NDArray[np.float64]


def on_normal_scale(statistic: Floats, df: Floats) -> Floats:
    """Return the normal deviates with the upper tails that statistics have by Student's law.

    Parameters
    ----------
    statistic : ndarray of float
        At least 0.
    df : ndarray of float
        Degrees of freedom of each; may be infinite.

    Examples
    --------
    >>> on_normal_scale(np.array([4.303, 1.96]), np.array([2.0, np.inf])).round(2).tolist()
    [1.96, 1.96]
    """
    finite = np.isfinite(df)
    tail = np.maximum(stdtr(np.where(finite, df, 1.0), -statistic), 1e-300)
    return np.asarray(np.where(finite, -ndtri(tail), statistic), dtype=np.float64)


def from_normal_scale(deviate: float, df: float) -> float:
    """Undo :func:`on_normal_scale`: what a critical value on the normal scale is for Student's law.

    Parameters
    ----------
    deviate : float
        On the normal scale.
    df : float
        Degrees of freedom; may be infinite.

    Examples
    --------
    >>> round(from_normal_scale(1.959964, 2.0), 3), from_normal_scale(2.5, np.inf)
    (4.303, 2.5)
    """
    return float(-stdtrit(df, ndtr(-deviate))) if math.isfinite(df) else deviate
