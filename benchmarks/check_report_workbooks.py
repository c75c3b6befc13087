"""Workbooks of the fourth part of `check_report`, and the pages that Excel saves of them."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from benchmarks.check_report_employers import Employer, Grid, Heading, arranged, spots


def workbook(given: Employer, folder: Path) -> Path:
    """A workbook by openpyxl; tables of a pair stand next to each other."""
    import openpyxl
    from openpyxl.styles import Alignment, Border, Font, Side

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Bias audit"
    sheet.column_dimensions["A"].width = 34
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    edge = Side(style="thin")
    line = 1

    def put(grid: Grid, top: int, left: int) -> int:
        if grid.place not in ("row", "below"):
            sheet.cell(top, left, grid.caption).font = Font(bold=True)
            top += 1
        for y, x, spot in spots(grid):
            cell = sheet.cell(top + y, left + x)
            _typed(cell, spot.text)
            if given.made.layout.style == "ruled":
                cell.border = Border(left=edge, right=edge, top=edge, bottom=edge)
            if spot.across * spot.down > 1:
                sheet.merge_cells(
                    start_row=top + y,
                    start_column=left + x,
                    end_row=top + y + spot.down - 1,
                    end_column=left + x + spot.across - 1,
                )
        top += len(grid.rows)
        if grid.place == "below":
            sheet.cell(top, left, grid.caption)
            top += 1
        return top + 1

    for block in arranged(given):
        if isinstance(block, (str, Heading)):
            cell = sheet.cell(line, 1, block if isinstance(block, str) else block.text)
            sheet.merge_cells(start_row=line, start_column=1, end_row=line, end_column=8)
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            sheet.row_dimensions[line].height = 15 * (1 + len(cell.value) // 95)
            line += 1
        elif isinstance(block, Grid):
            line = put(block, line + 1, 1)
        else:
            line = max(put(block.left, line + 1, 1), put(block.right, line + 1, block.left.width + 2))
    out = folder / "summary.xlsx"
    book.save(out)
    return out


def _typed(cell: Any, text: str) -> None:
    bare = text.replace(",", "").rstrip("%")
    if not bare.replace(".", "", 1).isdigit():
        cell.value = text
        return
    decimals = len(bare.partition(".")[2])
    percent = text.endswith("%")
    cell.value = float(bare) / (100 if percent else 1) if percent or decimals else int(bare)
    cell.number_format = (
        ("#,##0" if "," in text else "0")
        + ("." + "0" * decimals if decimals else "")
        + ("%" if percent else "")
    )


def excel(given: Employer, folder: Path) -> Path:
    """A workbook, or the page that Excel saves of it: one table of a grid."""
    if given.made.seed // 8 % 2:
        return workbook(given, folder)
    import openpyxl

    sheet = openpyxl.load_workbook(workbook(given, folder)).active
    covered = {
        (y, x)
        for r in sheet.merged_cells.ranges
        for y in range(r.min_row, r.max_row + 1)
        for x in range(r.min_col, r.max_col + 1)
    }
    spans = {
        (r.min_row, r.min_col): (r.max_row - r.min_row + 1, r.max_col - r.min_col + 1)
        for r in sheet.merged_cells.ranges
    }
    rows = []
    for cells in sheet.iter_rows():
        texts = []
        for cell in cells:
            at = (cell.row, cell.column)
            if at in covered and at not in spans:
                continue
            down, across = spans.get(at, (1, 1))
            span = (f" rowspan={down}" if down > 1 else "") + (f" colspan={across}" if across > 1 else "")
            number = (
                " align=right class=xl66 x:num" if isinstance(cell.value, (int, float)) else " class=xl65"
            )
            texts.append(f"  <td{number}{span} style='height:15.0pt'>{escape(_shown(cell))}</td>\n")
        rows.append(f" <tr height=20 style='height:15.0pt'>\n{''.join(texts)} </tr>\n")
    out = folder / "summary.htm"
    page = (
        '<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel" '
        'xmlns="http://www.w3.org/TR/REC-html40">\n<head>\n'
        '<meta http-equiv=Content-Type content="text/html; charset=windows-1252">\n'
        '<meta name=Generator content="Microsoft Excel 15">\n</head>\n<body>\n'
        f"<table border=0 cellpadding=0 cellspacing=0 style='border-collapse:collapse'>\n"
        f"{''.join(rows)}</table>\n</body>\n</html>\n"
    )
    out.write_bytes(page.encode("cp1252", "xmlcharrefreplace"))
    return out


def _shown(cell: Any) -> str:
    if not isinstance(cell.value, (int, float)):
        return "" if cell.value is None else str(cell.value)
    shape = cell.number_format
    decimals = len(shape.rstrip("%").partition(".")[2])
    value = cell.value * 100 if shape.endswith("%") else cell.value
    return f"{value:{',' if ',' in shape else ''}.{decimals}f}" + ("%" if shape.endswith("%") else "")
