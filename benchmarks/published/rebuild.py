"""Do the printed numbers agree? Reads the printed texts alone: what a reader with a pencil can prove to be wrong."""

from __future__ import annotations

import math
from fractions import Fraction

from benchmarks.published.shown import Convention, Shown, ShownRow, ShownTable


def number(text: str, conv: Convention) -> tuple[Fraction, Fraction] | None:
    """The printed value and half a unit of its last digit; None where no number is printed."""
    plain = text.replace(conv.thousands, "") if conv.thousands else text
    plain = plain.replace(conv.decimal, ".").rstrip("%\N{NO-BREAK SPACE}").replace("−", "-")
    try:
        value = Fraction(plain)
    except ValueError:
        return None
    digits = len(plain.partition(".")[2])
    return value, Fraction(1, 2 * 10**digits)


def rate_of(row: ShownRow, conv: Convention) -> tuple[Fraction, Fraction] | None:
    read = number(row.rate, conv)
    if read is None:
        return None
    scale = 100 if conv.rate_unit else 1
    return read[0] / scale, read[1] / scale


def ratio_of(row: ShownRow, conv: Convention) -> tuple[Fraction, Fraction] | None:
    read = number(row.ratio, conv)
    if read is None:
        return None
    scale = 100 if conv.ratio_percent else 1
    return read[0] / scale, read[1] / scale


def close(a: Fraction, b: Fraction, slack: Fraction) -> bool:
    return abs(a - b) <= slack


def contradictions(table: ShownTable, shown: Shown) -> list[str]:
    conv, found, exact = shown.convention, [], {}
    for at, row in enumerate([*table.rows, *([table.total] if table.total else [])]):
        n, k, rate = number(row.n, conv), number(row.k, conv) if shown.show_k else None, rate_of(row, conv)
        where = f"{table.family}: {row.label}"
        if n is None or n[0] < 0 or n[0].denominator != 1:
            found.append(f"{where}: count")
            continue
        if rate is not None and not 0 <= rate[0] <= 1:
            found.append(f"{where}: rate out of range")
        if k is not None:
            if k[0] < 0 or k[0] > n[0]:
                found.append(f"{where}: more selected than applied")
            elif (
                n[0] and rate and not close(k[0] / n[0], rate[0], 3 * rate[1])
            ):  # 3 halves: a truncated rate is let pass
                found.append(f"{where}: rate is not selected over applicants")
            if n[0] and at < len(table.rows) and not row.excluded:
                exact[at] = (k[0] / n[0], Fraction(0))
        elif rate and n[0]:
            low, high = (rate[0] - 2 * rate[1]) * n[0], (rate[0] + 2 * rate[1]) * n[0]
            if math.floor(high) < math.ceil(low):
                found.append(f"{where}: no whole number gives this rate")
        if rate and at < len(table.rows) and not row.excluded and at not in exact:
            exact[at] = rate
    if exact:
        top = max(exact, key=lambda at: exact[at][0])
        best, half = exact[top]
        for at, (rate, own) in exact.items():
            ratio = ratio_of(table.rows[at], conv)
            if ratio is None or best - half <= 0:
                found.append(f"{table.family}: {table.rows[at].label}: no ratio")
                continue
            low, high = (rate - own) / (best + half), (rate + own) / (best - half)
            slack = 3 * ratio[1] + (rate_slack(table, shown) if not half else 0)
            if not low - slack <= ratio[0] <= high + slack:
                found.append(
                    f"{table.family}: {table.rows[at].label}: ratio is not rate over the highest rate"
                )
    if table.total:
        for name in ("n", "k") if shown.show_k else ("n",):
            parts = [number(row.get(name), conv) for row in table.rows]
            whole = number(table.total.get(name), conv)
            if whole is None or None in parts or sum(p[0] for p in parts) != whole[0]:
                found.append(f"{table.family}: total of {name}")
    return found


def rate_slack(table: ShownTable, shown: Shown) -> Fraction:
    """What ratios of printed rates may differ from ratios of counts: let pass, as auditors do divide printed rates."""
    rates = [rate for row in table.rows if (rate := rate_of(row, shown.convention))]
    top = max((r[0] for r in rates), default=Fraction(1))
    return 2 * max((r[1] for r in rates), default=Fraction(0)) / top if top > 0 else Fraction(0)


def sums_differ(shown: Shown) -> list[str]:
    """Where the page says that each table counts the same people: do the tables add up to the same?"""
    conv, found = shown.convention, []
    if "population" not in shown.facts or not shown.audit.listwise:
        return []
    for position in shown.positions:
        for name in ("n", "k") if shown.show_k else ("n",):
            sums = {}
            for family, table in position.tables.items():
                parts = [number(row.get(name), conv) for row in table.rows]
                sums[family] = None if None in parts else sum(p[0] for p in parts)
            if len(set(sums.values())) > 1:
                found.append(f"{position.name}: sums of {name} differ between tables")
    return found


def page(shown: Shown) -> list[str]:
    found = [
        text
        for position in shown.positions
        for table in position.tables.values()
        for text in contradictions(table, shown)
    ]
    return found + sums_differ(shown)
