"""Each set of rows is measured once, and repeats and unanswered groups are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib import pipeline
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.measure.heterogeneity import heterogeneity
from audit_lib.measure.metric import METRICS
from audit_lib.measure.multiplicity import Hypotheses, adjust
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.measure.tables import POLICY, as_rows, measured, parts, table
from tests.specs import load

WINDOW = Window.parse("2026-01-05", "2026-01-12")


ANY = {"served": "any"}
"""Decisions of several models, whom no name of a model names."""


def audit(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    spec = recorded_audit(folder, **sections)
    write_jsonl(folder / "prompts.jsonl", rows)
    run = Run.open(AuditSpec.load(spec), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    document: dict[str, Any] = run.stage("metrics").read_json("metrics.json")
    return document


def test_a_single_position_is_measured_once(tmp_path: Path) -> None:
    rows = [{**row, "position": "cook"} for row in recorded_rows(320)]
    one = audit(tmp_path / "one", rows)
    assert one["strata_identical"] == [{"stratum": {"position": "cook"}, "same_as": {}}]
    assert all(part["stratum"] == {} for key in ("tables", "estimates", "scores") for part in one[key])
    assert one["heterogeneity"] == []
    whole = audit(tmp_path / "whole", rows, measure={"strata": [[]]})
    assert one["multiplicity"] == whole["multiplicity"]
    assert one["estimates"] == whole["estimates"]


def test_two_columns_that_cut_alike_are_one_split(tmp_path: Path) -> None:
    rows = recorded_rows(320)
    for row in rows:
        row["recorded_model"] = f"tool for {row['position']}s"
    strata = {"strata": [[], ["position"], ["model"], ["position", "model"]]}
    metrics = audit(tmp_path / "alike", rows, measure=strata, model=ANY)
    assert [entry["same_as"] for entry in metrics["strata_identical"]] == [
        {"position": "cook"},
        {"position": "driver"},
    ] * 2
    assert {tuple(e["over"]) for e in metrics["heterogeneity"]} == {("position",)}
    alone = audit(tmp_path / "alone", rows, measure={"strata": [[], ["position"]]}, model=ANY)
    assert metrics["multiplicity"] == alone["multiplicity"]


def test_a_split_with_one_part_seen_before_is_still_compared(tmp_path: Path) -> None:
    rows = recorded_rows(320)
    for row in rows:
        row["recorded_model"] = "old" if row["position"] == "cook" else f"new-{int(row['prompt_id'][1:]) % 4}"
    metrics = audit(tmp_path / "some", rows, measure={"strata": [[], ["position"], ["model"]]}, model=ANY)
    assert metrics["strata_identical"] == [{"stratum": {"model": "old"}, "same_as": {"position": "cook"}}]
    over = [e for e in metrics["heterogeneity"] if e["over"] == ["model"] and e["metric"] == "score_gap"]
    assert over
    assert {"model": "old"} in [part["stratum"] for part in over[0]["strata"]]


def unanswered(reason: str = "score") -> pd.DataFrame:
    rows = table(96)
    silent = (rows["sex"] == "female") & (rows["race"] == "Black")
    rows.loc[silent, "score"] = np.nan
    rows.loc[silent, "selected"] = pd.NA
    return rows


@pytest.mark.parametrize("name", ["impact_ratio", "scoring_rate_impact_ratio"])
def test_a_category_of_whom_nobody_was_answered_says_so(name: str) -> None:
    whole = measured(name, unanswered())[0]
    (found,) = [t for t in whole["tables"] if t["family"] == "intersectional"]
    rows = {row["label"]: row for row in found["rows"]}
    (label,) = [
        label
        for label, row in rows.items()
        if row["category"] == {"sex": "Female", "race": "Black or African American"}
    ]
    row = rows[label]
    assert row["n"] == 0
    assert row["missing"]["n"] == 24
    assert row["rate"]["value"] == row["impact_ratio"]["value"] == {"undefined": "24 people, none answered"}
    assert row["missing"]["rate_bounds"] == [0.0, 1.0]
    top = rows[found["comparator"]]
    assert row["missing"]["ratio_bounds"] == [0.0, pytest.approx(top["n"] / top["selected"])]
    assert "small_cell" not in (*row["rate"]["flags"], *row["impact_ratio"]["flags"])
    assert row["four_fifths_flag"] is None
    assert row["adverse_impact"]["shortfall"] == {"undefined": "24 people, none answered"}


@pytest.mark.parametrize("name", ["rabbi", "score_gap", "demographic_parity_gap"])
def test_a_group_of_whom_nobody_was_answered_says_so(name: str) -> None:
    group = {"sex": "female", "race": "Black"}
    found = [e for e in measured(name, unanswered())[0]["estimates"] if e["group"] == group]
    assert found
    for estimate in found:
        assert estimate["value"] == {"undefined": "group: 24 people, none answered"}
        assert "small_cell" not in estimate["flags"]


def test_one_person_who_was_answered_is_a_small_cell() -> None:
    rows = unanswered()
    one = rows.index[(rows["sex"] == "female") & (rows["race"] == "Black")][0]
    rows.loc[one, "score"] = 0.5
    found = [
        e
        for e in measured("score_gap", rows)[0]["estimates"]
        if e["group"] == {"sex": "female", "race": "Black"}
    ]
    assert "small_cell" in found[0]["flags"]
    assert isinstance(found[0]["value"], float)


def test_failed_repeats_are_counted_by_group(tmp_path: Path) -> None:
    rows = recorded_rows(64)
    once = audit(tmp_path / "once", rows)
    thrice = audit(tmp_path / "thrice", rows, score={"repeats": 3})
    assert all("repeats" not in entry for entry in once["missingness"])
    for single, entry in zip(once["missingness"], thrice["missingness"], strict=True):
        assert entry["n"] == single["n"]
        assert entry["repeats"]["n"] == 3 * single["n"]
        assert entry["repeats"]["unparsed"] == 3 * single["unparsed"]
    assert sum(entry["repeats"]["unparsed"] for entry in thrice["missingness"]) > 0


def test_a_repeat_that_fails_beside_one_that_does_not_is_seen() -> None:
    rows = table(16).assign(repeat=0)
    again = rows.assign(repeat=1)
    again.loc[again["sex"] == "female", "score"] = np.nan
    both = as_rows(pd.concat([rows, again], ignore_index=True), cuts=3)
    assert both.repeats is not None
    female = both.members({"sex": "female"})
    assert (both.status == 0).all(), "each variant has an answer"
    assert both.repeats[female].sum(axis=0).tolist() == [8, 0, 0, 8, 0]
    assert both.repeats[~female].sum(axis=0).tolist() == [16, 0, 0, 0, 0]


POOLS = load(decision={"rule": "top_k", "k": 2, "round": "round_id"})


def test_competing_candidates_are_clustered_by_round_and_singletons_are_not() -> None:
    rows = table(480)
    (part, *_) = parts(as_rows(rows, POOLS), POOLS)
    found = METRICS.get("impact_ratio")(part, POOLS, POLICY).as_dict()
    tested = [r["impact_ratio"] for t in found["tables"] for r in t["rows"] if r["impact_ratio"]["tests"]]
    assert len(tested) == 5
    for estimate in tested:
        assert [test["name"] for test in estimate["tests"]] == [
            "could_be_highest",
            "cluster_t_test",
            "fisher_exact",
            "two_standard_deviations",
        ]
        assert estimate["method"].endswith("clustered by round")
        assert estimate["clusters"] == 60
        assert estimate["interval"]["kind"] == "conditional"
        assert "design effect" in estimate["interval"]["method"]
        assert estimate["intervals"][0]["low"] <= estimate["interval"]["low"]
    alone = rows.assign(round_id=[f"r{i}" for i in rows.index], application_id=rows["variant_id"])
    recorded = load(decision={"rule": "recorded"})
    (part, *_) = parts(as_rows(alone, recorded), recorded)
    found = METRICS.get("impact_ratio")(part, recorded, POLICY).as_dict()
    tested = [r["impact_ratio"] for t in found["tables"] for r in t["rows"] if r["impact_ratio"]["tests"]]
    assert tested
    for estimate in tested:
        assert [test["name"] for test in estimate["tests"][:2]] == ["could_be_highest", "fisher_exact"]
        assert estimate["method"].endswith("rows taken as independent")
        assert estimate["clusters"] is None


def test_a_small_audit_of_copies_is_not_more_certain() -> None:
    rows = table(96).assign(application_id=lambda f: f["variant_id"])
    copies = pd.concat(
        [rows.assign(variant_id=rows["variant_id"] + f"-{i}") for i in range(4)], ignore_index=True
    )
    once, four = (
        [r["impact_ratio"] for t in measured("impact_ratio", f)[0]["tables"] for r in t["rows"]]
        for f in (rows, copies)
    )
    compared = 0
    for a, b in zip(once, four, strict=True):
        assert a["value"] == b["value"]
        if a["tests"] and a["interval"]["low"]:
            compared += 1
            width, narrow = (np.log(e["interval"]["high"] / e["interval"]["low"]) for e in (a, b))
            assert narrow == pytest.approx(width, rel=0.15)
    assert compared


def heterogeneous(rows: pd.DataFrame) -> list[RatioHeterogeneity]:
    whole, *others = [
        METRICS.get("impact_ratio")(part, POOLS, POLICY) for part in parts(as_rows(rows, POOLS), POOLS)
    ]
    found = heterogeneity(whole, others, ["position"])
    return [e for e in found if isinstance(e, RatioHeterogeneity) and e.family == "sex"]


def test_positions_of_competing_candidates_are_compared_by_rounds() -> None:
    (entry,) = heterogeneous(table(480))
    tested, family = adjust(Hypotheses(tables=(), estimates=(), heterogeneity=(entry,)), 0.05)
    one = tested.heterogeneity[0].as_dict()
    assert one["clustered_by"] == "round"
    assert "counts alone are no test" in one["breslow_day"]["undefined"]
    assert 0 < one["cochran_q"]["p_value"] < 1
    assert family.family_size == 1
    assert one["multiplicity"]["test"] == one["cochran_q"]["name"]
    (cut,) = heterogeneous(table(480).assign(position=["cook", "cook", "driver", "driver"] * 120))
    assert "stand in several strata" in cut.as_dict()["cochran_q"]["undefined"]
