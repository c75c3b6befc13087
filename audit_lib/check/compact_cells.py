"""Cells that hold several numbers, "123 / 456" or "123 of 456 (27.0%)": each number gets a column of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, Meaning, meaning_of
from audit_lib.check.published_numbers import Number, read_number, says_none
from audit_lib.check.row_labels import categories_in

_NUMBER: Final = r"\d{1,3}(?:[,'\u2019\u00a0\u2007\u2009\u202f]\d{3})+(?!\d)|\d*\.\d+|\d+"
_ONE: Final = re.compile(rf"(?:[nN] ?= ?)?({_NUMBER}) ?(%?)")
_BETWEEN: Final = re.compile(
    r"\s*(?:[/|;,:\u00b7(=]|\bof\b|\bout of\b|\bfrom\b|(?<=%)\s)\s*\(?", re.IGNORECASE
)
_END: Final = re.compile(r"\s*\)?\s*[*\u2020\u2021\u00b9\u00b2\u00b3]*")
_PARTED: Final = re.compile(
    r"\s*(?:[/|;(\u00b7\n]|\bout of\b|\bof (?=total|all|the|applicants|candidates|N\b)|,)\s*"
)
_IN_LABEL: Final = re.compile(rf"(\D.*?),? *[(\[]?\b[nN] ?= ?({_NUMBER})[)\]]?")
_REMARK: Final = re.compile(r"[\d.,]+ \(\d+\)")
_FEWEST: Final = 2
_MOST: Final = Fraction(4, 5)  # of the rows: one may be a fault of the page
_NAMES: Final[dict[Meaning, str]] = {
    "applicants": "Applicants",
    "selected": "Selected",
    "rate": "Selection rate",
    "ratio": "Impact ratio",
    "share": "Share of data",
}


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a cell that holds two or three and nothing else; none of any other cell.

    Examples
    --------
    >>> numbers_in("2,652 / 5,347"), numbers_in("(123 of 456) 27.0%"), numbers_in("0.956 (0.816 to 1.120)")
    (['2,652', '5,347'], ['123', '456', '27.0%'], [])
    """
    found: list[str] = []
    at = len(text) - len(text.lstrip(" ("))
    while (one := _ONE.match(text, at)) is not None:
        found.append(one[1] + one[2])
        at = one.end()
        if _END.fullmatch(text, at):
            return found if 2 <= len(found) <= 3 else []
        closing = _END.match(text, at)
        between = _BETWEEN.match(text, at) or (closing if closing and closing.end() > at else None)
        if between is None:
            return []
        at = between.end()
    return []


def spread(grids: Iterable[Grid]) -> tuple[Grid, ...]:
    """Give each number of cells that hold several a column of its own, and so numbers of people in labels."""
    return tuple(_with_people(_spread(grid)) for grid in grids)


def _with_people(grid: Grid) -> Grid:
    """Give the people that labels tell, as in "Asian (n = 1,767)", a column, where there is none."""
    for i in range(len(grid.rows[0]) if grid.rows else 0):
        found = [_IN_LABEL.fullmatch(row[i]) for row in grid.rows]
        first = next((n for n, one in enumerate(found) if one), 0)
        header = grid.rows[first - 1] if first else ()
        if sum(map(bool, found)) < _FEWEST or "applicants" in map(meaning_of, header):
            continue
        rows = [
            (*row[:i], one[1], one[2], *row[i + 1 :])
            if one
            else (*row[:i], row[i], _NAMES["applicants"] if n == first - 1 else "", *row[i + 1 :])
            for n, (row, one) in enumerate(zip(grid.rows, found, strict=True))
        ]
        return replace(grid, rows=even(rows))
    return grid


def _spread(grid: Grid) -> Grid:
    rows = list(grid.rows)
    for i in reversed(range(len(rows[0]) if rows else 0)):
        parts = _parts(rows, i)
        if parts is not None:
            rows = [(*row[:i], *part, *row[i + 1 :]) for row, part in zip(rows, parts, strict=True)]
    return grid if rows == list(grid.rows) else replace(grid, rows=even(rows))


def _parts(rows: Sequence[Sequence[str]], column: int) -> list[Sequence[str]] | None:
    """Return what each cell of a column becomes; None where it holds no numbers of people together with others."""
    held = [numbers_in(row[column]) for row in rows]
    sizes = Counter(len(numbers) for numbers in held if numbers)
    if not sizes:
        return None
    size, times = sizes.most_common(1)[0]
    singles = sum(not held[i] and read_number(row[column]) is not None for i, row in enumerate(rows))
    if times < _FEWEST or times <= singles:
        return None
    first = next(i for i, numbers in enumerate(held) if numbers)
    heads = [i for i in range(first) if rows[i][column] and not read_number(rows[i][column])]
    header = heads[-1] if heads else None
    table = [numbers for numbers in held if len(numbers) == size]
    is_remark = all(_REMARK.fullmatch(row[column]) for i, row in enumerate(rows) if len(held[i]) == size)
    names = _names(rows[header][column] if header is not None else "", table, is_remark=is_remark)
    if names is None:
        return None
    made: list[Sequence[str]] = []
    for i, row in enumerate(rows):
        if i == header:
            made.append(names)
        elif len(held[i]) == size:
            made.append(held[i])
        else:  # one number for two is left where it is, to be said to be unreadable
            made.append(
                [row[column]] * size
                if says_none(row[column]) or i < first
                else [row[column]] + [""] * (size - 1)
            )
    return made


def _names(header: str, table: Sequence[Sequence[str]], *, is_remark: bool) -> list[str] | None:
    """Return a header for each number: the parts of the column's own, or else what the numbers show them to be."""
    parts = [part.strip(" )]") for part in _PARTED.split(header) if part.strip(" )]")]
    meanings = [meaning_of(part) for part in parts]
    size = len(table[0])
    if meaning_of(header) in ("label", "place"):
        return None
    columns = [[read_number(numbers[i]) for numbers in table] for i in range(size)]
    is_told = len(parts) == size == len(set(meanings)) and all(meaning in NUMBERS for meaning in meanings)
    shown = _shown(columns, meaning_of(header))
    if shown is None:
        return parts if is_told and set(meanings) & {"rate", "ratio"} else None
    if len(parts) < size and is_remark:
        return None  # a number in brackets may be a footnote's
    if is_told:
        return parts
    over = f"{header} " if categories_in(header) else ""  # a category above its numbers
    return [f"{over}{_NAMES[meaning]}" for meaning in shown]


def _shown(columns: Sequence[Sequence[Number | None]], meant: Meaning | None) -> list[Meaning] | None:
    """Say what columns hold by their numbers: whole ones are of people, the others a rate, a ratio or a share."""
    wholes = [
        i for i, column in enumerate(columns) if all(n and n.is_whole and not n.percent for n in column)
    ]
    found: dict[int, Meaning] = {}
    if len(wholes) == 2:
        pairs = [(columns[wholes[0]][r], columns[wholes[1]][r]) for r in range(len(columns[0]))]
        up = sum(bool(a and b and a.value <= b.value) for a, b in pairs)
        down = sum(bool(a and b and a.value >= b.value) for a, b in pairs)
        if max(up, down) < _MOST * len(pairs):
            return None
        found = {
            wholes[0]: "selected" if up >= down else "applicants",
            wholes[1]: "applicants" if up >= down else "selected",
        }
    elif len(wholes) == 1:
        found = {wholes[0]: "selected" if meant in ("selected", "rate") else "applicants"}
    else:
        return None
    rest: list[Meaning] = ["rate", "ratio"]
    if len(wholes) == 1 and len(columns) == 2 and _are_shares(columns[wholes[0]], columns[1 - wholes[0]]):
        rest = ["share"]
    for i in range(len(columns)):
        if i not in found:
            found[i] = rest.pop(0)
    return [found[i] for i in range(len(columns))]


def _are_shares(people: Sequence[Number | None], shares: Sequence[Number | None]) -> bool:
    """Whether numbers are the people over the sum of them, or over the last, which may be the sum."""
    counts = [n.value for n in people if n is not None]
    for total in (sum(counts, Fraction(0)), max(counts)):
        if total and all(
            n
            and s
            and abs(n.value / total * (100 if s.percent or s.value > 1 else 1) - s.value)
            <= Fraction(1, 10**s.decimals)
            for n, s in zip(people, shares, strict=True)
        ):
            return True
    return False
