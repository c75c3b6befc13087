"""One long table of all categories: a sheet by XlsxWriter, Word, or a plugin of WordPress."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth import word
from benchmarks.published_fourth.audit import Audit, Row
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import Cell, Table, cells, escaped, html_page, style
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
from benchmarks.published_fourth.tables import Columns

BANDS = {
    "sex": "Sex",
    "race": "Race / Ethnicity",
    "intersection": "Intersectional (sex and race/ethnicity)",
}


@layout(
    ("xlsx-xlsxwriter", "docx", "html"),
    Taste(
        races=("plain", "amp", "rule"),
        rates=(percent(1), percent(2), fraction(3)),
        dates=("us", "slash", "iso"),
        selected=0.85,
        share=0.4,
        marks=("none", "highest"),
    ),
)
def one_table(audit: Audit, producer: str, path: Path) -> None:
    """One long table with a line above each kind of category."""
    before, after = words_before(audit), words_after(audit)
    if producer == "xlsx-xlsxwriter":
        write_workbook(audit, before, after, path)
    elif producer == "docx":
        blocks = [
            ("h1", f"{audit.employer}: AEDT bias audit"),
            *(("p", text) for text in before),
            ("table", long_table(audit)),
            *(("p", text) for text in after),
        ]
        word.save(blocks, path, word.Look("Cambria", shade="DDEBF7"))
    else:
        path.write_text(wordpress(audit, before, after), encoding="utf-8")


def words_before(audit: Audit) -> list[str]:
    group, day, used = audit.groups[0], audit.audit_date(), audit.distribution_date()
    return said(
        f"Audit conducted by {audit.auditor}{f' on {day}' if day else ''}. Tool: {audit.tool} ({audit.vendor}).",
        f"Date we began using the tool: {used}." if used else None,
        source(audit, group, 1),
        joined(median(audit, group, 0), ratio_meaning(audit, 1)),
    )


def words_after(audit: Audit) -> list[str]:
    group, second, page = audit.groups[0], audit.second_date, audit.page_date()
    return said(
        unknown(audit, group, 4),
        excluded(audit, group, 2),
        nobody(audit, group, 1),
        hispanic(audit, 0),
        audit.claim,
        audit.lawful,
        f"Figures are from the most recent bias audit, {audit.date(second)}." if second else None,
        (f"Tool in use: yes, as of {page}." if audit.in_use else f"Updated: {page}") if page else None,
    )


def columns_of(audit: Audit) -> Columns:
    return Columns(
        {
            "applied": "Applicants (n)",
            "selected": "Scored above median (n)" if audit.scoring else "Selected (n)",
            "rate": rate_name(audit).capitalize(),
            "ratio": "Impact ratio",
            "share": "% of applicants",
        }
    )


def label_of(audit: Audit, row: Row) -> str:
    return audit.label(row, "race first" if audit.variant % 2 else "sex first")


def long_table(audit: Audit) -> Table:
    columns = columns_of(audit)
    heads = ["Category", *columns.heads(audit)]
    body = []
    for family, title in BANDS.items():
        rows = audit.rows(audit.groups[0], family)
        if rows is not None:
            body.append([Cell(title, columns=len(heads), bold=True)])
            body += [cells([label_of(audit, row), *columns.values(audit, row)]) for row in rows]
    return Table([cells(heads)], body)


def wordpress(audit: Audit, before: list[str], after: list[str]) -> str:
    """A page with TablePress."""
    table = long_table(audit)
    heads = "".join(
        f'<th class="column-{at}">{escaped(cell.text)}</th>' for at, cell in enumerate(table.head[0], 1)
    )
    lines = [
        '<table id="tablepress-7" class="tablepress tablepress-id-7"><thead><tr class="row-1">'
        f'{heads}</tr></thead><tbody class="row-striping">'
    ]
    for at, row in enumerate(table.body):
        if len(row) == 1:
            name = escaped(row[0].text)
            inside = f'<td colspan="{row[0].columns}" class="column-1"><strong>{name}</strong></td>'
        else:
            inside = "".join(
                f'<td class="column-{column}">{escaped(cell.text)}</td>' for column, cell in enumerate(row, 1)
            )
        lines.append(f'<tr class="row-{at + 2} row-{"odd" if at % 2 else "even"}">{inside}</tr>')
    first, last = ("".join(f"<p>{escaped(text)}</p>" for text in texts) for texts in (before, after))
    shown = "\n".join(lines)
    body = (
        '<article class="post-1184 page type-page"><h1 class="entry-title">AEDT bias audit</h1>'
        f'<div class="entry-content">{first}{shown}</tbody></table>{last}</div></article>'
    )
    return html_page(f"AEDT bias audit – {audit.employer}", body, style("one_table"))


def write_workbook(audit: Audit, before: list[str], after: list[str], path: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("Bias audit")
    columns = columns_of(audit)
    last = len(columns.shown(audit))
    wrap = book.add_format({"text_wrap": 1, "valign": "top"})

    def write_texts(texts: list[str], line: int) -> int:
        for text in texts:
            sheet.merge_range(line, 0, line, last, text, wrap)
            sheet.set_row(line, 16 * (1 + len(text) // 105))
            line += 1
        return line

    sheet.set_column(0, 0, 46)
    sheet.set_column(1, last + 1, 15)
    title = book.add_format({"bold": 1, "font_size": 13})
    sheet.write(0, 0, f"{audit.employer} – AEDT bias audit, summary of results", title)
    line = write_texts(before, 2) + 1
    header = book.add_format({"bold": 1, "text_wrap": 1, "bottom": 1, "bg_color": "#E2EFDA"})
    for at, head in enumerate(["Category", *columns.heads(audit)]):
        sheet.write(line, at, head, header)
    line = write_bands(audit, book, sheet, columns, line + 1)
    write_texts(after, line + 1)
    book.close()


def write_bands(audit: Audit, book, sheet, columns: Columns, line: int) -> int:
    band = book.add_format({"bold": 1, "bg_color": "#F2F2F2"})
    shown = columns.shown(audit)
    for family, title in BANDS.items():
        rows = audit.rows(audit.groups[0], family)
        if rows is None:
            continue
        if audit.variant % 2:
            sheet.merge_range(line, 0, line, len(shown), title, band)
        else:
            sheet.write(line, 0, title, band)
        for at, row in enumerate(rows, line + 1):
            sheet.write(at, 0, label_of(audit, row))
            for place, column in enumerate(shown, 1):
                write_number(audit, book, sheet, (at, place), row, column)
        line += 1 + len(rows)
    return line


def write_number(audit: Audit, book, sheet, place: tuple[int, int], row: Row, column: str) -> None:
    """A number with a format, some rounded before; or words to the right."""
    text = row.shown[column]
    if not text[:1].isdigit() or text.endswith(")"):
        sheet.write(*place, text, book.add_format({"align": "right"}))
        return
    if column in ("applied", "selected"):
        value, form = getattr(row, column), "#,##0" if audit.separated else "0"
    else:
        notation = {"share": percent(1), "rate": audit.rates, "ratio": audit.ratios}[column]
        value, form = float(getattr(row, column)), notation.cell_format()
        if audit.variant % 3 == 0:
            value = round(value, notation.places + 2) if notation.unit == "percent" else float(text)
    sheet.write_number(*place, value, book.add_format({"num_format": form}))
