"""Draws of the largest standardised difference of all pairs of normal estimates, and their quantiles.

A quantile needs the largest draws alone. Which these can be is told by a bound that costs little, so that only they are
computed in full; the quantile is that of all draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats._checks import z_quantile

__all__ = ["all_largest", "drawn_quantile", "normal_draws", "pair_errors", "root"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_PART: Final = 1000
"""Draws of which the largest differences say where to look among all others."""
_PRODUCT: Final = 1000
"""Draws of one matrix product."""
_LOOKED_AT: Final = 4000
"""Draws that are looked at together, so many as fit the cache of a processor."""
_HIGH: Final = 0.9
"""Below this level so many draws are among the largest that all are computed."""
_SCREENED: Final = 2.0**-22
"""Relative error of a product in single precision, four times what it can be."""


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
def _single(k: int, draws: int, seed: int) -> Singles:
    """Return the same, a row each draw, in single precision."""
    return np.ascontiguousarray(_normals(k, draws, seed).T, dtype=np.float32)


@lru_cache(maxsize=4)
def _reach(k: int, draws: int, seed: int) -> Floats:
    """How far each draw is from 0."""
    return np.asarray(np.sqrt(np.square(_normals(k, draws, seed)).sum(axis=0)))


@lru_cache(maxsize=32)
def _scales(k: int, df: float, draws: int, seed: int) -> Floats | None:
    """Draws of the common standard error over its expectation, by the generator that has made the normal ones."""
    if math.isinf(df):
        return None
    rng = np.random.Generator(np.random.PCG64(seed))
    _normals(k, draws, seed)
    rng.bit_generator.state = _stream(draws, seed).states[k - 1]
    return np.asarray(np.sqrt(rng.chisquare(df, draws) / df))


def drawn_quantile(v: Floats, level: float, df: float, draws: int, seed: int) -> float:
    """Return the quantile of the largest absolute standardised difference of all pairs.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance, checked; some pair has variance.
    level : float
        Probability.
    df : float
        Degrees of freedom shared by all pairs; may be infinite.
    draws, seed : int
        Of the simulation.

    Examples
    --------
    >>> found = drawn_quantile(np.eye(3), 0.95, np.inf, 1000, 0)
    >>> bool(found == np.quantile(all_largest(np.eye(3), np.inf, 1000, 0), 0.95))
    True
    """
    place = (draws - 1) * level
    largest = draws - math.floor(place)
    top = None
    if level < _HIGH:
        top = all_largest(v, df, draws, seed)
    elif math.isinf(df) and not np.any(v - np.diag(v.diagonal())):
        top = _of_independent(np.sqrt(v.diagonal()), level, largest, draws, seed)
    if top is None:
        top = _of_screened(v, df, level, largest, draws, seed)
    top = np.sort(top)
    low, high = top[-largest], top[max(-largest + 1, -top.size)] if largest > 1 else top[-largest]
    share = place - math.floor(place)
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1.0 - share))


def all_largest(v: Floats, df: float, draws: int, seed: int) -> Floats:
    """Return the largest absolute standardised difference of all pairs, of every draw.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance, checked.
    df : float
        Degrees of freedom shared by all pairs; may be infinite.
    draws, seed : int
        Of the simulation.

    Examples
    --------
    >>> all_largest(np.eye(2), np.inf, 4, 0).shape
    (4,)
    """
    k = v.shape[0]
    found = _largest(v, normal_draws(k, draws, seed))
    scales = _scales(k, df, draws, seed)
    return found if scales is None else found / scales


def _largest(v: Floats, normals: Floats) -> Floats:
    # one row an estimate, so that a pair is a subtraction of two rows
    z = np.einsum("ij,jd->id", root(v), normals)
    largest = np.zeros(normals.shape[1])
    for (i, j), error in pair_errors(v).items():
        if error > 0.0:
            np.maximum(largest, np.abs(z[i] - z[j]) / error, out=largest)
    return largest


def _of_screened(v: Floats, df: float, level: float, largest: int, draws: int, seed: int) -> Floats:
    """Compute in full the draws that single precision cannot tell to be below the largest."""
    k = v.shape[0]
    normals, scales = normal_draws(k, draws, seed), _scales(k, df, draws, seed)
    errors = np.full((k, k), np.inf)
    for (i, j), error in pair_errors(v).items():
        errors[i, j] = errors[j, i] = error if error > 0.0 else np.inf
    lower = root(v)
    own = np.sqrt(np.square(lower).sum(axis=1))
    doubt = (k + 4) * _SCREENED * float(((own[:, None] + own) / errors).max())
    rough = _rough(lower, k, draws, seed)
    if scales is not None:
        rough /= scales.astype(np.float32)[:, None]
    # A part of the draws tells where the quantile is, nearly; a bound a little below it leaves few draws to look at.
    _, some_largest = _of_outlying(rough[:_PART], own, errors, 1e-30)
    least = 0.97 * float(np.quantile(some_largest, level))
    kept: NDArray[np.intp] | slice = slice(None)
    while least > 1.0:
        places, found = _of_outlying(rough, own, errors, least)
        if places.size >= largest:
            apart = doubt * _reach(k, draws, seed)[places]
            if scales is not None:
                apart /= scales[places]
            bound = np.partition(found - apart, places.size - largest)[places.size - largest]
            if bound - float(apart.max()) >= least:
                kept = places[found + apart >= bound]
                break
        least *= 0.94
    exact = _largest(v, normals[:, kept])
    return exact if scales is None else exact / scales[kept]


def _rough(lower: Floats, k: int, draws: int, seed: int) -> Singles:
    """Return the draws of the estimates, a row each draw, in single precision."""
    normals = _single(k, draws, seed)
    # In small products, which one processor takes on alone: in a large one several would wait for each other.
    parts = normals.reshape(-1, _PRODUCT, k) if draws % _PRODUCT == 0 else normals
    return np.asarray((parts @ lower.T.astype(np.float32)).reshape(draws, k))


def _of_outlying(z: Singles, own: Floats, errors: Floats, least: float) -> tuple[NDArray[np.intp], Floats]:
    """Return the draws of which two estimates differ by `least` standard errors or more, and the largest difference.

    Of two estimates that differ so much one is far from 0 itself, so that nothing else is looked at.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(np.isfinite(errors), errors * own[:, None] / (own[:, None] + own), np.inf)
    far = np.where(own > 0.0, shares.min(axis=1), np.inf) * least * (1.0 - 1e-5)
    limits, k = far.astype(np.float32), own.size
    starts = range(0, len(z), _LOOKED_AT)
    outlying = [np.flatnonzero(np.abs(z[at : at + _LOOKED_AT]) >= limits) + at * k for at in starts]
    draw, place = np.divmod(np.concatenate(outlying), k)
    differences = np.ascontiguousarray(z[draw].T)  # a row an estimate
    np.abs(differences - differences[place, np.arange(place.size)], out=differences)
    differences *= (1.0 / errors).astype(np.float32)[:, place]
    found = np.zeros(len(z), np.float32)
    np.maximum.at(found, draw, differences.max(axis=0))
    places = np.flatnonzero(found >= np.float32(least))
    return places, found[places].astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Entries:
    """Pairs of independent standard normal draws, those furthest from 0 first."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    place: NDArray[np.intp]
    """Estimates, and which draw."""
    x: Floats
    y: Floats
    radius: Floats


@lru_cache(maxsize=16)
def _entries(k: int, least: float, draws: int, seed: int) -> _Entries:
    normals = normal_draws(k, draws, seed)
    squares = np.square(normals)
    found = []
    for i, j in combinations(range(k), 2):
        where = np.flatnonzero(squares[i] + squares[j] >= least * least)
        found.append((np.full(where.size, i), np.full(where.size, j), where))
    first, second, place = (np.concatenate(column) for column in zip(*found, strict=True))
    radius = np.sqrt(squares[first, place] + squares[second, place])
    order = np.argsort(-radius, kind="stable")
    first, second, place = first[order], second[order], place[order]
    return _Entries(
        first=first, second=second, place=place, x=normals[first, place], y=normals[second, place],
        radius=radius[order],
    )  # fmt: skip


def _of_independent(errors: Floats, level: float, largest: int, draws: int, seed: int) -> Floats | None:
    """Return the largest draws, or None where more would have to be looked at than are kept.

    The standardised difference of two independent estimates is no further from 0 than the pair of their standard
    normal draws is (Cauchy and Schwarz). So pairs are looked at from the furthest on, until enough draws are larger
    than all that is left could be.
    """
    k = errors.size
    # What the largest of k - 1 independent draws exceeds as rarely: where one estimate varies far more than all others.
    least = z_quantile(level ** (1 / (k - 1)))
    entries = _entries(k, round(least, 6), draws, seed)
    found = np.zeros(draws)
    start, stop, size = 0, 0, entries.place.size
    while stop < size:
        start, stop = stop, min(max(2 * stop, 4 * largest), size)
        part = slice(start, stop)
        a, b = errors[entries.first[part]], errors[entries.second[part]]
        with np.errstate(invalid="ignore"):
            values = np.abs(a * entries.x[part] - b * entries.y[part]) / np.sqrt(a * a + b * b)
        np.maximum.at(found, entries.place[part], np.nan_to_num(values, nan=0.0))
        bound = least if stop == size else float(entries.radius[stop])
        top = found[found > bound * (1.0 + 1e-12)]
        if top.size >= largest:
            return top
    return None


def pair_errors(v: Floats) -> dict[tuple[int, int], float]:
    """Return the standard error of each pair's difference; 0 where it has none.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance.

    Examples
    --------
    >>> pair_errors(np.array([[2.0, 0.0], [0.0, 2.0]]))
    {(0, 1): 2.0}
    """
    errors = {}
    for i, j in combinations(range(v.shape[0]), 2):
        variance = v[i, i] + v[j, j] - 2 * v[i, j]
        # what is left after cancellation in the last digits is not a variance
        floor = 1e-12 * max(v[i, i], v[j, j])
        errors[i, j] = math.sqrt(variance) if variance > floor else 0.0
    return errors


def root(v: Floats) -> Floats:
    """Return the lower triangular L with L L' = v, also where v is singular; the same on every machine.

    Parameters
    ----------
    v : ndarray of shape (k, k)
        Covariance.

    Examples
    --------
    >>> root(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    k = v.shape[0]
    lower = np.zeros((k, k))
    for j in range(k):
        rest = v[j, j] - float(np.square(lower[j, :j]).sum())
        if rest > 1e-12 * v[j, j]:
            lower[j, j] = math.sqrt(rest)
            for i in range(j + 1, k):
                lower[i, j] = (v[i, j] - float((lower[i, :j] * lower[j, :j]).sum())) / lower[j, j]
    return lower
