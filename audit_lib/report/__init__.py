"""Report: the page for people, the same as JSON, and the tables as CSV.

All three are functions of the archived artefacts; the times in the status strip come from the stages'
own records. Rendering again gives the same bytes.
"""

from __future__ import annotations

from typing import Any

from audit_lib.canonical import pretty_json
from audit_lib.report.content import Content, gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.tables import tables_csv
from audit_lib.run import Run, StageOutput

__all__ = ["report"]


def report(run: Run) -> StageOutput:
    """Render the report of a measured run.

    Returns
    -------
    StageOutput
        ``report.html``, ``report.json`` and ``tables.csv``.

    Raises
    ------
    IncompleteRunError
        If a stage before the report is not complete.
    EvidenceError
        If a number does not follow from its own counts.
    """
    content = gather(run)
    page = make_page(content)
    return StageOutput(
        {
            "report.html": render_html(page),
            "report.json": pretty_json(_document(content)),
            "tables.csv": tables_csv(content),
        },
        {"sections": len(page.sections), "tables": len(content.tables)},
    )


def _document(content: Content) -> dict[str, Any]:
    """What the page says, for machines."""
    spec = content.spec
    return {
        "schema": "audit-report/1",
        "title": content.title,
        "subtitle": spec.title,
        "audit": spec.audit,
        "run": content.key.prefix,
        "window": {"start": content.plan["window_start"], "end": content.plan["window_end"]},
        "spec_digest": content.key.spec_digest,
        "status": "not signed",
        "experiment": content.is_experiment,
        "provenance": content.provenance,
        "valid_judge": spec.model.valid_judge,
        "planned_at": content.planned_at.isoformat(),
        "scored_at": content.scored_at.isoformat(),
        "measured_at": content.measured_at.isoformat(),
        "policy": content.plan["policy"],
        "models": [dict(model) for model in content.models],
        "prompt_template_sha256": content.prompt_digest,
        "sample": dict(content.sample),
        "validation": {
            "success": content.validation["success"],
            "severity_failed": content.validation["severity_failed"],
        },
        "metrics": dict(content.metrics),
        "inputs": dict(content.inputs),
    }
