"""Turn counts into the printed rows of the three tables."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.published_fifth.model import AuditTable, Row, Style, Unit
from benchmarks.published_fifth.numbers import count_text, half_up, rate_text, ratio_text
from benchmarks.published_fifth.people import race_counts, sex_counts

LIMIT = Fraction(2, 100)


def make_row(style: Style, sex: str, race: str, n: int, k: int, whole: int) -> Row:
    """A row without its ratio."""
    return Row(
        sex,
        race,
        count_text(n, style.count),
        count_text(k, style.count),
        rate_text(Fraction(k, n), style.rate),
        "",
        half_up(Fraction(n, whole) * 100, 1) + "%",
        n,
        k,
    )


def top_rate(rows: list[Row]) -> Fraction:
    """The highest rate of the categories that count."""
    return max(row.value for row in rows if not row.excluded)


def fill_ratios(rows: list[Row], style: Style, base: Fraction | None = None) -> None:
    """Write the ratios of a table, against its highest rate unless told otherwise."""
    base = base if base is not None else top_rate(rows)
    for row in rows:
        row.ratio = style.blank if row.excluded else ratio_text(row.value / base, style.ratio)


def make_table(style: Style, kind: str, unit: int, cells: list[tuple[str, str, int, int]]) -> AuditTable:
    """One table from its cells (sex, race, people, chosen)."""
    whole = sum(cell[2] for cell in cells)
    chosen = sum(cell[3] for cell in cells)
    rows = [make_row(style, sex, race, n, k, whole) for sex, race, n, k in cells]
    if style.exclude != "none" and kind != "sex":
        for row in rows:
            row.excluded = Fraction(row.people, whole) < LIMIT
    fill_ratios(rows, style)
    table = AuditTable(kind, unit, rows)
    if style.exclude == "note":
        table.left_out = [row for row in rows if row.excluded]
        table.rows = [row for row in rows if not row.excluded]
    if style.total and style.exclude != "note":
        table.total = make_row(style, "", "", whole, chosen, whole)
    return table


def make_tables(style: Style, number: int, unit: Unit) -> list[AuditTable]:
    """The three tables of a position."""
    by_sex = sex_counts(unit)
    by_race = race_counts(unit)
    sexes = [(sex, "", *by_sex[sex]) for sex in style.sex_order]
    races = [("", race, *by_race[race]) for race in style.order]
    if style.pair == "sex_race":
        inter = [(sex, race, *unit.counts[(sex, race)]) for sex in style.sex_order for race in style.order]
    else:
        inter = [(sex, race, *unit.counts[(sex, race)]) for race in style.order for sex in style.sex_order]
    return [
        make_table(style, "sex", number, sexes),
        make_table(style, "race", number, races),
        make_table(style, "inter", number, inter),
    ]


def clear_cut(table: AuditTable) -> bool:
    """Whether one category alone is highest, left-out ones included, and no share is close to the limit."""
    rates = sorted((row for row in table.rows if not row.excluded), key=lambda row: row.value)
    if len(rates) > 1 and (rates[-1].rate == rates[-2].rate or rates[-1].value == rates[-2].value):
        return False
    rows = table.rows + table.left_out
    if any(row.excluded and row.value >= rates[-1].value for row in rows):
        return False  # else one could dispute which rate the ratios are taken against
    whole = sum(row.people for row in rows)
    return not any(Fraction(194, 10000) < Fraction(row.people, whole) < Fraction(206, 10000) for row in rows)
