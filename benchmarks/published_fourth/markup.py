"""Tables and blocks of a page, and how they are written in HTML."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cell:
    text: str
    columns: int = 1
    rows: int = 1
    head: bool = False
    bold: bool = False


@dataclass
class Table:
    head: list[list[Cell]]
    body: list[list[Cell]]
    caption: str = ""

    def placed(self) -> list[tuple[int, int, Cell, bool]]:
        """Each cell with its row, its column, and whether it is in the header."""
        taken: set[tuple[int, int]] = set()
        found = []
        for at, row in enumerate(self.head + self.body):
            column = 0
            for cell in row:
                while (at, column) in taken:
                    column += 1
                taken |= {(at + i, column + j) for i in range(cell.rows) for j in range(cell.columns)}
                found.append((at, column, cell, at < len(self.head)))
                column += cell.columns
        return found

    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        placed = self.placed()
        return len(self.head) + len(self.body), max(at + cell.columns for _, at, cell, _ in placed)


# kind (h1, h2, p, small, facts or table) and a text, pairs or a table
Block = tuple[str, str | list[tuple[str, str]] | Table]


def cells(texts: list[str], *, bold: bool = False) -> list[Cell]:
    return [Cell(text, bold=bold) for text in texts]


def is_number(text: str) -> bool:
    """Whether a cell is set to the right."""
    text = text.strip("*%() ").replace(",", "").replace(".", "").replace("/", "")
    return text.isdigit() or text in ("NA", "na", "N/A", "n/a", "—", "-", "")


def escaped(text: str) -> str:
    return html.escape(text, quote=False)


def inner(cell: Cell) -> str:
    return f"<strong>{escaped(cell.text)}</strong>" if cell.bold else escaped(cell.text)


def spans(cell: Cell) -> str:
    columns = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    return columns + (f' rowspan="{cell.rows}"' if cell.rows > 1 else "")


def html_table(
    table: Table,
    css_class: str = "",
    *,
    caption: bool = False,
    row_heads: bool = False,
    scope: bool = False,
) -> str:
    def written(cell: Cell, tag: str, direction: str) -> str:
        scoped = f' scope="{direction}"' if scope and tag == "th" else ""
        return f"<{tag}{spans(cell)}{scoped}>{inner(cell)}</{tag}>"

    lines = [f'<table class="{css_class}">' if css_class else "<table>"]
    if caption and table.caption:
        lines.append(f"<caption>{escaped(table.caption)}</caption>")
    lines.append("<thead>")
    lines += [f"<tr>{''.join(written(cell, 'th', 'col') for cell in row)}</tr>" for row in table.head]
    lines.append("</thead><tbody>")
    for row in table.body:
        tags = ["th" if cell.head or (row_heads and at == 0) else "td" for at, cell in enumerate(row)]
        found = (written(cell, tag, "row") for cell, tag in zip(row, tags, strict=True))
        lines.append(f"<tr>{''.join(found)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


CAPTIONS = {
    "heading": "<h3>{}</h3>",
    "above": '<p class="cap"><b>{}</b></p>',
    "below": '<p class="cap">{}</p>',
}


def html_blocks(blocks: list[Block], captions: str = "", table: Callable[[Table], str] = html_table) -> str:
    """Blocks one under the other; ``captions`` stand as heading, above or below, or are left to ``table``."""
    lines = []
    for kind, content in blocks:
        if isinstance(content, Table):
            caption = CAPTIONS.get(captions, "").format(escaped(content.caption)) if content.caption else ""
            parts = [table(content), caption] if captions == "below" else [caption, table(content)]
            lines += [part for part in parts if part]
        elif kind == "small":
            lines.append(f'<p class="note">{escaped(str(content))}</p>')
        else:
            lines.append(f"<{kind}>{escaped(str(content))}</{kind}>")
    return "\n".join(lines)


def paragraphs(texts: list[str], css_class: str) -> str:
    return "".join(f'<p class="{css_class}">{escaped(text)}</p>' for text in texts)


def style(name: str) -> str:
    """A style sheet of the folder ``styles``, on one line."""
    path = Path(__file__).parent / "styles" / f"{name}.css"
    return "".join(path.read_text(encoding="utf-8").splitlines())


def html_page(title: str, body: str, css: str, before: str = "", after: str = "") -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escaped(title)}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{css}</style>\n</head>\n<body>\n{before}\n{body}\n{after}\n</body>\n</html>\n"
    )
