"""What people whose true outcome is not known could change in the gaps of a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from audit_lib.documents.estimates import limits
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Block, Cell, Column, Row, Table
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval, signed
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.translation import archived, t


def missing_outcomes(
    title: str, estimates: Sequence[Estimate], label: Callable[[Estimate], str]
) -> list[Block]:
    """Make the table, or none where no outcome is missing.

    Parameters
    ----------
    title : str
        Of the metric's own table.
    estimates : sequence of Estimate
        Its rows.
    label : callable
        What a row is called.
    """
    found = [(one, one.missing_outcomes) for one in estimates if one.missing_outcomes is not None]
    if not found:
        return []
    sign = record_of(found[0][0].metric).signed
    assumed = any(own.at_random is not None for _, own in found)
    rows = []
    for one, own in found:
        bounds = own.bounds
        ends = None if isinstance(bounds, Undefined) else interval(*bounds, 3, sign=sign)
        cells = [
            Cell(count(own.group)),
            Cell(count(own.reference)),
            Cell(t(UNDEFINED), note=archived(bounds.reason))
            if isinstance(bounds, Undefined)
            else Cell(ends or ""),
            _limits(own.interval, sign=sign),
        ]
        if assumed:
            value = own.at_random
            undefined = isinstance(value, Undefined)
            cells += [
                Cell(t(UNDEFINED), note=archived(value.reason)) if isinstance(value, Undefined)
                else Cell(signed(value) if sign else decimal(value)) if value is not None else Cell(""),
                Cell("") if undefined or own.at_random_interval is None else _limits(own.at_random_interval, sign=sign),
            ]  # fmt: skip
        rows.append(Row(label(one), tuple(cells)))
    columns = [
        Column(t("Group against reference"), numeric=False),
        Column(t("Outcome not known, group")),
        Column(t("Outcome not known, reference")),
        Column(t("Bounds")),
        Column(t("Interval of the bounds")),
    ]
    if assumed:
        columns += [Column(t("If missing at random")), Column(t("Interval"))]
    notes = [
        t(
            "The value above is of the people whose true outcome is known. The bounds are the least and the greatest "
            "gap, whatever the outcomes of the others are; their interval adds the error of sampling at both ends."
        )
    ]
    if assumed:
        notes.append(
            t(
                "If outcomes are missing at random among like people, as the spec says, those who are known stand for "
                "the others of their group, decision and kind. The data cannot show whether that is so."
            )
        )
    return [Table(t("{title}: missing outcomes", title=title), tuple(columns), tuple(rows), tuple(notes))]


def _limits(found: Interval | Undefined, *, sign: bool) -> Cell:
    if isinstance(found, Undefined):
        return Cell(t(UNDEFINED), note=archived(found.reason))
    ends = limits(found)
    return Cell(t(UNDEFINED) if ends is None else interval(ends.low, ends.high, 3, sign=sign))
