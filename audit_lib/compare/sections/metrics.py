"""Every metric that all runs measured, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.compare.sections.estimates import contrast, in_headline, in_order, plain, setting
from audit_lib.compare.sections.manipulation import METRIC as MANIPULATION
from audit_lib.documents.comparison import ComparedEstimate, ComparedMetric, Comparison
from audit_lib.documents.estimates import interval_method
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
    text,
)
from audit_lib.report.numbers import count, p_value
from audit_lib.report.sections.estimates import (
    count_of,
    dot_of,
    forest_chart,
    limits_of,
    mark_of,
    reason_of,
    remarks_of,
    scale_of,
    tone_of,
    value_of,
)
from audit_lib.translation import percent_of, t

_DASH: Final = "\N{EN DASH}"
_IN_FULL: Final = 60
"""Estimates of a metric up to which each has a line with its interval, p-values and numbers."""
_DRAWN: Final = 84
_MOST_METHODS: Final = 6
"""Ways to compute that are said below one table."""
"""Estimates that one chart holds."""
_PLACES: Final = {"standardised_effect": "effects", "adverse_impact_ratio": "impact"}


def metrics(document: Comparison) -> list[Section]:
    """Make a section a metric, and one of what only some runs measured."""
    found = []
    for metric in document.metrics:
        estimates = [e for e in document.estimates if e.metric == metric.name and in_headline(document, e)]
        if metric.shared and estimates and metric.name != MANIPULATION:
            found.append(_metric(document, metric, estimates))
    alone = [metric for metric in document.metrics if not metric.shared]
    if alone:
        lines = tuple(
            text(
                t(
                    "{metric}: measured in {runs} only.",
                    metric=t(metric.title),
                    runs="; ".join(document.runs[number].label for number in metric.runs),
                )
            )
            for metric in alone
        )
        found.append(Section("not-shared", t("What only some runs measured"), (Bullets(lines),)))
    return found


def _metric(document: Comparison, metric: ComparedMetric, estimates: Sequence[ComparedEstimate]) -> Section:
    blocks: list[Block] = [Paragraph(text(_words(metric)))]
    if len(estimates) <= _IN_FULL:
        blocks += _in_full(document, metric, estimates)
    else:
        blocks += _as_matrix(document, metric, estimates)
    return Section(_PLACES.get(metric.name, metric.name.replace("_", "-")), t(metric.title), tuple(blocks))


def _words(metric: ComparedMetric) -> str:
    if metric.name == "standardised_effect":
        return t(
            "Effect of each attribute on a model's score, in standard deviations of that model's own scores, with the "
            "other attributes held equal. Models spread their scores differently, so equal effects need not be equal "
            "in points."
        )
    if metric.name == "adverse_impact_ratio":
        return t(
            "Real applicants: the share of each group that a model rates at or above each threshold, over the "
            "reference's. The reference is fixed, not the group with the highest share. The thick bar is the 70% "
            "interval."
        )
    if metric.parity is None:
        return t("No value of it means that groups fare the same.")
    if metric.unit == "score":
        return t(
            "{parity} means that a group and its reference fare the same. It is in the unit of each model's own "
            "scores, which models spread differently.",
            parity=f"{metric.parity:g}",
        )
    return t("{parity} means that a group and its reference fare the same.", parity=f"{metric.parity:g}")


def _in_full(
    document: Comparison, metric: ComparedMetric, estimates: Sequence[ComparedEstimate]
) -> Iterator[Block]:
    """A chart and a table for each contrast, a line an estimate."""
    parity, sign = _parity(metric), _sign(metric)
    span = scale_of((dot_of(plain(e), sign=sign) for e in estimates), parity)
    for words in in_order(map(contrast, estimates)):
        own = [e for e in estimates if contrast(e) == words]
        settings = in_order(map(setting, own))
        yield Heading(words)
        if metric.parity is not None:
            groups = {
                one if len(settings) > 1 else "": [
                    dot_of(plain(e), sign=sign, label=document.runs[e.run].label)
                    for e in own
                    if setting(e) == one
                ]
                for one in settings
            }
            yield from forest_chart(words, groups, parity, words + ", " + _caption(document, metric), span)
        yield _lines(document, metric, words, own, settings)


def _lines(
    document: Comparison,
    metric: ComparedMetric,
    words: str,
    estimates: Sequence[ComparedEstimate],
    settings: Sequence[str],
) -> Table:
    alpha, sign = document.multiplicity.alpha, _sign(metric)
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Ratio") if _parity(metric) == 1.0 else t("Value")),
        Column(t("Interval")),
        Column("p"),
        Column(t("p, adjusted")),
        Column(t("n, group")),
        Column(t("n, reference")),
        Column(t("Clusters")),
    )
    ordered = sorted(estimates, key=lambda e: (settings.index(setting(e)), e.run))
    rows = tuple(
        Row(
            document.runs[e.run].label,
            (
                Cell(
                    value_of(plain(e), sign=sign),
                    mark=mark_of(plain(e)),
                    note=reason_of(plain(e)),
                    tone=tone_of(plain(e)),
                ),
                Cell(limits_of(plain(e), sign=sign)),
                *(Cell(p_value(p, alpha) if p is not None else _DASH) for p in (e.p_value, e.p_holm)),
                *(Cell(count_of(n)) for n in (e.n_group, e.n_reference, e.clusters)),
            ),
            note=setting(e) if len(settings) > 1 else "",
        )
        for e in ordered
    )
    caption = t("{metric}: {what}", metric=t(metric.title), what=words)
    notes = (*_methods(document, estimates), *remarks_of(map(plain, estimates)))
    return Table(caption, columns, rows, notes)


def _as_matrix(
    document: Comparison, metric: ComparedMetric, estimates: Sequence[ComparedEstimate]
) -> Iterator[Block]:
    """A table for each setting, with the models below each other and the groups side by side."""
    parity, sign, alpha = _parity(metric), _sign(metric), document.multiplicity.alpha
    span = scale_of((dot_of(plain(e), sign=sign) for e in estimates), parity)
    settings = in_order(map(setting, estimates))
    for number, words in enumerate(settings):
        own = [e for e in estimates if setting(e) == words]
        contrasts = in_order(map(contrast, own))
        if len(settings) > 1:
            yield Heading(words)
        if number == 0 and len(own) <= _DRAWN and metric.parity is not None:
            groups = {
                one: [
                    dot_of(plain(e), sign=sign, label=document.runs[e.run].label)
                    for e in own
                    if contrast(e) == one
                ]
                for one in contrasts
            }
            title = f"{t(metric.title)}, {words}" if words else t(metric.title)
            yield from forest_chart(title, groups, parity, title + ", " + _caption(document, metric), span)
        by_place = {(e.run, contrast(e)): e for e in own}
        rows = tuple(
            Row(
                run.label,
                tuple(_cell(by_place.get((place, one)), sign=sign, alpha=alpha) for one in contrasts),
            )
            for place, run in enumerate(document.runs)
        )
        columns = (Column(t("Model"), numeric=False), *(Column(one) for one in contrasts))
        note = t(
            "Below each value its interval. Bold: p below {alpha} after adjusting for all {tests} tests of all runs.",
            alpha=f"{alpha:g}",
            tests=count(document.multiplicity.family_size),
        )
        caption = t("{metric}: {what}", metric=t(metric.title), what=words) if words else t(metric.title)
        notes = (note, *_methods(document, own), *remarks_of(map(plain, own)))
        yield Table(caption, columns, rows, notes)


def _cell(e: ComparedEstimate | None, *, sign: bool, alpha: float) -> Cell:
    if e is None:
        return Cell(_DASH, note=t("not printed"))
    one = plain(e)
    found = e.p_holm is not None and e.p_holm < alpha
    note = reason_of(one) or limits_of(one, sign=sign)
    return Cell(
        value_of(one, sign=sign), mark=mark_of(one), note=note, tone="flag" if found else tone_of(one)
    )


def _methods(document: Comparison, estimates: Sequence[ComparedEstimate]) -> tuple[str, ...]:
    """Say how numbers and intervals were made; of which models, where they were made in several ways."""
    by: dict[str, dict[int, None]] = {}
    for e in estimates:
        words = t("{method}; interval: {interval}", method=t(e.method), interval=interval_method(plain(e)))
        by.setdefault(words, {})[e.run] = None
    everybody = {e.run for e in estimates}
    lines = [
        words
        if runs.keys() == everybody
        else t("{models}: {method}", models=", ".join(document.runs[run].label for run in runs), method=words)
        for words, runs in by.items()
    ]
    if len(lines) <= _MOST_METHODS:
        return tuple(lines)
    more = t("{count} more ways are in comparison.csv.", count=count(len(lines) - _MOST_METHODS))
    return (*lines[:_MOST_METHODS], more)


def _caption(document: Comparison, metric: ComparedMetric) -> str:
    level, parity = percent_of(document.level), f"{_parity(metric):g}"
    if metric.name == "adverse_impact_ratio":
        return t(
            "with {level} (thin) and 70% (thick) intervals; the line at {parity} is parity.",
            level=level,
            parity=parity,
        )
    return t("with {level} intervals; the line at {parity} is parity.", level=level, parity=parity)


def _parity(metric: ComparedMetric) -> float:
    return 0.0 if metric.parity is None else metric.parity


def _sign(metric: ComparedMetric) -> bool:
    return metric.signed and _parity(metric) != 1.0
