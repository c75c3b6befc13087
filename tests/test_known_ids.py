"""Ids that are looked up without a hash of them all, against a dictionary that has them all."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib import known_ids
from audit_lib.known_ids import KnownIds, as_texts, dealt

IDS = st.lists(st.text(st.characters(codec="utf-8"), max_size=3), max_size=12)


@given(IDS, st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=3), max_size=12))
def test_ids_are_found_where_they_are(ids: list[str], sought: list[str | None]) -> None:
    known = KnownIds(pa.chunked_array([pa.array(ids[:5], pa.string()), pa.array(ids[5:], pa.string())]))
    in_order = sorted(ids, key=str.encode)
    assert known.ids.to_pylist() == in_order
    assert known.repeated is (len({*ids}) < len(ids))
    assert known.distinct().ids.to_pylist() == sorted({*ids}, key=str.encode)
    expected = [in_order.index(one) if one in in_order else -1 for one in sought]
    assert known.places(pa.array(sought, pa.string())).tolist() == expected
    assert known.places(pd.Series(sought, dtype="str")).tolist() == expected


@given(IDS)
def test_another_column_goes_with_them(ids: list[str]) -> None:
    known = KnownIds(pa.array(ids, pa.string()))
    rows = known.arranged(pa.array(range(len(ids)))).to_pylist()
    assert [ids[row] for row in rows] == known.ids.to_pylist()
    assert rows == sorted(rows, key=lambda row: (ids[row].encode(), row)), (
        "the first row of an id comes first"
    )


@given(IDS, st.integers(1, 5))
def test_an_id_is_always_dealt_to_one_part(ids: list[str], parts: int) -> None:
    found = dealt(pa.array(ids, pa.string()), parts)
    assert all(0 <= part < parts for part in found.tolist())
    where = dict(zip(ids, found.tolist(), strict=True))
    again = dealt(as_texts(pa.array(ids[::-1], pa.string()), pa.large_string()), parts)
    assert [where[one] for one in ids[::-1]] == again.tolist()
    cut = pa.array(["other", *ids], pa.string()).slice(1)
    assert dealt(cut, parts).tolist() == found.tolist()


def test_numbered_ids_are_dealt_to_all_parts() -> None:
    found = dealt(pa.array([f"application-{n:08}" for n in range(4000)]), 8)
    counts = [found.tolist().count(part) for part in range(8)]
    assert min(counts) > 300, counts


def test_texts_that_are_long_together_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_ids, "_WIDE", 1)
    known = KnownIds(pa.array(["b", "a"]))
    assert known.ids.type == pa.large_string()
    assert known.places(pa.array(["a", "c", "b"])).tolist() == [0, -1, 1]
