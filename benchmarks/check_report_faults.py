"""Single faults of published summaries for `check_report`: each changes a clean one, and names what must be found."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_DOWN
from fractions import Fraction
from typing import Final

from benchmarks import check_report_wordings as wordings
from benchmarks.check_report_summaries import (
    APPLICANTS,
    FAMILIES,
    RATE,
    RATIO,
    SELECTED,
    Cell,
    Line,
    Printed,
    Summary,
    compared,
    counted,
    number,
    printed,
    rate,
    ratio,
)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must be found: one of the kinds, at the row or with the printed text where there is one."""

    kinds: tuple[str, ...]
    row: str = ""
    printed: str = ""
    as_of: date | None = None


Fault = Callable[[Summary, random.Random], Expected]
_TABLES: Final = ("race", "both")


def _pick(made: Summary, rng: random.Random) -> tuple[Printed, Line]:
    table = made.table(rng.choice(FAMILIES))
    return table, rng.choice([line for line in table.lines if line.key and line.cells[-1][:1].isdigit()])


def _at(made: Summary, column: int) -> int:
    """Index of a column in a row's cells; scores have no number of selected people."""
    return column - 1 if made.is_scoring and column > SELECTED else column


def _other_digit(text: str, rng: random.Random, last: bool = False) -> str:
    """Change one digit, not the first of a number: by more than rounding, and never beyond the number's size."""
    places = [i for i, char in enumerate(text) if char.isdigit()][1:]
    place = places[-1] if last else places[min(1, len(places) - 1)]
    digit = (int(text[place]) + rng.choice((3, 4, 5, 6, 7))) % 10
    return f"{text[:place]}{digit}{text[place + 1 :]}"


def wrong_ratio(made: Summary, rng: random.Random) -> Expected:
    """One digit of a ratio is another."""
    _, line = _pick(made, rng)
    at = _at(made, RATIO)
    line.cells[at] = _other_digit(line.cells[at], rng)
    return Expected(kinds=("ratio_not_rebuilt",), row=line.label[-1], printed=line.cells[at])


def wrong_rate(made: Summary, rng: random.Random) -> Expected:
    """One digit of a rate is another."""
    _, line = _pick(made, rng)
    at = _at(made, RATE)
    line.cells[at] = _other_digit(line.cells[at], rng)
    kinds = ("rate_not_rebuilt", "rate_impossible", *(("ratio_not_rebuilt",) if made.is_scoring else ()))
    return Expected(kinds=kinds, row=line.label[-1])


def wrong_count(made: Summary, rng: random.Random) -> Expected:
    """A number of people is another."""
    _, line = _pick(made, rng)
    n = int(line.cells[APPLICANTS].replace(",", ""))
    line.cells[APPLICANTS] = number(made, n + n // 3 + 7)
    kinds = ("rate_not_rebuilt", "rate_impossible", "tables_do_not_add_up", "total_mismatch")
    return Expected(kinds=kinds)


def more_selected(made: Summary, rng: random.Random) -> Expected:
    """More people are selected than applied."""
    if made.is_scoring:
        return wrong_ratio(made, rng)
    _, line = _pick(made, rng)
    n = int(line.cells[APPLICANTS].replace(",", ""))
    line.cells[SELECTED] = number(made, n + 12)
    return Expected(kinds=("more_selected_than_applied",), row=line.label[-1])


def cut_off(made: Summary, rng: random.Random) -> Expected:
    """Ratios are cut off."""
    for family in FAMILIES:
        groups = compared(made, family)
        best = max(Fraction(k, n) for n, k in groups.values())
        for key, (n, k) in groups.items():
            made.table(family).line(key).cells[_at(made, RATIO)] = ratio(
                made, Fraction(k, n) / best, ROUND_DOWN
            )
    return Expected(kinds=("truncated",))


def second_highest(made: Summary, rng: random.Random) -> Expected:
    """Ratios are over the second highest rate."""
    family = rng.choice(_TABLES)
    groups = compared(made, family)
    base = sorted(Fraction(k, n) for n, k in groups.values())[-2]
    for key, (n, k) in groups.items():
        made.table(family).line(key).cells[_at(made, RATIO)] = ratio(made, Fraction(k, n) / base)
    return Expected(kinds=("comparator_not_highest",))


def dropped_from_one_table(made: Summary, rng: random.Random) -> Expected:
    """The race table lacks a category that the intersectional table holds."""
    table = made.table("race")
    line = rng.choice([line for line in table.lines if line.key and line.cells[-1][:1].isdigit()])
    table.lines.remove(line)
    return Expected(kinds=("category_left_out",), row=_of_the_law(line.key))


def _of_the_law(key: Cell | None) -> str:
    """The race as the rule has it: a finding about a row that is not there has no other name for it."""
    return wordings.RACES[0][key[1]] if key else ""


def _drop_everywhere(made: Summary, rng: random.Random) -> tuple[str, int]:
    races = wordings.RACES[made.part]
    race = rng.choice([race for _, race in compared(made, "race") if race in races])
    gone = sum(n for (_, of), (n, _) in made.cells.items() if of == race)
    made.cells = {key: pair for key, pair in made.cells.items() if key[1] != race}
    return wordings.RACES[0][race], gone


def dropped_to_unknown(made: Summary, rng: random.Random) -> Expected:
    """A race has no row anywhere and its people are among the unknown."""
    name, gone = _drop_everywhere(made, rng)
    before, after = made.facts["unknown"], f"{made.unknown + gone:,}"
    made.unknown += gone
    made.words = [
        text.replace(f"{before} ", f"{after} ").replace(f" {before}.", f" {after}.") if "unknown" in text
        or "report" in text or "declined" in text else text
        for text in made.words
    ]  # fmt: skip
    made.tables = [printed(made, family) for family in FAMILIES]
    return Expected(kinds=("category_dropped",), row=name)


def dropped_from_rows(made: Summary, rng: random.Random) -> Expected:
    """A race has no row anywhere, and the total row still has its people."""
    totals = counted(made, "sex")
    people, selected = (sum(pair[i] for pair in totals.values()) for i in (0, 1))
    name, _ = _drop_everywhere(made, rng)
    made.choices = dict(made.choices) | {"total": made.choices["total"] or wordings.TOTALS[made.part][0]}
    made.tables = [printed(made, family) for family in FAMILIES]
    for table in made.tables:
        last = table.lines[-1]
        last.cells[APPLICANTS] = number(made, people)
        if not made.is_scoring:
            last.cells[SELECTED] = number(made, selected)
        last.cells[_at(made, RATE)] = rate(made, Fraction(selected, people))
    return Expected(kinds=("category_dropped",), row=name)


def no_family(made: Summary, rng: random.Random) -> Expected:
    """A family of tables is missing."""
    made.tables.remove(made.table(rng.choice(FAMILIES)))
    return Expected(kinds=("table_missing",))


def no_ratio(made: Summary, rng: random.Random) -> Expected:
    """A category of 2% of the people or more has no ratio."""
    table = made.table("race")
    people = sum(n for n, _ in made.cells.values())
    large = [key for key, (n, _) in counted(made, "race").items() if n * 50 >= people]
    line = table.line(rng.choice(large))
    line.cells[_at(made, RATIO)] = "N/A"
    return Expected(kinds=("category_without_ratio",), row=line.label[-1])


def no_people(made: Summary, rng: random.Random) -> Expected:
    """A table says of nobody how many there are."""
    for line in made.table(rng.choice(FAMILIES)).lines:
        line.cells[APPLICANTS] = "N/A"
    return Expected(kinds=("numbers_not_given",))


def no_ratios(made: Summary, rng: random.Random) -> Expected:
    """No table has a column of ratios."""
    for table in made.tables:
        del table.header[-1]
        for line in table.lines:
            del line.cells[-1]
    return Expected(kinds=("column_missing",))


def unknown_with_ratio(made: Summary, rng: random.Random) -> Expected:
    """People of unknown category have a ratio."""
    table = made.table(rng.choice(_TABLES))
    blank = [""] * (len(table.lines[0].label) - 1)
    table.lines = [
        line for line in table.lines if line.key or line.label[0] not in wordings.UNKNOWNS[made.part]
    ]
    n, k = 60, 31
    cells = [number(made, n), number(made, k), rate(made, Fraction(k, n)), ratio(made, Fraction(7, 10))]
    if made.is_scoring:
        del cells[SELECTED]
    table.lines.append(Line(label=[wordings.UNKNOWNS[made.part][0], *blank], cells=cells))
    return Expected(kinds=("unknown_in_calculation",))


def twice(made: Summary, rng: random.Random) -> Expected:
    """A row has the label of another."""
    lines = [line for line in made.table("race").lines if line.key]
    one, other = rng.sample(lines, 2)
    other.label = list(one.label)
    return Expected(kinds=("duplicate_category",), row=one.label[-1])


def outsider(made: Summary, rng: random.Random) -> Expected:
    """A row is of no category of the rule."""
    line = rng.choice([line for line in made.table("race").lines if line.key])
    line.label = [rng.choice(wordings.OUTSIDERS[made.part])]
    return Expected(kinds=("category_outside_taxonomy",), row=line.label[-1])


def other_people(made: Summary, rng: random.Random) -> Expected:
    """The sex table is of other people."""
    others = Summary(**{name: getattr(made, name) for name in Summary.__dataclass_fields__})
    others.cells = {key: (n * 2 + 11, k * 2 + 5) for key, (n, k) in made.cells.items()}
    made.tables[0] = printed(others, "sex")
    return Expected(kinds=("tables_do_not_add_up",))


def wrong_total(made: Summary, rng: random.Random) -> Expected:
    """A total is not the sum of its rows."""
    made.choices = dict(made.choices) | {"total": made.choices["total"] or wordings.TOTALS[made.part][0]}
    made.tables = [printed(made, family) for family in FAMILIES]
    last = made.table(rng.choice(FAMILIES)).lines[-1]
    n = int(last.cells[APPLICANTS].replace(",", ""))
    last.cells[APPLICANTS] = number(made, n + max(2, n // 100))
    return Expected(kinds=("total_mismatch",))


def impossible_people(made: Summary, rng: random.Random) -> Expected:
    """A number of people is no whole number, or negative."""
    _, line = _pick(made, rng)
    line.cells[APPLICANTS] = rng.choice([f"-{line.cells[APPLICANTS]}", f"{line.cells[APPLICANTS]}.5"])
    return Expected(kinds=("negative_count", "fractional_count"), row=line.label[-1])


def _sentence(choices: tuple[tuple[str, ...], ...], *kinds: str) -> Fault:
    def add(made: Summary, rng: random.Random) -> Expected:
        made.words.insert(
            rng.randrange(1, len(made.words)), rng.choice(choices[made.part]).format(**made.facts)
        )
        return Expected(kinds=kinds)

    return add


def vendor_is_auditor(made: Summary, rng: random.Random) -> Expected:
    """The auditor has the vendor's name."""
    made.words = [text.replace(made.facts["auditor"], made.facts["vendor"]) for text in made.words]
    made.words.append(f"Vendor: {made.facts['vendor']}")
    return Expected(kinds=("auditor_not_independent",))


def _without(field: str, fact: str) -> Fault:
    def drop(made: Summary, rng: random.Random) -> Expected:
        if fact == "unknown":
            for table in made.tables:
                unknown = wordings.UNKNOWNS[made.part]
                table.lines = [line for line in table.lines if line.key or line.label[0] not in unknown]
        made.words = [text.replace(made.facts[fact], "").replace("  ", " ") for text in made.words]
        return Expected(kinds=(f"field_not_found {field}",))

    return drop


def old(made: Summary, rng: random.Random) -> Expected:
    """The audit is more than a year old."""
    return Expected(kinds=("audit_too_old",), as_of=made.audited + timedelta(days=367 + rng.randrange(300)))


def used_before(made: Summary, rng: random.Random) -> Expected:
    """The tool was used long before its audit."""
    early = made.audited - timedelta(days=500)
    made.words = [text.replace(made.facts["used"], early.isoformat()) for text in made.words]
    return Expected(kinds=("use_before_audit", "use_before_first_audit", "audit_too_old_at_use"))


FAULTS: Final[Mapping[str, Fault]] = {
    "a digit of a ratio": wrong_ratio,
    "a digit of a rate": wrong_rate,
    "a number of people": wrong_count,
    "more selected than applied": more_selected,
    "ratios cut off": cut_off,
    "over the second highest rate": second_highest,
    "a category dropped from one table": dropped_from_one_table,
    "a category dropped, counted as unknown": dropped_to_unknown,
    "a category dropped, left in the total": dropped_from_rows,
    "a family of tables missing": no_family,
    "a large category without a ratio": no_ratio,
    "numbers of people N/A everywhere": no_people,
    "no column of ratios": no_ratios,
    "unknown people with a ratio": unknown_with_ratio,
    "a category twice": twice,
    "a category of another taxonomy": outsider,
    "a table of other people": other_people,
    "a wrong total": wrong_total,
    "negative or half people": impossible_people,
    "a verdict": _sentence(wordings.VERDICTS, "verdict_given"),
    "made-up scores": _sentence(wordings.MADE_UP, "scores_not_from_tool"),
    "an insider audited": _sentence(wordings.INSIDERS, "auditor_not_independent"),
    "the vendor is the auditor": vendor_is_auditor,
    "four fifths as law": _sentence(wordings.AS_LAW, "four_fifths_as_law"),
    "imputed demographics": _sentence(wordings.IMPUTED, "imputed_demographics"),
    "no audit date": _without("F01", "audited"),
    "no distribution date": _without("F08", "used"),
    "no number of unknown people": _without("F04", "unknown"),
    "a stale audit": old,
    "used before the audit": used_before,
}
DROPPED: Final = tuple(name for name in FAULTS if name.startswith("a category dropped"))
