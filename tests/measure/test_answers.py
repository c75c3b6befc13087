"""Repeats of one variant: their mean is rounded once, and equal repeats change nothing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib import pipeline
from audit_lib.measure.rows.answers import _means
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.inputs import recorded_audit, recorded_rows, write_jsonl

WINDOW = Window.parse("2026-01-05", "2026-01-12")
NUMBER = st.floats(0, 1, allow_subnormal=False)


def measured(folder: Path, **sections: object) -> Run:
    """Measure recorded decisions, also said several times over, which `audit validate` would refuse to ask for."""
    folder.mkdir(exist_ok=True)
    run = Run.open(AuditSpec.load(recorded_audit(folder, **sections)), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


@pytest.mark.parametrize("shards", [1, 5])
def test_asking_again_a_tool_that_repeats_itself_changes_nothing(tmp_path: Path, shards: int) -> None:
    once = measured(tmp_path / "once")
    thrice = measured(tmp_path / "thrice", score={"shards": shards, "repeats": 3})
    assert thrice.stage("metrics").read("decisions.parquet") == once.stage("metrics").read(
        "decisions.parquet"
    )
    assert (
        thrice.stage("metrics").read_json("metrics.json")["tables"]
        == once.stage("metrics").read_json("metrics.json")["tables"]
    )


@given(st.lists(st.tuples(st.integers(0, 4), NUMBER), max_size=40), NUMBER)
def test_the_mean_is_the_exact_one_rounded_once(rows: list[tuple[int, float]], same: float) -> None:
    place = np.array([at for at, _ in rows] + [5, 5, 5], dtype=np.int64)
    values = np.array([value for _, value in rows] + [same] * 3)
    means = _means(values, place, 7)
    for at in range(7):
        chosen = [Fraction(float(v)) for v in values[place == at]]
        assert (np.isnan(means[at])) if not chosen else (means[at] == float(sum(chosen) / len(chosen)))
    assert means[5] == same


def test_a_score_that_is_missing_beside_others_stays_missing(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    spec = recorded_audit(folder, n=64)
    rows = recorded_rows(64)
    for row in rows:
        row["recorded_selected"] = row["prompt_id"] < "p00032"
    write_jsonl(folder / "prompts.jsonl", rows)
    run = pipeline.open_run(spec, WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    missing = sum(row["recorded_score"] is None for row in rows)
    assert run.stage("metrics").read_json("metrics.json")["rows"]["answered"] == 64 - missing < 64


def test_rounds_that_select_everybody_are_counted_and_printed(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    spec = recorded_audit(folder, decision={"rule": "top_k", "k": 3, "round": "round_id"})
    seen: Counter[str] = Counter()
    rows = []
    for row in recorded_rows(320):
        seen[row["round_id"]] += 1
        if len(seen) > 5 or seen[row["round_id"]] <= 3:  # the first five rounds have three candidates
            rows.append(row)
    write_jsonl(folder / "prompts.jsonl", rows)
    run = pipeline.open_run(spec, WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    small = sum(n > 3 for n in Counter(row["round_id"] for row in rows).values())
    table = run.stage("metrics").read_json("metrics.json")["tables"][0]
    assert table["undersized_rounds"] == 40 - small > 0
    assert (
        f"{40 - small} rounds had no more candidates with a score than places"
        in run.stage("report").read("report.html").decode()
    )
    few = measured(tmp_path / "few")
    assert few.stage("metrics").read_json("metrics.json")["tables"][0]["undersized_rounds"] == 0
