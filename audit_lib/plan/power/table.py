"""The plan's table of what the audit finds: each metric, each comparison, with the power of the spec."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from audit_lib.documents.plan import Power, PowerBasis
from audit_lib.plan.power.planned_design import ASSUMED_RATES, PlannedDesign, design_of, family_of
from audit_lib.plan.power.simulated_comparison import SIMULATED, PlannedTest
from audit_lib.plan.power.smallest_found import Limit, limit_of, smallest_ratio
from audit_lib.policies import policy_of
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec

SIZES: Final = (25, 50, 100, 250, 500, 1000)
"""People of each category, where the design does not fix them."""
_SILENT_SECONDS: Final = 5.0
_OF_SCORES: Final = ("standardised_effect", "rabbi", "score_gap")


def power_basis(spec: AuditSpec, files: Mapping[str, bytes]) -> PowerBasis:
    """Return what the simulation takes for granted."""
    design = design_of(spec, files)
    known = None if isinstance(design, str) else design
    tests = family_of(spec, None) if known is None else known.tests
    return PowerBasis(
        tests_of_tables=tests.tables,
        other_tests=tests.others,
        strata_assumed=spec.measure.power_strata if any(spec.measure.strata) else None,
        version_sd=None if known is None else known.version_sd,
        name_sd=None if known is None or known.names is None else known.name_sd,
        names=None if known is None else known.names,
        not_simulated=design if isinstance(design, str) else None,
    )


def power_table(
    spec: AuditSpec, files: Mapping[str, bytes], notify: Callable[[str], None] = lambda _: None
) -> tuple[Power, ...]:
    """Return the smallest difference that the audit finds with its power, of each metric and comparison.

    The audit is simulated (`audit_lib.plan.power.simulated_audits`): one category of a table is lower than all others,
    the comparator is picked, and p-values are adjusted in the audit's family. Where the design does not fix the number
    of rows, the ratio is given for several sizes of the categories of the largest table, of independent people, at
    several rates unless the rule fixes the rate.
    """
    if spec.decision.rule == "none":
        return ()
    design = design_of(spec, files)
    found, told = [], time.monotonic()
    for entry in _by_size(spec) if isinstance(design, str) else _of_design(spec, design):
        found.append(entry)
        if time.monotonic() - told > _SILENT_SECONDS:
            told = time.monotonic()
            what = f"{entry.metric} by {', '.join(entry.attributes)}"
            notify(f"power: the planned audit is simulated, difference {len(found)} found: {what}")
    return tuple(found)


def _of_design(spec: AuditSpec, design: PlannedDesign) -> Iterator[Power]:
    families = [family.attributes for family in policy_of(spec).families]
    compared = list(dict.fromkeys(tuple(group) for group, _ in spec.groups.comparisons()))
    quota = min(design.quotas, key=lambda k: abs(k - design.k), default=0)
    for axes in compared:
        of = design.categories(axes)
        categories = int(of.max()) + 1
        for metric in (name for name in SIMULATED if name in design.metrics):
            if metric == "impact_ratio" and not any(set(axes) == set(family) for family in families):
                continue
            if metric == "standardised_effect" and len(axes) > 1:
                continue
            if metric == "demographic_parity_gap" and (design.competes is None or not quota):
                continue
            one = PlannedTest(metric, axes, quota if metric == "demographic_parity_gap" else 0)
            open_rate = design.rule == "threshold" and metric not in _OF_SCORES
            for rate in ASSUMED_RATES if open_rate else (None,):
                found = limit_of(replace(design, rate=rate), one, spec.measure.power)
                yield _entry(one, categories, design.rows // categories, found, rate)


def _entry(one: PlannedTest, categories: int, n: int, found: Limit | Undefined, rate: float | None) -> Power:
    known = found if isinstance(found, Limit) else None
    reached = None if known is None or one.metric in _OF_SCORES else known.rate
    return Power(
        metric=one.metric,
        quota=one.quota or None,
        attributes=one.axes,
        categories=categories,
        n=n,
        rate=rate if reached is None else round(reached, 4),
        smallest_detectable=found if isinstance(found, Undefined) else _rounded(found.value),
        monte_carlo_error=None if known is None else _rounded(known.error),
        audits=None if known is None else known.audits,
    )


def _rounded(value: float) -> float:
    """Four digits are more than chance leaves, and stay the same on every processor."""
    return round(value, 4)


def _by_size(spec: AuditSpec) -> Iterator[Power]:
    if "impact_ratio" not in spec.measure.metrics:
        return
    sizes = {axis: len(set(levels)) for axis, levels in spec.groups.attributes.items()}
    tables: dict[tuple[str, ...], int] = {}
    for family in policy_of(spec).families:
        if set(family.attributes) <= set(sizes):
            tables[tuple(family.attributes)] = math.prod(sizes[axis] for axis in family.attributes)
    if not tables:
        return
    axes = max(tables, key=lambda one: tables[one])
    level = family_of(spec, None).level_of_a_table
    fixed = 0.5 if spec.decision.rule == "above_median" else None
    for n in SIZES:
        for rate in ASSUMED_RATES if fixed is None else (fixed,):
            found = smallest_ratio(n, tables[axes], rate, level, spec.measure.power, spec.seed)
            yield _entry(PlannedTest("impact_ratio", axes), tables[axes], n, found, rate)
