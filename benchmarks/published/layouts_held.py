"""Layouts of the HELD half."""

from __future__ import annotations

import random

from benchmarks.published.pages import (
    Cards,
    Cell,
    Facts,
    Heading,
    Layout,
    Newspaper,
    Page,
    Para,
    Table,
    after,
    by_sex,
    cells,
    claim,
    fact,
    plain,
    present,
)
from benchmarks.published.shown import Shown, ShownRow, ShownTable

ORDER = (
    "audit_date",
    "auditor",
    "tool",
    "distribution",
    "source",
    "unknown",
    "median",
    "population",
    "sample",
    "exclusion",
)


def facts(shown: Shown, rng: random.Random) -> tuple[list, list]:
    """Blocks above the tables and below them: the facts stand in either."""
    style = rng.choice(("dl", "bullets", "strip", "qa"))
    slots = [slot for slot in ORDER if slot in shown.facts]
    if style == "strip":
        short = [slot for slot in slots if slot in ("audit_date", "auditor", "tool", "distribution")]
        rest = [slot for slot in slots if slot not in short]
        made: list = [
            Facts("strip", [shown.facts[slot][:2] for slot in short]),
            *(block for slot in rest for block in fact(shown, slot)),
        ]
    elif style == "qa":
        made = [
            part for slot in slots for part in (Heading(3, shown.facts[slot][0]), Para(shown.facts[slot][1]))
        ]
    else:
        made = [Facts(style, [shown.facts[slot][:2] for slot in slots])]
    made += claim(shown, "data")
    if rng.random() < 0.4:
        return [Para(shown.words.define)], [Heading(2, "About the audit"), *made]
    return [*made, Para(shown.words.define)], []


def page(shown: Shown, rng: random.Random, blocks: list, **more) -> Page:
    above, below = facts(shown, rng)
    end = [Para(text) for text in (shown.words.caveat, shown.words.notice) if text]
    top = [
        Heading(1, shown.title),
        *(fact(shown, "published") if rng.random() < 0.5 else []),
        Para(shown.intro),
    ]
    return Page(
        shown.title,
        [*top, *above, *blocks, *below, *claim(shown, "end"), *end],
        look=rng.randrange(4),
        **more,
    )


def heading(shown: Shown, table: ShownTable, more: str = "") -> Heading:
    return Heading(2, shown.words.family[table.family] + more)


def tidy(shown: Shown, rng: random.Random) -> Page:
    """One long table: the kind of group in a merged first column."""
    columns = shown.columns()
    head = [Cell("Dimension", head=True), Cell("Group", head=True)] + [
        Cell(shown.header(c), head=True) for c in columns
    ]
    body: list = []
    notes: list = []
    for table in present(shown.positions[0]):
        lines = plain(shown, table, heads=False).body
        lines[0] = [Cell(shown.words.family[table.family], rows=len(lines), head=True), *lines[0]]
        body += lines
        notes += after(table)
    return page(shown, rng, [Table([head], body, [2.0, 2.8] + [1.2] * len(columns)), *notes])


def split(shown: Shown, rng: random.Random) -> Page:
    """The intersectional table in two parts with its header again, the second under 'continued'."""
    blocks: list = []
    for table in present(shown.positions[0]):
        if table.family != "inter":
            blocks += [heading(shown, table), plain(shown, table), *after(table)]
            continue
        at = rng.choice((5, 6, 7, 8))
        made = plain(shown, table)
        rest = Table(made.head, made.body[at:], made.widths)
        blocks += [
            heading(shown, table),
            Table(made.head, made.body[:at], made.widths),
            Para(shown.words.notice or shown.words.caveat, small=True),
        ]
        blocks += [heading(shown, table, f" ({shown.words.module.CONTINUED})"), rest, *after(table)]
    return page(shown, rng, blocks)


def matrices(shown: Shown, rng: random.Random) -> Page:
    """For the intersectional categories one small matrix per measure: races as rows, sexes as columns."""
    blocks: list = []
    for table in present(shown.positions[0]):
        if table.family != "inter":
            blocks += [heading(shown, table), plain(shown, table, heads=False), *after(table)]
            continue
        blocks.append(heading(shown, table))
        for column in shown.columns():
            head = [Cell(shown.words.first["race"], head=True)] + [
                Cell(shown.words.sex[s], head=True) for s in "MF"
            ]
            body = [
                [Cell(m.race, head=True), *(cells(shown, r, [column])[0] for r in (m, f))]
                for m, f in by_sex(table)
            ]
            blocks.append(Table([head], body, [3, 1.4, 1.4], caption=shown.header(column)))
        blocks += after(table)
    return page(shown, rng, blocks)


def nested(shown: Shown, rng: random.Random) -> Page:
    """Under each race a row for each sex, and one for both."""
    position, blocks = shown.positions[0], []
    if "sex" in position.tables:
        blocks += [
            heading(shown, position.tables["sex"]),
            plain(shown, position.tables["sex"]),
            *after(position.tables["sex"]),
        ]
    race, inter = position.tables.get("race"), position.tables.get("inter")
    columns = shown.columns()
    head = [Cell(shown.words.first["race"], head=True), Cell("Sex", head=True)] + [
        Cell(shown.header(c), head=True) for c in columns
    ]
    groups: dict[int, list[tuple[str, ShownRow]]] = {}
    names: dict[int, str] = {}
    pairs = by_sex(inter) if inter else []
    both = race.rows if race else []
    held = {row.key for row in both}
    for at, row in enumerate([*both, *(m for m, _ in pairs if (m.key[0],) not in held)]):
        names[at] = row.race
        groups[at] = [("Both", row)] if row in both else []
        groups[at] += [
            (shown.words.sex[r.key[1]], r) for pair in pairs if pair[0].key[0] == row.key[0] for r in pair
        ]
    body = []
    for at, rows in groups.items():
        for place, (sex, row) in enumerate(rows):
            first = [Cell(names[at], rows=len(rows), head=True)] if place == 0 else []
            body.append([*first, Cell(sex), *cells(shown, row, bold=sex == "Both")])
    tables = [t for t in (race, inter) if t]
    title = " / ".join(shown.words.family[t.family] for t in tables)
    blocks += [
        Heading(2, title),
        Table([head], body, [2.6, 1.1] + [1.1] * len(columns)),
        *(note for t in tables for note in after(t)),
    ]
    return page(shown, rng, blocks)


def cards(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for table in present(shown.positions[0]):
        items = [(row.label, [(shown.header(c), row.get(c)) for c in shown.columns()]) for row in table.rows]
        if table.total:
            items.append(
                (
                    table.total.label,
                    [(shown.header(c), table.total.get(c)) for c in shown.columns() if table.total.get(c)],
                )
            )
        blocks += [heading(shown, table), Cards(items), *after(table)]
    return page(shown, rng, blocks)


def newspaper(shown: Shown, rng: random.Random) -> Page:
    """Two columns of text: narrow tables, labels and headers wrap."""
    blocks: list = []
    for table in present(shown.positions[0]):
        made = plain(shown, table, heads=False)
        made.widths = [1.7] + [1.0] * len(shown.columns())
        blocks += [heading(shown, table), made, *after(table)]
    return page(shown, rng, [Newspaper(blocks)])


def compact(shown: Shown, rng: random.Random) -> Page:
    """Selected and applicants in one cell: 555 / 1,181."""
    blocks: list = []
    words = shown.words.headers
    both = f"{words['k']} / {words['n']}"
    joint = rng.choice((" / ", " of "))
    for table in present(shown.positions[0]):
        head = [
            Cell(shown.words.first[table.family], head=True),
            Cell(both, head=True),
            Cell(shown.header("rate"), head=True),
            Cell(shown.header("ratio"), head=True),
        ]
        body = [
            [
                Cell(row.label, bold=row is table.total),
                Cell(f"{row.k}{joint}{row.n}", number=True, shade=row.excluded),
                *cells(shown, row, ["rate", "ratio"]),
            ]
            for row in [*table.rows, *([table.total] if table.total else [])]
        ]
        blocks += [heading(shown, table), Table([head], body, [3.2, 2, 1.3, 1.3]), *after(table)]
    return page(shown, rng, blocks)


def by_position(shown: Shown, rng: random.Random) -> Page:
    """One table for each kind of category, the positions in a merged first column."""
    blocks: list = []
    columns = shown.columns()
    for family in ("sex", "race", "inter"):
        body: list = []
        notes: list = []
        for position in shown.positions:
            if family not in position.tables:
                continue
            lines = plain(shown, position.tables[family], heads=False).body
            lines[0] = [Cell(position.name, rows=len(lines), head=True), *lines[0]]
            body += lines
            notes += (
                [Para(f"{position.name}: {position.tables[family].highest}")]
                if position.tables[family].highest
                else []
            )
        if body:
            head = [Cell("Job", head=True), Cell(shown.words.first[family], head=True)] + [
                Cell(shown.header(c), head=True) for c in columns
            ]
            blocks += [
                Heading(2, shown.words.family[family]),
                Table([head], body, [2.3, 2.8] + [1.1] * len(columns)),
                *notes,
            ]
    blocks += [
        Para(f"{position.name}: {position.unknown}") for position in shown.positions if position.unknown
    ]
    return page(shown, rng, blocks)


def measures(shown: Shown, rng: random.Random) -> Page:
    """A grid with the measures above the sexes."""
    blocks: list = []
    columns = shown.columns()
    for table in present(shown.positions[0]):
        if table.family != "inter":
            blocks += [heading(shown, table), plain(shown, table), *after(table)]
            continue
        head = [
            [
                Cell(shown.words.first["race"], rows=2, head=True),
                *(Cell(shown.header(c), columns=2, head=True) for c in columns),
            ],
            [Cell(shown.words.sex[s], head=True) for _ in columns for s in "MF"],
        ]
        body = [
            [Cell(m.race, head=True), *(cells(shown, r, [c])[0] for c in columns for r in (m, f))]
            for m, f in by_sex(table)
        ]
        blocks += [heading(shown, table), Table(head, body, [2.4] + [1.0] * 2 * len(columns)), *after(table)]
    return page(shown, rng, blocks, landscape=True)


def below(shown: Shown, rng: random.Random) -> Page:
    """No headings: each table has its title beneath it, and its first row is not marked as a header."""
    blocks: list = []
    for at, table in enumerate(present(shown.positions[0]), start=1):
        made = plain(
            shown, table, caption=f"Exhibit {at}: {shown.words.family[table.family]}", below=True, heads=False
        )
        for cell in made.head[0]:
            cell.head, cell.bold = False, True
        made.body, made.head = made.head + made.body, []
        blocks += [made, *after(table)]
    return page(shown, rng, blocks)


PRINT = ("chromium", "weasyprint", "libreoffice", "latex", "word", "reportlab", "scan")
LAYOUTS = (
    Layout("tidy", tidy),
    Layout("split", split, totals=("sex", "race")),
    Layout("matrices", matrices, grid=True, totals=("sex", "race")),
    Layout("nested", nested, grid=True, totals=("sex",)),
    Layout("cards", cards, producers=("chromium", "weasyprint", "word", "reportlab"), swap=False),
    Layout(
        "newspaper",
        newspaper,
        producers=("chromium", "weasyprint", "latex", "libreoffice", "reportlab", "scan"),
    ),
    Layout("compact", compact, show_k=True, swap=False),
    Layout("by_position", by_position, positions=2),
    Layout("measures", measures, grid=True, totals=("sex", "race")),
    Layout("below", below),
)
