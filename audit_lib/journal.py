"""The journal of an audit's attempts: a chain of entries that only grows, so that no attempt is dropped unseen.

::

    <audit>/journal/000001.json, 000002.json, ...

An entry is created only where none is, and has the digest of the one before. Of two writers one wins the number and the
other reads again, so the chain never forks. An attempt is entered before the model is asked, and at each end. Whoever
holds the digest of an entry (a *head*) can tell later whether everything until then is still as it was.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.documents.evidence import decode_exact
from audit_lib.documents.journal import ENDS, JournalEntry, JournalEvent, entry_bytes, entry_digest, head_of
from audit_lib.documents.run_statement import JournalHead
from audit_lib.errors import ConflictError, EvidenceError
from audit_lib.run import RunKey
from audit_lib.store import LocalStore, Store

FOLDER: Final = "journal"
_NUMBERED: Final = re.compile(r"(\d{6,})\.json")
_TRIES: Final = 200
_AT_ONCE: Final = 8
_LARGEST: Final = 1 << 20
"""Bytes of an entry; one that this library writes has some hundred."""
_TAIL: Final = 50
"""Entries that are read before another is made: what was entered already is among the last."""


@dataclass(slots=True)
class ReadJournals:
    """Journals that were read already: while many runs are verified, the journal of each audit is read once."""

    _read: dict[str, list[JournalEntry] | EvidenceError] = field(default_factory=dict)

    def read(self, store: Store, audit: str) -> list[JournalEntry]:
        """Return a journal as `read_journal` does, or raise again what that raised."""
        where = store.uri(f"{audit}/{FOLDER}")
        if where not in self._read:
            try:
                self._read[where] = _read_journal(store, audit)
            except EvidenceError as error:
                self._read[where] = error
        found = self._read[where]
        if isinstance(found, EvidenceError):
            raise EvidenceError(str(found))
        return found

    def forget_if_grown(self, store: Store, audit: str) -> bool:
        """Forget a journal that has another number of files now; return whether it has."""
        where = store.uri(f"{audit}/{FOLDER}")
        found = self._read.get(where)
        if found is None or isinstance(found, EvidenceError):
            return False
        if len(store.list(f"{audit}/{FOLDER}")) == len(found):
            return False
        del self._read[where]
        return True


_KEPT: ContextVar[ReadJournals | None] = ContextVar("journals that were read", default=None)


@contextlib.contextmanager
def journals_read_once() -> Iterator[ReadJournals]:
    """Read each journal once within it: what is entered meanwhile is not seen."""
    token = _KEPT.set(found := ReadJournals())
    try:
        yield found
    finally:
        _KEPT.reset(token)


def read_journal(store: Store, audit: str) -> list[JournalEntry]:
    """Return an audit's journal, the first entry first; empty where it has none.

    All of it, also for one run: only the whole says how many attempts there were at a window.

    Raises
    ------
    EvidenceError
        If it is not a chain: a gap, an entry that is none or names another before it, or a file of somebody's.
    """
    kept = _KEPT.get()
    return _read_journal(store, audit) if kept is None else kept.read(store, audit)


def _read_journal(store: Store, audit: str) -> list[JournalEntry]:
    folder = f"{audit}/{FOLDER}"
    found: list[JournalEntry] = []
    names = {key: key.removeprefix(f"{folder}/") for key in store.list(folder)}
    for key, why in store.odd(folder) if isinstance(store, LocalStore) else ():
        raise EvidenceError(f"{store.uri(key)}: {why}")
    for key, name in names.items():
        if not _NUMBERED.fullmatch(name):
            raise EvidenceError(f"{store.uri(key)}: is no entry of the journal")
    for (key, name), content in zip(names.items(), _contents(store, list(names)), strict=True):
        found.append(decode_exact(JournalEntry, content, store.uri(key), entry_bytes))
        if name != _name(found[-1].number):
            raise EvidenceError(f"{store.uri(key)}: is entry {found[-1].number}")
    check_chain(found, audit)
    return found


def _contents(store: Store, keys: Sequence[str]) -> Iterable[bytes]:
    """Return the objects of some keys in their order; several at once from a store that answers over a network."""

    def read(key: str) -> bytes:
        with store.open(key) as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise EvidenceError(f"{store.uri(key)}: is larger than {_LARGEST >> 20} MiB; it is not read")
        return content

    if isinstance(store, LocalStore) or len(keys) < _AT_ONCE:
        return map(read, keys)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(read, keys))


def newest_head(store: Store, audit: str) -> JournalHead | None:
    """Return the head of an audit's journal; None where it has none. Only the last entries are read and checked.

    Raises
    ------
    EvidenceError
        If an entry is missing, or the last ones do not follow one from another.
    """
    entries = _tail(store, audit)
    return head_of(entries[-1]) if entries else None


def check_chain(entries: Sequence[JournalEntry], audit: str) -> None:
    """Check that entries are an audit's journal from its first one on.

    Raises
    ------
    EvidenceError
        If not; the message names the first entry that does not follow.
    """
    before: JournalEntry | None = None
    for number, entry in enumerate(entries, start=1):
        if entry.number != number:
            raise EvidenceError(f"journal of {audit}: entry {number} is missing")
        if entry.audit != audit:
            raise EvidenceError(f"journal of {audit}: entry {number} is another audit's")
        if entry.previous != (None if before is None else entry_digest(before)):
            raise EvidenceError(f"journal of {audit}: entry {number} does not follow from the one before it")
        before = entry


def check_head(entries: Sequence[JournalEntry], head: str) -> int:
    """Return the number of the entry that a head known earlier is the digest of.

    `entries` are a chain that was checked, in which each but the last has its digest in the one after it.

    Raises
    ------
    EvidenceError
        If there is none: the journal was rolled back, or made again.
    """
    for after in entries[1:]:
        if after.previous == head:
            return after.number - 1
    if entries and entry_digest(entries[-1]) == head:
        return entries[-1].number
    last = f"its last entry is {len(entries)}, {entry_digest(entries[-1])}" if entries else "it is empty"
    raise EvidenceError(
        f"the journal does not hold the head {head} that was known earlier ({last}): it was rolled back, forked "
        "or made again"
    )


def enter(
    store: Store,
    key: RunKey,
    attempt: int,
    event: JournalEvent,
    *,
    outcome: str | None = None,
    sealed_sha256: str | None = None,
) -> JournalEntry:
    """Enter what happened to an attempt; what is entered already stays, and is returned.

    Raises
    ------
    EvidenceError
        If the journal is no chain.
    ConflictError
        If others enter all the time.
    """
    for _ in range(_TRIES):
        entries = _tail(store, key.audit)
        made = JournalEntry(
            number=entries[-1].number + 1 if entries else 1,
            previous=entry_digest(entries[-1]) if entries else None,
            audit=key.audit,
            window=key.window.label,
            run=key.spec_digest[:16],
            attempt=attempt,
            event=event,
            outcome=outcome,
            sealed_sha256=sealed_sha256,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        if (there := _same(entries, made)) is not None:
            return there
        if store.put(f"{key.audit}/{FOLDER}/{_name(made.number)}", entry_bytes(made)):
            return made
    raise ConflictError(f"{store.uri(key.audit)}/{FOLDER}: no entry could be made in {_TRIES} tries")


def entries_of(entries: Sequence[JournalEntry], key: RunKey) -> list[JournalEntry]:
    """Return the entries about a run."""
    return [one for one in entries if (one.window, one.run) == (key.window.label, key.spec_digest[:16])]


def entry_keys(store: Store, audit: str) -> list[str]:
    """Return the keys of all entries of an audit's journal, in order; none is read.

    Raises
    ------
    EvidenceError
        If an entry is missing, or a file of somebody's is there.
    """
    folder = f"{audit}/{FOLDER}"
    keys = store.list(folder)
    if keys != [f"{folder}/{_name(number)}" for number in range(1, len(keys) + 1)]:
        raise EvidenceError(
            f"{store.uri(folder)}: is no journal: an entry is missing, or a file is there that is none"
        )
    return keys


def _tail(store: Store, audit: str) -> list[JournalEntry]:
    """Return the last entries, which must follow one from another."""
    found: list[JournalEntry] = []
    for where in entry_keys(store, audit)[-_TAIL:]:
        entry = decode_exact(JournalEntry, store.get(where), store.uri(where), entry_bytes)
        if found and entry.previous != entry_digest(found[-1]):
            raise EvidenceError(f"{store.uri(where)}: does not follow from the one before it")
        found.append(entry)
    return found


def _same(entries: Sequence[JournalEntry], made: JournalEntry) -> JournalEntry | None:
    """Return the entry that says the same already; an attempt that has ended is not abandoned any more."""
    for one in entries:
        ended = made.event == "abandoned" and one.event in ENDS
        if _said(one) == _said(made) or (ended and _attempt(one) == _attempt(made)):
            return one
    return None


def _attempt(entry: JournalEntry) -> tuple[str, str, int]:
    return entry.window, entry.run, entry.attempt


def _said(entry: JournalEntry) -> Any:
    return replace(entry, number=1, previous=None, at="1970-01-01T00:00:00+00:00")


def _name(number: int) -> str:
    return f"{number:06d}.json"
