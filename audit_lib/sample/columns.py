"""The file's columns become ours: named by the mapping, checked for presence and type."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

import pyarrow as pa

from audit_lib.canonical import canonical_json
from audit_lib.errors import ColumnTypeError, MissingColumnError, SpecError
from audit_lib.records import answers_as_text, prompt_schema
from audit_lib.registry import did_you_mean
from audit_lib.sample.tables import Record
from audit_lib.spec import UNDECIDED, AuditSpec

NAME: Final = "name"
"""The key of ``fields`` that holds the candidate's name, by which rankings are matched."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FILLED_BY_US = ("fields", "provenance")
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Columns:
    """Reads chosen columns of ours from records.

    Parameters
    ----------
    mapping : mapping of str to str
        Our column -> the file's, where they differ (``source.columns`` of the spec).
    names : sequence of str
        Our columns to read: those of a prompt, the attributes, and `NAME`.
    required : collection of str
        Those that every record must have, besides the ones that `mapping` names.
    filled : collection of str
        Those that may not be null where they are present.
    time_format : {"iso8601", "unix_s"}
        How instants are written.
    several : bool
        Whether ``recorded_response`` may be a list: several answers to one prompt.
    """

    def __init__(
        self,
        mapping: Mapping[str, str],
        names: Sequence[str],
        *,
        required: Collection[str],
        filled: Collection[str],
        time_format: str,
        several: bool = False,
    ) -> None:
        self._several = several
        kinds = {field.name: field.type for field in prompt_schema(())}
        self._columns = [
            (
                ours,
                mapping.get(ours, ours),
                _converter(kinds.get(ours, pa.string()), time_format),
                ours in required or ours in mapping,
                ours in filled,
            )
            for ours in names
        ]

    def read(self, record: Record) -> dict[str, Any]:
        """Return our columns of a record; those that it need not have, and has not, are left out.

        Raises
        ------
        MissingColumnError
            If a column is not there; names the file, the line and the nearest column.
        ColumnTypeError
            If a value is of another type, or null where it may not be.
        """
        row: dict[str, Any] = {}
        for ours, theirs, convert, required, filled in self._columns:
            if theirs not in record.values:
                if required:
                    raise _missing(record, ours, theirs)
                continue
            value = record.values[theirs]
            if self._several and ours == "recorded_response" and isinstance(value, list):
                value = answers_as_text(value) or value
            try:
                row[ours] = None if value is None else convert(value, record.is_text)
            except _WrongTypeError as error:
                found = "text" if isinstance(value, str) else type(value).__name__
                raise ColumnTypeError(
                    f"{record.where}: column {theirs!r} ({ours}) should be {error}, is {found}"
                ) from None
            if filled and row[ours] in (None, ""):
                raise ColumnTypeError(
                    f"{record.where}: column {theirs!r} ({ours}) is empty; every row needs it"
                )
        return row


def texts(records: Sequence[Record], names: Sequence[str], name: str | None) -> str:
    """Return the canonical JSON ``fields`` of a prompt: the named columns as text, null as "".

    The first of `records` that has a column gives it.

    Raises
    ------
    MissingColumnError
        If no record has the column.
    ColumnTypeError
        If a value is neither text nor a whole number.
    """
    fields: dict[str, str] = {} if name is None else {NAME: name}
    for column in names:
        record = next((record for record in records if column in record.values), None)
        if record is None:
            raise _missing(records[0], column, column)
        value = record.values[column]
        try:
            fields[column] = "" if value is None else _text(value, record.is_text)
        except _WrongTypeError as error:
            raise ColumnTypeError(
                f"{record.where}: column {column!r} should be {error}, is {type(value).__name__}"
            ) from None
    return canonical_json(fields).decode()


def attributes_in_source(spec: AuditSpec) -> tuple[str, ...]:
    """Return the attributes that the source itself holds: none if they are joined or assigned."""
    return () if spec.demographics is not None or spec.perturb is not None else spec.groups.axes


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
    for ours in spec.source.columns:
        if ours in spec.groups.axes and ours not in known:
            section = "demographics" if spec.demographics is not None else "perturb"
            raise SpecError(
                f"source.columns.{ours}: the {section} section gives this attribute; name it once"
            )
        if ours not in known:
            raise SpecError(f"source.columns.{ours}: not a column of ours{did_you_mean(ours, known)}")
    return names


class _WrongTypeError(Exception):
    """Carries the name of the type that was expected."""


def _missing(record: Record, ours: str, theirs: str) -> MissingColumnError:
    named = f"column {theirs!r}" + (f" ({ours})" if ours != theirs else "")
    near = did_you_mean(theirs, sorted(str(name) for name in record.values))
    return MissingColumnError(f"{record.where}: {named} is missing{near}; map it in source.columns")


def _converter(kind: pa.DataType, time_format: str) -> Callable[[Any, bool], Any]:
    if pa.types.is_timestamp(kind):
        return _unix_seconds if time_format == "unix_s" else _iso8601
    return {pa.string(): _text, pa.int32(): _integer, pa.float64(): _number, pa.bool_(): _boolean}[kind]


def _text(value: Any, is_text: bool) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # ids are often numbers
    raise _WrongTypeError("text")


def _integer(value: Any, is_text: bool) -> int:
    if is_text:
        try:
            value = int(value)
        except ValueError:
            raise _WrongTypeError("a whole number") from None
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise _WrongTypeError("a whole number")
    return value


def _number(value: Any, is_text: bool) -> float:
    if is_text:
        try:
            value = float(value)
        except ValueError:
            raise _WrongTypeError("a number") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _WrongTypeError("a finite number")
    return float(value)


def _boolean(value: Any, is_text: bool) -> bool:
    if is_text:
        value = _TRUTH.get(value.strip().lower())
    if not isinstance(value, bool):
        raise _WrongTypeError("true or false")
    return value


def _iso8601(value: Any, is_text: bool) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise _WrongTypeError("an ISO 8601 date or instant") from None
    if not isinstance(value, date):
        raise _WrongTypeError("an ISO 8601 date or instant (source.time_format: unix_s reads seconds)")
    instant = value if isinstance(value, datetime) else datetime.combine(value, time())
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _unix_seconds(value: Any, is_text: bool) -> datetime:
    if isinstance(value, datetime):  # Parquet may type its instants
        return _iso8601(value, is_text)
    seconds = _number(value, is_text)
    try:
        return _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        raise _WrongTypeError("seconds since 1970 (not milliseconds)") from None
