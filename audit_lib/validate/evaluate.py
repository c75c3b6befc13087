"""Evaluates a suite on a table.

Results hold numbers and row numbers, never a cell's text: of a text column they say true or false only. They are what
Great Expectations gives for the same expectations, without needing it (``tests/validate/test_evaluate.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from audit_lib.documents.validation import Expected, SuiteResult
from audit_lib.errors import InputError
from audit_lib.validate.expectations import (
    BETWEEN,
    DIFFERENT_VALUES,
    FILLED,
    IN_SET,
    ROW_COUNT,
    UNIQUE,
    UNIQUE_TOGETHER,
    Expectation,
)

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN: Final = 20
"""Failing rows that a result lists, as row numbers of the table from 0."""


def check_table(table: str, frame: pd.DataFrame, suite: Sequence[Expectation]) -> SuiteResult:
    """Check a suite on a table.

    Returns
    -------
    SuiteResult
        For each expectation, in the suite's order, its name in Great Expectations, its column, its severity,
        whether it is met, and numbers that were observed.

    Raises
    ------
    InputError
        If an expectation cannot be evaluated, such as on a column that the table lacks.

    Examples
    --------
    >>> import pandas as pd
    >>> from audit_lib.validate.expectations import between
    >>> result = check_table("scores", pd.DataFrame({"score": [0.2, 1.5, None]}), [between("score", 0, 1)])
    >>> result.success, result.expectations[0].observed["rows"]
    (False, [1])
    """
    # Row numbers are of the table as it is archived, whatever index it was given.
    frame = frame.reset_index(drop=True)
    results = []
    for expectation in suite:
        columns = ", ".join(expectation.columns) or None
        try:
            success, observed = _evaluated(frame, expectation)
        except (KeyError, TypeError, ValueError):  # whose own text may quote cells
            raise InputError(
                f"{table}: {expectation.kind} could not be evaluated on {columns or 'the table'}; "
                "the table is not one that the stages write"
            ) from None
        results.append(
            Expected(
                expectation=expectation.kind,
                column=columns,
                severity=expectation.severity,
                success=success,
                observed=observed,
            )
        )
    return SuiteResult(table=table, success=all(one.success for one in results), expectations=tuple(results))


def _evaluated(frame: pd.DataFrame, e: Expectation) -> tuple[bool, dict[str, Any]]:
    if e.kind == ROW_COUNT:
        return _within(len(frame), e.options), {"observed_value": len(frame)}
    values = frame[list(e.columns)]
    textual = any(is_text(values[name]) for name in e.columns)
    if e.kind == DIFFERENT_VALUES:
        count = int(values[e.columns[0]].nunique())
        return _within(count, e.options), {} if textual else {"observed_value": count}
    known = values.notna().all(axis=1)
    if e.kind == FILLED:
        wrong, missing = ~known, {}
    elif known.all():  # as nearly always: no row need be copied
        wrong, missing = _WRONG[e.kind](values, e.options), {"missing_count": 0}
    else:
        wrong, missing = known.copy(), {"missing_count": int((~known).sum())}
        wrong[known] = _WRONG[e.kind](values[known], e.options)
    count = int(wrong.sum())
    if textual:
        return not count, {}
    observed: dict[str, Any] = {"element_count": len(frame), **missing, "unexpected_count": count}
    if count:
        observed["rows"] = [int(row) for row in wrong.index[wrong][:ROWS_SHOWN]]
    return not count, observed


def _repeated(values: pd.DataFrame, options: Mapping[str, Any]) -> pd.Series[bool]:
    return values.duplicated(keep=False)


def _outside_set(values: pd.DataFrame, options: Mapping[str, Any]) -> pd.Series[bool]:
    return ~values.iloc[:, 0].isin(options["value_set"])


def _outside(values: pd.DataFrame, options: Mapping[str, Any]) -> pd.Series[bool]:
    column = values.iloc[:, 0]
    low, high = options["min_value"], options["max_value"]
    wrong = column.isna()
    if low is not None:
        wrong |= ~(column >= low)
    if high is not None:
        wrong |= ~(column < high if options["strict_max"] else column <= high)
    return wrong


_WRONG: Final[dict[str, Callable[[pd.DataFrame, Mapping[str, Any]], pd.Series[bool]]]] = {
    UNIQUE: _repeated,
    UNIQUE_TOGETHER: _repeated,
    IN_SET: _outside_set,
    BETWEEN: _outside,
}
"""Which rows, of those without a null, break the expectation."""


def _within(count: int, options: Mapping[str, Any]) -> bool:
    low, high = options["min_value"], options["max_value"]
    return (low is None or count >= low) and (high is None or count <= high)


def is_text(column: pd.Series[Any]) -> bool:
    """Whether a column may hold text, so that nothing of its values is recorded."""
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    return not (is_numeric_dtype(column.dtype) or is_datetime64_any_dtype(column.dtype))
