"""Earlier audits of the same tool, as the plan archived them."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.earlier import EarlierAudit
from audit_lib.run import Run

_NAME: Final = "earlier.json"


def earlier_audits(run: Run) -> list[EarlierAudit]:
    """Return the earlier audits that the run's plan archived, the oldest first."""
    plan = run.stage("plan")
    if _NAME not in plan.success().artefacts:
        return []
    return [EarlierAudit.of(document) for document in plan.read_json(_NAME)]
