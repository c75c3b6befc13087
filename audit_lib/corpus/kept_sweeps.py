"""What is kept of sweeps in a store: the snapshots by their digests, what they say, and each sweep.

::

    <store>/_published/<name>/snapshots/<sha256>              bytes as published
    <store>/_published/<name>/checks/<checker>/<sha256>.json  what a snapshot says; derived
    <store>/_published/<name>/sweeps/<time>/sweep.json        one look at all pages
    <store>/_published/<name>/sweeps/<time>/index.html, ...   the same for people; derived
    <store>/_published/<name>/sweeps/<time>/answers.warc.gz   the servers' answers as they came

Nothing but what is derived is ever written over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import IO, Any, BinaryIO, Final, cast

from audit_lib.canonical import canonical_json
from audit_lib.documents.published_pages import PageFacts, PageSnapshot, PageSweep
from audit_lib.errors import ConflictError, EvidenceError, InputError, NotFoundError
from audit_lib.store import Store, open_store
from audit_lib.typed_json import decode

FOLDER: Final = "_published"
"""In the store; no audit has such a name."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def corpus_name(source: str) -> str:
    """Make a name of the end of a path.

    Examples
    --------
    >>> corpus_name("lists/New York 2026.csv"), corpus_name("/")
    ('New-York-2026', 'corpus')
    """
    last = source.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = last.rpartition(".")[0] or last
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:64] or "corpus"


class KeptSweeps:
    """The sweeps of one corpus.

    Parameters
    ----------
    root : str
        Of the store.
    name : str
        Of the corpus.
    notify : callable
        Told of what is there and cannot be read.

    Raises
    ------
    InputError
        If the name is none.
    """

    def __init__(self, root: str, name: str, notify: Callable[[str], None]) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!a}: a name has letters from a to z, digits, - and _, and 64 at most")
        self.name, self._notify = name, notify
        self.root = f"{root.rstrip('/')}/{FOLDER}/{name}"
        self.store: Store = open_store(self.root)

    def latest(self) -> PageSweep | None:
        """Return the latest sweep that can be read; one that was not finished is passed over."""
        for folder in reversed(self.store.folders("sweeps")):
            key = f"sweeps/{folder}/sweep.json"
            try:
                return decode(PageSweep, self.store.get(key), self.store.uri(key))
            except NotFoundError:
                continue
            except EvidenceError as error:
                self._notify(f"WARNING: {error}: this sweep is passed over")
        return None

    def keep(self, content: bytes, now: str) -> PageSnapshot:
        """Put bytes into the store, where they are not there yet."""
        sha256 = hashlib.sha256(content).hexdigest()
        key = f"snapshots/{sha256}"
        self.store.put(key, content)
        return PageSnapshot(key=key, sha256=sha256, bytes=len(content), taken_at=now)

    def facts(self, checker: str, sha256: str) -> PageFacts | None:
        """Return what a snapshot says, if this checker read it before."""
        key = _facts_key(checker, sha256)
        try:
            found = decode(PageFacts, self.store.get(key), self.store.uri(key))
        except (NotFoundError, EvidenceError):
            return None
        return found if (found.checker, found.snapshot) == (checker, sha256) else None

    def keep_facts(self, facts: PageFacts) -> None:
        """Keep what a snapshot says."""
        self.store.replace(_facts_key(facts.checker, facts.snapshot), canonical_json(facts.as_dict()))

    def begin(self, now: datetime) -> str:
        """Return the key of a new sweep's folder.

        Raises
        ------
        ConflictError
            If there is one of this second.
        """
        folder = f"sweeps/{now:%Y%m%dT%H%M%SZ}"
        if self.store.list(folder):
            raise ConflictError(f"{self.store.uri(folder)}: another sweep has this time; try again")
        return folder

    def keep_stream(self, key: str, stream: IO[bytes], now: str) -> PageSnapshot:
        """Put a long file into the store."""
        stream.seek(0)
        digest = hashlib.file_digest(cast(Any, stream), "sha256").hexdigest()
        size = stream.tell()
        stream.seek(0)
        self.store.put_stream(key, cast(BinaryIO, stream))
        return PageSnapshot(key=key, sha256=digest, bytes=size, taken_at=now)

    def write(self, folder: str, sweep: PageSweep) -> None:
        """Write a sweep, last of all: what is there is whole."""
        self.store.put(f"{folder}/sweep.json", canonical_json(sweep.as_dict()))

    def write_files(self, folder: str, made: Mapping[str, bytes]) -> None:
        """Put files for people beside a sweep."""
        for name, content in made.items():
            self.store.put(f"{folder}/{name}", content)


def _facts_key(checker: str, sha256: str) -> str:
    return f"checks/{checker[:16]}/{sha256}.json"
