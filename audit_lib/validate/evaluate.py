"""Evaluates a suite on a table, whose rows may come some at a time.

Results hold numbers and row numbers, never a cell's text: of a text column they say true or false only. They are what
Great Expectations gives for the same expectations, without needing it (``tests/validate/test_evaluate.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from audit_lib.validate.row_keys import RowKeys

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN: Final = 20
"""Failing rows that a result lists, as row numbers of the table from 0."""


def check_table(table: str, frame: pd.DataFrame, suite: Sequence[Expectation]) -> SuiteResult:
    """Check a suite on a table that is at hand, as `Checking` does.

    Examples
    --------
    >>> import pandas as pd
    >>> from audit_lib.validate.expectations import between
    >>> result = check_table("scores", pd.DataFrame({"score": [0.2, 1.5, None]}), [between("score", 0, 1)])
    >>> result.success, result.expectations[0].observed["rows"]
    (False, [1])
    """
    checking = Checking(table, suite)
    checking.add(frame)
    return checking.result()


class Checking:
    """Checks a suite on a table whose rows come some at a time; at least once, and be it without a row.

    Parameters
    ----------
    table : str
        Its name.
    suite : sequence of Expectation
    """

    def __init__(self, table: str, suite: Sequence[Expectation]) -> None:
        self._table, self._rows = table, 0
        self._checks = [(one, _CHECKS[one.kind](one)) for one in suite]

    def add(self, frame: pd.DataFrame) -> None:
        """Look at the rows that come next.

        Raises
        ------
        InputError
            If an expectation cannot be evaluated, such as on a column that the table lacks.
        """
        # Row numbers are of the table as it is archived, whatever index it was given.
        frame = frame.reset_index(drop=True)
        for expectation, check in self._checks:
            with self._told(expectation):
                check.add(frame[list(expectation.columns)], self._rows)
        self._rows += len(frame)

    def result(self) -> SuiteResult:
        """Return what was found in all rows.

        Returns
        -------
        SuiteResult
            For each expectation, in the suite's order, its name in Great Expectations, its column, its severity,
            whether it is met, and numbers that were observed.

        Raises
        ------
        InputError
            As `add`.
        """
        results = []
        for one, check in self._checks:
            with self._told(one):
                success, observed = check.result(self._rows)
            results.append(
                Expected(
                    expectation=one.kind,
                    column=", ".join(one.columns) or None,
                    severity=one.severity,
                    success=success,
                    observed=observed,
                )
            )
        return SuiteResult(
            table=self._table, success=all(one.success for one in results), expectations=tuple(results)
        )

    @contextmanager
    def _told(self, expectation: Expectation) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError):  # whose own text may quote cells
            raise InputError(
                f"{self._table}: {expectation.kind} could not be evaluated on "
                f"{', '.join(expectation.columns) or 'the table'}; the table is not one that the stages write"
            ) from None


class _Count:
    """How many rows there are."""

    def __init__(self, expectation: Expectation) -> None:
        self._options = expectation.options

    def add(self, values: pd.DataFrame, first: int) -> None:
        """Nothing but the number of all rows is asked."""

    def result(self, rows: int) -> tuple[bool, dict[str, Any]]:
        return _within(rows, self._options), {"observed_value": rows}


class _Different:
    """How many different values there are."""

    def __init__(self, expectation: Expectation) -> None:
        self._options = expectation.options
        self._seen: set[Any] = set()
        self._textual = False

    def add(self, values: pd.DataFrame, first: int) -> None:
        column = values.iloc[:, 0]
        self._textual = is_text(column)
        self._seen.update(column.dropna().unique())

    def result(self, rows: int) -> tuple[bool, dict[str, Any]]:
        count = len(self._seen)
        return _within(count, self._options), {} if self._textual else {"observed_value": count}


class _EachRow:
    """Which rows break an expectation that looks at each by itself."""

    def __init__(self, expectation: Expectation) -> None:
        self._kind, self._options = expectation.kind, expectation.options
        self._textual = False
        self._wrong = self._missing = 0
        self._shown: list[int] = []

    def add(self, values: pd.DataFrame, first: int) -> None:
        column = values.iloc[:, 0]
        self._textual = is_text(column)
        known = column.notna()
        if self._kind == FILLED:
            wrong = ~known
        elif known.all():  # as nearly always: no row need be copied
            wrong = _WRONG[self._kind](column, self._options)
        else:
            self._missing += int((~known).sum())
            wrong = known.copy()
            wrong[known] = _WRONG[self._kind](column[known], self._options)
        self._wrong += int(wrong.sum())
        if len(self._shown) < ROWS_SHOWN:
            self._shown += [first + int(row) for row in wrong.index[wrong][: ROWS_SHOWN - len(self._shown)]]

    def result(self, rows: int) -> tuple[bool, dict[str, Any]]:
        missing = {} if self._kind == FILLED else {"missing_count": self._missing}
        return not self._wrong, observed_rows(rows, self._wrong, self._shown, missing, textual=self._textual)


class _Unlike:
    """Which rows have values that another row has too; rows with a null are left aside."""

    def __init__(self, expectation: Expectation) -> None:
        self._keys = RowKeys(expectation.columns)
        self._textual = False
        self._missing = 0

    def add(self, values: pd.DataFrame, first: int) -> None:
        self._textual = any(is_text(values[name]) for name in values)
        known = values.notna().all(axis=1)
        if not known.all():
            self._missing += int((~known).sum())
            values = values[known]
        self._keys.add(values, first)

    def result(self, rows: int) -> tuple[bool, dict[str, Any]]:
        wrong, shown = self._keys.repeated(ROWS_SHOWN)
        missing = {"missing_count": self._missing}
        return not wrong, observed_rows(rows, wrong, shown, missing, textual=self._textual)


_CHECKS: Final[Mapping[str, type[_Count | _Different | _EachRow | _Unlike]]] = {
    ROW_COUNT: _Count,
    DIFFERENT_VALUES: _Different,
    FILLED: _EachRow,
    IN_SET: _EachRow,
    BETWEEN: _EachRow,
    UNIQUE: _Unlike,
    UNIQUE_TOGETHER: _Unlike,
}


def observed_rows(
    rows: int, wrong: int, shown: Sequence[int], missing: Mapping[str, int], *, textual: bool
) -> dict[str, Any]:
    """Return what a result tells of its rows: of a text column nothing."""
    if textual:
        return {}
    observed: dict[str, Any] = {"element_count": rows, **missing, "unexpected_count": wrong}
    return observed | ({"rows": list(shown)} if wrong else {})


def _outside_set(column: pd.Series[Any], options: Mapping[str, Any]) -> pd.Series[bool]:
    return ~column.isin(options["value_set"])


def _outside(column: pd.Series[Any], options: Mapping[str, Any]) -> pd.Series[bool]:
    low, high = options["min_value"], options["max_value"]
    wrong = column.isna()
    if low is not None:
        wrong |= ~(column >= low)
    if high is not None:
        wrong |= ~(column < high if options["strict_max"] else column <= high)
    return wrong


_WRONG: Final[dict[str, Callable[[pd.Series[Any], Mapping[str, Any]], pd.Series[bool]]]] = {
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
