"""``report.json`` follows its published schema, the CSV tables keep their columns, and nobody's data is in either."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit_lib.canonical import pretty_json, sha256
from audit_lib.cli.main import main
from audit_lib.documents.schema import schema_of
from audit_lib.errors import InputError
from audit_lib.report import EarlierAudit, report
from audit_lib.report.content import gather
from audit_lib.report.document import document_bytes, make_document
from audit_lib.report.tables import ANSWER_COLUMNS, COLUMNS, ESTIMATE_COLUMNS
from audit_lib.run import Run
from tests.inputs import recorded_rows

ROOT = Path(__file__).parent.parent.parent
PUBLISHED = ROOT / "docs" / "reference" / "report.schema.json"


def faults(document: object) -> list[str]:
    validator = Draft202012Validator(
        schema_of("report.json"), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(document)]


def test_the_published_schema_is_the_one_in_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert PUBLISHED.read_bytes() == pretty_json(schema_of("report.json"))
    assert main(["schema", "--report"]) == 0
    assert json.loads(capsys.readouterr().out) == schema_of("report.json")
    Draft202012Validator.check_schema(schema_of("report.json"))


def test_the_metrics_set_in_as_archived_are_what_writing_them_anew_gives(run: Run) -> None:
    content = gather(run)
    assert content.archived_metrics is not None
    written = make_document(content).as_dict()
    digests = {name: sha256(pretty_json(value)) for name, value in written.items()}
    assert document_bytes(content) == pretty_json({**written, "digests": digests})


def test_a_report_follows_it(run: Run, earlier: tuple[EarlierAudit, ...]) -> None:
    assert faults(json.loads(report(run, earlier).artefacts["report.json"])) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [(("status",), "perhaps"), (("spec_digest",), "abc"), (("metrics", "tables", 0, "rows", 0, "n"), -1),
     (("metrics", "rows"), None), (("window", "start"), 5), (("schema",), "audit-report/0")],
)  # fmt: skip
def test_the_schema_finds_a_fault(run: Run, path: tuple[str | int, ...], value: object) -> None:
    document = json.loads(run.stage("report").read("report.json"))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert faults(document)


def test_the_columns_are_documented_and_stay(run: Run) -> None:
    words = (ROOT / "docs" / "reference" / "report.md").read_text(encoding="utf-8")
    for name, columns in (
        ("tables.csv", COLUMNS), ("estimates.csv", ESTIMATE_COLUMNS), ("answers.csv", ANSWER_COLUMNS)
    ):  # fmt: skip
        reader = csv.reader(io.StringIO(run.stage("report").read(name).decode()))
        assert tuple(next(reader)) == columns
        assert list(reader), name
        part = words.split(f"## `{name}`")[1].split("\n## ")[0]
        assert tuple(line.split("`")[1] for line in part.splitlines() if line.startswith("| `")) == columns


def test_every_estimate_is_in_the_csv(run: Run) -> None:
    document = json.loads(run.stage("report").read("report.json"))
    lines = list(csv.DictReader(io.StringIO(run.stage("report").read("estimates.csv").decode())))
    assert len(lines) == len(document["metrics"]["estimates"]) > 20
    for line, estimate in zip(lines, document["metrics"]["estimates"], strict=True):
        assert line["metric"] == estimate["metric"]
        if isinstance(estimate["value"], float):
            assert float(line["value"]) == estimate["value"]
        else:
            assert line["undefined"]


def test_the_answers_add_up(run: Run) -> None:
    document = json.loads(run.stage("report").read("report.json"))
    lines = list(csv.DictReader(io.StringIO(run.stage("report").read("answers.csv").decode())))
    assert (
        sum(int(line["rows"]) for line in lines if not line["stratum"])
        == document["metrics"]["rows"]["total"]
    )


def test_no_applicant_is_in_any_of_it(run: Run) -> None:
    """Neither an id nor a text of an application gets past the tables."""
    rows = recorded_rows(320)
    telling = {row[key] for row in rows for key in ("prompt_id", "application_id", "resume", "round_id")}
    stage = run.stage("report")
    for name in stage.success().artefacts:
        content = stage.read(name).decode(errors="replace")
        assert not [value for value in telling if value in content], name


def test_an_earlier_audit_is_read_from_its_own_report(run: Run) -> None:
    document = json.loads(run.stage("report").read("report.json"))
    audit = EarlierAudit.of(document, "../old/report.html")
    assert audit.status == "not signed"
    assert set(audit.smallest) == {"selection", "scoring"}
    rows = [
        r
        for t in document["metrics"]["tables"]
        if not t["stratum"] and t["kind"] == "selection"
        for r in t["rows"]
    ]
    found = audit.smallest["selection"]
    (ratio,) = {r["impact_ratio"]["value"] for r in rows if (r["label"], r["n"]) == (found.label, found.n)}
    assert float(found.ratio) == pytest.approx(ratio)
    page = report(run, [audit]).artefacts["report.html"].decode()
    assert '<a href="../old/report.html">' in page
    assert "leading impact ratio" in page


@pytest.mark.parametrize(
    "change", [{"headline": None}, {"window": {}}, {"headline": {"selection": {"label": "x"}}}]
)
def test_what_is_no_report_is_refused(run: Run, change: dict[str, object]) -> None:
    document = json.loads(run.stage("report").read("report.json")) | change
    if change == {"headline": None}:
        del document["headline"]
    with pytest.raises(InputError, match=r"not a report\.json"):
        EarlierAudit.of(document)


def test_without_an_earlier_audit_the_page_says_so(run: Run) -> None:
    page = run.stage("report").read("report.html").decode()
    assert "there was no earlier one of this tool" in page
    assert "There was no earlier audit of this tool in the store" in page
