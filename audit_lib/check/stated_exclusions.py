"""Categories that a page names in a sentence instead of a row: left out of the ratios for their size.

The rule lets an auditor leave out a category with less than 2% of the data, with its number and rate (6 RCNY 5-301(d)).
"The categories excluded are Asian: 46 applicants, selection rate 26%; ..." gives them, and the tables add up with them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.headers import Meaning
from audit_lib.check.published_numbers import WHOLE, PublishedCell, read_cell
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.row_labels import read_label
from audit_lib.check.stated_fields import sentences
from audit_lib.policies import Policy

_EXCLUDED: Final = re.compile(
    r"exclu|left out|leav(?:es?|ing) out|omit|not (?:calculated|computed|included|shown|reported)|"
    r"(?:less|fewer) than 2|\bunder 2|\bbelow 2",
    re.IGNORECASE,
)
_NONE_EXCLUDED: Final = re.compile(
    r"\b(?:no|none|neither|never|nothing)\b[^.;]{0,60}(?:exclu|left out|omit)|\bnot (?:been )?(?:exclu|left out|omit)",
    re.IGNORECASE,
)
_MOST_LINES: Final = 5
_PARTS: Final = re.compile(r";|(?<=\)),?(?: and)? ")
_WHO: Final = r"(?:applicants|candidates|individuals|people|persons|employees|applications)"
# "Asian: 46 applicants", "Asian (46 people, 26%)", "Asian (n = 46)"
_NUMBERED: Final = re.compile(
    r"(?P<label>[^:(]{3,120}?)(?: \((?:not|non)[^)]*\))?\s*[:(\u2013\u2014=]\s*"
    rf"(?:n ?= ?(?P<n>{WHOLE})\b|(?P<people>{WHOLE}) {_WHO}\b)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RATE: Final = re.compile(r"\brate\b[^\d.]{0,8}(?P<rate>\d*\.?\d+ ?%?)", re.IGNORECASE)
_BEGINNING: Final = re.compile(r".*(?:\bare|\bis|\bwere|\bwas|:|\u2013|\u2014)\s+", re.DOTALL)


def with_stated_exclusions(
    tables: Sequence[PublishedTable], text: str, policy: Policy, unknown: int
) -> list[PublishedTable]:
    """Give tables the rows of categories that sentences of the page leave out of them with their number.

    A category is given to the table that the words stand below. Where none has such words below it, it is given to the
    one table of its family, or to the table whose turn it is where as many sentences as tables speak of the family; to
    none where another table of the same people shows more of it than the words say, or where its table still lacks
    people whom another one has.

    Parameters
    ----------
    tables : sequence of PublishedTable
        Tables of the page.
    text : str
        The page's words.
    policy : Policy
        Whose categories they are.
    unknown : int
        People of unknown category, who may be in one table and not in another.
    """
    families: dict[str, list[int]] = {}
    for i, table in enumerate(tables):
        if table.family is not None:
            families.setdefault(table.family, []).append(i)
    # Words below a table of several positions are of none of them.
    shared = Counter((table.family, table.notes) for table in tables)
    own = {
        i: list(stated_rows(table.notes, policy)) if shared[table.family, table.notes] == 1 else []
        for i, table in enumerate(tables)
    }
    groups = _groups(tables)
    found = list(tables)
    for family in sorted(families, key=lambda name: -len(policy.family(name).attributes)):
        attributes, places = set(policy.family(family).attributes), families[family]
        below = {i: [row for row in own[i] if set(row.label.levels) == attributes] for i in places}
        if len(places) == 1 or not any(below.values()):
            below = _in_order(places, _sentences(text, policy), attributes)
        for i, rows in below.items():
            others = [found[j] for j in groups[i]]
            for row in rows:
                table = found[i]
                if row.label.key in {other.label.key for other in table.rows}:
                    continue
                if not _is_less_than_shown(row, others):
                    found[i] = replace(table, rows=(*table.rows, _as_printed(row, table)))
    most = {i: max(found[j].people for j in groups[i]) for i in groups}
    return [
        before if table is not before and most[i] - table.people > unknown else table
        for i, (before, table) in enumerate(zip(tables, found, strict=True))
    ]


def _groups(tables: Sequence[PublishedTable]) -> dict[int, list[int]]:
    """Return of each table those of the same people: of one place, each family's first, or each one's second."""
    keys: list[tuple[str, int]] = []
    seen: Counter[tuple[str, str | None]] = Counter()
    for table in tables:
        keys.append((table.place, seen[table.place, table.family]))
        seen[table.place, table.family] += 1
    return {i: [j for j, other in enumerate(keys) if other == key] for i, key in enumerate(keys)}


def _in_order(
    places: Sequence[int], said: Sequence[Sequence[PublishedRow]], attributes: set[str]
) -> dict[int, list[PublishedRow]]:
    """Give one table all that is said of its family; several ones a sentence each, where there are as many."""
    mine = [rows for one in said if (rows := [row for row in one if set(row.label.levels) == attributes])]
    if len(places) == 1:
        return {places[0]: [row for rows in mine for row in rows]}
    return dict(zip(places, mine, strict=True)) if len(mine) == len(places) else {}


def _as_printed(row: PublishedRow, table: PublishedTable) -> PublishedRow:
    """Leave out a rate that a sentence prints as a fraction and a table in percent, or the other way round."""
    rate = row.cell("rate").number
    printed = [number for other in table.rows if (number := other.cell("rate").number) is not None]
    if rate is None or any(number.percent == rate.percent for number in printed):
        return row
    return replace(row, cells={meaning: cell for meaning, cell in row.cells.items() if meaning != "rate"})


def _is_less_than_shown(row: PublishedRow, tables: Sequence[PublishedTable]) -> bool:
    """Whether rows of another table are parts of a category and hold more people than words say of it."""
    levels = row.label.levels.items()
    for table in tables:
        parts = [
            part.cell("applicants").count or 0
            for part in table.of("category")
            if levels < part.label.levels.items()
        ]
        if sum(parts) > (row.cell("applicants").count or 0):
            return True
    return False


def _excluding(text: str) -> Iterator[str]:
    """Yield the sentences that leave something out; one that has no end goes on over lines."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not _EXCLUDED.search(line):
            continue
        end = i + 1
        while end < min(len(lines), i + _MOST_LINES) and not lines[end - 1].rstrip().endswith(
            (".", "!", "?")
        ):
            end += 1
        for sentence in sentences(" ".join(lines[i:end])):
            if _EXCLUDED.search(sentence) and not _NONE_EXCLUDED.search(sentence):
                yield sentence


def stated_rows(text: str, policy: Policy) -> Iterator[PublishedRow]:
    """Yield the categories, with their people and rates, that sentences leave out.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> said = "Left out as under 2%: Asian: 46 applicants, selection rate 26%; Women, White (n = 7)."
    >>> [(r.label.key, r.cell("applicants").text) for r in stated_rows(said, load_policy("nyc_ll144"))]
    [('Asian', '46'), ('Female, White', '7')]
    """
    for rows in _sentences(text, policy):
        yield from rows


def _sentences(text: str, policy: Policy) -> list[list[PublishedRow]]:
    return [[*_rows_of(sentence, policy)] for sentence in _excluding(text)]


def _rows_of(sentence: str, policy: Policy) -> Iterator[PublishedRow]:
    for part in _PARTS.split(sentence):
        found = _NUMBERED.search(part)
        if found is None:
            continue
        label = read_label([_BEGINNING.sub("", found["label"].strip())], policy)
        if not label.levels or label.role != "category":
            continue
        cells: dict[Meaning, PublishedCell] = {
            "applicants": read_cell(found["people"] or found["n"]),
            "ratio": read_cell("N/A"),
        }
        if (rate := _RATE.search(found["rest"])) is not None:
            cells["rate"] = read_cell(rate["rate"].rstrip(". "))
        yield PublishedRow(label=label, cells=cells, is_stated=True)
