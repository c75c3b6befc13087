"""Normal draws, and those of the standard error that divides them: made once, and kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


@dataclass(slots=True)
class _Stream:
    """Normal draws, a row an estimate, as one generator gives them row after row; more rows when they are asked for."""

    draws: int
    rng: np.random.Generator
    rows: list[Floats] = field(default_factory=list)
    states: list[Mapping[str, Any]] = field(default_factory=list)

    def first(self, k: int) -> Floats:
        while len(self.rows) < k:
            self.rows.append(self.rng.standard_normal(self.draws))
            self.states.append(self.rng.bit_generator.state)
        return np.array(self.rows[:k])


@lru_cache(maxsize=4)
def _stream(draws: int, seed: int) -> _Stream:
    return _Stream(draws=draws, rng=np.random.Generator(np.random.PCG64(seed)))


@lru_cache(maxsize=4)
def _normals(k: int, draws: int, seed: int) -> Floats:
    found = _stream(draws, seed).first(k)
    found.flags.writeable = False
    return found


def normal_draws(k: int, draws: int, seed: int) -> Floats:
    """Return standard normal draws, a row an estimate; they are kept, and not to be written to.

    Parameters
    ----------
    k, draws, seed : int
        Estimates, draws of each, and the seed.

    Examples
    --------
    >>> normal_draws(2, 3, 0).shape, bool((normal_draws(3, 3, 0)[:2] == normal_draws(2, 3, 0)).all())
    ((2, 3), True)
    """
    return _normals(k, draws, seed)


@lru_cache(maxsize=4)
def single_draws(k: int, draws: int, seed: int) -> Singles:
    """Return the same, a row each draw, in single precision.

    Parameters
    ----------
    k, draws, seed : int
        As of `normal_draws`.

    Examples
    --------
    >>> single_draws(2, 3, 0).shape, single_draws(2, 3, 0).dtype.name
    ((3, 2), 'float32')
    """
    return np.ascontiguousarray(_normals(k, draws, seed).T, dtype=np.float32)


@lru_cache(maxsize=4)
def reach(k: int, draws: int, seed: int) -> Floats:
    """Return how far each draw is from 0.

    Parameters
    ----------
    k, draws, seed : int
        As of `normal_draws`.

    Examples
    --------
    >>> bool(np.allclose(reach(2, 3, 0), np.hypot(*normal_draws(2, 3, 0))))
    True
    """
    return np.asarray(np.sqrt(np.square(_normals(k, draws, seed)).sum(axis=0)))


@lru_cache(maxsize=32)
def scales(k: int, df: float, draws: int, seed: int) -> Floats | None:
    """Draw the common standard error over its expectation, by the generator that has made the normal ones.

    Parameters
    ----------
    k : int
        Estimates that were drawn before it.
    df : float
        Degrees of freedom of the error; None is returned where they are infinite.
    draws, seed : int
        As of `normal_draws`.

    Examples
    --------
    >>> scales(2, math.inf, 3, 0) is None, scales(2, 5.0, 3, 0).shape
    (True, (3,))
    """
    if math.isinf(df):
        return None
    rng = np.random.Generator(np.random.PCG64(seed))
    _normals(k, draws, seed)
    rng.bit_generator.state = _stream(draws, seed).states[k - 1]
    return np.asarray(np.sqrt(rng.chisquare(df, draws) / df))
