"""``report.json``: what the page says, for machines. `audit_lib.report.schema` publishes its shape."""

from __future__ import annotations

import io
from typing import Any, Final

from audit_lib.canonical import pretty_json
from audit_lib.policies.fields import FieldCheck, required_fields
from audit_lib.report.adverse import as_dicts
from audit_lib.report.content import Content
from audit_lib.report.design import design_facts
from audit_lib.report.earlier import smallest_as_dict
from audit_lib.report.leading import headline

SCHEMA: Final = "audit-report/2"
_INDENT: Final = b"  "
_METRICS: Final = b"\n" + _INDENT + b'"metrics": '
_PIECE: Final = 2**20


def document_bytes(content: Content) -> bytes:
    """Return the document as JSON text."""
    return with_metrics(document_frame(content), content.archived_metrics)


def document_frame(content: Content) -> bytes:
    """Return the document without its metrics where these are printed as archived, else all of it.

    The metrics are most of it, and writing them out anew would take longer than all the rest.
    """
    document = make_document(content)
    return pretty_json(document if content.archived_metrics is None else document | {"metrics": None})


def with_metrics(frame: bytes, archived: bytes | None) -> bytes:
    """Set ``metrics.json`` into the frame as it lies there, piece by piece: it can be large."""
    if archived is None:
        return frame
    before, after = frame.split(_METRICS + b"null", 1)
    out = io.BytesIO()
    out.write(before + _METRICS)
    end = len(archived.rstrip(b"\n"))
    for start in range(0, end, _PIECE):
        out.write(archived[start : min(start + _PIECE, end)].replace(b"\n", b"\n" + _INDENT))
    out.write(after)
    return out.getvalue()


def make_document(content: Content) -> dict[str, Any]:
    """Return the document."""
    return _facts(content) | {
        "required_fields": [check.as_dict() for check in field_checks(content)],
        "caveats": content.caveats,
        "earlier": [audit.as_dict() for audit in content.earlier],
        "inputs": dict(content.inputs),
    }


def field_checks(content: Content) -> tuple[FieldCheck, ...]:
    """Return the law's checklist, as the policy pack checks it against everything else that the document says."""
    return required_fields(content.policy, content.spec, _facts(content))


def _facts(content: Content) -> dict[str, Any]:
    spec, signature = content.spec, content.signature
    return {
        "schema": SCHEMA,
        "title": content.title,
        "subtitle": spec.title,
        "audit": spec.audit,
        "run": content.key.prefix,
        "window": {"start": content.plan["window_start"], "end": content.plan["window_end"]},
        "spec_digest": content.key.spec_digest,
        "status": content.status,
        "signature": None
        if signature is None
        else {
            "auditor": signature.auditor,
            "organisation": signature.organisation,
            "signed_at": signature.signed_at.isoformat(),
            "number": signature.number,
            "key_id": signature.key_id,
        },
        "attested": content.attested,
        "experiment": content.is_experiment,
        "provenance": content.provenance,
        "valid_judge": spec.model.valid_judge,
        "planned_at": content.planned_at.isoformat(),
        "scored_at": content.scored_at.isoformat(),
        "measured_at": content.measured_at.isoformat(),
        "policy": content.plan["policy"],
        "tool": spec.report.tool,
        "tool_version": content.tool_version,
        "models": [dict(model) for model in content.models],
        "served": dict(content.served),
        "prompt_template_sha256": content.prompt_digest,
        "score_methods": dict(content.score_methods),
        "sample": dict(content.sample),
        "design": design_facts(content),
        "validation": {
            "success": content.validation["success"],
            "severity_failed": content.validation["severity_failed"],
        },
        "headline": {
            kind: smallest_as_dict(found)
            for kind in ("selection", "scoring")
            if (found := headline(content, kind)) is not None
        },
        "adverse_impact": as_dicts(content),
        "metrics": dict(content.metrics),
        "switches": [
            {"name": s.name, "value": s.value, "question": s.question, "reason": s.reason, "cite": s.cite}
            for s in content.policy.switches
        ],
    }
