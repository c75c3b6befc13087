"""Write a page as a Word file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docx import Document
from docx.enum.section import WD_ORIENT
from docx.shared import Mm, Pt

from benchmarks.published_fifth.model import Block, Break, Bullets, Doc, Fold, Grid, Heading, Pairs, Para

LOOKS = {
    "report": ("Light Grid Accent 1", "Calibri", 10),
    "minimal": ("Table Grid", "Liberation Serif", 11),
    "letter": ("Light List", "Liberation Sans", 10),
    "wix": ("Table Grid", "Liberation Sans", 11),
}


def _grid(out: Any, grid: Grid, look: str) -> None:
    """A table with merged cells where the grid has them."""
    if grid.caption:
        out.add_paragraph(grid.caption, style="Caption")
    width = grid.columns()
    rows = grid.head + grid.body
    table = out.add_table(rows=len(rows), cols=width)
    table.style = look
    taken: set[tuple[int, int]] = set()
    for y, row in enumerate(rows):
        x = 0
        for cell in row:
            while (y, x) in taken:
                x += 1
            target = table.cell(y, x)
            if cell.span > 1 or cell.down > 1:
                target = target.merge(table.cell(y + cell.down - 1, x + cell.span - 1))
                taken |= {(y + dy, x + dx) for dy in range(cell.down) for dx in range(cell.span)}
            target.text = cell.text
            for run in target.paragraphs[0].runs:
                run.font.size = Pt(9)
                run.bold = y < len(grid.head) or None
            x += cell.span
    for note in grid.notes:
        run = out.add_paragraph().add_run(note)
        run.font.size = Pt(8)
        run.italic = True


def _block(out: Any, block: Block, look: str) -> None:
    """One block."""
    if isinstance(block, Heading):
        out.add_heading(
            block.text, level=min(block.level, 3) if block.level > 1 else 0 if look.startswith("Light") else 1
        )
    elif isinstance(block, Para):
        out.add_paragraph(block.text)
    elif isinstance(block, Bullets):
        for item in block.items:
            out.add_paragraph(item, style="List Bullet")
    elif isinstance(block, Pairs):
        if block.shape == "table":
            table = out.add_table(rows=0, cols=2)
            table.style = "Table Grid"
            for key, text in block.items:
                cells = table.add_row().cells
                cells[0].text, cells[1].text = key, text
        else:
            for key, text in block.items:
                line = out.add_paragraph()
                line.add_run(key + ": ").bold = True
                line.add_run(text)
    elif isinstance(block, Fold):
        for name, blocks in block.parts:
            out.add_heading(name, level=2)
            for one in blocks:
                _block(out, one, look)
    elif isinstance(block, Break):
        out.add_page_break()
    else:
        _grid(out, block, look)


def write_docx(doc: Doc, path: Path) -> None:
    """The whole file."""
    look, font, size = LOOKS.get(doc.theme, LOOKS["minimal"])
    out = Document()
    style: Any = out.styles["Normal"]
    style.font.name, style.font.size = font, Pt(size)
    section = out.sections[0]
    section.page_width, section.page_height = (
        (Mm(210), Mm(297)) if doc.paper == "a4" else (Mm(215.9), Mm(279.4))
    )
    section.left_margin = section.right_margin = Mm(22)
    if doc.landscape:
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
    if doc.footer:
        section.footer.paragraphs[0].text = doc.footer
    for block in doc.blocks:
        _block(out, block, look)
    out.save(str(path))
