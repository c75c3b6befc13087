"""Recorded decisions scored a column at a time: the bytes that `audit_lib.score.score_shard` makes row by row.

Nobody is asked, so nothing depends on the order or the company in which a row comes. What needs more than columns
(texts that are read, several repeats, rows that share a request) is left to the rows.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.canonical import pretty_json
from audit_lib.records import SCORE_SCHEMA, VARIATION, write_table
from audit_lib.run import Run, StageOutput
from audit_lib.score.backends import backend, fingerprint
from audit_lib.score.requests import Request
from audit_lib.score.shard_plan import is_planned, of_the_run, shard_counts, table_of
from audit_lib.score.shard_rows import END_REPEAT, FIRST_REPEAT
from audit_lib.score.tasks.pointwise import NO_SCORE, NO_SCORE_BESIDE_OTHERS
from audit_lib.spec import RECORDED

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

_READ: Final = (
    "variant_id", "request_id", "messages",
    "recorded_model", "recorded_response", "recorded_score", "recorded_selected",
)  # fmt: skip
_ONCE: Final = {FIRST_REPEAT: {"min": 0, "max": 0}, END_REPEAT: {"min": 1, "max": 1}}
"""What the plan says of rows that are asked once."""


def score_columns(run: Run, shard: int) -> StageOutput | None:
    """Return what a shard of recorded decisions is scored as; None where it takes the rows to say."""
    spec = run.spec
    if not _is_plain(spec) or not is_planned(run):
        return None
    file = pq.ParquetFile(run.stage("variants").parquet(table_of(run, shard)))
    there = file.schema_arrow.names
    if VARIATION in there:
        return None
    table = file.read(columns=[*_READ, *(name for name in _ONCE if name in there)])
    variant = table["variant_id"]
    if (
        table.num_rows != shard_counts(run).get(shard)
        or any(pc.min_max(table[name]).as_py() != _ONCE[name] for name in _ONCE if name in there)
        or table["messages"].null_count != table.num_rows
        or not variant.equals(table["request_id"])
        or pc.count_distinct(variant).as_py() != table.num_rows
    ):
        return None
    # As the rows are read: a number that is none is none.
    score = pc.if_else(
        pc.is_nan(table["recorded_score"]), pa.scalar(None, pa.float64()), table["recorded_score"]
    )
    selected, text = table["recorded_selected"], table["recorded_response"]
    if not of_the_run(run)["scores_were_recorded"]:
        score = pc.coalesce(score, pc.cast(selected, pa.float64()))
        if score.null_count and (spec.prompt is not None or text.null_count < table.num_rows):
            return None  # the label may be in the text
    scored = pc.fill_null(pc.is_finite(score), fill_value=False)
    with closing(backend.get(RECORDED)(spec.model)) as answering:
        description = answering.describe()
    mark = fingerprint(description)
    model = _named(table["recorded_model"], spec.model.name)
    labels = tuple(spec.prompt.labels) if spec.prompt is not None and spec.prompt.read == "labels" else ()
    missing = pc.if_else(pc.is_valid(selected), NO_SCORE_BESIDE_OTHERS, NO_SCORE)
    columns = {
        "variant_id": variant,
        "repeat": _same(0, pa.int32(), table),
        "request_id": variant,
        "model": model,
        "model_fingerprint": _same(mark, pa.string(), table),
        "request_digest": _digests(text, labels, table),
        "score": pc.if_else(scored, score, pa.scalar(None, pa.float64())),
        "selected": pc.if_else(scored, selected, pa.scalar(None, pa.bool_())),
        "text": text,
        "method": _same(RECORDED, pa.string(), table),
        "status": pc.if_else(scored, "ok", "unparsed"),
        "detail": pc.if_else(scored, pa.scalar(None, pa.string()), missing),
        "attempts": _same(1, pa.int32(), table),
    }
    made = pa.table(
        [columns.get(one.name, pa.nulls(table.num_rows, one.type)) for one in SCORE_SCHEMA],
        schema=SCORE_SCHEMA,
    )
    return StageOutput(
        artefacts={
            "scores.parquet": write_table(made.sort_by("variant_id").combine_chunks()),
            "model.json": pretty_json({**description, "fingerprint": mark}),
            "served.json": pretty_json(_served(model)),
        },
        counts={
            "rows": table.num_rows,
            "requests": table.num_rows,
            **Counter(columns["status"].to_pylist()),
        },
    )


def _is_plain(spec: AuditSpec) -> bool:
    """Whether a spec asks for nothing but a score of each row."""
    return (
        spec.model.backend == RECORDED
        and spec.task == "pointwise"
        and spec.score.repeats == 1
        and not spec.score.canaries
        and not spec.classifiers
        and spec.leakage is None
        and spec.manipulation is None
    )


def _same(value: object, kind: pa.DataType, table: pa.Table) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), table.num_rows)


def _named(recorded: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    return pc.if_else(pc.fill_null(pc.not_equal(recorded, ""), fill_value=False), recorded, name)


def _digests(text: pa.ChunkedArray, labels: tuple[str, ...], table: pa.Table) -> pa.Array:
    """Return the digest of what each row was asked: of a recorded decision its labels, and its text if it has one."""

    def digest(recorded: str | None) -> str:
        asked = Request(
            request_id="", section="", family="", labels=labels, candidates=(), recorded_response=recorded
        )
        return asked.digest()

    if text.null_count == table.num_rows:
        return _same(digest(None), pa.string(), table)
    return pa.array([digest(one) for one in text.to_pylist()], pa.string())


def _served(model: pa.ChunkedArray) -> list[dict[str, object]]:
    """Return which models answered and how often, as `audit_lib.score.ledger.served` does."""
    counts = Counter(model.to_pylist())
    nothing = {"prompt_tokens": 0, "completion_tokens": 0}
    return [
        {"model": name, "system_fingerprint": None, "answers": count, **nothing}
        for name, count in sorted(counts.items())
    ]
