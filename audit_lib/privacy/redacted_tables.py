"""The rows that numbers are computed from, without what tells who somebody is.

Texts are left out, and so is every column that is not named here. An id is replaced by its place among all ids of its
kind, in their order: rows of one person stay together, ties are broken as they were, and the same numbers come out.
The places tell nothing to who does not have the ids; who has them all can put them back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.known_ids import KnownIds, as_texts
from audit_lib.large_file import Content, Sink, stream_of
from audit_lib.parquet_batches import batches_of
from audit_lib.privacy.levels import REDACTED
from audit_lib.privacy.rows_csv import LEADING, csv_parts, whole_lines
from audit_lib.records import ROW_GROUP, VARIATION, ParquetSink
from audit_lib.run import SUCCESS, Run
from audit_lib.spec import UNDECIDED

IdKind = Literal["prompt", "application", "round", "variant", "request", "name", "edits"]

_PROMPT: Final = frozenset(
    {"position", "order_shown", "provenance", "qualified", "outcome", "recorded_model", "recorded_score"}
    | {"recorded_selected"}
)
_VARIANT: Final = _PROMPT | {"perturbation", VARIATION}
_SCORE: Final = frozenset(
    {
        "repeat",
        "model",
        "label_probabilities",
        "label_mass",
        "score",
        "selected",
        "method",
        "status",
        "attempts",
    }
)
_PAIR: Final = frozenset(
    {"repeat", "answer", "model", "label_probabilities", "label_mass", "method", "status", "attempts"}
)
_DECISION: Final = frozenset({"score", "rank", "selected", "tied_at_cutoff"})
_ERROR: Final = frozenset({"score", "draws", "sampling_standard_error"})
_OF_SHARDS: Final = {"scores.parquet": _SCORE, "pairs.parquet": _PAIR, "sampling_error.parquet": _ERROR}
_PAIRS: Final = "variants/pairs.parquet"
_LARGE: Final = 1 << 20
"""Bytes up to which a table is held; a larger one is read from its file."""
_READ: Final = 1 << 16
"""Rows that are looked at together: a part of a row group."""
_READ_TEXTS: Final = 1 << 10
"""With their texts."""
_IDS: Final[Mapping[str, IdKind]] = {
    "prompt_id": "prompt",
    "application_id": "application",
    "round_id": "round",
    "variant_id": "variant",
    "first": "variant",
    "second": "variant",
    "request_id": "request",
    "candidate": "name",
    "edits": "edits",
}


class _Places:
    """All ids of each kind in their order, so that each has its place.

    Parameters
    ----------
    run : Run
    tables : sequence of str
        Those that know all ids between them.
    """

    def __init__(self, run: Run, tables: Sequence[str]) -> None:
        self._kinds: dict[IdKind, KnownIds] = {}
        for path in tables:
            for name in _file(run, path).schema_arrow.names:
                if name in _IDS:
                    self._take(_IDS[name], _different(run, path, name))

    def _take(self, kind: IdKind, ids: pa.ChunkedArray) -> None:
        known = self._kinds.get(kind)
        if known is None:
            known = KnownIds(ids).distinct()
        else:
            new = ids.filter(pa.array(known.places(ids) < 0))
            if len(new):
                both = pa.chunked_array([known.ids, as_texts(new, known.ids.type)])
                known = KnownIds(both).distinct()
        # Of recorded decisions prompt, variant and request have the same ids, which are then held once.
        same = (one for one in self._kinds.values() if one.ids.equals(known.ids))
        self._kinds[kind] = next(same, known)

    def put(self, ids: pa.Array, name: str) -> pa.Array:
        """Return a column of ids as their places.

        Raises
        ------
        KeyError
            If an id is not among those that are known.
        """
        kind = _IDS[name]
        known = self._kinds.get(kind)
        places = np.full(len(ids), -1, np.int64) if known is None else known.places(ids)
        if np.count_nonzero(places < 0) != ids.null_count:
            raise KeyError(kind)
        digits = len(str(0 if known is None else len(known)))
        counted = pa.array(places + 1, mask=places < 0)
        number = pc.utf8_lpad(pc.cast(counted, pa.string()), digits, "0")
        return pc.binary_join_element_wise(kind, number, "-")


def redacted_tables(run: Run, fields: Iterable[str]) -> dict[str, Content]:
    """Return the redacted tables of a run, by the path of what each is in place of.

    Parameters
    ----------
    run : Run
        Scored.
    fields : iterable of str
        Columns of the source that rows are split by: they are kept, and no other of the source's texts.
    """
    if run.spec.task in UNDECIDED:
        return {}  # of texts every number is computed from what they say
    sample, varied = "sample/prompts.parquet", "variants/variants.parquet"
    asked = [_PAIRS] if run.spec.task == "pairwise" else []  # which have requests of their own
    places = _Places(run, [sample, varied, *asked])
    axes = frozenset(run.spec.groups.axes)
    found: dict[str, Content] = {
        sample: _rows(run, sample, places, _PROMPT | axes, frozenset(fields)),
        varied: _rows(run, varied, places, _VARIANT | axes),
    }
    written = sorted(path for path in run.list("scores") if path.endswith(f"/{SUCCESS}"))
    shards = [path.removesuffix(f"/{SUCCESS}") for path in written]
    for name, columns in _OF_SHARDS.items():
        paths = [f"{shard}/{name}" for shard in shards if name in run.stage(shard).success().artefacts]
        found |= {path: _rows(run, path, places, columns) for path in paths}
    if run.stage("metrics").is_complete():
        there = run.stage("metrics").success().artefacts
        decisions = "metrics/decisions.parquet"
        found[decisions] = _rows(run, decisions, places, _DECISION)
        if "scores.csv" in there:
            found["metrics/scores.csv"] = _lines(run.stage("metrics").content("scores.csv"), places)
    return found


def redacted_path(path: str) -> str:
    """Return where the redacted form of a table is.

    Examples
    --------
    >>> redacted_path("sample/prompts.parquet")
    'evidence/redacted/sample/prompts.parquet'
    """
    return f"{REDACTED}{path}"


def _file(run: Run, path: str) -> pq.ParquetFile:
    stage, _, name = path.rpartition("/")
    return pq.ParquetFile(run.stage(stage).parquet(name, _LARGE), buffer_size=1 << 16, pre_buffer=False)


def _different(run: Run, path: str, name: str) -> pa.ChunkedArray:
    """Return the ids of a column, those that stand near each other once."""
    file = _file(run, path)
    found = [pc.unique(batch[name]).drop_null() for batch in batches_of(file, _READ, [name])]
    return pa.chunked_array(found, pa.string())


def _rows(
    run: Run, path: str, places: _Places, kept: Collection[str], fields: Collection[str] | None = None
) -> Content:
    """Return a table's ids as their places and, of the others, the columns `kept`.

    With `fields`, the texts of the source too, of which these alone are left.
    """
    file = _file(run, path)
    names = [name for name in file.schema_arrow.names if name in _IDS or name in kept]
    if fields is not None:
        names.insert(_before_fields(file.schema_arrow.names), "fields")
    schema = pa.schema([file.schema_arrow.field(name) for name in names]).remove_metadata()
    read = [name for name in names if name != "fields" or fields]  # as nearly always: no text need be read
    rows = _READ_TEXTS if fields else _READ
    with ParquetSink(schema) as sink:
        waiting, count = list[pa.RecordBatch](), 0
        for batch in batches_of(file, rows, read):
            columns = []
            for name in names:
                if name == "fields":
                    columns.append(_only(batch, fields or ()))
                else:
                    columns.append(places.put(batch[name], name) if name in _IDS else batch[name])
            waiting.append(pa.RecordBatch.from_arrays(columns, schema=schema))
            count += len(batch)
            if count == ROW_GROUP:
                sink.write(pa.Table.from_batches(waiting))
                waiting, count = [], 0
        if waiting or not file.metadata.num_rows:
            sink.write(pa.Table.from_batches(waiting, schema))
    return sink.content()


def _before_fields(names: Sequence[str]) -> int:
    """Return how many of the columns that are kept come before the texts."""
    return sum(name in _IDS or name in _PROMPT for name in names[: names.index("fields")])


def _only(batch: pa.RecordBatch, fields: Collection[str]) -> pa.Array:
    """Return the texts of prompts with `fields` alone."""
    if not fields:
        return pa.repeat(pa.scalar("{}"), len(batch))
    texts = (json.loads(text) for text in batch["fields"].to_pylist())
    said = ({name: value for name, value in one.items() if name in fields} for one in texts)
    return pa.array([json.dumps(one, sort_keys=True) for one in said], pa.string())


def _lines(content: Content, places: _Places) -> Content:
    """Put places for the ids of ``scores.csv``, which begin each line; all else stays as it is written."""
    sink = Sink()
    with stream_of(content) as stream:
        head = stream.readline()
        sink.write(head)
        names = head.decode().rstrip("\n").split(",")[:LEADING]
        for block in whole_lines(stream):
            for part in csv_parts(block):
                ids = [
                    pc.fill_null(places.put(column, name), "")
                    for column, name in zip(part.ids, names, strict=True)
                ]
                lines = pc.binary_join_element_wise(*ids, part.rest, ",")
                sink.write(
                    pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "")[0].as_buffer()
                )
    return sink.content()
