"""All kinds of faults, those in facts and sentences among them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import date, timedelta
from fractions import Fraction
from random import Random

from benchmarks.published_fifth import faults_numbers as numbers
from benchmarks.published_fifth.draw import say_highest
from benchmarks.published_fifth.facts import shift
from benchmarks.published_fifth.model import Draw
from benchmarks.published_fifth.numbers import date_text, rate_text
from benchmarks.published_fifth.sentences import label, top_row

TODAY = date(2026, 11, 20)


def missing_table(draw: Draw, rng: Random) -> str | None:
    """The sex or the intersectional table is left out."""
    kind = rng.choice(["sex", "inter", "inter"])
    for table in draw.tables:
        if table.kind == kind:
            table.shown = False
    draw.highest = {key: text for key, text in draw.highest.items() if key[1] != kind}
    return f"there is no {'sex' if kind == 'sex' else 'intersectional'} table"


FACTS = {
    "use": "distribution date",
    "data": "source and explanation of the data",
    "audit": "date of the audit",
    "unknown": "number of people in an unknown category",
}


def missing_fact(fact: str) -> Callable[[Draw, Random], str | None]:
    """One fact that the rule asks for is nowhere on the page."""

    def leave_out(draw: Draw, rng: Random) -> str | None:
        if (fact == "audit" and draw.facts.earlier) or (fact == "unknown" and draw.style.by_axis):
            return None  # an earlier date or the totals would give it away
        draw.facts.missing.add(fact)
        return f"the {FACTS[fact]} is nowhere on the page"

    return leave_out


def contradictory_dates(draw: Draw, rng: Random) -> str | None:
    """Two dates that cannot both hold."""
    facts = draw.facts
    form = draw.style.dates
    first = date_text(facts.audit, form)
    ways = ["audit", "window", "use"]
    if facts.earlier and not draw.old:
        ways += ["unaudited", "unaudited"]
    if facts.data == "own":
        ways.append("own")
    way = rng.choice(ways)
    if way == "audit":
        facts.audit_again = facts.audit + timedelta(days=rng.randint(9, 40))
        return f"the audit is dated {first} in one place and {date_text(facts.audit_again, form)} in another"
    if way == "window":
        facts.end = facts.audit + timedelta(days=rng.randint(45, 100))
        return f"the data runs to {date_text(facts.end, form)}, after the audit of {first}"
    if way == "use":
        facts.use_again = (
            facts.use - timedelta(days=rng.randint(20, 45))
            if facts.earlier
            else facts.use + timedelta(days=rng.randint(20, 45))
        )
        return (
            f"the distribution date is {date_text(facts.use, form)} in one place and "
            f"{date_text(facts.use_again, form)} in another"
        )
    if way == "unaudited":
        facts.earlier = []
        return (
            f"the tool has been in use since {date_text(facts.use, form)}, the audit is of {first}, and "
            "no earlier one is told of"
        )
    facts.use = facts.use_again = facts.audit + timedelta(days=rng.randint(15, 60))
    return (
        f"the data is of the employer's own use up to {date_text(facts.end, form)}, but its use began on "
        f"{date_text(facts.use, form)}"
    )


def stale_audit(draw: Draw, rng: Random) -> str | None:
    """The newest audit is 14 to 40 months old."""
    goal = TODAY - timedelta(days=round(rng.uniform(14.2, 39.8) * 30.4))
    shift(draw.facts, (draw.facts.audit - goal).days)
    return (
        f"the newest audit is of {date_text(draw.facts.audit, draw.style.dates)}, more than a year "
        f"before {TODAY.isoformat()}"
    )


def vendor_as_auditor(draw: Draw, rng: Random) -> str | None:
    """The vendor or the employer audited itself."""
    f = draw.facts
    f.own_auditor = rng.choice(
        [
            f.vendor,
            f"{f.vendor}'s own data science team",
            f"the Internal Audit department of {f.employer}",
            f"the People Analytics group of {f.employer}",
            f"{f.vendor} Research, a division of {f.vendor}",
        ]
    )
    return f"the auditor is {f.own_auditor}"


CLAIMS = [
    "The audit found no bias in {tool}.",
    "{tool} passed the bias audit and is certified as free of bias.",
    "The results confirm that {tool} is bias-free and treats every group fairly.",
    "No bias was found, and the tool has been certified compliant with Local Law 144.",
    "We are proud that {tool} passed its bias audit with no evidence of discrimination.",
    "As the tables show, {tool} does not discriminate against any group.",
    "{vendor} holds a Bias-Free AI certificate on the basis of this audit.",
]


def bias_free_claim(draw: Draw, rng: Random) -> str | None:
    """A claim that the audit does not bear out."""
    draw.facts.claim = rng.choice(CLAIMS).format(tool=draw.facts.tool, vendor=draw.facts.vendor)
    return f"the page says: {draw.facts.claim}"


MADE_UP = [
    "The {people} profiles used for the audit were made up, and their scores were drawn at random "
    "from a normal distribution.",
    "The figures are based on a synthetic population of fictitious {people}; scores were produced "
    "by a random number generator.",
    "For this audit, sample records of invented {people} were created and each was given a randomly generated result.",
]


def synthetic_unexplained(draw: Draw, rng: Random) -> str | None:
    """The people are made up and the scores random, with no reason given."""
    draw.facts.made_up = rng.choice(MADE_UP).format(
        people=draw.pick("people", ["applicants", "candidates", "applicants"]).rstrip("s") + "s"
    )
    return f"the page says: {draw.facts.made_up}"


def wrong_highest_sentence(draw: Draw, rng: Random) -> str | None:
    """A sentence that the table contradicts."""
    keys = [key for key in draw.highest if key[1] != "low"]
    if not keys:
        return None
    unit, kind = rng.choice(keys)
    table = next(one for one in draw.tables if one.unit == unit and one.kind == kind)
    top = top_row(table)
    rows = [row for row in numbers.lower_rows(table) if row.value < top.value * Fraction(96, 100)]
    if not rows:
        return None
    other = rng.choice(rows)
    way = rng.choice(["name", "both", "number"])
    wrong = rate_text(top.value + Fraction(rng.choice([-9, -7, -5, 4, 6]), 100), draw.style.rate)
    name = label(draw.style, top if way == "number" else other)
    rate = {"name": top.rate, "both": other.rate, "number": wrong}[way]
    draw.highest[(unit, kind)] = say_highest(draw, kind, name, rate)
    return (
        f"{numbers.place(draw, table)} has {label(draw.style, top)} highest with {top.rate}; the page "
        f"says: {draw.highest[(unit, kind)]}"
    )


KINDS: dict[str, tuple[int, Callable[[Draw, Random], str | None]]] = {
    "wrong_rate": (14, numbers.wrong_rate),
    "wrong_impact_ratio": (14, numbers.wrong_impact_ratio),
    "wrong_count": (14, numbers.wrong_count),
    "rate_above_100": (14, numbers.rate_above_100),
    "ratio_above_1": (14, numbers.ratio_above_1),
    "wrong_reference": (14, numbers.wrong_reference),
    "dropped_category": (30, numbers.dropped_category),
    "duplicate_category": (14, numbers.duplicate_category),
    "missing_table": (14, missing_table),
    "totals_do_not_add": (14, numbers.totals_do_not_add),
    "missing_fact:use": (5, missing_fact("use")),
    "missing_fact:data": (4, missing_fact("data")),
    "missing_fact:audit": (4, missing_fact("audit")),
    "missing_fact:unknown": (5, missing_fact("unknown")),
    "contradictory_dates": (14, contradictory_dates),
    "stale_audit": (14, stale_audit),
    "vendor_as_auditor": (14, vendor_as_auditor),
    "bias_free_claim": (14, bias_free_claim),
    "synthetic_unexplained": (14, synthetic_unexplained),
    "wrong_highest_sentence": (14, wrong_highest_sentence),
    "percent_fraction": (14, numbers.percent_fraction),
    "transposed_digits": (14, numbers.transposed_digits),
    "shifted_row": (14, numbers.shifted_row),
}


def with_fault(draw: Draw, kind: str, seed: str) -> tuple[Draw, str] | None:
    """A copy of the draw with the fault, and what was done; nothing where it does not fit."""
    rng = Random(f"{seed}|{kind}")
    for _ in range(8):
        changed = deepcopy(draw)
        told = KINDS[kind][1](changed, rng)
        if told:
            return changed, told
    return None
