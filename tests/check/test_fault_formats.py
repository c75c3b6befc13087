"""Each fault that published audits are known for, as a page, as tables and as a PDF: found by its own name."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from audit_lib.check import KINDS, CheckResult, check_report
from audit_lib.metrics.rounding import round_half_up
from tests.check.cases import HEADER, RACES, WORDS, Table, html, kinds, rated, save, summary
from tests.check.test_pdf import RULED, pdf

SEX, RACE, BOTH = summary()
Tables = dict[str, Table]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A summary with one fault: what differs from the clean one, and what must be found."""

    found: set[str]
    tables: Callable[[Tables], Tables] = dict
    words: Callable[[str], str] = str
    header: tuple[str, ...] = HEADER
    as_of: date | None = None
    in_csv: set[str] | None = None
    """What must be found in the tables alone, where that is something else; empty: the tables are clean."""


def cell(caption: str, row: int, column: int, text: str) -> Callable[[Tables], Tables]:
    def change(tables: Tables) -> Tables:
        tables[caption][row][column] = text
        return tables

    return change


def numbers(table: Table) -> dict[str, tuple[int, int]]:
    return {row[0]: (int(row[1].replace(",", "")), int(row[2].replace(",", ""))) for row in table}


def over(tables: Tables, caption: str, base: Fraction, digits: int = 3) -> Tables:
    for row, (n, k) in zip(tables[caption], numbers(tables[caption]).values(), strict=True):
        row[4] = round_half_up(Fraction(k, n) / base, digits)
    return tables


def from_rounded_rates(tables: Tables) -> Tables:
    """Rates to a whole percent, and ratios to four digits of these."""
    table = tables[RACE]
    for row, (n, k) in zip(table, numbers(table).values(), strict=True):
        row[3] = round_half_up(100 * Fraction(k, n), 0) + "%"
    top = max(Fraction(row[3].rstrip("%")) for row in table)
    for row in table:
        row[4] = round_half_up(Fraction(row[3].rstrip("%")) / top, 4)
    return tables


def second_highest(tables: Tables) -> Tables:
    rates = sorted(Fraction(k, n) for n, k in numbers(tables[RACE]).values())
    return over(tables, RACE, rates[-2])


def cut_off(tables: Tables) -> Tables:
    """Ratios with three digits, the rest cut away."""
    table = tables[BOTH]
    rates = [Fraction(k, n) for n, k in numbers(table).values()]
    for row, rate in zip(table, rates, strict=True):
        row[4] = f"{int(1000 * rate / max(rates)) / 1000:.3f}"
    return tables


def few(tables: Tables) -> Tables:
    return summary_of({(sex, race): ((3, 1) if race == RACES[-1] else (200, 90)) for sex, race in cells()})


def cells() -> list[tuple[str, str]]:
    return [(sex, race) for sex in ("Male", "Female") for race in RACES]


def summary_of(counts: Mapping[tuple[str, str], tuple[int, int]]) -> Tables:
    return summary(counts)


def excluded_top(tables: Tables) -> Tables:
    """A race of 1% with the highest rate has no ratio; the others are compared among themselves."""
    counts = {
        (sex, race): ((6, 5) if race == RACES[-1] else (200, 60 + 9 * i))
        for i, (sex, race) in enumerate(cells())
    }
    made = summary_of(counts)
    for caption in (RACE, BOTH):
        kept = {label: pair for label, pair in numbers(made[caption]).items() if RACES[-1] not in label}
        ratios = {row[0]: row[4] for row in rated(kept)}
        for row in made[caption]:
            row[4] = ratios.get(row[0], "N/A")
    return made


def nobody_selected(tables: Tables) -> Tables:
    made = summary_of(dict.fromkeys(cells(), (200, 0)) | {("Male", RACES[0]): (200, 1)})
    for row in made[SEX]:
        row[2:] = ["0", "0.0%", "1.000"]
    return {SEX: made[SEX]}


def without_counts(tables: Tables) -> Tables:
    return {caption: [[row[0], row[3], row[4]] for row in rows] for caption, rows in tables.items()}


def another_sex_table(tables: Tables) -> Tables:
    tables[SEX] = rated({"Male": (2100, 800), "Female": (1500, 500)})
    return tables


def same_name(tables: Tables) -> Tables:
    return {f"{caption}, cook": rows for caption, rows in tables.items()}


def add(words: str) -> Callable[[str], str]:
    return lambda before: f"{before}<p>{words}</p>"


def drop(words: str, instead: str = "") -> Callable[[str], str]:
    assert words in WORDS
    return lambda before: before.replace(words, instead)


EXCLUDED = f"{RACES[-1]} was excluded from the ratios because it has less than 2% of the data."
FAULTS: dict[str, Fault] = {
    "no distribution date": Fault(
        found={"field_not_found F08"}, words=drop("Distribution date: January 5, 2023."), in_csv=set()
    ),
    "no audit date": Fault(found={"field_not_found F01"}, words=drop("June 29, 2023"), in_csv=set()),
    "no source": Fault(found={"field_not_found F02"}, words=drop("Source of the data"), in_csv=set()),
    "no unknown count": Fault(
        found={"field_not_found F04"}, words=drop("0 individuals were of an unknown category."), in_csv=set()
    ),
    "no position": Fault(found={"position_not_found"}, words=drop("for this position "), in_csv=set()),
    "fewer than five": Fault(found={"small_cell"}, tables=few),
    "ratios from rounded rates": Fault(found={"ratio_from_printed_rates"}, tables=from_rounded_rates),
    "comparator not the highest": Fault(found={"comparator_not_highest"}, tables=second_highest),
    "excluded and highest": Fault(
        found={"excluded_highest"}, tables=excluded_top, words=add(EXCLUDED), in_csv=set()
    ),
    "excluded without a reason": Fault(
        found={"excluded_highest", "field_not_found F09"}, tables=excluded_top, in_csv=set()
    ),
    "median of known people": Fault(
        found={"median_of_known"},
        words=add("The median was taken only over applicants of known race."),
        in_csv=set(),
    ),
    "tables that do not add up": Fault(found={"tables_do_not_add_up"}, tables=another_sex_table),
    "cut off": Fault(found={"truncated"}, tables=cut_off),
    "imputed demographics": Fault(
        found={"imputed_demographics"},
        words=add("Race was imputed with BISG where it was missing."),
        in_csv=set(),
    ),
    "inferred from names": Fault(
        found={"imputed_demographics"},
        words=add("We inferred the gender of applicants from first names."),
        in_csv=set(),
    ),
    "test data": Fault(
        found={"field_not_found F10"}, words=add("The audit was carried out on test data."), in_csv=set()
    ),
    "too old": Fault(found={"audit_too_old"}, as_of=date(2024, 9, 1), in_csv=set()),
    "ratios without counts": Fault(
        found={"column_missing"}, tables=without_counts, header=("Category", "Selection rate", "Impact ratio")
    ),
    "largest rate of zero": Fault(
        found={"ratio_of_zero_rates", "table_missing"}, tables=nobody_selected, in_csv={"ratio_of_zero_rates"}
    ),
    "random scores": Fault(
        found={"scores_not_from_tool"}, words=add("The scores were randomly generated numbers."), in_csv=set()
    ),
    "tool never called": Fault(
        found={"scores_not_from_tool"},
        words=add("The tool was never run on these applications."),
        in_csv=set(),
    ),
    "other taxonomy": Fault(
        found={"category_outside_taxonomy", "category_missing"}, tables=cell(RACE, 4, 0, "Martian")
    ),
    "one category twice": Fault(
        found={"duplicate_category", "category_left_out", "tables_do_not_add_up"},
        tables=cell(RACE, 4, 0, RACES[0]),
    ),
    "more selected than applied": Fault(
        found={"more_selected_than_applied", "ratio_not_rebuilt", "tables_do_not_add_up"},
        tables=cell(SEX, 1, 2, "9,999"),
    ),
    "negative": Fault(found={"negative_count"}, tables=cell(RACE, 2, 2, "-12")),
    "fractional": Fault(found={"fractional_count"}, tables=cell(RACE, 2, 2, "12.5")),
    "four fifths": Fault(
        found={"four_fifths_as_law"},
        words=add("Local Law 144 requires impact ratios of at least 0.80."),
        in_csv=set(),
    ),
}


def names(report: CheckResult) -> set[str]:
    return {f.id if f.id != "field_not_found" else f"{f.id} {f.column}" for f in report.findings}


def as_csv(tables: Tables, header: tuple[str, ...]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for caption, rows in tables.items():
        writer.writerows([[caption], header, *rows, []])
    return out.getvalue()


@pytest.mark.parametrize("name", FAULTS)
def test_in_a_page(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    page = html(fault.tables(summary()), fault.words(WORDS), fault.header)
    assert names(check_report(save(tmp_path, page), as_of=fault.as_of)) == fault.found


@pytest.mark.parametrize("name", FAULTS)
def test_in_tables_alone(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    path = save(tmp_path, as_csv(fault.tables(summary()), fault.header), "tables.csv")
    expected = fault.found if fault.in_csv is None else fault.in_csv
    assert names(check_report(path, as_of=fault.as_of)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_in_a_pdf(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    page = html(fault.tables(summary()), fault.words(WORDS), fault.header)
    report = check_report(pdf(tmp_path / "page.pdf", RULED, page), as_of=fault.as_of)
    assert names(report) == fault.found


def test_two_positions_with_one_name(tmp_path: Path) -> None:
    tables = same_name(summary())
    twice = html(tables).replace("</body>", "") + html(tables, words="").partition("<body>")[2]
    assert kinds(check_report(save(tmp_path, twice))) == ["duplicate_table"]
    text = as_csv(tables, HEADER)
    assert kinds(check_report(save(tmp_path, text + text, "tables.csv"))) == ["duplicate_table"]


def test_the_clean_summary_has_none_of_them(tmp_path: Path) -> None:
    assert names(check_report(save(tmp_path, html(summary())), as_of=date(2023, 9, 1))) == set()
    assert names(check_report(save(tmp_path, as_csv(summary(), HEADER), "tables.csv"))) == set()
    # And every fault is of a known kind, so that none of the expectations is a slip of the pen.
    assert {kind.split()[0] for fault in FAULTS.values() for kind in fault.found} <= set(KINDS)


@pytest.mark.parametrize(
    "words",
    [
        "Imputed or inferred demographics were not used.",
        "Predicted categories of race were never used.",
        "The race of applicants is as they gave it; nothing was inferred.",
        "The median is that of all applicants, those of unknown category included.",
        "Where history is too thin, test data may be used.",
        "The tool was called on every application.",
    ],
)
def test_words_that_say_the_opposite(words: str, tmp_path: Path) -> None:
    assert names(check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>")))) == set()
