"""A run as OSCAL assessment results, for tools that compliance teams already have.

Model: https://pages.nist.gov/OSCAL/reference/latest/assessment-results/, checked by compliance-trestle's types. Every
row of a headline table is an observation; every field that the law asks for and that the run's own artefacts decide is
a finding, satisfied or not. OSCAL's findings know no third state, so what was only stated, or seen, gets none: it is
among the objectives that the review excludes, with an observation that says what was stated. The auditor's attestations
are attestations. Ids are derived from the run, so that exporting again gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from math import isfinite
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.estimates import limits
from audit_lib.errors import EvidenceError, InputError
from audit_lib.measure.rows.split_columns import CLASSIFICATION
from audit_lib.policies.fields import FieldCheck
from audit_lib.policies.standing import not_yet, standing
from audit_lib.report.content import Content
from audit_lib.report.document import field_checks
from audit_lib.report.duty_status import duty_status
from audit_lib.report.exact_tables import ExactRow, ExactTable
from audit_lib.report.leading import picked
from audit_lib.report.numbers import guarded
from audit_lib.report.verdict_words import shown_verdict
from audit_lib.results import Interval
from audit_lib.run import Run
from audit_lib.signoff import SignOff, read_sign_offs, verify_sign_offs
from audit_lib.signoff.rejection_file import content_now

NAMESPACE: Final = "urn:audit-lib:oscal"
_STATE: Final = {"computed": "satisfied", "missing": "not-satisfied", "not met": "not-satisfied"}
_METHODS: Final = {"stated": "UNKNOWN", "seen": "EXAMINE"}
"""Of what is stated nobody examined, interviewed or tested anything; of what was seen, a page was there."""


def assessment_results(run: Run) -> bytes:
    """Return a sealed run as an OSCAL document (JSON).

    Raises
    ------
    InputError
        If compliance-trestle is not installed.
    IncompleteRunError
        If the run is not sealed or has no report.
    EvidenceError
        If a sign-off does not verify.
    """
    try:
        from trestle.oscal import OSCAL_VERSION
        from trestle.oscal.assessment_results import AssessmentResults
    except ModuleNotFoundError:
        raise InputError("OSCAL needs compliance-trestle; pip install 'audit-lib[oscal]'") from None
    document = _document(run, OSCAL_VERSION)
    AssessmentResults.model_validate(document)
    return pretty_json({"assessment-results": document})


def _document(run: Run, oscal_version: str) -> dict[str, Any]:
    checked = verify_sign_offs(run, render=False)
    if not checked.ok:
        raise EvidenceError(
            f"{run.uri}: its sign-offs do not verify, so nothing is exported:\n{checked.summary()}"
        )
    content, manifest = content_now(run), run.stage("evidence").read("manifest.json")
    fields = [_as_asked(content, field) for field in field_checks(content)]
    signed = read_sign_offs(run)
    sealed = run.stage("evidence").success().finished
    changed = max([sealed, *(one.signed_at for one in signed)])
    if content.rejected is not None:
        changed = max(changed, content.rejected.rejected_at)
    ids = _Ids(run)
    classes = [table for table in content.by_stratum if CLASSIFICATION in table.stratum]
    seen = [
        _observation(ids, content, table, row)
        for table in (*content.headline, *classes)
        for row in table.rows
    ]
    result: dict[str, Any] = {
        "uuid": ids.of("result"),
        "title": content.title,
        "description": run.spec.description or run.spec.title,
        "start": _instant(content.key.window.start),
        "end": _instant(content.key.window.end),
        "props": _props({
            "policy": f"{content.policy.name} {content.policy.version}",
            "provenance": content.provenance,
            "spec-digest": run.key.spec_digest,
            "manifest-sha256": sha256(manifest),
            "status": "rejected" if content.rejected else "signed" if signed else "not signed",
        }),
        "reviewed-controls": _reviewed(content, fields),
    }  # fmt: skip
    seen += [_statement(ids, content, field) for field in fields if field.status in _METHODS]
    if seen:
        result["observations"] = seen
    if findings := list(_findings(ids, content, fields)):
        result["findings"] = findings
    if signed:
        result["attestations"] = [_attestation(one) for one in signed]
    return {
        "uuid": ids.of("document"),
        "metadata": {
            "title": f"{content.title}: {run.spec.title}",
            "last-modified": _instant(changed),
            "version": str(1 + len(signed)),
            "oscal-version": oscal_version,
        },
        "import-ap": {"href": "plan/plan.json", "remarks": "The plan of this run, archived before scoring."},
        "results": [result],
    }


def _as_asked(content: Content, field: FieldCheck) -> FieldCheck:
    """Return a field as it stands; of a law that does not ask for it yet nothing is satisfied, or was examined."""
    return (
        replace(field, status="not applicable", found=later) if (later := _later(content, field)) else field
    )


class _Ids:
    """Ids that follow from the run and from what they name."""

    def __init__(self, run: Run) -> None:
        self._base = f"{NAMESPACE}:{run.key.audit}:{run.key.window.label}:{run.key.spec_digest}"

    def of(self, name: str) -> str:
        return str(uuid5(NAMESPACE_URL, f"{self._base}:{name}"))


def _observation(ids: _Ids, content: Content, table: ExactTable, row: ExactRow) -> dict[str, Any]:
    kind, family = content.policy.table(table.kind), content.policy.family(table.family)
    guidance, digits = content.policy.guidance.threshold, content.policy.rounding.ratio
    facts = {"hidden": "yes"} if row.hidden else {"n": str(row.n), "selected": str(row.selected)}
    if isinstance(row.rate, Fraction):
        facts["rate"] = f"{row.selected}/{row.n}"
    if isinstance(row.ratio, Fraction):
        facts["impact-ratio"] = guarded(row.ratio, digits, guidance)
        facts["impact-ratio-exact"] = str(row.ratio)
        facts["below-guideline"] = "yes" if row.below else "no"
        if (verdict := shown_verdict(row.estimate)) is not None:
            facts["verdict"] = verdict.kind.replace("_", "-")
        facts |= _limits("interval-picked", picked(row)) | _limits(
            "interval-fixed", limits(row.estimate.interval)
        )
        words = (
            f"Impact ratio {facts['impact-ratio']}: {row.selected} of {row.n}, against {table.comparator}."
        )
    elif row.hidden:
        words = f"Not printed: {row.ratio.reason}."
    else:
        words = f"Impact ratio undefined: {row.ratio.reason}. {row.selected} of {row.n}."
    part = "" if table in content.headline else f"{table.where}, "
    return {
        "uuid": ids.of(f"{table.kind}/{table.family}/{part}{row.label}"),
        "title": f"{kind.title}, {family.title}: {part}{row.label}",
        "description": words,
        "props": _props(facts),
        "methods": ["TEST"],
        "types": ["finding" if _found(row) else "historic"],
        "collected": _instant(content.measured_at),
        "relevant-evidence": [
            {"href": "metrics/metrics.json", "description": "All numbers, with intervals, n and methods."}
        ],
    }


def _found(row: ExactRow) -> bool:
    """Whether the verdict finds a difference; where it is hidden, whether the ratio is below the guideline."""
    verdict = shown_verdict(row.estimate)
    return bool(row.below) if verdict is None else verdict.found


def _limits(name: str, interval: Interval | None) -> dict[str, str]:
    """The interval that allows for the comparator being picked by the data, or the one that holds it fixed."""
    ends = {} if interval is None else {"low": interval.low, "high": interval.high}
    return {f"{name}-{end}": repr(value) for end, value in ends.items() if isfinite(value)}


def _reviewed(content: Content, fields: Sequence[FieldCheck]) -> dict[str, Any]:
    """Say which of the law's fields were assessed, and which were not."""
    words = f"What {content.policy.law} asks a summary to hold."
    selection: dict[str, Any] = {"description": words, "include-all": {}}
    if left_out := [field for field in fields if field.status not in _STATE]:
        selection["exclude-objectives"] = [{"objective-id": _objective(field)} for field in left_out]
        selection["remarks"] = "Not assessed: " + "; ".join(
            f"{field.id} {duty_status(content.policy, field)}"
            + (f": {later}" if (later := _later(content, field)) else "")
            for field in left_out
        )
    return {
        "control-selections": [{"description": words, "include-all": {}}],
        "control-objective-selections": [selection],
    }


def _later(content: Content, field: FieldCheck) -> str:
    """Say since when a field is asked for, where its law did not ask for it yet on the last day of the window."""
    part = next(one for one in content.policy.required_fields if one.id == field.id)
    later = not_yet(content.policy, content.last_day, part) is not None
    return standing(content.policy, content.last_day, part) if later else ""


def _findings(ids: _Ids, content: Content, fields: Sequence[FieldCheck]) -> Iterator[dict[str, Any]]:
    for field in fields:
        if field.status not in _STATE:
            continue
        yield {
            "uuid": ids.of(f"field/{field.id}"),
            "title": f"{field.id}: {field.duty}",
            "description": f"{duty_status(content.policy, field)}: {field.found or 'not found'}",
            "target": {
                "type": "objective-id",
                "target-id": _objective(field),
                "title": f"{field.duty} ({field.cite})",
                "status": {"state": _STATE[field.status]},
            },
        }


def _statement(ids: _Ids, content: Content, field: FieldCheck) -> dict[str, Any]:
    return {
        "uuid": ids.of(f"statement/{field.id}"),
        "title": f"{field.id}: {field.duty}: {duty_status(content.policy, field)}",
        "description": field.found or "not found",
        "props": _props({"objective": _objective(field), "status": field.status}),
        "methods": [_METHODS[field.status]],
        "types": ["control-objective"],
        "collected": _instant(content.measured_at),
        "relevant-evidence": [
            {"href": "plan/spec.json", "description": f"The spec that states it ({field.cite})."}
        ],
    }


def _objective(field: FieldCheck) -> str:
    return field.id.lower()


def _attestation(one: SignOff) -> dict[str, Any]:
    said = one.predicate
    prose = [f"{said.auditor}, {said.organisation}, {said.signed_at}."]
    prose += [f"{each.text} ({each.cite})" for each in said.attestations]
    return {
        "parts": [
            {"name": "attestation", "title": f"Sign-off {one.number}", "prose": " ".join(prose)},
            {"name": "statement", "title": "SHA-256 of the signed statement", "prose": one.digest},
        ]
    }


def _props(facts: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "ns": NAMESPACE, "value": value} for name, value in facts.items()]


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
