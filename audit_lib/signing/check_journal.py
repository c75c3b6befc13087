"""A run against the journal of its audit: is it entered, are the entries as its signatures knew them, is none gone?"""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.archive.layout import digest_of
from audit_lib.archive.manifest import MANIFEST
from audit_lib.documents.journal import JournalEntry, entry_digest
from audit_lib.documents.run_statement import JournalHead
from audit_lib.errors import EvidenceError, NotFoundError
from audit_lib.journal import FOLDER, check_head, entries_of, read_journal
from audit_lib.run import SUCCESS, Run
from audit_lib.signing.findings import RunSignatures
from audit_lib.store import Store, open_store


def check_journal(
    run: Run, heads: Sequence[JournalHead | str], found: RunSignatures, *, required: bool
) -> None:
    """Check the journal next to a run's audit, and the run against it.

    Parameters
    ----------
    run : Run
        Also a copy, which has no journal next to it.
    heads : sequence of JournalHead or str
        Heads that were known earlier: of the verifier, and of the run's own statements.
    found : RunSignatures
        Takes lines and findings.
    required : bool
        Whether a run that is not entered is a finding.
    """
    where = f"{run.key.audit}/{FOLDER}"
    store = _store_of(run)
    if store is None:
        line = "journal: not next to this copy, so that other attempts were made, or dropped, cannot be known here"
        found.lines.append(line)
        if required:
            found.find(
                where, "the journal cannot be checked from a copy; give the run in its store", "journal"
            )
        return
    try:
        entries = read_journal(store, run.key.audit)
        for head in heads:
            digest = head if isinstance(head, str) else head.sha256
            if (
                (number := check_head(entries, digest))
                and isinstance(head, JournalHead)
                and number != head.number
            ):
                found.find(
                    where, f"the head {digest} is entry {number}, and was known as {head.number}", "journal"
                )
    except EvidenceError as error:
        found.find(where, str(error), "journal")
        return
    own = entries_of(entries, run.key)
    if not own:
        found.lines.append("journal: the run is not entered in it")
        if required:
            found.find(where, "the run is not entered, and the trust file or a head requires it", "journal")
        return
    _check_own(run, own, found)
    window = [one for one in entries if one.window == run.key.window.label]
    _check_sealed(store, window, found)
    found.lines.append(
        f"journal: {_attempts(window)} on this window; head {entry_digest(entries[-1])} (entry {len(entries)}): "
        "keep it elsewhere"
    )


def check_all(store: Store, audit: str, heads: Sequence[str]) -> tuple[list[JournalEntry], RunSignatures]:
    """Check the whole journal of an audit: its chain, heads known earlier, and that all that was sealed is there."""
    found = RunSignatures()
    try:
        entries = read_journal(store, audit)
    except EvidenceError as error:
        found.find(f"{audit}/{FOLDER}", str(error), "journal")
        return [], found
    for head in heads:
        try:
            check_head(entries, head)
        except EvidenceError as error:
            found.find(f"{audit}/{FOLDER}", str(error), "journal")
    _check_sealed(store, entries, found)
    return entries, found


def _check_own(run: Run, own: Sequence[JournalEntry], found: RunSignatures) -> None:
    """What is entered of the run must be what is there."""
    where = f"{run.key.audit}/{FOLDER}"
    planned = [one for one in own if one.event == "planned"]
    digest = _digest(run.store, f"{run.stage('plan').prefix}/{SUCCESS}")
    manifest = _digest(run.store, f"{run.stage('evidence').prefix}/{MANIFEST}")
    if not planned and (
        manifest is not None or run.list("scores")
    ):  # an attempt may end before the model is asked
        found.find(where, "the run's plan was never entered", "journal")
    elif any(one.sealed_sha256 != digest for one in planned):
        found.find(
            where, f"entry {planned[0].number} is about another plan than the one that is there", "journal"
        )
    sealed = [one for one in own if _is_sealing(one)]
    if manifest is not None and not sealed:
        found.find(where, "the run is sealed, and its end was never entered", "journal")


def _check_sealed(store: Store, entries: Sequence[JournalEntry], found: RunSignatures) -> None:
    """Everything that was sealed must be there as it was."""
    for one in entries:
        if one.sealed_sha256 is None or one.event == "planned":
            continue
        file = f"evidence/{MANIFEST}" if _is_sealing(one) else f"attempts/{one.attempt}/{MANIFEST}"
        path = f"{one.audit}/{one.window}/{one.run}/{file}"
        digest = _digest(store, path)
        if digest is None:
            found.find(
                path, f"entry {one.number} of the journal says that it was sealed, and it is gone", "journal"
            )
        elif digest != one.sealed_sha256:
            found.find(
                path, f"is not what entry {one.number} of the journal says: {one.sealed_sha256}", "journal"
            )


def _is_sealing(entry: JournalEntry) -> bool:
    return entry.event == "completed" or entry.outcome == "validation_failed"


def _attempts(window: Sequence[JournalEntry]) -> str:
    """Count what became of the attempts on a window."""
    ends = {(one.run, one.attempt): one.event for one in window if one.event != "superseded"}
    said = [
        f"{count} {event}"
        for event in ("completed", "failed", "abandoned")
        if (count := sum(each == event for each in ends.values()))
    ]
    if unknown := sum(each == "planned" for each in ends.values()):
        said.append(f"{unknown} without an end")
    return f"{len(ends)} attempt{'s' * (len(ends) != 1)} ({', '.join(said)})"


def _store_of(run: Run) -> Store | None:
    """Return the store that a run lies in, by its place; None for a copy."""
    if not run.uri.endswith(f"/{run.key.prefix}"):
        return None
    return open_store(run.uri.removesuffix(f"/{run.key.prefix}") or "/")


def _digest(store: Store, path: str) -> str | None:
    try:
        return digest_of(store, path)[0]
    except NotFoundError:
        return None
