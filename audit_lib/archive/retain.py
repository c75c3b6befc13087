"""Locks of what lies in a bucket: extended as the law or somebody asks, never shortened; and legal holds.

A lock is set when a file is written, for the longest period that is known then. It is extended where that period has
become longer, where a file has none, and where somebody says until when. What has no end that is known, such as a
charge that was filed, is held.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from audit_lib.documents.legal_hold import HOLDS, LegalHold, hold_bytes
from audit_lib.errors import AuditError, ConflictError, NotFoundError, StoreError
from audit_lib.policies import policy_of
from audit_lib.policies.retention import kept_until
from audit_lib.progress import ignore
from audit_lib.run import SUCCESS, Run, locking
from audit_lib.store import open_store
from audit_lib.store.versions import FirstVersions, ObjectLock, as_first_written

_PLAN: Final = re.compile(rf"([^/]+/[^/]+/[0-9a-f]{{16}})/plan/{SUCCESS}")
_TRIES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """What became of the locks of runs.

    Attributes
    ----------
    runs, files, extended, unlocked : int
        Runs and files that were looked at; files whose lock was extended; and those of them that had none before.
    faults : tuple of str
        Runs whose locks could not be looked at or extended, and why.
    """

    runs: int = 0
    files: int = 0
    extended: int = 0
    unlocked: int = 0
    faults: tuple[str, ...] = ()

    def __add__(self, other: Extended) -> Extended:
        """Add what became of others."""
        return Extended(
            runs=self.runs + other.runs,
            files=self.files + other.files,
            extended=self.extended + other.extended,
            unlocked=self.unlocked + other.unlocked,
            faults=(*self.faults, *other.faults),
        )


def extend_run(uri: str, until: datetime | None = None) -> Extended:
    """Extend the locks of a run's first versions to what its spec and policy ask now, and at least to `until`.

    Raises
    ------
    StoreError
        If the store cannot lock, or refuses.
    """
    store = _bucket(uri)
    run = Run.from_bundle(uri.rstrip("/"), store=store)
    policy, found = policy_of(run.spec), Extended(runs=1)
    for key in store.list(""):
        own = kept_until(policy, run.spec, store.written(key)) if run.spec.retention.lock != "none" else None
        ends = [end for end in (own, until) if end is not None]
        found += _extend(store, key, max(ends)) if ends else Extended(files=1)
    return found


def extend_all(root: str, notify: Callable[[str], None] = ignore) -> Extended:
    """Extend the locks of every run in a store; one that cannot be looked at hides no other.

    Raises
    ------
    StoreError
        If the store cannot lock, or cannot be read.
    """
    found = Extended()
    for name in runs_in(_bucket(root)):
        try:
            made = extend_run(f"{root.rstrip('/')}/{name}")
        except AuditError as error:
            made = Extended(faults=(f"{name}: {error}",))
            notify(f"WARNING: {made.faults[0]}")
        found += made
    return found


def hold_run(uri: str, *, on: bool, reason: str, by: str) -> LegalHold:
    """Lay a legal hold on every file of a run, or take it off; the record says who did it and why.

    Raises
    ------
    NotFoundError
        If there is no run at `uri`.
    StoreError
        If the store cannot hold, or refuses.
    """
    store = _bucket(uri)
    root, name = uri.rstrip("/").rsplit("/", 3)[0], "/".join(uri.rstrip("/").split("/")[-3:])
    keys = store.list("")
    if not any(_PLAN.fullmatch(f"{name}/{key}") for key in keys):
        raise NotFoundError(f"{uri}: no run in its store is here; a run's URI is STORE/AUDIT/WINDOW/DIGEST")
    spec = Run.from_bundle(uri.rstrip("/"), store=store).spec
    for key in keys:
        store.set_hold(key, on=on)
    made = LegalHold(
        run=name,
        on=on,
        reason=reason,
        by=by,
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        files=len(keys),
    )
    records, folder = locking(open_store(root), spec), f"{name.split('/')[0]}/{HOLDS}"
    first = len(records.list(folder)) + 1
    for number in range(first, first + _TRIES):
        if records.put(f"{folder}/{number:06d}.json", hold_bytes(made)):
            return made
    raise ConflictError(
        f"{root}/{folder}: no record could be made in {_TRIES} tries; the hold itself is as asked"
    )


def runs_in(store: FirstVersions) -> Sequence[str]:
    """Return the runs in a store that have a plan, as ``audit/window/design``."""
    return sorted(found[1] for key in store.list("") if (found := _PLAN.fullmatch(key)))


def _extend(store: FirstVersions, key: str, until: datetime) -> Extended:
    lock = store.lock_of(key)
    if not _is_shorter(lock, until):
        return Extended(files=1)
    store.set_lock(key, until)
    return Extended(files=1, extended=1, unlocked=int(lock.until is None))


def _is_shorter(lock: ObjectLock, until: datetime) -> bool:
    if lock.mode != "COMPLIANCE" or lock.until is None:
        return True
    return lock.until < until.replace(microsecond=0)  # of which some stores keep no parts


def _bucket(uri: str) -> FirstVersions:
    store, blind = as_first_written(uri.rstrip("/"))
    if not isinstance(store, FirstVersions):
        raise StoreError(
            f"{uri}: {blind or 'a folder locks nothing'}; this is for a bucket with S3 Object Lock"
        )
    if not store.has_lock():
        raise StoreError(f"{uri}: the bucket has no Object Lock")
    return store
