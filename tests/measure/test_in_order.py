"""Score rows of many shards, merged by variant while they are read: what one sorted table of all of them would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit_lib import shard_scores
from audit_lib.documents.statuses import STATUSES
from audit_lib.errors import EvidenceError
from audit_lib.measure.rows import in_order
from audit_lib.measure.rows.answers import SCORE_COLUMNS, Answers
from audit_lib.measure.rows.in_order import SortedIds, UnsortedError
from audit_lib.records import parquet_source, write_table
from audit_lib.shard_scores import ShardScores

TYPES = {
    "variant_id": pa.string(), "repeat": pa.int32(), "model": pa.string(), "label_mass": pa.float64(),
    "score": pa.float64(), "selected": pa.bool_(), "status": pa.string(),
}  # fmt: skip
ANSWER = st.tuples(
    st.sampled_from("ab"), st.sampled_from([0.25, 0.5, None]), st.sampled_from(["ok", "error"])
)
LABELS = ("model", "status")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_order, "BLOCK", 4)
    monkeypatch.setattr(shard_scores, "_BATCH", 3)


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """Score rows as they are written."""
    made = pa.Table.from_pylist(rows, schema=pa.schema(TYPES.items()))
    return made.sort_by([("variant_id", "ascending"), ("repeat", "ascending")])


def of_file(rows: pa.Table) -> ShardScores:
    return ShardScores.of_file(parquet_source(write_table(rows)), SCORE_COLUMNS, LABELS)


@pytest.mark.parametrize("shard", [ShardScores.of_table, of_file])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(answers=st.lists(st.lists(ANSWER, max_size=3), min_size=1, max_size=14), data=st.data())
def test_any_cut_places_each_answer_at_its_variant(
    shard: Callable[[pa.Table], ShardScores], answers: list[list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    shards = data.draw(st.integers(1, 5))
    ids = [f"v{number:02d}" for number in range(len(answers))]
    rows: list[list[dict[str, Any]]] = [[] for _ in range(shards)]
    for variant, own in zip(ids, answers, strict=True):
        for repeat, (model, score, status) in enumerate(own):
            value = score if status == "ok" else None
            row = {"variant_id": variant, "repeat": repeat, "model": model, "score": value, "status": status}
            rows[data.draw(st.integers(0, shards - 1))].append(row)
    found = Answers.gather(
        [shard(table(own)) for own in rows], SortedIds.of_array(pa.chunked_array([pa.array(ids)]))
    )
    asked_again = any(len(own) > 1 for own in answers)
    assert (found.repeats is not None) == (found.within is not None) == asked_again
    for at, own in enumerate(answers):
        known = [score for _, score, status in own if status == "ok" and score is not None]
        first = next((one for one in own if one[2] == "ok"), own[0] if own else None)
        assert np.isnan(found.score[at]) if not known else found.score[at] == fmean(known)
        assert found.status[at] == (-1 if first is None else STATUSES.index(first[2]))
        code = found.model.codes[at]
        assert (None if code < 0 else found.model.labels[code]) == (None if first is None else first[0])
        if found.repeats is not None and found.within is not None:
            assert found.repeats[at].tolist() == [sum(one[2] == name for one in own) for name in STATUSES]
            assert found.within[at, 1] == max(len(known) - 1, 0)
            assert found.within[at, 0] == pytest.approx(sum((x - fmean(known)) ** 2 for x in known))


def test_rows_of_no_variant_and_rows_out_of_order_are_refused() -> None:
    one = {"repeat": 0, "model": "a", "score": 0.5, "status": "ok"}
    rows = table([{"variant_id": f"v{number}", **one} for number in range(9)])
    own = rows["variant_id"]
    ids = SortedIds.of_array(own)
    for there in (
        own.slice(0, 7),
        own.slice(2),
        pa.chunked_array([*own.slice(0, 3).chunks, *own.slice(5).chunks]),
    ):
        with pytest.raises(EvidenceError, match="variants that were never made"):
            Answers.gather([of_file(rows)], SortedIds.of_array(there))
    turned = rows.take(list(reversed(range(9))))
    with pytest.raises(EvidenceError, match="not in the order of their variants"):
        Answers.gather([of_file(turned)], ids)
    assert Answers.gather([ShardScores.of_table(turned)], ids).score.tolist() == [0.5] * 9


@given(parts=st.lists(st.integers(0, 5), max_size=6), size=st.integers(1, 7))
def test_ids_come_in_blocks_however_they_are_read(parts: list[int], size: int) -> None:
    ids = [f"v{number:02d}" for number in range(sum(parts))]
    ends = np.cumsum(parts).tolist()
    chunks = [pa.array(ids[end - own : end], pa.string()) for own, end in zip(parts, ends, strict=True)]
    found = SortedIds.of_array(pa.chunked_array(chunks, pa.string()))
    blocks = [block.to_pylist() for block in found.blocks(size)]
    assert blocks == [ids[start : start + size] for start in range(0, len(ids), size)]
    assert len(found) == len(ids)
    assert found.whole().to_pylist() == ids


@pytest.mark.parametrize("ids", [["a", "c", "b"], ["a", "b", "c", "d", "d"], ["b", "c", "d", "e", "a"]])
def test_ids_that_are_not_sorted_are_told(ids: list[str]) -> None:
    content = write_table(pa.table({"variant_id": ids}))
    with pytest.raises(UnsortedError):
        SortedIds.of_file(lambda: parquet_source(content), len(ids)).whole()


def test_a_shard_is_read_when_its_first_variant_is_asked_for() -> None:
    """Else each of many shards holds a part of what it says from the beginning on."""
    asked: list[str] = []

    def parts(rows: pa.Table) -> Iterator[pa.Table]:
        asked.append("read")
        yield rows

    rows = table([{"variant_id": "m", "repeat": 0, "model": "a", "score": 0.5, "status": "ok"}])
    shard = ShardScores(rows.slice(0, 0), parts(rows), "m")
    assert [*shard.until("l")] == []
    assert not asked
    assert [part["variant_id"].to_pylist() for part in shard.until("m")] == [["m"]]
    assert [*shard.until(None)] == []


def test_a_file_says_which_variant_is_its_first() -> None:
    rows = table(
        [{"variant_id": one, "repeat": 0, "model": "a", "score": 0.5, "status": "ok"} for one in "ghi"]
    )
    shard = of_file(rows)
    assert [*shard.until("f")] == []
    assert sum(len(part) for part in shard.until("h")) == 2
    assert shard.table()["variant_id"].to_pylist() == ["i"]
    assert of_file(rows.slice(0, 0)).table().num_rows == 0
