"""What the policy's tests say, read together, stands in the JSON as on the page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from audit_lib.documents.schema import schema_of
from tests.report.runs import made


@pytest.mark.parametrize("policy", ["us_ugesp", "nyc_ll144"])
def test_verdicts_are_in_the_json_where_the_policy_has_such_tests(tmp_path: Path, policy: str) -> None:
    run = made(tmp_path, groups={"provenance": "self_reported"}, report={"policy": policy})
    document = json.loads(run.stage("report").read("report.json"))
    jsonschema.Draft202012Validator(schema_of("report.json")).validate(document)
    found = document["adverse_impact"]
    page = run.stage("report").read("report.html").decode()
    if policy == "nyc_ll144":
        assert found == [] and "adverse impact, all tests" not in page
        return
    rows = [
        (table["kind"], table["family"], row["category"], row["four_fifths_flag"])
        for table in document["metrics"]["tables"]
        if table["kind"] in ("selection", "scoring") and not table["stratum"]
        for row in table["rows"]
    ]
    assert [(f["kind"], f["family"], f["category"]) for f in found] == [row[:3] for row in rows]
    for finding, (*_, below) in zip(found, rows, strict=True):
        assert (finding["verdict"] in ("indicated", "too few to tell")) == bool(below)
        assert finding["verdict"] in page and all(reason in page for reason in finding["reasons"])
