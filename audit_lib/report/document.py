"""``report.json``: what the page says, for machines. `audit_lib.documents.report` describes it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.earlier import Span
from audit_lib.documents.report import Report, RequiredField, SignedBy, Switch, ValidationFacts
from audit_lib.policies.fields import FieldCheck, required_fields
from audit_lib.report.adverse import adverse_impact
from audit_lib.report.content import Content
from audit_lib.report.design import design_facts
from audit_lib.report.leading import headline
from audit_lib.report.signature import Signature
from audit_lib.translation import speaking
from audit_lib.typed_json import as_json

_INDENT: Final = b"  "
_METRICS_KEY: Final = "metrics"
_DIGESTS_KEY: Final = "digests"
_METRICS: Final = b"\n" + _INDENT + b'"metrics": '
_PIECE: Final = 2**20


def document_bytes(content: Content) -> bytes:
    """Return the document as JSON text."""
    return with_metrics(document_frame(content), content.archived_metrics)


def document_frame(content: Content) -> bytes:
    """Return the document without its metrics where these are printed as archived, else all of it.

    The metrics are most of it, and writing them out anew would take longer than all the rest.
    """
    document, archived = make_document(content), content.archived_metrics
    left_out = {_DIGESTS_KEY} | (set() if document.planned_under else {"planned_under"})
    written = {
        one.name: None
        if archived is not None and one.name == _METRICS_KEY
        else as_json(getattr(document, one.name))
        for one in fields(document)
        if one.name not in left_out
    }
    return pretty_json({**written, _DIGESTS_KEY: _digests(written, archived)})


def _digests(written: Mapping[str, Any], archived: bytes | None) -> dict[str, str]:
    """Return the digest of each field; of metrics that are set in as archived, of these bytes, which are the same."""
    digests = {name: sha256(pretty_json(value)) for name, value in written.items()}
    return digests if archived is None else {**digests, _METRICS_KEY: sha256(archived)}


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


def make_document(content: Content) -> Report:
    """Return the document. It is for machines: in English, whatever language the page is in."""
    with speaking("en"):
        return _document(content)


def _document(content: Content) -> Report:
    spec, signature = content.spec, content.signature
    return Report(
        title=content.title,
        subtitle=spec.title,
        audit=spec.audit,
        run=content.key.prefix,
        window=Span(start=content.plan.window_start, end=content.plan.window_end),
        spec_digest=content.key.spec_digest,
        status=content.status,
        signature=None if signature is None else _signed_by(signature),
        attested=tuple(content.attested),
        experiment=content.is_experiment,
        provenance=content.provenance,
        valid_judge=spec.model.valid_judge,
        planned_at=content.planned_at.isoformat(),
        scored_at=content.scored_at.isoformat(),
        measured_at=content.measured_at.isoformat(),
        policy=content.plan.policy,
        tool=spec.report.tool,
        tool_version=content.tool_version,
        models=content.models,
        served=content.served,
        prompt_template_sha256=content.prompt_digest,
        score_methods=content.score_methods,
        sample=content.sample,
        design=design_facts(content),
        validation=ValidationFacts(
            success=content.validation.success, severity_failed=content.validation.severity_failed
        ),
        headline={
            kind: found for kind in ("selection", "scoring") if (found := headline(content, kind)) is not None
        },
        adverse_impact=adverse_impact(content),
        metrics=content.metrics,
        switches=tuple(
            Switch(name=s.name, value=s.value, question=s.question, reason=s.reason, cite=s.cite)
            for s in content.policy.switches
        ),
        required_fields=tuple(_required(check) for check in field_checks(content)),
        caveats=tuple(content.caveats),
        earlier=content.earlier,
        journal=content.journal,
        inputs=content.inputs,
        planned_under=content.planned_under,
    )


def field_checks(content: Content) -> tuple[FieldCheck, ...]:
    """Return the law's checklist, as the policy pack checks it against what the document says."""
    signature, metrics = content.signature, content.metrics
    facts = {
        "status": content.status,
        "window": {"start": content.plan.window_start, "end": content.plan.window_end},
        "signature": None if signature is None else _signed_by(signature).as_dict(),
        "attested": content.attested,
        "spec_digest": content.key.spec_digest,
        "planned_at": content.planned_at.isoformat(),
        "scored_at": content.scored_at.isoformat(),
        "measured_at": content.measured_at.isoformat(),
        "models": content.models,
        "prompt_template_sha256": content.prompt_digest,
        "sample": content.sample.as_dict(),
        "metrics": {
            "rows": metrics.rows.as_dict(),
            "missingness": as_json(metrics.missingness),
            # Of the tables of parts no check reads more than what they are parts of.
            "tables": [{"stratum": t.stratum} if t.stratum else t.as_dict() for t in metrics.tables],
        },
    }
    return required_fields(content.policy, content.spec, facts)


def _required(check: FieldCheck) -> RequiredField:
    return RequiredField(
        id=check.id,
        duty=check.duty,
        cite=check.cite,
        where=check.where,
        status=check.status,
        found=check.found,
    )


def _signed_by(signature: Signature) -> SignedBy:
    return SignedBy(
        auditor=signature.auditor,
        organisation=signature.organisation,
        signed_at=signature.signed_at.isoformat(),
        number=signature.number,
        key_id=signature.key_id,
    )
