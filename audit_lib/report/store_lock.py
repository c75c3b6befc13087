"""What was found of the store before the model was asked, as the page prints it; whether it holds is for ``verify``."""

from __future__ import annotations

from audit_lib.documents.store_lock import STORE_LOCK, StoreLock
from audit_lib.run import Run
from audit_lib.typed_json import decode


def read_store_lock(run: Run) -> StoreLock | None:
    """Return what was found of a run's store; None where nobody looked.

    Raises
    ------
    EvidenceError
        If what is there is no such record.
    """
    key = f"{run.prefix}/{STORE_LOCK}".lstrip("/")
    if not run.store.exists(key):
        return None
    return decode(StoreLock, run.store.get(key), run.store.uri(key))
