"""How employers lay their summaries out: the fourth part of the generated files of `check_report`.

From the same counts as the other parts, but with tables as grids whose cells may span rows and columns: headers of
two rows, sections, captions above, below or inside a table, tables beside each other, footnotes, columns in another
order or more of them, several positions in a file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from benchmarks import check_report_employer_wordings as wordings
from benchmarks.check_report_summaries import FAMILIES, Line, Printed, Summary, make, printed, rounded

PART: Final = 3
_ORDERS: Final = ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1))
_BOTH: Final = ("flat", "flat", "two labels", "sex down", "race down", "sections", "beside")
_FILE: Final = ("three", "three", "three", "three", "one grid", "pair", "transposed")
_PLACES: Final = ("heading", "heading", "paragraph", "below", "row", "caption")


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A cell that may cover others to its right and below."""

    text: str
    across: int = 1
    down: int = 1


@dataclass(kw_only=True)
class Grid:
    """A table as it stands on paper: None is a place that another cell covers."""

    caption: str
    place: str
    headers: int
    rows: list[list[Spot | None]]

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0])


@dataclass(kw_only=True)
class Pair:
    """Two tables next to each other."""

    left: Grid
    right: Grid


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A line that stands over what follows."""

    text: str


Block = str | Heading | Grid | Pair


@dataclass(kw_only=True)
class Employer:
    """A summary, those of further positions, and how they are laid out."""

    made: Summary
    others: list[Summary] = field(default_factory=list)


def employer(seed: int) -> Employer:
    """Make a summary as employers publish it."""
    rng = random.Random(f"{seed}/employers")
    choices = {
        "order": rng.randrange(len(_ORDERS)),
        "arranged": rng.choice(_BOTH),
        "file": rng.choice(_FILE),
        "place": rng.choice(_PLACES),
        "small": rng.choice(("", "", "N/A", "N/A*", "—", "n/a")),
        "note": rng.choice(wordings.EXCLUDED),
        "percent_ratio": rng.random() < 0.12,
        "ratio_digits": rng.choice((2, 2, 3, 4)),
        "rate_digits": rng.choice((0, 1, 1, 2, 2)),
        "more": rng.choice(("", "", "", "share", "flag")),
        "mark": rng.random() < 0.2,
        "broken": rng.random() < 0.25,
    }
    if choices["arranged"] not in ("flat",):
        choices["two_labels"] = True
    if choices["file"] == "one grid":
        choices["arranged"], choices["two_labels"] = "flat", False
    own = _laid_out(make(seed, PART), choices)
    others = []
    if rng.random() < 0.15 and choices["file"] != "one grid":
        other = _laid_out(
            make(seed + 1_000_000, PART), choices | {k: own.choices[k] for k in ("joint", "two_labels")}
        )
        other.is_scoring, other.headers, other.captions = own.is_scoring, own.headers, own.captions
        left = [name for name in wordings.POSITIONS if name != own.facts["position"]]
        other.facts["position"] = left[seed % len(left)]
        other.tables = [printed(other, family) for family in FAMILIES]
        others = [other]
    return Employer(made=own, others=others)


def _laid_out(made: Summary, choices: dict[str, bool | int | str]) -> Summary:
    made.choices = dict(made.choices) | choices
    made.tables = [printed(made, family) for family in FAMILIES]
    return made


def arranged(given: Employer) -> list[Block]:
    """Return what stands on the page, from above."""
    made = given.made
    blocks: list[Block] = [Heading(text=made.title), *made.words, *made.fill[: made.layout.fills // 2]]
    for one in (made, *given.others):
        if given.others:
            blocks.append(Heading(text=f"Position: {one.facts['position']}"))
            if one is not made:
                blocks.append(
                    f"Of the applicants for this position, {one.unknown:,} are of unknown sex or race/ethnicity."
                )
        blocks += _tables(one, str(made.choices["file"]))
    shown = [cell for table in made.tables for line in table.lines if line.key for cell in line.cells]
    if made.choices["small"] and str(made.choices["small"]) in shown:
        star = "* " if "*" in str(made.choices["small"]) else ""
        blocks.append(f"{star}{made.choices['note']}")
    if made.choices["mark"]:
        blocks.append("1 Categories as reported by applicants on the EEO survey.")
    return blocks


def _tables(made: Summary, way: str) -> list[Block]:
    if way == "one grid" and len({len(table.header) for table in made.tables}) == 1:
        return [_one_grid(made)]
    grids = [_grid(made, table) for table in made.tables]
    if way == "pair" and [table.family for table in made.tables[:2]] == ["sex", "race"]:
        return [Pair(left=grids[0], right=grids[1]), *grids[2:]]
    if way == "transposed":
        plain = [
            g
            for g in grids
            if g.headers == 1
            and all(spot and spot.down == spot.across == 1 for row in g.rows for spot in row)
        ]
        for grid in plain:
            if len(grid.rows) <= 9:
                grid.rows = [list(column) for column in zip(*grid.rows, strict=True)]
    return list(grids)


def _columns(made: Summary, table: Printed) -> tuple[list[str], dict[int, list[str]]]:
    """Return headers of the numbers and each line's numbers, in the order of the page."""
    numbers = len(table.lines[0].cells)
    headers = list(table.header[-numbers:])
    order = _ORDERS[int(made.choices["order"])] if numbers == 4 else tuple(range(numbers))
    cells = {id(line): [line.cells[i] for i in order] for line in table.lines}
    headers = [headers[i] for i in order]
    if made.choices["more"] == "share":
        headers.insert(1 if order[0] == 0 else numbers, "% of Applicants")
        people = sum(n for n, _ in made.cells.values())
        for line in table.lines:
            share = "" if not line.key else rounded(Fraction(100 * _people(made, line), people), 1) + "%"
            cells[id(line)].insert(1 if order[0] == 0 else numbers, share)
    if made.choices["more"] == "flag":
        headers.append("Below 80%")
        for line in table.lines:
            text = line.cells[-1]
            value = (
                float(text.rstrip("%")) / (100 if text.endswith("%") else 1) if text[:1].isdigit() else None
            )
            cells[id(line)].append("" if value is None else "Yes" if value < 0.8 else "No")
    if made.choices["broken"]:
        headers = [text.replace(" ", "\n", 1) for text in headers]
    if made.choices["mark"]:
        headers[0] += "¹"
    return headers, cells


def _people(made: Summary, line: Line) -> int:
    sex, race = line.key or ("", "")
    return sum(n for (s, r), (n, _) in made.cells.items() if sex in ("", s) and race in ("", r))


def _row(texts: list[str]) -> list[Spot | None]:
    return [Spot(text=text) for text in texts]


def _grid(made: Summary, table: Printed) -> Grid:
    headers, cells = _columns(made, table)
    labels = len(table.lines[0].label)
    first = table.header[:labels]
    way = str(made.choices["arranged"]) if labels == 2 else "flat"
    keyless = any(not line.key for line in table.lines)
    if way == "beside" and (keyless or len(table.lines) != 2 * len({line.label[1] for line in table.lines})):
        way = "sex down"
    lines = table.lines
    rows: list[list[Spot | None]]
    depth = 1
    if way == "beside":
        rows, depth = _beside(first, headers, lines, cells), 2
    elif way == "sections":
        rows = [_row([first[1], *headers])]
        before = ""
        for line in lines:
            if line.key and line.label[0] != before:
                before = line.label[0]
                rows.append([Spot(text=before, across=1 + len(headers)), *[None] * len(headers)])
            rows.append(_row([line.label[1] if line.key else line.label[0], *cells[id(line)]]))
    elif way in ("sex down", "race down"):
        rows = _down(first, headers, lines, cells, by=0 if way == "sex down" else 1)
    else:
        rows = [_row([*first, *headers]), *(_row([*line.label, *cells[id(line)]]) for line in lines)]
    grid = Grid(caption=table.caption, place=str(made.choices["place"]), headers=depth, rows=rows)
    if grid.place == "row":
        grid.rows.insert(0, [Spot(text=table.caption, across=grid.width), *[None] * (grid.width - 1)])
        grid.headers += 1
    return grid


def _beside(
    first: list[str], headers: list[str], lines: list[Line], cells: dict[int, list[str]]
) -> list[list[Spot | None]]:
    sexes = list(dict.fromkeys(line.label[0] for line in lines))
    races = list(dict.fromkeys(line.label[1] for line in lines))
    at = {(line.label[0], line.label[1]): cells[id(line)] for line in lines}
    top: list[Spot | None] = [Spot(text=first[1], down=2)]
    for sex in sexes:
        top += [Spot(text=sex, across=len(headers)), *[None] * (len(headers) - 1)]
    rows: list[list[Spot | None]] = [top, [None, *_row(headers * len(sexes))]]
    return rows + [_row([race, *(text for sex in sexes for text in at[sex, race])]) for race in races]


def _down(
    first: list[str], headers: list[str], lines: list[Line], cells: dict[int, list[str]], by: int
) -> list[list[Spot | None]]:
    """Rows whose outer label stands once, over all rows of it."""
    named = [line for line in lines if line.key]
    outer = list(dict.fromkeys(line.label[by] for line in named))
    rows: list[list[Spot | None]] = [_row([first[by], first[1 - by], *headers])]
    for text in outer:
        own = [line for line in named if line.label[by] == text]
        for number, line in enumerate(own):
            head = Spot(text=text, down=len(own)) if number == 0 else None
            rows.append([head, *_row([line.label[1 - by], *cells[id(line)]])])
    others = [line for line in lines if not line.key]
    rows += [[Spot(text=line.label[0], across=2), None, *_row(cells[id(line)])] for line in others]
    return rows


def _one_grid(made: Summary) -> Grid:
    """All families in one table, each under a line with its name."""
    headers, _ = _columns(made, made.tables[0])
    rows = [_row(["Category", *headers])]
    for table in made.tables:
        _, cells = _columns(made, table)
        rows.append([Spot(text=table.caption, across=1 + len(headers)), *[None] * len(headers)])
        rows += [_row([*line.label, *cells[id(line)]]) for line in table.lines]
    return Grid(caption="Impact ratios", place="heading", headers=1, rows=rows)


def spots(grid: Grid) -> Iterator[tuple[int, int, Spot]]:
    """Yield row, column and cell, without covered places."""
    for y, row in enumerate(grid.rows):
        for x, spot in enumerate(row):
            if spot is not None:
                yield y, x, spot
