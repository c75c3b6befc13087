"""Our evaluation of a suite against Great Expectations' of the same expectations."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from audit_lib.errors import InputError
from audit_lib.validate.evaluate import ROWS_SHOWN, check_table
from audit_lib.validate.expectations import (
    Expectation,
    between,
    different_values,
    filled,
    holds,
    one_of,
    row_count,
    unique,
)

TABLES = 8
"""Random tables; each is checked with some forty expectations in two runs of Great Expectations."""


def random_table(seed: int) -> pd.DataFrame:
    """Columns of every type that the stages write, with ties, nulls, infinities and adjacent floats."""
    random = np.random.default_rng(seed)
    rows = (0, 1, 2, 30, 60)[seed % 5]
    numbers = np.array([0.0, 0.5, np.nextafter(0.5, 1), 1.0, -1.0, np.inf, -np.inf, np.nan])
    days = [datetime(2026, 1, 5, tzinfo=UTC) + timedelta(days=int(n)) for n in random.integers(0, 4, rows)]

    def with_nulls(values: Sequence[Any], share: float) -> list[Any]:
        return [None if random.random() < share else value for value in values]

    share = (0, 0.2, 1)[seed % 3]
    frame = pd.DataFrame(
        {
            "number": pd.Series(random.choice(numbers, rows), dtype="float64"),
            "whole": pd.Series(random.integers(0, 5, rows), dtype="int64"),
            "yes": pd.Series(random.random(rows) < 0.9, dtype="bool"),
            "yes_or_null": pd.Series(with_nulls(list(random.random(rows) < 0.9), share), dtype="object"),
            "text": pd.Series(with_nulls(list(random.choice(["a", "b", "c"], rows)), share), dtype="object"),
            "key": pd.Series([f"k{n}" for n in range(rows)], dtype="object"),
            "when": pd.Series(pd.to_datetime(with_nulls(days, share / 2), utc=True)),
        }
    )
    return frame.set_index(frame.index + 7)  # row numbers must not be those of any index


def suite() -> list[Expectation]:
    columns = ("number", "whole", "yes", "yes_or_null", "text", "key", "when")
    first, last = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 7, tzinfo=UTC)
    return [
        *(filled(name) for name in columns),
        *(unique(name) for name in columns),
        unique("whole", "number"),
        unique("text", "whole"),
        unique("whole", "yes", "number"),
        one_of("text", ["a", "b"]),
        one_of("key", ["k0"]),
        holds("yes"),
        holds("yes_or_null", severity="warning"),
        between("number", 0, 0.5),
        between("number", None, 0.5, before=True),
        between("number", 0.5, None, severity="warning"),
        between("whole", 1, 3),
        between("when", first, last, before=True),
        between("when", first, last),
        row_count(1),
        row_count(2, 30),
        *(different_values(name, 2) for name in ("number", "whole", "text", "when")),
    ]


def by_great_expectations(frame: pd.DataFrame, expectations: Sequence[Expectation]) -> list[dict[str, Any]]:
    """Ask Great Expectations for the same, as its documentation says, and keep the numbers that it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations import expectations as kinds
        from great_expectations.data_context.types.base import ProgressBarsConfig
    logging.getLogger("great_expectations").propagate = False
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    made = []
    for place, one in enumerate(expectations):
        column = {"column": one.columns[0]} if len(one.columns) == 1 else {}
        kind = getattr(kinds, "".join(part.capitalize() for part in one.kind.split("_")))
        made.append(kind(**column, **one.options, meta={"place": place}))
    definition = gx.ValidationDefinition(
        name="t",
        data=context.data_sources.add_pandas("t")
        .add_dataframe_asset("t")
        .add_batch_definition_whole_dataframe("t"),
        suite=context.suites.add(gx.ExpectationSuite(name="t", expectations=made)),
    )
    outcome = definition.run(
        batch_parameters={"dataframe": frame.reset_index(drop=True)},
        result_format={
            "result_format": "COMPLETE",
            "exclude_unexpected_values": True,
            "return_unexpected_index_query": False,
        },
    )
    results: list[dict[str, Any]] = [{}] * len(expectations)
    for result in outcome.results:
        place = result.expectation_config.meta["place"]
        columns = expectations[place].columns
        observed = {
            name: result.result[name]
            for name in ("element_count", "missing_count", "unexpected_count", "observed_value")
            if name in result.result
        }
        if rows := result.result.get("unexpected_index_list"):
            observed["rows"] = list(rows[:ROWS_SHOWN])
        typed = (frame[name].dtype for name in columns)
        if not all(is_numeric_dtype(one) or is_datetime64_any_dtype(one) for one in typed):
            observed = {}
        results[place] = {
            "expectation": result.expectation_config.type,
            "column": ", ".join(columns) or None,
            "severity": expectations[place].severity,
            "success": result.success,
            "observed": observed,
        }
    return results


@pytest.mark.parametrize("seed", range(TABLES))
def test_results_are_those_of_great_expectations(seed: int) -> None:
    frame, expectations = random_table(seed), suite()
    ours = [one.as_dict() for one in check_table("t", frame, expectations).expectations]
    for mine, theirs in zip(ours, by_great_expectations(frame, expectations), strict=True):
        assert mine == theirs, (len(frame), mine)


def test_both_ways_come_up_in_each_expectation() -> None:
    """The random tables would show nothing if an expectation always held, or never did."""
    seen = [set[bool]() for _ in suite()]
    for seed in range(TABLES):
        for place, result in enumerate(check_table("t", random_table(seed), suite()).expectations):
            seen[place].add(result.success)
    always = {e.columns for e, found in zip(suite(), seen, strict=True) if found == {True}}
    assert always == {("key",), ("whole",), ("yes",)}, "columns that have no null, and a key that is one"


@pytest.mark.parametrize("expectation", [between("text", 0, 1), between("when", 0, 1)])
def test_what_cannot_be_compared_is_refused_without_its_text(expectation: Expectation) -> None:
    frame = pd.DataFrame({"text": ["Ann"] * 2, "when": [datetime(2026, 1, 5, tzinfo=UTC)] * 2})
    with pytest.raises(InputError, match="could not be evaluated on") as caught:
        check_table("t", frame, [expectation])
    assert "Ann" not in str(caught.value) and caught.value.__cause__ is None
