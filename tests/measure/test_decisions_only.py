"""Audits of recorded decisions: with no score at all, and with some scores missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit_lib import pipeline
from audit_lib.run import Run
from audit_lib.window import Window
from tests.inputs import recorded_audit, recorded_rows, write_jsonl

WINDOW = Window.parse("2026-01-05", "2026-01-12")
METRICS = ["impact_ratio", "scoring_rate_impact_ratio", "rabbi", "score_gap", "demographic_parity_gap"]


def audit(folder: Path, rows: list[dict[str, Any]]) -> Run:
    folder.mkdir(exist_ok=True)
    spec = recorded_audit(folder, decision=None)
    text = spec.read_text() + "decision: {rule: recorded}\n"
    spec.write_text(text)
    write_jsonl(folder / "prompts.jsonl", rows)
    run = pipeline.open_run(spec, WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


def decided(scores: bool) -> list[dict[str, Any]]:
    rows = recorded_rows(320)
    for number, row in enumerate(rows):
        row["recorded_selected"] = number % 3 == 0
        if not scores:
            row["recorded_score"] = None
    return rows


def test_without_any_score_nothing_of_scores_is_measured(tmp_path: Path) -> None:
    run = audit(tmp_path / "only", decided(scores=False))
    metrics = run.stage("metrics").read_json("metrics.json")
    assert {table["kind"] for table in metrics["tables"]} == {"selection"}
    assert [(e["metric"], e["value"]) for e in metrics["estimates"]] == [
        (name, {"undefined": "no scores: only decisions were recorded"}) for name in METRICS[1:]
    ]
    assert all(entry["n"] == 0 for entry in metrics["scores"])
    assert metrics["rows"]["answered"] == metrics["rows"]["total"] == 320
    assert metrics["rows"]["decided_without_score"] == 0
    tested = [r for t in metrics["tables"] for r in t["rows"] if r["impact_ratio"]["tests"]]
    compared = [e for e in metrics["heterogeneity"] if "multiplicity" in e]
    assert metrics["multiplicity"]["family_size"] == len(tested) + len(compared)
    assert {e["metric"] for e in metrics["heterogeneity"]} == {"impact_ratio"}
    page = run.stage("report").read("report.html").decode()
    assert "Median score (" not in page


def test_the_decisions_are_the_same_with_scores_beside_them(tmp_path: Path) -> None:
    only = audit(tmp_path / "only", decided(scores=False)).stage("metrics").read_json("metrics.json")
    both = audit(tmp_path / "both", decided(scores=True)).stage("metrics").read_json("metrics.json")

    def counts(metrics: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [
            (t["family"], t["stratum"], r["label"], r["n"], r["selected"])
            for t in metrics["tables"]
            for r in t["rows"]
            if t["kind"] == "selection"
        ]

    assert counts(only) == counts(both)
    assert {t["kind"] for t in both["tables"]} == {"selection", "scoring"}
    assert both["multiplicity"]["family_size"] > only["multiplicity"]["family_size"]


def test_a_decision_without_a_score_beside_scores_counts_and_is_counted(tmp_path: Path) -> None:
    rows = decided(scores=True)
    run = audit(tmp_path / "mixed", rows)
    metrics = run.stage("metrics").read_json("metrics.json")
    missing = sum(row["recorded_score"] is None for row in rows)
    assert metrics["rows"]["decided_without_score"] == missing == 32
    assert metrics["rows"]["by_status"]["unparsed"] == missing
    assert sum(entry["decided_without_score"] for entry in metrics["missingness"]) == missing
    (table,) = [
        t for t in metrics["tables"] if (t["kind"], t["family"], t["stratum"]) == ("selection", "sex", {})
    ]
    assert table["total"] == len(rows), "their decisions count"
    details = set()
    for shard in pipeline.shards(run):
        scores = run.stage(f"scores/{shard}").read_table("scores.parquet")
        details |= set(scores.loc[scores["status"] == "unparsed", "detail"])
    assert details == {"a recorded decision without the score that others have"}
