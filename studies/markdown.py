"""Blocks of the product's pages as Markdown, so that a study prints what anybody's report would say."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import chain

from audit_lib.report.blocks import Bullets, Cell, Chart, Notice, Paragraph, Table, Text


def words(text: Text) -> str:
    """Return a text; links inside the page that it comes from are words here."""
    marks = {"strong": "**", "code": "`"}
    return "".join(f"{marks.get(one.style, '')}{one.text}{marks.get(one.style, '')}" for one in text)


def block(one: Paragraph | Bullets | Notice) -> str:
    """Return a block of text."""
    if isinstance(one, Bullets):
        return "\n".join(f"- {words(item)}" for item in one.items)
    if isinstance(one, Notice):
        return f"> **{one.title}.** {words(one.text)}"
    return words(one.text)


def table(one: Table, *, notes: bool = True) -> str:
    """Return a table under its caption; `notes` says whether what is under the cells and the table is printed."""
    heads = [column.label for column in one.columns]
    lines = [
        "| " + " | ".join(map(_safe, heads)) + " |",
        "|" + "|".join(" ---: " if column.numeric else " --- " for column in one.columns) + "|",
    ]
    for row in one.rows:
        header = Cell(row.header, note=row.note)
        cells = (_cell(cell, notes) for cell in chain((header,), row.cells))
        lines.append("| " + " | ".join(cells) + " |")
    below = ["\n".join(f"- {note}" for note in one.notes)] if notes and one.notes else []
    return "\n\n".join([f"**{one.caption}**", "\n".join(lines), *below])


def rows(heads: Sequence[str], lines: Sequence[Sequence[object]], text_columns: int = 1) -> str:
    """Return a table of a study's own; columns after the first `text_columns` are set to the right."""
    marks = (" --- " if place < text_columns else " ---: " for place in range(len(heads)))
    return "\n".join(
        [
            "| " + " | ".join(map(_safe, heads)) + " |",
            "|" + "|".join(marks) + "|",
            *("| " + " | ".join(_safe(str(cell)) for cell in line) + " |" for line in lines),
        ]
    )


def title_of(chart: Chart) -> str:
    """Return the title of a chart."""
    found = re.search("<title[^>]*>(.*?)</title>", chart.wide, re.S)
    return html.unescape(found[1]) if found else ""


def picture(wide: str, narrow: str, said: str) -> str:
    """Return a picture that is another file on a phone."""
    said = html.escape(said)
    return f'<picture><source media="(max-width: 600px)" srcset="{narrow}"><img src="{wide}" alt="{said}"></picture>'


def _cell(cell: Cell, notes: bool) -> str:
    mark = f" *{cell.mark}*" if cell.mark else ""
    note = f" ({cell.note})" if notes and cell.note and not cell.note.startswith("[") else ""
    interval = f" {cell.note}" if notes and cell.note.startswith("[") else ""
    return _safe(f"{cell.text}{interval}{mark}{note}")


def _safe(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")
