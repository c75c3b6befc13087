"""Which draws hold a quantile of the largest difference of all pairs, told in single precision.

Few draws are far enough from 0 at all, and of those that are, single precision tells all but some which side of the
quantile they are on. Only what it cannot tell has to be computed in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats.kept_draws import Floats, Singles

_PART: Final = 1000
"""Draws of which the largest differences say where to look among all others."""
_BLOCK: Final = 1000
"""Draws of one matrix product, which one processor takes on alone: in a large one several would wait for each other."""
_CACHED: Final = 4000
"""Draws whose pairs are looked at together, so many as fit the cache of a processor."""
_SCREENED: Final = 2.0**-22
"""Relative error of a product in single precision, four times what it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPairs:
    """Estimates whose pairs are compared.

    Parameters
    ----------
    lower : ndarray of shape (k, k)
        The triangular root of their covariance.
    errors : mapping of (int, int) to float
        Standard error of each pair's difference; 0 where it has none.
    """

    lower: Floats
    errors: Mapping[tuple[int, int], float]

    def largest(self, normals: Floats) -> Floats:
        """Return the largest absolute standardised difference of each draw.

        Parameters
        ----------
        normals : ndarray of shape (k, draws)
            Standard normal.
        """
        # one row an estimate, so that a pair is a subtraction of two rows
        z = np.einsum("ij,jd->id", self.lower, normals)
        largest = np.zeros(normals.shape[1])
        for (i, j), error in self.errors.items():
            if error > 0.0:
                np.maximum(largest, np.abs(z[i] - z[j]) / error, out=largest)
        return largest


class Screened(NamedTuple):
    """What bounds tell of the n-th largest draw and the one above it."""

    untold: NDArray[np.intp]
    """Draws that may be these two."""
    above: int
    """How many others are larger than both."""


def screened(
    pairs: ComparedPairs, normals: Singles, reach: Floats, scales: Floats | None, level: float, largest: int
) -> Screened | None:
    """Find the draws that may be the `largest`-th of all, or the one above it; None where too much is untold.

    Parameters
    ----------
    pairs : ComparedPairs
        What is compared.
    normals : ndarray of float32, shape (draws, k)
        Standard normal.
    reach : ndarray of shape (draws,)
        How far each draw is from 0.
    scales : ndarray of shape (draws,) or None
        What each draw's standard errors are multiplied by.
    level : float
        Of the quantile.
    largest : int
        Its place, from the largest draw.

    Examples
    --------
    >>> pairs = ComparedPairs(lower=np.eye(2), errors={(0, 1): 2.0**0.5})
    >>> normals = np.random.default_rng(0).standard_normal((2, 5000))
    >>> largest = pairs.largest(normals)
    >>> reach = np.sqrt(np.square(normals).sum(axis=0))
    >>> found = screened(pairs, normals.T.astype(np.float32), reach, None, 0.98, 100)
    >>> bool(np.sort(largest)[-100] == np.sort(largest[found.untold])[found.above - 100])
    True
    """
    rough = _Rough.of(pairs, normals, None if scales is None else (1.0 / scales).astype(np.float32))
    if scales is not None:
        reach = reach / scales
    doubts = rough.doubt * reach
    # A part of the draws tells where the quantile is, nearly; a bound a little below it leaves few draws to look at.
    least = 0.97 * float(np.quantile(rough.largest(rough.draws(np.arange(min(_PART, reach.size)))), level))
    while least > 1.0:
        # No difference is further from 0 than its draw is (Cauchy and Schwarz).
        near = np.flatnonzero(reach * rough.longest >= least)
        there, found = rough.outlying(near, least)
        limits = told(found, doubts[there], largest)
        if limits is not None and limits.low - float(doubts[near].max()) >= least:
            return Screened(there[limits.untold], limits.above)
        least *= 0.94
    return None


class ScreenedLimits(NamedTuple):
    """What bounds tell of the n-th largest value and the one above it."""

    low: float
    """The n-th is no lower."""
    above: int
    """How many are larger than both."""
    untold: NDArray[np.bool_]
    """Which may be these two."""


def told(found: Floats, doubts: Floats | float, largest: int) -> ScreenedLimits | None:
    """Bound the `largest`-th value and the one above it; None where there are fewer.

    Parameters
    ----------
    found : ndarray of float
        The values, nearly.
    doubts : ndarray of float, or float
        How far each may be from its value.
    largest : int
        The place, from the largest.

    Examples
    --------
    >>> limits = told(np.array([1.0, 5.0, 3.0, 3.05, 9.0]), 0.1, 3)
    >>> round(limits.low, 2), limits.above, limits.untold.tolist()
    (2.95, 1, [False, True, True, True, False])
    """
    if found.size < largest:
        return None
    low, high = found - doubts, found + doubts
    least, most = (
        float(np.partition(bounds, found.size - place)[found.size - place])
        for bounds, place in ((low, largest), (high, max(largest - 1, 1)))
    )
    above = low > most
    return ScreenedLimits(least, int(np.count_nonzero(above)), (high >= least) & ~above)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rough:
    """The draws of estimates in single precision."""

    normals: Singles
    inverse: Singles | None
    """One over what each draw's standard errors are multiplied by."""
    matrix: Singles
    own: Floats
    errors: Floats
    """Standard errors of the estimates, and of each pair; infinite where there is none."""
    doubt: float
    longest: float
    """How far single precision and a pair's own error may be wrong, for a draw at distance 1."""

    @classmethod
    def of(cls, pairs: ComparedPairs, normals: Singles, inverse: Singles | None) -> _Rough:
        k, lower = normals.shape[1], pairs.lower
        errors = np.full((k, k), np.inf)
        for (i, j), error in pairs.errors.items():
            errors[i, j] = errors[j, i] = error if error > 0.0 else np.inf
        own = np.sqrt(np.square(lower).sum(axis=1))
        doubt = (k + 4) * _SCREENED * float(((own[:, None] + own) / errors).max())
        apart = np.sqrt(np.square(lower[:, None] - lower).sum(axis=2))
        return cls(
            normals=normals, inverse=inverse, matrix=lower.astype(np.float32), own=own, errors=errors, doubt=doubt,
            longest=float((apart / errors).max()) + doubt,
        )  # fmt: skip

    def draws(self, places: NDArray[np.intp]) -> Singles:
        """Return some draws, each in a column: shape (k, draws)."""
        k, size = self.normals.shape[1], places.size
        blocks = -(-size // _BLOCK)
        picked = np.zeros((blocks * _BLOCK, k), np.float32)
        np.take(self.normals, places, axis=0, out=picked[:size], mode="clip")
        products = picked.reshape(blocks, _BLOCK, k) @ self.matrix.T
        found = np.ascontiguousarray(products.reshape(-1, k)[:size].T)
        if self.inverse is not None:
            found *= self.inverse[places]
        return found

    def largest(self, z: Singles) -> Singles:
        """Return the largest absolute standardised difference of each draw."""
        largest = np.zeros(z.shape[1], np.float32)
        inverse = (1.0 / self.errors).astype(np.float32)
        for start in range(0, z.shape[1], _CACHED):
            part, most = z[:, start : start + _CACHED], largest[start : start + _CACHED]
            for i in range(len(z) - 1):
                differences = part[i] - part[i + 1 :]
                np.abs(differences, out=differences)
                differences *= inverse[i, i + 1 :, None]
                np.maximum(most, differences.max(axis=0), out=most)
        return largest

    def outlying(self, near: NDArray[np.intp], least: float) -> tuple[NDArray[np.intp], Floats]:
        """Return the draws of which two estimates differ by `least` standard errors or more, and by how many.

        Of two estimates that differ so much one is far from 0 itself, so that nothing else is looked at.
        """
        z = self.draws(near)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(
                np.isfinite(self.errors),
                self.errors * self.own[:, None] / (self.own[:, None] + self.own),
                np.inf,
            )
        far = np.where(self.own > 0.0, shares.min(axis=1), np.inf) * least * (1.0 - 1e-5)
        outlying = np.zeros(near.size, dtype=bool)
        for row, limit in zip(z, far.astype(np.float32), strict=True):
            outlying |= np.abs(row) >= limit
        places = np.flatnonzero(outlying)
        found = self.largest(np.ascontiguousarray(z[:, places]))
        kept = found >= np.float32(least)
        return near[places[kept]], found[kept].astype(np.float64)
