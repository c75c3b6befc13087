"""Recorded decisions scored by columns: the same bytes as row by row, or left to the rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from audit_lib.pipeline import run_stage, shards
from audit_lib.run import Run
from audit_lib.score import asked_of, score_columns, score_shard
from tests.archive.cases import applicants, new_run


def planned(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Run:
    run = new_run(folder, str(folder / "store"), rows=rows, **sections)
    for name in ("plan", "sample", "variants"):
        run_stage(run, name)
    return run


def changed(draw: random.Random, rows: list[dict[str, Any]], **choices: list[Any]) -> list[dict[str, Any]]:
    """Give each row one of the choices of each key; None takes the key away."""
    made = []
    for row in rows:
        new = row | {key: draw.choice(values) for key, values in choices.items()}
        made.append({key: value for key, value in new.items() if value is not None})
    return made


CASES: dict[str, dict[str, list[Any]]] = {
    "scores": {},
    "scores_and_decisions": {"recorded_selected": [True, False, None]},
    "some_scores": {"recorded_score": [0.25, 1.0, -3.5, None]},
    "some_scores_and_decisions": {"recorded_score": [0.25, None], "recorded_selected": [True, False, None]},
    "decisions_alone": {"recorded_score": [None], "recorded_selected": [True, False]},
    "several_models": {"recorded_model": ["tool-2", "tool-3"]},
    "texts_beside_scores": {"recorded_response": ["Yes.", "No, \u00e9", "", None]},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("count", [1, 3])
def test_columns_and_rows_make_the_same_bytes(tmp_path: Path, name: str, count: int) -> None:
    rows = changed(random.Random(name), applicants(60), **CASES[name])
    for number, row in enumerate(rows):
        row["position"] = f"job {number % 5}"
    run = planned(tmp_path, rows, score={"shards": count}, model={"served": "any"})
    assert len(shards(run)) == count
    for shard in shards(run):
        by_columns, by_rows = score_columns(run, shard), score_shard(run, shard, asked_of(run, shard))
        assert by_columns is not None
        assert by_columns.artefacts == by_rows.artefacts
        assert by_columns.counts == by_rows.counts
        assert score_shard(run, shard).artefacts == by_rows.artefacts


@pytest.mark.parametrize(
    ("choices", "sections"),
    [
        ({"recorded_score": [None], "recorded_response": ["Yes.", "No."]}, {}),
        ({}, {"score": {"shards": 1, "repeats": 2}}),
    ],
    ids=["labels_in_texts", "repeats"],
)
def test_what_takes_more_than_columns_is_left_to_the_rows(
    tmp_path: Path, choices: dict[str, list[Any]], sections: dict[str, Any]
) -> None:
    run = planned(tmp_path, changed(random.Random(1), applicants(20), **choices), **sections)
    for shard in shards(run):
        assert score_columns(run, shard) is None
