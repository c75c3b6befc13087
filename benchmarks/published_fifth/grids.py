"""Put the rows of a table into the shapes in which pages print them."""

from __future__ import annotations

from benchmarks.published_fifth.model import AuditTable, Cell, Draw, Grid, Row
from benchmarks.published_fifth.names import race_name, sex_name
from benchmarks.published_fifth.numbers import count_text
from benchmarks.published_fifth.sentences import label

Columns = tuple[str, ...]


def value(row: Row, column: str) -> str:
    """What a column prints for a row."""
    return {
        "n": row.n,
        "k": row.k,
        "rate": row.rate,
        "ratio": row.ratio,
        "share": row.share,
        "before": row.before,
        "nk": f"{row.k} / {row.n}",
    }[column]


def heads(draw: Draw, columns: Columns) -> list[Cell]:
    """The headings of the number columns."""
    known = dict(draw.style.heads)
    known.setdefault("before", "Prior year")
    return [Cell(known[column], head=True) for column in columns]


def total_cells(draw: Draw, row: Row, columns: Columns) -> list[Cell]:
    """The numbers of a total row; a total has no ratio."""
    out = []
    for column in columns:
        text = "" if column in ("ratio", "before") else value(row, column)
        out.append(Cell(text if column not in ("ratio", "before") else "—"))
    return out


def flat(
    draw: Draw, table: AuditTable, stub: str, columns: Columns | None = None, split: bool = False
) -> Grid:
    """One row for each category; split gives sex and race a column each."""
    columns = columns or draw.style.columns
    style = draw.style
    two = split and table.kind == "inter"
    first = [Cell("Race/Ethnicity", head=True), Cell("Sex", head=True)] if two else [Cell(stub, head=True)]
    body: list[list[Cell]] = []
    for row in table.rows:
        names = (
            [Cell(race_name(style, row.race), head=True), Cell(sex_name(style, row.sex), head=True)]
            if two
            else [Cell(label(style, row), head=True)]
        )
        body.append(names + [Cell(value(row, column)) for column in columns])
    if style.unknown_row and table.kind != "inter" and "unknown" not in draw.facts.missing:
        unit = draw.units[table.unit]
        number = count_text(unit.no_sex if table.kind == "sex" else unit.no_race, style.count)
        name = draw.pick("ur", ["Unknown", "Not disclosed (unknown)", "Unknown / declined to answer"])
        body.append(
            [Cell(name, head=True)] + [Cell(number if column in ("n", "nk") else "—") for column in columns]
        )
    if table.total is not None:
        body.append(
            [Cell("Total", span=2 if two else 1, head=True), *total_cells(draw, table.total, columns)]
        )
    return Grid([first + heads(draw, columns)], body)


def groups(table: AuditTable, by: str) -> list[tuple[str, list[Row]]]:
    """The rows of the intersectional table by sex or by race, in their order."""
    out: list[tuple[str, list[Row]]] = []
    for row in table.rows:
        key = row.sex if by == "sex" else row.race
        for name, rows in out:
            if name == key:
                rows.append(row)
                break
        else:
            out.append((key, [row]))
    return out


def nested(draw: Draw, table: AuditTable, by: str, columns: Columns | None = None, stub: bool = True) -> Grid:
    """Rows under their sex or race: in a cell that spans them, or under a line of its own."""
    columns = columns or draw.style.columns
    style = draw.style
    body: list[list[Cell]] = []
    for key, rows in groups(table, by):
        name = sex_name(style, key) if by == "sex" else race_name(style, key)
        if not stub:
            body.append([Cell(name, span=len(columns) + 1, head=True)])
        for number, row in enumerate(rows):
            inner = race_name(style, row.race, inner=True) if by == "sex" else sex_name(style, row.sex)
            cells = [Cell(inner, head=True)] + [Cell(value(row, column)) for column in columns]
            if stub and number == 0:
                cells.insert(0, Cell(name, down=len(rows), head=True))
            body.append(cells)
    outer, inner_head = ("Sex", "Race/Ethnicity") if by == "sex" else ("Race/Ethnicity", "Sex")
    first = (
        [Cell(outer, head=True), Cell(inner_head, head=True)]
        if stub
        else [Cell(f"{outer} / {inner_head}", head=True)]
    )
    if table.total is not None:
        body.append(
            [Cell("Total", span=2 if stub else 1, head=True), *total_cells(draw, table.total, columns)]
        )
    return Grid([first + heads(draw, columns)], body)


def rule_nested(draw: Draw, table: AuditTable, columns: Columns | None = None) -> Grid:
    """The intersectional table as the rule prints it: Hispanic first, then by sex."""
    columns = columns or draw.style.columns
    style = draw.style
    body: list[list[Cell]] = []
    latino = [row for row in table.rows if row.race == "hispanic"]
    others = [row for row in table.rows if row.race != "hispanic"]
    for number, row in enumerate(latino):
        cells = [Cell(sex_name(style, row.sex), span=2, head=True)] + [
            Cell(value(row, column)) for column in columns
        ]
        if number == 0:
            cells.insert(0, Cell("Hispanic or Latino", down=len(latino), head=True))
        body.append(cells)
    done = 0
    for sex in style.sex_order:
        rows = [row for row in others if row.sex == sex]
        for number, row in enumerate(rows):
            cells = [Cell(race_name(style, row.race, inner=True), head=True)]
            cells += [Cell(value(row, column)) for column in columns]
            if number == 0:
                cells.insert(0, Cell(sex_name(style, sex), down=len(rows), head=True))
            if done == 0:
                cells.insert(0, Cell("Non-Hispanic or Latino", down=len(others), head=True))
            done += 1
            body.append(cells)
    if table.total is not None:
        body.append([Cell("Total", span=3, head=True), *total_cells(draw, table.total, columns)])
    return Grid([[Cell("", span=3, head=True), *heads(draw, columns)]], body)


def matrix(draw: Draw, table: AuditTable, columns: Columns | None = None) -> Grid:
    """Sex across and race down, with two levels of headings."""
    columns = columns or draw.style.columns
    style = draw.style
    top = [Cell("Race/Ethnicity", down=2, head=True)]
    low: list[Cell] = []
    for sex in style.sex_order:
        top.append(Cell(sex_name(style, sex), span=len(columns), head=True))
        low += heads(draw, columns)
    body: list[list[Cell]] = []
    for race, rows in groups(table, "race"):
        cells = [Cell(race_name(style, race), head=True)]
        for sex in style.sex_order:
            found = [row for row in rows if row.sex == sex]
            cells += [Cell(value(found[0], column) if found else "–") for column in columns]
        body.append(cells)
    return Grid([top, low], body)


def transposed(draw: Draw, table: AuditTable, columns: Columns | None = None) -> Grid:
    """Categories across, numbers down; sex over race for the intersectional table."""
    columns = columns or draw.style.columns
    style = draw.style
    names = draw.style.heads
    if table.kind == "inter":
        kinds = groups(table, "sex")
        ordered = [row for _, rows in kinds for row in rows]
        head = [
            [Cell("", down=2, head=True)]
            + [Cell(sex_name(style, key), span=len(rows), head=True) for key, rows in kinds],
            [Cell(race_name(style, row.race, inner=True), head=True) for row in ordered],
        ]
    else:
        ordered = table.rows
        head = [[Cell("", head=True)] + [Cell(label(style, row), head=True) for row in ordered]]
    body = [
        [Cell(names[column], head=True)] + [Cell(value(row, column)) for row in ordered] for column in columns
    ]
    if table.total is not None:
        head[0].append(Cell("Total", down=len(head), head=True))
        for cells, extra in zip(body, total_cells(draw, table.total, columns), strict=True):
            cells.append(extra)
    return Grid(head, body)


def long_table(
    draw: Draw, tables: list[AuditTable], columns: Columns | None = None, bands: bool = False
) -> Grid:
    """All tables one under the other; bands puts a line above each, else a first column tells the kind."""
    columns = columns or draw.style.columns
    names = {
        "sex": draw.pick("gs", ["Sex", "Gender", "Sex"]),
        "race": "Race/Ethnicity",
        "inter": draw.pick("gi", ["Intersectional", "Race/Ethnicity and Sex", "Intersectional"]),
    }
    body: list[list[Cell]] = []
    for table in tables:
        if bands:
            body.append([Cell(names[table.kind], span=len(columns) + 1, head=True)])
        for row in table.rows:
            first = [] if bands else [Cell(names[table.kind], head=True)]
            body.append(
                first
                + [Cell(label(draw.style, row), head=True)]
                + [Cell(value(row, column)) for column in columns]
            )
        if table.total is not None:
            first = [] if bands else [Cell(names[table.kind], head=True)]
            body.append([*first, Cell("Total", head=True), *total_cells(draw, table.total, columns)])
    first = (
        [Cell("Category", head=True)]
        if bands
        else [
            Cell(draw.pick("gh", ["Category Type", "Group", "Dimension"]), head=True),
            Cell("Category", head=True),
        ]
    )
    return Grid([first + heads(draw, columns)], body)
