"""The page says what the numbers say, to everyone, and nothing else."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from datetime import date
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from audit_lib.documents.metrics import read_metrics
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.errors import EvidenceError, GateError, IncompleteRunError
from audit_lib.policies import load_policy
from audit_lib.report import report
from audit_lib.report.content import gather, read_table
from audit_lib.report.leading import leading
from audit_lib.report.sections.summary import _limits
from audit_lib.report.text import tables_text
from audit_lib.run import Run
from audit_lib.typed_json import decode_value
from tests.report.conftest import HOSTILE, made
from tests.report.documents import metrics, rate_row
from tests.report.runs import signature

VOID = {"meta", "br", "img", "input", "link", "hr", "line", "circle", "path"}


class Outline(HTMLParser):
    """Tags in order, whether they balance, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def html(run: Run) -> str:
    return run.stage("report").read("report.html").decode()


@pytest.fixture(scope="module")
def outline(html: str) -> Outline:
    parsed = Outline()
    parsed.feed(html)
    return parsed


def test_the_structure_is_sound(outline: Outline) -> None:
    assert outline.faults == []
    assert outline.open == []
    names = [tag for tag, _ in outline.tags]
    assert names.count("h1") == names.count("main") == names.count("title") - names.count("svg") == 1
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for t, a in outline.tags if t == "a" and (a["href"] or "").startswith("#")}
    assert targets <= set(ids)
    assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")
    assert names.count("caption") == names.count("table") > 5
    assert all(a.get("role") == "img" for t, a in outline.tags if t == "svg")


def test_nothing_is_fetched_and_no_script_is_needed(html: str, outline: Outline) -> None:
    assert not [
        tag for tag, _ in outline.tags if tag in {"script", "link", "iframe", "img", "object", "embed"}
    ]
    for _, attributes in outline.tags:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in html
    assert "url(" not in html


def test_text_of_the_spec_is_only_text(html: str, outline: Outline) -> None:
    assert "<script" not in html
    assert any(HOSTILE in text for text in outline.texts)


def test_it_is_called_what_it_is(html: str) -> None:
    policy = load_policy("nyc_ll144")
    assert f"<h1>{policy.wording['title_experiment']}</h1>" in html
    assert "Not signed" in html
    assert "LL144 does not set" in html or "sets no pass mark" in html


def test_rendering_again_gives_the_same_bytes(run: Run) -> None:
    again = report(run).artefacts
    for name in ("report.html", "report.json", "tables.csv"):
        assert again[name] == run.stage("report").read(name)


def test_no_path_of_a_machine_is_on_the_page(run: Run, html: str) -> None:
    assert str(Path(run.uri).parent) not in html


def test_every_count_is_on_the_page_beside_its_rate(run: Run, outline: Outline) -> None:
    text = " ".join(outline.texts)
    for table in gather(run).tables:
        for row in table.rows:
            assert row.label in text
    page = re.sub(r"\s+", " ", text)
    content = gather(run)
    for table in content.headline:
        assert f"{content.policy.table(table.kind).title}" in page


def test_the_csv_rebuilds_every_ratio(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run.stage("report").read("tables.csv").decode())))
    assert rows
    tables: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        tables.setdefault((row["kind"], row["family"], row["stratum"]), []).append(row)
    for members in tables.values():
        rates = {r["category"]: Fraction(int(r["selected"]), int(r["n"])) for r in members if int(r["n"])}
        best = max(rates.values())
        for row in members:
            if not row["impact_ratio"]:
                assert row["undefined"]
                continue
            exact = rates[row["category"]] / best
            assert abs(exact - Fraction(row["impact_ratio"])) <= Fraction(1, 2 * 10**6)
            assert (row["below_guideline"] == "true") == (exact < Fraction(4, 5))
            assert rates[row["comparator"]] == best


def test_the_json_holds_the_metrics_and_what_they_came_from(run: Run) -> None:
    document = json.loads(run.stage("report").read("report.json"))
    assert document["metrics"] == json.loads(run.stage("metrics").read("metrics.json"))
    written = run.stage("metrics").success().artefacts
    assert document["inputs"]["metrics/metrics.json"] == written["metrics.json"].sha256
    assert document["status"] == "not signed"
    assert document["experiment"] is True


def test_a_number_that_does_not_follow_from_its_counts_is_refused(run: Run) -> None:
    policy = load_policy("nyc_ll144")
    tables = json.loads(run.stage("metrics").read("metrics.json"))["tables"]
    table = next(t for t in tables if isinstance(t["rows"][0]["impact_ratio"]["value"], float))
    for change in (
        lambda row: row["impact_ratio"].update(value=row["impact_ratio"]["value"] + 0.01),
        lambda row: row.update(selected=row["n"] + 1),
        lambda row: row["rate"].update(value=0.123456),
        lambda row: row.update(four_fifths_flag=not row["four_fifths_flag"]),
    ):
        broken = json.loads(json.dumps(table))
        change(broken["rows"][0])
        with pytest.raises(EvidenceError):
            read_table(decode_value(RateTable[RateRow], broken, "metrics.json"), policy)


def test_a_report_before_its_numbers(run: Run, tmp_path: Path) -> None:
    other = Run(run.spec, run.key, run.store.__class__(str(tmp_path)))  # type: ignore[call-arg]
    with pytest.raises(IncompleteRunError):
        report(other)


def test_the_terminal_prints_the_same_counts(run: Run) -> None:
    measured = read_metrics(run.stage("metrics").read("metrics.json"))
    printed = tables_text(measured, load_policy("nyc_ll144"))
    for table in gather(run).headline:
        for row in table.rows:
            assert re.search(rf"{re.escape(row.label)}\s+{row.n}\s+{row.selected}\b", printed), row.label


def test_demographics_that_the_law_refuses_are_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GateError, match=r"FAQ III\.6"):
        made(tmp_path, groups={"provenance": "observer_coded"})
    # A run that was made past the gate is still not called a bias audit.
    monkeypatch.setattr("audit_lib.policies.gates.check_spec", lambda policy, spec: None)
    page = (
        made(tmp_path, groups={"provenance": "observer_coded"}).stage("report").read("report.html").decode()
    )
    policy = load_policy("nyc_ll144")
    assert f"<h1>{policy.wording['title_refused']}</h1>" in page
    assert "FAQ III.6" in page


def test_a_ratio_of_exactly_four_fifths_is_not_flagged(tmp_path: Path) -> None:
    policy = load_policy("nyc_ll144")

    def row(label: str, selected: int, n: int, ratio: float, flag: bool) -> RateRow:
        return rate_row({"sex": label}, selected, n, ratio=ratio, four_fifths_flag=flag)

    table = RateTable(
        kind="selection", family="sex", stratum={}, total=160, unknown=0, comparator="Male",
        rows=(row("Male", 60, 80, 1.0, False), row("Female", 48, 80, 0.8, False)),
    )  # fmt: skip
    assert read_table(table, policy).row("Female").below is False
    rows = (row("Male", 1000, 1000, 1.0, False), row("Female", 7996, 10000, 0.7996, True))
    printed = tables_text(metrics((dataclasses.replace(table, rows=rows),)), policy)
    assert "0.7996" in printed, "0.800 beside a flag would mislead"


def test_a_bias_audit_says_until_when_it_may_be_relied_on(tmp_path: Path) -> None:
    run = made(tmp_path, groups={"provenance": "self_reported"})
    page = run.stage("report").read("report.html").decode()
    policy, measured = load_policy("nyc_ll144"), gather(run).measured_at
    assert f"<h1>{policy.wording['title_unsigned']}</h1>" in page
    assert "No use after" not in page and "Date of the audit" not in page
    page = report(run, signature=signature()).artefacts["report.html"].decode()
    assert f"<h1>{policy.wording['title_audit']}</h1>" in page
    last = 28 if measured.month == 2 else 31
    until = date(measured.year + 1, measured.month, min(measured.day, last))  # by the calendar
    assert f"<dt>No use after</dt><dd>{until:%Y-%m-%d}" in page


def test_an_experiment_is_never_valid_for_a_time(html: str) -> None:
    assert "No use after" not in html


def test_what_is_not_known_about_the_leading_ratio_is_not_claimed(run: Run) -> None:
    content = gather(run)
    found = leading(content, content.headline).best
    assert found is not None
    table, row, _ = found
    bare = dataclasses.replace(row, estimate=dataclasses.replace(row.estimate, intervals=()))
    only = dataclasses.replace(content, tables=(dataclasses.replace(table, rows=(bare,)),))
    words = " ".join(run.text for run in _limits(only)[0])
    assert "is not known" in words
    assert "distinguishable" not in words
