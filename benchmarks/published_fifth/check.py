"""An independent check that a clean draw is right: it works from the people, in decimals."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal, getcontext
from itertools import pairwise

from benchmarks.published_fifth.faults import TODAY
from benchmarks.published_fifth.model import AuditTable, Draw, Row

getcontext().prec = 50


def as_decimal(text: str) -> Decimal:
    """A printed number."""
    return Decimal(text.replace(",", "").rstrip("%"))


def near(printed: str, exact: Decimal, percent: bool) -> bool:
    """Whether the printed number is the exact one, rounded to its own digits."""
    shown = as_decimal(printed)
    exact = exact * 100 if percent else exact
    return exact.quantize(Decimal(1).scaleb(shown.as_tuple().exponent), ROUND_HALF_UP) == shown  # type: ignore[arg-type]


def people_of(draw: Draw, unit: int, row: Row) -> tuple[int, int]:
    """Count the people of a row again."""
    one = draw.units[unit]
    cells = [
        value for (sex, race), value in one.counts.items() if row.sex in ("", sex) and row.race in ("", race)
    ]
    if row.sex and not row.race and one.only_sex:
        cells.append(one.only_sex[row.sex])
    if row.race and not row.sex and one.only_race:
        cells.append(one.only_race[row.race])
    return sum(n for n, _ in cells), sum(k for _, k in cells)


def check_table(draw: Draw, table: AuditTable) -> list[str]:
    """What is wrong in one table."""
    out: list[str] = []
    style = draw.style
    rows = table.rows + table.left_out
    real = {id(row): people_of(draw, table.unit, row) for row in rows}
    whole = sum(n for n, _ in real.values())
    small = {id(row) for row in rows if Decimal(real[id(row)][0]) / whole < Decimal("0.02")}
    rates = {id(row): Decimal(real[id(row)][1]) / real[id(row)][0] for row in rows}
    top = max(
        (row for row in rows if not (style.exclude != "none" and table.kind != "sex" and id(row) in small)),
        key=lambda row: rates[id(row)],
    )
    top_n, top_k = real[id(top)]
    for row in rows:
        n, k = real[id(row)]
        where = f"{table.kind} {row.sex} {row.race}"
        if as_decimal(row.n) != n or as_decimal(row.k) != k or not 0 < k <= n:
            out.append(f"{where}: counts")
        if not near(row.rate, rates[id(row)], "%" in row.rate or style.rate.startswith("bare")):
            out.append(f"{where}: rate")
        if re.match(r"[\d.]", row.ratio):
            if not near(row.ratio, Decimal(k * top_n) / (n * top_k), "%" in row.ratio):
                out.append(f"{where}: ratio")
        elif id(row) not in small or style.exclude == "none":
            out.append(f"{where}: no ratio")
    if len(rows) != {"sex": 2, "race": 7, "inter": 14}[table.kind] or len(
        {(row.sex, row.race) for row in rows}
    ) != len(rows):
        out.append(f"{table.kind}: categories")
    if table.total and (
        as_decimal(table.total.n) != whole or as_decimal(table.total.k) != sum(k for _, k in real.values())
    ):
        out.append(f"{table.kind}: total")
    if draw.scoring and 2 * sum(k for _, k in real.values()) > whole and table.kind == "inter":
        out.append("more than half are above the median")
    return out


def check_draw(draw: Draw) -> list[str]:
    """What is wrong in a draw that ought to be clean."""
    out = [text for table in draw.tables for text in check_table(draw, table)]
    facts = draw.facts
    year = timedelta(days=365)
    if not facts.end < facts.audit <= TODAY or TODAY - facts.audit > year:
        out.append("audit date")
    if facts.use > TODAY + timedelta(days=1) or facts.start >= facts.end:
        out.append("dates")
    line = [*facts.earlier, facts.audit]
    if line[0] > facts.use:
        out.append("use before the first audit")
    if any(later - sooner > year for sooner, later in pairwise(line)):
        out.append("more than a year between audits")
    if facts.use - line[0] > year:
        out.append("first audit too old at first use")
    if facts.data == "own" and facts.start < facts.use:
        out.append("data before first use")
    if len({table.kind for table in draw.tables}) != 3 or len(draw.tables) != 3 * len(draw.units):
        out.append("tables")
    if draw.style.same_people:
        for unit in range(len(draw.units)):
            sums = {
                sum(row.people for row in table.rows + table.left_out)
                for table in draw.tables
                if table.unit == unit
            }
            if len(sums) != 1:
                out.append("not the same people")
    return out
