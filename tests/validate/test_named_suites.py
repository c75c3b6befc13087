"""Suites of Great Expectations that a spec names: run by it, recorded with the audit, asked for only then."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.documents.validation import Validation
from audit_lib.errors import InputError, SpecError, ValidationFailedError
from audit_lib.records import SCORE_SCHEMA
from audit_lib.report.suppress.redact import redacted_validation
from audit_lib.spec import AuditSpec
from audit_lib.typed_json import decode_value
from audit_lib.validate import require_valid, validate, validate_again, validation_stage
from audit_lib.validate.named_suites import read_suite, run_suite
from audit_lib.validate.suites_again import computed_again
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.specs import INCLUDE
from tests.validate.cases import SECRET, Tables, scored_run

MEAN = {
    "type": "expect_column_mean_to_be_between",
    "kwargs": {"column": "score", "min_value": 0.7, "max_value": 0.76},
}
STATUS = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "status", "value_set": ["ok"]}}
EXISTS = {"type": "expect_column_to_exist", "kwargs": {"column": "selected"}}
LENIENT = {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5}
QUICK = {
    "type": "expect_column_values_to_be_between",
    "kwargs": {"column": "attempts", "max_value": 0},
    "severity": "warning",
}


def named(folder: Path, *expectations: Any, table: str = "scores") -> dict[str, Any]:
    """Write a suite as Great Expectations writes one, and return the section that names it."""
    folder.mkdir(exist_ok=True)
    suite = {"name": "ours", "expectations": list(expectations), "meta": {}, "id": None, "notes": None}
    (folder / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    return {"suites": {table: "suite.json"}}


def suited(folder: Path, tables: Tables, *expectations: Any) -> dict[str, Any]:
    """Return ``validation.json`` of tables with a suite on the scores; the plan archives its file first."""
    run = scored_run(folder, tables, checks=named(folder, *expectations))
    pipeline.run_stage(run, "plan")
    document: dict[str, Any] = json.loads(validate(run).artefacts["validation.json"])
    return document


def test_a_named_suite_is_run_after_our_own(tmp_path: Path) -> None:
    document = suited(tmp_path, Tables(), MEAN, QUICK, STATUS)
    ours, theirs = document["suites"][:-1], document["suites"][-1]
    assert all("suite" not in suite for suite in ours)
    assert (theirs["table"], theirs["suite"]) == ("scores", "suite.json")
    mean, quick, status = theirs["expectations"]
    assert mean == {
        "expectation": "expect_column_mean_to_be_between",
        "column": "score",
        "severity": "error",
        "success": True,
        "observed": {"observed_value": 0.75},
    }
    assert (quick["severity"], quick["success"], quick["observed"]["unexpected_count"]) == (
        "warning",
        False,
        24,
    )
    assert (status["success"], status["observed"]) == (True, {}), "nothing is told of a text column"
    assert (document["success"], document["severity_failed"]) == (True, "warning")


def test_a_long_text_is_read_only_where_a_suite_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables()
    for place, row in enumerate(tables.scores):
        row["text"] = None if place == 0 else "because of the résumé" * place
    of_names = [
        {"type": "expect_column_to_exist", "kwargs": {"column": "status"}},
        {"type": "expect_table_column_count_to_equal", "kwargs": {"value": len(SCORE_SCHEMA)}},
        MEAN,
    ]
    lengths = {
        "type": "expect_column_value_lengths_to_be_between",
        "kwargs": {"column": "text", "min_value": 21},
    }
    some = MEAN | {
        "kwargs": MEAN["kwargs"] | {"row_condition": "text.str.len() > 21", "condition_parser": "pandas"}
    }
    seen: list[set[str]] = []
    for place, suite in enumerate((of_names, [*of_names, lengths], [*of_names, some])):
        given: list[pd.DataFrame] = []

        def noted(table: str, reference: str, content: bytes, frame: pd.DataFrame) -> Any:
            given.append(frame)  # noqa: B023 - used within the turn
            return run_suite(table, reference, content, frame)

        monkeypatch.setattr(validation_stage, "run_suite", noted)
        document = suited(tmp_path / str(place), tables, *suite)
        assert [one["success"] for one in document["suites"][-1]["expectations"]] == [True] * len(suite)
        (frame,) = given
        assert frame["text"].isna().sum() == 1, "which rows have none, is known in any case"
        seen.append(set(frame["text"].dropna()))
    assert seen[0] == {""}
    assert seen[1] == seen[2] == {row["text"] for row in tables.scores[1:]}


def test_what_a_named_suite_finds_stops_the_audit_and_names_its_file(tmp_path: Path) -> None:
    tables = Tables()
    for row in tables.scores:
        row["score"] = 0.25
    run = scored_run(tmp_path, tables, checks=named(tmp_path, MEAN))
    pipeline.run_stage(run, "plan")
    run.stage("validation").commit(validate(run), datetime.now(UTC))
    said = r"scores \(suite.json\): expect_column_mean_to_be_between on score \(observed 0.25\), error"
    with pytest.raises(ValidationFailedError, match=said):
        require_valid(run)


def test_the_shipped_suite_stops_an_audit_whose_judge_gives_everybody_the_same_score() -> None:
    content = (INCLUDE / "suites" / "scores.yaml").read_bytes()
    same, different = (
        pd.DataFrame({"score": [0.5] * 6}),
        pd.DataFrame({"score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}),
    )
    results = {
        name: run_suite("scores", "s.yaml", content, t) for name, t in (("same", same), ("all", different))
    }
    found = {name: [(e.severity, e.success) for e in result.expectations] for name, result in results.items()}
    assert found == {
        "same": [("error", False), ("warning", False)],
        "all": [("error", True), ("warning", True)],
    }
    (demo,) = (INCLUDE / "audits").glob("*.yaml")
    assert AuditSpec.load(demo).checks.suites == {"scores": "../suites/scores.yaml"}


def test_a_suppressed_report_says_nothing_of_what_a_named_suite_found(tmp_path: Path) -> None:
    document = decode_value(Validation, suited(tmp_path, Tables(), MEAN, QUICK), "validation.json")
    kept = redacted_validation(document)
    assert document.severity_failed == "warning" and kept.severity_failed is None
    assert all(one.suite is None for one in kept.suites)
    assert kept.suites[0] == document.suites[0]


def test_a_suppressed_report_does_not_say_whether_a_group_is_empty(tmp_path: Path) -> None:
    document = decode_value(Validation, suited(tmp_path, Tables(), MEAN), "validation.json")
    (completeness,) = (one for one in document.suites if one.table == "completeness")
    empty = tuple(
        replace(one, success=one.column != "groups_without_rows") for one in completeness.expectations
    )
    suites = tuple(
        replace(one, success=False, expectations=empty) if one is completeness else one
        for one in document.suites
    )
    said = redacted_validation(replace(document, severity_failed="warning", suites=suites))
    assert said == redacted_validation(document)
    columns = {one.column for suite in said.suites for one in suite.expectations}
    assert {"answered_share", "has_variant"} < columns
    assert not {"answered_gap", "groups_without_rows"} & columns


def test_an_audit_with_a_named_suite_verifies_offline(tmp_path: Path) -> None:
    path = recorded_audit(tmp_path, checks=LENIENT | named(tmp_path, EXISTS))
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    pipeline.run_all(run)
    (tmp_path / "suite.json").unlink()  # the evidence has its own copy
    checked = verify(run.uri)
    assert not checked.findings and "validation" in checked.recomputed
    assert "inputs/checks.suites.scores" in run.stage("plan").success().artefacts


def test_without_great_expectations_there_is_no_verdict_on_what_it_alone_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded_audit(tmp_path, checks=LENIENT | named(tmp_path, EXISTS))
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    pipeline.run_all(run)
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    checked = verify(run.uri)
    (finding,) = checked.findings
    assert (finding.kind, finding.path, "validation" in checked.recomputed) == (
        "stopped",
        "validation",
        False,
    )
    assert finding.detail.startswith("was not checked: checks.suites needs Great Expectations: pip install")
    assert checked.summary().startswith("COULD NOT BE CHECKED: a check did not end")
    assert main(["verify", run.uri]) == 2


def test_without_great_expectations_what_is_known_by_heart_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded_audit(tmp_path, checks=LENIENT | named(tmp_path, MEAN | {"severity": "warning"}))
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    pipeline.run_all(run)
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    checked = verify(run.uri)
    assert not checked.findings and "validation" in checked.recomputed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither JSON nor YAML"),
        ("[]", "has a list `expectations`"),
        ('{"expectations": []}', "it is not empty"),
        ('{"expectations": [{"type": "x"}]}', r"expectations.0: an expectation has a `type` and `kwargs`"),
        (
            '{"expectations": [{"type": "x", "kwargs": {}, "severity": "fatal"}]}',
            "critical, warning or info, not 'fatal'",
        ),
    ],
)
def test_a_file_that_is_no_suite(content: str, message: str) -> None:
    with pytest.raises(SpecError, match=f"checks.suites.scores: s.json: {message}|s.json.*{message}"):
        read_suite(content.encode(), "checks.suites.scores: s.json")


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "expect_nothing_at_all", "kwargs": {}},
        {"type": "expect_column_to_exist", "kwargs": {"columm": "score"}},
    ],
)
def test_what_great_expectations_does_not_know_is_refused_before_the_run(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    path = recorded_audit(tmp_path, checks=named(tmp_path, wrong))
    with pytest.raises(
        SpecError, match=rf"suite.json: expectations.0: {wrong['type']} is not an expectation"
    ):
        pipeline.check(AuditSpec.load(path))


def test_a_column_that_the_table_lacks(tmp_path: Path) -> None:
    wrong = {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "marks", "min_value": 0}}
    with pytest.raises(
        InputError, match=r"could not be evaluated on marks; the table has the columns variant_id"
    ):
        suited(tmp_path, Tables(), wrong)


def test_great_expectations_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tables = Tables()
    tables.scores[6]["status"] = SECRET
    # Not caplog, which also listens to loggers that pass nothing on.
    heard: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: heard.append(record.name)  # type: ignore[method-assign]
    root = logging.getLogger()
    level = root.level
    root.addHandler(listener)
    root.setLevel(logging.DEBUG)
    try:
        assert suited(tmp_path, tables, MEAN, STATUS)["success"] is False
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    assert heard == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seed", range(4))
def test_a_verification_computes_by_itself_what_great_expectations_says(seed: int) -> None:
    draw = np.random.default_rng(seed)
    number = np.round(draw.normal(size=[40, 1, 3, 7][seed]), 2)
    number[draw.random(len(number)) < 0.2] = np.nan
    frame = pd.DataFrame({"number": number, "whole": pd.array(draw.integers(0, 9, len(number)), "Int32")})
    frame["none"] = float("nan")
    listed = [
        {
            "type": f"expect_column_{kind}_to_be_between",
            "kwargs": {"column": column, **bounds},
            "severity": severity,
        }
        for kind in ("mean", "stdev", "proportion_of_unique_values")
        for column in frame
        for severity, bounds in (
            ("critical", {"min_value": 0}),
            ("warning", {"min_value": 0, "strict_min": True, "max_value": 1, "strict_max": True}),
            ("info", {"max_value": 0.5}),
        )
    ]
    again = [computed_again(one, frame) for one in listed]
    assert None not in again
    content = json.dumps({"expectations": listed}).encode()
    assert tuple(again) == run_suite("scores", "s.json", content, frame).expectations
    assert {one.success for one in again if one is not None} == {True, False}


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("expect_column_mean_to_be_between", {"column": "text", "min_value": 0}),
        ("expect_column_mean_to_be_between", {"column": "absent", "min_value": 0}),
        ("expect_column_mean_to_be_between", {"column": "score", "min_value": "0"}),
        ("expect_column_mean_to_be_between", {"column": "at"}),
        ("expect_column_stdev_to_be_between", {"column": "at"}),
        ("expect_column_mean_to_be_between", {"column": "score", "row_condition": "score > 0"}),
        ("expect_column_median_to_be_between", {"column": "score", "min_value": 0}),
    ],
)
def test_what_is_not_known_by_heart_is_asked_of_great_expectations(kind: str, kwargs: dict[str, Any]) -> None:
    days = pd.to_datetime(["2026-01-05", "2026-01-06"])
    frame = pd.DataFrame({"text": ["a", "b"], "score": [0.5, 0.5], "at": days})
    assert computed_again({"type": kind, "kwargs": kwargs, "severity": "critical"}, frame) is None


def test_the_suite_of_the_demo_is_verified_without_great_expectations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = yaml.safe_load((INCLUDE / "suites" / "scores.yaml").read_text())["expectations"]
    path = recorded_audit(tmp_path, checks=LENIENT | named(tmp_path, *suite))
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    pipeline.run_all(run)

    def refuse() -> Any:
        raise AssertionError("Great Expectations was loaded")

    monkeypatch.setattr("audit_lib.validate.named_suites._great_expectations", refuse)
    checked = verify(run.uri)
    assert not checked.findings and "validation" in checked.recomputed
    document = validate_again(run).artefacts["validation.json"]
    assert document == run.stage("validation").read("validation.json")
