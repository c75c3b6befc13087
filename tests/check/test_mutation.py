"""Change one number that others determine, and it is found."""

from __future__ import annotations

import re
from copy import deepcopy
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit_lib.check import check_report
from audit_lib.metrics.rounding import round_half_up
from tests.check.cases import WORDS, checked, html, kinds, save, summary

TABLES = summary()
CELLS = [
    (caption, row, column)
    for caption, rows in TABLES.items()
    for row in range(len(rows))
    for column in (1, 2, 3, 4)
]
LAST = re.compile(r"(\d)(\D*)$")


def nudged(printed: str, by: int) -> str:
    """Add to the last digit, as a slip of the hand would."""
    return LAST.sub(lambda found: f"{(int(found[1]) + by) % 10}{found[2]}", printed)


def test_the_page_itself_is_clean(tmp_path: Path) -> None:
    assert kinds(checked(tmp_path, TABLES)) == []


@pytest.mark.parametrize("by", [1, 9])
def test_a_slip_in_the_last_digit_of_any_cell_is_found(tmp_path: Path, by: int) -> None:
    missed = []
    for caption, row, column in CELLS:
        tables = deepcopy(TABLES)
        tables[caption][row][column] = nudged(tables[caption][row][column], by)
        if checked(tmp_path, tables).ok:
            missed.append((caption, row, column))
    assert missed == []


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cell=st.sampled_from(CELLS), other=st.integers(0, 2_000))
def test_any_other_number_in_any_cell_is_found(
    tmp_path: Path, cell: tuple[str, int, int], other: int
) -> None:
    caption, row, column = cell
    tables = deepcopy(TABLES)
    text = [str(other), str(other), f"{other / 10:.1f}%", f"{other / 1000:.3f}"][column - 1]
    assume(text.replace(",", "") != tables[caption][row][column].replace(",", ""))
    tables[caption][row][column] = text
    assert not checked(tmp_path, tables).ok


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    people=st.tuples(st.integers(1, 30), st.integers(1, 30)),
    rates=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
    ratios=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
)
def test_without_the_selected_a_table_is_clean_exactly_if_some_whole_numbers_give_it(
    tmp_path: Path, people: tuple[int, int], rates: tuple[int, int], ratios: tuple[int, int]
) -> None:
    """The oracle tries every number of selected people; half of the tables are made from one."""
    printed_rates = [f"{rate / 10:.1f}" for rate in rates]
    printed_ratios = [f"{ratio / 1000:.3f}" for ratio in ratios]
    if rates[0] % 2:  # a true table, whose second ratio may be off by a little
        chosen = [n * rate // 1000 for n, rate in zip(people, rates, strict=True)]
        assume(any(chosen))
        exact = [Fraction(k, n) for k, n in zip(chosen, people, strict=True)]
        printed_rates = [round_half_up(100 * rate, 1) for rate in exact]
        printed_ratios = [round_half_up(rate / max(exact), 3) for rate in exact]
        if ratios[0] % 2:
            printed_ratios[1] = nudged(printed_ratios[1], ratios[1] % 10)

    def gives(chosen: tuple[int, int]) -> bool:
        exact = [Fraction(k, n) for k, n in zip(chosen, people, strict=True)]
        return (
            any(chosen)
            and [round_half_up(100 * rate, 1) for rate in exact] == printed_rates
            and [round_half_up(rate / max(exact), 3) for rate in exact] == printed_ratios
        )

    rows = [
        [sex, str(n), f"{rate}%", ratio]
        for sex, n, rate, ratio in zip(("Male", "Female"), people, printed_rates, printed_ratios, strict=True)
    ]
    header = ("Sex", "# of applicants", "Scoring rate", "Impact ratio")
    report = check_report(save(tmp_path, html({"Sex": rows}, header=header)))
    found = [f.id for f in report.findings if f.severity != "note" and f.id != "table_missing"]
    assert (found == []) == any(gives(pair) for pair in product(*(range(n + 1) for n in people)))


def test_words_alone_change_nothing(tmp_path: Path) -> None:
    assert checked(tmp_path, TABLES, f"{WORDS}<p>Thank you for applying in 2024 with 12 others.</p>").ok
