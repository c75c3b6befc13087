"""Effects for the names that were shown, and for other names like them.

A name that signals a group has an effect of its own, which all applications share that show it: errors clustered by
application hold for these names, however many applications there are. What is claimed of a group is claimed of other
names too, so findings rest on errors that allow for both. Where the names of a group or its reference are worth fewer
than `FEW_NAMES`, one variance is estimated for the names of all groups (crossed effects); else each name counts by its
own products of residuals (two-way clustering).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from audit_lib.documents.effects import NameEffect, NamesExplained
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.regression import LevelEffect, Regressed, regressions
from audit_lib.measure.rows.scored import Rows
from audit_lib.plan.names import FEW_NAMES, LEAST_NAMES
from audit_lib.records import SHOWN_NAME
from audit_lib.results import Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import z_quantile
from audit_lib.stats.cluster_worth import worth_of
from audit_lib.stats.crossed import NameDesign, NameSpread, two_way
from audit_lib.translation import mark

NOT_TOLD: Final = mark(
    "too few names of a group were shown, or each in too few applications, to tell names from groups: whether other "
    "names would fare alike is not known. The interval for these names is next to it"
)


UNEVEN: Final = mark(
    "one name of a group is shown so much more often than the others that it decides: whether other names would fare "
    "alike is not known. The interval for these names is next to it"
)
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNames:
    """Error of an effect that holds for other names like those that were shown.

    Parameters
    ----------
    standard_error : float or Undefined
        In standard deviations of the score.
    df : float
        Degrees of freedom of the t quantile that goes with it.
    method : str
        Where the standard error comes from.
    names_group, names_reference : int
        Names that were shown, a side.
    """

    standard_error: float | Undefined
    df: float
    method: str
    names_group: int
    names_reference: int


class ShownNames:
    """The names in a regression.

    Parameters
    ----------
    rows : Rows
        Of the stratum.
    regressed : Regressed
        What went into the regression.
    """

    def __init__(self, rows: Rows, regressed: Regressed) -> None:
        self.regressed = regressed
        self.codes = rows.columns[SHOWN_NAME].codes[regressed.rows]
        self.cells = rows.profile[regressed.rows].astype(np.int32)

    @cached_property
    def design(self) -> NameDesign:
        """Which rows share a name, and which an application."""
        clusters = self.regressed.clusters
        met = np.unique(np.column_stack([clusters, self.cells]), axis=0)[:, 0]
        several = np.bincount(met) > 1
        # The constant of an application that comes in one group only would take up what its name does.
        within = 2 * int(several.sum()) > several.size
        return NameDesign(self.codes, self.cells, clusters, within=within)

    @cached_property
    def residuals(self) -> np.ndarray:
        """What rows differ by from their group, application by application."""
        return self.design.residuals(self.regressed.outcome)

    @cached_property
    def spread(self) -> NameSpread | Undefined:
        """How much names of one group differ, those of all groups alike."""
        return _or_reason(lambda: self.design.spread(self.residuals))

    def other_names(self, axis: str, code: int, found: LevelEffect) -> OtherNames:
        """Return the error of an effect that holds for other names too."""
        levels, reference = self.regressed.factors[axis], self.regressed.references[axis]
        shown = [np.unique(self.codes[levels == one], return_counts=True)[1] for one in (code, reference)]
        counts = {"names_group": int(shown[0].size), "names_reference": int(shown[1].size)}
        error = found.standard_error
        if isinstance(error, Undefined):
            return OtherNames(standard_error=error, df=found.df, method=found.method, **counts)
        weights = self.regressed.weights(axis, code)
        added = self.design.added(weights)
        if added <= 0.0:
            # Each name in one application: errors by application hold for other names too.
            return OtherNames(standard_error=error, df=found.df, method=found.method, **counts)
        worth = min(worth_of(rows / rows.sum()) for rows in shown) + _ROUNDING
        few = worth < FEW_NAMES
        own = self.spread if few else _or_reason(lambda: self.design.spread(self.residuals, weights))
        if isinstance(own, Undefined) and not few:
            few, own = True, self.spread
        how = f"{found.method} and names ({'crossed effects' if few else 'two-way'})"
        if worth < LEAST_NAMES or isinstance(own, Undefined):
            uneven = worth < LEAST_NAMES and min(rows.size for rows in shown) > 1
            nothing = Undefined(UNEVEN if uneven else NOT_TOLD)
            return OtherNames(standard_error=nothing, df=0.0, method=how, **counts)
        both = two_way(error * found.outcome_sd, found.df, own, added)
        return OtherNames(
            standard_error=both.standard_error / found.outcome_sd, df=both.df, method=how, **counts
        )


def names_explained(rows: Rows, spec: AuditSpec) -> NamesExplained | Undefined | None:
    """Return how much the names of one group differ, and each name; None where names are no part of the design."""
    if SHOWN_NAME not in rows.columns or spec.groups.provenance != "assigned" or rows.decisions_only:
        return None
    fitted = next(iter(regressions(rows, rows.score, spec).values()))
    if isinstance(fitted.fit, Undefined):
        return fitted.fit
    shown = shown_names(rows, fitted.regressed)
    if shown is None:
        return None
    spread, sd, level = shown.spread, fitted.fit.outcome_sd, spec.measure.level
    if isinstance(spread, Undefined):
        return spread
    low, high = (limit / sd for limit in spread.sd_interval(level))
    share = max(spread.variance, 0.0) / sd**2
    how = f"chi-squared({spread.df:.4g})"
    rest = max(1.0 - share, 0.0)  # what names do not explain, taken as known: a share stays below 1
    shares = [limit**2 / (limit**2 + rest) if limit else 0.0 for limit in (low, high)]
    return NamesExplained(
        names=spread.names,
        applications=fitted.fit.clusters,
        n=int(shown.codes.size),
        sd=share**0.5,
        sd_interval=Interval(low=low, high=high, level=level, method=how),
        share_of_variance=share,
        share_interval=Interval(low=shares[0], high=shares[1], level=level, method=how),
        method="products of residuals of rows with one name and different applications; names by normal shrinkage",
        effects=_effects(rows, shown, spread, sd, level),
    )


def _effects(
    rows: Rows, shown: ShownNames, spread: NameSpread, sd: float, level: float
) -> tuple[NameEffect, ...] | Undefined:
    try:
        values, errors = shown.design.shrunken(shown.residuals, spread)
    except UndefinedMetricError as undefined:
        return Undefined(str(undefined))
    z, labels = z_quantile(level), rows.columns[SHOWN_NAME].labels
    axes = {axis: rows.columns[axis] for axis in rows.attributes}
    found = []
    for number, code in enumerate(np.unique(shown.codes).tolist()):
        own = np.flatnonzero(shown.codes == code)
        kept = shown.regressed.rows[own]
        levels = {axis: np.unique(column.codes[kept]) for axis, column in axes.items()}
        value, error = float(values[number]) / sd, float(errors[number]) / sd
        found.append(
            NameEffect(
                name=labels[code],
                # A name may come in several groups that it does not tell apart.
                group={axis: axes[axis].labels[one[0]] for axis, one in levels.items() if one.size == 1},
                n=int(own.size),
                applications=int(np.unique(shown.regressed.clusters[own]).size),
                value=value,
                standard_error=error,
                interval=Interval(
                    low=value - z * error, high=value + z * error, level=level, method="posterior, normal"
                ),
            )
        )
    return tuple(found)


def shown_names(rows: Rows, regressed: Regressed | None) -> ShownNames | None:
    """Return the names in a regression; None where it could not be fitted, or not every row shows a name."""
    if regressed is None or SHOWN_NAME not in rows.columns:
        return None
    found = ShownNames(rows, regressed)
    return None if (found.codes < 0).any() else found


def _or_reason(work: Callable[[], NameSpread]) -> NameSpread | Undefined:
    try:
        return work()
    except UndefinedMetricError as error:
        return Undefined(str(error))
