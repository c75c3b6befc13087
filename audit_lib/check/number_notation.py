"""Pages that write decimal commas: "0,92" and "17.711" are turned into "0.92" and "17,711" before anything is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from audit_lib.check.findings import Rebuilt, SummaryFinding
from audit_lib.check.grids import Grid, PublishedFile

_NUMERAL: Final = r"(?<![\w.,])\d{1,3}[%s]\d{1,2}(?![\w.,]?\d)|(?<![\w.,])0[%s]\d{3,}(?![.,]?\d)"
_COMMAS: Final = re.compile(_NUMERAL % (",", ","))
_POINTS: Final = re.compile(_NUMERAL % (".", "."))
_SPACED: Final = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")
_FEWEST: Final = 2  # decimal commas that are no slip
_WITH_COMMA: Final = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)(?![.,]?\d)")
_WITH_POINT: Final = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)(?![.,]?\d)")
_Record = TypeVar("_Record", SummaryFinding, Rebuilt)
_SWAPPED: Final = str.maketrans(",.", ".,")


def has_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether cells hold decimals after commas, and fewer after points.

    Examples
    --------
    >>> has_decimal_commas(["17.711", "0,38", "1,00"]), has_decimal_commas(["1,390", "0.38", "38,1"])
    (True, False)
    """
    commas = points = 0
    for text in texts:
        commas += len(_COMMAS.findall(text))
        points += len(_POINTS.findall(text))
    return commas >= _FEWEST and commas > 2 * points


def with_points(text: str) -> str:
    """Swap commas and points in the numerals of a text, but not in days.

    Examples
    --------
    >>> with_points("1.234 people, 0,5 on 27.02.2026")
    '1,234 people, 0.5 on 27.02.2026'
    """
    return _WITH_COMMA.sub(lambda found: found[0].translate(_SWAPPED), text)


def with_commas(text: str) -> str:
    """Swap them back."""
    return _WITH_POINT.sub(lambda found: found[0].translate(_SWAPPED), text)


def plain(document: PublishedFile) -> tuple[PublishedFile, bool]:
    """Return a document whose decimals stand after points, and whether they stood after commas."""
    if any(
        _SPACED.fullmatch(text)
        for grid in document.grids
        if not grid.unsure
        for row in grid.rows
        for text in row
    ):
        document = replace(document, grids=tuple(map(_without_spaces, document.grids)))
    if not has_decimal_commas(text for grid in document.grids for row in grid.rows for text in row):
        return document, False
    grids = tuple(_plain_grid(grid) for grid in document.grids)
    return replace(document, grids=grids, text=with_points(document.text)), True


def _without_spaces(grid: Grid) -> Grid:
    """Put spaces that do not break into numbers such as "17 711", if the cells are the file's own."""
    if grid.unsure:
        return grid
    rows = [
        tuple(text.replace(" ", "\N{NO-BREAK SPACE}") if _SPACED.fullmatch(text) else text for text in row)
        for row in grid.rows
    ]
    return replace(grid, rows=rows)


def _plain_grid(grid: Grid) -> Grid:
    rows = [tuple(map(with_points, row)) for row in grid.rows]
    return replace(grid, rows=rows, caption=with_points(grid.caption), notes=with_points(grid.notes))


def as_printed(records: Iterable[_Record]) -> list[_Record]:
    """Give numbers back the commas that the page has."""
    return [
        replace(one, printed=with_commas(one.printed), recomputed=with_commas(one.recomputed))
        for one in records
    ]
