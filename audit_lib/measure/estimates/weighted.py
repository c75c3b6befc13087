"""Gaps by sampling weights: weighted rates, their ratio and difference, with variances by clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import Contrast, compare
from audit_lib.measure.sides import Side, Variable
from audit_lib.results import Estimate, Interval, Undefined, Weighted, WeightedRate
from audit_lib.spec import AuditSpec
from audit_lib.stats.cells import pair_reason
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.two_sided import variance_of_sums
from audit_lib.stats.weighted import (
    kish_effective_size,
    linearised_mean,
    log_ratio_interval,
    logit_rate_interval,
)

Floats = NDArray[np.float64]


def weighted_gaps(
    name: str,
    variable: Variable,
    spec: AuditSpec,
    *,
    method: str,
    rates: bool,
    parameters: Mapping[str, int | float | str] | None = None,
    reason: str | None = None,
) -> list[Estimate]:
    """Compare every group with its reference by means weighted with `Rows.weights`.

    Parameters
    ----------
    name : str
        The metric.
    variable : Variable
        What is compared.
    method : str
        How the value is computed, in words.
    rates : bool
        Whether values are 1 or 0, so that each side has a rate and the two a ratio.
    parameters : mapping, optional
        As of `compare`.
    reason : str, optional
        Why the metric exists for no group.
    """
    weights = variable.rows.weights
    assert weights is not None  # callers ask for weights only where there are some
    known = weights if variable.kept is None else weights[variable.kept]

    def of(side: Side) -> Floats:
        return np.concatenate([known[:0], *(known[one] for one in side.slices)])

    def gap(group: Side, reference: Side, level: float) -> Contrast:
        return _gap(group, reference, (of(group), of(reference)), level, rates=rates)

    found = compare(name, variable, spec, gap, method=method, parameters=parameters, reason=reason)
    told: list[Estimate] = []
    for one in found:
        sides = variable.side(one.group), variable.side(one.reference)
        by = of(sides[0]), of(sides[1])
        told.append(replace(one, weighted=_weighted(sides, by, spec.measure.level, rates=rates)))
    return told


def _gap(
    group: Side, reference: Side, weights: tuple[Floats, Floats], level: float, *, rates: bool
) -> Contrast:
    if (reason := pair_reason(group.values.size, reference.values.size)) is not None:
        raise UndefinedMetricError(reason)
    (ours, a), (theirs, b) = (
        linearised_mean(side.values.astype(np.float64), own)
        for side, own in zip((group, reference), weights, strict=True)
    )
    value, sums = ours - theirs, (group.sums(a), -reference.sums(b))
    try:
        for side in (group, reference):
            if rates and side.values.min() == side.values.max():
                raise UndefinedMetricError(
                    "everybody or nobody of a side is selected: weights leave no spread to estimate"
                )
        found = variance_of_sums(
            *sums, *(side.sums(own) for side, own in zip((group, reference), weights, strict=True))
        )
        interval = difference_interval(value, found, level)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        return Contrast(value=value, interval=nothing, test=nothing, standard_error=nothing, sums=sums)
    deviation = math.sqrt(found.variance)
    interval = replace(interval, method=f"linearised values by cluster, t({found.df:.4g})")
    test = t_test(value, deviation, found.df, found.clusters, "linearised values by cluster")
    return Contrast(value=value, interval=interval, test=test, standard_error=deviation, sums=sums)


def _weighted(
    sides: tuple[Side, Side], weights: tuple[Floats, Floats], level: float, *, rates: bool
) -> Weighted:
    sizes = [kish_effective_size(own) for own in weights]
    if not rates or not all(own.size for own in weights):
        return Weighted(effective_group=sizes[0], effective_reference=sizes[1])
    means, sums, totals = [], [], []
    for side, own in zip(sides, weights, strict=True):
        mean, influence = linearised_mean(side.values.astype(np.float64), own)
        means.append(mean)
        sums.append(side.sums(influence))
        totals.append(side.sums(own))
    each = [
        WeightedRate(value=mean, interval=_rate_interval(mean, own[side.occurs], total[side.occurs], level))
        for mean, own, total, side in zip(means, sums, totals, sides, strict=True)
    ]
    ratio = means[0] / means[1] if means[1] > 0 else Undefined("the reference selected nobody")
    return Weighted(
        effective_group=sizes[0], effective_reference=sizes[1], rate_group=each[0], rate_reference=each[1],
        ratio=ratio, ratio_interval=_ratio_interval(ratio, means, sums, totals, level),
    )  # fmt: skip


def _rate_interval(mean: float, sums: Floats, totals: Floats, level: float) -> Interval | Undefined:
    try:
        return logit_rate_interval(mean, sums, totals, level)
    except UndefinedMetricError as error:
        return Undefined(str(error))


def _ratio_interval(
    ratio: float | Undefined, means: list[float], sums: list[Floats], totals: list[Floats], level: float
) -> Interval | Undefined:
    if isinstance(ratio, Undefined):
        return ratio
    try:
        if not all(0.0 < mean < 1.0 for mean in means):
            raise UndefinedMetricError(
                "everybody or nobody of a side is selected: weights leave no spread to estimate"
            )
        logs = sums[0] / means[0], -sums[1] / means[1]
        return log_ratio_interval(ratio, variance_of_sums(*logs, *totals), level)
    except UndefinedMetricError as error:
        return Undefined(str(error))
