"""Reliability by group: what calibration is made of, bin by bin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from audit_lib.documents.estimates import limits
from audit_lib.documents.reliability import Reliability, ReliabilityBin
from audit_lib.figures import ReliabilityPoint, reliability_diagram
from audit_lib.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Row, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval
from audit_lib.results import Undefined
from audit_lib.translation import archived, t

OF: Final = "calibration_gap"
"""The metric that the figure is printed with."""
_MOST_PANELS: Final = 12


def reliability(content: Content) -> Iterable[Block]:
    """Yield the figure of the headline and its numbers, or nothing where no score could be held to an outcome."""
    if content.policy.cells.display == "suppress" and OF in content.spec.measure.metrics:
        words = t(
            "Reliability by group is not printed: the policy hides small groups, and bins of scores are small."
        )
        yield Paragraph(text(words))
        return
    found = content.metrics.reliability or ()
    by_stratum: dict[str, list[Reliability]] = {}
    for one in found:
        by_stratum.setdefault(in_words(one.stratum), []).append(one)
    for where, own in by_stratum.items():
        if len(own) <= _MOST_PANELS:
            yield _chart(content, where, own)
        title = t("Reliability by group")
        name = f"{title}{f', {where}' if where else ''}"
        yield Fold(name, (_table(name, own),))


def _chart(content: Content, where: str, own: list[Reliability]) -> Chart:
    groups = {in_words(one.group): [_point(each) for each in one.bins] for one in own}
    words = t("{level:%} interval", level=content.spec.measure.level)
    wide, narrow = (reliability_diagram(groups, interval_name=words, width=width) for width in (760, 360))
    caption = t(
        "Scores against what turned out to be true, by group, in ten bins of scores. Below the dashed line people of "
        "the group did worse than their scores said, above it better. Each interval stands by itself."
    )
    return Chart(wide, narrow, f"{where}: {caption}" if where else caption)


def _point(one: ReliabilityBin) -> ReliabilityPoint:
    ends = limits(one.interval)
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return ReliabilityPoint(score=one.score, outcome=one.outcome, n=one.n, low=low, high=high)


def _table(title: str, own: list[Reliability]) -> Table:
    rows = tuple(
        Row(
            in_words(group.group),
            (
                Cell(f"{one.low:.1f} \N{EN DASH} {one.high:.1f}"),
                Cell(count(one.n)),
                Cell(decimal(one.score)),
                Cell(decimal(one.outcome)),
                _limits(one),
            ),
        )
        for group in own
        for one in group.bins
    )
    columns = (
        Column(t("Group"), numeric=False), Column(t("Scores")), Column(t("n")), Column(t("Mean score")),
        Column(t("Share with the outcome")), Column(t("Interval")),
    )  # fmt: skip
    methods = dict.fromkeys(
        archived(ends.method)
        for group in own
        for one in group.bins
        if (ends := limits(one.interval)) is not None
    )
    notes = [t("Interval: {method}.", method=method) for method in list(methods)[:2]]
    return Table(title, columns, rows, tuple(notes))


def _limits(one: ReliabilityBin) -> Cell:
    if isinstance(one.interval, Undefined):
        return Cell(t(UNDEFINED), note=archived(one.interval.reason))
    return Cell(interval(one.interval.low, one.interval.high, 3))
