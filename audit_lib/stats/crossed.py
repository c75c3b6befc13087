r"""Effects whose rows share two things: the application that they are versions of, and the name that they show.

Errors by application hold for the names that were shown. Other names would have moved scores otherwise: a name has an
effect of its own, and rows of many applications share it. What it adds to the variance of an effect is read from
products of residuals of rows with one name and different applications, in which no application is twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, diags
from scipy.special import chdtri

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats._checks import check_level, finite_values
from audit_lib.stats._labels import cluster_codes

__all__ = ["NameDesign", "NameSpread", "TwoWay", "two_way"]

Floats = NDArray[np.float64]

_NOTHING: Final = 1e-9  # share of what is there, below which it is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class NameSpread:
    """How much names of one group differ, from one weighting of the rows.

    Parameters
    ----------
    variance : float
        Of the effects of names; unbiased, and so below 0 at times.
    residual : float
        Variance of a row that neither its name nor its application explains.
    half_variance : float
        Half the sampling variance of `variance`, as a Satterthwaite sum adds it up.
    total, base : float
        `variance` is their difference: what differs between names, and what would without effects of names.
    df : float
        Degrees of freedom of `total`.
    names : int
        How many names there are.
    """

    variance: float
    residual: float
    half_variance: float
    total: float
    base: float
    df: float
    names: int

    def sd_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return limits of the standard deviation of names' effects, 0 at least.

        ``total`` is taken as chi-squared with `df` degrees of freedom, and ``base`` as known (Tukey and Williams).

        Parameters
        ----------
        level : float
            Nominal coverage.

        References
        ----------
        Williams, J. S. (1962). A confidence interval for variance components. Biometrika 49, 278-281.
        """
        tail = (1 - check_level(level)) / 2
        low, high = (self.total * self.df / float(chdtri(self.df, p)) - self.base for p in (tail, 1 - tail))
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWay:
    """Error of an effect that holds for other applications and other names.

    Parameters
    ----------
    standard_error : float
        In the outcome's unit.
    df : float
        Degrees of freedom of the t quantile that goes with it.
    """

    standard_error: float
    df: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Products:
    """What products of residuals hold for one weighting of the rows, whatever the outcome."""

    weights: Floats
    groups: Floats
    own: Floats
    """Covariance of the names' weighted sums that a variance of rows of 1 gives."""
    moved: Floats
    """The same of a variance of names of 1."""
    inside: Floats
    norms: Floats
    tau: float


class NameDesign:
    """Which rows share an application and which a name.

    Parameters
    ----------
    names, cells, clusters : array_like, shape (n,)
        Name, group, and application (or round) of each row. A name may come in several groups.
    within : bool
        Whether residuals are taken within applications. They have to be taken without where an application comes in
        one group only, whose effect its own constant would take up.

    Raises
    ------
    InputError
        If lengths differ or a label is missing.

    Examples
    --------
    Two groups of three names; six applications, each shown once in each group:

    >>> names = [0, 3, 1, 4, 2, 5, 0, 4, 1, 5, 2, 3]
    >>> design = NameDesign(names, [0, 1] * 6, np.repeat(range(6), 2))
    >>> y = np.array([1.0, 3.4, 2.0, 3.0, 1.4, 3.7, 1.2, 2.8, 2.1, 3.3, 1.5, 3.2])
    >>> spread = design.spread(design.residuals(y))
    >>> round(spread.variance, 3), round(spread.residual, 3), spread.names
    (0.158, 0.033, 6)
    """

    def __init__(
        self, names: ArrayLike, cells: ArrayLike, clusters: ArrayLike, *, within: bool = True
    ) -> None:
        rows = np.asarray(names).shape[0]
        (name, count), (cell, groups), (cluster, units) = (
            cluster_codes(np.asarray(labels), rows) for labels in (names, cells, clusters)
        )
        # Rows of one application, name and group, such as several prompts, are one: all of them are alike in design.
        key = (cluster.astype(np.int64) * count + name) * groups + cell
        found, self._of_row = np.unique(key, return_inverse=True)
        self.names, self.units = count, units
        self._cell = found % groups
        self._name, self._cluster = (found // groups) % count, found // groups // count
        self._rows = np.bincount(self._of_row).astype(np.float64)
        # One row of a table of applications and names, whose products are left out.
        _, self._both = np.unique(found // groups, return_inverse=True)
        self._within = within
        self._sizes = np.bincount(self._cluster, self._rows, units)
        basis = self._centred(np.eye(groups)[self._cell])
        values, vectors = np.linalg.eigh(np.einsum("si,sj,s->ij", basis, basis, self._rows))
        kept = values > _NOTHING * max(values.max(initial=0.0), 1.0)
        self._basis = np.einsum("si,ij->sj", basis, vectors[:, kept] / np.sqrt(values[kept]))
        self._table = csr_matrix((self._rows, (self._cluster, self._name)), (units, count))
        self._in_names = _sums(self._name, self._basis * self._rows[:, None], count)
        self._known: tuple[Floats | None, _Products] | None = None

    def residuals(self, outcome: ArrayLike) -> Floats:
        """Return what the outcome's rows differ by from their group's mean, application by application.

        Parameters
        ----------
        outcome : array_like, shape (n,)
            Of the rows, finite.

        Returns
        -------
        ndarray
            A mean for each set of rows with one application, name and group.

        Raises
        ------
        InputError
            If there is not one outcome a row, or one is not finite.
        """
        y = finite_values(outcome, "outcome")
        if y.shape != self._of_row.shape:
            raise InputError(f"{y.size} outcomes of {self._of_row.size} rows; give one a row")
        mean = np.bincount(self._of_row, y - y.mean()) / self._rows
        centred = self._centred(mean)
        return np.asarray(centred - self._fitted(centred))

    def spread(self, residuals: Floats, weights: Floats | None = None) -> NameSpread:
        """Return how much names of one group differ.

        Parameters
        ----------
        residuals : ndarray
            From `residuals`.
        weights : ndarray, shape (n,), optional
            Of the rows in an effect: the names of each group then count as they do in its variance. Without, all names
            are taken to differ alike.

        Raises
        ------
        UndefinedMetricError
            If no name can be told from its group: each group shows one, or each name comes in one application.
        """
        if self._known is None or self._known[0] is not weights:
            self._known = (weights, self._products_of(weights))  # of one design many outcomes are asked
        known = self._known[1]
        w, tau = known.weights, known.tau
        t = np.bincount(self._both, w * residuals)
        summed = np.bincount(self._name, w * residuals, self.names)
        squares = float(np.square(t).sum())
        product = float(np.square(summed).sum()) - squares - self._taken_in(residuals, w, known.groups)
        variance = product / tau
        inside, paired = float(known.inside.sum()), float(known.norms.sum())
        residual = max((squares - max(variance, 0.0) * paired) / max(inside, _NOTHING), 0.0)
        least = max(variance, 0.0)
        covariance = residual * known.own + least * known.moved
        whole = float(np.square(covariance).sum())
        half = whole - float(np.square(residual * known.inside + least * known.norms).sum())
        base = residual * inside / tau
        expected = float(np.trace(covariance))
        return NameSpread(
            variance=variance, residual=residual, half_variance=max(half, 0.0) / tau**2,
            total=max(variance + base, 0.0), base=base, df=expected**2 / whole if whole > 0.0 else 1.0,
            names=self.names,
        )  # fmt: skip

    def _products_of(self, weights: Floats | None) -> _Products:
        w = self._rows if weights is None else self._weighed(weights)
        names, groups = self._in_names, _sums(self._name, self._basis * w[:, None], self.names)
        weighted = csr_matrix((w, (self._cluster, self._name)), (self.units, self.names))
        cross = np.diag(np.bincount(self._name, w, self.names)) - _products(names, groups)
        own = np.diag(np.bincount(self._name, w * w / self._rows, self.names)) - _products(groups, groups)
        if self._within:
            scale = diags(1 / self._sizes)
            cross = cross - (self._table.T @ scale @ weighted).toarray()
            own = own - (weighted.T @ scale @ weighted).toarray()
        inside, norms = self._insides(w)
        tau = float(np.square(cross).sum()) - float(norms.sum())
        if tau <= _NOTHING * float(np.square(np.bincount(self._name, np.abs(w), self.names)).sum()):
            raise UndefinedMetricError("no name can be told from the others of its group, over applications")
        return _Products(
            weights=w, groups=groups, own=own, moved=_products(cross.T, cross.T), inside=inside, norms=norms,
            tau=tau,
        )  # fmt: skip

    def added(self, weights: Floats) -> float:
        """Return what a variance of 1 of names' effects adds to that of an effect, beyond errors by application.

        Parameters
        ----------
        weights : ndarray, shape (n,)
            Of the rows in the effect.
        """
        w = self._weighed(weights)
        by_name, both = np.bincount(self._name, w, self.names), np.bincount(self._both, w)
        whole = float(np.square(by_name).sum())
        found = whole - float(np.square(both).sum())
        return found if abs(found) > _NOTHING * whole else 0.0

    def shrunken(self, residuals: Floats, spread: NameSpread) -> tuple[Floats, Floats]:
        r"""Return each name's effect against its group, shrunk towards 0 (empirical Bayes), and its error.

        The best linear predictor :math:`(Z'RZ + \sigma^2_e/\sigma^2_u I)^{-1} Z'r`, of names whose effects are normal
        with one variance, and rows that vary alike; the variances are taken as known.

        Parameters
        ----------
        residuals : ndarray
            From `residuals`.
        spread : NameSpread
            Of all names alike, from `spread`.

        Raises
        ------
        UndefinedMetricError
            If the variance of names is not above 0: all are then predicted to be alike.

        References
        ----------
        Henderson, C. R. (1975). Best linear unbiased estimation and prediction. Biometrics 31, 423-447.
        """
        if spread.variance <= 0.0:
            raise UndefinedMetricError("names do not differ by more than the rest of the scores does")
        gram = np.diag(np.bincount(self._name, self._rows, self.names)) - _products(
            self._in_names, self._in_names
        )
        if self._within:
            gram = gram - (self._table.T @ diags(1 / self._sizes) @ self._table).toarray()
        ridge = max(spread.residual, _NOTHING * spread.variance) / spread.variance
        inverse = np.linalg.inv(gram + ridge * np.eye(self.names))
        summed = np.bincount(self._name, self._rows * residuals, self.names)
        errors = np.sqrt(np.maximum(spread.variance * ridge * np.diag(inverse), 0.0))
        return np.asarray(np.einsum("ij,j->i", inverse, summed)), errors

    def _weighed(self, weights: Floats) -> Floats:
        return np.bincount(self._of_row, weights, self._rows.size).astype(np.float64, copy=False)

    def _centred(self, values: Floats) -> Floats:
        if not self._within:
            return values
        flat = values if values.ndim == 2 else values[:, None]
        means = _sums(self._cluster, flat * self._rows[:, None], self.units) / self._sizes[:, None]
        return np.asarray((flat - means[self._cluster]).reshape(values.shape))

    def _fitted(self, values: Floats) -> Floats:
        slopes = np.einsum("sj,s->j", self._basis, self._rows * values)
        return np.asarray(np.einsum("sj,j->s", self._basis, slopes))

    def _insides(self, w: Floats) -> tuple[Floats, Floats]:
        """Of each pair of an application and a name: variance that rows leave in it, and that names do."""
        pairs = int(self._both.max()) + 1
        weight = np.bincount(self._both, w, pairs)
        b = _sums(self._both, self._basis * w[:, None], pairs)
        first = np.unique(self._both, return_index=True)[1]
        name, cluster = self._name[first], self._cluster[first]
        inside = np.bincount(self._both, w * w / self._rows, pairs) - np.square(b).sum(axis=1)
        # Z'R z of a pair: its name's place, less its application's mean over names, less what groups take up.
        norms, along = np.square(weight), np.einsum("sj,sj->s", self._in_names[name], b)
        if self._within:
            size = self._sizes[cluster]
            counts = np.bincount(self._both, self._rows, pairs)
            squares = np.bincount(cluster, np.square(counts), self.units)[cluster]
            norms = norms * (1 - 2 * counts / size + squares / size**2)
            whole = _sums(cluster, self._in_names[name] * counts[:, None], self.units)
            along = along - np.einsum("sj,sj->s", whole[cluster], b) / size
            inside = inside - np.square(weight) / size
        core = np.einsum("nj,nk->jk", self._in_names, self._in_names)
        return inside, norms - 2 * weight * along + np.einsum("sj,jk,sk->s", b, core, b)

    def _taken_in(self, residuals: Floats, w: Floats, groups: Floats) -> float:
        """What products of different applications hold without effects of names, as groups' means take in all."""
        b = _sums(self._both, self._basis * w[:, None], int(self._both.max()) + 1)
        first = np.unique(self._both, return_index=True)[1]
        name, cluster = self._name[first], self._cluster[first]
        t = np.bincount(self._both, w * residuals)
        moved = _sums(self._cluster, self._basis * (self._rows * residuals)[:, None], self.units)
        linear = float((t * np.einsum("sj,sj->s", groups[name] - b, moved[cluster])).sum())
        core = np.einsum("nj,nk->jk", groups, groups) - np.einsum("sj,sk->jk", b, b)
        return float(np.einsum("ij,jk,ik->i", moved, core, moved).sum()) - 2 * linear


def two_way(error: float, df: float, spread: NameSpread, added: float) -> TwoWay:
    r"""Add what names add to an error by application.

    .. math:: V = V_a + c \max(\hat\sigma^2_u, 0), \qquad
              \nu = V^2 / (V_a^2 / \nu_a + c^2 \operatorname{Var}(\hat\sigma^2_u) / 2),

    the two-way variance of Cameron, Gelbach and Miller, :math:`V_a + V_n - V_{an}`, whose last two terms are products
    of rows that share a name and no application, without the bias of residuals. They can be negative; V is never below
    the variance by application, whose degrees of freedom are then kept.

    Parameters
    ----------
    error, df : float
        Standard error by application, in the unit of the outcome, and its degrees of freedom.
    spread : NameSpread
        From `NameDesign.spread`.
    added : float
        From `NameDesign.added`.

    References
    ----------
    Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2011). Robust inference with multiway clustering. J. Business &
    Economic Statistics 29, 238-249. Satterthwaite, F. E. (1946). Biometrics 2, 110-114.

    Examples
    --------
    >>> spread = NameSpread(
    ...     variance=0.04, residual=1.0, half_variance=0.0004, total=0.05, base=0.01, df=8, names=10)
    >>> found = two_way(0.1, 299.0, spread, 0.4)
    >>> round(found.standard_error, 3), round(found.df, 1)
    (0.161, 10.5)
    """
    own = error**2
    if spread.variance <= 0.0 or added <= 0.0:
        return TwoWay(standard_error=error, df=df)
    variance = own + added * spread.variance
    return TwoWay(
        standard_error=math.sqrt(variance),
        df=variance**2 / (own**2 / df + added**2 * spread.half_variance),
    )


def _sums(codes: NDArray[Any], values: Floats, count: int) -> Floats:
    """Sum the rows of a table by code."""
    columns = [np.bincount(codes, column, count) for column in values.T]
    return np.column_stack(columns) if columns else np.zeros((count, 0))


def _products(a: Floats, b: Floats) -> Floats:
    """``a @ b.T``, with one order of addition whatever the number of BLAS threads."""
    return np.asarray(np.einsum("ig,jg->ij", a, b), dtype=np.float64)
