"""A journal that is not there: whether what else the store holds says that there was one."""

from __future__ import annotations

from collections.abc import Callable

from audit_lib.canonical import sha256
from audit_lib.documents.journal import JournalAtPlan
from audit_lib.errors import AuditError, StoreUnreachableError
from audit_lib.journal import FOLDER
from audit_lib.journal_copy import copy_key
from audit_lib.journal_lines import NAME
from audit_lib.plan.journal_before import JOURNAL
from audit_lib.run import StageFolder
from audit_lib.signing.findings import RunSignatures
from audit_lib.store import Store


def find_gone(store: Store, audit: str, found: RunSignatures) -> None:
    """Find that an audit whose journal is empty had one: its plans, its site, or signatures of its runs name entries.

    Parameters
    ----------
    store : Store
        Where the audit is.
    audit : str
        Its name.
    found : RunSignatures
        Takes the findings.
    """
    where = f"{audit}/{FOLDER}"

    def gone(path: str, what: str) -> None:
        found.find(where, f"the journal is gone: {path} {what}", "journal")

    for key in (f"site/{audit}/{NAME}", copy_key(audit)):
        if store.exists(key) and (lines := store.get(key).splitlines()):
            gone(key, f"has the head {sha256(lines[-1])}, entry {len(lines)}")
    for key in store.list(audit):
        parts = key.split("/")
        if parts[3:] == ["plan", JOURNAL]:
            _find_in_plan(store, key, gone)
        elif parts[3:4] == ["signatures"] and len(parts) == 5:
            gone(key, "was signed over a run, whose plan is entered before")


def _find_in_plan(store: Store, key: str, gone: Callable[[str, str], None]) -> None:
    try:
        said = StageFolder(store, key.rsplit("/", 1)[0]).read_document(JournalAtPlan, JOURNAL)
    except StoreUnreachableError:
        raise
    except AuditError as error:
        gone(key, f"cannot be read: {error}")
        return
    if said.head is not None:
        gone(key, f"saw the head {said.head.sha256}, entry {said.head.number}")
