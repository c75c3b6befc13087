"""Numbers of groups whose members are known as probabilities only: bounds, their intervals, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import adjusted_p, first_p, interval_method, limits
from audit_lib.figures import Dot
from audit_lib.figures.by_metric import draw
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Block, Cell, Chart, Column, Paragraph, Row, Table, text
from audit_lib.report.content import Content
from audit_lib.report.method_words import method_words
from audit_lib.report.numbers import UNDEFINED, count, decimal, half_up, interval, p_or_dash, signed
from audit_lib.report.sections.left_out import left_out
from audit_lib.report.verdict_words import verdict_cell
from audit_lib.results import Estimate, ImputedBounds, Undefined
from audit_lib.translation import Filled, archived, mark, t

_STATED: Final = mark(
    "Nobody was asked for the group, so that there are bounds and no value: all that the probabilities of the people "
    "allow, whoever of those with the same probabilities was selected. One thing is assumed, and these data cannot "
    "show it: that the probabilities are right for these people, in each part that is printed; of people with the same "
    "ones, that share belongs to the group. If it is wrong, bounds and intervals may miss the truth."
)
_COUNTED: Final = mark(
    "Nobody was asked for the group, so that there are bounds and no value: all that the labels and their counted "
    "errors allow, whoever of those with the same label was selected. One thing is assumed, and these data cannot "
    "show it: that the {n} people whose label and group are both known are like those with the same label here, in "
    "each part that is printed. The interval allows for how few were counted. If the assumption is wrong, bounds and "
    "intervals may miss the truth."
)
_POINT: Final = mark(
    "The weighted estimate counts each person by the own probability. It is the value only if group and decision go "
    "together by chance alone among people with the same probabilities, which is what an audit is to find out. It is "
    "biased where they do not: groups may look more equal than they are, or less."
)
_CAPTION: Final = mark(
    "{title}: bounds (thick), the {level:%} interval of all that lies between them (thin), and the weighted estimate "
    "(open mark)."
)
_MOST_ROWS: Final = 40


def imputed_bounds(
    content: Content,
    title: str,
    estimates: Sequence[Estimate],
    label: Callable[[Estimate], str],
    *,
    leading: bool,
) -> Iterable[Block]:
    """Yield what is assumed, a figure and a table for each kind of number: rates, or differences, or ratios.

    Parameters
    ----------
    title : str
        Of the metric in a stratum.
    estimates : sequence of Estimate
        Its rows; at least one has bounds.
    label : callable
        What a row is called.
    leading : bool
        Whether this is the headline, which alone has the words and the figure.
    """
    if leading:
        counted = max((e.imputed.counted or 0 for e in estimates if e.imputed is not None), default=0)
        yield Paragraph(text(t(_COUNTED, n=count(counted)) if counted else t(_STATED)))
        if chart := _chart(content, title, estimates, label):
            yield chart
        yield Paragraph(text(t(_POINT)))
    yield _table(content, title, estimates, label)


def _chart(
    content: Content, title: str, estimates: Sequence[Estimate], label: Callable[[Estimate], str]
) -> Chart | None:
    dots = []
    for e in estimates:
        if e.imputed is None:
            continue
        ends, point = limits(e.interval), e.imputed.weighted
        low, high = (None, None) if ends is None else (ends.low, ends.high)
        if low is None:
            low, high = e.imputed.bounds
        value = None if isinstance(point, Undefined) else point
        dots.append(
            Dot(label=label(e), value=value, printed=_bounds(e, e.imputed), low=low, high=high, hollow=True,
                inner=e.imputed.bounds)
        )  # fmt: skip
    if not dots or len(dots) > _MOST_ROWS:
        return None
    record = record_of(estimates[0].metric)
    signs = record.signed and bool(estimates[0].reference)
    reach = max(1e-6, *(abs(end) for d in dots for end in (d.low, d.high, d.value) if end is not None)) * 1.08
    span = (-reach, reach) if signs else (0.0, max(reach, record.parity or 0.0))
    said = "; ".join(f"{dot.label}: {dot.printed}" for dot in dots)
    wide, narrow = (
        draw(record.figure, title, said, dots, span=span, origin=record.parity, width=width)
        for width in (760, 360)
    )
    return Chart(wide, narrow, t(_CAPTION, title=title, level=content.spec.measure.level))


def _table(
    content: Content, title: str, estimates: Sequence[Estimate], label: Callable[[Estimate], str]
) -> Table:
    tested, judged = any(e.tests for e in estimates), any(e.verdict is not None for e in estimates)
    rows = []
    for e in estimates:
        own = e.imputed
        cells = [Cell(t(UNDEFINED), note=_reason(e)) if own is None else Cell(_bounds(e, own)), _limits(e)]
        if tested:
            cells += [Cell(p_or_dash(x, content.spec.measure.alpha)) for x in (first_p(e), adjusted_p(e))]
        if judged:
            cells.append(verdict_cell(e))
        cells += [Cell("") if own is None else _weighted(e, own), Cell(_members(own)), Cell(count(e.n))]
        cells.append(Cell(count(e.clusters or 0)))
        rows.append(Row(label(e), tuple(cells), note=t("few rows") if "small_cell" in e.flags else ""))
    columns = [Column(t("Groups"), numeric=False), Column(t("Bounds")), Column(t("Interval of the bounds"))]
    columns += [Column("p"), Column(t("p adjusted for all tests"))] if tested else []
    columns += [Column(t("Verdict"), numeric=False)] if judged else []
    columns += [
        Column(t("Weighted estimate")),
        Column(t("Members by probabilities")),
        Column(t("n")),
        Column(t("Clusters")),
    ]
    methods = dict.fromkeys(method_words(e.method, interval_method(e)) for e in estimates)
    notes = (*list(methods)[:2], *left_out(estimates))
    return Table(title, tuple(columns), tuple(rows), notes)


def _bounds(e: Estimate, own: ImputedBounds) -> str:
    return interval(*own.bounds, 3, sign=_signs(e))


def _signs(e: Estimate) -> bool:
    return record_of(e.metric).signed and bool(e.reference)


def _limits(e: Estimate) -> Cell:
    if isinstance(e.interval, Undefined):
        return Cell(t(UNDEFINED), note=archived(e.interval.reason))
    return Cell(interval(e.interval.low, e.interval.high, 3, sign=_signs(e)))


def _weighted(e: Estimate, own: ImputedBounds) -> Cell:
    if isinstance(own.weighted, Undefined):
        return Cell(t(UNDEFINED), note=archived(own.weighted.reason))
    return Cell(signed(own.weighted) if _signs(e) else decimal(own.weighted))


def _members(own: ImputedBounds | None) -> str:
    if own is None:
        return ""
    sizes = [own.members, *([] if own.reference_members is None else [own.reference_members])]
    return Filled(" / ").join(half_up(Fraction(size), 1) for size in sizes)


def _reason(e: Estimate) -> str:
    return archived(e.value.reason) if isinstance(e.value, Undefined) else ""
