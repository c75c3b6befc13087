"""Tables that go over a page: their rest is put back, and a rest of nothing is not passed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from audit_lib.check.findings import Finding
from audit_lib.check.grids import Grid
from audit_lib.check.headers import Header, has_header, header_at
from audit_lib.check.labels import read_label
from audit_lib.check.numbers import read_cell
from audit_lib.policies import Policy

_NUMBERS = 3
"""People, a rate and a ratio: a row with fewer may be of another kind of table."""


def joined(grids: Sequence[Grid]) -> list[Grid]:
    """Put the rest of a table on another page, under no header or under the same one again, to its beginning."""
    found: list[Grid] = []
    at, header = -1, None
    for grid in grids:
        own = _last_header(grid)
        if header is not None and grid.continues and len(grid.rows[0]) == len(header.texts):
            again = header_at(grid.rows, 0)
            if own is None or again == header:
                rest = grid.rows[len(again.rows) :] if again else grid.rows
                whole = found[at]
                rows = _reunited(whole.rows, rest)
                found[at] = replace(whole, rows=rows, notes=grid.notes or whole.notes)
                continue
        if own is not None:
            at, header = len(found), own
        found.append(grid)
    return found


def _reunited(rows: Sequence[Sequence[str]], rest: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Append rows; a row that the page's end cut has its one missing text on the next page."""
    cut = [i for i, text in enumerate(rest[0]) if text] if rest else []
    if len(cut) == 1 and len(rest[0]) > 1 and not rows[-1][cut[0]]:
        last = [text or more for text, more in zip(rows[-1], rest[0], strict=True)]
        return [*rows[:-1], last, *rest[1:]]
    return [*rows, *rest]


def headless(grids: Sequence[Grid], policy: Policy) -> Iterator[Finding]:
    """Yield tables that begin with the numbers of a category: without a header nothing says what these are."""
    for number, grid in enumerate(grids, 1):
        first = grid.rows[0]
        numbers = sum(read_cell(text).number is not None for text in first[1:])
        if numbers < _NUMBERS or has_header(grid) or not read_label(first[:1], policy).levels:
            continue
        page = f" on page {grid.page}" if grid.page else ""
        message = (
            f"{len(grid.rows)} rows{page}, from {first[0]!r} on, stand under no header row and could not be joined "
            "to the table before them; none was checked. Repeat the header row, or check them by hand"
        )
        yield Finding(
            id="unreadable_table", table=grid.caption or f"table {number} of the file", message=message
        )


def _last_header(grid: Grid) -> Header | None:
    headers = (header_at(grid.rows, start) for start in reversed(range(len(grid.rows))))
    return next((header for header in headers if header is not None), None)
