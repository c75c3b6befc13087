"""Layouts of the LEARN half."""

from __future__ import annotations

import random

from benchmarks.published.pages import (
    Break,
    Cell,
    Facts,
    Heading,
    Layout,
    Page,
    Para,
    Side,
    Table,
    after,
    by_sex,
    cells,
    claim,
    fact,
    plain,
    present,
)
from benchmarks.published.shown import Shown, ShownTable

ORDER = ("tool", "auditor", "audit_date", "distribution", "source", "sample", "population", "median")


def front(shown: Shown, rng: random.Random) -> tuple[list, bool]:
    """Blocks above the tables, and whether the number of unknown is among them."""
    early = False
    blocks: list = [Heading(1, shown.title), Para(shown.intro)]
    style = rng.choice(("prose", "lines", "table"))
    slots = [slot for slot in ORDER if slot in shown.facts]
    if style == "prose":
        blocks += [block for slot in slots for block in fact(shown, slot)]
    else:
        early = rng.random() < 0.5
        slots += ["unknown"] if early and "unknown" in shown.facts else []
        blocks.append(Facts(style, [shown.facts[slot][:2] for slot in slots]))
    return [*blocks, *claim(shown, "data"), Para(shown.words.define)], early


def back(shown: Shown, early: bool) -> list:
    blocks = [] if early else fact(shown, "unknown")
    blocks += fact(shown, "exclusion")
    blocks += claim(shown, "end")
    return (
        blocks
        + [Para(text) for text in (shown.words.caveat, shown.words.notice) if text]
        + fact(shown, "published")
    )


def page(shown: Shown, rng: random.Random, blocks: list, **more) -> Page:
    above, early = front(shown, rng)
    return Page(shown.title, [*above, *blocks, *back(shown, early)], look=rng.randrange(4), **more)


def heading(shown: Shown, table: ShownTable, level: int = 2) -> Heading:
    return Heading(level, shown.words.family[table.family])


def merged(shown: Shown, table: ShownTable) -> Table:
    """As the rule prints it: ethnicity and sex in merged cells, race beside them."""
    columns = shown.columns()
    head = [Cell("Race/Ethnicity and Sex", columns=3, head=True)] + [
        Cell(shown.header(c), head=True) for c in columns
    ]
    body = []
    hispanic = [row for row in table.rows if row.key[0] == "H"]
    for at, row in enumerate(hispanic):
        first = [Cell(shown.words.hispanic[0], rows=len(hispanic), head=True)] if at == 0 else []
        body.append([*first, Cell(shown.words.sex[row.key[1]], columns=2, head=True), *cells(shown, row)])
    others = [row for row in table.rows if row.key[0] != "H"]
    for at, row in enumerate(others):
        first = [Cell(shown.words.hispanic[1], rows=len(others), head=True)] if at == 0 else []
        if at == 0 or others[at - 1].key[1] != row.key[1]:
            first.append(
                Cell(shown.words.sex[row.key[1]], rows=sum(r.key[1] == row.key[1] for r in others), head=True)
            )
        race = row.race.replace(" (Not Hispanic or Latino)", "")
        body.append([*first, Cell(race, head=True, shade=row.excluded), *cells(shown, row)])
    if table.total:
        body.append(
            [Cell(table.total.label, columns=3, head=True, bold=True), *cells(shown, table.total, bold=True)]
        )
    return Table([head], body, [1.9, 1.0, 2.4] + [1.1] * len(columns))


def rule(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for table in present(shown.positions[0]):
        blocks += [
            heading(shown, table),
            merged(shown, table) if table.family == "inter" else plain(shown, table),
            *after(table),
        ]
    return page(shown, rng, blocks)


def three(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for table in present(shown.positions[0]):
        blocks += [plain(shown, table, caption=shown.words.family[table.family]), *after(table)]
    return page(shown, rng, blocks)


def grid(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    columns = shown.columns()
    for table in present(shown.positions[0]):
        if table.family != "inter":
            blocks += [heading(shown, table), plain(shown, table), *after(table)]
            continue
        head = [
            [
                Cell("Race/Ethnicity", rows=2, head=True),
                *(Cell(shown.words.sex[s], columns=len(columns), head=True) for s in "MF"),
            ],
            [Cell(shown.header(c), head=True) for _ in "MF" for c in columns],
        ]
        body = [[Cell(m.race, head=True), *cells(shown, m), *cells(shown, f)] for m, f in by_sex(table)]
        blocks += [heading(shown, table), Table(head, body, [2.4] + [1.0] * 2 * len(columns)), *after(table)]
    return page(shown, rng, blocks, landscape=True)


def sections(shown: Shown, rng: random.Random) -> Page:
    columns = shown.columns()
    head = [Cell("Category", head=True)] + [Cell(shown.header(c), head=True) for c in columns]
    body: list = []
    notes: list = []
    for table in present(shown.positions[0]):
        body.append(
            [
                Cell(
                    shown.words.family[table.family],
                    columns=len(columns) + 1,
                    head=True,
                    shade=True,
                    bold=True,
                )
            ]
        )
        body += plain(shown, table).body
        notes += after(table)
    return page(shown, rng, [Table([head], body, [3.2] + [1.2] * len(columns)), *notes])


def turned(shown: Shown, rows: list, first: str) -> Table:
    columns = shown.columns()
    head = [Cell(first, head=True)] + [Cell(text, head=True) for text, _ in rows]
    body = [
        [
            Cell(shown.header(c), head=True),
            *(Cell(row.get(c), number=True, shade=row.excluded) for _, row in rows),
        ]
        for c in columns
    ]
    return Table([head], body, [1.5] + [1.1] * len(rows))


def transposed(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for table in present(shown.positions[0]):
        blocks.append(heading(shown, table))
        measure = shown.words.module.MEASURE
        if table.family == "inter":
            for sex in "MF":
                rows = [(row.label, row) for row in table.rows if row.key[1] == sex]
                blocks.append(turned(shown, rows, measure))
        else:
            rows = [(row.label, row) for row in table.rows]
            blocks.append(
                turned(shown, rows + ([(table.total.label, table.total)] if table.total else []), measure)
            )
        blocks += after(table)
    return page(shown, rng, blocks, landscape=True)


def side(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    position = shown.positions[0]
    pair = [[heading(shown, t), plain(shown, t), *after(t)] for t in present(position) if t.family != "inter"]
    blocks.append(Side(pair))
    if "inter" in position.tables:
        table = position.tables["inter"]
        halves = []
        for sex in "MF":
            rows = [row for row in table.rows if row.key[1] == sex]
            halves.append([plain(shown, ShownTable("inter", rows))])
        blocks += [heading(shown, table), Side(halves), *after(table)]
    return page(shown, rng, blocks, landscape=True)


def aria(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for table in present(shown.positions[0]):
        made = plain(shown, table)
        made.aria = True
        blocks += [heading(shown, table), made, *after(table)]
    return page(shown, rng, blocks)


def slides(shown: Shown, rng: random.Random) -> Page:
    above, early = front(shown, rng)
    blocks: list = [*above, Break()]
    for table in present(shown.positions[0]):
        made = merged(shown, table) if table.family == "inter" and rng.random() < 0.5 else plain(shown, table)
        blocks += [heading(shown, table), made, *after(table), Break()]
    return Page(
        shown.title,
        [*blocks, Heading(2, "Notes"), *back(shown, early)],
        landscape=True,
        slides=True,
        look=rng.randrange(4),
    )


def footnotes(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    rate = (
        "Number above the median divided by the number of applicants."
        if shown.audit.scoring
        else "Number selected divided by the number of applicants."
    )
    for table in present(shown.positions[0]):
        made = plain(shown, table)
        for cell in made.head[0]:
            cell.text += {shown.header("rate"): "^1^", shown.header("ratio"): "^2^"}.get(cell.text, "")
        for row, line in zip(table.rows, made.body, strict=False):
            line[0].text += "†" if row.excluded else "‡" if row.n == "0" else ""
        notes = [
            f"1 {rate}",
            "2 Rate of the category divided by the highest rate among the categories of the table.",
        ]
        if any(row.excluded for row in table.rows):
            notes.append(
                "† Less than 2% of the data: excluded by the auditor from the impact ratios, as so few results "
                "are unreliable."
            )
        if any(row.n == "0" for row in table.rows):
            notes.append(f"‡ No applicants in this category; rate and ratio are {shown.convention.na}.")
        blocks += [heading(shown, table), made, *(Para(note, small=True) for note in notes), *after(table)]
    return page(shown, rng, blocks)


def positions(shown: Shown, rng: random.Random) -> Page:
    blocks: list = []
    for position in shown.positions:
        blocks.append(Heading(2, f"Position: {position.name}"))
        for table in present(position):
            blocks += [Heading(3, shown.words.family[table.family]), plain(shown, table), *after(table)]
        blocks += [Para(position.unknown)] if position.unknown else []
    return page(shown, rng, blocks)


WEB = ("chromium",)
PRINT = ("chromium", "weasyprint", "libreoffice", "latex", "word", "reportlab", "scan")
LAYOUTS = (
    Layout("rule", rule),
    Layout("three", three),
    Layout("grid", grid, grid=True, totals=("sex", "race")),
    Layout("sections", sections),
    Layout("transposed", transposed, totals=("sex", "race"), swap=True),
    Layout("side", side, totals=("sex", "race"), producers=(*PRINT[:-1], "excel", "scan")),
    Layout("aria", aria, producers=WEB, web=True),
    Layout(
        "slides", slides, producers=("chromium", "weasyprint", "latex", "reportlab", "libreoffice", "scan")
    ),
    Layout("footnotes", footnotes, zero=True),
    Layout("positions", positions, positions=2),
)
