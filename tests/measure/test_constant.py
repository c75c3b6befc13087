"""Columns that hold one value once, codes that are as wide as their labels need, and ids that come in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.constant import constant, taken
from audit_lib.measure.rows.decision import decide
from audit_lib.measure.rows.pools import Pools
from audit_lib.spec import Decision

LABEL = st.none() | st.sampled_from(["", "a", "b", "ä", "z", "\U0001f600"])


def equal(one: Coded, other: Coded) -> bool:
    return one.codes.tolist() == other.codes.tolist() and one.labels == other.labels


def parts_of(values: list[str | None], cuts: list[int]) -> list[pa.Array]:
    ends = sorted({0, len(values), *(cut % (len(values) + 1) for cut in cuts)})
    return [pa.array(values[a:b], pa.string()) for a, b in pairwise(ends)]


@given(st.lists(LABEL, max_size=20), st.lists(st.integers(0, 30), max_size=3))
def test_parts_of_few_labels_are_the_whole(values: list[str | None], cuts: list[int]) -> None:
    parts = (Coded.encode(pa.chunked_array([part])) for part in parts_of(values, cuts))
    found = Coded.of_few(parts, len(values))
    assert equal(found, Coded.encode(pa.chunked_array([values], pa.string())))
    assert found.codes.dtype == np.int8


@given(st.lists(LABEL, max_size=20), st.lists(st.integers(0, 30), max_size=3), st.booleans())
def test_ids_in_order_are_coded_as_any_others(values: list[Any], cuts: list[int], in_order: bool) -> None:
    if in_order:
        values = sorted(value or "" for value in values)
    found = Coded.of_sorted(parts_of(values, cuts), len(values))
    if None in values or values != sorted(values):
        assert found is None
    else:
        assert found is not None
        assert equal(found, Coded.encode(pa.chunked_array([values], pa.string())))


@pytest.mark.parametrize(("labels", "width"), [(126, 1), (127, 4), (300, 4)])
def test_codes_are_narrow_where_one_byte_holds_them(labels: int, width: int) -> None:
    column = Coded.encode(pa.chunked_array([[f"{n:03}" for n in range(labels)] + [None]]))
    narrow = column.narrow()
    assert narrow.codes.itemsize == width
    assert equal(narrow, column)
    assert (narrow.codes + 1).max() == labels


def test_more_labels_than_a_byte_holds_in_parts() -> None:
    values = [f"{n:03}" for n in range(400)][::-1]
    parts = [Coded.encode(pa.chunked_array([values[a : a + 50]])) for a in range(0, 400, 50)]
    assert equal(Coded.of_few(parts, 400), Coded.encode(pa.chunked_array([values])))


def test_a_column_without_labels_holds_one_code() -> None:
    column = Coded.encode(pa.chunked_array([pa.nulls(5, pa.string())])).narrow()
    assert column.codes.strides == (0,)
    assert column.take(np.array([3, 1])).codes.tolist() == [-1, -1]
    assert column.as_arrow().to_pylist() == [None] * 5


def test_a_constant_cannot_be_written_to() -> None:
    column = constant(0, 3, np.int8)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 1
    assert taken(column, np.array([True, False, True])).tolist() == [0, 0]
    assert taken(constant(0, 0, np.int8), np.array([], dtype=int)).size == 0


def test_without_rounds_nobody_has_a_standing_and_nothing_is_held() -> None:
    score, rounds = np.array([0.2, 0.9, np.nan]), np.full(3, -1)
    pools = Pools.of(score, rounds)
    decisions = decide(score, rounds, pools, rounds, Decision(rule="threshold", threshold=0.5), seed=1)
    assert [part.strides for part in (pools.size, decisions.rank, decisions.tied_at_cutoff)] == [(0,)] * 3
    assert decisions.take(np.array([2, 1])).selected.tolist() == [-1, 1]
    assert decisions.take(np.array([2, 1])).rank.tolist() == [0, 0]
