"""True numbers of an audit, drawn from a seed: people by sex and race, those selected, the facts around them."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field

SEXES = ("M", "F")
RACES = ("H", "W", "B", "P", "A", "N", "T")
FAMILIES = ("sex", "race", "inter")
AS_OF = dt.date(2026, 11, 28)

Key = tuple[str, ...]


def categories(family: str) -> list[Key]:
    if family == "sex":
        return [(s,) for s in SEXES]
    if family == "race":
        return [(r,) for r in RACES]
    return [("H", s) for s in SEXES] + [(r, s) for s in SEXES for r in RACES[1:]]


@dataclass
class Row:
    n: int
    k: int
    excluded: bool = False


@dataclass
class Position:
    name: str
    tables: dict[str, dict[Key, Row]]
    unknown: int
    unknown_sex: int
    unknown_race: int
    median: str = ""

    def total(self, family: str) -> Row:
        rows = self.tables[family].values()
        return Row(sum(r.n for r in rows), sum(r.k for r in rows))


@dataclass
class Audit:
    scoring: bool
    listwise: bool
    exclusion: bool
    positions: list[Position]
    audit_date: dt.date
    window: tuple[dt.date, dt.date]
    distribution: dt.date
    data: str  # own, pooled or test
    employer: str
    vendor: str
    tool: str
    auditor: str
    published: dt.date
    extra: dict = field(default_factory=dict)


EMPLOYERS = (
    "Harborline Health System",
    "Castellan Bank",
    "Northwick Logistics",
    "Pell & Rowe LLP",
    "Greenmarket Foods",
    "Meridian Transit Group",
    "Tollgate Insurance",
    "Bluestem Energy",
    "Fairmount Hotels",
    "Orchard Street Media",
    "Kestrel Aerospace",
    "Lindqvist Home",
    "Summit & Vale Retail",
    "Union Square Staffing",
    "Atlantic Mutual Life",
)
VENDORS = (
    ("Talvanta, Inc.", "Talvanta Match"),
    ("HireSignal Inc.", "SignalScore"),
    ("Interspect Technologies", "Interspect Video Assessment"),
    ("Quorum Talent Systems, Inc.", "Quorum Fit"),
    ("Brightpath Assessments", "Brightpath Games"),
    ("Recrulogic Corp.", "Recrulogic Rank"),
    ("Candela People Science", "Candela Resume Grader"),
    ("Stepwise HR, Inc.", "Stepwise Screener"),
)
AUDITORS = (
    "Hollis Data Ethics LLC",
    "Burrell & Sato Consulting, LLC",
    "Algorithmic Review Partners",
    "Dunmore I/O Group",
    "Cobalt Audit Collective LLC",
    "Whitfield Analytics Consulting",
    "Parallel Assurance, P.C.",
    "Greaves Statistical Consulting",
)
POSITIONS = (
    "Customer Service Representative",
    "Software Engineer",
    "Registered Nurse",
    "Store Associate",
    "Financial Analyst",
    "Warehouse Associate",
    "Paralegal",
    "Marketing Coordinator",
    "Teller",
    "Guest Services Agent",
    "Claims Adjuster",
)
# usual shares of applicants: wide enough that some pages hold categories below 2%
SHARES = {
    "H": (12, 28),
    "W": (25, 48),
    "B": (10, 26),
    "P": (0.4, 4),
    "A": (8, 26),
    "N": (0.4, 4),
    "T": (2.2, 8),
}


def draw_cells(rng: random.Random, total: int, scoring: bool) -> dict[Key, Row]:
    weights = {r: rng.uniform(*SHARES[r]) for r in RACES}
    women = rng.uniform(0.36, 0.62)
    base = rng.uniform(0.12, 0.68)
    effect = {r: rng.uniform(0.72, 1.15) for r in RACES}
    sex_effect = {"M": 1.0, "F": rng.uniform(0.85, 1.15)}
    share = {
        (r, s): weights[r] * (women if s == "F" else 1 - women) * rng.uniform(0.85, 1.15)
        for r in RACES
        for s in SEXES
    }
    whole = sum(share.values())
    counts = {c: max(6, round(total * share[c] / whole)) for c in share}
    rate = {c: base * effect[c[0]] * sex_effect[c[1]] * rng.uniform(0.94, 1.06) for c in share}
    if scoring:  # the share above the sample's median lies just below a half
        mean = sum(rate[c] * counts[c] for c in counts) / sum(counts.values())
        target = rng.uniform(0.455, 0.492)
        rate = {c: rate[c] * target / mean for c in counts}
    return {
        c: Row(counts[c], min(counts[c] - 1, max(1, round(counts[c] * min(rate[c], 0.93))))) for c in counts
    }


def margins(cells: dict[Key, Row]) -> dict[str, dict[Key, Row]]:
    def total(test) -> Row:
        rows = [row for c, row in cells.items() if test(c)]
        return Row(sum(r.n for r in rows), sum(r.k for r in rows))

    return {
        "sex": {(s,): total(lambda c, s=s: c[1] == s) for s in SEXES},
        "race": {(r,): total(lambda c, r=r: c[0] == r) for r in RACES},
        "inter": {c: Row(cells[c].n, cells[c].k) for c in categories("inter")},
    }


def mark_excluded(tables: dict[str, dict[Key, Row]]) -> None:
    for rows in tables.values():
        whole = sum(r.n for r in rows.values())
        for row in rows.values():
            row.excluded = row.n * 50 < whole


def top_is_clear(tables: dict[str, dict[Key, Row]]) -> bool:
    """One row is highest in each table, no excluded row is above it, and no other is within two hundredths of it."""
    for rows in tables.values():
        ordered = sorted(rows.values(), key=lambda r: r.k / max(r.n, 1), reverse=True)
        if (
            ordered[0].excluded
            or ordered[0].n < 40
            or ordered[1].k * ordered[0].n * 100 > 98 * ordered[0].k * ordered[1].n
        ):
            return False
    return True


def draw_position(
    rng: random.Random, name: str, scoring: bool, listwise: bool, exclusion: bool, zero: bool
) -> Position:
    while True:
        total = round(10 ** rng.uniform(2.9, 4.6))
        cells = draw_cells(rng, total, scoring)
        unknown_sex, unknown_race = (
            round(total * rng.uniform(0.01, 0.06)),
            round(total * rng.uniform(0.03, 0.15)),
        )
        tables = margins(cells)
        if not listwise:  # who gave one of the two answers is in that table alone
            for family, unknown in (("sex", unknown_race), ("race", unknown_sex)):
                for row in tables[family].values():
                    more = round(unknown * row.n / total * rng.uniform(0.7, 0.95))
                    row.n, row.k = row.n + more, row.k + round(more * row.k / row.n)
        if zero:
            gone = tables["inter"][("P", "F")]
            for family, key in (("sex", ("F",)), ("race", ("P",))):
                tables[family][key].n -= gone.n
                tables[family][key].k -= gone.k
            gone.n = gone.k = 0
        if exclusion:
            mark_excluded(tables)
            if not any(r.excluded for t in tables.values() for r in t.values()):
                continue
        if top_is_clear(tables):
            median = f"{rng.uniform(38, 82):.{rng.choice((0, 1, 2))}f}" if scoring else ""
            return Position(
                name,
                tables,
                unknown_sex + unknown_race if listwise else round(total * rng.uniform(0.02, 0.1)),
                unknown_sex,
                unknown_race,
                median,
            )


def month_end(day: dt.date) -> dt.date:
    return (day.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)


def draw_audit(
    rng: random.Random, positions: int = 1, scoring: bool | None = None, zero: bool = False
) -> Audit:
    scoring = rng.random() < 0.45 if scoring is None else scoring
    listwise, exclusion = rng.random() < 0.72, rng.random() < 0.4 and not zero
    names = rng.sample(POSITIONS, positions)
    audit_date = AS_OF - dt.timedelta(days=rng.randrange(25, 330))
    end = month_end(audit_date - dt.timedelta(days=rng.randrange(45, 110)))
    start = (end - dt.timedelta(days=rng.choice((180, 270, 355, 355)))).replace(day=1)
    data = "test" if rng.random() < 0.07 else rng.choice(("own", "own", "pooled"))
    if data == "test":
        distribution = audit_date + dt.timedelta(days=rng.randrange(3, 20))
    else:
        distribution = start - dt.timedelta(days=rng.choice((0, 31, 120, 410, 700)))
    vendor, tool = rng.choice(VENDORS)
    return Audit(
        scoring,
        listwise,
        exclusion,
        [draw_position(rng, name, scoring, listwise, exclusion, zero) for name in names],
        audit_date,
        (start, end),
        distribution,
        data,
        rng.choice(EMPLOYERS),
        vendor,
        tool,
        rng.choice(AUDITORS),
        audit_date + dt.timedelta(days=rng.randrange(4, 24)),
    )
