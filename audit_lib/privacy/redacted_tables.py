"""The rows that numbers are computed from, without what tells who somebody is.

Texts are left out, and so is every column that is not named here. An id is replaced by its place among all ids of its
kind, in their order: rows of one person stay together, ties are broken as they were, and the same numbers come out.
The places tell nothing to who does not have the ids; who has them all can put them back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.large_file import Content, Sink
from audit_lib.privacy.levels import REDACTED
from audit_lib.privacy.rows_csv import LEADING, csv_parts
from audit_lib.records import VARIATION, write_table
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


@dataclass(frozen=True, slots=True)
class _Places:
    """All ids of each kind in their order, so that each has its place."""

    kinds: Mapping[IdKind, pa.Array]

    @classmethod
    def among(cls, *columns: Mapping[str, pa.ChunkedArray]) -> _Places:
        """Order all ids of the tables that know them all."""
        found: dict[IdKind, list[pa.Array]] = {}
        for one in columns:
            for name in one.keys() & _IDS.keys():
                found.setdefault(_IDS[name], []).append(pc.unique(one[name]).drop_null())
        known = {kind: pc.unique(pa.concat_arrays(ids)) for kind, ids in found.items()}
        return cls({kind: ids.take(pc.sort_indices(ids)) for kind, ids in known.items()})

    def put(self, ids: pa.Array | pa.ChunkedArray, name: str) -> pa.Array | pa.ChunkedArray:
        """Return a column of ids as their places.

        Raises
        ------
        KeyError
            If an id is not among those that are known.
        """
        kind = _IDS[name]
        known = self.kinds.get(kind, pa.array([], pa.string()))
        place = pc.index_in(ids, value_set=known)
        if place.null_count != ids.null_count:
            raise KeyError(kind)
        digits = len(str(len(known)))
        number = pc.utf8_lpad(pc.cast(pc.add(place, 1), pa.string()), digits, "0")
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
    places = _Places.among(*(_ids(run, path) for path in (sample, varied, *asked)))
    axes = frozenset(run.spec.groups.axes)
    prompts = _table(run, sample, _PROMPT | axes)
    found: dict[str, Content] = {
        sample: _rows(prompts, places, _PROMPT | axes, _only(run, frozenset(fields))),
        varied: _rows(_table(run, varied, _VARIANT | axes), places, _VARIANT | axes),
    }
    written = sorted(path for path in run.list("scores") if path.endswith(f"/{SUCCESS}"))
    shards = [path.removesuffix(f"/{SUCCESS}") for path in written]
    for name, columns in _OF_SHARDS.items():
        paths = [f"{shard}/{name}" for shard in shards if name in run.stage(shard).success().artefacts]
        found |= _of_shards(run, paths, columns, places)
    if run.stage("metrics").is_complete():
        there = run.stage("metrics").success().artefacts
        decisions = "metrics/decisions.parquet"
        found[decisions] = _rows(_table(run, decisions, _DECISION), places, _DECISION)
        if "scores.csv" in there:
            found["metrics/scores.csv"] = _lines(run.stage("metrics").read("scores.csv"), places)
    return found


def redacted_path(path: str) -> str:
    """Return where the redacted form of a table is.

    Examples
    --------
    >>> redacted_path("sample/prompts.parquet")
    'evidence/redacted/sample/prompts.parquet'
    """
    return f"{REDACTED}{path}"


def _ids(run: Run, path: str) -> dict[str, pa.ChunkedArray]:
    table = _table(run, path)
    return {name: table[name] for name in table.column_names}


def _table(run: Run, path: str, columns: Collection[str] = ()) -> pa.Table:
    """Read a table's ids and, of the others, `columns`."""
    stage, _, name = path.rpartition("/")
    source = run.stage(stage).parquet(name)
    return pq.read_table(
        source, columns=[one for one in pq.read_schema(source).names if one in _IDS or one in columns]
    )


def _of_shards(run: Run, paths: Sequence[str], kept: Collection[str], places: _Places) -> dict[str, Content]:
    """Return one table of each shard. Ids of all are looked up at once, since each look hashes all that are known."""
    if not paths:
        return {}
    ids = [_table(run, path) for path in paths]
    put = {name: places.put(pa.concat_tables(ids)[name], name) for name in ids[0].column_names}
    found, at = {}, 0
    for path, own in zip(paths, ids, strict=True):
        placed = {name: column.slice(at, own.num_rows) for name, column in put.items()}
        found[path] = _rows(_table(run, path, kept), placed, kept)
        at += own.num_rows
    return found


def _rows(
    table: pa.Table,
    places: _Places | Mapping[str, pa.ChunkedArray],
    kept: Collection[str],
    fields: tuple[int, pa.ChunkedArray] | None = None,
) -> Content:
    columns, parts = [], []
    for part in table.schema:
        if part.name in _IDS:
            own = table[part.name]
            columns.append(places.put(own, part.name) if isinstance(places, _Places) else places[part.name])
        elif part.name in kept:
            columns.append(table[part.name])
        else:
            continue
        parts.append(part)
    found = pa.table(columns, schema=pa.schema(parts))
    if fields is not None:
        place, texts = fields
        found = found.add_column(place, pa.field("fields", pa.string(), nullable=False), texts)
    return write_table(found)


def _only(run: Run, fields: Collection[str]) -> tuple[int, pa.ChunkedArray]:
    """Return the column ``fields`` of the prompts with `fields` alone, and its place among those that are kept."""
    file = pq.ParquetFile(run.stage("sample").parquet("prompts.parquet"))
    names = file.schema_arrow.names
    place = sum(name in _IDS or name in _PROMPT for name in names[: names.index("fields")])
    if not fields:  # as nearly always: no text need be read
        return place, pa.chunked_array([pa.repeat(pa.scalar("{}"), file.metadata.num_rows)])
    chunks = []
    for batch in file.iter_batches(batch_size=1024, columns=["fields"]):
        texts = (json.loads(text) for text in batch["fields"].to_pylist())
        said = ({name: value for name, value in one.items() if name in fields} for one in texts)
        chunks.append(pa.array([json.dumps(one, sort_keys=True) for one in said], pa.string()))
    return place, pa.chunked_array(chunks, pa.string())


def _lines(content: bytes, places: _Places) -> Content:
    """Put places for the ids of ``scores.csv``, which begin each line; all else stays as it is written."""
    head, end, body = content.partition(b"\n")
    names = head.decode().split(",")[:LEADING]
    parts = list(csv_parts(body))
    columns = [
        pc.fill_null(
            places.put(pa.chunked_array([part.ids[at] for part in parts], pa.string()), name), ""
        ).combine_chunks()
        for at, name in enumerate(names)
    ]
    sink, at = Sink(), 0
    sink.write(head + end)
    for part in parts:
        ids = [column.slice(at, len(part.rest)) for column in columns]
        lines = pc.binary_join_element_wise(*ids, part.rest, ",")
        sink.write(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "")[0].as_buffer())
        at += len(part.rest)
    return sink.content()
