"""Grids understood: where one table ends, and what its rows and cells are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from audit_lib.check.column_years import is_earlier
from audit_lib.check.combined_tables import pieces, with_subtotals
from audit_lib.check.grids import Grid
from audit_lib.check.headers import (
    NUMBERS,
    RATES,
    Header,
    Meaning,
    has_header,
    meaning_of,
    nearest_header,
    only_text,
)
from audit_lib.check.merged_labels import (
    CUT,
    UNNAMED,
    begins_unnamed,
    beside_each_place,
    beside_each_row,
    of_all_sections,
    with_whole_labels,
)
from audit_lib.check.page_breaks import joined
from audit_lib.check.place_lines import PlaceLines
from audit_lib.check.published_numbers import WHOLE, PublishedCell, read_cell, read_ratio, whole
from audit_lib.check.row_labels import Label, category_over, read_label
from audit_lib.check.side_by_side_tables import TableColumns, tables_under
from audit_lib.check.table_parts import TablePart, parts_of, rows_above, without_doubles
from audit_lib.policies import Policy

# Words of captions and headings that do not tell one position from another.
_PHRASES: Final = re.compile(
    r"\b(?:(?:table|figure|exhibit) [0-9]+(?:\.[0-9]+)*|local law 144|ll ?-?144|new york city|nyc)\b"
)
_COMMON: Final = re.compile(
    r"an?|and|the|of|by|for|in|to|on|with|its|this|tables?|impact|adverse|ratios?|rates?|results?|bias|audits?|"
    r"selection|scoring|sex|gender|races?|ethnicity|ethnic|intersectional|category|categories|summary|candidates?|"
    r"continued|cont'?d|cont|d|applicants?|data|analysis|demographics?|groups?|aedt|based|combined|statistics|statutory|calculations"
)
_LONGEST_LABEL: Final = 80
_FEW: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """A row: what it is about, and its cells by meaning."""

    label: Label
    cells: dict[Meaning, PublishedCell]
    is_stated: bool = False
    """Whether a sentence gives it, and no row of the table."""

    def cell(self, meaning: Meaning) -> PublishedCell:
        """Return the cell, or an empty one."""
        return self.cells.get(meaning, PublishedCell(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A published table of rates.

    Parameters
    ----------
    number : int
        Its place among the tables of rates in the file, from 1.
    caption : str
        Its caption, or the heading above it.
    place : str
        What tells it from tables of the same family: the position, the employer, the classification group.
    kind : {"selection", "scoring"}
        What its rate is.
    family : str or None
        The policy's table family, None where too few rows were recognised.
    headers : dict of str to str
        Meaning -> header as it prints, for the columns that are there.
    rows : tuple of PublishedRow
        Its rows, in order.
    unknown, total : tuple of int
        People of unknown and of known category that the table itself states, below it or in a column: one number, or
        all that its rows give. Empty if it states none.
    page : int
        The page on which it was read from where words stand; 0 where its cells are the file's own.
    unsure : str
        Why a cell may hold another one's text; empty where the file itself says what each cell holds.
    is_whole : bool
        Of a table read from where words stand: whether every line from its header to its end was read as part of it.
    notes : str
        The words between its end and the next heading or table.
    unread : tuple of str
        Headers of the columns with digits in them that were not read.
    repeated : tuple of str
        Those of them that say rate or ratio like a column that was read, so that one may be taken for the other.
    earlier : tuple of str
        Those of them that say rate or ratio of a year before that of the column that was read.
    """

    number: int = 0
    caption: str
    place: str
    kind: Literal["selection", "scoring"]
    family: str | None
    headers: dict[Meaning, str]
    rows: tuple[PublishedRow, ...]
    unknown: tuple[int, ...] = ()
    total: tuple[int, ...] = ()
    page: int = 0
    unsure: str = ""
    is_whole: bool = False
    notes: str = ""
    unread: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What findings call it."""
        return f"{self.number} ({self.caption or self.family or 'without a caption'})"

    @property
    def people(self) -> int:
        """How many people its categories have, where their number is printed."""
        return sum(row.cell("applicants").count or 0 for row in self.of("category"))

    def of(self, role: str) -> list[PublishedRow]:
        """Rows of a role: ``category``, ``unknown`` or ``total``."""
        return [row for row in self.rows if row.label.role == role]


def tables_of(grids: Sequence[Grid], policy: Policy) -> list[PublishedTable]:
    """Return every table of rates: one that has a rate or a ratio next to a number of people, or both of them."""
    parts: list[TablePart] = []
    title, places = "", PlaceLines()
    for grid in joined(grids):
        places.read([*grid.place.split("; "), *map(only_text, rows_above(grid.rows))])
        heading = [only_text(row) for row in grid.rows]
        if all(heading):  # a block of titles: the name of what comes next
            title = heading[-1]
            continue
        parts += parts_of(grid, title, places)
        title = ""
    found: list[PublishedTable] = []
    tells = len({part.place for part in parts}) > 1  # what all tables are about tells none from another
    for part in map(without_doubles, parts):
        part.place = part.place if tells else ""
        for table in _tables(part, policy):
            # Other tables have rates too (of power, of answers); people's categories or the law's word make it one.
            if table.family is not None or "impact" in table.headers.get("ratio", "").lower():
                found.append(replace(table, number=len(found) + 1))
    return found


def why_none(grid: Grid, policy: Policy) -> str:
    """Say what a grid of which no table was made has, and what it lacks."""
    if not has_header(grid):
        named = nearest_header(grid)
        found = ", ".join(f"{text!r} ({meaning})" for text, meaning in named.items())
        lacks = "a rate or a ratio" if not set(RATES) & set(named.values()) else "a second column of numbers"
        return (
            f"no header row of rates: {found} found, {lacks} missing" if found else "no header row of rates"
        )
    tables = [table for part in parts_of(grid, "", PlaceLines()) for table in _tables(part, policy)]
    if not tables:
        return "a header row of rates, and below it no row with a label and a number"
    labels = ", ".join(repr(row.label.text) for row in tables[0].rows[:_FEW])
    return f"rates of {labels}: no category of {policy.short_law}, and no column called impact ratio"


@dataclass(frozen=True, slots=True)
class _Words:
    """The columns that say what a row is about, and those that state a number for the whole table."""

    labels: list[int]
    places: list[int]
    stated: dict[str, int]


def _words(header: Header, *, over: bool) -> _Words:
    """Tell them by their headers; `over` says that the header itself names the rows' category."""
    first = next(i for i, meaning in enumerate(header.meanings) if meaning in NUMBERS)
    labels = [
        i
        for i, meaning in enumerate(header.meanings)
        if meaning == "label" or (i < first and meaning in (None, "other"))
    ]
    places = [i for i, meaning in enumerate(header.meanings) if meaning == "place"]
    if not labels and places and not over:
        # The only column of words is headed by an ordinary word such as "Table".
        labels, places = places[-1:], places[:-1]
    names = [" ".join(text.lower().replace("_", " ").split()) for text in header.texts]
    return _Words(
        labels, places, {name: i for i, name in enumerate(names) if name in ("table total", "table unknown")}
    )


def _tables(part: TablePart, policy: Policy) -> Iterator[PublishedTable]:
    """Yield the tables of a part: those that its header tells apart, then its places, then the lines in it."""
    tables = tables_under(part.header, policy)
    words = _words(part.header, over=any(columns.over for table in tables for columns in table))
    if part.unsure or begins_unnamed(part.rows, words.labels, policy):
        named = beside_each_row(part.rows, words.labels, policy)
        part.unsure = part.unsure or (UNNAMED if named != list(part.rows) else "")
        part.rows = named
    whole = with_whole_labels(part.rows, words.labels, policy)
    part.unsure = part.unsure or (CUT if [*map(tuple, whole)] != [*map(tuple, part.rows)] else "")
    part.rows = whole
    for column in words.places:
        part.rows = beside_each_place(part.rows, column, words.labels, policy)
    unread = _unread(part, tables, words)
    rates = [part.header.texts[i] for i in unread if part.header.meanings[i] in RATES]
    said = _stated(part, words)
    caption = part.caption or (part.trail[-1] if part.trail else "")
    for table in tables:
        groups: dict[tuple[str, ...], list[tuple[str, PublishedRow]]] = {}
        for columns in table:
            for where, line, row in _rows(part, columns, words, policy):
                groups.setdefault(where, []).append((line, row))
        headers = dict(table[0].headers)
        earlier = [text for text in rates if (m := meaning_of(text)) and is_earlier(text, headers.get(m, ""))]
        for where, line, rows in _pieces(groups, policy):
            place = ", ".join(dict.fromkeys(word for word in (table[0].place, *where) if word))
            yield PublishedTable(
                caption=place or line or ", ".join(dict.fromkeys(filter(None, (caption, part.place)))),
                place=_place([place] if place else [line, part.caption, part.place, *reversed(part.trail)]),
                kind=_kind(headers.get("rate", ""), place, line, caption, headers.get("selected", "")),
                family=_family(rows, policy),
                headers=headers,
                rows=tuple(rows),
                unknown=tuple(said.get((where, "table unknown"), _unknown_below(part.notes))),
                total=tuple(said.get((where, "table total"), ())),
                page=part.page,
                unsure=part.unsure,
                is_whole=part.is_whole,
                notes=part.notes,
                unread=tuple(part.header.texts[i] for i in unread),
                repeated=tuple(text for text in rates if text not in earlier),
                earlier=tuple(earlier),
            )


def _pieces(
    groups: Mapping[tuple[str, ...], Sequence[tuple[str, PublishedRow]]], policy: Policy
) -> Iterator[tuple[tuple[str, ...], str, list[PublishedRow]]]:
    """Yield the tables of each place, with the line above each where there are several."""
    for where, held_rows in groups.items():
        labels = with_subtotals(
            [(row.label, row.cell("ratio").number is not None) for _, row in held_rows], policy
        )
        rows = [
            (line, replace(row, label=label)) for (line, row), label in zip(held_rows, labels, strict=True)
        ]
        found = pieces([(line, row.label) for line, row in rows], policy)
        for line, held in found:
            yield where, line if len(found) > 1 else "", [rows[i][1] for i in held]


def _unread(part: TablePart, tables: Sequence[Sequence[TableColumns]], words: _Words) -> list[int]:
    """Return the columns that hold digits and were not read as anything."""
    read = {i for table in tables for columns in table for i in columns.at.values()}
    read |= {*words.labels, *words.places, *words.stated.values()}
    return [
        i
        for i in range(len(part.header.texts))
        if i not in read and any(re.search(r"\d", row[i]) for row in part.rows)
    ]


def _stated(part: TablePart, words: _Words) -> dict[tuple[tuple[str, ...], str], dict[int, None]]:
    """Return the numbers that columns state for a whole table, by place and column."""
    said: dict[tuple[tuple[str, ...], str], dict[int, None]] = {}
    for texts in part.rows:
        for name, i in words.stated.items():
            if (people := read_cell(texts[i]).count) is not None:
                said.setdefault((tuple(texts[j] for j in words.places), name), {})[people] = None
    return said


def _rows(
    part: TablePart, columns: TableColumns, words: _Words, policy: Policy
) -> Iterator[tuple[tuple[str, ...], str, PublishedRow]]:
    """Yield the rows, with the places that they are of and the line above them.

    A line of one text that names a category is part of labels instead.
    """
    title = category_over(part.caption or next(reversed(part.trail), ""))
    line, above = "", [""] * len(words.labels)
    before: tuple[str, ...] | None = None
    of_all = of_all_sections(_sections(part, words, policy))
    for number, texts in enumerate(part.rows):
        title = "" if number in of_all else title
        if only := only_text(texts):
            known = read_label([only], policy)
            is_short = len(only) <= _LONGEST_LABEL
            title = only if is_short and known.levels and known.role == "category" else ""
            line = only if is_short and not title else line
            continue
        cells = {
            meaning: read_ratio(texts[i]) if meaning == "ratio" else read_cell(texts[i])
            for meaning, i in columns.at.items()
        }
        where = tuple(texts[i] for i in words.places)
        if where != before:  # no cell is merged from one place to another
            above, before = [""] * len(words.labels), where
        own = _filled([texts[i] for i in words.labels], above)
        label = read_label([columns.over, title, *own], policy)
        # Notes under a table and repeated headers hold no number at all.
        if not any((columns.over, *own)) or all(c.number is None and not c.is_none for c in cells.values()):
            continue
        if all(c.number is None for c in cells.values()) and not read_label(own, policy).levels:
            continue
        above = own
        yield where, line, PublishedRow(label=label, cells=cells)


def _sections(part: TablePart, words: _Words, policy: Policy) -> list[tuple[str, Label]]:
    """Return for each row the category that the line over its section names, and its own label."""
    title, found = "", []
    for texts in part.rows:
        only = only_text(texts)
        label = read_label([only] if only else [texts[i] for i in words.labels], policy)
        if only and len(only) <= _LONGEST_LABEL:
            title = only if label.levels and label.role == "category" else ""
        found.append(("" if only else title, label))
    return found


def _unknown_below(notes: str) -> list[int]:
    """Return the number of people of unknown category that a line below a table gives for that table."""
    found = re.search(rf"^\W*({WHOLE})\b[^.%]*\bin this table\b[^.]*\bunknown\b", notes, re.MULTILINE)
    return [whole(found[1])] if found else []


def _filled(parts: list[str], above: list[str]) -> list[str]:
    """Fill an empty label left of one that is not from the row above: merged cells leave such holes.

    To the right of a label that differs from the one above, nothing is merged.
    """
    last = max((i for i, part in enumerate(parts) if part), default=-1)
    filled: list[str] = []
    for i, part in enumerate(parts):
        hole = not part and i < last and filled == above[:i]
        filled.append(above[i] if hole else part)
    return filled


def _kind(*texts: str) -> Literal["selection", "scoring"]:
    for text in texts:
        if re.search(r"scor|median", text.lower()):
            return "scoring"
        if re.search(r"select", text.lower()):
            return "selection"
    return "selection"


def _family(rows: Sequence[PublishedRow], policy: Policy) -> str | None:
    known = Counter(
        tuple(sorted(row.label.levels)) for row in rows if row.label.role == "category" and row.label.levels
    )
    if not known:
        return None
    attributes = set(known.most_common(1)[0][0])
    return next((family.name for family in policy.families if set(family.attributes) == attributes), None)


def _place(texts: Sequence[str]) -> str:
    """Return the words that are left of a caption, or else of the nearest heading that has any."""
    for text in texts:
        words = re.findall(r"[\w'-]+", _PHRASES.sub(" ", text.lower().replace("_", " ")))
        kept = [word for word in words if not _COMMON.fullmatch(word)]
        if kept:
            return " ".join(kept)
    return ""
