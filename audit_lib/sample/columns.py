"""The file's columns become ours: named by the mapping, checked for presence and type."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json
from audit_lib.errors import ColumnTypeError, MissingColumnError, SpecError
from audit_lib.records import answers_as_text, prompt_schema
from audit_lib.registry import did_you_mean
from audit_lib.sample.blocks import ABSENT, ColumnBlock
from audit_lib.sample.tables import Record
from audit_lib.sample.values import UnknownWordError, WrongTypeError, converter, is_own_value, text
from audit_lib.spec import UNDECIDED, AuditSpec, Source

NAME: Final = "name"
"""The key of ``fields`` that holds the candidate's name, by which rankings are matched."""

_FILLED_BY_US: Final = ("fields", "provenance")
_CONSTANT: Final = ("position", "occurred_at", "recorded_model")
"""What may be the same in all rows: never an id, a group or a decision."""


class Columns:
    """Reads chosen columns of ours from records.

    Parameters
    ----------
    source : Source
        ``source.columns`` maps our column to the file's, where they differ; the section says how dates and decisions
        are written.
    names : sequence of str
        Our columns to read: those of a prompt, the attributes, and `NAME`.
    required : collection of str
        Those that every record must have, besides the ones that are mapped.
    filled : collection of str
        Those that may not be null where they are present.
    several : bool
        Whether ``recorded_response`` may be a list: several answers to one prompt.
    fields : sequence of str
        Further columns that a record must have; they are looked for and not read.
    """

    def __init__(
        self,
        source: Source,
        names: Sequence[str],
        *,
        required: Collection[str],
        filled: Collection[str],
        several: bool = False,
        fields: Sequence[str] = (),
    ) -> None:
        self._several, self._fields = several, fields
        kinds = {field.name: field.type for field in prompt_schema(())}
        self._columns = [
            (
                ours,
                source.named.get(ours, ours),
                converter(ours, kinds.get(ours, pa.string()), source),
                ours in required or ours in source.columns,
                ours in filled,
            )
            for ours in names
            if ours not in source.constants
        ]
        self._constants = {
            ours: converter(ours, kinds.get(ours, pa.string()), source)(value, True)
            for ours, value in source.constants.items()
            if ours in names
        }

    def read(self, record: Record) -> dict[str, Any]:
        """Return our columns of a record; those that it need not have, and has not, are left out.

        A decision in a word that the spec does not list is `Unlisted`: whoever collects the rows refuses them, counted.

        Raises
        ------
        MissingColumnError
            If columns are not there; names all of them, with the file, the line and the nearest column of each.
        ColumnTypeError
            If a value is of another type, or null where it may not be.
        """
        row: dict[str, Any] = dict(self._constants)
        for ours, theirs, convert, required, filled in self._columns:
            if theirs not in record.values:
                if required:
                    raise self._missing(record)
                continue
            value = record.values[theirs]
            if self._several and ours == "recorded_response" and isinstance(value, list):
                value = answers_as_text(value) or value
            if record.is_text and isinstance(value, str) and not value.strip():
                value = None
            try:
                row[ours] = None if value is None else convert(value, record.is_text)
            except UnknownWordError as error:
                row[ours] = Unlisted(str(error), theirs)
            except WrongTypeError as error:
                found = "text" if isinstance(value, str) else type(value).__name__
                raise ColumnTypeError(
                    f"{record.where}: column {theirs!r} ({ours}) should be {error}, is "
                    f"{found if error.shown is None else repr(error.shown)}{error.hint}"
                ) from None
            if filled and row[ours] in (None, ""):
                raise ColumnTypeError(
                    f"{record.where}: column {theirs!r} ({ours}) is empty; every row needs it"
                )
        return row

    @property
    def names(self) -> list[str]:
        """The file's columns that are read."""
        return [theirs for _, theirs, *_ in self._columns]

    def read_block(self, block: ColumnBlock) -> dict[str, list[Any]] | None:
        """Return what `read` returns of each record, by column; None where one needs a look of its own.

        So it is where a record has a fault, lacks a column that others have, or decides in a word that is not listed.
        """
        found = {ours: [value] * len(block) for ours, value in self._constants.items()}
        for ours, theirs, convert, required, filled in self._columns:
            values = block.column(theirs)
            if values is None:
                if required:
                    return None
                continue
            kinds = set(map(type, values))
            if self._several and ours == "recorded_response" and list in kinds:
                return None
            if object in kinds and (required or filled or ours == NAME):
                return None  # some records have it, and some have not
            if block.is_text and str in kinds:
                values = [None if isinstance(value, str) and not value.strip() else value for value in values]
            if not is_own_value(convert, kinds, values):
                try:
                    values = [
                        None if value is None or value is ABSENT else convert(value, block.is_text)
                        for value in values
                    ]
                except (UnknownWordError, WrongTypeError):
                    return None
            if filled and not all(values) and (None in values or "" in values):
                return None
            found[ours] = values
        return found

    def _missing(self, record: Record) -> MissingColumnError:
        wanted = [(ours, theirs) for ours, theirs, _, required, _ in self._columns if required]
        wanted += [(name, name) for name in self._fields]
        return missing(record, [(ours, theirs) for ours, theirs in wanted if theirs not in record.values])


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A decision in a word that ``source.selected_values`` and ``rejected_values`` do not list."""

    word: str
    column: str


def texts(records: Sequence[Record], names: Sequence[str], name: str | None) -> str:
    """Return the canonical JSON ``fields`` of a prompt: the named columns as text, null as "".

    The first of `records` that has a column gives it.

    Raises
    ------
    MissingColumnError
        If no record has the column.
    ColumnTypeError
        If a value is neither text nor a number.
    """
    fields: dict[str, str] = {} if name is None else {NAME: name}
    for column in names:
        record = next((record for record in records if column in record.values), None)
        if record is None:
            raise missing(records[0], [(column, column)])
        value = record.values[column]
        try:
            fields[column] = "" if value is None else _field(value, record.is_text)
        except WrongTypeError as error:
            raise ColumnTypeError(
                f"{record.where}: column {column!r} should be {error}, is {type(value).__name__}"
            ) from None
    return canonical_json(fields).decode()


def block_texts(
    block: ColumnBlock, columns: Sequence[str], named: Sequence[str | None] | None
) -> pa.Array | None:
    """Return what `texts` returns of each record; None where one needs a look of its own."""
    found: dict[str, list[bytes]] = {}
    for column in columns:
        encoded = block.texts(column)
        if encoded is None:
            return None
        found[column] = encoded
    if named is not None:
        if None in named:
            return None
        found.setdefault(NAME, list(map(msgspec.json.encode, named)))
    if not found:
        return pa.repeat(pa.scalar("{}"), len(block))
    begins = [
        (b"," if place else b"{") + msgspec.json.encode(key) + b":" for place, key in enumerate(sorted(found))
    ]
    parts = [found[key] for key in sorted(found)]
    columns_of_row = chain.from_iterable(zip(map(repeat, begins), parts, strict=True))
    pieces = chain.from_iterable(zip(*columns_of_row, repeat(b"}", len(block)), strict=False))
    sizes = np.full(len(block), sum(map(len, begins)) + 1)
    for part in parts:
        sizes += np.fromiter(map(len, part), np.int64, len(part))
    return text_array(b"".join(pieces), np.concatenate([[0], np.cumsum(sizes)]))


def text_array(content: bytes, ends: NDArray[np.int64]) -> pa.Array:
    """Return texts as a column, given in UTF-8 one after the other.

    Parameters
    ----------
    content : bytes
    ends : array of int
        0, and where each of them ends.

    Examples
    --------
    >>> text_array(b"abc", np.array([0, 1, 1, 3])).to_pylist()
    ['a', '', 'bc']
    """
    if ends[-1] >= 1 << 31:
        return pa.array([content[start:end].decode() for start, end in pairwise(ends.tolist())], pa.string())
    places = ends.astype(np.int32)
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(places), pa.py_buffer(content))


def _field(value: Any, is_text: bool) -> str:
    """Read a text, or a number as one: probabilities and weights are numbers."""
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return text(value, is_text)


def attributes_in_source(spec: AuditSpec) -> tuple[str, ...]:
    """Return the attributes that the source itself holds: none if they are joined or assigned."""
    if spec.demographics is not None or spec.perturb is not None:
        return ()
    imputed = spec.groups.axes_of_probabilities
    return tuple(axis for axis in spec.groups.axes if axis not in imputed)


def unit_of_sample(spec: AuditSpec) -> str:
    """What is drawn whole, as no competition may be cut: "round", "application" or "prompt".

    With a perturb section the versions that compete are made after the draw, so prompts are drawn.
    """
    pooled = spec.task in ("listwise", "pairwise") and spec.decision.round is None
    if pooled or spec.decision.round == "round_id":
        return "round"
    if spec.decision.round == "application_id" and spec.perturb is None:
        return "application"
    if spec.task in UNDECIDED and spec.perturb is None and spec.sample.size is not None:
        return "application"  # a draw must not part the versions of one prompt
    return "prompt"


def source_columns(spec: AuditSpec, further: Sequence[str] = ()) -> list[str]:
    """Return our columns that a source may give, and refuse a mapping of any other.

    Raises
    ------
    SpecError
        If ``source.columns`` maps a name that is not ours; names the nearest one.
    """
    names = [name for name in prompt_schema(()).names if name not in _FILLED_BY_US]
    names += [NAME, *attributes_in_source(spec)]
    known = [*names, *further]
    for ours in spec.source.constants:
        if ours not in _CONSTANT or ours not in names:
            able = [name for name in _CONSTANT if name in names]
            raise SpecError(
                f"source.columns.{ours}: cannot be one value for all rows{did_you_mean(ours, able)}"
            )
    for ours in spec.source.columns:
        if ours in spec.groups.axes and ours not in known:
            section = "demographics" if spec.demographics is not None else "perturb"
            raise SpecError(
                f"source.columns.{ours}: the {section} section gives this attribute; name it once"
            )
        if ours not in known:
            raise SpecError(f"source.columns.{ours}: not a column of ours{did_you_mean(ours, known)}")
    return names


def missing(record: Record, columns: Sequence[tuple[str, str]]) -> MissingColumnError:
    """Return the error that names all columns (ours, the file's) that a record lacks."""
    known = sorted(str(name) for name in record.values)
    if len(columns) == 1:
        ((ours, theirs),) = columns
        named = f"column {theirs!r}" + (f" ({ours})" if ours != theirs else "")
        near = did_you_mean(theirs, known)
        return MissingColumnError(f"{record.where}: {named} is missing{near}; map it in source.columns")
    named = ", ".join(f"{theirs!r}" + (f" ({ours})" if ours != theirs else "") for ours, theirs in columns)
    return MissingColumnError(
        f"{record.where}: {len(columns)} columns are missing: {named}; the file has {', '.join(known)}. Map them in "
        "source.columns, or give one value for all rows there, such as position: {value: nurse}"
    )
