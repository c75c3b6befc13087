"""Single faults in what a page prints. Each returns a label or None where the page at hand cannot hold it."""

from __future__ import annotations

import copy
import datetime as dt
import random
import re
from collections.abc import Callable
from fractions import Fraction

from benchmarks.published import rebuild
from benchmarks.published.pages import Layout
from benchmarks.published.shown import Shown, ShownRow, ShownTable, percent
from benchmarks.published.truth import AS_OF, FAMILIES

Label = dict


def place(shown: Shown, layout: Layout, rng: random.Random, families: tuple[str, ...] = FAMILIES):
    position = rng.choice(shown.positions)
    return position, position.tables[rng.choice([f for f in families if f in position.tables])]


def label(position, table: ShownTable, row: ShownRow | None, field: str, old: str, new: str) -> Label:
    return {
        "position": position.name,
        "family": table.family,
        "category": row.label if row else "",
        "key": list(row.key) if row else [],
        "field": field,
        "from": old,
        "to": new,
    }


def mistype(text: str, rng: random.Random) -> str:
    """Another number: two digits exchanged, one digit changed, or one added to a leading digit."""
    at = [i for i, ch in enumerate(text) if ch.isdigit()]
    digits = list(text)
    if len(at) > 1 and rng.random() < 0.4:
        i = rng.randrange(len(at) - 1)
        digits[at[i]], digits[at[i + 1]] = digits[at[i + 1]], digits[at[i]]
    else:
        i = rng.choice(at)
        digits[i] = str((int(digits[i]) + rng.choice((1, 2, 3, 5, 8))) % 10)
    new = "".join(digits)
    return text if digits[at[0]] == "0" and text[at[0]] != "0" else new  # no number begins with a new nought


def edit(field: str) -> Callable:
    """One number changed so that the page contradicts itself."""

    def make(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
        if field == "k" and not shown.show_k:
            return None
        for _ in range(60):
            position, table = place(shown, layout, rng)
            row = rng.choice(table.rows)
            old = row.get(field)
            if not any(ch.isdigit() for ch in old) or row.n == "0":
                continue
            new = mistype(old, rng)
            if new == old:
                continue
            setattr(row, field, new)
            if not in_range(row, shown) or not rebuild.contradictions(table, shown):
                setattr(row, field, old)
                continue
            return label(position, table, row, field, old, new)
        return None

    return make


def in_range(row: ShownRow, shown: Shown) -> bool:
    """A changed number that is still one that could be: impossible ones are a kind of their own."""
    conv = shown.convention
    n, k, rate, ratio = (
        rebuild.number(row.n, conv),
        rebuild.number(row.k, conv),
        rebuild.rate_of(row, conv),
        rebuild.ratio_of(row, conv),
    )
    return (
        n is not None
        and n[0] > 0
        and (not shown.show_k or (k is not None and k[0] <= n[0]))
        and (rate is None or rate[0] <= 1)
        and (ratio is None or ratio[0] <= 1)
    )


def exact(shown: Shown, position, table: ShownTable) -> dict[int, Fraction]:
    true = next(p for p in shown.audit.positions if p.name == position.name).tables[table.family]
    return {
        at: Fraction(true[row.key].k, true[row.key].n)
        for at, row in enumerate(table.rows)
        if true[row.key].n and not row.excluded
    }


def base(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """Ratios of a table over the rate of a row that is not the highest: its first or its largest."""
    for _ in range(20):
        position, table = place(shown, layout, rng)
        rates = exact(shown, position, table)
        first = rng.choice(list(rates)[:2])
        top = max(rates.values())
        if rates[first] * 100 > top * 96:
            continue
        old = [row.ratio for row in table.rows]
        for at, value in rates.items():
            table.rows[at].ratio = shown.convention.ratio(value / rates[first])
        return label(position, table, None, "ratio", str(old), str([row.ratio for row in table.rows])) | {
            "base": table.rows[first].label
        }
    return None


def highest(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """The sentence on the highest category names another."""
    position, table = place(shown, layout, rng)
    if not table.highest:
        return None
    rates = exact(shown, position, table)
    top = max(rates, key=rates.get)
    lower = [at for at, rate in rates.items() if rate * 100 <= rates[top] * 97]
    if not lower:
        return None
    wrong = rng.choice(lower)
    old = table.highest
    table.highest = shown.words.highest.format(
        label=table.rows[wrong].label,
        value=percent(shown.convention, rates[top]),
        rate=shown.words.headers["rate"].lower(),
    )
    return label(position, table, table.rows[wrong], "highest", old, table.highest)


def quotient(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """Rates of a table as each category's share of all selected, ratios kept consistent with them."""
    if not shown.show_k:
        return None
    position, table = place(shown, layout, rng)
    true = next(p for p in shown.audit.positions if p.name == position.name).tables[table.family]
    whole = sum(true[row.key].k for row in table.rows)
    share = {at: Fraction(true[row.key].k, whole) for at, row in enumerate(table.rows)}
    top = max(value for at, value in share.items() if not table.rows[at].excluded)
    old = [row.rate for row in table.rows]
    for at, row in enumerate(table.rows):
        if not true[row.key].n:
            continue
        row.rate = shown.convention.rate(share[at])
        if not row.excluded:
            row.ratio = shown.convention.ratio(share[at] / top)
    table.highest = ""
    if not rebuild.contradictions(table, shown):
        return None
    return label(position, table, None, "rate", str(old), str([row.rate for row in table.rows]))


def duplicate(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """A row twice, or a row under another's label; in a grid a race for both sexes."""
    again = rng.random() < 0.5
    position, table = place(shown, layout, rng, ("race", "inter") if layout.grid or not again else FAMILIES)
    true = table.rows
    at = rng.randrange(len(true) - 1)
    row = true[at]
    if row.n == "0":
        return None
    if table.family == "inter" and (layout.grid or layout.name in ("rule", "transposed", "side")):
        same = [r for r in true if r.key[0] == row.key[0]]
        if row.key[0] == "H":
            return None
    else:
        same = [row]
    if again:
        for r in same:
            true.insert(true.index(r) + 1, copy.deepcopy(r))
        return label(position, table, row, "row", row.label, "printed twice")
    others = [r for r in true if r.key[0] not in (row.key[0], "H") and r.key[1:] == row.key[1:]]
    other = rng.choice(others)
    old = row.label
    if row.key[0] == "H":
        return None
    for r in same:
        twin = next(o for o in true if o.key == (other.key[0], *r.key[1:]))
        r.label, r.race = twin.label, twin.race
    return label(position, table, row, "label", old, other.label)


def missing_table(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    families = FAMILIES if layout.name != "nested" else ("sex",)
    family = rng.choice(families)
    for position in shown.positions:
        position.tables.pop(family)
    return {"family": family, "field": "table"}


def missing(slot: str) -> Callable:
    def make(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
        if slot == "unknown" and slot not in shown.facts:
            for position in shown.positions:
                position.unknown = ""
            return {"field": slot}
        old = shown.facts.pop(slot)
        return {"field": slot, "from": old[2]}

    return make


def stale(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """Audit, data and first use lie some years back, together: only the audit's age is at fault."""
    audit = shown.audit
    back = rng.choice((2, 2, 3)) * 365 + 1
    if audit.data == "test":
        return None
    conv, facts = shown.convention, dict(shown.facts)
    days = (audit.audit_date, *audit.window, audit.distribution, audit.published)
    moved = {}
    for day in days:
        new = day - dt.timedelta(days=back)
        moved[conv.day(day)] = conv.day(new)
    for slot in ("audit_date", "source", "distribution", "published"):
        texts = facts[slot]
        marks = {old: f"\x00{at}\x00" for at, old in enumerate(moved)}
        for old, mark in marks.items():
            texts = tuple(text.replace(old, mark) for text in texts)
        for at, new in enumerate(moved.values()):
            texts = tuple(text.replace(f"\x00{at}\x00", new) for text in texts)
        shown.facts[slot] = texts
    assert (AS_OF - audit.audit_date).days + back > 366
    return {
        "field": "audit_date",
        "from": conv.day(audit.audit_date),
        "to": moved[conv.day(audit.audit_date)],
    }


def claim(kind: str) -> Callable:
    def make(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
        words = shown.words.module
        text = rng.choice(words.SYNTHETIC if kind == "synthetic" else words.NO_BIAS).format(
            tool=shown.audit.tool
        )
        shown.claims.append(("data" if kind == "synthetic" else "end", text))
        return {"field": "sentence", "to": text}

    return make


def vendor(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    audit = shown.audit
    old = shown.facts["auditor"]
    new = tuple(re.split(r", who |\. It ", text)[0].replace(audit.auditor, audit.vendor) for text in old)
    shown.facts["auditor"] = new
    return {"field": "auditor", "from": audit.auditor, "to": audit.vendor}


def nothing(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """N/A in place of every number of applicants (and of selected), as F05 forbids."""
    mark = rng.choice(("N/A", "n/a"))
    for position in shown.positions:
        for table in position.tables.values():
            for row in [*table.rows, *([table.total] if table.total else [])]:
                row.n = row.k = mark
    shown.facts.pop("sample", None)
    return {"field": "n", "to": mark}


def impossible(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    for _ in range(40):
        position, table = place(shown, layout, rng)
        row = rng.choice(table.rows)
        if row.excluded or row.n == "0":
            continue
        kind = rng.choice(("negative", "rate", "ratio", "selected"))
        conv = shown.convention
        field = {
            "negative": rng.choice(("n", "k") if shown.show_k else ("n",)),
            "rate": "rate",
            "ratio": "ratio",
            "selected": "k",
        }[kind]
        old = row.get(field)
        if kind == "negative":
            new = "-" + old
        elif kind == "rate":
            new = conv.rate(Fraction(rng.randrange(1050, 1900), 1000))
        elif kind == "ratio":
            new = conv.ratio(Fraction(rng.randrange(106, 180), 100))
        elif shown.show_k:
            new = conv.count(
                round(
                    next(p for p in shown.audit.positions if p.name == position.name)
                    .tables[table.family][row.key]
                    .n
                    * rng.uniform(1.1, 1.9)
                )
            )
        else:
            continue
        setattr(row, field, new)
        return label(position, table, row, field, old, new) | {"sort": kind}
    return None


def totals(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    position, table = place(shown, layout, rng)
    if not table.total or table.family not in layout.totals:
        return None
    field = rng.choice(("n", "k") if shown.show_k else ("n",))
    for _ in range(60):
        old = table.total.get(field)
        new = mistype(old, rng)
        setattr(table.total, field, new)
        if new != old and in_range(table.total, shown):
            return label(position, table, table.total, f"total {field}", old, new)
        setattr(table.total, field, old)
    return None


def swapped(shown: Shown, layout: Layout, rng: random.Random) -> Label | None:
    """Two headers change places over all tables."""
    conv = shown.convention
    pairs = [("n", "k")] if shown.show_k else []
    pairs += [("rate", "ratio")] if conv.rate_unit.strip() == "%" and not conv.ratio_percent else []
    if not layout.swap or not pairs:
        return None
    a, b = rng.choice(pairs)
    headers = dict(shown.words.headers)
    headers[a], headers[b] = headers[b], headers[a]
    shown.words = copy.copy(shown.words)
    shown.words.headers = headers
    return {"field": f"{a} and {b}", "from": headers[b], "to": headers[a]}


KINDS: dict[str, tuple[int, Callable]] = {
    "count of applicants": (18, edit("n")),
    "count of selected": (18, edit("k")),
    "rate": (20, edit("rate")),
    "ratio": (20, edit("ratio")),
    "ratios over a row that is not the highest": (16, base),
    "wrong highest category": (14, highest),
    "rates that are no quotient": (14, quotient),
    "duplicated category": (14, duplicate),
    "missing table": (14, missing_table),
    "no audit date": (13, missing("audit_date")),
    "no distribution date": (13, missing("distribution")),
    "no number of unknown": (13, missing("unknown")),
    "no data source": (13, missing("source")),
    "stale audit": (12, stale),
    "no bias claimed": (12, claim("no bias")),
    "synthetic data": (12, claim("synthetic")),
    "vendor as auditor": (12, vendor),
    "N/A for all counts": (10, nothing),
    "impossible number": (16, impossible),
    "totals do not add up": (14, totals),
    "swapped headers": (12, swapped),
}
