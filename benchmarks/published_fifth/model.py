"""The shapes that the other modules pass to each other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

RACES = ("hispanic", "white", "black", "pacific", "asian", "native", "two")
SEXES = ("m", "f")
Counts = dict[tuple[str, str], tuple[int, int]]  # (sex, race) -> (people, chosen)


@dataclass
class Row:
    """One printed row of a table: who it is about and what is printed."""

    sex: str
    race: str
    n: str
    k: str
    rate: str
    ratio: str
    share: str
    people: int
    chosen: int
    excluded: bool = False
    before: str = ""  # last year's ratio, where the layout prints it

    @property
    def value(self) -> Fraction:
        """The exact rate."""
        return Fraction(self.chosen, self.people)


@dataclass
class AuditTable:
    """One of the tables the rule asks for."""

    kind: str  # sex, race or inter
    unit: int  # which position
    rows: list[Row]
    total: Row | None = None
    left_out: list[Row] = field(default_factory=list)  # told in a note only
    shown: bool = True


@dataclass
class Unit:
    """One position (or job family) with the people that the tool assessed."""

    name: str
    counts: Counts
    only_sex: dict[str, tuple[int, int]]  # sex known, race not
    only_race: dict[str, tuple[int, int]]  # race known, sex not
    neither: int
    median: str = ""

    @property
    def both_known(self) -> int:
        """People in the tables by sex and race together."""
        return sum(n for n, _ in self.counts.values())

    @property
    def no_race(self) -> int:
        return sum(n for n, _ in self.only_sex.values()) + self.neither

    @property
    def no_sex(self) -> int:
        return sum(n for n, _ in self.only_race.values()) + self.neither

    @property
    def unknown(self) -> int:
        """People who lack sex, race or both."""
        return self.no_race + self.no_sex - self.neither

    @property
    def assessed(self) -> int:
        return self.both_known + self.unknown


@dataclass
class Facts:
    """What the page says around its tables."""

    employer: str
    vendor: str
    tool: str
    auditor: str
    purpose: str
    audit: date
    audit_again: date
    start: date
    end: date
    use: date
    use_again: date
    earlier: list[date]
    data: str  # own, pooled, pooled_own, test
    employers: int
    missing: set[str] = field(default_factory=set)
    claim: str = ""
    own_auditor: str = ""  # a sentence that replaces the independent auditor
    made_up: str = ""  # a sentence that replaces the account of the data
    reason: str = ""


@dataclass
class Style:
    """How one file writes numbers, names and tables."""

    count: str
    rate: str
    ratio: str
    races: str
    sexes: str
    pair: str
    order: tuple[str, ...]
    sex_order: tuple[str, ...]
    columns: tuple[str, ...]
    heads: dict[str, str]
    dates: str
    total: bool
    same_people: bool
    by_axis: bool
    exclude: str  # none, row or note
    highest: bool
    blank: str = "N/A"
    unknown_row: bool = False


@dataclass
class Draw:
    """Everything that is drawn for one file, before it is laid out."""

    seed: str
    layout: str
    producer: str
    scoring: bool
    facts: Facts
    units: list[Unit]
    tables: list[AuditTable]
    old: list[AuditTable]
    style: Style
    highest: dict[tuple[int, str], str]
    options: Options

    def pick(self, key: str, choices: list[str]) -> str:
        """A choice that depends on the seed and the key alone."""
        digest = hashlib.sha256(f"{self.seed}|{key}".encode()).digest()
        return choices[int.from_bytes(digest[:4], "big") % len(choices)]

    def chance(self, key: str, percent: int) -> bool:
        """True in about so many of a hundred seeds."""
        return int(self.pick(key, [str(i) for i in range(100)])) < percent

    def table(self, unit: int, kind: str, old: bool = False) -> AuditTable | None:
        """The table of this kind for this position, where the page has it."""
        for one in self.old if old else self.tables:
            if one.unit == unit and one.kind == kind and one.shown:
                return one
        return None


@dataclass
class Cell:
    """A cell of a printed table."""

    text: str
    span: int = 1
    down: int = 1
    head: bool = False


@dataclass
class Grid:
    """A printed table."""

    head: list[list[Cell]]
    body: list[list[Cell]]
    caption: str = ""
    notes: list[str] = field(default_factory=list)
    width: int = 0

    def columns(self) -> int:
        """How many columns the table has."""
        rows = self.head or self.body
        return max(sum(cell.span for cell in row) for row in rows[:1])


@dataclass
class Heading:
    level: int
    text: str


@dataclass
class Para:
    text: str
    small: bool = False


@dataclass
class Bullets:
    items: list[str]


@dataclass
class Pairs:
    """Facts as name and value."""

    items: list[tuple[str, str]]
    shape: str = "table"  # table, list or lines


@dataclass
class Fold:
    """Parts that open on a click (accordion) or as tabs."""

    parts: list[tuple[str, list[Block]]]
    tabs: bool = False


@dataclass
class Break:
    """A new page (a new sheet in a workbook)."""

    name: str = ""


Block = Heading | Para | Bullets | Pairs | Fold | Grid | Break


@dataclass
class Doc:
    """A whole page, ready for a producer."""

    title: str
    blocks: list[Block]
    theme: str = "plain"
    nav: list[str] = field(default_factory=list)
    cookie: str = ""
    related: list[str] = field(default_factory=list)
    footer: str = ""
    landscape: bool = False
    paper: str = "letter"


@dataclass
class Options:
    """What a layout may draw."""

    rates: tuple[str, ...] = ("pct1", "pct2", "pct0")
    ratios: tuple[str, ...] = ("r2", "r3")
    counts: tuple[str, ...] = ("comma", "plain")
    measures: tuple[bool, ...] = (False, True)
    columns: tuple[tuple[str, ...], ...] = (("n", "k", "rate", "ratio"), ("n", "rate", "ratio"))
    units: tuple[int, ...] = (1,)
    pairs: tuple[str, ...] = ("race_sex", "sex_race")
    totals: int = 40
    axis: int = 25
    exclude: tuple[str, ...] = ("none", "none", "row", "note")
    highest: int = 60
    data: tuple[str, ...] = ("own", "own", "pooled", "pooled_own", "test")
    old: bool = False
    sizes: tuple[int, int] = (900, 14000)
    races: tuple[str, ...] = ("full", "plain", "slash", "short", "eeo")


@dataclass
class Layout:
    """A layout: how a page is put together, and what may print it."""

    name: str
    part: str
    producers: tuple[str, ...]
    compose: Callable[[Draw], Doc]
    options: Options
