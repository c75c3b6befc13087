"""What the journal of the audit's attempts held when a run was planned, archived with the plan.

So that the report can list the attempts on its window before this one, also where the journal is not at hand, and so
that a plan which was signed fixes them.
"""

from __future__ import annotations

from typing import Final

from audit_lib.canonical import canonical_json
from audit_lib.documents.journal import JournalAtPlan, head_of
from audit_lib.journal_copy import entries_about
from audit_lib.run import Run

JOURNAL: Final = "journal.json"


def journal_before(run: Run) -> bytes:
    """Return the journal's newest entry and all entries about the run's window, as JSON.

    Raises
    ------
    EvidenceError
        If the journal is no chain.
    """
    newest, about = entries_about(run.store, run.key.audit, run.key.window.label)
    kept = JournalAtPlan(head=None if newest is None else head_of(newest), window=tuple(about))
    content: bytes = canonical_json(kept.as_dict())
    return content
