"""Tables that go over a page: their rest is put back, and a rest of nothing is not passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.grids import Grid
from audit_lib.check.headers import Header, has_header, header_at, only_text
from audit_lib.check.published_numbers import read_cell
from audit_lib.check.row_labels import read_label
from audit_lib.policies import Policy

_CUT: Final = (
    "a row of this table goes over the end of a page, and was put together from both; look at the pages"
)
_FAMILY: Final = re.compile(r"\b(?:sex|gender|race|ethnicity|intersectional)\b", re.IGNORECASE)
_NUMBERS: Final = 3
"""People, a rate and a ratio: a row with fewer may be of another kind of table."""


def joined(grids: Sequence[Grid]) -> list[Grid]:
    """Put the rest of a table on another page, under no header or under the same one again, to its beginning."""
    found: list[Grid] = []
    at, header = -1, None
    for grid in grids:
        if header is not None and grid.continues and grid.page:
            grid = _with_outer_label(grid, header)
        own = _last_header(grid)
        if header is not None and grid.continues and len(grid.rows[0]) == len(header.texts):
            whole = found[at]
            is_other = grid.caption != whole.caption and _FAMILY.search(grid.caption)
            if is_other or not {*grid.trail} <= {
                *whole.trail,
                whole.caption,
            }:  # a heading stands between them
                at, header = len(found), own
                found.append(grid)
                continue
            titles = _repeated(whole.rows, grid.rows)
            again = header_at(grid.rows, titles) if titles < len(grid.rows) else None
            if own is None or (again is not None and _plain(again) == _plain(header)):
                rest = grid.rows[titles + len(again.rows) :] if again else grid.rows
                rows, is_cut = _reunited(whole.rows, rest)
                unsure = whole.unsure or grid.unsure or (_CUT if is_cut else "")
                is_whole = whole.is_whole and grid.is_whole
                notes = grid.notes or whole.notes
                found[at] = replace(whole, rows=rows, notes=notes, unsure=unsure, is_whole=is_whole)
                continue
        if own is not None or not grid.continues:  # what goes on after a table without rates is that table's
            at, header = len(found), own
        found.append(grid)
    return found


def _with_outer_label(grid: Grid, header: Header) -> Grid:
    """Put back the column of labels that stand for several rows: on a page on which none of them begins it is not seen.

    Its header and that of the column beside it were then read as one.
    """
    again = _last_header(grid)
    if again is None or len(again.rows) > 1 or len(again.texts) != len(header.texts) - 1:
        return grid
    if "".join(_plain(again)) != "".join(_plain(header)):
        return grid
    at = next(i for i, row in enumerate(grid.rows) if tuple(row) == again.rows[0])
    rows: list[Sequence[str]] = [("", *row) for row in grid.rows]
    rows[at] = header.texts
    return replace(grid, rows=rows)


def _repeated(rows: Sequence[Sequence[str]], rest: Sequence[Sequence[str]]) -> int:
    """Count the lines of one text that stand over the rest of a table and over its beginning alike."""
    lines = {only_text(row) for row in rows} - {""}
    return next((i for i, row in enumerate(rest) if only_text(row) not in lines), len(rest))


def _plain(header: Header) -> list[str]:
    """Its texts without spaces, which a reader of scans may lose."""
    return ["".join(text.split()).casefold() for text in header.texts]


def _reunited(
    rows: Sequence[Sequence[str]], rest: Sequence[Sequence[str]]
) -> tuple[list[Sequence[str]], bool]:
    """Append rows, and say whether the page's end cut one: each of its cells with a number is on one of the pages."""
    if not rest or len(rest[0]) < 2:
        return [*rows, *rest], False
    last, first = rows[-1], rest[0]
    halves = list(zip(last, first, strict=True))
    numbers = [i for i, pair in enumerate(halves) if any(read_cell(text).number is not None for text in pair)]
    is_cut = any(not last[i] or not first[i] for i in numbers) and all(
        not last[i] or not first[i] for i in range(min(numbers), len(halves))
    )
    if not is_cut or only_text(first) == only_text(last) != "":
        return [*rows, *rest], False
    return [*rows[:-1], [" ".join(filter(None, pair)) for pair in halves], *rest[1:]], True


def headless(grids: Sequence[Grid], policy: Policy) -> Iterator[SummaryFinding]:
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
        yield SummaryFinding(
            id="unreadable_table", table=grid.caption or f"table {number} of the file", message=message
        )


def _last_header(grid: Grid) -> Header | None:
    headers = (header_at(grid.rows, start) for start in reversed(range(len(grid.rows))))
    return next((header for header in headers if header is not None), None)
