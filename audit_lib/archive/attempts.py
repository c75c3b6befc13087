"""Every attempt at a run: when it began, and of one that failed, with what error and what had been made.

::

    <run>/attempts/1/{_STARTED, manifest.json, _SUCCESS}

An attempt that ends in sealed evidence has ``_STARTED`` alone: the evidence is its record, and lists it. One that
failed is sealed with a manifest of its own, which lists every file that was there, its own ``_STARTED`` and those of
earlier attempts too, so that none can be taken away without a trace while a later one is there. One that was killed
has ``_STARTED`` and no more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from audit_lib.archive.layout import SEALED, STARTED, complete_stages
from audit_lib.archive.software import software
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import (
    AttemptFault,
    AttemptOutcome,
    FailedAttempt,
    ListedFile,
    StartedAttempt,
    decode_exact,
    sealed_bytes,
    started_bytes,
)
from audit_lib.documents.store_lock import STORE_LOCK
from audit_lib.errors import AuditError, ConflictError, EvidenceError, NotFoundError, StillWaitingError
from audit_lib.run import SUCCESS, Run, StageFolder, StageOutput
from audit_lib.score.remote.credentials import is_secret_name, without_secrets
from audit_lib.store import Store

FOLDER: Final = "attempts"
RECORD: Final = "manifest.json"
_LONGEST: Final = 2000
_FAULTS: Final = 20
_NUMBERED: Final = re.compile(rf"{FOLDER}/([1-9][0-9]{{0,8}})/[^/]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a run.

    Attributes
    ----------
    number : int
        1 is the first.
    by : str
        Who began it: ``audit run``, or a DAG run.
    started_at, finished_at : datetime or None
        None where it has no such record.
    outcome : {"failed", "stopped"} or None
        None where it ended in sealed evidence, is still under way, or was killed.
    faults : tuple of AttemptFault
        What went wrong, the first cause first; empty where there is no record of an end.
    """

    number: int
    by: str
    started_at: datetime | None
    finished_at: datetime | None = None
    outcome: AttemptOutcome | None = None
    faults: tuple[AttemptFault, ...] = ()


def start(run: Run, by: str, *, goes_on: bool = False) -> int:
    """Take note that an attempt begins; return its number.

    With `goes_on` one that `by` began and that has no end is the same attempt: each task of a DAG run asks.
    """
    before = _names(run.store, run.prefix)
    last = max(before, default=0)
    if goes_on and last and SUCCESS not in before[last] and (begun := _begun(run, last)) and begun.by == by:
        return last
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    content = started_bytes(StartedAttempt(by=by, started_at=now))
    for number in range(last + 1, 10**9):
        if run.store.put(run.stage(f"{FOLDER}/{number}").prefix + f"/{STARTED}", content):
            return number
    raise ConflictError(f"{run.uri}: no number is free for another attempt")


def under_way(run: Run) -> int:
    """Return the number of the last attempt if it has no end; 0 where none is counted, or the last one ended."""
    names = _names(run.store, run.prefix)
    last = max(names, default=0)
    return last if last and SUCCESS not in names[last] else 0


def seal(run: Run, number: int, faults: Sequence[AttemptFault], outcome: AttemptOutcome = "failed") -> None:
    """Seal an attempt that failed, with its errors and a digest of every file that is there.

    An attempt that is sealed already stays as it is.
    """
    folder = run.stage(f"{FOLDER}/{number}")
    if folder.is_complete():
        return
    paths = run.list()
    artefacts = _entries(run, (path for path in paths if path.split("/")[0] in SEALED or path == STORE_LOCK))
    own = f"{FOLDER}/{number}/{STARTED}"
    ended = datetime.now(UTC)
    record = FailedAttempt(
        audit=run.key.audit,
        window=run.key.window.label,
        spec_digest=run.key.spec_digest,
        number=number,
        outcome=outcome,
        faults=tuple(faults[:_FAULTS]),
        stages=tuple(complete_stages(run)),
        artefacts=tuple(artefacts),
        earlier=tuple(_entries(run, (path for path in paths if path == own or 0 < number_of(path) < number))),
        ended_at=ended.isoformat(timespec="milliseconds"),
        software=software(),
    )
    content, counts = sealed_bytes(record), {"artefacts": len(artefacts)}
    # A sealing that was killed may have left its record: what it says of that moment is kept, its time too.
    if left := _left_by_killed(folder):
        content, ended = left
    folder.commit(StageOutput({RECORD: content}, counts, ended), ended, keep_existing=True)


def attempts_until_now(run: Run) -> list[ListedFile]:
    """Return the files of all attempts, for the manifest of the evidence."""
    return _entries(run, (path for path in run.list(FOLDER) if number_of(path)))


def read_attempts(store: Store, prefix: str) -> list[Attempt]:
    """Return the attempts at a run, the first one first.

    Parameters
    ----------
    store : Store
        Where the run is.
    prefix : str
        The run's folder in it (``RunKey.prefix``); empty where the run is the store's root.

    Raises
    ------
    EvidenceError
        If a record is none; the message names it.
    """
    folder = f"{prefix}/{FOLDER}".lstrip("/")
    found = sorted(_names(store, prefix).items())
    return [_attempt(store, f"{folder}/{number}", number, names) for number, names in found]


def attempts_of(store: Store, audit: str) -> dict[str, list[Attempt]]:
    """Return the attempts at all runs of an audit: the run's prefix (audit/window/digest) -> its attempts."""
    prefixes = {
        key.split(f"/{FOLDER}/")[0]
        for key in store.list(audit)
        if key.count("/") == 5 and key.split("/")[3] == FOLDER
    }
    return {prefix: read_attempts(store, prefix) for prefix in sorted(prefixes)}


def fault_of(stage: str, error: BaseException) -> AttemptFault:
    """Return what is kept of an error: of one that is not ours the type alone, its message may hold anything."""
    if isinstance(error, AuditError):
        message = str(error)
    elif isinstance(error, OSError) and error.strerror:
        message = error.strerror
    elif isinstance(error, KeyboardInterrupt):
        message = "stopped by hand"
    else:
        message = "an error that this library does not raise on purpose; its traceback is in the log"
    return fault(stage, type(error).__name__, message)


def fault(stage: str, kind: str, message: str) -> AttemptFault:
    """Return a fault, its message without secrets and no longer than evidence needs."""
    secrets = [value for name, value in os.environ.items() if is_secret_name(name)]
    return AttemptFault(stage=stage, type=kind, message=without_secrets(message, secrets)[:_LONGEST])


def outcome_of(error: BaseException) -> AttemptOutcome:
    """Return how an attempt ended that ended with an error."""
    return "stopped" if isinstance(error, (KeyboardInterrupt, StillWaitingError)) else "failed"


def number_of(path: str) -> int:
    """Return the number of the attempt that a path in a run belongs to; 0 for any other path.

    Examples
    --------
    >>> number_of("attempts/3/manifest.json"), number_of("plan/plan.json"), number_of("attempts/x")
    (3, 0, 0)
    """
    found = _NUMBERED.fullmatch(path)
    return int(found[1]) if found else 0


def read_started(content: bytes, where: str) -> StartedAttempt:
    """Read ``_STARTED``, or raise EvidenceError."""
    return decode_exact(StartedAttempt, content, where, started_bytes)


def read_failed(content: bytes, where: str) -> FailedAttempt:
    """Read the manifest of a failed attempt, or raise EvidenceError."""
    found = decode_exact(FailedAttempt, content, where, sealed_bytes)
    if not found.is_whole:
        raise EvidenceError(f"{where}: does not have what {found.schema} has")
    return found


def _names(store: Store, prefix: str) -> dict[int, set[str]]:
    """Return the files of each attempt by its number; nothing of them is read."""
    root = f"{prefix}/" if prefix else ""
    numbers: dict[int, set[str]] = {}
    for key in store.list(f"{root}{FOLDER}"):
        path = key.removeprefix(root)
        if number := number_of(path):
            numbers.setdefault(number, set()).add(path.rsplit("/", 1)[1])
    return numbers


def _begun(run: Run, number: int) -> StartedAttempt | None:
    """Return who began an attempt; None where nothing readable says so: somebody's bytes must stop no audit."""
    key = f"{run.stage(f'{FOLDER}/{number}').prefix}/{STARTED}"
    try:
        return read_started(run.store.get(key), key)
    except (EvidenceError, NotFoundError):
        return None


def _left_by_killed(folder: StageFolder) -> tuple[bytes, datetime] | None:
    """Return a record that a killed sealing left and its time; None where there is none that can be read."""
    key = f"{folder.prefix}/{RECORD}"
    if not folder.store.exists(key):
        return None
    content = folder.store.get(key)
    try:
        said = read_failed(content, key).ended_at
    except EvidenceError:
        return None
    return None if said is None else (content, datetime.fromisoformat(said))


def _attempt(store: Store, folder: str, number: int, names: Iterable[str]) -> Attempt:
    by, started = "", None
    if STARTED in names:
        begun = read_started(store.get(f"{folder}/{STARTED}"), store.uri(f"{folder}/{STARTED}"))
        by, started = begun.by, datetime.fromisoformat(begun.started_at)
    if SUCCESS not in names:
        return Attempt(number=number, by=by, started_at=started)
    sealed = StageFolder(store, folder)
    record = read_failed(sealed.read(RECORD), store.uri(f"{folder}/{RECORD}"))
    return Attempt(
        number=number,
        by=by,
        started_at=started,
        finished_at=sealed.success().finished,
        outcome=record.outcome,
        faults=record.faults,
    )


def _entries(run: Run, paths: Iterable[str]) -> list[ListedFile]:
    entries = []
    for path in sorted(paths):
        digest, size = digest_of(run.store, f"{run.prefix}/{path}".lstrip("/"))
        entries.append(ListedFile(path=path, sha256=digest, bytes=size))
    return entries
