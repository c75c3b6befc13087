"""Write a page as PDF with ReportLab."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape, letter
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

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

FONTS = {
    "annual": ("Times-Roman", "Times-Bold"),
    "families": ("Helvetica", "Helvetica-Bold"),
    "card": ("Helvetica", "Helvetica-Bold"),
}


class Report:
    """Build the parts of one PDF."""

    def __init__(self, doc: Doc, tight: bool) -> None:
        self.doc = doc
        self.font, self.bold = FONTS.get(doc.theme, FONTS["families"])
        self.size = 7.5 if tight else 9.5
        self.tight = tight
        sheet = getSampleStyleSheet()
        self.text = ParagraphStyle(
            "text",
            parent=sheet["Normal"],
            fontName=self.font,
            fontSize=self.size,
            leading=self.size * 1.25,
            spaceAfter=2 if tight else 5,
        )
        self.cell_style = ParagraphStyle(
            "cell",
            parent=self.text,
            fontSize=self.size - (0 if tight else 1),
            leading=self.size * 1.1,
            spaceAfter=0,
        )
        self.cell_bold = ParagraphStyle("bold", parent=self.cell_style, fontName=self.bold)
        page = A4 if doc.paper == "a4" else letter
        self.page = landscape(page) if doc.landscape else page

    def heading(self, block: Heading) -> Paragraph:
        size = {1: 17, 2: 13, 3: 11}.get(block.level, 10) * (0.75 if self.tight else 1)
        style = ParagraphStyle(
            "head",
            parent=self.text,
            fontName=self.bold,
            fontSize=size,
            leading=size * 1.2,
            spaceBefore=4,
            spaceAfter=3,
            keepWithNext=1,
        )
        return Paragraph(escape(block.text), style)

    def grid(self, grid: Grid) -> list[Any]:
        """A table; its head is repeated on every page."""
        rows = grid.head + grid.body
        width = grid.columns()
        data: list[list[Any]] = [[""] * width for _ in rows]
        style: list[Any] = [
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 0.5 if self.tight else 2),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 0.8 if self.tight else 2.5),
        ]
        style += (
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
                ("BACKGROUND", (0, 0), (-1, len(grid.head) - 1), colors.whitesmoke),
            ]
            if self.doc.theme != "annual"
            else [
                ("LINEBELOW", (0, len(grid.head) - 1), (-1, len(grid.head) - 1), 1, colors.black),
                ("LINEBELOW", (0, -1), (-1, -1), 0.5, colors.black),
            ]
        )
        taken: set[tuple[int, int]] = set()
        for y, row in enumerate(rows):
            x = 0
            for cell in row:
                while (y, x) in taken:
                    x += 1
                data[y][x] = self.cell(cell, y < len(grid.head))
                taken |= {(y + dy, x + dx) for dy in range(cell.down) for dx in range(cell.span)}
                if cell.span > 1 or cell.down > 1:
                    style.append(("SPAN", (x, y), (x + cell.span - 1, y + cell.down - 1)))
                x += cell.span
        first = self.page[0] - 110
        stubs = (
            2
            if any(len([cell for cell in row if cell.head]) > 1 for row in grid.body)
            or any(row and row[0].down > 1 for row in grid.body)
            else 1
        )
        wide = [first * (0.36 / stubs)] * stubs + [first * 0.64 / (width - stubs)] * (width - stubs)
        if self.tight:
            wide = [one * 0.8 for one in wide]
        out: list[Any] = (
            [Paragraph(escape(grid.caption), self.cell_bold), Spacer(1, 3)] if grid.caption else []
        )
        table = Table(data, colWidths=wide, repeatRows=len(grid.head), hAlign="LEFT")
        table.setStyle(TableStyle(style))
        out += (
            [table]
            + [Paragraph(escape(note), self.cell_style) for note in grid.notes]
            + [Spacer(1, 3 if self.tight else 8)]
        )
        return out

    def cell(self, cell: Cell, head: bool) -> Any:
        return Paragraph(escape(cell.text), self.cell_bold if head else self.cell_style)

    def block(self, block: Block) -> list[Any]:
        """One block."""
        if isinstance(block, Heading):
            return [self.heading(block)]
        if isinstance(block, Para):
            return [Paragraph(escape(block.text), self.text)]
        if isinstance(block, Bullets):
            return [Paragraph(escape(item), self.text, bulletText="•") for item in block.items]
        if isinstance(block, Pairs):
            if block.shape == "table":
                data = [
                    [Paragraph(escape(key), self.cell_bold), Paragraph(escape(text), self.cell_style)]
                    for key, text in block.items
                ]
                table = Table(data, colWidths=[170, 300], hAlign="LEFT")
                table.setStyle(
                    TableStyle(
                        [
                            ("BOX", (0, 0), (-1, -1), 0.5, colors.black),
                            ("TOPPADDING", (0, 0), (-1, -1), 1),
                            ("BOTTOMPADDING", (0, 0), (-1, -1), 1),
                        ]
                    )
                )
                return [table, Spacer(1, 6)]
            return [
                Paragraph(f"<b>{escape(key)}:</b> {escape(text)}", self.text) for key, text in block.items
            ]
        if isinstance(block, Fold):
            return [part for _, blocks in block.parts for one in blocks for part in self.block(one)]
        if isinstance(block, Break):
            return [PageBreak()]
        return self.grid(block)


def write_reportlab(doc: Doc, path: Path, tight: bool = False) -> None:
    """The whole file."""
    report = Report(doc, tight)
    margin = 30 if tight else 52
    out = SimpleDocTemplate(
        str(path),
        pagesize=report.page,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
        title=doc.title,
        invariant=1,
    )

    def foot(canvas: Any, _: Any) -> None:
        if doc.footer:
            canvas.setFont(report.font, 7)
            canvas.drawString(margin, 22, f"{doc.footer}   |   page {canvas.getPageNumber()}")

    out.build(
        [part for block in doc.blocks for part in report.block(block)], onFirstPage=foot, onLaterPages=foot
    )
