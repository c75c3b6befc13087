"""What Local Law 144 refuses is refused with its paragraph, and what it allows passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.errors import GateError, IncompleteRunError, InputError, SpecError
from audit_lib.metrics.impact import impact_ratios
from audit_lib.pipeline import STAGES
from audit_lib.plan import plan
from audit_lib.policies import load_policy, policy_of
from audit_lib.policies.gates import check_invoked, check_reliance, check_spec, check_validity, reliance
from audit_lib.report import report
from audit_lib.run import Run
from audit_lib.spec import Use
from tests.archive.cases import applicants, do, new_run
from tests.specs import load

LL144 = load_policy("nyc_ll144")
WHY = {"why": "Never used before.", "how": "Resumes written by the vendor."}


def spec(**sections: Any) -> Any:
    return load(**({"groups": {"provenance": "self_reported"}} | sections))


@pytest.mark.parametrize("provenance", ["observer_coded", "inferred"])
def test_demographics_that_are_not_the_persons_own_are_refused(provenance: str, tmp_path: Path) -> None:
    with pytest.raises(
        GateError, match=rf"LL144, FAQ III\.6.*groups\.provenance is {provenance}.*self_reported"
    ):
        check_spec(LL144, spec(groups={"provenance": provenance}))
    refused = load(tmp_path, groups={"provenance": provenance})
    with pytest.raises(GateError, match=r"FAQ III\.6"):
        pipeline.check(refused)
    for other in ("generic", "us_ugesp"):
        elsewhere = spec(groups={"provenance": provenance}, report={"policy": other})
        check_spec(policy_of(elsewhere), elsewhere)


def test_no_way_from_python_leads_round_a_gate(tmp_path: Path) -> None:
    """Neither opening a run nor calling a stage of one made by hand; and without a plan there is no report."""
    with pytest.raises(GateError, match=r"FAQ III\.6"):
        new_run(tmp_path, str(tmp_path / "store"), groups={"provenance": "inferred"})
    allowed = new_run(tmp_path, str(tmp_path / "store"))
    refused = load(tmp_path, groups={"provenance": "inferred"})
    run = Run(refused, replace(allowed.key, spec_digest=refused.digest()), allowed.store)
    with pytest.raises(GateError, match=r"FAQ III\.6"):
        plan(run)
    with pytest.raises(GateError, match=r"FAQ III\.6"):
        pipeline.run_all(run)
    for stage in (*STAGES[1:3], *STAGES[4:]):
        with pytest.raises(IncompleteRunError):
            pipeline.run_stage(run, stage.folder)
    with pytest.raises(IncompleteRunError):
        report(run)
    written = {key.split("/")[0] for key in run.list()}
    assert written == {"attempts", "store"}, "nothing is on record but the refusals, and what store it is"


def test_assigned_demographics_make_an_experiment_and_no_audit() -> None:
    experiment = load(use={"data": "test", "months": 36, "own_data_sufficient": True})
    check_spec(LL144, experiment)
    assert "not a bias audit" in LL144.wording["title_experiment"]
    with pytest.raises(GateError, match=r"5-302\(b\)"):
        check_spec(LL144, spec(use={"data": "test", "months": 36, "own_data_sufficient": True}))


# The rule's examples, section 5-302: facts, data relied on, whether the rule allows it.
FIRST = {"months": 0}
SIX = {"months": 6, "own_data_sufficient": False}
THREE_YEARS = {"months": 36, "own_data_sufficient": True}
GAVE = {"own_data_contributed": True}
CASES = [
    (FIRST, "pooled", True),
    (FIRST, "test", True),
    (FIRST, "historical", False),
    (SIX | GAVE, "pooled", True),
    (SIX | {"own_data_contributed": False}, "pooled", False),
    (SIX, "test", True),
    (THREE_YEARS | GAVE, "pooled", True),
    (THREE_YEARS | {"own_data_contributed": False}, "pooled", False),
    (THREE_YEARS, "historical", True),
    (THREE_YEARS, "test", False),
]


@pytest.mark.parametrize(("facts", "data", "allowed"), CASES)
def test_the_rules_three_cases(facts: dict[str, Any], data: str, allowed: bool) -> None:
    use = Use(data=data, test_data=WHY if data == "test" else None, **facts)
    assert {one.data: one.allowed for one in reliance(LL144, use)}[use.data] is allowed
    if allowed:
        check_reliance(LL144, use)
        return
    paragraph = r"5-302\(b\)" if data == "test" else r"5-302\(a\)"
    with pytest.raises(GateError, match=rf"LL144, {paragraph}.*use\.data is {data}"):
        check_reliance(LL144, use)


@pytest.mark.parametrize(
    ("facts", "key"),
    [
        ({"data": "historical"}, "use.months"),
        ({"data": "pooled"}, "use.months"),
        ({"data": "pooled", "months": 6}, "use.own_data_contributed"),
        ({"data": "test", "months": 6}, "use.own_data_sufficient"),
    ],
)
def test_a_fact_that_is_not_stated_is_not_taken_as_the_favourable_one(
    facts: dict[str, Any], key: str
) -> None:
    with pytest.raises(GateError, match=rf"{key} is not stated"):
        check_reliance(LL144, Use(**facts))


@pytest.mark.parametrize("missing", ["why", "how"])
def test_test_data_need_a_reason_and_an_origin(missing: str) -> None:
    told = WHY | {missing: " "}
    with pytest.raises(GateError, match=rf"5-302\(b\).*use\.test_data\.{missing} is empty"):
        check_reliance(LL144, Use(data="test", months=0, test_data=told))
    check_reliance(LL144, Use(data="test", months=0, test_data=WHY))


def test_nothing_is_asked_where_nothing_is_claimed_or_no_law_asks() -> None:
    check_reliance(LL144, Use())
    check_reliance(load_policy("generic"), Use(data="test", months=36, own_data_sufficient=True))
    assert reliance(load_policy("us_ugesp"), Use()) == ()


def test_an_audit_is_good_for_one_year() -> None:
    check_validity(LL144, date(2026, 1, 5), date(2027, 1, 5))
    with pytest.raises(GateError, match=r"5-301\(a\).*valid until 2027-01-05"):
        check_validity(LL144, date(2026, 1, 5), date(2027, 1, 6))
    with pytest.raises(GateError, match=r"5-301\(a\).*none was done by then"):
        check_validity(LL144, date(2026, 1, 5), date(2026, 1, 4))
    check_validity(load_policy("generic"), date(2020, 1, 5), date(2027, 1, 6))


def test_an_old_audit_is_refused_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from audit_lib.cli.main import main
    from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off

    run = do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")
    audited = date.fromisoformat(run.stage("metrics").success().finished_at[:10])
    assert main(["verify", run.uri, "--as-of", audited.isoformat()]) == 1
    said = capsys.readouterr().out
    assert "there is no audit to rely on: no independent auditor has signed it" in said
    assert "valid until" not in said and "may be relied on" not in said
    generate_key(tmp_path / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, who, load_private_key(tmp_path / "a.key"))
    assert main(["verify", run.uri, "--as-of", audited.isoformat()]) == 0
    assert "may be relied on" in capsys.readouterr().out
    assert main(["verify", run.uri, "--as-of", audited.replace(year=audited.year + 2).isoformat()]) == 1
    said = capsys.readouterr().out
    assert said.startswith("NOT VERIFIED: 1 finding ") and "5-301(a)" in said


def test_a_tool_that_never_answered_is_no_audit() -> None:
    with pytest.raises(GateError, match=r"5-300, Historical Data; 5-301\(a\).*0 of 48 score rows"):
        check_invoked(LL144, spec(), answered=0, total=48, attributed=0)
    check_invoked(LL144, spec(), answered=1, total=48, attributed=0)


def test_recorded_answers_to_test_data_say_who_gave_them(tmp_path: Path) -> None:
    use = {"data": "test", "months": 0, "test_data": WHY}
    run = new_run(tmp_path, str(tmp_path / "store"), use=use)
    pipeline.check(run.spec)
    with pytest.raises(GateError, match=r"48 of 48 recorded answers name no model"):
        do(run, until="metrics")
    named = [row | {"recorded_model": "tool 3.1"} for row in applicants()]
    do(new_run(tmp_path, str(tmp_path / "other"), rows=named, use=use), until="metrics")
    told = use | {"test_data": WHY | {"invoked": "By its API on 2 January 2026; log kept."}}
    do(new_run(tmp_path, str(tmp_path / "third"), use=told), until="metrics")


def small(count: int = 400) -> list[dict[str, Any]]:
    """Applicants of whom 4 in 400, 1%, are Black."""
    rows = applicants(count)
    for index, row in enumerate(rows):
        row["race"] = "Black" if index % 100 == 3 else "White"
    return rows


BLACK = "Black or African American (Not Hispanic or Latino)"
LEFT_OUT = {"exclusions": {BLACK: "Four people; their rate would identify them."}}
YES = {"switches": {"exclude_small_share": "yes"}}


def test_a_small_category_is_left_out_with_its_justification_number_and_rate(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"), rows=small(), use=LEFT_OUT, report=YES)
    pipeline.check(run.spec)
    do(run, until="report")
    tables = run.stage("metrics").read_json("metrics.json")["tables"]
    race = next(t for t in tables if t["family"] == "race_ethnicity" and not t["stratum"])
    row = next(row for row in race["rows"] if row["label"] == BLACK)
    assert row["n"] == 4 and row["rate"]["value"] is not None
    assert row["impact_ratio"]["value"] == {"undefined": "excluded from the calculation"}
    assert "under 2% of the data: Four people" in row["excluded"]
    white = next(row for row in race["rows"] if row["label"].startswith("White"))
    assert white["impact_ratio"]["value"] == 1.0
    assert "Four people; their rate would identify them." in run.stage("report").read("report.html").decode()


def test_a_category_that_is_not_small_stays_in(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"), use=LEFT_OUT, report=YES)
    with pytest.raises(GateError, match=r"5-301\(d\).*24 of 48 people"):
        do(run, until="metrics")


def test_exclusions_need_the_switch_a_reason_and_a_category() -> None:
    with pytest.raises(GateError, match=r"5-301\(d\).*exclude_small_share"):
        check_spec(LL144, spec(use=LEFT_OUT))
    allowed = spec(use={"exclusions": {BLACK: " "}}, report=YES)
    with pytest.raises(GateError, match=r"5-301\(d\).*write the auditor's justification"):
        check_spec(policy_of(allowed), allowed)
    unknown = spec(use={"exclusions": {"Blak": "few"}}, report=YES)
    with pytest.raises(SpecError, match="'Blak' is no category"):
        check_spec(policy_of(unknown), unknown)


def test_a_value_outside_the_taxonomy_names_row_column_and_rule(tmp_path: Path) -> None:
    rows = applicants()
    rows[6]["race"] = "Martian"
    rows[7]["race"] = "Prefer not to say"
    do(new_run(tmp_path, str(tmp_path / "store"), rows=rows), until="sample")
    strict = {"provenance": "self_reported", "unknown_values": ["Prefer not to say"]}
    with pytest.raises(GateError, match=r"LL144, 5-300, Category.*line 7: column 'race'") as caught:
        do(new_run(tmp_path, str(tmp_path / "other"), rows=rows, groups=strict), until="sample")
    assert "Martian" not in str(caught.value), "no value about a person in a message"
    rows[6]["race"] = "White"
    do(new_run(tmp_path, str(tmp_path / "third"), rows=rows, groups=strict), until="sample")


def test_a_value_outside_the_taxonomy_names_the_files_own_column(tmp_path: Path) -> None:
    rows = [{**row, "Ethnicity": row["race"]} for row in applicants()]
    for row in rows:
        del row["race"]
    rows[6]["Ethnicity"] = "Martian"
    strict = {"provenance": "self_reported", "unknown_values": ["Prefer not to say"]}
    mapped = {"columns": {"race": "Ethnicity"}}
    with pytest.raises(GateError, match=r"line 7: column 'Ethnicity' \(race\)"):
        do(
            new_run(tmp_path, str(tmp_path / "store"), rows=rows, groups=strict, source=mapped),
            until="sample",
        )


@pytest.mark.parametrize(
    "other",
    ["Retail", " retail", "RETAIL ", "retail\u200b", "re\u00adtail", "\uff52etail\x7f", "\u200e retail"],
)
def test_a_position_has_one_name(other: str, tmp_path: Path) -> None:
    rows = applicants()
    rows[9]["position"] = other
    with pytest.raises(InputError, match=r"column 'position'.*one position under two names.*5-300"):
        do(new_run(tmp_path, str(tmp_path / "store"), rows=rows), until="sample")


@pytest.mark.parametrize(
    ("selected", "total", "said"),
    [([5], [3], "5 selected of 3"), ([-1], [3], "-1"), ([1.5], [3], "1.5"), ([True], [3], "True")],
)
def test_counts_are_whole_people_and_no_more_than_applied(selected: Any, total: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"category 0.*{said}.*5-300, Selection Rate"):
        impact_ratios(selected, total)
