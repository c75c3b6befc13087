"""A page before any producer has it: headings, paragraphs, facts, tables, cards, things side by side."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.published.shown import Shown, ShownPosition, ShownRow, ShownTable


@dataclass
class Cell:
    text: str
    rows: int = 1
    columns: int = 1
    head: bool = False
    number: bool = False
    shade: bool = False
    bold: bool = False


@dataclass
class Heading:
    level: int
    text: str


@dataclass
class Para:
    text: str
    small: bool = False


@dataclass
class Facts:
    style: str  # lines, table, dl, bullets, strip
    pairs: list[tuple[str, str]]


@dataclass
class Table:
    head: list[list[Cell]]
    body: list[list[Cell]]
    widths: list[float]
    caption: str = ""
    below: bool = False  # the caption stands below
    aria: bool = False  # divisions with roles, no table element
    keep: bool = False


@dataclass
class Bar(Cell):
    """A bar in a chart's column; `text` draws it where there is no other way."""

    share: float = 0.0


@dataclass
class Divs(Table):
    """Divisions in the grid or the flexible boxes of a style sheet, with roles or without."""

    roles: bool = True


@dataclass
class Fold:
    """Panels of which a web page shows one or none: details, accordion, tabs, tablist."""

    style: str
    panels: list[tuple[str, list]]


@dataclass
class Side:
    parts: list[list]


@dataclass
class Cards:
    items: list[tuple[str, list[tuple[str, str]]]]


@dataclass
class Break:
    pass


@dataclass
class Sheet:
    """What follows stands on another sheet, where the page is a workbook."""

    title: str


@dataclass
class Newspaper:
    """Blocks that flow in two columns."""

    blocks: list


@dataclass
class Page:
    title: str
    blocks: list
    landscape: bool = False
    slides: bool = False
    look: int = 0


@dataclass
class Layout:
    name: str
    build: Callable[[Shown, random.Random], Page]
    positions: int = 1
    grid: bool = False  # the intersectional rows lie in a grid of race by sex
    totals: tuple[str, ...] = ("sex", "race", "inter")  # tables that can have a total row
    highest: bool = True
    show_k: bool | None = None
    zero: bool = False
    exclusion: bool | None = None
    producers: tuple[str, ...] = field(
        default=("chromium", "weasyprint", "libreoffice", "latex", "word", "reportlab", "excel", "scan")
    )
    swap: bool = True  # two headers can change places
    web: bool = False  # a web page alone, never printed


NUMBER = {"n", "k", "rate", "ratio"}


def cells(shown: Shown, row: ShownRow, columns: list[str] | None = None, *, bold: bool = False) -> list[Cell]:
    return [Cell(row.get(c), number=True, shade=row.excluded, bold=bold) for c in columns or shown.columns()]


def plain(
    shown: Shown, table: ShownTable, *, caption: str = "", below: bool = False, heads: bool = True
) -> Table:
    columns = shown.columns()
    head = [Cell(shown.words.first[table.family], head=True)] + [
        Cell(shown.header(c), head=True) for c in columns
    ]
    body = [[Cell(row.label, head=heads, shade=row.excluded), *cells(shown, row)] for row in table.rows]
    if table.total:
        body.append([Cell(table.total.label, head=heads, bold=True), *cells(shown, table.total, bold=True)])
    return Table([head], body, [3.2] + [1.2] * len(columns), caption, below)


def by_sex(table: ShownTable) -> list[tuple[ShownRow, ShownRow]]:
    """Rows of the intersectional table, men and women of one race/ethnicity together."""
    men = [row for row in table.rows if row.key[1] == "M"]
    women = [row for row in table.rows if row.key[1] == "F"]
    if [m.key for m in men] != [(w.key[0], "M") for w in women]:
        msg = "a grid needs the same races for both sexes"
        raise ValueError(msg)
    return list(zip(men, women, strict=True))


def present(position: ShownPosition) -> list[ShownTable]:
    return [position.tables[f] for f in ("sex", "race", "inter") if f in position.tables]


def after(table: ShownTable) -> list:
    return [Para(table.highest)] if table.highest else []


def claim(shown: Shown, kind: str) -> list:
    return [Para(text) for where, text in shown.claims if where == kind]


def fact(shown: Shown, slot: str) -> list:
    return [Para(shown.facts[slot][2])] if slot in shown.facts else []
