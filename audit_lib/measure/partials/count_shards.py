"""The counts of a run's complete shards, each read by itself: with its own rows of the variants, where it has them.

What needs rows of several shards side by side is not counted here, and is refused or left out with its reason: means
over repeats, and decisions by rank within a round, take a keyed exchange, which is what the stage ``metrics`` does
(`audit_lib.measure.rows.load`); so do intervals and tests, whose clusters may lie in several shards.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.documents.statuses import ANSWERED
from audit_lib.errors import EvidenceError, InputError
from audit_lib.measure.partials.value_counts import ShardCounts, ValueCounts
from audit_lib.measure.rows.variations import ordinary
from audit_lib.records import VARIATION
from audit_lib.run import Run
from audit_lib.score.shard_plan import is_planned, table_of
from audit_lib.spec import AuditSpec

_SCORES = "scores.parquet"


def count_shards(run: Run, shards: list[int], kept: ValueCounts | None = None) -> ValueCounts:
    """Count the shards given; those that `kept` has counted are not read again.

    Raises
    ------
    ConflictError
        If `kept` is of another run, or counted other scores of a shard.
    InputError
        If requests were asked several times: the repeats of one may lie in several shards.
    """
    if run.spec.score.repeats > 1:
        raise InputError(
            f"score.repeats is {run.spec.score.repeats}: a score is the mean of repeats, which may lie in several "
            "shards; no shard counts by itself, so wait for the stage metrics"
        )
    axes = run.spec.groups.axes
    found = ValueCounts(run=run.key.prefix, axes=axes, shards={})
    if kept is not None:
        found = found.merge(kept)
    for shard in shards:
        sha256 = run.stage(f"scores/{shard}").success().artefacts[_SCORES].sha256
        if shard not in found.shards or found.shards[shard].sha256 != sha256:
            counted = ShardCounts.of(_rows(run, shard), axes, sha256)
            found = found.merge(ValueCounts(run=found.run, axes=axes, shards={shard: counted}))
    return found


def _rows(run: Run, shard: int) -> pa.Table:
    """Return the ordinary rows that a shard answered, as `ShardCounts.of` takes them."""
    spec = run.spec
    scores = pq.read_table(
        run.stage(f"scores/{shard}").parquet(_SCORES), columns=["variant_id", "score", "selected", "status"]
    )
    variants = _variants(run, shard)
    place = pc.index_in(scores["variant_id"], value_set=variants["variant_id"].combine_chunks())
    if place.null_count or len(pc.unique(scores["variant_id"])) < len(scores):
        raise EvidenceError(f"{run.uri}/scores/{shard}: its rows are not one for each of some variants")
    own = variants.take(place)
    counted = ordinary(own)
    scores, own = scores.filter(counted), own.filter(counted)
    answered = pc.is_in(scores["status"], pa.array(ANSWERED))
    score = pc.if_else(answered, scores["score"], None)
    score = pc.if_else(pc.is_nan(score), None, score)
    return pa.table(
        {
            "position": own["position"],
            **{axis: _level(own[axis], spec, axis) for axis in spec.groups.axes},
            "status": scores["status"],
            "selected": pc.coalesce(scores["selected"], own["recorded_selected"]),
            "score": pc.add(score, 0.0),  # -0.0 becomes 0.0
        }
    )


def _level(labels: pa.ChunkedArray, spec: AuditSpec, axis: str) -> pa.ChunkedArray:
    """Return labels that are levels of the spec; null for any other, which is of no group."""
    known = pc.is_in(labels, pa.array(spec.groups.attributes[axis], pa.string()))
    return pc.if_else(known, labels, None)


def _variants(run: Run, shard: int) -> pa.Table:
    stage = run.stage("variants")
    wanted = ["variant_id", "position", "recorded_selected", VARIATION, *run.spec.groups.axes]
    for name in dict.fromkeys(
        [table_of(run, shard) if is_planned(run) else "variants.parquet", "variants.parquet"]
    ):
        there = pq.read_schema(stage.parquet(name)).names
        if "variant_id" in there:
            return pq.read_table(stage.parquet(name), columns=[one for one in wanted if one in there])
    raise EvidenceError(f"{run.uri}/variants: no table of variants")
