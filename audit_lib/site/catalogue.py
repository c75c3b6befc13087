"""What there is to publish: the sealed runs of a store, with their sign-offs and what supersedes what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from audit_lib.documents.journal import JournalEntry
from audit_lib.documents.report import Report
from audit_lib.documents.sequences import Sequences
from audit_lib.documents.sign_off import Superseded
from audit_lib.errors import AuditError, StoreUnreachableError
from audit_lib.journal import journals_read_once, read_journal
from audit_lib.large_file import bytes_of
from audit_lib.plain_text import quoted
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.clocks import valid_until
from audit_lib.progress import Progress
from audit_lib.report import rendered
from audit_lib.report.content import Content, gather
from audit_lib.report.html import readable
from audit_lib.report.readings.names import is_reading, reading_names
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.signoff import Rejection, SignOff, content_now, read_rejection, read_sign_offs, verify_signed
from audit_lib.signoff.signed_report import last_signature, readings_of, report_names
from audit_lib.site.erased_records import erased_records
from audit_lib.site.monitor_page import read_sequences
from audit_lib.site.owed_windows import OwedWindows, read_windows
from audit_lib.site.panels import CataloguedPanel, read_panels
from audit_lib.store import Store

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguedRun:
    """A sealed run.

    Attributes
    ----------
    sealed_at : datetime
        When its evidence was sealed.
    document : Report or None
        Its ``report.json``; None for an audit that failed its validation.
    content : Content or None
        What its report says; None where there is none.
    sign_offs : tuple of SignOff
        First one first.
    rejection : Rejection or None
        Of the auditor who rejected it; it has no sign-off then.
    keys : tuple of str
        Id of the key of each sign-off.
    trusted : bool
        Whether the publisher gave keys, and these are among them.
    superseded_by : str or None
        Path on the site of the signed run that took its place.
    disputed : bool
        Whether more than one claims to have taken its place, so that none of them is published.
    not_recomputable : int
        Score records of people whose data were erased since it was sealed, as far as the keys that are here say.
    made : dict of str to bytes
        What `files` has returned, which costs more than all else of its pages.
    """

    run: Run
    sealed_at: datetime
    document: Report | None
    content: Content | None
    sign_offs: tuple[SignOff, ...]
    rejection: Rejection | None = None
    keys: tuple[str, ...] = ()
    trusted: bool = False
    superseded_by: str | None = None
    disputed: bool = False
    not_recomputable: int = 0
    made: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def path(self) -> str:
        """Where its report is on the site."""
        return self.run.key.prefix

    @property
    def policy(self) -> Policy:
        """The pack it was audited under."""
        return policy_of(self.run.spec)

    @property
    def why_no_audit(self) -> str | None:
        """Why nobody may rely on it as an audit: it failed, is an experiment, or no independent auditor signed it."""
        if self.content is None:
            return "it failed its validation"
        return self.content.why_no_audit

    @property
    def audited(self) -> date | None:
        """Day of the audit; None where there is none: see `why_no_audit`."""
        if self.document is None:
            return None
        # Read in any case: a document without its day is no report of ours.
        day = datetime.fromisoformat(self.document.measured_at).date()
        return day if self.why_no_audit is None else None

    @property
    def last_day(self) -> date | None:
        """Last day on which the law lets anybody rely on this audit; None where there is no such day."""
        if self.audited is None or self.policy.gate("validity") is None:
            return None
        return valid_until(self.policy, self.audited)

    @property
    def is_current(self) -> bool:
        """Whether it has a report that no auditor rejected and whose place no other took."""
        taken = self.superseded_by is not None or self.disputed
        return self.document is not None and self.rejection is None and not taken

    @property
    def shown(self) -> StageFolder:
        """The folder of the report that is current: the last signed one, or the unsigned."""
        return self.sign_offs[-1].folder if self.sign_offs else self.run.stage("report")

    @property
    def names(self) -> list[str]:
        """Names of the files of `shown` that are the report; a machine that signs may make no PDF."""
        return report_names(self.sign_offs[-1]) if self.sign_offs else sorted(self.shown.success().artefacts)

    @property
    def report_names(self) -> list[str]:
        """Names of the report's own files."""
        return [name for name in self.names if not is_reading(name)]

    @property
    def reading_names(self) -> list[str]:
        """Names of its short readings: as they were signed, or as they are made beside the evidence."""
        signed = [name for name in self.names if is_reading(name)]
        return signed or reading_names(("en", *self.run.spec.report.languages))

    def files(self) -> dict[str, bytes]:
        """Return the report and its short readings; those that nobody signed are made beside the evidence."""
        if not self.made:
            files = {name: self.shown.read(name) for name in self.names}
            if self.rejection is not None and self.content is not None:
                # Its pages say so. Tables and report.json are as they were sealed.
                pages = rendered(self.run, self.content).artefacts
                files = {
                    name: content for name, content in files.items() if not name.endswith((".html", ".pdf"))
                }
                files |= {
                    name: bytes_of(pages[name]) for name in self.names if name in pages and name not in files
                }
            if self.content is not None and not any(map(is_reading, files)):
                files |= readings_of(self.run, self.content, pdf=False)
            self.made.update(files)
        return dict(self.made)

    @property
    def status(self) -> str:
        """In words: signed or rejected by whom, superseded, or not signed."""
        if self.document is None:
            return "failed its validation: no numbers were published"
        if self.superseded_by is not None:
            return "superseded by a later signed audit"
        if self.disputed:
            return "superseded, but by more than one later signed audit, so none of them is shown"
        if self.rejection is not None:
            said = self.rejection.predicate
            when = f"{self.rejection.rejected_at:%Y-%m-%d}"
            return f"rejected by {quoted(said.auditor)} on {when}: {quoted(said.reason)}"
        if not self.sign_offs:
            return "not signed"
        last = self.sign_offs[-1]
        again = f" (statement {last.number}, superseding {last.number - 1})" if last.number > 1 else ""
        checked = "checked" if self.trusted else "not checked"
        who = f"signed by {quoted(last.predicate.auditor)} on {last.signed_at:%Y-%m-%d}{again}"
        return f"{who}, key {self.keys[-1][:16]} {checked}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All that can be published, and what cannot be.

    Attributes
    ----------
    audits : dict of str to list of CataloguedRun
        By the audit's name; the latest window first.
    left_out : tuple of str
        Runs whose evidence or sign-off does not hold, of which no page can be made, or whose claim to supersede
        another does not hold, each with the first reason.
    windows : mapping of str to Windows
        By the audit's name, what became of each window that it owes.
    panels : tuple of CataloguedPanel
        The comparisons of models, the latest window first.
    sequences : mapping of str to Sequences
        By the audit's name, what is followed over all its windows, where that was done and may be shown.
    journals : mapping of str to list of JournalEntry
        By the audit's name, its journal of attempts.
    """

    audits: dict[str, list[CataloguedRun]]
    left_out: tuple[str, ...]
    windows: Mapping[str, OwedWindows] = field(default_factory=dict)
    panels: tuple[CataloguedPanel, ...] = ()
    sequences: Mapping[str, Sequences] = field(default_factory=dict)
    journals: Mapping[str, list[JournalEntry]] = field(default_factory=dict)


def read_catalogue(
    store: Store,
    notify: Callable[[str], None],
    trial: Callable[[Catalogue], object],
    trusted: Sequence[Ed25519PublicKey] = (),
) -> Catalogue:
    """Read every sealed run of a store. The digests of each are checked; its numbers are not computed again.

    What no `trial` can be made of alone is left out, so that it can stop no other.
    """
    prefixes = sorted(
        key.removesuffix(f"/evidence/{SUCCESS}")
        for key in store.list("")
        if key.endswith(f"/evidence/{SUCCESS}") and key.count("/") == 4
    )
    entries: dict[str, CataloguedRun] = {}
    left_out: list[str] = []
    progress = Progress("publish: runs checked", len(prefixes), notify)
    with journals_read_once() as journals:
        for prefix in prefixes:
            progress.one_more()
            try:
                journals.forget_if_grown(store, prefix.split("/")[0])
                entry = _entry(store, prefix, trusted)
                trial(Catalogue(audits={entry.run.key.audit: [entry]}, left_out=()))
                entries[prefix] = entry
            except StoreUnreachableError:
                raise
            except AuditError as error:
                left_out.append(readable(f"{prefix}: {str(error).splitlines()[0]}"))
            except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything, and stop no other run
                left_out.append(f"{prefix}: cannot be read ({type(error).__name__})")
    _leave_out_false_claims(entries, left_out)
    disputed = _leave_out_rivals(entries, left_out)
    _leave_out_false_claims(entries, left_out)
    for reason in left_out:
        notify(f"WARNING: not published: {reason}")
    taken = {claim.prefix: entry.path for entry in entries.values() if (claim := _claim(entry)) is not None}
    audits: dict[str, list[CataloguedRun]] = {}
    for entry in sorted(entries.values(), key=_age, reverse=True):
        known = replace(entry, superseded_by=taken.get(entry.path), disputed=entry.path in disputed)
        audits.setdefault(entry.run.key.audit, []).append(known)
    windows = {
        audit: read_windows(
            store, runs[0].run, max(one.sealed_at for one in runs), {one.path for one in runs}
        )
        for audit, runs in audits.items()
    }
    panels, without = read_panels(store, entries, notify)
    return Catalogue(
        audits=dict(sorted(audits.items())),
        left_out=(*left_out, *without),
        windows=windows,
        panels=panels,
        sequences={
            audit: found
            for audit, runs in audits.items()
            if not hides_cells(runs) and (found := read_sequences(store, audit)) is not None
        },
        journals={audit: read_journal(store, audit) for audit in audits},
    )


def hides_cells(entries: Sequence[CataloguedRun]) -> bool:
    """Whether a run of an audit is under a pack that hides small cells: what is followed is made of all cells."""
    return any(entry.policy.cells.display == "suppress" for entry in entries)


def latest(entries: Sequence[CataloguedRun]) -> CataloguedRun | None:
    """Return the latest run whose report is current, of an audit's runs with the latest first."""
    return next((entry for entry in entries if entry.is_current), None)


def _leave_out_rivals(entries: dict[str, CataloguedRun], left_out: list[str]) -> set[str]:
    """Leave out all runs that claim to supersede the same statement: which of them is current nobody can tell.

    Returns
    -------
    set of str
        Paths of the runs whose statements they claim.
    """
    claimed: dict[str, set[str]] = {}
    places: dict[str, set[str]] = {}
    for path, entry in entries.items():
        for one in entry.sign_offs:
            if (named := one.predicate.supersedes) is not None:
                claimed.setdefault(named.statement_sha256, set()).add(path)
                places.setdefault(named.statement_sha256, set()).add(named.prefix)
    disputed: set[str] = set()
    for digest, rivals in sorted(claimed.items()):
        if len(rivals) > 1:
            names = ", ".join(sorted(rivals))
            left_out += [
                f"{path}: statement {digest[:16]} is superseded more than once, by {names}; which of them is current "
                "its auditors must say"
                for path in sorted(rivals & entries.keys())
            ]
            for path in rivals:
                entries.pop(path, None)
            disputed |= places[digest]
    return disputed


def _leave_out_false_claims(entries: dict[str, CataloguedRun], left_out: list[str]) -> None:
    """Leave out runs that name what is not there, and then those that name them."""
    while false := [
        (path, claim)
        for path, entry in entries.items()
        if (claim := _claim(entry)) is not None and not _holds(claim, entry, entries)
    ]:
        for path, claim in false:
            left_out.append(f"{path}: claims to supersede {claim.run}, and no such statement is published")
            del entries[path]


def _claim(entry: CataloguedRun) -> Superseded | None:
    """Return what the run's first statement says it supersedes in another run."""
    return entry.sign_offs[0].predicate.supersedes if entry.sign_offs else None


def _holds(claim: Superseded, entry: CataloguedRun, entries: Mapping[str, CataloguedRun]) -> bool:
    earlier = entries.get(claim.prefix)
    if earlier is None:
        return False
    same = (earlier.run.key.audit, earlier.run.key.window) == (entry.run.key.audit, entry.run.key.window)
    return same and any(
        claim.statement_sha256 == one.digest and one.signed_at <= entry.sign_offs[0].signed_at
        for one in earlier.sign_offs
    )


def _age(entry: CataloguedRun) -> tuple[datetime, datetime, datetime, str]:
    window = entry.run.key.window
    return window.end, window.start, entry.sealed_at, entry.path


def _entry(store: Store, prefix: str, trusted: Sequence[Ed25519PublicKey]) -> CataloguedRun:
    uri = store.uri(prefix)
    checked = verify_signed(uri, trusted, recompute={}, allow_unsigned=True)
    if not checked.ok:
        what = "sign-off" if checked.findings[0].kind == "sign-off" else "evidence"
        raise AuditError(f"the {what} does not verify: {checked.findings[0]}")
    run = Run.load(uri)
    signed = read_sign_offs(run)
    complete, rejection = run.stage("report").is_complete(), read_rejection(run)
    sealed = run.stage("evidence").success().finished
    return CataloguedRun(
        run=run,
        sealed_at=sealed,
        document=run.stage("report").read_document(Report, "report.json") if complete else None,
        content=_content(run, rejection) if complete else None,
        sign_offs=tuple(signed),
        rejection=rejection,
        keys=checked.keys,
        trusted=bool(trusted),
        not_recomputable=erased_records(run) if checked.not_recomputable else 0,
    )


def _content(run: Run, rejection: Rejection | None) -> Content:
    return gather(run, signature=last_signature(run)) if rejection is None else content_now(run)
