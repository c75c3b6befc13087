"""The checklist of Local Law 144, line by line: what meets it, what does not, what does not apply."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.policies import policy_of
from audit_lib.policies.fields import FieldCheck, check_fields, required_fields
from audit_lib.spec import AuditSpec
from tests.archive.cases import do, new_run

STATED = "stated"
EVERYTHING: dict[str, Any] = {
    "source": {"reason": "All applicants of one quarter."},
    "report": {"distribution_date": "2025-06-01", "tool": "Invites to interviews."},
    "use": {
        "employer": "Example Inc.",
        "data": "historical",
        "months": 7,
        "earlier_audits": ["2025-05-20", "2026-05-01"],
        "own_data_sufficient": True,
        "notice": {
            "given": "2025-05-01",
            "used_from": "2025-06-01",
            "where": "job posting",
            "alternative": "Write to us.",
        },
        "website": {
            "summary": "/careers/audit",
            "retention_policy": "/careers/data",
            "requests": "/careers/ask",
        },
    },
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditSpec, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("fields")
    run = do(new_run(folder, str(folder / "store"), **EVERYTHING), until="report")
    document: dict[str, Any] = json.loads(run.stage("report").read("report.json"))
    return run.spec, document


def by_id(spec: AuditSpec, document: dict[str, Any]) -> dict[str, FieldCheck]:
    return {one.id: one for one in check_fields(document, spec)}


def changed(spec: AuditSpec, section: str, **values: Any) -> AuditSpec:
    return spec.override(section, **values)


SIGNED: dict[str, Any] = {
    "attested": ["no_part_in_tool", "no_employment", "no_financial_interest"],
    "signature": {"auditor": "Ada Auditor", "organisation": "Independent LLP"},
}


def test_a_complete_audit_lacks_only_the_auditor(made: tuple[AuditSpec, dict[str, Any]]) -> None:
    spec, document = made
    found = by_id(spec, document)
    lacking = ["F01", "F15", "F19"]
    assert [name for name, one in found.items() if one.status == "missing"] == lacking
    beside = [name for name, one in found.items() if one.status == "not applicable"]
    assert beside == ["F09", "F10", "F11", "F14", "F16", "F17"]
    assert all(one.cite and one.found and one.duty for one in found.values())
    signed = by_id(spec, document | SIGNED)
    assert [signed[name].status for name in lacking] == ["computed", STATED, "computed"]
    two = by_id(spec, document | SIGNED | {"attested": ["no_part_in_tool", "no_employment"]})
    assert {two[name].status for name in lacking} == {"missing"}, "three attestations, not two"
    own = SIGNED | {"signature": {"auditor": "Ada Auditor", "organisation": "EXAMPLE, INC"}}
    assert {by_id(spec, document | own)[name].status for name in lacking} == {"not met"}, "its own employer"


def test_what_nobody_checked_is_not_met(made: tuple[AuditSpec, dict[str, Any]]) -> None:
    """Met is what the run's artefacts show, and nothing that rests on the spec's word alone."""
    spec, document = made
    spec = spec.override("use", last_used="2026-01-31", posted_until="2126-07-31")
    found = by_id(spec, document | SIGNED)
    met = [name for name, one in found.items() if one.status == "computed"]
    assert met == ["F01", "F04", "F05", "F06", "F07", "F12", "F19"]
    stated = [name for name, one in found.items() if one.status == "stated"]
    assert stated == ["F02", "F03", "F08", "F13", "F14", "F15", "F18", "F20", "F21", "F22", "F23"]
    for name in ("F13", "F22", "F23"):
        assert "/careers/" in found[name].found and "nobody looked there" in found[name].found
    told = {"data": "test", "own_data_sufficient": False, "test_data": {"why": "few", "how": "written"}}
    for name, one in by_id(spec.override("use", **told), document | SIGNED).items():
        assert name not in ("F10", "F17") or one.status == "stated"
    pooled = by_id(spec.override("use", data="pooled", own_data_contributed=True), document)
    assert pooled["F16"].status == "stated"


def test_both_names_give_the_same(made: tuple[AuditSpec, dict[str, Any]]) -> None:
    spec, document = made
    assert required_fields(policy_of(spec), spec, document) == check_fields(document, spec)
    assert json.loads(json.dumps([one.as_dict() for one in check_fields(document, spec)]))[0]["id"] == "F01"


@pytest.mark.parametrize(
    ("section", "values", "field", "status"),
    [
        ("source", {"reason": " "}, "F03", "missing"),
        ("report", {"distribution_date": None}, "F08", "missing"),
        ("use", {"months": 0}, "F08", "not met"),
        ("use", {"data": None}, "F10", "missing"),
        ("use", {"data": None}, "F16", "missing"),
        ("use", {"data": "pooled"}, "F16", "missing"),
        ("use", {"data": "pooled", "own_data_contributed": True}, "F16", STATED),
        ("use", {"data": "test"}, "F17", "not met"),
        ("use", {"data": "test", "own_data_sufficient": False}, "F17", STATED),
        ("use", {"data": "test"}, "F10", "missing"),
        ("use", {"data": "test", "test_data": {"why": "few", "how": "written"}}, "F10", STATED),
        ("use", {"website": None}, "F13", "missing"),
        ("use", {"last_used": "2026-01-31"}, "F14", "missing"),
        ("use", {"posted_until": "2025-11-30"}, "F14", "not met"),
        ("use", {"last_used": "2126-01-31", "posted_until": "2126-07-30"}, "F14", "not met"),
        ("use", {"last_used": "2126-01-31", "posted_until": "2126-07-31"}, "F14", STATED),
        ("use", {"last_used": "2026-01-31", "posted_until": "2126-07-31"}, "F14", STATED),
        ("use", {"notice": None}, "F20", "missing"),
        ("use", {"notice": {"given": "2025-05-20", "used_from": "2025-06-02"}}, "F20", "not met"),
        ("use", {"notice": {"given": "2025-05-16", "used_from": "2025-06-02"}}, "F20", STATED),
        ("use", {"notice": {"given": "2025-05-19", "used_from": "2025-06-02"}}, "F20", "not met"),
        ("use", {"notice": {"given": "2025-05-01"}}, "F21", "missing"),
        ("use", {"website": {"summary": "x"}}, "F22", "missing"),
        ("use", {"website": {"summary": "x"}}, "F23", "missing"),
    ],
)
def test_each_fact_moves_its_line(
    section: str, values: dict[str, Any], field: str, status: str, made: tuple[AuditSpec, dict[str, Any]]
) -> None:
    spec, document = made
    assert by_id(changed(spec, section, **values), document)[field].status == status


def test_a_tool_never_used_has_no_first_use(made: tuple[AuditSpec, dict[str, Any]]) -> None:
    spec, document = made
    facts: dict[str, Any] = {"data": None, "own_data_sufficient": None, "notice": None}
    never = changed(changed(spec, "use", months=0, **facts), "report", distribution_date=None)
    assert by_id(never, document)["F08"].status == "not applicable"


def test_numbers_that_are_gone_are_missed(made: tuple[AuditSpec, dict[str, Any]]) -> None:
    spec, document = made

    def without(change: Any) -> dict[str, FieldCheck]:
        other = copy.deepcopy(document)
        change(other["metrics"])
        return by_id(spec, other)

    def first_row(metrics: dict[str, Any]) -> Any:
        return next(t for t in metrics["tables"] if not t["stratum"])["rows"]

    assert without(lambda m: first_row(m).pop())["F05"].status == "missing"
    assert without(lambda m: first_row(m)[0].update(n=None))["F05"].status == "missing"
    assert without(lambda m: first_row(m)[0]["rate"].update(value=None))["F06"].status == "missing"
    assert without(lambda m: first_row(m)[0]["impact_ratio"].update(value=None))["F07"].status == "missing"
    gone = without(lambda m: m.update(tables=[t for t in m["tables"] if t["family"] != "intersectional"]))
    assert gone["F07"].status == "missing" and "intersectional" in gone["F07"].found
    nothing = without(lambda m: m.update(tables=[]))
    assert nothing["F04"].status == nothing["F05"].status == "missing"
    assert nothing["F12"].status == "not applicable"


def test_an_experiment_meets_no_rule_on_demographics(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "s"), groups={"provenance": "assigned"}), until="report")
    found = by_id(run.spec, json.loads(run.stage("report").read("report.json")))
    assert found["F18"].status == "not applicable"
    assert "no bias audit" in found["F18"].found
