"""The drift of each run as a document in the store, written again where an earlier window was audited later.

The documents (``audit-drift/1``) are derived: ``<audit>/monitor/<window>_<digest>.json`` lies outside the runs, whose
evidence stays as it was sealed, and is replaced when the history says something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.drift import DriftDocument
from audit_lib.errors import AuditError, EvidenceError, NotFoundError, StoreUnreachableError
from audit_lib.monitor.alerts import alarm_line, summary_line
from audit_lib.monitor.drift import measure_drift
from audit_lib.monitor.follow_audit import follow_audit
from audit_lib.monitor.history import read_history
from audit_lib.progress import ignore
from audit_lib.run import Run
from audit_lib.store import Store, open_store
from audit_lib.window import Window
from audit_lib.windows import note_change

FOLDER: Final = "monitor"


@dataclass(frozen=True, slots=True)
class RecordedDrift:
    """What came of comparing the runs of a window, and those after it.

    Parameters
    ----------
    documents : list of DriftDocument
        Each one that is new or says something else than before, in the order of windows.
    not_compared : list of str
        A line for each run that could not be compared, and why: it or the one before it cannot be read, as another
        version made it or it was changed.
    new_alarms : list of str
        A line for each alarm over all windows of the audit that was not there before.
    """

    documents: list[DriftDocument]
    not_compared: list[str]
    new_alarms: list[str] = field(default_factory=list)


def record_drift(store: Store, audit: str, window: Window) -> RecordedDrift:
    """Write the comparisons of a window's runs, and renew those of later windows that it changes.

    Parameters
    ----------
    store, audit : Store, str
        Where the runs are, and of which audit.
    window : Window
        One that was just audited, or whose audit failed: what comes after is told that it did.

    Returns
    -------
    RecordedDrift
        The documents that are new, and what could not be compared.

    Raises
    ------
    StoreUnreachableError
        If the store cannot be read now; another time it may be.
    """
    history = read_history(store, audit)
    recorded = RecordedDrift([], [])
    for one in [*(one for one in history.complete if one.window == window), *history.after(window)]:
        try:
            document = measure_drift(Run.load(store.uri(one.prefix)), history)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            recorded.not_compared.append(f"{one.prefix}: cannot be compared: {error}")
            continue
        name = one.prefix.removeprefix(f"{audit}/").replace("/", "_")
        key, content = f"{audit}/{FOLDER}/{name}.json", pretty_json(document.as_dict())
        if not store.exists(key) or store.get(key) != content:
            store.replace(key, content)
            recorded.documents.append(document)
    return recorded


def compare_windows(uri: str, notify: Callable[[str], None] = ignore) -> RecordedDrift:
    """Compare a run with the window before it, and the windows after it anew, and follow the audit over all of them.

    Of a run that failed, as early as you like, the windows after it are told. The documents are in
    ``<audit>/monitor/``, outside the runs: they follow from the history, and change with it.

    Raises
    ------
    NotFoundError
        If `uri` is no run's.
    StoreUnreachableError
        If the store cannot be read now.
    """
    try:
        root, audit, label, _ = uri.rstrip("/").rsplit("/", 3)
        window = Window.from_label(label)
    except ValueError:
        raise NotFoundError(f"{uri}: no run; a run's URI is STORE/AUDIT/WINDOW/DIGEST") from None
    store = open_store(root)
    note_change(store, audit)
    recorded = record_drift(store, audit, window)
    try:
        followed = follow_audit(store, audit)
    except EvidenceError as error:
        recorded.not_compared.append(f"{audit}: its windows cannot be followed: {error}")
    else:
        recorded.not_compared.extend(one for one in followed.not_read if one not in recorded.not_compared)
        attributions = followed.sequences.attributions
        recorded.new_alarms.extend(alarm_line(*one, attributions) for one in followed.new_alarms)
    for line in recorded.new_alarms:
        notify(f"ALARM: {line}")
    for document in recorded.documents:
        notify(f"changes: {summary_line(document)}")
    for why in recorded.not_compared:
        notify(f"WARNING: changes: {why}")
    return recorded
