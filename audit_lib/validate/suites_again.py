"""Named suites computed a second time, without the library that computed them first.

What a run records of a named suite, Great Expectations has computed. A verification computes it again by pandas, and
needs neither that library nor the seconds that it takes to load. What is not among the expectations and arguments
here, it asks Great Expectations for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from audit_lib.documents.validation import Expected, SuiteResult
from audit_lib.validate.named_suites import KEY, SEVERITIES, read_suite, run_suite

if TYPE_CHECKING:
    import pandas as pd

_BOUNDS: Final = {"column", "min_value", "max_value", "strict_min", "strict_max"}


def run_suite_again(table: str, reference: str, content: bytes, frame: pd.DataFrame) -> SuiteResult:
    """Return what `audit_lib.validate.named_suites.run_suite` returns.

    Raises
    ------
    SpecError
        If the suite has an expectation that is not known here, and Great Expectations is not installed.
    InputError
        If an expectation cannot be evaluated, such as on a column that the table lacks.
    """
    found = [computed_again(one, frame) for one in read_suite(content, f"{KEY}.{table}: {reference}")]
    results = tuple(one for one in found if one is not None)
    if len(results) < len(found):
        return run_suite(table, reference, content, frame)
    return SuiteResult(
        table=table, suite=reference, success=all(one.success for one in results), expectations=results
    )


def computed_again(one: Mapping[str, Any], frame: pd.DataFrame) -> Expected | None:
    """Return the result of an expectation on a column of numbers; None where only Great Expectations knows it."""
    from pandas.api.types import is_numeric_dtype

    kwargs = one["kwargs"]
    column = kwargs.get("column")
    what = _AGGREGATES.get(one["type"])
    if what is None or not kwargs.keys() <= _BOUNDS or column not in frame:
        return None
    if not is_numeric_dtype(frame[column].dtype):
        return None
    if not all(_plain_number(kwargs.get(bound)) for bound in ("min_value", "max_value")):
        return None
    value = what(frame[column])  # with its nulls, as a sum rounds in another order without them
    known = value == value  # not so of NaN: there are too few values
    return Expected(
        expectation=one["type"],
        column=column,
        severity=SEVERITIES[one["severity"]],
        success=known and _within(value, kwargs),
        observed={"observed_value": value} if known else {},
    )


def _mean(column: pd.Series[float]) -> float:
    return float(column.mean()) if column.count() else float("nan")


def _deviation(column: pd.Series[float]) -> float:
    return float(column.std()) if column.count() > 1 else float("nan")


def _unlike(column: pd.Series[float]) -> float:
    return int(column.nunique()) / int(column.count()) if column.count() else 0


_AGGREGATES: Final[dict[str, Callable[[pd.Series[float]], float]]] = {
    "expect_column_mean_to_be_between": _mean,
    "expect_column_stdev_to_be_between": _deviation,
    "expect_column_proportion_of_unique_values_to_be_between": _unlike,
}


def _plain_number(bound: object) -> bool:
    return bound is None or (isinstance(bound, (int, float)) and not isinstance(bound, bool))


def _within(value: float, kwargs: Mapping[str, Any]) -> bool:
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    above = low is None or (value > low if kwargs.get("strict_min") else value >= low)
    return above and (high is None or (value < high if kwargs.get("strict_max") else value <= high))
