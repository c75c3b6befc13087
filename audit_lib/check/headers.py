"""Header rows of published tables: where they stand, and what each column holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from audit_lib.check.grids import Grid
from audit_lib.check.published_numbers import read_cell, says_none

Meaning = Literal["applicants", "selected", "rate", "ratio", "share", "unknown", "place", "label", "other"]
NUMBERS: Final[tuple[Meaning, ...]] = ("applicants", "selected", "rate", "ratio", "share")
RATES: Final[tuple[Meaning, ...]] = ("rate", "ratio")

# The first that matches counts, so what only looks like a rate (its interval, its p-value) comes first.
_SHARE: Final = r"(?:%|percent(?:age)?|share|proportion|fraction)"
_CHOSEN: Final = (
    r"(?:selected|hired|advanced|moved|passed|passing|promoted|recommended|chosen|invited|shortlisted|forwarded|"
    r"progressed|accepted|interviewed|favou?red|above|over|scored above|scoring above|scored over)"
)
_HEADERS: Final[tuple[tuple[Meaning, str], ...]] = (
    ("selected", rf"^(?!.*(?:\brates?\b|{_SHARE})).*(?:\b(?:higher than|above|over|better than|exceed\w*)|[>\u2265]) "
                 r"(?:the )?(?:\w+ )?median\b"),
    ("other", r"\b(?:interval|if|than|expected|ci|confidence|p|p-?value|low|high|lower|upper|limits?|bounds?|"
              r"standard|deviations?|sd|"
              r"fisher|comparator|below|flag|excluded|undefined|small|simultaneous|tests?|significan\w*|power|ties|"
              r"tied|total of|table total|mean|average|shortfall|detectable|threshold|guideline|"
              r"pass(?:es)? 4/5\w*|status)\b|^(?:the )?highest rate$"),
    ("unknown", r"\bunknown\b"),
    ("ratio", r"\bratio\b|\bair\b|\bir\b"),
    ("rate", rf"\b(?:selection|scoring) ?rate\b|"
             rf"{_SHARE} (?:of (?:\w+ ){{1,3}})?(?:who |that )?(?:were |was |are )?{_CHOSEN}\b|"
             r"\b(?:selected|hired|advanced|passed|recommended|promoted|chosen|above[- ](?:the )?(?:\w+ )?median)"
             rf"\W{{0,3}}{_SHARE}(?!\w)"),
    ("share", r"\bshare\b|(?:%|percent(?:age)?|proportion) of (?:the )?(?:data|total|sample|applicants|candidates|"
              r"population|all|pool)\b"),
    ("ratio", r"\b(?:relative|compared|vs\.?|versus|over|divided by)(?: (?:to|with))? (?:the )?(?:highest|top|best|"
              r"most)|\brelative rate"),
    ("rate", r"\b(?:selection|scoring|pass|passing|hire|hiring|success|advancement|promotion|recommendation) ?"
             r"(?:rate|%|percent\w*)|\brates?\b|(?:%|percent(?:age)?) (?:selected|above|hired|passed|advanced)"),
    ("selected", r"\b(?:selected|selections|hired|hires|advanced|moved forward|passed|passing|promoted|offers?|chosen|"
                 r"picked|shortlisted|invited|interviewed|forwarded|progressed|accepted|successful|moved on|"
                 r"above(?: the)? median|scored above|scoring above|above|favou?rable|recommended|sel)\b"),
    ("applicants", r"(?:#|\bno\.?|\bnumber|\bcount|\btotal) (?:of )?(?:applicants|candidates|individuals|"
                   r"people|employees)\b"),
    ("place", r"^(?:table|family|kind|section|stratum|position|positions|job|job title|title|role|employer|company|"
              r"audit|window|attribute|dimension|breakdown|category type|group type|"
              r"classification|classification group|style|tool|model|department|business unit)$"),
    ("label", r"\b(?:category|categories|group|groups|sex|gender|race|ethnicity|ethnic|demographics?|class|"
              r"subgroup|protected)\b"),
    ("applicants", r"\b(?:applicants?|appl|applied|assessed|considered|candidates?|individuals|people|persons|"
                   r"participants|employees|total|count|n|number|sample|sample size|population|assessments|evaluated|"
                   r"headcount|pool|screened|scored|tested|reviewed|records)\b"),
)  # fmt: skip
_HEADER_ROWS: Final = 3
_MARKS: Final = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021]")  # of footnotes: "Applied\u00b9"


@dataclass(frozen=True, slots=True)
class Header:
    """The rows that head a table, each with a text for every column."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """What is over each column, from the top; a text that several rows repeat counts once."""
        return self.without(None)

    @property
    def meanings(self) -> tuple[Meaning | None, ...]:
        """What each column holds."""
        return tuple(meaning_of(text) for text in self.texts)

    @property
    def is_of_rates(self) -> bool:
        """Whether it heads a rate or a ratio, and another number next to it."""
        return is_of_rates(self.meanings)

    @property
    def is_repeated(self) -> bool:
        """Whether several columns are a rate, or a ratio."""
        return any(self.meanings.count(meaning) > 1 for meaning in RATES)

    def without(self, row: int | None) -> tuple[str, ...]:
        """What is over each column in all rows but one."""
        kept = [texts for i, texts in enumerate(self.rows) if i != row]
        return tuple(
            " ".join(dict.fromkeys(text for text in column if text)) for column in zip(*kept, strict=True)
        )


def is_of_rates(meanings: Sequence[Meaning | None]) -> bool:
    """Whether columns of these meanings make a table of rates."""
    return bool(set(RATES) & set(meanings)) and len(set(NUMBERS) & set(meanings)) >= 2


@cache
def meaning_of(header: str) -> Meaning | None:
    """Say what a column holds, from its header; None if nothing gives it away.

    Examples
    --------
    >>> meaning_of("# of Applicants"), meaning_of("Impact Ratio"), meaning_of("95% interval"), meaning_of("")
    ('applicants', 'ratio', 'other', None)
    """
    words = re.sub(r"[_\s]+", " ", _MARKS.sub("", header.lower())).strip(" :*.")
    if words in ("#", "no.", "no"):
        return "applicants"
    words = words.removesuffix(" printed")
    return next((meaning for meaning, pattern in _HEADERS if re.search(pattern, words)), None)


def has_header(grid: Grid) -> bool:
    """Whether some row of the grid heads a table of rates."""
    return any(header_at(grid.rows, start) is not None for start in range(len(grid.rows)))


def header_at(rows: Sequence[Sequence[str]], start: int) -> Header | None:
    """Return the header of a table of rates that begins at a row, or None."""
    found = None
    if not any(rows[start]):
        return None
    for deep in range(1, _HEADER_ROWS + 1):
        block = rows[start : start + deep]
        if len(block) < deep or any(read_cell(text).number for text in block[-1]):
            break
        if only_text(block[-1]) and (deep == 1 or found is not None):
            break
        if found is not None and any(text and says_none(text) for text in block[-1]):
            break
        header = Header(tuple(tuple(texts) for texts in block))
        if header.is_of_rates:
            found = header
            # What tells columns of one name apart may stand below them.
            if not header.is_repeated:
                break
    return found


def nearest_header(grid: Grid) -> dict[str, Meaning]:
    """Return the columns that the row most like a header names, for a grid that has none: text -> meaning."""
    rows = [[text for text in row if text and not read_cell(text).number] for row in grid.rows]
    named = [{text: m for text in row if (m := meaning_of(text)) in NUMBERS} for row in rows]
    return max(named, key=len, default={})


def only_text(row: Sequence[str]) -> str:
    """Return the one text that a row holds, or nothing where it holds several or none."""
    texts = {text for text in row if text}
    return texts.pop() if len(texts) == 1 else ""
