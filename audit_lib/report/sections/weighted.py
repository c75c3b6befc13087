"""What sampling weights give: effective numbers of people, weighted rates and their ratio, below a metric's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from audit_lib.report.blocks import Block, Cell, Column, Row, Table
from audit_lib.report.numbers import UNDEFINED, decimal, half_up, interval
from audit_lib.results import Estimate, Interval, Undefined, WeightedRate
from audit_lib.translation import archived, t


def weighted(title: str, estimates: Sequence[Estimate], label: Callable[[Estimate], str]) -> list[Block]:
    """Make the table, or none where the audit has no sampling weights.

    Parameters
    ----------
    title : str
        Of the metric's own table.
    estimates : sequence of Estimate
        Its rows.
    label : callable
        What a row is called.
    """
    found = [(one, one.weighted) for one in estimates if one.weighted is not None]
    if not found:
        return []
    rates = any(own.rate_group is not None for _, own in found)
    rows = []
    for one, own in found:
        cells = [Cell(half_up(Fraction(n), 1)) for n in (own.effective_group, own.effective_reference)]
        if rates:
            for rate in (own.rate_group, own.rate_reference):
                cells += _rate(rate)
            cells += [_value(own.ratio), _limits(own.ratio_interval)]
        rows.append(Row(label(one), tuple(cells)))
    columns = [
        Column(t("Group against reference"), numeric=False),
        Column(t("Effective n, group")),
        Column(t("Effective n, reference")),
    ]
    if rates:
        columns += [
            Column(t("Weighted rate, group")), Column(t("Interval")), Column(t("Weighted rate, reference")),
            Column(t("Interval")), Column(t("Weighted ratio")), Column(t("Interval")),
        ]  # fmt: skip
    notes = [
        t(
            "The value above is weighted: each row stands for as many people of the population as its sampling weight "
            "says, and n counts rows. The effective n is Kish's, the number of equally weighted rows that these are "
            "worth. Intervals take weights as known and clusters as drawn independently; strata of the design are "
            "not used."
        )
    ]
    if rates:
        notes.append(
            t(
                "The weighted ratio is over the reference of the spec. It is no impact ratio of a law, which "
                "counts people."
            )
        )
    return [Table(t("{title}: by sampling weights", title=title), tuple(columns), tuple(rows), tuple(notes))]


def _rate(rate: WeightedRate | None) -> list[Cell]:
    return [Cell(""), Cell("")] if rate is None else [Cell(decimal(rate.value)), _limits(rate.interval)]


def _value(value: float | Undefined | None) -> Cell:
    if isinstance(value, Undefined):
        return Cell(t(UNDEFINED), note=archived(value.reason))
    return Cell("" if value is None else decimal(value))


def _limits(found: Interval | Undefined | None) -> Cell:
    if isinstance(found, Undefined):
        return Cell(t(UNDEFINED), note=archived(found.reason))
    return Cell("" if found is None else interval(found.low, found.high, 3))
