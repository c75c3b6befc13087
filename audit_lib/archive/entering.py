"""When a run is entered in the journal of its audit: planned, about to be asked, and sealed."""

from __future__ import annotations

from audit_lib.archive.attempts import under_way
from audit_lib.archive.manifest import MANIFEST
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.journal import ENDS, JournalEntry
from audit_lib.errors import EvidenceError
from audit_lib.journal import enter, entries_of, read_journal
from audit_lib.journal_order import is_sealing
from audit_lib.run import SUCCESS, Run


def enter_plan(run: Run) -> JournalEntry:
    """Enter that the model is about to be asked; attempts at this run that were killed before are abandoned.

    Raises
    ------
    EvidenceError
        If the journal is no chain.
    """
    number = under_way(run)
    digest, _ = digest_of(run.store, f"{run.stage('plan').prefix}/{SUCCESS}")
    entry = enter(run.store, run.key, number, "planned", sealed_sha256=digest)
    _enter_abandoned(run, number)
    return entry


def enter_asked(run: Run) -> None:
    """Enter that the model is asked from now on: a shard that is killed while it asks leaves nothing else.

    Raises
    ------
    EvidenceError
        If the journal is no chain.
    """
    enter(run.store, run.key, under_way(run), "asked")


def was_asked(run: Run) -> bool:
    """Whether the model may have been asked already, by the journal or by what lies there.

    Raises
    ------
    EvidenceError
        If the journal is no chain.
    """
    own = entries_of(read_journal(run.store, run.key.audit), run.key)
    return bool(run.list("scores")) or any(one.event == "asked" for one in own)


def refuse_second_sealing(run: Run) -> None:
    """Refuse to seal a run that was sealed before: what was sealed then was taken away.

    Raises
    ------
    EvidenceError
        If the journal says so, or is no chain.
    """
    key = f"{run.stage('evidence').prefix}/{MANIFEST}"
    there = digest_of(run.store, key)[0] if run.store.exists(key) else None
    for one in _sealings(run):
        if one.sealed_sha256 != there:
            raise EvidenceError(
                f"{run.uri}: was sealed before, says entry {one.number} of the journal (manifest {one.sealed_sha256}); "
                "its evidence was taken away since. A run is sealed once: bring that back, or find who changed it"
            )


def enter_sealed(run: Run) -> JournalEntry | None:
    """Enter that a run is sealed; None for one whose plan was never entered, as before there was a journal."""
    own = entries_of(read_journal(run.store, run.key.audit), run.key)
    planned = [one for one in own if one.event == "planned"]
    if not planned:
        return None
    manifest = run.stage("evidence").read_document(Manifest, MANIFEST)
    digest, _ = digest_of(run.store, f"{run.stage('evidence').prefix}/{MANIFEST}")
    for one in _sealings(run):
        if one.sealed_sha256 == digest:
            return one
    complete = manifest.outcome == "complete"
    number = under_way(run) or planned[-1].attempt
    _enter_abandoned(run, number)
    return enter(
        run.store,
        run.key,
        number,
        "completed" if complete else "failed",
        outcome=manifest.outcome,
        sealed_sha256=digest,
    )


def _sealings(run: Run) -> list[JournalEntry]:
    """Return the entries that say that the run was sealed."""
    own = entries_of(read_journal(run.store, run.key.audit), run.key)
    return [one for one in own if is_sealing(one)]


def _enter_abandoned(run: Run, number: int) -> None:
    """Enter that attempts before this one were killed: planned, and without an end."""
    if number < 2:
        return
    own = entries_of(read_journal(run.store, run.key.audit), run.key)
    ended = {one.attempt for one in own if one.event in ENDS}
    for one in own:
        if one.event == "planned" and 0 < one.attempt < number and one.attempt not in ended:
            enter(run.store, run.key, one.attempt, "abandoned")
