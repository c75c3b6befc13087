"""Expectations on a table, and their check with Great Expectations.

Results hold numbers and row numbers, never a cell's text: Great Expectations is asked for nothing
but true or false on text columns, and its times and random ids are left out, so that equal tables
give equal results.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from audit_lib.errors import InputError, SpecError

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["error", "warning"]

ROWS_SHOWN: Final = 20
"""Failing rows that a result lists, as row numbers of the table from 0."""

_BOOLEAN: Final[dict[str, Any]] = {"result_format": "BOOLEAN_ONLY"}
_WITH_ROWS: Final[dict[str, Any]] = {
    "result_format": "COMPLETE",
    "exclude_unexpected_values": True,
    "return_unexpected_index_query": False,
}
_COUNTS: Final = ("element_count", "missing_count", "unexpected_count", "observed_value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One thing that must hold in a table.

    Parameters
    ----------
    kind : str
        Class of `great_expectations.expectations`, such as ``ExpectColumnValuesToBeUnique``.
    columns : tuple of str
        What it is about; empty for the table as a whole.
    options : mapping
        The class's further arguments.
    severity : {"error", "warning"}
        Whether a failure stops the audit.
    """

    kind: str
    columns: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = "error"


def filled(column: str) -> Expectation:
    """No null in the column."""
    return Expectation(kind="ExpectColumnValuesToNotBeNull", columns=(column,))


def unique(*columns: str) -> Expectation:
    """No value, or combination of values, twice; rows with a null are left aside."""
    if len(columns) == 1:
        return Expectation(kind="ExpectColumnValuesToBeUnique", columns=columns)
    return Expectation(
        kind="ExpectCompoundColumnsToBeUnique",
        columns=columns,
        options={"column_list": list(columns), "ignore_row_if": "any_value_is_missing"},
    )


def one_of(column: str, values: Sequence[str]) -> Expectation:
    """Only these values, or null."""
    return Expectation(
        kind="ExpectColumnValuesToBeInSet", columns=(column,), options={"value_set": list(values)}
    )


def holds(column: str, severity: Severity = "error") -> Expectation:
    """True in every row, or null."""
    return Expectation(
        kind="ExpectColumnValuesToBeInSet",
        columns=(column,),
        options={"value_set": [True]},
        severity=severity,
    )


def between(
    column: str, low: Any = None, high: Any = None, *, before: bool = False, severity: Severity = "error"
) -> Expectation:
    """Null, or from `low` to `high`, both included (`high` excluded with `before`)."""
    options = {"min_value": low, "max_value": high, "strict_max": before}
    return Expectation(
        kind="ExpectColumnValuesToBeBetween", columns=(column,), options=options, severity=severity
    )


def row_count(low: int, high: int | None = None) -> Expectation:
    """At least `low` rows, at most `high`."""
    options = {"min_value": low, "max_value": high}
    return Expectation(kind="ExpectTableRowCountToBeBetween", options=options)


def different_values(column: str, high: int, *, severity: Severity = "error") -> Expectation:
    """At most `high` different values."""
    options = {"min_value": None, "max_value": high}
    return Expectation(
        kind="ExpectColumnUniqueValueCountToBeBetween", columns=(column,), options=options, severity=severity
    )


def check_table(table: str, frame: pd.DataFrame, suite: Sequence[Expectation]) -> dict[str, Any]:
    """Check a suite on a table.

    Returns
    -------
    dict
        ``table``, ``success`` and ``expectations``: for each, in the suite's order, its name in Great
        Expectations, its column, its severity, whether it held, and numbers that were observed.

    Raises
    ------
    SpecError
        If Great Expectations is not installed.
    InputError
        If an expectation cannot be evaluated, such as on a column that the table lacks.
    """
    text = [any(_is_text(frame[name]) for name in e.columns if name in frame) for e in suite]
    batch = _batch(frame)
    outcomes: dict[int, dict[str, Any]] = {}
    for is_text, result_format in ((True, _BOOLEAN), (False, _WITH_ROWS)):
        part = {index: e for index, e in enumerate(suite) if text[index] is is_text}
        if part:
            outcomes |= _run(table, batch, part, result_format)
    results = [outcomes[index] for index in range(len(suite))]
    return {"table": table, "success": all(r["success"] for r in results), "expectations": results}


def _batch(frame: pd.DataFrame) -> Any:
    """Return what Great Expectations checks: the rows as they are archived, whatever index they were given."""
    gx = _great_expectations()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context.data_sources.pandas_default.read_dataframe(frame.reset_index(drop=True))


def _run(
    table: str, batch: Any, part: Mapping[int, Expectation], result_format: dict[str, Any]
) -> dict[int, dict[str, Any]]:
    from great_expectations import ExpectationSuite
    from great_expectations import expectations as kinds

    made = []
    for index, e in part.items():
        column = {"column": e.columns[0]} if len(e.columns) == 1 else {}
        severity = "critical" if e.severity == "error" else "warning"
        arguments = {**column, **e.options, "severity": severity, "meta": {"index": index}}
        made.append(getattr(kinds, e.kind)(**arguments))
    # The suite is checked as it is: adding it to the context would store and read it again.
    outcome = batch.validate(ExpectationSuite(name=table, expectations=made), result_format=result_format)
    results = {}
    for result in outcome.results:
        index = result.expectation_config.meta["index"]
        expectation = part[index]
        columns = ", ".join(expectation.columns) or None
        if "raised_exception" not in result.exception_info or result.exception_info["raised_exception"]:
            # The exception's own text may quote cells.
            raise InputError(
                f"{table}: {expectation.kind} could not be evaluated on {columns or 'the table'}; "
                "the table is not one that the stages write"
            )
        results[index] = {
            "expectation": result.expectation_config.type,
            "column": columns,
            "severity": expectation.severity,
            "success": bool(result.success),
            "observed": _numbers(result.result),
        }
    return results


def _numbers(result: Mapping[str, Any]) -> dict[str, Any]:
    observed: dict[str, Any] = {}
    for name in _COUNTS:
        value = result.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            observed[name] = value
    if rows := result.get("unexpected_index_list"):
        observed["rows"] = [int(row) for row in rows[:ROWS_SHOWN]]
    return observed


def _is_text(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    return not (is_numeric_dtype(column.dtype) or is_datetime64_any_dtype(column.dtype))


def _great_expectations() -> Any:
    # Its modules log from their import on, some at levels of their own, and may quote cells.
    logger = logging.getLogger("great_expectations")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its modules use deprecated ones
            import great_expectations
    except ImportError:
        raise SpecError(
            "the stage `validation` needs Great Expectations: pip install 'audit-lib[gx]'"
        ) from None
    return great_expectations
