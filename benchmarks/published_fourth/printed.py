"""PDFs by Chromium and WeasyPrint from HTML, and ReportLab's tables."""

from __future__ import annotations

import logging
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.published_fourth.markup import Table, escaped, is_number

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")


def save(source: str, producer: str, path: Path) -> None:
    """A page in HTML, as a file or printed."""
    if producer == "pdf-chromium":
        chromium(source, path)
    elif producer == "pdf-weasyprint":
        weasyprint(source, path)
    else:
        path.write_text(source, encoding="utf-8")


def chromium(source: str, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / f"{path.name}.html"
        page.write_text(source, encoding="utf-8")
        places = (f"--user-data-dir={folder}/profile", f"--print-to-pdf={path.absolute()}", page.as_uri())
        subprocess.run([str(CHROMIUM), *FLAGS, *places], capture_output=True, timeout=120, check=True)


def weasyprint(source: str, path: Path) -> None:
    import weasyprint

    for name in ("weasyprint", "fontTools"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    weasyprint.HTML(string=source).write_pdf(path)


def paragraph(text: str, style):
    from reportlab.platypus import Paragraph

    return Paragraph(escaped(text), style)


def reportlab_table(
    table: Table,
    widths: list[float],
    size: float,
    padding: float,
    rules: Callable[[int], list[tuple]] = lambda head_rows: [],
):
    """A table of ReportLab; ``rules`` draw its lines, from the number of its header rows."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph
    from reportlab.platypus import Table as Drawn

    rows, columns = table.size()
    grid: list[list] = [[""] * columns for _ in range(rows)]
    everywhere = ((0, 0), (-1, -1))
    look: list[tuple] = [
        ("FONTSIZE", *everywhere, size),
        ("LEADING", *everywhere, size + 1.5),
        ("TOPPADDING", *everywhere, padding),
        ("BOTTOMPADDING", *everywhere, padding),
        ("LEFTPADDING", *everywhere, 3),
        ("RIGHTPADDING", *everywhere, 3),
        ("VALIGN", *everywhere, "MIDDLE"),
    ]
    for row, column, cell, head in table.placed():
        font = "Helvetica-Bold" if head or cell.bold else "Helvetica"
        alignment = (1 if column else 0) if head else 2 if is_number(cell.text) else 0
        words = ParagraphStyle("cell", fontName=font, fontSize=size, leading=size + 1.5, alignment=alignment)
        grid[row][column] = Paragraph(escaped(cell.text), words)
        if cell.columns > 1 or cell.rows > 1:
            look.append(("SPAN", (column, row), (column + cell.columns - 1, row + cell.rows - 1)))
    return Drawn(grid, colWidths=widths, style=[*look, *rules(len(table.head))], repeatRows=len(table.head))
