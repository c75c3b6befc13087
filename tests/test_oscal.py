"""OSCAL: the export holds the run's own numbers and passes compliance-trestle's types."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.oscal import assessment_results
from audit_lib.run import Run
from audit_lib.signoff import Answers, attestations, generate_key, load_private_key, sign_off
from tests.archive.cases import do, new_run

pytest.importorskip("trestle")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")


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
    assert len(result["observations"]) == len(rows) > 0
    for row, seen in zip(rows, result["observations"], strict=True):
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
    assert "not-satisfied" in states.values()


def test_a_sign_off_is_an_attestation(run: Run, tmp_path: Path) -> None:
    generate_key(tmp_path / "a.key")
    who = Answers(auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run)))
    made = sign_off(run, who, load_private_key(tmp_path / "a.key"))
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    parts = result["attestations"][0]["parts"]
    assert "Ada Auditor" in parts[0]["prose"] and parts[1]["prose"] == made.digest


def test_the_command_writes_a_file(run: Run, tmp_path: Path) -> None:
    assert main(["oscal", run.uri, "--out", str(tmp_path / "o.json")]) == 0
    assert json.loads((tmp_path / "o.json").read_bytes())["assessment-results"]["metadata"]["oscal-version"]
