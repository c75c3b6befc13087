"""Expectations on a table: what a suite is made of. Their names are those of Great Expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

ExpectationSeverity = Literal["error", "warning"]

FILLED: Final = "expect_column_values_to_not_be_null"
UNIQUE: Final = "expect_column_values_to_be_unique"
UNIQUE_TOGETHER: Final = "expect_compound_columns_to_be_unique"
IN_SET: Final = "expect_column_values_to_be_in_set"
BETWEEN: Final = "expect_column_values_to_be_between"
ROW_COUNT: Final = "expect_table_row_count_to_be_between"
DIFFERENT_VALUES: Final = "expect_column_unique_value_count_to_be_between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One thing that must hold in a table.

    Parameters
    ----------
    kind : str
        Its name in Great Expectations, such as ``expect_column_values_to_be_unique``.
    columns : tuple of str
        What it is about; empty for the table as a whole.
    options : mapping
        Its further arguments there.
    severity : {"error", "warning"}
        Whether a failure stops the audit.
    """

    kind: str
    columns: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    severity: ExpectationSeverity = "error"


def filled(column: str) -> Expectation:
    """No null in the column."""
    return Expectation(kind=FILLED, columns=(column,))


def unique(*columns: str) -> Expectation:
    """No value, or combination of values, twice; rows with a null are left aside."""
    if len(columns) == 1:
        return Expectation(kind=UNIQUE, columns=columns)
    return Expectation(
        kind=UNIQUE_TOGETHER,
        columns=columns,
        options={"column_list": list(columns), "ignore_row_if": "any_value_is_missing"},
    )


def one_of(column: str, values: Sequence[str]) -> Expectation:
    """Only these values, or null."""
    return Expectation(kind=IN_SET, columns=(column,), options={"value_set": list(values)})


def holds(column: str, severity: ExpectationSeverity = "error") -> Expectation:
    """True in every row, or null."""
    return Expectation(
        kind=IN_SET,
        columns=(column,),
        options={"value_set": [True]},
        severity=severity,
    )


def between(
    column: str,
    low: Any = None,
    high: Any = None,
    *,
    before: bool = False,
    severity: ExpectationSeverity = "error",
) -> Expectation:
    """Null, or from `low` to `high`, both included (`high` excluded with `before`)."""
    options = {"min_value": low, "max_value": high, "strict_max": before}
    return Expectation(kind=BETWEEN, columns=(column,), options=options, severity=severity)


def row_count(low: int, high: int | None = None) -> Expectation:
    """At least `low` rows, at most `high`."""
    options = {"min_value": low, "max_value": high}
    return Expectation(kind=ROW_COUNT, options=options)


def different_values(column: str, high: int, *, severity: ExpectationSeverity = "error") -> Expectation:
    """At most `high` different values."""
    options = {"min_value": None, "max_value": high}
    return Expectation(kind=DIFFERENT_VALUES, columns=(column,), options=options, severity=severity)
