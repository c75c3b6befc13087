"""Effects of what a correspondence experiment varied, and whether they can be told from noise.

Source: Gaebler, Goel, Huq and Tambe, "Auditing the Use of Language Models to Guide Hiring Decisions" (2024),
arXiv:2404.03086. Effects are of assigned attributes; what real applicants with observed demographics are given is a
matter of adverse impact (`audit_lib.measure.statutory.thresholds`): another question.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.manipulation import agreement_reason, differs
from audit_lib.measure.experiment.names import OtherNames, ShownNames, shown_names
from audit_lib.measure.experiment.regression import (
    Fitted,
    LevelEffect,
    Regressed,
    inferred,
    regressions,
    within_applications,
)
from audit_lib.measure.inference import Compared
from audit_lib.measure.influence import Influence, is_kept, keep
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.variations import NONE
from audit_lib.measure.sides import score_unit
from audit_lib.records import CHECK, CONTROL
from audit_lib.results import Interval, TheseNames, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import t_quantile

WITHIN_NOISE: Final = "within_noise"
"""Flag of an effect no larger than what noise alone gives, by the controls, which change nothing."""

OBSERVED: Final = (
    "effects are of attributes that an experiment assigned, and here they are observed in real people, who differ in "
    "more than the attribute; adverse_impact_ratio is the measure for real applicants"
)

_WITHIN: Final = " and a constant of each application"


def experiment_only(spec: AuditSpec) -> None:
    """Refuse observed demographics.

    Raises
    ------
    UndefinedMetricError
        If the spec's attributes are not assigned.
    """
    if spec.groups.provenance != "assigned":
        raise UndefinedMetricError(OBSERVED)


def effects(rows: Rows, spec: AuditSpec) -> list[Compared]:
    """Estimate the main effects of the attributes, in the ordinary rows and in those of each variation.

    Returns
    -------
    list of Compared
        By variation (``none`` first), then in the order of the spec's attributes and levels. A control asks what
        was asked already: its effects would be the same hypothesis again.
    """
    found = _of_rows(rows, spec, NONE)
    if rows.varied is not None:
        for name in rows.varied.names():
            if name != CONTROL and not name.startswith(CHECK):
                found += _of_rows(rows.varied.only(name).rows, spec, name)
    limits = noise_limits(rows, spec)
    return [_told(one, rows, spec, limits) for one in found]


def noise_limits(rows: Rows, spec: AuditSpec) -> dict[tuple[str, str], float]:
    """Return the size, in points of the score, up to which noise alone moves the effect of each attribute and level.

    The regression of the effects, fitted to ``control - same row``, gives the standard error that noise has there.
    Such a difference has the noise of two answers and the effect that of one, so the limit is
    ``t * standard error / sqrt(2)``: an effect of nothing but noise exceeds it as often as
    ``measure.level`` leaves. Levels without a control have none. Controls stand beside the ordinary rows only.
    """
    if rows.varied is None or CONTROL not in rows.varied.names():
        return {}
    control = rows.varied.only(CONTROL)
    differences = control.rows.score - control.twin
    known = differences[np.isfinite(differences)]
    same = known.size > 0 and bool(known.min() == known.max())
    limits = {}
    for axis, fitted in regressions(control.rows, differences, spec).items():
        for code, level in enumerate(rows.attributes[axis]):
            if same:
                limits[axis, level] = 0.0
                continue
            try:
                found = fitted.effect(axis, code)
            except UndefinedMetricError:
                continue
            if not isinstance(found.standard_error, Undefined):
                t = t_quantile(spec.measure.level, found.df)
                limits[axis, level] = t * found.standard_error * found.outcome_sd / math.sqrt(2)
    return limits


def _of_rows(rows: Rows, spec: AuditSpec, variation: str) -> list[Compared]:
    fits = regressions(rows, rows.score, spec)
    # Where every attribute is known of every row, all have one fit.
    shown = {id(fitted): shown_names(rows, fitted.regressed) for fitted in fits.values()}
    return [
        _estimate(rows, spec, _Fit(fits[axis], shown[id(fits[axis])]), axis, level, variation)
        for axis, levels in rows.attributes.items()
        for level in levels
        if level != spec.groups.reference[axis]
    ]


class _Fit(NamedTuple):
    """A regression, and the names in it where they are part of the design."""

    fitted: Fitted
    shown: ShownNames | None


def _estimate(rows: Rows, spec: AuditSpec, fit: _Fit, axis: str, level: str, variation: str) -> Compared:
    fitted, shown = fit
    reference, levels = spec.groups.reference[axis], rows.attributes[axis]
    codes = fitted.codes[axis]
    sizes = [int((codes == levels.index(name)).sum()) for name in (level, reference)]
    value: float | Undefined
    error: float | Undefined
    parameters: dict[str, int | float | str] = {
        "variation": variation, "application_effects": int(within_applications(spec)),
        "without_score": int((~np.isfinite(rows.score)).sum()), f"{axis} unknown": fitted.unknown,
    }  # fmt: skip
    clusters, df, how = 0, 0.0, ""
    these = None
    try:
        found = fitted.effect(axis, levels.index(level))
        value, error, df, how, clusters = (
            found.value, found.standard_error, found.df, found.method, found.clusters
        )  # fmt: skip
        parameters["outcome_sd"] = found.outcome_sd
        if shown is not None:
            other = shown.other_names(axis, levels.index(level), found)
            these = _these(found, other, spec.measure.level)
            error, df, how = other.standard_error, other.df, other.method
        if not isinstance(error, Undefined):
            parameters["degrees_of_freedom"] = round(df, 6)
    except UndefinedMetricError as undefined:
        value = error = Undefined(str(undefined))
    flags = ["small_cell"] if min(sizes) < spec.measure.small_cell else []
    interval, tests = inferred(value, error, df, spec.measure.level, how, clusters)
    inside = spec.measure.inner_level
    inner = None if inside is None else inferred(value, error, df, inside, how, clusters)[0]
    estimated = Compared(
        metric="standardised_effect",
        value=value,
        interval=interval,
        intervals=(inner,) if isinstance(inner, Interval) else (),
        standard_error=error,
        n=int(codes.size),
        n_group=sizes[0],
        n_reference=sizes[1],
        clusters=clusters,
        method=f"least squares on main effects{_WITHIN if within_applications(spec) else ''}, per SD of the score; "
        f"clustered by {score_unit(spec)}",
        group={axis: level},
        reference={axis: reference},
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=tuple(flags),
        tests=tests,
        these_names=these,
    )
    if fitted.regressed is not None and estimated.is_defined and is_kept():
        _keep_influence(estimated, fitted.regressed, rows, spec, (axis, levels.index(level)))
    return estimated


def _these(found: LevelEffect, other: OtherNames, level: float) -> TheseNames:
    """Return the effect with the names that were shown taken as fixed."""
    interval, tests = inferred(
        found.value, found.standard_error, found.df, level, found.method, found.clusters
    )
    return TheseNames(
        names_group=other.names_group,
        names_reference=other.names_reference,
        standard_error=found.standard_error,
        interval=interval,
        test=next(iter(tests), None),
    )


def _keep_influence(
    one: Compared, regressed: Regressed, rows: Rows, spec: AuditSpec, effect: tuple[str, int]
) -> None:
    unit = score_unit(spec)
    column = rows.columns["round_id" if unit == "round" else "application_id"]
    labels = np.asarray([*column.labels, ""], dtype=object)
    sums = regressed.influence(*effect) / float(one.parameters["outcome_sd"])
    # What a cluster pulls the effect by is its part of the squares of what outcomes are multiplied by; none is absent.
    pulls = np.bincount(regressed.clusters, np.square(regressed.weights(*effect)), sums.size)
    pulls = np.maximum(pulls, 1e-12 * pulls.max())
    # A regression has no two sides: all of it is handed on as the group's.
    keep(
        Influence(
            estimate=one, unit=unit, names=labels[regressed.units], group=sums, reference=np.zeros(sums.size),
            group_rows=pulls, reference_rows=pulls,
        )
    )  # fmt: skip


def _told(one: Compared, rows: Rows, spec: AuditSpec, limits: dict[tuple[str, str], float]) -> Compared:
    """Mark an effect that noise gives, and a null of groups that the model does not perceive as meant.

    Every effect keeps its numbers: to print only those that leave 0 out would be a selection. Groups that the model
    treats differently it tells apart, whatever it says when asked.
    """
    ((axis, level),) = one.group.items()
    if (reason := agreement_reason(rows, spec, axis, level)) is not None:
        null = not differs(one.interval, 0.0)
        mark = "uninterpretable" if null else "unperceived"
        one = replace(one, flags=(*one.flags, mark), remark=reason if null else None)
    limit, sd = limits.get((axis, level)), one.parameters.get("outcome_sd")
    # Without a standard error nothing says what else the effect could be: it is no evidence of noise either.
    if isinstance(one.value, Undefined) or isinstance(one.standard_error, Undefined):
        return one
    if limit is None or sd is None or one.parameters["variation"] != NONE:
        return one
    limit /= float(sd)
    flags = (*one.flags, WITHIN_NOISE) if abs(one.value) <= limit else one.flags
    return replace(one, flags=flags, parameters=dict(one.parameters) | {"noise_limit": limit})
