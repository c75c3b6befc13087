"""The signature of a decision on a baseline: a DSSE envelope next to it, over the whole decision.

The statement names the file and its SHA-256, and repeats what was decided: the runs with the digests of their
manifests, the settings, who decided and why.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.sequences import Baseline
from audit_lib.documents.sign_off import TYPE
from audit_lib.errors import EvidenceError
from audit_lib.monitor.baseline import baseline_key, signature_key
from audit_lib.signing.keys import key_id
from audit_lib.signoff.envelope import seal, unseal
from audit_lib.store import Store

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PREDICATE: Final = "urn:audit-lib:baseline:1"


def sign_baseline(baseline: Baseline, key: Ed25519PrivateKey) -> bytes:
    """Return the signed statement of a decision."""
    return seal(_statement(baseline), key)


def check_baseline(store: Store, baseline: Baseline, trusted: Sequence[Ed25519PublicKey]) -> str:
    """Check that one of the trusted keys signed a decision as it is; return the key's id.

    Raises
    ------
    EvidenceError
        If it is not signed, or none of the keys signed it, or something else was signed.
    """
    place = signature_key(baseline)
    where = store.uri(place)
    if not store.exists(place):
        raise EvidenceError(
            f"{store.uri(baseline_key(baseline))}: baseline {baseline.number} of {baseline.audit} is not signed; "
            "decide it again with --key, or leave out --trust"
        )
    content = store.get(place)
    for key in trusted:
        try:
            unseal(content, key, where)
        except EvidenceError:
            continue
        if base64.b64decode(json.loads(content)["payload"]) != canonical_json(_statement(baseline)):
            raise EvidenceError(f"{where}: something else was signed than baseline {baseline.number} says")
        return key_id(key)
    raise EvidenceError(
        f"{where}: none of the trusted keys signed baseline {baseline.number} of {baseline.audit} "
        f"({', '.join(key_id(key)[:16] for key in trusted)})"
    )


def _statement(baseline: Baseline) -> dict[str, object]:
    name, decided = baseline_key(baseline), baseline.as_dict()
    return {
        "_type": TYPE,
        "subject": [{"name": name, "digest": {"sha256": sha256(pretty_json(decided))}}],
        "predicateType": PREDICATE,
        "predicate": decided,
    }
