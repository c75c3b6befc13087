"""Pages as Word documents, workbooks and the HTML that Excel saves."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path

import docx
import openpyxl
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Inches, Pt
from openpyxl.styles import Alignment, Border, Font, PatternFill
from openpyxl.styles import Side as Line
from openpyxl.utils import get_column_letter

from benchmarks.published.pages import (
    Break,
    Cards,
    Cell,
    Facts,
    Heading,
    Newspaper,
    Page,
    Para,
    Sheet,
    Side,
    Table,
)

STYLES = ("Table Grid", "Light List Accent 1", "Light Shading", "Normal Table")
RAISED = str.maketrans("0123456789ab", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇ")


EXCEL = """<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=ProgId content=Excel.Sheet>
<meta name=Generator content="Microsoft Excel 15"><title>{title}</title>
<style><!--table {{mso-displayed-decimal-separator:"\\.";mso-displayed-thousand-separator:"\\,";}}
td {{padding:1px;mso-ignore:padding;color:black;font-size:11.0pt;font-family:Calibri, Carlito, sans-serif;
mso-number-format:General;vertical-align:bottom;white-space:nowrap;}}
.xl66 {{border:{border};}} .xl67 {{border:{border};font-weight:700;white-space:normal;}} --></style>
<!--[if gte mso 9]><xml><x:ExcelWorkbook><x:ExcelWorksheets><x:ExcelWorksheet><x:Name>Bias audit</x:Name>
</x:ExcelWorksheet></x:ExcelWorksheets></x:ExcelWorkbook></xml><![endif]--></head>
<body link=blue vlink=purple>
<table border=0 cellpadding=0 cellspacing=0 width={width} style='border-collapse:collapse;table-layout:fixed'>
{columns}
{rows}</table>
</body></html>
"""


def raised(text: str) -> str:
    return re.sub(r"\^(\w+)\^", lambda m: m[1].translate(RAISED), text)


def write(paragraph, text: str, *, bold: bool = False, size: float | None = None) -> None:
    for at, part in enumerate(re.split(r"\^(\w+)\^", text)):
        if part:
            run = paragraph.add_run(part)
            run.bold = bold or None
            run.font.superscript = at % 2 == 1 or None
            if size:
                run.font.size = Pt(size)


def docx_table(holder, t: Table, look: int, width: float) -> None:
    rows = t.head + t.body
    wide = len(t.widths)
    if t.caption and not t.below:
        write(holder.add_paragraph(), t.caption, bold=True)
    try:
        made = holder.add_table(rows=len(rows), cols=wide)
    except TypeError:
        made = holder.add_table(len(rows), wide)
    made.style = STYLES[look % 4] if isinstance(STYLES[look % 4], str) else None
    made.autofit = False
    size = 8 if wide > 7 else 9.5
    taken: set[tuple[int, int]] = set()
    grid = [list(row.cells) for row in made.rows]
    for r, row in enumerate(rows):
        c = 0
        for item in row:
            while (r, c) in taken:
                c += 1
            taken |= {(r + i, c + j) for i in range(item.rows) for j in range(item.columns)}
            target = grid[r][c]
            if item.rows > 1 or item.columns > 1:
                target = target.merge(grid[r + item.rows - 1][c + item.columns - 1])
            paragraph = target.paragraphs[0]
            write(paragraph, item.text, bold=item.bold or (item.head and r < len(t.head)), size=size)
            if item.number:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            c += item.columns
    for c, share in enumerate(t.widths):
        made.columns[c].width = Inches(width * share / sum(t.widths))
        for row in grid:
            row[c].width = Inches(width * share / sum(t.widths))
    if t.caption and t.below:
        write(holder.add_paragraph(), t.caption)
    holder.add_paragraph()


def docx_blocks(holder, blocks: list, look: int, width: float) -> None:
    for b in blocks:
        if isinstance(b, Heading):
            if hasattr(holder, "add_heading"):
                holder.add_heading(b.text, min(b.level, 3))
            else:
                write(holder.add_paragraph(), b.text, bold=True)
        elif isinstance(b, Para):
            write(holder.add_paragraph(), b.text, size=8 if b.small else None)
        elif isinstance(b, Break):
            holder.add_page_break()
        elif isinstance(b, Facts):
            if b.style in ("table", "strip"):
                pairs = b.pairs if b.style == "table" else list(zip(*b.pairs, strict=True))
                docx_table(
                    holder,
                    Table(
                        [],
                        [
                            [Cell(text, bold=i == 0 and b.style == "table") for i, text in enumerate(pair)]
                            for pair in pairs
                        ],
                        [1] * len(pairs[0]),
                    ),
                    0,
                    width,
                )
                continue
            for label, value in b.pairs:
                paragraph = (
                    holder.add_paragraph(style="List Bullet")
                    if b.style == "bullets"
                    else holder.add_paragraph()
                )
                write(paragraph, label + ("" if label.endswith("?") else ":"), bold=True)
                write(paragraph, " " + value)
        elif isinstance(b, Table):
            docx_table(holder, b, look, width)
        elif isinstance(b, Side):
            outer = holder.add_table(rows=1, cols=len(b.parts))
            for at, part in enumerate(b.parts):
                docx_blocks(outer.rows[0].cells[at], part, look, width / len(b.parts) - 0.2)
            holder.add_paragraph()
        elif isinstance(b, Cards):
            for title, pairs in b.items:
                docx_table(
                    holder,
                    Table(
                        [[Cell(title, columns=2, head=True)]],
                        [[Cell(k), Cell(v, number=True)] for k, v in pairs],
                        [2, 1],
                    ),
                    0,
                    3.2,
                )
        elif isinstance(b, Newspaper):
            docx_blocks(holder, b.blocks, look, width * 0.55)


def word(page: Page, path: Path) -> None:
    document = docx.Document()
    document.styles["Normal"].font.name = ("Carlito", "Liberation Sans", "Liberation Serif", "Carlito")[
        page.look % 4
    ]
    section = document.sections[0]
    section.left_margin = section.right_margin = Inches(0.9)
    width = 6.7
    if page.landscape:
        section.orientation, section.page_width, section.page_height, width = (
            WD_ORIENT.LANDSCAPE,
            section.page_height,
            section.page_width,
            9.2,
        )
    document.core_properties.title = page.title
    docx_blocks(document, page.blocks, page.look, width)
    document.save(str(path))


def numeric(text: str) -> tuple[float | int, str] | None:
    """A printed number as a workbook holds it: the value and its number format."""
    match = re.fullmatch(r"(-?)(\d{1,3}(?:[,\xa0]\d{3})+|\d*)(\.\d+)?(\xa0?%)?", text)
    if not match or not any(ch.isdigit() for ch in text):
        return None
    sign, whole, part, percent = match.groups(default="")
    whole = whole.replace("\xa0", ",")
    digits = len(part) - 1 if part else 0
    value = float(f"{sign}{whole.replace(',', '')}{part}")
    style = (
        ("#,##0" if "," in whole else "0" if whole else "")
        + (("." + "0" * digits) if digits else "")
        + percent
    )
    return (round(value / 100, digits + 2) if percent else value if part else int(value)), style


def lay(page: Page, *, one: bool = False) -> dict[str, list[tuple[int, int, Cell]]]:
    """Sheets of cells: (row, column, cell). A `Sheet` begins another, unless all goes on `one`."""
    found: dict[str, list[tuple[int, int, Cell]]] = {"Bias audit": []}
    sheets = [found["Bias audit"]]

    def place(t: Table, top: int, left: int) -> int:
        if t.caption and not t.below:
            sheets[-1].append((top, left, Cell(t.caption, bold=True)))
            top += 1
        taken: set[tuple[int, int]] = set()
        for r, line in enumerate(t.head + t.body):
            c = 0
            for item in line:
                while (r, c) in taken:
                    c += 1
                taken |= {(r + i, c + j) for i in range(item.rows) for j in range(item.columns)}
                sheets[-1].append((top + r, left + c, item))
                c += item.columns
        bottom = top + len(t.head) + len(t.body)
        if t.caption and t.below:
            sheets[-1].append((bottom, left, Cell(t.caption)))
            bottom += 1
        return bottom

    def put(blocks: list, top: int, left: int) -> int:
        for b in blocks:
            if isinstance(b, (Heading, Para)):
                sheets[-1].append((top, left, Cell(b.text, bold=isinstance(b, Heading))))
                top += 1
            elif isinstance(b, Facts):
                for label, value in b.pairs:
                    sheets[-1] += [(top, left, Cell(label, bold=True)), (top, left + 1, Cell(value))]
                    top += 1
                top += 1
            elif isinstance(b, Table):
                top = place(b, top, left) + 1
            elif isinstance(b, Side):
                ends, at = [], left
                for part in b.parts:
                    ends.append(put(part, top, at))
                    at += max(len(t.widths) for t in part if isinstance(t, Table)) + 1
                top = max(ends) + 1
            elif isinstance(b, Newspaper):
                top = put(b.blocks, top, left)
            elif isinstance(b, Sheet) and not one:
                sheets.append(found.setdefault(b.title, []))
                top = 1
        return top

    put(page.blocks, 1, 1)
    return found


def longest(sheet: list[tuple[int, int, Cell]]) -> dict[int, int]:
    """Letters in the longest text of each column, of rows that are a table's and not words beside a label."""
    beside = Counter(r for r, _, _ in sheet)
    found: dict[int, int] = {}
    for r, c, item in sheet:
        if beside[r] > 2 and not item.head and item.columns == 1:
            found[c] = max(found.get(c, 0), len(item.text))
    return found


def excel(page: Page, path: Path) -> None:
    book = openpyxl.Workbook()
    for at, (title, sheet) in enumerate(lay(page).items()):
        ws = book.active if at == 0 else book.create_sheet()
        ws.title = title
        thin = Border(*(Line(style="thin", color="999999"),) * 4)
        for r, c, item in sheet:
            target = ws.cell(r, c)
            value = numeric(item.text) if item.number else None
            if value is None:
                target.value = raised(item.text)
            else:
                target.value, target.number_format = value
            target.font = Font(bold=item.bold or item.head)
            if item.number or item.head:
                target.border = thin if page.look % 2 == 0 else Border()
                target.alignment = Alignment(
                    horizontal="right" if item.number else "left", wrap_text=item.head, vertical="center"
                )
            if item.head and page.look > 1:
                target.fill = PatternFill("solid", fgColor="DDE6F0")
            if item.rows > 1 or item.columns > 1:
                ws.merge_cells(
                    start_row=r, start_column=c, end_row=r + item.rows - 1, end_column=c + item.columns - 1
                )
        wide = longest(sheet)
        for c in range(1, ws.max_column + 1):
            ws.column_dimensions[get_column_letter(c)].width = max(46 if c == 1 else 20, wide.get(c, 0))
    book.save(str(path))


def excel_html(page: Page) -> str:
    """What Excel writes for 'Web Page': one table for the sheet, prose in its cells too."""
    cells = {(r, c): item for r, c, item in lay(page, one=True)["Bias audit"]}
    wide = max(c + item.columns - 1 for (_, c), item in cells.items())
    covered = {
        (r + i, c + j)
        for (r, c), item in cells.items()
        for i in range(item.rows)
        for j in range(item.columns)
        if i or j
    }
    rows = []
    for r in range(1, max(r for r, _ in cells) + 1):
        line = ""
        c = 1
        while c <= wide:
            item = cells.get((r, c))
            if item is None:
                if (r, c) not in covered:
                    line += "<td></td>\n"
                c += 1
                continue
            attributes = f" rowspan={item.rows}" if item.rows > 1 else ""
            attributes += f" colspan={item.columns}" if item.columns > 1 else ""
            value = numeric(item.text) if item.number else None
            if value is not None:
                attributes += f' class=xl66 align=right x:num="{value[0]}"'
            else:
                attributes += (
                    " class=xl67"
                    if item.head or item.bold
                    else " class=xl65" + (" align=right" if item.number else "")
                )
            shown = html.escape(raised(item.text), quote=False)
            line += f"<td{attributes}>{'<b>' + shown + '</b>' if item.bold else shown}</td>\n"
            c += item.columns
        rows.append(f"<tr height=20 style='height:15.0pt'>\n{line}</tr>\n")
    letters = longest([(r, c, item) for (r, c), item in cells.items()])
    widths = [max(220 if c == 1 else 96, 7 * letters.get(c, 0)) for c in range(1, wide + 1)]
    columns = "".join(f"<col width={width} style='mso-width-source:userset'>" for width in widths)
    border = ".5pt solid windowtext" if page.look % 2 == 0 else "none"
    return EXCEL.format(
        title=html.escape(page.title), border=border, width=sum(widths), columns=columns, rows="".join(rows)
    )
