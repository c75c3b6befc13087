"""What came over a run in a bucket that keeps versions, and how its first versions are locked."""

from __future__ import annotations

from datetime import UTC, datetime

from audit_lib.archive.findings import EvidenceFinding, Work
from audit_lib.store.versions import FirstVersions, ObjectLock, as_first_written


def find_later_versions(work: Work) -> None:
    """Find what was put over the files of a run, or hides them: all that is checked is what was written first."""
    if isinstance(work.store, FirstVersions):
        for one in work.store.later(""):
            work.find(one.kind, one.key, one.detail)


def check_locks(work: Work) -> None:
    """Say how the files of a run are locked, once they were read; find those that are not, next to others that are."""
    if not isinstance(work.store, FirstVersions):
        return
    now, locks = datetime.now(UTC), work.store.locks
    locked = [path for path in work.digests if locks[path].mode == "COMPLIANCE"]
    for path in work.digests if locked else ():
        if path not in locked:
            work.find("lock", path, f"{_why_not(locks[path], now)}, and other files of the run are")
    ends = [until for path in locked if (until := locks[path].until) is not None and until > now]
    files = len(work.digests)
    if not ends:
        work.notes.append(f"locks: none of {files} files is locked by the bucket now")
    else:
        work.notes.append(
            f"locks: {len(ends)} of {files} files are locked (COMPLIANCE), the first until {min(ends):%Y-%m-%d}"
        )
    if held := sum(locks[path].held for path in work.digests):
        work.notes.append(f"a legal hold is on {held} of {files} files")


def not_locked(uri: str) -> list[EvidenceFinding]:
    """Return the files of a run that nobody locks now, of those that were written first.

    Raises
    ------
    StoreError
        If the store cannot be read.
    """
    store, blind = as_first_written(uri.rstrip("/") or "/")
    now = datetime.now(UTC)
    found = []
    for path in store.list(""):
        if not isinstance(store, FirstVersions):
            why = blind or "is in a folder, which locks nothing"
        elif not (why := _why_not(store.lock_of(path), now)):
            continue
        found.append(EvidenceFinding(kind="lock", path=path, detail=why))
    return found


def _why_not(lock: ObjectLock, now: datetime) -> str:
    """Return why a version can be deleted; empty where nobody can."""
    if lock.is_locked(now):
        return ""
    if lock.mode == "COMPLIANCE" and lock.until is not None:
        return f"its lock is over since {lock.until:%Y-%m-%d}"
    return "is not locked, so that its first version can be deleted"
