"""A run against the journal of its audit: is it entered, are the entries as its signatures knew them, is none gone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from audit_lib.archive.attempts import FOLDER as ATTEMPTS
from audit_lib.archive.manifest import MANIFEST
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import check_instant
from audit_lib.documents.journal import JournalAtPlan, JournalEntry, attempts_among, entry_digest, head_of
from audit_lib.documents.run_statement import JournalHead
from audit_lib.errors import AuditError, EvidenceError, NotFoundError
from audit_lib.journal import FOLDER, check_head, entries_of, read_journal
from audit_lib.journal_lines import NAME, check_extends, read_lines
from audit_lib.journal_order import impossible_entries, is_sealing
from audit_lib.plan.journal_before import JOURNAL
from audit_lib.run import SUCCESS
from audit_lib.signing.checked_run import CheckedRun
from audit_lib.signing.findings import RunSignatures
from audit_lib.store import Store
from audit_lib.store.versions import FirstVersions, as_first_written

_SKEW: Final = timedelta(minutes=5)
"""By which clocks of machines may differ."""
_FAILURES: Final = ("failed", "abandoned")
"""An attempt whose record was sealed while the journal could not be reached is entered as abandoned by the next one."""
_ANSWERS: Final = {"signed": "signoff", "rejected": "rejection"}
"""What an auditor did -> the folder of the statement."""
_STATEMENT: Final = "statement.dsse.json"


@dataclass(frozen=True, slots=True)
class _Known:
    """The journal that a run can be held against.

    Attributes
    ----------
    where : str
        What a finding names.
    entries : list of JournalEntry
        From the first one on.
    store : Store or None
        That of the journal, with the other runs; None where it is the copy that an export has put into the run.
    """

    where: str
    entries: list[JournalEntry]
    store: Store | None


def check_journal(
    run: CheckedRun, heads: Sequence[JournalHead | str], found: RunSignatures, *, required: bool
) -> datetime | None:
    """Check the journal next to a run's audit, or the copy that an export has put into the run, and the run against it.

    Parameters
    ----------
    run : CheckedRun
        Also a copy.
    heads : sequence of JournalHead or str
        Heads that were known earlier: of the verifier, and of the run's own statements.
    found : RunSignatures
        Takes lines and findings.
    required : bool
        Whether a run that is not entered is a finding.

    Returns
    -------
    datetime or None
        When the model was about to be asked first; None where that is not known.
    """
    known = _known(run, found)
    if known is None:
        if required and not found.findings:
            where = f"{run.key.audit}/{FOLDER}"
            found.find(
                where,
                "the journal cannot be checked from a copy that has none; give the run in its store",
                "journal",
            )
        return None
    _check_heads(known, heads, found)
    own = entries_of(known.entries, run.key)
    if not own:
        found.lines.append("journal: the run is not entered in it")
        if required:
            found.find(
                known.where, "the run is not entered, and the trust file or a head requires it", "journal"
            )
        return None
    _check_own(run, known.where, own, found)
    _check_at_plan(run, known.entries, found)
    asked = next((datetime.fromisoformat(one.at) for one in own if one.event == "asked"), None)
    window = [one for one in known.entries if one.window == run.key.window.label]
    _check_possible(known.where, window, found)
    last = known.entries[-1]
    head = f"{entry_digest(last)} (entry {last.number})"
    if known.store is not None:
        _check_sealed(known.store, [one for one in window if one not in own or one.event != "planned"], found)
        found.lines.append(f"journal: {_attempts(window)} on this window; head {head}: keep it elsewhere")
        return asked
    _check_sealed(run.store, [one for one in own if one.event != "planned"], found, run.prefix)
    found.lines.append(
        f"journal: {_attempts(window)} on this window until {last.at}, when the newest entry of this copy was made; "
        f"its head is {head}. What was entered later, and whether the other runs are as they were sealed, cannot be "
        "known here"
    )
    return asked


def _known(run: CheckedRun, found: RunSignatures) -> _Known | None:
    """Return the journal next to a run's audit if the run is entered in it, else the copy in the run."""
    store, audit = _store_of(run), run.key.audit
    copy: _Known | None = None
    try:
        if run.store.exists(key := f"{run.prefix}/{NAME}".lstrip("/")):
            lines = read_lines(run.store.get(key), NAME)
            check_extends(lines, None, audit=audit)
            copy = _Known(NAME, lines, None)
    except EvidenceError as error:
        found.find(NAME, str(error), "journal")
    if store is not None:
        where = f"{audit}/{FOLDER}"
        _find_later(store, where, found)
        try:
            entries = read_journal(store, audit)
        except EvidenceError as error:
            found.find(where, str(error), "journal")
            return None
        if copy is None or entries_of(entries, run.key):
            if copy is not None and copy.entries:
                _check_heads(_Known(where, entries, store), [entry_digest(copy.entries[-1])], found)
            return _Known(where, entries, store)
    if copy is None and not found.findings:
        line = "journal: not next to this copy, so that other attempts were made, or dropped, cannot be known here"
        found.lines.append(line)
    return copy


def _check_heads(known: _Known, heads: Sequence[JournalHead | str], found: RunSignatures) -> None:
    """Each head that was known earlier must be in the journal, under its number."""
    for head in heads:
        digest = head if isinstance(head, str) else head.sha256
        try:
            number = check_head(known.entries, digest)
        except EvidenceError as error:
            later = "" if known.store is not None else "; or this copy was made before that entry"
            found.find(known.where, f"{error}{later}", "journal")
            continue
        if isinstance(head, JournalHead) and number != head.number:
            found.find(
                known.where, f"the head {digest} is entry {number}, and was known as {head.number}", "journal"
            )


def _check_at_plan(run: CheckedRun, entries: Sequence[JournalEntry], found: RunSignatures) -> None:
    """What the plan says of the journal, which the report prints, must be what it held then."""
    try:
        plan = run.stage("plan")
        if JOURNAL not in plan.success().artefacts:
            return
        said = plan.read_document(JournalAtPlan, JOURNAL)
        planned = datetime.fromisoformat(check_instant(plan.success().started_at))
    except (AuditError, ValueError, TypeError, KeyError):
        return  # a record that is none, which is reported already
    path, until = f"plan/{JOURNAL}", 0 if said.head is None else said.head.number
    if said.head is not None and (until > len(entries) or head_of(entries[until - 1]) != said.head):
        found.find(
            path, f"the journal does not hold the head {said.head.sha256} that the plan saw", "journal"
        )
        return
    before = [one for one in entries[:until] if one.window == run.key.window.label]
    if list(said.window) != before:
        found.find(path, f"these are not the entries about this window until entry {until}", "journal")
    left_out = [one for one in entries[until:] if planned - datetime.fromisoformat(one.at) > _SKEW]
    if left_out:
        first = left_out[0]
        found.find(
            path,
            f"entry {first.number} of {first.at} was there before the plan, which ends before it",
            "journal",
        )


def check_all(store: Store, audit: str, heads: Sequence[str]) -> tuple[list[JournalEntry], RunSignatures]:
    """Check the whole journal of an audit: its chain, heads known earlier, and that all that was sealed is there."""
    found = RunSignatures()
    _find_later(store, f"{audit}/{FOLDER}", found)
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
    _check_possible(f"{audit}/{FOLDER}", entries, found)
    _check_sealed(store, entries, found)
    return entries, found


def _check_possible(where: str, entries: Sequence[JournalEntry], found: RunSignatures) -> None:
    for one, why in impossible_entries(entries):
        found.find(where, f"entry {one.number} {why}", "journal")


def _find_later(store: Store, folder: str, found: RunSignatures) -> None:
    """Find what was put over entries, or hides them; what was written first is what is read."""
    if isinstance(store, FirstVersions):
        for one in store.later(folder):
            found.find(one.key, one.detail, one.kind)


def _check_own(run: CheckedRun, where: str, own: Sequence[JournalEntry], found: RunSignatures) -> None:
    """What is entered of the run must be what is there."""
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
    sealed = [one for one in own if is_sealing(one)]
    if manifest is not None and not sealed:
        found.find(where, "the run is sealed, and its end was never entered", "journal")
    failed = [path for path in run.list(ATTEMPTS) if path.endswith(f"/{MANIFEST}")]
    entered = {f"{ATTEMPTS}/{one.attempt}/{MANIFEST}" for one in own if one.event in _FAILURES}
    for path in sorted({*failed} - entered):
        found.find(
            path, "is the record of a failed attempt whose end was never entered in the journal", "journal"
        )


def _check_sealed(
    store: Store, entries: Sequence[JournalEntry], found: RunSignatures, prefix: str | None = None
) -> None:
    """Everything that was sealed must be there as it was; with a `prefix` the run lies there, and not at its place."""
    planned = set()
    for one in entries:
        if one.sealed_sha256 is None or (one.event == "planned" and (one.window, one.run) in planned):
            continue
        if one.event in _ANSWERS:
            _check_answer(store, one, prefix, found)
            continue
        file, done = f"attempts/{one.attempt}/{MANIFEST}", "sealed"
        if one.event == "planned":
            file, done = f"plan/{SUCCESS}", "written"
            planned.add((one.window, one.run))
        elif is_sealing(one):
            file = f"evidence/{MANIFEST}"
        path = f"{f'{one.audit}/{one.window}/{one.run}' if prefix is None else prefix}/{file}".lstrip("/")
        digest = _digest(store, path)
        if digest is None:
            found.find(
                path, f"entry {one.number} of the journal says that it was {done}, and it is gone", "journal"
            )
        elif digest != one.sealed_sha256:
            found.find(
                path, f"is not what entry {one.number} of the journal says: {one.sealed_sha256}", "journal"
            )


def _check_answer(store: Store, entry: JournalEntry, prefix: str | None, found: RunSignatures) -> None:
    """An auditor's statement that was entered must lie there: without it an earlier one, or none, would be the last."""
    run = f"{entry.audit}/{entry.window}/{entry.run}" if prefix is None else prefix
    folder = f"{run}/{_ANSWERS[entry.event]}".lstrip("/")
    statements = [path for path in store.list(folder) if path.endswith(f"/{_STATEMENT}")]
    if entry.sealed_sha256 not in (_digest(store, path) for path in statements):
        done = "signed" if entry.event == "signed" else "made to reject the run"
        what = f"the statement {entry.sealed_sha256} was {done}, says entry {entry.number} of the journal, and is gone"
        found.find(folder, what, "journal")


def _attempts(window: Sequence[JournalEntry]) -> str:
    """Count what became of the attempts on a window."""
    found = attempts_among(window)
    ends = ["without an end" if one.end is None else one.end.event for one in found]
    said = [
        f"{ends.count(event)} {event}"
        for event in ("completed", "failed", "abandoned", "without an end")
        if event in ends
    ]
    designs = len({one.first.run for one in found})
    with_designs = f" with {designs} designs" if designs > 1 else ""
    return f"{len(found)} attempt{'s' * (len(found) != 1)}{with_designs} ({', '.join(said)})"


def _store_of(run: CheckedRun) -> Store | None:
    """Return the store that a run lies in, by its place; None for a copy."""
    if not run.uri.endswith(f"/{run.key.prefix}"):
        return None
    return as_first_written(run.uri.removesuffix(f"/{run.key.prefix}") or "/")[0]


def _digest(store: Store, path: str) -> str | None:
    try:
        return digest_of(store, path)[0]
    except NotFoundError:
        return None
