"""The records of attempts against the files, and against each other."""

from __future__ import annotations

from collections.abc import Iterable

from audit_lib.archive.attempts import (
    FOLDER,
    RECORD,
    number_of,
    read_failed,
    read_started,
)
from audit_lib.archive.files_check import note_or_find_stray
from audit_lib.archive.findings import Work
from audit_lib.archive.layout import SEALED, STARTED, stage_of
from audit_lib.documents.evidence import (
    FIRST_MANIFEST,
    FailedAttempt,
    ListedFile,
    Manifest,
    read_stage_record,
)
from audit_lib.documents.store_lock import STORE_LOCK
from audit_lib.errors import EvidenceError
from audit_lib.run import SUCCESS

_FILES = (STARTED, RECORD, SUCCESS)


def check_attempts(work: Work, manifest: Manifest | None) -> FailedAttempt | None:
    """Check every attempt; return the last one's record if it failed and is sealed.

    The manifest of the evidence and each failed attempt list the files of those before: what was taken away is
    found as long as a later one is there. That the last one was taken away nothing in the run can show.
    """
    names: dict[int, set[str]] = {}
    for path in work.digests:
        if path.split("/")[0] != FOLDER:
            continue
        if not (number := number_of(path)) or path.rsplit("/", 1)[1] not in _FILES:
            work.find("extra", path, "is no part of an attempt's record")
        else:
            names.setdefault(number, set()).add(path.rsplit("/", 1)[1])
    _check_listed(work, () if manifest is None else manifest.attempts or (), "the manifest")
    last: FailedAttempt | None = None
    for number, there in sorted(names.items()):
        last = _check_one(work, number, there, manifest)
        where = f"{FOLDER}/{number}"
        if last is None and number < max(names):
            work.notes.append(f"{where}: was started and has no record of its end: it was killed")
    return last


def check_failed_files(work: Work, record: FailedAttempt) -> None:
    """Find what lies in the run's stages and is not in the record of its last, failed attempt."""
    listed = {entry.path for entry in record.artefacts}
    for path in work.digests:
        folder = path.split("/")[0]
        if (folder in SEALED or path == STORE_LOCK) and path not in listed:
            work.find("extra", path, f"the record of attempt {record.number} does not list it")
        elif folder in ("evidence", "monitor", "signoff", "rejection"):
            work.find("extra", path, "a run whose last attempt failed has no such file")
        elif folder != FOLDER and folder not in SEALED:
            note_or_find_stray(work, path)


def sealed_by(record: FailedAttempt) -> Manifest:
    """Return what a failed attempt sealed of its complete stages, in the form of a manifest."""
    complete = tuple(
        entry
        for entry in record.artefacts
        if stage_of(entry.path) in record.stages and entry.path != f"{stage_of(entry.path)}/{SUCCESS}"
    )
    return Manifest(
        schema=FIRST_MANIFEST,
        audit=record.audit,
        window=record.window,
        spec_digest=record.spec_digest,
        outcome=record.outcome,
        stages=record.stages,
        artefacts=complete,
        software=record.software,
    )


def _check_one(
    work: Work, number: int, there: Iterable[str], manifest: Manifest | None
) -> FailedAttempt | None:
    where = f"{FOLDER}/{number}"
    if STARTED not in there:
        work.find("missing", f"{where}/{STARTED}", "nothing says when this attempt began")
    else:
        try:
            read_started(work.store.get(f"{where}/{STARTED}"), STARTED)
        except EvidenceError as error:
            work.find("record", f"{where}/{STARTED}", str(error))
    if SUCCESS not in there:
        return None
    if RECORD not in there:
        return None  # the stage's record lists it, which is reported
    path = f"{where}/{RECORD}"
    try:
        record = read_failed(work.store.get(path), RECORD)
    except EvidenceError as error:
        work.find("manifest", path, str(error))
        return None
    said, here = ((one.audit, one.window, one.spec_digest) for one in (record, manifest or record))
    if record.number != number or said != here:
        work.find("manifest", path, "is the record of another attempt, or of another run's")
    paths = [entry.path for entry in record.artefacts]
    complete = sorted(p.removesuffix(f"/{SUCCESS}") for p in paths if p == f"{stage_of(p)}/{SUCCESS}")
    if paths != sorted(set(paths)) or complete != sorted(record.stages):
        work.find("manifest", path, "its files are not in order, or not those of the stages that it names")
    _check_listed(work, [*record.artefacts, *record.earlier], f"the record of attempt {number}")
    if record.ended_at is not None:
        _check_envelope(work, where, record)
    return record


def _check_envelope(work: Work, where: str, record: FailedAttempt) -> None:
    """Since format 2 the record lists its own start, and its envelope has the time that it says itself."""
    if f"{where}/{STARTED}" not in {entry.path for entry in record.earlier}:
        work.find("manifest", f"{where}/{RECORD}", "does not list its own start")
    try:
        envelope = read_stage_record(work.store.get(f"{where}/{SUCCESS}"), SUCCESS)
    except EvidenceError:
        return  # no record of a stage, which is reported
    if {envelope.started_at, envelope.finished_at} != {record.ended_at}:
        work.find("record", f"{where}/{SUCCESS}", "its times are not the one that its manifest says")
    if envelope.counts != {"artefacts": len(record.artefacts)}:
        work.find("record", f"{where}/{SUCCESS}", "its counts are not those of its manifest")


def _check_listed(work: Work, entries: Iterable[ListedFile], who: str) -> None:
    for entry in entries:
        if entry.path not in work.digests:
            work.find("missing", entry.path, f"{who} lists it, and it is not there")
        elif (work.digests[entry.path], work.sizes[entry.path]) != (entry.sha256, entry.bytes):
            work.find("changed", entry.path, f"is not the file that {who} lists")
