"""Columns of one kind for several years: this audit's number, and next to it the one of an audit before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FISCAL: Final = re.compile(r"\bFY ?['\u2019]?(\d\d)(?!\d)", re.IGNORECASE)
_EARLIER: Final = re.compile(
    r"\b(?:previous|prior|preceding|earlier|last (?:year|audit|period|cycle))\b", re.IGNORECASE
)
BEFORE: Final = 0


def year_of(header: str) -> int | None:
    """Return the year that a header names, `BEFORE` where it only says an earlier one, or None.

    Examples
    --------
    >>> year_of("2025 impact ratio"), year_of("Impact ratio (last year)"), year_of("Impact ratio")
    (2025, 0, None)
    >>> year_of("FY24 ratio")
    2024
    """
    years = [int(found) for found in _YEAR.findall(header)]
    years += [2000 + int(found) for found in _FISCAL.findall(header)]
    if years:
        return max(years)
    return BEFORE if _EARLIER.search(header) else None


def newest(columns: Sequence[int], texts: Sequence[str]) -> int:
    """Return the column of the audit itself: the first that names no year, or else the first of the latest year.

    Examples
    --------
    >>> newest([3, 4], ["Sex", "Applicants", "Rate", "2024 ratio", "2025 ratio"])
    4
    """
    years = [year_of(texts[i]) for i in columns]
    if None in years:
        return columns[years.index(None)]
    return columns[years.index(max(year for year in years if year is not None))]


def is_earlier(header: str, read: str) -> bool:
    """Whether a column is that of a year before the one that was read; what is read names none or a later one.

    Examples
    --------
    >>> is_earlier("2025 ratio", "Ratio"), is_earlier("2025 ratio", "2025 ratio"), is_earlier("Ratio", "2025 ratio")
    (True, False, False)
    """
    year, of_read = year_of(header), year_of(read)
    return year is not None and (of_read is None or year < of_read)
