"""Dates as people write them, and where they stand in a text."""

from __future__ import annotations

import calendar
import re
from datetime import date
from typing import Final

_MONTHS: Final = {name.lower(): i for i, name in enumerate(calendar.month_name) if name}
_MONTHS_SHORT: Final = {name[:3]: i for name, i in _MONTHS.items()}
_MONTH: Final = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # fmt: skip # noqa: E501
# A reader of scans loses spaces: "March25,2026".
# A browser's PDF cuts a date over two lines at its hyphen: "2025- 10-20".
DATE: Final = re.compile(
    r"(?<![\d/-])(?:(?P<iso>\d{4}-\s?\d{2}-\s?\d{2})"
    rf"|(?P<mdy>{_MONTH}) ?(?P<mdy_day>\d{{1,2}})(?:st|nd|rd|th)?,? ?(?P<mdy_year>\d{{4}})"
    rf"|(?P<dmy_day>\d{{1,2}})(?:st|nd|rd|th)?[ -]?(?P<dmy>{_MONTH}),?[ -]?(?P<dmy_year>\d{{4}})"
    r"|(?P<us_month>\d{1,2})/(?P<us_day>\d{1,2})/(?P<us_year>\d{4}|\d{2})"
    r"|(?P<ymd>\d{4}/\d{1,2}/\d{1,2})|(?<![vV]ersion )(?<![vV])(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})"
    rf"|(?P<my>{_MONTH}),? (?P<my_year>\d{{4}}))(?![\d/-])",
    re.IGNORECASE,
)


def read_date(found: re.Match[str]) -> date | None:
    """Read a match of `DATE`; a month without a day is its last day, and 6/7/2023 is of June.

    Examples
    --------
    >>> [read_date(m) for m in DATE.finditer("June 29, 2023, Feb 2024, 2025- 10-20, 13/13/2023")]
    [datetime.date(2023, 6, 29), datetime.date(2024, 2, 29), datetime.date(2025, 10, 20), None]
    >>> [read_date(m) for m in DATE.finditer("2026/07/16, 16.07.2026, 16-Jul-2026")]
    [datetime.date(2026, 7, 16), datetime.date(2026, 7, 16), datetime.date(2026, 7, 16)]
    """
    try:
        if found["iso"]:
            return date.fromisoformat(re.sub(r"\s", "", found["iso"]))
        if found["ymd"]:
            return date(*map(int, found["ymd"].split("/")))
        if found["dotted"]:  # as most of the world writes it: the day comes first
            day, month, year = map(int, found["dotted"].split("."))
            return date(year, month, day)
        if found["mdy"]:
            return date(int(found["mdy_year"]), _month(found["mdy"]), int(found["mdy_day"]))
        if found["dmy"]:
            return date(int(found["dmy_year"]), _month(found["dmy"]), int(found["dmy_day"]))
        if found["us_year"]:
            year = int(found["us_year"])
            return date(year if year > 99 else 2000 + year, int(found["us_month"]), int(found["us_day"]))
        year, month = int(found["my_year"]), _month(found["my"])
        return date(year, month, calendar.monthrange(year, month)[1])
    except ValueError:
        return None


def is_month(found: re.Match[str]) -> bool:
    """Whether a match of `DATE` names no day."""
    return found["my"] is not None


def _month(name: str) -> int:
    return _MONTHS_SHORT[name[:3].lower()]
