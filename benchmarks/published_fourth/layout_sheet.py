"""A fact sheet: one page across, printed by Chromium or drawn by ReportLab."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth.audit import Audit
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import NoFitError, layout
from benchmarks.published_fourth.markup import (
    Table,
    escaped,
    html_page,
    html_table,
    style,
)
from benchmarks.published_fourth.notation import percent
from benchmarks.published_fourth.printed import paragraph, reportlab_table, save
from benchmarks.published_fourth.sentences import (
    excluded,
    hispanic,
    joined,
    median,
    nobody,
    ratio_meaning,
    said,
    source,
    unknown,
)
from benchmarks.published_fourth.tables import Columns, banded, flat

FAMILIES = ("sex", "race", "intersection")


@layout(
    ("pdf-reportlab", "pdf-chromium"),
    Taste(
        races=("slash", "plain"),
        rates=(percent(1), percent(0), percent(2)),
        dates=("short", "slash", "us"),
        people=(2500, 30000),
        selected=0.6,
    ),
)
def fact_sheet(audit: Audit, producer: str, path: Path) -> None:
    """A sheet across, its tables side by side without rules."""
    group = audit.groups[0]
    words = joined(source(audit, group, 0), median(audit, group, 1), ratio_meaning(audit, 2), audit.claim)
    second = audit.second_date
    notes = said(
        unknown(audit, group, 3),
        excluded(audit, group, 0),
        nobody(audit, group, 1),
        hispanic(audit, 2),
        audit.lawful,
        f"Date of most recent bias audit: {audit.date(second)}." if second else None,
    )
    tables = sheet_tables(audit)
    if producer == "pdf-chromium":
        save(sheet_page(sheet_facts(audit), tables, words, notes), producer, path)
    else:
        draw_sheet(sheet_facts(audit), tables, words, notes, path)


def sheet_facts(audit: Audit) -> list[tuple[str, str]]:
    facts = [
        ("Employer", audit.employer),
        ("Tool", f"{audit.tool} ({audit.vendor})"),
        ("Auditor", audit.auditor),
        ("Last bias audit", audit.audit_date()),
        ("In use since", audit.distribution_date()),
        ("Status: in use on" if audit.in_use else "Sheet version", audit.page_date()),
    ]
    return [(name, value) for name, value in facts if value]


def sheet_tables(audit: Audit) -> dict[str, Table | None]:
    """The tables by their titles."""
    group = audit.groups[0]
    names = {
        "applied": "Considered",
        "selected": "Over median" if audit.scoring else "Progressed",
        "rate": "Scoring rate" if audit.scoring else "Selection rate",
        "ratio": "Impact ratio",
    }
    columns = Columns(names, ["applied", "selected", "rate", "ratio"])
    both = (
        banded(audit, group, columns, "Group")
        if audit.variant % 2
        else flat(audit, group, "intersection", columns, "Group", joined="race first")
    )
    return {
        "Sex": flat(audit, group, "sex", columns, "Sex"),
        "Race/ethnicity": flat(audit, group, "race", columns, "Race/ethnicity"),
        "Intersection of sex and race/ethnicity": both,
    }


def sheet_page(
    facts: list[tuple[str, str]], tables: dict[str, Table | None], words: str, notes: list[str]
) -> str:
    sex, race, both = (
        f'<div class="b"><h3>{escaped(title)}</h3>{html_table(table, "p")}</div>' if table else ""
        for title, table in tables.items()
    )
    shown = "".join(f"<div><b>{escaped(name)}</b>{escaped(value)}</div>" for name, value in facts)
    small = "".join(f"<p>{escaped(note)}</p>" for note in notes)
    body = (
        f'<div class="top"><h1>AEDT bias audit fact sheet</h1></div><div class="f">{shown}</div><div class="g"><div>'
        f"{sex}{race}<p>{escaped(words)}</p></div><div>{both}{small}</div></div>"
    )
    return html_page("fact sheet", body, style("fact_sheet"))


def draw_sheet(
    facts: list[tuple[str, str]],
    tables: dict[str, Table | None],
    words: str,
    notes: list[str],
    path: Path,
) -> None:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(792, 612))
    draw_sheet_head(canvas, facts)
    body = ParagraphStyle("body", fontName="Helvetica", fontSize=8, leading=10)
    small = ParagraphStyle("small", parent=body, fontSize=7, leading=8.6)

    def place(drawn, x: float, y: float, width: float, space: float) -> float:
        _, height = drawn.wrap(width, 500)
        drawn.drawOn(canvas, x, y - height)
        return y - height - space

    def place_table(title: str, x: float, y: float, width: float) -> float:
        table = tables[title]
        if not table:
            return y
        canvas.setFont("Helvetica-Bold", 9)
        canvas.setFillColor("#26375c")
        canvas.drawString(x, y - 8, title)
        canvas.setFillColor("#000000")
        number = len(table.head[0]) - 1
        drawn = reportlab_table(table, [width - number * 50, *[50] * number], 7, 0.9)
        return place(drawn, x, y - 14, width, 10)

    sex, race, both = tables
    left = place(paragraph(words, body), 28, 500, 350, 5)
    left = place_table(race, 28, place_table(sex, 28, left, 350), 350)
    right = place_table(both, 408, 500, 356)
    for note in notes:
        right = place(paragraph(note, small), 408, right, 356, 5)
    if min(left, right) <= 5:
        raise NoFitError
    canvas.save()


def draw_sheet_head(canvas, facts: list[tuple[str, str]]) -> None:
    title = "AEDT bias audit fact sheet"
    canvas.setTitle(title)
    canvas.setFillColor("#26375c")
    canvas.rect(0, 566, 792, 46, 0, 1)
    canvas.setFillColor("#ffffff")
    canvas.setFont("Helvetica-Bold", 18)
    canvas.drawString(28, 582, title)
    canvas.setFillColor("#000000")
    for at, (name, value) in enumerate(facts):
        x, y = 28 + at % 3 * 250, 546 - at // 3 * 16
        canvas.setFont("Helvetica-Bold", 8)
        canvas.drawString(x, y, f"{name}:")
        canvas.setFont("Helvetica", 8)
        canvas.drawString(x + canvas.stringWidth(f"{name}: ", "Helvetica-Bold", 8) + 2, y, value)
