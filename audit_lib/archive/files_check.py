"""Files against the manifest, and against the records of the stages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from audit_lib.archive.environment import ENVIRONMENT
from audit_lib.archive.findings import Work
from audit_lib.archive.layout import SEALED, STARTED, stage_of
from audit_lib.archive.manifest import MANIFEST
from audit_lib.archive.salted_leaves import check_listed_leaves
from audit_lib.canonical import LARGEST
from audit_lib.documents.environment import Environment, environment_bytes
from audit_lib.documents.evidence import (
    MANIFEST_SCHEMA,
    SALTED_LEAVES,
    ListedFile,
    Manifest,
    StageRecord,
    decode_exact,
    is_instant,
    odd_json,
    record_bytes,
    sealed_bytes,
)
from audit_lib.documents.store_lock import STORE_LOCK, StoreLock, store_lock_bytes
from audit_lib.errors import EvidenceError
from audit_lib.privacy.levels import LABEL
from audit_lib.run import SUCCESS

_UNSEALED: Final = ("evidence", "monitor")
_ATTEMPTS: Final = "attempts"
_SIGNED: Final = re.compile(r"signoff/[1-9][0-9]*/.+|rejection/[^/]+")
"""Files of sign-offs and of a rejection, which are checked with those; one that was killed may have left some."""
_SIGNATURES: Final = re.compile(
    r"signatures/(?:plan|result)\.(?:dsse\.json|pub|tsr|sigstore\.json|receipt\.cbor)|journal\.jsonl"
)
"""Signatures of the run's own key, and the journal that an export adds: `audit_lib.signing` checks both."""
_OF_FILE_MANAGERS: Final = (".DS_Store", "Thumbs.db", "desktop.ini")
"""What looking at a folder leaves in it."""
_COUNTS: Final = {
    "evidence": {"artefacts", "bytes"},
    "monitor": {"compared", "exceeding"},
    "signoff": {"statements"},
    "rejection": {"statements"},
    "attempts": {"artefacts"},
}
"""Counts of the records that are not computed again."""
_TIMED: Final = (*SEALED, "evidence")
"""Stages whose times are checked against each other (`check_order`)."""


def read_manifest(work: Work) -> Manifest | None:
    """Return the manifest; None where it is not there or not one, which is a finding."""
    path = f"evidence/{MANIFEST}"
    if path not in work.digests:
        work.find("missing", path, "the run was never archived, or its manifest is gone")
        return None
    content = work.store.get(path)
    try:
        manifest = decode_exact(Manifest, content, MANIFEST, sealed_bytes)
    except EvidenceError as error:
        work.find("manifest", path, f"is not a manifest of schema {MANIFEST_SCHEMA}: {error}")
        return None
    if not manifest.is_whole:
        work.find("manifest", path, f"does not have what {manifest.schema} has")
        return None
    names = [entry.path for entry in manifest.artefacts]
    if names != sorted(set(names)):
        work.find("manifest", path, "lists an artefact twice, or not in order")
    for entry in manifest.artefacts:
        name, size = entry.path, entry.bytes
        if work.sizes.get(name, size) != size:
            work.find("manifest", path, f"says that {name} has {size} bytes; it has {work.sizes[name]}")
    return manifest


def note_or_find_stray(work: Work, path: str) -> None:
    """Find a file that is no part of the evidence, where anybody could take it for one."""
    if _SIGNATURES.fullmatch(path) or path in (LABEL, STORE_LOCK):
        return
    if path.rsplit("/", 1)[-1] in _OF_FILE_MANAGERS:
        work.notes.append(f"{path}: not part of the evidence; ignored")
    else:
        work.find("extra", path, "is no part of the evidence: nothing lists it and nobody signed it")


def check_environment(work: Work, manifest: Manifest) -> None:
    """``environment.json`` against the manifest, which has its digest since format 2."""
    path, entry = f"evidence/{ENVIRONMENT}", manifest.environment
    if entry is None:
        return
    _check_document(
        work, path, entry, lambda content: decode_exact(Environment, content, path, environment_bytes)
    )


def check_store_record(work: Work, manifest: Manifest) -> None:
    """``store/lock.json`` against the manifest, which lists it where the store was looked at."""
    if manifest.store is not None:
        _check_document(
            work,
            STORE_LOCK,
            manifest.store,
            lambda content: decode_exact(StoreLock, content, STORE_LOCK, store_lock_bytes),
        )
    elif STORE_LOCK in work.digests:
        work.find("extra", STORE_LOCK, "the manifest does not list it")


def _check_document(work: Work, path: str, entry: ListedFile, read: Callable[[bytes], object]) -> None:
    if path not in work.digests:
        work.find("missing", path, "the manifest lists it, and it is not there")
    elif (entry.path, entry.sha256, entry.bytes) != (path, work.digests[path], work.sizes[path]):
        work.find("changed", path, "is not the file that the manifest lists")
    else:
        try:
            read(work.store.get(path))
        except EvidenceError as error:
            work.find("record", path, str(error))


def check_redacted_files(work: Work, manifest: Manifest) -> None:
    """``evidence/redacted/`` against the manifest."""
    for entry in manifest.redacted or ():
        if entry.path not in work.digests:
            work.find("missing", entry.path, "the manifest lists it, and it is not there")
        elif (work.digests[entry.path], work.sizes[entry.path]) != (entry.sha256, entry.bytes):
            work.find("changed", entry.path, "is not the file that the manifest lists")


def _check_stage_records(work: Work, manifest: Manifest) -> None:
    """Each stage's record must be the one that the manifest lists, since format 2."""
    listed = {entry.path: entry for entry in manifest.records or ()}
    if manifest.records is not None and list(listed) != sorted(f"{s}/{SUCCESS}" for s in manifest.stages):
        work.find("manifest", f"evidence/{MANIFEST}", "the records that it lists are not those of its stages")
    for path, entry in listed.items():
        if path not in work.digests:
            continue  # reported with the stage
        if (work.digests[path], work.sizes[path]) != (entry.sha256, entry.bytes):
            work.find("changed", path, "is not the record that the manifest lists")


def listed_in(manifest: Manifest | None) -> dict[str, str]:
    """Return path -> SHA-256 of what a manifest lists; nothing where there is none."""
    return {} if manifest is None else manifest.digests


def check_files(work: Work, manifest: Manifest | None) -> None:
    """Files against the manifest, both ways."""
    if manifest is None:
        return
    listed = listed_in(manifest)
    for path, digest in listed.items():
        if path not in work.digests:
            work.find("missing", path, "the manifest lists it, and it is not there")
        elif work.digests[path] != digest:
            work.find("changed", path, f"SHA-256 is {work.digests[path]}, the manifest says {digest}")
    stages = {stage_of(path) for path in listed}
    check_environment(work, manifest)
    check_redacted_files(work, manifest)
    check_listed_leaves(work, manifest)
    check_store_record(work, manifest)
    _check_stage_records(work, manifest)
    for path in work.digests:
        folder = path.split("/")[0]
        if folder == _ATTEMPTS:
            continue
        if folder == "monitor" and not manifest.is_first_format:
            work.find("extra", path, "a run of this format has no such folder")
        elif _SIGNED.fullmatch(path):
            work.notes.append(f"{path}: not part of the evidence; ignored")
        elif "/" not in path or folder not in (*SEALED, *_UNSEALED):
            note_or_find_stray(work, path)
        elif folder in SEALED and path not in listed and path != f"{stage_of(path)}/{SUCCESS}":
            work.find("extra", path, "the manifest does not list it")
        elif folder in SEALED and stage_of(path) not in stages:
            work.find("extra", path, "the manifest does not know this stage")


def check_json(work: Work) -> None:
    """Every JSON artefact must mean one thing only, in the bytes that this library writes."""
    for path in work.digests:
        ours = path.split("/")[0] in (*SEALED, "monitor") and "/inputs/" not in path
        ours = ours and path not in work.withheld
        if not ours or not path.endswith(".json"):
            continue
        if work.sizes[path] > LARGEST:
            work.find("record", path, f"is larger than {LARGEST >> 20} MiB; it is not read")
        elif odd := odd_json(work.store.get(path)):
            work.find("record", path, odd)


def check_records(work: Work, manifest: Manifest | None, *, sealed: bool = True) -> None:
    """Each stage's ``_SUCCESS`` against the files, the manifest, and what else is in its folder.

    A record may say nothing more than it does, and in no other bytes: no digest protects it. Without `sealed` the
    run has no evidence, and needs none.
    """
    listed = listed_in(manifest)
    stages = {stage_of(path) for path in listed}
    stages |= {path.removesuffix(f"/{SUCCESS}") for path in work.digests if path.endswith(f"/{SUCCESS}")}
    if any(path.startswith("monitor/") for path in work.digests) and "monitor" not in stages:
        work.notes.append("monitor: was not finished; it is no part of the sealed evidence")
    for stage in sorted(stages | ({"evidence"} if sealed else set())):
        path = f"{stage}/{SUCCESS}"
        if path not in work.digests:
            work.find("missing", path, "the stage has no record of what it wrote")
            continue
        try:
            record = decode_exact(StageRecord, work.store.get(path), SUCCESS, record_bytes)
        except EvidenceError as error:
            work.find("record", path, f"is not a stage's record: {error}")
            continue
        recorded = {f"{stage}/{name}": entry.sha256 for name, entry in record.artefacts.items()}
        for name, entry in record.artefacts.items():
            if work.sizes.get(f"{stage}/{name}", entry.bytes) != entry.bytes:
                work.find("record", path, f"says that {name} has {entry.bytes} bytes")
        counted = _COUNTS.get(stage.split("/")[0])
        if counted is not None and not record.counts.keys() <= counted:
            work.find(
                "record", path, f"counts what is not counted there; it may count {', '.join(sorted(counted))}"
            )
        if stage == "evidence" and manifest is not None:
            _check_sealing(work, record, manifest)
        # Their order is not checked: the clock of a signer may be ahead of ours, which is noted elsewhere.
        timed = is_instant(record.started_at) and is_instant(record.finished_at)
        if stage.split("/")[0] not in _TIMED and not timed:
            work.find("record", path, "has no times")
        started = f"{stage}/{STARTED}" if stage.split("/")[0] == _ATTEMPTS else ""
        present = {p: d for p, d in work.digests.items() if stage_of(p) == stage and p not in (path, started)}
        for name in sorted(recorded.keys() | present.keys()):
            if name not in present:
                if name not in listed:  # else it is reported already
                    work.find("missing", name, "the stage's record lists it, and it is not there")
            elif name not in recorded:
                if name in listed or stage in _UNSEALED:
                    work.find("extra", name, "the stage's record does not list it")
            elif recorded[name] != present[name]:
                work.find("record", name, f"SHA-256 is {present[name]}, {path} says {recorded[name]}")


def _check_sealing(work: Work, record: StageRecord, manifest: Manifest) -> None:
    """The record of the evidence says nothing that the manifest does not determine."""
    path = f"evidence/{SUCCESS}"
    if record.counts != _sealed(manifest):
        work.find("record", path, "its counts are not those of the manifest")
    if manifest.is_first_format:
        return
    if {record.started_at, record.finished_at} != {manifest.sealed_at}:
        work.find("record", path, "its times are not the one at which the manifest says that it was sealed")
    tree = manifest.record_tree
    listed = {entry.path for entry in manifest.redacted or ()}
    listed |= {SALTED_LEAVES} if tree is not None and tree.salted_leaves is not None else set()
    if record.artefacts.keys() != {MANIFEST, ENVIRONMENT} | {p.removeprefix("evidence/") for p in listed}:
        work.find("record", path, f"its files are not {MANIFEST}, {ENVIRONMENT} and what the manifest lists")


def _sealed(manifest: Manifest) -> dict[str, int]:
    return {"artefacts": len(manifest.artefacts), "bytes": sum(entry.bytes for entry in manifest.artefacts)}
