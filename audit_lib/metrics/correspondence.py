"""Correspondence experiments: the same application in several guises, and the effect of the guise.

Source: Gaebler, Goel, Huq and Tambe, "Auditing the Use of Language Models to Guide Hiring Decisions"
(2024), arXiv:2404.03086. Ordinary least squares of the rating on main effects, errors clustered on the
application, everything in units of the outcome's standard deviation. It is computed from counts and sums
per application and design cell, which merge.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_scores, in_order
from audit_lib.metrics.effects import FactorEffect, StandardisedEffects
from audit_lib.results import Undefined

# Up to this many design cells, empty ones are counted too and then dropped: faster than finding them first.
_FULL_GRID = 64
_BLOCK = 1 << 14
_ROUNDING = 1e-12  # standard errors up to this, in standard deviations, are what rounding leaves of 0
_NO_RESIDUAL = "every application shows the same effect: no residual to estimate an error from"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSums:
    """Sufficient statistics of the regression: what each application adds to each design cell.

    Parameters
    ----------
    factors : tuple of str
        Names of the factors.
    cells : tuple of tuple
        Level of each factor, one tuple a design cell, sorted.
    clusters : ndarray, shape (clusters,)
        Application ids, sorted.
    counts, sums : ndarray, shape (cells, clusters)
        Rows, and sum of their outcomes.
    mean, squares : float
        Mean outcome and sum of squared deviations from it.
    low, high : float
        Smallest and largest outcome.
    """

    factors: tuple[str, ...]
    cells: tuple[tuple[Hashable, ...], ...]
    clusters: NDArray[Any]
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    mean: float
    squares: float
    low: float
    high: float

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.counts.sum())

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Add the rows of another shard; an application may be in both.

        Counts are exact. Sums are as exact as float addition: exact for ratings that are whole numbers.

        Raises
        ------
        InputError
            If the factors differ.
        """
        if self.factors != other.factors:
            raise InputError(f"cannot merge factors {other.factors} into {self.factors}")
        cells = _in_order({*self.cells, *other.cells})
        codes, clusters = as_codes(np.concatenate([self.clusters, other.clusters]), "clusters")
        counts = np.zeros((len(cells), clusters.size), np.int64)
        sums = np.zeros((len(cells), clusters.size))
        for part, columns in ((self, codes[: self.clusters.size]), (other, codes[self.clusters.size :])):
            place = np.ix_(np.array([cells.index(cell) for cell in part.cells]), columns)
            counts[place] += part.counts
            sums[place] += part.sums
        n, shift = self.n + other.n, other.mean - self.mean
        return ClusterSums(
            factors=self.factors,
            cells=cells,
            clusters=clusters,
            counts=counts,
            sums=sums,
            mean=self.mean + shift * other.n / n,
            squares=self.squares + other.squares + shift**2 * self.n * other.n / n,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )

    def effects(
        self, references: Mapping[str, Hashable] | None = None, fixed_effects: bool = False
    ) -> StandardisedEffects:
        """Fit the regression; parameters and errors as in `standardised_effects`.

        Raises
        ------
        InputError, UndefinedMetricError
            As `standardised_effects` does.
        """
        design, names = _design(self.factors, self.cells, references)
        cells = self.counts.sum(axis=1).astype(np.float64)
        n, n_clusters = int(cells.sum()), self.clusters.size
        if n_clusters < 2:
            raise UndefinedMetricError(f"{n_clusters} application: clustered errors need at least two")
        sd = float(np.sqrt(self.squares / (n - 1)))
        # Rounding of the mean leaves equal outcomes a spread; their extremes have none.
        if self.low == self.high or sd == 0:
            raise UndefinedMetricError("all outcomes are equal: the effect has no unit")
        if not fixed_effects:
            design = np.column_stack([design, np.ones(len(self.cells))])
        # No matrix product here or below: its sums would depend on the number of BLAS threads.
        gram = _products(design.T * cells, design.T)
        moment = _products(design.T, self.sums.sum(axis=1)[None])[:, 0]
        if fixed_effects:
            # Deviations from the application's mean: its own constant leaves no room for a common one.
            members, total = self.counts.sum(axis=0).astype(np.float64), self.sums.sum(axis=0)
            profile = _fold(design, self.counts, n_clusters)
            gram -= _products(profile / members, profile)
            moment -= _products(profile, (total / members)[None])[:, 0]
        if np.linalg.matrix_rank(gram, hermitian=True) < gram.shape[0]:
            raise UndefinedMetricError("the factors do not vary independently: effects cannot be told apart")
        beta = np.linalg.solve(gram, moment)
        # By application: sum of regressor times residual, without a residual a row.
        # One design cell at a time: a whole table of residuals would be as large as the counts.
        scores = _fold(design, self._residuals(np.einsum("ij,j->i", design, beta)), n_clusters)
        if fixed_effects:
            scores -= profile * ((total - np.einsum("i,ig->g", beta, profile)) / members)
        bread = np.asarray(np.linalg.inv(gram), np.float64)
        # Application effects nest in the clusters, so they are not counted as parameters.
        parameters = len(names) + 1
        if n <= parameters:
            raise UndefinedMetricError(f"{n} rows for {parameters} parameters")
        small = n_clusters / (n_clusters - 1) * (n - 1) / (n - parameters)
        meat = _products(scores, scores)
        sandwich = _products(_products(bread, meat), bread)  # both symmetric
        covariance = small * sandwich[: len(names), : len(names)] / sd**2
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))  # rounding may leave less than nothing
        return StandardisedEffects(
            effects=tuple(
                FactorEffect(
                    factor=factor,
                    level=level,
                    reference=reference,
                    estimate=float(value) / sd,
                    standard_error=float(error) if error > _ROUNDING else Undefined(_NO_RESIDUAL),
                    n=n,
                    clusters=n_clusters,
                    degrees_of_freedom=n_clusters - 1,
                )
                for (factor, level, reference), value, error in zip(names, beta, errors, strict=False)
            ),
            covariance=covariance,
            outcome_sd=sd,
            n=n,
            clusters=n_clusters,
            degrees_of_freedom=n_clusters - 1,
        )

    def _residuals(self, fitted: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield each design cell's residuals by application, all in the same memory."""
        row = np.empty(self.clusters.size)
        for sums, counts, value in zip(self.sums, self.counts, fitted.tolist(), strict=True):
            np.multiply(counts, value, out=row)
            yield np.subtract(sums, row, out=row)


def standardised_effects(
    outcome: ArrayLike,
    factors: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    references: Mapping[str, Hashable] | None = None,
    fixed_effects: bool = False,
) -> StandardisedEffects:
    """Main effects of what was varied, by least squares with clustered errors, per SD of the outcome.

    ``outcome = constant + effects of each factor's levels + error``. Covariance is CR1: the sandwich of
    cluster sums of ``x * residual``, times ``G / (G - 1) * (n - 1) / (n - K)`` for G clusters and K
    parameters. Estimates and errors are divided by the sample SD of the outcome, taken as fixed.

    Parameters
    ----------
    outcome : array_like, shape (n,)
        Ratings.
    factors : mapping of str to array_like, shape (n,)
        What was varied, such as ``{"gender": ..., "race": ...}``.
    clusters : array_like, shape (n,)
        Application that each row is a version of.
    references : mapping of str to label, optional
        Reference level of each factor; the first in sorted order where none is given.
    fixed_effects : bool
        Whether each application has its own constant. Where every application comes in all versions,
        estimates are the same with and without. K then counts the effects and one constant: the
        applications' own are nested in the clusters (a regression with one dummy an application counts
        them all and gives larger errors).

    Returns
    -------
    StandardisedEffects
        Effects with standard errors, and their covariance.

    Raises
    ------
    InputError
        If lengths differ, a label is missing, or a reference is no level of its factor.
    UndefinedMetricError
        If there are fewer than two applications, an outcome is missing, all outcomes are equal, or
        effects cannot be told apart.

    Examples
    --------
    >>> fit = standardised_effects([3, 4, 2, 4, 3, 3], {"gender": ["man", "woman"] * 3}, [1, 1, 2, 2, 3, 3])
    >>> effect = fit["gender", "woman"]
    >>> round(effect.estimate, 4), round(effect.standard_error, 4), fit.degrees_of_freedom
    (1.3284, 0.8575, 2)
    >>> round(effect.interval.low, 2), round(effect.interval.high, 2), round(effect.p_value, 4)
    (-2.36, 5.02, 0.2615)
    """
    return cluster_sums(outcome, factors, clusters).effects(references, fixed_effects)


def cluster_sums(outcome: ArrayLike, factors: Mapping[str, ArrayLike], clusters: ArrayLike) -> ClusterSums:
    """Count rows and sum outcomes by application and design cell: the regression's sufficient statistics.

    Parameters
    ----------
    outcome, factors, clusters
        As in `standardised_effects`.

    Returns
    -------
    ClusterSums
        Has `merge`, to add another shard, and `effects`, to fit.

    Raises
    ------
    InputError, UndefinedMetricError
        As `standardised_effects` does for wrong or missing input.

    Examples
    --------
    >>> parts = [cluster_sums([3, 4], {"gender": ["man", "woman"]}, [i, i]) for i in (1, 2)]
    >>> parts[0].merge(parts[1]).counts.tolist()
    [[1, 1], [1, 1]]
    """
    if not factors:
        raise InputError("factors: at least one is needed")
    outcome, factors, clusters = same_rows(outcome=outcome, factors=factors, clusters=clusters)
    y = as_scores(outcome, "outcome", finite=True).astype(np.float64, copy=False)
    row_cluster, ids = _complete_codes(clusters, "clusters", y.size)
    mean = float(y.mean())
    codes, levels = [], []
    for name, labels in factors.items():
        numbers, found = _complete_codes(labels, f"factors[{name!r}]", y.size)
        codes.append(numbers)
        levels.append(found.tolist())
    shape = [len(found) for found in levels]
    grid = int(np.prod(shape))
    cell, squares = _design_cells(codes, shape, y, mean)
    present = np.arange(grid)
    if grid > _FULL_GRID:
        present = np.flatnonzero(np.bincount(cell, minlength=grid))
        cell = np.searchsorted(present, cell)
    cell *= ids.size
    cell += row_cluster
    size = ids.size * present.size
    counts = np.bincount(cell, minlength=size).reshape(-1, ids.size)
    sums = np.bincount(cell, y, size).astype(np.float64, copy=False).reshape(-1, ids.size)
    if not (seen := counts.sum(axis=1) > 0).all():
        present, counts, sums = present[seen], counts[seen], sums[seen]
    return ClusterSums(
        factors=tuple(factors),
        cells=tuple(
            tuple(found[i] for found, i in zip(levels, index, strict=True))
            for index in np.transpose(np.unravel_index(present, shape)).tolist()
        ),
        clusters=ids,
        counts=counts,
        sums=sums,
        mean=mean,
        squares=squares,
        low=float(y.min()),
        high=float(y.max()),
    )


def _design_cells(
    codes: list[NDArray[np.int64]], shape: list[int], y: NDArray[np.float64], mean: float
) -> tuple[NDArray[np.int64], float]:
    """Number each row's design cell, and sum the squared deviations, a block of rows that fits a cache at a time."""
    cell, squares = np.empty(y.size, np.int64), 0.0
    for start in range(0, y.size, _BLOCK):
        rows = slice(start, start + _BLOCK)
        part = cell[rows]
        part[:] = codes[0][rows]
        for levels, numbers in zip(shape[1:], codes[1:], strict=True):
            part *= levels
            part += numbers[rows]
        deviations = y[rows] - mean
        squares += float(np.einsum("i,i->", deviations, deviations))
    return cell, squares


def _complete_codes(labels: ArrayLike, name: str, size: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    codes, levels = as_codes(labels, name)
    if codes.size != size:
        raise InputError(f"{name}: {codes.size} labels for {size} outcomes")
    # Integers have no missing label.
    if getattr(getattr(labels, "dtype", None), "kind", "O") not in "iu" and codes.min() < 0:
        raise InputError(f"{name}, row {int(np.argmin(codes))}: no label")
    return codes, levels


def _fold(design: NDArray[np.float64], table: Iterable[NDArray[Any]], width: int) -> NDArray[np.float64]:
    """Sum the rows of `table` that each 0/1 column of `design` marks: ``design.T @ table``."""
    folded = np.zeros((design.shape[1], width))
    for row, marks in zip(table, design, strict=True):
        for column in np.flatnonzero(marks):
            folded[column] += row
    return folded


def _products(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """``a @ b.T`` of wide matrices, with one order of addition whatever the number of threads."""
    return np.asarray(np.einsum("ig,jg->ij", a, b))


def _in_order(cells: set[tuple[Hashable, ...]]) -> tuple[tuple[Hashable, ...], ...]:
    """Sort cells by their first factor's level, then by the second's, ..."""
    places = [
        {level: i for i, level in enumerate(in_order(set(found)))} for found in zip(*cells, strict=True)
    ]
    return tuple(
        sorted(cells, key=lambda cell: [place[level] for place, level in zip(places, cell, strict=True)])
    )


def _design(
    factors: tuple[str, ...],
    cells: tuple[tuple[Hashable, ...], ...],
    references: Mapping[str, Hashable] | None,
) -> tuple[NDArray[np.float64], list[tuple[str, Hashable, Hashable]]]:
    """Dummies of each cell, reference levels left out, and what each column stands for."""
    for name in references or {}:
        if name not in factors:
            raise InputError(f"references: no factor is named {name!r}")
    names: list[tuple[str, Hashable, Hashable]] = []
    columns = []
    for position, name in enumerate(factors):
        found = in_order({cell[position] for cell in cells})
        reference = (references or {}).get(name, found[0])
        if reference not in found:
            raise InputError(f"references: {reference!r} is no level of factor {name!r}")
        if len(found) < 2:
            raise UndefinedMetricError(f"factor {name!r} has one level")
        for level in found:
            if level != reference:
                names.append((name, level, reference))
                columns.append([float(cell[position] == level) for cell in cells])
    return np.array(columns).T, names
