"""Verifies every run of a store: what is new, changed or due in full, and of the rest that it is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from audit_lib.documents.verified_runs import ListedAudit, ListedRun, VerifiedJournal
from audit_lib.journal import FOLDER as JOURNAL
from audit_lib.progress import Progress, ignore
from audit_lib.verify_all.bounds import CostBounds
from audit_lib.verify_all.kept import KeptVerifications
from audit_lib.verify_all.listing import StoreListing
from audit_lib.verify_all.outcome import OutcomeVerdict, RunVerification, StoreVerification
from audit_lib.verify_all.processes import VerifyingProcess
from audit_lib.verify_all.sweep import Sweep, VerifyOptions
from audit_lib.worker_processes import ask_all

Told = Callable[[RunVerification], None]


def verify_store(
    root: str,
    listing: StoreListing,
    kept: KeptVerifications,
    options: VerifyOptions,
    *,
    bounds: CostBounds,
    now: datetime | None = None,
    told: Told = lambda outcome: None,
    notify: Callable[[str], None] = ignore,
) -> StoreVerification:
    """Verify the runs of a listing.

    Parameters
    ----------
    root : str
        Of the store.
    listing : StoreListing
        Of all of it, or of a part.
    kept : KeptVerifications
        What earlier verifications found, read already; it is written now and then, and at the end.
    options : VerifyOptions
        What is asked.
    bounds : CostBounds
        What it may cost.
    now : datetime, optional
        The clock, by which runs are due.
    told : callable, optional
        Told each outcome as soon as it is known.
    notify : callable, optional
        Told how far it is.

    Raises
    ------
    StoreUnreachableError
        If the store does not answer at all any more; what was found until then is kept.
    """
    now = now or datetime.now(UTC)
    sweep = Sweep(kept, options, bounds, now, StoreVerification(root), told, options.trust_digest())
    processes = [VerifyingProcess(root, options.trust, bounds) for _ in range(bounds.processes)]
    try:
        there = _gone(sweep, listing)
        _journals(sweep, listing.audits, processes, notify)
        changed, due = _look(sweep, there, processes, notify)
        _verify_in_full(sweep, changed, due, processes, notify)
    finally:
        for process in processes:
            process.end()
        kept.write()
    sweep.note()
    return sweep.found


def _gone(sweep: Sweep, listing: StoreListing) -> list[ListedRun]:
    """Find the runs whose evidence was there before; return the others."""
    states = {one.run: one.state for one in listing.runs}
    gone = set()
    for name, before in sorted(sweep.kept.runs.items()):
        if states.get(name) == "sealed" or (name in states and not before.sealed):
            continue
        gone.add(name)
        what = "evidence" if before.sealed else "record of a failed attempt"
        why = f"its {what} was there on {before.looked_at[:10]} ({before.verdict}), and is gone"
        sweep.outcome(
            RunVerification(
                name=name,
                verdict="gone",
                how="listing",
                findings=(why,),
                places=("missing: evidence/manifest.json",),
                verified_at=before.verified_at,
            )
        )
    return [one for one in listing.runs if one.run not in gone]


def _journals(
    sweep: Sweep,
    audits: Sequence[ListedAudit],
    processes: Sequence[VerifyingProcess],
    notify: Callable[[str], None],
) -> None:
    """Check the journal of each audit once: whole, with the head that was known, and all that was sealed there."""
    kept, progress = sweep.kept.journals, Progress("verify: journals", len(audits), notify)
    jobs = []
    for one in audits:
        before = kept.get(one.audit)
        if before is not None and not sweep.is_due(before) and sweep.is_as_listed(before, one.listing):
            sweep.holds(f"{one.audit}/{JOURNAL}", "listing", before.verified_at)
        else:
            jobs.append(one)
    progress.one_more(len(audits) - len(jobs))

    def message(one: ListedAudit) -> dict[str, Any]:
        before = kept.get(one.audit)
        known = [] if before is None or before.head is None else [before.head]
        return {"do": "journal", "name": one.audit, "heads": known}

    def hear(one: ListedAudit, answer: dict[str, Any]) -> None:
        sweep.heard(answer)
        progress.one_more()
        verdict, findings = _verdict(answer)
        if verdict == "verified":
            kept[one.audit] = VerifiedJournal(
                audit=one.audit,
                entries=answer["entries"],
                head=answer["head"],
                listing=one.listing,
                verified_at=sweep.instant,
            )
        _tell_full(sweep, f"{one.audit}/{JOURNAL}", verdict, findings, answer)

    ask_all(processes, jobs, message, hear)


def _look(
    sweep: Sweep,
    runs: Sequence[ListedRun],
    processes: Sequence[VerifyingProcess],
    notify: Callable[[str], None],
) -> tuple[list[ListedRun], list[ListedRun]]:
    """Look whether runs are as they were; return those that are changed or new, and the due ones, oldest first."""
    kept, progress = sweep.kept.runs, Progress("verify: runs looked at", len(runs), notify)
    changed: list[ListedRun] = []
    due: list[ListedRun] = []
    jobs: list[ListedRun] = []
    for one in runs:
        before = kept.get(one.run)
        if one.state == "unfinished":
            sweep.outcome(RunVerification(name=one.run, verdict="unfinished", how="listing"))
        elif before is None or before.sha256 is None or not sweep.is_of_this_trust(before):
            changed.append(one)
        elif sweep.is_due(before):
            due.append(one)
        elif sweep.is_as_listed(before, one.listing):
            sweep.keep_looked_at(one)
            sweep.holds(one.run, "listing", before.verified_at)
        else:
            jobs.append(one)
    progress.one_more(len(runs) - len(jobs))

    def within() -> Iterator[ListedRun]:
        for one in sorted(jobs, key=lambda one: (kept[one.run].looked_at, one.run)):
            if sweep.may_begin(kept[one.run].bytes):
                yield one
            else:
                sweep.put_off(one.run, changed=False)

    def hear(one: ListedRun, answer: dict[str, Any]) -> None:
        sweep.heard(answer)
        progress.one_more()
        if answer.get("sha256") == kept[one.run].sha256:
            sweep.keep_looked_at(one)
            sweep.holds(one.run, "contents", kept[one.run].verified_at)
        else:
            changed.append(one)  # also one that cannot be read: its verification says why

    ask_all(processes, within(), lambda one: {"do": "look", "name": one.run}, hear)
    changed.sort(key=lambda one: (one.run not in kept, one.run))
    return changed, sorted(due, key=lambda one: (kept[one.run].verified_at, one.run))


def _verify_in_full(
    sweep: Sweep,
    changed: Sequence[ListedRun],
    due: Sequence[ListedRun],
    processes: Sequence[VerifyingProcess],
    notify: Callable[[str], None],
) -> None:
    """Verify runs in full, those that are changed or new first, as far as the bounds allow."""
    kept = sweep.kept.runs
    progress = Progress("verify: runs in full", len(changed) + len(due), notify)

    def within() -> Iterator[ListedRun]:
        for place, one in enumerate([*changed, *due]):
            before = kept.get(one.run)
            size = one.bytes if one.bytes is not None else 0 if before is None else before.bytes
            if sweep.may_begin(size):
                yield one
            else:
                sweep.put_off(one.run, changed=place < len(changed))

    def hear(one: ListedRun, answer: dict[str, Any]) -> None:
        sweep.heard(answer)
        progress.one_more()
        if one.bytes is None and one.run not in kept:
            sweep.read += int(answer.get("bytes", 0))  # nobody knew before
        verdict, findings = _verdict(answer)
        sweep.keep(one, verdict, answer)
        _tell_full(sweep, one.run, verdict, findings, answer)

    ask_all(processes, within(), lambda one: {"do": "verify", "name": one.run}, hear)


def _tell_full(
    sweep: Sweep, name: str, verdict: OutcomeVerdict, findings: tuple[str, ...], answer: dict[str, Any]
) -> None:
    sweep.outcome(
        RunVerification(
            name=name,
            verdict=verdict,
            how="in full",
            findings=findings,
            places=tuple(answer.get("places", findings)),
            verified_at=sweep.instant if verdict == "verified" else "",
        )
    )


def _verdict(answer: dict[str, Any]) -> tuple[OutcomeVerdict, tuple[str, ...]]:
    """Return the verdict that an answer means, and why it is not better."""
    if (why := answer.get("stopped")) is not None:
        return "stopped", (f"its verification {why}: there is no verdict",)
    if (why := answer.get("unreachable") or answer.get("unchecked")) is not None:
        return "could not be checked", (str(why),)
    findings = tuple(answer["findings"])
    if answer["more"]:
        findings += (f"and {answer['more']} more; `audit verify` of this run lists them",)
    verdict: OutcomeVerdict = answer.get("verdict") or ("does not verify" if findings else "verified")
    return verdict, findings
