"""The checks behind a pack's required fields: each reads the spec and the report's own document, and nothing else.

Here are those that find what they look for in the run's artefacts; `stated_checks` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final

from audit_lib.policies.checked_report import CheckedReport, DutyAnswer
from audit_lib.policies.clocks import valid_until
from audit_lib.policies.independence import not_independent
from audit_lib.policies.pack_schema import CheckName
from audit_lib.policies.stated_checks import STATED, STATED_CHECKS, stated
from audit_lib.policies.timeline import MONTHS, Timeline
from audit_lib.translation import known, mark, spoken, t

_POST_CODES: Final = frozenset({"zip", "zip_code", "zipcode", "post_code", "postcode", "postal_code"})
"""What a column of ZIP codes is called."""


def _audit_date(case: CheckedReport) -> DutyAnswer:
    day = case.day("measured_at")
    if day is None:
        return "missing", t("the metrics are not computed yet")
    return _not_yet(case, day) or ("computed", t("audit of {day}", day=day))


def _not_yet(case: CheckedReport, day: date) -> DutyAnswer | None:
    """What stands in place of an audit's date where the law asks for an auditor, and there is no audit."""
    if not case.policy.attestations or (why := case.no_audit) is None:
        return None
    if case.spec.groups.provenance in case.policy.provenance.experiment:
        return "not applicable", why
    lacking = {one.id for one in case.policy.attestations} - set(case.document.get("attested", ()))
    words = t("computed on {day}, and no bias audit: {why}", day=day, why=why)
    return ("missing" if lacking else "not met"), words


def _unknown_counted(case: CheckedReport) -> DutyAnswer:
    tables = case.pooled
    if not tables:
        return "missing", t("no table of the whole audit; add [] to measure.strata")
    most = max(table["unknown"] for table in tables)
    return "computed", t("{most} of unknown category at most; the number stands under each table", most=most)


def _every_row(case: CheckedReport, has: Callable[[Mapping[str, Any]], bool], lacks: str) -> DutyAnswer:
    families = {family.name for family in case.policy.families}
    found = {table["family"] for table in case.pooled}
    if lacking := sorted(families - found):
        named = ", ".join(_family(case, name) for name in lacking)
        return "missing", t("no table by {families} of the whole audit", families=named)
    rows = [(table, row) for table in case.pooled for row in table["rows"]]
    for table in case.pooled:
        listed = {row["label"] for row in table["rows"]}
        absent = [c.label for c in case.policy.categories(table["family"]) if c.label not in listed]
        if absent:
            where = _place(case, table)
            return "missing", t(
                "{where}: no row for {categories}", where=where, categories="; ".join(map(known, absent))
            )
    for table, row in rows:
        if not has(row):
            where = f"{_place(case, table)}, {known(row['label'])}"
            return "missing", t(lacks, where=where)
    return "computed", t("{rows} rows in {tables} tables", rows=len(rows), tables=len(case.pooled))


def _place(case: CheckedReport, table: Mapping[str, Any]) -> str:
    """Return which table it is: in English by its names in the documents, in other languages by its title."""
    kind = table["kind"] if spoken() == "en" else t(case.policy.table(table["kind"]).title).lower()
    return f"{kind}, {_family(case, table['family'])}"


def _family(case: CheckedReport, name: str) -> str:
    return name if spoken() == "en" else t(case.policy.family(name).title).lower()


def _numbers(case: CheckedReport) -> DutyAnswer:
    return _every_row(case, lambda row: isinstance(row["n"], int), mark("{where}: no number of people"))


def _rates(case: CheckedReport) -> DutyAnswer:
    # A category without people has no rate; it is printed as undefined, with the reason.
    return _every_row(
        case,
        lambda row: row["n"] == 0 or isinstance(row["rate"]["value"], float | int),
        mark("{where}: no rate"),
    )


def _ratios(case: CheckedReport) -> DutyAnswer:
    def has(row: Mapping[str, Any]) -> bool:
        # A cell that the policy hides is not published.
        return row["n"] is not None and row["impact_ratio"]["value"] is not None

    status, found = _every_row(case, has, mark("{where}: no impact ratio"))
    undefined = sum(
        isinstance(row["impact_ratio"]["value"], Mapping) for table in case.pooled for row in table["rows"]
    )
    if status == "computed" and undefined:
        found = t("{found}; {undefined} undefined, each with its reason", found=found, undefined=undefined)
    return status, found


def _classes(case: CheckedReport) -> DutyAnswer:
    classes = case.spec.decision.classes
    if not classes:
        return "not applicable", t("the tool does not classify into groups (decision.classes is empty)")
    printed = {table["stratum"].get("classification") for table in case.tables}
    lacking = [name for name in classes if name not in printed]
    if lacking:
        return "missing", t("no tables for {classes}", classes=", ".join(lacking))
    return "computed", t("{n} groups", n=len(classes))


def _median(case: CheckedReport) -> DutyAnswer:
    scoring = [table for table in case.pooled if table["kind"] == "scoring"]
    if not scoring:
        return "not applicable", t("no scoring table was asked for")
    medians = {table["median"] for table in scoring}
    if None in medians:
        return "missing", t("nobody was scored")
    return "computed", t(
        "median {median:.6g}, {ties} scores equal to it",
        median=scoring[0]["median"],
        ties=scoring[0]["median_ties"],
    )


def _valid(case: CheckedReport) -> DutyAnswer:
    day = case.day("measured_at")
    if day is None:
        return "missing", t("the metrics are not computed yet")
    if (answer := _not_yet(case, day)) is not None:
        return answer
    until, times = valid_until(case.policy, day), case.timeline
    if times is None:
        return "missing", t("the metrics are not computed yet")
    if times.signed is not None and times.signed > until:
        words = t(
            "valid until {until}, and signed on {day}, after it; audit again", until=until, day=times.signed
        )
        return "not met", words
    late = [
        t("{key} is {value}", key=key, value=used) for key, used in times.first_days.items() if used > until
    ]
    if late:
        return "not met", t("valid until {until}, and {late}", until=until, late="; ".join(late))
    if (gap := times.uncovered()) is not None:
        words = t(
            "valid until {until}; no audit covers the use from {first} to {last}: {begun}, {audits}",
            until=until,
            first=gap[0],
            last=gap[1],
            begun="; ".join(_begun(times)),
            audits=_audits(times),
        )
        return "not met", ". ".join(filter(None, [words, case.spec.use.unaudited_use.strip()]))
    if case.spec.use.unaudited_use.strip():
        words = t(
            "valid until {until}; {audits}; and {key} says that an audit was lacking",
            until=until,
            audits=_audits(times),
            key="use.unaudited_use",
        )
        return "not met", f"{words}. {case.spec.use.unaudited_use.strip()}"
    if case.spec.use.months != 0 and not times.used_days:
        return STATED, t("valid until {until}; since when the tool is used is not stated", until=until)
    if times.first_used is not None and times.first_used < day:
        return STATED, t(
            "valid until {until}; the audits before this one are those that the spec states", until=until
        )
    return "computed", t("valid until {until}; audit again before", until=until)


def _begun(times: Timeline) -> list[str]:
    stated = [t("{key} is {value}", key=key, value=used) for key, used in times.used_days.items()]
    if MONTHS in times.begun:
        months, since = times.spec.use.months, times.begun[MONTHS]
        stated.append(t("use.months is {months}, so since {day} at the latest", months=months, day=since))
    return stated


def _audits(times: Timeline) -> str:
    if not times.earlier:
        return t("{this}, and use.earlier_audits names none", this=times.this_audit)
    days = ", ".join(map(str, times.earlier))
    return t("{this}, and use.earlier_audits has {days}", this=times.this_audit, days=days)


def _independence(case: CheckedReport) -> DutyAnswer:
    asked = {one.id for one in case.policy.attestations}
    if not asked:
        return "not applicable", t("no attestation is asked for")
    if asked - set(case.document.get("attested", ())):
        return "missing", t("an auditor signs with `audit sign`")
    signature = case.document.get("signature")
    if signature is not None and (who := not_independent(case.spec.use, signature["organisation"])):
        return "not met", t(
            "signed for {organisation}, and that is {who}", organisation=signature["organisation"], who=who
        )
    if signature is not None and (who := not_independent(case.spec.use, signature["auditor"])):
        return "not met", t("signed by {auditor}, and that is {who}", auditor=signature["auditor"], who=who)
    return "computed", t("{n} attestations, signed; that they are true is the auditor's word", n=len(asked))


def _model(case: CheckedReport) -> DutyAnswer:
    models = case.document.get("models", ())
    names = "; ".join(
        f"{m.get('name')} {m['revision']}"
        if m.get("revision")
        else t("{model} without a revision", model=m.get("name"))
        for m in models
    )
    if not models:
        return "missing", t("no model answered")
    # Of recorded decisions the spec says which model took them.
    return (STATED if case.spec.model.answers_are_recorded else "computed"), names


def _prompt(case: CheckedReport) -> DutyAnswer:
    if case.spec.prompt is None:
        return "not applicable", t("decisions were recorded; no prompt was sent")
    digest = case.document.get("prompt_template_sha256")
    return ("computed", f"SHA-256 {digest}") if digest else ("missing", t("the template is not archived"))


def _plan_first(case: CheckedReport) -> DutyAnswer:
    planned, scored = case.document.get("planned_at"), case.document.get("scored_at")
    if not planned or not scored:
        return "missing", t("the run is not complete")
    if case.spec.model.answers_are_recorded:  # the tests are the decisions, however late they are read
        occurred = case.document["sample"].get("occurred")
        if occurred is None:
            return "missing", t(
                "planned {planned}; when the recorded decisions were taken is not stated", planned=planned
            )
        first = datetime.fromisoformat(occurred["first"])
        first_known = not occurred["not_stated"] and datetime.fromisoformat(planned) <= first
        words = t(
            "planned {planned}; the recorded decisions were taken from {first} to {last}",
            planned=planned,
            first=occurred["first"],
            last=occurred["last"],
        )
        return ("computed" if first_known else "not met"), words
    before = datetime.fromisoformat(planned) <= datetime.fromisoformat(scored)
    words = t("planned {planned}, scored {scored}", planned=planned, scored=scored)
    return ("computed" if before else "not met"), words


def _sealed(case: CheckedReport) -> DutyAnswer:
    digest = case.document.get("spec_digest")
    if not digest:
        return "missing", t("no run")
    return "computed", t("spec digest {digest}; `audit verify` recomputes it", digest=digest)


def _significance(case: CheckedReport) -> DutyAnswer:
    compared = [
        row["impact_ratio"]
        for table in case.pooled
        for row in table["rows"]
        if isinstance(row["impact_ratio"]["value"], float | int) and row["label"] != table["comparator"]
    ]
    if not compared:
        return "missing", t("no ratio is defined")
    if bare := sum(not estimate["tests"] for estimate in compared):
        return "missing", t("{n} ratios without a test", n=bare)
    return "computed", t("{n} ratios, each tested", n=len(compared))


def _missingness(case: CheckedReport) -> DutyAnswer:
    entries = case.document.get("metrics", {}).get("missingness", ())
    if not entries:
        return "missing", t("the metrics are not computed yet")
    return "computed", t("{n} groups", n=len(entries))


def _positions(case: CheckedReport) -> DutyAnswer:
    parts = {tuple(table["stratum"].items()) for table in case.tables if "position" in table["stratum"]}
    if not parts:
        return "missing", t("add [position] to measure.strata")
    return "computed", t("{n} positions", n=len(parts))


def _post_codes(case: CheckedReport) -> DutyAnswer:
    columns = {name for table in case.tables for name in table["stratum"]} | set(case.spec.groups.axes)
    by = sorted(name for name in columns if name.lower().replace("-", "_") in _POST_CODES)
    if by:
        return "computed", t("results by {columns}", columns=", ".join(by))
    return "missing", t(
        "nothing is split by ZIP code; add a column named zip_code to measure.strata, or vary it as an attribute"
    )


def _system_data(case: CheckedReport) -> DutyAnswer:
    status, found = _sealed(case)
    if status != "computed":
        return status, found
    # A run holds what it asked and got; what built the system was never part of it.
    status, kept = stated(case.spec.use.development_data, "use.development_data")
    return status, t("inputs and outputs: {found}; data of development: {kept}", found=found, kept=kept)


CHECKS: Final[Mapping[CheckName, Callable[[CheckedReport], DutyAnswer]]] = {
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
    "post_codes_looked_at": _post_codes,
    **STATED_CHECKS,
}
"""Name in a pack -> the check."""
