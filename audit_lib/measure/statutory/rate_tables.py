"""Statutory tables: applicants, rate and impact ratio for each category of a family.

Counts are integers and ratios are fractions until they are printed. The way each ambiguity of the law
is resolved comes from the policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.measure.inference import none_answered
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import decision_unit, score_unit
from audit_lib.measure.statutory.categories import category_of
from audit_lib.measure.statutory.intervals import Clusters, TableTests, fixed_ratios, to_the_highest
from audit_lib.measure.statutory.population_median import MedianSample
from audit_lib.measure.statutory.rate_details import ITSELF, adverse_impact, bounds
from audit_lib.metrics.impact import ImpactRatios, ImpactRow, impact_ratios
from audit_lib.plan.hypotheses import fewest_people
from audit_lib.policies import Category, Policy
from audit_lib.policies.gates import check_excluded_share
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredTable(RateTable[RateRow]):
    """A statutory table, with who in it shares a round or an application, which is not written."""

    clusters: Clusters

    def as_dict(self) -> dict[str, Any]:
        """JSON form, without the clusters."""
        return {name: value for name, value in RateTable.as_dict(self).items() if name != "clusters"}


def rate_tables(
    kind: str,
    metric: str,
    rows: Rows,
    spec: AuditSpec,
    policy: Policy,
    positive: NDArray[np.int8],
    sample: NDArray[np.bool_] | None = None,
    **context: Any,
) -> list[ClusteredTable]:
    """Return the policy's tables over the rows for which `positive` is 1 or 0 (-1: not assessed).

    Parameters
    ----------
    kind : {"selection", "scoring"}
        Which of the policy's kinds of table.
    metric : str
        Name of the impact ratio's estimates.
    positive : ndarray of int8, shape (rows,)
        1 selected (or above the median), 0 not, -1 not assessed.
    sample : ndarray of bool, shape (rows,), optional
        Whose median the rates are counted above.
    **context
        ``median``, ``median_ties``, ``tied_rounds``, ``undersized_rounds`` of the table.
    """
    mapping = category_of(spec.groups, policy)
    unit = decision_unit(spec) if kind == "selection" else score_unit(spec)
    # All that is counted from the rows: selected, not selected and not assessed people of each profile.
    profiles = [
        (
            {name: mapping[name].get(levels[name] or "") for name in mapping},
            np.bincount(positive[where].astype(np.int64) + 1, minlength=3).tolist(),
        )
        for levels, where in rows.profiles()
    ]
    sheets: list[tuple[_Sheet, list[CategoryCount]]] = []
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
            CategoryCount(
                category, *found.get(tuple(category.levels[name] for name in family.attributes), (0, 0, 0))
            )
            for category in policy.categories(family.name)
            if spec.groups.provenance != "assigned"
            or all(level in mapping[name].values() for name, level in category.levels.items())
        ]
        places = {tuple(c.category.levels[n] for n in family.attributes): i for i, c in enumerate(counts)}
        of_profile = [
            -1
            if any(categories[name] is None for name in needed)
            else places.get(tuple(str(categories[name]) for name in family.attributes), -1)
            for categories, _ in profiles
        ]
        labels = [count.category.label for count in counts]
        clusters = Clusters.of(rows, of_profile, labels, positive, unit, spec.measure.level)
        sheet = _Sheet(
            kind=kind, metric=metric, family=family.name, rows=rows, spec=spec, policy=policy, unknown=unknown,
            clusters=clusters, context=context,
            median=None if sample is None else MedianSample.of(rows, sample, of_profile, labels, unit),
        )  # fmt: skip
        sheets.append((sheet, counts))
    return [
        replace(table, larger=_larger(sheet, table, counts))
        for table, (sheet, counts) in zip(_tables(sheets), sheets, strict=True)
    ]


class CategoryCount(NamedTuple):
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

    @property
    def unanswered(self) -> bool:
        """Whether there are people here, and none of them was answered."""
        return self.n == 0 and self.missing > 0


class Picked(NamedTuple):
    """What of a table allows for the comparator being picked by the data, and the intervals that hold it fixed."""

    fixed: Mapping[str, Interval | Undefined]
    intervals: Mapping[str, Interval]
    tests: TableTests
    population: Mapping[str, Interval | Undefined]
    """At the population's median; empty where the rates are counted above none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """What the rows of one table share."""

    kind: str
    metric: str
    family: str
    rows: Rows
    spec: AuditSpec
    policy: Policy
    unknown: int
    clusters: Clusters
    context: Mapping[str, Any]
    median: MedianSample | None


def _larger(sheet: _Sheet, table: ClusteredTable, counts: list[CategoryCount]) -> ClusteredTable | None:
    """Compare the larger categories with each other where the comparator is too small to tell much of any.

    Else one person of one in a tiny category would silence a difference between hundreds and hundreds.
    """
    spec = sheet.spec
    least = fewest_people(spec, sheet.policy)
    top = next((row for row in table.rows if row.label == table.comparator), None)
    enough = [
        count for count in counts if count.n >= least and count.category.label not in spec.use.exclusions
    ]
    if top is None or top.n >= least or len(enough) < 2:
        return None
    (found,), share = _tables([(sheet, enough)]), {row.label: row.share_of_data for row in table.rows}
    kept = tuple(replace(row, share_of_data=share[row.label]) for row in found.rows)
    return replace(found, total=table.total, rows=kept)


def _tables(sheets: Sequence[tuple[_Sheet, list[CategoryCount]]]) -> list[ClusteredTable]:
    """Make tables; the intervals of all are found together, since many take hardly longer than one."""
    laws = [_law(sheet, counts) for sheet, counts in sheets]
    with_top = [n for n, law in enumerate(laws) if law.top is not None]
    fixed = fixed_ratios(
        [
            (sheets[n][0].clusters, [row for row in law.compared if row is not law.top], law.top)
            for n, law in enumerate(laws)
            if law.top is not None
        ]
    )
    by_number = dict(zip(with_top, fixed, strict=True))
    highest = to_the_highest(
        [(sheet.clusters, law.compared) for (sheet, _), law in zip(sheets, laws, strict=True)]
    )
    return [
        _table(sheet, counts, law, by_number.get(n, {}), highest[n])
        for n, ((sheet, counts), law) in enumerate(zip(sheets, laws, strict=True))
    ]


class _Law(NamedTuple):
    """What the law asks of a table."""

    base: int
    """People of whom shares are counted."""
    excluded: Mapping[str, str]
    ratios: ImpactRatios
    top: ImpactRow | None
    compared: list[ImpactRow]


def _law(sheet: _Sheet, counts: list[CategoryCount]) -> _Law:
    policy = sheet.policy
    total = sum(count.n for count in counts)
    base = total + sheet.unknown if policy.switch("exclusion_base").value == "all" else total
    excluded = _excluded(sheet.spec, policy, counts, base, whole=not sheet.rows.levels)
    law = impact_ratios(
        {count.category.label: count.selected for count in counts},
        {count.category.label: count.n for count in counts},
        exclude=excluded,
        compare_excluded=policy.switch("comparator").value == "highest_of_all",
    )
    top = law[law.comparators[0]] if law.comparators else None
    compared = [row for row in law.rows if row is top or not isinstance(row.ratio, Undefined)]
    return _Law(base, excluded, law, top, compared)


def _table(
    sheet: _Sheet,
    counts: list[CategoryCount],
    law: _Law,
    fixed: Mapping[str, Interval | Undefined],
    highest: Mapping[str, Interval],
) -> ClusteredTable:
    clusters, top = sheet.clusters, law.top
    seed = derive_seed(sheet.spec.seed, "measure", "equal_rates")
    population = (
        {}
        if sheet.median is None or top is None
        else sheet.median.to_highest(law.compared, top, sheet.spec.measure.level)
    )
    picked = Picked(
        fixed=fixed,
        intervals=highest,
        tests=clusters.equal_rates(law.compared, seed),
        population=population,
    )
    nobody = Undefined(_no_comparator(sheet.kind, law.ratios))
    return ClusteredTable(
        kind=sheet.kind,
        family=sheet.family,
        stratum=dict(sheet.rows.levels),
        total=sum(count.n for count in counts),
        unknown=sheet.unknown,
        comparator=nobody if top is None else str(top.category),
        rows=tuple(_row(sheet, count, law, top or nobody, picked) for count in counts),
        equal_rates=picked.tests.table if top is not None else nobody,
        clusters=clusters,
        **sheet.context,
    )


def _row(
    sheet: _Sheet,
    count: CategoryCount,
    law: _Law,
    top: ImpactRow | Undefined,
    picked: Picked,
) -> RateRow:
    label, row = count.category.label, law.ratios[count.category.label]
    if count.unanswered:
        nobody = Undefined(none_answered(count.missing))
        row = replace(row, rate=nobody, ratio=nobody)
    compared: ImpactRow | Undefined = top
    if isinstance(row.ratio, Undefined) and not count.unanswered:
        compared = row.ratio
    elif row is top:
        compared = ITSELF
    missing = bounds(row, compared, count.missing)
    return RateRow(
        category=dict(count.category.levels),
        label=label,
        n=count.n,
        selected=count.selected,
        share_of_data=count.n / law.base if law.base else 0.0,
        rate=_rate(sheet, count),
        impact_ratio=_impact_ratio(sheet, count, row, top, picked),
        four_fifths_flag=_flag(row, sheet.policy),
        excluded=law.excluded.get(label),
        missing=missing,
        unknown=missing if sheet.unknown == count.missing else bounds(row, compared, sheet.unknown),
        population=picked.population.get(label),
        adverse_impact=adverse_impact(
            row, row.ratio if isinstance(row.ratio, Undefined) else compared, sheet.spec, sheet.policy
        ),
    )


def _excluded(
    spec: AuditSpec, policy: Policy, counts: list[CategoryCount], base: int, *, whole: bool
) -> dict[str, str]:
    """Categories left out of the ratio: small ones for which the auditor wrote a justification."""
    excluded: dict[str, str] = {}
    for count in counts:
        label = count.category.label
        if label not in spec.use.exclusions or not base or count.unanswered:
            continue
        if Fraction(count.n, base) < policy.exclusion.share:
            excluded[label] = mark("under {share:.0%} of the data: {reason}").format(
                share=float(policy.exclusion.share), reason=spec.use.exclusions[label]
            )
        elif whole:
            check_excluded_share(policy, label, count.n, base)
    return excluded


def _no_comparator(kind: str, law: ImpactRatios) -> str:
    if any(row.total for row in law.rows):
        return "no category has anyone " + ("selected" if kind == "selection" else "above the median")
    return "nobody was assessed"


def _flag(row: ImpactRow, policy: Policy) -> bool | None:
    return None if isinstance(row.ratio, Undefined) else row.ratio < policy.guidance.threshold


def _flags(count: CategoryCount, spec: AuditSpec) -> tuple[str, ...]:
    # A category of whom nobody was answered is not small; nothing is known of it.
    return ("small_cell",) if count.n < spec.measure.small_cell and not count.unanswered else ()


def _rate(sheet: _Sheet, count: CategoryCount) -> Estimate:
    clusters = sheet.clusters
    n, x, label = count.n, count.selected, count.category.label
    nobody = Undefined(
        none_answered(count.missing) if count.unanswered else "nobody was assessed in this category"
    )
    return Estimate(
        metric=f"{sheet.kind}_rate",
        value=x / n if n else nobody,
        interval=clusters.rate(label, x, n) if n else nobody,
        n=n,
        n_group=n,
        clusters=clusters.units_of(label),
        method="count / count" if clusters.rates is None else f"count / count; {clusters.method}",
        group=dict(count.category.levels),
        stratum=dict(sheet.rows.levels),
        flags=_flags(count, sheet.spec),
    )


def _impact_ratio(
    sheet: _Sheet,
    count: CategoryCount,
    row: ImpactRow,
    top: ImpactRow | Undefined,
    picked: Picked,
) -> Estimate:
    clusters = sheet.clusters
    best = None if isinstance(top, Undefined) else top
    value = row.ratio if isinstance(row.ratio, Undefined) else float(row.ratio)
    interval: Interval | Undefined = (
        row.ratio if isinstance(row.ratio, Undefined) else Undefined("the comparator itself")
    )
    tests: tuple[TestResult, ...] = ()
    fixed: tuple[TestResult, ...] = ()
    if best is not None and row is not best and not isinstance(value, Undefined):
        interval, fixed = picked.fixed[count.category.label], clusters.tests(row, best)
        first = picked.tests.rows.get(count.category.label)
        tests = fixed if first is None else (first, *fixed)
    simultaneous = picked.intervals.get(count.category.label)
    return Estimate(
        metric=sheet.metric,
        value=value,
        interval=interval,
        n=row.total + (best.total if best is not None and row is not best else 0),
        n_group=row.total,
        n_reference=best.total if best is not None else None,
        clusters=None if clusters.rates is None or not fixed else fixed[0].n,
        method=f"ratio of exact counts to the highest rate; {clusters.method}",
        group=dict(count.category.levels),
        stratum=dict(sheet.rows.levels),
        parameters={} if best is None else {"comparator": str(best.category)},
        flags=_flags(count, sheet.spec),
        intervals=() if simultaneous is None else (simultaneous,),
        tests=tests,
    )
