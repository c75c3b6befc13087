"""Small cells: not printed anywhere, and not to be worked out from what is printed."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.policies import Policy, load_policy
from audit_lib.report import content as content_module
from audit_lib.report import report
from audit_lib.report.exact_tables import Tally, read_table, tally
from audit_lib.report.suppress import GIVES_AWAY, HIDDEN, masked, printable, redacted
from audit_lib.report.text import tables_text
from audit_lib.results import Undefined
from audit_lib.run import Run
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.documents import metrics, rate_row
from tests.report.runs import reported
from tests.specs import load


def suppressing(small: int = 5) -> Policy:
    policy = load_policy("nyc_ll144")
    cells = policy.cells.model_copy(update={"display": "suppress", "small": small})
    return policy.model_copy(update={"cells": cells})


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three black women among 320; nobody else is few."""
    folder = tmp_path_factory.mktemp("small")
    path = recorded_audit(folder, groups={"provenance": "self_reported"})
    rows, left = recorded_rows(320), 3
    for row in rows:
        if row["sex"] == "female" and row["race"] == "Black":
            row["race"], left = ("Black", left - 1) if left else ("White", 0)
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


@pytest.fixture
def hidden(small_run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.setattr(content_module, "policy_of", lambda spec: suppressing())
    return dict(report(small_run).artefacts)


def test_page_json_and_csv_hide_the_same_rows(hidden: dict[str, bytes]) -> None:
    document = json.loads(hidden["report.json"])
    gone = {
        (t["kind"], t["family"], tuple(t["stratum"].values()), row["label"])
        for t in document["metrics"]["tables"] for row in t["rows"] if row.get("suppressed")
    }  # fmt: skip
    assert ("selection", "intersectional", (), "Female, Black or African American") in gone
    lines = list(csv.DictReader(io.StringIO(hidden["tables.csv"].decode())))
    in_csv = {
        (x["kind"], x["family"], tuple(p.split("=")[1] for p in x["stratum"].split(";") if p), x["category"])
        for x in lines if x["undefined"] == HIDDEN and not x["n"]
    }  # fmt: skip
    assert in_csv == gone
    assert all(not x["selected"] and not x["rate"] and not x["impact_ratio"] for x in lines if not x["n"])
    page = hidden["report.html"].decode()
    assert "Hidden rows: too few people" in page
    plain = re.sub(r' (?:role|data-label)="[^"]*"', "", page)
    assert '<th scope="row">Female, Black or African American</th><td class="number">hidden</td>' in plain


def test_no_entry_is_about_a_hidden_group(small_run: Run, hidden: dict[str, bytes]) -> None:
    """That there is one would say that the group has people."""
    few = {"sex": "female", "race": "Black"}

    def about(document: dict[str, Any]) -> list[str]:
        return [
            part
            for part in ("missingness", "scores", "label_mass", "estimates", "heterogeneity")
            for entry in document[part]
            if few in (entry.get("group"), entry.get("reference"))
        ]

    stored = json.loads(small_run.stage("metrics").read("metrics.json"))
    assert {"missingness", "scores", "estimates"} <= set(about(stored))
    assert not about(json.loads(hidden["report.json"])["metrics"])


def test_nothing_counts_hidden_tests(small_run: Run, hidden: dict[str, bytes]) -> None:
    """Adjusted p-values and the wider intervals depend on the hidden rows too."""
    stored = json.loads(small_run.stage("metrics").read("metrics.json"))["tables"]
    assert any("population" in row for table in stored for row in table["rows"])
    document = json.loads(hidden["report.json"])["metrics"]
    assert set(document["multiplicity"]) == {"undefined"}
    for table in document["tables"]:
        gone = any(row.get("suppressed") for row in table["rows"])
        for row in table["rows"]:
            assert "multiplicity" not in row["impact_ratio"]
            assert not (gone and row["impact_ratio"]["intervals"])
            assert not gone or "population" not in row
    assert all("multiplicity" not in entry for entry in document["estimates"])


def test_where_the_comparator_is_hidden_no_ratio_gives_its_rate_away(hidden: dict[str, bytes]) -> None:
    for table in json.loads(hidden["report.json"])["metrics"]["tables"]:
        top = next((row for row in table["rows"] if row["label"] == table["comparator"]), None)
        if top is not None and top.get("suppressed"):
            assert all(isinstance(row["impact_ratio"]["value"], dict) for row in table["rows"])


def test_a_policy_that_marks_hides_nothing(small_run: Run) -> None:
    made = report(small_run).artefacts
    assert b"suppressed" not in made["report.json"]
    assert HIDDEN.encode() not in made["tables.csv"]


def test_the_evidence_keeps_what_the_report_hides(small_run: Run, hidden: dict[str, bytes]) -> None:
    stored = json.loads(small_run.stage("metrics").read("metrics.json"))
    assert any(0 < row["n"] < 5 for table in stored["tables"] for row in table["rows"])
    assert Path(small_run.uri.removeprefix("file://"), "metrics", "metrics.json").is_file()


NONE = "no member in this category"


def _table(*rows: tuple[str, int, int]) -> RateTable[RateRow]:
    """A table of ``metrics.json``: label, selected, n."""
    top = max((row for row in rows if row[2]), key=lambda row: row[1] / row[2])
    total = sum(n for *_, n in rows)

    def one(label: str, s: int, n: int) -> RateRow:
        ratio = s / n / (top[1] / top[2]) if n else Undefined(NONE)
        flag = ratio < 0.8 if isinstance(ratio, float) else None
        return rate_row(
            {"race": label}, s, n, ratio=ratio, nobody=NONE, four_fifths_flag=flag, share_of_data=n / total
        )

    return RateTable(
        kind="selection", family="race_ethnicity", stratum={}, total=total, unknown=0, comparator=top[0],
        rows=tuple(one(*row) for row in rows),
    )  # fmt: skip


def test_an_empty_row_says_why_it_has_no_ratio_also_under_a_hidden_comparator() -> None:
    """It has nobody; that the comparator is hidden is not the reason."""
    policy = suppressing()
    stored = _table(("White", 3, 4), ("Asian", 5, 20), ("Black or African American", 0, 0))
    hidden = frozenset({((), (("race", "White"),))})
    table = masked(read_table(stored, policy), hidden)
    white, asian, black = table.rows
    assert isinstance(table.comparator, Undefined)
    assert (white.hidden, asian.hidden, black.hidden) == (True, False, False)
    assert isinstance(asian.ratio, Undefined) and asian.ratio.reason == GIVES_AWAY
    assert isinstance(black.ratio, Undefined) and "no member" in black.ratio.reason
    (shown,) = redacted(metrics((stored,)), hidden, load(), policy).as_dict()["tables"]
    reasons = [row["impact_ratio"]["value"]["undefined"] for row in shown["rows"]]
    assert reasons == [HIDDEN, GIVES_AWAY, "no member in this category"]
    assert tally([table]) == Tally(below=0, compared=0, hidden=2)


def test_comparators_are_not_counted_as_compared() -> None:
    stored = _table(("White", 10, 20), ("Asian", 5, 20), ("Black or African American", 9, 20))
    table = read_table(stored, suppressing())
    assert tally([table, table]) == Tally(below=2, compared=4, hidden=0)


def test_a_terminal_hides_the_same_rows() -> None:
    policy = suppressing()
    stored = _table(("White", 3, 4), ("Asian", 5, 19), ("Black or African American", 11, 31))
    document = metrics((stored,))
    printed, hidden = printable(document, load(), policy)
    assert {dict(levels)["race"] for _, levels in hidden} == {"White", "Asian"}
    said = tables_text(printed, policy)
    assert re.search(r"White +hidden", said) and HIDDEN in said
    assert re.search(r"Black or African American +31 +11 +35.5% +hidden", said)
    assert not re.search(r"\b(19|26\.3%|75\.0%)", said)
    assert re.search(r"Asian +19 +5 +26.3%", tables_text(document, policy))
