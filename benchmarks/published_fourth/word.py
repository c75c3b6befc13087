"""Blocks as a Word document, by python-docx."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.published_fourth.markup import Block, Cell, Table, is_number


@dataclass
class Look:
    font: str
    table_style: str = "Table Grid"
    shade: str = ""  # of header cells
    header: str = ""
    footer: str = ""


def save(blocks: list[Block], path: Path, look: Look) -> None:
    from docx import Document
    from docx.shared import Pt

    document = Document()
    document.styles["Normal"].font.name = look.font
    document.styles["Normal"].font.size = Pt(10.5)
    if look.header:
        document.sections[0].header.paragraphs[0].text = look.header
    if look.footer:
        document.sections[0].footer.paragraphs[0].text = look.footer
    for kind, content in blocks:
        add(document, kind, content, look)
    document.save(str(path))


def add(document, kind: str, content, look: Look) -> None:
    from docx.shared import Pt

    if kind in ("h1", "h2"):
        document.add_heading(content, 0 if kind == "h1" else 1)
    elif kind == "small":
        run = document.add_paragraph().add_run(content)
        run.font.size, run.italic = Pt(8.5), True
    elif kind == "facts":
        add_facts(document, content)
    elif isinstance(content, Table):
        if content.caption:
            document.add_paragraph().add_run(content.caption).bold = True
        add_table(document, content, look)
        document.add_paragraph()
    else:
        document.add_paragraph(content)


def add_facts(document, pairs: list[tuple[str, str]]) -> None:
    table = document.add_table(rows=0, cols=2)
    table.style = "Table Grid"
    for name, value in pairs:
        left, right = table.add_row().cells
        left.paragraphs[0].add_run(name).bold = True
        right.text = value
    document.add_paragraph()


def add_table(document, table: Table, look: Look) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    rows, columns = table.size()
    made = document.add_table(rows=rows, cols=columns)
    made.style = look.table_style
    for row, column, cell, head in table.placed():
        target = merged(made, row, column, cell)
        paragraph = target.paragraphs[0]
        run = paragraph.add_run(cell.text)
        run.font.size = Pt(9)
        run.bold = head or cell.bold or None
        if not head and is_number(cell.text):
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        if look.shade and head:
            shade(target, look.shade)


def merged(made, row: int, column: int, cell: Cell):
    target = made.cell(row, column)
    if cell.rows == cell.columns == 1:
        return target
    return target.merge(made.cell(row + cell.rows - 1, column + cell.columns - 1))


def shade(target, color: str) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement("w:shd")
    element.set(qn("w:val"), "clear")
    element.set(qn("w:fill"), color)
    target._tc.get_or_add_tcPr().append(element)
