"""The drift of each run as a document in the store, written again where an earlier window was audited later.

The documents (``audit-drift/1``) are derived: ``<audit>/monitor/<window>_<digest>.json`` lies outside the runs, whose
evidence stays as it was sealed, and is replaced when the history says something else.
"""

from __future__ import annotations

from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.drift import DriftDocument
from audit_lib.monitor.drift import measure_drift
from audit_lib.monitor.history import read_history
from audit_lib.run import Run, Window
from audit_lib.store import Store

FOLDER: Final = "monitor"


def record_drift(store: Store, audit: str, window: Window) -> list[DriftDocument]:
    """Write the comparisons of a window's runs, and renew those of later windows that it changes.

    Parameters
    ----------
    store, audit : Store, str
        Where the runs are, and of which audit.
    window : Window
        One that was just audited, or whose audit failed: what comes after is told that it did.

    Returns
    -------
    list of DriftDocument
        Each one that is new or says something else than before, in the order of windows.
    """
    history = read_history(store, audit)
    documents = []
    for one in [*(one for one in history.complete if one.window == window), *history.after(window)]:
        document = measure_drift(Run.load(store.uri(one.prefix)), history)
        name = one.prefix.removeprefix(f"{audit}/").replace("/", "_")
        key, content = f"{audit}/{FOLDER}/{name}.json", pretty_json(document.as_dict())
        if not store.exists(key) or store.get(key) != content:
            store.replace(key, content)
            documents.append(document)
    return documents
