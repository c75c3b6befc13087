"""The file of `audit access`: everything that a run holds about one person, with the proof of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from audit_lib.documents.evidence import Sha256
from audit_lib.documents.record_proof import RecordProof
from audit_lib.typed_json import OPTIONAL, Count, Typed

ACCESS_SCHEMA: Final = "audit-access/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion(Typed):
    """What was asked about a version of the application, in the bytes whose digest is in its proved score record."""

    variant_id: str
    request_digest: Sha256
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalData(Typed):
    """One applicant's data."""

    schema: Literal["audit-access/1"] = ACCESS_SCHEMA
    application: str
    title: str
    """Of the audit."""
    model: str
    proof: RecordProof
    """All of the applicant's score records, which the tree in the manifest proves to be all."""
    questions: tuple[AskedQuestion, ...]
    rows: Mapping[str, tuple[Mapping[str, JsonValue], ...]]
    """Path of a table -> the applicant's rows of it; no digest proves these one by one."""
    shared: Mapping[str, Count]
    """Path of a table -> rows left out since they hold other applicants' texts too."""
    erased: Mapping[str, Count] | None = field(default=None, metadata=OPTIONAL)
    """Path of a table -> parts of it, each encrypted for this applicant together with somebody who was erased, that
    cannot be read any more; where there are any."""
