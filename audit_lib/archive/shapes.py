"""What the documents of the evidence may hold: nothing but what this library writes, in the bytes that it writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from audit_lib.canonical import canonical_json, pretty_json, strict_json
from audit_lib.errors import EvidenceError

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
_NAME: Final = r"^[a-z][a-z0-9_]{0,63}$"
_VERSION: Final = r"^(?:[A-Za-z0-9_.+!~-]{1,80}(?:, )?)+$|^not installed as a package$"
_LIBRARY: Final = r"^[a-z][a-z0-9_.-]{0,40}$|^scores:[A-Za-z0-9_.-]{1,60}$"


def _instant(words: str) -> str:
    instant = datetime.fromisoformat(words)
    if instant.tzinfo is None:
        raise ValueError("has no UTC offset")
    utc = instant.astimezone(UTC)
    if words not in (utc.isoformat(timespec="milliseconds"), utc.isoformat()):
        raise ValueError("is written in another form than this library's")
    return words


Instant = Annotated[str, AfterValidator(_instant)]
Versions = dict[Annotated[str, Field(pattern=_LIBRARY)], Annotated[str, Field(pattern=_VERSION)]]


class Strict(BaseModel):
    """A document without any other key, whose values are of their types already."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Written(Strict):
    """What a stage's record says of an artefact."""

    sha256: Sha256
    bytes: Count


class Entry(Strict):
    """A file of the run, with its digest."""

    path: str
    sha256: Sha256
    bytes: Count


class StageRecord(Strict):
    """``_SUCCESS``. Its times are checked with those of the other stages, which says more."""

    artefacts: dict[str, Written]
    counts: dict[Annotated[str, Field(pattern=_NAME)], Count]
    started_at: Any
    finished_at: Any


class Manifest(Strict):
    """``evidence/manifest.json``; those of earlier versions list no attempts."""

    schema_: Annotated[Literal["audit-manifest/1"], Field(alias="schema")]
    audit: str
    window: str
    spec_digest: str
    outcome: str
    status: Literal["not signed"]
    stages: list[str]
    artefacts: list[Entry]
    attempts: Annotated[list[Entry], Field(min_length=1)] | None = None
    software: Versions


class Served(Strict):
    """An entry of ``served.json``."""

    step: Annotated[int, Field(ge=1)] | None = None
    model: str
    system_fingerprint: str | None
    answers: Annotated[int, Field(ge=1)]


Some = TypeVar("Some", bound=Strict)


def read_shape(
    kind: type[Some], content: bytes, where: str, written: Callable[[Any], bytes] = canonical_json
) -> Some:
    """Read a document of the evidence.

    Raises
    ------
    EvidenceError
        If it is not strict JSON, holds anything else than `kind` says, or not in the bytes that `written` makes. The
        message repeats no value.
    """
    try:
        document = strict_json(content)
        found = kind.model_validate(document)
        if written(document) != content:
            raise EvidenceError(f"{where}: holds its values in other bytes than this library writes")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ascii(".".join(map(str, first["loc"])))  # a key may be anybody's words
        raise EvidenceError(f"{where}: {first['type'].replace('_', ' ')} at {place}") from None
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{where}: {error}") from None
    return found


def record_bytes(document: Any) -> bytes:
    """Return a stage's record as `StageFolder.commit` writes it."""
    artefacts = {
        name: {key: entry[key] for key in ("sha256", "bytes")}
        for name, entry in sorted(document["artefacts"].items())
    }
    times = {key: document[key] for key in ("started_at", "finished_at")}
    return pretty_json({"artefacts": artefacts, "counts": dict(sorted(document["counts"].items())), **times})


def is_time(text: object) -> bool:
    """Whether this is an instant with an offset, as this library writes one."""
    try:
        _instant(str(text))
    except ValueError:
        return False
    return True


def odd_json(content: bytes) -> str:
    """Return what is odd about a JSON artefact; empty where it is as this library writes JSON."""
    try:
        document = strict_json(content)
        if content not in (pretty_json(document), canonical_json(document)):
            return "holds its values in other bytes than this library writes"
    except (ValueError, RecursionError) as error:
        return str(error) if isinstance(error, ValueError) else "is nested too deeply"
    return ""
