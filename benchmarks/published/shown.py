"""What a page prints of an audit: numbers as texts, facts as words. Faults change them, layouts place them."""

from __future__ import annotations

import copy
import datetime as dt
import random
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import ModuleType

from benchmarks.published.truth import FAMILIES, RACES, Audit, Key, Position, categories


@dataclass(frozen=True)
class Convention:
    """How numbers are written."""

    thousands: str  # separator
    decimal: str
    rate_digits: int
    rate_unit: str  # "%", a space and "%", "header" (percent sign in the header alone) or "" (a fraction)
    ratio_digits: int
    ratio_percent: bool
    na: str
    date: str
    bare: bool = False  # no nought before the point

    def count(self, n: int) -> str:
        return f"{n:,}".replace(",", self.thousands)

    def _fixed(self, value: Fraction, digits: int) -> str:
        scaled = (value * 10**digits * 2 + 1) // 2  # half up
        whole, part = divmod(int(scaled), 10**digits)
        before = "" if self.bare and not whole else str(whole)
        return f"{before}{self.decimal}{part:0{digits}d}" if digits else str(whole)

    def rate(self, value: Fraction) -> str:
        if self.rate_unit:
            return self._fixed(value * 100, self.rate_digits) + self.rate_unit.replace("header", "")
        return self._fixed(value, self.rate_digits + 2)

    def ratio(self, value: Fraction) -> str:
        return (
            self._fixed(value * 100, self.ratio_digits - 2) + "%"
            if self.ratio_percent
            else self._fixed(value, self.ratio_digits)
        )

    def day(self, day: dt.date) -> str:
        return day.strftime(self.date.replace("{d}", str(day.day)))


def draw_convention(rng: random.Random, words: ModuleType, rare: bool) -> Convention:
    if hasattr(words, "CONVENTIONS"):
        return replace(rng.choice(words.CONVENTIONS), na=rng.choice(words.NA), date=rng.choice(words.DATES))
    unit = rng.choice(("%", "%", "%", "header", ""))
    ratio_percent = rng.random() < 0.06
    return Convention(
        "." if rare else rng.choice((",", ",", "")),
        "," if rare else ".",
        rng.choice((0, 1, 1, 2)) if unit else rng.choice((0, 1)),
        unit,
        rng.choice((2, 2, 3, 3)) + (1 if ratio_percent and rng.random() < 0.5 else 0),
        ratio_percent,
        rng.choice(words.NA),
        rng.choice(words.DATES),
    )


@dataclass
class ShownRow:
    key: Key
    label: str
    n: str
    k: str
    rate: str
    ratio: str
    excluded: bool = False
    race: str = ""  # the label of the race alone, where the layout prints it apart

    def get(self, name: str) -> str:
        return getattr(self, name)


@dataclass
class ShownTable:
    family: str
    rows: list[ShownRow]
    total: ShownRow | None = None
    highest: str = ""  # the sentence that names the highest category


@dataclass
class ShownPosition:
    name: str
    tables: dict[str, ShownTable]
    unknown: str = ""


@dataclass
class Wording:
    """One choice of words."""

    module: ModuleType
    sex: dict[str, str]
    race: dict[str, str]
    inter: str
    headers: dict[str, str]
    family: dict[str, str]
    first: dict[str, str]
    total: str
    facts: dict[str, tuple[str, str, str]]
    title: str
    intro: str
    highest: str
    define: str
    caveat: str
    notice: str
    hispanic: tuple[str, str]

    def __deepcopy__(self, memo: dict) -> Wording:
        return copy.copy(self)


@dataclass
class Shown:
    audit: Audit
    convention: Convention
    words: Wording
    positions: list[ShownPosition]
    facts: dict[str, tuple[str, str, str]]  # slot: label, value, sentence
    show_k: bool
    claims: list[str] = field(default_factory=list)
    title: str = ""
    intro: str = ""

    def columns(self) -> list[str]:
        return ["n", "k", "rate", "ratio"] if self.show_k else ["n", "rate", "ratio"]

    def header(self, name: str) -> str:
        text = self.words.headers[name]
        return f"{text} (%)" if name == "rate" and self.convention.rate_unit == "header" else text


def draw_wording(rng: random.Random, words: ModuleType, audit: Audit) -> Wording:
    sex, race = rng.choice(words.SEX), rng.choice(words.RACE)
    applicants, selected, rate, above, scoring, ratio = rng.choice(words.HEADERS)
    at = rng.randrange(4)
    first = rng.randrange(3)
    kinds = (
        "audit_date",
        "distribution",
        audit.data,
        "unknown_one" if audit.listwise else "unknown_two",
        "auditor",
        "tool",
        "median",
        "exclusion",
        "listwise" if audit.listwise else "available",
        "sample",
        "published",
    )
    # tables of several positions never bear a number of their own
    family = {f: words.FAMILY[f][at if len(audit.positions) == 1 else at % 3] for f in FAMILIES}
    return Wording(
        words,
        dict(zip("MF", sex, strict=True)),
        dict(zip(RACES, race, strict=True)),
        rng.choice(words.INTER),
        {
            "n": applicants,
            "k": above if audit.scoring else selected,
            "rate": scoring if audit.scoring else rate,
            "ratio": ratio,
        },
        family,
        {f: words.FIRST[f][first] for f in FAMILIES},
        rng.choice(words.TOTAL),
        {kind: rng.choice(words.FACTS[kind]) for kind in kinds},
        rng.choice(words.TITLES),
        rng.choice(words.INTRO),
        words.HIGHEST_SCORING if audit.scoring else rng.choice(words.HIGHEST),
        rng.choice(words.DEFINE_SCORING if audit.scoring else words.DEFINE),
        rng.choice(words.CAVEATS),
        rng.choice(words.NOTICES),
        (rng.choice(words.HISPANIC), rng.choice(words.NOT_HISPANIC)),
    )


def label(words: Wording, family: str, key: Key) -> str:
    if family == "sex":
        return words.sex[key[0]]
    if family == "race":
        return words.race[key[0]]
    return words.inter.format(race=words.race[key[0]], sex=words.sex[key[1]])


def best(rows: dict[Key, object]) -> Key:
    live = {key: row for key, row in rows.items() if not row.excluded and row.n}
    return max(live, key=lambda key: Fraction(live[key].k, live[key].n))


def show_table(
    position: Position, family: str, conv: Convention, words: Wording, total: bool, highest: bool
) -> ShownTable:
    rows = position.tables[family]
    top = best(rows)
    top_rate = Fraction(rows[top].k, rows[top].n)
    shown = []
    for key in categories(family):
        if key not in rows:
            continue
        row = rows[key]
        value = Fraction(row.k, row.n) if row.n else None
        shown.append(
            ShownRow(
                key,
                label(words, family, key),
                conv.count(row.n),
                conv.count(row.k),
                conv.na if value is None else conv.rate(value),
                conv.na if value is None or row.excluded else conv.ratio(value / top_rate),
                row.excluded,
                words.race[key[0]] if family != "sex" else "",
            )
        )
    table = ShownTable(family, shown)
    if total:
        whole = position.total(family)
        table.total = ShownRow(
            ("total",),
            words.total,
            conv.count(whole.n),
            conv.count(whole.k),
            conv.rate(Fraction(whole.k, whole.n)),
            "",
        )
    if highest:
        table.highest = words.highest.format(
            label=label(words, family, top), value=percent(conv, top_rate), rate=words.headers["rate"].lower()
        )
    return table


def percent(conv: Convention, value: Fraction) -> str:
    return conv.rate(value) + ("%" if conv.rate_unit == "header" else "")


def show(
    audit: Audit, conv: Convention, words: Wording, *, show_k: bool, totals: bool, highest: bool
) -> Shown:
    positions = []
    fields = {
        "audit_date": conv.day(audit.audit_date),
        "start": conv.day(audit.window[0]),
        "end": conv.day(audit.window[1]),
        "distribution": conv.day(audit.distribution),
        "published": conv.day(audit.published),
        "employer": audit.employer,
        "vendor": audit.vendor,
        "tool": audit.tool,
        "auditor": audit.auditor,
        "na": conv.na,
    }
    for position in audit.positions:
        tables = {f: show_table(position, f, conv, words, totals, highest) for f in FAMILIES}
        counts = {
            "unknown": conv.count(position.unknown),
            "unknown_sex": conv.count(position.unknown_sex),
            "unknown_race": conv.count(position.unknown_race),
        }
        slot = "unknown_one" if audit.listwise else "unknown_two"
        positions.append(
            ShownPosition(position.name, tables, words.facts[slot][2].format(**fields, **counts))
        )
    slots = {
        "audit_date": "audit_date",
        "distribution": "distribution",
        "source": audit.data,
        "auditor": "auditor",
        "tool": "tool",
        "published": "published",
    }
    slots["population"] = "listwise" if audit.listwise else "available"
    if len(positions) == 1:
        slots["unknown"] = slot
        if audit.scoring:
            slots["median"] = "median"
        if audit.listwise:
            slots["sample"] = "sample"
    if any(r.excluded for p in audit.positions for t in p.tables.values() for r in t.values()):
        slots["exclusion"] = "exclusion"
    fields |= counts | {
        "median": audit.positions[0].median.replace(".", conv.decimal),
        "total": conv.count(audit.positions[0].total("sex").n),
    }
    facts = {
        slot: tuple(text.format(**fields).replace("..", ".") for text in words.facts[kind])
        for slot, kind in slots.items()
    }
    return Shown(
        audit,
        conv,
        words,
        positions,
        facts,
        show_k,
        title=words.title.format(**fields),
        intro=words.intro.format(**fields),
    )
