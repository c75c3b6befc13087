"""Statutory tables: applicants, rate and impact ratio for each category of a family.

Counts are integers and ratios are fractions until they are printed. The way each ambiguity of the law
is resolved comes from the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.adverse import ITSELF, adverse_impact, bounds
from audit_lib.measure.categories import category_of
from audit_lib.measure.law import ImpactRatios, ImpactRow, impact_ratios
from audit_lib.measure.rows import Rows
from audit_lib.policies import Category, Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined, as_json
from audit_lib.spec import AuditSpec
from audit_lib.stats.adverse_impact import two_standard_deviations
from audit_lib.stats.exact import fisher_exact
from audit_lib.stats.intervals import ratio_of_proportions, wilson
from audit_lib.stats.ratios import simultaneous_ratios


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """One category: counts, rate and ratio.

    Parameters
    ----------
    category : mapping of str to str
        Attribute -> the policy's category.
    n, selected : int
        People assessed, and those selected (in scoring tables: those above the median).
    share_of_data : float
        `n` over the base that the policy names.
    rate, impact_ratio : Estimate
        With Wilson's interval; and with Koopman's, which holds the comparator fixed, beside the one that
        allows for its having been the highest.
    four_fifths_flag : bool or None
        Whether the exact ratio is below the policy's guidance; None where it is undefined.
    excluded : str or None
        Why the row is left out of the impact ratio, if it is.
    missing, unknown : mapping
        Bounds for the category's people without an answer, and for the table's people of unknown category.
    adverse_impact : mapping
        Shortfall, flip-flop and the smallest ratio that could have been found.
    """

    category: Mapping[str, str]
    label: str
    n: int
    selected: int
    share_of_data: float
    rate: Estimate
    impact_ratio: Estimate
    four_fifths_flag: bool | None
    excluded: str | None
    missing: Mapping[str, Any]
    unknown: Mapping[str, Any]
    adverse_impact: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable:
    """One statutory table."""

    kind: str
    family: str
    stratum: Mapping[str, str]
    total: int
    unknown: int
    comparator: str | Undefined
    rows: tuple[RateRow, ...]
    median: float | None = None
    median_ties: int | None = None
    tied_rounds: int | None = None
    undersized_rounds: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        document = {f.name: as_json(getattr(self, f.name)) for f in fields(self)}
        document["rows"] = [{f.name: as_json(getattr(row, f.name)) for f in fields(row)} for row in self.rows]
        return document


def rate_tables(
    kind: str,
    metric: str,
    rows: Rows,
    spec: AuditSpec,
    policy: Policy,
    positive: NDArray[np.int8],
    **context: Any,
) -> list[RateTable]:
    """Return the policy's tables over the rows for which `positive` is 1 or 0 (-1: not assessed).

    Parameters
    ----------
    kind : {"selection", "scoring"}
        Which of the policy's kinds of table.
    metric : str
        Name of the impact ratio's estimates.
    positive : ndarray of int8, shape (rows,)
        1 selected (or above the median), 0 not, -1 not assessed.
    **context
        ``median``, ``median_ties``, ``tied_rounds``, ``undersized_rounds`` of the table.
    """
    mapping = category_of(spec.groups, policy)
    # All that is counted from the rows: selected, not selected and not assessed people of each profile.
    profiles = [
        (
            {name: mapping[name].get(levels[name] or "") for name in mapping},
            np.bincount(positive[where].astype(np.int64) + 1, minlength=3).tolist(),
        )
        for levels, where in rows.profiles()
    ]
    tables = []
    for family in policy.families:
        if not set(family.attributes) <= set(mapping):
            continue
        needed = mapping if policy.switch("unknown").value == "list_wise" else family.attributes
        found: dict[tuple[str | None, ...], list[int]] = {}
        unknown = 0
        for categories, states in profiles:
            if any(categories[name] is None for name in needed):
                unknown += states[1] + states[2]
                continue
            cell = found.setdefault(tuple(categories[name] for name in family.attributes), [0, 0, 0])
            for state, people in enumerate(states):
                cell[state] += people
        # An experiment has only the categories of its design; an audit prints them all.
        counts = [
            Count(category, *found.get(tuple(category.levels[name] for name in family.attributes), (0, 0, 0)))
            for category in policy.categories(family.name)
            if spec.groups.provenance != "assigned"
            or all(level in mapping[name].values() for name, level in category.levels.items())
        ]
        tables.append(_table(kind, metric, family.name, rows, spec, policy, counts, unknown, context))
    return tables


class Count(NamedTuple):
    """People of one category."""

    category: Category
    missing: int
    """Without an answer."""
    not_selected: int
    selected: int

    @property
    def n(self) -> int:
        """People assessed."""
        return self.not_selected + self.selected


def _table(
    kind: str,
    metric: str,
    family: str,
    rows: Rows,
    spec: AuditSpec,
    policy: Policy,
    counts: list[Count],
    unknown: int,
    context: Mapping[str, Any],
) -> RateTable:
    total = sum(count.n for count in counts)
    base = total + unknown if policy.switch("exclusion_base").value == "all" else total
    excluded = {
        count.category.label: f"under {float(policy.exclusion.share):.0%} of the data"
        for count in counts
        if policy.switch("exclude_small_share").value == "yes"
        and base
        and Fraction(count.n, base) < policy.exclusion.share
    }
    law = impact_ratios(
        {count.category.label: count.selected for count in counts},
        {count.category.label: count.n for count in counts},
        exclude=excluded,
        compare_excluded=policy.switch("comparator").value == "highest_of_all",
    )
    wide = _to_highest([row for row in law.rows if not isinstance(row.ratio, Undefined)], spec.measure.level)
    top = law[law.comparators[0]] if law.comparators else None
    nobody = Undefined(_no_comparator(kind, law))
    return RateTable(
        kind=kind,
        family=family,
        stratum=dict(rows.levels),
        total=total,
        unknown=unknown,
        comparator=nobody if top is None else str(top.category),
        rows=tuple(
            _row(kind, metric, rows, spec, policy, count, law, top or nobody, base, unknown, excluded, wide)
            for count in counts
        ),
        **context,
    )


def _row(
    kind: str,
    metric: str,
    rows: Rows,
    spec: AuditSpec,
    policy: Policy,
    count: Count,
    law: ImpactRatios,
    top: ImpactRow | Undefined,
    base: int,
    unknown: int,
    excluded: Mapping[str, str],
    wide: Mapping[str, Interval],
) -> RateRow:
    label, row = count.category.label, law[count.category.label]
    compared: ImpactRow | Undefined = top
    if isinstance(row.ratio, Undefined):
        compared = row.ratio
    elif row is top:
        compared = ITSELF
    return RateRow(
        category=dict(count.category.levels),
        label=label,
        n=count.n,
        selected=count.selected,
        share_of_data=count.n / base if base else 0.0,
        rate=_rate(kind, rows, spec, count.category, count.n, count.selected),
        impact_ratio=_impact_ratio(metric, rows, spec, count.category, law, wide.get(label)),
        four_fifths_flag=_flag(row, policy),
        excluded=excluded.get(label),
        missing=bounds(row, compared, count.missing),
        unknown=bounds(row, compared, unknown),
        adverse_impact=adverse_impact(row, compared, spec, policy),
    )


def _no_comparator(kind: str, law: ImpactRatios) -> str:
    if any(row.total for row in law.rows):
        return "no category has anyone " + ("selected" if kind == "selection" else "above the median")
    return "nobody was assessed"


def _flag(row: ImpactRow, policy: Policy) -> bool | None:
    return None if isinstance(row.ratio, Undefined) else row.ratio < policy.guidance.threshold


def _flags(n: int, spec: AuditSpec) -> tuple[str, ...]:
    return ("small_cell",) if n < spec.measure.small_cell else ()


def _rate(kind: str, rows: Rows, spec: AuditSpec, category: Category, n: int, x: int) -> Estimate:
    nobody = Undefined("nobody was assessed in this category")
    return Estimate(
        metric=f"{kind}_rate",
        value=x / n if n else nobody,
        interval=wilson(x, n, spec.measure.level) if n else nobody,
        n=n,
        n_group=n,
        method="count / count",
        group=dict(category.levels),
        stratum=dict(rows.levels),
        flags=_flags(n, spec),
    )


def _impact_ratio(
    metric: str,
    rows: Rows,
    spec: AuditSpec,
    category: Category,
    law: ImpactRatios,
    simultaneous: Interval | None,
) -> Estimate:
    row = law[category.label]
    best = law[law.comparators[0]] if law.comparators else None
    value = row.ratio if isinstance(row.ratio, Undefined) else float(row.ratio)
    interval: Interval | Undefined = (
        row.ratio if isinstance(row.ratio, Undefined) else Undefined("the comparator itself")
    )
    tests: tuple[TestResult, ...] = ()
    if best is not None and row is not best and not isinstance(value, Undefined):
        limits = ratio_of_proportions(
            row.selected, row.total, best.selected, best.total, spec.measure.level, method="koopman"
        )
        interval = replace(limits, kind="conditional")
        tests = _tests(row.selected, row.total, best.selected, best.total)
    return Estimate(
        metric=metric,
        value=value,
        interval=interval,
        n=row.total + (best.total if best is not None and row is not best else 0),
        n_group=row.total,
        n_reference=best.total if best is not None else None,
        method="ratio of exact counts to the highest rate; rows taken as independent",
        group=dict(category.levels),
        stratum=dict(rows.levels),
        parameters={} if best is None else {"comparator": str(best.category)},
        flags=_flags(row.total, spec),
        intervals=() if simultaneous is None else (simultaneous,),
        tests=tests,
    )


def _tests(x: int, n: int, top_x: int, top_n: int) -> tuple[TestResult, ...]:
    tests = [fisher_exact(x, n - x, top_x, top_n - top_x)]
    try:
        tests.append(two_standard_deviations(x, n, top_x, top_n))
    except UndefinedMetricError as error:
        undefined = Undefined(str(error))
        tests.append(
            TestResult(
                name="two_standard_deviations",
                p_value=undefined,
                statistic=undefined,
                n=n + top_n,
                method="not computed",
            )
        )
    return tuple(tests)


def _to_highest(rows: list[ImpactRow], level: float) -> dict[str, Interval]:
    """Simultaneous intervals of each rate over the highest, by category; none where they do not exist."""
    if len(rows) < 2:
        return {}
    try:
        intervals = simultaneous_ratios(
            [row.selected for row in rows], [row.total for row in rows], level
        ).to_highest
    except UndefinedMetricError:
        return {}
    return {str(row.category): interval for row, interval in zip(rows, intervals, strict=True)}
