"""Effects of what a correspondence experiment varied, and whether they can be told from noise.

Source: Gaebler, Goel, Huq and Tambe, "Auditing the Use of Language Models to Guide Hiring Decisions" (2024),
arXiv:2404.03086. Effects are of assigned attributes; what real applicants with observed demographics are given is a
matter of adverse impact (`audit_lib.measure.thresholds`). The two answer different questions and are kept apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.correspondence import StandardisedEffects, cluster_sums
from audit_lib.measure.inference import Compared, score_unit
from audit_lib.measure.manipulation import agreement_reason
from audit_lib.measure.rows import Rows, compact
from audit_lib.measure.variations import NONE, Varied
from audit_lib.records import CHECK, CONTROL, FORMAT
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.clusters import t_test

WITHIN_NOISE: Final = "within_noise"
"""Flag of an effect no larger than what noise alone gives, by the controls, which change nothing."""

OBSERVED: Final = (
    "effects are of attributes that an experiment assigned, and here they are observed in real people, who differ in "
    "more than the attribute; adverse_impact_ratio is the measure for real applicants"
)

_WITHIN: Final = " and a constant of each application"
_CR1: Final = "clustered errors (CR1)"
_PLACEBO: Final = (CONTROL, FORMAT)


def experiment_only(spec: AuditSpec) -> None:
    """Refuse observed demographics.

    Raises
    ------
    UndefinedMetricError
        If the spec's attributes are not assigned.
    """
    if spec.groups.provenance != "assigned":
        raise UndefinedMetricError(OBSERVED)


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


def noise_floors(rows: Rows, spec: AuditSpec) -> list[Compared]:
    """Estimate what controls and other formats do to the score, in the unit of the effects.

    Each is paired with the ordinary row of the same text: the floor is the mean of the differences over the SD of
    the ordinary scores, its variance that of the applications' mean differences, ``G / (G - 1) sum u_g^2`` with
    ``u_g = sum over g of (d - mean) / n``.
    """
    if rows.varied is None:
        return []
    names = [name for name in rows.varied.names() if name.startswith(_PLACEBO)]
    return [_floor(rows, rows.varied.only(name), spec, name) for name in names]


def noise_limits(rows: Rows, spec: AuditSpec) -> dict[tuple[str, str], float]:
    """Return the size, in points of the score, up to which noise alone moves the effect of each attribute and level.

    The regression of the effects, fitted to ``control - same row``, gives the standard error that noise has there.
    Such a difference has the noise of two answers and the effect that of one, so the limit is
    ``t(applications - 1) * standard error / sqrt(2)``: an effect of nothing but noise exceeds it as often as
    ``measure.level`` leaves. Levels without a control have none. Controls stand beside the ordinary rows only.
    """
    if rows.varied is None or CONTROL not in rows.varied.names():
        return {}
    control = rows.varied.only(CONTROL)
    differences = control.rows.score - control.twin
    known = differences[np.isfinite(differences)]
    same = known.size > 0 and bool(known.min() == known.max())
    limits = {}
    for axis, fitted in _fits(control.rows, differences, spec).items():
        for code, level in enumerate(rows.attributes[axis]):
            if same:
                limits[axis, level] = 0.0
            elif isinstance(fitted.fit, StandardisedEffects) and (axis, code) in fitted.fit:
                error = fitted.fit[axis, code].standard_error
                if not isinstance(error, Undefined):
                    t = t_quantile(spec.measure.level, fitted.fit.degrees_of_freedom)
                    limits[axis, level] = t * error * fitted.fit.outcome_sd / math.sqrt(2)
    return limits


def spread(rows: Rows) -> float:
    """Return the sample SD of the scores of rows with a known attribute: the unit of the effects.

    Raises
    ------
    UndefinedMetricError
        If there are fewer than two scores, or all are equal.
    """
    scores = rows.score[np.isfinite(rows.score) & np.logical_or.reduce(list(_known(rows).values()))]
    if scores.size < 2:
        raise UndefinedMetricError(f"{scores.size} scores: no spread to take as the unit")
    if scores.min() == scores.max():
        raise UndefinedMetricError("all outcomes are equal: the effect has no unit")
    return float(scores.std(ddof=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """A regression; the levels, as places in the spec, of the rows in it; rows that have no level of the attribute."""

    fit: StandardisedEffects | Undefined
    codes: dict[str, NDArray[np.int64]]
    unknown: int


def _of_rows(rows: Rows, spec: AuditSpec, variation: str) -> list[Compared]:
    fits = _fits(rows, rows.score, spec)
    return [
        _estimate(rows, spec, fits[axis], axis, level, variation)
        for axis, levels in rows.attributes.items()
        for level in levels
        if level != spec.groups.reference[axis]
    ]


def _fits(rows: Rows, outcome: NDArray[np.float64], spec: AuditSpec) -> dict[str, _Fitted]:
    """Regress the outcome on all attributes, for each attribute over the rows in which it is known.

    A text that mentions one attribute only (lexicon substitution) has no level of the others: unknown is then a
    level of theirs, so that no row is lost to the attribute that it does show.
    """
    scored, known = np.isfinite(outcome), _known(rows)
    if all(bool(one[scored].all()) for one in known.values()):
        fitted = _fitted(rows, outcome, np.flatnonzero(scored), tuple(known), 0, spec)
        return dict.fromkeys(known, fitted)
    return {
        axis: _fitted(
            rows, outcome, np.flatnonzero(scored & own), (axis,), int((scored & ~own).sum()), spec
        )
        for axis, own in known.items()
    }


def _fitted(
    rows: Rows, outcome: NDArray[np.float64], kept: NDArray[Any], own: tuple[str, ...], unknown: int, spec: AuditSpec
) -> _Fitted:
    factors = {axis: code[kept] for axis, code in _levels(rows).items()}
    clusters = compact((rows.round if score_unit(spec) == "round" else rows.application)[kept] + 1)[0]
    fit: StandardisedEffects | Undefined
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
        fit = cluster_sums(outcome[kept], present, clusters).effects(here, within_applications(spec))
    except UndefinedMetricError as error:
        fit = Undefined(str(error))
    return _Fitted(fit=fit, codes=factors, unknown=unknown)


def _levels(rows: Rows) -> dict[str, NDArray[np.int64]]:
    """Return the place of each row's level in the spec, by attribute; one beyond the last for none."""
    sizes = [len(levels) + 1 for levels in rows.attributes.values()]
    codes = np.unravel_index(rows.profile, sizes)
    return {axis: code.astype(np.int64) for axis, code in zip(rows.attributes, codes, strict=True)}


def _known(rows: Rows) -> dict[str, NDArray[np.bool_]]:
    return {axis: codes < len(rows.attributes[axis]) for axis, codes in _levels(rows).items()}


def _estimate(
    rows: Rows, spec: AuditSpec, fitted: _Fitted, axis: str, level: str, variation: str
) -> Compared:
    reference, levels = spec.groups.reference[axis], rows.attributes[axis]
    fit, codes = fitted.fit, fitted.codes[axis]
    sizes = [int((codes == levels.index(name)).sum()) for name in (level, reference)]
    value: float | Undefined
    error: float | Undefined
    parameters: dict[str, int | float | str] = {
        "variation": variation, "application_effects": int(within_applications(spec)),
        "without_score": int((~np.isfinite(rows.score)).sum()), f"{axis} unknown": fitted.unknown,
    }  # fmt: skip
    clusters = 0
    try:
        if isinstance(fit, Undefined):
            raise UndefinedMetricError(fit.reason)
        effect = fit[axis, levels.index(level)]
        value, error, clusters = effect.estimate + 0.0, effect.standard_error, fit.clusters
        parameters["outcome_sd"] = fit.outcome_sd
    except UndefinedMetricError as undefined:
        value = error = Undefined(str(undefined))
    except KeyError:
        value = error = Undefined(f"nobody with a score has the level {level!r} of {axis}")
    flags = ["small_cell"] if min(sizes) < spec.measure.small_cell else []
    interval, tests = _inference(value, error, clusters, spec.measure.level)
    return Compared(
        metric="standardised_effect",
        value=value,
        interval=interval,
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
    )


def _inference(
    value: float | Undefined, error: float | Undefined, clusters: int, level: float
) -> tuple[Interval | Undefined, tuple[TestResult, ...]]:
    if isinstance(value, Undefined):
        return value, ()
    if isinstance(error, Undefined):
        return error, ()
    half = t_quantile(level, clusters - 1) * error
    interval = Interval(low=value - half, high=value + half, level=level, method=f"{_CR1}, t({clusters - 1})")
    return interval, (t_test(value, error, clusters - 1, clusters, _CR1),)


def _told(one: Compared, rows: Rows, spec: AuditSpec, limits: dict[tuple[str, str], float]) -> Compared:
    """Mark an effect that noise gives, and withhold one of groups that the model does not perceive as meant."""
    ((axis, level),) = one.group.items()
    if (reason := agreement_reason(rows, spec, axis, level)) is not None:
        nothing = Undefined(reason)
        return replace(
            one, value=nothing, interval=nothing, standard_error=nothing, tests=(),
            flags=(*one.flags, "uninterpretable"),
        )  # fmt: skip
    limit, sd = limits.get((axis, level)), one.parameters.get("outcome_sd")
    if limit is None or sd is None or isinstance(one.value, Undefined) or one.parameters["variation"] != NONE:
        return one
    limit /= float(sd)
    flags = (*one.flags, WITHIN_NOISE) if abs(one.value) <= limit else one.flags
    return replace(one, flags=flags, parameters=dict(one.parameters) | {"noise_limit": limit})


def _floor(rows: Rows, varied: Varied, spec: AuditSpec, name: str) -> Compared:
    differences = varied.rows.score - varied.twin
    kept = np.isfinite(differences)
    d = differences[kept]
    clusters, count = compact(varied.rows.application[kept])
    value: float | Undefined
    error: float | Undefined
    parameters: dict[str, int | float | str] = {"variation": name}
    try:
        if d.size == 0:
            raise UndefinedMetricError("no control has a score beside the row that it repeats")
        sd = spread(rows)
        value = float(d.mean()) / sd + 0.0
        parameters |= {
            "mean_absolute_difference": float(np.abs(d).mean()) / sd,
            "unchanged": int((d == 0).sum()),
            "outcome_sd": sd,
        }
        error = _paired_error(d / sd, clusters, count)
    except UndefinedMetricError as undefined:
        value = error = Undefined(str(undefined))
    interval, tests = _inference(value, error, count, spec.measure.level)
    return Compared(
        metric="noise_floor",
        value=value,
        interval=interval,
        standard_error=error,
        n=int(d.size),
        clusters=count,
        method=f"mean difference of {name} and the same text unchanged, per SD of the score; clustered by application",
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=("small_cell",) if d.size < spec.measure.small_cell else (),
        tests=tests,
    )


def _paired_error(d: NDArray[np.float64], clusters: NDArray[np.int32], count: int) -> float | Undefined:
    if count < 2:
        return Undefined(f"{count} application: no variance between applications to measure")
    if d.min() == d.max():
        return Undefined("every control differs alike from the row that it repeats: no spread")
    sums = np.bincount(clusters, (d - d.mean()) / d.size, count)
    variance = count / (count - 1) * float(np.square(sums).sum())
    return math.sqrt(variance) if variance > 1e-24 else Undefined("no spread between applications")
