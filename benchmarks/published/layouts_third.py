"""Layouts of the THIRD half."""

from __future__ import annotations

import random
import re
from fractions import Fraction

from benchmarks.published import rebuild
from benchmarks.published.frame_third import frame, page
from benchmarks.published.pages import (
    Bar,
    Break,
    Cell,
    Divs,
    Fold,
    Heading,
    Layout,
    Page,
    Para,
    Sheet,
    Side,
    Table,
    after,
    by_sex,
    cells,
    plain,
    present,
)
from benchmarks.published.shown import Shown, ShownPosition, ShownRow, ShownTable, best, label, percent


def heading(shown: Shown, table: ShownTable, level: int = 2) -> Heading:
    return Heading(level, shown.words.family[table.family])


def lined(
    shown: Shown, table: ShownTable, columns: list[str], *, total: str = "last", wide: float = 3.2
) -> Table:
    """The columns in an order of its own; the row of totals last, first or nowhere."""
    head = [
        Cell(shown.words.first[table.family], head=True),
        *(Cell(shown.header(c), head=True) for c in columns),
    ]
    body = [[Cell(row.label, shade=row.excluded), *cells(shown, row, columns)] for row in table.rows]
    if table.total and total != "none":
        line = [Cell(table.total.label, bold=True), *cells(shown, table.total, columns, bold=True)]
        body.insert(0 if total == "first" else len(body), line)
    return Table([head], body, [wide] + [1.2] * len(columns))


def value(shown: Shown, row: ShownRow) -> Fraction | None:
    """The printed impact ratio."""
    read = rebuild.ratio_of(row, shown.convention)
    return read[0] if read else None


def panels(shown: Shown, rng: random.Random) -> Page:
    """A tab for each position."""
    found = []
    named = rng.random() < 0.5
    for position in shown.positions:
        inner: list = [Heading(2, position.name)] if named else []
        for table in present(position):
            inner += [heading(shown, table, 3), plain(shown, table, heads=rng.random() < 0.5), *after(table)]
        found.append((position.name, [*inner, *([Para(position.unknown)] if position.unknown else [])]))
    return page(shown, rng, [Fold(rng.choice(("tabs", "tablist")), found)])


def folded(shown: Shown, rng: random.Random) -> Page:
    """Tables that open at a click, one for each kind of category."""
    found = [
        (shown.words.family[table.family], [plain(shown, table), *after(table)])
        for table in present(shown.positions[0])
    ]
    return page(shown, rng, [Fold(rng.choice(("details", "accordion")), found)])


def boxes(shown: Shown, rng: random.Random) -> Page:
    """No table elements: a grid with roles, or flexible boxes with classes alone."""
    roles = rng.random() < 0.65
    blocks: list = []
    for table in present(shown.positions[0]):
        made = plain(shown, table)
        blocks += [heading(shown, table), Divs(made.head, made.body, made.widths, roles=roles), *after(table)]
    return page(shown, rng, blocks)


def extremes(shown: Shown, position: ShownPosition, family: str) -> tuple[str, str]:
    """The category of the highest rate and that of the lowest ratio, as the audit has them."""
    rows = next(p for p in shown.audit.positions if p.name == position.name).tables[family]
    rates = {key: Fraction(row.k, row.n) for key, row in rows.items() if row.n and not row.excluded}
    top, low = best(rows), min(rates, key=lambda key: rates[key])
    ratio = shown.convention.ratio(rates[low] / rates[top])
    return (
        f"{label(shown.words, family, top)}: {percent(shown.convention, rates[top])}",
        f"{label(shown.words, family, low)}: {ratio}",
    )


def headline(shown: Shown, rng: random.Random) -> Page:
    """First the highest and the lowest of each table, then the tables."""
    title, first, high, low, details = shown.words.module.SUMMARY
    position = shown.positions[0]
    body = [
        [Cell(shown.words.family[t.family]), *map(Cell, extremes(shown, position, t.family))]
        for t in present(position)
    ]
    blocks: list = [
        Heading(2, title),
        Table([[Cell(c, head=True) for c in (first, high, low)]], body, [2, 2.4, 2.4]),
    ]
    blocks.append(Heading(2, details))
    for table in present(position):
        blocks += [heading(shown, table, 3), lined(shown, table, shown.columns()), *after(table)]
    return page(shown, rng, blocks)


def apart(shown: Shown, rng: random.Random) -> Page:
    """Rates and ratios first, the counts in an appendix; in a workbook a sheet for each table."""
    words = shown.words.module
    rates: list = []
    counts: list = [Break(), Sheet(words.SHEET), Heading(2, words.COUNTS)]
    for table in present(shown.positions[0]):
        rates += [Sheet(words.SHEETS[table.family]), heading(shown, table)]
        rates += [lined(shown, table, ["rate", "ratio"], total="none"), *after(table)]
        counts += [
            heading(shown, table, 3),
            lined(shown, table, [c for c in ("n", "k") if c in shown.columns()]),
        ]
    above, below = frame(shown, rng)
    top = [Heading(1, shown.title), *above]
    return Page(shown.title, [*top, *rates, *counts, Sheet(words.NOTES), *below], look=rng.randrange(4, 10))


def marked(shown: Shown, rng: random.Random) -> Page:
    """Marks of footnotes in the numbers."""
    low, few = rng.choice((("*", "†"), ("^a^", "^b^")))
    blocks: list = []
    for table in present(shown.positions[0]):
        made, notes = plain(shown, table, heads=rng.random() < 0.5), {}
        for row, line in zip(table.rows, made.body, strict=False):
            ratio, n = value(shown, row), rebuild.number(row.n, shown.convention)
            if ratio is not None and ratio < Fraction(8, 10):
                line[-1].text += low
                notes[0] = f"{low} {shown.words.module.BELOW}"
            if n and 0 <= n[0] < 50:
                line[1].text += few
                notes[1] = f"{few} {shown.words.module.SMALL}"
        small = [Para(notes[at], small=True) for at in sorted(notes)]
        blocks += [heading(shown, table), made, *small, *after(table)]
    return page(shown, rng, blocks)


def ranked(shown: Shown, rng: random.Random) -> Page:
    """From the highest ratio to the lowest, the ratio in front, with a word on each."""
    note, top, above, below, none = shown.words.module.STATUS
    columns = ["ratio", "rate", *(["k"] if shown.show_k else []), "n"]
    position = shown.positions[0]
    true = next(p for p in shown.audit.positions if p.name == position.name).tables
    blocks: list = []
    for table in present(position):
        rows = true[table.family]
        place = {
            row.key: (row.excluded, -Fraction(rows[row.key].k, rows[row.key].n or 1)) for row in table.rows
        }
        body = []
        for at, row in enumerate(sorted(table.rows, key=lambda r: place[r.key]), start=1):
            ratio = value(shown, row)
            word = none if ratio is None else top if ratio == 1 else above if ratio * 10 >= 8 else below
            body.append(
                [
                    Cell(str(at), number=True),
                    Cell(row.label),
                    *cells(shown, row, columns),
                    Cell(word, shade=True),
                ]
            )
        names = [
            shown.words.module.RANK,
            shown.words.first[table.family],
            *(shown.header(c) for c in columns),
            note,
        ]
        made = Table(
            [[Cell(name, head=True) for name in names]], body, [0.5, 2.8] + [1.1] * len(columns) + [1.7]
        )
        blocks += [heading(shown, table), made, *after(table)]
    return page(shown, rng, blocks)


def shares(shown: Shown, rng: random.Random) -> Page:
    """The counts in brackets behind the rate, and the row of totals in front."""
    words = shown.words.headers
    rate = f"{shown.header('rate')} ({words['k']} / {words['n']})"
    blocks: list = []
    for table in present(shown.positions[0]):
        names = [shown.words.first[table.family], shown.header("ratio"), rate]
        body = []
        for row in [*([table.total] if table.total else []), *table.rows]:
            counts = f"{row.k}/{row.n}" if any(ch.isdigit() for ch in row.n) else row.n
            first = Cell(row.label, bold=row is table.total)
            body.append([first, *cells(shown, row, ["ratio"]), Cell(f"{row.rate} ({counts})", number=True)])
        made = Table([[Cell(name, head=True) for name in names]], body, [3, 1.3, 2.8])
        blocks += [heading(shown, table), made, *after(table)]
    return page(shown, rng, blocks)


def crosstab(shown: Shown, rng: random.Random) -> Page:
    """Races as columns; for each measure a section with a row for each sex."""
    blocks: list = []
    columns = shown.columns()
    for table in present(shown.positions[0]):
        blocks.append(heading(shown, table))
        body: list = []
        if table.family == "sex":
            blocks += [plain(shown, table), *after(table)]
            continue
        if table.family == "race":
            names = [row.label for row in table.rows] + ([table.total.label] if table.total else [])
            rows = [*table.rows, *([table.total] if table.total else [])]
            body = [[Cell(shown.header(c)), *(cells(shown, row, [c])[0] for row in rows)] for c in columns]
        else:
            pairs = by_sex(table)
            names = [m.race for m, _ in pairs]
            for c in columns:
                body.append([Cell(shown.header(c), columns=len(names) + 1, bold=True, shade=True)])
                for at, sex in enumerate("MF"):
                    line = [cells(shown, pair[at], [c])[0] for pair in pairs]
                    body.append([Cell(shown.words.sex[sex]), *line])
        head = [Cell("", head=True), *(Cell(name, head=True) for name in names)]
        blocks += [Table([head], body, [1.5] + [1.1] * len(names)), *after(table)]
    return page(shown, rng, blocks, landscape=True)


def field_name(text: str) -> str:
    return re.sub(r"[^a-z]+", "_", text.lower().replace("%", "pct")).strip("_")


def records(shown: Shown, rng: random.Random) -> Page:
    """One long table in the shape of a data file, every row complete."""
    words, columns = shown.words.module, shown.columns()
    body: list = []
    notes: list = []
    for position in shown.positions:
        for table in present(position):
            for row in table.rows:
                sex = {"sex": row.label, "race": words.ALL}.get(table.family) or shown.words.sex[row.key[1]]
                race = row.race if table.family != "sex" else words.ALL
                stub = [position.name, words.LEVELS[table.family], sex, race]
                body.append([*map(Cell, stub), *cells(shown, row)])
            notes += [Para(f"{position.name}: {table.highest}")] if table.highest else []
        notes += [Para(f"{position.name}: {position.unknown}")] if position.unknown else []
    names = [*words.FIELDS, *(field_name(shown.header(c)) for c in columns)]
    made = Table(
        [[Cell(name, head=True) for name in names]], body, [1.8, 1.3, 1.1, 2.6] + [1.0] * len(columns)
    )
    return page(shown, rng, [Heading(2, words.TABLES), made, *notes], landscape=True)


def aligned(tables: list[ShownTable | None]) -> list[list[ShownRow | None]]:
    """Rows of several tables beside each other by label; a label that comes twice has two rows."""
    lines: dict[tuple[str, int], list[ShownRow | None]] = {}
    for at, table in enumerate(tables):
        seen: dict[str, int] = {}
        for row in table.rows if table else []:
            seen[row.label] = seen.get(row.label, 0) + 1
            lines.setdefault((row.label, seen[row.label]), [None] * len(tables))[at] = row
    return list(lines.values())


def jobs(shown: Shown, rng: random.Random) -> Page:
    """The positions above the measures, the categories as rows."""
    blocks: list = []
    columns = shown.columns()
    for family in ("sex", "race", "inter"):
        for start in range(0, len(shown.positions), 2):
            group = [p for p in shown.positions[start : start + 2] if family in p.tables]
            if not group:
                continue
            tables = [p.tables[family] for p in group]
            head = [
                [
                    Cell(shown.words.first[family], rows=2, head=True),
                    *(Cell(p.name, columns=len(columns), head=True) for p in group),
                ],
                [Cell(shown.header(c), head=True) for _ in group for c in columns],
            ]
            rows = aligned(tables)
            rows += [[t.total for t in tables]] if all(t.total for t in tables) else []
            empty = [Cell("") for _ in columns]
            body = []
            for line in rows:
                name = next(row.label for row in line if row)
                body.append([Cell(name), *(c for row in line for c in (cells(shown, row) if row else empty))])
            title = Heading(2, shown.words.family[family]) if start == 0 else Heading(3, group[0].name)
            blocks += [title, Table(head, body, [2.6] + [1.0] * len(columns) * len(group))]
            blocks += [
                Para(f"{p.name}: {p.tables[family].highest}") for p in group if p.tables[family].highest
            ]
    blocks += [Para(f"{p.name}: {p.unknown}") for p in shown.positions if p.unknown]
    return page(shown, rng, blocks, landscape=True)


def units(shown: Shown, rng: random.Random) -> Page:
    """A second header row with units; in the third table rows that span, one for each sex."""
    columns, conv = shown.columns(), shown.convention
    names = shown.words.module.UNITS
    unit = [names["share"] if c == "rate" and not conv.rate_unit else names[c] for c in columns]
    if conv.ratio_percent:
        unit[-1] = names["rate"]

    def headed(table: ShownTable, body: list) -> Table:
        head = [
            [
                Cell(shown.words.first[table.family], rows=2, head=True),
                *(Cell(shown.words.headers[c], head=True) for c in columns),
            ],
            [Cell(text, head=True) for text in unit],
        ]
        return Table(head, body, [3.0] + [1.25] * len(columns))

    blocks: list = []
    pair: list[list] = []
    for table in present(shown.positions[0]):
        body = lined(shown, table, columns).body
        if table.family != "inter":
            pair.append([heading(shown, table), headed(table, body), *after(table)])
            continue
        groups: list = []
        for sex in "MF":
            span = Cell(shown.words.sex[sex], columns=len(columns) + 1, head=True, bold=True)
            rows = [row for row in table.rows if row.key[1] == sex]
            groups += [[span], *([Cell(row.race), *cells(shown, row)] for row in rows)]
        groups += body[len(table.rows) :]
        blocks = [heading(shown, table), headed(table, groups), *after(table)]
    beside = len(pair) == 2 and rng.random() < 0.5
    first = [Side(pair)] if beside else [part for parts in pair for part in parts]
    return page(shown, rng, [*first, *blocks], landscape=beside)


def bars(shown: Shown, rng: random.Random) -> Page:
    """A bar in each row, as long as its ratio."""
    blocks: list = []
    for table in present(shown.positions[0]):
        made = lined(shown, table, shown.columns(), total="none", wide=2.6)
        made.head[0].insert(1, Cell(shown.words.module.BAR, head=True))
        made.widths.insert(1, 1.7)
        for row, line in zip(table.rows, made.body, strict=True):
            share = float(min(max(value(shown, row) or 0, 0), 1))
            line.insert(1, Bar("█" * round(share * 10), share=share))
        blocks += [heading(shown, table), made, *after(table)]
    return page(shown, rng, blocks)


WEB = ("chromium",)
LAYOUTS = (
    Layout("panels", panels, positions=2, producers=WEB, web=True),
    Layout("folded", folded, producers=WEB, web=True),
    Layout("boxes", boxes, producers=WEB, web=True),
    Layout("headline", headline),
    Layout("apart", apart, zero=True),
    Layout("marked", marked),
    Layout("ranked", ranked, totals=(), zero=True),
    Layout("shares", shares, show_k=True, swap=False),
    Layout("crosstab", crosstab, grid=True, totals=("sex", "race")),
    Layout("records", records, positions=2, totals=()),
    Layout("jobs", jobs, positions=2),
    Layout("units", units),
    Layout("bars", bars, totals=()),
)
