"""Which numbers are within what the spec tolerates, each next to the interval that shows it."""

from __future__ import annotations

from audit_lib.documents.parameters import DESIGN
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, interval, signed
from audit_lib.results import Equivalence, Estimate, Undefined
from audit_lib.translation import archived, mark, t

_DIGITS = 4
_WORDS = {"within": mark("within"), "outside": mark("outside")}


def tolerance(content: Content) -> Section | None:
    """Make the section; none where the spec tolerates nothing, or no number of such a metric is printed."""
    judged = [(one, one.equivalence) for one in content.metrics.estimates if one.equivalence is not None]
    if not judged:
        return None
    rows = [_row(estimate, verdict) for estimate, verdict in judged]
    columns = (
        Column(t("Metric and groups"), numeric=False),
        Column(t("Verdict"), numeric=False),
        Column(t("Value")),
        Column(t("Tolerance")),
        Column(t("Interval held against it")),
    )
    alpha = content.spec.measure.alpha
    words = t(
        "The spec says for some metrics how far from parity a number may be. A number is called within its tolerance "
        "only where its whole interval is: two one-sided tests at {alpha:g}, by an interval of level {level:g}. It is "
        "called outside where none of the interval is inside. Otherwise this audit cannot tell, however small the "
        "number is.",
        alpha=alpha,
        level=1 - 2 * alpha,
    )
    counted = t(
        "Of {n} numbers {within} are within, {outside} outside, and of {unknown} it cannot be told. Each verdict "
        "stands by itself: among many, some are wrong by chance.",
        n=len(judged),
        within=sum(one.verdict == "within" for _, one in judged),
        outside=sum(one.verdict == "outside" for _, one in judged),
        unknown=sum(isinstance(one.verdict, Undefined) for _, one in judged),
    )
    table = Table(t("Held against the tolerance"), columns, tuple(rows), stacked=True)
    return Section("tolerance", t("Tolerance"), (Paragraph(text(words)), Paragraph(text(counted)), table))


def _row(estimate: Estimate, verdict: Equivalence) -> Row:
    parity = record_of(estimate.metric).parity or 0.0
    found = verdict.interval
    limits = (
        t(UNDEFINED)
        if isinstance(found, Undefined)
        else interval(found.low, found.high, _DIGITS, sign=not parity)
    )
    value = t(UNDEFINED) if isinstance(estimate.value, Undefined) else _number(estimate.value, parity)
    around = "\N{PLUS-MINUS SIGN}" if not parity else f"{parity:g} \N{PLUS-MINUS SIGN} "
    return Row(
        ", ".join(filter(None, [t(record_of(estimate.metric).title), _whom(estimate)])),
        (_said(verdict), Cell(value), Cell(f"{around}{verdict.tolerance:g}"), Cell(limits)),
        note=", ".join(filter(None, [_parameters(estimate), in_words(dict(estimate.stratum))])),
    )


def _said(verdict: Equivalence) -> Cell:
    if isinstance(verdict.verdict, Undefined):
        return Cell(t("cannot be told"), note=archived(verdict.verdict.reason), tone="muted")
    return Cell(t(_WORDS[verdict.verdict]), tone="flag" if verdict.verdict == "outside" else "plain")


def _number(value: float, parity: float) -> str:
    words = signed(value, _DIGITS)
    return words if not parity else words.removeprefix("+")


def _whom(estimate: Estimate) -> str:
    group, reference = in_words(estimate.group), in_words(estimate.reference)
    return t("{group} against {reference}", group=group, reference=reference) if reference else group


def _parameters(estimate: Estimate) -> str:
    return ", ".join(f"{key} {estimate.parameters[key]}" for key in DESIGN if key in estimate.parameters)
