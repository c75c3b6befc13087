"""Where one table of a grid ends and the next begins: at each row that heads columns of rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit_lib.check.grids import Grid
from audit_lib.check.headers import Header, header_at, only_text
from audit_lib.check.place_lines import PlaceLines


@dataclass(slots=True)
class TablePart:
    """Rows under one header."""

    header: Header
    caption: str
    trail: tuple[str, ...]
    place: str
    notes: str
    page: int
    unsure: str
    is_whole: bool
    rows: list[Sequence[str]]


def rows_above(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return the rows above the first header."""
    return rows[: next((i for i in range(len(rows)) if header_at(rows, i) is not None), len(rows))]


def parts_of(grid: Grid, title: str, places: PlaceLines) -> Iterator[TablePart]:
    """Cut a grid at its header rows; a line of one text above a header is the caption of what follows.

    `places` is what lines above the grid say of its place, and reads those in it.
    """
    caption, part, start = grid.caption or title, None, 0
    while start < len(grid.rows):
        places.read([only_text(grid.rows[start])])
        header = header_at(grid.rows, start)
        if header is None:
            if part is not None:
                part.rows.append(grid.rows[start])
            else:
                caption = only_text(grid.rows[start]) or caption
            start += 1
            continue
        if part is not None:
            if part.rows and (own := only_text(part.rows[-1])):
                caption = own
                part.rows.pop()
            yield part
        part = TablePart(
            header, caption, grid.trail, str(places), grid.notes, grid.page, grid.unsure, grid.is_whole, []
        )
        start += len(header.rows)
    if part is not None:
        yield part


def without_doubles(part: TablePart) -> TablePart:
    """Leave out columns that hold the same as the one before in each row: one cell was drawn over both."""
    texts = list(zip(*part.header.rows, *part.rows, strict=True))
    kept = [i for i, column in enumerate(texts) if i == 0 or column != texts[i - 1] or not any(column)]
    if len(kept) < len(texts):
        part.header = Header(tuple(tuple(row[i] for i in kept) for row in part.header.rows))
        part.rows = [tuple(row[i] for i in kept) for row in part.rows]
    return part
