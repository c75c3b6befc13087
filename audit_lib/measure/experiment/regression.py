"""The regression of scores on what an experiment assigned, over the rows of an audit.

Errors are clustered on the application (CR1, t of applications minus one), as in the paper, where a level and its
reference stand in many applications. Where they stand in few, or a few hold most of their rows, and the design
leaves fewer degrees of freedom, they are CR2 with Satterthwaite's. The estimate is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.sides import score_unit
from audit_lib.metrics.correspondence import standardised_effects
from audit_lib.metrics.effects import StandardisedEffects
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.cluster_worth import worth_of
from audit_lib.stats.clusters import t_test
from audit_lib.stats.few_clusters import Coefficient, least_squares_cr2

FEW: Final = 30
"""What the applications with a level are worth, below which t of applications minus one may reject too often
(``docs/coverage.md``); their number, where each has the level in as many versions."""

_ROUNDING: Final = 1e-6  # of degrees of freedom


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelEffect:
    """Effect of a level against the reference, in standard deviations of the score.

    Parameters
    ----------
    value : float
        The estimate.
    standard_error : float or Undefined
        Of it.
    df : float
        Degrees of freedom of the t quantile that goes with it.
    method : str
        Where the standard error comes from.
    outcome_sd : float
        What a standard deviation is, in points of the score.
    clusters : int
        Of the regression.
    """

    value: float
    standard_error: float | Undefined
    df: float
    method: str
    outcome_sd: float
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Regressed:
    """What went into a regression.

    Parameters
    ----------
    outcome : ndarray of float
        Of the rows in it.
    factors : mapping of str to ndarray
        Levels of these rows, by attribute.
    references : mapping of str to int
        The reference level of each.
    clusters, units : ndarray of int
        Cluster of each row, 0, 1, ...; and of each cluster its code in the rows' column, -1 for no round.
    constants : bool
        Whether each cluster has a constant of its own.
    rows : ndarray of int
        Where each row stands among those of the stratum.
    """

    outcome: NDArray[np.float64]
    factors: Mapping[str, NDArray[np.int64]]
    references: Mapping[str, int]
    clusters: NDArray[np.int32]
    units: NDArray[np.int64]
    constants: bool
    rows: NDArray[Any]

    @property
    def names(self) -> list[tuple[str, int]]:
        """Attribute and level of each effect."""
        return [
            (axis, code)
            for axis, codes in self.factors.items()
            for code in np.unique(codes).tolist()
            if code != self.references[axis]
        ]

    def weights(self, axis: str, code: int) -> NDArray[np.float64]:
        """Return what each row's outcome is multiplied by in the effect of a level, which is their sum."""
        columns = [np.asarray(self.factors[a] == c, dtype=np.float64) for a, c in self.names]
        design = np.column_stack(columns + [np.ones(self.outcome.size)] * (not self.constants))
        if self.constants:
            design = self._within(design)
        # One order of addition, whatever the number of BLAS threads.
        inverse = np.linalg.pinv(np.einsum("ni,nj->ij", design, design))
        return np.asarray(np.einsum("ni,i->n", design, inverse[self.names.index((axis, code))]))

    def influence(self, axis: str, code: int) -> NDArray[np.float64]:
        """Return how far each cluster moves the effect of a level, in the unit of the outcome."""
        columns = [np.asarray(self.factors[a] == c, dtype=np.float64) for a, c in self.names]
        design = np.column_stack(columns + [np.ones(self.outcome.size)] * (not self.constants))
        outcome = self.outcome
        if self.constants:
            design, outcome = self._within(design), self._within(outcome[:, None])[:, 0]
        inverse = np.linalg.pinv(design.T @ design)
        residual = outcome - design @ (inverse @ (design.T @ outcome))
        moved = (design @ inverse[self.names.index((axis, code))]) * residual
        return np.bincount(self.clusters, moved, self.units.size).astype(np.float64, copy=False)

    def _within(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sizes = np.bincount(self.clusters, minlength=self.units.size)
        means = [np.bincount(self.clusters, one, self.units.size) / sizes for one in values.T]
        return np.asarray(values - np.column_stack(means)[self.clusters])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A regression.

    Parameters
    ----------
    fit : StandardisedEffects or Undefined
        Levels are places in the spec.
    levels : mapping of str to tuple of str
        The spec's.
    codes : dict of str to ndarray
        Levels of the rows in it, as places in the spec.
    unknown : int
        Scored rows left out, which have no level of the attribute.
    few : mapping of (str, int) to Coefficient
        In the unit of the score: of the levels that stand, or whose reference stands, in clusters worth fewer than
        `FEW`, if the design leaves fewer degrees of freedom than clusters minus one.
    regressed : Regressed or None
        What went into it; None where it could not be fitted.
    """

    fit: StandardisedEffects | Undefined
    levels: Mapping[str, tuple[str, ...]]
    codes: dict[str, NDArray[np.int64]]
    unknown: int
    few: Mapping[tuple[str, int], Coefficient]
    regressed: Regressed | None = None

    def effect(self, axis: str, code: int) -> LevelEffect:
        """Return the effect of a level.

        Raises
        ------
        UndefinedMetricError
            If the regression could not be fitted, or nobody with a score has the level.
        """
        if isinstance(self.fit, Undefined):
            raise UndefinedMetricError(self.fit.reason)
        if (axis, code) not in self.fit:
            raise UndefinedMetricError(
                f"nobody with a score has the level {self.levels[axis][code]!r} of {axis}"
            )
        found, few = self.fit[axis, code], self.few.get((axis, code))
        error, df, method = found.standard_error, float(self.fit.degrees_of_freedom), "CR1"
        if few is not None and not isinstance(error, Undefined):
            error, df, method = few.standard_error, few.df, "CR2"
            if not isinstance(error, Undefined):
                error /= self.fit.outcome_sd
        return LevelEffect(
            value=found.estimate + 0.0,
            standard_error=error,
            df=df,
            method=f"clustered errors ({method})",
            outcome_sd=self.fit.outcome_sd,
            clusters=self.fit.clusters,
        )


def within_applications(spec: AuditSpec) -> bool:
    """Tell whether each application has a constant of its own: as the spec says, else where the design deals blocks.

    The paper shows every application in all versions: its estimate with one constant for all is then the same as
    within applications, and so are its errors. In a block an application comes in some groups only, and without
    constants of their own the applications' merits would stand in the estimate as noise.
    """
    if spec.measure.application_effects is not None:
        return spec.measure.application_effects
    blocks = spec.perturb is not None and spec.perturb.design == "balanced_incomplete"
    return blocks and score_unit(spec) == "application"


def regressions(rows: Rows, outcome: NDArray[np.float64], spec: AuditSpec) -> dict[str, Fitted]:
    """Regress the outcome on all attributes, for each attribute over the rows in which it is known.

    A text that mentions one attribute only (lexicon substitution) has no level of the others: unknown is then a
    level of theirs, so that no row is lost to the attribute that it does show.
    """
    scored, known = np.isfinite(outcome), known_levels(rows)
    if all(bool(one[scored].all()) for one in known.values()):
        fitted = _fitted(rows, outcome, np.flatnonzero(scored), tuple(known), 0, spec)
        return dict.fromkeys(known, fitted)
    return {
        axis: _fitted(rows, outcome, np.flatnonzero(scored & own), (axis,), int((scored & ~own).sum()), spec)
        for axis, own in known.items()
    }


def inferred(
    value: float | Undefined, error: float | Undefined, df: float, level: float, method: str, n: int
) -> tuple[Interval | Undefined, tuple[TestResult, ...]]:
    """Return the t interval, and the t test of 0, of an estimate over `n` applications; or why there is none."""
    if isinstance(value, Undefined):
        return value, ()
    if isinstance(error, Undefined):
        return error, ()
    half = t_quantile(level, df) * error
    interval = Interval(low=value - half, high=value + half, level=level, method=f"{method}, t({df:.4g})")
    return interval, (t_test(value, error, df, n, method),)


def known_levels(rows: Rows) -> dict[str, NDArray[np.bool_]]:
    """Return which rows have a level, by attribute."""
    return {axis: codes < len(rows.attributes[axis]) for axis, codes in _levels(rows).items()}


def _fitted(
    rows: Rows,
    outcome: NDArray[np.float64],
    kept: NDArray[Any],
    own: tuple[str, ...],
    unknown: int,
    spec: AuditSpec,
) -> Fitted:
    factors = {axis: code[kept] for axis, code in _levels(rows).items()}
    units = (rows.round if score_unit(spec) == "round" else rows.application)[kept]
    clusters = compact(units + 1)[0]
    regressed: Regressed | None = None
    fit: StandardisedEffects | Undefined
    few: Mapping[tuple[str, int], Coefficient] = {}
    try:
        if kept.size == 0:
            raise UndefinedMetricError("no score of a known group")
        # A level of the spec that no row has here is not compared; the others are.
        present = {axis: codes for axis, codes in factors.items() if np.unique(codes).size > 1}
        if not present:
            raise UndefinedMetricError("no attribute has two levels here")
        here = {}
        for axis, codes in present.items():
            reference = rows.attributes[axis].index(spec.groups.reference[axis])
            if (codes == reference).any():
                here[axis] = reference
            elif axis in own:
                raise UndefinedMetricError(f"nobody with a score has the reference level of {axis}")
            else:
                here[axis] = int(codes.min())
        constants = within_applications(spec)
        fit = standardised_effects(outcome[kept], present, clusters, here, constants)
        regressed = Regressed(
            outcome=outcome[kept], factors=present, references=here, clusters=clusters,
            units=np.unique(units), constants=constants, rows=kept,
        )  # fmt: skip
        few = _of_few(regressed)
    except UndefinedMetricError as error:
        fit = Undefined(str(error))
    return Fitted(
        fit=fit, levels=rows.attributes, codes=factors, unknown=unknown, few=few, regressed=regressed
    )


def _of_few(regressed: Regressed) -> dict[tuple[str, int], Coefficient]:
    """Return the coefficients of levels of which, or of whose reference, there are few clusters."""
    names, outcome, factors = regressed.names, regressed.outcome, regressed.factors
    references, clusters, constants = regressed.references, regressed.clusters, regressed.constants

    def standing(axis: str, code: int) -> float:
        rows = np.bincount(clusters[factors[axis] == code])
        return worth_of(rows / rows.sum())

    low = [
        one for one in names if min(standing(*one), standing(one[0], references[one[0]])) < FEW - _ROUNDING
    ]
    if not low:
        return {}
    design = np.column_stack(
        [factors[axis] == code for axis, code in names] + [np.ones(outcome.size)] * (not constants)
    )
    found = dict(zip(names, least_squares_cr2(design, outcome, clusters, constants=constants), strict=False))
    # Where every application comes in all versions, clusters minus one is right, and so is CR1.
    enough = float(np.unique(clusters).size - 1) - _ROUNDING
    return {name: found[name] for name in low if found[name].df < enough}


def _levels(rows: Rows) -> dict[str, NDArray[np.int64]]:
    """Return the place of each row's level in the spec, by attribute; one beyond the last for none."""
    sizes = [len(levels) + 1 for levels in rows.attributes.values()]
    codes = np.unravel_index(rows.profile, sizes)
    return {axis: code.astype(np.int64) for axis, code in zip(rows.attributes, codes, strict=True)}
