"""Documents and tables without the numbers of hidden cells, nor what gives them away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar, cast

from audit_lib.documents.metrics import (
    Heterogeneity,
    LabelMass,
    Metrics,
    Missingness,
    PrintedMetrics,
    ScoreSummary,
    Suppressed,
    SuppressedMetrics,
)
from audit_lib.documents.rate_tables import (
    PICKED,
    HiddenEstimate,
    HiddenRow,
    PrintedRow,
    RateRow,
    RateTable,
    RowWithoutRatio,
)
from audit_lib.documents.sample import Drawn, Sample
from audit_lib.documents.validation import Validation
from audit_lib.measure.statutory.categories import category_of
from audit_lib.policies import Policy
from audit_lib.progress import ignore
from audit_lib.report.exact_tables import ExactRow, ExactTable
from audit_lib.report.suppress.cells import HIDDEN, Items, StratumCell, cell_of, items
from audit_lib.report.suppress.choose import hidden_cells
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

OfGroup = TypeVar("OfGroup", Missingness, LabelMass, ScoreSummary)
AnyEstimate = Estimate | HiddenEstimate

GIVES_AWAY: Final = mark("hidden: it would tell the rate of a hidden row")
_OF_GROUPS: Final = frozenset({"answered_gap", "groups_without_rows"})
"""Columns of ``validation.json`` that are made of the counts of single groups."""
_GONE: Final = Undefined(HIDDEN)
_NOTHING: Final = HiddenEstimate(value=_GONE, interval=_GONE)


def masked(table: ExactTable, hidden: frozenset[StratumCell]) -> ExactTable:
    """Return the table without the numbers of hidden rows, nor what gives them away.

    Where the comparator is hidden, no ratio is printed: a rate divided by its ratio is the comparator's rate.
    """
    where = items(table.stratum)
    gone = {row.label for row in table.rows if (where, items(row.levels)) in hidden}
    if not gone:
        rows = tuple(replace(row, estimate=_alone(row.estimate)) for row in table.rows)
        return replace(table, rows=rows, multiplicity=None) if hidden else table
    compared = _shown_comparator(table.comparator, gone)

    def mask(row: ExactRow) -> ExactRow:
        if row.label in gone:
            return replace(
                row, n=0, selected=0, share=_GONE, rate=_GONE, ratio=_GONE, below=None, small=True, excluded=None,
                rate_estimate=_NOTHING, estimate=_NOTHING, missing=None, unknown=None, adverse_impact=None,
                population=None, hidden=True,
            )  # fmt: skip
        if compared:
            return replace(row, estimate=_without_others(row.estimate), population=None)
        # Why an empty or an excluded row has no ratio does not depend on the comparator.
        own = row.empty or row.excluded is not None
        ratio = row.ratio if own else Undefined(GIVES_AWAY)
        return replace(
            row, ratio=ratio, below=None, estimate=_NOTHING, missing=None, unknown=None, adverse_impact=None,
            population=None, ratio_hidden=not own,
        )  # fmt: skip

    if len(gone) == len(table.rows):
        table = replace(table, median=None, median_ties=None, tied_rounds=None, undersized_rounds=None)
    comparator = table.comparator if compared else Undefined(GIVES_AWAY)
    rows = tuple(mask(row) for row in table.rows)
    return replace(table, comparator=comparator, rows=rows, equal_rates=None, multiplicity=None, larger=None)


def _without_others(estimate: AnyEstimate) -> AnyEstimate:
    """An impact ratio without what was computed from all rows: the wider interval, and the p-values of all pairs."""
    kept = tuple(one for one in estimate.intervals if one.kind != "simultaneous")
    tests = tuple(one for one in estimate.tests if one.name != PICKED)
    return replace(_alone(estimate), intervals=kept, tests=tests)


def _shown_comparator(comparator: object, gone: Iterable[str]) -> bool:
    """Whether it may be said who the comparator is. That there is none says that nobody hidden was selected."""
    return isinstance(comparator, str) and comparator not in gone


def printable(
    metrics: Metrics, spec: AuditSpec, policy: Policy, notify: Callable[[str], None] = ignore
) -> tuple[PrintedMetrics, frozenset[StratumCell]]:
    """Return what of ``metrics.json`` may be printed under the policy, and the cells that may not.

    `notify` is told every few seconds how far it is: there may be hundreds of tables.
    """
    if policy.cells.display != "suppress":
        return metrics, frozenset()
    hidden = hidden_cells(metrics, spec, policy, notify)
    return redacted(metrics, hidden, spec, policy), hidden


def redacted(
    metrics: Metrics, hidden: frozenset[StratumCell], spec: AuditSpec, policy: Policy
) -> SuppressedMetrics:
    """Return ``metrics.json`` without the numbers of hidden cells, nor what gives them away.

    Entries about hidden cells are left out whole: that one is there says that its group has people.
    """
    names = category_of(spec.groups, policy)
    hiding = {stratum for stratum, _ in hidden}
    by_levels = {levels for _, levels in hidden}
    kinds = {kind.name for kind in policy.tables}

    def shown(entry: Estimate) -> bool:
        where = items(entry.stratum)
        if where in hiding and _of_everybody(entry):
            return False
        return not any(cell_of(entry.stratum, side, names) in hidden for side in _sides(entry))

    def agreed(entry: Heterogeneity) -> bool:
        found = _sides(entry)
        return bool(found) and not any(cell_of({}, side, names)[1] in by_levels for side in found)

    def of_shown(entries: Iterable[OfGroup]) -> tuple[OfGroup, ...]:
        return tuple(e for e in entries if not e.group or cell_of(e.stratum, e.group, names) not in hidden)

    return SuppressedMetrics(
        experiment=metrics.experiment,
        rows=metrics.rows,
        strata_identical=metrics.strata_identical,
        suppressed=Suppressed(cells=len(hidden), reason=HIDDEN),
        tables=tuple(_redacted_table(table, hidden) for table in metrics.tables if table.kind in kinds),
        missingness=of_shown(metrics.missingness),
        label_mass=of_shown(metrics.label_mass),
        scores=of_shown(metrics.scores),
        estimates=tuple(
            replace(e, multiplicity=None, verdict=None, held=None) for e in metrics.estimates if shown(e)
        )
        if hidden
        else metrics.estimates,
        heterogeneity=tuple(replace(e, multiplicity=None) for e in metrics.heterogeneity if agreed(e))
        if hidden
        else metrics.heterogeneity,
        # How many tests there were, and which p-values are smaller, counts hidden ones too.
        multiplicity=_GONE if hidden else metrics.multiplicity,
    )


def _sides(entry: Estimate | Heterogeneity) -> list[Mapping[str, str]]:
    return [side for side in (entry.group, entry.reference) if side]


def _of_everybody(estimate: Estimate) -> bool:
    """Whether all groups are in it; those among the best k of each round make up k."""
    return not estimate.group or "k" in estimate.parameters


def _alone(estimate: AnyEstimate) -> AnyEstimate:
    """A number without what depends on others: how many tests there were, and so its verdict."""
    return (
        replace(estimate, multiplicity=None, verdict=None, held=None)
        if isinstance(estimate, Estimate)
        else estimate
    )


def _redacted_table(table: RateTable[RateRow], hidden: frozenset[StratumCell]) -> RateTable[PrintedRow]:
    where: Items = items(table.stratum)
    gone = {row.label for row in table.rows if (where, items(row.category)) in hidden}
    compared = not gone or _shown_comparator(table.comparator, gone)

    def printed(row: RateRow) -> PrintedRow:
        if not hidden:
            return row
        if row.label in gone:
            return HiddenRow(category=row.category, label=row.label, rate=_NOTHING, impact_ratio=_NOTHING)
        if compared:
            estimate = _without_others(row.impact_ratio) if gone else _alone(row.impact_ratio)
            population = None if gone else row.population
            return replace(row, impact_ratio=cast(Estimate, estimate), population=population)
        # Why an empty or an excluded row has no ratio does not depend on the comparator.
        own = row.n == 0 or row.excluded is not None
        why = (
            row.impact_ratio.value
            if own and isinstance(row.impact_ratio.value, Undefined)
            else Undefined(GIVES_AWAY)
        )
        return RowWithoutRatio(
            category=row.category,
            label=row.label,
            n=row.n,
            selected=row.selected,
            share_of_data=row.share_of_data,
            rate=row.rate,
            impact_ratio=HiddenEstimate(value=why, interval=why),
            excluded=row.excluded,
        )

    everybody = bool(hidden) and len(gone) == len(table.rows)
    return RateTable(
        kind=table.kind,
        family=table.family,
        stratum=table.stratum,
        total=table.total,
        unknown=table.unknown,
        comparator=table.comparator if compared else Undefined(GIVES_AWAY),
        rows=tuple(map(printed, table.rows)),
        # Of a table without any visible row, its people are all that is printed.
        median=None if everybody else table.median,
        median_ties=None if everybody else table.median_ties,
        tied_rounds=None if everybody else table.tied_rounds,
        undersized_rounds=None if everybody else table.undersized_rounds,
        classification=table.classification,
        equal_rates=None if gone else table.equal_rates,
        multiplicity=None if hidden else table.multiplicity,
        larger=None if gone or table.larger is None else _as_printed(table.larger),
    )


def _as_printed(table: RateTable[RateRow]) -> RateTable[PrintedRow]:
    return cast(RateTable[PrintedRow], table)


def redacted_sample(sample: Sample, spec: AuditSpec) -> Sample:
    """Return ``sample.json`` with its strata added up over the attributes of people."""
    added: dict[Items, Drawn] = {}
    for stratum in sample.drawn():
        kept = {name: value for name, value in stratum.levels.items() if name not in spec.groups.axes}
        before = added.get(items(kept), Drawn(kept, 0, 0))
        added[items(kept)] = Drawn(kept, before.available + stratum.available, before.drawn + stratum.drawn)
    return replace(sample, strata=tuple(one.as_dict() for one in added.values()))


def redacted_validation(validation: Validation) -> Validation:
    """Return ``validation.json`` without what tells of single groups, be it that a check of them is met.

    Left out are expectations about the groups, such as that each has people, and all of named suites, which may ask
    anything. What failed is told of those that are left.
    """
    suites = tuple(
        replace(suite, success=all(one.success for one in kept), expectations=kept)
        for suite in validation.suites
        if suite.suite is None
        and (kept := tuple(e for e in suite.expectations if e.column not in _OF_GROUPS))
    )
    failed = {one.severity for suite in suites for one in suite.expectations if not one.success}
    return replace(
        validation,
        severity_failed="error" if "error" in failed else "warning" if failed else None,
        suites=suites,
        completeness=None,
        beside=None,
        label_mass=None,
    )
