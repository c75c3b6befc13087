"""The checks behind a pack's required fields: each reads the spec and the report's own document, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from audit_lib.policies.clocks import add, notice_ends, valid_until
from audit_lib.policies.gates import reliance
from audit_lib.policies.parts import CheckName
from audit_lib.policies.policy import Policy

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

Status = Literal["met", "missing", "not applicable"]
Answer = tuple[Status, str]


@dataclass(frozen=True, slots=True)
class Case:
    """What a check looks at."""

    policy: Policy
    spec: AuditSpec
    document: Mapping[str, Any]

    @property
    def tables(self) -> list[Mapping[str, Any]]:
        """All rate tables of the audit."""
        return list(self.document.get("metrics", {}).get("tables", ()))

    @property
    def pooled(self) -> list[Mapping[str, Any]]:
        """Rate tables of the whole audit."""
        return [table for table in self.tables if not table["stratum"]]

    def day(self, name: str) -> date | None:
        """Return the day of a time in the document."""
        stated = self.document.get(name)
        return datetime.fromisoformat(stated).date() if stated else None


def _stated(text: str, key: str) -> Answer:
    return ("met", text.strip()) if text.strip() else ("missing", f"write {key} in the spec")


def _audit_date(case: Case) -> Answer:
    day = case.day("measured_at")
    return ("met", f"audit of {day}") if day else ("missing", "the metrics are not computed yet")


def _data_source(case: Case) -> Answer:
    sources = case.document.get("sample", {}).get("sources", ())
    if not sources:
        return "missing", "no file was read"
    # A file's name alone tells the public nothing about whose data these are.
    whose = case.spec.use.data
    if whose is None:
        return "missing", "say whose data these are: use.data (historical, pooled or test)"
    return "met", f"{whose} data: " + "; ".join(s["path"] for s in sources)


def _data_explained(case: Case) -> Answer:
    return _stated(case.spec.source.reason, "source.reason")


def _unknown_counted(case: Case) -> Answer:
    tables = case.pooled
    if not tables:
        return "missing", "no table of the whole audit; add [] to measure.strata"
    most = max(table["unknown"] for table in tables)
    return "met", f"{most} of unknown category at most; the number stands under each table"


def _every_row(case: Case, has: Callable[[Mapping[str, Any]], bool], what: str) -> Answer:
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


def _numbers(case: Case) -> Answer:
    return _every_row(case, lambda row: isinstance(row["n"], int), "number of people")


def _rates(case: Case) -> Answer:
    # A category without people has no rate; it is printed as undefined, with the reason.
    return _every_row(
        case, lambda row: row["n"] == 0 or isinstance(row["rate"]["value"], float | int), "rate"
    )


def _ratios(case: Case) -> Answer:
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


def _first_use(case: Case) -> Answer:
    day = case.spec.report.distribution_date
    if day is None and case.spec.use.months == 0:
        return "not applicable", "the tool was never used (use.months: 0)"
    return ("met", day) if day else ("missing", "write report.distribution_date in the spec")


def _exclusions(case: Case) -> Answer:
    excluded = [row for table in case.pooled for row in table["rows"] if row["excluded"] is not None]
    if not excluded:
        return "not applicable", "no category is left out"
    for row in excluded:
        if not case.spec.use.exclusions.get(row["label"], "").strip():
            return "missing", f"{row['label']} is left out without a justification; write use.exclusions"
    return "met", "; ".join(f"{row['label']}: {row['selected']} of {row['n']}" for row in excluded)


def _test_data(case: Case) -> Answer:
    use = case.spec.use
    if use.data is None:
        return "missing", "write use.data in the spec: historical, pooled or test"
    if use.data != "test":
        return "not applicable", f"the data are {use.data}"
    told = use.test_data
    if told is None or not (told.why.strip() and told.how.strip()):
        return "missing", "write use.test_data.why and use.test_data.how in the spec"
    return "met", f"{told.why} {told.how}"


def _classes(case: Case) -> Answer:
    classes = case.spec.decision.classes
    if not classes:
        return "not applicable", "the tool does not classify into groups (decision.classes is empty)"
    printed = {table["stratum"].get("classification") for table in case.tables}
    lacking = [name for name in classes if name not in printed]
    return (
        ("missing", f"no tables for {', '.join(lacking)}") if lacking else ("met", f"{len(classes)} groups")
    )


def _median(case: Case) -> Answer:
    scoring = [table for table in case.pooled if table["kind"] == "scoring"]
    if not scoring:
        return "not applicable", "no scoring table was asked for"
    medians = {table["median"] for table in scoring}
    if None in medians:
        return "missing", "nobody was scored"
    return "met", f"median {scoring[0]['median']:.6g}, {scoring[0]['median_ties']} scores equal to it"


def _summary(case: Case) -> Answer:
    website = case.spec.use.website
    return _stated(website.summary if website else "", "use.website.summary")


def _posted(case: Case) -> Answer:
    use, clock = case.spec.use, case.policy.clock("posting")
    if use.last_used is None:
        return ("not applicable", "the use has not ended (use.last_used is empty)")
    until = add(clock, date.fromisoformat(use.last_used))
    if use.posted_until is None or (until and date.fromisoformat(use.posted_until) < until):
        return "missing", f"keep it posted until {until} and write use.posted_until"
    return "met", f"posted until {use.posted_until}, asked until {until}"


def _valid(case: Case) -> Answer:
    day = case.day("measured_at")
    if day is None:
        return "missing", "the metrics are not computed yet"
    return "met", f"valid until {valid_until(case.policy, day)}; audit again before"


def _rely(case: Case, data: str) -> Answer:
    if case.spec.use.data is None:
        return "missing", "write use.data in the spec: historical, pooled or test"
    if case.spec.use.data != data:
        return "not applicable", f"the data are {case.spec.use.data}"
    found = next((one for one in reliance(case.policy, case.spec.use) if one.data == data), None)
    if found is None:
        return "not applicable", "no rule on whose data may be relied on"
    return ("met", found.reason) if found.allowed else ("missing", found.reason)


def _demographics(case: Case) -> Answer:
    provenance, rule = case.spec.groups.provenance, case.policy.provenance
    if provenance in rule.experiment:
        return "not applicable", "assigned: an experiment, and no bias audit"
    return ("met" if provenance in rule.audit else "missing"), provenance.replace("_", "-")


def _independence(case: Case) -> Answer:
    asked = {one.id for one in case.policy.attestations}
    given = set(case.document.get("attested", ()))
    lacking = sorted(asked - given)
    if not asked:
        return "not applicable", "no attestation is asked for"
    return (
        ("missing", "an auditor signs with `audit sign`")
        if lacking
        else ("met", f"{len(asked)} attestations")
    )


def _notice(case: Case) -> Answer:
    notice = case.spec.use.notice
    if notice is None:
        return "missing", "write use.notice in the spec"
    allowed = notice_ends(case.policy, date.fromisoformat(notice.given))
    used = notice.used_from
    if used is not None and allowed is not None and date.fromisoformat(used) < allowed:
        return (
            "missing",
            f"given {notice.given}, used from {used}; use may begin on {allowed}, later with holidays",
        )
    return "met", f"given {notice.given}; use from {allowed}, later with holidays"


def _alternative(case: Case) -> Answer:
    notice = case.spec.use.notice
    return _stated(notice.alternative if notice else "", "use.notice.alternative")


def _retention(case: Case) -> Answer:
    website = case.spec.use.website
    return _stated(website.retention_policy if website else "", "use.website.retention_policy")


def _requests(case: Case) -> Answer:
    website = case.spec.use.website
    return _stated(website.requests if website else "", "use.website.requests")


def _model(case: Case) -> Answer:
    models = case.document.get("models", ())
    names = "; ".join(f"{m.get('name')} {m.get('revision') or 'without a revision'}" for m in models)
    return ("met", names) if models else ("missing", "no model answered")


def _prompt(case: Case) -> Answer:
    if case.spec.prompt is None:
        return "not applicable", "decisions were recorded; no prompt was sent"
    digest = case.document.get("prompt_template_sha256")
    return ("met", f"SHA-256 {digest}") if digest else ("missing", "the template is not archived")


def _plan_first(case: Case) -> Answer:
    planned, scored = case.document.get("planned_at"), case.document.get("scored_at")
    if not planned or not scored:
        return "missing", "the run is not complete"
    if case.spec.model.backend == "recorded":  # the tests are the decisions, however late they are read
        occurred = case.document["sample"].get("occurred")
        if occurred is None:
            return "missing", f"planned {planned}; when the recorded decisions were taken is not stated"
        first = datetime.fromisoformat(occurred["first"])
        first_known = not occurred["not_stated"] and datetime.fromisoformat(planned) <= first
        taken = f"the recorded decisions were taken from {occurred['first']} to {occurred['last']}"
        return ("met" if first_known else "missing"), f"planned {planned}; {taken}"
    before = datetime.fromisoformat(planned) <= datetime.fromisoformat(scored)
    return ("met" if before else "missing"), f"planned {planned}, scored {scored}"


def _sealed(case: Case) -> Answer:
    digest = case.document.get("spec_digest")
    return ("met", f"spec digest {digest}; `audit verify` recomputes it") if digest else ("missing", "no run")


def _known(case: Case) -> Answer:
    rows = case.document.get("metrics", {}).get("rows")
    if not rows:
        return "missing", "the metrics are not computed yet"
    return (
        "met",
        f"{case.spec.groups.provenance.replace('_', '-')}; {rows['unknown_group']} of {rows['total']} unknown",
    )


def _significance(case: Case) -> Answer:
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


def _purpose(case: Case) -> Answer:
    return _stated(case.spec.report.tool, "report.tool")


def _missingness(case: Case) -> Answer:
    entries = case.document.get("metrics", {}).get("missingness", ())
    return ("met", f"{len(entries)} groups") if entries else ("missing", "the metrics are not computed yet")


def _positions(case: Case) -> Answer:
    parts = {tuple(table["stratum"].items()) for table in case.tables if "position" in table["stratum"]}
    return ("met", f"{len(parts)} positions") if parts else ("missing", "add [position] to measure.strata")


def _response(case: Case) -> Answer:
    return _stated(case.spec.use.response, "use.response")


def _review(case: Case) -> Answer:
    return _stated(case.spec.use.human_review, "use.human_review")


def _system_data(case: Case) -> Answer:
    status, found = _sealed(case)
    if status != "met":
        return status, found
    # A run holds what it asked and got; what built the system was never part of it.
    status, kept = _stated(case.spec.use.development_data, "use.development_data")
    return status, f"inputs and outputs: {found}; data of development: {kept}"


CHECKS: Final[Mapping[CheckName, Callable[[Case], Answer]]] = {
    "audit_date": _audit_date,
    "data_source": _data_source,
    "data_explained": _data_explained,
    "unknown_counted": _unknown_counted,
    "numbers_printed": _numbers,
    "rates_printed": _rates,
    "ratios_printed": _ratios,
    "first_use": _first_use,
    "exclusions_justified": _exclusions,
    "test_data_explained": _test_data,
    "classification_tables": _classes,
    "median_printed": _median,
    "summary_posted": _summary,
    "posted_long_enough": _posted,
    "within_validity": _valid,
    "pooled_contributed": lambda case: _rely(case, "pooled"),
    "test_data_allowed": lambda case: _rely(case, "test"),
    "demographics_accepted": _demographics,
    "independence_attested": _independence,
    "notice_given": _notice,
    "alternative_explained": _alternative,
    "retention_published": _retention,
    "requests_explained": _requests,
    "model_described": _model,
    "prompt_recorded": _prompt,
    "plan_before_scores": _plan_first,
    "design_sealed": _sealed,
    "demographics_known": _known,
    "significance_beside": _significance,
    "purpose_stated": _purpose,
    "missingness_by_group": _missingness,
    "by_position": _positions,
    "result_acted_on": _response,
    "human_review_stated": _review,
    "system_data_kept": _system_data,
}
"""Name in a pack -> the check."""
