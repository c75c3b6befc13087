"""Copies that were handed on without some files, and the redacted tables that lie in their place."""

from __future__ import annotations

from typing import Final

from audit_lib.archive.artefact_differences import compare
from audit_lib.archive.findings import Work
from audit_lib.archive.manifest import MANIFEST
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.large_file import bytes_of, sha256_of
from audit_lib.measure.rows.split_columns import further_fields
from audit_lib.privacy.applicant_keys import ApplicantKeys, configured_keys
from audit_lib.privacy.levels import LABEL, is_withheld
from audit_lib.privacy.redacted_tables import redacted_path, redacted_tables
from audit_lib.privacy.vault import names_in
from audit_lib.privacy.withheld_files import level_of, withheld_files
from audit_lib.run import PEOPLE, Run

RECOMPUTABLE: Final[dict[PrivacyLevel, tuple[str, ...]]] = {
    "full": ("plan", "variants", "validation", "metrics", "report"),
    "redacted": ("plan", "metrics", "report"),
    "digests": ("plan",),
}
"""Stages that are computed again at each level."""
_NO_TABLES: Final = "no redacted tables were sealed: of a redacted copy of it no number can be computed again"


def read_level(work: Work) -> None:
    """Take note of what a copy was handed on without: of these files the digests are those that the manifest lists.

    What is withheld follows from the level alone. A file that the level withholds and that is there is a finding; one
    that is not there and that the level shows is missing, as in any run.
    """
    try:
        work.level = level_of(work.store, "")
        held = withheld_files(work.store, "")
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("record", LABEL, f"says nothing of what this copy lacks: {error}")
        work.level = "full"
        return
    for path, one in held.items():
        if path in work.digests:
            work.find("extra", path, f"is in a copy of level {work.level}, which is handed on without it")
            continue
        work.withheld.add(path)
        work.digests[path], work.sizes[path] = one.sha256, one.bytes
    work.readable = work.level


def note_keys(work: Work, run: Run) -> None:
    """Take note of whose rows can be decrypted here; a key that is gone without a record of its erasure is missing."""
    if run.spec.privacy is None or run.spec.privacy.keys == "none" or PEOPLE in work.withheld:
        return
    work.vault = run.vault
    try:
        names = names_in(work.store.get(PEOPLE)) if PEOPLE in work.digests else set()
    except EvidenceError as error:
        work.find("record", PEOPLE, str(error))
        return
    keys = configured_keys(run.key.audit)
    if keys is None:
        work.encrypted = f"rows of {len(names)} people are encrypted, and no keys are here"
    else:
        gone = names - keys.names()
        erased = sum(_is_erased(work, keys, name) for name in sorted(gone))
        work.encrypted = f"rows of {len(names)} people are encrypted; erased: {erased}"
        if lost := len(gone) - erased:
            work.find("missing", PEOPLE, f"{lost} keys are gone, and no erasure of them is recorded")
    if run.vault is None:
        work.readable = "redacted"


def _is_erased(work: Work, keys: ApplicantKeys, name: str) -> bool:
    try:
        return keys.erasure(name) is not None
    except EvidenceError as error:
        work.find("record", PEOPLE, f"a key is gone, and the record of its erasure is forged: {error}")
        return False


def digest_here(work: Work, path: str) -> tuple[str | None, str]:
    """Return the digest of what can be read of an artefact, and where: of a withheld one that of its redacted form."""
    hidden = path in work.withheld or (work.readable != "full" and is_withheld(path, "redacted"))
    where = redacted_path(path) if hidden else path
    return work.digests.get(where), where


def check_redacted(work: Work, run: Run, manifest: Manifest | None) -> None:
    """Make the redacted tables of a full run again: nobody may be handed other rows than those of the evidence."""
    if manifest is None or manifest.is_first_format:
        return
    path = f"evidence/{MANIFEST}"
    if manifest.redacted is None:
        work.notes.append(_NO_TABLES)
        return
    try:
        made = {
            redacted_path(name): content
            for name, content in redacted_tables(run, further_fields(run.spec)).items()
        }
        if sorted(made) != [one.path for one in manifest.redacted]:
            work.find("manifest", path, "the redacted tables that it lists are not those of the evidence")
        for name, content in made.items():
            if work.digests.get(name) in (None, sha256_of(content)):
                continue  # a missing one is reported
            difference = compare(name, work.store.get(name), bytes_of(content))
            if difference is not None and (difference.exceeds or difference.numbers):
                work.find("recomputation", name, "is not the redacted form of the evidence")
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find("recomputation", path, f"its redacted tables cannot be made again ({type(error).__name__})")
