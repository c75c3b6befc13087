"""Write a page as a workbook, as a workbook saved as a web page, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from html import escape
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

from benchmarks.published_fifth.model import (
    Block,
    Break,
    Bullets,
    Cell,
    Doc,
    Fold,
    Grid,
    Heading,
    Pairs,
    Para,
)


def number(text: str) -> tuple[float, str] | None:
    """The number a cell holds and the format that prints it as this text."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+|\d+", text):
        return int(text.replace(",", "")), "#,##0" if "," in text else "0"
    if re.fullmatch(r"\d*\.?\d+%", text):
        digits = len(text[:-1].split(".")[1]) if "." in text else 0
        return round(float(text[:-1]) / 100, digits + 4), "0" + ("." + "0" * digits if digits else "") + "%"
    if re.fullmatch(r"\d*\.\d+", text):
        digits = len(text.split(".")[1])
        return float(text), ("" if text.startswith(".") else "0") + "." + "0" * digits
    return None


def flatten(blocks: list[Block]) -> list[Block]:
    """The blocks without folds."""
    out: list[Block] = []
    for block in blocks:
        out += (
            flatten([one for _, inner in block.parts for one in inner])
            if isinstance(block, Fold)
            else [block]
        )
    return out


class Book:
    """Write blocks to a workbook."""

    def __init__(self, doc: Doc, sheets: bool) -> None:
        self.doc = doc
        self.book = Workbook()
        self.sheet: Any = self.book.active
        self.sheet.title = "Summary"
        self.sheets = sheets
        self.y = 1
        thin = Side(style="thin", color="888888")
        self.border = Border(left=thin, right=thin, top=thin, bottom=thin)
        self.setup()

    def setup(self) -> None:
        """Widths and the page for printing."""
        for letter, wide in zip("ABCDEFGHI", (64, 40, 18, 16, 16, 16, 14, 14, 14), strict=True):
            self.sheet.column_dimensions[letter].width = wide
        self.sheet.page_setup.orientation = "landscape" if self.doc.landscape else "portrait"
        self.sheet.page_setup.fitToWidth, self.sheet.page_setup.fitToHeight = 1, 0
        self.sheet.sheet_properties.pageSetUpPr.fitToPage = True

    def put(self, x: int, y: int, text: str, bold: bool = False, numbers: bool = True) -> Any:
        """One cell."""
        cell = self.sheet.cell(y, x)
        found = number(text) if numbers else None
        if found:
            cell.value, cell.number_format = found
        else:
            cell.value = text
        if bold:
            cell.font = Font(bold=True)
        return cell

    def grid(self, grid: Grid) -> None:
        """A table."""
        taken: set[tuple[int, int]] = set()
        if grid.caption:
            self.put(1, self.y, grid.caption, True)
            self.y += 1
        for place, row in enumerate(grid.head + grid.body):
            x = 1
            for cell in row:
                while (self.y, x) in taken:
                    x += 1
                made = self.put(x, self.y, cell.text, place < len(grid.head), not cell.head)
                made.border = self.border
                if place < len(grid.head):
                    made.fill = PatternFill("solid", fgColor="D9E1F2")
                    made.alignment = Alignment(wrap_text=True)
                if cell.span > 1 or cell.down > 1:
                    self.sheet.merge_cells(
                        start_row=self.y,
                        end_row=self.y + cell.down - 1,
                        start_column=x,
                        end_column=x + cell.span - 1,
                    )
                    taken |= {(self.y + dy, x + dx) for dy in range(cell.down) for dx in range(cell.span)}
                x += cell.span
            self.y += 1
        for note in grid.notes:
            self.prose(note)
        self.y += 1

    def prose(self, text: str) -> None:
        """A line of text over several columns."""
        self.put(1, self.y, text, numbers=False).alignment = Alignment(wrap_text=True, vertical="top")
        self.sheet.merge_cells(start_row=self.y, end_row=self.y, start_column=1, end_column=5)
        self.sheet.row_dimensions[self.y].height = 15 * (1 + len(text) // 105)
        self.y += 1

    def block(self, block: Block) -> None:
        """One block."""
        if isinstance(block, Heading):
            self.put(1, self.y, block.text, numbers=False).font = Font(
                bold=True, size=16 if block.level == 1 else 12
            )
            self.sheet.cell(self.y, 1).alignment = Alignment(wrap_text=False)
            self.y += 1
        elif isinstance(block, Para):
            self.prose(block.text)
        elif isinstance(block, Bullets):
            for item in block.items:
                self.prose("- " + item)
        elif isinstance(block, Pairs):
            for key, text in block.items:
                self.put(1, self.y, key, True, False)
                self.put(2, self.y, text, False, len(text) < 12).alignment = Alignment(
                    horizontal="left", wrap_text=False
                )
                self.y += 1
            self.y += 1
        elif isinstance(block, Break):
            if self.sheets:
                self.sheet = self.book.create_sheet(block.name[:31] or "More")
                self.y = 1
                self.setup()
            else:
                self.y += 1
        elif isinstance(block, Grid):
            self.grid(block)


def write_xlsx(doc: Doc, path: Path, sheets: bool = True) -> None:
    """The whole workbook."""
    book = Book(doc, sheets)
    for block in flatten(doc.blocks):
        book.block(block)
    book.book.save(str(path))


def _excel_row(cells: list[Cell], head: bool) -> str:
    """A row as Excel saves it."""
    out = []
    for cell in cells:
        found = None if cell.head else number(cell.text)
        extra = (f" colspan={cell.span}" if cell.span > 1 else "") + (
            f" rowspan={cell.down}" if cell.down > 1 else ""
        )
        mark = f' align=right x:num="{found[0]}"' if found else ""
        out.append(
            f"  <td{extra} class={'xl66' if head else 'xl65'}{mark}>{escape(cell.text) or '&nbsp;'}</td>\n"
        )
    return " <tr height=20 style='height:15.0pt'>\n" + "".join(out) + " </tr>\n"


def excel_html(doc: Doc) -> str:
    """The page as Excel's "save as web page" writes it: all in one table."""
    wide = 9
    for block in flatten(doc.blocks):
        if isinstance(block, Grid):
            wide = max(wide, block.columns())
    rows: list[str] = []

    def line(text: str, head: bool = False) -> None:
        rows.append(_excel_row([Cell(text, span=wide, head=True)], head))

    for block in flatten(doc.blocks):
        if isinstance(block, (Heading, Para)):
            line(block.text, isinstance(block, Heading))
        elif isinstance(block, Bullets):
            for item in block.items:
                line("- " + item)
        elif isinstance(block, Pairs):
            rows += [
                _excel_row([Cell(key, head=True), Cell(text, span=wide - 1, head=True)], False)
                for key, text in block.items
            ]
        elif isinstance(block, Grid):
            if block.caption:
                line(block.caption, True)
            rows += [_excel_row(row, True) for row in block.head] + [
                _excel_row(row, False) for row in block.body
            ]
            for note in block.notes:
                line(note)
        rows.append(
            f" <tr height=20 style='height:15.0pt'>\n  <td height=20 colspan={wide} "
            "style='mso-ignore:colspan'></td>\n </tr>\n"
        )
    style = (
        '<!--table {mso-displayed-decimal-separator:"\\.";}\n'
        ".xl65 {padding:1px;font-family:Calibri,sans-serif;font-size:11.0pt;white-space:normal}\n"
        ".xl66 {font-weight:700;padding:1px}-->"
    )
    return (
        '<html xmlns:o="urn:schemas-microsoft-com:office:office"\n'
        'xmlns:x="urn:schemas-microsoft-com:office:excel"\nxmlns="http://www.w3.org/TR/REC-html40">\n'
        '<head>\n<meta http-equiv=Content-Type content="text/html; charset=utf-8">\n'
        '<meta name=ProgId content=Excel.Sheet>\n<meta name=Generator content="Microsoft Excel 15">\n'
        f"<title>{escape(doc.title)}</title>\n<style>\n{style}\n</style>\n</head>\n"
        '<body link="#0563C1" vlink="#954F72">\n<table border=0 cellpadding=0 cellspacing=0 width=900>\n'
        + "".join(rows)
        + "</table>\n</body>\n</html>\n"
    )


def csv_text(doc: Doc) -> str:
    """The page as CSV: facts, prose and tables one after the other."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n")
    for block in flatten(doc.blocks):
        if isinstance(block, (Heading, Para)):
            write.writerow([block.text])
        elif isinstance(block, Bullets):
            for item in block.items:
                write.writerow([item])
        elif isinstance(block, Pairs):
            for key, text in block.items:
                write.writerow([key, text])
            write.writerow([])
        elif isinstance(block, Grid):
            if block.caption:
                write.writerow([block.caption])
            for row in block.head + block.body:
                write.writerow([text for cell in row for text in [cell.text] + [""] * (cell.span - 1)])
            for note in block.notes:
                write.writerow([note])
            write.writerow([])
    return out.getvalue()
