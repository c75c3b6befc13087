"""OSCAL: the export holds the run's own numbers and passes compliance-trestle's types."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.oscal import assessment_results
from audit_lib.policies import load_policy
from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from tests.archive.cases import do, new_run

pytest.importorskip("trestle")


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return sealed_run


def test_it_loads_with_trestle_and_comes_out_the_same_again(run: Run, tmp_path: Path) -> None:
    from trestle.oscal.assessment_results import AssessmentResults

    content = assessment_results(run)
    assert content == assessment_results(run)
    path = tmp_path / "assessment-results.json"
    path.write_bytes(content)
    loaded = AssessmentResults.oscal_read(path)
    assert loaded is not None
    assert loaded.results[0].observations


def test_every_headline_row_is_an_observation_with_its_counts(run: Run) -> None:
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    tables = [t for t in run.stage("metrics").read_json("metrics.json")["tables"] if not t["stratum"]]
    rows = [row for table in tables for row in table["rows"]]
    observed = [seen for seen in result["observations"] if seen["methods"] == ["TEST"]]
    assert len(observed) == len(rows) > 0
    for row, seen in zip(rows, observed, strict=True):
        facts = {prop["name"]: prop["value"] for prop in seen["props"]}
        assert (int(facts["n"]), int(facts["selected"])) == (row["n"], row["selected"])
        ratio = row["impact_ratio"]["value"]
        if isinstance(ratio, float):
            assert float(Fraction(facts["impact-ratio-exact"])) == pytest.approx(ratio)
            assert facts["below-guideline"] == ("yes" if row["four_fifths_flag"] else "no")
        else:
            assert "undefined" in seen["description"]


def test_the_law_s_fields_are_findings(run: Run) -> None:
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    states = {
        finding["target"]["target-id"]: finding["target"]["status"]["state"] for finding in result["findings"]
    }
    assert states["f05"] == "satisfied"
    assert states["f19"] == "not-satisfied"


ADDRESSES = {"summary": "/audit", "retention_policy": "/data", "requests": "/ask"}
FACTS = {"data": "historical", "months": 7, "notice": {"given": "2025-05-01"}, "website": ADDRESSES}


def test_what_was_only_stated_is_neither_satisfied_nor_not(tmp_path: Path) -> None:
    from trestle.oscal.assessment_results import AssessmentResults

    run = do(new_run(tmp_path, str(tmp_path / "store"), use=FACTS), until="evidence")
    content = assessment_results(run)
    (result,) = json.loads(content)["assessment-results"]["results"]
    found = {finding["target"]["target-id"] for finding in result["findings"]}
    stated = {"f02", "f13", "f20", "f22", "f23"}
    assert not stated & found
    (reviewed,) = result["reviewed-controls"]["control-objective-selections"]
    left_out = {objective["objective-id"] for objective in reviewed["exclude-objectives"]}
    assert stated <= left_out and not left_out & found and len(left_out | found) == 23
    assert "F13 stated by the employer, not checked" in reviewed["remarks"]
    said = {seen["title"][:3].lower(): seen for seen in result["observations"]}
    for name in stated:
        assert said[name]["title"].endswith(": stated by the employer, not checked") and said[name][
            "methods"
        ] == ["UNKNOWN"]
    assert "/audit" in said["f13"]["description"]
    (tmp_path / "o.json").write_bytes(content)
    assert AssessmentResults.oscal_read(tmp_path / "o.json") is not None


@pytest.mark.parametrize("name", ["colorado_sb26_189", "eu_ai_act_annex_iii"])
def test_of_a_law_that_is_not_in_force_nothing_is_satisfied(name: str, tmp_path: Path) -> None:
    since = load_policy(name).in_force.since
    assert date(2026, 1, 11) < since  # the last day of the window of these runs
    run = do(new_run(tmp_path, str(tmp_path / "store"), report={"policy": name}), until="evidence")
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    assert "findings" not in result
    (reviewed,) = result["reviewed-controls"]["control-objective-selections"]
    asked = [field.id for field in load_policy(name).required_fields]
    assert [one["objective-id"] for one in reviewed["exclude-objectives"]] == [one.lower() for one in asked]
    for one in asked:
        later = f"not in force yet on 2026-01-11: applies from {since}"
        assert f"{one} not applicable: {later}" in reviewed["remarks"]


@pytest.mark.parametrize("dated", [True, False])
def test_a_sign_off_is_an_attestation(tmp_path: Path, dated: bool) -> None:
    month_on = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    use = {"report": {"distribution_date": month_on}} if dated else {}
    run = do(new_run(tmp_path, str(tmp_path / "store"), **use), until="evidence")
    generate_key(tmp_path / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    made = sign_off(run, who, load_private_key(tmp_path / "a.key"))
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    states = {f["target"]["target-id"]: f["target"]["status"]["state"] for f in result["findings"]}
    assert states["f01"] == states["f19"] == "satisfied"
    # Since when the tool is used decides whether this audit alone covers its use.
    assert states.get("f15") == ("satisfied" if dated else None)
    assert result["title"] == "Summary of results of a bias audit"
    parts = result["attestations"][0]["parts"]
    assert "Ada Auditor" in parts[0]["prose"] and parts[1]["prose"] == made.digest


def test_the_command_writes_a_file(run: Run, tmp_path: Path) -> None:
    assert main(["oscal", run.uri, "--out", str(tmp_path / "o.json")]) == 0
    assert json.loads((tmp_path / "o.json").read_bytes())["assessment-results"]["metadata"]["oscal-version"]
