"""The index of an audit's runs: what their records say, kept so that each is read once.

``<audit>/index/runs.json`` follows from the runs. Which runs there are is taken from the listing of the store each
time, so that the index can hide none and make up none; removed, it is made again. `index_differences` reads every
record again and says where the kept one is not what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.evidence import read_stage_record
from audit_lib.documents.run_index import IndexedRun, KeptSchedule, LatestReport, RunIndex
from audit_lib.errors import AuditError, EvidenceError, NotFoundError, StoreError, StoreUnreachableError
from audit_lib.policies import policy_of
from audit_lib.policies.audit_claim import why_no_audit
from audit_lib.policies.clocks import valid_until
from audit_lib.policies.timeline import timeline_of
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.spec import AuditSpec
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.windows.window_faults import window_faults
from audit_lib.windows.window_states import BegunRun, begun_runs, catchup_limit

if TYPE_CHECKING:
    from audit_lib.documents.report import Report

FOLDER: Final = "index"


def index_key(audit: str) -> str:
    """Return where the index of an audit is."""
    return f"{audit}/{FOLDER}/runs.json"


def read_index(store: Store, audit: str, *, rebuild: bool = False) -> RunIndex:
    """Return the index of an audit as its runs are now, and write it where it says something else than before.

    Parameters
    ----------
    store, audit : Store, str
        Where the runs are, and of which audit.
    rebuild : bool
        Whether every record is read again, as if no index were there.

    Raises
    ------
    NotFoundError
        If the audit has no run.
    StoreUnreachableError
        If the store cannot be read now.
    """
    kept = None if rebuild else _kept(store, audit)
    found = _made(store, audit, kept)
    if found != kept:
        try:
            store.replace(index_key(audit), pretty_json(found.as_dict()))
        except StoreUnreachableError:
            raise
        except StoreError:
            pass  # a reader without the right to write: it reads the runs again each time
    return found


def index_differences(store: Store, audit: str) -> list[str]:
    """Return a line for each place where the kept index is not what follows from the runs; none where there is none."""
    if not store.exists(index_key(audit)):
        return []
    kept, made = _kept(store, audit), _made(store, audit, None)
    where = store.uri(index_key(audit))
    if kept is None:
        return [f"{where}: cannot be read"]
    rows = {(one.window, one.design): one for one in made.runs}
    told = [
        f"{where}: run {one.window}/{one.design} is kept as {_row(one)}, and is {_row(now)}"
        for one in kept.runs
        if (now := rows.get((one.window, one.design))) != one
    ]
    known = {(one.window, one.design) for one in kept.runs}
    told += [
        f"{where}: run {window}/{design} is not in it"
        for window, design in rows
        if (window, design) not in known
    ]
    told += [
        f"{where}: {name} differs"
        for name in ("audit", "title", "planned", "schedule", "latest", "notes")
        if getattr(kept, name) != getattr(made, name)
    ]
    return told


def begun(index: RunIndex) -> list[BegunRun]:
    """Return the runs of an index as `windows_owed` takes them."""
    from audit_lib.window import Window

    return [
        BegunRun(Window.from_label(one.window), f"{index.audit}/{one.window}/{one.design}", one.outcome)
        for one in index.runs
    ]


def why(store: Store, error: AuditError) -> str:
    """Return the first line of an error without the store's own place: the same store elsewhere says the same."""
    return str(error).splitlines()[0].replace(f"{store.uri('').rstrip('/')}/", "")


def _row(one: IndexedRun | None) -> str:
    if one is None:
        return "not there"
    return f"{one.outcome}, sealed {one.sealed_at or 'never'}, record {(one.record_sha256 or 'none')[:12]}"


def _kept(store: Store, audit: str) -> RunIndex | None:
    key = index_key(audit)
    if not store.exists(key):
        return None
    try:
        found = decode(RunIndex, store.get(key), store.uri(key))
    except EvidenceError:
        return None  # of another version, or changed: made again
    return found if found.audit == audit else None


def _made(store: Store, audit: str, kept: RunIndex | None) -> RunIndex:
    there = begun_runs(store, audit)
    if not there:
        raise NotFoundError(f"{store.uri(audit)}: no run of this audit; name its spec's YAML file instead")
    known = {(one.window, one.design, one.outcome): one for one in kept.runs} if kept else {}
    rows = tuple(
        known.get((one.window.label, one.prefix.rsplit("/", 1)[1], one.outcome)) or _indexed(store, one)
        for one in there
    )
    notes = window_faults(store.folders(audit), rows)
    planned, spec = _planned(store, there, kept, notes)
    schedule = kept.schedule if kept is not None else None
    title = kept.title if kept is not None else audit
    if spec is not None:
        start = spec.schedule.start
        schedule = KeptSchedule(
            cron=spec.schedule.cron,
            timezone=spec.schedule.timezone,
            start=None if start is None else start.isoformat(),
            catchup=catchup_limit(spec),
        )
        title = spec.title
    elif planned is None:
        schedule, title = None, audit
    return RunIndex(
        audit=audit,
        title=title,
        planned=planned,
        schedule=schedule,
        runs=rows,
        latest=_latest(store, audit, rows, kept, notes),
        notes=tuple(notes),
    )


def _indexed(store: Store, one: BegunRun) -> IndexedRun:
    """Read the record of a run's evidence."""
    key = f"{one.prefix}/evidence/{SUCCESS}"
    sealed_at = digest = None
    if store.exists(key):
        content = store.get(key)
        digest = sha256(content)
        try:
            sealed_at = read_stage_record(content, store.uri(key)).finished_at
        except EvidenceError:
            sealed_at = None  # `audit verify` says what is wrong with it
    return IndexedRun(
        window=one.window.label,
        design=one.prefix.rsplit("/", 1)[1],
        outcome=one.outcome,
        sealed_at=sealed_at,
        record_sha256=digest,
    )


def _planned(
    store: Store, there: Sequence[BegunRun], kept: RunIndex | None, notes: list[str]
) -> tuple[str | None, AuditSpec | None]:
    """Return the latest run with a plan that can be read, and its spec unless it is known already."""
    for one in reversed(there):
        if not store.exists(f"{one.prefix}/plan/{SUCCESS}"):
            continue
        if kept is not None and kept.planned == one.prefix and kept.schedule is not None:
            return one.prefix, None
        try:
            return one.prefix, Run.load(store.uri(one.prefix)).spec
        except StoreUnreachableError:
            raise
        except AuditError as error:
            notes.append(f"{one.prefix}: its plan cannot be read: {why(store, error)}")
    return None, None


def _latest(
    store: Store, audit: str, rows: Sequence[IndexedRun], kept: RunIndex | None, notes: list[str]
) -> LatestReport | None:
    """Return what the report of the latest complete run says."""
    complete = [one for one in rows if one.outcome == "complete"]
    if not complete:
        return None
    last = max(complete, key=lambda one: (one.window.split("_")[::-1], one.sealed_at or "", one.design))
    prefix = f"{audit}/{last.window}/{last.design}"
    numbers = [int(name) for name in store.folders(f"{prefix}/signoff") if name.isdecimal()]
    known = kept.latest if kept is not None and last in kept.runs else None
    is_rejected = store.exists(f"{prefix}/rejection/{SUCCESS}")
    if known is not None and (known.run, known.sign_offs, known.rejected_by is not None) == (
        prefix,
        len(numbers),
        is_rejected,
    ):
        return known
    from audit_lib.documents.report import Report

    folder = StageFolder(store, f"{prefix}/signoff/{max(numbers)}" if numbers else f"{prefix}/report")
    try:
        run = Run.load(store.uri(prefix))
        said = _of_report(folder.read_document(Report, "report.json"), run, prefix, len(numbers))
        return _rejected(said, store) if is_rejected else said
    except StoreUnreachableError:
        raise
    except AuditError as error:
        notes.append(f"{prefix}: its report cannot be read: {why(store, error)}")
        return None


def _rejected(said: LatestReport, store: Store) -> LatestReport:
    """Return what a report says whose run an auditor rejected; that the rejection holds is for `audit verify`."""
    from audit_lib.documents.envelope import read_statement
    from audit_lib.documents.rejection import RejectionStatement

    key = f"{said.run}/rejection/statement.dsse.json"
    by = read_statement(RejectionStatement, store.get(key), store.uri(key)).predicate
    why = f"its auditor rejected it on {by.rejected_at[:10]}: {by.reason}"
    return replace(said, rejected_by=by.auditor, audited=None, no_use_after=None, why_no_audit=why)


def _of_report(report: Report, run: Run, prefix: str, sign_offs: int) -> LatestReport:
    policy = policy_of(run.spec)
    occurred, signed = report.sample.occurred, report.signature
    times = timeline_of(
        policy,
        run.spec,
        datetime.fromisoformat(report.measured_at),
        window=run.key.window,
        decided=None if occurred is None else (occurred.first, occurred.last),
        signed_at=None if signed is None else datetime.fromisoformat(signed.signed_at),
        signer=None if signed is None else (signed.auditor, signed.organisation),
    )
    why = why_no_audit(times, report.attested)
    day = datetime.fromisoformat(report.measured_at).date()
    limited = why is None and policy.gate("validity") is not None
    leading = min(report.headline.values(), key=lambda one: one.ratio, default=None)
    finding = None
    if leading is not None:
        finding = (
            f"{float(leading.ratio):.3f} for {leading.label} ({leading.selected} of {leading.n} against "
            f"{leading.comparator_selected} of {leading.comparator_n})"
        )
    return LatestReport(
        run=prefix,
        sign_offs=sign_offs,
        signed_by=None if report.signature is None else report.signature.auditor,
        rejected_by=None,
        audited=day.isoformat() if why is None else None,
        no_use_after=valid_until(policy, day).isoformat() if limited else None,
        why_no_audit=why,
        finding=finding,
        ratio=None if leading is None else float(leading.ratio),
    )
