"""The checks behind a pack's required fields: each reads the spec and the report's own document, and nothing else.

Here are those that find what they look for in the run's artefacts; `stated_checks` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final

from audit_lib.policies.audit_claim import not_independent
from audit_lib.policies.checked_report import Answer, CheckedReport
from audit_lib.policies.clocks import valid_until
from audit_lib.policies.pack_schema import CheckName
from audit_lib.policies.stated_checks import STATED, STATED_CHECKS, stated
from audit_lib.policies.use_dates import UseDates


def _audit_date(case: CheckedReport) -> Answer:
    day = case.day("measured_at")
    if day is None:
        return "missing", "the metrics are not computed yet"
    return _not_yet(case, day) or ("met", f"audit of {day}")


def _not_yet(case: CheckedReport, day: date) -> Answer | None:
    """What stands in place of an audit's date where the law asks for an auditor, and there is no audit."""
    if not case.policy.attestations or (why := case.no_audit) is None:
        return None
    if case.spec.groups.provenance in case.policy.provenance.experiment:
        return "not applicable", why
    return "missing", f"computed on {day}, and no bias audit: {why}"


def _unknown_counted(case: CheckedReport) -> Answer:
    tables = case.pooled
    if not tables:
        return "missing", "no table of the whole audit; add [] to measure.strata"
    most = max(table["unknown"] for table in tables)
    return "met", f"{most} of unknown category at most; the number stands under each table"


def _every_row(case: CheckedReport, has: Callable[[Mapping[str, Any]], bool], what: str) -> Answer:
    families = {family.name for family in case.policy.families}
    found = {table["family"] for table in case.pooled}
    if lacking := sorted(families - found):
        return "missing", f"no table by {', '.join(lacking)} of the whole audit"
    rows = [(table, row) for table in case.pooled for row in table["rows"]]
    for table in case.pooled:
        listed = {row["label"] for row in table["rows"]}
        absent = [c.label for c in case.policy.categories(table["family"]) if c.label not in listed]
        if absent:
            return "missing", f"{table['kind']}, {table['family']}: no row for {'; '.join(absent)}"
    for table, row in rows:
        if not has(row):
            return "missing", f"{table['kind']}, {table['family']}, {row['label']}: no {what}"
    return "met", f"{len(rows)} rows in {len(case.pooled)} tables"


def _numbers(case: CheckedReport) -> Answer:
    return _every_row(case, lambda row: isinstance(row["n"], int), "number of people")


def _rates(case: CheckedReport) -> Answer:
    # A category without people has no rate; it is printed as undefined, with the reason.
    return _every_row(
        case, lambda row: row["n"] == 0 or isinstance(row["rate"]["value"], float | int), "rate"
    )


def _ratios(case: CheckedReport) -> Answer:
    def has(row: Mapping[str, Any]) -> bool:
        # A cell that the policy hides is not published.
        return row["n"] is not None and row["impact_ratio"]["value"] is not None

    status, found = _every_row(case, has, "impact ratio")
    undefined = sum(
        isinstance(row["impact_ratio"]["value"], Mapping) for table in case.pooled for row in table["rows"]
    )
    return status, found + (
        f"; {undefined} undefined, each with its reason" if status == "met" and undefined else ""
    )


def _classes(case: CheckedReport) -> Answer:
    classes = case.spec.decision.classes
    if not classes:
        return "not applicable", "the tool does not classify into groups (decision.classes is empty)"
    printed = {table["stratum"].get("classification") for table in case.tables}
    lacking = [name for name in classes if name not in printed]
    return (
        ("missing", f"no tables for {', '.join(lacking)}") if lacking else ("met", f"{len(classes)} groups")
    )


def _median(case: CheckedReport) -> Answer:
    scoring = [table for table in case.pooled if table["kind"] == "scoring"]
    if not scoring:
        return "not applicable", "no scoring table was asked for"
    medians = {table["median"] for table in scoring}
    if None in medians:
        return "missing", "nobody was scored"
    return "met", f"median {scoring[0]['median']:.6g}, {scoring[0]['median_ties']} scores equal to it"


def _valid(case: CheckedReport) -> Answer:
    day = case.day("measured_at")
    if day is None:
        return "missing", "the metrics are not computed yet"
    if (answer := _not_yet(case, day)) is not None:
        return answer
    until, signed = valid_until(case.policy, day), case.document.get("signature") or {}
    if "signed_at" in signed and datetime.fromisoformat(signed["signed_at"]).date() > until:
        return "missing", f"valid until {until}, and signed after it; audit again"
    dates = UseDates(case.spec, day)
    if late := [f"{key} is {used}" for key, used in dates.first_days.items() if used > until]:
        return "missing", f"valid until {until}, and {'; '.join(late)}"
    if (gap := dates.uncovered(case.policy)) is not None:
        why = case.spec.use.unaudited_use.strip()
        between = f"no audit covers the use from {gap[0]} to {gap[1]}, as far as use.earlier_audits says"
        return "missing", f"valid until {until}; {between}{f'. {why}' if why else ''}"
    if case.spec.use.months != 0 and dates.first_used is None:
        return STATED, f"valid until {until}; since when the tool is used is not stated"
    if dates.first_used is not None and dates.first_used < day:
        return STATED, f"valid until {until}; the audits before this one are those that the spec states"
    return "met", f"valid until {until}; audit again before"


def _independence(case: CheckedReport) -> Answer:
    asked = {one.id for one in case.policy.attestations}
    if not asked:
        return "not applicable", "no attestation is asked for"
    if asked - set(case.document.get("attested", ())):
        return "missing", "an auditor signs with `audit sign`"
    signature = case.document.get("signature")
    if signature is not None and (who := not_independent(case.spec.use, signature["organisation"])):
        return "missing", f"signed by {who}"
    return "met", f"{len(asked)} attestations, signed; that they are true is the auditor's word"


def _model(case: CheckedReport) -> Answer:
    models = case.document.get("models", ())
    names = "; ".join(f"{m.get('name')} {m.get('revision') or 'without a revision'}" for m in models)
    if not models:
        return "missing", "no model answered"
    # Of recorded decisions the spec says which model took them.
    return (STATED if case.spec.model.answers_are_recorded else "met"), names


def _prompt(case: CheckedReport) -> Answer:
    if case.spec.prompt is None:
        return "not applicable", "decisions were recorded; no prompt was sent"
    digest = case.document.get("prompt_template_sha256")
    return ("met", f"SHA-256 {digest}") if digest else ("missing", "the template is not archived")


def _plan_first(case: CheckedReport) -> Answer:
    planned, scored = case.document.get("planned_at"), case.document.get("scored_at")
    if not planned or not scored:
        return "missing", "the run is not complete"
    if case.spec.model.answers_are_recorded:  # the tests are the decisions, however late they are read
        occurred = case.document["sample"].get("occurred")
        if occurred is None:
            return "missing", f"planned {planned}; when the recorded decisions were taken is not stated"
        first = datetime.fromisoformat(occurred["first"])
        first_known = not occurred["not_stated"] and datetime.fromisoformat(planned) <= first
        taken = f"the recorded decisions were taken from {occurred['first']} to {occurred['last']}"
        return ("met" if first_known else "missing"), f"planned {planned}; {taken}"
    before = datetime.fromisoformat(planned) <= datetime.fromisoformat(scored)
    return ("met" if before else "missing"), f"planned {planned}, scored {scored}"


def _sealed(case: CheckedReport) -> Answer:
    digest = case.document.get("spec_digest")
    return ("met", f"spec digest {digest}; `audit verify` recomputes it") if digest else ("missing", "no run")


def _significance(case: CheckedReport) -> Answer:
    compared = [
        row["impact_ratio"]
        for table in case.pooled
        for row in table["rows"]
        if isinstance(row["impact_ratio"]["value"], float | int) and row["label"] != table["comparator"]
    ]
    if not compared:
        return "missing", "no ratio is defined"
    bare = sum(not estimate["tests"] for estimate in compared)
    return (
        ("missing", f"{bare} ratios without a test")
        if bare
        else ("met", f"{len(compared)} ratios, each tested")
    )


def _missingness(case: CheckedReport) -> Answer:
    entries = case.document.get("metrics", {}).get("missingness", ())
    return ("met", f"{len(entries)} groups") if entries else ("missing", "the metrics are not computed yet")


def _positions(case: CheckedReport) -> Answer:
    parts = {tuple(table["stratum"].items()) for table in case.tables if "position" in table["stratum"]}
    return ("met", f"{len(parts)} positions") if parts else ("missing", "add [position] to measure.strata")


def _system_data(case: CheckedReport) -> Answer:
    status, found = _sealed(case)
    if status != "met":
        return status, found
    # A run holds what it asked and got; what built the system was never part of it.
    status, kept = stated(case.spec.use.development_data, "use.development_data")
    return status, f"inputs and outputs: {found}; data of development: {kept}"


CHECKS: Final[Mapping[CheckName, Callable[[CheckedReport], Answer]]] = {
    "audit_date": _audit_date,
    "unknown_counted": _unknown_counted,
    "numbers_printed": _numbers,
    "rates_printed": _rates,
    "ratios_printed": _ratios,
    "classification_tables": _classes,
    "median_printed": _median,
    "within_validity": _valid,
    "independence_attested": _independence,
    "model_described": _model,
    "prompt_recorded": _prompt,
    "plan_before_scores": _plan_first,
    "design_sealed": _sealed,
    "significance_beside": _significance,
    "missingness_by_group": _missingness,
    "by_position": _positions,
    "system_data_kept": _system_data,
    **STATED_CHECKS,
}
"""Name in a pack -> the check."""
