"""The part of the monitor's page that says to what a change is to be attributed: a sentence, a chart, the numbers."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.attribution import Attribution, FieldShift
from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.monitor.attribution_words import cause_name
from audit_lib.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Paragraph, Row, Table, text
from audit_lib.report.numbers import UNDEFINED
from audit_lib.results import Interval, Undefined

_ROOM: Final = 1.1


def attribution_blocks(one: Attribution) -> list[Block]:
    """Return what the page shows of an attribution."""
    said: list[Block] = [Paragraph(text(one.sentence)), _chart(one)]
    if one.notes:
        said.append(Bullets(tuple(text(note) for note in one.notes)))
    tables = [_parts(one), *([_strata(one)] if len(one.strata) > 1 else []), _sampled(one.fields)]
    said.append(Fold("What the change is made of, in numbers", tuple(tables)))
    return said


def _chart(one: Attribution) -> Chart:
    rows = [
        ("whole change", one.change, one.interval),
        *((cause_name(part, one.strata_by), part.part, part.interval) for part in one.parts),
    ]
    dots = [
        Dot(
            label=label,
            value=value,
            printed=f"{value:+.3f}",
            low=None if isinstance(interval, Undefined) else interval.low,
            high=None if isinstance(interval, Undefined) else interval.high,
            hollow=place == 0,
        )
        for place, (label, value, interval) in enumerate(rows)
    ]
    ends = [0.0, *(end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None)]
    span = (_ROOM * min(ends), _ROOM * max(ends)) if min(ends) < max(ends) else (-1.0, 1.0)
    listed = ", ".join(f"{dot.label} {dot.printed}" for dot in dots)
    draw = [
        dot_chart(
            "What the change is made of",
            f"Parts of the change with their intervals: {listed}.",
            dots,
            span=span,
            origin=0.0,
            width=width,
            names=names,
        )
        for width, names in ((760, 250), (360, 0))
    ]
    return Chart(draw[0], draw[1], "The whole change, and the parts that it is made of, with 95% intervals.")


def _parts(one: Attribution) -> Table:
    how = {
        "recomputed": "computed anew",
        "standardised": "standardised",
        "remainder": "what is left",
    }
    rows = tuple(
        Row(
            header=cause_name(part, one.strata_by),
            cells=(
                Cell(f"{part.part:+.4f}"),
                Cell(_interval(part.interval)),
                Cell(UNDEFINED if isinstance(part.share, Undefined) else f"{100 * part.share:.1f}%"),
                Cell(how[part.how]),
            ),
        )
        for part in one.parts
    )
    columns = (
        Column("Attributed to", numeric=False),
        Column("Part"),
        Column("95% interval"),
        Column("Of the change"),
        Column("Found by", numeric=False),
    )
    return Table(one.method, columns, rows)


def _strata(one: Attribution) -> Table:
    rows = tuple(
        Row(header=", ".join(found.stratum), cells=tuple(Cell(_number(value)) for value in values))
        for found in one.strata
        for values in [(found.before, found.after, found.change)]
    )
    columns = (
        Column(", ".join(one.strata_by), numeric=False),
        Column("Before"),
        Column("After"),
        Column("Change"),
    )
    return Table("Difference in each stratum", columns, rows)


def _sampled(fields: tuple[FieldShift, ...]) -> Table:
    rows = tuple(
        Row(
            header=one.field,
            cells=(
                Cell(f"{one.psi:.3f}"),
                Cell(f"{one.reference:.3f}"),
                Cell(f"{one.jsd:.4f}"),
                Cell(f"{one.p_value:.3f}"),
            ),
        )
        for one in fields
    )
    columns = (
        Column("Field", numeric=False),
        Column("PSI"),
        Column("By chance up to"),
        Column("Jensen-Shannon, bits"),
        Column("p"),
    )
    return Table("The sampled rows by field", columns, rows)


def _number(value: float | Undefined) -> str:
    return UNDEFINED if isinstance(value, Undefined) else f"{value:+.3f}"


def _interval(interval: Interval | Undefined) -> str:
    return UNDEFINED if isinstance(interval, Undefined) else f"{interval.low:+.4f} to {interval.high:+.4f}"
