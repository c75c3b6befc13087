"""Rows that are held on disk come out as if they had been sorted in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit_lib.records import parquet_source, prompt_schema
from audit_lib.sample import window_rows
from audit_lib.sample.window_rows import WindowRows

SCHEMA = prompt_schema(["sex"])


def _row(name: str, text: str) -> dict[str, object]:
    return {"prompt_id": name, "application_id": name, "position": "a", "provenance": "assigned",
            "fields": f'{{"resume":"{text}"}}', "recorded_response": text or None, "sex": text[:1]}  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.text("ab0/~", min_size=1), st.text("xyz")), unique_by=lambda one: one[0], min_size=1
    ),
    st.integers(1, 9),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_rows_come_out_sorted_and_whole(
    monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[str, str]], batch: int, group: int, draw: object
) -> None:
    monkeypatch.setattr(window_rows, "GROUP", group)
    all_rows, rows = [_row(*pair) for pair in pairs], WindowRows(SCHEMA)
    for start in range(0, len(all_rows), batch):
        rows.add(all_rows[start : start + batch])
    kept = np.array([place for place in range(len(all_rows)) if draw.random() < 0.7], np.int64)  # type: ignore[attr-defined]
    content = rows.sorted_content(rows.table().take(pa.array(kept)), kept)
    found = pq.read_table(parquet_source(content)).to_pylist()
    wanted = sorted((all_rows[place] for place in kept), key=lambda row: str(row["prompt_id"]).encode())
    assert [{name: row[name] for name in wanted[0]} for row in found] == wanted if wanted else not found
    assert rows.field("resume") == [text for _, text in pairs]


def test_no_table_of_texts_grows_with_the_rows() -> None:
    """Arrow counts the bytes of a chunk of texts in 32 bits: a million rows of 2 KB together were refused."""
    rows = WindowRows(SCHEMA)
    for start in range(0, 40_000, 1000):
        rows.add([_row(f"p{(start + n) * 7919 % 40_009:06}", "x" * 50) for n in range(1000)])
    groups = [group.num_rows for group in rows._by_rank(np.arange(40_000), 40_000)]
    assert (sum(groups), max(groups)) == (40_000, window_rows.GROUP)
