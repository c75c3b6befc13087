"""What an auditor signs: an in-toto statement (https://in-toto.io/Statement/v1), as a sign-off holds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from audit_lib.documents.evidence import Sha256, check_instant
from audit_lib.plain_text import is_named, is_text
from audit_lib.typed_json import Typed

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:audit-lib:sign-off:1"
Signer = Literal["auditor", "service"]
_PLACE: Final = r"^[^/]+/[^/]+/[0-9a-f]{16}/signoff/[1-9][0-9]*$"


def _line(words: str) -> str:
    if not is_text(words):
        raise ValueError("holds a control, formatting or invisible character")
    return words


def _lines(words: str) -> str:
    if not is_text(words, lines=True):
        raise ValueError("holds a control, formatting or invisible character")
    return words


def _name(words: str) -> str:
    if not is_named(words):
        raise ValueError("names nothing")
    return _line(words)


def _instant(words: str) -> str:
    if datetime.fromisoformat(check_instant(words)).isoformat(timespec="seconds") != words:
        raise ValueError("is no instant in UTC")
    return words


OneLine = Annotated[str, AfterValidator(_line)]
Lines = Annotated[str, AfterValidator(_lines)]
PersonName = Annotated[str, AfterValidator(_name)]
Moment = Annotated[str, AfterValidator(_instant)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectDigest(Typed):
    """The digest of a file that was signed."""

    sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Typed):
    """A file that was signed."""

    name: PersonName
    digest: SubjectDigest


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPolicy(Typed):
    """The policy under which the statement was made."""

    name: PersonName
    version: PersonName


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation(Typed):
    """A sentence that the auditor affirms, and the paragraph that asks for it."""

    id: PersonName
    text: PersonName
    cite: PersonName


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded(Typed):
    """The earlier statement that a statement takes the place of."""

    statement_sha256: Sha256
    run: Annotated[OneLine, Field(pattern=_PLACE)]
    """Its folder in the store."""
    reason: Lines

    @property
    def prefix(self) -> str:
        """Folder of the run that it is of."""
        return self.run.split("/signoff/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate(Typed):
    """What is said about the files that were signed."""

    audit: PersonName
    window: PersonName
    spec_digest: Sha256
    number: Annotated[int, Field(ge=1)]
    policy: SignedPolicy
    auditor: PersonName
    organisation: PersonName
    attestations: tuple[Attestation, ...]
    remarks: Lines
    signer: Signer
    account: OneLine | None
    signed_at: Moment
    supersedes: Superseded | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedStatement(Typed):
    """The payload of ``statement.dsse.json``."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = TYPE
    subject: Annotated[tuple[Subject, ...], Field(min_length=1)]
    predicateType: Literal["urn:audit-lib:sign-off:1"] = PREDICATE  # noqa: N815 - in-toto's spelling
    predicate: Predicate

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "_type": self.type,
            "subject": [one.as_dict() for one in self.subject],
            "predicateType": self.predicateType,
            "predicate": self.predicate.as_dict(),
        }
