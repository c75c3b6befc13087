"""Which numbers lie inside the plan's margins, each next to the interval that shows it."""

from __future__ import annotations

from audit_lib.documents.parameters import DESIGN
from audit_lib.measure.margins import is_ratio, region
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, interval, signed
from audit_lib.report.verdict_words import verdict_cell
from audit_lib.results import Estimate, HeldToMargin, Undefined
from audit_lib.translation import Filled, t

_DIGITS = 4


def margins(content: Content) -> Section | None:
    """Make the section; none where no number has a margin but the ratios, whose tables say it."""
    held = [(one, one.held) for one in content.metrics.estimates if one.held is not None]
    if not held:
        return None
    columns = (
        Column(t("Metric and groups"), numeric=False),
        Column(t("Verdict"), numeric=False),
        Column(t("Value")),
        Column(t("Margin")),
        Column(t("Interval held against it")),
    )
    words = t(
        "The plan says for some metrics which distance from parity is of no interest. Groups are called equivalent "
        "only where the whole interval is inside: two one-sided tests at {alpha:g}, shared among all numbers with a "
        "margin, so that each interval has the level {shared_level:.4g}.",
        alpha=content.spec.measure.alpha,
        shared_level=held[0][1].level,
    )
    rows = tuple(_row(estimate, own) for estimate, own in held)
    table = Table(t("Held against the margin"), columns, rows)
    return Section("margins", t("Margins"), (Paragraph(text(words)), table))


def _row(estimate: Estimate, held: HeldToMargin) -> Row:
    ratio = is_ratio(estimate.metric)
    parity = record_of(estimate.metric).parity or 0.0
    found = held.interval
    limits = (
        t(UNDEFINED)
        if isinstance(found, Undefined)
        else interval(found.low, found.high, _DIGITS, sign=not parity)
    )
    value = t(UNDEFINED) if isinstance(estimate.value, Undefined) else _number(estimate.value, parity)
    around = "\N{PLUS-MINUS SIGN}" if not parity else f"{parity:g} \N{PLUS-MINUS SIGN} "
    low, high = region(estimate.metric, held.margin)
    inside = t("{low} to {high}", low=f"{low:g}", high=f"{high:g}") if ratio else f"{around}{held.margin:g}"
    return Row(
        Filled(", ").join(filter(None, [t(record_of(estimate.metric).title), _whom(estimate)])),
        (verdict_cell(estimate, reason=True), Cell(value), Cell(inside), Cell(limits)),
        note=Filled(", ").join(filter(None, [_parameters(estimate), in_words(dict(estimate.stratum))])),
    )


def _number(value: float, parity: float) -> str:
    words = signed(value, _DIGITS)
    return words if not parity else words.removeprefix("+")


def _whom(estimate: Estimate) -> str:
    group, reference = in_words(estimate.group), in_words(estimate.reference)
    return t("{group} against {reference}", group=group, reference=reference) if reference else group


def _parameters(estimate: Estimate) -> str:
    return ", ".join(f"{key} {estimate.parameters[key]}" for key in DESIGN if key in estimate.parameters)
