"""Margins: what difference is of no interest, by the plan, and the intervals that are held against it.

A small number of a small sample shows nothing: only an interval that lies inside the margin does. Two one-sided tests
(Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680) of each number at alpha / m, for the m
numbers of the audit that have a margin (Bonferroni); the categories of one table are simultaneous, so a table counts
once. The margin of ratios is the policy's guideline unless the spec gives one: 29 CFR 1607.4(D) takes a rate of at
least four fifths of the highest for no evidence of adverse impact. Other metrics have none of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from audit_lib.errors import SpecError
from audit_lib.measure.metric import METRICS, Measured, record_of
from audit_lib.measure.statutory.intervals import to_the_highest_of
from audit_lib.measure.statutory.rate_tables import ClusteredTable
from audit_lib.plan.hypotheses import TABLES, WITHOUT_VERDICT, margins_of
from audit_lib.policies import Policy
from audit_lib.results import Estimate, HeldToMargin, Interval, Undefined
from audit_lib.spec import AuditSpec

_AT_MOST_ONE: Final = ("share", "similarity", "AUC", "index")
"""Units in which no value is further than 1 from parity."""
LEAST_RATIO: Final = 0.5
"""A ratio that is lower than this is nobody's margin; it is a distance from 1 that somebody gave."""

MeasuredByName = Mapping[str, Measured]
Again = Callable[[int, str, AuditSpec], Measured]
"""Measures a metric again, in the part of this number, under another spec."""


def is_ratio(metric: str) -> bool:
    """Whether a metric's parity is 1 because it divides one rate by another.

    Examples
    --------
    >>> is_ratio("impact_ratio"), is_ratio("counterfactual_bleu"), is_ratio("score_gap")
    (True, False, False)
    """
    record = record_of(metric)
    return record.unit == "ratio" and record.parity == 1.0


def region(metric: str, margin: float) -> tuple[float, float]:
    """Return the least and the greatest value inside a margin.

    Examples
    --------
    >>> region("score_gap", 0.2), region("impact_ratio", 0.8)
    ((-0.2, 0.2), (0.8, 1.25))
    """
    if is_ratio(metric):
        return margin, 1 / margin
    parity = record_of(metric).parity or 0.0
    return parity - margin, parity + margin


def check_margins(spec: AuditSpec) -> None:
    """Refuse a margin that no number could be held against, or one in another unit than its metric.

    Raises
    ------
    SpecError
        If its metric is not measured, has no parity, or could not fail it.
    """
    for name, margin in spec.measure.margins.items():
        record = record_of(name)
        where = f"measure.margins: {name}"
        own = name if name in METRICS.names() else name.removesuffix("_gap")
        if own not in spec.measure.metrics:
            raise SpecError(f"{where} is not in measure.metrics; add it there, or leave it out here")
        if name == WITHOUT_VERDICT:
            raise SpecError(
                f"{where} has bounds and no verdict; give imputed_rate_gap a margin, or leave it out"
            )
        if record.parity is None:
            raise SpecError(f"{where} has no parity to be near to; leave it out")
        if is_ratio(name):
            if not LEAST_RATIO <= margin < 1:
                meant = f"; for a distance of {margin:g} from 1 write {1 - margin:g}" if margin < 1 else ""
                raise SpecError(
                    f"{where} is a ratio, and its margin is the lowest ratio that is of no interest: at least "
                    f"{LEAST_RATIO:g} and below 1, such as 0.8, and not {margin:g}{meant}"
                )
        elif record.unit in _AT_MOST_ONE and margin >= 1:
            meant = f"; for {margin:g} percent write {margin / 100:g}" if margin < 100 else ""
            raise SpecError(
                f"{where} is never further than 1 from parity, so that nothing could fail a margin of {margin:g}; give "
                f"one below 1{meant}"
            )


def held_to_margins(
    measured: Sequence[MeasuredByName], spec: AuditSpec, policy: Policy, again: Again
) -> list[MeasuredByName]:
    """Put next to each number with a margin the interval that is held against it.

    Parameters
    ----------
    measured : sequence of mapping of str to Measured
        What was measured in each part: metric -> what it gave.
    again : callable
        (number of the part, metric, spec) -> the same metric measured under that spec: estimates with a margin are
        measured a second time, at the level that all margins together need.
    """
    margins = margins_of(spec, policy)
    claims = sum(_claims(found, margins) for one in measured for found in one.values())
    level = 1 - 2 * spec.measure.alpha / max(claims, 1)
    wider = spec.model_copy(update={"measure": spec.measure.model_copy(update={"level": level})})
    wide = iter(
        _held_tables([t for one in measured for own in one.values() for t in own.tables], margins, level)
    )
    held: list[MeasuredByName] = []
    for number, one in enumerate(measured):
        found = dict(one)
        for name, own in one.items():
            tables = list(itertools.islice(wide, len(own.tables)))
            estimates = own.estimates
            if any(e.metric in margins and _has_number(e) for e in estimates):
                twins = again(number, name, wider).estimates
                pairs = zip(estimates, twins, strict=True)
                estimates = [_held(e, twin, margins.get(e.metric), level) for e, twin in pairs]
            found[name] = replace(own, tables=tables, estimates=estimates)
        held.append(found)
    return held


def keeps_parts(spec: AuditSpec, policy: Policy) -> bool:
    """Whether an estimate may have a margin, so that its part is measured a second time."""
    return not set(margins_of(spec, policy)) <= set(TABLES)


def _claims(found: Measured, margins: Mapping[str, float]) -> int:
    tables = sum(next(_compared(table), None) is not None for table in found.tables)
    return tables + sum(
        e.metric in margins and _has_number(e) and not isinstance(e.interval, Undefined)
        for e in found.estimates
    )


def _has_number(e: Estimate) -> bool:
    return e.is_defined or e.imputed is not None


def _compared(table: ClusteredTable) -> Iterator[Estimate]:
    """Yield the ratios of a table that have an interval which allows for the picking."""
    for row in table.rows:
        if row.label != table.comparator and row.impact_ratio.is_defined and row.impact_ratio.intervals:
            yield row.impact_ratio


def _held_tables(
    tables: Sequence[ClusteredTable], margins: Mapping[str, float], level: float
) -> list[ClusteredTable]:
    """Return the tables with what is held against their margins, found of all together."""
    own = [
        next((margins[one.metric] for one in _compared(table) if one.metric in margins), None)
        for table in tables
    ]
    counts = [
        {
            row.label: (row.selected, row.n)
            for row in table.rows
            if row.label == table.comparator or row.impact_ratio.is_defined
        }
        for table in tables
    ]
    wide = iter(
        to_the_highest_of(
            [
                (replace(table.clusters, level=level), pairs)
                for table, margin, pairs in zip(tables, own, counts, strict=True)
                if margin is not None
            ]
        )
    )
    return [
        table if margin is None else _held_table(table, margin, level, pairs.keys(), next(wide))
        for table, margin, pairs in zip(tables, own, counts, strict=True)
    ]


def _held_table(
    table: ClusteredTable,
    margin: float,
    level: float,
    compared: Collection[str],
    wide: Mapping[str, Interval],
) -> ClusteredTable:
    none = Undefined("no interval that allows for the comparator being picked by the data")
    rows = tuple(
        row
        if row.label == table.comparator or row.label not in compared
        else replace(
            row,
            impact_ratio=replace(
                row.impact_ratio,
                held=HeldToMargin(margin=margin, level=level, interval=wide.get(row.label, none)),
            ),
        )
        for row in table.rows
    )
    return replace(table, rows=rows)


def _held(one: Estimate, twin: Estimate, margin: float | None, level: float) -> Estimate:
    if margin is None:
        return one
    return replace(one, held=HeldToMargin(margin=margin, level=level, interval=twin.interval))
