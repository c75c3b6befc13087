"""Row types of the tables between stages, and their Parquet schemas.

Each attribute of the spec (sex, race, ...) is a nullable string column of its own name, after the
fixed ones. Rows are sorted by their id, so that equal content gives equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.beside import Behind
from audit_lib.errors import ColumnTypeError
from audit_lib.large_file import LARGE, Content, LargeFile, Sink
from audit_lib.parquet_batches import batches_of

if TYPE_CHECKING:
    import pandas as pd

ROW_GROUP: Final = 1 << 20
"""Rows of a row group, where a table is written as a whole: as many as Arrow puts into one."""

NO_AND_YES: Final = ("no", "yes")
"""How a column of true and false is split into strata; what is not known is a stratum of its own."""

_PROMPT = pa.schema(
    [
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("application_id", pa.string(), nullable=False),  # the cluster: one real person or dossier
        pa.field("position", pa.string(), nullable=False),
        pa.field("round_id", pa.string()),  # candidates who compete with each other
        pa.field("order_shown", pa.int32()),  # place in a list, from 1
        pa.field("fields", pa.string(), nullable=False),  # canonical JSON: texts for the template
        pa.field("provenance", pa.string(), nullable=False),
        pa.field("qualified", pa.bool_()),
        pa.field("outcome", pa.float64()),
        pa.field("occurred_at", pa.timestamp("us", tz="UTC")),
        pa.field("recorded_model", pa.string()),  # who made the recorded decision
        pa.field("recorded_response", pa.string()),  # its text
        pa.field("recorded_score", pa.float64()),
        pa.field("recorded_selected", pa.bool_()),
    ]
)

_VARIANT = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("application_id", pa.string(), nullable=False),
        pa.field("position", pa.string(), nullable=False),
        pa.field("round_id", pa.string()),
        pa.field("request_id", pa.string(), nullable=False),  # candidates of one listwise call share it
        pa.field("order_shown", pa.int32()),
        pa.field("perturbation", pa.string(), nullable=False),  # "none" for the prompt as it was
        pa.field("edits", pa.string(), nullable=False),  # canonical JSON: slot -> value
        pa.field("candidate", pa.string()),  # the name shown, for matching in rankings
        pa.field("messages", pa.string()),  # canonical JSON: [{role, content}]; null for recorded decisions
        pa.field("qualified", pa.bool_()),
        pa.field("outcome", pa.float64()),
        pa.field("provenance", pa.string(), nullable=False),
        pa.field("recorded_model", pa.string()),
        pa.field("recorded_response", pa.string()),
        pa.field("recorded_score", pa.float64()),
        pa.field("recorded_selected", pa.bool_()),
    ]
)

SCORE_SCHEMA: Final = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("request_id", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),  # the id that was served
        pa.field("model_fingerprint", pa.string(), nullable=False),  # SHA-256 of model, revision and options
        pa.field("request_digest", pa.string(), nullable=False),  # SHA-256 of messages and labels
        pa.field("label_probabilities", pa.list_(pa.float64())),  # normalised over the labels, in their order
        pa.field("label_mass", pa.float64()),  # probability that falls on any label, before normalising
        pa.field("score", pa.float64()),  # higher is better; null unless status is ok or unranked
        pa.field("selected", pa.bool_()),  # a recorded decision
        pa.field("text", pa.string()),
        pa.field("items", pa.string()),  # canonical JSON: the list that a recommendation's text gives
        pa.field("method", pa.string(), nullable=False),  # logits, logprobs, sampled, ranking, recorded
        pa.field("status", pa.string(), nullable=False),
        pa.field("detail", pa.string()),  # why the status is not ok, without personal data
        pa.field("attempts", pa.int32(), nullable=False),
    ]
)


SAMPLING_ERROR_SCHEMA: Final = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),  # the mean over repeats
        pa.field("draws", pa.int32(), nullable=False),  # answers that the score is the mean of
        pa.field("sampling_standard_error", pa.float64(), nullable=False),
    ]
)
"""``scores/<shard>/sampling_error.parquet``: the uncertainty of scores that were sampled, of the sampling alone."""
SAMPLING_ERROR: Final = "sampling_error.parquet"

PAIR_SCHEMA: Final = pa.schema(
    [
        pa.field("request_id", pa.string(), nullable=False),
        pa.field("round_id", pa.string(), nullable=False),  # the pool
        pa.field("position", pa.string(), nullable=False),
        pa.field("first", pa.string(), nullable=False),  # variant shown first
        pa.field("second", pa.string(), nullable=False),
        pa.field("labels", pa.list_(pa.string()), nullable=False),  # naming the first, the second, and a tie
        pa.field("messages", pa.string(), nullable=False),
    ]
)
"""``variants/pairs.parquet``: what a pairwise audit asks, both orders of every pair of a pool."""

ANSWER_SCHEMA: Final = pa.schema(
    [
        pa.field("request_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("round_id", pa.string(), nullable=False),
        pa.field("first", pa.string(), nullable=False),
        pa.field("second", pa.string(), nullable=False),
        pa.field("answer", pa.string(), nullable=False),  # first, second, tie or unparsed
        pa.field("model", pa.string(), nullable=False),
        pa.field("request_digest", pa.string(), nullable=False),
        pa.field("label_probabilities", pa.list_(pa.float64())),  # as they were read, not normalised
        pa.field("label_mass", pa.float64()),
        pa.field("text", pa.string()),
        pa.field("method", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("detail", pa.string()),
        pa.field("attempts", pa.int32(), nullable=False),
    ]
)
"""``scores/<shard>/pairs.parquet``: the answer to each of them, from which the candidates' scores follow."""

REPLY_SCHEMA: Final = pa.schema(
    [
        pa.field("request_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),  # from 1
        pa.field("model", pa.string(), nullable=False),
        pa.field("request_digest", pa.string(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("detail", pa.string()),
        pa.field("attempts", pa.int32(), nullable=False),
    ]
)
"""``scores/<shard>/replies.parquet``: the model's replies on the way to the answer that is scored."""


def answers_as_text(answers: Sequence[object]) -> str | None:
    """Return several recorded answers to one prompt as one text, or None if they are not all texts.

    Examples
    --------
    >>> answers_as_text(["Yes.", "No."]), recorded_answers('{"recorded_answers":["Yes.","No."]}')
    ('{"recorded_answers":["Yes.","No."]}', ['Yes.', 'No.'])
    """
    if not all(isinstance(answer, str) for answer in answers):
        return None
    return _ANSWERS + json.dumps(list(answers), separators=(",", ":"), ensure_ascii=False) + "}"


def recorded_answers(text: str) -> list[str]:
    """Return the answers that `answers_as_text` wrote; any other text is one answer."""
    if not text.startswith(_ANSWERS):
        return [text]
    found: list[str] = json.loads(text)["recorded_answers"]
    return found


_ANSWERS: Final = '{"recorded_answers":'


def prompt_schema(axes: Sequence[str]) -> pa.Schema:
    """Schema of ``sample/prompts.parquet`` for the given attributes."""
    return _with_axes(_PROMPT, axes)


SHOWN_NAME: Final = "candidate"
"""Column of variants that holds the name that each shows."""

VARIATION: Final = "variation"
"""Column of variants that are asked besides, where there are any: ``control`` for the same again, ``format:bullets``;
null for the others. Metrics that compare groups count only rows without one."""

CONTROL: Final = "control"
FORMAT: Final = "format:"
CHECK: Final = "check:"
"""A question about an attribute, ``check:sex``; ``prompt:NAME`` and ``task:NAME`` are other templates."""


def variant_schema(axes: Sequence[str], variations: bool = False) -> pa.Schema:
    """Schema of ``variants/variants.parquet`` for the given attributes, and with the column `VARIATION`."""
    return _with_axes(_VARIANT.append(pa.field(VARIATION, pa.string())) if variations else _VARIANT, axes)


def _with_axes(schema: pa.Schema, axes: Sequence[str]) -> pa.Schema:
    for axis in axes:
        if axis in schema.names:
            raise ColumnTypeError(
                f"the attribute {axis!r} has the name of a fixed column; rename it in groups"
            )
        schema = schema.append(pa.field(axis, pa.string()))
    return schema


def to_parquet(
    rows: pd.DataFrame | Iterable[dict[str, object]], schema: pa.Schema, key: Sequence[str]
) -> Content:
    """Write rows as Parquet: the schema's columns, sorted by `key`, the same bytes for the same rows.

    Raises
    ------
    ColumnTypeError
        If a value does not fit its column.
    """
    try:
        if isinstance(rows, Iterable) and not hasattr(rows, "columns"):
            table = pa.Table.from_pylist(list(rows), schema=schema)
        else:
            table = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ColumnTypeError(f"a value does not fit the table: {str(error).splitlines()[0]}") from None
    return write_table(table.sort_by([(name, "ascending") for name in key]))


def stream_parquet(rows: Iterable[dict[str, object]], schema: pa.Schema, batch: int = 1024) -> Content:
    """Write rows as Parquet in the order they come, holding no more than `batch` of them at a time."""
    rows = iter(rows)
    with ParquetSink(schema) as sink, Behind() as behind:
        while part := list(islice(rows, batch)):
            behind.do(sink.write, pa.Table.from_pylist(part, schema=schema))
    return sink.content()


def write_table(table: pa.Table) -> Content:
    """Write a table as Parquet, the same bytes for the same rows in the same order."""
    table = table.replace_schema_metadata(None)
    with ParquetSink(table.schema) as sink:
        sink.write(table)
    return sink.content()


class ParquetSink:
    """A Parquet file that is being written; each table that is given is a row group (of a million rows at most).

    Parameters
    ----------
    schema : pyarrow.Schema
    most : int
        Bytes held in memory.
    """

    def __init__(self, schema: pa.Schema, most: int = LARGE) -> None:
        self._sink = Sink(most)
        self._writer = pq.ParquetWriter(
            self._sink, schema, compression="zstd", version="2.6", write_statistics=False
        )

    def __enter__(self) -> ParquetSink:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        self._writer.write_table(table)

    def content(self) -> Content:
        """Return the file, once it is closed."""
        return self._sink.content()


def parquet_source(content: Content) -> pa.NativeFile:
    """Return a Parquet file as a source that Arrow owns.

    Arrow reads in threads of its own, and the last one lets go of the source when it is done. Where the source were a
    Python object, a command that ends at that moment would be aborted (exit code 134): the interpreter is gone by then.

    Examples
    --------
    >>> parquet_source(b"PAR1").read()
    b'PAR1'
    """
    if isinstance(content, LargeFile):
        return pa.OSFile(str(content.path))
    owned = pa.allocate_buffer(len(content))
    memoryview(owned).cast("B")[:] = content
    return pa.BufferReader(owned)


def from_parquet(
    content: Content, columns: Sequence[str] | None = None, *, emptied: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a Parquet table into pandas, integers and booleans nullable.

    Parameters
    ----------
    content : bytes or LargeFile
    columns : sequence of str, optional
        Those to read; default: all.
    emptied : sequence of str
        Columns of long texts of which only matters whether there is one: read as the empty text where there is.
    """
    return as_frame(read_parquet(content, columns, emptied=emptied))


def column_names(content: Content) -> list[str]:
    """Return the names of a Parquet table's columns."""
    return list(pq.read_schema(parquet_source(content)).names)


def as_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table in pandas, integers and booleans nullable."""
    import pandas as pd

    nullable = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable.get)
    return frame


def read_parquet(
    content: Content,
    columns: Sequence[str] | None = None,
    *,
    emptied: Sequence[str] = (),
    coded: Sequence[str] = (),
) -> pa.Table:
    """Read a Parquet table, as `from_parquet` does.

    Parameters
    ----------
    content : bytes or LargeFile
    columns : sequence of str, optional
        Those to read; default: all.
    emptied : sequence of str
        Columns of which only matters whether there is a text.
    coded : sequence of str
        Columns of few different texts, which are held once.
    """
    file = pq.ParquetFile(parquet_source(content), read_dictionary=[*coded])
    if not emptied:
        return file.read(columns=columns)
    names = [name for name in file.schema_arrow.names if columns is None or name in columns]
    batches = list(emptied_batches(file, names, emptied, 8192))
    if not batches:
        return pa.schema([file.schema_arrow.field(name) for name in names]).empty_table()
    return pa.Table.from_batches(batches).unify_dictionaries()


def emptied_batches(
    file: pq.ParquetFile, columns: Sequence[str], emptied: Sequence[str], rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a Parquet table some rows at a time, the texts of `emptied` empty where there is one.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
    columns : sequence of str
    emptied : sequence of str
        Columns of which only matters whether there is a text: of one that is there in every row, since the table's
        schema has no place for a missing one, nothing is read.
    rows : int
        How many at a time.
    """
    schema = pa.schema([file.schema_arrow.field(name) for name in columns])
    own = [name for name in emptied if name in columns]
    never_missing = [name for name in own if not schema.field(name).nullable]
    read = [name for name in columns if name not in never_missing]
    for batch in batches_of(file, rows, read):
        texts = pa.repeat(pa.scalar("", pa.string()), len(batch))
        found = {name: texts if name in own else batch[name] for name in [*read, *never_missing]}
        for name in own:
            if name in read:
                found[name] = pc.if_else(batch[name].is_valid(), texts, pa.scalar(None, pa.string()))
        yield pa.RecordBatch.from_arrays([found[name] for name in columns], schema=schema)
