"""The sealed run that is to be reproduced: a folder, a URI, or a bag; verified before anything else."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.archive.manifest import MANIFEST
from audit_lib.bag import check_bag, open_bag, unpack
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import EvidenceError, InputError
from audit_lib.run import Run
from audit_lib.signing.trust import Trust
from audit_lib.signoff import VerificationOptions, verify_signed
from audit_lib.store import open_store

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBundle:
    """A sealed run whose evidence verifies.

    Attributes
    ----------
    run : Run
    manifest : Manifest
    manifest_sha256 : str
        What identifies the run.
    """

    run: Run
    manifest: Manifest
    manifest_sha256: str


@contextmanager
def sealed_bundle(
    what: str,
    trusted: Sequence[Ed25519PublicKey] = (),
    trust: Trust | None = None,
    notify: Callable[[str], None] = lambda message: None,
) -> Iterator[SealedBundle]:
    """Open and verify a sealed run; a bag is unpacked into a folder that is removed at the end.

    Raises
    ------
    EvidenceError
        If it does not verify, or nothing of it is sealed: what a forged bundle says needs no reproduction.
    InputError
        If a bag does not hold exactly one run.
    """
    if not Path(what).is_file():
        yield _verified(what, trusted, trust, notify)
        return
    with tempfile.TemporaryDirectory(prefix="audit-reproduce-") as folder, open_bag(Path(what)) as bag:
        if findings := check_bag(bag, notify):
            raise EvidenceError(f"{what}: the bag is not as its lists say: {findings[0]}")
        if len(bag.runs) != 1:
            raise InputError(
                f"{what}: holds {len(bag.runs)} runs; import it (`audit import`) and name one run of it"
            )
        store = open_store(folder)
        (name,) = unpack(bag, store, notify)
        yield _verified(store.uri(name), trusted, trust, notify)


def _verified(
    uri: str,
    trusted: Sequence[Ed25519PublicKey],
    trust: Trust | None,
    notify: Callable[[str], None],
) -> SealedBundle:
    found = verify_signed(uri, trusted, trust=trust, options=VerificationOptions(notify=notify))
    if found.unchecked:
        raise EvidenceError(
            f"{uri}: was made by another version of this library, and cannot be checked by this one; install that "
            "version (evidence/environment.json says which), and reproduce it there"
        )
    if not found.ok:
        raise EvidenceError(
            f"{uri}: does not verify, so there is nothing to reproduce ({len(found.findings)} findings; the first: "
            f"{found.findings[0]}); see `audit verify`"
        )
    if found.failed:
        raise EvidenceError(f"{uri}: this attempt failed, and has no sealed scores: {found.failed}")
    run = Run.from_bundle(uri.rstrip("/") or "/", notify)
    return SealedBundle(
        run=run,
        manifest=run.stage("evidence").read_document(Manifest, MANIFEST),
        manifest_sha256=found.manifest_sha256,
    )
