"""The shape of a signed statement: what lies in a store may come from anybody, and is checked once, when read."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from audit_lib.errors import EvidenceError
from audit_lib.signoff.statement import PREDICATE, TYPE, Signer, is_named, is_text


def _line(words: str) -> str:
    if not is_text(words):
        raise ValueError("holds a control, formatting or invisible character")
    return words


def _lines(words: str) -> str:
    if not is_text(words, lines=True):
        raise ValueError("holds a control, formatting or invisible character")
    return words


def _type(words: str) -> str:
    if words != TYPE:
        raise ValueError(f"is not {TYPE}")
    return words


def _predicate_type(words: str) -> str:
    if words != PREDICATE:
        raise ValueError(f"is not {PREDICATE}")
    return words


def _name(words: str) -> str:
    if not is_named(words):
        raise ValueError("names nothing")
    return _line(words)


def _instant(words: str) -> str:
    moment = datetime.fromisoformat(words)
    if moment.tzinfo is None or moment.astimezone(UTC).isoformat(timespec="seconds") != words:
        raise ValueError("is no instant in UTC")
    return words


Line = Annotated[str, AfterValidator(_line)]
Lines = Annotated[str, AfterValidator(_lines)]
Name = Annotated[str, AfterValidator(_name)]
Instant = Annotated[str, AfterValidator(_instant)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_PLACE: Final = r"^[^/]+/[^/]+/[0-9a-f]{16}/signoff/[1-9][0-9]*$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Digest(_Strict):
    sha256: Sha256


class _Subject(_Strict):
    name: Name
    digest: _Digest


class _Policy(_Strict):
    name: Name
    version: Name


class _Attestation(_Strict):
    id: Name
    text: Name
    cite: Name


class _Supersedes(_Strict):
    statement_sha256: Sha256
    run: Annotated[Line, Field(pattern=_PLACE)]
    reason: Lines


class _Predicate(_Strict):
    audit: Name
    window: Name
    spec_digest: Sha256
    number: Annotated[int, Field(ge=1)]
    policy: _Policy
    auditor: Name
    organisation: Name
    attestations: list[_Attestation]
    remarks: Lines
    signer: Signer
    account: Line | None
    signed_at: Instant
    supersedes: _Supersedes | None


class _Statement(_Strict):
    type: Annotated[str, AfterValidator(_type), Field(alias="_type")]
    subject: Annotated[list[_Subject], Field(min_length=1)]
    predicateType: Annotated[str, AfterValidator(_predicate_type)]  # noqa: N815 - in-toto's spelling
    predicate: _Predicate


def read_statement(content: bytes, where: str) -> dict[str, Any]:
    """Return the statement in an envelope; whether its signature holds is for `envelope.unseal`.

    Raises
    ------
    EvidenceError
        If it is none, or holds anything but what a sign-off says; the message names the first place.
    """
    try:
        statement = json.loads(base64.b64decode(json.loads(content)["payload"], validate=True))
        _Statement.model_validate(statement)
    except ValidationError as error:
        first = error.errors()[0]
        place = ascii(".".join(map(str, first["loc"])))  # a key may be anybody's words
        raise EvidenceError(f"{where}: not a signed statement: {first['type']} at {place}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None
    found: dict[str, Any] = statement
    return found
