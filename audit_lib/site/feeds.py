"""What machines read: a JSON feed, an Atom feed, a sitemap, and robots.txt."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.feed import Feed, FeedItem, FeedSignature, FeedWindow, RunFacts
from audit_lib.documents.journal import head_of
from audit_lib.documents.plan import PolicyVersion
from audit_lib.documents.run_statement import JournalHead
from audit_lib.report.html import readable
from audit_lib.site.catalogue import Catalogue, CataloguedRun

_ATOM = "http://www.w3.org/2005/Atom"
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
SITEMAP = "sitemap.xml"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def entries(catalogue: Catalogue) -> list[CataloguedRun]:
    """Return all runs of all audits, the one that changed last first."""
    every = [entry for runs in catalogue.audits.values() for entry in runs]
    return sorted(every, key=lambda entry: (changed(entry), entry.path), reverse=True)


def changed(entry: CataloguedRun) -> datetime:
    """Return when a run's page last changed: sealed, signed or rejected."""
    answered: list[datetime] = [one.signed_at for one in entry.sign_offs]
    if entry.rejection is not None:
        answered.append(entry.rejection.rejected_at)
    return max([entry.sealed_at, *answered])


def json_feed(catalogue: Catalogue, base: str) -> bytes:
    """Return a feed in the form of JSON Feed 1.1, with the run's facts under ``_audit``."""
    heads = _heads(catalogue)
    feed = Feed(
        title="Audit reports",
        items=tuple(_item(entry, base, heads.get(entry.path)) for entry in entries(catalogue)),
        home_page_url=f"{base}index.html" if base else None,
        feed_url=f"{base}feed.json" if base else None,
    )
    return pretty_json(feed.as_dict())


def _item(entry: CataloguedRun, base: str, head: JournalHead | None) -> FeedItem:
    run = entry.run
    return FeedItem(
        id=identifier(entry),
        url=f"{base}{entry.path}/report.html",
        title=title(entry),
        content_text=_words(entry, head),
        date_published=_instant(entry.sealed_at),
        date_modified=_instant(changed(entry)),
        facts=RunFacts(
            audit=run.key.audit,
            window=FeedWindow(start=_instant(run.key.window.start), end=_instant(run.key.window.end)),
            spec_digest=run.key.spec_digest,
            outcome="validation_failed" if entry.document is None else "complete",
            experiment=None if entry.document is None else entry.document.experiment,
            policy=PolicyVersion(name=entry.policy.name, version=entry.policy.version),
            status=entry.status,
            audited=None if entry.audited is None else entry.audited.isoformat(),
            no_use_after=None if entry.last_day is None else entry.last_day.isoformat(),
            signatures=tuple(
                FeedSignature(
                    auditor=one.predicate.auditor,
                    organisation=one.predicate.organisation,
                    signed_at=one.predicate.signed_at,
                    statement_sha256=one.digest,
                    key_id=mark,
                    key_checked=entry.trusted,
                )
                for one, mark in zip(entry.sign_offs, entry.keys, strict=True)
            ),
            superseded_by=entry.superseded_by,
            manifest_sha256=sha256(run.stage("evidence").read("manifest.json")),
            journal=head,
        ),
    )


def _heads(catalogue: Catalogue) -> dict[str, JournalHead]:
    """Return the last entry about each run in the journal of its audit: the run's path -> its head."""
    last = {
        f"{audit}/{one.window}/{one.run}": one
        for audit, journal in catalogue.journals.items()
        for one in journal
    }
    return {path: head_of(one) for path, one in last.items()}


def _words(entry: CataloguedRun, head: JournalHead | None) -> str:
    said = f"{title(entry)}: {entry.status}."
    if head is None:
        return said
    return (
        f"{said} Its last entry in the journal of attempts is {head.number}, {head.sha256}: keep it, to see later "
        "whether the journal was changed until there."
    )


def atom_feed(catalogue: Catalogue, base: str) -> bytes:
    """Return the same as Atom (RFC 4287)."""
    every, heads = entries(catalogue), _heads(catalogue)
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _add(feed, "id", base or "urn:audit-lib:site")
    _add(feed, "title", "Audit reports")
    _add(feed, "updated", _instant(max(map(changed, every), default=_EPOCH)))
    author = ET.SubElement(feed, "author")
    _add(author, "name", "audit_lib")
    if base:
        ET.SubElement(feed, "link", {"rel": "self", "href": f"{base}feed.atom"})
    _link(feed, f"{base}index.html")
    for entry in every:
        item = ET.SubElement(feed, "entry")
        _add(item, "id", identifier(entry))
        _add(item, "title", title(entry))
        _add(item, "published", _instant(entry.sealed_at))
        _add(item, "updated", _instant(changed(entry)))
        _link(item, f"{base}{entry.path}/report.html")
        _add(item, "summary", _words(entry, heads.get(entry.path)))
    return _xml(feed)


def sitemap(pages: Iterable[str], base: str) -> bytes:
    """Return a sitemap of pages; only a site with a known address has one."""
    root = ET.Element("urlset", {"xmlns": _SITEMAP})
    for page in sorted(pages):
        _add(ET.SubElement(root, "url"), "loc", f"{base}{page}")
    return _xml(root)


def robots(base: str) -> bytes:
    """Return a robots.txt that lets everybody read everything."""
    lines = ["User-agent: *", "Allow: /"] + ([f"Sitemap: {base}{SITEMAP}"] if base else [])
    return ("\n".join(lines) + "\n").encode()


def identifier(entry: CataloguedRun) -> str:
    """Return an id that stays when the site moves."""
    key = entry.run.key
    return f"urn:audit-lib:run:{key.audit}:{key.window.label}:{key.spec_digest}"


def title(entry: CataloguedRun) -> str:
    """Return the audit's title and the window."""
    window = entry.run.key.window
    return f"{entry.run.spec.title}, {window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}"


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _add(parent: ET.Element, name: str, words: str) -> None:
    ET.SubElement(parent, name).text = readable(words)


def _link(parent: ET.Element, target: str) -> None:
    ET.SubElement(parent, "link", {"rel": "alternate", "type": "text/html", "href": target})


def _xml(root: ET.Element) -> bytes:
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="unicode").encode()
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + content + b"\n"
