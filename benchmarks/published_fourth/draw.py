"""Draw an audit and the way its page is written, from a seed."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass

from benchmarks.published_fourth.audit import Audit, Group
from benchmarks.published_fourth.counts import Wanted, group
from benchmarks.published_fourth.names import (
    AUDITORS,
    EMPLOYERS,
    JOB_FAMILIES,
    POSITIONS,
    RACE_KEYS,
    RACES,
    SEXES,
    VENDORS,
)
from benchmarks.published_fourth.notation import Notation, fraction, percent

AS_OF = dt.date(2026, 11, 20)
RACE_ORDERS = (
    ["white", "black", "hisp", "asian", "nhpi", "aian", "two"],
    ["asian", "black", "hisp", "aian", "nhpi", "two", "white"],
    ["hisp", "white", "black", "asian", "aian", "nhpi", "two"],
)


@dataclass(frozen=True)
class Taste:
    """What a layout chooses from; a number is a probability."""

    kinds: tuple[str, ...] = ("selection", "selection", "scoring")
    rates: tuple[Notation, ...] = (percent(1),)
    ratios: tuple[Notation, ...] = (fraction(2), fraction(3))
    separated: tuple[bool, ...] = (True, False)
    dates: tuple[str, ...] = ("us",)
    races: tuple[str, ...] = ("rule", "slash", "plain", "amp")
    sexes: tuple[str, ...] = ("mf",)
    selected: float = 0.8
    share: float = 0.25
    marks: tuple[str, ...] = ("none",)
    fold: bool = False
    groups: tuple[int, ...] = ()  # how many; one where nothing is said
    exclude: float = 0.4
    people: tuple[int, int] = (1800, 42000)
    dated: bool = False  # always with the page's own date
    years: bool = False
    test_data: float = 0.3


def working_day(rng: random.Random, first: dt.date, last: dt.date) -> dt.date:
    """A day from Monday to Friday whose number can't be taken for a month."""
    day = first + dt.timedelta(days=rng.randint(0, (last - first).days))
    while day.day < 13:
        day += dt.timedelta(days=1)
    while day.weekday() > 4:
        day += dt.timedelta(days=1)
    return day if day.day >= 13 else day - dt.timedelta(days=4)


def audit_and_page(rng: random.Random, *, dated: bool) -> tuple[dt.date, dt.date]:
    """Days of the audit and of the page."""
    if not dated:
        audited = working_day(rng, dt.date(2026, 1, 10), dt.date(2026, 10, 20))
        return audited, min(AS_OF, audited + dt.timedelta(days=30))
    audited = working_day(rng, dt.date(2024, 4, 1), dt.date(2026, 8, 1))
    first = audited + dt.timedelta(days=10)
    page = working_day(rng, first, min(audited + dt.timedelta(days=rng.choice([40, 120, 300])), AS_OF))
    if rng.random() < 0.6:
        page = working_day(rng, first, audited + dt.timedelta(days=80))
    return audited, page


def distribution(rng: random.Random, audited: dt.date, page: dt.date, *, dated: bool) -> tuple[dt.date, bool]:
    """Day from which the tool is used, and whether that is after the audit."""
    first_use = rng.random() < 0.45 and (page - audited).days > 14
    if first_use:
        day = working_day(rng, audited + dt.timedelta(days=5), page)
    else:
        day = working_day(rng, audited - dt.timedelta(days=900), audited - dt.timedelta(days=420))
    if day < dt.date(2022, 1, 3):
        day = dt.date(2022, 3, 14)
    if first_use and day >= page:
        day = page - dt.timedelta(days=7)
    elif dated and page == day:
        day -= dt.timedelta(days=7)
    return day, first_use


def month_end(day: dt.date) -> dt.date:
    return (day.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)


def period(rng: random.Random, audited: dt.date) -> tuple[dt.date, dt.date]:
    """Whole months before the audit, from which the data are."""
    last = audited.replace(day=1) - dt.timedelta(days=1)
    last = month_end(last.replace(day=1) - dt.timedelta(days=rng.choice([1, 32])))
    first = last.replace(day=1) - dt.timedelta(days=rng.choice([170, 350]))
    return first.replace(day=1), last


def source(rng: random.Random, taste: Taste, *, first_use: bool, groups: int) -> str:
    """Whose data were used; test data only where the tool was new, and in an audit of one group."""
    if rng.random() < taste.test_data and first_use and groups == 1:
        return "test"
    return "pooled" if first_use or rng.random() < 0.3 else "own"


def audit(rng: random.Random, taste: Taste) -> Audit:
    employer, (vendor, tool) = rng.choice(EMPLOYERS), rng.choice(VENDORS)
    auditor, positions = rng.choice(AUDITORS), rng.choice(POSITIONS)
    scoring = rng.choice(taste.kinds) == "scoring"
    rates, ratios, separated = rng.choice(taste.rates), rng.choice(taste.ratios), rng.choice(taste.separated)
    dates, races, sexes = rng.choice(taste.dates), rng.choice(taste.races), rng.choice(taste.sexes)
    show_selected, show_share = rng.random() < taste.selected, rng.random() < taste.share
    mark, none_word = rng.choice(taste.marks), rng.choice(["N/A", "n/a", "—"])
    rate = rng.choice([rng.uniform(0.18, 0.35), rng.uniform(0.35, 0.65)])
    number = rng.choice(taste.groups) if taste.groups else 1
    sex_order = rng.choice(["mf", "fm"])
    race_order = rng.choice(RACE_ORDERS) if rng.random() < 0.5 else list(RACE_KEYS)
    by_axis, exclude = rng.random() < 0.35, rng.random() < taste.exclude
    dated = rng.random() < 0.75 or taste.dated
    audited, page = audit_and_page(rng, dated=dated)
    distributed, first_use = distribution(rng, audited, page, dated=dated)
    found = Audit(
        employer, vendor, tool, auditor, positions, scoring, rates, ratios, separated, dates,
        RACES[races], SEXES[sexes], races != "rule", show_selected, show_share, mark, taste.fold, none_word,
        by_axis, page if dated else None, audited, distributed, first_use,
        groups=[], source="", years=taste.years, rng=rng,
    )  # fmt: skip
    names = rng.sample(JOB_FAMILIES, number)
    rng.random()  # the author drew a number here that nothing uses; the draws after it depend on it
    for at, name in enumerate(names):
        low, high = taste.people
        people = int(low * (high / low) ** rng.random())
        wanted = Wanted(people, scoring, rate, by_axis, exclude, sex_order, race_order)
        found.groups.append(drawn_group(rng, found, wanted, name, at))
    settle_periods(rng, found)
    found.source = source(rng, taste, first_use=first_use, groups=number)
    found.rng = random.Random(rng.random())
    return found


def drawn_group(rng: random.Random, found: Audit, wanted: Wanted, name: str, at: int) -> Group:
    made = group(rng, wanted)
    made.name = name
    made.median = rng.choice([rng.randint(52, 78), rng.randint(520, 780) / 10, rng.randint(105, 188) / 2])
    made.audited = found.audited
    if found.years:
        made.audited -= dt.timedelta(days=int(at * rng.randint(352, 362)))
    made.start, made.end = period(rng, made.audited)
    for row in made.rows():
        found.write(row)
    return made


def settle_periods(rng: random.Random, found: Audit) -> None:
    """No data from before the tool was used, unless others used it."""
    if found.years:
        found.distributed = found.groups[-1].start - dt.timedelta(days=rng.randint(3, 60))
        found.first_use = False
    if not found.first_use:
        for made in found.groups:
            if made.start < found.distributed:
                made.start = (found.distributed.replace(day=28) + dt.timedelta(days=5)).replace(day=1)
