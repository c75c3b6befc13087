"""Adverse impact of a rating on real applicants, at each threshold that could stand for *selected*.

Source: Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086: real, unmanipulated applications with observed
demographics; selected is a rating of at least 3, 4, 5; always against the same reference (men; White applicants), not
against whichever group is highest. Versions of an experiment are no applicants: they are refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.influence import Influence, is_kept, keep
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import ClusterUnit, Variable, score_unit
from audit_lib.measure.statutory.intervals import Clusters
from audit_lib.metrics.impact import impact_ratios
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec

INNER_LEVEL: Final = 0.7
"""Level of the second, shorter interval, as in the paper's figures."""

ASSIGNED: Final = (
    "adverse impact is of real applicants with observed demographics, and here an experiment assigned them; "
    "standardised_effect is the measure for versions of a dossier"
)


def applicants_only(spec: AuditSpec) -> None:
    """Refuse assigned demographics.

    Raises
    ------
    UndefinedMetricError
        If the spec's attributes are assigned.
    """
    if spec.groups.provenance == "assigned":
        raise UndefinedMetricError(ASSIGNED)


def adverse_impact_ratios(rows: Rows, spec: AuditSpec) -> list[Estimate]:
    """Divide each group's share of ratings at or above each threshold by the reference's.

    Returns
    -------
    list of Estimate
        By threshold, then as ``spec.groups.comparisons()``; `intervals` holds the one of 70%.
    """
    return [
        _estimate(rows, spec, threshold, group, reference)
        for threshold in spec.measure.thresholds
        for group, reference in spec.groups.comparisons()
    ]


def _estimate(
    rows: Rows, spec: AuditSpec, threshold: float, group: Mapping[str, str], reference: Mapping[str, str]
) -> Estimate:
    known = np.isfinite(rows.score)
    selected = np.where(known, rows.score >= threshold, -1).astype(np.int8)
    labels = ("group", "reference")
    sides = [rows.members(cell) & known for cell in (group, reference)]
    counts = {
        name: (int((selected[side] > 0).sum()), int(side.sum()))
        for name, side in zip(labels, sides, strict=True)
    }
    table = impact_ratios(
        {name: x for name, (x, _) in counts.items()},
        {name: n for name, (_, n) in counts.items()},
        "reference",
    )
    row, top = table.rows
    value: float | Undefined = row.ratio if isinstance(row.ratio, Undefined) else float(row.ratio)
    interval: Interval | Undefined
    inner: tuple[Interval, ...] = ()
    tests: tuple[TestResult, ...] = ()
    places = [_place(levels, group, reference) for levels, _ in rows.profiles()]
    unit = score_unit(spec)
    clusters = Clusters.of(rows, places, labels, selected, unit, spec.measure.level)
    if isinstance(value, Undefined):
        interval = value
    elif counts["group"][0] == counts["group"][1] and counts["reference"][0] == counts["reference"][1]:
        interval = Undefined("everybody is selected in both groups: no spread to measure")
    else:
        interval = _fixed(clusters.ratio(row, top))
        shorter = _fixed(replace(clusters, level=INNER_LEVEL).ratio(row, top))
        inner = () if isinstance(shorter, Undefined) else (shorter,)
        tests = clusters.tests(row, top)[:1]
    small = min(n for _, n in counts.values()) < spec.measure.small_cell
    estimated = Estimate(
        metric="adverse_impact_ratio",
        value=value,
        interval=interval,
        intervals=inner,
        n=sum(n for _, n in counts.values()),
        n_group=counts["group"][1],
        n_reference=counts["reference"][1],
        clusters=clusters.units,
        method=f"share of ratings >= {threshold:g} over the reference's; {clusters.method}",
        group=dict(group),
        reference=dict(reference),
        stratum=dict(rows.levels),
        # No counts here: where a policy hides small cells, parameters stay.
        parameters={"threshold": threshold},
        flags=("small_cell",) if small else (),
        tests=tests,
    )
    if is_kept() and isinstance(value, float) and value > 0:
        _keep_influence(estimated, rows, selected, unit)
    return estimated


def _keep_influence(one: Estimate, rows: Rows, selected: NDArray[np.int8], unit: ClusterUnit) -> None:
    """Hand on how far each unit moves the logarithm of the ratio: (x - rate) / (n rate), the reference's negative."""
    variable = Variable.of(rows, selected, unit)
    sums, people = [], []
    for cell, sign in ((one.group, 1.0), (one.reference, -1.0)):
        side = variable.side(cell)
        rate = float(side.values.mean())
        sums.append(side.sums(sign * (side.values - rate) / (side.values.size * rate)))
        people.append(side.people)
    keep(
        Influence(
            estimate=one, unit=unit, names=variable.unit_names(), group=sums[0], reference=sums[1],
            group_rows=people[0], reference_rows=people[1], scale="log",
        )
    )  # fmt: skip


def _place(levels: Mapping[str, str | None], group: Mapping[str, str], reference: Mapping[str, str]) -> int:
    for place, cell in enumerate((group, reference)):
        if all(levels[axis] == level for axis, level in cell.items()):
            return place
    return -1


def _fixed(found: Interval | Undefined) -> Interval | Undefined:
    # The reference was fixed before the data: nothing was selected that the interval would have to allow for.
    return found if isinstance(found, Undefined) else replace(found, kind="marginal")
