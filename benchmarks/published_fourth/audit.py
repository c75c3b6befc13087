"""An audit as its page shows it."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field
from fractions import Fraction

from benchmarks.published_fourth.notation import Notation, percent, written_date

FAMILIES = ("sex", "race", "intersection")
MARKED = {"N/A": "N/A*", "n/a": "n/a*", "—": "—*"}  # of a category that was left out of the ratios
JOINED = {  # sex (s) and race (r) of an intersectional category
    "sex first": "{s}, {r}",
    "race first": "{r} {s}",
    "race dash sex": "{r} – {s}",
    "sex dash race": "{s} - {r}",
    "slash": "{s} / {r}",
}


@dataclass
class Row:
    sex: str | None
    race: str | None
    applied: int
    selected: int
    excluded: bool
    rate: Fraction | None
    ratio: Fraction | None
    share: Fraction
    highest: bool = False
    shown: dict[str, str] = field(default_factory=dict)  # by column, as printed


@dataclass
class Results:
    """The rows of one kind of category, their highest rate and the number of people in them."""

    rows: list[Row]
    highest: Fraction
    total: int


@dataclass
class Group:
    """What is audited on its own: a job family, or a year."""

    tables: dict[str, Results]
    unknown_either: int
    unknown_sex: int
    unknown_race: int
    name: str = ""
    median: float = 0.0
    audited: dt.date = dt.date.min
    start: dt.date = dt.date.min
    end: dt.date = dt.date.min
    known: int = 0  # people in the intersectional table

    def rows(self) -> list[Row]:
        return [row for table in self.tables.values() for row in table.rows]


@dataclass
class Audit:
    employer: str
    vendor: str
    tool: str
    auditor: str
    positions: str
    scoring: bool
    rates: Notation
    ratios: Notation
    separated: bool  # thousands
    date_style: str
    races: dict[str, str]
    sexes: dict[str, str]
    hispanic_note: bool
    show_selected: bool
    show_share: bool
    mark: str
    fold: bool  # leave excluded categories out of the tables and name them in a sentence
    none_word: str
    unknown_by_axis: bool
    dated: dt.date | None  # the page's own date
    audited: dt.date
    distributed: dt.date
    first_use: bool  # the employer begins with the tool after this audit
    groups: list[Group]
    source: str
    years: bool  # the groups are years
    rng: random.Random
    variant: int = 0
    lawful: str | None = None  # a sentence that the law allows
    # what a fault changes
    claim: str | None = None
    second_date: dt.date | None = None
    synthetic: str | None = None
    in_use: bool = False
    audit_date_shown: bool = True
    distribution_shown: bool = True
    unknown_shown: bool = True

    def count(self, number: int) -> str:
        return f"{number:,}" if self.separated else str(number)

    def date(self, day: dt.date) -> str:
        return written_date(day, self.date_style)

    def audit_date(self) -> str | None:
        return self.date(self.audited) if self.audit_date_shown else None

    def distribution_date(self) -> str | None:
        return self.date(self.distributed) if self.distribution_shown else None

    def page_date(self) -> str | None:
        return self.date(self.dated) if self.dated else None

    def rows(self, group: Group, family: str) -> list[Row] | None:
        """The rows that a table shows, or None where the page lacks the table."""
        if family not in group.tables:
            return None
        return [row for row in group.tables[family].rows if not (self.fold and row.excluded)]

    def label(self, row: Row, joined: str = "sex first") -> str:
        if row.sex is None:
            return self.races[str(row.race)]
        if row.race is None:
            return self.sexes[row.sex]
        return JOINED[joined].format(s=self.sexes[row.sex], r=self.races[row.race])

    def columns(self, order: list[str]) -> list[str]:
        hidden = {"selected"} if not self.show_selected else set()
        return [name for name in order if name not in hidden | (set() if self.show_share else {"share"})]

    def write(self, row: Row) -> None:
        """Print the row's numbers."""
        row.highest = row.ratio == 1
        row.shown = {
            "applied": self.count(row.applied),
            "selected": self.count(row.selected),
            "rate": self.none_word if row.rate is None else self.rates.write(row.rate),
            "ratio": self.none_word if row.ratio is None else self.write_ratio(row.ratio),
            "share": percent(1).write(row.share),
        }
        if row.excluded:
            row.shown["ratio"] = MARKED[self.none_word]

    def write_ratio(self, ratio: Fraction) -> str:
        return self.ratios.write(ratio) + (" (highest)" if ratio == 1 and self.mark == "highest" else "")
