"""What office programs make: a memo of Word, a workbook and a page of Excel."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth import word
from benchmarks.published_fourth.audit import Audit, Row
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import Block, Table, cells, escaped, html_blocks, inner, spans
from benchmarks.published_fourth.notation import fraction, percent
from benchmarks.published_fourth.sentences import (
    excluded,
    hispanic,
    joined,
    median,
    nobody,
    rate_name,
    ratio_meaning,
    said,
    source,
    unknown,
)
from benchmarks.published_fourth.tables import Columns, banded, flat

OFFICE = "urn:schemas-microsoft-com:office"


@layout(
    ("docx", "html-word"),
    Taste(races=("rule", "amp"), rates=(percent(1), percent(2)), dates=("us", "ordinal"), share=0.4),
)
def word_memo(audit: Audit, producer: str, path: Path) -> None:
    """A memo with a table of facts, and a line for each sex in the intersectional table."""
    blocks = [*memo_words(audit), *memo_results(audit)]
    if producer == "docx":
        look = word.Look(
            font=["Calibri", "Times New Roman"][audit.variant % 2],
            table_style=["Table Grid", "Light Grid Accent 1", "Light Shading"][audit.variant % 3],
            header=audit.employer,
            footer="Posted pursuant to NYC Local Law 144",
        )
        word.save(blocks, path, look)
    else:
        path.write_text(word_page(blocks), encoding="utf-8")


def memo_words(audit: Audit) -> list[Block]:
    group = audit.groups[0]
    facts = [
        ("Employer", audit.employer),
        ("Automated employment decision tool", f"{audit.tool}, supplied by {audit.vendor}"),
        ("Positions", audit.positions.capitalize()),
        ("Independent auditor", audit.auditor),
        ("Date of most recent bias audit", audit.audit_date()),
        ("Distribution date (first use of the tool)", audit.distribution_date()),
        ("Still in use on" if audit.in_use else "Date of this notice", audit.page_date()),
    ]
    explained = joined(median(audit, group, 1), ratio_meaning(audit, 2), hispanic(audit, 2), audit.lawful)
    return [
        ("h1", "Summary of Bias Audit Results"),
        ("facts", [(name, value) for name, value in facts if value]),
        ("h2", "A. Source and explanation of the data"),
        *(("p", text) for text in said(source(audit, group, 1), unknown(audit, group, 3))),
        ("h2", "B. How to read the tables"),
        ("p", explained),
        ("h2", "C. Results"),
    ]


def memo_results(audit: Audit) -> list[Block]:
    group, second = audit.groups[0], audit.second_date
    columns = Columns(
        {
            "applied": "Number of applicants",
            "selected": "Number scoring above median" if audit.scoring else "Number selected",
            "rate": rate_name(audit).capitalize(),
            "ratio": "Impact ratio",
            "share": "Percent of total",
        }
    )
    titles = [f"C.{at} Impact on {kind} categories" for at, kind in enumerate(("sex", "race/ethnicity"), 1)]
    tables = [
        flat(audit, group, "sex", columns, "Category", caption=titles[0]),
        flat(audit, group, "race", columns, "Category", caption=titles[1]),
        banded(
            audit,
            group,
            columns,
            "Category",
            caption="C.3 Impact on intersectional categories",
            after=" applicants",
        ),
    ]
    dated = (
        f"This document reflects the most recent bias audit, which took place on {audit.date(second)}."
        if second
        else None
    )
    last = "Questions about this notice may be directed to Human Resources."
    return [
        *(("table", table) for table in tables if table),
        *(("small", note) for note in said(excluded(audit, group, 1), nobody(audit, group, 0))),
        *(("p", text) for text in said(audit.claim, dated, last)),
    ]


WORD_HEAD = f"""<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="{OFFICE}:office" xmlns:w="{OFFICE}:word" \
xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=Generator \
content="Microsoft Word 15 (filtered)"><title>Summary of Bias Audit Results</title>
<style><!-- p.MsoNormal{{margin:0in 0in 8pt;font-size:11.0pt;font-family:"Calibri",sans-serif}} \
h1{{font-size:16pt;font-family:"Calibri Light",sans-serif;color:#2F5496}} \
h2{{font-size:13pt;font-family:"Calibri Light";color:#2F5496}} \
@page WordSection1{{size:8.5in 11.0in;margin:1.0in}} div.WordSection1{{page:WordSection1}} --></style></head>
<body lang=EN-US style='word-wrap:break-word'><div class=WordSection1>
"""
WORD_TABLE = (
    '<table class="MsoTableGrid" border=1 cellspacing=0 cellpadding=0 '
    "style='border-collapse:collapse;border:none'>"
)
WORD_CELL = (
    "<td{spans} style='border:solid windowtext 1.0pt;mso-border-alt:solid windowtext .5pt;padding:0in 5.4pt 0in 5.4pt'>"
    "<p class=MsoNormal style='margin:0in'><span style='font-size:10.0pt;font-family:\"Calibri\",sans-serif'>"
    "{text}<o:p></o:p></span></p></td>"
)
WORD_CLASSES = {
    "<p>": "<p class=MsoNormal>",
    '<p class="cap">': "<p class=MsoCaption>",
    '<p class="note">': "<p class=MsoFootnoteText>",
}


def word_page(blocks: list[Block]) -> str:
    """The memo as Word saves it as a filtered web page."""
    shown = [
        ("table", Table([], [[*cells([name], bold=True), *cells([value])] for name, value in content]))
        if kind == "facts"
        else (kind, content)
        for kind, content in blocks
    ]
    body = html_blocks(shown, "above", word_table)
    for plain, classed in WORD_CLASSES.items():
        body = body.replace(plain, classed)
    return f"{WORD_HEAD}{body}\n</div></body></html>"


def word_table(table: Table) -> str:
    rows = [
        "".join(WORD_CELL.format(spans=spans(cell), text=inner(cell)) for cell in row)
        for row in table.head + table.body
    ]
    return "\n".join([WORD_TABLE, *(f"<tr>{row}</tr>" for row in rows), "</table>"])


@layout(
    ("xlsx-openpyxl", "html-excel"),
    Taste(
        races=("slash", "plain"),
        rates=(percent(1), percent(2), fraction(3)),
        dates=("slash", "dash"),
        selected=0.95,
        share=0.3,
    ),
)
def excel_workbook(audit: Audit, producer: str, path: Path) -> None:
    """A sheet for each table with numbers in formats of their own, or what Excel saves as a web page."""
    if producer == "xlsx-openpyxl":
        write_workbook(audit, path)
    else:
        path.write_text(excel_page(audit), encoding="utf-8")


SHEETS = (
    ("sex", "Sex", "Sex"),
    ("race", "Race-Ethnicity", "Race/Ethnicity"),
    ("intersection", "Intersectional", "Sex"),
)
WORKBOOK_TITLE = "NYC Local Law 144 – Bias Audit Summary"


def workbook_columns(audit: Audit) -> Columns:
    names = {
        "applied": "Applicants",
        "selected": "Above median" if audit.scoring else "Selected",
        "rate": rate_name(audit),
        "ratio": "Impact Ratio",
        "share": "% of Applicants",
    }
    return Columns(names, ["applied", "selected", "share", "rate", "ratio"])


def workbook_facts(audit: Audit) -> list[tuple[str, str]]:
    group, second = audit.groups[0], audit.second_date
    notes = joined(
        hispanic(audit, 1), excluded(audit, group, 1), nobody(audit, group, 1), audit.lawful, audit.claim
    )
    scoring = "Share of a category that scored above the median of the full sample."
    facts = [
        ("Company", audit.employer),
        ("Tool", audit.tool),
        ("Tool vendor", audit.vendor),
        ("Independent auditor", audit.auditor),
        ("Bias audit date", audit.audit_date()),
        ("Distribution date", audit.distribution_date()),
        ("Tool in use as of" if audit.in_use else "Sheet last updated", audit.page_date()),
        ("Data source", source(audit, group, 3)),
        ("Median score", f"{group.median:g}" if audit.scoring else None),
        ("Unknown category", (unknown(audit, group, 2) or "").replace("Unknown: ", "")),
        ("Impact ratio", ratio_meaning(audit, 1)),
        ("Scoring rate", scoring if audit.scoring else None),
        ("Notes", notes),
        ("Remark", f"Results of the bias audit dated {audit.date(second)} (most recent)" if second else None),
    ]
    return [(name, value) for name, value in facts if value]


def write_workbook(audit: Audit, path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font

    book = Workbook()
    sheet = book.active
    sheet.title = "Summary"
    sheet["A1"] = WORKBOOK_TITLE
    sheet["A1"].font = Font(bold=True, size=14)
    for at, (name, value) in enumerate(workbook_facts(audit), 3):
        sheet.cell(at, 1, name).font = Font(bold=True)
        sheet.cell(at, 2, value).alignment = Alignment(wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 24, 90
    for family, title, first in SHEETS:
        rows = audit.rows(audit.groups[0], family)
        if rows is not None:
            write_sheet(audit, book.create_sheet(title), family, first, rows)
    book.save(path)


def write_sheet(audit: Audit, sheet, family: str, first: str, rows: list[Row]) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    columns, both = workbook_columns(audit), family == "intersection"
    top = 1 if audit.variant % 2 else 3
    if top == 3:
        what = "scoring" if audit.scoring else "selection"
        sheet["A1"] = f"{audit.tool}: {what} by {sheet.title.lower()}"
        sheet["A1"].font = Font(italic=True)
    heads = [*(["Sex", "Race/Ethnicity"] if both else [first]), *columns.heads(audit)]
    for at, head in enumerate(heads, 1):
        cell = sheet.cell(top, at, head)
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="305496")
        cell.alignment = Alignment(wrap_text=True)
    for line, row in enumerate(rows, top + 1):
        labels = labels_of(audit, row, both=both)
        for at, label in enumerate(labels, 1):
            sheet.cell(line, at, label)
        for at, column in enumerate(columns.shown(audit), len(labels) + 1):
            write_number(audit, sheet.cell(line, at), row, column)
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = (12, 32) if both else (30, 14)
    sheet.freeze_panes = sheet.cell(top + 1, 1)


def labels_of(audit: Audit, row: Row, *, both: bool) -> list[str]:
    return [audit.sexes[str(row.sex)], audit.races[str(row.race)]] if both else [audit.label(row)]


def write_number(audit: Audit, cell, row: Row, column: str) -> None:
    """A number with a format, or words to the right."""
    from openpyxl.styles import Alignment

    text = row.shown[column]
    if not (text[:1].isdigit() or text[:1] == "."):
        cell.value, cell.alignment = text, Alignment(horizontal="right")
    elif column in ("applied", "selected"):
        cell.value = getattr(row, column)
        cell.number_format = "#,##0" if audit.separated else "0"
    else:
        notation = {"share": percent(1), "rate": audit.rates, "ratio": audit.ratios}[column]
        cell.value, cell.number_format = float(getattr(row, column)), notation.cell_format()


EXCEL_HEAD = f"""<html xmlns:o="{OFFICE}:office"
xmlns:x="{OFFICE}:excel"
xmlns="http://www.w3.org/TR/REC-html40">
<head>
<meta http-equiv=Content-Type content="text/html; charset=utf-8">
<meta name=ProgId content=Excel.Sheet>
<meta name=Generator content="Microsoft Excel 15">
<style>
<!--table {{mso-displayed-decimal-separator:"\\.";}}
.xl65{{font-weight:700;border:.5pt solid windowtext;background:#D9E1F2}}
.xl66{{border:.5pt solid windowtext}}
.xl67{{font-size:14.0pt;font-weight:700}}
.xl68{{font-weight:700;vertical-align:top}}
td{{font-size:11.0pt;font-family:Calibri,sans-serif;padding:1px 3px}}
-->
</style>
</head>
<body link="#0563C1" vlink="#954F72">
<table border=0 cellpadding=0 cellspacing=0 width=900 style='border-collapse:collapse;table-layout:fixed'>
 <col width=210><col width=230>"""
EMPTY = "<td></td>"


def excel_page(audit: Audit) -> str:
    """All tables under each other on one sheet, as Excel saves it as a web page."""
    columns = workbook_columns(audit)
    wide = len(columns.shown(audit)) + 2
    lines = [f" <tr height=25><td colspan={wide} class=xl67>{WORKBOOK_TITLE}</td></tr>"]
    lines += [
        excel_row(f"<td class=xl68>{escaped(name)}</td><td colspan={wide - 1}>{escaped(value)}</td>")
        for name, value in workbook_facts(audit)
    ]
    for family, title, first in SHEETS:
        rows = audit.rows(audit.groups[0], family)
        if rows is not None:
            lines.append(excel_row(EMPTY * wide))
            lines.append(excel_row(f"<td class=xl68>{title}</td>{EMPTY * (wide - 1)}"))
            lines += excel_table(audit, columns, rows, first, both=family == "intersection")
    return "\n".join([EXCEL_HEAD, *lines, "</table></body></html>"])


def excel_row(inside: str) -> str:
    return f" <tr height=20>{inside}</tr>"


def excel_table(audit: Audit, columns: Columns, rows: list[Row], first: str, *, both: bool) -> list[str]:
    """In tables of one kind of category, its name is over two columns."""

    def labels(texts: list[str], name: str) -> str:
        over = "" if both else "colspan=2 "
        return "".join(f"<td {over}class={name}>{escaped(text)}</td>" for text in texts)

    heads = "".join(f"<td class=xl65>{escaped(head)}</td>" for head in columns.heads(audit))
    lines = [excel_row(labels(["Sex", "Race/Ethnicity"] if both else [first], "xl65") + heads)]
    for row in rows:
        values = "".join(
            f"<td class=xl66 align=right>{escaped(value)}</td>" for value in columns.values(audit, row)
        )
        lines.append(excel_row(labels(labels_of(audit, row, both=both), "xl66") + values))
    return lines
