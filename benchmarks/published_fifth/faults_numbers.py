"""Faults in the numbers of a table. Each changes a copy of the draw and says what it did."""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from random import Random

from benchmarks.published_fifth.model import AuditTable, Draw, Row
from benchmarks.published_fifth.numbers import count_text, half_up, no_zero, rate_text, ratio_text
from benchmarks.published_fifth.sentences import AREA, label, top_row
from benchmarks.published_fifth.tables import fill_ratios, make_row


def place(draw: Draw, table: AuditTable) -> str:
    """The table in words."""
    where = f" of {draw.units[table.unit].name}" if len(draw.units) > 1 else ""
    return f"the {AREA[table.kind]} table{where}"


def any_table(
    draw: Draw, rng: Random, kinds: tuple[str, ...] = ("sex", "race", "race", "inter", "inter")
) -> AuditTable:
    """One of the tables."""
    kind = rng.choice(kinds)
    return rng.choice([table for table in draw.tables if table.kind == kind])


def lower_rows(table: AuditTable) -> list[Row]:
    """The rows that count and are not the highest."""
    top = top_row(table)
    return [row for row in table.rows if row is not top and not row.excluded]


def _percent(value: Fraction) -> Fraction:
    """The value cut to four digits."""
    return Fraction(round(value * 10000), 10000)


def wrong_rate(draw: Draw, rng: Random) -> str | None:
    """One rate is off by five to fourteen points."""
    table = any_table(draw, rng)
    row = rng.choice(lower_rows(table))
    gap = Fraction(rng.randint(50, 140), 1000)
    new = row.value - gap if row.value > gap + Fraction(4, 100) else row.value + gap
    if rng.random() < 0.5 and row.value + gap < top_row(table).value - Fraction(1, 100):
        new = row.value + gap
    old, row.rate = row.rate, rate_text(_percent(new), draw.style.rate)
    return f"{place(draw, table)}: rate of {label(draw.style, row)} printed {row.rate} instead of {old}"


def wrong_impact_ratio(draw: Draw, rng: Random) -> str | None:
    """One ratio is off by six to twenty hundredths."""
    table = any_table(draw, rng)
    row = rng.choice(lower_rows(table))
    true = row.value / top_row(table).value
    gap = Fraction(rng.randint(60, 200), 1000)
    new = true + gap if rng.random() < 0.5 and true + gap < Fraction(99, 100) else true - gap
    if new < Fraction(5, 100):
        return None
    old, row.ratio = row.ratio, ratio_text(_percent(new), draw.style.ratio)
    return (
        f"{place(draw, table)}: impact ratio of {label(draw.style, row)} printed {row.ratio} instead of {old}"
    )


def wrong_count(draw: Draw, rng: Random) -> str | None:
    """One count does not give the printed rate."""
    if not {"k", "nk"} & set(draw.style.columns):
        return None
    table = any_table(draw, rng)
    row = rng.choice([row for row in table.rows if not row.excluded])
    if rng.random() < 0.5:
        new = round(row.people * rng.uniform(1.17, 1.45)) + 2
        old, row.n = row.n, count_text(new, draw.style.count)
        return f"{place(draw, table)}: number of people of {label(draw.style, row)} printed {row.n} instead of {old}"
    new = round(row.chosen * rng.uniform(0.6, 0.82)) - 1
    if new < 1:
        return None
    old, row.k = row.k, count_text(new, draw.style.count)
    return f"{place(draw, table)}: number chosen of {label(draw.style, row)} printed {row.k} instead of {old}"


def rate_above_100(draw: Draw, rng: Random) -> str | None:
    """One rate above one hundred percent."""
    table = any_table(draw, rng)
    row = rng.choice([row for row in table.rows if not row.excluded])
    old, row.rate = row.rate, rate_text(row.value + 1, draw.style.rate)
    return f"{place(draw, table)}: rate of {label(draw.style, row)} printed {row.rate} instead of {old}"


def ratio_above_1(draw: Draw, rng: Random) -> str | None:
    """One ratio above one."""
    table = any_table(draw, rng)
    row = rng.choice(lower_rows(table))
    old, row.ratio = row.ratio, ratio_text(Fraction(rng.randint(1040, 1390), 1000), draw.style.ratio)
    return (
        f"{place(draw, table)}: impact ratio of {label(draw.style, row)} printed {row.ratio} instead of {old}"
    )


def wrong_reference(draw: Draw, rng: Random) -> str | None:
    """Every ratio of a table is taken against a lower group."""
    table = any_table(draw, rng)
    top = top_row(table)
    rows = [row for row in lower_rows(table) if Fraction(60, 100) < row.value / top.value < Fraction(95, 100)]
    if not rows:
        return None
    base = rng.choice(rows)
    fill_ratios(table.rows, draw.style, base.value)
    return (
        f"{place(draw, table)}: all ratios are against {label(draw.style, base)}, not against "
        f"{label(draw.style, top)}, which has the highest rate"
    )


def duplicate_category(draw: Draw, rng: Random) -> str | None:
    """One category stands twice in a table."""
    table = any_table(draw, rng, ("sex", "race", "race", "race"))
    row = rng.choice(lower_rows(table))
    again = copy(row)
    how = "the same numbers"
    if rng.random() < 0.5:
        n = max(9, round(row.people * rng.uniform(0.6, 0.95)))
        k = round(n * row.value * Fraction(rng.randint(88, 97), 100))
        if k < 1:
            return None
        made = make_row(draw.style, row.sex, row.race, n, k, sum(one.people for one in table.rows))
        again = made
        again.ratio = ratio_text(made.value / top_row(table).value, draw.style.ratio)
        again.before = row.before
        how = "other numbers"
    table.rows.insert(rng.choice([table.rows.index(row) + 1, len(table.rows)]), again)
    return f"{place(draw, table)}: {label(draw.style, row)} stands twice, with {how}"


def dropped_category(draw: Draw, rng: Random) -> str | None:
    """One race is left out of one table while another table has it."""
    unit = rng.randrange(len(draw.units))
    race_table = next(one for one in draw.tables if one.unit == unit and one.kind == "race")
    inter = next(one for one in draw.tables if one.unit == unit and one.kind == "inter")
    told = draw.highest.get((unit, "low"), "")
    whole = sum(row.people for row in race_table.rows)
    fit = []
    for row in lower_rows(race_table):
        pair = [one for one in inter.rows if one.race == row.race and not one.excluded]
        if (
            len(pair) == 2
            and top_row(inter) not in pair
            and label(draw.style, row) not in told
            and Fraction(row.people, whole) > Fraction(21, 1000)
        ):
            fit.append(row.race)
    if not fit:
        return None
    race = rng.choice(fit)
    table, other = (race_table, inter) if rng.random() < 0.5 else (inter, race_table)
    name = label(draw.style, next(row for row in race_table.rows if row.race == race))
    if table is inter and rng.random() < 0.25:
        gone = next(row for row in inter.rows if row.race == race)
        table.rows.remove(gone)
        return (
            f"{place(draw, table)}: {label(draw.style, gone)} is left out without a word, "
            f"{place(draw, other)} has {name}"
        )
    table.rows = [row for row in table.rows if row.race != race]
    return f"{place(draw, table)}: {name} is left out without a word, {place(draw, other)} has it"


def totals_do_not_add(draw: Draw, rng: Random) -> str | None:
    """A printed total is wrong, or two tables of the same people have different totals."""
    style = draw.style
    if style.total and (rng.random() < 0.6 or not style.same_people):
        table = any_table(draw, rng)
        if table.total is None:
            return None
        old = table.total.n
        gap = max(7, round(table.total.people * rng.uniform(0.03, 0.12)))
        table.total.n = count_text(table.total.people + rng.choice([gap, -gap]), style.count)
        return f"{place(draw, table)}: printed total {table.total.n}, the rows add up to {old}"
    if not style.same_people:
        return None
    table = any_table(draw, rng, ("race",))
    row = rng.choice(lower_rows(table))
    n = row.people + max(12, round(row.people * rng.uniform(0.08, 0.3)))
    k = int(n * row.value)
    whole = sum(one.people for one in table.rows) - row.people + n
    cells = [(one, n if one is row else one.people, k if one is row else one.chosen) for one in table.rows]
    rows = []
    for one, people, chosen in cells:
        made = make_row(style, one.sex, one.race, people, chosen, whole)
        made.excluded, made.before = one.excluded, one.before
        rows.append(made)
    table.rows = rows
    fill_ratios(rows, style)
    if table.total is not None:
        table.total = make_row(style, "", "", whole, sum(one.chosen for one in rows), whole)
    return (
        f"{place(draw, table)} adds up to {whole}, the other tables to "
        f"{draw.units[table.unit].both_known}, though the page says they are of the same people "
        f"({label(style, row)} raised from {row.n} to {n})"
    )


def percent_fraction(draw: Draw, rng: Random) -> str | None:
    """One rate is a fraction with a percent sign."""
    if not draw.style.rate.startswith("pct"):
        return None
    table = any_table(draw, rng)
    row = rng.choice([row for row in table.rows if not row.excluded])
    old, row.rate = row.rate, half_up(row.value, 2) + "%"
    return f"{place(draw, table)}: rate of {label(draw.style, row)} printed {row.rate} instead of {old}"


def transposed_digits(draw: Draw, rng: Random) -> str | None:
    """Two digits of a ratio have changed places."""
    table = any_table(draw, rng)
    row = rng.choice(lower_rows(table))
    text = row.ratio
    at = 0 if text.endswith("%") else text.index(".") + 1
    new = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    if (
        text[at] == text[at + 1]
        or not text[at : at + 2].isdigit()
        or abs(int(text[at]) - int(text[at + 1])) < 1
        or new[at] == "0"
    ):
        return None
    row.ratio = no_zero(new) if text.startswith(".") else new
    return f"{place(draw, table)}: impact ratio of {label(draw.style, row)} printed {row.ratio} instead of {text}"


def shifted_row(draw: Draw, rng: Random) -> str | None:
    """Two rows have each other's rates."""
    table = any_table(draw, rng)
    rows = [row for row in table.rows if not row.excluded]
    at = rng.randrange(len(rows) - 1)
    one, two = rows[at], rows[at + 1]
    if abs(one.value - two.value) < Fraction(3, 100):
        return None
    one.rate, two.rate = two.rate, one.rate
    return f"{place(draw, table)}: the rates of {label(draw.style, one)} and {label(draw.style, two)} are swapped"
