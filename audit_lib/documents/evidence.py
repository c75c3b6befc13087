"""What a run says of its own files: a stage's record, the manifest, and the records of attempts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, Field

from audit_lib.canonical import (
    canonical_json,
    check_depth,
    check_size,
    pretty_json,
    strict_json,
    whole_number,
)
from audit_lib.errors import EvidenceError
from audit_lib.typed_json import OPTIONAL, Typed, decode

MANIFEST_SCHEMA: Final = "audit-manifest/2"
ATTEMPT_SCHEMA: Final = "audit-attempt/2"
FIRST_MANIFEST: Final = "audit-manifest/1"
"""Schema of the manifests that did not list the stages' records; they are read, and not written."""

SALTED_LEAVES: Final = "evidence/salted_leaves.txt"
"""The hashes of all leaves of the tree over score records in their order, in hex, a line each."""

T = TypeVar("T", bound=Typed)

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
WholeNumber = Annotated[int, Field(ge=0)]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
_Library = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,40}$|^scores:[A-Za-z0-9_.-]{1,60}$")]
_Version = Annotated[
    str, Field(pattern=r"^(?:[A-Za-z0-9_.+!~-]{1,80}(?:, )?)+$|^not installed as a package$")
]
Versions = Mapping[_Library, _Version]


def check_instant(words: str) -> str:
    """Return an instant with an offset, written as this library writes one; raise ValueError for any other text."""
    instant = datetime.fromisoformat(words)
    if instant.tzinfo is None:
        raise ValueError("has no UTC offset")
    try:
        utc = instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies beyond all years in UTC") from None
    if words not in (utc.isoformat(timespec="milliseconds"), utc.isoformat()):
        raise ValueError("is written in another form than this library's")
    return words


Instant = Annotated[str, AfterValidator(check_instant)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile(Typed):
    """What a stage's record says of an artefact."""

    sha256: Sha256
    bytes: WholeNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile(Typed):
    """A file of the run, with its digest."""

    path: str
    sha256: Sha256
    bytes: WholeNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTree(Typed):
    """The Merkle tree over score records, a leaf for each application."""

    applications: Annotated[int, Field(ge=1)]
    records: Annotated[int, Field(ge=1)]
    root: Sha256
    salted_leaves: ListedFile | None = field(default=None, metadata=OPTIONAL)
    """`SALTED_LEAVES`, where the leaves are salted: in runs whose rows are encrypted, and not in every one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord(Typed):
    """``_SUCCESS``: the artefacts of a stage by name, its counts, and when it began and ended.

    The manifest lists each stage's record with its digest. The record of what seals (evidence, a failed attempt, a
    sign-off) has its times from what it seals.
    """

    artefacts: Mapping[str, WrittenFile]
    counts: Mapping[_Name, WholeNumber]
    started_at: str
    finished_at: str

    @property
    def finished(self) -> datetime:
        """When the stage ended.

        Raises
        ------
        EvidenceError
            If the record has no time there.
        """
        try:
            return datetime.fromisoformat(self.finished_at)
        except ValueError:
            raise EvidenceError("a stage's record has no time as finished_at") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Typed):
    """``evidence/manifest.json``: all artefacts of a run, and what it ended as.

    Format 1 has no `records`, `record_tree`, `environment` and `sealed_at`; format 2 has them all.
    """

    schema: Literal["audit-manifest/1", "audit-manifest/2"] = MANIFEST_SCHEMA
    audit: str
    window: str
    spec_digest: str
    outcome: str
    status: Literal["not signed"] = "not signed"
    stages: tuple[str, ...]
    artefacts: tuple[ListedFile, ...]
    attempts: Annotated[tuple[ListedFile, ...], Field(min_length=1)] | None = field(
        default=None, metadata=OPTIONAL
    )
    """Files of the attempts until then; format 1 listed those that failed before."""
    records: tuple[ListedFile, ...] | None = field(default=None, metadata=OPTIONAL)
    """``_SUCCESS`` of each stage."""
    record_tree: RecordTree | None = field(default=None, metadata=OPTIONAL)
    environment: ListedFile | None = field(default=None, metadata=OPTIONAL)
    """``evidence/environment.json``."""
    redacted: tuple[ListedFile, ...] | None = field(default=None, metadata=OPTIONAL)
    """``evidence/redacted/``: what lies in a redacted copy in place of tables of rows; not in every format 2."""
    store: ListedFile | None = field(default=None, metadata=OPTIONAL)
    """``store/lock.json``, where the store was looked at before the model was asked."""
    sealed_at: Instant | None = field(default=None, metadata=OPTIONAL)
    software: Versions

    @property
    def is_first_format(self) -> bool:
        """Whether it lists no records of stages."""
        return self.schema == FIRST_MANIFEST

    @property
    def is_whole(self) -> bool:
        """Whether it has what its format has, and nothing more."""
        of_format_2 = (self.records, self.record_tree, self.environment, self.sealed_at)
        later = [one is not None for one in of_format_2]
        return not any((*later, self.redacted is not None)) if self.is_first_format else all(later)

    @property
    def digests(self) -> dict[str, str]:
        """Path -> SHA-256 of what it lists."""
        return {entry.path: entry.sha256 for entry in self.artefacts}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFault(Typed):
    """What went wrong in a stage: the error's type, and its message without secrets."""

    stage: str
    type: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedAttempt(Typed):
    """``_STARTED``: who began the attempt, and when."""

    by: str
    started_at: Instant


AttemptOutcome = Literal["failed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt(Typed):
    """``manifest.json`` of an attempt that did not end in sealed evidence."""

    schema: Literal["audit-attempt/1", "audit-attempt/2"] = ATTEMPT_SCHEMA
    audit: str
    window: str
    spec_digest: Sha256
    number: Annotated[int, Field(ge=1)]
    outcome: AttemptOutcome
    status: Literal["not signed"] = "not signed"
    faults: Annotated[tuple[AttemptFault, ...], Field(min_length=1)]
    stages: tuple[str, ...]
    artefacts: tuple[ListedFile, ...]
    earlier: tuple[ListedFile, ...]
    """Files of the attempts before, and since format 2 this one's ``_STARTED``."""
    ended_at: Instant | None = field(default=None, metadata=OPTIONAL)
    """Since format 2; the times of its ``_SUCCESS`` are this one."""
    software: Versions

    @property
    def is_whole(self) -> bool:
        """Whether it has what its format has, and nothing more."""
        return (self.ended_at is None) == (self.schema == "audit-attempt/1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel(Typed):
    """An entry of ``served.json``: a model that answered, under the name that the endpoint gave, how often, and with
    how many tokens; tokens that nobody counts are 0.
    """

    step: Annotated[int, Field(ge=1)] | None = field(default=None, metadata=OPTIONAL)
    model: str
    system_fingerprint: str | None
    answers: Annotated[int, Field(ge=1)]
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]


def record_bytes(record: StageRecord) -> bytes:
    """Return a stage's record as it is written: names in order."""
    ordered = StageRecord(
        artefacts=dict(sorted(record.artefacts.items())),
        counts=dict(sorted(record.counts.items())),
        started_at=record.started_at,
        finished_at=record.finished_at,
    )
    return pretty_json(ordered.as_dict())


def started_bytes(started: StartedAttempt) -> bytes:
    """Return ``_STARTED`` as it is written."""
    return pretty_json(started.as_dict())


def sealed_bytes(document: Manifest | FailedAttempt) -> bytes:
    """Return a manifest, or the record of a failed attempt, as it is written."""
    return canonical_json(document.as_dict())


def decode_exact(kind: type[T], content: bytes, where: str, written: Callable[[T], bytes]) -> T:
    """Read a document that must be in the very bytes that this library writes.

    Raises
    ------
    EvidenceError
        If it is not strict JSON, holds anything else than `kind` says, or in other bytes than `written` makes.

    Examples
    --------
    >>> decode_exact(StartedAttempt, b'{"by": "audit run"}', "_STARTED", started_bytes)
    Traceback (most recent call last):
    audit_lib.errors.EvidenceError: _STARTED: started_at: is missing
    """
    try:
        strict_json(content)
    except ValueError as error:
        raise EvidenceError(f"{where}: {error}") from None
    found = decode(kind, content, where)
    if written(found) != content:
        raise EvidenceError(f"{where}: holds its values in other bytes than this library writes")
    return found


def read_stage_record(content: bytes, where: str) -> StageRecord:
    """Read ``_SUCCESS``, or raise EvidenceError."""
    try:
        strict_json(content)
    except ValueError as error:
        raise EvidenceError(f"{where}: {error}") from None
    return decode(StageRecord, content, where)


def is_instant(text: object) -> bool:
    """Whether this is an instant with an offset, as this library writes one."""
    try:
        check_instant(str(text))
    except ValueError:
        return False
    return True


def odd_json(content: bytes) -> str:
    """Return what is odd about a JSON artefact; empty where it is as this library writes JSON."""
    if _is_as_written(content):
        return ""
    try:
        strict_json(content)
    except ValueError as error:
        return str(error)
    return "holds its values in other bytes than this library writes"


def _is_as_written(content: bytes) -> bool:
    """Whether the value that any reader finds has these bytes: then no key comes twice, and each number is one."""
    try:
        check_size(content)
        document: Any = json.loads(content.decode("utf-8"), parse_int=whole_number)
        check_depth(document)
        return content == pretty_json(document) or content == canonical_json(document)
    except (ValueError, RecursionError):
        return False
