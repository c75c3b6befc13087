"""The comparisons as documents in the store, renewed where an earlier window was audited later.

They are derived: ``<audit>/monitor/<window>_<digest>.json`` lies outside the runs, whose evidence stays as it was
sealed, and is replaced when the history says something else.
"""

from __future__ import annotations

from typing import Any, Final

from audit_lib.canonical import pretty_json
from audit_lib.monitor.comparison import compare
from audit_lib.monitor.history import read_history
from audit_lib.run import Run

FOLDER: Final = "monitor"


def record_changes(run: Run) -> list[dict[str, Any]]:
    """Write the comparison of a sealed run, and renew those of later runs that it changes.

    Parameters
    ----------
    run : Run
        Complete, or failed: what comes after a failed window is told that it failed.

    Returns
    -------
    list of dict
        Each comparison that is new or says something else than before, this run's first.
    """
    history = read_history(run.store, run.key.audit)
    own = [one for one in history.complete if one.prefix == run.key.prefix]
    documents = []
    for one in [*own, *history.after(run.key.window)]:
        current = run if one.prefix == run.key.prefix else Run.load(run.store.uri(one.prefix))
        document = compare(current, history)
        name = one.prefix.removeprefix(f"{run.key.audit}/").replace("/", "_")
        key, content = f"{run.key.audit}/{FOLDER}/{name}.json", pretty_json(document)
        if not run.store.exists(key) or run.store.get(key) != content:
            run.store.replace(key, content)
            documents.append(document)
    return documents
