"""What a run's store does with what is put into it, looked at and written down before the model is asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import ListedFile
from audit_lib.documents.store_lock import STORE_LOCK, StoreLock, store_lock_bytes
from audit_lib.errors import StoreError
from audit_lib.policies import policy_of
from audit_lib.policies.retention import kept_until
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.store.probe import probe

_OR_NONE: Final = "or write `retention: {lock: none}`, and the page says that nothing is locked"


def look_at_store(spec: AuditSpec, root: str) -> StoreLock:
    """Return what the store at a root does; one that the spec lets do anything is not tried."""
    if spec.retention.lock == "none":
        return StoreLock(kind="s3" if root.startswith("s3://") else "folder", asked="none", locked=False)
    return replace(probe(root), asked=spec.retention.lock)


def why_not_kept(spec: AuditSpec, root: str, found: StoreLock) -> str:
    """Return why a store does not keep evidence as the spec asks, and what to do; empty where it does."""
    if spec.retention.lock == "none" or (found.kind == "folder" and spec.retention.lock == "buckets"):
        return ""
    if found.kind == "folder":
        return (
            f"{root}: retention.lock is `required`, and a folder locks nothing; give a bucket with S3 Object Lock, or "
            "write `buckets`, and the page says that the folder is not locked"
        )
    if not found.locked and not found.failed:
        return (
            f"{root}: the bucket has no Object Lock, so that what is put into it can be changed and deleted; make one "
            f"with it, {_OR_NONE}"
        )
    if not found.locked:
        said = ", ".join(f"{one.name} ({one.said})" for one in found.failed)
        return f"{root}: the store does not lock as evidence needs: {said}; give another store, {_OR_NONE}"
    policy = policy_of(spec)
    ruled = (found.default_retention or "").startswith("COMPLIANCE")
    if kept_until(policy, spec, datetime.now(UTC)) is None and not ruled:
        return (
            f"{root}: how long evidence is locked is not said: the policy {policy.name} sets no period of retention; "
            f"write retention.days, {_OR_NONE}"
        )
    return ""


def record_store(run: Run) -> None:
    """Write down what the run's store does, unless that was done.

    Raises
    ------
    StoreError
        If it does not keep evidence as the spec asks.
    """
    key = f"{run.prefix}/{STORE_LOCK}".lstrip("/")
    if run.store.exists(key):
        return
    found = look_at_store(run.spec, run.store.root)
    if why := why_not_kept(run.spec, run.store.root, found):
        raise StoreError(why)
    run.store.put(key, store_lock_bytes(found))


def recorded_store(run: Run) -> ListedFile | None:
    """Return the record with its digest, for the manifest; None of a run that has none."""
    key = f"{run.prefix}/{STORE_LOCK}".lstrip("/")
    if not run.store.exists(key):
        return None
    digest, size = digest_of(run.store, key)
    return ListedFile(path=STORE_LOCK, sha256=digest, bytes=size)
