"""What the key of a run signs: its plan before the model is asked, and its result after, as in-toto statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from audit_lib.documents.evidence import Sha256
from audit_lib.documents.sign_off import TYPE, Moment, PersonName, Subject
from audit_lib.typed_json import OPTIONAL, Typed

PLAN_PREDICATE: Final = "urn:audit-lib:plan:1"
RESULT_PREDICATE: Final = "urn:audit-lib:result:1"
SignedMoment = Literal["plan", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHead(Typed):
    """An entry of the journal of attempts, by which all entries before it are fixed."""

    number: Annotated[int, Field(ge=1)]
    sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPredicate(Typed):
    """What is said about the files of the subject."""

    audit: PersonName
    window: PersonName
    spec_digest: Sha256
    outcome: str | None = field(default=None, metadata=OPTIONAL)
    """Of the result, as the manifest says."""
    journal: JournalHead | None = field(default=None, metadata=OPTIONAL)
    """The run's own entry."""
    own_authority: Literal[True] | None = field(default=None, metadata=OPTIONAL)
    """Whoever runs the audit runs the time stamping authority too, as the signer says: it is not independent."""
    claimed_at: Moment
    """By the signer's clock: only claimed, unless a time stamp is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatement(Typed):
    """The payload of ``signatures/plan.dsse.json`` and ``signatures/result.dsse.json``."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = TYPE
    subject: Annotated[tuple[Subject, ...], Field(min_length=1)]
    predicateType: Literal["urn:audit-lib:plan:1", "urn:audit-lib:result:1"]  # noqa: N815 - in-toto's spelling
    predicate: RunPredicate

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "_type": self.type,
            "subject": [one.as_dict() for one in self.subject],
            "predicateType": self.predicateType,
            "predicate": self.predicate.as_dict(),
        }
