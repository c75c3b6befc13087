"""Sigstore bundles over a run's statements: a short-lived certificate for an identity, and an entry in a public log.

A bundle holds the same statement as the envelope next to it, signed by a key that an identity provider vouched for. It
is checked offline, against a trusted root that the verifier has from elsewhere (`sigstore trust-root`, or a copy of
``trusted_root.json``), and never by asking a service.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from audit_lib.canonical import strict_json
from audit_lib.documents.run_statement import SignedMoment
from audit_lib.documents.trust import TrustedIdentity
from audit_lib.errors import AuditError, BackendError, EvidenceError, InputError

SIGSTORE: Final = "AUDIT_SIGSTORE"
"""Environment variable: ``ambient`` (the machine's identity, as in a CI job) or ``env:VARIABLE`` (a token in it)."""
CONFIG: Final = "AUDIT_SIGSTORE_CONFIG"
"""File with the services of an own instance (Sigstore's client trust config); without it the public ones."""
_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True)
class SigstoreSignature:
    """Who signed, by the trust file, and when: by the log's clock, or else not before the certificate was issued."""

    name: str
    at: datetime


def wants_bundle() -> bool:
    """Whether the environment asks for bundles."""
    return bool(os.environ.get(SIGSTORE, "").strip())


def make_bundle(payload: bytes) -> bytes:
    """Sign a statement with the identity that `AUDIT_SIGSTORE` names, and enter it in the log.

    Raises
    ------
    InputError
        If there is no such identity.
    BackendError
        If a service does not answer, or refuses.
    """
    _need_package()
    from sigstore.dsse import Statement
    from sigstore.models import ClientTrustConfig
    from sigstore.oidc import IdentityToken
    from sigstore.sign import SigningContext

    token = _token()
    try:
        own = os.environ.get(CONFIG, "").strip()
        config = (
            ClientTrustConfig.from_json(Path(own).read_text("utf-8"))
            if own
            else ClientTrustConfig.production()
        )
        with SigningContext.from_trust_config(config).signer(IdentityToken(token)) as signer:
            made: str = signer.sign_dsse(Statement(payload)).to_json()
    except Exception as error:  # noqa: BLE001 - each service has its own kinds, and their texts may hold the token
        raise BackendError(f"{SIGSTORE}: Sigstore could not sign ({type(error).__name__})") from None
    return made.encode()


def check_bundle(
    content: bytes, payload: bytes, identities: Sequence[TrustedIdentity], moment: SignedMoment, where: str
) -> SigstoreSignature:
    """Check a bundle against the identities that the verifier believes for a moment.

    Parameters
    ----------
    content : bytes
        The bundle.
    payload : bytes
        The statement that it must hold.
    identities : sequence of TrustedIdentity
        Of the trust file.
    moment : str
        ``plan`` or ``result``.
    where : str
        What an error names.

    Raises
    ------
    EvidenceError
        If it is none, holds another statement, or none of the identities signed it in its time.
    """
    _need_package()
    from sigstore.errors import Error
    from sigstore.models import Bundle, TrustedRoot
    from sigstore.verify import Verifier, policy

    try:
        strict_json(content)
        bundle = Bundle.from_json(content)
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        raise EvidenceError(f"{where}: no Sigstore bundle ({type(error).__name__})") from None
    why = f"the verifier believes no identity for the {moment}"
    for one in identities:
        if moment not in one.roles:
            continue
        try:
            root = _root(TrustedRoot, one)
            whom = policy.Identity(identity=one.identity, issuer=one.issuer)
            kind, signed = Verifier(trusted_root=root).verify_dsse(bundle, whom)
        except Error as error:
            why = f"{one.name} did not sign it ({type(error).__name__}: {str(error).splitlines()[0]})"
            continue
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
            why = f"{one.name} did not sign it ({type(error).__name__})"
            continue
        if kind != _PAYLOAD_TYPE or signed != payload:
            raise EvidenceError(f"{where}: holds another statement than the envelope next to it")
        at = _time(content, bundle)
        if not datetime.fromisoformat(one.valid_from) <= at <= datetime.fromisoformat(one.valid_until):
            why = f"{one.name} is believed from {one.valid_from} until {one.valid_until}, and signed {at}"
            continue
        return SigstoreSignature(one.name, at)
    raise EvidenceError(f"{where}: {why}")


def _root(kind: Any, identity: TrustedIdentity) -> Any:
    # The package reads it from a file alone.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trusted_root.json"
        path.write_text(identity.trusted_root, encoding="utf-8")
        return kind.from_file(str(path))


def _time(content: bytes, bundle: Any) -> datetime:
    """Return the log's time, which its promise signs and which was checked; else the begin of the certificate."""
    entry = strict_json(content)["verificationMaterial"]["tlogEntries"][0]
    if "inclusionPromise" in entry and int(entry.get("integratedTime", 0)):
        return datetime.fromtimestamp(int(entry["integratedTime"]), tz=UTC)
    begin: datetime = bundle.signing_certificate.not_valid_before_utc
    return begin


def _token() -> str:
    from sigstore.oidc import detect_credential

    kind, _, variable = os.environ.get(SIGSTORE, "").strip().partition(":")
    if kind == "env" and variable:
        token: str | None = os.environ.get(variable)
        if not token:
            raise InputError(f"{SIGSTORE}: the variable {variable} is not set")
        return token
    if kind != "ambient":
        raise InputError(f"{SIGSTORE}: write ambient, or env:VARIABLE with an identity token in the variable")
    try:
        token = detect_credential()
    except Exception as error:  # noqa: BLE001 - each platform has its own kinds
        raise BackendError(f"{SIGSTORE}: no identity could be had ({type(error).__name__})") from None
    if token is None:
        raise InputError(f"{SIGSTORE}=ambient: this machine has no identity; use env:VARIABLE")
    return token


def _need_package() -> None:
    if find_spec("sigstore") is None:
        raise AuditError("Sigstore bundles need sigstore; pip install 'audit-lib[sigstore]'")
