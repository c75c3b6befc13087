"""Looks at every page once: reads the files, asks for the addresses, and keeps what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from audit_lib.corpus.kept_sweeps import KeptSweeps
from audit_lib.corpus.listed_pages import PageCorpus
from audit_lib.corpus.polite_fetch import FetchManners, PageRequest, PageVisit, PoliteFetcher
from audit_lib.corpus.web_archive import NO_WARC, WebArchive, can_archive
from audit_lib.documents.published_pages import (
    ListedPage,
    PageSnapshot,
    PageState,
    SeenPage,
    ServerAnswer,
)
from audit_lib.progress import Progress

MOST_BYTES: Final = 64 * 2**20
_GONE: Final = (404, 410)
_IN_FULL_WITHIN: Final = timedelta(days=28)
"""Nobody's word that nothing changed is taken for longer than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What came of looking at a page."""

    state: PageState
    why: str = ""
    snapshot: PageSnapshot | None = None
    answer: ServerAnswer | None = None


@dataclass(slots=True, kw_only=True)
class LookedAt:
    """What came of looking at all pages, by page."""

    pages: dict[ListedPage, Looked] = field(default_factory=dict)
    warc: PageSnapshot | None = None
    told: list[str] = field(default_factory=list)


def look_at(
    corpus: PageCorpus,
    earlier: Mapping[ListedPage, SeenPage],
    kept: KeptSweeps,
    folder: str,
    manners: FetchManners,
    now: datetime,
    notify: Callable[[str], None],
) -> LookedAt:
    """Look at every page.

    Parameters
    ----------
    corpus : PageCorpus
        The pages.
    earlier : mapping of ListedPage to SeenPage
        How they were the last time.
    kept : KeptSweeps
        Where snapshots go.
    folder : str
        Of this sweep.
    manners : FetchManners
        How addresses are asked.
    now : datetime
        When.
    notify : callable
        Told how far it is.
    """
    found = LookedAt()
    at = now.isoformat()
    by_address: dict[str, list[ListedPage]] = {}
    for page in corpus.pages:
        if page in corpus.refused:
            found.pages[page] = Looked(state="not read", why=corpus.refused[page])
        elif page.page in corpus.files:
            found.pages[page] = _read(corpus.folder / page.page, earlier.get(page), kept, at)
        else:
            by_address.setdefault(page.page, []).append(page)
    if by_address:
        _fetch_all(by_address, earlier, kept, folder, manners, now, found, notify)
    return found


def _read(path: Path, known: SeenPage | None, kept: KeptSweeps, now: str) -> Looked:
    try:
        if path.stat().st_size > MOST_BYTES:
            return Looked(state="not read", why=f"larger than {MOST_BYTES // 2**20} MiB")
        return Looked(state="seen", snapshot=kept.keep(path.read_bytes(), now))
    except FileNotFoundError:
        if known is None or known.snapshot is None:
            return Looked(state="not read", why="there is no such file, and it was never seen")
        return Looked(state="taken down", why="the file is gone")
    except OSError as error:
        return Looked(state="not read", why=f"cannot be read ({error.strerror})")


def _fetch_all(
    by_address: Mapping[str, list[ListedPage]],
    earlier: Mapping[ListedPage, SeenPage],
    kept: KeptSweeps,
    folder: str,
    manners: FetchManners,
    now: datetime,
    found: LookedAt,
    notify: Callable[[str], None],
) -> None:
    progress = Progress("check-corpus: pages asked for", len(by_address), notify)
    requests: dict[str, tuple[PageRequest, SeenPage | None]] = {}
    for address, pages in by_address.items():
        known = next((earlier[page] for page in pages if page in earlier), None)
        requests[address] = (_request(address, known, kept, now), known)
    with ExitStack() as stack:
        archive = WebArchive(manners.agent) if can_archive() else None
        if archive is None:
            found.told.append(NO_WARC)
        else:
            stack.enter_context(archive.file)

        def told(request: PageRequest, visit: PageVisit) -> None:
            for address, answer in visit.answers:
                if archive is None:
                    continue
                try:
                    archive.add(address, answer, manners.agent)
                except Exception as error:  # noqa: BLE001 - a stranger's headers may cause anything
                    found.told.append(f"{address}: not in the web archive ({type(error).__name__})")
            looked = _visited(visit, requests[request.url][1], kept, now)
            found.pages.update(dict.fromkeys(by_address[request.url], looked))
            progress.one_more()

        PoliteFetcher(manners).visit_all((one for one, _ in requests.values()), told)
        if archive is not None:
            found.warc = kept.keep_stream(f"{folder}/answers.warc.gz", archive.file, now.isoformat())


def _request(address: str, known: SeenPage | None, kept: KeptSweeps, now: datetime) -> PageRequest:
    """Ask whether the page changed, if it is had already and was had in full not long ago; else for all of it."""
    if known is None or known.snapshot is None or known.answer is None or known.state != "seen":
        return PageRequest(url=address)
    said = known.answer
    if said.redirects or said.in_full_at is None or not kept.store.exists(known.snapshot.key):
        return PageRequest(url=address)
    if now - datetime.fromisoformat(said.in_full_at) > _IN_FULL_WITHIN:
        return PageRequest(url=address)
    return PageRequest(url=address, etag=said.etag, last_modified=said.last_modified)


def _visited(visit: PageVisit, known: SeenPage | None, kept: KeptSweeps, now: datetime) -> Looked:
    answer, at = visit.answer, now.isoformat()
    said = ServerAnswer(
        status=answer.status,
        redirects=visit.redirects,
        etag=_header(answer.header("etag")),
        last_modified=_header(answer.header("last-modified")),
        in_full_at=at if answer.status == 200 else None,
    )
    if answer.status == 200:
        return Looked(state="seen", snapshot=kept.keep(answer.content, at), answer=said)
    if answer.status == 304 and known is not None and known.answer is not None:
        return Looked(
            state="seen",
            why="not changed, as its server says",
            snapshot=known.snapshot,
            answer=known.answer,
        )
    if answer.status in _GONE:
        why = f"HTTP {answer.status}"
        if known is None or known.snapshot is None:
            return Looked(state="not reached", why=f"{why}; it was never seen", answer=said)
        return Looked(state="taken down", why=why, answer=said)
    return Looked(state="not reached", why=answer.fault or f"HTTP {answer.status}", answer=said)


def _header(value: str) -> str:
    """Keep what can be sent back as it came, and nothing that is not plain."""
    return value if len(value) <= 200 and value.isascii() and value.isprintable() else ""
