"""Statutory tables: applicants, rate and impact ratio for each category of a family.

Counts are integers and ratios are fractions until they are printed. The way each ambiguity of the law
is resolved comes from the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.categories import category_of
from audit_lib.measure.rows import Coded, Rows
from audit_lib.policies import Category, Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined, as_json
from audit_lib.spec import AuditSpec
from audit_lib.stats.adverse_impact import exact_ratio, is_below, two_standard_deviations
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

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        document = {f.name: as_json(getattr(self, f.name)) for f in fields(self)}
        document["rows"] = [{f.name: as_json(getattr(row, f.name)) for f in fields(row)} for row in self.rows]
        return document


def rate_tables(
    kind: str, metric: str, rows: Rows, spec: AuditSpec, policy: Policy, positive: np.ndarray, **context: Any
) -> list[RateTable]:
    """Return the policy's tables over the rows for which `positive` is 1 or 0 (-1: not assessed).

    Parameters
    ----------
    kind : {"selection", "scoring"}
        Which of the policy's kinds of table.
    metric : str
        Name of the impact ratio's estimates.
    positive : ndarray of int, shape (rows,)
        1 selected (or above the median), 0 not, -1 not assessed.
    **context
        ``median``, ``median_ties``, ``tied_rounds`` of the table.
    """
    mapping = category_of(spec.groups, policy)
    assessed = positive >= 0
    tables = []
    for family in policy.families:
        if not set(family.attributes) <= set(mapping):
            continue
        needed = mapping if policy.switch("unknown").value == "list_wise" else family.attributes
        codes = {name: _category_codes(rows.columns[name], mapping[name], policy, name) for name in mapping}
        known = assessed.copy()
        for name in needed:
            known &= codes[name] >= 0
        # One pass over the rows: count each combination of the family's categories.
        sizes = [len(policy.attribute(name).categories) for name in family.attributes]
        key = np.zeros(int(known.sum()), dtype=np.int64)
        for name, size in zip(family.attributes, sizes, strict=True):
            key = key * size + codes[name][known]
        cells = int(np.prod(sizes))
        n = np.bincount(key, minlength=cells).tolist()
        x = np.bincount(key[positive[known] > 0], minlength=cells).tolist()
        # An experiment has only the categories of its design; an audit prints them all.
        counts = [
            (category, n[place], x[place])
            for place, category in enumerate(policy.categories(family.name))
            if spec.groups.provenance != "assigned"
            or all(level in mapping[name].values() for name, level in category.levels.items())
        ]
        unknown = int(assessed.sum() - known.sum())
        tables.append(_table(kind, metric, family.name, rows, spec, policy, counts, unknown, context))
    return tables


def _category_codes(column: Coded, mapping: Mapping[str, str], policy: Policy, name: str) -> NDArray[np.int64]:
    """Place of each row's category among the policy's; -1 where it is unknown."""
    places = {level.name: place for place, level in enumerate(policy.attribute(name).categories)}
    recode = [places[mapping[label]] if label in mapping else -1 for label in column.labels]
    return np.array([*recode, -1], dtype=np.int64)[column.codes]


def _table(
    kind: str,
    metric: str,
    family: str,
    rows: Rows,
    spec: AuditSpec,
    policy: Policy,
    counts: list[tuple[Category, int, int]],
    unknown: int,
    context: Mapping[str, Any],
) -> RateTable:
    total = sum(n for _, n, _ in counts)
    base = total + unknown if policy.switch("exclusion_base").value == "all" else total
    excluded = {
        category.label: f"under {float(policy.exclusion.share):.0%} of the data"
        for category, n, _ in counts
        if policy.switch("exclude_small_share").value == "yes" and base and Fraction(n, base) < policy.exclusion.share
    }
    eligible = [
        (category.label, n, x)
        for category, n, x in counts
        if n and (category.label not in excluded or policy.switch("comparator").value == "highest_of_all")
    ]
    best = max(eligible, key=lambda row: Fraction(row[2], row[1]), default=None)
    comparator: str | Undefined
    if best is None:
        comparator = Undefined("nobody was assessed")
    elif best[2] == 0:
        comparator = Undefined("no category has anyone " + ("selected" if kind == "selection" else "above the median"))
    else:
        comparator = best[0]
    filled = [(n, x) for category, n, x in counts if n and category.label not in excluded]
    to_highest = _to_highest(filled, spec.measure.level)
    wide = iter(to_highest) if to_highest else None
    lines = []
    for category, n, x in counts:
        label = category.label
        simultaneous = next(wide) if wide is not None and n and label not in excluded else None
        ratio = _impact_ratio(metric, rows, spec, category, n, x, comparator, best, excluded.get(label))
        if simultaneous is not None and ratio.is_defined:
            ratio = replace(ratio, intervals=(simultaneous,))
        flag = None
        if ratio.is_defined and best is not None:
            flag = is_below(x, n, best[2], best[1], policy.guidance.threshold)
        lines.append(
            RateRow(
                category=dict(category.levels),
                label=label,
                n=n,
                selected=x,
                share_of_data=n / base if base else 0.0,
                rate=_rate(kind, rows, spec, category, n, x),
                impact_ratio=ratio,
                four_fifths_flag=flag,
                excluded=excluded.get(label),
            )
        )
    return RateTable(
        kind=kind,
        family=family,
        stratum=dict(rows.levels),
        total=total,
        unknown=unknown,
        comparator=comparator,
        rows=tuple(lines),
        **context,
    )


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
    n: int,
    x: int,
    comparator: str | Undefined,
    best: tuple[str, int, int] | None,
    excluded: str | None,
) -> Estimate:
    value: float | Undefined
    interval: Interval | Undefined
    tests: tuple[TestResult, ...] = ()
    if excluded is not None:
        value = interval = Undefined(f"left out: {excluded}")
    elif isinstance(comparator, Undefined) or best is None:
        value = interval = comparator if isinstance(comparator, Undefined) else Undefined("nobody was assessed")
    elif n == 0:
        value = interval = Undefined("nobody was assessed in this category")
    else:
        top_n, top_x = best[1], best[2]
        value = float(exact_ratio(x, n, top_x, top_n))
        if category.label == comparator:
            interval = Undefined("the comparator itself")
        else:
            interval = replace(
                ratio_of_proportions(x, n, top_x, top_n, spec.measure.level, method="koopman"), kind="conditional"
            )
            tests = _tests(x, n, top_x, top_n)
    return Estimate(
        metric=metric,
        value=value,
        interval=interval,
        n=n + (best[1] if best is not None and category.label != best[0] else 0),
        n_group=n,
        n_reference=best[1] if best is not None else None,
        method="ratio of exact counts to the highest rate; rows taken as independent",
        group=dict(category.levels),
        stratum=dict(rows.levels),
        parameters={} if isinstance(comparator, Undefined) else {"comparator": comparator},
        flags=_flags(n, spec),
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
                name="two_standard_deviations", p_value=undefined, statistic=undefined, n=n + top_n, method="not computed"
            )
        )
    return tuple(tests)


def _to_highest(counts: list[tuple[int, int]], level: float) -> tuple[Interval, ...]:
    """Simultaneous intervals of each rate over the highest; none where they do not exist."""
    if len(counts) < 2:
        return ()
    try:
        return simultaneous_ratios([x for _, x in counts], [n for n, _ in counts], level).to_highest
    except UndefinedMetricError:
        return ()
