"""One look at all pages of a corpus: seen, kept, checked, compared with the look before, and written down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Final

from audit_lib import __version__
from audit_lib.corpus.changes import age, change, changes_between, unread
from audit_lib.corpus.checker import checker_digest
from audit_lib.corpus.kept_sweeps import KeptSweeps
from audit_lib.corpus.listed_pages import PageCorpus
from audit_lib.corpus.looking import Looked, look_at
from audit_lib.corpus.page_facts import unchecked_facts
from audit_lib.corpus.polite_fetch import FetchManners
from audit_lib.corpus.shared_counts import shared_counts
from audit_lib.documents.published_pages import (
    ListedPage,
    PageChange,
    PageFacts,
    PageSnapshot,
    PageSweep,
    SeenPage,
)
from audit_lib.policies import Policy, policy_named
from audit_lib.progress import Progress
from audit_lib.typed_json import decode_value
from audit_lib.worker_processes import WorkerProcess, ask_all, free_memory, processors

_WORKER: Final = "audit_lib.corpus.worker"
_MEMORY: Final = 3 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """How pages are looked at.

    Parameters
    ----------
    policy : str
        Pack that they are held against.
    as_of : date
        Day on which an audit must be recent enough.
    manners : FetchManners
        How addresses are asked.
    page_seconds : float
        After which the reading of one page is given up.
    processes : int or None
        That read at once; one a processor by default.
    """

    policy: str
    as_of: date
    manners: FetchManners = field(default_factory=FetchManners)
    page_seconds: float = 60.0
    processes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptPages:
    """What came of a sweep.

    Parameters
    ----------
    sweep : PageSweep
        As it is written down.
    facts : mapping of str to PageFacts
        What each snapshot of it says, by digest.
    folder : str
        Of the sweep in the store.
    """

    sweep: PageSweep
    facts: Mapping[str, PageFacts]
    folder: str


def sweep_pages(
    corpus: PageCorpus,
    kept: KeptSweeps,
    options: SweepOptions,
    now: datetime,
    notify: Callable[[str], None],
) -> SweptPages:
    """Look at all pages, and write the sweep.

    Raises
    ------
    SpecError
        If there is no such policy.
    ConflictError
        If another sweep began in the same second.
    """
    policy, checker = policy_named(options.policy), checker_digest(options.policy)
    folder, before = kept.begin(now), kept.latest()
    earlier = {page.listed: page for page in _earlier(corpus, before)}
    looked = look_at(corpus, earlier, kept, folder, options.manners, now, notify)
    told = [*corpus.told, *looked.told]
    if before is not None and corpus.is_folder:
        new = {
            (page.employer, one.snapshot.sha256): page.page
            for page, one in looked.pages.items()
            if one.snapshot is not None and page not in earlier
        }
        for page, was in earlier.items():
            if page in looked.pages or was.snapshot is None:
                continue
            if was.state == "seen" and (name := new.get((page.employer, was.snapshot.sha256))) is not None:
                told.append(f"{page.page}: is {name} now, with the same bytes")
            else:
                looked.pages[page] = Looked(state="taken down", why="the file is gone from the folder")
    elif before is not None:
        gone = [one.listed for one in before.pages if one.listed.page not in {p.page for p in looked.pages}]
        told += [f"{one.employer}, {one.page}: listed before, and not any more" for one in gone]
    if before is not None and before.source != corpus.source:
        told.append(f"the sweep before was of {before.source}")
    wanted = _snapshots(looked.pages.values(), earlier.values())
    facts = _all_facts(wanted, kept, checker, options, notify)
    order = {page: number for number, page in enumerate(corpus.pages)}
    rows = tuple(
        _row(page, one, earlier.get(page), facts, options.as_of, policy, now)
        for page, one in sorted(looked.pages.items(), key=lambda one: order.get(one[0], len(order)))
    )
    there = (
        (row, facts[row.snapshot.sha256]) for row in rows if row.state == "seen" and row.snapshot is not None
    )
    sweep = PageSweep(
        name=kept.name,
        source=corpus.source,
        looked_at=now.isoformat(),
        as_of=options.as_of.isoformat(),
        earlier=None if before is None else before.looked_at,
        policy=f"{policy.name} {policy.version}",
        checker=checker,
        version=__version__,
        pages=rows,
        shared=tuple(shared_counts(there)),
        told=tuple(told),
        warc=looked.warc,
    )
    kept.write(folder, sweep)
    return SweptPages(sweep=sweep, facts=facts, folder=folder)


def _earlier(corpus: PageCorpus, before: PageSweep | None) -> Iterator[SeenPage]:
    """Yield how pages were, under what they are called now: who lists a vendor anew has the same page."""
    known = (
        {}
        if before is None
        else {(one.listed.employer.casefold(), one.listed.page): one for one in before.pages}
    )
    alone = {} if before is None else {one.listed.page: one for one in before.pages}
    for page in corpus.pages:
        was = known.pop((page.employer.casefold(), page.page), None) or alone.get(page.page)
        if was is not None:
            yield replace(was, listed=page)
    if corpus.is_folder:
        listed = {page.page for page in corpus.pages}
        yield from (one for one in known.values() if one.listed.page not in listed)


def _snapshots(looked: Iterable[Looked], earlier: Iterable[SeenPage]) -> dict[str, PageSnapshot]:
    """Return the snapshots that something is to be said of, by digest."""
    found = [one.snapshot for one in looked]
    for was in earlier:
        found += [was.snapshot, was.last_read]
    return {one.sha256: one for one in found if one is not None}


def _all_facts(
    wanted: Mapping[str, PageSnapshot],
    kept: KeptSweeps,
    checker: str,
    options: SweepOptions,
    notify: Callable[[str], None],
) -> dict[str, PageFacts]:
    """Return what each snapshot says: as it was read before by this checker, or read now, by several processes."""
    facts = {sha256: one for sha256 in wanted if (one := kept.facts(checker, sha256)) is not None}
    waiting = [one for sha256, one in wanted.items() if sha256 not in facts]
    if facts:
        notify(f"check-corpus: {len(facts)} snapshots were read before, and did not change")
    if not waiting:
        return facts
    progress = Progress("check-corpus: snapshots read and checked", len(waiting), notify)
    count = options.processes or max(1, min(processors(), free_memory() // _MEMORY))
    settings = {"root": kept.root, "checker": checker, "policy": options.policy}
    processes = [
        WorkerProcess(_WORKER, settings, seconds=options.page_seconds, memory=_MEMORY)
        for _ in range(min(count, len(waiting)))
    ]

    def told(snapshot: PageSnapshot, answer: dict[str, object]) -> None:
        stopped = [str(answer[name]) for name in ("stopped", "unchecked", "unreachable") if name in answer]
        if len(answer) == 1 and stopped:
            # What was stopped may go well on another day, so it is not kept.
            facts[snapshot.sha256] = unchecked_facts(
                snapshot.sha256, checker, f"was not read: {stopped[0]}", stopped=True
            )
        else:
            found = decode_value(PageFacts, answer, "what a page says")
            kept.keep_facts(found)
            facts[snapshot.sha256] = found
        progress.one_more()

    try:
        ask_all(processes, waiting, lambda one: {"do": "check", "key": one.key, "sha256": one.sha256}, told)
    finally:
        for process in processes:
            process.end()
    return facts


def _row(
    page: ListedPage,
    looked: Looked,
    was: SeenPage | None,
    facts: Mapping[str, PageFacts],
    as_of: date,
    policy: Policy,
    now: datetime,
) -> SeenPage:
    at = now.isoformat()
    snapshot = looked.snapshot or (was.snapshot if was is not None else None)
    if (
        was is not None
        and was.snapshot is not None
        and was.snapshot.sha256 == (snapshot or was.snapshot).sha256
    ):
        snapshot = was.snapshot  # as old as it is
    says = None if snapshot is None else facts[snapshot.sha256]
    last_read = was.last_read if was is not None else None
    if looked.state == "seen" and says is not None and not says.unchecked:
        last_read = snapshot
    found = list(_changes(looked, was, snapshot, facts, as_of, policy))
    said = {(one.kind, one.message) for one in was.changes} if was is not None else set()
    weights = [one.severity for one in says.findings] if says is not None else []
    return SeenPage(
        listed=page,
        state=looked.state,
        why=looked.why,
        since=was.since if was is not None and was.state == looked.state else at,
        looked_at=at,
        answer=looked.answer,
        snapshot=snapshot,
        last_read=last_read,
        unchecked="" if says is None else says.unchecked,
        audited=None if says is None else says.audited,
        errors=weights.count("error"),
        warnings=weights.count("warning"),
        notes=weights.count("note"),
        changes=tuple(replace(one, is_new=(one.kind, one.message) not in said) for one in found),
    )


def _changes(
    looked: Looked,
    was: SeenPage | None,
    snapshot: PageSnapshot | None,
    facts: Mapping[str, PageFacts],
    as_of: date,
    policy: Policy,
) -> Iterator[PageChange]:
    """Yield what became of a page, and what its age says."""
    if looked.state == "taken down":
        yield change("taken_down", f"it was there before: {looked.why}", before=snapshot)
    elif looked.state == "not reached":
        yield change("not_reached", looked.why, before=snapshot)
    if looked.state != "seen" or snapshot is None:
        return
    says = facts[snapshot.sha256]
    if was is not None and was.snapshot is not None:
        if was.state == "taken down":
            yield change("came_back", "it was taken down before", before=was.snapshot, now=snapshot)
        yield from _compared(was, was.snapshot, says, snapshot, facts)
        if (
            was.answer is not None
            and looked.answer is not None
            and was.answer.redirects != looked.answer.redirects
        ):
            leads = looked.answer.redirects[-1] if looked.answer.redirects else "no other address"
            yield change(
                "leads_elsewhere", f"its address leads to {leads} now", before=was.snapshot, now=snapshot
            )
    if not says.unchecked:
        yield from age(says.audited, as_of, policy, snapshot)


def _compared(
    was: SeenPage,
    latest: PageSnapshot,
    says: PageFacts,
    snapshot: PageSnapshot,
    facts: Mapping[str, PageFacts],
) -> Iterator[PageChange]:
    """Compare a snapshot with the latest one, or with the latest that could be read."""
    before, is_other = facts[latest.sha256], latest.sha256 != snapshot.sha256
    if says.unchecked:
        if is_other and not (before.stopped or says.stopped):
            yield from unread(before, says, latest, snapshot)
        return
    if is_other and before.unchecked and not before.stopped:
        why = f"it could not be read before: {before.unchecked}"
        yield change("readable_again", why, before=latest, now=snapshot)
    read = latest if is_other and not before.unchecked else was.last_read
    if read is not None and read.sha256 != snapshot.sha256 and not facts[read.sha256].unchecked:
        yield from changes_between(facts[read.sha256], says, read, snapshot)
