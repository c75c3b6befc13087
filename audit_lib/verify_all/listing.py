"""The runs of a store by its listing alone: one listing of a bucket, and of a folder the names of folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.archive.attempts import FOLDER as ATTEMPTS
from audit_lib.archive.manifest import MANIFEST
from audit_lib.documents.verified_runs import ListedAudit, ListedRun
from audit_lib.journal import FOLDER as JOURNAL
from audit_lib.run import SUCCESS
from audit_lib.store import Store
from audit_lib.store.contract import ListedObject
from audit_lib.window import Window
from audit_lib.windows import audit_folders

_NUMBER: Final = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class StoreListing:
    """What a listing shows.

    Parameters
    ----------
    runs : tuple of ListedRun
        In the order of their names.
    audits : tuple of ListedAudit
        Those that have a run or a journal.
    """

    runs: tuple[ListedRun, ...]
    audits: tuple[ListedAudit, ...]


def list_store(store: Store) -> StoreListing:
    """List the runs of a store that were sealed or failed, and those that were begun only."""
    listed = store.listed("")
    return _of_folders(store) if listed is None else _of_objects(listed, set(audit_folders(store)))


def _of_objects(listed: Mapping[str, ListedObject], audits_there: set[str]) -> StoreListing:
    by_run: dict[str, dict[str, ListedObject]] = {}
    journals: dict[str, dict[str, ListedObject]] = {}
    for key, said in listed.items():
        parts = key.split("/", 3)
        if parts[0] not in audits_there:
            continue
        if len(parts) == 4 and _is_window(parts[1]):
            by_run.setdefault("/".join(parts[:3]), {})[parts[3]] = said
            journals.setdefault(parts[0], {})
        elif parts[1:2] == [JOURNAL]:
            journals.setdefault(parts[0], {})[key] = said
    runs = (
        ListedRun(run=run, state=state, listing=_digest(there), bytes=sum(one.size for one in there.values()))
        for run, there in sorted(by_run.items())
        if (state := _state(there)) is not None
    )
    audits = (ListedAudit(audit=one, listing=_digest(there)) for one, there in sorted(journals.items()))
    return StoreListing(tuple(runs), tuple(audits))


def _of_folders(store: Store) -> StoreListing:
    runs, audits = [], []
    for audit in audit_folders(store):
        own = list(_runs_in(store, audit))
        runs += own
        if own or store.folders(audit).count(JOURNAL):
            audits.append(ListedAudit(audit=audit, listing=None))
    return StoreListing(tuple(runs), tuple(audits))


def _runs_in(store: Store, audit: str) -> Iterator[ListedRun]:
    for window in filter(_is_window, store.folders(audit)):
        for design in store.folders(f"{audit}/{window}"):
            run = f"{audit}/{window}/{design}"
            ends = [
                f"evidence/{name}" for name in (MANIFEST, SUCCESS) if store.exists(f"{run}/evidence/{name}")
            ]
            there = ends or (key.removeprefix(f"{run}/") for key in store.list(run))
            if (state := _state(there)) is not None:
                yield ListedRun(run=run, state=state, listing=None, bytes=None)


def _state(paths: Iterable[str]) -> Literal["sealed", "failed", "unfinished"] | None:
    """Return how far a run came; None of what is no run: nothing of it was ever begun."""
    last: dict[int, bool] = {}
    begun = False
    for path in paths:
        parts = path.split("/")
        if path in (f"evidence/{MANIFEST}", f"evidence/{SUCCESS}"):
            return "sealed"
        if len(parts) == 3 and parts[0] == ATTEMPTS and _NUMBER.fullmatch(parts[1]):
            number = int(parts[1])
            last[number] = last.get(number, False) or parts[2] == SUCCESS
        begun = begun or path == f"plan/{SUCCESS}"
    if last:
        return "failed" if last[max(last)] else "unfinished"
    return "unfinished" if begun else None


def _is_window(name: str) -> bool:
    try:
        Window.from_label(name)
    except ValueError:
        return False
    return True


def _digest(listed: Mapping[str, ListedObject]) -> str:
    whole = hashlib.sha256()
    for key, said in sorted(listed.items()):
        whole.update(f"{said.size} {said.mark} {key}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()
