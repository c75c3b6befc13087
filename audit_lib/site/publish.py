"""Writing the site into the store: what changed, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from audit_lib.documents.published_site import PublishedSite, PublishedValidity
from audit_lib.errors import InputError, NotFoundError
from audit_lib.journal_lines import NAME, journal_lines
from audit_lib.progress import Progress
from audit_lib.report.html import render_html
from audit_lib.report.readings.names import CARD
from audit_lib.signoff.rejection_file import FOLDER as REJECTION
from audit_lib.signoff.sign_off_files import PUBLIC_KEY, STATEMENT
from audit_lib.site.attempts_page import PAGE as ATTEMPTS
from audit_lib.site.attempts_page import attempts_page
from audit_lib.site.audits_pages import audits_pages
from audit_lib.site.catalogue import Catalogue, CataloguedRun, latest, read_catalogue
from audit_lib.site.feeds import SITEMAP, atom_feed, json_feed, robots, sitemap
from audit_lib.site.kept_publication import KeptPublication
from audit_lib.site.monitor_page import PAGE, monitor_page
from audit_lib.site.pages import audit_page, front_page, trend_page
from audit_lib.site.published_states import published_states
from audit_lib.site.trend import points
from audit_lib.site.withdrawn import stale_paths, withdrawn_files
from audit_lib.store import Store, open_store

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FOLDER: Final = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportValidity:
    """Until when the latest report of an audit may be relied on.

    Attributes
    ----------
    audit : str
        The audit's name.
    audited, last_day : date or None
        Day of the audit, and the last day of use that the law allows; None where there is no such day.
    cite : str
        The paragraph that sets the period.
    why_no_audit : str or None
        Why there is no audit to rely on.
    """

    audit: str
    audited: date | None
    last_day: date | None
    cite: str
    why_no_audit: str | None = None

    def is_past(self, on: date) -> bool:
        """Whether the law allows no use on a day any more."""
        return self.last_day is not None and on > self.last_day

    def on(self, day: date) -> str:
        """Say it for a day."""
        if self.audited is None:
            return f"{self.audit}: no audit to rely on: {self.why_no_audit}"
        if self.last_day is None:
            return f"{self.audit}: audit of {self.audited}; its policy sets no period ({self.cite})"
        if self.is_past(day):
            return (
                f"{self.audit}: audit of {self.audited}, valid until {self.last_day}, which is past on {day}: no use "
                f"of the tool is allowed ({self.cite}); audit again"
            )
        return f"{self.audit}: audit of {self.audited}, valid until {self.last_day} ({self.cite})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was done.

    Attributes
    ----------
    uri : str
        Of the site's first page.
    files, written : int
        Files of the site, and those of them that were not there yet or were different.
    left_out : tuple of str
        Runs that are not on the site, with the reason.
    validity : tuple of ReportValidity
        Of each audit's latest report, by the audit's name.
    without_report : tuple of str
        Audits all of whose runs failed their validation.
    stale : tuple of str
        Folders and files of the site that were published of runs and statements which are not published any more, or
        that somebody else put there. They are left as they are: a law may want them kept.
    withdrawn : tuple of str
        Index, trend and latest pages that no run backs any more, and that say so now.
    """

    uri: str
    files: int
    written: int
    left_out: tuple[str, ...]
    validity: tuple[ReportValidity, ...]
    without_report: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


def _ignore(message: str) -> None:
    pass


def publish(
    root: str,
    *,
    base: str = "",
    airflow: str = "",
    trusted: Sequence[Ed25519PublicKey] = (),
    notify: Callable[[str], None] = _ignore,
) -> Published:
    """Write ``site/`` of a store.

    With a key in ``AUDIT_VERIFIED_KEY``, and without `trusted`, nothing is checked or made again where the store, the
    site, what is asked and the software are as they were when it was published last
    (`audit_lib.site.kept_publication`).

    Parameters
    ----------
    root : str
        The store that holds the runs: a folder or ``s3://bucket/prefix``.
    base : str
        Address under which the site is served, such as ``https://audits.example.org/``. Feeds and the sitemap need
        it for absolute links; without it their links are relative and there is no sitemap.
    airflow : str
        Address of Airflow's UI, for links to the DAG runs of each audit; empty: no links.
    trusted : sequence of Ed25519PublicKey
        Keys got from the auditors. Runs that another key signed are then left out; without any the site says that
        keys were not checked.

    Raises
    ------
    InputError
        If `base` is no address.
    NotFoundError
        If there is nothing at `root`.
    StoreError
        If the store cannot be read or written.
    """
    if base and not base.startswith(("https://", "http://")):
        raise InputError(f"{base!r} is no address of a site; write https://host/folder/")
    if airflow and not airflow.startswith(("https://", "http://")):
        raise InputError(f"{airflow!r} is no address of Airflow; write https://host/")
    base = base if not base or base.endswith("/") else f"{base}/"
    store = open_store(root)
    if not store.list(""):
        raise NotFoundError(f"{root}: there is no store here, or nothing is in it; nothing was published")
    # Who gives keys asks for a check of every signature.
    kept = (
        None if trusted else KeptPublication.of_environment(store, FOLDER, {"base": base, "airflow": airflow})
    )
    if kept is not None and (same := kept.unchanged()) is not None:
        notify(
            f"site: {same.files} files, as they were published on {same.published_at[:10]}; nothing changed"
        )
        return _as_published(store, same)
    catalogue = read_catalogue(store, notify, lambda one: site_files(one, base), trusted)
    there = [key.removeprefix(f"{FOLDER}/") for key in store.list(FOLDER)]
    files = site_files(catalogue, base, there, airflow.rstrip("/"))
    stale, outdated = stale_paths(there, files)
    files |= withdrawn_files(outdated, catalogue)
    for path in stale:
        notify(f"WARNING: no run in the store backs {FOLDER}/{path}")
    progress, written = Progress("publish: files of the site", len(files), notify), 0
    for path, content in sorted(files.items()):
        written += _write(store, f"{FOLDER}/{path}", content)
        progress.one_more()
    notify(f"site: {len(files)} files, {written} of them new or changed")
    done = Published(
        uri=store.uri(f"{FOLDER}/index.html"),
        files=len(files),
        written=written,
        left_out=catalogue.left_out,
        validity=tuple(
            ReportValidity(
                audit=audit,
                audited=entry.audited,
                last_day=entry.last_day,
                cite=entry.policy.clock("validity").cite,
                why_no_audit=entry.why_no_audit,
            )
            for audit, entries in catalogue.audits.items()
            if (entry := latest(entries)) is not None
        ),
        without_report=tuple(
            audit
            for audit, entries in catalogue.audits.items()
            if all(entry.document is None for entry in entries)
        ),
        stale=tuple(stale),
        withdrawn=tuple(outdated),
    )
    if kept is not None and _can_be_kept(done, catalogue) and (why := kept.keep(_published(done), files)):
        notify(f"WARNING: what was published is not kept, and is made again the next time: {why}")
    return done


def _can_be_kept(done: Published, catalogue: Catalogue) -> bool:
    """Whether the site follows from the store alone, and all that is in it holds."""
    specs = [entry.run.spec for entries in catalogue.audits.values() for entry in entries]
    has_keys = any(
        spec.privacy is not None and spec.privacy.keys != "none" for spec in specs
    )  # kept elsewhere
    return not (done.left_out or done.stale or done.withdrawn or has_keys)


def _published(done: Published) -> PublishedSite:
    return PublishedSite(
        published_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        asked_sha256="0" * 64,
        runs_sha256="0" * 64,
        site_sha256="0" * 64,
        files=done.files,
        validity=tuple(
            PublishedValidity(
                audit=one.audit,
                audited=None if one.audited is None else one.audited.isoformat(),
                last_day=None if one.last_day is None else one.last_day.isoformat(),
                cite=one.cite,
                why_no_audit=one.why_no_audit,
            )
            for one in done.validity
        ),
        without_report=done.without_report,
        mac="0" * 64,
    )


def _as_published(store: Store, same: PublishedSite) -> Published:
    return Published(
        uri=store.uri(f"{FOLDER}/index.html"),
        files=same.files,
        written=0,
        left_out=(),
        validity=tuple(
            ReportValidity(
                audit=one.audit,
                audited=None if one.audited is None else date.fromisoformat(one.audited),
                last_day=None if one.last_day is None else date.fromisoformat(one.last_day),
                cite=one.cite,
                why_no_audit=one.why_no_audit,
            )
            for one in same.validity
        ),
        without_report=same.without_report,
    )


def site_files(
    catalogue: Catalogue, base: str, there: Sequence[str] = (), airflow: str = ""
) -> dict[str, bytes]:
    """Return every file of the site by its path; the index names those of the files `there` that no run backs."""
    files: dict[str, bytes] = {}
    index = "index.html"
    for audit, entries in catalogue.audits.items():
        followed, journal = catalogue.sequences.get(audit), catalogue.journals.get(audit)
        files[f"{audit}/index.html"] = render_html(
            audit_page(audit, entries, catalogue.windows.get(audit), followed, journal, airflow=airflow)
        )
        if journal is not None:
            title, reports = entries[0].run.spec.title, _reports(audit, entries)
            files[f"{audit}/{ATTEMPTS}"] = render_html(attempts_page(audit, title, journal, reports))
            files[f"{audit}/{NAME}"] = journal_lines(journal)
        if followed is not None:
            files[f"{audit}/{PAGE}"] = render_html(monitor_page(entries[0].run.spec.title, followed))
        if any(entry.document is not None for entry in entries):
            files[f"{audit}/trend.html"] = render_html(trend_page(audit, entries, points(entries)))
        for entry in entries:
            files |= _report_files(entry)
        if (last := latest(entries)) is not None:
            for name, content in last.files().items():
                files[f"{audit}/latest/{name}"] = content
    for panel in catalogue.panels:
        files |= panel.files()
    if catalogue.windows:
        files |= audits_pages(published_states(catalogue), catalogue.left_out)
    files["feed.json"] = json_feed(catalogue, base)
    files["feed.atom"] = atom_feed(catalogue, base)
    files["robots.txt"] = robots(base)
    pages = [index, *(path for path in files if path.endswith(".html") and not _is_card(path))]
    if base or SITEMAP in there:  # one of an earlier address would lead astray
        files[SITEMAP] = sitemap(pages if base else [], base)
    files[index] = render_html(front_page(catalogue, stale_paths(there, [*files, index])[0]))
    return files


def _is_card(path: str) -> bool:
    """Whether a file is a piece of a page, and no page."""
    return path.rsplit("/", 1)[-1].startswith(f"{CARD}.")


def _reports(audit: str, entries: Sequence[CataloguedRun]) -> dict[str, str]:
    """Return where the report of each run of an audit is, from the audit's folder; by window and design."""
    runs = [one.path.removeprefix(f"{audit}/") for one in entries if one.document is not None]
    return {run: f"{run}/report.html" for run in runs}


def _report_files(entry: CataloguedRun) -> dict[str, bytes]:
    """The current report at the run's own address, and each signed one at its own."""
    files: dict[str, bytes] = {}
    if entry.document is None:
        return files
    for name, content in entry.files().items():
        files[f"{entry.path}/{name}"] = content
    if "metrics/metrics.json" in entry.document.inputs:  # else counts are hidden that its digests give away
        files[f"{entry.path}/manifest.json"] = entry.run.stage("evidence").read("manifest.json")
    for one in entry.sign_offs:
        for name in one.folder.success().artefacts:
            files[f"{entry.path}/signoff/{one.number}/{name}"] = one.folder.read(name)
    if entry.rejection is not None:
        for name in (STATEMENT, PUBLIC_KEY):
            files[f"{entry.path}/{REJECTION}/{name}"] = entry.rejection.folder.read(name)
    for name in (
        (STATEMENT, PUBLIC_KEY) if entry.sign_offs else ()
    ):  # next to what they sign: `audit verify-page`
        files[f"{entry.path}/{name}"] = entry.shown.read(name)
    return files


def _write(store: Store, key: str, content: bytes) -> bool:
    if store.exists(key) and store.get(key) == content:
        return False
    store.replace(key, content)
    return True
