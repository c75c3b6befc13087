"""Time stamps of RFC 3161: asked of an authority when something is signed, and checked against a given certificate."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from audit_lib.errors import AuditError, BackendError, EvidenceError, InputError

AUTHORITY: Final = "AUDIT_TIMESTAMP_URL"
"""Environment variable with the URL of the authority that is asked."""
OWN: Final = "AUDIT_TIMESTAMP_OWN"
"""Environment variable that is ``yes`` where whoever runs the audit runs the authority too, as the demo does."""
_LARGEST: Final = 1 << 20
_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """What a time stamp says that holds: when, and who says so."""

    at: datetime
    authority: str
    independent: bool


def ask_for_stamp(content: bytes) -> bytes:
    """Return a time stamp over `content` from the authority that `AUDIT_TIMESTAMP_URL` names.

    Raises
    ------
    BackendError
        If the authority does not answer, or not with a stamp over this content.
    """
    url = os.environ.get(AUTHORITY, "").strip()
    _need_package()
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    if not url.startswith(("http://", "https://")):
        raise InputError(f"{AUTHORITY}: not the http or https address of an authority")
    asked = TimestampRequestBuilder().data(content).hash_algorithm(HashAlgorithm.SHA256).build()
    request = urllib.request.Request(url, asked.as_bytes(), {"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as reply:
            answer: bytes = reply.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "reason", error)
        raise BackendError(
            f"{AUTHORITY}: the authority at {urlsplit(url).hostname} did not answer "
            f"({type(cause).__name__}); try again, name another, or unset it to go on without time stamps"
        ) from None
    said = _decoded(answer, "the authority's answer")
    if said.tst_info.nonce != asked.nonce:
        raise BackendError("the time stamping authority answered another question (nonce)")
    _check_imprint(said, content, "the authority's answer")
    return answer


def check_stamp(answer: bytes, content: bytes, authorities: Sequence[Any], where: str) -> TimeStamp:
    """Return the time that a stamp says, checked against the authorities that the verifier trusts.

    Parameters
    ----------
    answer : bytes
        As the authority gave it.
    content : bytes
        What it must be over.
    authorities : sequence of TrustedAuthority
        Of the trust file.
    where : str
        What an error names.

    Raises
    ------
    EvidenceError
        If it is none, over something else, or of no trusted authority.
    """
    _need_package()
    from cryptography.x509 import load_pem_x509_certificate
    from rfc3161_client import VerificationError, VerifierBuilder

    said = _decoded(answer, where)
    _check_imprint(said, content, where)
    why = "the verifier trusts no authority"
    for authority in authorities:
        try:
            certificates = [load_pem_x509_certificate(pem.encode()) for pem in authority.certificates]
            builder = VerifierBuilder(roots=certificates[:1], intermediates=certificates[1:])
            builder.build().verify_message(said, content)
        except (VerificationError, ValueError) as error:
            why = f"{authority.name} did not sign it ({type(error).__name__})"
            continue
        return TimeStamp(_instant(said), authority.name, authority.independent)
    raise EvidenceError(f"{where}: not a time stamp of a trusted authority: {why}")


def claimed_stamp(answer: bytes, content: bytes, where: str) -> datetime:
    """Return the time that a stamp over `content` says, whoever signed it.

    Raises
    ------
    EvidenceError
        If it is none, or over something else.
    """
    _need_package()
    said = _decoded(answer, where)
    _check_imprint(said, content, where)
    return _instant(said)


def _instant(said: Any) -> datetime:
    at: datetime = said.tst_info.gen_time
    return at.astimezone(UTC)


def _decoded(answer: bytes, where: str) -> Any:
    from rfc3161_client import decode_timestamp_response

    try:
        said = decode_timestamp_response(answer)
        if said.as_bytes() != answer:
            raise ValueError("other bytes")
        said.tst_info  # noqa: B018 - reads the token, which may be none
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        raise EvidenceError(f"{where}: not a time stamp ({type(error).__name__})") from None
    return said


def _check_imprint(said: Any, content: bytes, where: str) -> None:
    from hashlib import new

    names = {
        "2.16.840.1.101.3.4.2.1": "sha256",
        "2.16.840.1.101.3.4.2.2": "sha384",
        "2.16.840.1.101.3.4.2.3": "sha512",
    }
    imprint = said.tst_info.message_imprint
    name = names.get(imprint.hash_algorithm.dotted_string)
    if name is None or new(name, content).digest() != imprint.message:
        raise EvidenceError(f"{where}: a time stamp over something else")


def _need_package() -> None:
    if find_spec("rfc3161_client") is None:
        raise AuditError("time stamps need rfc3161-client; pip install 'audit-lib[sign]'")
