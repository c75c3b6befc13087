"""Rows that are held on disk come out as if they had been sorted in memory."""

from __future__ import annotations

import numpy as np
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
    monkeypatch.setattr(window_rows, "RUN_BYTES", 300)
    monkeypatch.setattr(window_rows, "PIECE_BYTES", 100)
    all_rows, rows = [_row(*pair) for pair in pairs], WindowRows(SCHEMA, ["sex"])
    for start in range(0, len(all_rows), batch):
        rows.add(all_rows[start : start + batch])
    kept = np.array([place for place in range(len(all_rows)) if draw.random() < 0.7], np.int64)  # type: ignore[attr-defined]
    labels = {"sex": rows.labels("sex").mapped(lambda word: word and word.upper())}
    content = rows.sorted_content(None if len(kept) == len(all_rows) else kept, labels)
    found = pq.read_table(parquet_source(content)).to_pylist()
    wanted = sorted((all_rows[place] for place in kept), key=lambda row: str(row["prompt_id"]).encode())
    wanted = [row | {"sex": str(row["sex"]).upper() or ""} for row in wanted]
    assert [{name: row[name] for name in wanted[0]} for row in found] == wanted if wanted else not found
    assert rows.field("resume") == [text for _, text in pairs]


def test_no_table_of_texts_grows_with_the_rows() -> None:
    """Arrow counts the bytes of a chunk of texts in 32 bits: a million rows of 2 KB together were refused."""
    rows = WindowRows(SCHEMA, ["sex"])
    for start in range(0, 40_000, 1000):
        rows.add([_row(f"p{(start + n) * 7919 % 40_009:06}", "x" * 50) for n in range(1000)])
    groups = [group.num_rows for group, _ in rows._merged(rows._ranks(None))]
    assert (sum(groups), max(groups)) == (40_000, window_rows.GROUP)


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1),
    st.integers(1, 4),
    st.integers(2, 4),
)
def test_the_first_id_that_comes_again_is_found(ids: list[str], batch: int, group: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(window_rows, "RUN_BYTES", 1)
        patched.setattr(window_rows, "GROUP", group)
        rows = WindowRows(SCHEMA, ["sex"])
        for start in range(0, len(ids), batch):
            rows.add([_row(one, "x") for one in ids[start : start + batch]])
        again = next((one for place, one in enumerate(ids) if one in ids[:place]), None)
        assert rows.first_repeated() == again
