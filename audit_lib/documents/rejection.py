"""What an auditor signs who rejects a run: an in-toto statement about its manifest, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from audit_lib.documents.evidence import Sha256
from audit_lib.documents.sign_off import (
    TYPE,
    Lines,
    Moment,
    OneLine,
    PersonName,
    SignedPolicy,
    Signer,
    Subject,
)
from audit_lib.plain_text import is_named
from audit_lib.typed_json import Typed

PREDICATE: Final = "urn:audit-lib:rejection:1"


def _reason(words: str) -> str:
    if not is_named(words):
        raise ValueError("gives no reason")
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionPredicate(Typed):
    """Who rejected which run, when and why."""

    audit: PersonName
    window: PersonName
    spec_digest: Sha256
    policy: SignedPolicy
    auditor: PersonName
    organisation: PersonName
    reason: Annotated[Lines, AfterValidator(_reason)]
    signer: Signer
    account: OneLine | None
    rejected_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionStatement(Typed):
    """The payload of ``rejection/statement.dsse.json``."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = TYPE
    subject: Annotated[tuple[Subject, ...], Field(min_length=1, max_length=1)]
    predicateType: Literal["urn:audit-lib:rejection:1"] = PREDICATE  # noqa: N815 - in-toto's spelling
    predicate: RejectionPredicate

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "_type": self.type,
            "subject": [one.as_dict() for one in self.subject],
            "predicateType": self.predicateType,
            "predicate": self.predicate.as_dict(),
        }
