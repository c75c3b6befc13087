"""The numbers of ``metrics.json`` against a second computation that shares no code with the first."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

from audit_lib import pipeline, shard_scores
from audit_lib.measure import scores_csv
from audit_lib.measure.rows import in_order
from audit_lib.measure.stage import measure, scored_shards
from audit_lib.records import write_table
from audit_lib.run import Run, StageOutput
from audit_lib.window import Window
from benchmarks.synthetic_run import NOW, opened, synthetic_run
from tests.inputs import recorded_audit

WINDOW = Window.parse("2026-01-05", "2026-01-12")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("audit")
    run = pipeline.open_run(recorded_audit(folder, n=640), WINDOW, str(folder / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    pipeline.run_stage(run, "validation")
    pipeline.run_stage(run, "metrics")
    return run


@pytest.fixture(scope="module")
def rows(run: Run) -> pd.DataFrame:
    decisions = run.stage("metrics").read_table("decisions.parquet")
    variants = run.stage("variants").read_table("variants.parquet")
    return variants.merge(decisions.drop(columns="round_id"), on="variant_id")


@pytest.fixture(scope="module")
def metrics(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run.stage("metrics").read("metrics.json"))
    return document


def find(
    metrics: dict[str, Any], metric: str, group: dict[str, str], stratum: dict[str, str], **parameters: Any
) -> Any:
    (found,) = [
        e
        for e in metrics["estimates"]
        if e["metric"] == metric
        and e["group"] == group
        and e["stratum"] == stratum
        and parameters.items() <= e["parameters"].items()
    ]
    return found


@pytest.mark.parametrize("stratum", [{}, {"position": "cook"}])
def test_rabbi_is_the_mann_whitney_statistic(
    metrics: dict[str, Any], rows: pd.DataFrame, stratum: dict[str, str]
) -> None:
    part = rows[(rows[list(stratum)] == pd.Series(stratum)).all(axis=1)].dropna(subset="score")
    group = part.loc[(part.sex == "female") & (part.race == "Black"), "score"].astype(float)
    reference = part.loc[(part.sex == "male") & (part.race == "White"), "score"].astype(float)
    u = stats.mannwhitneyu(group, reference).statistic
    found = find(metrics, "rabbi", {"sex": "female", "race": "Black"}, stratum)
    assert found["value"] == pytest.approx(2 * u / (len(group) * len(reference)) - 1, abs=1e-12)
    assert (found["n_group"], found["n_reference"]) == (len(group), len(reference))


def test_the_score_gap_and_its_interval_are_welch_s(metrics: dict[str, Any], rows: pd.DataFrame) -> None:
    part = rows.dropna(subset="score")
    group, reference = (part.loc[part.sex == sex, "score"].astype(float) for sex in ("female", "male"))
    welch = stats.ttest_ind(group, reference, equal_var=False).confidence_interval(0.95)
    found = find(metrics, "score_gap", {"sex": "female"}, {})
    assert found["value"] == pytest.approx(group.mean() - reference.mean(), abs=1e-12)
    # One row an application: every row is its own cluster, so the clustered interval is nearly Welch's.
    assert found["interval"]["low"] == pytest.approx(welch.low, rel=0.02)
    assert found["interval"]["high"] == pytest.approx(welch.high, rel=0.02)


def test_the_parity_gap_counts_fractional_places(metrics: dict[str, Any], rows: pd.DataFrame) -> None:
    share = pd.Series(0.0, index=rows.index)
    for _, pool in rows.dropna(subset="score").groupby("round_id"):
        for index, score in pool["score"].items():
            above, tied = int((pool["score"] > score).sum()), int((pool["score"] == score).sum())
            share[index] = float(min(max(Fraction(3 - above, tied), Fraction(0)), Fraction(1)))
    scored = rows["score"].notna()
    rate = {sex: share[scored & (rows.sex == sex)].mean() for sex in ("female", "male")}
    found = find(metrics, "demographic_parity_gap", {"sex": "female"}, {}, k=3)
    assert found["value"] == pytest.approx(rate["female"] - rate["male"], abs=1e-12)


@pytest.mark.parametrize(("kind", "flag"), [("selection", "selected"), ("scoring", "above")])
def test_the_statutory_tables_count_people(
    metrics: dict[str, Any], rows: pd.DataFrame, kind: str, flag: str
) -> None:
    scored = rows.dropna(subset="score").copy()
    scored["above"] = scored["score"] > scored["score"].median()
    table = next(
        t
        for t in metrics["tables"]
        if t["kind"] == kind and t["family"] == "intersectional" and not t["stratum"]
    )
    names = {"female": "Female", "male": "Male"}, {"White": "White", "Black": "Black or African American"}
    counts = scored.groupby(["sex", "race"])[flag].agg(["size", "sum"])
    rates = {key: Fraction(int(row["sum"]), int(row["size"])) for key, row in counts.iterrows()}
    assert len(table["rows"]) == len(rates) == 4
    for (sex, race), rate in rates.items():
        (row,) = [r for r in table["rows"] if r["category"] == {"sex": names[0][sex], "race": names[1][race]}]
        assert (row["n"], row["selected"]) == (
            counts.loc[(sex, race), "size"],
            counts.loc[(sex, race), "sum"],
        )
        ratio = rate / max(rates.values())
        assert row["impact_ratio"]["value"] == float(ratio)
        assert row["four_fifths_flag"] == (ratio < Fraction(4, 5))


def test_missing_answers_are_counted_by_group(metrics: dict[str, Any], rows: pd.DataFrame) -> None:
    for entry in metrics["missingness"]:
        if entry["group"] is not None:
            mask = (rows[list(entry["group"])] == pd.Series(entry["group"])).all(axis=1)
            assert entry["n"] == mask.sum()
            assert entry["ok"] == (mask & rows["score"].notna()).sum()
    assert (
        metrics["rows"]["answered"]
        == int(rows["score"].notna().sum())
        < metrics["rows"]["total"]
        == len(rows)
    )


def test_missing_answers_bound_rates_and_ratios(metrics: dict[str, Any], rows: pd.DataFrame) -> None:
    (table,) = [
        t for t in metrics["tables"] if (t["kind"], t["family"], t["stratum"]) == ("selection", "sex", {})
    ]
    scored = rows.dropna(subset="score")
    rate = {row["label"]: Fraction(row["selected"], row["n"]) for row in table["rows"]}
    for row in table["rows"]:
        sex = row["label"].lower()
        missing = int((rows.sex == sex).sum() - (scored.sex == sex).sum())
        low = Fraction(row["selected"], row["n"] + missing)
        high = Fraction(row["selected"] + missing, row["n"] + missing)
        assert row["missing"]["n"] == missing > 0
        assert row["missing"]["rate_bounds"] == [float(low), float(high)]
        if row["label"] == table["comparator"]:
            assert row["missing"]["ratio_bounds"] == {"undefined": "the comparator itself"}
        else:
            top = rate[table["comparator"]]
            assert row["missing"]["ratio_bounds"] == [float(low / top), float(high / top)]
            pooled = sum(r["selected"] for r in table["rows"]) / sum(r["n"] for r in table["rows"])
            assert row["adverse_impact"]["shortfall"]["pooled"] == pytest.approx(
                row["n"] * pooled - row["selected"]
            )


def test_every_test_counts_in_the_family(metrics: dict[str, Any]) -> None:
    holders = [row["impact_ratio"] for t in metrics["tables"] for row in t["rows"]] + metrics["estimates"]
    tested = [h for h in holders if h["tests"]]
    assert all(h["multiplicity"]["holm"] >= h["tests"][0]["p_value"] for h in tested)
    positions = [e for e in metrics["heterogeneity"] if "multiplicity" in e]
    assert metrics["multiplicity"]["family_size"] == len(tested) + len(positions)
    assert {e["metric"] for e in positions} == {e["metric"] for e in tested}
    assert all(e["over"] == ["position"] for e in positions)


def turned(run: Run, folder: Path) -> Run:
    """The same run, its variants in the opposite order."""
    other, table = opened(folder), pq.read_table(run.stage("variants").parquet("variants.parquet"))
    table = table.take(list(reversed(range(len(table)))))
    other.stage("variants").commit(StageOutput({"variants.parquet": write_table(table)}), NOW)
    for shard in scored_shards(run):
        scores = run.stage(f"scores/{shard}").read("scores.parquet")
        other.stage(f"scores/{shard}").commit(StageOutput({"scores.parquet": scores}), NOW)
    return other


def test_any_cut_into_shards_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = []
    for shards in (1, 3, 16):
        run = synthetic_run(tmp_path / str(shards), 64, shards, levels=9, missing=0.1)
        assert len(scored_shards(run)) == shards
        outputs.append(measure(run).artefacts)
    assert outputs[0] == outputs[1] == outputs[2]
    # Nor does it matter how many rows are looked at together, or in which order the variants stand.
    monkeypatch.setattr(in_order, "BLOCK", 37)
    monkeypatch.setattr(shard_scores, "_BATCH", 11)
    monkeypatch.setattr(scores_csv, "_LINES", 29)
    assert measure(run).artefacts == outputs[0]
    assert measure(turned(run, tmp_path / "turned")).artefacts == outputs[0]
    assert (
        outputs[0]["metrics.json"]
        != measure(synthetic_run(tmp_path / "other", 64, 1, seed=2)).artefacts["metrics.json"]
    )


def test_no_number_is_nan_and_every_estimate_says_how(metrics: dict[str, Any]) -> None:
    assert metrics["estimates"]
    for estimate in metrics["estimates"]:
        assert estimate["method"]
        assert isinstance(estimate["n"], int)
        value = estimate["value"]
        assert "undefined" in value if isinstance(value, dict) else np.isfinite(value)
