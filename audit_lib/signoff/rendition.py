"""What the signed report prints of its signature."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from audit_lib.report.signature import Signature
from audit_lib.signoff.keys import key_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def signature_of(predicate: Mapping[str, Any], key: Ed25519PublicKey) -> Signature:
    """Return the signature as the report prints it."""
    return Signature(
        auditor=predicate["auditor"],
        organisation=predicate["organisation"],
        signed_at=datetime.fromisoformat(predicate["signed_at"]),
        number=predicate["number"],
        key_id=key_id(key),
        by_service=predicate["signer"] == "service",
        account=predicate["account"],
        attestations=tuple((one["text"], one["cite"]) for one in predicate["attestations"]),
        remarks=predicate["remarks"],
        supersedes=predicate["supersedes"],
    )
