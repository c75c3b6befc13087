"""A table checked some rows at a time, against the same table at once."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.validate import row_keys
from audit_lib.validate.evaluate import Checking, check_table
from audit_lib.validate.row_keys import RowKeys
from tests.validate.test_evaluate import TABLES, random_table, suite

ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), max_size=12)


def by_parts(rows: list[tuple[str, int]], cut: int) -> RowKeys:
    """Take rows `cut` at a time."""
    frame = pd.DataFrame(rows, columns=["text", "number"]).astype({"text": "str", "number": "int64"})
    keys = RowKeys(["text", "number"])
    for start in range(0, len(frame), cut):
        keys.add(frame.iloc[start : start + cut].reset_index(drop=True), start)
    return keys


@settings(deadline=None)
@given(ROWS, st.integers(1, 5), st.booleans(), st.integers(1, 20))
def test_rows_that_are_there_twice_are_found(
    rows: list[tuple[str, int]], cut: int, in_order: bool, together: int
) -> None:
    rows = sorted(rows) if in_order else rows
    again = [place for place, row in enumerate(rows) if rows.count(row) > 1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(row_keys, "_TOGETHER", together)
        assert by_parts(rows, cut).repeated(3) == (len(again), again[:3])


def test_rows_in_order_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(RowKeys, "_of", no)
    assert by_parts([("a", 0), ("a", 1), ("b", 0)], 1).repeated(20) == (0, [])
    with pytest.raises(AssertionError, match="read again"):
        by_parts([("a", 1), ("a", 0)], 1).repeated(20)


@pytest.mark.parametrize("rows", [1, 7, 31])
@pytest.mark.parametrize("seed", range(TABLES))
def test_a_table_in_parts_has_the_results_of_the_whole(seed: int, rows: int) -> None:
    frame = random_table(seed)
    checking = Checking("t", suite())
    for start in range(0, max(len(frame), 1), rows):
        checking.add(frame.iloc[start : start + rows])
    assert checking.result() == check_table("t", frame, suite())
