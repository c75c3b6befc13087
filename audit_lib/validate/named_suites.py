"""Suites of Great Expectations that a spec names, as that library writes them, run by that library.

It computes them over columns in memory, not by a database: sums in another order have other last digits, which the
archive and its verification compare. Of long texts it is given those alone that a suite names.

Only a spec with ``checks.suites`` needs it. Results hold numbers and row numbers, never a cell's text: it is asked for
true or false only on text columns, and its times and random ids are left out, so that equal tables give equal results.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import yaml

from audit_lib.documents.validation import Expected, SuiteResult
from audit_lib.errors import InputError, MissingPackageError, SpecError
from audit_lib.validate.evaluate import ROWS_SHOWN, is_text

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

KEY: Final = "checks.suites"
PACKAGE: Final = "great_expectations"
_BOOLEAN: Final[dict[str, Any]] = {"result_format": "BOOLEAN_ONLY"}
_WITH_ROWS: Final[dict[str, Any]] = {
    "result_format": "COMPLETE",
    "exclude_unexpected_values": True,
    "return_unexpected_index_query": False,
}
_COUNTS: Final = ("element_count", "missing_count", "unexpected_count", "observed_value")
_COLUMNS: Final = ("column", "column_A", "column_B", "column_list", "column_set")
SEVERITIES: Final = {"critical": "error", "warning": "warning", "info": "warning"}


def read_suite(content: bytes, where: str) -> list[dict[str, Any]]:
    """Read the expectations of a suite's file, JSON or YAML, as ``ExpectationSuite.to_json_dict`` gives them.

    Raises
    ------
    SpecError
        If it is no such file; `where` is named.

    Examples
    --------
    >>> read_suite(b"expectations: [{type: expect_column_to_exist, kwargs: {column: score}}]", "suite.yaml")
    [{'type': 'expect_column_to_exist', 'kwargs': {'column': 'score'}, 'severity': 'critical'}]
    """
    try:
        document = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{where}: neither JSON nor YAML ({type(error).__name__})") from None
    listed = document.get("expectations") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise SpecError(
            f"{where}: a suite of Great Expectations has a list `expectations`, and it is not empty"
        )
    found = []
    for place, one in enumerate(listed):
        kwargs = one.get("kwargs") if isinstance(one, dict) else None
        if not isinstance(kwargs, dict) or not isinstance(one.get("type"), str):
            raise SpecError(f"{where}: expectations.{place}: an expectation has a `type` and `kwargs`")
        severity = one.get("severity", "critical")
        if severity not in SEVERITIES:
            raise SpecError(
                f"{where}: expectations.{place}: severity is critical, warning or info, not {severity!r}"
            )
        found.append({"type": one["type"], "kwargs": kwargs, "severity": severity})
    return found


def names(suite: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Tell whether a suite may ask for a column's values: whether its name is in any argument, a condition too.

    Examples
    --------
    >>> names([{"kwargs": {"column": "score", "row_condition": "text.notnull()"}}], "text")
    True
    """

    def within(value: object) -> bool:
        if isinstance(value, Mapping):
            return any(map(within, value.keys())) or any(map(within, value.values()))
        if isinstance(value, list):
            return any(map(within, value))
        return isinstance(value, str) and column in value

    return any(within(one["kwargs"]) for one in suite)


def lacking_for(spec: AuditSpec) -> str | None:
    """Return the package that the spec's suites need and that is not installed; None if nothing is."""
    return PACKAGE if spec.checks.suites and importlib.util.find_spec(PACKAGE) is None else None


def check_suites(spec: AuditSpec, files: Mapping[str, bytes]) -> None:
    """Check the suites that a spec names, as far as it can be done without the tables.

    Raises
    ------
    SpecError
        If a file is no suite, or, where Great Expectations is installed, holds what is no expectation of it.
    """
    for table, reference in spec.checks.suites.items():
        where = f"{KEY}.{table}: {reference}"
        read = read_suite(files[f"{KEY}.{table}"], where)
        if lacking_for(spec) is None:  # else the preflight tells it
            _suite(_great_expectations(), where, read)


def run_suite(table: str, reference: str, content: bytes, frame: pd.DataFrame) -> SuiteResult:
    """Run a named suite on a table.

    Returns
    -------
    SuiteResult
        As `audit_lib.validate.evaluate.check_table` returns it, and ``suite``: the file that the spec names.

    Raises
    ------
    SpecError
        If Great Expectations is not installed, or an expectation is none of its.
    InputError
        If an expectation cannot be evaluated, such as on a column that the table lacks.
    """
    gx = _great_expectations()
    where = f"{KEY}.{table}: {reference}"
    read = read_suite(content, where)
    text = [any(name in frame and is_text(frame[name]) for name in _columns(one)) for one in read]
    batch = _batch(gx, frame)
    outcomes: dict[int, Expected] = {}
    for of_text, result_format in ((True, _BOOLEAN), (False, _WITH_ROWS)):
        part = {place: one for place, one in enumerate(read) if text[place] is of_text}
        if part:
            # The suite is checked as it is: adding it to the context would store and read it again.
            suite = _suite(gx, where, list(part.values()), list(part))
            outcome = batch.validate(suite, result_format=result_format)
            outcomes |= _results(where, list(frame.columns), part, outcome)
    results = tuple(outcomes[place] for place in range(len(read)))
    return SuiteResult(
        table=table, suite=reference, success=all(one.success for one in results), expectations=results
    )


def _batch(gx: Any, frame: pd.DataFrame) -> Any:
    """Return what Great Expectations checks: the rows as they are archived, whatever index they were given."""
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context.data_sources.pandas_default.read_dataframe(frame.reset_index(drop=True))


def _results(
    where: str, columns: Sequence[str], part: Mapping[int, dict[str, Any]], outcome: Any
) -> dict[int, Expected]:
    results = {}
    for result in outcome.results:
        place = result.expectation_config.meta["place"]
        one = part[place]
        if "raised_exception" not in result.exception_info or result.exception_info["raised_exception"]:
            # The exception's own text may quote cells.
            raise InputError(
                f"{where}: expectations.{place}: {one['type']} could not be evaluated on "
                f"{', '.join(_columns(one)) or 'the table'}; the table has the columns {', '.join(columns)}"
            )
        results[place] = Expected(
            expectation=one["type"],
            column=", ".join(_columns(one)) or None,
            severity=SEVERITIES[one["severity"]],
            success=bool(result.success),
            observed=_numbers(result.result),
        )
    return results


def _suite(gx: Any, where: str, read: Sequence[dict[str, Any]], places: Sequence[int] | None = None) -> Any:
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    made = []
    for place, one in zip(range(len(read)) if places is None else places, read, strict=True):
        try:
            made.append(ExpectationConfiguration(**one, meta={"place": place}).to_domain_obj())
        except Exception as error:  # noqa: BLE001 - a wrong name or argument raises several kinds
            raise SpecError(
                f"{where}: expectations.{place}: {one['type']} is not an expectation of Great Expectations with "
                f"the arguments {', '.join(sorted(one['kwargs']))} ({type(error).__name__})"
            ) from None
    return gx.ExpectationSuite(name="suite", expectations=made)


def _columns(one: Mapping[str, Any]) -> list[str]:
    named: list[str] = []
    for key in _COLUMNS:
        value = one["kwargs"].get(key, [])
        named += [str(name) for name in ([value] if isinstance(value, str) else value or [])]
    return named


def _numbers(result: Mapping[str, Any]) -> dict[str, Any]:
    observed: dict[str, Any] = {}
    for name in _COUNTS:
        value = result.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            observed[name] = value
    if rows := result.get("unexpected_index_list"):
        observed["rows"] = [int(row) for row in rows[:ROWS_SHOWN]]
    return observed


def _great_expectations() -> Any:
    # Its modules log from their import on, some at levels of their own, and may quote cells.
    logger = logging.getLogger(PACKAGE)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its modules use deprecated ones
            import great_expectations
    except ImportError:
        raise MissingPackageError(f"{KEY} needs Great Expectations: pip install 'audit-lib[gx]'") from None
    return great_expectations
