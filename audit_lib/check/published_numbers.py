"""Numbers as people publish them: signs, thousands, percent, footnote marks, and words for "none"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Final

from audit_lib.translation import LANGUAGES, Speaker

SEPARATORS: Final = ",'\u2019\u00a0\u2007\u2009\u202f"
"""What parts thousands: a comma, an apostrophe, or a space that does not break (thin, narrow, full width)."""
_SPACE: Final = re.compile(rf"(?!(?<=[0-9])[{SEPARATORS}](?=[0-9]{{3}}(?![0-9])))\s+")
WHOLE: Final = rf"(?:[0-9]{{1,3}}(?:(?:[{SEPARATORS}][0-9]{{3}}){{1,5}}|[0-9]{{0,15}}))"
"""Pattern of a number of people in running text, for `whole`."""
_NUMBER: Final = re.compile(
    rf"(?P<sign>[-\u2212\u2013])?\s*(?P<whole>{WHOLE})?(?:\.(?P<decimals>[0-9]{{1,18}}))?"
    r"(?:[eE](?P<power>[+-]?[0-9]{1,2}))?(?:\s*(?P<percent>%|percent\b|per cent\b|pct\b\.?))?"
    r"(?:\s+(?:people|persons|applicants|candidates|individuals|employees)\b)?",
    re.IGNORECASE,
)
# What may stand after a number: footnote marks, or a remark in brackets.
_MARKS: Final = re.compile(
    r"(?:\s|[*\u2020\u2021\u00a7\u00b6#^]|[\u00b9\u00b2\u00b3\u2070-\u2079]|\[[^\]]*\]|\([^)]*\))*"
)
_NONE: Final = frozenset(
    {"", "-", "\u2013", "\u2014", "--", "n/a", "na", "n.a.", "n.a", "n. a.", "nan", "none", "null", "undefined",
     "not applicable", "excluded", "insufficient data", "too few",
     "not calculated", "not reported", "not defined", "suppressed", "hidden",
     "withheld", "redacted", "masked", "*", "**", "\u2020", "x", ".", "#n/a", "#div/0!"}
)  # fmt: skip
# As a narrow column cuts them, without a hyphen: "not calculate d".
_CUT_NONE: Final = frozenset("".join(words.split()) for words in _NONE if len(words) > 4)
_COMPARED_WITH: Final = re.compile(
    r"\W*(?:ref\.?|reference|comparator|baseline|highest|benchmark)(?: (?:group|category|rate))?\W*",
    re.IGNORECASE,
)
_SUPPRESSED: Final = re.compile(r"(?:<|less than|fewer than|under)\s*\d+(?:\.\d+)?\s*%?")


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number as printed.

    Parameters
    ----------
    digits : str
        Its digits alone, without sign, thousands, percent or marks: ``1390``, ``.67``, ``64.2``.
    negative, percent : bool
        Whether it has a minus, and a percent sign.
    """

    digits: str
    negative: bool = False
    percent: bool = False

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return len(self.digits.partition(".")[2])

    @cached_property
    def value(self) -> Fraction:
        """What is printed, in the unit printed."""
        size = Fraction(self.digits if not self.digits.startswith(".") else f"0{self.digits}")
        return -size if self.negative else size

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number: ``12`` and ``12.0`` are."""
        return self.value.denominator == 1


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One cell: its text and, where it holds one, its number."""

    text: str
    number: Number | None = None

    @property
    def is_none(self) -> bool:
        """Whether the cell says that there is no number (empty, a dash, "n/a", "< 5")."""
        return self.number is None and says_none(self.text)

    @property
    def count(self) -> int | None:
        """The number of people it holds, if it holds one."""
        if self.number is None or self.number.percent or self.number.negative or not self.number.is_whole:
            return None
        return int(self.number.value)


@cache
def _own_none() -> frozenset[str]:
    """What pages of ours say in place of a number, in every language."""
    return frozenset(
        Speaker(language).look_up(words, context)
        for language in LANGUAGES
        for words in ("hidden", "undefined")
        for context in (None, "of a rate")
    )


def says_none(text: str) -> bool:
    """Whether a text stands for "no number here".

    Examples
    --------
    >>> says_none("N/A"), says_none("< 5"), says_none("indefinida"), says_none("many")
    (True, True, True, False)
    """
    words = " ".join(text.lower().split())
    bare = words.rstrip("*\u2020\u2021").strip()
    if words in _NONE or bare in _NONE or "".join(bare.split()) in _CUT_NONE or bare in _own_none():
        return True
    return _SUPPRESSED.fullmatch(bare) is not None


def one_line(text: str) -> str:
    """Make white space single spaces, but for a space that parts the thousands of a number.

    Examples
    --------
    >>> one_line("  Men and   women "), one_line("6\N{NO-BREAK SPACE}000") == "6\N{NO-BREAK SPACE}000"
    ('Men and women', True)
    """
    return _SPACE.sub(" ", text).strip()


def whole(text: str) -> int:
    """Return the number that a match of `WHOLE` stands for.

    Examples
    --------
    >>> whole("1,390"), whole("1'390")
    (1390, 1390)
    """
    return int(re.sub(rf"[{SEPARATORS}]", "", text))


def read_number(text: str) -> Number | None:
    """Read a printed number, or return None if the text is something else.

    Examples
    --------
    >>> read_number("1,390"), read_number(" .67 ")
    (Number(digits='1390', negative=False, percent=False), Number(digits='.67', negative=False, percent=False))
    >>> read_number("64.2 %\N{DAGGER}").percent, read_number("0.97 [1]").digits, read_number("about 3")
    (True, '0.97', None)
    """
    words = one_line(text)
    found = _NUMBER.match(words)
    if found is None or (found["whole"] is None and found["decimals"] is None):
        return None
    if not _MARKS.fullmatch(words[found.end() :]):
        return None
    people, decimals = re.sub(rf"[{SEPARATORS}]", "", found["whole"] or ""), found["decimals"]
    digits = people if decimals is None else f"{people}.{decimals}"
    if found["power"]:
        digits = _plain(digits, int(found["power"]))
    return Number(digits=digits, negative=found["sign"] is not None, percent=found["percent"] is not None)


def is_noted(lines: Sequence[str]) -> bool:
    """Whether the first line of a cell is its number and the others are words about it.

    Examples
    --------
    >>> is_noted(["0.956", "0.816 to 1.120"]), is_noted(["1,", "390"]), is_noted(["13", "90"])
    (True, False, False)
    """
    rest = " ".join(lines[1:])
    return bool(re.search(r"[^\W\d_]|[(\[]", rest)) and read_number(lines[0]) is not None


def read_ratio(text: str) -> PublishedCell:
    """Make a cell of a ratio's text: words for the group that others are compared with are a ratio of 1.

    Examples
    --------
    >>> read_ratio("Reference").number == Number(digits="1"), read_ratio("n/a").number
    (True, None)
    """
    cell = read_cell(text)
    if cell.number is None and _COMPARED_WITH.fullmatch(cell.text):
        return PublishedCell(cell.text, Number(digits="1"))
    return cell


@lru_cache(maxsize=4096)  # the same numbers stand in many cells
def read_cell(text: str) -> PublishedCell:
    """Make a cell of its text."""
    return PublishedCell(one_line(text), read_number(text))


def _plain(digits: str, power: int) -> str:
    # Spreadsheets write 1.39E+03; the digits after the point are what the power leaves of them.
    whole, _, decimals = digits.partition(".")
    shift = len(decimals) - power
    everything = whole + decimals
    if shift <= 0:
        return everything + "0" * -shift
    padded = everything.rjust(shift + 1, "0")
    return f"{padded[:-shift]}.{padded[-shift:]}"
