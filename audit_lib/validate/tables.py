"""The tables that are checked, read some rows at a time, and of long texts nothing that nobody asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.records import as_frame, emptied_batches, read_parquet
from audit_lib.run import Run
from audit_lib.shard_scores import ShardScores
from audit_lib.validate.named_suites import KEY, names, read_suite

if TYPE_CHECKING:
    import pandas as pd

_TEXTS: Final = {
    "prompts": ("fields", "recorded_response"),
    "variants": ("messages", "edits", "recorded_response"),
    "scores": ("text",),
}
"""Columns of long texts, of which a check asks no more than whether there is one."""

_UNREAD: Final = {
    "prompts": ("recorded_response", "recorded_model", "recorded_score", "recorded_selected", "qualified", "outcome"),
    "variants": (
        "edits", "recorded_response", "recorded_model", "recorded_score", "recorded_selected", "qualified", "outcome",
        "perturbation", "provenance",
    ),
    "scores": ("request_digest", "items"),
}  # fmt: skip
"""Columns of which no check of ours asks anything."""

_CODED: Final = {
    "prompts": ("position", "provenance"),
    "variants": ("position",),
    "scores": ("model", "model_fingerprint", "method"),
}
"""Columns of few different texts."""

_ORDER: Final = [("variant_id", "ascending"), ("repeat", "ascending")]
ROWS: Final = 1 << 16
"""Rows that are checked together."""
_READ: Final = 1 << 13
_SMALL: Final = 1 << 16
"""Bytes up to which a table is held; a larger one is read from its file."""
_OF_SHARDS: Final = 1 << 18
"""Rows that are read at a time of all shards together."""


def parts(run: Run, stage: str, name: str, only: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield a table some rows at a time, at least once: what checks of ours ask, or the columns `only`."""
    file = _file(run, stage, name)
    read = [one for one in file.schema_arrow.names if one not in _UNREAD[name]] if only is None else only
    waiting, rows, given = list[pa.RecordBatch](), 0, False
    for batch in emptied_batches(file, read, _TEXTS[name], _READ):
        waiting.append(batch)
        rows += len(batch)
        if rows >= ROWS:
            yield _together(waiting)
            waiting, rows, given = [], 0, True
    if waiting or not given:
        empty = pa.schema([file.schema_arrow.field(one) for one in read]).empty_table()
        yield _together(waiting) if waiting else empty


def scores(run: Run, ids: pa.Array, only: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield the scores of all shards in the order of their variants and repeats, some at a time, at least once.

    Parameters
    ----------
    run : Run
    ids : pyarrow.Array of str
        Of variants, sorted, by which the rows are told apart; scores of others are among them.
    only : sequence of str, optional
        Columns; default: what checks of ours ask.

    Raises
    ------
    EvidenceError
        If the rows of a shard are not in the order of their variants.
    """
    from audit_lib.score import shards

    files = [_file(run, f"scores/{shard}", "scores") for shard in shards(run)]
    rows = max(1024, min(1 << 14, _OF_SHARDS // len(files)))
    readers = [_shard(file, rows, only) for file in files]
    ends = [*(ids[end].as_py() for end in range(ROWS - 1, len(ids), ROWS)), None]
    given = False
    for end in ends:
        found = pa.concat_tables([readers[0].empty, *(part for one in readers for part in one.until(end))])
        if len(found) or (end is None and not given):
            given = True
            yield found.unify_dictionaries().sort_by(_ORDER)


def _shard(file: pq.ParquetFile, rows: int, only: Sequence[str] | None) -> ShardScores:
    there = file.schema_arrow
    read = [one for one in there.names if one not in _UNREAD["scores"]] if only is None else only
    batches = emptied_batches(file, read, _TEXTS["scores"], rows)
    empty = pa.schema([there.field(one) for one in read]).empty_table()
    return ShardScores(empty, (pa.Table.from_batches([batch]) for batch in batches))


def whole(run: Run, name: str, reference: str) -> pd.DataFrame:
    """Return a table as a suite of the spec's own is run on it, which the spec names as `reference`.

    It may look at any column, if only for its name or its nulls; a text it has to name.
    """
    from audit_lib.score import shards

    suite = read_suite(run.design_file(f"{KEY}.{name}"), f"{KEY}.{name}: {reference}")
    emptied = [text for text in _TEXTS[name] if not names(suite, text)]
    if name != "scores":
        stage = "sample" if name == "prompts" else "variants"
        return as_frame(read_parquet(run.stage(stage).content(f"{name}.parquet"), emptied=emptied))
    found = pa.concat_tables(
        read_parquet(run.stage(f"scores/{shard}").content("scores.parquet"), emptied=emptied)
        for shard in shards(run)
    )
    return as_frame(found.sort_by(_ORDER))


def _file(run: Run, stage: str, name: str) -> pq.ParquetFile:
    source = run.stage(stage).parquet(f"{name}.parquet", _SMALL)
    return pq.ParquetFile(source, read_dictionary=[*_CODED[name]], buffer_size=1 << 16, pre_buffer=False)


def _together(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches).unify_dictionaries()
