"""Models tested against each other on the same applications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.compare.sections.estimates import contrast, in_headline, setting
from audit_lib.documents.comparison import Comparison, PairedContrast, PairedDifference
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    text,
)
from audit_lib.report.exact_tables import group_in_words
from audit_lib.report.numbers import count, decimal, interval, p_value, signed
from audit_lib.results import Undefined
from audit_lib.translation import archived, t

_DASH: Final = "\N{EN DASH}"
_MOST: Final = 24
"""Lines of a metric's table; the rest are in ``differences.csv``."""

PairedLine = tuple[PairedContrast, PairedDifference]


def between_models(document: Comparison) -> list[Section]:
    """Say for each metric which models differ, and which metrics test none."""
    words = t(
        "All runs judged the same applications, so two models are compared application by application: what both share "
        "about one, such as its merit, drops out. Each difference is the first model's value less the second's. p is "
        "adjusted (Holm) for the pairs of models of one estimate, and again for all {tests} tests between models.",
        tests=count(document.paired.family_size),
    )
    method = t("Method: {method}.", method=t(document.paired.method))
    blocks: list[Block] = [Paragraph(text(words)), Paragraph(text(method))]
    for metric in document.metrics:
        lines = [
            (one, pair)
            for one in document.paired.contrasts
            if one.metric == metric.name and in_headline(document, one)
            for pair in one.pairs
        ]
        if lines:
            blocks += [Heading(t(metric.title)), *_metric(document, metric.title, lines)]
    blocks += _rates(document)
    none: list[Text] = [
        text(t("{metric}: {reason}.", metric=t(metric.title), reason=archived(metric.tested.reason)))
        for metric in document.metrics
        if metric.shared and isinstance(metric.tested, Undefined)
    ]
    if none:
        blocks += [Heading(t("Metrics by which no two models are tested")), Bullets(tuple(none))]
    return [Section("between-models", t("Models tested against each other"), tuple(blocks))]


def _rates(document: Comparison) -> Iterator[Block]:
    """Impact ratios of categories, which are in tables of their own and not among the metrics."""
    compared = {metric.name for metric in document.metrics}
    names = dict.fromkeys(one.metric for one in document.paired.contrasts if one.metric not in compared)
    for name in names:
        lines = [
            (one, pair)
            for one in document.paired.contrasts
            if one.metric == name and in_headline(document, one)
            for pair in one.pairs
        ]
        if not lines:
            continue
        title = record_of(name).title
        yield Heading(t(title))
        words = t(
            "The comparator is {reference} in every model, named in the spec before any answer, and not the category "
            "with the highest rate, which may differ between models. The interval is of the difference of the "
            "logarithms of the two ratios.",
            reference="; ".join(dict.fromkeys(group_in_words(one.reference) for one, _ in lines)),
        )
        if name == "scoring_rate_impact_ratio":
            words += " " + t("Each model's median is taken as fixed.")
        yield Paragraph(text(words))
        yield from _metric(document, title, lines)


def _metric(document: Comparison, title: str, lines: Sequence[PairedLine]) -> list[Block]:
    alpha = document.paired.alpha
    tested = [pair for _, pair in lines if pair.p_value is not None]
    found = sum(pair.p_holm_models is not None and pair.p_holm_models < alpha for pair in tested)
    kept = sum(pair.p_holm is not None and pair.p_holm < alpha for pair in tested)
    said = t(
        "{found} of {tests} differ at {alpha} after adjusting for the pairs of models, {kept} after adjusting for all "
        "tests.",
        found=count(found),
        tests=count(len(tested)),
        alpha=f"{alpha:g}",
        kept=count(kept),
    )
    shown = lines if len(lines) <= _MOST else sorted(lines, key=_by_evidence)[:_MOST]
    if len(shown) < len(lines):
        said += " " + t(
            "The {shown} with the smallest p are shown; all are in differences.csv.", shown=count(len(shown))
        )
    return [Paragraph(text(said)), _table(document, title, shown)]


def _by_evidence(line: PairedLine) -> tuple[bool, float]:
    p = line[1].p_value
    return p is None, 1.0 if p is None else p


def _table(document: Comparison, title: str, lines: Sequence[PairedLine]) -> Table:
    ratio = lines[0][0].scale == "ratio"
    columns = (
        Column(t("Models"), numeric=False),
        Column(t("Group"), numeric=False),
        Column(t("Ratio of ratios") if ratio else t("Difference")),
        Column(t("Interval")),
        Column("p"),
        Column(t("p, pairs of models")),
        Column(t("p, all tests")),
        Column(t("Rounds") if lines[0][0].unit == "round" else t("Applications")),
    )
    caption = t("{metric}, pairs of models", metric=t(title))
    return Table(caption, columns, tuple(_row(document, *line) for line in lines))


def _row(document: Comparison, one: PairedContrast, pair: PairedDifference) -> Row:
    alpha, ratio = document.paired.alpha, one.scale == "ratio"
    first, second = document.runs[pair.first].label, document.runs[pair.second].label
    words = (
        t("{first} over {second}", first=first, second=second)
        if ratio
        else t("{first} less {second}", first=first, second=second)
    )
    if isinstance(pair.interval, Undefined):
        ends, why = _DASH, archived(pair.interval.reason)
    else:
        ends, why = interval(pair.interval.low, pair.interval.high, 3, sign=not ratio), ""
    found = pair.p_holm_models is not None and pair.p_holm_models < alpha
    return Row(
        words,
        (
            Cell(contrast(one), note=setting(one)),
            Cell(
                decimal(pair.value) if ratio else signed(pair.value),
                tone="flag" if found else "plain",
                note=why,
            ),
            Cell(ends),
            *(
                Cell(_DASH if p is None else p_value(p, alpha))
                for p in (pair.p_value, pair.p_holm_models, pair.p_holm)
            ),
            Cell(count(pair.units)),
        ),
    )
