"""Variants of recorded decisions that nothing is changed in, made a column at a time: the rows of the stage itself."""

from __future__ import annotations

from collections import Counter
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.beside import Behind
from audit_lib.coded import unit_codes
from audit_lib.large_file import Content
from audit_lib.perturb.counts import VariantCounts
from audit_lib.perturb.prompts import Prompts
from audit_lib.perturb.robustness import asks_further
from audit_lib.records import SHOWN_NAME, ParquetSink, variant_schema
from audit_lib.spec import AuditSpec

_NAME_KEY: Final = '"name":'
_OWN: Final = {"variant_id": "prompt_id", "request_id": "prompt_id"}
_NONE: Final = {"perturbation": "none", "edits": "{}"}


class _Fields(msgspec.Struct):
    name: str | None = None


_named: Final = msgspec.json.Decoder(_Fields).decode


def are_recorded(spec: AuditSpec) -> bool:
    """Tell whether each prompt is a variant of its own about which nobody is asked anything."""
    return (
        spec.perturb is None
        and spec.model.answers_are_recorded
        and spec.prompt is None
        and spec.task not in ("pairwise", "listwise")
        and not asks_further(spec)
    )


def recorded_variants(spec: AuditSpec, prompts: Prompts, rows: int) -> tuple[Content, VariantCounts]:
    """Return ``variants.parquet``, written `rows` at a time, and what its rows are counted to be.

    Parameters
    ----------
    spec : AuditSpec
        One of which `are_recorded` is true.
    prompts : Prompts
        They come sorted.
    rows : int
        Rows of a row group.
    """
    axes, schema = spec.groups.axes, variant_schema(spec.groups.axes)
    counts, rounds = VariantCounts(), list[pa.Array]()
    with ParquetSink(schema) as sink, Behind() as behind:
        for batch in prompts.batches(rows):
            table = _variants(batch, schema, by_application=spec.decision.round == "application_id")
            counts.rows += table.num_rows
            counts.cells += _cells(table, axes)
            rounds.append(table["round_id"].combine_chunks().drop_null())
            behind.do(sink.write, table)
    counts.alone = counts.rows
    counts.competing = unit_codes(pa.chunked_array(rounds, pa.string()))[1]
    return sink.content(), counts


def _variants(batch: pa.RecordBatch, schema: pa.Schema, *, by_application: bool) -> pa.Table:
    own = _OWN | ({"round_id": "application_id"} if by_application else {})
    columns = []
    for field in schema:
        if field.name == SHOWN_NAME:
            columns.append(_names(batch["fields"]))
        elif field.name in _NONE:
            columns.append(pa.repeat(pa.scalar(_NONE[field.name], field.type), batch.num_rows))
        elif (name := own.get(field.name, field.name)) in batch.schema.names:
            columns.append(batch[name])
        else:
            columns.append(pa.nulls(batch.num_rows, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _names(fields: pa.Array) -> pa.Array:
    """Return the name that each prompt shows; only texts that may have one are decoded."""
    may_have = pc.match_substring(fields, _NAME_KEY)
    if not pc.any(may_have).as_py():
        return pa.nulls(len(fields), pa.string())
    (places,) = np.nonzero(may_have.to_numpy(zero_copy_only=False))
    found: list[str | None] = [None] * len(fields)
    for place, text in zip(places.tolist(), fields.filter(may_have).to_pylist(), strict=True):
        found[place] = _named(text).name
    return pa.array(found, pa.string())


def _cells(table: pa.Table, axes: tuple[str, ...]) -> Counter[tuple[tuple[str, str | None], ...]]:
    """Count the rows of each combination of levels."""
    if not axes:
        return Counter({(): table.num_rows})
    found = table.select(axes).group_by(axes, use_threads=False).aggregate([([], "count_all")])
    return Counter({tuple((axis, row[axis]) for axis in axes): row["count_all"] for row in found.to_pylist()})
