"""Effects of what a correspondence experiment varied, and whether they can be told from noise.

Source: Gaebler, Goel, Huq and Tambe, "Auditing the Use of Language Models to Guide Hiring Decisions" (2024),
arXiv:2404.03086. Effects are of assigned attributes; what real applicants with observed demographics are given is a
matter of adverse impact (`audit_lib.measure.thresholds`). The two answer different questions and are kept apart.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.correspondence import StandardisedEffects, cluster_sums
from audit_lib.measure.inference import Compared, Unit, score_unit
from audit_lib.measure.manipulation import agreement_reason
from audit_lib.measure.rows import Rows, compact
from audit_lib.measure.variations import NONE, Varied
from audit_lib.records import CHECK, CONTROL, FORMAT
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.clusters import t_test

WITHIN_NOISE: Final = "within_noise"
"""Flag of an effect no larger than what controls, which change nothing, show."""

OBSERVED: Final = (
    "effects are of attributes that an experiment assigned, and here they are observed in real people, who differ in "
    "more than the attribute; adverse_impact_ratio is the measure for real applicants"
)

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


def effects(rows: Rows, spec: AuditSpec) -> list[Compared]:
    """Estimate the main effects of the attributes, in the ordinary rows and in those of each variation.

    Returns
    -------
    list of Compared
        By variation (``none`` first), then in the order of the spec's attributes and levels. A control asks what
        was asked already: its effects would be the same hypothesis again.
    """
    floor = noise_limit(rows, spec)
    found = _of_rows(rows, spec, NONE, floor)
    if rows.varied is not None:
        for name in rows.varied.names():
            if name != CONTROL and not name.startswith(CHECK):
                found += _of_rows(rows.varied.only(name).rows, spec, name, floor)
    doubts = {axis: agreement_reason(rows, spec, axis) for axis in rows.attributes}
    return [_doubted(one, doubts[next(iter(one.group))]) for one in found]


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


def noise_limit(rows: Rows, spec: AuditSpec) -> float | None:
    """Return the size up to which an effect may be noise: the control's farthest limit; None without controls.

    A format may move all groups alike, which is no noise in a difference between them: its effects stand in the table.
    """
    limits = []
    for one in noise_floors(rows, spec):
        if isinstance(one.value, Undefined) or one.parameters["variation"] != CONTROL:
            continue
        ends = [one.value] if isinstance(one.interval, Undefined) else [one.interval.low, one.interval.high]
        limits.append(max(map(abs, ends)))
    return max(limits, default=None)


def spread(rows: Rows) -> float:
    """Return the sample SD of the scores of known groups: the unit of the effects.

    Raises
    ------
    UndefinedMetricError
        If there are fewer than two scores, or all are equal.
    """
    scores = rows.score[np.isfinite(rows.score) & rows.known()]
    if scores.size < 2:
        raise UndefinedMetricError(f"{scores.size} scores: no spread to take as the unit")
    if scores.min() == scores.max():
        raise UndefinedMetricError("all outcomes are equal: the effect has no unit")
    return float(scores.std(ddof=1))


def _of_rows(rows: Rows, spec: AuditSpec, variation: str, floor: float | None) -> list[Compared]:
    kept = np.flatnonzero(np.isfinite(rows.score) & rows.known())
    factors = _levels(rows, kept)
    unit = score_unit(spec)
    clusters = compact((rows.round if unit == "round" else rows.application)[kept] + 1)[0]
    references = {axis: levels.index(spec.groups.reference[axis]) for axis, levels in rows.attributes.items()}
    fit: StandardisedEffects | Undefined
    try:
        if kept.size == 0:
            raise UndefinedMetricError("no score of a known group")
        # A level of the spec that no row has here is not compared; the others are.
        present = {axis: codes for axis, codes in factors.items() if np.unique(codes).size > 1}
        if not present:
            raise UndefinedMetricError("no attribute has two levels here")
        here = {axis: references[axis] for axis in present}
        if absent := next((a for a, code in here.items() if not (present[a] == code).any()), None):
            raise UndefinedMetricError(f"nobody with a score has the reference level of {absent}")
        sums = cluster_sums(rows.score[kept], present, clusters)
        fit = sums.effects(here, spec.measure.application_effects)
    except UndefinedMetricError as error:
        fit = Undefined(str(error))
    return [
        _estimate(rows, spec, unit, fit, axis, levels, level, factors[axis], variation, floor)
        for axis, levels in rows.attributes.items()
        for level in levels
        if level != spec.groups.reference[axis]
    ]


def _levels(rows: Rows, kept: NDArray[Any]) -> dict[str, NDArray[np.int64]]:
    """Return the place of each row's level in the spec, by attribute."""
    sizes = [len(levels) + 1 for levels in rows.attributes.values()]
    codes = np.unravel_index(rows.profile[kept], sizes)
    return {axis: code.astype(np.int64) for axis, code in zip(rows.attributes, codes, strict=True)}


def _estimate(
    rows: Rows,
    spec: AuditSpec,
    unit: Unit,
    fit: StandardisedEffects | Undefined,
    axis: str,
    levels: tuple[str, ...],
    level: str,
    codes: NDArray[np.int64],
    variation: str,
    floor: float | None,
) -> Compared:
    reference = spec.groups.reference[axis]
    sizes = [int((codes == levels.index(name)).sum()) for name in (level, reference)]
    value: float | Undefined
    error: float | Undefined
    parameters: dict[str, int | float | str] = {
        "variation": variation, "application_effects": int(spec.measure.application_effects),
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
    if floor is not None and not isinstance(value, Undefined) and abs(value) <= floor:
        flags.append(WITHIN_NOISE)
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
        method=f"least squares on main effects, per SD of the score; clustered by {unit}",
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


def _doubted(one: Compared, reason: str | None) -> Compared:
    """Withhold an effect of an attribute that the model does not perceive as it was meant."""
    if reason is None:
        return one
    nothing = Undefined(reason)
    fields: dict[str, Any] = {name: getattr(one, name) for name in one.__dataclass_fields__}
    fields |= {"value": nothing, "interval": nothing, "standard_error": nothing, "tests": ()}
    fields["flags"] = (*(flag for flag in one.flags if flag != WITHIN_NOISE), "uninterpretable")
    return Compared(**fields)


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
