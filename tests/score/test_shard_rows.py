"""Shards planned from ids alone, against those cut from the requests themselves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.records import parquet_source, write_table
from audit_lib.score import shard_rows
from audit_lib.score.packs import cut, pack
from audit_lib.score.requests import Candidate, Request
from audit_lib.score.shard_rows import planned_rows, rows_of_packs, shard_tables


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Requests of one to three rows, in any order."""
    requests = draw(st.integers(1, 40))
    rows = []
    for number in range(requests):
        section = draw(st.sampled_from(["b", "a", "c"]))
        for row in range(draw(st.integers(1, 3))):
            prompt = f"p{draw(st.integers(0, 12)):02d}"
            rows.append({"variant_id": f"v{number:02d}-{row}", "request_id": f"r{number:02d}",
                         "position": section, "prompt_id": prompt})  # fmt: skip
    return pa.Table.from_pylist(draw(st.permutations(rows)))


def _requests(table: pa.Table, repeats: int) -> list[Request]:
    about: dict[str, list[dict[str, str]]] = {}
    for row in table.to_pylist():
        about.setdefault(row["request_id"], []).append(row)
    return [
        Request(
            request_id=name,
            repeat=repeat,
            section=rows[0]["position"],
            family=min(row["prompt_id"] for row in rows),
            candidates=tuple(Candidate(variant_id=row["variant_id"]) for row in rows),
        )
        for name, rows in about.items()
        for repeat in range(repeats)
    ]


@settings(max_examples=200)
@given(tables(), st.integers(1, 3), st.integers(1, 9), st.integers(1, 12), st.booleans())
def test_ids_alone_deal_as_the_requests_do(
    table: pa.Table, repeats: int, size: int, shards: int, whole: bool
) -> None:
    requests = _requests(table, repeats)
    cuts = cut(pack(requests, size), shards, whole_sections=whole)
    content = write_table(table)
    by_ids = planned_rows(
        content,
        ("position", "prompt_id"),
        repeats=repeats,
        pack_size=size,
        shards=shards,
        whole_sections=whole,
    )
    by_requests = rows_of_packs(content, cuts, repeats)
    assert dict(by_ids.spans) == dict(by_requests.spans)
    assert np.array_equal(by_ids.request_of_row, by_requests.request_of_row)
    ids = table["request_id"].to_pylist()
    for shard, packs in cuts.items():
        rows, first, end = by_ids.of(shard)
        asked = {
            (ids[row], n) for row, low, high in zip(rows, first, end, strict=True) for n in range(low, high)
        }
        assert asked == {request.key for one in packs for request in one}


@given(tables(), st.integers(1, 3), st.integers(1, 12), st.integers(1, 7))
def test_a_shard_s_table_does_not_hang_on_how_much_is_read_at_a_time(
    table: pa.Table, repeats: int, shards: int, read: int
) -> None:
    content = write_table(table)
    rows = planned_rows(
        content, ("position", "prompt_id"), repeats=repeats, pack_size=4, shards=shards, whole_sections=False
    )
    whole = shard_tables(content, rows)
    before = shard_rows._READ
    shard_rows._READ = read  # type: ignore[misc]
    try:
        assert shard_tables(content, rows) == whole
    finally:
        shard_rows._READ = before  # type: ignore[misc]
    for shard, part in whole.items():
        mine, first, _ = rows.of(shard)
        found = pq.read_table(parquet_source(part))
        assert found.drop_columns([shard_rows.FIRST_REPEAT, shard_rows.END_REPEAT]).equals(
            table.take(pa.array(mine)).cast(found.schema.remove(4).remove(4))
        )
        assert found[shard_rows.FIRST_REPEAT].to_pylist() == first.tolist()
